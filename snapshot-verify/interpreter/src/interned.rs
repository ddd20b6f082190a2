//! Interned parts of states, for tables of states that are rows of numbers.

use std::hash::BuildHasher;
use std::mem::size_of;
use std::sync::{Mutex, PoisonError};

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use rustc_hash::{FxBuildHasher, FxHashMap};

use super::Part;
use super::names::{Names, Occurrence};
use super::renamings::Renamings;

/// Interner of parts. Equal parts have equal numbers.
#[derive(Debug)]
pub struct Interned<T: Part> {
    all: Vec<T::Kept>,
    /// Unpacked copies of some of the parts last used, since a part is mostly used again soon.
    /// Indexed by the last bits of their numbers.
    recent: Mutex<Vec<Option<(u32, T)>>>,
    numbers: HashTable<u32>,
    /// Names in each part, in the order of their occurrence.
    names: Vec<Box<[u32]>>,
    occurrences: Vec<Occurrence>,
    /// True if values are names, besides versions.
    values: bool,
    /// Renamed parts, by part and its new names.
    renamings: Renamings,
    /// Permuted parts, by part and permutation.
    permuted: FxHashMap<(u32, u32), u32>,
    has_names: bool,
    /// Size of the allocations that the tables point to.
    bytes: usize,
}

/// Number of unpacked parts.
const RECENT: usize = 512;

/// Approximate size of an allocation besides its content, in bytes.
pub(super) const ALLOCATION: usize = 16;

impl<T: Part> Default for Interned<T> {
    fn default() -> Self {
        Self {
            all: Vec::new(),
            recent: Mutex::default(),
            numbers: HashTable::new(),
            names: Vec::new(),
            occurrences: Vec::new(),
            values: false,
            renamings: Renamings::default(),
            permuted: FxHashMap::default(),
            has_names: false,
            bytes: 0,
        }
    }
}

impl<T: Part> Interned<T> {
    /// Creates an interner for which values are names; without `values`, only versions are.
    pub fn naming(values: bool) -> Self {
        Self { values, ..Self::default() }
    }

    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub const fn len(&self) -> usize {
        self.all.len()
    }

    /// Returns true if any part holds a name.
    pub const fn has_names(&self) -> bool {
        self.has_names
    }

    /// Approximate memory use in bytes.
    pub fn bytes(&self) -> usize {
        let all = self.all.capacity() * size_of::<T::Kept>();
        let names = self.names.capacity() * size_of::<(Box<[u32]>, Occurrence)>();
        // A hash table has one byte per slot, and keeps an eighth of the slots empty.
        let permuted = self.permuted.capacity() * 8 / 7 * (size_of::<((u32, u32), u32)>() + 1);
        self.bytes
            + all
            + names
            + self.numbers.allocation_size()
            + self.renamings.bytes()
            + permuted
    }

    /// Returns the part with this number.
    pub fn get(&self, number: u32) -> T {
        let mut recent = self.recent.lock().unwrap_or_else(PoisonError::into_inner);
        let recent = &mut recent[number as usize % RECENT];
        match recent {
            Some((known, part)) if *known == number => part.clone(),
            _ => {
                let part = T::from_kept(&self.all[number as usize]);
                *recent = Some((number, part.clone()));
                part
            }
        }
    }

    /// Returns the number of a part. A new part gets the previous number of parts.
    pub fn number(&mut self, part: T) -> u32 {
        let kept = part.to_kept();
        let all = &self.all;
        let is_it = |number: &u32| all[*number as usize] == kept;
        let hash_of = |number: &u32| FxBuildHasher.hash_one(&all[*number as usize]);
        let entry = self.numbers.entry(FxBuildHasher.hash_one(&kept), is_it, hash_of);
        let place = match entry {
            Entry::Occupied(known) => return *known.get(),
            Entry::Vacant(place) => place,
        };
        let number = all.len() as u32;
        place.insert(number);
        let names = part.names(self.values).into_boxed_slice();
        self.has_names |= !names.is_empty();
        self.bytes += T::size(&kept) + size_of_val(&*names);
        self.occurrences.push(Occurrence::new(&names));
        self.names.push(names);
        self.all.push(kept);
        let recent = self.recent.get_mut().unwrap_or_else(PoisonError::into_inner);
        recent.resize(recent.len().max((number as usize + 1).min(RECENT)), None);
        recent[number as usize % RECENT] = Some((number, part));
        number
    }

    /// Renames the names of a part, in the order of their occurrence. `None`: the renamed part is
    /// not known; then `after` has its names.
    pub fn find_renamed(
        &self,
        number: u32,
        names: &mut Names,
        after: &mut Vec<u32>,
    ) -> Option<u32> {
        if names.keep(&self.occurrences[number as usize]) {
            return Some(number);
        }
        let before = &self.names[number as usize];
        after.clear();
        after.extend(before.iter().map(|name| names.rename(*name)));
        if **after == **before {
            return Some(number);
        }
        self.renamings.find(number, after)
    }

    /// Renames the names of a part, in the order of their occurrence.
    pub fn renamed(&mut self, number: u32, names: &mut Names) -> u32 {
        let mut after = Vec::new();
        let known = self.find_renamed(number, names, &mut after);
        known.unwrap_or_else(|| self.add_renamed(number, &after))
    }

    /// Adds a part with other names, which are those that [`Self::find_renamed`] did not find.
    pub fn add_renamed(&mut self, number: u32, after: &[u32]) -> u32 {
        let before = self.names[number as usize].clone();
        let name = |name: u32| {
            let position = before.iter().position(|known| *known == name);
            after[position.expect("all names of a part are known")]
        };
        let renamed = self.get(number).renamed(self.values, &mut { name });
        let renamed = self.number(renamed);
        self.renamings.insert(number, after, renamed);
        renamed
    }

    /// Renames the processes of a part by the permutation with this number.
    pub fn permuted(&mut self, number: u32, permutation: usize, permute: impl Fn(&T) -> T) -> u32 {
        let key = (number, permutation as u32);
        if let Some(known) = self.permuted.get(&key) {
            return *known;
        }
        let permuted = permute(&self.get(number));
        let permuted = self.number(permuted);
        self.permuted.insert(key, permuted);
        permuted
    }

    /// Returns the largest version in a part, or 0 if it has none.
    pub fn latest(&self, number: u32) -> u32 {
        self.occurrences[number as usize].latest()
    }

    /// Returns the largest value in a part, or 0 if it has none. Values must be names.
    pub fn latest_value(&self, number: u32) -> u32 {
        self.occurrences[number as usize].latest_value()
    }
}
