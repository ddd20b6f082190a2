//! A stand-in for `std`: published crates, unmodified, under Line-Up's scheduler.
//!
//! A crate that is compiled with `--extern std=<this one>` resolves `std::` and its prelude here.
//! All items are the real `std`'s, except those that synchronise threads: these are steps of the
//! scheduler. The program `lineup-rustc` adds the flag, `cargo lineup` builds this crate first.
//!
//! Each item behaves as the real one. Within a controlled execution it first lets the scheduler
//! choose the thread that runs next, and blocks where the scheduler sees it; outside of one (when
//! the program starts or ends, or in a crate that the checker itself uses) it is only the real
//! item.
//!
//! | feature | controlled |
//! | --- | --- |
//! | (always) | `sync::atomic`, `hint::spin_loop`, `thread::yield_now` |
//! | `locks` | `Mutex`, `RwLock`, `Condvar`, `Once`, `OnceLock`, `LazyLock`, `Barrier`, `mpsc` |
//! | `park` | `thread::park`, `current`, `spawn`, `sleep`; `Thread`, `ThreadId`, `JoinHandle` |
//! | `cells` | `cell::UnsafeCell`, `cell::Cell` |
//! | `thread_local` | the macro `std::thread_local!`; not a bare `thread_local!`, which the compiler's own prelude has |
//!
//! Items that a controlled part lacks are left out, rather than taken from the real `std`: then the
//! compiler reports them. The modules [`controlled`] have all of it, with any features.
#![no_std]
#![forbid(unsafe_code)]

extern crate std as real;

#[doc(no_inline)]
pub use real::*;

#[macro_use]
mod real_lock;

mod barrier;
mod cells;
mod condvar;
pub mod control;
#[doc(hidden)]
pub use local::__private;
mod local;
mod mutex;
mod once;
mod polls;
mod rwlock;
pub mod statics;
mod threads;

/// All controllable items, with any features.
pub mod controlled {
    pub use crate::barrier::{Barrier, BarrierWaitResult};
    pub use crate::cells::{Cell, UnsafeCell};
    pub use crate::condvar::{Condvar, WaitTimeoutResult};
    pub use crate::local::LocalKey;
    pub use crate::mutex::{Mutex, MutexGuard};
    pub use crate::once::{LazyLock, Once, OnceLock, OnceState};
    pub use crate::polls::block_on;
    pub use crate::rwlock::{RwLock, RwLockReadGuard, RwLockWriteGuard};
    pub use crate::threads::*;
}

pub mod sync;

/// As `std::cell`.
pub mod cell {
    #[cfg(feature = "cells")]
    pub use crate::cells::{Cell, UnsafeCell};
    #[doc(no_inline)]
    pub use real::cell::*;
}

/// As `std::hint`.
pub mod hint {
    #[doc(no_inline)]
    pub use real::hint::*;

    /// Lets other threads run first.
    #[track_caller]
    pub fn spin_loop() {
        if crate::control::inside() {
            let _step = crate::control::announce(crate::control::Next::plain());
            shuttle::hint::spin_loop();
        } else {
            real::hint::spin_loop();
        }
    }
}

/// As `std::thread`.
pub mod thread {
    #[cfg(not(feature = "park"))]
    #[doc(no_inline)]
    pub use real::thread::*;
    #[cfg(feature = "park")]
    pub use real::thread::{AccessError, Result, available_parallelism, panicking};

    #[cfg(feature = "thread_local")]
    pub use crate::local::LocalKey;
    #[cfg(all(feature = "park", not(feature = "thread_local")))]
    pub use real::thread::LocalKey;

    pub use crate::threads::yield_now;
    #[cfg(feature = "park")]
    pub use crate::threads::{
        Builder, JoinHandle, Thread, ThreadId, current, park, park_timeout, sleep, spawn,
    };
}
