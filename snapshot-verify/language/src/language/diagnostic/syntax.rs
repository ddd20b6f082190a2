//! Messages about symbols, lines and names that several places give.

use super::{Message, message};
use crate::language::Span;
use crate::language::parser::Parser;

pub(crate) fn unknown_symbol(symbol: &str) -> Message {
    let message = message!("unknown-symbol", "`{symbol}` is not a symbol of the language");
    match symbol_cure(symbol) {
        Some(cure) => message.help(cure),
        None => message,
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

pub(super) fn expected(expected: &str, found: &str) -> Message {
    let message = message!("expected", "expected {expected}, found {found}")
        .label(format!("expected {expected}"));
    match expected_cure(expected, found) {
        Some(cure) => message.help(cure),
        None => message,
    }
}

fn expected_cure(expected: &str, found: &str) -> Option<&'static str> {
    Some(match (expected, found) {
        ("`:=`", "the end of the line" | "`;`") => "a call has parentheses: `push()`",
        ("`:=`", "`<-`") => "assign with `:=`",
        ("`:=`", "`++`" | "`+=`") => "write `x := x + 1`",
        ("`:=`", "`--`" | "`-=`") => "write `x := x - 1`",
        ("`for`", _) => "did you mean `for`?",
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

pub(crate) fn unexpected_indentation() -> Message {
    message!("unexpected-indentation", "the line is indented, but no block begins here")
        .help("indent it like the line before; a block begins after `:`, `repeat` or `loop`")
}

pub(crate) fn nested_too_deep(limit: usize) -> Message {
    message!("nested-too-deep", "nested deeper than {limit} levels")
        .help("make a procedure of the inner part")
}

pub(crate) fn number_too_large() -> Message {
    let limit = Parser::NUMBER;
    message!("number-too-large", "the number is greater than {limit}")
}

pub(crate) fn too_many(what: &str, limit: usize) -> Message {
    message!("too-many", "more than {limit} {what}")
}

pub(crate) fn duplicate(name: &str, first: Span) -> Message {
    message!("duplicate", "`{name}` is declared twice")
        .context(first, "first declared here")
        .help("give one of them another name: names hide no others")
}

pub(crate) fn reserved_name(name: &str) -> Message {
    message!("reserved-name", "`{name}` has a meaning of its own").help("choose another name")
}
