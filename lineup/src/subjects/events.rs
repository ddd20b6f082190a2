//! A manual-reset event (`ManualResetEvent` of the paper, section 5.2.1, and its Figure 9).
//!
//! The state is one word: whether the event is set, and the number of threads that wait.

use crate::sync::atomic::{AtomicU32, Ordering::SeqCst};
use crate::sync::{Condvar, Mutex, PoisonError};

use super::queues::locked;

const SET: u32 = 1 << 16;

/// The event; `reread` is the bug.
#[derive(Debug, Default)]
pub struct Event {
    state: AtomicU32,
    /// Number of times that waiting threads were woken.
    wakes: Mutex<u32>,
    woken: Condvar,
}

impl Event {
    fn set(&self) {
        let before = self.state.fetch_or(SET, SeqCst);
        // If it was already set, waiting threads were woken then.
        if before & SET == 0 && before > 0 {
            *locked(&self.wakes) += 1;
            self.woken.notify_all();
        }
    }

    fn reset(&self) {
        self.state.fetch_and(!SET, SeqCst);
    }

    fn is_set(&self) -> bool {
        self.state.load(SeqCst) & SET != 0
    }

    /// Registers as a waiting thread, unless the event is set, and sleeps until it was.
    fn wait(&self, reread: bool) {
        loop {
            let seen = *locked(&self.wakes);
            let state = self.state.load(SeqCst);
            if state & SET != 0 {
                return;
            }
            // Bug A: the new state is computed from the shared word, read a second time.
            let new = if reread { self.state.load(SeqCst) + 1 } else { state + 1 };
            if self.state.compare_exchange(state, new, SeqCst, SeqCst).is_ok() {
                let mut wakes = locked(&self.wakes);
                while *wakes == seen {
                    wakes = self.woken.wait(wakes).unwrap_or_else(PoisonError::into_inner);
                }
                drop(wakes);
                self.state.fetch_sub(1, SeqCst);
                return;
            }
        }
    }
}

crate::subject! {
    /// An event that stays set until it is reset.
    pub ManualResetEvent(event: Event) = Event::default();
    wait() => event.wait(false);
    set() => event.set();
    reset() => event.reset();
    is_set() => event.is_set();
}

crate::subject! {
    /// Bug A: a wrong operand of compare-and-swap in `wait`.
    pub ManualResetEventPre(event: Event) = Event::default();
    wait() => event.wait(true);
    set() => event.set();
    reset() => event.reset();
    is_set() => event.is_set();
}
