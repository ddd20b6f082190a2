//! What a process does in one step.

use crate::instance::Scalar;

/// What a process does.
///
/// Where barriers are counted ([`crate::search::product`]), an invocation may be the first
/// event behind one.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Choice {
    /// It invokes an update of this value, 0 or 1.
    Update(Scalar),
    /// It invokes a scan.
    Scan,
    /// It goes on with its operation.
    Step,
    /// All that has ended responds; then it invokes an update of this value.
    UpdateBehindBarrier(Scalar),
    /// All that has ended responds; then it invokes a scan.
    ScanBehindBarrier,
}

impl Choice {
    /// Whether a barrier comes first.
    pub const fn is_behind_barrier(self) -> bool {
        matches!(self, Self::UpdateBehindBarrier(_) | Self::ScanBehindBarrier)
    }

    /// Without the barrier.
    #[must_use]
    pub const fn invocation(self) -> Self {
        match self {
            Self::UpdateBehindBarrier(value) => Self::Update(value),
            Self::ScanBehindBarrier => Self::Scan,
            plain => plain,
        }
    }

    /// With a barrier before it, if it is an invocation.
    #[must_use]
    pub const fn behind_barrier(self) -> Self {
        match self {
            Self::Update(value) => Self::UpdateBehindBarrier(value),
            Self::Scan => Self::ScanBehindBarrier,
            other => other,
        }
    }
}
