//! The raw fields of a line.
//!
//! Parsing with a visitor instead of into a tree keeps the reader free of
//! allocations for integers, bounds the number of values while they are read,
//! and lets a defect be reported by its own kind of error. serde carries only
//! texts of errors, so the kind travels beside it, in [`Fields::defect`].

use std::borrow::Cow;
use std::fmt;
use std::num::NonZeroU32;

use serde::de::{DeserializeSeed, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use snapshot_core::Segment;

use super::time::Time;
use crate::Value;
use crate::format::error::{Found, ReadErrorKind};
use crate::format::nearest::nearest;
use crate::format::{Format, Payload};

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

const WORDS: [(&str, Word); 11] = [
    ("invoke", Word::Invoke),
    ("ok", Word::Ok),
    ("fail", Word::Fail),
    ("unknown", Word::Unknown),
    ("update", Word::Update),
    ("scan", Word::Scan),
    ("exchange", Word::Exchange),
    ("snapshot", Word::Snapshot),
    ("immediate", Word::Immediate),
    ("many", Word::Many),
    ("single", Word::Single),
];

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
    pub segments: Option<u64>,
    pub processes: Option<u64>,
    pub writers: Option<Word>,
    pub object: Option<Word>,
    pub key: Option<Value>,
    pub time: Time,
    /// Values of `value`, `values` or `initial` (a line may have one of these), and the entries of
    /// `values` if it has gaps.
    pub payload: &'v mut Payload,
    pub returned: Returned,
    /// The reason why parsing ended, if serde cannot express it.
    pub defect: Option<ReadErrorKind>,
}

impl<'v> Fields<'v> {
    pub(super) fn new(payload: &'v mut Payload) -> Self {
        payload.clear();
        Self {
            given: 0,
            process: None,
            event: None,
            operation: None,
            segment: None,
            version: None,
            segments: None,
            processes: None,
            writers: None,
            object: None,
            key: None,
            time: Time::None,
            payload,
            returned: Returned::All,
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

    fn refuse<E: Error>(&mut self, kind: ReadErrorKind) -> E {
        self.defect = Some(kind);
        E::custom("")
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
            return Err(self.refuse(ReadErrorKind::DuplicateField { found: found() }));
        }
        self.given |= 1 << field;
        let number = |map: &mut A| map.next_value_seed(Number).map(Some);
        match name {
            "process" => self.process = number(map)?,
            "segment" => self.segment = number(map)?,
            "segments" => self.segments = number(map)?,
            "processes" => self.processes = number(map)?,
            "snapshot-history" => self.version = number(map)?,
            "event" => {
                self.event =
                    Some(map.next_value_seed(OneOf(&["invoke", "ok", "fail", "unknown"]))?);
            }
            "operation" => {
                self.operation = Some(map.next_value_seed(OneOf(&["update", "scan", "exchange"]))?)
            }
            "writers" => self.writers = Some(map.next_value_seed(OneOf(&["many", "single"]))?),
            "object" => self.object = Some(map.next_value_seed(OneOf(&["snapshot", "immediate"]))?),
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
struct Name<'a>(#[serde(borrow)] Cow<'a, str>);

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

/// One of the given words.
struct OneOf(&'static [&'static str]);

impl<'de> DeserializeSeed<'de> for OneOf {
    type Value = Word;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Word, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for OneOf {
    type Value = Word;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, word) in self.0.iter().enumerate() {
            let separator = match position {
                0 => "",
                last if last + 1 == self.0.len() => " or ",
                _ => ", ",
            };
            write!(f, "{separator}\"{word}\"")?;
        }
        Ok(())
    }

    fn visit_str<E: Error>(self, word: &str) -> Result<Word, E> {
        self.0
            .iter()
            .find(|known| **known == word)
            .and_then(|known| WORDS.iter().find(|(word, _)| word == known))
            .map(|(_, word)| *word)
            .ok_or_else(|| E::invalid_value(serde::de::Unexpected::Str(word), &self))
    }
}

/// A value, appended to the line's values.
struct OneValue<'a, 'v>(&'a mut Fields<'v>);

impl<'de> DeserializeSeed<'de> for OneValue<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl Visitor<'_> for OneValue<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value: an integer or a string")
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<(), E> {
        self.0.payload.values.push(Value::Integer(value));
        Ok(())
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<(), E> {
        match i64::try_from(value) {
            Ok(value) => self.visit_i64(value),
            Err(_) => {
                let found = Found::new(&value.to_string());
                Err(self.0.refuse(ReadErrorKind::ValueOutOfRange { found, reading: Format::Jsonl }))
            }
        }
    }

    /// A fraction, or an integer of more than 64 bits: the caller handles it.
    fn visit_f64<E: Error>(self, _: f64) -> Result<(), E> {
        let found = Found::new("");
        Err(self.0.refuse(ReadErrorKind::ValueOutOfRange { found, reading: Format::Jsonl }))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<(), E> {
        self.0.payload.values.push(Value::from(value));
        Ok(())
    }
}

/// An array of values, appended to the line's values.
struct ValueList<'a, 'v>(&'a mut Fields<'v>);

impl<'de> DeserializeSeed<'de> for ValueList<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for ValueList<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array of values")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        while list.next_element_seed(OneValue(self.0))?.is_some() {
            if self.0.payload.values.len() > Segment::LIMIT + 1 {
                let limit = Segment::LIMIT + 1;
                return Err(self.0.refuse(ReadErrorKind::TooManyValues { limit }));
            }
        }
        Ok(())
    }
}

/// The values of a scan: an array, with `null` for a segment that was not returned, or an object
/// from segments to values.
struct ReturnedValues<'a, 'v>(&'a mut Fields<'v>);

impl<'de> DeserializeSeed<'de> for ReturnedValues<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for ReturnedValues<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array of values, or an object of them")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        let mut width = 0;
        while let Some(is_gap) = list.next_element_seed(ValueOrGap(self.0))? {
            width += 1;
            if width > Segment::LIMIT + 1 {
                let limit = Segment::LIMIT + 1;
                return Err(self.0.refuse(ReadErrorKind::TooManyValues { limit }));
            }
            let Fields { payload: Payload { values, entries }, returned, .. } = &mut *self.0;
            if is_gap && *returned == Returned::All {
                *returned = Returned::Some(None);
                let values = values.drain(..).enumerate();
                entries.extend(values.map(|(k, value)| (Segment::from_index(k), value)));
            } else if !is_gap && *returned != Returned::All {
                entries.extend(values.pop().map(|value| (Segment::from_index(width - 1), value)));
            }
        }
        if self.0.returned != Returned::All {
            self.0.returned = Returned::Some(NonZeroU32::new(width as u32));
        }
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        self.0.returned = Returned::Some(None);
        while let Some(Name(name)) = map.next_key()? {
            let is_number = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit());
            if !is_number {
                let expected = "the number of a segment";
                let (found, nearest) = (Found::new(&name), None);
                return Err(self.0.refuse(ReadErrorKind::Unexpected { expected, found, nearest }));
            }
            let segment = Segment::new(name.parse().unwrap_or(usize::MAX))
                .map_err(|error| self.0.refuse(ReadErrorKind::id_out_of_range(error, &name)))?;
            map.next_value_seed(OneValue(self.0))?;
            let Payload { values, entries } = &mut *self.0.payload;
            entries.extend(values.pop().map(|value| (segment, value)));
        }
        self.0.payload.entries.sort_by_key(|entry| entry.0);
        Ok(())
    }
}

/// A value, appended to the line's values, or `null`; returns true for a value.
struct ValueOrGap<'a, 'v>(&'a mut Fields<'v>);

impl<'de> DeserializeSeed<'de> for ValueOrGap<'_, '_> {
    type Value = bool;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<bool, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl Visitor<'_> for ValueOrGap<'_, '_> {
    type Value = bool;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value: an integer, a string, or null")
    }

    fn visit_unit<E: Error>(self) -> Result<bool, E> {
        Ok(true)
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<bool, E> {
        OneValue(self.0).visit_i64(value).map(|()| false)
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<bool, E> {
        OneValue(self.0).visit_u64(value).map(|()| false)
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<bool, E> {
        OneValue(self.0).visit_f64(value).map(|()| false)
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<bool, E> {
        OneValue(self.0).visit_str(value).map(|()| false)
    }
}
