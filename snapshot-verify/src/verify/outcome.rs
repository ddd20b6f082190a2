//! Answers and their costs.

use std::time::Duration;

use snapshot_core::Process;
use snapshot_invariant::claim::Obligation;

use super::schedule::Effort;
use crate::counterexample::{Counterexample, ObjectCounterexample};
use crate::interpret::{Execution, Fault, Move};
use crate::limits::LimitSet;
use crate::refine::Misplacement;

/// Result for some executions of a program: of simple ones, for one pair.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// i and j; `None` if all executions over some values were explored.
    pub pair: Option<[Process; 2]>,
    pub verdict: Verdict,
    /// The effort that gave the answer. For an unknown answer, the efforts explored to the end.
    pub scope: Vec<Effort>,
    /// Costs of all explorations.
    pub measures: Measures,
}

#[derive(Clone, Debug)]
pub enum Verdict {
    /// No execution violates linearizability.
    Verified,
    /// No simple execution violates linearizability, but the program looks at values, so simple
    /// executions are not representative.
    Refused,
    /// An execution violates linearizability. The interpreter has replayed it, and the exact check
    /// of histories has judged it.
    Violation(Box<Counterexample>),
    /// An execution of a declared object violates linearizability. The interpreter has replayed it,
    /// and its history was judged twice: by the search of orders and by the configurations of the
    /// object.
    ObjectViolation(Box<ObjectCounterexample>),
    /// In an execution, operations do not take effect at their linearization points, though its
    /// history is linearizable. This does not show that the algorithm is wrong.
    Misplaced(Box<Misplaced>),
    /// The program has a run-time fault.
    Fault(Box<ProgramFault>),
    Unknown(Unfinished),
}

/// Invalid linearization points.
#[derive(Clone, Debug)]
pub struct Misplaced {
    /// An execution whose last move shows the error.
    pub moves: Vec<Move>,
    pub misplacement: Misplacement,
    /// Effects of the moves.
    pub execution: Execution,
}

/// A run-time fault of the program.
#[derive(Clone, Debug)]
pub struct ProgramFault {
    /// An execution whose last move is undefined, according to the interpreter.
    pub moves: Vec<Move>,
    /// The fault, and its place in the text.
    pub fault: Fault,
    /// For an object: the effects of the moves before the last.
    pub before: Option<Execution>,
}

impl Misplaced {
    /// Describes the misplacement in a sentence.
    pub fn argument(&self) -> String {
        match &self.misplacement {
            Misplacement::Twice(process) => format!(
                "The update by p{process} passes a second linearization point: it would take \
                 effect twice."
            ),
            Misplacement::Never(process) => format!(
                "The operation of p{process} ends without having passed a linearization point."
            ),
            Misplacement::Differs { process, held, returned } => format!(
                "The scan by p{process} returned {returned:?}, but at its linearization point the \
                 segments held {held:?}, if updates take effect at theirs."
            ),
            Misplacement::Elsewhere(process) => format!(
                "The operation of p{process} passed no linearization point at which what it \
                 returned is right, if others take effect at theirs."
            ),
            Misplacement::Unseen { process, returned } => format!(
                "The scan by p{process} returned {returned:?}, which the segments never held while \
                 it was open, if updates take effect at their linearization points."
            ),
        }
    }
}

impl Verdict {
    /// Returns the machine-readable name.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Verified => "verified",
            Self::Refused => "refused",
            Self::Violation(_) | Self::ObjectViolation(_) => "violation",
            Self::Misplaced(_) => "misplaced",
            Self::Fault(_) => "fault",
            Self::Unknown(_) => "unknown",
        }
    }

    /// Returns true if an execution violates linearizability.
    pub const fn is_violation(&self) -> bool {
        matches!(self, Self::Violation(_) | Self::ObjectViolation(_))
    }

    /// Returns true if the algorithm is wrong.
    pub const fn is_wrong(&self) -> bool {
        self.is_violation() || matches!(self, Self::Fault(_))
    }
}

impl Unfinished {
    /// Returns the machine-readable name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Time => "time",
            Self::Memory => "memory",
            Self::Interrupted => "interrupted",
            Self::Answered => "answered",
            Self::Unproved => "unproved",
            Self::Nodes => "nodes",
            Self::States => "states",
            Self::Views => "views",
        }
    }
}

/// Reason why a search was not finished.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Unfinished {
    /// The time limit was reached.
    Time,
    /// The memory limit was reached.
    Memory,
    /// The user interrupted it.
    Interrupted,
    /// Another pair has a violation, and one is enough.
    Answered,
    /// Nothing was searched, and there is no proof for every n.
    Unproved,
    Nodes,
    /// The limit on states was reached.
    States,
    /// The attempt at a proof for every n reached its limit on views.
    Views,
}

/// Costs of searches. For several explorations of one pair: the sums, and the largest depth and
/// memory.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Measures {
    /// One unless bounds grow.
    pub explorations: usize,
    /// Distinct states.
    pub states: u64,
    /// Steps between states, including those to known states.
    pub transitions: u64,
    /// Steps of the longest execution without detours.
    pub depth: u64,
    pub elapsed: Duration,
    /// Maximum number of bytes held by the search.
    pub peak_bytes: u64,
    /// Maximum number of bytes held per state.
    pub bytes_per_state: f64,
    /// The pair that these measures belong to, if this pair is isomorphic to it and was not
    /// explored.
    pub like: Option<[Process; 2]>,
    /// Limits of techniques that were reached: some states were avoidable.
    pub limits: LimitSet,
    /// The proof for every n, if it gave the answer. The other measures then belong to the search
    /// that was abandoned.
    pub proof: Option<ByProof>,
}

/// A proof for every n that answers for one n.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ByProof {
    /// The last rung of the ladder.
    pub rung: Obligation,
    /// Views of all rungs that were tried.
    pub views: u64,
    pub elapsed: Duration,
}

impl Measures {
    /// Adds the costs of one more exploration of the same pair.
    pub fn add(&mut self, one: &Self) {
        self.explorations += one.explorations;
        self.like = one.like;
        self.states += one.states;
        self.transitions += one.transitions;
        self.depth = self.depth.max(one.depth);
        self.elapsed += one.elapsed;
        self.limits = self.limits.union(one.limits);
        self.proof = self.proof.or(one.proof);
        if one.peak_bytes > self.peak_bytes {
            self.peak_bytes = one.peak_bytes;
            self.bytes_per_state = one.bytes_per_state;
        }
    }
}
