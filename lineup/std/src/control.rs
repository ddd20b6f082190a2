//! Where an operation is: within a controlled execution, or not.

use real::cell::Cell;
use real::time::Duration;

real::thread_local! {
    static TIMED: Cell<u32> = const { Cell::new(0) };
    static STEPS: Cell<u64> = const { Cell::new(0) };
    static CHANGES: Cell<u64> = const { Cell::new(0) };
}

/// Whether the caller is a thread of a controlled execution.
pub fn inside() -> bool {
    shuttle::current::try_get_current_task().is_some()
}

/// A step: the scheduler chooses which thread runs next. Nothing outside an execution.
pub fn step() {
    if inside() {
        STEPS.set(STEPS.get() + 1);
        // In shuttle a sleep is a plain step: no time, no yield.
        shuttle::thread::sleep(Duration::ZERO);
    }
}

/// The number of steps ([`step`]) on this thread of the operating system. All that such a step may
/// change is counted by [`changes`]; what other steps change, those of locks, is not known.
pub fn steps() -> u64 {
    STEPS.get()
}

/// How many operations on atomics changed a value, on this thread of the operating system.
pub fn changes() -> u64 {
    CHANGES.get()
}

/// An operation on an atomic changed its value, or did not.
pub(crate) fn changed(is_changed: bool) {
    if is_changed {
        CHANGES.set(CHANGES.get() + 1);
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
