//! Spinning before a thread waits.

/// As in the published crate, but that it never asks to spin again: the scheduler tries what
/// happens meanwhile.
#[derive(Debug, Default)]
pub struct SpinWait;

impl SpinWait {
    /// A new one.
    pub const fn new() -> Self {
        Self
    }

    /// As in the published crate.
    pub const fn reset(&mut self) {}

    /// Never spins.
    pub const fn spin(&mut self) -> bool {
        false
    }

    /// Lets others go first.
    pub fn spin_no_yield(&mut self) {
        lineup_std::thread::yield_now();
    }
}
