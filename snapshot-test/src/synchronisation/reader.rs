//! Reading recordings of objects whose operations take effect together: text and JSON Lines.
//!
//! One line at a time, so memory is bounded by the longest line allowed and by what is kept of
//! the operations.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read};

use serde::Deserialize;
use snapshot_core::{Names, Process};

use super::error::{ReadError, ReadErrorKind, quoted};
use super::token::Token;
use crate::Value;
use crate::format::names::{self, Declared, Naming};
use crate::format::{
    Backwards, Clock, Format, Key, Kind, Location, ReadErrorKind as Defective, Time,
};
use crate::stamp::Stamp;

/// The longest line that is read, in bytes with its end.
pub const LINE_LIMIT: usize = 8 << 20;

/// Characters of the longest line that an error shows.
const MOST_SHOWN: usize = 120;

/// What a process does.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Deed {
    Invoke { operation: String, arguments: Vec<Token> },
    Ok(Vec<Token>),
    Fail,
    Unknown,
}

impl Deed {
    /// Returns the name of the event, and its arguments or results.
    pub fn parts(&self) -> (&'static str, &[Token]) {
        match self {
            Self::Invoke { arguments, .. } => ("invoke", arguments),
            Self::Ok(results) => ("ok", results),
            Self::Fail => ("fail", &[]),
            Self::Unknown => ("unknown", &[]),
        }
    }
}

/// A line that is not blank.
#[derive(Debug, Eq, PartialEq)]
pub(super) enum Line {
    /// The header: the object, and names of its processes, if it declares them.
    Object(String, Option<Vec<Box<str>>>),
    /// The name of a process, in the header.
    Name {
        process: usize,
        name: Box<str>,
    },
    Event {
        key: Option<Value>,
        process: Id,
        deed: Deed,
    },
}

/// A process, as a line has it.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq)]
#[serde(untagged, expecting = "a number from 0, or a name, as the `process`")]
pub(super) enum Id {
    Number(usize),
    Name(Box<str>),
}

/// A defect of a line: the byte at which it begins.
pub(super) type Defect = (usize, ReadErrorKind);

/// Reads lines.
pub(super) struct Lines<R> {
    input: BufReader<R>,
    format: Option<Format>,
    number: u64,
    offset: u64,
    bytes: Vec<u8>,
    clock: Clock,
    /// The keys of events with times, numbered.
    keys: HashMap<Value, Key>,
    naming: Naming,
    /// Names that header lines have declared, until the first event.
    declared: Declared,
}

impl<R: Read> Lines<R> {
    /// `format`: `None` takes a line that begins with `{` for JSON Lines.
    pub fn new(input: R, format: Option<Format>) -> Self {
        Self {
            input: BufReader::new(input),
            format,
            number: 0,
            offset: 0,
            bytes: Vec::new(),
            clock: Clock::default(),
            keys: HashMap::new(),
            naming: Naming::default(),
            declared: Declared::default(),
        }
    }

    /// Returns the names of processes so far.
    pub fn names(&self) -> Names {
        self.naming.so_far().get()
    }

    /// Takes the names of processes that a header declares.
    pub fn declare(&mut self, names: Vec<Box<str>>) -> Result<(), ReadErrorKind> {
        let line = self.number;
        let declared = match names.is_empty() {
            true => {
                self.naming.open(Kind::Process, line);
                Ok(())
            }
            false => self.naming.declare(Kind::Process, names, line),
        };
        declared.map_err(ReadErrorKind::from)
    }

    /// Takes the name of a process from a header line.
    pub fn declare_one(&mut self, process: usize, name: &str) -> Result<(), ReadErrorKind> {
        let process = names::id(Process::new(process), process as u64)?;
        Ok(self.declared.add(Kind::Process, process.index(), name, self.number)?)
    }

    /// Returns the number of the process of an event.
    pub fn process(&mut self, process: &Id) -> Result<usize, ReadErrorKind> {
        std::mem::take(&mut self.declared).finish((None, None), &mut self.naming)?;
        let (kind, line) = (Kind::Process, self.number);
        match process {
            Id::Name(name) => Ok(self.naming.name(kind, name, line)? as usize),
            // Text has numbers also for processes with names.
            Id::Number(number) if self.format == Some(Format::Jsonl) => {
                self.naming.number(kind, *number as u64, line)?;
                Ok(*number)
            }
            Id::Number(number) => {
                let count = self.naming.so_far().with(|names| names.processes().len());
                if count > 0 && *number >= count {
                    return Err(Defective::Unnamed { kind, number: *number }.into());
                }
                Ok(*number)
            }
        }
    }

    /// Returns the number of the key of an event, if it has one.
    fn number(&mut self, line: &Line) -> Option<Key> {
        let Line::Event { key: Some(key), .. } = line else { return None };
        let next = Key::new(self.keys.len());
        Some(*self.keys.entry(key.clone()).or_insert(next))
    }

    /// The format, once a line was read.
    pub const fn format(&self) -> Option<Format> {
        self.format
    }

    /// Times so far that contradict the order of the lines.
    pub fn backwards(&self) -> Option<Backwards> {
        self.clock.noticed().backwards()
    }

    /// The next line that is not blank, with its place.
    pub fn next(&mut self) -> Option<Result<(Location, Line), ReadError>> {
        loop {
            self.offset += self.bytes.len() as u64;
            self.number += 1;
            self.bytes.clear();
            let limit = LINE_LIMIT as u64 + 1;
            let read = (&mut self.input).take(limit).read_until(b'\n', &mut self.bytes);
            match read {
                Ok(0) => return None,
                Ok(_) => {}
                Err(error) => return Some(Err(self.fail((0, error.into())))),
            }
            match self.line() {
                Ok(None) => {}
                Ok(Some((at, line, time))) => {
                    let location = self.location(at);
                    if let Some(time) = time {
                        let key = self.number(&line);
                        self.clock.observe(key, time, || location);
                    }
                    return Some(Ok((location, line)));
                }
                Err(defect) => return Some(Err(self.fail(defect))),
            }
        }
    }

    fn line(&mut self) -> Result<Option<(usize, Line, Option<Stamp>)>, Defect> {
        if self.bytes.len() > LINE_LIMIT {
            return Err((0, ReadErrorKind::TooLong));
        }
        if self.number == 1 && self.bytes.starts_with(b"\xef\xbb\xbf") {
            self.bytes.drain(..3);
            self.offset = 3;
        }
        let text = std::str::from_utf8(&self.bytes)
            .map_err(|error| (error.valid_up_to(), ReadErrorKind::NotUtf8))?;
        let at = text.len() - text.trim_start().len();
        let is_comment = text[at..].starts_with('#') && self.format != Some(Format::Jsonl);
        if at == text.len() || is_comment {
            return Ok(None);
        }
        if !text.ends_with('\n') {
            return Err((text.len(), ReadErrorKind::Truncated));
        }
        let format = *self.format.get_or_insert(if text[at..].starts_with('{') {
            Format::Jsonl
        } else {
            Format::Text
        });
        let (line, time) = match format {
            Format::Jsonl => json(text, at)?,
            _ => (words(text)?, None),
        };
        Ok(Some((at, line, time)))
    }

    /// The place of a byte of the line read last.
    pub fn location(&self, at: usize) -> Location {
        let before = &self.bytes[..at.min(self.bytes.len())];
        let column = String::from_utf8_lossy(before).chars().count() as u64 + 1;
        Location { line: self.number, column, offset: self.offset + at as u64 }
    }

    /// The byte at which an argument, or the operation, of the invocation read last begins; of
    /// several values in JSON, that of the first.
    pub fn part(&self, argument: Option<usize>) -> usize {
        let text = std::str::from_utf8(&self.bytes).unwrap_or_default();
        if self.format == Some(Format::Jsonl) {
            let field = if argument.is_none() { "\"operation\"" } else { "\"value" };
            let field = text.find(field).unwrap_or(0);
            let value = text[field..].find(':').map_or(field, |colon| field + colon + 1);
            return text.len() - text[value..].trim_start_matches([' ', '\t', '[', '"']).len();
        }
        // The key, if any, and the process stand before the operation.
        let before = 1 + usize::from(text.trim_start().starts_with('@'));
        let (mut at, mut rest) = (0, 0);
        for _ in 0..=before + argument.map_or(0, |argument| argument + 1) {
            let Some((_, begin, end)) = word(text, rest) else { break };
            (at, rest) = (begin, end);
        }
        at
    }

    /// The error of a defect of the line read last.
    pub fn fail(&self, (at, kind): Defect) -> ReadError {
        let line = shown(&self.bytes);
        ReadError { location: self.location(at), kind, line }
    }
}

/// A line as an error shows it, if it is short and printable.
pub(super) fn shown(line: &[u8]) -> Option<String> {
    let line = String::from_utf8_lossy(line).trim_end().replace('\t', " ");
    let is_shown = !line.trim().is_empty()
        && line.chars().count() <= MOST_SHOWN
        && !line.chars().any(char::is_control);
    Some(line).filter(|_| is_shown)
}

fn unexpected(at: usize, expected: &str, found: Option<&str>) -> Defect {
    let kind = ReadErrorKind::Unexpected {
        expected: expected.to_owned(),
        found: quoted(found),
        nearest: None,
    };
    (at, kind)
}

/// A line of the text format.
fn words(text: &str) -> Result<Line, Defect> {
    let (first, at, mut rest) = word(text, 0).ok_or_else(|| unexpected(0, "an event", None))?;
    if first == "object" {
        let name = word(text, rest);
        let (name, _, rest) =
            name.ok_or_else(|| unexpected(text.trim_end().len(), "the name of an object", None))?;
        return match word(text, rest) {
            None => Ok(Line::Object(name.to_owned(), None)),
            Some((more, at, _)) => Err(unexpected(at, "the end of the line", Some(more))),
        };
    }
    if first == "process" {
        return named(text, rest);
    }
    let (key, first, at) = match first.strip_prefix('@') {
        None => (None, first, at),
        Some(name) => {
            let Some(Token::Value(key)) = token(name) else {
                let expected = "a key: `@` with an integer or a text in double quotes";
                return Err(unexpected(at, expected, Some(first)));
            };
            let next = word(text, rest);
            let (first, at, after) =
                next.ok_or_else(|| unexpected(text.trim_end().len(), "a process", None))?;
            rest = after;
            (Some(key), first, at)
        }
    };
    let number = first.strip_prefix('p').filter(|digits| !digits.starts_with('+'));
    let process =
        number.and_then(|digits| digits.parse().ok()).map(Id::Number).ok_or_else(|| {
            unexpected(
                at,
                "a process such as `p0`, or `object NAME` in the first line",
                Some(first),
            )
        })?;
    let (verb, at, after) = word(text, rest).ok_or_else(|| {
        unexpected(text.trim_end().len(), "an operation, `ok`, `fail` or `unknown`", None)
    })?;
    rest = after;
    let mut tokens = Vec::new();
    while let Some((found, at, after)) = word(text, rest) {
        tokens.push(token(found).ok_or_else(|| {
            let expected =
                "an integer, a text in double quotes, `true`, `false`, `none` or `closed`";
            unexpected(at, expected, Some(found))
        })?);
        rest = after;
    }
    let deed = match verb {
        "ok" => Deed::Ok(tokens),
        "fail" | "unknown" => {
            if !tokens.is_empty() {
                return Err(unexpected(at, &format!("nothing after `{verb}`"), Some(text.trim())));
            }
            if verb == "fail" { Deed::Fail } else { Deed::Unknown }
        }
        _ => Deed::Invoke { operation: verb.to_owned(), arguments: tokens },
    };
    Ok(Line::Event { key, process, deed })
}

/// The rest of a line such as `process p0 "client-1"`.
fn named(text: &str, from: usize) -> Result<Line, Defect> {
    let end = text.trim_end().len();
    let expected = "a process such as `p0`";
    let (found, at, rest) = word(text, from).ok_or_else(|| unexpected(end, expected, None))?;
    let digits = found.strip_prefix('p').filter(|digits| !digits.starts_with('+'));
    let process = digits.and_then(|digits| digits.parse().ok());
    let process = process.ok_or_else(|| unexpected(at, expected, Some(found)))?;
    let expected = "a name in double quotes";
    let (found, at, rest) = word(text, rest).ok_or_else(|| unexpected(end, expected, None))?;
    let Some(Token::Value(Value::Text(name))) = token(found) else {
        return Err(unexpected(at, expected, Some(found)));
    };
    match word(text, rest) {
        None => Ok(Line::Name { process, name: (*name).into() }),
        Some((more, at, _)) => Err(unexpected(at, "the end of the line", Some(more))),
    }
}

/// The next word from byte `from` on, where it begins and where it ends; comments are blanks.
fn word(text: &str, from: usize) -> Option<(&str, usize, usize)> {
    let rest = &text[from..];
    let at = from + (rest.len() - rest.trim_start().len());
    let rest = &text[at..];
    if rest.is_empty() || rest.starts_with('#') {
        return None;
    }
    let mut is_quoted = false;
    let mut is_escaped = false;
    for (index, character) in rest.char_indices() {
        if is_escaped {
            is_escaped = false;
        } else if is_quoted && character == '\\' {
            is_escaped = true;
        } else if character == '"' {
            is_quoted = !is_quoted;
        } else if !is_quoted && character.is_whitespace() {
            return Some((&rest[..index], at, at + index));
        }
    }
    Some((rest.trim_end(), at, text.len()))
}

fn token(word: &str) -> Option<Token> {
    match word {
        "true" => Some(Token::Truth(true)),
        "false" => Some(Token::Truth(false)),
        "none" => Some(Token::None),
        "closed" => Some(Token::Closed),
        _ if word.starts_with('"') => {
            let text: String = serde_json::from_str(word).ok()?;
            Some(Token::Value(Value::from(text.as_str())))
        }
        _ if word.starts_with('+') => None,
        _ => word.parse().ok().map(|number: i64| Token::Value(Value::from(number))),
    }
}

/// The fields of a line of JSON Lines.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Fields {
    #[serde(rename = "snapshot-history")]
    version: Option<u64>,
    object: Option<String>,
    #[serde(default, deserialize_with = "given")]
    key: Option<Token>,
    process: Option<Id>,
    processes: Option<Vec<Box<str>>>,
    event: Option<Event>,
    operation: Option<String>,
    #[serde(default, deserialize_with = "given")]
    value: Option<Token>,
    values: Option<Vec<Token>>,
    closed: Option<bool>,
    #[serde(default)]
    time: Time,
    #[serde(rename = "comment")]
    _comment: Option<serde::de::IgnoredAny>,
}

#[derive(Clone, Copy, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "lowercase")]
enum Event {
    Invoke,
    Ok,
    Fail,
    Unknown,
}

/// A field that is there, be it `null`.
fn given<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Token>, D::Error> {
    Token::deserialize(deserializer).map(Some)
}

/// A line of JSON, with the time of its event.
fn json(text: &str, at: usize) -> Result<(Line, Option<Stamp>), Defect> {
    let fields: Fields = serde_json::from_str(text.trim_end()).map_err(|error| {
        let whole = error.to_string();
        let end = whole.rfind(" at line ").unwrap_or(whole.len());
        let at = error.column().saturating_sub(1).min(text.trim_end().len());
        let at = (0..=at).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
        (at, ReadErrorKind::Json { message: whole[..end].to_owned() })
    })?;
    let fail = |message: &str| (at, ReadErrorKind::Json { message: message.to_owned() });
    if let Some(version) = fields.version {
        if version != 1 {
            return Err(fail(&format!("expected version 1, found version {version}")));
        }
        let is_event = fields.event.is_some() || fields.process.is_some();
        return match fields.object {
            Some(object) if !is_event => Ok((Line::Object(object, fields.processes), None)),
            _ => Err(fail(
                "a header has the fields `snapshot-history` and `object`, perhaps `processes`, and \
                 no others",
            )),
        };
    }
    let process = fields.process.ok_or_else(|| fail("an event has a `process`"))?;
    let event = fields.event.ok_or_else(|| fail("an event has an `event`"))?;
    let mut tokens = match (fields.value, fields.values) {
        (Some(_), Some(_)) => return Err(fail("expected `value` or `values`, found both")),
        (Some(token), None) => vec![token],
        (None, values) => values.unwrap_or_default(),
    };
    if fields.closed == Some(true) {
        tokens.push(Token::Closed);
    }
    let deed = match event {
        Event::Invoke => {
            let operation =
                fields.operation.ok_or_else(|| fail("an invocation has an `operation`"))?;
            Deed::Invoke { operation, arguments: tokens }
        }
        _ if fields.operation.is_some() => {
            return Err(fail("only an invocation has an `operation`"));
        }
        Event::Ok => Deed::Ok(tokens),
        _ if !tokens.is_empty() => return Err(fail("only `invoke` and `ok` have values")),
        Event::Fail => Deed::Fail,
        Event::Unknown => Deed::Unknown,
    };
    let key = match fields.key {
        None => None,
        Some(Token::Value(key)) => Some(key),
        Some(_) => return Err(fail("a `key` is an integer or a string")),
    };
    Ok((Line::Event { key, process, deed }, fields.time.of(text.trim_end())))
}
