//! A counting semaphore.

use crate::generic::{ByValues, RelevantValues, Specification};

/// A semaphore. A release adds a permit, also one that was not acquired.
#[derive(Clone, Copy, Debug)]
pub struct Semaphore {
    /// Number of permits before the first operation.
    pub permits: u64,
}

/// An operation of a semaphore.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum SemaphoreInput {
    /// Takes a permit, when there is one.
    Acquire,
    /// Takes a permit, if there is one.
    TryAcquire,
    /// Adds a permit.
    Release,
}

/// The output of an operation of a semaphore.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum SemaphoreOutput {
    /// The permit was acquired, or released.
    Done,
    /// Whether a permit was acquired.
    Tried(bool),
}

impl Specification for Semaphore {
    type State = u64;
    type Input = SemaphoreInput;
    type Output = SemaphoreOutput;
    type Part = ();

    fn initial(&self) -> u64 {
        self.permits
    }

    fn apply(
        &self,
        state: &mut u64,
        input: &SemaphoreInput,
        output: Option<&SemaphoreOutput>,
    ) -> bool {
        let has_permit = *state > 0;
        let is_possible = match (input, output) {
            (SemaphoreInput::Acquire, None | Some(SemaphoreOutput::Done)) => has_permit,
            (SemaphoreInput::Release, None | Some(SemaphoreOutput::Done)) => true,
            (SemaphoreInput::TryAcquire, None) => true,
            (SemaphoreInput::TryAcquire, Some(SemaphoreOutput::Tried(is_acquired))) => {
                *is_acquired == has_permit
            }
            _ => false,
        };
        match input {
            SemaphoreInput::Release => *state = state.saturating_add(1),
            _ => *state = state.saturating_sub(1),
        }
        is_possible
    }

    fn part(&self, _: &SemaphoreInput) {}

    fn is_query(&self, _: &SemaphoreInput, output: Option<&SemaphoreOutput>) -> bool {
        output == Some(&SemaphoreOutput::Tried(false))
    }
}

/// A semaphore has no parts.
impl ByValues for Semaphore {
    type Value = ();

    fn concern(&self, _: &SemaphoreInput, _: Option<&SemaphoreOutput>) -> RelevantValues<()> {
        RelevantValues::All
    }
}
