//! As `std::sync::Mutex`: the real lock, behind one that the scheduler sees.
//!
//! Within an execution the outer lock is taken first, so the real one is always free then: it holds
//! the value and the poison flag.

use real::fmt;
use real::ops::{Deref, DerefMut};
use real::sync as std;
use real::sync::{LockResult, PoisonError, TryLockError, TryLockResult};

use crate::control::inside;

pub(crate) type Gate<'l> = Option<shuttle::sync::MutexGuard<'l, ()>>;

/// As `std::sync::Mutex`.
pub struct Mutex<T: ?Sized> {
    gate: shuttle::sync::Mutex<()>,
    pub(crate) real: std::Mutex<T>,
}

/// As `std::sync::MutexGuard`.
pub struct MutexGuard<'l, T: ?Sized> {
    // Released in this order.
    pub(crate) real: std::MutexGuard<'l, T>,
    pub(crate) gate: Gate<'l>,
    pub(crate) lock: &'l Mutex<T>,
}

impl<T> Mutex<T> {
    /// Makes a lock.
    pub const fn new(value: T) -> Self {
        Self { gate: shuttle::sync::Mutex::new(()), real: std::Mutex::new(value) }
    }
}

impl<T: ?Sized> Mutex<T> {
    /// As of the real one; waits where the scheduler sees it.
    ///
    /// # Errors
    /// If it is poisoned.
    pub fn lock(&self) -> LockResult<MutexGuard<'_, T>> {
        let gate = inside().then(|| self.gate.lock().unwrap_or_else(PoisonError::into_inner));
        match self.real.lock() {
            Ok(real) => Ok(MutexGuard { real, gate, lock: self }),
            Err(poisoned) => {
                let real = poisoned.into_inner();
                Err(PoisonError::new(MutexGuard { real, gate, lock: self }))
            }
        }
    }

    /// As of the real one.
    ///
    /// # Errors
    /// If it is taken or poisoned.
    pub fn try_lock(&self) -> TryLockResult<MutexGuard<'_, T>> {
        let gate = if inside() {
            match self.gate.try_lock() {
                Ok(gate) => Some(gate),
                Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
                Err(TryLockError::WouldBlock) => return Err(TryLockError::WouldBlock),
            }
        } else {
            None
        };
        match self.real.try_lock() {
            Ok(real) => Ok(MutexGuard { real, gate, lock: self }),
            Err(TryLockError::WouldBlock) => Err(TryLockError::WouldBlock),
            Err(TryLockError::Poisoned(poisoned)) => {
                let real = poisoned.into_inner();
                Err(PoisonError::new(MutexGuard { real, gate, lock: self }).into())
            }
        }
    }
}

delegate_to_real!(Mutex);

impl<T: ?Sized> Deref for MutexGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.real
    }
}

impl<T: ?Sized> DerefMut for MutexGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.real
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for MutexGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.real.fmt(f)
    }
}

impl<T: ?Sized + fmt::Display> fmt::Display for MutexGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.real.fmt(f)
    }
}
