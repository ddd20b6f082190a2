//! The syntax tree: the structure of a text, before names and types are resolved.
//!
//! Every node has a span. A node from a bug edit has its span in the text of the edit, so
//! diagnostics of a variant point to the edit.

use super::Span;

#[derive(Clone, Debug)]
pub struct Tree {
    pub name: Name,
    /// Publication of the algorithm.
    pub citation: Option<String>,
    pub types: Vec<TypeDeclaration>,
    /// Declared object; `None`: the algorithm implements the snapshot.
    pub object: Option<Object>,
    pub nodes: Vec<Node>,
    pub initially: Vec<InitialNode>,
    pub shared: Vec<Variable>,
    pub private: Vec<Variable>,
    /// All procedures, including the operations.
    pub procedures: Vec<Procedure>,
}

/// `object NAME:` with its block.
#[derive(Clone, Debug)]
pub struct Object {
    pub name: Name,
    pub state: Vec<Variable>,
    pub operations: Vec<Operation>,
}

/// An operation of an object.
#[derive(Clone, Debug)]
pub struct Operation {
    /// Name, parameters, result type, and effect on the state.
    pub procedure: Procedure,
    /// Processes that may begin it.
    pub by: By,
    /// Condition on the state for the operation to begin; `None`: always true.
    pub when: Option<Expression>,
    /// Condition on the state for the operation to take effect, until which it waits; `None`:
    /// always true.
    pub awaits: Option<Expression>,
}

/// Processes that may begin an operation.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum By {
    #[default]
    All,
    /// The process with this number.
    Process(u32),
    /// Processes that no other operation names by their number.
    Others,
}

/// A name with its span.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Name {
    pub text: String,
    pub span: Span,
}

/// `type NAME = TYPE`.
#[derive(Clone, Debug)]
pub struct TypeDeclaration {
    pub name: Name,
    pub content: TypeExpression,
}

/// `node NAME [up to BOUND] [type stable]:` with its fields.
#[derive(Clone, Debug)]
pub struct Node {
    /// Name of the kind of nodes, which is also a type.
    pub name: Name,
    /// Largest number of nodes at a time.
    pub bound: Option<Expression>,
    /// True if freed nodes may still be accessed.
    pub stable: bool,
    /// Fields, each a cell of every node; without dimensions and initial contents.
    pub fields: Vec<Variable>,
}

/// `initially NAME := new NODE(E, ...)`: a node that initial contents may name.
#[derive(Clone, Debug)]
pub struct InitialNode {
    pub name: Name,
    /// Kind of the node, declared by `node`.
    pub node: Name,
    /// Initial contents of its fields, in order.
    pub fields: Vec<Expression>,
    /// Span of the whole `new` expression.
    pub span: Span,
}

/// A declaration of a shared, private or local variable.
#[derive(Clone, Debug)]
pub struct Variable {
    pub name: Name,
    /// Indices in brackets.
    pub dimensions: Vec<Indices>,
    /// `llsc` or `cas`, for shared variables.
    pub cell: Option<Cell>,
    /// Type of the variable, or of each element.
    pub content: TypeExpression,
    /// Initial content of the variable, or of each element.
    pub initial: Option<Expression>,
}

/// Operations on cells besides reads and writes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Cell {
    /// Declared with `llsc`: LL, SC and VL.
    Linked,
    /// Declared with `cas`: CAS.
    Swappable,
}

/// A type, as written.
#[derive(Clone, Debug)]
pub struct TypeExpression {
    pub kind: TypeKind,
    pub span: Span,
}

/// Form of a written type.
#[derive(Clone, Debug)]
pub enum TypeKind {
    /// A name: of a built-in type or of a declared one.
    Named(String),
    /// `L..H`.
    Range(Box<Expression>, Box<Expression>),
    /// `T or none`.
    Optional(Box<TypeExpression>),
    /// `record (F: T, ...)`.
    Record(Vec<(Name, TypeExpression)>),
    /// `array [INDEX] of T`.
    Array(Indices, Box<TypeExpression>),
    /// `list of T`.
    List(Box<TypeExpression>),
}

/// A written index set.
#[derive(Clone, Debug)]
pub struct Indices {
    pub kind: IndicesKind,
    pub span: Span,
}

/// Form of a written index set.
#[derive(Clone, Debug)]
pub enum IndicesKind {
    /// `process` or `processes`.
    Processes,
    /// `segment` or `segments`.
    Segments,
    /// `L..H`.
    Range(Box<Expression>, Box<Expression>),
}

#[derive(Clone, Debug)]
pub struct Procedure {
    pub name: Name,
    /// Parameters. The type may be missing only for operations.
    pub parameters: Vec<(Name, Option<TypeExpression>)>,
    pub returns: Option<TypeExpression>,
    pub locals: Vec<Variable>,
    pub body: Vec<Statement>,
}

#[derive(Clone, Debug)]
pub struct Statement {
    pub kind: StatementKind,
    /// Span; for statements with blocks, the line that opens it.
    pub span: Span,
    /// Mark of a linearization point, if the statement has one.
    pub mark: Option<Mark>,
}

/// `linearizes`, or `linearizes if EXPRESSION`.
#[derive(Clone, Debug)]
pub struct Mark {
    pub span: Span,
    /// Condition, evaluated after the access; `None`: always a point.
    pub condition: Option<Expression>,
}

#[derive(Clone, Debug)]
pub enum StatementKind {
    /// `PLACE := EXPRESSION`.
    Assign(Expression, Expression),
    /// `(PLACE, ..., _) := EXPRESSION`.
    TakeApart(Vec<Option<Expression>>, Expression),
    /// A call, or an access whose result is dropped.
    Do(Expression),
    /// `if`, its `else if`s, and `else`.
    If(Vec<(Expression, Vec<Statement>)>, Option<Vec<Statement>>),
    /// `repeat ... until`.
    Repeat(Vec<Statement>, Expression),
    While(Expression, Vec<Statement>),
    Loop(Vec<Statement>),
    Exit,
    /// `for X in SET [except E]`.
    For(Range, Vec<Statement>),
    Return(Option<Expression>),
    Atomic(Vec<Statement>),
    /// `free E`.
    Free(Expression),
    Together,
    /// `PLACE := choose SET`.
    Choose(Expression, Indices),
    Skip,
}

/// `X in SET [except E]`.
#[derive(Clone, Debug)]
pub struct Range {
    pub variable: Name,
    /// Index set of the variable.
    pub over: Indices,
    /// Index to skip.
    pub except: Option<Box<Expression>>,
}

#[derive(Clone, Debug)]
pub struct Expression {
    pub kind: ExpressionKind,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub enum ExpressionKind {
    Bool(bool),
    Number(i32),
    None,
    Me,
    N,
    Initial,
    Fresh,
    Variable(String),
    /// `x[e]`.
    Index(Box<Expression>, Box<Expression>),
    /// `r.f`.
    Field(Box<Expression>, Name),
    /// `f(a, b)`: a procedure, an access, or a conversion.
    Call(Name, Vec<Expression>),
    /// `new NODE(a, b)`.
    New(Name, Vec<Expression>),
    /// `[]`.
    EmptyList,
    /// `(a, b)`.
    Tuple(Vec<Expression>),
    /// `(f: a, g: b)`.
    Record(Vec<(Name, Expression)>),
    /// `r with (f: a)`.
    With(Box<Expression>, Vec<(Name, Expression)>),
    /// `[E for x in SET]`.
    Each(Box<Expression>, Range),
    /// `all` if true, else `any`.
    Quantified(bool, Range, Box<Expression>),
    /// `if C then A else B`.
    If(Box<Expression>, Box<Expression>, Box<Expression>),
    Not(Box<Expression>),
    Binary(Operator, Box<Expression>, Box<Expression>),
}

#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Operator {
    Or,
    And,
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Add,
    Subtract,
    Multiply,
    Divide,
    /// `mod`, the remainder.
    Modulo,
}

impl Operator {
    pub const fn symbol(self) -> &'static str {
        match self {
            Self::Or => "or",
            Self::And => "and",
            Self::Equal => "=",
            Self::NotEqual => "!=",
            Self::Less => "<",
            Self::LessOrEqual => "<=",
            Self::Greater => ">",
            Self::GreaterOrEqual => ">=",
            Self::Add => "+",
            Self::Subtract => "-",
            Self::Multiply => "*",
            Self::Divide => "/",
            Self::Modulo => "mod",
        }
    }

    /// Returns the precedence: higher binds tighter. `not` binds between `and` and comparisons.
    pub const fn precedence(self) -> u8 {
        match self {
            Self::Or => 1,
            Self::And => 2,
            Self::Equal
            | Self::NotEqual
            | Self::Less
            | Self::LessOrEqual
            | Self::Greater
            | Self::GreaterOrEqual => 4,
            Self::Add | Self::Subtract => 5,
            Self::Multiply | Self::Divide | Self::Modulo => 6,
        }
    }

    pub const fn is_comparison(self) -> bool {
        self.precedence() == 4
    }
}
