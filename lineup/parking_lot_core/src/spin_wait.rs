//! Spinning before a thread waits.

/// As in the published crate, except that it never asks to spin again: the scheduler tries the
/// possible interleavings.
#[derive(Debug, Default)]
pub struct SpinWait;

impl SpinWait {
    /// Makes a counter.
    pub const fn new() -> Self {
        Self
    }

    /// As in the published crate.
    pub const fn reset(&mut self) {}

    /// Never spins.
    pub const fn spin(&mut self) -> bool {
        false
    }

    /// Lets other threads run first.
    pub fn spin_no_yield(&mut self) {
        lineup_std::thread::yield_now();
    }
}
