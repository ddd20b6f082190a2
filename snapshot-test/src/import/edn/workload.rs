//! The effects of the operations of a history in EDN on the segments of a snapshot.
//!
//! **Registers.** `:write` with `{k v}`, `[[:w k v]]`, or a bare value (one register), and
//! `:read` with a map, with `[[:r k v] ...]`, or a bare value; `:txn` of one write, or of
//! reads. A register is a segment. A read is a scan of the segments that it returned.
//!
//! **Sets.** `:add` (or `:write`, where reads return collections) of an element, and `:read` of the
//! set's elements. An element is a segment with the value 1 once it is added, and 0 before; a read
//! returned 0 for all elements that it did not list. Adding an element again does not change the
//! state.
//!
//! **Independent keys.** Values are `[k v]`.
//!
//! **Increments** that return the written value are imported as writes. That loses the value that
//! they read: a violation may be missed, but no alarm is false. If the outcome of an increment is
//! unknown, so is the written value, and the log is refused.
//!
//! The returned value of an operation must fit its invocation. A failed operation had no effect and
//! shows nothing, except a compare-and-set, which may have failed because of the value that it saw.

use std::collections::BTreeSet;

use clojure_reader::edn::Edn;

use super::super::meaning::{ADDED, Meaning, Name};
use super::super::place::{Spot, Step};
use super::super::{COMPARE_AND_SET, ImportErrorKind, QUEUE};
use super::call::{Call, End};
use super::event::{Kind, Placed};
use super::sort::Sort;
use super::value::{scalar, short};
use crate::Value;

/// The value of an absent field.
static NIL: Edn<'static> = Edn::Nil;

/// The reason why a returned value is not used.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) enum Unused {
    /// The outcome of the read is unknown.
    Unknown,
    /// A read of a set returned no collection.
    NoSet,
    /// A read of a set returned an element more than once.
    Twice,
    /// A read returned `nil` without the name of its register, and others have names.
    Unnamed,
}

impl Unused {
    /// Returns the reason for a warning.
    pub(super) const fn reason(self) -> &'static str {
        match self {
            Self::Unknown => "of unknown outcome has a value, which shows nothing",
            Self::NoSet => "read a set and returned nil, which shows nothing",
            Self::Twice => "read a set and returned an element twice, which counts once",
            Self::Unnamed => {
                "read and returned nil without a key or the name of a register, which shows nothing"
            }
        }
    }
}

pub(super) struct Meanings<'a> {
    pub(super) is_independent: bool,
    pub(super) sort: Sort,
    /// Called for each unused value.
    pub(super) unused: &'a mut dyn FnMut(Unused, Spot),
}

impl Meanings<'_> {
    /// Returns the meaning of a call; `None` if it had no effect and its intended effect cannot be
    /// determined.
    pub(super) fn of(&mut self, call: &Call) -> Step<Option<Meaning>> {
        match (call.kind(), is_compare_and_set(&call.function)) {
            (Some(Kind::Fail), false) => Ok(self.meaning(call).ok()),
            _ => self.meaning(call).map(Some),
        }
    }

    fn meaning(&mut self, call: &Call) -> Step<Meaning> {
        let given = &call.given;
        let end = call.end.as_ref().filter(|end| end.kind == Kind::Ok);
        match &*call.function {
            "read" | "r" => self.read(call, end),
            "write" | "w" => self.same(call, end, |this, key, placed| this.write(key, placed)),
            "add" | "insert" => self.same(call, end, |_, key, placed| element(key, placed)),
            "txn" if writes(&given.edn) > 0 => {
                self.same(call, end, |_, key, placed| transaction(key, placed))
            }
            "txn" => self.read(call, end),
            "inc" | "increment" => self.increment(call),
            _ => Err(refused(call)),
        }
    }

    /// Returns the key and the value of a tuple; no key if it is not a tuple.
    fn key(&self, placed: &Placed) -> Step<(Option<String>, Placed)> {
        let Placed { edn, spot } = placed;
        if !self.is_independent && !is_tuple(edn) || matches!(edn, Edn::Nil) {
            return Ok((None, placed.clone()));
        }
        match pair(edn) {
            Some((key, value)) => {
                Ok((Some(key.to_string()), Placed { edn: value.clone(), spot: *spot }))
            }
            None => Err(ImportErrorKind::Field {
                field: ":value",
                expected: "a tuple [key value], since keys are independent,",
                found: short(edn),
                cure: "leave out --independent if these are values",
            }
            .at(*spot)),
        }
    }

    /// Reads an operation that returns the value it was invoked with.
    fn same(
        &self,
        call: &Call,
        end: Option<&End>,
        read: impl Fn(&Self, Option<String>, &Placed) -> Step<Meaning>,
    ) -> Step<Meaning> {
        let (key, given) = self.key(&call.given)?;
        let meaning = read(self, key, &given)?;
        let Some(End { returned, .. }) = end.filter(|end| end.returned.edn != Edn::Nil) else {
            return Ok(meaning);
        };
        let (key, value) = self.key(returned).map_err(|_| other_value(call, returned))?;
        match read(self, key, &value) {
            Ok(same) if same == meaning => Ok(meaning),
            _ => Err(other_value(call, returned)),
        }
    }

    fn read(&mut self, call: &Call, end: Option<&End>) -> Step<Meaning> {
        let (given_key, given) = self.key(&call.given)?;
        let Some(End { returned, .. }) = end else {
            if let Some(end) = call.end.as_ref().filter(|end| end.kind == Kind::Info)
                && end.returned.edn != Edn::Nil
                && end.returned.edn != call.given.edn
            {
                (self.unused)(Unused::Unknown, end.returned.spot);
            }
            return Ok(Meaning::Read(Vec::new()));
        };
        let (key, value) = self.key(returned)?;
        if given_key.is_some() && key.is_some() && given_key != key {
            return Err(other_value(call, returned));
        }
        let meaning = self.returned(given_key.or(key).unwrap_or_default(), &value)?;
        if let Meaning::Read(entries) = &meaning
            && !is_about(&given.edn, entries)
        {
            return Err(other_value(call, returned));
        }
        Ok(meaning)
    }

    /// Reads the returned value of a read.
    fn returned(&mut self, key: String, Placed { edn: value, spot }: &Placed) -> Step<Meaning> {
        if let Edn::Map(fields) = value {
            let entries = fields.iter().map(|(name, value)| entry(&key, name, value, *spot));
            return Ok(Meaning::Read(entries.collect::<Step<_>>()?));
        }
        let Some(items) = items(value) else {
            return match scalar(value) {
                Some(value) if self.sort == Sort::Registers => {
                    Ok(Meaning::Read(vec![((key, String::new()), value)]))
                }
                _ => {
                    (self.unused)(Unused::NoSet, *spot);
                    Ok(Meaning::Read(Vec::new()))
                }
            };
        };
        if self.sort == Sort::Registers {
            return reads(&key, &items, *spot);
        }
        let mut elements = BTreeSet::new();
        for item in items {
            if scalar(item).is_none() {
                let kind = ImportErrorKind::Field {
                    field: ":value",
                    expected: "values of registers, or the elements of a set",
                    found: short(value),
                    cure: "",
                };
                return Err(kind.at(*spot));
            }
            if !elements.insert(item.to_string()) {
                (self.unused)(Unused::Twice, *spot);
            }
        }
        Ok(Meaning::ReadSet(key, elements))
    }

    fn write(&self, key: Option<String>, placed: &Placed) -> Step<Meaning> {
        let Placed { edn: value, spot } = placed;
        let prefix = key.clone().unwrap_or_default();
        match value {
            Edn::Map(fields) => match fields.iter().next() {
                Some((name, value)) if fields.len() == 1 => {
                    let (name, value) = entry(&prefix, name, value, *spot)?;
                    Ok(Meaning::Write(name, value))
                }
                _ => Err(several(fields.len(), *spot)),
            },
            Edn::Vector(items) if items.iter().any(|item| micro(item).is_some()) => {
                transaction(key, placed)
            }
            _ if self.sort == Sort::Sets => element(key, placed),
            _ => match scalar(value) {
                Some(_) if matches!(value, Edn::Nil) => Err(missing(*spot)),
                Some(value) => Ok(Meaning::Write((prefix, String::new()), value)),
                None => Err(tuple(placed)),
            },
        }
    }

    /// Reads an `:inc` that returned `{k v}`, the written value.
    fn increment(&self, call: &Call) -> Step<Meaning> {
        let without = |outcome: &str| {
            let operation = format!(":{} {outcome}", call.function);
            let reason = "is not judged yet as an operation of a snapshot: it does not say which \
                          value it wrote";
            let cure = "record the value, or read and write it";
            Err(ImportErrorKind::Operation { operation, reason, cure }.at(call.function_at))
        };
        let Some(End { kind: Kind::Ok, returned, .. }) = &call.end else {
            return without("whose outcome is unknown");
        };
        let (key, value) = self.key(returned)?;
        match &value.edn {
            Edn::Map(fields) if fields.len() == 1 => {
                let (name, written) = fields.iter().next().unwrap_or((&NIL, &NIL));
                let key = key.unwrap_or_default();
                let (name, written) = entry(&key, name, written, value.spot)?;
                // Invoked with the register.
                let (given_key, given) = self.key(&call.given)?;
                let is_named = given_key.is_none_or(|given| given == key)
                    && (given.edn == Edn::Nil || given.edn.to_string() == name.1);
                if !is_named {
                    return Err(other_value(call, returned));
                }
                Ok(Meaning::Write(name, written))
            }
            _ => without("without the value that it wrote"),
        }
    }
}

/// Returns true if a read that was invoked with this value can have returned these registers.
fn is_about(given: &Edn<'static>, entries: &[(Name, Value)]) -> bool {
    let has = |name: &Edn<'static>| entries.iter().any(|((_, one), _)| *one == name.to_string());
    match (given, items(given)) {
        (Edn::Nil, _) => true,
        // Exactly the requested registers.
        (_, Some(items)) if items.iter().any(|item| micro(item).is_some()) => {
            let asked: BTreeSet<String> = items
                .iter()
                .filter_map(|item| micro(item))
                .map(|(_, name, _)| name.to_string())
                .collect();
            let found: BTreeSet<String> = entries.iter().map(|((_, one), _)| one.clone()).collect();
            asked == found
        }
        (_, Some(items)) => {
            items.is_empty()
                || entries
                    .iter()
                    .all(|((_, one), _)| items.iter().any(|item| item.to_string() == *one))
        }
        (Edn::Map(fields), None) => entries
            .iter()
            .all(|((_, one), _)| fields.iter().any(|(name, _)| name.to_string() == *one)),
        // The named register is among the returned ones; or the value is the same.
        (one, None) => {
            has(one)
                || scalar(one).is_some_and(|one| {
                    entries.iter().all(|(name, value)| name.1.is_empty() && *value == one)
                })
        }
    }
}

fn other_value(call: &Call, returned: &Placed) -> Box<super::super::place::Fault> {
    let kind = ImportErrorKind::OtherValue {
        operation: format!(":{}", call.function),
        given: short(&call.given.edn),
        returned: short(&returned.edn),
    };
    kind.at(returned.spot).against(call.given.spot)
}

fn missing(spot: Spot) -> Box<super::super::place::Fault> {
    let cure = "it is what the operation writes";
    ImportErrorKind::Missing { field: ":value", cure }.at(spot)
}

fn tuple(Placed { edn, spot }: &Placed) -> Box<super::super::place::Fault> {
    let (expected, cure) = ("one value", "if this is a tuple [key value], add --independent");
    ImportErrorKind::Field { field: ":value", expected, found: short(edn), cure }.at(*spot)
}

fn several(count: usize, spot: Spot) -> Box<super::super::place::Fault> {
    let operation = format!("a write of {count} keys");
    let reason = "is not judged yet as an operation of a snapshot: it changes several keys at once";
    let cure = "an update writes one segment";
    ImportErrorKind::Operation { operation, reason, cure }.at(spot)
}

fn is_compare_and_set(function: &str) -> bool {
    matches!(function, "cas" | "compare-and-set")
}

/// Returns the refusal of an operation by its name.
fn refused(call: &Call) -> Box<super::super::place::Fault> {
    let (reason, cure) = match &*call.function {
        _ if is_compare_and_set(&call.function) => COMPARE_AND_SET,
        "append" => {
            ("is no operation of a snapshot", "lists that are appended to are judged by Elle")
        }
        "transfer" => (
            "is not judged yet as an operation of a snapshot: it changes several keys at once",
            "an update writes one segment",
        ),
        "dequeue" | "enqueue" | "drain" | "push" | "pop" => QUEUE,
        "acquire" | "release" => {
            ("is no operation of a snapshot", "a lock is judged by `check --object lock`")
        }
        "get" | "put" => {
            ("is no operation of a snapshot", "a key-value store is judged by `check --object map`")
        }
        "remove" | "delete" => (
            "is not judged yet as an operation of a snapshot",
            "a set that shrinks is judged by `check --object set`, if its operations return whether \
             the element was there",
        ),
        _ => ("is no operation of a snapshot", "an operation is a :read, :write, :add or :txn"),
    };
    let operation = format!(":{}", call.function);
    ImportErrorKind::Operation { operation, reason, cure }.at(call.function_at)
}

fn entry(key: &str, name: &Edn<'static>, value: &Edn<'static>, spot: Spot) -> Step<(Name, Value)> {
    let found = scalar(value).ok_or_else(|| {
        let expected = "one value of a register";
        ImportErrorKind::Field { field: ":value", expected, found: short(value), cure: "" }.at(spot)
    })?;
    Ok(((key.to_owned(), name.to_string()), found))
}

fn element(key: Option<String>, placed: &Placed) -> Step<Meaning> {
    match &placed.edn {
        Edn::Nil => Err(missing(placed.spot)),
        value if scalar(value).is_none() => Err(tuple(placed)),
        value => Ok(Meaning::Write((key.unwrap_or_default(), value.to_string()), ADDED)),
    }
}

/// Parses `[[:r k v] ...]`, if all items are reads.
fn reads(key: &str, items: &[&Edn<'static>], spot: Spot) -> Step<Meaning> {
    let mut entries: Vec<(Name, Value)> = Vec::new();
    for item in items {
        let Some(("r", name, value)) = micro(item) else { return Err(mixed(item, spot)) };
        let (name, value) = entry(key, name, value, spot)?;
        match entries.iter().find(|(other, _)| *other == name) {
            Some((_, other)) if *other != value => {
                let operation = format!("a read of `{}` that returned two values", name.1);
                let reason = "is no operation of a snapshot";
                let cure = "a scan returns one value for each segment";
                return Err(ImportErrorKind::Operation { operation, reason, cure }.at(spot));
            }
            Some(_) => {}
            None => entries.push((name, value)),
        }
    }
    Ok(Meaning::Read(entries))
}

fn mixed(item: &Edn<'_>, spot: Spot) -> Box<super::super::place::Fault> {
    let (reason, cure) = match item {
        Edn::Vector(parts) if parts.first() == Some(&Edn::key("append")) => {
            ("is no operation of a snapshot", "lists that are appended to are judged by Elle")
        }
        _ => (
            "is not judged yet as an operation of a snapshot: it reads and writes at once",
            "a transaction is one write, or reads",
        ),
    };
    let operation = format!("a transaction with {}", short(item));
    ImportErrorKind::Operation { operation, reason, cure }.at(spot)
}

/// Counts the writes of a transaction.
fn writes(given: &Edn<'static>) -> usize {
    let items = items(given).unwrap_or_default();
    items.iter().filter(|item| !matches!(micro(item), Some(("r", ..)))).count()
}

/// Parses one write, in the form of Jepsen's transactions over registers.
fn transaction(key: Option<String>, Placed { edn: given, spot }: &Placed) -> Step<Meaning> {
    let items = items(given).unwrap_or_default();
    let is_write = |item: &&&Edn<'static>| matches!(micro(item), Some(("w", ..)));
    match items.as_slice() {
        [item] => {
            let Some(("w", name, value)) = micro(item) else { return Err(mixed(item, *spot)) };
            let (name, value) = entry(&key.unwrap_or_default(), name, value, *spot)?;
            Ok(Meaning::Write(name, value))
        }
        items => match items.iter().find(|item| !is_write(item)) {
            None => Err(several(items.len(), *spot)),
            Some(other) => Err(mixed(other, *spot)),
        },
    }
}

/// Returns true for `#jepsen.independent.Tuple[k v]`, or another tag with this ending.
pub(crate) fn is_tuple(edn: &Edn<'_>) -> bool {
    matches!(edn, Edn::Tagged(tag, _) if tag.ends_with("Tuple"))
}

pub(crate) fn pair<'a>(edn: &'a Edn<'static>) -> Option<(&'a Edn<'static>, &'a Edn<'static>)> {
    match edn {
        Edn::Tagged(_, inner) => pair(inner),
        Edn::Vector(items) => match items.as_slice() {
            [key, value] => Some((key, value)),
            _ => None,
        },
        _ => None,
    }
}

pub(crate) fn items<'a>(edn: &'a Edn<'static>) -> Option<Vec<&'a Edn<'static>>> {
    match edn {
        Edn::Vector(items) | Edn::List(items) => Some(items.iter().collect()),
        Edn::Set(items) => Some(items.iter().collect()),
        _ => None,
    }
}

/// Parses `[:r k v]` or `[:w k v]`; Knossos writes `:read` and `:write`.
pub(super) fn micro<'a>(
    edn: &'a Edn<'static>,
) -> Option<(&'a str, &'a Edn<'static>, &'a Edn<'static>)> {
    match edn {
        Edn::Vector(parts) | Edn::List(parts) => match parts.as_slice() {
            [Edn::Key(function), key, value] => Some((short_name(function), key, value)),
            [Edn::Key(function), key] => Some((short_name(function), key, &NIL)),
            _ => None,
        },
        _ => None,
    }
}

fn short_name(function: &str) -> &str {
    match function {
        "read" => "r",
        "write" => "w",
        other => other,
    }
}
