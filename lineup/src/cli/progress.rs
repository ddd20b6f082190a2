//! Progress of a command, on a terminal.

use std::io::{self, IsTerminal, Write};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::check::Tally;
use crate::control::lock;

/// Time between two lines.
const LINE: Duration = Duration::from_secs(2);

/// Reports the number of finished tests, from time to time; `all` is 0 if their number is unknown.
pub(super) fn of_tests(name: &str, all: usize) -> impl Fn(usize) + Sync {
    let last = Mutex::new(Instant::now());
    let of = if all == 0 { String::new() } else { format!(" of {all}") };
    let name = name.to_owned();
    move |done| {
        let mut last = lock(&last);
        if last.elapsed() > LINE && io::stderr().is_terminal() {
            *last = Instant::now();
            drop(writeln!(io::stderr(), "{name}: {done}{of} tests"));
        }
    }
}

/// Reports the number of executions of one test, from time to time, until it is dropped.
pub(super) struct OfExecutions {
    end: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl OfExecutions {
    pub(super) fn new(name: &'static str, tally: Arc<Tally>) -> Self {
        if !io::stderr().is_terminal() {
            return Self { end: None, thread: None };
        }
        let (end, ended) = mpsc::channel();
        let thread = thread::spawn(move || {
            while ended.recv_timeout(LINE) == Err(RecvTimeoutError::Timeout) {
                drop(writeln!(io::stderr(), "{name}: {tally}"));
            }
        });
        Self { end: Some(end), thread: Some(thread) }
    }
}

impl Drop for OfExecutions {
    fn drop(&mut self) {
        drop(self.end.take());
        // A failed write of a line does not matter.
        self.thread.take().map(JoinHandle::join);
    }
}
