//! Questions: which executions of a program to explore, and by which means.

use std::fmt;
use std::num::NonZeroUsize;
use std::time::Duration;

use snapshot_core::Process;

use super::Reductions;
use crate::interpret::{Machine, MachineError};
use crate::language::{Algorithm, Diagnostics};
use crate::program::Program;
use crate::refine::Techniques;
use crate::search::SelfCheck;

/// Executions of a program to explore, and budgets.
#[derive(Clone, Debug)]
pub struct Request {
    /// n, the number of processes and of segments; at least 2.
    pub processes: usize,
    /// Pairs i < j whose simple executions are explored.
    pub pairs: Pairs,
    pub method: Method,
    /// Explore all executions over this many values instead of simple ones; needs refinement.
    pub values: Option<u32>,
    /// The only process that updates; it does not scan. Needs refinement.
    pub updater: Option<Process>,
    pub operations: Operations,
    /// With a bound, `operations` must be unbounded, and exploration is the only method.
    pub barriers: Barriers,
    /// Reductions of exploration; ignored by refinement.
    pub reductions: Reductions,
    /// Threads that prepare and explore; refinement uses one.
    pub threads: NonZeroUsize,
    /// Memory limit in bytes.
    pub memory: u64,
    /// Time limit for all searches together. It ends them, and decides nothing else: their order
    /// and extent depend on numbers of states.
    pub time: Option<Duration>,
    /// Approximate limit on the states of all searches together.
    pub states: Option<u64>,
    /// Explore the other pairs after a violation.
    pub keep_going: bool,
    /// Whether, and how densely, exploration checks its reductions while it runs; ignored by
    /// refinement.
    pub self_check: Option<SelfCheck>,
}

impl Request {
    /// Default number of values passed to the operations of an object.
    pub const VALUES: u32 = 2;

    /// Requests all pairs of n processes, any number of operations, by exploration with all
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

    /// Returns the machine for this request, with linearization points only if they are used.
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

/// Method by which executions are explored and judged.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Method {
    /// The instance, reduced, with the observer: the main method of this program.
    #[default]
    Exploration,
    /// The program as written, against the normalised specification: PAT's method, for comparison.
    Refinement(Techniques),
}

impl Method {
    /// Returns true if operations take effect at linearization points.
    pub const fn at_points(self) -> bool {
        matches!(self, Self::Refinement(Techniques { points: true, .. }))
    }

    /// Compiles an algorithm for this method, with linearization points only if they are used.
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

/// Pairs i < j.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Pairs {
    /// All of them: required for a proof.
    All,
    One(Process, Process),
}

/// Bound on the operations of each process.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Operations {
    /// Any number: required for a proof.
    Unbounded,
    /// Each process this many.
    AtMost(u32),
    /// 1, 2, 3, ... each, by few processes and then by more: the cheapest [`Effort`](super::Effort)
    /// first.
    Grow,
}

/// Bound on the barriers of an execution: invocations before which the last invocation or response
/// is a response. With k barriers, no process begins more than k + 1 operations.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Barriers {
    /// Any number: required for a proof.
    Unbounded,
    AtMost(u32),
    /// 0, 1, 2, ..., by few processes and then by more: the cheapest [`Effort`](super::Effort)
    /// first.
    Grow,
}

impl Method {
    /// Returns the name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Exploration => "exploration",
            Self::Refinement(_) => "refinement",
        }
    }
}

impl Pairs {
    /// Returns the pairs among n processes, in order.
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
    /// Returns the bound, if one is fixed from the start.
    pub const fn bound(self) -> Option<u32> {
        match self {
            Self::AtMost(bound) => Some(bound),
            Self::Unbounded | Self::Grow => None,
        }
    }
}

impl Barriers {
    /// Returns the bound, if one is fixed from the start.
    pub const fn bound(self) -> Option<u32> {
        match self {
            Self::AtMost(bound) => Some(bound),
            Self::Unbounded | Self::Grow => None,
        }
    }
}

/// Formats as on the command line.
impl fmt::Display for Operations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unbounded => f.write_str("none"),
            Self::AtMost(bound) => write!(f, "{bound}"),
            Self::Grow => f.write_str("grow"),
        }
    }
}

/// Formats as on the command line.
impl fmt::Display for Barriers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unbounded => f.write_str("none"),
            Self::AtMost(bound) => write!(f, "{bound}"),
            Self::Grow => f.write_str("grow"),
        }
    }
}
