//! Watchdog for operations that do not return.
//!
//! A thread that is blocked forever cannot be unwound, and a test that waits for it neither fails
//! nor ends. So a thread of the operating system looks at the test from time to time. If nothing
//! has happened for long enough, it reports the operations that have not returned and ends the
//! process.
//!
//! Patience counts the looks, not the clock: while the whole process is stopped, or has no
//! processor, there are none.

use std::fmt::Display;
use std::io::Write as _;
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use snapshot_core::History;

/// Time between two looks.
const LOOK: Duration = Duration::from_millis(20);

pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// Exit code of failing tests.
const FAILED: i32 = 101;

/// A watch, and whether it is over.
#[derive(Debug, Default)]
pub(crate) struct Watchdog {
    is_over: Mutex<bool>,
    changed: Condvar,
}

/// Ends a watch on drop.
pub(crate) struct Watched<'a>(&'a Watchdog);

impl Drop for Watched<'_> {
    fn drop(&mut self) {
        *self.0.is_over.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.0.changed.notify_all();
    }
}

impl Watchdog {
    /// Returns a guard that ends the watch on drop.
    pub(crate) const fn watched(&self) -> Watched<'_> {
        Watched(self)
    }

    /// Watches until the end. `beat` returns a value that changes with every step of the test, or
    /// `None` while no operation is open. After `patience` without a change `stuck` returns the
    /// report, or `None` if the test was only slow.
    pub(crate) fn watch<B: Eq>(
        &self,
        patience: Duration,
        mut beat: impl FnMut() -> Option<B>,
        mut stuck: impl FnMut() -> Option<String>,
    ) {
        let most = patience.as_nanos() / LOOK.as_nanos();
        let (mut last, mut looks) = (None, 0);
        let mut is_over = self.is_over.lock().unwrap_or_else(PoisonError::into_inner);
        while !*is_over {
            let waited = self.changed.wait_timeout(is_over, LOOK);
            is_over = waited.unwrap_or_else(PoisonError::into_inner).0;
            let now = beat();
            if now.is_none() || now != last {
                (last, looks) = (now, 0);
                continue;
            }
            looks += 1;
            if looks <= most {
                continue;
            }
            looks = 0;
            if let Some(report) = stuck() {
                // Not by `eprintln!`: tests capture it, so it would be lost with the process.
                let _ = writeln!(std::io::stderr(), "\n{report}");
                std::process::exit(FAILED);
            }
        }
    }
}

/// Lists the operations that have not returned: "process 1: update of segment 1, process 2: scan".
pub(crate) fn unfinished<V: Display>(history: &History<V>) -> String {
    let open = history.operations().iter().filter(|it| !it.is_complete() && !it.is_failed());
    let name = |operation: &snapshot_core::history::Operation| {
        let process = operation.process();
        match operation.segment() {
            Some(segment) => {
                let value = history.update_value(operation);
                format!("process {process}: update of segment {segment} to {value}")
            }
            None => format!("process {process}: scan"),
        }
    };
    let names: Vec<String> = open.map(name).collect();
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}
