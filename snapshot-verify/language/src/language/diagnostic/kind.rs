//! Everything that can be wrong with a text.

use thiserror::Error;

use crate::language::Span;
use crate::program::{CellKind, Type};

/// What is wrong. As text: the first line of the diagnostic.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the message of each variant says what it means")]
pub enum DiagnosticKind {
    // Symbols and lines.
    #[error("the text is longer than {limit} bytes")]
    TextTooLong { limit: usize },
    #[error("`{symbol}` is not a symbol of the language")]
    UnknownSymbol { symbol: String },
    #[error("the string is not closed")]
    UnclosedString,
    #[error("the quotation is not closed")]
    UnclosedQuote,
    #[error("a tab in the indentation")]
    TabInIndentation { more: usize },
    #[error("the line is indented like no block before it")]
    UnevenIndentation { column: u32, blocks: Vec<u32> },
    #[error("the number is greater than {limit}")]
    NumberTooLarge { limit: i32 },

    // Syntax.
    #[error("expected {expected}, found {found}")]
    Expected { expected: &'static str, found: String },
    #[error("the bracket is not closed: expected {expected}, found {found}")]
    Unclosed { expected: &'static str, found: String, open: Span },
    #[error("expected an indented block or a statement after `{after}`")]
    MissingBlock { after: String },
    #[error("the line is indented, but no block begins here")]
    UnexpectedIndentation,
    #[error("`=` compares, it does not assign")]
    EqualAssigns,
    #[error("`:=` assigns, it does not compare")]
    BecomesCompares,
    #[error("comparisons do not chain")]
    ChainedComparison,
    #[error("nested deeper than {limit} levels")]
    NestedTooDeep { limit: usize },
    #[error("the expression has more than {limit} symbols")]
    ExpressionTooLong { limit: usize },
    #[error("`local` after the first statement of the procedure")]
    LateLocal,
    #[error("a line that begins no declaration")]
    UnknownItem { found: String },
    #[error("the algorithm has no name")]
    MissingHeader,
    #[error("a second `{header}`")]
    SecondHeader { header: &'static str, first: Span },

    // Bugs and expectations.
    #[error("the text does not occur in {place}")]
    EditNotFound { place: String },
    #[error("the text occurs {count} times in {place}")]
    EditAmbiguous { place: String, count: usize, occurrences: [Span; 2] },
    #[error("the edit has no text to look for")]
    EmptyEdit,
    #[error("there is no procedure `{name}` to edit")]
    EditNowhere { name: String, nearest: Option<String> },
    #[error("the bug changes nothing")]
    BugWithoutEdits,
    #[error("the algorithm has no bug `{name}`")]
    UnknownBug { name: String, known: Vec<String>, nearest: Option<String> },
    #[error("an instance has at least 2 processes")]
    TooFewProcesses,
    #[error("{i},{j} is no pair of segments for n = {processes}")]
    PairOutOfRange { i: u32, j: u32, processes: u32 },
    #[error("process {updater} is out of range: there are {processes}")]
    UpdaterOutOfRange { updater: u32, processes: u32 },
    #[error("one updater, but simple executions, in which all update")]
    UpdaterOfSimple,
    #[error("too few {clause} to expect anything")]
    VacuousExpectation { clause: &'static str, least: u32 },

    #[error("more than {limit} {what}")]
    TooMany { what: &'static str, limit: usize },

    // Names.
    #[error("unknown variable `{name}`")]
    UnknownVariable { name: String, nearest: Option<String> },
    #[error("unknown array `{name}`")]
    UnknownArray { name: String, procedure: String, nearest: Option<String> },
    #[error("unknown type `{name}`")]
    UnknownType { name: String, nearest: Option<String> },
    #[error("unknown procedure `{name}`")]
    UnknownProcedure { name: String, nearest: Option<String> },
    #[error("`{of}` has no field `{name}`")]
    UnknownField { name: String, of: Type, nearest: Option<String> },
    #[error("`{name}` is declared twice")]
    Duplicate { name: String, first: Span },
    #[error("`{name}` has a meaning of its own")]
    ReservedName { name: String },
    #[error("a procedure `{name}` is not a variable")]
    ProcedureAsVariable { name: String },
    #[error("the algorithm has no `{name}`")]
    MissingProcedure { name: String, of_object: bool },
    #[error("procedures call each other in a circle")]
    Recursion { circle: Vec<String> },
    #[error("with the call of `{name}` statements are nested deeper than {limit} levels")]
    CallsTooDeep { name: String, limit: usize },

    // Objects.
    #[error("the object `{name}` has no operations")]
    NoOperations { name: String },
    #[error("`{name}` has other parameters, or another result, than the operation")]
    OperationSignature { name: String, operation: Span },
    #[error("`{content}` cannot be {place}")]
    OperationType { content: Type, place: &'static str },
    #[error("the object does not see `{name}`, a variable of the algorithm")]
    OutsideObject { name: String },
    #[error("a list outside of an object")]
    ListOutsideObject,
    #[error("an atomic step within an operation of the object")]
    AtomicInObject,
    #[error("the algorithm declares no `size`")]
    NoSize { has_object: bool },
    #[error("a `size`, and no object that has one")]
    SizeWithoutObject,
    #[error("a `choose` in an algorithm of snapshots")]
    ChoiceOfSnapshot,
    #[error("a `choose` in an object")]
    ChoiceInObject,
    #[error("a `choose` in an atomic step")]
    ChoiceInAtomic,
    #[error("a `choose` into a shared cell")]
    ChoiceIntoCell,
    #[error("`together` outside of an object")]
    TogetherOutsideObject,
    #[error("`together` within a block, or a second time")]
    TogetherNested,
    #[error("the operation `{name}`, others of which take effect together with it, is called")]
    TogetherCalled { name: String },
    #[error("the state is changed after `together`")]
    ChangedAfterTogether,
    #[error("{what} is of snapshots, and this algorithm declares an object")]
    OfSnapshot { what: String },

    // Nodes.
    #[error("nodes, and no object that they implement")]
    NodesWithoutObject,
    #[error("there can be no `{name}`")]
    NodeBound { name: String },
    #[error("`{name}` is not declared as a node")]
    UnknownNode { name: String, nearest: Option<String> },
    #[error("a `new` within an expression")]
    NewWithin,
    #[error("a `new` in an atomic step")]
    NewInAtomic,
    #[error("`free` needs a node, found {}", described(found))]
    NotANode { found: Type },
    #[error("`{name}` is a node that there is at first, not a variable")]
    InitialNodeOutside { name: String },

    // Types.
    #[error("type `{name}` contains itself")]
    TypeContainsItself { name: String },
    #[error("the type is too large")]
    TypeTooLarge { limit: usize },
    #[error("`{content}` cannot be optional")]
    OptionalCompound { content: Type },
    #[error("the range {range} is empty")]
    EmptyRange { range: String },
    #[error("a bound that is not known before the processes run")]
    BoundNotConstant,
    #[error("expected `{expected}`, found {}", described(found))]
    Mismatch { expected: Type, found: Type },
    #[error("{} and {} cannot be compared", described(expected), described(found))]
    Incomparable { expected: Type, found: Type },
    #[error("`{content}` is never none")]
    NeverNone { content: Type },
    #[error("the number {number} is never in `{content}`")]
    NeverInRange { number: String, content: Type },
    #[error("expected `{expected}`, found a record")]
    RecordUnexpected { expected: Type },
    #[error("parameter `{name}` has no type")]
    UntypedParameter { name: String },
    #[error("the type of {what} is not known here")]
    UnknownShape { what: &'static str },
    #[error("the range of `{name}` does not follow from {}", described(found))]
    UnknownRange { name: String, found: Type },
    #[error("expected {expected} fields, found {found}")]
    FieldCount { expected: usize, found: usize, content: Type },
    #[error("a record of {expected} fields is taken apart into {found}")]
    PlaceCount { expected: usize, found: usize, content: Type },
    #[error("field `{name}` is missing")]
    MissingField { name: String, content: Type },
    #[error("field `{name}` is given twice")]
    RepeatedField { name: String, first: Span },
    #[error("`{found}` has no fields")]
    NoFields { found: Type },
    #[error("`{found}` has no elements")]
    NoElements { found: Type },
    #[error("`{operator}` is not defined for `{found}`")]
    Operand { operator: &'static str, found: Type },
    #[error("a counter can only be increased by 1")]
    CounterArithmetic,
    #[error("a fresh version is equal to nothing")]
    FreshCompared,
    #[error("the divisor is no positive number")]
    Divisor,
    #[error("multiplication of two unknown numbers")]
    Product,
    #[error("not a constant")]
    NotConstant { what: &'static str },

    // Shared memory.
    #[error("`{name}` is many cells, and a step accesses one")]
    WholeFamily { name: String, dimensions: usize },
    #[error("two accesses to shared memory in one step")]
    TwoAccesses { first: Span },
    #[error("an access to shared memory for every index, in one step")]
    RepeatedAccess,
    #[error("`{operation}` needs a cell of shared memory")]
    NotACell { operation: &'static str },
    #[error("`{operation}` on a cell that is not `{needed}`")]
    WrongCell { operation: &'static str, needed: &'static str, name: String, cell: CellKind },
    #[error("several shared variables are assigned in one step")]
    SharedTarget,
    #[error("nothing to linearize at: the statement accesses no shared memory")]
    NothingLinearizes,
    #[error("whether this is a linearization point depends on shared memory")]
    PointAccesses,
    #[error("a linearization point in `{name}`, which both `update` and `scan` call")]
    PointOfBoth { name: String },
    #[error("a linearization point in `{name}`, which neither `update` nor `scan` calls")]
    PointOfNeither { name: String },
    #[error("a linearization point in `{name}`, which no operation calls")]
    PointOfNone { name: String },
    #[error("a linearization point of `{name}`, which takes effect together with others")]
    PointTogether { name: String },
    #[error("a loop that may go round without an access to shared memory")]
    LoopWithoutAccess,
    #[error("a loop in an atomic step")]
    LoopInAtomic,
    #[error("a call in an atomic step")]
    CallInAtomic,
    #[error("an atomic step in an atomic step")]
    NestedAtomic,

    // Statements and procedures.
    #[error("`{what}` cannot be assigned to")]
    NotAPlace { what: String },
    #[error("`{name}` runs through the indices and cannot be assigned to")]
    AssignedIndex { name: String },
    #[error("`exit` outside of a loop")]
    ExitOutsideLoop,
    #[error("`{name}` takes {}, found {found}", counted(*expected, "argument"))]
    ArgumentCount { name: String, expected: usize, found: usize },
    #[error("a call within an expression")]
    CallWithin { name: String },
    #[error("the statement computes something and drops it")]
    NoEffect,
    #[error("`{name}` returns nothing")]
    ReturnsNothing { name: String },
    #[error("a path through `{name}` returns nothing")]
    MissingReturn { name: String, returns: Type },
    #[error("`{name}` must return `{returns}`")]
    ReturnWithoutValue { name: String, returns: Type },
    #[error("`{name}` returns nothing, but here it does")]
    ReturnWithValue { name: String },
    #[error("`update` has one parameter, the value, and returns nothing")]
    UpdateSignature,
    #[error("`scan` has no parameters and returns a view")]
    ScanSignature,
    #[error("`scan` must return a `view`, found `{found}`")]
    ScanShape { found: Type },

    // Warnings.
    #[error("`{operation}` on `{name}`, to which no `LL` links: it always fails")]
    NeverLinked { operation: &'static str, name: String },
    #[error("the result of `{operation}` is not used")]
    UnusedResult { operation: &'static str },

    // Data independence.
    #[error("values are compared with each other")]
    ValuesCompared { content: Type },
    #[error("a compare-and-swap looks at values")]
    ValuesSwapped { content: Type },
    #[error("values are used as numbers")]
    ValuesNumbered,
}

impl DiagnosticKind {
    /// Whether the text is an algorithm all the same.
    pub const fn is_warning(&self) -> bool {
        matches!(self, Self::NeverLinked { .. } | Self::UnusedResult { .. })
    }
}

/// A type, or the only number that it holds.
pub(super) fn described(found: &Type) -> String {
    match found {
        Type::Integer { low, high } if low == high => format!("the number {low}"),
        found => format!("`{found}`"),
    }
}

/// `1 argument`, `2 arguments`.
pub(super) fn counted(count: usize, what: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {what}{plural}")
}
