//! The objects of a log, distinguished by keys, and the segments of each.
//!
//! The segments of an object have numbers, if every name is a number, and then a list has one value
//! for each; or they have names. An operation without a segment belongs to segment 0 of its key.

use std::collections::HashMap;

use snapshot_core::Segment;

use super::super::ImportErrorKind;
use super::super::meaning::{Meaning, Name, Segments};
use super::super::place::{Spot, Step};
use super::row::{Content, Given};
use super::{Call, Deed};
use crate::Value;

/// The segments of one object.
#[derive(Debug, Default)]
struct Object {
    /// A segment whose name is not a number.
    named: Option<Spot>,
    /// The number of segments, by the largest number and the longest list, and the position of that
    /// evidence.
    count: (usize, Spot),
    /// True if any segment is named, even by a number.
    is_told: bool,
}

/// All objects of a log.
#[derive(Debug, Default)]
pub(super) struct Objects {
    /// By key; without keys, the only object has none.
    of_keys: HashMap<Option<String>, Object>,
}

/// Returns the fault of a field with an unexpected value.
fn wrong(expected: &'static str, found: &Given<Content>, cure: &'static str) -> Box<super::Fault> {
    let value = |value: &Option<Value>| value.as_ref().map_or("null".to_owned(), Value::to_string);
    let found_text = match &found.is {
        Content::One(one) => value(one),
        Content::List(values) => {
            let shown: Vec<_> = values.iter().take(8).map(value).collect();
            let more = if values.len() > shown.len() { ", ..." } else { "" };
            format!("[{}{more}]", shown.join(", "))
        }
        Content::Named(_) => "an object".to_owned(),
    };
    ImportErrorKind::Field { field: "value", expected, found: found_text, cure }.at(found.spot)
}

impl Objects {
    /// Collects the objects of these operations.
    pub(super) fn new(calls: &[Call]) -> Step<Self> {
        let mut objects = Self::default();
        let keyed = calls.iter().find_map(|call| call.row.key.as_ref());
        for call in calls {
            let key = call.row.key.as_ref().map(|key| key.is.clone());
            if let (None, Some(keyed)) = (&key, keyed) {
                let cure = "give every operation the key of its object, or none of them";
                let kind = ImportErrorKind::Missing { field: "key", cure };
                return Err(kind.at(call.row.spot).against(keyed.spot));
            }
            let object = objects.of_keys.entry(key).or_default();
            for (name, spot) in told(call) {
                object.is_told = true;
                match number(name) {
                    Some(number) => object.grow(number + 1, spot),
                    None => object.named = object.named.or(Some(spot)),
                }
            }
            if call.deed == Deed::Update && call.row.segments.is_none() {
                let own = own(call)?;
                object.grow(own + 1, call.row.spot);
            }
            if call.deed == Deed::Scan && call.is_known() && call.row.segments.is_none() {
                match call.returned().map(|given| (&given.is, given.spot)) {
                    Some((Content::List(values), spot)) if values.iter().any(Option::is_some) => {
                        object.grow(values.len(), spot);
                    }
                    Some((Content::One(_), spot)) => object.grow(1, spot),
                    _ => {}
                }
            }
        }
        Ok(objects)
    }

    /// Returns the only object of a log without keys, if its segments have numbers.
    fn plain(&self) -> Option<&Object> {
        self.of_keys.get(&None).filter(|object| object.named.is_none())
    }

    /// Returns the segments with their numbers, if the names are numbers.
    pub(super) fn numbered(&self) -> Option<Step<Segments>> {
        let (count, spot) = self.plain()?.count;
        let names = (0..count).map(|number| (String::new(), number.to_string()));
        Some(Segments::new(names, spot))
    }

    fn name(&self, key: Option<&String>, segment: &str) -> Name {
        let is_register = key.is_some()
            && self
                .of_keys
                .get(&key.cloned())
                .is_none_or(|object| object.count.0 <= 1 && !object.is_told);
        let segment = if is_register { "" } else { segment };
        (key.cloned().unwrap_or_default(), segment.to_owned())
    }

    /// Checks that an update without a segment has a key with only one segment.
    fn require_register(&self, call: &Call) -> Step<()> {
        let Some(key) = &call.row.key else { return Ok(()) };
        let Some(object) = self.of_keys.get(&Some(key.is.clone())) else { return Ok(()) };
        let other = object.named.or((object.count.0 > 1).then_some(object.count.1));
        other.map_or(Ok(()), |other| {
            let cure =
                "the object with this key has several segments: name the one that is written";
            let kind = ImportErrorKind::Missing { field: "segment", cure };
            Err(kind.at(call.row.spot).against(other))
        })
    }

    pub(super) fn meaning(&self, call: &Call) -> Step<Meaning> {
        let key = call.row.key.as_ref().map(|key| &key.is);
        match call.deed {
            Deed::Update => {
                let value = written(call)?;
                let segment =
                    match call.row.segments.as_ref().map(|given| (&given.is[..], given.spot)) {
                        None => {
                            self.require_register(call)?;
                            own(call)?.to_string()
                        }
                        Some(([segment], _)) => segment.clone(),
                        Some((several, spot)) => {
                            let operation = format!("an update of {} segments", several.len());
                            return Err(several_segments(operation, spot));
                        }
                    };
                Ok(Meaning::Write(self.name(key, &segment), value))
            }
            Deed::Scan if call.is_known() => {
                let returned = call.returned().ok_or_else(|| {
                    let cure = "it is what the scan returned, one value for each segment, or the \
                                value of the segment that `segment` or `key` names";
                    ImportErrorKind::Missing { field: "value", cure }.at(call.row.spot)
                })?;
                let entries = self.entries(call, returned)?;
                let named =
                    entries.into_iter().map(|(segment, value)| (self.name(key, &segment), value));
                Ok(Meaning::Read(named.collect()))
            }
            Deed::Scan | Deed::Nothing => Ok(Meaning::Read(Vec::new())),
        }
    }

    /// Returns the segments that a scan returned, with their values.
    fn entries(&self, call: &Call, returned: &Given<Content>) -> Step<Vec<(String, Value)>> {
        let known = |(segment, value): (String, Option<Value>)| value.map(|value| (segment, value));
        let key = call.row.key.as_ref().map(|key| key.is.clone());
        let null = || {
            let cure = "if a segment holds null until it is written: `snapshot-test convert --from \
                        intervals --initial null`; if the value that was read is not known, make \
                        the `outcome` unknown";
            wrong("a value", returned, cure)
        };
        match (&call.row.segments, &returned.is) {
            (Some(segments), content) => {
                let values = match content {
                    Content::One(None) => return Err(null()),
                    Content::One(one) => std::slice::from_ref(one),
                    Content::List(values) => values,
                    Content::Named(_) => {
                        let expected = "a value for each of the segments that are named";
                        return Err(wrong(expected, returned, "leave `segment` out"));
                    }
                };
                if values.len() != segments.is.len() {
                    let (expected, found) = (segments.is.len(), values.len());
                    let kind = ImportErrorKind::Width { expected, found };
                    return Err(kind.at(returned.spot).against(segments.spot));
                }
                Ok(segments
                    .is
                    .iter()
                    .cloned()
                    .zip(values.iter().cloned())
                    .filter_map(known)
                    .collect())
            }
            (None, Content::Named(entries)) => {
                Ok(entries.iter().cloned().filter_map(known).collect())
            }
            (None, Content::One(None)) => Err(null()),
            (None, content) => {
                let values = match content {
                    Content::List(values) => values,
                    Content::One(one) => std::slice::from_ref(one),
                    Content::Named(_) => &[],
                };
                // Any number of gaps alone carries no information.
                if values.iter().all(Option::is_none) {
                    return Ok(Vec::new());
                }
                let object = self.of_keys.get(&key);
                if let Some(named) = object.and_then(|object| object.named) {
                    return Err(ImportErrorKind::Unnamed.at(returned.spot).against(named));
                }
                let (expected, spot) = object.map_or((1, returned.spot), |object| object.count);
                if values.len() != expected {
                    let kind = ImportErrorKind::Width { expected, found: values.len() };
                    return Err(kind.at(returned.spot).against(spot));
                }
                let numbers = (0..).map(|number: usize| number.to_string());
                Ok(numbers.zip(values.iter().cloned()).filter_map(known).collect())
            }
        }
    }
}

impl Object {
    fn grow(&mut self, count: usize, spot: Spot) {
        if count > self.count.0 {
            self.count = (count, spot);
        }
    }
}

/// Parses the number of a segment, if its name is one.
fn number(name: &str) -> Option<usize> {
    let number = name.parse().ok().filter(|number: &usize| number.to_string() == name);
    number.filter(|number| *number <= Segment::LIMIT)
}

/// Returns the names of segments in an operation.
fn told(call: &Call) -> Vec<(&str, Spot)> {
    let segments = call.row.segments.iter();
    let mut told: Vec<_> = segments
        .flat_map(|given| given.is.iter().map(|name| (name.as_str(), given.spot)))
        .collect();
    if let Some(Given { is: Content::Named(entries), spot }) = call.returned()
        && call.deed == Deed::Scan
        && call.is_known()
    {
        told.extend(entries.iter().map(|(name, _)| (name.as_str(), *spot)));
    }
    told
}

/// Returns the segment of an update without one: the only one of its key; without a key, the
/// client's own.
fn own(call: &Call) -> Step<usize> {
    if call.row.key.is_some() {
        return Ok(0);
    }
    number(&call.client).ok_or_else(|| {
        let cure = "name the segment in `segment`, or the register in `key`; only clients that are \
                    numbers can leave both out, and update their own";
        ImportErrorKind::Missing { field: "segment", cure }.at(call.row.spot)
    })
}

fn several_segments(operation: String, spot: Spot) -> Box<super::Fault> {
    let reason = "is not judged yet as an operation of a snapshot: it writes several segments";
    let cure = "an update writes one value to one segment; a text with blanks is put into quotes of \
                its own, in CSV \"\"\"a b\"\"\"";
    ImportErrorKind::Operation { operation, reason, cure }.at(spot)
}

fn written(call: &Call) -> Step<Value> {
    let given = call.row.value.as_ref().or(call.row.input.as_ref()).ok_or_else(|| {
        let cure = "it is what the update writes";
        ImportErrorKind::Missing { field: "value", cure }.at(call.row.spot)
    })?;
    let value = match &given.is {
        Content::One(Some(value)) => value,
        Content::List(values) if values.len() > 1 => {
            let operation = format!("an update to {} values", values.len());
            return Err(several_segments(operation, given.spot));
        }
        _ => {
            let cure = "an update writes an integer or a text; only reads have gaps (the text _ is \
                        written \"_\"); if null is a value: `snapshot-test convert --from intervals \
                        --initial null`";
            return Err(wrong("one value", given, cure));
        }
    };
    if let Some(output) = &call.row.output
        && !is_nothing(&output.is)
        && output.is != Content::One(Some(value.clone()))
    {
        let shown = match &output.is {
            Content::One(Some(value)) => value.to_string(),
            _ => "something else".to_owned(),
        };
        let kind = ImportErrorKind::OtherValue {
            operation: "the update".to_owned(),
            given: value.to_string(),
            returned: shown,
        };
        return Err(kind.at(output.spot).against(given.spot));
    }
    Ok(value.clone())
}

/// Returns true if the output of an update carries no information: it is empty, or Go's zero value
/// of its type.
fn is_nothing(content: &Content) -> bool {
    match content {
        Content::One(None) => true,
        Content::One(Some(value)) => *value == Value::ZERO || *value == Value::from(""),
        Content::List(values) => values.is_empty(),
        Content::Named(entries) => entries.is_empty(),
    }
}
