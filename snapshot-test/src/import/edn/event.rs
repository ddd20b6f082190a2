//! Maps of EDN as events.

use std::io::Read;
use std::sync::Arc;

use clojure_reader::edn::{self, Edn};

use super::super::place::{Fault, Spot, Step};
use super::super::{ImportErrorKind, Stamp};
use super::line;
use super::scan::{Forms, Head};
use super::stream::Stream;
use super::value::{malformed, short};
use crate::format::{BYTE_ORDER_MARK, Location};

/// The most names of operations that are shared among events.
const MOST_NAMES: usize = 256;

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Kind {
    Invoke,
    Ok,
    Fail,
    /// The outcome is not known.
    Info,
}

/// A value of an event, with its position.
#[derive(Clone, Debug)]
pub(crate) struct Placed {
    pub(crate) edn: Edn<'static>,
    pub(crate) spot: Spot,
}

/// An event of a client.
#[derive(Clone, Debug)]
pub(crate) struct Event {
    pub(crate) spot: Spot,
    pub(crate) process: i64,
    pub(crate) kind: Kind,
    /// `:f`.
    pub(crate) function: Arc<str>,
    pub(crate) function_at: Spot,
    /// `:value`; if absent, `nil` at the position of the event.
    pub(crate) value: Placed,
    /// `:key`, of a log of a key-value store.
    pub(crate) key: Option<Placed>,
    pub(crate) time: Option<Stamp>,
    /// True for a line of a console log, where a compare-and-set that failed saw another value.
    pub(crate) is_line: bool,
}

/// The events of all clients, in the order of the log: maps one after the other, or in a vector or
/// list. Events of a nemesis are left out. Memory is bounded by the longest event.
#[derive(Debug)]
pub(crate) struct Events<R> {
    stream: Stream<R>,
    /// The bracket around the events, its position and its place.
    sequence: Option<(u8, Spot, Location)>,
    names: Vec<Arc<str>>,
    is_begun: bool,
    /// True if the log has an event of a nemesis.
    has_skipped: bool,
}

/// A part of a log.
enum Part {
    /// The event of a client.
    Event(Box<Event>),
    /// The event of a nemesis.
    Skipped,
    /// The bracket around events opens.
    Opened(u8, Spot),
    /// The bracket around events closes.
    Closed,
    End,
}

impl<R: Read> Events<R> {
    pub(crate) const fn new(input: R) -> Self {
        Self {
            stream: Stream::new(input),
            sequence: None,
            names: Vec::new(),
            is_begun: false,
            has_skipped: false,
        }
    }

    /// Returns the next event; `None` at the end of the log.
    pub(crate) fn next(&mut self) -> Step<Option<Event>> {
        loop {
            let before = self.stream.before();
            let (text, at) = self.stream.piece();
            let mark = self.mark(text);
            let mut forms = Forms::new(text, at + mark);
            let sequence = self.sequence.map(|(bracket, spot, _)| (bracket, spot));
            let part = part(&mut forms, sequence, before, &mut self.names);
            let (reached, at) = (forms.reached(), forms.at());
            if reached && !self.stream.is_whole() {
                self.stream.lengthen();
                continue;
            }
            self.is_begun = true;
            self.stream.pass(at);
            if reached && let Some(fault) = self.stream.fault() {
                return Err(fault);
            }
            match part? {
                Part::Event(event) => return Ok(Some(*event)),
                Part::Skipped => self.has_skipped = true,
                Part::Opened(bracket, spot) => {
                    self.sequence = Some((bracket, spot, self.stream.locate(spot.at)));
                }
                Part::Closed => self.sequence = None,
                Part::End => return Ok(None),
            }
        }
    }

    /// Returns true if the log, as far as it was read, has an event of a nemesis.
    pub(crate) const fn has_skipped(&self) -> bool {
        self.has_skipped
    }

    /// Returns the place of a position in the event that was returned last, or of its fault.
    pub(crate) fn locate(&self, spot: Spot) -> Location {
        match self.sequence {
            Some((_, open, place)) if open.at == spot.at => place,
            _ => self.stream.locate(spot.at),
        }
    }

    /// Returns the line of a position in the event that was returned last, and the position in the
    /// line.
    pub(crate) fn line(&self, spot: Spot) -> (&[u8], usize) {
        self.stream.line(spot.at)
    }

    /// Returns the width of the byte order mark at the beginning of the log.
    fn mark(&self, text: &str) -> usize {
        let has_mark = !self.is_begun && text.as_bytes().starts_with(BYTE_ORDER_MARK);
        if has_mark { BYTE_ORDER_MARK.len() } else { 0 }
    }
}

/// Returns the next part of a log, of which `before` bytes precede these forms.
fn part(
    forms: &mut Forms<'_>,
    sequence: Option<(u8, Spot)>,
    before: usize,
    names: &mut Vec<Arc<str>>,
) -> Step<Part> {
    let behind = |fault: Box<Fault>| fault.with_offset(before);
    let (begin, head) = forms.head().map_err(behind)?;
    let part = match (head, sequence) {
        (Head::End, None) if forms.is_at_end() => Ok(Part::End),
        (Head::End, None) => {
            let message = "expected an event, found a bracket that closes nothing".to_owned();
            Err(ImportErrorKind::Edn { message }.at(forms.place()))
        }
        (Head::End, Some((bracket, open))) => {
            return forms.close_of(bracket, open, before).map(|()| Part::Closed);
        }
        (Head::Open(at), None) if forms.byte(at) != b'{' => {
            let spot = Spot { at: at + before, width: 1 };
            return Ok(Part::Opened(forms.byte(at), spot));
        }
        (Head::Open(at), _) if forms.byte(at) == b'{' => {
            event(forms, begin, at, names).map(|event| {
                event
                    .map_or(Part::Skipped, |event| Part::Event(Box::new(event.with_offset(before))))
            })
        }
        (Head::Other, None) if line::is_event(forms.text_from(begin)) => {
            line::event(forms, begin, names).map(|event| {
                event
                    .map_or(Part::Skipped, |event| Part::Event(Box::new(event.with_offset(before))))
            })
        }
        _ => Err(no_event(forms, begin)),
    };
    part.map_err(behind)
}

/// Returns the fault of a form that is not a map.
fn no_event(forms: &mut Forms<'_>, begin: usize) -> Box<Fault> {
    let form = match forms.form_at(begin) {
        Ok(Some(form)) => form,
        Ok(None) => forms.place(),
        Err(fault) => return fault,
    };
    let kind = ImportErrorKind::Field {
        field: "event",
        expected: "a map with :type, :process, :f and :value",
        found: format!("`{}`", forms.text(form).chars().take(40).collect::<String>()),
        cure: "an event looks like {:type :invoke, :process 0, :f :write, :value 5}",
    };
    kind.at(form)
}

/// The fields that are read.
pub(super) const FIELDS: [&str; 6] = [":process", ":type", ":f", ":value", ":time", ":key"];

/// Parses the event of a client, whose bracket at `open` was passed; `None` for a nemesis.
fn event(
    forms: &mut Forms<'_>,
    begin: usize,
    open: usize,
    names: &mut Vec<Arc<str>>,
) -> Step<Option<Event>> {
    let fields = fields(forms, open)?;
    of_fields(forms, Spot::new(begin, forms.at()), fields, names)
}

/// Parses the event of a client from the positions of the values of [`FIELDS`].
pub(super) fn of_fields(
    forms: &Forms<'_>,
    form: Spot,
    [process, kind, function, value, time, key]: [Option<Spot>; FIELDS.len()],
    names: &mut Vec<Arc<str>>,
) -> Step<Option<Event>> {
    let missing = |field| {
        let cure = "an event has :type, :process, :f and :value";
        ImportErrorKind::Missing { field, cure }.at(form)
    };
    let wrong = |field, expected, spot: Spot, cure| {
        let found = placed(forms, spot).map(|found| short(&found.edn));
        found.map_or_else(
            |fault| fault,
            |found| ImportErrorKind::Field { field, expected, found, cure }.at(spot),
        )
    };
    let process = process.ok_or_else(|| missing(":process"))?;
    let is_info = kind.is_some_and(|kind| forms.text(kind) == ":info");
    let number = || placed(forms, process).ok().and_then(|process| integer(&process.edn));
    let Some(number) = forms.text(process).parse().ok().or_else(number) else {
        let is_named = forms.text(process).starts_with(':');
        if is_info && is_named {
            return placed(forms, process).map(|_| None);
        }
        let cure = "only a nemesis, whose events are all :info, has a name";
        return Err(wrong(":process", "the number of a process", process, cure));
    };
    let kind = kind.ok_or_else(|| missing(":type"))?;
    let kind = match forms.text(kind) {
        ":invoke" => Kind::Invoke,
        ":ok" => Kind::Ok,
        ":fail" => Kind::Fail,
        ":info" => Kind::Info,
        _ => return Err(wrong(":type", ":invoke, :ok, :fail or :info", kind, "")),
    };
    let function_at = function.ok_or_else(|| missing(":f"))?;
    let function = match plain_keyword(forms.text(function_at)) {
        Some(name) => named(name, names),
        None => match &placed(forms, function_at)?.edn {
            Edn::Key(name) | Edn::Str(name) | Edn::Symbol(name) => named(name, names),
            _ => {
                let cure = "it names the operation: :write";
                return Err(wrong(":f", "a keyword", function_at, cure));
            }
        },
    };
    let time = match time.filter(|time| forms.text(*time) != "nil") {
        None => None,
        Some(time) => {
            let stamp = forms.text(time).parse();
            let cure = "it is an integer or a decimal number without an exponent";
            Some(stamp.map_err(|_| wrong(":time", "a number", time, cure))?)
        }
    };
    let key = key.map(|key| placed(forms, key)).transpose()?;
    let value = value.map_or(Ok(Placed { edn: Edn::Nil, spot: form }), |at| placed(forms, at))?;
    let spot = form;
    let is_line = false;
    Ok(Some(Event {
        spot,
        process: number,
        kind,
        function,
        function_at,
        value,
        key,
        time,
        is_line,
    }))
}

impl Event {
    /// Returns the event of a log with this many bytes before it.
    fn with_offset(mut self, before: usize) -> Self {
        self.spot.at += before;
        self.function_at.at += before;
        self.value.spot.at += before;
        if let Some(key) = &mut self.key {
            key.spot.at += before;
        }
        self
    }
}

/// Returns a name, shared with the events before.
fn named(name: &str, names: &mut Vec<Arc<str>>) -> Arc<str> {
    if let Some(known) = names.iter().find(|known| ***known == *name) {
        return known.clone();
    }
    let new: Arc<str> = Arc::from(name);
    if names.len() < MOST_NAMES {
        names.push(new.clone());
    }
    new
}

/// Returns the positions of the values of [`FIELDS`] in a map whose bracket was passed, and passes
/// the map. Other fields are ignored.
fn fields(forms: &mut Forms<'_>, open: usize) -> Step<[Option<Spot>; FIELDS.len()]> {
    let open = Spot { at: open, width: 1 };
    let mut fields = [None; FIELDS.len()];
    while let Some(name) = forms.next()? {
        let Some(value) = forms.next()? else {
            forms.close(open)?;
            let message = "expected a value behind the last key of the map".to_owned();
            return Err(ImportErrorKind::Edn { message }.at(name));
        };
        let text = forms.text(name);
        let Some(field) = FIELDS.iter().position(|field| *field == text) else { continue };
        if let Some(first) = fields[field] {
            let (field, found) = (FIELDS[field], text.to_owned());
            let kind = ImportErrorKind::DuplicateField { field, found };
            return Err(kind.at(name).against(first));
        }
        fields[field] = Some(value);
    }
    forms.close(open)?;
    Ok(fields)
}

/// Parses the value of a form.
fn placed(forms: &Forms<'_>, spot: Spot) -> Step<Placed> {
    let text = forms.text(spot);
    if let Some(edn) = usual(text) {
        return Ok(Placed { edn, spot });
    }
    match edn::read(text) {
        Ok((edn, "")) => Ok(Placed { edn: edn.into_owned(), spot }),
        Ok(_) => {
            let message = "a value of this form is not known here".to_owned();
            Err(ImportErrorKind::Edn { message }.at(spot))
        }
        Err(error) => {
            let at = spot.at + error.ptr.unwrap_or(0).min(text.len());
            let end = if error.ptr.is_some() { at + 1 } else { spot.at + spot.width };
            Err(malformed(&error).at(Spot::new(at, end.max(at))))
        }
    }
}

/// Parses `nil`, short natural numbers and plain keywords.
fn usual(text: &str) -> Option<Edn<'static>> {
    match text.as_bytes() {
        b"nil" => Some(Edn::Nil),
        digits @ [b'1'..=b'9', ..]
            if digits.len() < 19 && digits.iter().all(u8::is_ascii_digit) =>
        {
            let add = |sum: i64, byte: &u8| sum * 10 + i64::from(byte - b'0');
            Some(Edn::Int(digits.iter().fold(0, add)))
        }
        _ => plain_keyword(text).map(|name| Edn::Key(name.to_owned().into())),
    }
}

/// Returns the name of a keyword of small letters.
fn plain_keyword(text: &str) -> Option<&str> {
    let name = text.strip_prefix(':')?;
    let is_plain = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_lowercase());
    is_plain.then_some(name)
}

const fn integer(edn: &Edn<'_>) -> Option<i64> {
    match edn {
        Edn::Int(number) => Some(*number),
        _ => None,
    }
}
