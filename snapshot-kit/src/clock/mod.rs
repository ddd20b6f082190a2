//! Clocks of recorders.
//!
//! A clock needs one property: if the stamp that one thread takes after a call is smaller than the
//! stamp that another thread takes before a call, then all effects of the first call were complete,
//! and visible to the second thread, before the second call began. Then each recorded interval
//! contains the real one, and each recorded order is real.
//!
//! * [`Clock::Ticket`]: stamps are the numbers of one shared counter. Its increments are
//!   sequentially consistent and totally ordered, and a smaller number happens before a larger one,
//!   in the sense of the memory model. All threads write one cache line, which keeps them in step:
//!   races are found seldom.
//! * [`Clock::Instant`]: the operating system's monotonic clock. It is read *before* the entry for
//!   an invocation is stored, and a fence separates that store from the call; it is read *after* a
//!   fence that follows the call. So the real call lies between. Readings of two threads compare in
//!   the order in which they were taken: this is the meaning of "monotonic" for one clock that all
//!   processors share, and the promise of the system.
//! * [`Clock::Counter`]: the same, with the processor's time-stamp counter; `counter.rs` has the
//!   instructions and the conditions under which it is one clock.
//!
//! Equal stamps of different threads have no order: the recorder puts invocations before responses,
//! so that these operations overlap. Stamps of one thread are made to grow.

mod counter;

use std::sync::atomic::{AtomicU64, Ordering, fence};
use std::time::Instant;

/// Clock by which a recorder orders events.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Clock {
    /// One counter that all threads increment. It is an order by definition, and the same in every
    /// run under a controlled scheduler; but it keeps threads in step, and so hides races.
    Ticket,
    /// The operating system's monotonic clock.
    Instant,
    /// The processor's time-stamp counter. Only where [`Clock::has_counter`].
    Counter,
}

impl Clock {
    /// Returns the counter if it is one clock, else the operating system's clock.
    pub fn best() -> Self {
        if Self::has_counter() { Self::Counter } else { Self::Instant }
    }

    /// Returns true if the processors have a counter of constant rate that the operating system
    /// found to be the same for all of them: x86-64 under Linux.
    pub fn has_counter() -> bool {
        counter::is_one_clock()
    }
}

/// A running clock.
#[derive(Debug)]
pub(crate) struct Source {
    clock: Clock,
    /// The last issued number.
    ticket: AtomicU64,
    origin: Instant,
}

impl Source {
    /// # Panics
    /// If this system lacks the clock.
    pub(crate) fn new(clock: Clock) -> Self {
        assert!(
            clock != Clock::Counter || Clock::has_counter(),
            "the processors' counters are not one clock here: use Clock::Instant"
        );
        Self { clock, ticket: AtomicU64::new(0), origin: Instant::now() }
    }

    pub(crate) fn clock(&self) -> Clock {
        self.clock
    }

    /// Returns a stamp, at least `least`, taken before everything that follows [`Self::begin`].
    #[inline]
    pub(crate) fn before_call(&self, least: u64) -> u64 {
        loop {
            let stamp = self.now();
            if stamp >= least {
                return stamp;
            }
            // The clock has not advanced since the last response.
            std::hint::spin_loop();
        }
    }

    /// Separates the entry for an invocation from the call.
    #[inline]
    pub(crate) fn begin(&self) {
        match self.clock {
            Clock::Ticket => {}
            Clock::Instant => fence(Ordering::SeqCst),
            Clock::Counter => counter::begin(),
        }
    }

    /// Returns a stamp, at least `least`, taken after everything that precedes it.
    #[inline]
    pub(crate) fn after_call(&self, least: u64) -> u64 {
        match self.clock {
            Clock::Ticket => {}
            Clock::Instant => fence(Ordering::SeqCst),
            Clock::Counter => counter::end(),
        }
        // A clock that runs backwards within a thread contradicts its assumptions. Waiting until it
        // has caught up makes the interval longer, not shorter.
        self.before_call(least)
    }

    /// Returns a stamp larger than all stamps taken before, and no larger than any taken
    /// afterwards.
    pub(crate) fn cut(&self) -> u64 {
        let reached = self.after_call(0);
        let cut = self.before_call(reached + 1);
        self.begin();
        cut
    }

    #[inline]
    fn now(&self) -> u64 {
        match self.clock {
            Clock::Ticket => self.ticket.fetch_add(1, Ordering::SeqCst) + 1,
            Clock::Instant => {
                let nanoseconds = self.origin.elapsed().as_nanos();
                // 292 years.
                u64::try_from(nanoseconds).unwrap_or(u64::MAX) >> 1
            }
            Clock::Counter => counter::read(),
        }
    }
}
