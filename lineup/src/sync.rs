//! Items of `std::sync` under control of the scheduler, for objects that are not compiled with the
//! stand-in for `std`.

pub use std::sync::{Arc, LockResult, PoisonError, TryLockError, TryLockResult, Weak};

pub use lineup_std::controlled::{
    Barrier, BarrierWaitResult, Condvar, LazyLock, Mutex, MutexGuard, Once, OnceLock, OnceState,
    RwLock, RwLockReadGuard, RwLockWriteGuard, WaitTimeoutResult,
};
pub use lineup_std::sync::atomic;
pub use shuttle::sync::mpsc;
