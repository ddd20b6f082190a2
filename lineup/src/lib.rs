//! Line-Up for Rust: any object, under every schedule, without a specification.
//!
//! The behaviour of an object used by one thread at a time is its specification; every concurrent
//! execution of a small test is compared with it (Burckhardt, Dern, Musuvathi, Tan, "Line-Up: A
//! Complete and Automatic Linearizability Checker", PLDI 2010). A failure refutes linearizability
//! for certain, for any deterministic specification; and an operation that waits for ever where no
//! serial execution does is a failure, too.
//!
//! The object must synchronise by the types in [`sync`] and the functions in [`thread`] and
//! [`hint`], which have the names of `std`'s: `use lineup::sync::{Mutex, atomic::AtomicUsize}` under
//! a feature or `cfg` of its crate. [`shuttle`]'s types are possible, too, but need more executions:
//! the scheduler does not know which objects their steps access. Memory is sequentially consistent:
//! failures that need weaker orderings are not found.
//!
//! ```
//! use lineup::sync::atomic::{AtomicU32, Ordering::SeqCst};
//!
//! lineup::subject! {
//!     /// The counter of the paper, section 2.2.1.
//!     Counter(count: AtomicU32) = AtomicU32::new(0);
//!     inc() => count.store(count.load(SeqCst) + 1, SeqCst);
//!     get() => count.load(SeqCst);
//! }
//!
//! let check = lineup::Check::new();
//! let report = check.run(&lineup::test!(Counter, [inc(), get()], [inc()]));
//! let text = lineup::report::report(&check, &report);
//! assert_eq!(report.verdict.exit_code(), 1);
//! assert!(text.contains("get() of A returned 1."), "{text}");
//! ```
//!
//! | item | content |
//! | --- | --- |
//! | [`Subject`], [`subject!`] | an object and its operations |
//! | [`Test`], [`test!`] | a sequence of operations per thread |
//! | [`Check`] | the two phases, for one test; [`Check::minimise`], [`Check::replay`] |
//! | [`batch`] | random tests, all tests of a shape, AutoCheck |
//! | [`survey`] | series of tests within a budget, recorded |
//! | [`assert!`] | all that in an ordinary `#[test]` |
//! | [`together`] | channels, exchangers, barriers, against a specification |
//! | [`report`] | answers as text |
//! | [`files`], [`cli`], [`main!`] | observation and failure files, and programs of one's own |
//!
//! Three rules that no option breaks: phase 1 has no bound (if it ends early, the answer is
//! *unknown*); *stuck* means that no thread can run (endless steps are *unknown*, unless the caller
//! rules them out: [`Check::diverging`]); bounds on phase 2 only miss failures.

#![warn(missing_docs)]

mod apart;
pub mod assertion;
pub mod batch;
mod check;
pub mod cli;
mod control;
mod driver;
mod event_log;
mod execution;
mod fairness;
pub mod files;
mod macros;
mod matrix;
mod memory;
mod minimise;
mod replay;
pub mod report;
mod schedule;
mod search;
mod spin;
mod subject;
pub mod subjects;
pub mod survey;
pub mod sync;
/// Cells of `std::cell` whose accesses are steps.
pub mod cell {
    pub use lineup_std::controlled::{Cell, UnsafeCell};
}
/// Functions of `std::thread` under control of the scheduler.
pub mod thread {
    pub use lineup_std::controlled::{
        Builder, JoinHandle, Thread, ThreadId, current, park, park_timeout, sleep, spawn, yield_now,
    };
}
pub mod together;
mod trace;
mod unordered;
mod verdict;

pub use apart::Crash;
pub use check::{Check, Tally};
pub use files::Failure;
pub use lineup_std::control::plain_access;
#[doc(no_inline)]
pub use lineup_std::controlled::block_on;
#[doc(no_inline)]
pub use lineup_std::hint;
pub use matrix::{Role, Test, TestError};
pub use replay::{Place, Replayed, Switch, Wait};
pub use schedule::{Schedule, ScheduleError, Segment};
pub use spin::Diverging;
pub use subject::{Answer, AnySubject, Invocation, Subject, Text};
pub use verdict::{ConcurrentPhase, Report, SerialPhase, Unknown, Verdict, Violation};
