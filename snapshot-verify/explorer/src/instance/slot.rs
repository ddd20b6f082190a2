//! The scalars that a state is made of.

use snapshot_core::Process;

/// What a slot holds: a Boolean (0, 1), a value (0, 1), a process, segment or
/// integer by number, a version or counter by number, or [`NONE`].
pub type Scalar = i32;

/// The scalar of `none`.
pub const NONE: Scalar = Scalar::MIN;

/// One scalar of the state.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Slot {
    /// For people: `r[1].toggle`, `p0.copy[2]`, `link X of p1`.
    pub name: String,
    /// Which processes may read and write it.
    pub owner: Owner,
    /// What it may hold.
    pub domain: Domain,
    /// What it holds at first.
    pub initial: Scalar,
}

/// Which processes may read and write a slot.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Owner {
    /// All processes: part of a cell.
    Shared,
    /// The link of a process on a cell: read by that process only. Others only
    /// ever break it, assigning 0.
    Link(Process),
    /// A private variable: kept between operations.
    Process(Process),
    /// A local of an operation: assigned before it is used. When the operation
    /// responds, it returns to its initial scalar.
    Operation(Process),
}

/// What a slot may hold.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Domain {
    /// The scalars from `low` to `high`, both included, and perhaps none.
    Range {
        /// The least.
        low: Scalar,
        /// The greatest.
        high: Scalar,
        /// Whether also [`NONE`].
        optional: bool,
        /// Whether the scalars name processes (or their segments) rather than
        /// being numbers, values or Booleans: what a permutation of processes
        /// must rename.
        names_processes: bool,
    },
    /// Versions: only their equality means anything.
    Version {
        /// Whether also [`NONE`].
        optional: bool,
    },
    /// Counters: only their order, whether one is the successor of another,
    /// and their remainders mean anything.
    Counter {
        /// Whether also [`NONE`].
        optional: bool,
    },
}

impl Slot {
    /// What it holds while it means nothing because its process is idle; none if it
    /// always means something.
    ///
    /// Numbers of versions and counters are renamed as others come and go, so none
    /// of them would stay what it is.
    pub const fn meaningless(&self) -> Option<Scalar> {
        match (self.owner, self.domain) {
            (Owner::Operation(_), Domain::Range { .. }) => Some(self.initial),
            (Owner::Operation(_), Domain::Version { .. } | Domain::Counter { .. }) => Some(NONE),
            (Owner::Shared | Owner::Link(_) | Owner::Process(_), _) => None,
        }
    }
}

impl Domain {
    /// 0 or 1: a Boolean, or a value of a simple execution.
    pub const BIT: Self = Self::Range { low: 0, high: 1, optional: false, names_processes: false };

    /// Whether its scalars name processes or their segments.
    pub const fn names_processes(self) -> bool {
        matches!(self, Self::Range { names_processes: true, .. })
    }

    /// Whether it is part of the domain.
    pub const fn contains(self, scalar: Scalar) -> bool {
        match self {
            Self::Range { low, high, optional, .. } => {
                (optional && scalar == NONE) || (low <= scalar && scalar <= high)
            }
            Self::Version { optional } | Self::Counter { optional } => {
                scalar >= 0 || (optional && scalar == NONE)
            }
        }
    }
}

impl Owner {
    /// The only process that reads the slot, if there is one by kind.
    pub const fn reader(self) -> Option<Process> {
        match self {
            Self::Shared => None,
            Self::Link(process) | Self::Process(process) | Self::Operation(process) => {
                Some(process)
            }
        }
    }
}
