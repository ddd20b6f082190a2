//! From lines to the histories of an object, one per key.

use std::collections::HashMap;
use std::io::Read;

use snapshot_core::OperationId;
use snapshot_core::generic::HistoryBuilder;
use snapshot_core::object::ObjectKind;

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
    /// Its name.
    pub operation: &'static str,
    /// Its arguments.
    pub arguments: Vec<Token>,
    /// What it returned, if it responded.
    pub results: Option<Vec<Token>>,
    /// The line of its invocation.
    pub invoked: u64,
    /// The line of its end, if there is one.
    pub ended: Option<u64>,
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
}

impl<K: Interface> Building<K> {
    fn new(key: Option<Value>) -> Self {
        Self { key, history: K::History::builder(), texts: Vec::new(), open: Vec::new() }
    }

    fn finish(self) -> Recording<K> {
        Recording { key: self.key, history: self.history.finish(), texts: self.texts }
    }

    /// Takes the event of a process in this line.
    fn take(
        &mut self,
        kind: &K,
        process: usize,
        deed: Deed,
        line: u64,
    ) -> Result<(), ReadErrorKind> {
        let Self { history, texts, open, .. } = self;
        let ended = match deed {
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
                });
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
                history.respond(process, output)?
            }
            Deed::Fail => history.fail(process)?,
            Deed::Unknown => history.unknown(process)?,
        };
        texts[ended.index()].ended = Some(line);
        open[process] = None;
        Ok(())
    }
}

/// Reads the recordings of an object; of several objects only the one with `wanted`, if given.
pub(super) fn read<K: Interface>(
    kind: &K,
    object: &Object,
    input: impl Read,
    format: Option<Format>,
    wanted: Option<&Value>,
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
        if wanted.is_some() && building.key.as_ref() != wanted {
            continue;
        }
        building.take(kind, process, deed, location.line).map_err(fail)?;
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
    let is_wanted = |building: &Building<K>| wanted.is_none() || building.key.as_ref() == wanted;
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
