//! As `std::sync::Barrier`.

use real::fmt;
use real::sync::PoisonError;

use crate::condvar::Condvar;
use crate::mutex::Mutex;

/// As `std::sync::Barrier`.
pub struct Barrier {
    /// Number of waiting threads, and of completed rounds.
    state: Mutex<(usize, usize)>,
    open: Condvar,
    threads: usize,
}

/// As `std::sync::BarrierWaitResult`.
#[derive(Debug)]
pub struct BarrierWaitResult(bool);

impl BarrierWaitResult {
    /// Returns true for the thread that came last.
    pub const fn is_leader(&self) -> bool {
        self.0
    }
}

impl Barrier {
    /// Makes a barrier for this many threads.
    pub const fn new(threads: usize) -> Self {
        Self { state: Mutex::new((0, 0)), open: Condvar::new(), threads }
    }

    /// Waits for the others.
    pub fn wait(&self) -> BarrierWaitResult {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let generation = state.1;
        state.0 += 1;
        if state.0 >= self.threads {
            *state = (0, generation.wrapping_add(1));
            self.open.notify_all();
            return BarrierWaitResult(true);
        }
        while state.1 == generation {
            state = self.open.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        BarrierWaitResult(false)
    }
}

impl fmt::Debug for Barrier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Barrier").finish_non_exhaustive()
    }
}
