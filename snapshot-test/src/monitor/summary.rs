//! The final report of a monitor on all objects of all inputs.

use std::fmt::Write;

use serde::{Deserialize, Serialize};
use snapshot_core::check::counted;

use super::answer::Place;
use super::checkpoint::Ended;
use crate::Value;
use crate::format::{JsonValue, Object};
use crate::report;

/// The results of the objects of a share, or of an input.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct Standing {
    pub objects: u64,
    /// Number of their events.
    pub events: u64,
    /// Number of their operations that neither responded nor failed.
    pub pending: u64,
    /// The objects that are not linearizable, refused, or undecided, by key.
    #[serde(with = "keyed")]
    pub ends: Vec<(Option<Value>, End)>,
}

/// The end of an object that is not known to be linearizable.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub enum End {
    /// The object was violated, or no history can have one of its events.
    Ended(Ended),
    /// Values repeat, and the budget of an exact search ran out.
    Open,
}

impl Standing {
    /// Adds the results of other objects.
    pub fn add(&mut self, other: Self) {
        self.objects += other.objects;
        self.events += other.events;
        self.pending += other.pending;
        self.ends.extend(other.ends);
    }

    /// Sorts ends by their positions, undecided ones by key.
    fn sort(&mut self) {
        let place = |end: &End| match end {
            End::Ended(ended) => (0, ended.bytes),
            End::Open => (1, 0),
        };
        self.ends.sort_by(|(a, first), (b, second)| (place(first), a).cmp(&(place(second), b)));
    }
}

/// The results of an input.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct InputStanding {
    pub name: String,
    pub object: Object,
    /// The results of its objects.
    pub standing: Standing,
}

/// Ends by key, in JSON.
mod keyed {
    use serde::{Deserialize, Deserializer, Serializer};

    use super::{End, JsonValue, Value};

    type Ends = Vec<(Option<Value>, End)>;

    pub fn serialize<S: Serializer>(ends: &Ends, serializer: S) -> Result<S::Ok, S::Error> {
        let held = ends.iter().map(|(key, end)| (key.as_ref().map(JsonValue::from), end));
        serializer.collect_seq(held)
    }

    pub fn deserialize<'a, D: Deserializer<'a>>(deserializer: D) -> Result<Ends, D::Error> {
        let held = Vec::<(Option<JsonValue>, End)>::deserialize(deserializer)?;
        Ok(held.into_iter().map(|(key, end)| (key.as_ref().map(Value::from), end)).collect())
    }
}

/// The final report on all objects.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Summary {
    /// In the order of the command line.
    inputs: Vec<InputStanding>,
    objects: u64,
    events: u64,
    pending: u64,
}

/// Returns the title of all inputs: the name of the only one, or their number.
pub fn title(names: &[impl AsRef<str>]) -> String {
    match names {
        [only] => only.as_ref().to_owned(),
        several => format!("{} inputs", several.len()),
    }
}

/// Returns `12 events of 2 objects, 1 operation open`.
pub(super) fn sized(events: u64, of: &str, open: u64) -> String {
    let (events, open) =
        (counted(events, "event", "events"), counted(open, "operation", "operations"));
    format!("{events}{of}, {open} open")
}

/// An object that is not linearizable, malformed or undecided.
type Wrong<'a, E> = (&'a InputStanding, &'a Option<Value>, E);

impl Summary {
    /// Creates the summary of one input or several.
    pub fn new(mut inputs: Vec<InputStanding>) -> Self {
        inputs.iter_mut().for_each(|input| input.standing.sort());
        let sum = |count: fn(&Standing) -> u64| {
            inputs.iter().map(|input| count(&input.standing)).sum::<u64>()
        };
        let objects = sum(|standing| standing.objects);
        let (events, pending) = (sum(|standing| standing.events), sum(|standing| standing.pending));
        Self { inputs, objects, events, pending }
    }

    fn names(&self) -> Vec<&str> {
        self.inputs.iter().map(|input| input.name.as_str()).collect()
    }

    fn all(&self) -> impl Iterator<Item = Wrong<'_, &End>> {
        self.inputs
            .iter()
            .flat_map(|input| input.standing.ends.iter().map(move |(key, end)| (input, key, end)))
    }

    fn ends(&self) -> impl Iterator<Item = Wrong<'_, &Ended>> {
        self.all().filter_map(|(input, key, end)| match end {
            End::Ended(ended) => Some((input, key, ended)),
            End::Open => None,
        })
    }

    fn violations(&self) -> impl Iterator<Item = Wrong<'_, &Ended>> {
        self.ends().filter(|(_, _, ended)| ended.refused.is_none())
    }

    fn refused(&self) -> impl Iterator<Item = Wrong<'_, &Ended>> {
        self.ends().filter(|(_, _, ended)| ended.refused.is_some())
    }

    fn open(&self) -> impl Iterator<Item = Wrong<'_, &End>> {
        self.all().filter(|(_, _, end)| **end == End::Open)
    }

    /// Returns the exit code: 1 if an object is violated, else 2 if one is malformed, else 3 if one
    /// is undecided, else 0.
    pub fn code(&self) -> u8 {
        if self.violations().next().is_some() {
            return 1;
        }
        if self.refused().next().is_some() {
            return 2;
        }
        if self.open().next().is_some() { 3 } else { 0 }
    }

    /// Returns the criterion that correct objects fulfil.
    fn criterion(&self) -> &'static str {
        let is_immediate = |input: &InputStanding| input.object == Object::Immediate;
        let is_all = !self.inputs.is_empty() && self.inputs.iter().all(is_immediate);
        if is_all { Object::Immediate } else { Object::Snapshot }.criterion()
    }

    fn verdict(&self) -> &'static str {
        match self.code() {
            0 => self.criterion(),
            1 => "violation",
            2 => "malformed",
            _ => "unknown",
        }
    }

    /// Renders the summary for human readers.
    pub fn human(&self) -> String {
        let Self { objects, events, pending, .. } = self;
        let title = title(&self.names());
        let mut of = format!(" of {}", counted(*objects, "object", "objects"));
        let size = sized(*events, "", *pending);
        if self.all().next().is_none() {
            let fine = self.criterion();
            return format!("{title}: {fine} so far ({})\n", sized(*events, &of, *pending));
        }
        let counts = [
            (self.violations().count(), "wrong"),
            (self.refused().count(), "malformed"),
            (self.open().count(), "undecided"),
        ];
        let mut text = format!("{title}: {} (", self.verdict());
        for (count, word) in counts.iter().filter(|(count, _)| *count > 0) {
            let comma = if of.is_empty() { ", " } else { "" };
            let _ = write!(text, "{comma}{count}{} {word}", std::mem::take(&mut of));
        }
        let _ = writeln!(text, "; {size})");
        for (input, key, end) in self.all() {
            let key = key.as_ref().map(|key| format!("@{key}"));
            let name = (self.inputs.len() > 1).then(|| input.name.clone());
            let name = name.into_iter().chain(key).collect::<Vec<_>>().join(" ");
            let _ = match end {
                End::Open => writeln!(text, "  {name}: undecided"),
                End::Ended(ended) => {
                    let (place, event) = (ended.place(), ended.event);
                    let fine = input.object.criterion();
                    let what = match ended.refused {
                        Some(_) => format!("malformed at {place} on"),
                        None if ended.not_after => format!("not {fine}, and not after {place},"),
                        None => format!("not {fine} from {place} on"),
                    };
                    writeln!(text, "  {name}: {what} (event {event} of the object)")
                }
            };
        }
        text
    }

    /// Renders the summary for programs, in one line.
    pub fn json(&self) -> String {
        let counts = |count: usize| count as u64;
        let (violation, malformed, unknown) = (
            counts(self.violations().count()),
            counts(self.refused().count()),
            counts(self.open().count()),
        );
        let is_several = self.inputs.len() > 1;
        let end = |(input, key, ended): Wrong<'_, &Ended>| KeyedEnd {
            input: is_several.then(|| input.name.clone()),
            key: key.as_ref().map(JsonValue::from),
            place: Place::new(ended.event, ended.place()),
            message: ended.refused.clone(),
            not_after: ended.not_after,
        };
        let open = |(input, key, _): Wrong<'_, &End>| {
            let key = key.as_ref().map(JsonValue::from);
            match is_several {
                true => OpenRecord::OfInput { input: input.name.clone(), key },
                false => OpenRecord::Key(key),
            }
        };
        let names = self.names();
        let mut line = report::text(&SummaryRecord {
            schema: report::SCHEMA,
            input: names.first().copied().filter(|_| !is_several),
            inputs: is_several.then(|| names.clone()),
            verdict: self.verdict(),
            events: self.events,
            pending: self.pending,
            objects: Counts {
                total: self.objects,
                linearizable: self.objects - violation - malformed - unknown,
                violation,
                malformed,
                unknown,
            },
            violations: self.violations().map(end).collect(),
            malformed: self.refused().map(end).collect(),
            unknown: self.open().map(open).collect(),
        });
        line.push('\n');
        line
    }
}

#[derive(Serialize)]
struct SummaryRecord<'a> {
    schema: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    input: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    inputs: Option<Vec<&'a str>>,
    verdict: &'static str,
    events: u64,
    pending: u64,
    objects: Counts,
    violations: Vec<KeyedEnd>,
    malformed: Vec<KeyedEnd>,
    unknown: Vec<OpenRecord>,
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
    #[serde(skip_serializing_if = "Option::is_none")]
    input: Option<String>,
    key: Option<JsonValue>,
    #[serde(flatten)]
    place: Place,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    not_after: bool,
}

#[derive(Serialize)]
#[serde(untagged)]
enum OpenRecord {
    Key(Option<JsonValue>),
    OfInput { input: String, key: Option<JsonValue> },
}
