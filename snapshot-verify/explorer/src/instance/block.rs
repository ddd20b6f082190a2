//! What steps are made of.

use super::{BlockId, Location, NONE, Scalar, SlotId};
use crate::language::Span;

/// Assignments, one after the other, then a decision.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Block {
    /// How many shared accesses of the program's text begin in this block, an
    /// `atomic` statement counted as one: what ties fused steps to the steps of
    /// the text. 0 or 1 in a fresh instance. Invocations and responses count 0.
    pub accesses: u32,
    /// In order.
    pub assignments: Vec<Assignment>,
    /// Where it goes on.
    pub end: End,
}

/// One assignment.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Assignment {
    /// Where to.
    pub target: Target,
    /// What.
    pub value: Term,
}

/// Where an assignment goes.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum Target {
    /// A slot.
    Slot(SlotId),
    /// One of some slots, by an index that counts from 0 and is in range.
    Element {
        /// Which.
        index: Term,
        /// Of these.
        of: Vec<SlotId>,
    },
}

/// How a block ends.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum End {
    /// Goes on with another block of the same step.
    Jump(BlockId),
    /// Goes on with one of two.
    Branch {
        /// 0 or 1.
        condition: Term,
        /// If 1.
        then: BlockId,
        /// If 0.
        otherwise: BlockId,
    },
    /// The step ends here; the next step of the process begins at the location.
    Pause(Location),
    /// The operation responds, the process is idle.
    Respond(Response),
    /// The program goes wrong: an integer or index out of its range, or none
    /// where something must be.
    Fault {
        /// Where.
        span: Span,
        /// What: `none is unwrapped`, say.
        what: &'static str,
    },
}

/// What an operation responds.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum Response {
    /// An update of this value.
    Update {
        /// 0 or 1; it is the argument.
        value: Term,
    },
    /// A scan.
    Scan {
        /// What it returns for i and for j: 0 or 1.
        at: [Term; 2],
        /// Whether it returns anything but 0 elsewhere: 0 or 1.
        foreign: Term,
    },
}

/// A scalar, computed.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Term {
    /// A number, a Boolean, a value, or [`NONE`].
    Constant(Scalar),
    /// A process (or its segment) by number: what a permutation of processes
    /// must rename.
    Process(Scalar),
    /// The content of a slot.
    Slot(SlotId),
    /// One of some terms, by an index that counts from 0 and is in range.
    Element {
        /// Which.
        index: Box<Term>,
        /// Of these.
        of: Vec<Term>,
    },
    /// An operator applied.
    Apply(Operator, Vec<Term>),
    /// A version that is nowhere in the state. Only as the whole value of an
    /// assignment.
    Fresh,
    /// A counter plus 1. Only as the whole value of an assignment.
    Successor(SlotId),
}

/// Operators. Arguments are evaluated without side effect, all of them.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Operator {
    /// Of one bit.
    Not,
    /// Of any number of bits.
    And,
    /// Of any number of bits.
    Or,
    /// Of two scalars of one [kind](super::Kind), NONE included: versions, counters
    /// and names too.
    Equal,
    /// Of two integers or two counters.
    Less,
    /// Of two integers or two counters.
    LessOrEqual,
    /// Of two integers.
    Add,
    /// Of two integers.
    Subtract,
    /// Of an integer or a counter, and a positive constant; from 0.
    Remainder,
    /// Of an integer and a positive constant: rounded down.
    Quotient,
    /// Of a bit and two scalars of one kind: the first of them if the bit is 1.
    If,
    /// Of a name: its number. No renaming of processes respects it.
    NumberOf,
    /// Of a number: the name with this number. No renaming of processes respects it.
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

    /// The same block in a graph in which blocks and locations have other
    /// numbers.
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
    /// The slots that it chooses from.
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
    /// The blocks of the same step that may follow.
    pub fn blocks(&self) -> impl Iterator<Item = BlockId> + use<> {
        let [first, second] = match self {
            Self::Jump(next) => [Some(*next), None],
            Self::Branch { then, otherwise, .. } => [Some(*then), Some(*otherwise)],
            Self::Pause(_) | Self::Respond(_) | Self::Fault { .. } => [None, None],
        };
        first.into_iter().chain(second)
    }

    /// What it evaluates.
    pub fn terms(&self) -> Vec<&Term> {
        let mut terms = Vec::new();
        match self {
            Self::Branch { condition, .. } => terms.push(condition),
            Self::Respond(response) => response.terms(&mut |term| terms.push(term)),
            Self::Jump(_) | Self::Pause(_) | Self::Fault { .. } => {}
        }
        terms
    }

    /// The same with other terms.
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
    /// Calls `visit` for every term of it.
    pub fn terms<'a>(&'a self, visit: &mut impl FnMut(&'a Term)) {
        match self {
            Self::Update { value } => visit(value),
            Self::Scan { at, foreign } => at.iter().chain([foreign]).for_each(visit),
        }
    }
}

impl Term {
    /// The constant false.
    pub const FALSE: Self = Self::Constant(0);
    /// The constant true.
    pub const TRUE: Self = Self::Constant(1);
    /// None.
    pub const NONE: Self = Self::Constant(NONE);

    /// Its scalar, if it is a constant.
    pub const fn constant(&self) -> Option<Scalar> {
        match self {
            Self::Constant(scalar) | Self::Process(scalar) => Some(*scalar),
            _ => None,
        }
    }

    /// The term with other terms for those that it is directly made of.
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

    /// Calls `visit` for every slot that the term reads, some more than once.
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
