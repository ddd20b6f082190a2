//! The sequences of events that are executions of an immediate snapshot.
//!
//! The builder of a history and the monitor admit the same sequences: both pass every
//! event through [`Admission`]. A refused event changes nothing.

use std::fmt::{self, Display};

use thiserror::Error;

use super::history::{Action, Event};
use crate::history::{Declaration, MAX_EVENTS};
use crate::{Names, Process, Segment};

/// An event that no execution can have at its position.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
#[error("{kind}")]
pub struct ExchangeError {
    /// Number of the refused event, from 0.
    pub event: usize,
    /// The reason.
    pub kind: ExchangeErrorKind,
}

/// The reason why an event, or a declaration, is refused.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum ExchangeErrorKind {
    /// A response, failure or unknown outcome of an idle process.
    NothingOpen {
        /// The idle process.
        process: Process,
    },
    /// An invocation by a process whose previous operation is still open.
    AlreadyOpen {
        /// The busy process.
        process: Process,
        /// Number of the event that invoked the open operation.
        invocation: usize,
    },
    /// An invocation after an operation of the same process had an unknown outcome.
    GoesOn {
        /// The process.
        process: Process,
    },
    /// An operation returned too many or too few values.
    WrongEntryCount {
        /// The process.
        process: Process,
        /// Number of segments.
        expected: usize,
        /// Number of values returned.
        found: usize,
    },
    /// An event of a process that has no segment.
    NoSuchProcess {
        /// The number given.
        process: usize,
        /// Number of segments.
        segments: usize,
    },
    /// The numbers of processes and of segments that are declared differ.
    OneSegmentEach {
        /// Number of processes declared.
        processes: usize,
        /// Number of segments declared.
        segments: usize,
    },
    /// More initial values than segments.
    TooManyInitialValues {
        /// Number of initial values.
        initial: usize,
        /// Number of segments.
        segments: usize,
    },
    /// A number of segments outside the possible range.
    BadSize {
        /// The number declared.
        given: usize,
        /// The largest number possible.
        limit: usize,
    },
    /// More events than one history can number.
    TooLong {
        /// The largest number of events.
        limit: usize,
    },
}

impl ExchangeErrorKind {
    /// Returns the sentence for this reason, with its cure; processes have these names.
    pub fn told(&self, names: &Names) -> String {
        match *self {
            Self::NothingOpen { process } => format!(
                "{} ends an operation, but it has none open; record its invocation before its \
                 response",
                names.process(process)
            ),
            Self::AlreadyOpen { process, .. } => format!(
                "{} invokes an operation while its previous one is still open (a process has at \
                 most one open operation); record the response of the previous one first",
                names.process(process)
            ),
            Self::GoesOn { process } => format!(
                "{} goes on after an operation with unknown outcome, which might still write its \
                 segment; end the recording of this process there",
                names.process(process)
            ),
            Self::WrongEntryCount { process, expected, found } => format!(
                "an operation of {} returned {found} value{}, but there are {expected} segments; \
                 an operation returns one value per segment",
                names.process(process),
                if found == 1 { "" } else { "s" }
            ),
            Self::NoSuchProcess { process, segments } => format!(
                "process {process} has no segment: there are {segments}, numbered from 0, one per \
                 process; correct the process or the number of segments"
            ),
            Self::OneSegmentEach { processes, segments } => format!(
                "{processes} processes and {segments} segments are declared, but an immediate \
                 snapshot has one segment per process; declare one number"
            ),
            Self::TooManyInitialValues { initial, segments } => format!(
                "{initial} initial values are declared for {segments} segments; give one per \
                 segment"
            ),
            Self::BadSize { given, limit } => {
                format!("{given} segments are declared, but from 1 to {limit} are possible")
            }
            Self::TooLong { limit } => {
                format!("the history is too long: at most {limit} events are possible")
            }
        }
    }
}

/// Writes the sentence for this reason, with numbers.
impl Display for ExchangeErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.told(&Names::default()))
    }
}

impl std::error::Error for ExchangeErrorKind {}

/// The state of a process.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum State {
    Idle,
    Open { invocation: usize },
    Unknown,
}

/// Tracks open operations, and refuses events that no execution can have.
///
/// Memory: 16 bytes per process.
#[derive(Clone, Debug)]
pub struct Admission {
    states: Vec<State>,
    /// Once known, the number of segments never changes.
    segments: Option<usize>,
    events: usize,
}

impl Admission {
    /// Creates the admission of an execution with this declaration.
    ///
    /// # Errors
    /// If the declaration contradicts itself.
    pub fn new<V>(declaration: &Declaration<V>) -> Result<Self, ExchangeError> {
        let refuse = |kind| Err(ExchangeError { event: 0, kind });
        let segments = match (declaration.segments, declaration.processes) {
            (Some(segments), Some(processes)) if segments != processes => {
                return refuse(ExchangeErrorKind::OneSegmentEach { processes, segments });
            }
            (segments, processes) => segments.or(processes),
        };
        let (initial, limit) = (declaration.initial.len(), Segment::LIMIT + 1);
        let given = segments.unwrap_or(initial.max(1));
        if given == 0 || given > limit {
            return refuse(ExchangeErrorKind::BadSize { given, limit });
        }
        if initial > given {
            return refuse(ExchangeErrorKind::TooManyInitialValues { initial, segments: given });
        }
        Ok(Self { states: Vec::new(), segments, events: 0 })
    }

    /// Creates the admission of a valid execution.
    pub(super) const fn known(segments: usize) -> Self {
        Self { states: Vec::new(), segments: Some(segments), events: 0 }
    }

    /// Number of events admitted.
    pub const fn events(&self) -> usize {
        self.events
    }

    /// Number of segments, if it was declared or an operation has responded.
    pub const fn known_segments(&self) -> Option<usize> {
        self.segments
    }

    /// Number of segments as known so far.
    pub fn segments(&self) -> usize {
        self.segments.unwrap_or(self.states.len()).max(1)
    }

    /// Admits the next event.
    ///
    /// # Errors
    /// If no execution can have this event here.
    pub fn admit<V>(&mut self, event: &Event<'_, V>) -> Result<(), ExchangeError> {
        match event.action {
            Action::Invoke { .. } => self.invoke(event.process),
            Action::Respond { values } => self.respond(event.process, values.len()),
            Action::Fail => self.fail(event.process),
            Action::Unknown => self.unknown(event.process),
        }
        .map(drop)
    }

    /// A process invokes an operation.
    pub(super) fn invoke(&mut self, process: usize) -> Result<Process, ExchangeError> {
        let id = self.process(process)?;
        match self.states.get(process) {
            Some(&State::Open { invocation }) => {
                return self.refuse(ExchangeErrorKind::AlreadyOpen { process: id, invocation });
            }
            Some(State::Unknown) => {
                return self.refuse(ExchangeErrorKind::GoesOn { process: id });
            }
            Some(State::Idle) => {}
            None => self.states.resize(process + 1, State::Idle),
        }
        self.states[process] = State::Open { invocation: self.events };
        self.events += 1;
        Ok(id)
    }

    /// The open operation of a process responds with this many values.
    pub(super) fn respond(
        &mut self,
        process: usize,
        found: usize,
    ) -> Result<Process, ExchangeError> {
        let id = self.open(process)?;
        let known = self.states.len();
        let expected = self.segments.unwrap_or(found);
        if found != expected || found < known {
            let expected = self.segments.unwrap_or(known);
            return self.refuse(ExchangeErrorKind::WrongEntryCount {
                process: id,
                expected,
                found,
            });
        }
        if found > Segment::LIMIT + 1 {
            let limit = Segment::LIMIT + 1;
            return self.refuse(ExchangeErrorKind::BadSize { given: found, limit });
        }
        self.segments = Some(found);
        self.end(process, State::Idle);
        Ok(id)
    }

    /// The open operation of a process fails.
    pub(super) fn fail(&mut self, process: usize) -> Result<Process, ExchangeError> {
        let id = self.open(process)?;
        self.end(process, State::Idle);
        Ok(id)
    }

    /// The outcome of the open operation of a process will never be known.
    pub(super) fn unknown(&mut self, process: usize) -> Result<Process, ExchangeError> {
        let id = self.open(process)?;
        self.end(process, State::Unknown);
        Ok(id)
    }

    fn open(&self, process: usize) -> Result<Process, ExchangeError> {
        let id = self.process(process)?;
        match self.states.get(process) {
            Some(State::Open { .. }) => Ok(id),
            _ => self.refuse(ExchangeErrorKind::NothingOpen { process: id }),
        }
    }

    fn end(&mut self, process: usize, state: State) {
        self.states[process] = state;
        self.events += 1;
    }

    fn process(&self, process: usize) -> Result<Process, ExchangeError> {
        if self.events >= MAX_EVENTS {
            return self.refuse(ExchangeErrorKind::TooLong { limit: MAX_EVENTS });
        }
        let segments = self.segments.unwrap_or(Segment::LIMIT + 1);
        match Process::new(process) {
            Ok(id) if process < segments => Ok(id),
            _ => self.refuse(ExchangeErrorKind::NoSuchProcess { process, segments }),
        }
    }

    const fn refuse<T>(&self, kind: ExchangeErrorKind) -> Result<T, ExchangeError> {
        Err(ExchangeError { event: self.events, kind })
    }
}
