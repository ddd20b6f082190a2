//! The budgets of a search: memory, time, and the user's patience.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Why a search ended early.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Unfinished {
    Time,
    Memory,
    Interrupted,
    /// A number did not fit: see [`most_numbers`](super::Exploration::most_numbers).
    TooNarrow,
    /// There were more states than [`most_states`](super::Exploration::most_states).
    TooMany,
}

impl Unfinished {
    const ALL: [Self; 5] =
        [Self::Time, Self::Memory, Self::Interrupted, Self::TooNarrow, Self::TooMany];

    /// Returns the cause's number, from 1.
    pub(super) const fn number(self) -> u8 {
        match self {
            Self::Time => 1,
            Self::Memory => 2,
            Self::Interrupted => 3,
            Self::TooNarrow => 4,
            Self::TooMany => 5,
        }
    }

    /// Returns the cause with this number.
    pub(super) fn from_number(number: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|cause| cause.number() == number)
    }
}

/// The memory is used up.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Exhausted;

/// Counts the bytes in use by data that grows with the number of states: the store, the states
/// still to be explored, and the buffers between the two.
#[derive(Debug)]
pub struct Memory {
    limit: u64,
    used: AtomicU64,
    peak: AtomicU64,
}

impl Memory {
    /// Creates a budget of `limit` bytes with none in use.
    pub const fn new(limit: u64) -> Self {
        Self { limit, used: AtomicU64::new(0), peak: AtomicU64::new(0) }
    }

    /// Takes bytes, to be returned by [`Self::give`].
    ///
    /// # Errors
    /// If fewer bytes are left; then none are taken.
    pub fn take(&self, bytes: usize) -> Result<(), Exhausted> {
        let bytes = bytes as u64;
        if bytes > self.limit {
            return Err(Exhausted);
        }
        let used = self.used.fetch_add(bytes, Ordering::Relaxed) + bytes;
        if used > self.limit {
            self.used.fetch_sub(bytes, Ordering::Relaxed);
            return Err(Exhausted);
        }
        self.peak.fetch_max(used, Ordering::Relaxed);
        Ok(())
    }

    /// Records the peak of another part of the same search.
    pub fn has_peaked_at(&self, peak: u64) {
        self.peak.fetch_max(peak, Ordering::Relaxed);
    }

    pub fn give(&self, bytes: usize) {
        self.used.fetch_sub(bytes as u64, Ordering::Relaxed);
    }

    /// Returns the budget in bytes.
    pub const fn limit(&self) -> u64 {
        self.limit
    }

    /// Returns the bytes in use.
    pub fn used(&self) -> u64 {
        self.used.load(Ordering::Relaxed)
    }

    /// Returns the greatest number of bytes ever in use.
    pub fn peak(&self) -> u64 {
        self.peak.load(Ordering::Relaxed)
    }
}

/// Decides whether a search must end early, and why. The first cause counts.
#[derive(Debug)]
pub struct Supervisor<'a> {
    begin: Instant,
    time: Option<Duration>,
    stops: [Option<&'a AtomicBool>; 2],
    cause: AtomicU8,
    lost: AtomicBool,
    /// The error of the disk.
    broken: Mutex<Option<io::Error>>,
}

impl<'a> Supervisor<'a> {
    /// Starts the clock. Each of the flags ends the search.
    pub fn new(time: Option<Duration>, stops: [Option<&'a AtomicBool>; 2]) -> Self {
        Self {
            begin: Instant::now(),
            time,
            stops,
            cause: AtomicU8::new(0),
            lost: AtomicBool::new(false),
            broken: Mutex::new(None),
        }
    }

    /// Returns the time since the start.
    pub fn elapsed(&self) -> Duration {
        self.begin.elapsed()
    }

    /// Checks the clock and the flags.
    pub fn look(&self) {
        if self.stops.iter().flatten().any(|stop| stop.load(Ordering::Relaxed)) {
            self.end(Unfinished::Interrupted);
        } else if self.time.is_some_and(|time| self.begin.elapsed() >= time) {
            self.end(Unfinished::Time);
        }
    }

    /// Ends the search for this cause, unless it was ended before.
    pub fn end(&self, cause: Unfinished) {
        let number = cause.number();
        let _ = self.cause.compare_exchange(0, number, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// Ends the search because of a disk error.
    pub fn fail(&self, error: io::Error) {
        *self.broken.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
        self.end(Unfinished::Interrupted);
    }

    /// Takes the error of the disk, if there was one.
    pub fn take_error(&self) -> Option<io::Error> {
        self.broken.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Records that a state was lost, for lack of room or because it did not fit. Another cause may
    /// have come first.
    pub fn lose(&self) {
        self.lost.store(true, Ordering::Relaxed);
    }

    /// Returns true if the search can be resumed: it was not ended, or only by time or by the user,
    /// and no state was lost.
    pub fn can_go_on(&self) -> bool {
        let cause = self.cause();
        let by_request = matches!(cause, None | Some(Unfinished::Time | Unfinished::Interrupted));
        by_request && !self.lost.load(Ordering::Relaxed)
    }

    /// Returns why the search must end, if it must.
    #[inline]
    pub fn cause(&self) -> Option<Unfinished> {
        match self.cause.load(Ordering::Relaxed) {
            0 => None,
            number => Unfinished::from_number(number),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_counts_use_and_peak() {
        let memory = Memory::new(100);
        assert_eq!(memory.take(60), Ok(()));
        assert_eq!(memory.take(41), Err(Exhausted));
        assert_eq!((memory.used(), memory.peak()), (60, 60));
        assert_eq!(memory.take(40), Ok(()));
        memory.give(90);
        assert_eq!((memory.used(), memory.peak()), (10, 100));
    }

    #[test]
    fn first_cause_is_kept() {
        let stop = AtomicBool::new(true);
        let watch = Supervisor::new(Some(Duration::ZERO), [None, Some(&stop)]);
        assert_eq!(watch.cause(), None);
        watch.look();
        watch.end(Unfinished::Memory);
        assert_eq!(watch.cause(), Some(Unfinished::Interrupted));
    }
}
