//! Keys of objects, and names of registers: the values of a log all have them, or none has.
//!
//! A plain value beside values with names would be another register, of which nothing else is
//! known. A read that returned a plain `nil` there does not say what it read, and shows nothing.

use std::collections::HashMap;

use super::super::ImportErrorKind;
use super::super::meaning::Meaning;
use super::super::place::{Spot, Step};
use super::call::Call;
use super::value::{NIL_TEXT, short};
use super::workload::Unused;
use crate::Value;

/// The first call whose value has a name, and the first whose value has none.
#[derive(Default)]
struct First<'a> {
    named: Option<&'a Call>,
    plain: Option<&'a Call>,
}

impl<'a> First<'a> {
    fn note(
        &mut self,
        is_named: bool,
        call: &'a Call,
        expected: &'static str,
        cure: &'static str,
    ) -> Step<()> {
        let first = if is_named { &mut self.named } else { &mut self.plain };
        *first = first.or(Some(call));
        let (Some(named), Some(plain)) = (self.named, self.plain) else { return Ok(()) };
        let placed = plain.value();
        let (field, found) = (":value", short(&placed.edn));
        let kind = ImportErrorKind::Field { field, expected, found, cure };
        Err(kind.at(placed.spot).against(named.value().spot))
    }
}

/// Refuses a log in which only some values have a key, or only some values of one key a name. Drops
/// the plain `nil` of reads beside values with names, each with a call of `unused`.
pub(super) fn require_uniform(
    calls: &[Call],
    meanings: &mut [Option<Meaning>],
    unused: &mut dyn FnMut(Unused, Spot),
) -> Step<()> {
    let mut keys = First::default();
    let mut names: HashMap<String, First<'_>> = HashMap::new();
    let mut nils = Vec::new();
    for (number, (call, meaning)) in calls.iter().zip(&*meanings).enumerate() {
        let Some(meaning) = meaning else { continue };
        let Some((key, is_named)) = form(meaning) else { continue };
        let is_nil = is_nil(meaning);
        if is_nil {
            nils.push(number);
        }
        if !is_nil || !key.is_empty() {
            let expected = "a tuple [key value], since other values have keys,";
            keys.note(!key.is_empty(), call, expected, "give every value its key, or none")?;
        }
        if is_nil {
            continue;
        }
        if !names.contains_key(key) {
            names.insert(key.to_owned(), First::default());
        }
        if let Some(first) = names.get_mut(key) {
            let expected = "a value with the name of its register, since others have names,";
            let cure = "name the register, as in {:x 5}, or give each object a log of its own";
            first.note(is_named, call, expected, cure)?;
        }
    }
    for number in nils {
        let Some(meaning) = &mut meanings[number] else { continue };
        let Some((key, _)) = form(meaning) else { continue };
        let has_names = names.get(key).is_some_and(|first| first.named.is_some());
        if has_names || key.is_empty() && keys.named.is_some() {
            *meaning = Meaning::Read(Vec::new());
            let end = calls[number].end.as_ref();
            unused(Unused::Unnamed, end.map_or(calls[number].spot, |end| end.returned.spot));
        }
    }
    Ok(())
}

/// Returns the key of an operation, empty if it has none, and true if its value has a name; `None`
/// if it has no value.
fn form(meaning: &Meaning) -> Option<(&str, bool)> {
    match meaning {
        Meaning::Write((key, name), _) => Some((key, !name.is_empty())),
        Meaning::Read(entries) => {
            entries.first().map(|((key, name), _)| (key.as_str(), !name.is_empty()))
        }
        Meaning::ReadSet(key, _) => Some((key, true)),
    }
}

/// Returns true for a read that returned `nil` without the name of a register.
fn is_nil(meaning: &Meaning) -> bool {
    match meaning {
        Meaning::Read(entries) => match entries.as_slice() {
            [((_, name), Value::Text(value))] => name.is_empty() && **value == *NIL_TEXT,
            _ => false,
        },
        _ => false,
    }
}
