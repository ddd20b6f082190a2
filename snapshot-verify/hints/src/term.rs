//! Expressions over rows of bytes, with every place resolved.

use super::shape::{BASE, Bytes, Shape, number};

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
    /// True if the body holds for all, or for any.
    Quantified {
        /// Byte of the index.
        variable: usize,
        over: Over,
        /// Index that is left out.
        except: Option<Box<Self>>,
        body: Box<Self>,
    },
    /// The content of an optional.
    Unwrap(Box<Self>),
    Not(Box<Self>),
    /// A conjunction or a disjunction.
    Connected(Box<Self>, Box<Self>),
    /// Equality of rows; true for inequality.
    Equal(bool, Box<Self>, Box<Self>),
    If(Box<Self>, Box<Self>, Box<Self>, Shape),
    /// Any other scalar that is computed from these; true if it may be out of its range.
    Computed(Vec<Self>, bool),
    /// The last term; the first ones are evaluated only for their faults.
    Also(Vec<Self>, Box<Self>),
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
}

impl Term {
    /// Returns the direct operands.
    pub fn operands(&self) -> Vec<&Self> {
        match self {
            Self::Constant(_) | Self::Unknown(_) | Self::Me | Self::Variable(..) => Vec::new(),
            Self::Part(one, ..)
            | Self::Filled(one, _)
            | Self::Each { body: one, .. }
            | Self::Unwrap(one)
            | Self::Not(one) => vec![one],
            Self::Index { array: one, index: two, .. }
            | Self::Connected(one, two)
            | Self::Equal(_, one, two) => vec![one, two],
            Self::Row(all) | Self::Computed(all, _) => all.iter().collect(),
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
            may |= matches!(term, Self::Unwrap(_) | Self::Computed(_, true));
        });
        may
    }

    /// Calls `act` on the term and all its subterms.
    pub fn visit<'a>(&'a self, act: &mut dyn FnMut(&'a Self)) {
        act(self);
        self.operands().into_iter().for_each(|operand| operand.visit(act));
    }
}
