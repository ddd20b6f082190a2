//! Names: versions, and values where they are named, too.
//!
//! Programs only compare versions for equality, and programs that are data-independent only move
//! values. So states that differ in names alone have the same futures, up to these names.

use super::data::Data;

/// Bit of a name that is a value; other names are versions.
const VALUE: u32 = 1 << 31;

/// New names by the order of their occurrence: versions 1, 2, ... and values 1, 2, ...
#[derive(Clone, Debug, Default)]
pub struct Names {
    versions: Vec<u32>,
    values: Vec<u32>,
}

impl Names {
    pub fn clear(&mut self) {
        self.versions.clear();
        self.values.clear();
    }

    /// Returns the number of versions so far.
    pub const fn versions(&self) -> u32 {
        self.versions.len() as u32
    }

    /// Returns the new name of a value; the initial value keeps its name.
    pub fn rename_value(&mut self, value: u32) -> u32 {
        value_renamed(value, &mut |name| self.rename(name))
    }

    /// Returns the new name.
    pub fn rename(&mut self, name: u32) -> u32 {
        let (known, kind) = match name & VALUE {
            0 => (&mut self.versions, 0),
            kind => (&mut self.values, kind),
        };
        let position = known.iter().position(|one| *one == name).unwrap_or_else(|| {
            known.push(name);
            known.len() - 1
        });
        (position as u32 + 1) | kind
    }
}

/// Returns the largest version among names, or 0.
pub(super) fn latest_version(names: &[u32]) -> u32 {
    names.iter().copied().filter(|name| name & VALUE == 0).max().unwrap_or(0)
}

/// Returns the largest value among names, or 0.
pub fn latest_value(names: &[u32]) -> u32 {
    let values = names.iter().filter(|name| *name & VALUE != 0);
    values.map(|name| name & !VALUE).max().unwrap_or(0)
}

/// Returns true for the name of a value.
pub const fn is_value(name: u32) -> bool {
    name & VALUE != 0
}

/// Adds a value to the names found, unless it is the initial one or was found before.
pub fn value_found(value: u32, found: &mut Vec<u32>) {
    let name = value | VALUE;
    if value != 0 && !found.contains(&name) {
        found.push(name);
    }
}

/// Returns the value with its new name; the initial value keeps its name.
pub fn value_renamed(value: u32, rename: &mut dyn FnMut(u32) -> u32) -> u32 {
    if value == 0 { 0 } else { rename(value | VALUE) & !VALUE }
}

impl Data {
    /// Adds the names in the data, each once; values are names if `values`.
    pub fn names(&self, values: bool, found: &mut Vec<u32>) {
        match self {
            Self::Version(version) if *version != 0 && !found.contains(version) => {
                found.push(*version);
            }
            Self::Value(value) if values => value_found(*value, found),
            Self::Parts(parts) => parts.iter().for_each(|part| part.names(values, found)),
            _ => {}
        }
    }

    pub fn named_anew(&self, values: bool, rename: &mut dyn FnMut(u32) -> u32) -> Self {
        match self {
            Self::Version(version) if *version != 0 => Self::Version(rename(*version)),
            Self::Value(value) if values => Self::Value(value_renamed(*value, rename)),
            Self::Parts(parts) => {
                Self::Parts(parts.iter().map(|part| part.named_anew(values, rename)).collect())
            }
            data => data.clone(),
        }
    }
}
