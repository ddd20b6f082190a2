//! Where an operation is: within a controlled execution, or not.

use real::cell::Cell;
use real::time::Duration;

real::thread_local! {
    static TIMED: Cell<u32> = const { Cell::new(0) };
}

/// Whether the caller is a thread of a controlled execution.
pub fn inside() -> bool {
    shuttle::current::try_get_current_task().is_some()
}

/// A step: the scheduler chooses which thread runs next. Nothing outside an execution.
pub fn step() {
    if inside() {
        // In shuttle a sleep is a plain step: no time, no yield.
        shuttle::thread::sleep(Duration::ZERO);
    }
}

/// The number of waits with a time limit that are open in this execution. Under control
/// they never time out, so that an execution which is stuck with one open is no stuck one.
pub fn timed_waits() -> u32 {
    TIMED.get()
}

/// Forgets the open waits of an execution that was given up.
pub fn begin() {
    TIMED.set(0);
}

/// A wait with a time limit, while it lives.
#[derive(Debug)]
pub(crate) struct Timed;

impl Timed {
    pub(crate) fn open() -> Self {
        TIMED.set(TIMED.get() + 1);
        Self
    }
}

impl Drop for Timed {
    fn drop(&mut self) {
        TIMED.set(TIMED.get().saturating_sub(1));
    }
}
