//! Slots: the scalars of a state.

use snapshot_core::Process;

/// The content of a slot: a Boolean (0, 1), a value (0, 1), a process, segment or integer by
/// number, a version or counter by number, or [`NONE`].
pub type Scalar = i32;

/// The scalar of `none`.
pub const NONE: Scalar = Scalar::MIN;

/// One scalar of the state.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Slot {
    /// A name for people: `r[1].toggle`, `p0.copy[2]`, `link X of p1`.
    pub name: String,
    /// The processes that may read and write it.
    pub owner: Owner,
    pub domain: Domain,
    pub initial: Scalar,
}

/// The processes that may read and write a slot.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Owner {
    /// All processes: part of a cell.
    Shared,
    /// The link of a process to a cell. Only that process reads it; others only break it, by
    /// assigning 0.
    Link(Process),
    /// A private variable: kept between operations.
    Process(Process),
    /// A local of an operation: assigned before it is used. When the operation responds, it returns
    /// to its initial scalar.
    Operation(Process),
}

/// The scalars that a slot may hold.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Domain {
    /// The scalars from `low` to `high`, inclusive, and perhaps [`NONE`].
    Range {
        low: Scalar,
        high: Scalar,
        /// Whether the domain includes [`NONE`].
        optional: bool,
        /// Whether the scalars name processes (or their segments), which a permutation of processes
        /// must rename, rather than being numbers, values or Booleans.
        names_processes: bool,
    },
    /// Versions: only their equality is meaningful.
    Version {
        /// Whether the domain includes [`NONE`].
        optional: bool,
    },
    /// Counters: only their order, the successor relation and their remainders are meaningful.
    Counter {
        /// Whether the domain includes [`NONE`].
        optional: bool,
    },
}

impl Slot {
    /// Returns the slot's content while it is meaningless because its process is idle; `None` if it
    /// is always meaningful.
    ///
    /// Versions and counters are [`NONE`] then: a number would be renamed as others come and go.
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

    /// Returns true if the scalars name processes or their segments.
    pub const fn names_processes(self) -> bool {
        matches!(self, Self::Range { names_processes: true, .. })
    }

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
    /// Returns the only process that reads the slot, if the owner implies one.
    pub const fn reader(self) -> Option<Process> {
        match self {
            Self::Shared => None,
            Self::Link(process) | Self::Process(process) | Self::Operation(process) => {
                Some(process)
            }
        }
    }
}
