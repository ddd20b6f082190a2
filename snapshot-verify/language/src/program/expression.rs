//! Local computations.

use super::{IndexSet, LocalId, PrivateId, Type};
use crate::language::Span;

/// An expression over the locals and private variables of the process: no
/// shared access, no effect but that of `fresh`.
#[derive(Clone, Debug)]
pub struct Expression {
    /// What it computes.
    pub kind: ExpressionKind,
    /// Its type.
    pub content: Type,
    /// Where it stands.
    pub span: Span,
}

/// What an expression computes.
#[derive(Clone, Debug)]
pub enum ExpressionKind {
    /// `true`, `false`.
    Bool(bool),
    /// An integer, or n times a factor plus a number.
    Integer(super::Bound),
    /// A process by number. It breaks the symmetry of processes.
    Process(super::Bound),
    /// A segment by number.
    Segment(super::Bound),
    /// `none`.
    None,
    /// The initial value of a segment: the only value a program can name.
    InitialValue,
    /// A node that there is at first, by its number: constant expressions only.
    InitialNode(u32),
    /// The version that all version variables start with.
    FirstVersion,
    /// A counter by number, 0 or more.
    Counter(u32),
    /// The executing process.
    Me,
    /// The segment that a process owns, or the owner of a segment: the same
    /// number.
    Convert(Box<Expression>),
    /// The process, segment or integer with this number, of the type of this
    /// expression; a fault if the number is out of its range. The operand is an
    /// integer, process or segment.
    Checked(Box<Expression>),
    /// The number of a value: 0 of the initial one. Data-dependent.
    NumberOf(Box<Expression>),
    /// The value with this number, an integer from 0. Data-dependent.
    ValueOf(Box<Expression>),
    /// A local variable, whole.
    Local(LocalId),
    /// A private variable, whole.
    Private(PrivateId),
    /// An element of an array.
    Index(Box<Expression>, Box<Expression>),
    /// A field of a record, by position.
    Field(Box<Expression>, usize),
    /// A record, its fields in order.
    Record(Vec<Expression>),
    /// The record with some fields, by position, replaced.
    With(Box<Expression>, Vec<(usize, Expression)>),
    /// An array with equal elements. Of the type's indices.
    Filled(Box<Expression>),
    /// An array: the body for each index. The variable occurs in the body only.
    Each {
        /// The index.
        variable: LocalId,
        /// The indices.
        over: IndexSet,
        /// The element.
        body: Box<Expression>,
    },
    /// Whether the body holds for all, or for any, of the indices.
    Quantified {
        /// `all` rather than `any`.
        all: bool,
        /// The index.
        variable: LocalId,
        /// The indices.
        over: IndexSet,
        /// Left out of the indices, if given: a process, segment or integer.
        except: Option<Box<Expression>>,
        /// What must hold.
        body: Box<Expression>,
    },
    /// A scalar as the value of an optional type.
    Some(Box<Expression>),
    /// The scalar in an optional; a fault if it is none.
    Unwrap(Box<Expression>),
    /// Negation.
    Not(Box<Expression>),
    /// An operator. `And` and `Or` evaluate the right operand only if needed.
    Binary(Binary, Box<Expression>, Box<Expression>),
    /// `if c then a else b`.
    If(Box<Expression>, Box<Expression>, Box<Expression>),
    /// A counter plus 1.
    Successor(Box<Expression>),
    /// The remainder of a counter or an integer modulo a positive number: an
    /// integer from 0.
    Remainder(Box<Expression>, super::Bound),
    /// The quotient of an integer by a positive number, rounded down.
    Quotient(Box<Expression>, super::Bound),
    /// A version that never was before.
    Fresh,
    /// An operation on lists: within an object only.
    List(ListOperation, Vec<Expression>),
}

/// An operation on lists.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum ListOperation {
    /// `[]`.
    Empty,
    /// `prepend(e, l)`: e, then what is in l.
    Prepend,
    /// `append(l, e)`: what is in l, then e.
    Append,
    /// `first(l)`; a fault if l is empty.
    First,
    /// `rest(l)`: all but the first; a fault if l is empty.
    Rest,
    /// `len(l)`: how many there are, at most [`ListOperation::LONGEST`].
    Length,
}

impl ListOperation {
    /// The longest list.
    pub const LONGEST: usize = 256;

    /// Those that are written as calls.
    pub const CALLS: [Self; 5] =
        [Self::Prepend, Self::Append, Self::First, Self::Rest, Self::Length];

    /// As written.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Empty => "[]",
            Self::Prepend => "prepend",
            Self::Append => "append",
            Self::First => "first",
            Self::Rest => "rest",
            Self::Length => "len",
        }
    }
}

impl Expression {
    /// The expressions that it is made of directly, in the order of evaluation. They
    /// need not all be evaluated.
    pub fn operands(&self) -> Vec<&Self> {
        match &self.kind {
            ExpressionKind::Bool(_)
            | ExpressionKind::Integer(_)
            | ExpressionKind::Process(_)
            | ExpressionKind::Segment(_)
            | ExpressionKind::None
            | ExpressionKind::InitialValue
            | ExpressionKind::InitialNode(_)
            | ExpressionKind::FirstVersion
            | ExpressionKind::Counter(_)
            | ExpressionKind::Me
            | ExpressionKind::Local(_)
            | ExpressionKind::Private(_)
            | ExpressionKind::Fresh => Vec::new(),
            ExpressionKind::Convert(operand)
            | ExpressionKind::Checked(operand)
            | ExpressionKind::NumberOf(operand)
            | ExpressionKind::ValueOf(operand)
            | ExpressionKind::Field(operand, _)
            | ExpressionKind::Some(operand)
            | ExpressionKind::Unwrap(operand)
            | ExpressionKind::Filled(operand)
            | ExpressionKind::Not(operand)
            | ExpressionKind::Successor(operand)
            | ExpressionKind::Remainder(operand, _)
            | ExpressionKind::Quotient(operand, _)
            | ExpressionKind::Each { body: operand, .. } => vec![operand],
            ExpressionKind::Index(a, b) | ExpressionKind::Binary(_, a, b) => vec![a, b],
            ExpressionKind::If(a, b, c) => vec![a, b, c],
            ExpressionKind::Record(fields) | ExpressionKind::List(_, fields) => {
                fields.iter().collect()
            }
            ExpressionKind::With(record, fields) => {
                let fields = fields.iter().map(|(_, field)| field);
                std::iter::once(&**record).chain(fields).collect()
            }
            ExpressionKind::Quantified { except, body, .. } => {
                except.as_deref().into_iter().chain([&**body]).collect()
            }
        }
    }
}

impl Expression {
    /// Does something with it, then with all that it is made of.
    pub fn each<'a>(&'a self, act: &mut dyn FnMut(&'a Self)) {
        act(self);
        self.operands().into_iter().for_each(|operand| operand.each(act));
    }
}

/// A binary operator.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Binary {
    /// Both.
    And,
    /// At least one.
    Or,
    /// Equality of two of one type, records and arrays included.
    Equal,
    /// Its negation.
    NotEqual,
    /// Order, of integers or counters.
    Less,
    /// Order, of integers or counters.
    LessOrEqual,
    /// Sum of integers.
    Add,
    /// Difference of integers.
    Subtract,
}
