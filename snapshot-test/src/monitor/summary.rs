//! What a monitor says at the end, of all objects.

use std::fmt::Write;

use serde::Serialize;

use super::answer::Place;
use super::checkpoint::{Ended, Held};
use crate::Value;
use crate::format::Object;
use crate::report;

/// What became of the objects of a share, or of all.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Standing {
    /// Number of objects.
    pub objects: u64,
    /// Their events.
    pub events: u64,
    /// Their operations that neither responded nor failed.
    pub pending: u64,
    /// Those that are not linearizable, that were refused, or that are open, by key.
    pub ends: Vec<(Option<Value>, End)>,
}

/// What became of an object that is not linearizable, as far as is known.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum End {
    /// It was violated, or no history can have one of its events.
    Ended(Ended),
    /// Values repeat, and the budget of an exact search ran out.
    Open,
}

impl Standing {
    /// Adds what became of other objects.
    pub fn add(&mut self, other: Self) {
        self.objects += other.objects;
        self.events += other.events;
        self.pending += other.pending;
        self.ends.extend(other.ends);
    }

    /// The summary: ends in the order of their places, the open ones by key.
    pub fn summary(mut self, object: Object) -> Summary {
        let place = |end: &End| match end {
            End::Ended(ended) => (0, ended.bytes),
            End::Open => (1, 0),
        };
        self.ends.sort_by(|(a, first), (b, second)| (place(first), a).cmp(&(place(second), b)));
        Summary { object, standing: self }
    }
}

/// What is said at the end, of all objects.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Summary {
    object: Object,
    standing: Standing,
}

impl Summary {
    fn ends(&self) -> impl Iterator<Item = (&Option<Value>, &Ended)> {
        self.standing.ends.iter().filter_map(|(key, end)| match end {
            End::Ended(ended) => Some((key, ended)),
            End::Open => None,
        })
    }

    fn violations(&self) -> impl Iterator<Item = (&Option<Value>, &Ended)> {
        self.ends().filter(|(_, ended)| ended.refused.is_none())
    }

    fn refused(&self) -> impl Iterator<Item = (&Option<Value>, &Ended)> {
        self.ends().filter(|(_, ended)| ended.refused.is_some())
    }

    fn open(&self) -> impl Iterator<Item = &Option<Value>> {
        self.standing.ends.iter().filter(|(_, end)| *end == End::Open).map(|(key, _)| key)
    }

    /// The exit code: 1 if an object is violated, else 2 if one is malformed, else 3 if one is
    /// open, else 0.
    pub fn code(&self) -> u8 {
        if self.violations().next().is_some() {
            return 1;
        }
        if self.refused().next().is_some() {
            return 2;
        }
        if self.open().next().is_some() { 3 } else { 0 }
    }

    fn verdict(&self) -> &'static str {
        match self.code() {
            0 => self.object.criterion(),
            1 => "violation",
            2 => "malformed",
            _ => "unknown",
        }
    }

    /// For people; `name` is the input's.
    pub fn human(&self, name: &str) -> String {
        let Standing { objects, events, pending, .. } = self.standing;
        let fine = self.object.criterion();
        let of = format!(" of {objects} {}", if objects == 1 { "object" } else { "objects" });
        if self.standing.ends.is_empty() {
            return format!(
                "{name}: {fine} so far ({events} events{of}, {pending} operations open)\n"
            );
        }
        let counts = [
            (self.violations().count(), "wrong"),
            (self.refused().count(), "malformed"),
            (self.open().count(), "undecided"),
        ];
        let mut text = format!("{name}: {} (", self.verdict());
        let mut of = of;
        for (count, word) in counts.iter().filter(|(count, _)| *count > 0) {
            let comma = if of.is_empty() { ", " } else { "" };
            let _ = write!(text, "{comma}{count}{} {word}", std::mem::take(&mut of));
        }
        let _ = writeln!(text, "; {events} events, {pending} operations open)");
        for (key, end) in &self.standing.ends {
            let key = key.as_ref().map_or_else(String::new, |key| format!("@{key}"));
            let _ = match end {
                End::Open => writeln!(text, "  {key}: undecided"),
                End::Ended(ended) => {
                    let (place, event) = (ended.place(), ended.event);
                    let what = if ended.refused.is_some() {
                        "malformed at".to_owned()
                    } else {
                        format!("not {fine} from")
                    };
                    writeln!(text, "  {key}: {what} {place} on (event {event} of the object)")
                }
            };
        }
        text
    }

    /// For programs, in one line.
    pub fn json(&self, name: &str) -> String {
        let Standing { objects: total, events, pending, .. } = self.standing;
        let counts = |count: usize| count as u64;
        let (violation, malformed, unknown) = (
            counts(self.violations().count()),
            counts(self.refused().count()),
            counts(self.open().count()),
        );
        let end = |(key, ended): (&Option<Value>, &Ended)| KeyedEnd {
            key: key.as_ref().map(Held::from),
            place: Place::of(ended.event, ended.place()),
            message: ended.refused.clone(),
        };
        let mut line = report::text(&SummaryRecord {
            schema: report::SCHEMA,
            input: name,
            verdict: self.verdict(),
            events,
            pending,
            objects: Counts {
                total,
                linearizable: total - violation - malformed - unknown,
                violation,
                malformed,
                unknown,
            },
            violations: self.violations().map(end).collect(),
            malformed: self.refused().map(end).collect(),
            unknown: self.open().map(|key| key.as_ref().map(Held::from)).collect(),
        });
        line.push('\n');
        line
    }
}

#[derive(Serialize)]
struct SummaryRecord<'a> {
    schema: u32,
    input: &'a str,
    verdict: &'static str,
    events: u64,
    pending: u64,
    objects: Counts,
    violations: Vec<KeyedEnd>,
    malformed: Vec<KeyedEnd>,
    unknown: Vec<Option<Held>>,
}

#[derive(Serialize)]
struct Counts {
    total: u64,
    linearizable: u64,
    violation: u64,
    malformed: u64,
    unknown: u64,
}

#[derive(Serialize)]
struct KeyedEnd {
    key: Option<Held>,
    #[serde(flatten)]
    place: Place,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
}
