//! Tests if an operation is within a controlled execution, and counts its steps.

use real::cell::Cell;
use real::time::Duration;

real::thread_local! {
    static TIMED: Cell<u32> = const { Cell::new(0) };
    static STEPS: Cell<u64> = const { Cell::new(0) };
    static CHANGES: Cell<u64> = const { Cell::new(0) };
}

/// Returns true for a thread of a controlled execution.
pub fn inside() -> bool {
    shuttle::current::try_get_current_task().is_some()
}

/// Makes a step: the scheduler chooses the thread that runs next. No effect outside an execution.
pub fn step() {
    if inside() {
        STEPS.set(STEPS.get() + 1);
        // In shuttle a sleep is a plain step: no time, no yield.
        shuttle::thread::sleep(Duration::ZERO);
    }
}

/// Returns the number of steps ([`step`]) on this thread of the operating system. [`changes`]
/// counts all changes of such steps; changes of other steps, such as steps of locks, are unknown.
pub fn steps() -> u64 {
    STEPS.get()
}

/// Returns the number of operations on atomics that changed a value, on this thread of the
/// operating system.
pub fn changes() -> u64 {
    CHANGES.get()
}

/// Records an operation on an atomic.
pub(crate) fn changed(is_changed: bool) {
    if is_changed {
        CHANGES.set(CHANGES.get() + 1);
    }
}

/// Returns the number of waits with a time limit that are open in this execution. Under control
/// they never time out, so an execution that blocks with one open does not count as stuck.
pub fn timed_waits() -> u32 {
    TIMED.get()
}

/// Forgets the open waits of an abandoned execution.
pub fn begin() {
    TIMED.set(0);
}

/// A wait with a time limit, until it is dropped.
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
