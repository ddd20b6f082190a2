//! A stand-in for `core`: a re-export, with the atomics, the cells and the spin hint of [`lineup_std`].
//!
//! `lineup-rustc` gives it to crates under control as `--extern core=...`, since crates
//! without the standard library synchronise by `core::sync::atomic`.
#![no_std]
#![forbid(unsafe_code)]

#[doc(no_inline)]
pub use core::*;

/// As `core::sync`.
pub mod sync {
    #[doc(no_inline)]
    pub use core::sync::*;
    pub use lineup_std::sync::atomic;
}

/// As `core::cell`.
pub mod cell {
    #[doc(no_inline)]
    pub use core::cell::*;
    pub use lineup_std::cell::{Cell, UnsafeCell};
}

/// As `core::hint`.
pub mod hint {
    #[doc(no_inline)]
    pub use core::hint::*;
    pub use lineup_std::hint::spin_loop;
}
