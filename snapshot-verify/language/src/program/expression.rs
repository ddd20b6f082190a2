//! Expressions: local computations.

use super::{IndexSet, LocalId, PrivateId, Type};
use crate::language::Span;

/// An expression over the locals and private variables of the process. It does not access shared
/// memory, and only `fresh` has an effect.
#[derive(Clone, Debug)]
pub struct Expression {
    pub kind: ExpressionKind,
    pub content: Type,
    pub span: Span,
}

/// Operation of an expression.
#[derive(Clone, Debug)]
pub enum ExpressionKind {
    Bool(bool),
    /// An integer: n times a factor plus a number.
    Integer(super::Bound),
    /// A process by number. It breaks the symmetry of processes.
    Process(super::Bound),
    Segment(super::Bound),
    None,
    /// Initial value of a segment: the only value a program can name.
    InitialValue,
    /// An initial node, by its number; only in constant expressions.
    InitialNode(u32),
    /// Initial version of all version variables.
    FirstVersion,
    /// A counter by number, 0 or more.
    Counter(u32),
    /// The executing process.
    Me,
    /// Segment that a process owns, or owner of a segment: the same number.
    Convert(Box<Expression>),
    /// Process, segment or integer with this number, of the type of the expression. Out of range,
    /// it is a fault. The operand is an integer, process or segment.
    Checked(Box<Expression>),
    /// Number of a value: 0 for the initial one. Data-dependent.
    NumberOf(Box<Expression>),
    /// Value with this number, an integer from 0. Data-dependent.
    ValueOf(Box<Expression>),
    /// A whole local variable.
    Local(LocalId),
    /// A whole private variable.
    Private(PrivateId),
    Index(Box<Expression>, Box<Expression>),
    /// A field of a record, by position.
    Field(Box<Expression>, usize),
    /// A record, its fields in order.
    Record(Vec<Expression>),
    /// A record with some fields, by position, replaced.
    With(Box<Expression>, Vec<(usize, Expression)>),
    /// An array with equal elements; the type has the indices.
    Filled(Box<Expression>),
    /// An array: the body for each index. The variable occurs in the body only.
    Each {
        variable: LocalId,
        over: IndexSet,
        /// Expression of an element.
        body: Box<Expression>,
    },
    /// True if the body holds for all, or for any, of the indices.
    Quantified {
        /// `all` if true, else `any`.
        all: bool,
        variable: LocalId,
        over: IndexSet,
        /// Index to skip: a process, segment or integer.
        except: Option<Box<Expression>>,
        /// Condition to hold.
        body: Box<Expression>,
    },
    /// A scalar as the value of an optional type.
    Some(Box<Expression>),
    /// Content of an optional; a fault if `none`.
    Unwrap(Box<Expression>),
    Not(Box<Expression>),
    /// An operator. `And` and `Or` evaluate the right operand only if needed.
    Binary(Binary, Box<Expression>, Box<Expression>),
    If(Box<Expression>, Box<Expression>, Box<Expression>),
    /// A counter plus 1.
    Successor(Box<Expression>),
    /// Remainder of a counter or an integer modulo a positive number: an integer from 0.
    Remainder(Box<Expression>, super::Bound),
    /// Quotient of an integer by a positive number, rounded down.
    Quotient(Box<Expression>, super::Bound),
    /// A new version, distinct from all others.
    Fresh,
    /// An operation on lists; only within an object.
    List(ListOperation, Vec<Expression>),
}

#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum ListOperation {
    Empty,
    /// `prepend(e, l)`: e followed by l.
    Prepend,
    /// `append(l, e)`: l followed by e.
    Append,
    /// `first(l)`; a fault if l is empty.
    First,
    /// `rest(l)`: all but the first; a fault if l is empty.
    Rest,
    /// `len(l)`: number of elements, at most [`ListOperation::LONGEST`].
    Length,
}

impl ListOperation {
    /// Length of the longest list.
    pub const LONGEST: usize = 256;

    /// Operations that are written as calls.
    pub const CALLS: [Self; 5] =
        [Self::Prepend, Self::Append, Self::First, Self::Rest, Self::Length];

    /// Returns the name in a text.
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
    /// Returns the direct operands, in the order of evaluation. Not all need be evaluated.
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
    /// Visits the expression, then all its operands recursively.
    pub fn each<'a>(&'a self, act: &mut dyn FnMut(&'a Self)) {
        act(self);
        self.operands().into_iter().for_each(|operand| operand.each(act));
    }
}

#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Binary {
    And,
    Or,
    /// Equality of two operands of one type, records and arrays included.
    Equal,
    NotEqual,
    /// Order of integers or counters.
    Less,
    /// Order of integers or counters.
    LessOrEqual,
    /// Sum of integers.
    Add,
    /// Difference of integers.
    Subtract,
}
