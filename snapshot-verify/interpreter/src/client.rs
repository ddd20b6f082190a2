//! Clients: the operations that the processes may begin.
//!
//! The most general client begins any operation whenever its process is idle. It is restricted by
//! the values of updates, by a bound on the number of operations of each process, and by the
//! operations that each process may begin.

use std::fmt;

use snapshot_core::Process;
use thiserror::Error;

use super::event::Call;
use super::object::Sequential;

/// Restrictions on the operations that processes begin.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Client {
    pub values: Values,
    /// Bound on the operations of each process; `None`: unbounded.
    pub operations: Option<u32>,
    /// Bound on the operations of each of the first processes, in place of `operations`.
    pub each: Option<[u8; Self::MOST_BOUNDED]>,
    /// Bound on the barriers of an execution, invocations directly behind a response; `None`:
    /// unbounded. Callers record the responses ([`Self::end`]).
    pub barriers: Option<u32>,
    /// Operations that each process may begin.
    pub roles: Roles,
    /// The only process that updates, for an object with one writer. It does not scan, and all
    /// others only scan. `None`: no such restriction.
    pub updater: Option<Process>,
}

/// Operations that each process may begin.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub enum Roles {
    /// All processes update and scan.
    #[default]
    All,
    /// One process only scans, and all others only update. This has far fewer executions: it serves
    /// to look for violations where all executions are too many.
    Scanner(Process),
    /// Two processes, and this many of the others, those with the least numbers; the rest begin
    /// nothing.
    Few {
        /// The two processes.
        first: [Process; 2],
        /// Number of others.
        others: usize,
    },
}

#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Values {
    /// (i, j)-simple: processes i and j write 0, and from some update on 1; all others write 0.
    Simple(Process, Process),
    /// Any value below this number, in any order.
    Full(u32),
    /// Distinct values, different from the initial one. Without a bound on the operations there are
    /// infinitely many.
    Distinct,
}

/// Reason why a client does not suit n processes.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
#[non_exhaustive]
pub enum ClientError {
    #[error("({i}, {j}) is no pair of {processes} processes: 0 <= i < j < {processes} is needed")]
    Pair {
        i: Process,
        j: Process,
        /// Number n of processes.
        processes: usize,
    },
    #[error("updates need at least one value to write")]
    NoValue,
    /// The scanner or updater does not exist.
    #[error("there is no process {process}: {processes} processes are numbered from 0")]
    NoProcess {
        process: Process,
        /// Number n of processes.
        processes: usize,
    },
    /// No process begins this operation of an object, so an answer would not concern it.
    #[error(
        "with {processes} processes, none begins `{operation}`: its `by` names another process"
    )]
    NeverBegun {
        operation: String,
        /// Number n of processes.
        processes: usize,
    },
    /// Too many operations to choose from at every step.
    #[error(
        "an idle process could begin {given} different operations, arguments counted, and at \
         most {limit} are possible: use fewer values (--values), or parameters of smaller ranges"
    )]
    TooManyCalls {
        /// Number of operations, arguments counted.
        given: u64,
        limit: u64,
    },
    /// Infinitely many states for a search of all.
    #[error(
        "with distinct values, a search of all executions does not end: \
         bound the number of operations"
    )]
    Unbounded,
}

#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Progress {
    /// Number of operations begun, per process; empty if not needed.
    begun: Vec<u32>,
    /// True if i or j, respectively, has begun to write 1.
    switched: [bool; 2],
    /// Number of barriers, and true behind a response, if barriers are bounded.
    barriers: u32,
    is_behind_response: bool,
}

impl Client {
    /// Creates a client with these values and any number of operations.
    pub const fn unbounded(values: Values) -> Self {
        Self {
            values,
            operations: None,
            each: None,
            barriers: None,
            roles: Roles::All,
            updater: None,
        }
    }

    /// Creates a client with these values and at most this many operations of each process.
    pub const fn bounded(values: Values, operations: u32) -> Self {
        Self { operations: Some(operations), ..Self::unbounded(values) }
    }

    /// Gives the first processes bounds of their own, up to 255, if there are any.
    #[must_use]
    pub fn with_each(self, bounds: &[u32]) -> Self {
        let each = (!bounds.is_empty()).then(|| {
            let mut each = [0; Self::MOST_BOUNDED];
            let places = each.iter_mut().zip(bounds);
            places.for_each(|(place, bound)| *place = u8::try_from(*bound).unwrap_or(u8::MAX));
            each
        });
        Self { each, ..self }
    }

    /// Most processes with bounds of their own.
    pub const MOST_BOUNDED: usize = 8;

    /// Returns the bound on the operations of a process.
    fn bound(&self, process: Process) -> Option<u32> {
        let own = self.each.and_then(|each| each.get(process.index()).copied());
        own.map(u32::from).or(self.operations)
    }

    /// Returns true if the operations of processes are bounded.
    pub const fn is_bounded(&self) -> bool {
        self.operations.is_some() || self.each.is_some()
    }

    /// Replaces the operations that each process may begin.
    #[must_use]
    pub const fn with_roles(self, roles: Roles) -> Self {
        Self { roles, ..self }
    }

    /// Checks that the client suits n processes, and a search of all executions.
    pub fn validate(&self, processes: usize) -> Result<(), ClientError> {
        let scanner = match self.roles {
            Roles::Scanner(scanner) => Some(scanner),
            Roles::All | Roles::Few { .. } => None,
        };
        let mut named = scanner.into_iter().chain(self.updater);
        if let Some(process) = named.find(|process| process.index() >= processes) {
            return Err(ClientError::NoProcess { process, processes });
        }
        match self.values {
            Values::Simple(i, j) if i >= j || j.index() >= processes => {
                Err(ClientError::Pair { i, j, processes })
            }
            Values::Full(0) => Err(ClientError::NoValue),
            Values::Distinct if !self.is_bounded() => Err(ClientError::Unbounded),
            _ => Ok(()),
        }
    }

    /// Most operations, arguments counted, that a process may choose from.
    pub const MOST_CALLS: u64 = 1 << 12;

    /// Checks that the client suits an object: not too many operations to choose from, and every
    /// operation begun by some process.
    pub fn validate_object(&self, object: &Sequential<'_>) -> Result<(), ClientError> {
        let values = self.values_of_object();
        let (n, limit) = (object.processes(), Self::MOST_CALLS);
        let given = object.count_calls(values);
        if let Some(operation) = object.never_begun(values) {
            return Err(ClientError::NeverBegun { operation, processes: n });
        }
        if given > limit { Err(ClientError::TooManyCalls { given, limit }) } else { Ok(()) }
    }

    /// Returns the number of values for the operations of an object.
    pub const fn values_of_object(&self) -> u32 {
        match self.values {
            Values::Full(values) => values,
            Values::Simple(..) | Values::Distinct => 2,
        }
    }

    /// Returns the progress of n processes before the first operation.
    pub fn start(&self, n: usize) -> Progress {
        let counts = self.is_bounded() || self.values == Values::Distinct;
        Progress::after(vec![0; if counts { n } else { 0 }], [false; 2])
    }

    /// Returns the operations that an idle process may begin.
    pub fn calls(&self, progress: &Progress, process: Process, n: usize) -> Vec<Call> {
        let begun = progress.begun.get(process.index()).copied().unwrap_or(0);
        if self.is_exhausted(progress, process) {
            return Vec::new();
        }
        let updates = match self.values {
            Values::Simple(i, _) if process == i => u32::from(progress.switched[0])..2,
            Values::Simple(_, j) if process == j => u32::from(progress.switched[1])..2,
            Values::Simple(..) => 0..1,
            Values::Full(values) => 0..values,
            Values::Distinct => {
                let value = 1 + process.index() as u32 + n as u32 * begun;
                value..value + 1
            }
        };
        let (mut may_update, mut may_scan) = match self.roles {
            Roles::Scanner(scanner) => (process != scanner, process == scanner),
            Roles::All | Roles::Few { .. } => (self.takes_part(process), self.takes_part(process)),
        };
        if let Some(updater) = self.updater {
            may_update &= process == updater;
            may_scan &= process != updater;
        }
        let updates = updates.filter(|_| may_update).map(Call::Update);
        updates.chain(may_scan.then_some(Call::Scan)).collect()
    }

    /// Returns the operations of an object that an idle process may begin, guards disregarded.
    /// The values are given by [`Values::Full`], else 0 and 1.
    pub fn calls_of_object(
        &self,
        object: &Sequential<'_>,
        progress: &Progress,
        process: Process,
    ) -> Vec<Call> {
        if self.is_exhausted(progress, process) || !self.takes_part(process) {
            return Vec::new();
        }
        let calls = object.calls(process.index(), self.values_of_object());
        calls.into_iter().map(Call::Operation).collect()
    }

    /// Returns true if a bound keeps a process from beginning an operation.
    fn is_exhausted(&self, progress: &Progress, process: Process) -> bool {
        let begun = progress.begun.get(process.index()).copied().unwrap_or(0);
        let is_barrier = progress.is_behind_response;
        self.bound(process).is_some_and(|bound| begun >= bound)
            || self.barriers.is_some_and(|most| is_barrier && progress.barriers >= most)
    }

    /// Returns true if a process begins operations at all.
    pub fn takes_part(&self, process: Process) -> bool {
        match self.roles {
            Roles::All | Roles::Scanner(_) => true,
            Roles::Few { first, others } => {
                let before = first.iter().filter(|one| **one < process).count();
                first.contains(&process) || process.index() - before < others
            }
        }
    }

    /// Returns true if all of n processes may begin the same operations of an object, and as many.
    pub fn is_symmetric(&self, processes: usize) -> bool {
        let mut all = (0..processes).map(Process::from_index);
        let first = self.bound(Process::from_index(0));
        all.all(|process| self.takes_part(process) && self.bound(process) == first)
    }

    /// Records that a process begins an operation.
    pub fn begin(&self, progress: &mut Progress, process: Process, call: Call) {
        if let Some(begun) = progress.begun.get_mut(process.index()) {
            *begun += 1;
        }
        progress.barriers += u32::from(progress.is_behind_response);
        progress.is_behind_response = false;
        if let (Values::Simple(i, j), Call::Update(1)) = (self.values, call) {
            progress.switched[0] |= process == i;
            progress.switched[1] |= process == j;
        }
    }

    /// Records that an operation responds, if barriers are bounded.
    pub const fn end(&self, progress: &mut Progress) {
        progress.is_behind_response = self.barriers.is_some();
    }
}

impl Progress {
    /// Creates the progress after these numbers of operations, per process, or empty if not needed;
    /// `switched`: whether i and j have begun to write 1.
    pub const fn after(begun: Vec<u32>, switched: [bool; 2]) -> Self {
        Self { begun, switched, barriers: 0, is_behind_response: false }
    }

    /// Returns the number of operations begun, per process; empty if not needed.
    pub fn begun(&self) -> &[u32] {
        &self.begun
    }

    /// Returns whether i and j have begun to write 1.
    pub const fn switched(&self) -> [bool; 2] {
        self.switched
    }

    /// Returns the progress with the processes in another order. Applies only to objects, which
    /// have no switches.
    pub fn reordered(&self, order: &[u32]) -> Self {
        debug_assert_eq!(self.switched, [false; 2]);
        let begun = order.iter().filter_map(|process| self.begun.get(*process as usize));
        Self { begun: begun.copied().collect(), ..self.clone() }
    }

    /// Returns bytes that are equal iff progress under one client is.
    pub fn key(&self) -> impl Iterator<Item = u8> + '_ {
        let switched = self.switched.iter().map(|switched| u8::from(*switched));
        let barriers = self.barriers.to_le_bytes().into_iter();
        let barriers = barriers.chain([u8::from(self.is_behind_response)]);
        self.begun.iter().flat_map(|begun| begun.to_le_bytes()).chain(switched).chain(barriers)
    }
}

/// Formats as `(0, 1)-simple`, `values 0..1`, `distinct values`.
impl fmt::Display for Values {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Simple(i, j) => write!(f, "({i}, {j})-simple"),
            Self::Full(1) => f.write_str("value 0"),
            Self::Full(values) => write!(f, "values 0..{}", values - 1),
            Self::Distinct => f.write_str("distinct values"),
        }
    }
}
