//! As `std::sync::atomic`: each operation is the real one, after a step.
//!
//! Only one thread of an execution runs at a time: memory is sequentially consistent, for all
//! orderings. A weak compare-and-swap fails only where the strong one does. A fence is not a step.

use real::fmt;
use real::sync::atomic as std;

pub use real::sync::atomic::{Ordering, compiler_fence, fence};

use crate::control::{Object, operated, step};

macro_rules! common {
    ($name:ident, $value:ty $(, $parameter:ident)?) => {
        impl$(<$parameter>)? $name$(<$parameter>)? {
            /// Makes an atomic.
            pub const fn new(value: $value) -> Self {
                Self(std::$name::new(value))
            }

            /// As of the real one.
            pub fn get_mut(&mut self) -> &mut $value {
                self.0.get_mut()
            }

            /// As of the real one.
            pub const fn into_inner(self) -> $value {
                self.0.into_inner()
            }

            /// As of the real one.
            pub const fn as_ptr(&self) -> *mut $value {
                self.0.as_ptr()
            }

            /// A step, then as of the real one.
            #[track_caller]
            pub fn load(&self, order: Ordering) -> $value {
                let controlled = step(self);
                let value = self.0.load(order);
                if controlled {
                    operated(Object::at(self), false);
                }
                value
            }

            /// A step, then as of the real one.
            #[track_caller]
            pub fn store(&self, value: $value, order: Ordering) {
                if step(self) {
                    operated(Object::at(self), self.0.load(Ordering::Relaxed) != value);
                }
                self.0.store(value, order);
            }

            /// A step, then as of the real one.
            #[track_caller]
            pub fn swap(&self, value: $value, order: Ordering) -> $value {
                let controlled = step(self);
                let old = self.0.swap(value, order);
                if controlled {
                    operated(Object::at(self), old != value);
                }
                old
            }

            /// A step, then as of the real one.
            #[deprecated = "use compare_exchange"]
            #[track_caller]
            pub fn compare_and_swap(
                &self,
                current: $value,
                new: $value,
                _order: Ordering,
            ) -> $value {
                match self.compare_exchange(current, new, Ordering::SeqCst, Ordering::SeqCst) {
                    Ok(value) | Err(value) => value,
                }
            }

            /// A step, then as of the real one.
            ///
            /// # Errors
            /// With the value found, if it is not the one expected.
            #[track_caller]
            pub fn compare_exchange(
                &self,
                current: $value,
                new: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                let controlled = step(self);
                let found = self.0.compare_exchange(current, new, success, failure);
                if controlled {
                    operated(Object::at(self), found.is_ok() && current != new);
                }
                found
            }

            /// As [`Self::compare_exchange`].
            ///
            /// # Errors
            /// With the value found, if it is not the one expected.
            #[track_caller]
            pub fn compare_exchange_weak(
                &self,
                current: $value,
                new: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                self.compare_exchange(current, new, success, failure)
            }

            /// Loads, and tries a compare-and-swap until it succeeds.
            ///
            /// # Errors
            /// With the value found, if the function returns `None`.
            #[track_caller]
            pub fn fetch_update(
                &self,
                set: Ordering,
                fetch: Ordering,
                mut update: impl FnMut($value) -> Option<$value>,
            ) -> Result<$value, $value> {
                let mut found = self.load(fetch);
                while let Some(next) = update(found) {
                    match self.compare_exchange_weak(found, next, set, fetch) {
                        Ok(value) => return Ok(value),
                        Err(value) => found = value,
                    }
                }
                Err(found)
            }
        }

        impl$(<$parameter>)? From<$value> for $name$(<$parameter>)? {
            fn from(value: $value) -> Self {
                Self::new(value)
            }
        }

        impl$(<$parameter>)? fmt::Debug for $name$(<$parameter>)? {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

macro_rules! fetch {
    ($name:ident, $value:ty: $($operation:ident)+) => {
        impl $name {
            $(
                /// A step, then as of the real one.
                #[track_caller]
                pub fn $operation(&self, value: $value, order: Ordering) -> $value {
                    let controlled = step(self);
                    let old = self.0.$operation(value, order);
                    if controlled {
                        operated(Object::at(self), self.0.load(Ordering::Relaxed) != old);
                    }
                    old
                }
            )+
        }
    };
}

macro_rules! integers {
    ($($name:ident $value:ident)+) => {$(
        #[doc = concat!("As `std::sync::atomic::", stringify!($name), "`.")]
        #[derive(Default)]
        #[repr(transparent)]
        pub struct $name(std::$name);
        common!($name, $value);
        fetch!($name, $value:
            fetch_add fetch_sub fetch_and fetch_nand fetch_or fetch_xor fetch_max fetch_min);
    )+};
}

integers! {
    AtomicI8 i8  AtomicU8 u8  AtomicI16 i16  AtomicU16 u16  AtomicI32 i32  AtomicU32 u32
    AtomicI64 i64  AtomicU64 u64  AtomicIsize isize  AtomicUsize usize
}

/// As `std::sync::atomic::AtomicBool`.
#[derive(Default)]
#[repr(transparent)]
pub struct AtomicBool(std::AtomicBool);
common!(AtomicBool, bool);
fetch!(AtomicBool, bool: fetch_and fetch_nand fetch_or fetch_xor);

impl AtomicBool {
    /// A step, then as of the real one.
    #[track_caller]
    pub fn fetch_not(&self, order: Ordering) -> bool {
        self.fetch_xor(true, order)
    }
}

/// As `std::sync::atomic::AtomicPtr`.
#[repr(transparent)]
pub struct AtomicPtr<T>(std::AtomicPtr<T>);
common!(AtomicPtr, *mut T, T);

impl<T> Default for AtomicPtr<T> {
    fn default() -> Self {
        Self(std::AtomicPtr::default())
    }
}

impl<T> fmt::Pointer for AtomicPtr<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// As `std::sync::atomic::spin_loop_hint`.
#[deprecated = "use hint::spin_loop"]
pub fn spin_loop_hint() {
    crate::hint::spin_loop();
}
