//! Disturbance of threads, so that operations overlap that seldom do so by themselves.
//!
//! A race needs one thread to stop in the middle of an operation while others finish theirs. By
//! default, a thread is hardly ever stopped there: an operation takes nanoseconds, its turn on the
//! processor milliseconds. A [`Recorder`](crate::Recorder) with
//! [noise](crate::Recorder::with_noise), which [`crate::stress()`] uses, therefore lets threads
//! yield and spin between operations. Inside operations, [`point`] does so, if the object under
//! test calls it there.

use std::cell::Cell;
use std::hint::spin_loop;
use std::thread::yield_now;

thread_local! {
    /// State of the generator of this thread's noise; 0 if noise is off.
    static STATE: Cell<u64> = const { Cell::new(0) };
}

/// One point in this many makes a pause.
const RARITY: u64 = 8;

/// A place inside an operation where a thread may be delayed: in an operation that is recorded with
/// [noise](crate::Recorder::with_noise) it sometimes yields or spins, in every other thread it does
/// nothing (one read of a thread-local variable). Put it between the accesses of a scan, for
/// example under `#[cfg(test)]`.
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
    let mut number = state.get();
    next(&mut number);
    state.set(number);
    if number.is_multiple_of(RARITY) {
        pause(number >> 32);
    }
}

/// Yields, or spins for up to some hundred nanoseconds.
fn pause(choice: u64) {
    #[cfg(test)]
    tests::PAUSES.set(tests::PAUSES.get() + 1);
    if choice.is_multiple_of(2) {
        yield_now();
    } else {
        (0..choice % 256).for_each(|_| spin_loop());
    }
}

/// Noise in this thread, until it is dropped.
#[derive(Debug)]
struct Noisy {
    before: u64,
}

impl Noisy {
    fn new(seed: u64) -> Self {
        Self { before: STATE.replace(seed | 1) }
    }
}

impl Drop for Noisy {
    fn drop(&mut self) {
        STATE.set(self.before);
    }
}

/// Amount of disturbance of threads.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Noise {
    /// None; points inside operations have no effect, either.
    Off,
    /// One operation in eight is followed by a yield or a short spin.
    #[default]
    Some,
    /// Every second operation is followed by one.
    Much,
}

/// The noise of one process; none by default.
#[derive(Debug, Default)]
pub(crate) struct Source {
    /// 0 if noise is off.
    state: u64,
    /// One operation in this many is followed by a pause.
    rarity: u64,
}

impl Source {
    pub(crate) const fn new(noise: Noise, seed: u64, process: usize) -> Self {
        let rarity = match noise {
            Noise::Off => return Self { state: 0, rarity: 1 },
            Noise::Some => 8,
            Noise::Much => 2,
        };
        let mixed = (seed ^ (process as u64 + 1)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        Self { state: (mixed ^ (mixed >> 29)) | 1, rarity }
    }

    /// Calls an operation, inside which points make noise.
    #[inline]
    pub(crate) fn around<T>(&mut self, call: impl FnOnce() -> T) -> T {
        if self.state == 0 {
            return call();
        }
        let _noisy = Noisy::new(next(&mut self.state));
        call()
    }

    /// Makes a pause after an operation, or none.
    #[inline]
    pub(crate) fn after(&mut self) {
        if self.state != 0 {
            let number = next(&mut self.state);
            if number.is_multiple_of(self.rarity) {
                pause(number >> 32);
            }
        }
    }
}

/// xorshift (Marsaglia 2003): a nonzero state stays nonzero.
const fn next(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state
}

#[cfg(test)]
mod tests {
    use super::*;

    thread_local! {
        /// Number of pauses of this thread.
        pub(super) static PAUSES: Cell<u64> = const { Cell::new(0) };
    }

    fn pauses(within: impl FnOnce()) -> u64 {
        let before = PAUSES.get();
        within();
        PAUSES.get() - before
    }

    #[test]
    fn pauses_are_as_many_as_the_noise_says() {
        for (noise, inside, after) in [
            (Noise::Off, 0..1, 0..1),
            (Noise::Some, 80..170, 80..170),
            (Noise::Much, 80..170, 400..600),
        ] {
            let mut source = Source::new(noise, 1, 0);
            let found = pauses(|| (0..1000).for_each(|_| source.around(point)));
            assert!(inside.contains(&found), "{noise:?}: {found} inside");
            let found = pauses(|| (0..1000).for_each(|_| source.after()));
            assert!(after.contains(&found), "{noise:?}: {found} after");
        }
        assert_eq!(pauses(|| (0..1000).for_each(|_| point())), 0, "without a recorder");
    }

    #[test]
    fn noise_is_seeded_and_ends_with_the_operation() {
        let draws = |seed, process| {
            let mut source = Source::new(Noise::Much, seed, process);
            let mut draw = || source.around(|| STATE.get());
            [draw(), draw(), draw()]
        };
        assert_eq!(draws(1, 2), draws(1, 2));
        for other in [draws(2, 2), draws(1, 3)] {
            assert_ne!(other, draws(1, 2));
        }
        assert!(draws(1, 2).iter().all(|state| *state != 0));
        assert_eq!(Source::new(Noise::Off, 1, 2).around(|| STATE.get()), 0);
        assert_eq!(STATE.get(), 0);
    }
}
