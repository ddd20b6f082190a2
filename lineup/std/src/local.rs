//! As `std::thread_local!`: a value per thread of the execution, or per real thread.

use real::cell::{Cell, RefCell};
use real::fmt;
use real::thread as std;
use real::thread::AccessError;

use crate::cells;
use crate::control::inside;

/// As `std::thread::LocalKey`.
pub struct LocalKey<T: 'static> {
    controlled: &'static shuttle::thread::LocalKey<T>,
    real: &'static std::LocalKey<T>,
}

impl<T: 'static> LocalKey<T> {
    #[doc(hidden)]
    pub const fn new(
        controlled: &'static shuttle::thread::LocalKey<T>,
        real: &'static std::LocalKey<T>,
    ) -> Self {
        Self { controlled, real }
    }

    /// As of the real one.
    pub fn with<R>(&'static self, f: impl FnOnce(&T) -> R) -> R {
        if inside() { self.controlled.with(f) } else { self.real.with(f) }
    }

    /// As of the real one.
    ///
    /// # Errors
    /// If the value is destroyed already.
    pub fn try_with<R>(&'static self, f: impl FnOnce(&T) -> R) -> Result<R, AccessError> {
        if !inside() {
            return self.real.try_with(f);
        }
        let mut f = Some(f);
        let result = self.controlled.try_with(|value| f.take().map(|f| f(value)));
        match result.ok().flatten() {
            Some(result) => Ok(result),
            None => Err(destroyed()),
        }
    }
}

/// Returns the error of the real one, which has no constructor: it occurs when a value is accessed
/// in its own destructor.
fn destroyed() -> AccessError {
    static FOUND: real::sync::OnceLock<AccessError> = real::sync::OnceLock::new();
    struct Probe;
    real::thread_local! {
        static PROBE: Probe = const { Probe };
    }
    impl Drop for Probe {
        fn drop(&mut self) {
            if let Err(error) = PROBE.try_with(|_| ()) {
                let _ = FOUND.set(error);
            }
        }
    }
    if FOUND.get().is_none() {
        let _ = std::spawn(|| PROBE.with(|_| ())).join();
    }
    match FOUND.get() {
        Some(error) => *error,
        None => panic!("a thread-local value was accessed after its destruction"),
    }
}

/// The functions of a key whose values are cells.
macro_rules! cells {
    ($($cell:ty),+) => {$(
        impl<T: 'static> LocalKey<$cell> {
            /// As of the real one.
            pub fn set(&'static self, value: T) {
                self.with(|cell| cell.set(value));
            }

            /// As of the real one.
            pub fn get(&'static self) -> T
            where
                T: Copy,
            {
                self.with(|cell| cell.get())
            }

            /// As of the real one.
            pub fn take(&'static self) -> T
            where
                T: Default,
            {
                self.with(|cell| cell.take())
            }

            /// As of the real one.
            pub fn replace(&'static self, value: T) -> T {
                self.with(|cell| cell.replace(value))
            }
        }
    )+};
}

cells!(Cell<T>, cells::Cell<T>);

impl<T: 'static> LocalKey<RefCell<T>> {
    /// As of the real one.
    pub fn with_borrow<R>(&'static self, f: impl FnOnce(&T) -> R) -> R {
        self.with(|cell| f(&cell.borrow()))
    }

    /// As of the real one.
    pub fn with_borrow_mut<R>(&'static self, f: impl FnOnce(&mut T) -> R) -> R {
        self.with(|cell| f(&mut cell.borrow_mut()))
    }
}

impl<T: 'static> fmt::Debug for LocalKey<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalKey").finish_non_exhaustive()
    }
}

#[doc(hidden)]
pub mod __private {
    pub use real::thread_local as real_thread_local;
    pub use shuttle::thread_local as controlled_thread_local;
}

/// As `std::thread_local!`.
#[cfg(feature = "thread_local")]
#[macro_export]
macro_rules! thread_local {
    () => {};
    ($(#[$attr:meta])* $vis:vis static $name:ident: $t:ty = const $init:block $(; $($rest:tt)*)?) => {
        $crate::__local!($(#[$attr])* $vis $name, $t, $init);
        $($crate::thread_local!($($rest)*);)?
    };
    ($(#[$attr:meta])* $vis:vis static $name:ident: $t:ty = $init:expr $(; $($rest:tt)*)?) => {
        $crate::__local!($(#[$attr])* $vis $name, $t, $init);
        $($crate::thread_local!($($rest)*);)?
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __local {
    ($(#[$attr:meta])* $vis:vis $name:ident, $t:ty, $init:expr) => {
        $(#[$attr])*
        $vis static $name: $crate::controlled::LocalKey<$t> = {
            $crate::__private::real_thread_local!(static REAL: $t = $init);
            $crate::__private::controlled_thread_local!(static CONTROLLED: $t = $init);
            $crate::controlled::LocalKey::new(&CONTROLLED, &REAL)
        };
    };
}
