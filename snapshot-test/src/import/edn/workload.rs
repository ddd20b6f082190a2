//! What the operations of a history in EDN do to the segments of a snapshot.
//!
//! **Registers.** `:write` with `{k v}`, `[[:w k v]]`, or a bare value (one register), and
//! `:read` with a map, with `[[:r k v] ...]`, or a bare value; `:txn` of one write, or of
//! reads. A register is a segment. A read is a scan of the segments that it returned.
//!
//! **Sets.** `:add` (or `:write`, where reads return collections) of an element, and `:read`
//! of the set's elements. An element is a segment, which holds 1 once it is added, and 0
//! before; the elements that a read did not return held 0. Adding twice is no other state.
//!
//! **Independent keys.** Values are `[k v]`. Linearizability is local (Herlihy and Wing,
//! 1990): objects under different keys are segments of one snapshot that no read joins.
//!
//! **Increments** that return what they wrote are taken for writes. That forgets what they
//! read: a violation may be missed, no alarm is false. Where the outcome of one is unknown,
//! so is what it wrote, and the log is refused.

use std::collections::{BTreeSet, HashMap};

use clojure_reader::edn::Edn;
use snapshot_core::Segment;

use super::super::timeline::Deed;
use super::super::{ImportError, ImportErrorKind};
use super::MOST_ENTRIES;
use super::event::{Call, Kind};
use super::value::{scalar, short};
use crate::Value;

/// What the calls of a log do.
pub(super) struct Deeds {
    /// Call by call.
    pub(super) of_calls: Vec<Deed>,
    /// The names of the segments.
    pub(super) names: Vec<String>,
    /// What segments hold at first.
    pub(super) initial: Value,
}

/// What a call does, by names. The first part of a name is the independent key, if there
/// is one.
enum Meaning {
    Write(Name, Value),
    Read(Vec<(Name, Value)>),
    /// The set of a key, with its elements.
    ReadSet(String, BTreeSet<String>),
    /// It certainly did nothing, and does not say what it would have done.
    Nothing,
}

type Name = (String, String);

/// What an absent value is.
static NIL: Edn<'static> = Edn::Nil;

/// An element of a set, once it is added.
const ADDED: Value = Value::Integer(1);

pub(super) fn deeds(
    calls: &[Call],
    is_independent: bool,
    initial: Option<Value>,
) -> Result<Deeds, ImportError> {
    let reader = Meanings { is_independent, has_sets: has_sets(calls, is_independent) };
    let meanings: Vec<Meaning> = calls
        .iter()
        .map(|call| reader.meaning(call).map_err(|kind| kind.at(call.line)))
        .collect::<Result<_, _>>()?;
    let mut segments = Segments::default();
    for (call, meaning) in calls.iter().zip(&meanings) {
        segments.name_all(meaning).map_err(|kind| kind.at(call.line))?;
    }
    let mut entries = 0;
    let mut of_calls = Vec::with_capacity(calls.len());
    for (call, meaning) in calls.iter().zip(meanings) {
        let deed = segments.deed(meaning);
        if let Deed::Partial { entries: some } = &deed {
            entries += some.len();
        }
        if entries > MOST_ENTRIES {
            return Err(ImportErrorKind::TooMany { most: MOST_ENTRIES }.at(call.line));
        }
        of_calls.push(deed);
    }
    let initial = match (reader.has_sets, initial) {
        (true, _) => Value::ZERO,
        (false, Some(initial)) => initial,
        (false, None) => Value::from("nil"),
    };
    let names = segments.names.iter().map(|(key, name)| format!("{key}{name}")).collect();
    Ok(Deeds { of_calls, names, initial })
}

/// Whether reads return the elements of sets, or something is added to one.
fn has_sets(calls: &[Call], is_independent: bool) -> bool {
    calls.iter().any(|call| match call.function.as_str() {
        "add" | "insert" => true,
        "read" | "r" => {
            let value = match pair(&call.returned) {
                Some((_, value)) if is_independent || is_tuple(&call.returned) => value,
                _ => &call.returned,
            };
            match value {
                Edn::Set(_) => true,
                Edn::Vector(items) | Edn::List(items) => {
                    !items.is_empty() && items.iter().all(|item| scalar(item).is_some())
                }
                _ => false,
            }
        }
        _ => false,
    })
}

/// `#jepsen.independent.Tuple[k v]`, or with another tag that ends so.
fn is_tuple(edn: &Edn<'_>) -> bool {
    matches!(edn, Edn::Tagged(tag, _) if tag.ends_with("Tuple"))
}

fn pair<'a>(edn: &'a Edn<'static>) -> Option<(&'a Edn<'static>, &'a Edn<'static>)> {
    match edn {
        Edn::Tagged(_, inner) => pair(inner),
        Edn::Vector(items) => match items.as_slice() {
            [key, value] => Some((key, value)),
            _ => None,
        },
        _ => None,
    }
}

fn items<'a>(edn: &'a Edn<'static>) -> Option<Vec<&'a Edn<'static>>> {
    match edn {
        Edn::Vector(items) | Edn::List(items) => Some(items.iter().collect()),
        Edn::Set(items) => Some(items.iter().collect()),
        _ => None,
    }
}

/// `[:r k v]`, `[:w k v]`.
fn micro<'a>(edn: &'a Edn<'static>) -> Option<(&'a str, &'a Edn<'static>, &'a Edn<'static>)> {
    match edn {
        Edn::Vector(parts) | Edn::List(parts) => match parts.as_slice() {
            [Edn::Key(function), key, value] => Some((function, key, value)),
            [Edn::Key(function), key] => Some((function, key, &NIL)),
            _ => None,
        },
        _ => None,
    }
}

fn refused(operation: String, reason: &'static str) -> ImportErrorKind {
    ImportErrorKind::Operation { operation, reason }
}

struct Meanings {
    is_independent: bool,
    has_sets: bool,
}

impl Meanings {
    fn meaning(&self, call: &Call) -> Result<Meaning, ImportErrorKind> {
        let is_ok = matches!(call.end, Some((Kind::Ok, _)));
        let (key, given) = self.key(&call.given)?;
        let (_, returned) = self.key(&call.returned)?;
        match call.function.as_str() {
            "read" | "r" if is_ok => self.read(key.or(self.key(&call.returned)?.0), returned),
            "read" | "r" => Ok(Meaning::Read(Vec::new())),
            "write" | "w" => self.write(key, given),
            "add" | "insert" => element(key, given),
            "txn" => transaction(key, given, returned, is_ok),
            "inc" | "increment" => increment(call, key, returned),
            other => Err(refused(format!(":{other}"), reason(other))),
        }
    }

    /// The key and the value of a tuple; of what is none, no key.
    fn key<'a>(
        &self,
        value: &'a Edn<'static>,
    ) -> Result<(Option<String>, &'a Edn<'static>), ImportErrorKind> {
        if !self.is_independent && !is_tuple(value) || matches!(value, Edn::Nil) {
            return Ok((None, value));
        }
        match pair(value) {
            Some((key, value)) => Ok((Some(format!("{key} ")), value)),
            None => Err(ImportErrorKind::Field {
                field: ":value",
                expected: "a tuple [key value], since keys are independent,",
                found: short(value),
            }),
        }
    }

    fn read(&self, key: Option<String>, value: &Edn<'static>) -> Result<Meaning, ImportErrorKind> {
        let key = key.unwrap_or_default();
        if let Edn::Map(fields) = value {
            let entries = fields.iter().map(|(name, value)| entry(&key, name, value));
            return Ok(Meaning::Read(entries.collect::<Result<_, _>>()?));
        }
        let Some(items) = items(value) else {
            return match scalar(value) {
                // It says nothing of the set.
                Some(_) if self.has_sets && matches!(value, Edn::Nil) => {
                    Ok(Meaning::Read(Vec::new()))
                }
                Some(value) if !self.has_sets => {
                    Ok(Meaning::Read(vec![((key, String::new()), value)]))
                }
                _ => Err(ImportErrorKind::Field {
                    field: ":value",
                    expected: "the elements of the set, as other reads return them",
                    found: short(value),
                }),
            };
        };
        if items.iter().any(|item| micro(item).is_some()) {
            return reads(&key, &items);
        }
        let mut elements = BTreeSet::new();
        for item in items {
            if scalar(item).is_none() {
                return Err(ImportErrorKind::Field {
                    field: ":value",
                    expected: "values of registers, or the elements of a set",
                    found: short(value),
                });
            }
            elements.insert(item.to_string());
        }
        Ok(Meaning::ReadSet(key, elements))
    }

    fn write(&self, key: Option<String>, value: &Edn<'static>) -> Result<Meaning, ImportErrorKind> {
        let prefix = key.clone().unwrap_or_default();
        match value {
            Edn::Map(fields) => match fields.iter().next() {
                Some((name, value)) if fields.len() == 1 => {
                    let (name, value) = entry(&prefix, name, value)?;
                    Ok(Meaning::Write(name, value))
                }
                _ => Err(several(fields.len())),
            },
            Edn::Vector(items) if items.iter().any(|item| micro(item).is_some()) => {
                transaction(key, value, value, true)
            }
            _ if self.has_sets => element(key, value),
            _ => match scalar(value) {
                Some(_) if matches!(value, Edn::Nil) => Err(missing()),
                Some(value) => Ok(Meaning::Write((prefix, String::new()), value)),
                None => Err(tuple(value)),
            },
        }
    }
}

fn missing() -> ImportErrorKind {
    ImportErrorKind::Missing { field: ":value", cure: "; it is what the operation writes" }
}

fn tuple(value: &Edn<'_>) -> ImportErrorKind {
    ImportErrorKind::Field {
        field: ":value",
        expected: "one value (if this is [key value], add --independent)",
        found: short(value),
    }
}

fn several(count: usize) -> ImportErrorKind {
    refused(
        format!("a write of {count} keys"),
        "an update writes one segment; writes of several keys at once cannot be imported",
    )
}

fn reason(function: &str) -> &'static str {
    match function {
        "cas" | "compare-and-set" => "it writes depending on what is there",
        "append" => "lists that are appended to are no registers; Elle checks them",
        "transfer" => "transactions have no place in it",
        "dequeue" | "enqueue" | "drain" => "queues are no registers",
        "remove" | "delete" => "a set that shrinks is no snapshot of its elements' additions",
        _ => "expected :read, :write, :add or :txn",
    }
}

fn entry(
    key: &str,
    name: &Edn<'static>,
    value: &Edn<'static>,
) -> Result<(Name, Value), ImportErrorKind> {
    let found = scalar(value).ok_or_else(|| ImportErrorKind::Field {
        field: ":value",
        expected: "one value of a register",
        found: short(value),
    })?;
    Ok(((key.to_owned(), name.to_string()), found))
}

fn element(key: Option<String>, value: &Edn<'static>) -> Result<Meaning, ImportErrorKind> {
    match value {
        Edn::Nil => Err(missing()),
        value if scalar(value).is_none() => Err(tuple(value)),
        value => Ok(Meaning::Write((key.unwrap_or_default(), value.to_string()), ADDED)),
    }
}

/// `[[:r k v] ...]`, all of them.
fn reads(key: &str, items: &[&Edn<'static>]) -> Result<Meaning, ImportErrorKind> {
    let mut entries: Vec<(Name, Value)> = Vec::new();
    for item in items {
        let Some(("r", name, value)) = micro(item) else { return Err(mixed(item)) };
        let (name, value) = entry(key, name, value)?;
        match entries.iter().find(|(other, _)| *other == name) {
            Some((_, other)) if *other != value => {
                return Err(refused(
                    format!("a read of `{}` that returned two values", name.1),
                    "a scan returns one value for each segment",
                ));
            }
            Some(_) => {}
            None => entries.push((name, value)),
        }
    }
    Ok(Meaning::Read(entries))
}

fn mixed(item: &Edn<'_>) -> ImportErrorKind {
    let reason = match item {
        Edn::Vector(parts) if parts.first() == Some(&Edn::key("append")) => {
            "lists that are appended to are no registers; Elle checks them"
        }
        _ => "transactions of reads and writes have no place in it",
    };
    refused(format!("a transaction with {}", short(item)), reason)
}

/// One write, or reads; as Jepsen's transactions over registers have them.
fn transaction(
    key: Option<String>,
    given: &Edn<'static>,
    returned: &Edn<'static>,
    is_ok: bool,
) -> Result<Meaning, ImportErrorKind> {
    let key = key.unwrap_or_default();
    let items = items(given).ok_or_else(|| ImportErrorKind::Field {
        field: ":value",
        expected: "a list of [:r key nil] or [:w key value]",
        found: short(given),
    })?;
    let is_write = |item: &&&Edn<'static>| matches!(micro(item), Some(("w", ..)));
    match (items.iter().filter(is_write).count(), items.as_slice()) {
        (1, [item]) => {
            let Some((_, name, value)) = micro(item) else { return Err(mixed(item)) };
            let (name, value) = entry(&key, name, value)?;
            Ok(Meaning::Write(name, value))
        }
        (0, items) => {
            if let Some(other) = items.iter().find(|item| !matches!(micro(item), Some(("r", ..)))) {
                return Err(mixed(other));
            }
            match self::items(returned) {
                Some(returned) if is_ok => reads(&key, &returned),
                _ => Ok(Meaning::Read(Vec::new())),
            }
        }
        (writes, items) if writes == items.len() => Err(several(writes)),
        (_, items) => Err(mixed(items[0])),
    }
}

/// `:inc` that returned `{k v}`, what it wrote.
fn increment(
    call: &Call,
    key: Option<String>,
    returned: &Edn<'static>,
) -> Result<Meaning, ImportErrorKind> {
    let without = |outcome: &str| {
        refused(
            format!(":{} {outcome}", call.function),
            "it does not say which value it wrote; record the value, or read and write it",
        )
    };
    match (call.end, returned) {
        (Some((Kind::Fail, _)), _) => Ok(Meaning::Nothing),
        (Some((Kind::Ok, _)), Edn::Map(fields)) if fields.len() == 1 => {
            let (name, value) = fields.iter().next().unwrap_or((&NIL, &NIL));
            let (name, value) = entry(&key.unwrap_or_default(), name, value)?;
            Ok(Meaning::Write(name, value))
        }
        (Some((Kind::Ok, _)), _) => Err(without("without the value that it wrote")),
        _ => Err(without("whose outcome is unknown")),
    }
}

/// The segments of names, numbered as they occur.
#[derive(Default)]
struct Segments {
    numbers: HashMap<Name, Segment>,
    names: Vec<Name>,
    /// Of each key, the segments of its elements.
    of_key: HashMap<String, Vec<Segment>>,
}

impl Segments {
    fn name(&mut self, name: &Name) -> Result<(), ImportErrorKind> {
        if !self.numbers.contains_key(name) {
            let segment = Segment::new(self.names.len())
                .map_err(|_| ImportErrorKind::TooMany { most: Segment::LIMIT })?;
            self.numbers.insert(name.clone(), segment);
            self.names.push(name.clone());
            self.of_key.entry(name.0.clone()).or_default().push(segment);
        }
        Ok(())
    }

    fn name_all(&mut self, meaning: &Meaning) -> Result<(), ImportErrorKind> {
        match meaning {
            Meaning::Write(name, _) => self.name(name),
            Meaning::Read(entries) => entries.iter().try_for_each(|(name, _)| self.name(name)),
            Meaning::ReadSet(key, elements) => {
                elements.iter().try_for_each(|element| self.name(&(key.clone(), element.clone())))
            }
            Meaning::Nothing => Ok(()),
        }
    }

    /// What a call does, by segments. All names are known.
    fn deed(&self, meaning: Meaning) -> Deed {
        let mut entries: Vec<(Segment, Value)> = match meaning {
            Meaning::Write(name, value) => {
                return Deed::Update { segment: self.numbers[&name], value };
            }
            Meaning::Nothing => Vec::new(),
            Meaning::Read(entries) => {
                entries.into_iter().map(|(name, value)| (self.numbers[&name], value)).collect()
            }
            Meaning::ReadSet(key, elements) => {
                let held: BTreeSet<Segment> = elements
                    .into_iter()
                    .map(|element| self.numbers[&(key.clone(), element)])
                    .collect();
                let all = self.of_key.get(&key).into_iter().flatten();
                let value = |one| if held.contains(one) { ADDED } else { Value::ZERO };
                all.map(|segment| (*segment, value(segment))).collect()
            }
        };
        entries.sort_unstable_by_key(|(segment, _)| *segment);
        if !entries.is_empty() && entries.len() == self.names.len() {
            Deed::Scan { values: entries.into_iter().map(|(_, value)| value).collect() }
        } else {
            Deed::Partial { entries }
        }
    }
}
