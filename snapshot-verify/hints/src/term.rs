//! Expressions over rows of bytes, with every place resolved.

use snapshot_language::Span;
use snapshot_language::program::Binary;

use super::shape::{BASE, Bytes, Leaf, Scalar, Shape, integer, number};

/// An expression of the program.
#[derive(Clone, Debug)]
pub enum Term {
    Constant(Bytes),
    /// An unknown value, also of values and views.
    Unknown(Shape),
    /// The executing process.
    Me,
    /// This many bytes of the process, from this offset: a whole variable.
    Variable(usize, usize),
    /// An element of an array.
    Index {
        array: Box<Self>,
        /// Shape of the element.
        element: Shape,
        index: Box<Self>,
        /// Indices of the array.
        over: Over,
        /// Reading of the place of "any other".
        other: Other,
        span: Span,
    },
    /// Some bytes of a term: offset and length.
    Part(Box<Self>, usize, usize),
    /// Terms one after the other.
    Row(Vec<Self>),
    /// A term with bytes replaced, from the given offsets.
    With(Box<Self>, Vec<(usize, Self)>),
    /// A term repeated.
    Filled(Box<Self>, usize),
    /// An array, element by element.
    Each {
        /// Byte of the index.
        variable: usize,
        over: Over,
        body: Box<Self>,
    },
    /// A view as a token: assembled from the body's value for each segment.
    Made {
        /// Byte of the index.
        variable: usize,
        body: Box<Self>,
    },
    /// True if the body holds for all, or for any.
    Quantified {
        /// True for all, false for any.
        all: bool,
        /// Byte of the index.
        variable: usize,
        over: Over,
        /// Index that is left out.
        except: Option<Box<Self>>,
        body: Box<Self>,
    },
    /// The content of an optional.
    Unwrap(Box<Self>, Span),
    Not(Box<Self>),
    /// An element of a view that is only a token: the view must have been made here.
    Taken(Box<Self>, Span),
    /// A conjunction if true, otherwise a disjunction.
    Connected(bool, Box<Self>, Box<Self>),
    /// Equality of rows.
    Equal {
        /// True for inequality.
        negated: bool,
        left: Box<Self>,
        right: Box<Self>,
        /// Bytes of both, each with the indices that lead to it.
        leaves: Vec<(Leaf, Bytes)>,
    },
    /// Arithmetic and order of integers.
    Arithmetic(Binary, Box<Operand>, Box<Operand>, Wide),
    If(Box<Self>, Box<Self>, Box<Self>, Shape),
    /// A new version.
    Fresh,
    /// The last term; the first ones are evaluated only for their faults.
    Also(Vec<Self>, Box<Self>),
}

/// An integer operand.
#[derive(Clone, Debug)]
pub struct Operand {
    pub term: Term,
    /// Least possible value, encoded by the first byte.
    pub low: i32,
    /// Number of values.
    pub count: i32,
}

/// Range of an integer; results outside are faults.
#[derive(Clone, Copy, Debug)]
pub struct Wide {
    /// Least value.
    pub low: i32,
    /// Number of values; 0 if the result is a truth value.
    pub count: i32,
    pub span: Span,
}

/// The indices of an array or a quantifier.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Over {
    /// Processes or segments.
    Members,
    /// Integers from the first, this many of them.
    Range(i32, usize),
    /// Integers whose number depends on n.
    Many,
}

impl Over {
    /// Returns the position of an index in an array.
    pub fn place(self, index: u8) -> usize {
        match self {
            Self::Range(low, _) => (number(index) - low) as usize,
            Self::Members | Self::Many => usize::from(index - BASE),
        }
    }

    /// Returns the integers in it, ascending.
    pub fn integers(self) -> impl Iterator<Item = u8> {
        let (low, count) = match self {
            Self::Range(low, count) => (low, count as i32),
            Self::Members | Self::Many => (0, 0),
        };
        (low..low + count).map(integer)
    }

    /// Returns the type of the index that a loop over it leaves out: one of its indices, or, over
    /// integers, possibly none of them.
    pub fn left_out(self) -> Leaf {
        match self {
            Self::Members => Leaf { scalar: Scalar::Member, optional: false },
            Self::Range(low, count) => {
                Leaf { scalar: Scalar::Integer { low, count: count as u8 }, optional: true }
            }
            Self::Many => Leaf { scalar: Scalar::Integer { low: 0, count: 0 }, optional: true },
        }
    }

    /// Returns true if a computed value may be an index to leave out.
    pub fn may_leave_out(self, byte: u8) -> bool {
        byte < BASE || self == Self::Members || self.integers().any(|index| index == byte)
    }
}

/// Reading of an array variable at "any other" process.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Other {
    Unknown,
    /// The index is the enclosing loop's: the value that this round has stored.
    Scratch,
}

impl Term {
    /// Returns the direct operands.
    pub fn operands(&self) -> Vec<&Self> {
        match self {
            Self::Constant(_) | Self::Unknown(_) | Self::Me | Self::Variable(..) | Self::Fresh => {
                Vec::new()
            }
            Self::Part(one, ..)
            | Self::Filled(one, _)
            | Self::Each { body: one, .. }
            | Self::Made { body: one, .. }
            | Self::Unwrap(one, _)
            | Self::Taken(one, _)
            | Self::Not(one) => vec![one],
            Self::Index { array: one, index: two, .. }
            | Self::Connected(_, one, two)
            | Self::Equal { left: one, right: two, .. } => vec![one, two],
            Self::Arithmetic(_, one, two, _) => vec![&one.term, &two.term],
            Self::Row(all) => all.iter().collect(),
            Self::With(one, parts) => {
                std::iter::once(&**one).chain(parts.iter().map(|(_, part)| part)).collect()
            }
            Self::Quantified { except, body, .. } => {
                except.as_deref().into_iter().chain([&**body]).collect()
            }
            Self::If(one, two, three, _) => vec![one, two, three],
            Self::Also(before, value) => before.iter().chain([&**value]).collect(),
        }
    }

    /// Returns true if evaluating the term may go wrong.
    pub fn may_fail(&self) -> bool {
        let mut may = false;
        self.visit(&mut |term| {
            may |= match term {
                Self::Unwrap(..) => true,
                Self::Arithmetic(_, _, _, wide) => wide.count > 0,
                _ => false,
            };
        });
        may
    }

    /// Calls `act` on the term and all its subterms.
    pub fn visit<'a>(&'a self, act: &mut dyn FnMut(&'a Self)) {
        act(self);
        self.operands().into_iter().for_each(|operand| operand.visit(act));
    }
}
