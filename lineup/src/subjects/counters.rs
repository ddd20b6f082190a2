//! The counters of sections 2.2.1 and 2.2.2 of the paper, and a right one.

use crate::sync::Mutex;
use crate::sync::atomic::{AtomicU32, Ordering::SeqCst};

use super::queues::locked;

crate::subject! {
    /// A counter behind a lock.
    pub Counter(count: Mutex<u32>) = Mutex::new(0);
    inc() => *locked(count) += 1;
    get() => *locked(count);
}

crate::subject! {
    /// `inc` takes no lock: two that overlap may count as one.
    pub Counter1(count: AtomicU32) = AtomicU32::new(0);
    inc() => count.store(count.load(SeqCst) + 1, SeqCst);
    get() => count.load(SeqCst);
}

crate::subject! {
    /// `get` never releases its lock: all later operations wait for ever, in serial executions,
    /// too. Only a specification reveals that this is wrong.
    pub Counter2(count: Mutex<u32>) = Mutex::new(0);
    inc() => *locked(count) += 1;
    get() => { let guard = locked(count); let value = *guard; std::mem::forget(guard); value };
}
