//! Names: versions, and values where they are named, too.
//!
//! Programs only compare versions for equality, and programs that are data-independent only move
//! values. So states that differ in names alone have the same futures, up to these names.

use super::data::Data;

/// Bit of a name that is a value; other names are versions.
const VALUE: u32 = 1 << 31;

/// New names by the order of their occurrence: versions 1, 2, ... and values 1, 2, ...
///
/// Pairs are for versions and for values.
#[derive(Clone, Debug, Default)]
pub struct Names {
    /// Number of the first names, which keep their names.
    kept: [u32; 2],
    /// The names behind them, in the order of their occurrence.
    others: [Vec<u32>; 2],
}

/// Order in which names occur in a part of a state.
///
/// Pairs are for versions and for values.
#[derive(Clone, Copy, Debug, Default)]
pub struct Occurrence {
    /// Names that must occur before the part for its names to occur in the order 1, 2, ...
    needed: [u32; 2],
    /// Largest name, or 0.
    latest: [u32; 2],
}

const fn kind(name: u32) -> usize {
    (name & VALUE != 0) as usize
}

impl Names {
    pub fn clear(&mut self) {
        self.kept = [0; 2];
        self.others.iter_mut().for_each(Vec::clear);
    }

    /// Returns the number of versions so far.
    pub const fn versions(&self) -> u32 {
        self.kept[0] + self.others[0].len() as u32
    }

    /// Returns the new name of a value; the initial value keeps its name.
    pub fn rename_value(&mut self, value: u32) -> u32 {
        value_renamed(value, &mut |name| self.rename(name))
    }

    /// Returns the new name.
    pub fn rename(&mut self, name: u32) -> u32 {
        let (kept, others) = (&mut self.kept[kind(name)], &mut self.others[kind(name)]);
        let number = name & !VALUE;
        if others.is_empty() && number == *kept + 1 {
            *kept = number;
        }
        if number <= *kept {
            return name;
        }
        let position = others.iter().position(|one| *one == name).unwrap_or_else(|| {
            others.push(name);
            others.len() - 1
        });
        (*kept + position as u32 + 1) | (name & VALUE)
    }

    /// Returns true only if all names of a part keep their names, and then counts them.
    pub fn keep(&mut self, part: &Occurrence) -> bool {
        let keeps = [0, 1].iter().all(|&kind| {
            let latest = if self.others[kind].is_empty() { 0 } else { part.latest[kind] };
            part.needed[kind].max(latest) <= self.kept[kind]
        });
        if keeps {
            [0, 1].iter().for_each(|&kind| {
                self.kept[kind] = self.kept[kind].max(part.latest[kind]);
            });
        }
        keeps
    }
}

impl Occurrence {
    /// Returns the order of names, which occur once each.
    pub fn new(names: &[u32]) -> Self {
        let mut found = Self::default();
        for name in names {
            let (kind, number) = (kind(*name), name & !VALUE);
            if number > found.latest[kind] + 1 {
                found.needed[kind] = found.needed[kind].max(number - 1);
            }
            found.latest[kind] = found.latest[kind].max(number);
        }
        found
    }

    /// Returns the largest version, or 0.
    pub const fn latest(&self) -> u32 {
        self.latest[0]
    }

    /// Returns the largest value, or 0.
    pub const fn latest_value(&self) -> u32 {
        self.latest[1]
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    /// All sequences of two parts with few names, against renaming one by one.
    #[test]
    fn parts_that_keep_their_names_are_recognised() {
        let all = [1, 2, 3, 1 | VALUE, 2 | VALUE];
        let mut parts = vec![Vec::new()];
        for length in 0..3 {
            let longer: Vec<Vec<u32>> =
                parts.iter().filter(|part| part.len() == length).cloned().collect();
            for part in longer {
                let free = all.into_iter().filter(|name| !part.contains(name));
                parts.extend(free.map(|name| [&*part, &[name]].concat()));
            }
        }
        let (mut kept, mut missed) = (0, 0);
        for parts in parts.iter().flat_map(|one| parts.iter().map(move |other| [one, other])) {
            let (mut names, mut known) = (Names::default(), Vec::new());
            for part in parts {
                let mut renamed = |name: &u32| {
                    if !known.contains(name) {
                        known.push(*name);
                    }
                    let same = known.iter().filter(|known| kind(**known) == kind(*name));
                    let position = same.take_while(|known| *known != name).count() as u32;
                    (position + 1) | (name & VALUE)
                };
                let expected: Vec<u32> = part.iter().map(&mut renamed).collect();
                let mut copy = names.clone();
                let renamed: Vec<u32> = part.iter().map(|name| copy.rename(*name)).collect();
                assert_eq!(renamed, expected, "{parts:?}");
                let keeps = names.keep(&Occurrence::new(part));
                assert!(!keeps || expected == *part, "{parts:?}");
                missed += usize::from(!keeps && expected == *part);
                kept += usize::from(keeps);
                part.iter().for_each(|name| {
                    names.rename(*name);
                });
                assert_eq!(format!("{names:?}"), format!("{copy:?}"));
            }
        }
        // A name may keep its name behind others that do not.
        assert!(kept > 100 && missed < kept / 10, "{kept}, {missed}");
    }
}
