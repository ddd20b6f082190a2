//! The meaning of an operation of a log, in terms of named segments; and the numbering of names.
//!
//! A name has two parts, the key of an object and the name of a segment in it.
//! Linearizability is local (Herlihy and Wing, 1990): objects under different keys are
//! segments of one snapshot that no scan joins.

use std::collections::{BTreeSet, HashMap};

use snapshot_core::Segment;

use super::ImportErrorKind;
use super::place::{Spot, Step};
use super::timeline::Deed;
use crate::Value;

/// The largest total number of entries of reads held in memory.
const MOST_ENTRIES: usize = 100_000_000;

/// A segment, by the key of its object and its name there.
pub(super) type Name = (String, String);

/// The value of an element of a set, once it is added.
pub(super) const ADDED: Value = Value::Integer(1);

/// The effect and the result of an operation.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Meaning {
    Write(Name, Value),
    /// A scan of some segments, each at most once; empty unless it responded.
    Read(Vec<(Name, Value)>),
    /// A scan of all elements of the set with this key, with the returned ones.
    ReadSet(String, BTreeSet<String>),
}

impl Meaning {
    /// Passes the names of its segments to `take`.
    fn each_name(&self, take: &mut dyn FnMut(&Name) -> Step<()>) -> Step<()> {
        match self {
            Self::Write(name, _) => take(name),
            Self::Read(entries) => entries.iter().try_for_each(|(name, _)| take(name)),
            Self::ReadSet(key, elements) => {
                let mut name = (key.clone(), String::new());
                elements.iter().try_for_each(|element| {
                    name.1.clone_from(element);
                    take(&name)
                })
            }
        }
    }
}

/// The segments of a log, numbered in the order in which their names occur.
#[derive(Debug, Default)]
pub(super) struct Segments {
    numbers: HashMap<Name, Segment>,
    names: Vec<Name>,
    /// The segments of each key.
    of_key: HashMap<String, Vec<Segment>>,
}

impl Segments {
    /// Numbers the segments with these names, in this order.
    pub(super) fn new(names: impl IntoIterator<Item = Name>, spot: Spot) -> Step<Self> {
        let mut segments = Self::default();
        names.into_iter().try_for_each(|name| segments.add(&name, spot))?;
        Ok(segments)
    }

    fn add(&mut self, name: &Name, spot: Spot) -> Step<()> {
        if !self.numbers.contains_key(name) {
            let segment = Segment::new(self.names.len()).map_err(|_| {
                let what = "segments, that is, registers or elements,";
                ImportErrorKind::TooMany { what, most: Segment::LIMIT + 1 }.at(spot)
            })?;
            self.of_key.entry(name.0.clone()).or_default().push(segment);
            self.names.push(name.clone());
            self.numbers.insert(name.clone(), segment);
        }
        Ok(())
    }

    pub(super) const fn len(&self) -> usize {
        self.names.len()
    }

    /// Returns the name of each segment; of the only segment of an object without a key, `register`.
    pub(super) fn names(&self) -> Vec<Box<str>> {
        let shown = |(key, name): &Name| match (key.as_str(), name.as_str()) {
            ("", "") => "register".to_owned(),
            (one, "") | ("", one) => one.to_owned(),
            (key, name) => format!("{key}/{name}"),
        };
        let names: Vec<String> = self.names.iter().map(shown).collect();
        super::distinct(names.iter().map(String::as_str))
    }

    /// Returns the deeds of operations, with their positions; numbers their names as they occur.
    pub(super) fn deeds(&mut self, meanings: Vec<(Spot, Meaning)>) -> Step<Vec<Deed>> {
        for (spot, meaning) in &meanings {
            meaning.each_name(&mut |name| self.add(name, *spot))?;
        }
        let mut entries = 0;
        let mut deeds = Vec::with_capacity(meanings.len());
        for (spot, meaning) in meanings {
            let deed = self.deed(meaning);
            if let Deed::Scan { values } = &deed {
                entries += values.len();
            }
            if let Deed::Partial { entries: some } = &deed {
                entries += some.len();
            }
            if entries > MOST_ENTRIES {
                let what = "entries of all reads together";
                return Err(ImportErrorKind::TooMany { what, most: MOST_ENTRIES }.at(spot));
            }
            deeds.push(deed);
        }
        Ok(deeds)
    }

    /// Returns the deed of an operation whose names are all known.
    fn deed(&self, meaning: Meaning) -> Deed {
        let mut entries: Vec<(Segment, Value)> = match meaning {
            Meaning::Write(name, value) => {
                return Deed::Update { segment: self.numbers[&name], value };
            }
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
