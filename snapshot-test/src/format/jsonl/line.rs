//! From the fields of a line to an event or a header.

use snapshot_core::history::{Admission, Declaration, Writers};
use snapshot_core::{Process, Segment};

use super::fields::{Fields, Returned, Size, Word};
use crate::Value;
use crate::format::detect::is_map_of_edn;
use crate::format::error::{Fault, Found, ReadErrorKind};
use crate::format::names::{Kind, Naming, id};
use crate::format::text::cursor::{Cursor, Step, saturated};
use crate::format::{Format, Object, Payload, Shape};
use crate::stamp::Stamp;

#[derive(Debug)]
pub(super) enum Line {
    Event(Event),
    Header(Declaration<Value>, Object),
}

/// An event; its values are the parsed ones.
#[derive(Debug)]
pub(super) struct Event {
    pub process: Process,
    pub shape: Shape,
    pub key: Option<Value>,
    pub time: Option<Stamp>,
}

/// Parses a line, which begins with `indent` blanks.
pub(super) fn parse(
    line: &[u8],
    indent: usize,
    payload: &mut Payload,
    naming: &mut Naming,
    number: u64,
) -> Step<Line> {
    let text = match std::str::from_utf8(line) {
        Ok(text) => text,
        Err(error) => {
            let at = error.valid_up_to();
            return Err(Fault::new(at, 1, ReadErrorKind::NotUtf8(line[at])));
        }
    };
    if line[indent] != b'{' {
        let mut cursor = Cursor::new(line, Format::Jsonl);
        cursor.advance(indent);
        return Err(cursor.unexpected_event("a JSON object", &[]));
    }
    if is_map_of_edn(&line[indent..]) {
        let found = Found::new(text[indent..].trim_end());
        let width = text[indent..].trim_end().len();
        return Err(Fault::new(indent, width, ReadErrorKind::UnknownFormat { found }));
    }
    let mut fields = Fields::new(payload, naming, number);
    let mut json = serde_json::Deserializer::from_str(text.trim_end());
    let parsed = serde::de::DeserializeSeed::deserialize(&mut fields, &mut json);
    if let Err(error) = parsed.and_then(|()| json.end()) {
        return Err(defect(line, &error, fields.defect.take()));
    }
    interpret(&mut fields, text.trim_end()).map_err(|kind| {
        let (at, width) = kind_place(line, indent, &kind);
        Fault::new(at, width, kind)
    })
}

/// Returns the fault that made serde stop.
fn defect(line: &[u8], error: &serde_json::Error, kind: Option<ReadErrorKind>) -> Box<Fault> {
    let passed = error.column().min(line.len());
    let control =
        |byte: &u8| (*byte < 0x20 && !matches!(byte, b'\t' | b'\n' | b'\r')) || *byte == 0x7f;
    match kind {
        None => {
            if let Some(at) = line.iter().position(control) {
                return Fault::new(at, 1, ReadErrorKind::ControlByte(line[at]));
            }
            let whole = error.to_string();
            let message = whole.rfind(" at line ").map_or(whole.as_str(), |end| &whole[..end]);
            let kind = ReadErrorKind::Json { message: message.to_owned() };
            Fault::new(passed.saturating_sub(1), 1, kind)
        }
        Some(ReadErrorKind::ValueOutOfRange { .. }) => number(line, passed),
        Some(kind) => {
            let (at, width) = match &kind {
                ReadErrorKind::UnknownField { found, .. }
                | ReadErrorKind::Unexpected { found, .. }
                | ReadErrorKind::DuplicateField { found }
                | ReadErrorKind::Undeclared { found, .. }
                | ReadErrorKind::NameAmongNumbers { found, .. } => {
                    last_place(&line[..passed], found.text()).unwrap_or((passed - 1, 1))
                }
                ReadErrorKind::SeveralSegments => {
                    last_place(&line[..passed], "segment").unwrap_or((passed - 1, 1))
                }
                ReadErrorKind::NumberAmongNames { found, .. } => {
                    let width = found.text().len().min(passed);
                    (passed - width, width)
                }
                _ => (passed.saturating_sub(1), 1),
            };
            Fault::new(at, width, kind)
        }
    }
}

/// Returns the fault of the number that ends after `passed` bytes and is not a 64-bit integer.
fn number(line: &[u8], passed: usize) -> Box<Fault> {
    let is_part =
        |byte: &&u8| byte.is_ascii_digit() || matches!(byte, b'-' | b'+' | b'.' | b'e' | b'E');
    let width = line[..passed].iter().rev().take_while(is_part).count();
    let token = &line[passed - width..passed];
    let found = Found::new(&String::from_utf8_lossy(token));
    let is_integer = token.iter().all(|byte| byte.is_ascii_digit() || *byte == b'-');
    let kind = if is_integer {
        ReadErrorKind::ValueOutOfRange { found, reading: Format::Jsonl }
    } else {
        let expected = "a value: an integer or a string";
        ReadErrorKind::Unexpected { expected, found, nearest: None }
    };
    Fault::new(passed - width, width.max(1), kind)
}

/// Returns the position of the field or number of this error.
fn kind_place(line: &[u8], indent: usize, kind: &ReadErrorKind) -> (usize, usize) {
    let place = match kind {
        ReadErrorKind::UnknownField { found, .. }
        | ReadErrorKind::NameTwice { found, .. }
        | ReadErrorKind::Undeclared { found, .. }
        | ReadErrorKind::NameAmongNumbers { found, .. } => last_place(line, found.text()),
        ReadErrorKind::IdOutOfRange { what, .. } => last_place(line, what),
        ReadErrorKind::SizeOutOfRange { what, .. } => last_place(line, what),
        ReadErrorKind::UnknownVersion { .. } => last_place(line, "snapshot-history"),
        ReadErrorKind::SeveralSegments => {
            last_place(line, "segments").or_else(|| last_place(line, "values"))
        }
        _ => None,
    };
    place.unwrap_or((indent, 1))
}

/// Returns the last position of the quoted `name`, without its quotes.
fn last_place(line: &[u8], name: &str) -> Option<(usize, usize)> {
    let quoted = format!("\"{name}\"");
    let at = memchr::memmem::rfind(line, quoted.as_bytes())?;
    Some((at + 1, name.len()))
}

fn interpret(fields: &mut Fields<'_>, text: &str) -> Result<Line, ReadErrorKind> {
    if fields.version.is_some() {
        return header(fields).map(|(declaration, object)| Line::Header(declaration, object));
    }
    let header_only = ["segments", "processes", "initial", "writers", "object"];
    if fields.event.is_none() && header_only.iter().any(|name| fields.has(name)) {
        let within = "a header line";
        return Err(ReadErrorKind::MissingField { field: "snapshot-history", within });
    }
    let missing = |field, within| ReadErrorKind::MissingField { field, within };
    let process = fields.process.ok_or(missing("process", "an event"))?;
    let process = id(Process::new(saturated(process)), process)?;
    let event = fields.event.ok_or(missing("event", "an event"))?;
    let shape = match event {
        Word::Invoke => match fields.operation.ok_or(missing("operation", "an invocation"))? {
            Word::Update => {
                if fields.has("segments") || fields.has("values") {
                    return Err(ReadErrorKind::SeveralSegments);
                }
                let segment = match fields.segment {
                    Some(segment) => segment,
                    None if fields.naming.has_numbers(Kind::Segment)
                        && fields.naming.has_numbers(Kind::Process) =>
                    {
                        process.index() as u64
                    }
                    None => fields.naming.own(process, fields.line)?,
                };
                let segment = id(Segment::new(saturated(segment)), segment)?;
                if !fields.has("value") {
                    return Err(missing("value", "the invocation of an update"));
                }
                let allowed = &["process", "event", "operation", "segment", "value"];
                only(fields, "the invocation of an update", allowed)?;
                Shape::InvokeUpdate(segment)
            }
            Word::Exchange => {
                if !fields.has("value") {
                    return Err(missing("value", "the invocation of an exchange"));
                }
                let allowed = &["process", "event", "operation", "value"];
                only(fields, "the invocation of an exchange", allowed)?;
                Shape::InvokeExchange
            }
            _ => {
                only(fields, "the invocation of a scan", &["process", "event", "operation"])?;
                Shape::InvokeScan
            }
        },
        Word::Ok => {
            only(fields, "a response", &["process", "event", "values"])?;
            match (fields.has("values"), fields.returned) {
                (false, _) => Shape::RespondUpdate,
                (true, Returned::All) => Shape::RespondScan,
                (true, Returned::Some(segments)) => Shape::RespondPartialScan(segments),
            }
        }
        Word::Fail => {
            only(fields, "a failure", &["process", "event"])?;
            Shape::Fail
        }
        _ => {
            only(fields, "an unknown outcome", &["process", "event"])?;
            Shape::Unknown
        }
    };
    let time = fields.time.of(text);
    Ok(Line::Event(Event { process, shape, key: fields.key.take(), time }))
}

fn header(fields: &mut Fields<'_>) -> Result<(Declaration<Value>, Object), ReadErrorKind> {
    if let Some(found) = fields.version.filter(|version| *version != 1) {
        return Err(ReadErrorKind::UnknownVersion { found });
    }
    let allowed = &["snapshot-history", "segments", "processes", "initial", "writers", "object"];
    only(fields, "a header line", allowed)?;
    let mut declaration = Declaration::new(Value::ZERO);
    declaration.segments = size(fields, Kind::Segment)?;
    declaration.processes = size(fields, Kind::Process)?;
    declaration.initial = std::mem::take(&mut fields.payload.values);
    if !declaration.initial.is_empty() && declaration.segments.is_none() {
        if fields.naming.is_named(Kind::Segment) {
            return Err(ReadErrorKind::ListOfNamed { kind: Kind::Segment });
        }
        fields.naming.number(Kind::Segment, 0, fields.line)?;
    }
    if fields.writers == Some(Word::Many) {
        declaration.writers = Writers::Many;
    }
    Admission::new(&declaration).map_err(|error| ReadErrorKind::Declaration(error.kind))?;
    let object = match fields.object {
        Some(Word::Immediate) => Object::Immediate,
        _ => Object::Snapshot,
    };
    if object == Object::Immediate {
        fields.naming.name_own_segments(fields.line)?;
    }
    Ok((declaration, object))
}

/// Returns the number of processes or segments that a header states; declares their names.
fn size(fields: &mut Fields<'_>, kind: Kind) -> Result<Option<usize>, ReadErrorKind> {
    let (given, limit) = match kind {
        Kind::Process => (std::mem::take(&mut fields.processes), Process::LIMIT + 1),
        Kind::Segment => (std::mem::take(&mut fields.segments), Segment::LIMIT + 1),
    };
    match given {
        Size::None => Ok(None),
        Size::Count(given) if given == 0 || given > limit as u64 => {
            let found = Found::new(&given.to_string());
            let (what, limit) = (kind.plural(), limit as u64);
            Err(ReadErrorKind::SizeOutOfRange { what, found, limit })
        }
        Size::Count(given) => {
            fields.naming.number(kind, 0, fields.line)?;
            Ok(Some(saturated(given)))
        }
        Size::Numbers(numbers) => {
            let found = Found::new(&format!("{numbers:?}"));
            let (what, limit) = (kind.plural(), limit as u64);
            Err(ReadErrorKind::SizeOutOfRange { what, found, limit })
        }
        Size::Names(names) if names.is_empty() => {
            fields.naming.open(kind, fields.line);
            Ok(None)
        }
        Size::Names(names) => {
            let count = names.len();
            fields.naming.declare(kind, names, fields.line)?;
            Ok(Some(count))
        }
    }
}

/// Refuses fields that lines of this kind do not have. Every event may have a key.
fn only(
    fields: &Fields<'_>,
    within: &'static str,
    allowed: &[&'static str],
) -> Result<(), ReadErrorKind> {
    let is_allowed =
        |field: &&str| allowed.contains(field) || (*field == "key" && fields.version.is_none());
    match fields.given().find(|field| !is_allowed(field)) {
        Some(field) => {
            let found = Found::new(field);
            Err(ReadErrorKind::UnknownField { within, found, nearest: None })
        }
        None => Ok(()),
    }
}
