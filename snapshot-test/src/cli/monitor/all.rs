//! A monitor of many objects, of one input or of several that are read side by side.
//!
//! Each input that may have to be waited for is read by a thread of its own; files that need not,
//! however many, by few threads, one after the other. This thread gathers where to go on with each, and
//! writes that to one file.

use std::collections::VecDeque;
use std::io;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, Builder, Scope, available_parallelism};

use snapshot_test::format::Object;
use snapshot_test::monitor::{
    self, Checkpoint, CheckpointError, Checkpoints, Crew, InputStanding, Summary,
};

use super::Monitor;
use super::clocks::{Keeper, Progress};
use super::gathered::Gathered;
use super::inputs::Input;
use super::printer::Printer;
use super::reading::{Notice, Reading, Task, Whole};
use crate::cli::{TROUBLE, trouble};

/// Bytes of all inputs that are read at a time, at most; and the least and the most of one.
const READ: usize = 1 << 22;
const LEAST: usize = 1 << 13;
const MOST: usize = 1 << 18;

/// Where inputs are gone on with.
pub(super) enum Resumed {
    Nothing,
    /// The only one, whatever its name.
    One(Checkpoint),
    Several(Checkpoints),
}

impl Resumed {
    /// From the text of the file, if there is one.
    ///
    /// # Errors
    /// If that is no checkpoint, or one of something else.
    pub fn parse(text: Option<&str>, is_several: bool) -> Result<Self, CheckpointError> {
        Ok(match text {
            None => Self::Nothing,
            Some(text) if is_several => Self::Several(Checkpoints::parse(text)?),
            Some(text) => Self::One(Checkpoint::parse(text)?),
        })
    }

    /// Where to go on with the input of this name.
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

    /// Whether an object is judged no further.
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

    /// An input that is held, and not named now.
    fn missing(&self, names: &[String]) -> Option<&str> {
        let Self::Several(several) = self else { return None };
        let mut held = several.inputs.iter().map(|named| named.input.as_str());
        held.find(|held| names.iter().all(|name| name != held))
    }
}

/// Files that wait for a thread to read them.
type Waiting<'a> = Mutex<VecDeque<Task<'a>>>;

fn next<'a>(waiting: &Waiting<'a>) -> Option<Task<'a>> {
    waiting.lock().unwrap_or_else(PoisonError::into_inner).pop_front()
}

/// Nothing waits any more where a thread has panicked, or could not be started: else the main thread
/// would wait for ever.
struct Emptied<'a, 'b>(&'a Waiting<'b>);

impl Drop for Emptied<'_, '_> {
    fn drop(&mut self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

impl Monitor {
    /// Judges the objects of all inputs, each to its own first violation, or, without `--all`, to
    /// the first one.
    pub(super) fn watch_all(
        &self,
        inputs: Vec<Input>,
        resumed: &Resumed,
    ) -> Result<ExitCode, ExitCode> {
        let names: Vec<String> = inputs.iter().map(|input| input.name.clone()).collect();
        if let Some(missing) = resumed.missing(&names) {
            return Err(trouble(format_args!(
                "the checkpoint is of {missing}, too, which is not named: name all inputs that it is \
                 of, or use another file"
            )));
        }
        let is_several = self.is_several();
        let most = if is_several { (READ / names.len()).clamp(LEAST, MOST) } else { usize::MAX };
        let printer = Printer::new(&names, self.report, self.all);
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
        let waiting = Waiting::default();
        let judged: Result<_, ExitCode> = thread::scope(|scope| {
            let crew = Crew::new(scope, self.workers, names.len(), &printer, &stop);
            let crew = crew.map_err(|error| {
                trouble(format_args!(
                    "{} workers cannot be started ({error}): ask for fewer (--workers)",
                    self.workers
                ))
            })?;
            let (notices, received) = channel();
            let mut tasks = inputs.into_iter().enumerate().map(|(number, input)| {
                let (intake, resumed) = (crew.intake(number), resumed.of(&input.name));
                Task { number, input, intake, resumed }
            });
            started(scope, &mut tasks, (&whole, notices), &waiting).map_err(|error| {
                printer.end(TROUBLE);
                trouble(format_args!("inputs cannot be read side by side ({error}): name fewer"))
            })?;
            let (objects, is_bad) = self.conducted(&whole, &names, resumed, &received);
            Ok((crew.finish(), objects, is_bad))
        });
        let (standings, objects, is_bad) = judged?;
        let standings = names.iter().zip(objects).zip(standings);
        let standings = standings.map(|((name, object), standing)| InputStanding {
            name: name.clone(),
            object,
            standing,
        });
        Ok(printer.concluded(&Summary::new(standings.collect()), is_bad))
    }

    /// Gathers and keeps checkpoints, and says how far it is, until all inputs have ended. What
    /// each is of, and whether something in them was no event.
    fn conducted(
        &self,
        whole: &Whole<'_>,
        names: &[String],
        resumed: &Resumed,
        received: &Receiver<Notice>,
    ) -> (Vec<Object>, bool) {
        let keeper = Keeper::new(self.checkpoint.as_deref(), self.every);
        let mut gathered = Gathered::new((names, whole.is_several), resumed, keeper);
        let mut progress = Progress::new(self.status);
        let title = monitor::title(names);
        let mut objects = vec![Object::Snapshot; names.len()];
        let mut is_bad = false;
        loop {
            match received.recv_timeout(gathered.patience().min(progress.patience())) {
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
            let events = whole.events.load(Ordering::Relaxed);
            progress.print(&title, events, || {
                let objects = whole.objects.load(Ordering::Relaxed);
                format!(
                    "{events} events read, {objects} objects, {} alarms",
                    whole.printer.alarms()
                )
            });
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

/// Starts the threads that read.
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
