//! The parts of a lock that no scheduler sees: they call the real lock.

/// For a lock with a real one in its field `real`: `into_inner`, `get_mut`, poison, `Default`,
/// `From` and `Debug`.
macro_rules! delegate_to_real {
    ($lock:ident) => {
        impl<T> $lock<T> {
            /// As of the real one.
            ///
            /// # Errors
            /// If it is poisoned.
            pub fn into_inner(self) -> LockResult<T> {
                self.real.into_inner()
            }
        }

        impl<T: ?Sized> $lock<T> {
            /// As of the real one.
            ///
            /// # Errors
            /// If it is poisoned.
            pub fn get_mut(&mut self) -> LockResult<&mut T> {
                self.real.get_mut()
            }

            /// As of the real one.
            pub fn is_poisoned(&self) -> bool {
                self.real.is_poisoned()
            }

            /// As of the real one.
            pub fn clear_poison(&self) {
                self.real.clear_poison();
            }
        }

        impl<T: Default> Default for $lock<T> {
            fn default() -> Self {
                Self::new(T::default())
            }
        }

        impl<T> From<T> for $lock<T> {
            fn from(value: T) -> Self {
                Self::new(value)
            }
        }

        impl<T: ?Sized + fmt::Debug> fmt::Debug for $lock<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.real.fmt(f)
            }
        }
    };
}
