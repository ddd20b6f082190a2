//! What was found out, and what it took.

use std::time::Duration;

use snapshot_core::Process;
use snapshot_everyn::model::Obligation;

use super::confirmation::Unconfirmed;
use super::schedule::Effort;
use crate::counterexample::{Counterexample, ObjectCounterexample};
use crate::interpret::{Execution, Fault, Move};
use crate::limits::LimitSet;
use crate::refine::Misplacement;

/// What was found out about some executions of a program: with simple ones,
/// those of a pair.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// i and j; none if all executions over some values were explored.
    pub pair: Option<[Process; 2]>,
    /// The answer.
    pub verdict: Verdict,
    /// What the answer is about: the effort that gave it. Where it is unknown:
    /// what was explored to the end.
    pub scope: Vec<Effort>,
    /// What all explorations took.
    pub measures: Measures,
}

/// An answer.
#[derive(Clone, Debug)]
pub enum Verdict {
    /// No execution violates linearizability.
    Verified,
    /// There is a proof for every n, but the independent check has not accepted it.
    Unconfirmed(Box<Unconfirmed>),
    /// No simple execution does, but the program looks at values, so they do not
    /// speak for the others.
    Refused,
    /// An execution does. The interpreter has replayed it, and the exact check of
    /// histories has judged it.
    Violation(Box<Counterexample>),
    /// The same of an object that the text declares: the interpreter has replayed the
    /// execution, and the search of orders and the configurations of the object have both
    /// judged its history.
    ObjectViolation(Box<ObjectCounterexample>),
    /// In an execution, operations do not take effect at their linearization
    /// points, though its history is linearizable. Nothing follows for the
    /// algorithm.
    Misplaced(Box<Misplaced>),
    /// The program itself goes wrong.
    Fault(Box<ProgramFault>),
    /// The search was not finished.
    Unknown(Unfinished),
}

/// Linearization points that are none.
#[derive(Clone, Debug)]
pub struct Misplaced {
    /// An execution whose last move shows it.
    pub moves: Vec<Move>,
    /// What is wrong with the points.
    pub misplacement: Misplacement,
    /// What the moves do.
    pub execution: Execution,
}

/// A program that goes wrong.
#[derive(Clone, Debug)]
pub struct ProgramFault {
    /// An execution whose last move has no meaning; the interpreter says so.
    pub moves: Vec<Move>,
    /// What happens there, and where in the text.
    pub fault: Fault,
    /// Of an object: what the moves before the last do.
    pub before: Option<Execution>,
}

impl Misplaced {
    /// What is wrong with the points, as a sentence.
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
    /// Its name, for programs.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Verified => "verified",
            Self::Unconfirmed(_) => "unconfirmed",
            Self::Refused => "refused",
            Self::Violation(_) | Self::ObjectViolation(_) => "violation",
            Self::Misplaced(_) => "misplaced",
            Self::Fault(_) => "fault",
            Self::Unknown(_) => "unknown",
        }
    }

    /// Whether an execution violates linearizability.
    pub const fn is_violation(&self) -> bool {
        matches!(self, Self::Violation(_) | Self::ObjectViolation(_))
    }

    /// Whether the algorithm is wrong.
    pub const fn is_wrong(&self) -> bool {
        self.is_violation() || matches!(self, Self::Fault(_))
    }
}

impl Unfinished {
    /// Its name, for programs.
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

/// Why a search was not finished.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Unfinished {
    /// It took as long as it may.
    Time,
    /// It took as much memory as it may.
    Memory,
    /// Interrupted by the user.
    Interrupted,
    /// Another pair was found violated, and one is enough.
    Answered,
    /// Nothing was searched, and there is no proof for every n.
    Unproved,
    /// Some executions need more nodes than the text allows.
    Nodes,
    /// It had as many states as it may.
    States,
    /// The attempt at a proof for every n had as many views as it may.
    Views,
}

/// What searches took. Of several explorations of one pair: all that they took
/// together, and the largest depth and memory.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Measures {
    /// Explorations, one unless bounds grow.
    pub explorations: usize,
    /// Distinct states.
    pub states: u64,
    /// Steps between them, those to known states included.
    pub transitions: u64,
    /// Steps of the longest execution without detours.
    pub depth: u64,
    /// Wall-clock time.
    pub elapsed: Duration,
    /// Bytes at most held by the search.
    pub peak_bytes: u64,
    /// Bytes at most held per state.
    pub bytes_per_state: f64,
    /// The pair that all this was measured for, if this pair is that one with
    /// processes renamed, so that nothing had to be explored.
    pub like: Option<[Process; 2]>,
    /// The limits of techniques that it came to: states that need not have been.
    pub limits: LimitSet,
    /// The proof for every n, if that has given the answer; the rest is then of the search that
    /// was left.
    pub proof: Option<ByProof>,
}

/// A proof for every n that has answered for one n.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ByProof {
    /// The last rung of the ladder.
    pub rung: Obligation,
    /// Views, of all rungs that were tried.
    pub views: u64,
    /// How long it took.
    pub elapsed: Duration,
}

impl Measures {
    /// Of one more exploration of the same pair.
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
