//! From lines to the histories of an object, one per key.

use std::collections::HashMap;
use std::io::Read;

use snapshot_core::generic::HistoryBuilder;
use snapshot_core::history::Outcome;
use snapshot_core::object::{ObjectKind, alarm};
use snapshot_core::{OperationId, Process};

use super::error::{ReadError, ReadErrorKind, quoted};
use super::interface::{Interface, Signature};
use super::object::{Object, nearest};
use super::reader::{Deed, Line};
use super::source::Source;
use super::token::Token;
use super::vocabulary::Vocabulary;
use crate::Value;
use crate::format::{Backwards, Format, Location};

/// An operation as its recording has it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Text {
    pub operation: &'static str,
    pub arguments: Vec<Token>,
    /// What it returned, if it responded.
    pub results: Option<Vec<Token>>,
    /// The line of its invocation.
    pub invoked: u64,
    /// The line of its end, if there is one.
    pub ended: Option<u64>,
    pub process: Process,
    /// The number of the event of its invocation.
    pub begin: usize,
    /// Its outcome, with the number of the event.
    pub outcome: Outcome,
}

impl Text {
    /// Returns the operation and its result: `enqueue(5)`, `dequeue = 5`.
    pub fn deed(&self) -> String {
        let mut deed = self.operation.to_owned();
        if !self.arguments.is_empty() {
            deed += &format!("({})", joined(&self.arguments));
        }
        match &self.results {
            Some(results) if !results.is_empty() => deed + " = " + &joined(results),
            _ => deed,
        }
    }
}

/// Returns the texts of tokens with commas.
pub(super) fn joined(tokens: &[Token]) -> String {
    let tokens: Vec<String> = tokens.iter().map(ToString::to_string).collect();
    tokens.join(", ")
}

/// The recording of one object, with the text of its operations.
pub(super) struct Recording<K: ObjectKind> {
    /// The key of the object, of several.
    pub key: Option<Value>,
    pub history: K::History,
    pub texts: Vec<Text>,
}

/// The recordings in an input: one per key, in the order of their first events, or one without key.
pub(super) struct Recordings<K: ObjectKind> {
    pub objects: Vec<Recording<K>>,
    pub format: Option<Format>,
    /// Times that contradict the order of the lines.
    pub backwards: Option<Backwards>,
}

/// The recording of one object, as far as it was read.
struct Building<K: Interface> {
    key: Option<Value>,
    history: HistoryBuilder<K::Input, K::Output>,
    texts: Vec<Text>,
    /// The open operation of each process.
    open: Vec<Option<(OperationId, K::Input)>>,
    /// Number of events.
    events: usize,
    /// Number of events at which it is judged next, of an object that is judged while it is read.
    due: usize,
    /// True behind an alarm: later events are not judged.
    is_over: bool,
}

/// What is done at the first violation of an object that rules find while it is read.
pub(super) enum Live<'a, K: ObjectKind> {
    /// Nothing: recordings are read to their end.
    Off,
    /// Reading ends.
    Stop,
    /// The recording of the object up to there is taken, and the others go on; reading ends if the
    /// answer is false.
    Take(&'a mut dyn FnMut(Recording<K>) -> bool),
}

/// Events after which a recording is judged each time while it is read, and the part of longer ones.
const OFTEN: usize = 64;
const PART: usize = 8;

impl<K: Interface> Building<K> {
    fn new(key: Option<Value>) -> Self {
        Self {
            key,
            history: K::History::builder(),
            texts: Vec::new(),
            open: Vec::new(),
            events: 0,
            due: 0,
            is_over: false,
        }
    }

    fn finish(self) -> Recording<K> {
        Recording { key: self.key, history: self.history.finish(), texts: self.texts }
    }

    /// Judges the events so far, if they are many more than last time. Returns true if they are a
    /// violation.
    fn is_alarm(&mut self, kind: &K) -> bool {
        if self.events < self.due {
            return false;
        }
        self.due = if self.events < OFTEN { 0 } else { self.events + self.events / PART };
        alarm(kind, self.history.so_far()).is_some()
    }

    /// Takes the event of a process in this line.
    fn take(
        &mut self,
        kind: &K,
        process: usize,
        deed: Deed,
        line: u64,
    ) -> Result<(), ReadErrorKind> {
        let Self { history, texts, open, events, .. } = self;
        let event = *events;
        let (ended, outcome) = match deed {
            Deed::Invoke { operation, arguments } => {
                let signatures = kind.signatures();
                let signature = signatures.iter().find(|known| known.name == operation);
                let Some(signature) = signature else {
                    return Err(no_operation(signatures, &operation));
                };
                let input = || kind.input_of(process, &operation, &arguments);
                let (Some(input), Some(kept)) = (input(), input()) else {
                    let found =
                        [operation].into_iter().chain(arguments.iter().map(ToString::to_string));
                    let found: Vec<String> = found.collect();
                    return Err(ReadErrorKind::Unexpected {
                        expected: format!("`{}`", signature.usage),
                        found: quoted(Some(found.join(" "))),
                        nearest: None,
                    });
                };
                let id = history.invoke(process, input)?;
                if process >= open.len() {
                    open.resize_with(process + 1, || None);
                }
                open[process] = Some((id, kept));
                texts.push(Text {
                    operation: signature.name,
                    arguments,
                    results: None,
                    invoked: line,
                    ended: None,
                    process: Process::from_index(process),
                    begin: *events,
                    outcome: Outcome::Pending,
                });
                *events += 1;
                return Ok(());
            }
            Deed::Ok(results) => {
                let Some(Some((id, input))) = open.get(process) else {
                    // Refused with the reason of a response without invocation.
                    return Ok(history.unknown(process).map(|_| ())?);
                };
                let Some(output) = kind.output(input, &results) else {
                    let name = texts[id.index()].operation;
                    return Err(no_results(kind.signatures(), name, &results));
                };
                texts[id.index()].results = Some(results);
                (history.respond(process, output)?, Outcome::Complete { response: event })
            }
            Deed::Fail => (history.fail(process)?, Outcome::Failed { event }),
            Deed::Unknown => (history.unknown(process)?, Outcome::Unknown { event }),
        };
        let text = &mut texts[ended.index()];
        (text.ended, text.outcome) = (Some(line), outcome);
        *events += 1;
        open[process] = None;
        Ok(())
    }
}

/// Reads the recordings of an object; of several objects only the one with `wanted`, if given.
/// Those that `live` took are not among them.
pub(super) fn read<K: Interface>(
    kind: &K,
    object: &Object,
    input: impl Read,
    format: Option<Format>,
    wanted: Option<&Value>,
    mut live: Live<'_, K>,
) -> Result<Recordings<K>, ReadError> {
    let vocabulary = Vocabulary::new(object, kind.signatures());
    let mut lines = Source::new(input, format, vocabulary);
    let mut numbers: HashMap<Option<Value>, usize> = HashMap::new();
    let mut objects: Vec<Building<K>> = Vec::new();
    let mut seen: Option<Location> = None;
    while let Some(read) = lines.next() {
        let (location, line) = read?;
        let at = (location.column - 1) as usize;
        let fail = |kind: ReadErrorKind| lines.fail((at, kind));
        let (key, process, deed) = match line {
            Line::Event { key, process, deed } => (key, process, deed),
            Line::Object(_) if seen.is_some() => return Err(fail(ReadErrorKind::LateHeader)),
            Line::Object(name) => {
                seen = Some(location);
                if !object.is_named(&name) {
                    let wanted = object.to_string();
                    return Err(fail(ReadErrorKind::OtherObject { found: name, wanted }));
                }
                continue;
            }
        };
        seen = Some(location);
        if let Some(first) = objects.first()
            && first.key.is_some() != key.is_some()
        {
            return Err(fail(ReadErrorKind::Keys { has_key: key.is_some() }));
        }
        let number = match numbers.get(&key) {
            Some(&number) => number,
            None => {
                objects.push(Building::new(key.clone()));
                numbers.insert(key, objects.len() - 1);
                objects.len() - 1
            }
        };
        let building = &mut objects[number];
        if building.is_over || (wanted.is_some() && building.key.as_ref() != wanted) {
            continue;
        }
        building.take(kind, process, deed, location.line).map_err(fail)?;
        let goes_on = match &mut live {
            Live::Off => true,
            Live::Stop => !building.is_alarm(kind),
            Live::Take(take) if building.is_alarm(kind) => {
                let over = Building { is_over: true, ..Building::new(building.key.clone()) };
                take(std::mem::replace(building, over).finish())
            }
            Live::Take(_) => true,
        };
        if !goes_on {
            break;
        }
    }
    let missing = match (seen, wanted) {
        (None, _) if !lines.has_others() => Some(ReadErrorKind::Empty),
        (_, Some(wanted)) if !numbers.contains_key(&Some(wanted.clone())) => {
            Some(ReadErrorKind::NoKey { wanted: wanted.clone() })
        }
        _ => None,
    };
    if let Some(kind) = missing {
        return Err(ReadError { location: Location::START, kind, line: None });
    }
    if objects.is_empty() {
        objects.push(Building::new(None));
    }
    let is_wanted = |building: &Building<K>| {
        !building.is_over && (wanted.is_none() || building.key.as_ref() == wanted)
    };
    let objects = objects.into_iter().filter(is_wanted).map(Building::finish).collect();
    Ok(Recordings { objects, format: lines.format(), backwards: lines.backwards() })
}

fn no_operation(signatures: &'static [Signature], found: &str) -> ReadErrorKind {
    let names: Vec<&'static str> = signatures.iter().map(|known| known.name).collect();
    let all: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    ReadErrorKind::Unexpected {
        expected: format!("{}, `ok`, `fail` or `unknown`", all.join(", ")),
        found: quoted(Some(found)),
        nearest: nearest(found, &names).or_else(|| nearest(found, &["ok", "fail", "unknown"])),
    }
}

/// Returns the error for results that an operation of this name cannot have.
fn no_results(signatures: &[Signature], name: &str, results: &[Token]) -> ReadErrorKind {
    let known = signatures.iter().find(|known| known.name == name);
    let expected = known.map_or("", |known| known.results);
    let found: Vec<String> = results.iter().map(ToString::to_string).collect();
    let found = if found.is_empty() { "nothing".to_owned() } else { quoted(Some(found.join(" "))) };
    let article = if name.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
    let expected = format!("{expected} after `ok`, which ends {article} `{name}`");
    ReadErrorKind::Unexpected { expected, found, nearest: None }
}
