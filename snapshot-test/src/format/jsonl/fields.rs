//! The raw fields of a line.
//!
//! Parsing with a visitor instead of into a tree keeps the reader free of
//! allocations for integers, bounds the number of values while they are read,
//! and lets a defect be reported by its own kind of error. serde carries only
//! texts of errors, so the kind travels beside it, in [`Fields::defect`].

use std::borrow::Cow;
use std::fmt;
use std::num::NonZeroU32;

use serde::de::{DeserializeSeed, Error, IgnoredAny, MapAccess, SeqAccess, Unexpected, Visitor};
use serde::{Deserialize, Deserializer};
use snapshot_core::Segment;

use super::time::Time;
use super::values::{OneValue, ReturnedValues, ValueList};
use crate::Value;
use crate::format::Payload;
use crate::format::error::{Found, ReadErrorKind};
use crate::format::names::{Kind, Naming};
use crate::format::nearest::nearest;

/// All fields, in the order in which [`Fields::given`] counts them.
pub(super) const NAMES: [&str; 15] = [
    "process",
    "event",
    "operation",
    "segment",
    "value",
    "values",
    "snapshot-history",
    "segments",
    "processes",
    "initial",
    "writers",
    "object",
    "key",
    "time",
    "comment",
];

/// Number of [`NAMES`] with a meaning; the others are ignored.
const MEANINGFUL: usize = 13;

/// The segments that a scan returned.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Returned {
    /// One value for each.
    All,
    /// Some segments; with the number of all segments, if the line contains it.
    Some(Option<NonZeroU32>),
}

/// The words that fields may have as their value.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Word {
    Invoke,
    Ok,
    Fail,
    Unknown,
    Update,
    Scan,
    Exchange,
    Many,
    Single,
    Snapshot,
    Immediate,
}

/// The words of one field, as an error lists them, and each with its meaning.
type Words = (&'static str, &'static [(&'static str, Word)]);

const EVENTS: Words = (
    r#""invoke", "ok", "fail" or "unknown""#,
    &[("invoke", Word::Invoke), ("ok", Word::Ok), ("fail", Word::Fail), ("unknown", Word::Unknown)],
);

const OPERATIONS: Words = (
    r#""update", "scan" or "exchange""#,
    &[("update", Word::Update), ("scan", Word::Scan), ("exchange", Word::Exchange)],
);

const WRITERS: Words = (r#""many" or "single""#, &[("many", Word::Many), ("single", Word::Single)]);

const OBJECTS: Words = (
    r#""snapshot" or "immediate""#,
    &[("snapshot", Word::Snapshot), ("immediate", Word::Immediate)],
);

/// The contents of a line.
#[derive(Debug)]
pub(super) struct Fields<'v> {
    /// The [`NAMES`] that occurred, one bit each.
    given: u16,
    pub process: Option<u64>,
    pub event: Option<Word>,
    pub operation: Option<Word>,
    pub segment: Option<u64>,
    pub version: Option<u64>,
    pub segments: Size,
    pub processes: Size,
    pub writers: Option<Word>,
    pub object: Option<Word>,
    pub key: Option<Value>,
    pub time: Time,
    /// Values of `value`, `values` or `initial` (a line may have one of these), and the entries of
    /// `values` if it has gaps.
    pub payload: &'v mut Payload,
    pub returned: Returned,
    /// The names of the recording, in this line.
    pub naming: &'v mut Naming,
    pub line: u64,
    /// The reason why parsing ended, if serde cannot express it.
    pub defect: Option<ReadErrorKind>,
}

impl<'v> Fields<'v> {
    pub(super) fn new(payload: &'v mut Payload, naming: &'v mut Naming, line: u64) -> Self {
        payload.clear();
        Self {
            given: 0,
            process: None,
            event: None,
            operation: None,
            segment: None,
            version: None,
            segments: Size::None,
            processes: Size::None,
            writers: None,
            object: None,
            key: None,
            time: Time::None,
            payload,
            returned: Returned::All,
            naming,
            line,
            defect: None,
        }
    }

    /// Returns the fields that occurred, except `time` and `comment`.
    pub(super) fn given(&self) -> impl Iterator<Item = &'static str> + use<> {
        let given = self.given;
        (0..MEANINGFUL).filter(move |field| given >> field & 1 == 1).map(|field| NAMES[field])
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.given().any(|given| given == name)
    }

    pub(super) fn refuse<E: Error>(&mut self, kind: ReadErrorKind) -> E {
        self.defect = Some(kind);
        E::custom("")
    }

    /// Returns the segment that a field of `values` names.
    pub(super) fn entry(&mut self, name: &str) -> Result<Segment, ReadErrorKind> {
        let is_number = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit());
        if !is_number || self.naming.is_named(Kind::Segment) {
            let number = self.naming.name(Kind::Segment, name, self.line)?;
            return Ok(Segment::from_index(number as usize));
        }
        let segment = Segment::new(name.parse().unwrap_or(usize::MAX))
            .map_err(|error| ReadErrorKind::id_out_of_range(error, name))?;
        self.naming.number(Kind::Segment, segment.index() as u64, self.line)?;
        Ok(segment)
    }

    /// Refuses a list of values where segments have names in no order.
    pub(super) fn ordered(&mut self) -> Result<(), ReadErrorKind> {
        let kind = Kind::Segment;
        match (self.naming.is_named(kind), self.naming.declared_segments()) {
            (true, None) => Err(ReadErrorKind::ListOfNamed { kind }),
            (true, Some(_)) => Ok(()),
            (false, _) => self.naming.number(kind, 0, self.line),
        }
    }

    /// Turns entries of all declared segments into the values of a full scan.
    pub(super) fn complete(&mut self) {
        let Payload { values, entries } = &mut *self.payload;
        let is_full = self.naming.declared_segments() == Some(entries.len())
            && entries.iter().enumerate().all(|(at, (segment, _))| segment.index() == at);
        if is_full {
            values.extend(entries.drain(..).map(|(_, value)| value));
            self.returned = Returned::All;
        }
    }

    fn field<'de, A: MapAccess<'de>>(&mut self, name: &str, map: &mut A) -> Result<(), A::Error> {
        let found = || Found::new(name);
        let Some(field) = NAMES.iter().position(|known| *known == name) else {
            let nearest = nearest(name, &NAMES);
            let within = "the format";
            return Err(self.refuse(ReadErrorKind::UnknownField {
                within,
                found: found(),
                nearest,
            }));
        };
        if self.given >> field & 1 == 1 {
            let kind = match name {
                "segment" => ReadErrorKind::SeveralSegments,
                _ => ReadErrorKind::DuplicateField { found: found() },
            };
            return Err(self.refuse(kind));
        }
        self.given |= 1 << field;
        let number = |map: &mut A| map.next_value_seed(Number).map(Some);
        match name {
            "process" => self.process = Some(map.next_value_seed(Id(self, Kind::Process))?),
            "segment" => self.segment = Some(map.next_value_seed(Id(self, Kind::Segment))?),
            "segments" => self.segments = map.next_value()?,
            "processes" => self.processes = map.next_value()?,
            "snapshot-history" => self.version = number(map)?,
            "event" => self.event = Some(map.next_value_seed(OneOf(self, &EVENTS))?),
            "operation" => self.operation = Some(map.next_value_seed(OneOf(self, &OPERATIONS))?),
            "writers" => self.writers = Some(map.next_value_seed(OneOf(self, &WRITERS))?),
            "object" => self.object = Some(map.next_value_seed(OneOf(self, &OBJECTS))?),
            "value" => map.next_value_seed(OneValue(self))?,
            "key" => {
                map.next_value_seed(OneValue(self))?;
                self.key = self.payload.values.pop();
            }
            "values" => map.next_value_seed(ReturnedValues(self))?,
            "initial" => map.next_value_seed(ValueList(self))?,
            "time" => self.time = map.next_value()?,
            _ => drop(map.next_value::<IgnoredAny>()?),
        }
        Ok(())
    }
}

impl<'de> DeserializeSeed<'de> for &mut Fields<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for &mut Fields<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(Name(name)) = map.next_key()? {
            self.field(&name, &mut map)?;
        }
        Ok(())
    }
}

/// A field's name; borrowed unless it has escapes.
#[derive(Deserialize)]
#[serde(transparent)]
pub(super) struct Name<'a>(#[serde(borrow)] pub(super) Cow<'a, str>);

/// A count, or the index of a process or segment.
struct Number;

impl<'de> DeserializeSeed<'de> for Number {
    type Value = u64;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<u64, D::Error> {
        deserializer.deserialize_u64(self)
    }
}

impl Visitor<'_> for Number {
    type Value = u64;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number from 0")
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<u64, E> {
        Ok(number)
    }
}

/// The number, or the name, of a process or segment.
struct Id<'a, 'v>(&'a mut Fields<'v>, Kind);

impl<'de> DeserializeSeed<'de> for Id<'_, '_> {
    type Value = u64;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<u64, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Id<'_, '_> {
    type Value = u64;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number from 0, or a name")
    }

    #[inline]
    fn visit_u64<E: Error>(self, number: u64) -> Result<u64, E> {
        let Self(fields, kind) = self;
        if fields.naming.has_numbers(kind) {
            return Ok(number);
        }
        let known = fields.naming.number(kind, number, fields.line);
        known.map(|()| number).map_err(|defect| fields.refuse(defect))
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<u64, E> {
        let Self(fields, kind) = self;
        let number = fields.naming.name(kind, name, fields.line);
        number.map_err(|defect| fields.refuse(defect))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, _: A) -> Result<u64, A::Error> {
        match self.1 {
            Kind::Segment => Err(self.0.refuse(ReadErrorKind::SeveralSegments)),
            Kind::Process => Err(A::Error::invalid_type(Unexpected::Seq, &self)),
        }
    }
}

/// What a header says about processes or segments.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq)]
#[serde(untagged, expecting = "a number from 0, or an array of names")]
pub(super) enum Size {
    #[default]
    None,
    Count(u64),
    Names(Vec<Box<str>>),
    /// An array of segments, which only an update of several has.
    Numbers(Vec<u64>),
}

/// One of the given words.
struct OneOf<'a, 'v>(&'a mut Fields<'v>, &'static Words);

impl<'de> DeserializeSeed<'de> for OneOf<'_, '_> {
    type Value = Word;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Word, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for OneOf<'_, '_> {
    type Value = Word;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.1.0)
    }

    fn visit_str<E: Error>(self, word: &str) -> Result<Word, E> {
        let Self(fields, (expected, words)) = self;
        match words.iter().find(|(known, _)| *known == word) {
            Some((_, meaning)) => Ok(*meaning),
            None => {
                let words: Vec<&str> = words.iter().map(|(known, _)| *known).collect();
                let (found, nearest) = (Found::new(word), nearest(word, &words));
                Err(fields.refuse(ReadErrorKind::Unexpected { expected, found, nearest }))
            }
        }
    }
}
