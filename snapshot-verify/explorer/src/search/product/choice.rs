//! The choice of a process in one step.

use crate::instance::Scalar;

/// The choice of a process in one step.
///
/// If barriers are counted ([`crate::search::product`]), an invocation may be the first event
/// behind a barrier.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Choice {
    /// Invokes an update of this value, 0 or 1.
    Update(Scalar),
    Scan,
    /// Continues the open operation.
    Step,
    /// A barrier: all ended operations respond. Then the process invokes an update of this value.
    UpdateBehindBarrier(Scalar),
    /// A barrier: all ended operations respond. Then the process invokes a scan.
    ScanBehindBarrier,
}

impl Choice {
    /// Returns true if a barrier precedes the invocation.
    pub const fn is_behind_barrier(self) -> bool {
        matches!(self, Self::UpdateBehindBarrier(_) | Self::ScanBehindBarrier)
    }

    /// Returns the choice without the barrier.
    #[must_use]
    pub const fn invocation(self) -> Self {
        match self {
            Self::UpdateBehindBarrier(value) => Self::Update(value),
            Self::ScanBehindBarrier => Self::Scan,
            plain => plain,
        }
    }

    /// Returns the choice with a barrier before it, if it is an invocation.
    #[must_use]
    pub const fn behind_barrier(self) -> Self {
        match self {
            Self::Update(value) => Self::UpdateBehindBarrier(value),
            Self::Scan => Self::ScanBehindBarrier,
            other => other,
        }
    }
}
