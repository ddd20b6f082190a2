//! What is said beside the first line of a diagnostic: at the place itself, at
//! another place that matters, and the cure.

use super::DiagnosticKind;
use super::kind::{counted, described};
use crate::language::Span;
use crate::program::{CellKind, Type};

impl DiagnosticKind {
    /// What stands beside the caret; empty if the first line says it all.
    pub(super) fn label(&self) -> String {
        match self {
            Self::Expected { expected, .. } | Self::Unclosed { expected, .. } => {
                format!("expected {expected}")
            }
            Self::MissingBlock { .. } => "a block must follow".to_owned(),
            Self::UnevenIndentation { column, blocks } => {
                let blocks: Vec<String> = blocks.iter().map(u32::to_string).collect();
                format!("found {column} spaces, expected {}", blocks.join(" or "))
            }
            Self::Mismatch { expected, .. } | Self::RecordUnexpected { expected } => {
                format!("expected `{expected}`")
            }
            Self::Incomparable { expected, found } => {
                format!("{} on the left, {} on the right", described(expected), described(found))
            }
            Self::TwoAccesses { .. } => "the second access".to_owned(),
            Self::Operand { found, .. } | Self::NoFields { found } | Self::NoElements { found } => {
                format!("this is {}", described(found))
            }
            Self::UnknownRange { .. } => "expected something whose range is declared".to_owned(),
            Self::ScanShape { .. } => "expected `view`: one value per segment".to_owned(),
            Self::FieldCount { content, .. }
            | Self::PlaceCount { content, .. }
            | Self::MissingField { content, .. } => {
                format!("expected `{content}`")
            }
            Self::WholeFamily { dimensions, .. } => format!("expected {}", indices(*dimensions)),
            Self::WrongCell { name, cell, .. } => {
                format!("`{name}` is declared as {}", cell_kind(*cell))
            }
            Self::ArgumentCount { expected, .. } => {
                format!("expected {}", counted(*expected, "argument"))
            }
            Self::VacuousExpectation { least, .. } => format!("expected at least {least}"),
            Self::Recursion { circle } => circle.join(" -> "),
            Self::LoopWithoutAccess => "no access on some way round".to_owned(),
            Self::MissingReturn { returns, .. } | Self::ReturnWithoutValue { returns, .. } => {
                format!("expected `return` and a `{returns}`")
            }
            Self::EditAmbiguous { .. } => "expected a text that occurs once".to_owned(),
            Self::ValuesCompared { content } | Self::ValuesSwapped { content }
                if *content != Type::Value =>
            {
                format!("of type `{content}`, which contains values")
            }
            Self::ValuesCompared { .. } | Self::ValuesSwapped { .. } => {
                "of type `value`".to_owned()
            }
            Self::ValuesNumbered => "a conversion between the two".to_owned(),
            _ => String::new(),
        }
    }

    /// Other places that matter, and what they are.
    pub(super) fn context(&self) -> Vec<(Span, String)> {
        match self {
            Self::Duplicate { first, .. } | Self::SecondHeader { first, .. } => {
                vec![(*first, "first declared here".to_owned())]
            }
            Self::OperationSignature { operation, .. } => {
                vec![(*operation, "the operation".to_owned())]
            }
            Self::TwoAccesses { first } => vec![(*first, "the first access".to_owned())],
            Self::Unclosed { open, .. } => vec![(*open, "opened here".to_owned())],
            Self::RepeatedField { first, .. } => vec![(*first, "first given here".to_owned())],
            Self::EditAmbiguous { occurrences, .. } => {
                occurrences.iter().map(|span| (*span, "it occurs here".to_owned())).collect()
            }
            _ => Vec::new(),
        }
    }

    /// What to do about it.
    pub(super) fn help(&self) -> Option<String> {
        let nearest = |nearest: &Option<String>| {
            nearest.as_ref().map(|nearest| format!("did you mean `{nearest}`?"))
        };
        match self {
            Self::UnknownVariable { nearest: name, .. } => nearest(name).or_else(|| {
                Some("declare it, or assign to it first: that declares a local".to_owned())
            }),
            Self::UnknownArray { name, procedure, nearest: near } => nearest(near).or_else(|| {
                Some(format!(
                    "an array is declared: `local {name}[segment]: value`, say, at the top of \
                     `{procedure}`, or outside of procedures with `shared`"
                ))
            }),
            Self::TabInIndentation { more } => Some(match more {
                0 => "indent with spaces: tabs have no fixed width".to_owned(),
                1 => "indent with spaces: tabs have no fixed width; there is one on 1 more line"
                    .to_owned(),
                more => format!(
                    "indent with spaces: tabs have no fixed width; there are some on {more} more \
                     lines"
                ),
            }),
            Self::UnknownType { nearest: name, .. } => nearest(name).or_else(|| {
                Some(
                    "the types are value, bool, bit, L..H, process, segment, version, counter, \
                      view, array [INDEX] of T, record (F: T), T or none, and those declared by \
                      `type`"
                        .to_owned(),
                )
            }),
            Self::UnknownProcedure { nearest: name, .. }
            | Self::EditNowhere { nearest: name, .. } => nearest(name),
            Self::UnknownField { nearest: name, .. } => nearest(name),
            Self::UnknownNode { name, nearest: near } => nearest(near)
                .or_else(|| Some(format!("declare it: `node {name}: next: {name} or none`, say"))),
            Self::UnknownBug { nearest: name, known, .. } => nearest(name).or_else(|| {
                Some(match &known[..] {
                    [] => "it has no bugs at all".to_owned(),
                    known => format!("its bugs are {}", known.join(", ")),
                })
            }),
            Self::UnknownSymbol { symbol } => symbol_cure(symbol).map(str::to_owned),
            Self::Expected { expected, found } => expected_cure(expected, found).map(str::to_owned),
            Self::MissingField { .. } => {
                Some("to change some fields only, write `r with (field: ...)`".to_owned())
            }
            Self::WholeFamily { name, dimensions } => {
                Some(format!("name one cell: `{name}{}`", "[...]".repeat(*dimensions)))
            }
            Self::NoElements { found: Type::Optional(_) } => {
                Some("assign it to a local first, if it is not none".to_owned())
            }
            Self::Mismatch { expected, found } => mismatch_cure(expected, found),
            Self::WrongCell { needed, name, .. } => Some(match name.split_once('.') {
                Some((node, field)) => {
                    format!("declare it, in `node {node}`, as `{field}: {needed} ...`")
                }
                None => format!("declare it as `shared {name}: {needed} ...`"),
            }),
            Self::NeverLinked { name, .. } => {
                Some(format!("read it by `x := LL({name}...)` first: that links the process"))
            }
            Self::UnusedResult { operation } => {
                Some(format!("assign it, or test it: `if {operation}(...): ...`"))
            }
            Self::UnknownRange { name, .. } => {
                Some(format!("declare it at the top of the procedure: `local {name}: 0..9`, say"))
            }
            Self::MissingProcedure { name, of_object: true } => Some(format!(
                "declare `procedure {name}`, with the parameters of the operation, and below it \
                 how a process carries it out"
            )),
            Self::MissingProcedure { name, .. } if name == "update" => Some(
                "declare `update(v):` and below it how a process updates its segment; or declare \
                 the `object` that it implements"
                    .to_owned(),
            ),
            Self::Duplicate { .. } => {
                Some("give one of them another name: names hide no others".to_owned())
            }
            _ => self.cure().map(str::to_owned),
        }
    }

    /// What to do about it, where that is always the same.
    fn cure(&self) -> Option<&'static str> {
        Some(match self {
            Self::TextTooLong { .. } => "an algorithm fits on a few pages",
            Self::UnclosedString => {
                "a string ends with `\"`, before a line that begins in the first column"
            }
            Self::UnclosedQuote => {
                "a quotation ends with a backquote, before a line that begins in the first column"
            }
            Self::UnevenIndentation { .. } => "indent it like the block that it belongs to",
            Self::MissingBlock { .. } => "write `skip` if nothing is to be done",
            Self::UnexpectedIndentation => {
                "indent it like the line before; a block begins after `:`, `repeat` or `loop`"
            }
            Self::EqualAssigns => "write `:=` to assign",
            Self::BecomesCompares => "write `=` to compare",
            Self::ChainedComparison => "write `a < b and b < c`, or put one into parentheses",
            Self::NestedTooDeep { .. } => "make a procedure of the inner part",
            Self::ExpressionTooLong { .. } => "give its parts names: assign them to locals first",
            Self::LateLocal => "move the declaration to the top of the procedure",
            Self::UnknownItem { found } if found == "local" => {
                "`local` stands at the top of a procedure, indented; what all procedures of a \
                 process use is `private`"
            }
            Self::UnknownItem { found } if found == "end" => {
                "a block is opened by `:` and indented; it needs no `do` and no `end`"
            }
            Self::UnknownItem { .. } => {
                "a line without indentation begins with algorithm, source, size, type, object, \
                 node, initially, shared, private, update, scan, procedure, bug or expect"
            }
            Self::MissingHeader => "begin the text with `algorithm NAME`",
            Self::SecondHeader { .. } => "remove one of the two",
            Self::NoOperations { .. } => {
                "declare them below the `state`: `read: 0..3: return x`, say"
            }
            Self::OperationSignature { .. } => {
                "leave out the types of the parameters and of the result: they are the operation's"
            }
            Self::OperationType { .. } => {
                "values, numbers, processes, segments, truth values, and `... or none` can; \
                 and, but for parameters, records and arrays of these"
            }
            Self::NodesWithoutObject => {
                "declare what the algorithm implements, with `object NAME:`: a snapshot, too, can be \
                 declared as one"
            }
            Self::NodeBound { .. } => "the bound must be at least 1 for every n >= 2",
            Self::NewWithin => "assign it to a local first: `p := new NODE(...)`",
            Self::NewInAtomic => "write it before the block: other processes do not see the node",
            Self::NotANode { .. } => "free what points to a node: `free p`",
            Self::InitialNodeOutside { .. } => {
                "let it be the first content of a shared or private variable: \
                 `shared head: NODE := NAME`, and read that"
            }
            Self::OutsideObject { .. } => {
                "what an object does depends on its `state`, its parameters, `me` and `n` only"
            }
            Self::ListOutsideObject => {
                "shared memory has cells of fixed size: only the state of an `object` may be a list"
            }
            Self::AtomicInObject => "an operation takes effect at one instant: leave out `atomic:`",
            Self::NoSize { has_object: false } => {
                "leave it out: only algorithms of an `object` have a size"
            }
            Self::NoSize { has_object: true } => {
                "declare it: `size 2`, on a line of its own; then `size` may stand for a number, in \
                 `when len(items) < size`, say"
            }
            Self::SizeWithoutObject => "write the number where it is needed",
            Self::ChoiceOfSnapshot => {
                "only algorithms of an `object` choose, which are checked by refinement: a snapshot, \
                 too, can be declared as one"
            }
            Self::ChoiceInObject => {
                "what an operation does is determined by the state and its parameters: let the \
                 algorithm choose"
            }
            Self::ChoiceInAtomic => "choose before the block: a choice is a step of its own",
            Self::ChoiceIntoCell => "choose into a local first: `x := choose ...`; then write x",
            Self::TogetherOutsideObject => {
                "it says that operations of an `object` take effect together; a procedure of the \
                 algorithm takes its steps one by one"
            }
            Self::TogetherNested => {
                "write it once, between the statements that change the state and those that look \
                 at what all have done"
            }
            Self::TogetherCalled { .. } => "write what it does in place of the call",
            Self::ChangedAfterTogether => {
                "change the state before it: after it, the operations only look at what all of them \
                 have done"
            }
            Self::OfSnapshot { .. } => "leave it out",
            Self::EditNotFound { .. } => {
                "the text must occur as it is written there, symbol by symbol, white space aside"
            }
            Self::EditAmbiguous { .. } => "quote more of what stands around it",
            Self::EmptyEdit => "to add text, write ``insert `...` before `...` ``",
            Self::BugWithoutEdits => "say what it changes: ``in scan, replace `...` by `...` ``",
            Self::TooFewProcesses => "with one process there is nothing to go wrong",
            Self::PairOutOfRange { .. } => "a pair is I,J with I < J < n; segments count from 0",
            Self::UpdaterOutOfRange { .. } => "processes count from 0",
            Self::UpdaterOfSimple => "add `full, values K`, all executions over K values",
            Self::ReservedName { .. } => "choose another name",
            Self::ProcedureAsVariable { .. } => "to call it, write `x := ...()` with parentheses",
            Self::MissingProcedure { .. } => {
                "declare `scan:` and below it how a process takes a snapshot"
            }
            Self::Recursion { .. } => {
                "use a loop: the steps of a procedure must be known in advance"
            }
            Self::CallsTooDeep { .. } => {
                "let the caller make some of the calls one after the other, each nested less deep"
            }
            Self::TypeContainsItself { .. } => "a type must have an end",
            Self::TypeTooLarge { .. } => "use fewer or smaller fields",
            Self::OptionalCompound { .. } => {
                "only a scalar may be none: add a field that says whether there is something"
            }
            Self::EmptyRange { .. } => "the bounds must be in order for every n >= 2",
            Self::BoundNotConstant => "use numbers and `n`, with `+`, `-` and `*`",
            Self::NeverNone { .. } => "declare it as `... or none`",
            Self::NeverInRange { content: Type::Process | Type::Segment, .. } => {
                "processes and segments are numbered from 0 to n-1"
            }
            Self::NeverInRange { .. } => "widen the range where the type is declared",
            Self::UnknownShape { what: "none" } => {
                "declare the variable at the top of the procedure: `local x: process or none`, say"
            }
            Self::UnknownShape { .. } => {
                "declare a `type` for it, and a variable of this type at the top of the procedure"
            }
            Self::FieldCount { .. } => {
                "give every field, in order; or change some of a record: `r with (field: ...)`"
            }
            Self::PlaceCount { .. } => "use `_` for components that are not needed",
            Self::RepeatedField { .. } => "remove one of the two",
            Self::CounterArithmetic => {
                "compare with a successor instead: for `a = b - 1` write `a + 1 = b`"
            }
            Self::FreshCompared => "assign it to a variable first",
            Self::Divisor => "divide by a number or by n, which is greater than 0 for every n >= 2",
            Self::Product => {
                "one factor must be a number, at most 16; the other a variable or number"
            }
            Self::NotConstant { .. } => {
                "only literals, n and arithmetic are constant; and `me`, where it is not shared"
            }
            Self::TwoAccesses { .. } => {
                "make two statements of it: read into a local first; or write `atomic:` if the \
                 published algorithm has both in one step"
            }
            Self::RepeatedAccess => {
                "write a `for` statement, each round a step of its own; or `atomic:` if the \
                 published algorithm has all in one step"
            }
            Self::NotACell { .. } => "name a cell that is declared `shared`, with all its indices",
            Self::SharedTarget => "take it apart into locals, then assign them one by one",
            Self::NothingLinearizes => "move `linearizes` to the statement with the access",
            Self::PointAccesses => {
                "name locals: the condition is evaluated in the step of the access, once its \
                 result is stored"
            }
            Self::PointOfBoth { .. } => {
                "it would be a point of both: mark the statement in `update` or `scan` itself, or \
                 mark none"
            }
            Self::PointTogether { .. } => {
                "what takes effect at once has no step of its own for that: remove `linearizes`"
            }
            Self::PointOfNeither { .. } | Self::PointOfNone { .. } => {
                "only operations take effect: remove `linearizes`, or call the procedure"
            }
            Self::LoopWithoutAccess => {
                "a process that waits must look at shared memory; to go through indices, use `for`"
            }
            Self::LoopInAtomic => "a step must end: use `for` to go through indices",
            Self::CallInAtomic => "write what the procedure does in place of the call",
            Self::NestedAtomic => "it is one step already: remove the inner `atomic:`",
            Self::NotAPlace { .. } => "assign to a variable, or to an element or field of one",
            Self::AssignedIndex { .. } => "use another variable",
            Self::ExitOutsideLoop => {
                "`exit` leaves `repeat`, `while` and `loop`; to leave a procedure, use `return`"
            }
            Self::CallWithin { .. } => "assign the result to a local first: `x := ...(...)`",
            Self::NoEffect => "remove it, or assign the result",
            Self::ReturnsNothing { .. } => "declare what it returns: `procedure NAME(...): TYPE:`",
            Self::MissingReturn { .. } => "end every path with `return`",
            Self::ReturnWithValue { .. } => "write `return` alone",
            Self::UpdateSignature => "write `update(v):`",
            Self::ScanSignature => "write `scan:`",
            Self::ScanShape { .. } => "collect into `local copy[segment]: value` and return that",
            Self::UntypedParameter { .. } => "write `NAME: TYPE`",
            Self::ValuesCompared { .. } => {
                "simple executions tell about all others only if values are never looked at; \
                 compare versions or toggles instead"
            }
            Self::ValuesSwapped { .. } => {
                "simple executions tell about all others only if values are never looked at; \
                 use an llsc cell, or a version in the cell instead of the value"
            }
            Self::ValuesNumbered => {
                "simple executions tell about all others only if values are never looked at"
            }
            _ => return None,
        })
    }
}

fn indices(count: usize) -> String {
    match count {
        1 => "one index".to_owned(),
        count => format!("{count} indices"),
    }
}

const fn cell_kind(cell: CellKind) -> &'static str {
    match cell {
        CellKind::Register => "a plain register",
        CellKind::Linked => "llsc",
        CellKind::Swappable => "cas",
    }
}

fn symbol_cure(symbol: &str) -> Option<&'static str> {
    Some(match symbol {
        "//" => "a comment begins with `#`",
        "/=" | "!" | "\u{2260}" | "~" => "unequal is `!=`, negation is `not`",
        "\u{2264}" => "write `<=`",
        "\u{2265}" => "write `>=`",
        "\u{2190}" => "write `:=`",
        "\u{22a5}" => "write `none`",
        "&" | "\u{2227}" => "write `and`",
        "|" | "\u{2228}" => "write `or`",
        "\u{ac}" => "write `not`",
        "{" | "}" => "blocks are indented, not put into braces",
        "%" => "write `mod`",
        "'" => "texts stand between double quotes",
        _ => return None,
    })
}

fn expected_cure(expected: &str, found: &str) -> Option<&'static str> {
    Some(match (expected, found) {
        ("`:=`", "the end of the line" | "`;`") => "a call has parentheses: `push()`",
        ("`:=`", "`<-`") => "assign with `:=`",
        ("`else if`", _) => "write `else if`",
        ("`:`", "`do`") | ("a statement", "`end`") => {
            "a block is opened by `:` and indented; it needs no `do` and no `end`"
        }
        ("`..`", "`]`") => {
            "an index is `process`, `segment` or a range `L..H`: one per process is `[process]`"
        }
        ("a statement", "the keyword `else`") => {
            "a line that begins with `else` belongs to one that begins with `if`, indented alike"
        }
        ("a statement", "the keyword `all`") => {
            "`all` is a keyword (`all s in segments: ...`): choose another name"
        }
        ("a statement", "the keyword `until`") => "`until` ends a `repeat` of its indentation",
        ("an expression", "`=`") => "equality is a single `=`",
        ("an expression", "`-`") => "there are no negative numbers: write `0 - ...`",
        ("`:`", "the end of the line") => "a line that opens a block ends with `:`",
        ("`:`", "the keyword `then`") => "an `if` statement has `:` where an expression has `then`",
        ("`then`", "`:`") => "an `if` expression has `then` and `else`, and no `:`",
        (_, found) if expected.contains("name") && found.starts_with("the keyword") => {
            "keywords are not names: choose another one"
        }
        ("`processes`, `segments` or a range such as `0..n-1`", "`process`" | "`segment`") => {
            "the types are `process` and `segment`, the sets `processes` and `segments`"
        }
        ("`process`, `segment` or a range such as `0..n-1`", "`processes`" | "`segments`") => {
            "the sets are `processes` and `segments`, the types `process` and `segment`"
        }
        _ => return None,
    })
}

fn mismatch_cure(expected: &Type, found: &Type) -> Option<String> {
    if let (Type::Process | Type::Segment, Type::Integer { low, high }) = (expected, found)
        && low == high
    {
        return Some(format!("turn the number into a {expected}: `{expected}({low})`"));
    }
    let cure = match (expected, found) {
        (Type::Process, Type::Integer { .. }) => {
            "turn the number into a process: `process(...)`; the process itself is `me`"
        }
        (Type::Segment, Type::Integer { .. }) => {
            "turn the number into a segment: `segment(...)`; the process's own is `me`: `r[me]`"
        }
        (Type::Process | Type::Segment, Type::Counter) => {
            "a counter names no process and no segment; the process's own is `me`: `r[me]`"
        }
        (Type::Bool, Type::Integer { .. }) => "a bit is no truth value: compare it, `... = 1`",
        (Type::Integer { .. }, Type::Bool) => "choose a number: `if ... then 1 else 0`",
        (Type::Version, _) => "a new version is made by `fresh`",
        (Type::Counter, Type::Integer { .. }) => {
            "only numbers as they are written may become counters: count with `+ 1`"
        }
        (Type::Value, _) => {
            "a value is what `update` is given, or `initial`; `value(...)` makes one of a number, but \
                 then simple executions prove nothing"
        }
        _ => return None,
    };
    Some(cure.to_owned())
}
