//! What is asked: for which executions of a program, with what means.

use std::fmt;
use std::num::NonZeroUsize;
use std::time::Duration;

use snapshot_core::Process;

use super::Reductions;
use crate::interpret::{Machine, MachineError};
use crate::language::{Algorithm, Diagnostics};
use crate::program::Program;
use crate::refine::Means;
use crate::search::SelfCheck;

/// What to explore of a program, and what it may cost.
#[derive(Clone, Debug)]
pub struct Request {
    /// n, the number of processes and of segments, 2 at least.
    pub processes: usize,
    /// The pairs i < j whose simple executions are explored.
    pub pairs: Pairs,
    /// By which method.
    pub method: Method,
    /// Explore all executions over this many values rather than simple ones:
    /// refinement can.
    pub values: Option<u32>,
    /// The only process that updates, which does not scan: refinement can.
    pub updater: Option<Process>,
    /// How many operations.
    pub operations: Operations,
    /// How many barriers; with a bound, `operations` must be unbounded, and exploration is the
    /// only method.
    pub barriers: Barriers,
    /// What makes the exploration smaller; of no meaning to refinement.
    pub reductions: Reductions,
    /// How many threads prepare and explore; refinement is for one.
    pub threads: NonZeroUsize,
    /// Bytes that a search may take.
    pub memory: u64,
    /// How long all searches together may take. It ends them, and decides nothing else: in which
    /// order they go on, and which goes how far, is told by states.
    pub time: Option<Duration>,
    /// How many states all searches together may have, about: with more of them they end.
    pub states: Option<u64>,
    /// Whether the other pairs are explored when one of them is violated.
    pub keep_going: bool,
    /// Whether, and how densely, exploration checks its reductions while it runs; of no
    /// meaning to refinement.
    pub self_check: Option<SelfCheck>,
}

impl Request {
    /// How many values the operations of an object are given, unless it is said.
    pub const VALUES: u32 = 2;

    /// All pairs of n processes, any number of operations, by exploration with all
    /// reductions, on one thread, in 1 GiB and any time.
    pub fn new(processes: usize) -> Self {
        Self {
            processes,
            pairs: Pairs::All,
            method: Method::default(),
            values: None,
            updater: None,
            operations: Operations::Unbounded,
            barriers: Barriers::Unbounded,
            reductions: Reductions::standard(),
            threads: NonZeroUsize::MIN,
            memory: 1 << 30,
            time: None,
            states: None,
            keep_going: false,
            self_check: None,
        }
    }

    /// The machine that runs a program as it is asked: at linearization points only if they are used.
    ///
    /// # Errors
    /// As [`Machine::new`].
    pub fn machine<'p>(&self, program: &'p Program) -> Result<Machine<'p>, MachineError> {
        match self.method.at_points() {
            true => Machine::at_points(program, self.processes),
            false => Machine::new(program, self.processes),
        }
    }
}

/// How executions are explored and judged.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Method {
    /// The instance, reduced, with the observer: what this program is for.
    #[default]
    Exploration,
    /// The program as it is written, against the normalised specification: PAT's
    /// method, to compare with.
    Refinement(Means),
}

impl Method {
    /// Whether operations take effect at linearization points.
    pub const fn at_points(self) -> bool {
        matches!(self, Self::Refinement(Means { points: true, .. }))
    }

    /// The program that it is asked of: with linearization points only if they are used.
    ///
    /// # Errors
    /// As [`Algorithm::program`].
    pub fn program(self, algorithm: &Algorithm, bug: Option<&str>) -> Result<Program, Diagnostics> {
        match self.at_points() {
            true => algorithm.program_with_points(bug),
            false => algorithm.program(bug),
        }
    }
}

/// The pairs i < j.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Pairs {
    /// All of them: what a proof needs.
    All,
    /// One.
    One(Process, Process),
}

/// How many operations the processes may invoke.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Operations {
    /// Any number: what a proof needs.
    Unbounded,
    /// Each process this many.
    AtMost(u32),
    /// 1, 2, 3, ... each, by few processes and then by more: the cheapest
    /// [`Effort`](super::Effort) first.
    Grow,
}

/// How many barriers an execution may have: invocations before which the last invocation or
/// response is a response. With k barriers, no process begins more than k + 1 operations.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Barriers {
    /// Any number: what a proof needs.
    Unbounded,
    /// This many.
    AtMost(u32),
    /// 0, 1, 2, ..., by few processes and then by more: the cheapest
    /// [`Effort`](super::Effort) first.
    Grow,
}

impl Method {
    /// Its name, as the command line has it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Exploration => "exploration",
            Self::Refinement(_) => "refinement",
        }
    }
}

impl Pairs {
    /// The pairs among n processes, in order.
    pub fn among(self, processes: usize) -> Vec<[Process; 2]> {
        match self {
            Self::One(i, j) => vec![[i, j]],
            Self::All => (0..processes)
                .flat_map(|i| {
                    (i + 1..processes)
                        .map(move |j| [Process::from_index(i), Process::from_index(j)])
                })
                .collect(),
        }
    }
}

impl Operations {
    /// The bound, if there is one from the start.
    pub const fn bound(self) -> Option<u32> {
        match self {
            Self::AtMost(bound) => Some(bound),
            Self::Unbounded | Self::Grow => None,
        }
    }
}

impl Barriers {
    /// The bound, if there is one from the start.
    pub const fn bound(self) -> Option<u32> {
        match self {
            Self::AtMost(bound) => Some(bound),
            Self::Unbounded | Self::Grow => None,
        }
    }
}

/// As the command line has it.
impl fmt::Display for Operations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unbounded => f.write_str("none"),
            Self::AtMost(bound) => write!(f, "{bound}"),
            Self::Grow => f.write_str("grow"),
        }
    }
}

/// As the command line has it.
impl fmt::Display for Barriers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unbounded => f.write_str("none"),
            Self::AtMost(bound) => write!(f, "{bound}"),
            Self::Grow => f.write_str("grow"),
        }
    }
}
