//! The syntax tree: what the text says, not yet what it means.
//!
//! Every node has its place. A node that a bug edit made has its place in the
//! text of the edit, so what is wrong with a variant is shown where it is written.

use super::Span;

/// An algorithm, or one of its bug variants.
#[derive(Clone, Debug)]
pub struct Tree {
    /// Its name.
    pub name: Name,
    /// Where it was published.
    pub citation: Option<String>,
    /// `type` declarations.
    pub types: Vec<TypeDeclaration>,
    /// The object that it implements; the snapshot if none is declared.
    pub object: Option<Object>,
    /// `node` declarations.
    pub nodes: Vec<Node>,
    /// `initially` declarations.
    pub initially: Vec<InitialNode>,
    /// `shared` declarations.
    pub shared: Vec<Variable>,
    /// `private` declarations.
    pub private: Vec<Variable>,
    /// All procedures, those of the operations among them.
    pub procedures: Vec<Procedure>,
}

/// `object NAME:` and below it what it is.
#[derive(Clone, Debug)]
pub struct Object {
    /// Its name.
    pub name: Name,
    /// `state` declarations.
    pub state: Vec<Variable>,
    /// What can be asked of it.
    pub operations: Vec<Operation>,
}

/// An operation of an object: what it does at one instant.
#[derive(Clone, Debug)]
pub struct Operation {
    /// Its name, parameters, result, and what it does to the state.
    pub procedure: Procedure,
    /// The processes that may begin it.
    pub by: By,
    /// The state in which it may be begun; any if there is none.
    pub when: Option<Expression>,
    /// The state in which it may take effect, until which it waits; any if there is none.
    pub awaits: Option<Expression>,
}

/// The processes that may begin an operation.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum By {
    /// All of them.
    #[default]
    All,
    /// The one with this number.
    Process(u32),
    /// Those that no other operation names by their number.
    Others,
}

/// A name where it stands.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Name {
    /// As written.
    pub text: String,
    /// Where.
    pub span: Span,
}

/// `type NAME = TYPE`.
#[derive(Clone, Debug)]
pub struct TypeDeclaration {
    /// The new name.
    pub name: Name,
    /// For this.
    pub content: TypeExpression,
}

/// `node NAME [up to BOUND] [type stable]:` and below it its fields.
#[derive(Clone, Debug)]
pub struct Node {
    /// Its name, which is a type.
    pub name: Name,
    /// How many there may be at a time.
    pub bound: Option<Expression>,
    /// Whether nodes that are freed may still be accessed.
    pub stable: bool,
    /// The fields, each a cell of every node; without dimensions and first contents.
    pub fields: Vec<Variable>,
}

/// `initially NAME := new NODE(E, ...)`: a node that first contents may name.
#[derive(Clone, Debug)]
pub struct InitialNode {
    /// The new name.
    pub name: Name,
    /// What is declared by `node`.
    pub node: Name,
    /// What its fields hold at first, in order.
    pub fields: Vec<Expression>,
    /// Where `new` stands, with all that belongs to it.
    pub span: Span,
}

/// A declaration of a shared, private or local variable.
#[derive(Clone, Debug)]
pub struct Variable {
    /// Its name.
    pub name: Name,
    /// The indices in brackets.
    pub dimensions: Vec<Indices>,
    /// `llsc` or `cas`, of shared variables.
    pub cell: Option<Cell>,
    /// Its type, or that of each element.
    pub content: TypeExpression,
    /// What it, or each element, holds at first.
    pub initial: Option<Expression>,
}

/// What may be done with cells besides reading and writing.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Cell {
    /// `llsc`.
    Linked,
    /// `cas`.
    Swappable,
}

/// A type, as written.
#[derive(Clone, Debug)]
pub struct TypeExpression {
    /// What it is.
    pub kind: TypeKind,
    /// Where.
    pub span: Span,
}

/// What is written for a type.
#[derive(Clone, Debug)]
pub enum TypeKind {
    /// A name: of a type of the language or of a declared one.
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

/// What an index is taken from.
#[derive(Clone, Debug)]
pub struct Indices {
    /// What.
    pub kind: IndicesKind,
    /// Where.
    pub span: Span,
}

/// What is written for indices.
#[derive(Clone, Debug)]
pub enum IndicesKind {
    /// `process` or `processes`.
    Processes,
    /// `segment` or `segments`.
    Segments,
    /// `L..H`.
    Range(Box<Expression>, Box<Expression>),
}

/// A procedure.
#[derive(Clone, Debug)]
pub struct Procedure {
    /// Its name.
    pub name: Name,
    /// Its parameters; the type may be missing for those of operations only.
    pub parameters: Vec<(Name, Option<TypeExpression>)>,
    /// What it is declared to return.
    pub returns: Option<TypeExpression>,
    /// The `local` declarations.
    pub locals: Vec<Variable>,
    /// What it does.
    pub body: Vec<Statement>,
}

/// A statement.
#[derive(Clone, Debug)]
pub struct Statement {
    /// What it does.
    pub kind: StatementKind,
    /// Where; of those with blocks, the line that opens it.
    pub span: Span,
    /// That it is a linearization point, if it says so.
    pub mark: Option<Mark>,
}

/// `linearizes`, or `linearizes if EXPRESSION`.
#[derive(Clone, Debug)]
pub struct Mark {
    /// All of it.
    pub span: Span,
    /// After the access, where it is a point only sometimes.
    pub condition: Option<Expression>,
}

/// What a statement does.
#[derive(Clone, Debug)]
pub enum StatementKind {
    /// `PLACE := EXPRESSION`.
    Assign(Expression, Expression),
    /// `(PLACE, ..., _) := EXPRESSION`.
    TakeApart(Vec<Option<Expression>>, Expression),
    /// A call, or an access whose result is dropped.
    Do(Expression),
    /// `if` and its `else if`s, and `else`.
    If(Vec<(Expression, Vec<Statement>)>, Option<Vec<Statement>>),
    /// `repeat ... until`.
    Repeat(Vec<Statement>, Expression),
    /// `while`.
    While(Expression, Vec<Statement>),
    /// `loop`.
    Loop(Vec<Statement>),
    /// `exit`.
    Exit,
    /// `for X in SET [except E]`.
    For(Range, Vec<Statement>),
    /// `return`.
    Return(Option<Expression>),
    /// `atomic`.
    Atomic(Vec<Statement>),
    /// `free E`.
    Free(Expression),
    /// `together`.
    Together,
    /// `PLACE := choose SET`.
    Choose(Expression, Indices),
    /// `skip`.
    Skip,
}

/// `X in SET [except E]`.
#[derive(Clone, Debug)]
pub struct Range {
    /// The variable.
    pub variable: Name,
    /// What it runs through.
    pub over: Indices,
    /// What is left out.
    pub except: Option<Box<Expression>>,
}

/// An expression.
#[derive(Clone, Debug)]
pub struct Expression {
    /// What it computes.
    pub kind: ExpressionKind,
    /// Where.
    pub span: Span,
}

/// What an expression computes.
#[derive(Clone, Debug)]
pub enum ExpressionKind {
    /// `true`, `false`.
    Bool(bool),
    /// A number.
    Number(i32),
    /// `none`.
    None,
    /// `me`.
    Me,
    /// `n`.
    N,
    /// `initial`.
    Initial,
    /// `fresh`.
    Fresh,
    /// A variable.
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
    /// `all`, if true, or `any`.
    Quantified(bool, Range, Box<Expression>),
    /// `if C then A else B`.
    If(Box<Expression>, Box<Expression>, Box<Expression>),
    /// `not`.
    Not(Box<Expression>),
    /// An operator between two.
    Binary(Operator, Box<Expression>, Box<Expression>),
}

/// An operator between two expressions.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Operator {
    /// `or`.
    Or,
    /// `and`.
    And,
    /// `=`.
    Equal,
    /// `!=`.
    NotEqual,
    /// `<`.
    Less,
    /// `<=`.
    LessOrEqual,
    /// `>`.
    Greater,
    /// `>=`.
    GreaterOrEqual,
    /// `+`.
    Add,
    /// `-`.
    Subtract,
    /// `*`.
    Multiply,
    /// `/`.
    Divide,
    /// `mod`.
    Modulo,
}

impl Operator {
    /// As written.
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

    /// How tightly it binds: more is tighter. `not` binds between `and` and
    /// comparisons.
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

    /// Whether it compares.
    pub const fn is_comparison(self) -> bool {
        self.precedence() == 4
    }
}
