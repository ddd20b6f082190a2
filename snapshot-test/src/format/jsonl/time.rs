//! The times of lines: numbers, possibly in quotes, with all their digits.

use std::fmt;

use serde::de::{Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::members::{Member, members};
use crate::stamp::Stamp;

/// The time of a line.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) enum Time {
    /// No time, or a value that is not a number.
    #[default]
    None,
    Stamp(Stamp),
    /// A number that serde would round: its digits must be parsed.
    Digits,
}

impl Time {
    /// Returns the time in the object `text`.
    pub(crate) fn of(self, text: &str) -> Option<Stamp> {
        match self {
            Self::None => None,
            Self::Stamp(stamp) => Some(stamp),
            Self::Digits => {
                let members = members(text);
                let is_time = |member: &&Member| {
                    member.name.as_ref().is_some_and(|name| text[name.clone()] == *"\"time\"")
                };
                text[members.iter().find(is_time)?.value.clone()].parse().ok()
            }
        }
    }
}

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Clocked)
    }
}

/// A time: a number, possibly in quotes. Any other value is ignored.
struct Clocked;

impl<'de> Visitor<'de> for Clocked {
    type Value = Time;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("anything")
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<Time, E> {
        Ok(Time::None)
    }

    fn visit_i64<E: Error>(self, time: i64) -> Result<Time, E> {
        Ok(Time::Stamp(Stamp::whole(time)))
    }

    fn visit_u64<E: Error>(self, time: u64) -> Result<Time, E> {
        Ok(Time::Stamp(Stamp::whole(time)))
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<Time, E> {
        Ok(Time::Digits)
    }

    fn visit_str<E: Error>(self, time: &str) -> Result<Time, E> {
        Ok(time.parse().map_or(Time::None, Time::Stamp))
    }

    fn visit_unit<E: Error>(self) -> Result<Time, E> {
        Ok(Time::None)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Time, A::Error> {
        IgnoredAny.visit_seq(list).map(|_| Time::None)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Time, A::Error> {
        IgnoredAny.visit_map(map).map(|_| Time::None)
    }
}
