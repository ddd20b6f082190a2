//! Whether shared memory may have changed in a step.

/// Changes of shared memory, as counted by the stand-in for `std`.
pub(crate) struct Memory {
    steps: u64,
    changes: u64,
    /// True if the last step was not the stand-in's: its changes are not counted.
    pub(crate) is_unseen: bool,
}

impl Memory {
    pub(crate) fn new() -> Self {
        let (steps, changes) = (lineup_std::control::steps(), lineup_std::control::changes());
        Self { steps, changes, is_unseen: false }
    }

    /// Returns true if the finished step may have changed shared memory; `is_yielding`: whether the
    /// next step begins with a yield.
    pub(crate) fn may_have_changed(&mut self, is_yielding: bool) -> bool {
        let now = Self::new();
        let changed = self.is_unseen || now.changes != self.changes;
        let is_unseen = !is_yielding && now.steps == self.steps;
        *self = Self { is_unseen, ..now };
        changed
    }
}
