//! As `std::sync::RwLock`: the real lock, behind one that the scheduler sees.

use real::fmt;
use real::ops::{Deref, DerefMut};
use real::panic::Location;
use real::sync as std;
use real::sync::{LockResult, PoisonError, TryLockError, TryLockResult};

use crate::control::{Next, Object, announce, destroyed, inside, released, took, touch};

/// The lock that the scheduler sees.
struct Gate(shuttle::sync::RwLock<()>);

impl Gate {
    fn object(&self) -> Object {
        Object::at(self)
    }
}

impl Drop for Gate {
    fn drop(&mut self) {
        destroyed(self.object());
    }
}

/// A taken gate, with the guard of shuttle's lock.
struct Passed<'l, G> {
    gate: &'l Gate,
    alone: bool,
    guard: Option<G>,
}

impl<G> Drop for Passed<'_, G> {
    fn drop(&mut self) {
        let step = announce(Next::access(self.gate.object(), self.alone));
        drop(self.guard.take());
        drop(step);
        released(self.gate.object());
    }
}

/// As `std::sync::RwLock`.
pub struct RwLock<T: ?Sized> {
    gate: Gate,
    real: std::RwLock<T>,
}

macro_rules! guard {
    ($guard:ident) => {
        #[doc = concat!("As `std::sync::", stringify!($guard), "`.")]
        pub struct $guard<'l, T: ?Sized> {
            // Released in this order.
            real: std::$guard<'l, T>,
            _gate: Option<Passed<'l, shuttle::sync::$guard<'l, ()>>>,
        }

        impl<T: ?Sized> Deref for $guard<'_, T> {
            type Target = T;

            fn deref(&self) -> &T {
                &self.real
            }
        }

        impl<T: ?Sized + fmt::Debug> fmt::Debug for $guard<'_, T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.real.fmt(f)
            }
        }
    };
}

guard!(RwLockReadGuard);
guard!(RwLockWriteGuard);

impl<T: ?Sized> DerefMut for RwLockWriteGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.real
    }
}

macro_rules! locking {
    ($lock:ident, $try_lock:ident, $guard:ident, $alone:literal) => {
        /// As of the real one; waits where the scheduler sees it.
        ///
        /// # Errors
        /// If it is poisoned.
        #[track_caller]
        pub fn $lock(&self) -> LockResult<$guard<'_, T>> {
            touch(self);
            let _gate = if inside() {
                let step = announce(Next::taking(self.gate.object(), $alone));
                let guard = self.gate.0.$lock().unwrap_or_else(PoisonError::into_inner);
                drop(step);
                took(self.gate.object(), $alone, Location::caller());
                Some(Passed { gate: &self.gate, alone: $alone, guard: Some(guard) })
            } else {
                None
            };
            match self.real.$lock() {
                Ok(real) => Ok($guard { real, _gate }),
                Err(poisoned) => {
                    Err(PoisonError::new($guard { real: poisoned.into_inner(), _gate }))
                }
            }
        }

        /// As of the real one.
        ///
        /// # Errors
        /// If it is taken or poisoned.
        #[track_caller]
        pub fn $try_lock(&self) -> TryLockResult<$guard<'_, T>> {
            touch(self);
            let _gate = if inside() {
                let step = announce(Next::access(self.gate.object(), $alone));
                let guard = match self.gate.0.$try_lock() {
                    Ok(guard) => guard,
                    Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
                    Err(TryLockError::WouldBlock) => return Err(TryLockError::WouldBlock),
                };
                drop(step);
                took(self.gate.object(), $alone, Location::caller());
                Some(Passed { gate: &self.gate, alone: $alone, guard: Some(guard) })
            } else {
                None
            };
            match self.real.$try_lock() {
                Ok(real) => Ok($guard { real, _gate }),
                Err(TryLockError::WouldBlock) => Err(TryLockError::WouldBlock),
                Err(TryLockError::Poisoned(poisoned)) => {
                    Err(PoisonError::new($guard { real: poisoned.into_inner(), _gate }).into())
                }
            }
        }
    };
}

impl<T> RwLock<T> {
    /// Makes a lock.
    pub const fn new(value: T) -> Self {
        Self { gate: Gate(shuttle::sync::RwLock::new(())), real: std::RwLock::new(value) }
    }
}

impl<T: ?Sized> RwLock<T> {
    locking!(read, try_read, RwLockReadGuard, false);
    locking!(write, try_write, RwLockWriteGuard, true);
}

delegate_to_real!(RwLock);
