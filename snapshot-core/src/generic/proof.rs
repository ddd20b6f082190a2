//! Proofs that a history is not linearizable: a rule, and the few operations that break it.

use crate::OperationId;

/// A value's time in a collection, by the operations that show it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Stay {
    /// The operation that added the value.
    pub addition: OperationId,
    /// The operation that removed it, unless none responded that did.
    pub removal: Option<OperationId>,
}

/// A value that had to leave a queue before another did.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Debt {
    /// The addition of the value that had to leave.
    pub addition: OperationId,
    /// The value that was added after it, and removed.
    pub later: Stay,
}

/// Why a history is not linearizable. Each rule names all operations that it needs.
///
/// *Before* and *after* are those of real time: a response before an invocation.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Proof {
    /// What the operation returned belongs to another operation.
    Impossible {
        /// The operation.
        operation: OperationId,
    },
    /// Of one value, these removals responded before any but these additions, which are fewer,
    /// had begun.
    Unfounded {
        /// At least one, in the order of their responses.
        removals: Vec<OperationId>,
        /// All additions that had begun.
        additions: Vec<OperationId>,
    },
    /// A queue: the first value was added before the second, and the second was removed before
    /// the removal of the first began.
    Overtaken {
        /// The value added first.
        first: Stay,
        /// The value removed first.
        second: Stay,
    },
    /// A queue: these values must have left before a certain response, and nothing can have
    /// removed them but removals whose value is unknown, which are fewer.
    Overdue {
        /// The values, each with one that shows that it must have left.
        debts: Vec<Debt>,
        /// All removals without response that had begun.
        removals: Vec<OperationId>,
    },
    /// A stack: from the end of the first addition to the beginning of the last removal there is
    /// always one of these values inside, so that the one added first is removed last; but each
    /// was added after the first had been, or removed before the last removal began.
    Crossed {
        /// The values: each is added before the one before it is removed.
        chain: Vec<Stay>,
    },
    /// A priority queue: at all times at which the value can have been removed, one of these
    /// smaller ones was inside.
    NotLeast {
        /// The value.
        removed: Stay,
        /// The smaller values, in the order of time.
        smaller: Vec<Stay>,
    },
    /// A collection that was found empty: at all times at which it can have been, one of these
    /// values was inside.
    NotEmpty {
        /// The operation that found nothing.
        operation: OperationId,
        /// The values, in the order of time.
        inside: Vec<Stay>,
    },
    /// A cell: the value found was not there at first and was never written.
    Unwritten {
        /// The operation that found it.
        operation: OperationId,
        /// Operations that found what it wrote, if it did not respond itself.
        because: Vec<OperationId>,
    },
    /// A cell: both found a value that was written once, and replaced it.
    ReplacedTwice {
        /// An operation.
        first: OperationId,
        /// Another.
        second: OperationId,
        /// Operations that found what they wrote, if they did not respond themselves.
        because: Vec<OperationId>,
    },
    /// A cell: each of these found what the one before it wrote, and the first what the last
    /// wrote.
    Circle {
        /// The operations.
        operations: Vec<OperationId>,
        /// Operations that found what they wrote, if none of them responded.
        because: Vec<OperationId>,
    },
    /// A cell: each of these takes effect before the next one, by the values that it found or
    /// wrote; but the last ended before the first began.
    Reversed {
        /// At least two.
        sequence: Vec<OperationId>,
    },
    /// A cell: the operations on the same values take effect together; each of two such groups
    /// has an operation that ended before one of the other began.
    Interleaved {
        /// Operations on some values, which are joined by those that replace one by the other; what
        /// did not respond wrote a value that another found.
        first: Vec<OperationId>,
        /// Operations of the other values.
        second: Vec<OperationId>,
    },
    /// A cell: the operation found another value, though it began after `before` and ended
    /// before `after`, which both show the value.
    NotMissed {
        /// The operation.
        operation: OperationId,
        /// An operation with the value.
        before: OperationId,
        /// An operation with the value.
        after: OperationId,
    },
    /// A text that grows: both reads show what the append added to, and that is not the same.
    Misplaced {
        /// The append, whose text no other operation adds.
        append: OperationId,
        /// A read.
        first: OperationId,
        /// Another, or the same, which shows the text twice.
        second: OperationId,
    },
    /// A text that grows: by what these reads show of its appends, a rule is broken.
    Shown {
        /// The rule, where each append that the reads show replaces the text before it.
        proof: Box<Proof>,
        /// The reads.
        reads: Vec<OperationId>,
    },
}

impl Proof {
    /// The name of the rule, as reports and certificates have it.
    pub fn rule(&self) -> &'static str {
        match self {
            Self::Misplaced { .. } => "misplaced",
            Self::Shown { proof, .. } => proof.rule(),
            Self::Impossible { .. } => "impossible",
            Self::Unfounded { .. } => "unfounded",
            Self::Overtaken { .. } => "overtaken",
            Self::Overdue { .. } => "overdue",
            Self::Crossed { .. } => "crossed",
            Self::NotLeast { .. } => "not-least",
            Self::NotEmpty { .. } => "not-empty",
            Self::Unwritten { .. } => "unwritten",
            Self::ReplacedTwice { .. } => "replaced-twice",
            Self::Circle { .. } => "circle",
            Self::Reversed { .. } => "reversed",
            Self::Interleaved { .. } => "interleaved",
            Self::NotMissed { .. } => "not-missed",
        }
    }

    /// The operations that it names, each once, in the order in which it names them.
    pub fn operations(&self) -> Vec<OperationId> {
        let mut all = Vec::new();
        let stay = |all: &mut Vec<_>, stay: &Stay| {
            all.push(stay.addition);
            all.extend(stay.removal);
        };
        match self {
            Self::Impossible { operation } => all.push(*operation),
            Self::Unwritten { operation, because } => {
                all.push(*operation);
                all.extend(because);
            }
            Self::Unfounded { removals, additions } => all.extend(additions.iter().chain(removals)),
            Self::Overtaken { first, second } => {
                stay(&mut all, first);
                stay(&mut all, second);
            }
            Self::Overdue { debts, removals } => {
                for debt in debts {
                    all.push(debt.addition);
                    stay(&mut all, &debt.later);
                }
                all.extend(removals);
            }
            Self::Crossed { chain } => chain.iter().for_each(|one| stay(&mut all, one)),
            Self::NotLeast { removed, smaller } => {
                stay(&mut all, removed);
                smaller.iter().for_each(|one| stay(&mut all, one));
            }
            Self::NotEmpty { operation, inside } => {
                all.push(*operation);
                inside.iter().for_each(|one| stay(&mut all, one));
            }
            Self::ReplacedTwice { first, second, because } => {
                all.extend([first, second]);
                all.extend(because);
            }
            Self::Circle { operations, because } => all.extend(operations.iter().chain(because)),
            Self::Reversed { sequence } => all.extend(sequence),
            Self::Interleaved { first, second } => all.extend(first.iter().chain(second)),
            Self::NotMissed { operation, before, after } => all.extend([operation, before, after]),
            Self::Misplaced { append, first, second } => all.extend([append, first, second]),
            Self::Shown { proof, reads } => {
                all.append(&mut proof.operations());
                all.extend(reads);
            }
        }
        let mut seen = std::collections::BTreeSet::new();
        all.retain(|id| seen.insert(*id));
        all
    }
}
