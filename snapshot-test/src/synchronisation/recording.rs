//! From lines to the histories of an object, one per key.

use std::collections::HashMap;
use std::io::Read;

use snapshot_core::history::Outcome;
use snapshot_core::object::{ObjectKind, Watch};
use snapshot_core::{Names, Process};

use super::error::{ReadError, ReadErrorKind, quoted};
use super::interface::{Beyond, Fit, Interface, Signature};
use super::object::Object;
use super::reader::{Deed, Line};
use super::source::Source;
use super::token::Token;
use super::vocabulary::Vocabulary;
use crate::Value;
use crate::format::{Backwards, Format, Location, nearest};
use crate::judge::{Counts, Options};

/// An operation as its recording has it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Text {
    /// Its number in the recording, in the order of invocations.
    pub number: u64,
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
    /// Returns the operation and its result, as an input of this format has its values:
    /// `enqueue(5)`, `dequeue = 5`.
    pub fn deed(&self, format: Option<Format>) -> String {
        let mut deed = self.operation.to_owned();
        if !self.arguments.is_empty() {
            deed += &format!("({})", joined(&self.arguments, format));
        }
        match &self.results {
            Some(results) if !results.is_empty() => deed + " = " + &joined(results, format),
            _ => deed,
        }
    }
}

/// Returns the texts of tokens with commas, as an input of this format has them.
pub(super) fn joined(tokens: &[Token], format: Option<Format>) -> String {
    let tokens: Vec<String> = tokens.iter().map(|token| token.shown(format)).collect();
    tokens.join(", ")
}

/// The recording of one object, with the text of its operations.
pub(super) struct Recording<K: ObjectKind> {
    /// The key of the object, of several.
    pub key: Option<Value>,
    /// The object before the first operation, if some were forgotten.
    pub object: Option<K>,
    pub history: K::History,
    pub texts: Vec<Text>,
    /// Of all operations, also those that were forgotten.
    pub counts: Counts,
    pub watched: Option<Watched>,
    /// The names of processes.
    pub names: Names,
}

/// How a recording was judged while it was read.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Watched {
    /// True if it was judged at each event; else it was judged again as it grew, or at the end.
    pub is_online: bool,
    /// Number of operations that were forgotten since no later violation needed them.
    pub forgotten: u64,
    /// The most operations that were kept at once.
    pub most: usize,
}

/// The recordings in an input: one per key, in the order of their first events, or one without key.
pub(super) struct Recordings<K: ObjectKind> {
    pub objects: Vec<Recording<K>>,
    pub format: Option<Format>,
    /// Times that contradict the order of the lines.
    pub backwards: Option<Backwards>,
}

/// The recording of one object, as far as it was read.
struct Building<'k, K: Interface> {
    key: Option<Value>,
    watch: Watch<'k, K, K::Input, K::Output>,
    texts: Vec<Text>,
    counts: Counts,
    /// True while it is judged at each event.
    is_online: bool,
    /// True if it is judged while it is read.
    is_watched: bool,
    /// True behind an alarm: later events are not judged.
    is_over: bool,
}

/// What is done at the first violation of an object that rules find while it is read.
pub(super) enum Live<'a, K: ObjectKind> {
    /// Nothing: recordings are read to their end.
    Off,
    /// Reading ends.
    Stop,
    /// Reading ends, as it does where an object cannot be judged at each event; this is false then.
    Settle(&'a mut bool),
    /// The recording of the object up to there is taken, and the others go on; reading ends if the
    /// answer is false.
    Take(&'a mut dyn FnMut(Recording<K>) -> bool),
    /// Each event is passed on, and operations that have ended are forgotten; reading ends if the
    /// answer is false.
    Pass(&'a mut Pass<'a>),
}

/// Takes an event: the key of its object, its process, and what it does.
pub(crate) type Pass<'a> = dyn FnMut(Option<&Value>, usize, &Deed) -> bool + 'a;

/// Operations that are kept though they have ended, where events are passed on.
const ENDED: usize = 1 << 12;

/// Operations that are kept though no later violation needs them, unless there are more others: a
/// recording of a usual size is kept as a whole.
const SETTLED: usize = 1 << 14;

/// Returns the number of settled operations that are kept: all, if an order of all is wanted.
const fn most_settled(options: &Options) -> usize {
    if options.linearization || options.progress { usize::MAX } else { SETTLED }
}

impl<'k, K: Interface> Building<'k, K> {
    /// Begins a recording that is judged while it is read, if the options are given.
    fn new(kind: &'k K, key: Option<Value>, options: Option<&Options>) -> Self {
        let watch = match options {
            Some(options) => Watch::new(kind, most_settled(options)),
            None => Watch::off(kind),
        };
        Self {
            key,
            is_online: watch.is_online(),
            watch,
            texts: Vec::new(),
            counts: Counts::default(),
            is_watched: options.is_some(),
            is_over: false,
        }
    }

    fn finish(mut self) -> Recording<K> {
        self.watch.end();
        self.forget();
        let watched = self.is_watched.then(|| Watched {
            is_online: self.is_online,
            forgotten: self.watch.forgotten(),
            most: self.watch.most(),
        });
        let (history, object) = self.watch.finish();
        self.counts.events = history.len();
        let (key, texts, counts) = (self.key, self.texts, self.counts);
        Recording { key, object, history, texts, counts, watched, names: Names::default() }
    }

    /// Forgets the texts of operations that were forgotten.
    fn forget(&mut self) {
        if let Some(kept) = self.watch.take_kept() {
            let mut kept = kept.into_iter();
            self.texts.retain(|_| kept.next().unwrap_or(true));
        }
    }

    /// Forgets the operations that have ended, if they are many.
    fn forget_ended(&mut self) {
        if self.texts.len() >= ENDED + 2 * self.counts.pending as usize {
            let mut kept = self.watch.forget_ended().into_iter();
            self.texts.retain(|_| kept.next().unwrap_or(true));
        }
    }

    /// Judges the events so far. Returns true if they are a violation.
    fn is_alarm(&mut self) -> bool {
        let is_violation = self.watch.is_violation(&mut || true);
        self.is_online &= self.watch.is_online() || is_violation;
        self.forget();
        is_violation
    }

    /// Takes the event of a process in this line.
    fn take(
        &mut self,
        kind: &K,
        process: usize,
        deed: Deed,
        line: u64,
    ) -> Result<(), ReadErrorKind> {
        let Self { watch, texts, counts, .. } = self;
        let event = watch.history().len();
        let (ended, outcome) = match deed {
            Deed::Invoke { operation, arguments } => {
                let signatures = kind.signatures();
                let signature = signatures.iter().find(|known| known.name == operation);
                let Some(signature) = signature else {
                    return Err(no_operation(signatures, &operation));
                };
                let Some(input) = kind.input_of(process, &operation, &arguments) else {
                    let found =
                        [operation].into_iter().chain(arguments.iter().map(ToString::to_string));
                    let found: Vec<String> = found.collect();
                    return Err(ReadErrorKind::Unexpected {
                        expected: format!("`{}`", signature.usage),
                        found: quoted(Some(found.join(" "))),
                        nearest: None,
                    });
                };
                watch.invoke(process, input)?;
                texts.push(Text {
                    number: counts.operations,
                    operation: signature.name,
                    arguments,
                    results: None,
                    invoked: line,
                    ended: None,
                    process: Process::from_index(process),
                    begin: event,
                    outcome: Outcome::Pending,
                });
                counts.operations += 1;
                counts.pending += 1;
                counts.processes = counts.processes.max(process + 1);
                return Ok(());
            }
            Deed::Ok(results) => {
                let Some(id) = watch.open(process) else {
                    // Refused with the reason of a response without invocation.
                    return Ok(watch.unknown(process).map(|_| ())?);
                };
                let input = &watch.history().operations()[id.index()].input;
                let Some(output) = kind.output(input, &results) else {
                    let name = texts[id.index()].operation;
                    return Err(no_results(kind.signatures(), name, &results));
                };
                texts[id.index()].results = Some(results);
                counts.pending -= 1;
                (watch.respond(process, output)?, Outcome::Complete { response: event })
            }
            Deed::Fail => {
                let failed = watch.fail(process)?;
                counts.pending -= 1;
                counts.failed += 1;
                (failed, Outcome::Failed { event })
            }
            Deed::Unknown => (watch.unknown(process)?, Outcome::Unknown { event }),
        };
        let text = &mut texts[ended.index()];
        (text.ended, text.outcome) = (Some(line), outcome);
        Ok(())
    }
}

/// An input of one or several objects, as far as it was read.
struct Reading<'k, 'o, K: Interface, R> {
    kind: &'k K,
    object: &'o Object,
    lines: Source<R>,
    /// The object to read, of several.
    wanted: Option<&'o Value>,
    /// The options of what is judged while it is read.
    watched: Option<&'o Options>,
    /// The number of the object of each key.
    numbers: HashMap<Option<Value>, usize>,
    objects: Vec<Building<'k, K>>,
    /// True behind the first line.
    has_lines: bool,
    has_events: bool,
    /// Arguments that are within their ranges for some numbers of processes, each with its error.
    open: Vec<(K::Input, ReadError)>,
}

/// Reads the recordings of an object; of several objects only the one with `wanted`, if given.
/// Those that `live` took are not among them; `options` are for what is judged while it is read.
pub(super) fn read<K: Interface>(
    kind: &K,
    object: &Object,
    input: impl Read,
    format: Option<Format>,
    wanted: Option<&Value>,
    options: &Options,
    mut live: Live<'_, K>,
) -> Result<Recordings<K>, ReadError> {
    let vocabulary = Vocabulary::new(object, kind.signatures());
    let is_watched = !matches!(live, Live::Off | Live::Pass(_));
    let mut reading = Reading {
        kind,
        object,
        lines: Source::new(input, format, vocabulary),
        wanted,
        watched: is_watched.then_some(options),
        numbers: HashMap::new(),
        objects: Vec::new(),
        has_lines: false,
        has_events: false,
        open: Vec::new(),
    };
    while let Some(read) = reading.lines.next() {
        let (location, line) = read?;
        if !reading.take(location, line, &mut live)? {
            reading.open.clear();
            break;
        }
    }
    reading.finish()
}

impl<K: Interface, R: Read> Reading<'_, '_, K, R> {
    /// Takes a line. Returns false if reading ends with it.
    fn take(
        &mut self,
        location: Location,
        line: Line,
        live: &mut Live<'_, K>,
    ) -> Result<bool, ReadError> {
        let at = (location.column - 1) as usize;
        let taken = match line {
            Line::Event { key, process, deed } => {
                let taken = self.lines.process(&process).and_then(|process| {
                    (self.has_lines, self.has_events) = (true, true);
                    Ok((process, self.object_of(&key)?))
                });
                taken.map(|(process, number)| (process, number, deed))
            }
            header => {
                let taken = self.take_header(header);
                return taken.map(|()| true).map_err(|kind| self.lines.fail((at, kind)));
            }
        };
        let (process, number, deed) = taken.map_err(|kind| self.lines.fail((at, kind)))?;
        let building = &self.objects[number];
        if building.is_over || self.is_unwanted(building) {
            return Ok(true);
        }
        self.take_event(number, process, deed, location, live)
    }

    /// Takes a line before the events.
    fn take_header(&mut self, line: Line) -> Result<(), ReadErrorKind> {
        let is_object = matches!(line, Line::Object(..));
        if self.has_events || self.has_lines && is_object {
            return Err(ReadErrorKind::LateHeader);
        }
        match line {
            Line::Object(name, names) => {
                names.map_or(Ok(()), |names| self.lines.declare(names))?;
                if !self.object.is_named(&name) {
                    let wanted = self.object.to_string();
                    return Err(ReadErrorKind::OtherObject { found: name, wanted });
                }
            }
            Line::Name { process, name } => self.lines.declare_one(process, &name)?,
            Line::Event { .. } => {}
        }
        self.has_lines = true;
        Ok(())
    }

    /// Returns the number of the object with a key.
    fn object_of(&mut self, key: &Option<Value>) -> Result<usize, ReadErrorKind> {
        if let Some(first) = self.objects.first()
            && first.key.is_some() != key.is_some()
        {
            return Err(ReadErrorKind::Keys { has_key: key.is_some() });
        }
        if let Some(&number) = self.numbers.get(key) {
            return Ok(number);
        }
        self.objects.push(Building::new(self.kind, key.clone(), self.watched));
        self.numbers.insert(key.clone(), self.objects.len() - 1);
        Ok(self.objects.len() - 1)
    }

    fn is_unwanted(&self, building: &Building<'_, K>) -> bool {
        self.wanted.is_some() && building.key.as_ref() != self.wanted
    }

    /// Takes an event of an object. Returns false if reading ends with it.
    fn take_event(
        &mut self,
        number: usize,
        process: usize,
        deed: Deed,
        location: Location,
        live: &mut Live<'_, K>,
    ) -> Result<bool, ReadError> {
        let kind = self.kind;
        let Self { lines, objects, open, .. } = self;
        let building = &mut objects[number];
        let passed = matches!(live, Live::Pass(_)).then(|| deed.clone());
        let is_invocation = matches!(deed, Deed::Invoke { .. });
        let taken = building.take(kind, process, deed, location.line);
        taken.map_err(|kind| match kind {
            ReadErrorKind::NoOperation { .. } => lines.fail_at(None, kind),
            kind => lines.fail(((location.column - 1) as usize, kind.named(lines.names()))),
        })?;
        let last = building.watch.history().operations().last();
        if let Some(last) = last.filter(|_| is_invocation) {
            let refused = |beyond: Beyond| lines.fail_at(Some(beyond.argument), beyond.into());
            match kind.fit(&last.input, false) {
                Fit::Always => {}
                Fit::Open(beyond) => open.push((last.input.clone(), refused(beyond))),
                Fit::Never(beyond) => return Err(refused(beyond)),
            }
        }
        Ok(match live {
            Live::Off => true,
            Live::Pass(pass) => {
                building.forget_ended();
                passed.is_none_or(|deed| pass(building.key.as_ref(), process, &deed))
            }
            Live::Stop => !building.is_alarm(),
            Live::Settle(is_settled) => {
                **is_settled = !building.is_alarm() && building.is_online;
                **is_settled
            }
            Live::Take(take) if building.is_alarm() => {
                let over = Building { is_over: true, ..Building::new(kind, None, None) };
                let over = Building { key: building.key.clone(), ..over };
                let names = lines.names();
                take(Recording { names, ..std::mem::replace(building, over).finish() })
            }
            Live::Take(_) => true,
        })
    }

    /// Returns the recordings at the end of the input.
    fn finish(mut self) -> Result<Recordings<K>, ReadError> {
        for (input, error) in std::mem::take(&mut self.open) {
            if let Fit::Never(beyond) = self.kind.fit(&input, true) {
                return Err(ReadError { kind: beyond.into(), ..error });
            }
        }
        let missing = match self.wanted {
            _ if !self.has_lines && !self.lines.has_others() => Some(ReadErrorKind::Empty),
            Some(wanted) if !self.numbers.contains_key(&Some(wanted.clone())) => {
                Some(ReadErrorKind::NoKey { wanted: wanted.clone() })
            }
            _ => None,
        };
        if let Some(kind) = missing {
            return Err(ReadError { location: Location::START, kind, line: None });
        }
        let mut objects = std::mem::take(&mut self.objects);
        if objects.is_empty() {
            objects.push(Building::new(self.kind, None, self.watched));
        }
        objects.retain(|building| !building.is_over && !self.is_unwanted(building));
        let names = self.lines.names();
        let finish =
            |building: Building<'_, K>| Recording { names: names.clone(), ..building.finish() };
        let objects = objects.into_iter().map(finish).collect();
        let (format, backwards) = (self.lines.format(), self.lines.backwards());
        Ok(Recordings { objects, format, backwards })
    }
}

fn no_operation(signatures: &'static [Signature], found: &str) -> ReadErrorKind {
    let names: Vec<&'static str> = signatures.iter().map(|known| known.name).collect();
    let all: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    ReadErrorKind::NoOperation {
        expected: format!("{}, `ok`, `fail` or `unknown`", all.join(", ")),
        found: found.to_owned(),
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
