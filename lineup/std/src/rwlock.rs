//! As `std::sync::RwLock`: the real lock, behind one that the scheduler sees.

use real::fmt;
use real::ops::{Deref, DerefMut};
use real::sync as std;
use real::sync::{LockResult, PoisonError, TryLockError, TryLockResult};

use crate::control::inside;

/// As `std::sync::RwLock`.
pub struct RwLock<T: ?Sized> {
    gate: shuttle::sync::RwLock<()>,
    real: std::RwLock<T>,
}

macro_rules! guard {
    ($guard:ident) => {
        #[doc = concat!("As `std::sync::", stringify!($guard), "`.")]
        pub struct $guard<'l, T: ?Sized> {
            // Released in this order.
            real: std::$guard<'l, T>,
            _gate: Option<shuttle::sync::$guard<'l, ()>>,
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
    ($lock:ident, $try_lock:ident, $guard:ident) => {
        /// As of the real one; waits where the scheduler sees it.
        ///
        /// # Errors
        /// If it is poisoned.
        pub fn $lock(&self) -> LockResult<$guard<'_, T>> {
            let _gate = inside().then(|| self.gate.$lock().unwrap_or_else(PoisonError::into_inner));
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
        pub fn $try_lock(&self) -> TryLockResult<$guard<'_, T>> {
            let _gate = if inside() {
                match self.gate.$try_lock() {
                    Ok(gate) => Some(gate),
                    Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
                    Err(TryLockError::WouldBlock) => return Err(TryLockError::WouldBlock),
                }
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
        Self { gate: shuttle::sync::RwLock::new(()), real: std::RwLock::new(value) }
    }
}

impl<T: ?Sized> RwLock<T> {
    locking!(read, try_read, RwLockReadGuard);
    locking!(write, try_write, RwLockWriteGuard);
}

delegate_to_real!(RwLock);
