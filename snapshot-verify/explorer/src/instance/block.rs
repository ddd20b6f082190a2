//! Blocks, the parts of steps.

use super::{BlockId, Location, NONE, Scalar, SlotId};
use crate::language::Span;

/// Consecutive assignments, followed by a decision.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Block {
    /// The number of shared accesses of the program's text that begin in this block, where an
    /// `atomic` statement counts as one. It relates fused steps to the steps of the text. It is 0
    /// or 1 in a fresh instance; invocations and responses count 0.
    pub accesses: u32,
    pub assignments: Vec<Assignment>,
    pub end: End,
}

#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Assignment {
    pub target: Target,
    pub value: Term,
}

#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum Target {
    Slot(SlotId),
    /// The slot at an index, which counts from 0 and is in range.
    Element {
        index: Term,
        of: Vec<SlotId>,
    },
}

#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum End {
    /// Continues with another block of the same step.
    Jump(BlockId),
    /// Continues with one of two blocks.
    Branch {
        /// 0 or 1.
        condition: Term,
        /// The next block if the condition is 1.
        then: BlockId,
        /// The next block if the condition is 0.
        otherwise: BlockId,
    },
    /// Ends the step; the next step of the process begins at this location.
    Pause(Location),
    /// The operation responds, and the process becomes idle.
    Respond(Response),
    /// The program goes wrong: an integer or index is out of range, or a required value is `none`.
    Fault {
        span: Span,
        /// A description such as `none is unwrapped`.
        what: &'static str,
    },
}

#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum Response {
    Update {
        /// 0 or 1; it is the argument.
        value: Term,
    },
    Scan {
        /// The values returned for i and for j: 0 or 1.
        at: [Term; 2],
        /// Whether a value other than 0 is returned elsewhere: 0 or 1.
        foreign: Term,
    },
}

/// A term that evaluates to a scalar.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Term {
    /// A number, a Boolean, a value, or [`NONE`].
    Constant(Scalar),
    /// A process (or its segment) by number, which a permutation of processes must rename.
    Process(Scalar),
    Slot(SlotId),
    /// One of several terms, selected by an index.
    Element {
        /// From 0, and in range.
        index: Box<Term>,
        of: Vec<Term>,
    },
    Apply(Operator, Vec<Term>),
    /// A version that occurs nowhere in the state. Only as the whole value of an assignment.
    Fresh,
    /// A counter plus 1. Only as the whole value of an assignment.
    Successor(SlotId),
}

/// Operators. All arguments are evaluated, without side effects.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Operator {
    /// Negation of a bit.
    Not,
    /// Conjunction of any number of bits.
    And,
    /// Disjunction of any number of bits.
    Or,
    /// Equality of two scalars of one [kind](super::Kind), including versions, counters, names and
    /// NONE.
    Equal,
    /// Order of two integers or two counters.
    Less,
    /// Order of two integers or two counters.
    LessOrEqual,
    /// Sum of two integers.
    Add,
    /// Difference of two integers.
    Subtract,
    /// Remainder, from 0, of an integer or a counter by a positive constant.
    Remainder,
    /// Quotient, rounded down, of an integer by a positive constant.
    Quotient,
    /// Choice by a bit among two scalars of one kind: the first one if the bit is 1.
    If,
    /// The number of a name. No renaming of processes respects it.
    NumberOf,
    /// The name with a number. No renaming of processes respects it.
    NameOf,
}

impl Block {
    /// Calls `visit` for every term of the block.
    pub fn terms(&self, visit: &mut impl FnMut(&Term)) {
        for assignment in &self.assignments {
            if let Target::Element { index, .. } = &assignment.target {
                visit(index);
            }
            visit(&assignment.value);
        }
        self.end.terms().into_iter().for_each(visit);
    }

    /// Returns the block for a graph with other numbers of blocks and locations.
    #[must_use]
    pub fn relinked(
        &self,
        block: impl Fn(BlockId) -> BlockId,
        location: impl Fn(Location) -> Location,
    ) -> Self {
        let end = match &self.end {
            End::Jump(next) => End::Jump(block(*next)),
            End::Branch { condition, then, otherwise } => End::Branch {
                condition: condition.clone(),
                then: block(*then),
                otherwise: block(*otherwise),
            },
            End::Pause(at) => End::Pause(location(*at)),
            End::Respond(_) | End::Fault { .. } => self.end.clone(),
        };
        Self { accesses: self.accesses, assignments: self.assignments.clone(), end }
    }
}

impl Target {
    /// Returns the slots that may be assigned.
    pub fn choices(&self) -> &[SlotId] {
        match self {
            Self::Slot(slot) => std::slice::from_ref(slot),
            Self::Element { of, .. } => of,
        }
    }

    /// Calls `visit` for every slot that may be assigned.
    pub fn slots(&self, visit: &mut impl FnMut(SlotId)) {
        match self {
            Self::Slot(slot) => visit(*slot),
            Self::Element { of, .. } => of.iter().for_each(|&slot| visit(slot)),
        }
    }
}

impl End {
    /// Returns the blocks of the same step that may follow.
    pub fn blocks(&self) -> impl Iterator<Item = BlockId> + use<> {
        let [first, second] = match self {
            Self::Jump(next) => [Some(*next), None],
            Self::Branch { then, otherwise, .. } => [Some(*then), Some(*otherwise)],
            Self::Pause(_) | Self::Respond(_) | Self::Fault { .. } => [None, None],
        };
        first.into_iter().chain(second)
    }

    /// Returns the terms that the end evaluates.
    pub fn terms(&self) -> Vec<&Term> {
        let mut terms = Vec::new();
        match self {
            Self::Branch { condition, .. } => terms.push(condition),
            Self::Respond(response) => response.terms(&mut |term| terms.push(term)),
            Self::Jump(_) | Self::Pause(_) | Self::Fault { .. } => {}
        }
        terms
    }

    /// Returns the end with mapped terms.
    #[must_use]
    pub(crate) fn map(&self, term: &mut impl FnMut(&Term) -> Term) -> Self {
        match self {
            Self::Branch { condition, then, otherwise } => {
                Self::Branch { condition: term(condition), then: *then, otherwise: *otherwise }
            }
            Self::Respond(Response::Update { value }) => {
                Self::Respond(Response::Update { value: term(value) })
            }
            Self::Respond(Response::Scan { at: [i, j], foreign }) => {
                let at = [term(i), term(j)];
                Self::Respond(Response::Scan { at, foreign: term(foreign) })
            }
            Self::Jump(_) | Self::Pause(_) | Self::Fault { .. } => self.clone(),
        }
    }
}

impl Response {
    /// Calls `visit` for every term.
    pub fn terms<'a>(&'a self, visit: &mut impl FnMut(&'a Term)) {
        match self {
            Self::Update { value } => visit(value),
            Self::Scan { at, foreign } => at.iter().chain([foreign]).for_each(visit),
        }
    }
}

impl Term {
    pub const FALSE: Self = Self::Constant(0);
    pub const TRUE: Self = Self::Constant(1);
    pub const NONE: Self = Self::Constant(NONE);

    /// Returns the scalar of a constant.
    pub const fn constant(&self) -> Option<Scalar> {
        match self {
            Self::Constant(scalar) | Self::Process(scalar) => Some(*scalar),
            _ => None,
        }
    }

    /// Returns the term with mapped direct subterms.
    #[must_use]
    pub(crate) fn with_parts(&self, part: &mut dyn FnMut(&Self) -> Self) -> Self {
        match self {
            Self::Constant(_)
            | Self::Process(_)
            | Self::Slot(_)
            | Self::Fresh
            | Self::Successor(_) => self.clone(),
            Self::Element { index, of } => {
                Self::Element { index: Box::new(part(index)), of: of.iter().map(part).collect() }
            }
            Self::Apply(operator, arguments) => {
                Self::Apply(*operator, arguments.iter().map(part).collect())
            }
        }
    }

    /// Calls `visit` for every slot that the term reads, possibly with repetitions.
    pub fn slots(&self, visit: &mut impl FnMut(SlotId)) {
        match self {
            Self::Constant(_) | Self::Process(_) | Self::Fresh => {}
            Self::Slot(slot) | Self::Successor(slot) => visit(*slot),
            Self::Element { index, of } => {
                index.slots(visit);
                of.iter().for_each(|term| term.slots(visit));
            }
            Self::Apply(_, arguments) => arguments.iter().for_each(|term| term.slots(visit)),
        }
    }
}
