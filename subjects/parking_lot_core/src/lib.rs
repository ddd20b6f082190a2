//! A parking lot in which no thread sleeps: it wakes at once, after others had their turn.
//!
//! What dashmap has need of. A lock that parks must look again when it wakes, since another
//! thread may have come first; so to wake without having been called is one of its executions.
//! There is no state: nothing outlives an execution, and a thread that waits for ever spins, so
//! that the answer is *unknown* and no execution is taken for a stuck one.
#![forbid(unsafe_code)]

use std::time::Instant;

/// As of the real one.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct ParkToken(pub usize);

/// As of the real one.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct UnparkToken(pub usize);

/// As of the real one.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ParkResult {
    /// Woken.
    Unparked(UnparkToken),
    /// There was nothing to wait for.
    Invalid,
    /// Never.
    TimedOut,
}

/// As of the real one.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct UnparkResult {
    /// 0: none sleeps.
    pub unparked_threads: usize,
    /// As of the real one.
    pub requeued_threads: usize,
    /// As of the real one.
    pub have_more_threads: bool,
    /// As of the real one.
    pub be_fair: bool,
}

/// Waits, if there is something to wait for, until others had their turn.
pub fn park(
    _key: usize,
    validate: impl FnOnce() -> bool,
    before_sleep: impl FnOnce(),
    _timed_out: impl FnOnce(usize, bool),
    _token: ParkToken,
    _timeout: Option<Instant>,
) -> ParkResult {
    if !validate() {
        return ParkResult::Invalid;
    }
    before_sleep();
    std::thread::yield_now();
    ParkResult::Unparked(UnparkToken(0))
}

/// None sleeps.
pub fn unpark_one(_key: usize, callback: impl FnOnce(UnparkResult) -> UnparkToken) -> UnparkResult {
    let result = UnparkResult::default();
    callback(result);
    result
}

/// None sleeps.
pub fn unpark_all(_key: usize, _token: UnparkToken) -> usize {
    0
}

/// As of the real one, but that it never asks to spin again.
#[derive(Debug, Default)]
pub struct SpinWait;

impl SpinWait {
    /// A new one.
    pub fn new() -> Self {
        Self
    }

    /// As of the real one.
    pub fn reset(&mut self) {}

    /// Never spins.
    pub fn spin(&mut self) -> bool {
        false
    }

    /// Lets others go first.
    pub fn spin_no_yield(&mut self) {
        std::thread::yield_now();
    }
}
