//! Expressions over rows of bytes, with every place resolved.

use snapshot_language::Span;
use snapshot_language::program::Binary;

use super::shape::{BASE, Bytes, Leaf, Scalar, Shape, integer, number};

/// What an expression of the program computes.
#[derive(Clone, Debug)]
pub enum Term {
    /// Always these.
    Constant(Bytes),
    /// Nothing is known: of values and views neither.
    Unknown(Shape),
    /// The executing process.
    Me,
    /// This many bytes of the process from here: a variable, whole.
    Variable(usize, usize),
    /// An element of an array.
    Index {
        /// The array.
        array: Box<Self>,
        /// Of which shape.
        element: Shape,
        /// The index.
        index: Box<Self>,
        /// Which indices there are.
        over: Over,
        /// How the place of "any other" is read.
        other: Other,
        /// Where it stands.
        span: Span,
    },
    /// Some bytes of it.
    Part(Box<Self>, usize, usize),
    /// One after the other.
    Row(Vec<Self>),
    /// With bytes from there on replaced.
    With(Box<Self>, Vec<(usize, Self)>),
    /// As often as that.
    Filled(Box<Self>, usize),
    /// An array, element by element.
    Each {
        /// Where the index is kept.
        variable: usize,
        /// Its indices.
        over: Over,
        /// The element.
        body: Box<Self>,
    },
    /// A view as a token: made of what the body yields for each segment.
    Made {
        /// Where the index is kept.
        variable: usize,
        /// The element.
        body: Box<Self>,
    },
    /// Whether the body holds for all or any.
    Quantified {
        /// All rather than any.
        all: bool,
        /// Where the index is kept.
        variable: usize,
        /// Its indices.
        over: Over,
        /// Which one is left out.
        except: Option<Box<Self>>,
        /// What must hold.
        body: Box<Self>,
    },
    /// What an optional holds.
    Unwrap(Box<Self>, Span),
    /// Negation.
    Not(Box<Self>),
    /// An element of a view that is but a token: it must be one that was made here.
    Taken(Box<Self>, Span),
    /// Both, or at least one.
    Connected(bool, Box<Self>, Box<Self>),
    /// Equality of rows.
    Equal {
        /// Whether equality is negated.
        negated: bool,
        /// One.
        left: Box<Self>,
        /// The other.
        right: Box<Self>,
        /// The bytes of both, each with the places that lead to it.
        leaves: Vec<(Leaf, Bytes)>,
    },
    /// Arithmetic and order of integers.
    Arithmetic(Binary, Box<Operand>, Box<Operand>, Wide),
    /// A choice.
    If(Box<Self>, Box<Self>, Box<Self>, Shape),
    /// A version that never was before.
    Fresh,
    /// The last, once the first ones have been evaluated for what may go wrong there.
    Also(Vec<Self>, Box<Self>),
}

/// An integer that is computed with.
#[derive(Clone, Debug)]
pub struct Operand {
    /// What it is.
    pub term: Term,
    /// The least that it can be, which its byte counts from.
    pub low: i32,
    /// How many there are.
    pub count: i32,
}

/// The range of an integer: the least, and how many; a fault outside.
#[derive(Clone, Copy, Debug)]
pub struct Wide {
    /// The least.
    pub low: i32,
    /// How many there are; none if the result is a truth value.
    pub count: i32,
    /// Where it stands.
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
    /// The place of an index in an array: which one in order.
    pub fn place(self, index: u8) -> usize {
        match self {
            Self::Range(low, _) => (number(index) - low) as usize,
            Self::Members | Self::Many => usize::from(index - BASE),
        }
    }

    /// The integers in it, ascending.
    pub fn integers(self) -> impl Iterator<Item = u8> {
        let (low, count) = match self {
            Self::Range(low, count) => (low, count as i32),
            Self::Members | Self::Many => (0, 0),
        };
        (low..low + count).map(integer)
    }

    /// What a loop over it leaves out: one of its indices, or, of integers, none of them.
    pub fn left_out(self) -> Leaf {
        match self {
            Self::Members => Leaf { scalar: Scalar::Member, optional: false },
            Self::Range(low, count) => {
                Leaf { scalar: Scalar::Integer { low, count: count as u8 }, optional: true }
            }
            Self::Many => Leaf { scalar: Scalar::Integer { low: 0, count: 0 }, optional: true },
        }
    }

    /// Whether what is computed may be an index that is left out.
    pub fn may_leave_out(self, byte: u8) -> bool {
        byte < BASE || self == Self::Members || self.integers().any(|index| index == byte)
    }
}

/// How an array of the program's variables is read at "any other" process.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Other {
    /// Nothing is known.
    Unknown,
    /// The index is that of the loop around: what this round has put there.
    Scratch,
}

impl Term {
    /// The terms that it is made of directly.
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

    /// Whether the program may go wrong where it is evaluated.
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

    /// Does something with it and all that it is made of.
    pub fn visit<'a>(&'a self, act: &mut dyn FnMut(&'a Self)) {
        act(self);
        self.operands().into_iter().for_each(|operand| operand.visit(act));
    }
}
