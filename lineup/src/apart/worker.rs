//! The process that executes a check for its supervisor.

use std::cell::Cell;
use std::io::Read;
use std::panic::Location;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use serde::{Deserialize, Serialize};
use snapshot_core::observation::Thread;

use super::Told;
use super::record::{Note, Record};
use crate::control::lock;
use crate::replay::line;

/// Variable with the job of a worker, as JSON.
pub(super) const JOB: &str = "LINEUP_WORKER";

/// Exit code of a worker whose supervisor has ended.
const ORPHAN: i32 = 3;

/// Work for a worker.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(super) enum Task {
    /// All of the check.
    Whole,
    /// One of its tests.
    Test { test: String, executions: Option<u64> },
    /// One schedule of a test.
    Replay { test: String, schedule: String },
}

/// A task, and how it is executed.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(super) struct Job {
    pub(super) record: PathBuf,
    /// Process that started the worker: processes that the worker starts are not workers.
    pub(super) supervisor: u32,
    pub(super) place: u64,
    pub(super) task: Task,
    /// True if steps are recorded.
    pub(super) steps: bool,
    /// Bytes of stack per thread, unless as usual.
    pub(super) stack: Option<usize>,
}

/// State of a worker.
#[derive(Debug)]
pub(crate) struct Worker {
    pub(super) job: Job,
    record: Mutex<Record>,
    has_begun: AtomicBool,
}

thread_local! {
    static PLACE: Cell<u64> = const { Cell::new(0) };
}

/// Returns the number of checks that this thread came to.
pub(super) fn next_place() -> u64 {
    PLACE.replace(PLACE.get() + 1)
}

#[cfg(unix)]
fn is_child_of(process: u32) -> bool {
    std::os::unix::process::parent_id() == process
}

#[cfg(not(unix))]
fn is_child_of(_: u32) -> bool {
    true
}

/// Returns the worker that this process is, if it is one.
pub(super) fn this() -> Option<&'static Worker> {
    static WORKER: OnceLock<Option<Worker>> = OnceLock::new();
    let read = || {
        let job: Job = serde_json::from_str(&std::env::var(JOB).ok()?).ok()?;
        if !is_child_of(job.supervisor) {
            return None;
        }
        let record = Mutex::new(Record::open(&job.record).ok()?);
        Some(Worker { job, record, has_begun: AtomicBool::new(false) })
    };
    WORKER.get_or_init(read).as_ref()
}

impl Worker {
    fn add(&self, note: &Note) {
        lock(&self.record).add(note);
    }

    pub(super) fn begin(&self) {
        self.add(&Note::Reached);
        self.has_begun.store(true, Ordering::Relaxed);
    }

    /// Records the answer, and ends the process.
    pub(super) fn tell(&self, told: Told) -> ! {
        self.add(&Note::Answers(told));
        std::process::exit(0)
    }
}

/// Recorder of the steps of executions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Recorder(&'static Worker);

/// Returns the recorder, if steps are recorded.
pub(crate) fn recorder() -> Option<Recorder> {
    let worker = this()?;
    (worker.job.steps && worker.has_begun.load(Ordering::Relaxed)).then_some(Recorder(worker))
}

impl Recorder {
    pub(crate) fn execution(self) {
        lock(&self.0.record).execution();
    }

    pub(crate) fn runs(
        self,
        thread: Thread,
        at: Option<&Location<'_>>,
        stopped: Option<&Location<'_>>,
    ) {
        let (at, stopped) = (at.map(line), stopped.map(line));
        self.0.add(&Note::Runs { thread: thread.index(), at, stopped });
    }

    pub(crate) fn calls(self, thread: Thread) {
        self.0.add(&Note::Calls(thread.index()));
    }

    pub(crate) fn returns(self, thread: Thread, answer: String) {
        self.0.add(&Note::Returns(thread.index(), answer));
    }

    pub(crate) fn panics(self, text: &str) {
        self.0.add(&Note::Panics(text.to_owned()));
    }
}

/// A test that a worker executes, until it is dropped.
pub(crate) struct Running(&'static Worker, u64);

impl Drop for Running {
    fn drop(&mut self) {
        lock(&self.0.record).end(self.1);
    }
}

/// Records that a test is being executed.
pub(crate) fn running(test: impl FnOnce() -> String) -> Option<Running> {
    let worker = this()?;
    let is_noted = !worker.job.steps && worker.has_begun.load(Ordering::Relaxed);
    is_noted.then(|| Running(worker, lock(&worker.record).begin(test())))
}

/// Returns the bytes of stack per thread that the job asks for.
pub(crate) fn stack() -> Option<usize> {
    this()?.job.stack
}

/// Has a worker end its check when its supervisor is interrupted, and end when its supervisor has
/// ended.
pub(crate) fn obey(cancel: &Arc<AtomicBool>) {
    if this().is_none() {
        return;
    }
    let cancel = Arc::clone(cancel);
    std::thread::spawn(move || {
        let mut byte = [0];
        while std::io::stdin().read(&mut byte).is_ok_and(|read| read > 0) {
            cancel.store(true, Ordering::Relaxed);
        }
        std::process::exit(ORPHAN);
    });
}
