//! As `std::sync`.

pub mod atomic;

#[cfg(not(feature = "locks"))]
#[doc(no_inline)]
pub use real::sync::*;
#[cfg(feature = "locks")]
pub use real::sync::{Arc, LockResult, PoisonError, TryLockError, TryLockResult, Weak};

#[cfg(feature = "locks")]
pub use crate::controlled::{
    Barrier, BarrierWaitResult, Condvar, LazyLock, Mutex, MutexGuard, Once, OnceLock, OnceState,
    RwLock, RwLockReadGuard, RwLockWriteGuard, WaitTimeoutResult,
};
#[cfg(feature = "locks")]
#[allow(deprecated, reason = "crates still name it")]
pub use crate::once::ONCE_INIT;
/// As `std::sync::mpsc`, within an execution only.
#[cfg(feature = "locks")]
pub use shuttle::sync::mpsc;
