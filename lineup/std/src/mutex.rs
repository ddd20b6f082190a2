//! As `std::sync::Mutex`: the real lock, behind one that the scheduler sees.
//!
//! Within an execution the outer lock is taken first, so the real one is always free then: it holds
//! the value and the poison flag.

use real::fmt;
use real::ops::{Deref, DerefMut};
use real::panic::Location;
use real::sync as std;
use real::sync::{LockResult, PoisonError, TryLockError, TryLockResult};

use crate::control::{Next, Object, announce, destroyed, inside, released, took, touch};

/// The lock that the scheduler sees.
pub(crate) struct Gate(shuttle::sync::Mutex<()>);

impl Gate {
    pub(crate) fn object(&self) -> Object {
        Object::at(self)
    }

    #[track_caller]
    pub(crate) fn lock(&self) -> Passed<'_> {
        let step = announce(Next::taking(self.object(), true));
        let guard = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        drop(step);
        took(self.object(), true, Location::caller());
        Passed { gate: self, guard: Some(guard) }
    }

    #[track_caller]
    fn try_lock(&self) -> Option<Passed<'_>> {
        let step = announce(Next::access(self.object(), true));
        let guard = match self.0.try_lock() {
            Ok(guard) => guard,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return None,
        };
        drop(step);
        took(self.object(), true, Location::caller());
        Some(Passed { gate: self, guard: Some(guard) })
    }
}

impl Drop for Gate {
    fn drop(&mut self) {
        destroyed(self.object());
    }
}

/// A taken gate.
pub(crate) struct Passed<'l> {
    pub(crate) gate: &'l Gate,
    guard: Option<shuttle::sync::MutexGuard<'l, ()>>,
}

impl<'l> Passed<'l> {
    /// Has the gate released, and taken again, by `wait`.
    pub(crate) fn while_released(
        mut self,
        wait: impl FnOnce(shuttle::sync::MutexGuard<'l, ()>) -> shuttle::sync::MutexGuard<'l, ()>,
    ) -> Self {
        if let Some(guard) = self.guard.take() {
            self.guard = Some(wait(guard));
        }
        self
    }
}

impl Drop for Passed<'_> {
    fn drop(&mut self) {
        let step = announce(Next::access(self.gate.object(), true));
        drop(self.guard.take());
        drop(step);
        released(self.gate.object());
    }
}

/// As `std::sync::Mutex`.
pub struct Mutex<T: ?Sized> {
    gate: Gate,
    pub(crate) real: std::Mutex<T>,
}

/// As `std::sync::MutexGuard`.
pub struct MutexGuard<'l, T: ?Sized> {
    // Released in this order.
    pub(crate) real: std::MutexGuard<'l, T>,
    pub(crate) gate: Option<Passed<'l>>,
    pub(crate) lock: &'l Mutex<T>,
}

impl<T> Mutex<T> {
    /// Makes a lock.
    pub const fn new(value: T) -> Self {
        Self { gate: Gate(shuttle::sync::Mutex::new(())), real: std::Mutex::new(value) }
    }
}

impl<T: ?Sized> Mutex<T> {
    /// As of the real one; waits where the scheduler sees it.
    ///
    /// # Errors
    /// If it is poisoned.
    #[track_caller]
    pub fn lock(&self) -> LockResult<MutexGuard<'_, T>> {
        touch(self);
        let gate = if inside() { Some(self.gate.lock()) } else { None };
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
    #[track_caller]
    pub fn try_lock(&self) -> TryLockResult<MutexGuard<'_, T>> {
        touch(self);
        let gate = if inside() {
            match self.gate.try_lock() {
                Some(gate) => Some(gate),
                None => return Err(TryLockError::WouldBlock),
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
