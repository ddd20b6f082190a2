//! As `std::sync::{Once, OnceLock, LazyLock}`: the real `OnceLock` holds the value, and threads
//! that arrive during its initialisation wait at a controlled lock.

use real::cell::Cell;
use real::fmt;
use real::ops::Deref;
use real::panic::{RefUnwindSafe, UnwindSafe};
use real::sync as std;
use real::sync::PoisonError;

use crate::control::{Object, access, inside, step, touch};
use crate::mutex::Mutex;

/// As `std::sync::OnceLock`.
pub struct OnceLock<T> {
    making: Mutex<()>,
    value: std::OnceLock<T>,
}

impl<T> OnceLock<T> {
    /// Makes an empty one.
    pub const fn new() -> Self {
        Self { making: Mutex::new(()), value: std::OnceLock::new() }
    }

    /// As of the real one.
    #[track_caller]
    pub fn get(&self) -> Option<&T> {
        if step(self) {
            access(Object::at(self), false);
        }
        self.value.get()
    }

    /// As of the real one.
    pub fn get_mut(&mut self) -> Option<&mut T> {
        self.value.get_mut()
    }

    /// As of the real one.
    ///
    /// # Errors
    /// With the value, if there was one already.
    pub fn set(&self, value: T) -> Result<(), T> {
        let mut value = Some(value);
        self.get_or_init(|| match value.take() {
            Some(value) => value,
            None => unreachable!("a value is made once"),
        });
        match value {
            None => Ok(()),
            Some(value) => Err(value),
        }
    }

    /// As of the real one.
    #[track_caller]
    pub fn get_or_init(&self, make: impl FnOnce() -> T) -> &T {
        if let Some(value) = self.get() {
            return value;
        }
        let making = self.making.lock().unwrap_or_else(PoisonError::into_inner);
        let value = match self.value.get() {
            Some(value) => value,
            None => {
                let value = make();
                if inside() {
                    access(Object::at(self), true);
                }
                self.value.get_or_init(|| value)
            }
        };
        drop(making);
        value
    }

    /// As of the real one.
    pub fn into_inner(self) -> Option<T> {
        self.value.into_inner()
    }

    /// As of the real one.
    pub fn take(&mut self) -> Option<T> {
        self.value.take()
    }
}

impl<T> Default for OnceLock<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: fmt::Debug> fmt::Debug for OnceLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.value.fmt(f)
    }
}

impl<T: Clone> Clone for OnceLock<T> {
    fn clone(&self) -> Self {
        Self { making: Mutex::new(()), value: self.value.clone() }
    }
}

impl<T> From<T> for OnceLock<T> {
    fn from(value: T) -> Self {
        Self { making: Mutex::new(()), value: value.into() }
    }
}

impl<T: PartialEq> PartialEq for OnceLock<T> {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

impl<T: Eq> Eq for OnceLock<T> {}

/// As `std::sync::LazyLock`.
pub struct LazyLock<T, F = fn() -> T> {
    value: OnceLock<T>,
    make: std::Mutex<Cell<Option<F>>>,
}

impl<T, F: FnOnce() -> T> LazyLock<T, F> {
    /// Makes a value that `make` initialises.
    pub const fn new(make: F) -> Self {
        Self { value: OnceLock::new(), make: std::Mutex::new(Cell::new(Some(make))) }
    }

    /// As of the real one.
    ///
    /// # Panics
    /// If the function panicked.
    pub fn force(this: &Self) -> &T {
        touch(this);
        this.value.get_or_init(|| {
            let make = this.make.lock().unwrap_or_else(PoisonError::into_inner).take();
            match make {
                Some(make) => make(),
                None => panic!("LazyLock instance has previously been poisoned"),
            }
        })
    }
}

impl<T, F: FnOnce() -> T> Deref for LazyLock<T, F> {
    type Target = T;

    fn deref(&self) -> &T {
        Self::force(self)
    }
}

impl<T: Default> Default for LazyLock<T> {
    fn default() -> Self {
        Self::new(T::default)
    }
}

impl<T: fmt::Debug, F> fmt::Debug for LazyLock<T, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.value.fmt(f)
    }
}

impl<T: RefUnwindSafe + UnwindSafe, F: UnwindSafe> RefUnwindSafe for LazyLock<T, F> {}
impl<T: UnwindSafe, F: UnwindSafe> UnwindSafe for LazyLock<T, F> {}

/// As `std::sync::Once`.
pub struct Once {
    done: OnceLock<()>,
    poisoned: std::atomic::AtomicBool,
}

/// As `std::sync::ONCE_INIT`.
#[cfg(feature = "locks")]
#[deprecated = "use `Once::new()`"]
#[allow(clippy::declare_interior_mutable_const, reason = "that of `std` is one")]
pub const ONCE_INIT: Once = Once::new();

/// As `std::sync::OnceState`.
#[derive(Debug)]
pub struct OnceState(bool);

impl OnceState {
    /// Returns true if an earlier call panicked.
    pub const fn is_poisoned(&self) -> bool {
        self.0
    }
}

impl Once {
    /// Makes a fresh one.
    #[allow(clippy::new_without_default, reason = "that of `std` has none")]
    pub const fn new() -> Self {
        Self { done: OnceLock::new(), poisoned: std::atomic::AtomicBool::new(false) }
    }

    /// As of the real one.
    ///
    /// # Panics
    /// If an earlier call panicked.
    pub fn call_once(&self, f: impl FnOnce()) {
        self.call_once_force(|state| {
            assert!(!state.is_poisoned(), "Once instance has previously been poisoned");
            f();
        });
    }

    /// As of the real one.
    pub fn call_once_force(&self, f: impl FnOnce(&OnceState)) {
        use real::sync::atomic::Ordering::SeqCst;
        touch(self);
        self.done.get_or_init(|| {
            f(&OnceState(self.poisoned.swap(true, SeqCst)));
            self.poisoned.store(false, SeqCst);
        });
    }

    /// As of the real one.
    pub fn is_completed(&self) -> bool {
        self.done.get().is_some()
    }

    /// As of the real one.
    pub fn wait(&self) {
        while !self.is_completed() {
            crate::threads::yield_now();
        }
    }
}

impl fmt::Debug for Once {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Once").finish_non_exhaustive()
    }
}
