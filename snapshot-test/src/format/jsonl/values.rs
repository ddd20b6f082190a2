//! The values of a line: of `value`, `values`, `initial` and `key`.

use std::fmt;
use std::num::NonZeroU32;

use serde::Deserializer;
use serde::de::{DeserializeSeed, Error, MapAccess, SeqAccess, Visitor};
use snapshot_core::Segment;

use super::fields::{Fields, Name, Returned};
use crate::Value;
use crate::format::error::{Found, ReadErrorKind};
use crate::format::names::Kind;
use crate::format::{Format, Payload};

/// A value, appended to the line's values.
pub(super) struct OneValue<'a, 'v>(pub(super) &'a mut Fields<'v>);

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
pub(super) struct ValueList<'a, 'v>(pub(super) &'a mut Fields<'v>);

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
pub(super) struct ReturnedValues<'a, 'v>(pub(super) &'a mut Fields<'v>);

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
        if !self.0.naming.has_numbers(Kind::Segment) {
            self.0.ordered().map_err(|defect| self.0.refuse(defect))?;
        }
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
            let segment = self.0.entry(&name).map_err(|defect| self.0.refuse(defect))?;
            map.next_value_seed(OneValue(self.0))?;
            let Payload { values, entries } = &mut *self.0.payload;
            entries.extend(values.pop().map(|value| (segment, value)));
        }
        self.0.payload.entries.sort_by_key(|entry| entry.0);
        self.0.complete();
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
