//! A monitor of many objects, from one input or from several that are read concurrently.
//!
//! Each live input has its own reading thread; a few threads read all files, one after the other.
//! This thread gathers the checkpoints of all inputs, and writes them to one file.

use std::collections::VecDeque;
use std::io;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, Builder, Scope, available_parallelism};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use snapshot_test::format::Object;
use snapshot_test::monitor::{
    self, Checkpoint, CheckpointError, Checkpoints, InputStanding, Summary, WorkerPool,
};

use super::clocks::{Keeper, PERIOD, Progress};
use super::gathered::Gathered;
use super::inputs::Input;
use super::printer::Printer;
use super::reading::{Notice, Reading, Task, Whole};
use super::{Monitor, STOP};
use crate::cli::check::ReportFormat;
use crate::cli::result_printer::ResultPrinter;
use crate::cli::{TROUBLE, cluster};

/// Largest number of bytes of all inputs in memory; then the least and the largest for one input.
const READ: usize = 1 << 22;
const LEAST: usize = 1 << 13;
const MOST: usize = 1 << 18;

/// The checkpoints of a resumed run.
pub(super) enum Resumed {
    Nothing,
    /// The only checkpoint, for any name of its input.
    One(Checkpoint),
    Several(Checkpoints),
}

impl Resumed {
    /// Parses the text of the file, if any.
    ///
    /// # Errors
    /// If the text is not a checkpoint, or a checkpoint of another kind.
    pub fn parse(text: Option<&str>, is_several: bool) -> Result<Self, CheckpointError> {
        Ok(match text {
            None => Self::Nothing,
            Some(text) if is_several => Self::Several(Checkpoints::parse(text)?),
            Some(text) => Self::One(Checkpoint::parse(text)?),
        })
    }

    /// Returns the checkpoint of the input with this name.
    pub fn of(&self, name: &str) -> Option<&Checkpoint> {
        match self {
            Self::Nothing => None,
            Self::One(checkpoint) => Some(checkpoint),
            Self::Several(several) => {
                let named = several.inputs.iter().find(|named| named.input == name);
                named.and_then(|named| named.checkpoint.as_ref())
            }
        }
    }

    /// Returns true if an object has already ended with a violation.
    pub fn has_ended(&self) -> bool {
        match self {
            Self::Nothing => false,
            Self::One(checkpoint) => checkpoint.has_ended(),
            Self::Several(several) => {
                let mut held = several.inputs.iter().filter_map(|one| one.checkpoint.as_ref());
                held.any(Checkpoint::has_ended)
            }
        }
    }

    /// Returns an input of the checkpoints that is not among these.
    pub fn missing(&self, inputs: &[Input]) -> Option<&str> {
        let Self::Several(several) = self else { return None };
        let mut held = several.inputs.iter().map(|named| named.input.as_str());
        held.find(|held| inputs.iter().all(|input| input.name != *held))
    }
}

/// Files that wait for a reading thread.
type Waiting<'a> = Mutex<VecDeque<Task<'a>>>;

fn next<'a>(waiting: &Waiting<'a>) -> Option<Task<'a>> {
    waiting.lock().unwrap_or_else(PoisonError::into_inner).pop_front()
}

/// Empties the queue when a thread has panicked, or could not be started: else the main thread
/// would wait forever.
struct Emptied<'a, 'b>(&'a Waiting<'b>);

impl Drop for Emptied<'_, '_> {
    fn drop(&mut self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

impl Monitor {
    /// Judges the objects of all inputs, each to its own first violation, or, without `--all`, to
    /// the first violation of all.
    pub(super) fn watch_all(
        &self,
        inputs: Vec<Input>,
        resumed: &Resumed,
    ) -> Result<ExitCode, ExitCode> {
        let names: Vec<String> = inputs.iter().map(|input| input.name.clone()).collect();
        let is_several = self.is_several();
        let most = match names.len() {
            0 | 1 if !is_several => usize::MAX,
            count => (READ / count.max(1)).clamp(LEAST, MOST),
        };
        let post = self.processes.post(|| self.task(), self.outlet())?;
        let printer = Printer::new(&names, self.report, &post);
        let stop = AtomicBool::new(false);
        let whole = Whole {
            monitor: self,
            printer: &printer,
            stop: &stop,
            is_several,
            most,
            wanted: AtomicU64::new(0),
            events: AtomicU64::new(0),
            objects: AtomicU64::new(0),
        };
        let mut progress = Shown::new(self.status, monitor::title(&names));
        let waiting = Waiting::default();
        let judged = thread::scope(|scope| {
            let crew = WorkerPool::new(scope, self.workers, names.len(), &printer, &stop);
            let crew = crew.map_err(|error| {
                post.fail(format_args!(
                    "{} workers cannot be started ({error}): ask for fewer (--workers)",
                    self.workers
                ));
            })?;
            let (notices, received) = channel();
            let mut tasks = inputs.into_iter().enumerate().map(|(number, input)| {
                let (intake, resumed) = (crew.intake(number), resumed.of(&input.name));
                Task { number, input, intake, resumed }
            });
            started(scope, &mut tasks, (&whole, notices), &waiting).map_err(|error| {
                post.fail(format_args!("inputs cannot be read side by side ({error}): name fewer"));
            })?;
            let (objects, is_bad) =
                self.conducted(&whole, (&names, resumed), &received, &mut progress);
            Ok::<_, ()>((crew.finish(), objects, is_bad))
        });
        // A failed judgement ends everything.
        let (standings, objects, is_bad) = judged.unwrap_or_default();
        let standings = names.iter().zip(objects).zip(standings);
        let inputs = standings.map(|((name, object), standing)| InputStanding {
            name: name.clone(),
            object,
            standing,
        });
        let here = Standings { inputs: inputs.collect(), is_bad };
        let here = serde_json::to_value(here).expect("numbers and texts become JSON");
        Shown::post(&whole);
        let meanwhile = || progress.show(&whole);
        Ok(post.conclude(here, meanwhile, |all, outlet| self.summed(all, outlet)))
    }

    pub(super) const fn outlet(&self) -> ResultPrinter {
        ResultPrinter::new(self.report, self.all, &STOP)
    }

    /// The options that all processes of a cluster must share.
    pub(super) fn task(&self) -> String {
        let (all, report) = (if self.all { " --all" } else { "" }, self.report.name());
        format!("monitor{all} --report {report}")
    }

    /// Prints the summary of all processes. Returns the exit code.
    fn summed(&self, all: Vec<serde_json::Value>, outlet: &ResultPrinter) -> u8 {
        let all: Result<Vec<Standings>, _> = all.into_iter().map(serde_json::from_value).collect();
        let all = match all {
            Ok(all) => all,
            Err(error) => {
                outlet.fail(format_args!("a process says what this one does not know: {error}"));
                return TROUBLE;
            }
        };
        let is_bad = all.iter().any(|standings| standings.is_bad);
        let inputs = all.into_iter().flat_map(|standings| standings.inputs);
        let summary = Summary::new(inputs.collect());
        let result = match self.report {
            ReportFormat::Human => summary.human(),
            ReportFormat::Json => summary.json(),
        };
        let code = match summary.code() {
            1 => 1,
            _ if is_bad => TROUBLE,
            code => code,
        };
        outlet.print(&result, code);
        outlet.ended().unwrap_or(code)
    }

    /// Gathers and writes checkpoints, and shows the progress, until all inputs have ended. Returns
    /// the object of each input, and true if an input had a malformed event.
    fn conducted(
        &self,
        whole: &Whole<'_>,
        (names, resumed): (&[String], &Resumed),
        received: &Receiver<Notice>,
        progress: &mut Shown,
    ) -> (Vec<Object>, bool) {
        let keeper = Keeper::new(self.checkpoint.as_deref(), self.every);
        let mut gathered = Gathered::new((names, whole.is_several), resumed, keeper);
        let mut objects = vec![Object::Snapshot; names.len()];
        let mut is_bad = false;
        loop {
            match received.recv_timeout(gathered.patience().min(progress.progress.patience())) {
                Ok(Notice::Begun) => gathered.begin(),
                Ok(Notice::Kept(input, text, took)) => gathered.take(input, text, took),
                Ok(Notice::Ended(input, object)) => {
                    objects[input] = object;
                    gathered.end();
                }
                Ok(Notice::Bad) => is_bad = true,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            progress.show(whole);
            if gathered.is_asked_for() {
                whole.wanted.fetch_add(1, Ordering::Relaxed);
            }
            if gathered.is_complete() {
                gathered.keep();
            }
        }
        if gathered.has_news() {
            gathered.keep();
        }
        (objects, is_bad)
    }
}

/// The results of the inputs of a process, for process 0.
#[derive(Debug, Deserialize, Serialize)]
struct Standings {
    inputs: Vec<InputStanding>,
    /// True if an input had a malformed event.
    is_bad: bool,
}

/// The displayed progress.
struct Shown {
    progress: Progress,
    title: String,
    /// Time of the last message to process 0.
    posted: Instant,
}

impl Shown {
    fn new(status: Option<Duration>, title: String) -> Self {
        Self { progress: Progress::new(status), title, posted: Instant::now() }
    }

    /// Sends the progress of this process to process 0. Returns the known progress of all.
    fn post(whole: &Whole<'_>) -> cluster::Progress {
        let load = |count: &AtomicU64| count.load(Ordering::Relaxed);
        let here = cluster::Progress { events: load(&whole.events), objects: load(&whole.objects) };
        whole.printer.post().progress(here)
    }

    /// Shows the progress, if it is time for that.
    fn show(&mut self, whole: &Whole<'_>) {
        if self.posted.elapsed() < PERIOD && !self.progress.is_due() {
            return;
        }
        self.posted = Instant::now();
        let cluster::Progress { events, objects } = Self::post(whole);
        let post = whole.printer.post();
        self.progress.print(&self.title, events, || {
            format!("{events} events read, {objects} objects, {} alarms", post.outlet().alarms())
        });
    }
}

fn started<'scope, 'env, 'a: 'scope>(
    scope: &'scope Scope<'scope, 'env>,
    tasks: &mut dyn Iterator<Item = Task<'a>>,
    (whole, notices): (&'scope Whole<'a>, Sender<Notice>),
    waiting: &'scope Waiting<'a>,
) -> io::Result<()> {
    let reading = || Reading { whole, notices: notices.clone() };
    let thread = || Builder::new().name("reader".to_owned());
    let emptied = Emptied(waiting);
    for task in tasks {
        if task.input.is_live() {
            let reading = reading();
            thread().spawn_scoped(scope, move || reading.read(task))?;
        } else {
            waiting.lock().unwrap_or_else(PoisonError::into_inner).push_back(task);
        }
    }
    let files = waiting.lock().unwrap_or_else(PoisonError::into_inner).len();
    for _ in 0..files.min(available_parallelism().map_or(1, usize::from)) {
        let reading = reading();
        thread().spawn_scoped(scope, move || {
            let _emptied = Emptied(waiting);
            while let Some(task) = next(waiting) {
                reading.read(task);
            }
        })?;
    }
    std::mem::forget(emptied);
    Ok(())
}
