//! From a recording to a verdict with its proof.
//!
//! A recording is read once, event by event, by the monitor and, as long as it may be simple, by
//! the observer; memory is bounded by concurrency, not by length. A violation is explained by
//! reading the recording again, with the same bound. The whole history is held in memory only if
//! the linear-time conditions do not decide, or a linearization is wanted.

mod ahead;
mod class;
mod cooperation;
mod dispute;
pub mod immediate;
mod log;
mod named;
pub mod objects;
mod proof;
mod reading;
mod recorded;
mod stream;

use std::time::{Duration, Instant};

use snapshot_core::check::{self, Checker};
use snapshot_core::explanation::Explanation;
use snapshot_core::monitor::Undecided;
use snapshot_core::search::Budget;
use snapshot_core::verdict::{Linearization, Method, Unknown, Verdict};
use snapshot_core::{History, Names};

use crate::Value;
use crate::certificate::{Certificate, Refuted};
use crate::error::InputError;
use crate::format::{Backwards, Format, Location, Object};
use crate::import::Warning;
use crate::input::{Gauge, Input, InputReader, OpenError, Opened, Replay};
use crate::kind::Atomic;
use crate::read::{Most, Recording, read_recording};
use crate::synchronisation;

pub use self::class::Class;
pub use self::dispute::Disputed;
pub use self::log::{imported_log, judge_imported};
pub use self::recorded::judge_recorded;
pub use snapshot_core::explanation::{AcceptingRun, accepting_run};

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Options {
    /// Time limit of an exact search; `None`: no limit.
    pub time: Option<Duration>,
    /// Memory limit of an exact search, in bytes.
    pub memory: usize,
    /// True if a linearization is wanted, too. It needs the history in memory.
    pub linearization: bool,
    /// True to answer at the first violation, without reading on.
    pub live: bool,
    /// The checker; `None` chooses automatically. Any other holds the history in memory and reads
    /// it to its end.
    pub checker: Option<Checker>,
    /// True to keep no copy of an input that cannot be read again; a violation is then reported
    /// without a proof.
    pub forget: bool,
    /// True if nothing can run any more at the end of the input, and progress is judged, of an
    /// object with named operations.
    pub progress: bool,
    /// The number of cuts that may show a violation of a part, where a search runs out of its
    /// budget (docs/barriers.md), of an object with named operations.
    pub barriers: Option<usize>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            time: None,
            memory: 1 << 30,
            linearization: false,
            live: false,
            checker: None,
            forget: false,
            progress: false,
            barriers: None,
        }
    }
}

/// The size of an input, as far as it was read.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Counts {
    pub processes: usize,
    pub segments: usize,
    pub events: usize,
    pub operations: u64,
    /// Number of operations that neither responded nor failed.
    pub pending: u64,
    /// Number of operations that certainly had no effect.
    pub failed: u64,
}

impl Counts {
    /// Adds the counts of another object of the same input.
    fn add(&mut self, object: Self) {
        self.processes = self.processes.max(object.processes);
        self.segments = self.segments.max(object.segments);
        self.events += object.events;
        self.operations += object.operations;
        self.pending += object.pending;
        self.failed += object.failed;
    }
}

#[derive(Debug)]
pub struct Judgement {
    /// The format of the input, if known.
    pub format: Option<Format>,
    /// The size of the input, as far as it was read.
    pub counts: Counts,
    /// Times that contradict the order of its lines, if any.
    pub backwards: Option<Backwards>,
    /// The names of processes and segments.
    pub names: Names,
    /// The unused parts of a log of another tool.
    pub warnings: Vec<Warning>,
    pub finding: Finding,
}

impl Judgement {
    /// Creates the judgement of an input without times.
    pub(crate) fn new(format: Option<Format>, counts: Counts, finding: Finding) -> Self {
        Self {
            format,
            counts,
            backwards: None,
            names: Names::default(),
            warnings: Vec::new(),
            finding,
        }
    }
}

#[derive(Debug)]
pub enum Finding {
    Linearizable {
        /// The method of the decision.
        method: Method,
        /// An order that shows it, if wanted.
        linearization: Option<Linearization>,
    },
    /// The input is not linearizable.
    Violation(Box<ViolationFinding>),
    /// A budget ran out.
    Unknown {
        /// The method of the search.
        method: Method,
        /// The budget that ran out, and the partial result.
        unknown: Unknown,
    },
    /// The linear-time conditions do not decide it, and it was not searched.
    Unsearched {
        /// The point from which they do not decide.
        undecided: Undecided,
        /// The reason why there was no search.
        obstacle: Obstacle,
    },
    /// The input is a recording of several objects.
    Objects(Box<objects::Objects>),
    /// The input is a recording of an immediate snapshot.
    Immediate(immediate::Finding),
    /// The input is a recording of an object with named operations.
    Recorded(Box<synchronisation::Judgement>),
    /// The input is not a recording.
    Malformed(OpenError),
    /// Two judges contradict each other: a fault of this program, and no answer.
    Disputed(Disputed),
}

/// The reason why an input was not searched.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Obstacle {
    /// The input was not kept.
    Forgotten,
    /// The input does not fit in the memory of the search.
    TooLarge,
    /// Only the linear-time conditions were requested.
    Unwanted,
}

/// A violation, as found in an input.
#[derive(Debug)]
pub struct ViolationFinding {
    /// The method of the decision.
    pub method: Method,
    /// Number and position of the event that completes it.
    pub decided_at: (usize, Location),
    /// True if every shorter prefix is known to be linearizable.
    pub is_first: bool,
    /// The proof; `None` if the input was not kept, or finding a proof takes more memory than
    /// allowed.
    pub proof: Option<Proof>,
    /// The error of the input behind the violation, if any.
    pub malformed: Option<InputError>,
}

/// The reason for a violation, with the positions of its operations.
#[derive(Debug)]
pub struct Proof {
    /// The operations and the reason.
    pub explanation: Explanation<Value>,
    /// The positions of the events of these operations, ascending by event.
    pub locations: Vec<(usize, Location)>,
    /// The reason why the certificate, if one is wanted, cannot be checked: after an exhausted
    /// budget, the operations may be too many for exhaustive search.
    pub uncertified: Option<Refuted>,
}

impl Proof {
    /// Returns the position of an event of one of the proof's operations.
    pub fn location(&self, event: usize) -> Option<Location> {
        let found = self.locations.binary_search_by_key(&event, |(event, _)| *event).ok()?;
        Some(self.locations[found].1)
    }
}

/// Judges an input; detects the format if `format` is `None`. Of several objects, each is judged
/// separately.
pub fn judge(input: &Input, format: Option<Format>, options: &Options) -> Judgement {
    judge_object(input, format, None, options, &Gauge::default())
}

/// Judges an input, or one object of several by its key, as if there were no others. The gauge
/// shows the progress of reading.
pub fn judge_object(
    input: &Input,
    format: Option<Format>,
    key: Option<&Value>,
    options: &Options,
    gauge: &Gauge,
) -> Judgement {
    let opened = if options.forget && input.is_stream() {
        input.open_gauged(format, gauge).map(|reader| (Opened::Recording(Box::new(reader)), None))
    } else {
        input.open_any(format, gauge).map(|(opened, replay)| (opened, Some(replay)))
    };
    let opened = match opened {
        Ok((Opened::Log(format, log), _)) => return log::judge(format, log, options),
        Ok((Opened::Recording(reader), replay)) => Ok((*reader, replay)),
        Err(error) => Err(error),
    };
    let selected = opened.and_then(|(mut reader, replay)| {
        let Some(key) = key else { return Ok((reader, replay)) };
        reader.select(key)?;
        let part = replay.map(|replay| replay.of(key)).transpose();
        Ok((reader, part.map_err(InputError::io)?))
    });
    let (reader, replay) = match selected {
        Ok(opened) => opened,
        Err(error) => {
            return Judgement::new(format, Counts::default(), Finding::Malformed(error));
        }
    };
    let (noticed, names) = (reader.noticed(), reader.names());
    let again = replay.as_ref().and_then(|replay| replay.again().ok());
    let judgement = dispute::settled(judge_reader(reader, replay, key, options), again.as_ref());
    Judgement { backwards: noticed.backwards(), ..judgement.named(names.get()) }
}

fn judge_reader(
    reader: InputReader,
    replay: Option<Replay>,
    key: Option<&Value>,
    options: &Options,
) -> Judgement {
    match (reader.object(), reader.is_keyed() && key.is_none()) {
        (Object::Snapshot, true) => {
            return objects::judge::<stream::Reading>(reader, replay.as_ref(), options);
        }
        (Object::Immediate, true) => {
            return objects::judge::<immediate::Reading>(reader, replay.as_ref(), options);
        }
        (Object::Immediate, false) => return immediate::judge(reader, replay, options),
        (Object::Snapshot, false) => {}
    }
    if options.linearization || options.checker.is_some() {
        whole(reader, options)
    } else {
        stream::judge(reader, replay, options)
    }
}

fn whole(reader: InputReader, options: &Options) -> Judgement {
    let format = Some(reader.format());
    match read_recording::<Atomic, _>(reader, Most::ALL) {
        Ok(recording) => {
            let Recording { history, locations, defect, .. } = recording;
            judge_recording(format, &history, &locations, defect, options)
        }
        Err(error) => {
            let finding = Finding::Malformed(error.into());
            Judgement::new(format, Counts::default(), finding)
        }
    }
}

/// Runs an exact search within the time and memory of the options.
fn within<T>(options: &Options, run: impl FnOnce(&mut Budget<'_>) -> T) -> T {
    let deadline = options.time.and_then(|time| Instant::now().checked_add(time));
    let mut proceed = || deadline.is_none_or(|deadline| Instant::now() < deadline);
    run(&mut Budget { memory: options.memory, proceed: &mut proceed })
}

/// Judges a history in memory; `locations` are the positions of its events; `defect` is the error
/// that ended the input early, if any.
pub fn judge_recording(
    format: Option<Format>,
    history: &History<Value>,
    locations: &[Location],
    defect: Option<InputError>,
    options: &Options,
) -> Judgement {
    let counts = counts(history);
    Judgement::new(format, counts, find(history, locations, defect, options))
}

fn find(
    history: &History<Value>,
    locations: &[Location],
    defect: Option<InputError>,
    options: &Options,
) -> Finding {
    let report = within(options, |budget| match options.checker {
        None => Ok(check::check(history, budget)),
        Some(checker) => check::check_by(checker, history, budget),
    });
    let report = match report {
        Ok(report) => report,
        Err(undecided) => {
            let unsearched = Finding::Unsearched { undecided, obstacle: Obstacle::Unwanted };
            return defect.map_or(unsearched, |defect| Finding::Malformed(defect.into()));
        }
    };
    match (report.verdict, defect) {
        (Verdict::Disputed(dispute), _) => Finding::Disputed(dispute.into()),
        (Verdict::Violation(_), malformed) => {
            let explanation = report.explanation.expect("a violation comes with its explanation");
            let decided_at = report.decided_at.unwrap_or(history.len() - 1);
            let events = proof::events(&explanation);
            let certificate =
                options.linearization.then(|| Certificate::of_violation(&explanation));
            let uncertified = certificate.and_then(|certificate| certificate.check(history).err());
            let locations_of_proof =
                events.into_iter().map(|event| (event, locations[event])).collect();
            Finding::Violation(Box::new(ViolationFinding {
                method: report.method,
                decided_at: (decided_at, locations[decided_at]),
                is_first: report.is_first,
                proof: Some(Proof { explanation, locations: locations_of_proof, uncertified }),
                malformed,
            }))
        }
        (_, Some(malformed)) => Finding::Malformed(malformed.into()),
        (Verdict::Linearizable(order), None) => {
            Finding::Linearizable { method: report.method, linearization: Some(order) }
        }
        (Verdict::Unknown(unknown), None) => Finding::Unknown { method: report.method, unknown },
    }
}

fn counts(history: &History<Value>) -> Counts {
    let operations = history.operations();
    Counts {
        processes: history.processes(),
        segments: history.segments(),
        events: history.len(),
        operations: operations.len() as u64,
        pending: history.pending() as u64,
        failed: operations.iter().filter(|operation| operation.is_failed()).count() as u64,
    }
}
