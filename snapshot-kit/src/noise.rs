//! Disturbing threads, so that they meet where they seldom meet by themselves.
//!
//! A race needs one thread to stop in the middle of an operation while others finish
//! theirs. Left alone, a thread is stopped there hardly ever: an operation takes
//! nanoseconds, its turn on the processor milliseconds. [`crate::stress()`] therefore lets
//! threads yield and spin between operations, and [`point`] does so inside them, if the
//! object under test calls it there.

use std::cell::Cell;
use std::hint::spin_loop;
use std::thread::yield_now;

thread_local! {
    /// State of the generator of this thread's noise; 0 if it is to make none.
    static STATE: Cell<u64> = const { Cell::new(0) };
}

/// One point in this many makes a pause.
const RARITY: u64 = 8;

/// A place inside an operation where a thread may be delayed: in a stressed thread it
/// sometimes yields or spins, in every other thread it does nothing (one read of a
/// thread-local variable). Put it between the accesses of a scan, for example under
/// `#[cfg(test)]`.
///
/// ```
/// use std::sync::atomic::{AtomicU64, Ordering};
///
/// fn collect(cells: &[AtomicU64]) -> Vec<u64> {
///     let read = |cell: &AtomicU64| {
///         snapshot_kit::noise::point();
///         cell.load(Ordering::SeqCst)
///     };
///     cells.iter().map(read).collect()
/// }
/// assert_eq!(collect(&[AtomicU64::new(3)]), [3]);
/// ```
#[inline]
pub fn point() {
    STATE.with(|state| {
        if state.get() != 0 {
            disturb(state);
        }
    });
}

#[cold]
fn disturb(state: &Cell<u64>) {
    // xorshift (Marsaglia 2003): never 0 if it was not.
    let mut number = state.get();
    number ^= number << 13;
    number ^= number >> 7;
    number ^= number << 17;
    state.set(number);
    if number.is_multiple_of(RARITY) {
        pause(number >> 32);
    }
}

/// Yields, or spins for up to some hundred nanoseconds.
pub(crate) fn pause(choice: u64) {
    if choice.is_multiple_of(2) {
        yield_now();
    } else {
        (0..choice % 256).for_each(|_| spin_loop());
    }
}

/// Noise in this thread, until it is dropped.
#[derive(Debug)]
pub(crate) struct Noisy(());

impl Noisy {
    pub(crate) fn new(seed: u64) -> Self {
        STATE.with(|state| state.set(seed | 1));
        Self(())
    }
}

impl Drop for Noisy {
    fn drop(&mut self) {
        STATE.with(|state| state.set(0));
    }
}
