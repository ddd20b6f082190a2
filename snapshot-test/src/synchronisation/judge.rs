//! Judging a recording.

use std::io::Read;
use std::time::Instant;

use snapshot_core::generic::{Beyond, PartsOutcome, Refuted};
use snapshot_core::immediate::SetLinearization;
use snapshot_core::object::{Answer, Completion, Cost, Evidence, Judged, Open, completion};
use snapshot_core::search::Budget;
use snapshot_core::synchronisation::Violation as Found;
use snapshot_core::synchronisation::progress::Progress;
use snapshot_core::verdict::{Dispute, Exhausted};
use snapshot_core::{Names, OperationId};

use super::error::{ReadError, ReadErrorKind};
use super::interface::Interface;
use super::object::Object;
use super::recording::{Live, Recording, Recordings, Text, Watched, joined, read};
use super::source::begun;
use crate::Value;
use crate::format::Location;
use crate::format::{Backwards, Doubt, Format};
use crate::judge::{Counts, Options};

impl Judgement {
    /// What times that run backwards mean for it.
    pub const fn doubt(&self) -> Doubt {
        match self.finding {
            Finding::SetLinearizable(_) => Doubt::Missed,
            Finding::Violation(_) => Doubt::FalseAlarm,
            Finding::Unknown { .. } | Finding::Disputed(_) => Doubt::Either,
        }
    }
}

/// The judgement of the recording of one object.
#[derive(Debug)]
pub struct Judgement {
    /// The object.
    pub object: Object,
    /// Key of the object, if objects have keys.
    pub key: Option<Value>,
    /// The format, unless there was no event.
    pub format: Option<Format>,
    /// How it was decided: `keys`, `matching`, `rules` or `search`.
    pub method: &'static str,
    pub counts: Counts,
    /// Times that contradict the order of its lines, if there are any.
    pub backwards: Option<Backwards>,
    /// The answer.
    pub finding: Finding,
    /// The event that completes a violation, unless that is one of progress.
    pub completion: Option<Completion>,
    /// True if it was to be judged while it was read, and the object is judged at the end only.
    pub is_late: bool,
    /// How it was judged while it was read, if it was.
    pub watched: Option<Watched>,
    /// The names of processes.
    pub names: Names,
    /// The operations by number, unless they were forgotten, as the recording has them.
    pub texts: Vec<Text>,
}

/// The answer.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Finding {
    /// It is set-linearizable, by these groups of the operations that were kept; progress holds, if
    /// that was wanted.
    SetLinearizable(SetLinearization),
    /// It is not, or progress fails.
    Violation(Violation),
    /// A budget ran out.
    Unknown {
        exhausted: Exhausted,
        /// Whether it is set-linearizable, and only progress is open.
        is_set_linearizable: bool,
        /// Why rules did not decide it, where there are some.
        beyond: Option<Beyond>,
    },
    /// The check of proofs contradicts what was found: a fault of this program, and no answer.
    Disputed(Dispute),
}

/// What is wrong.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Violation {
    /// The execution is not correct.
    Found(Found),
    /// Some of the operations have no linearization of their own.
    Part(Refuted),
    /// These operations could take effect at the end.
    Missed(Vec<OperationId>),
    /// An operation has taken effect and did not return.
    Unreturned,
}

impl Violation {
    /// Returns the operations that it names, in the order in which they are named X1, X2, ...
    pub fn operations(&self) -> Vec<OperationId> {
        match self {
            Self::Found(found) => found.operations(),
            Self::Part(part) => part.operations.clone(),
            Self::Missed(missed) => missed.clone(),
            Self::Unreturned => Vec::new(),
        }
    }
}

/// Judges a recording of an object, or of several with keys: each by itself, which decides the whole,
/// since linearizability is local; of several only the one with the key, if given. `format`: `None`
/// takes it from the first line.
///
/// # Errors
/// If it is no recording of the object.
pub fn judge(
    object: &Object,
    input: impl Read,
    format: Option<Format>,
    key: Option<&Value>,
    options: &Options,
) -> Result<Vec<Judgement>, ReadError> {
    let (mut input, format) = begun(input, format)?;
    let object = object.of(format);
    object.kind().judge(&object, &mut input, format, key, options)
}

/// As [`judge`], in memory bounded by the operations that may still matter: `None` unless the
/// objects are judged at each event, all are linearizable, and no order of them is wanted.
///
/// # Errors
/// As [`judge`].
pub fn judge_by_event(
    object: &Object,
    input: impl Read,
    format: Option<Format>,
    key: Option<&Value>,
    options: &Options,
) -> Result<Option<Vec<Judgement>>, ReadError> {
    if options.linearization || options.progress || options.live {
        return Ok(None);
    }
    let (mut input, format) = begun(input, format)?;
    let object = object.of(format);
    object.kind().judge_by_event(&object, &mut input, format, key, options)
}

/// As [`judge`], while the recording is made: `alarm` gets the judgement of each object that rules
/// find violated, up to there; its later events are not judged. Returns the judgements of the
/// others at the end of the input, or where an answer was false.
///
/// # Errors
/// As [`judge`].
pub fn watch(
    object: &Object,
    input: impl Read,
    format: Option<Format>,
    options: &Options,
    alarm: &mut dyn FnMut(Judgement) -> bool,
) -> Result<Vec<Judgement>, ReadError> {
    let (mut input, format) = begun(input, format)?;
    let object = object.of(format);
    object.kind().watch(&object, &mut input, format, options, alarm)
}

/// As [`judge`], by this kind of object.
pub(super) fn judge_by<K: Interface>(
    kind: &K,
    object: &Object,
    input: &mut dyn Read,
    format: Option<Format>,
    key: Option<&Value>,
    options: &Options,
) -> Result<Vec<Judgement>, ReadError> {
    let live = if options.live { Live::Stop } else { Live::Off };
    let recordings = read(kind, object, input, format, key, options, live)?;
    judged(kind, object, recordings, options)
}

/// As [`judge_by_event`], by this kind of object.
pub(super) fn settle_by<K: Interface>(
    kind: &K,
    object: &Object,
    input: &mut dyn Read,
    format: Option<Format>,
    key: Option<&Value>,
    options: &Options,
) -> Result<Option<Vec<Judgement>>, ReadError> {
    let mut is_settled = true;
    let recordings = read(kind, object, input, format, key, options, Live::Settle(&mut is_settled));
    let recordings = recordings?;
    if !is_settled {
        return Ok(None);
    }
    let mut judged = judged(kind, object, recordings, options)?;
    let is_right = |one: &Judgement| matches!(one.finding, Finding::SetLinearizable(_));
    for one in &mut judged {
        one.watched = None;
    }
    Ok(judged.iter().all(is_right).then_some(judged))
}

/// As [`watch`], by this kind of object.
pub(super) fn watch_by<K: Interface>(
    kind: &K,
    object: &Object,
    input: &mut dyn Read,
    format: Option<Format>,
    options: &Options,
    alarm: &mut dyn FnMut(Judgement) -> bool,
) -> Result<Vec<Judgement>, ReadError> {
    let mut fault = None;
    let mut take = |recording: Recording<K>| {
        let recordings = Recordings { objects: vec![recording], format, backwards: None };
        match judged(kind, object, recordings, options) {
            Ok(judged) => judged.into_iter().all(&mut *alarm),
            Err(error) => {
                fault = Some(error);
                false
            }
        }
    };
    let recordings = read(kind, object, input, format, None, options, Live::Take(&mut take))?;
    fault.map_or_else(|| judged(kind, object, recordings, options), Err)
}

/// Judges each of some recordings; the time of the options is for all of them.
fn judged<K: Interface>(
    kind: &K,
    object: &Object,
    recordings: Recordings<K>,
    options: &Options,
) -> Result<Vec<Judgement>, ReadError> {
    let Recordings { objects, format, backwards } = recordings;
    let end = options.time.and_then(|time| Instant::now().checked_add(time));
    let mut judged = Vec::with_capacity(objects.len());
    for recording in objects {
        let first = recording.object.as_ref().unwrap_or(kind);
        let (finding, method, completion) = find(first, &recording, options, end);
        if let Some((fault, input)) = kind.fault() {
            return Err(faulty(kind, &recording, fault, input));
        }
        let is_late = options.live && K::COST == Cost::Search;
        let Recording { key, texts, counts, watched, names, .. } = recording;
        judged.push(Judgement {
            object: object.clone(),
            key,
            format,
            method,
            counts,
            backwards,
            finding,
            completion,
            is_late,
            watched,
            names,
            texts,
        });
    }
    Ok(judged)
}

/// Returns the error of an object that is faulty in a recording, at the operation, or at the first
/// of those that cannot be told apart from it.
fn faulty<K: Interface>(
    kind: &K,
    recording: &Recording<K>,
    fault: String,
    input: Option<K::Input>,
) -> ReadError {
    let is_it = |one: &K::Input| input.as_ref().is_some_and(|input| kind.is_same(one, input));
    let operations = recording.history.operations().iter().zip(&recording.texts);
    let mut same = operations.filter(|(operation, _)| is_it(&operation.input));
    let first = same.next().map(|(_, text)| text);
    let at = first.map_or_else(String::new, |text| {
        let others = if same.next().is_some() { ", or a later one like it" } else { "" };
        let process = recording.names.process(text.process);
        format!(" at {}({}) by {process}{others}", text.operation, joined(&text.arguments, None))
    });
    let line = first.map_or(Location::START.line, |text| text.invoked);
    let location = Location { line, ..Location::START };
    ReadError { location, kind: ReadErrorKind::Faulty { fault, at }, line: None }
}

/// Does something within the memory of the options and up to an instant.
fn within<T>(options: &Options, end: Option<Instant>, run: impl FnOnce(&mut Budget<'_>) -> T) -> T {
    let mut proceed = || end.is_none_or(|end| Instant::now() < end);
    run(&mut Budget { memory: options.memory, proceed: &mut proceed })
}

fn find<K: Interface>(
    kind: &K,
    recording: &Recording<K>,
    options: &Options,
    end: Option<Instant>,
) -> (Finding, &'static str, Option<Completion>) {
    let history = &recording.history;
    let (found, method, completion) =
        within(options, end, |budget| decide(kind, recording, options, budget));
    let (Finding::Unknown { is_set_linearizable: false, .. }, Some(most)) =
        (&found, options.barriers)
    else {
        return (found, method, completion);
    };
    let again = options.time.and_then(|time| Instant::now().checked_add(time));
    let found = match within(options, again, |budget| kind.refute_parts(history, most, budget)) {
        Some(PartsOutcome::Refuted(part)) => Finding::Violation(Violation::Part(part)),
        _ => found,
    };
    (found, method, completion)
}

fn decide<K: Interface>(
    kind: &K,
    recording: &Recording<K>,
    options: &Options,
    budget: &mut Budget<'_>,
) -> (Finding, &'static str, Option<Completion>) {
    let history = &recording.history;
    let Judged { answer, method } = kind.judge(history, budget);
    let found = match answer {
        Answer::Correct(found) => found,
        Answer::Violation(violation) => {
            let at = completion(kind, history, &violation, budget);
            return (Finding::Violation(Violation::Found(violation)), method, Some(at));
        }
        Answer::Unknown(Open { exhausted, beyond }) => {
            let finding = Finding::Unknown { exhausted, is_set_linearizable: false, beyond };
            return (finding, method, None);
        }
        Answer::Disputed(dispute) => return (Finding::Disputed(dispute), method, None),
    };
    if !options.progress {
        return (Finding::SetLinearizable(found), method, None);
    }
    let finding = match kind.progress(history, budget) {
        None => Finding::SetLinearizable(found),
        Some(Progress::Holds(found)) => match kind.check_order(history, &found) {
            Ok(()) => Finding::SetLinearizable(found),
            Err(_) => Finding::Disputed(Dispute {
                accepting: "the judge of progress",
                refusing: "the check of its proof",
            }),
        },
        Some(Progress::Missed(missed)) => Finding::Violation(Violation::Missed(missed)),
        Some(Progress::Unreturned) => Finding::Violation(Violation::Unreturned),
        Some(Progress::Unknown(exhausted)) => {
            Finding::Unknown { exhausted, is_set_linearizable: true, beyond: None }
        }
    };
    (finding, method, None)
}
