//! As `std::cell`, with steps before accesses of cells that other threads may share.
//!
//! `UnsafeCell::get` gives a pointer: whether it is read or written then, and how often, is not
//! seen. It counts as one write. Accesses of `RefCell` and `OnceCell`, which threads do not share,
//! are no steps.

use real::cell as std;
use real::cmp::Ordering;
use real::fmt;

use crate::control::plain_access;

/// As `std::cell::UnsafeCell`.
#[derive(Default)]
#[repr(transparent)]
pub struct UnsafeCell<T: ?Sized>(std::UnsafeCell<T>);

impl<T> UnsafeCell<T> {
    /// Makes a cell.
    pub const fn new(value: T) -> Self {
        Self(std::UnsafeCell::new(value))
    }

    /// As of the real one.
    pub fn into_inner(self) -> T {
        self.0.into_inner()
    }
}

impl<T: ?Sized> UnsafeCell<T> {
    /// A step, then as of the real one.
    #[track_caller]
    pub fn get(&self) -> *mut T {
        plain_access(self, true);
        self.0.get()
    }

    /// As of the real one.
    pub fn get_mut(&mut self) -> &mut T {
        self.0.get_mut()
    }

    /// As of the real one.
    pub const fn raw_get(this: *const Self) -> *mut T {
        std::UnsafeCell::raw_get(this as *const std::UnsafeCell<T>)
    }
}

impl<T> From<T> for UnsafeCell<T> {
    fn from(value: T) -> Self {
        Self::new(value)
    }
}

impl<T: ?Sized> fmt::Debug for UnsafeCell<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// As `std::cell::Cell`.
#[repr(transparent)]
pub struct Cell<T: ?Sized>(std::Cell<T>);

impl<T> Cell<T> {
    /// Makes a cell.
    pub const fn new(value: T) -> Self {
        Self(std::Cell::new(value))
    }

    /// A step, then as of the real one.
    #[track_caller]
    pub fn set(&self, value: T) {
        plain_access(self, true);
        self.0.set(value);
    }

    /// A step, then as of the real one.
    #[track_caller]
    pub fn replace(&self, value: T) -> T {
        plain_access(self, true);
        self.0.replace(value)
    }

    /// Two steps, then as of the real one.
    #[track_caller]
    pub fn swap(&self, other: &Self) {
        plain_access(self, true);
        plain_access(other, true);
        self.0.swap(&other.0);
    }

    /// A step, then as of the real one.
    #[track_caller]
    pub fn take(&self) -> T
    where
        T: Default,
    {
        self.replace(T::default())
    }

    /// As of the real one.
    pub fn into_inner(self) -> T {
        self.0.into_inner()
    }
}

impl<T: Copy> Cell<T> {
    /// A step, then as of the real one.
    #[track_caller]
    pub fn get(&self) -> T {
        plain_access(self, false);
        self.0.get()
    }

    /// Two steps: as [`Self::get`] and [`Self::set`].
    #[track_caller]
    pub fn update(&self, change: impl FnOnce(T) -> T) {
        self.set(change(self.get()));
    }
}

impl<T: ?Sized> Cell<T> {
    /// A step, then as of the real one.
    #[track_caller]
    pub fn as_ptr(&self) -> *mut T {
        plain_access(self, true);
        self.0.as_ptr()
    }

    /// As of the real one.
    pub fn get_mut(&mut self) -> &mut T {
        self.0.get_mut()
    }
}

impl<T: Default> Default for Cell<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T> From<T> for Cell<T> {
    fn from(value: T) -> Self {
        Self::new(value)
    }
}

impl<T: Copy> Clone for Cell<T> {
    fn clone(&self) -> Self {
        Self::new(self.get())
    }
}

impl<T: Copy + PartialEq> PartialEq for Cell<T> {
    fn eq(&self, other: &Self) -> bool {
        self.get() == other.get()
    }
}

impl<T: Copy + Eq> Eq for Cell<T> {}

impl<T: Copy + PartialOrd> PartialOrd for Cell<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        self.get().partial_cmp(&other.get())
    }
}

impl<T: Copy + Ord> Ord for Cell<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.get().cmp(&other.get())
    }
}

impl<T: Copy + fmt::Debug> fmt::Debug for Cell<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
