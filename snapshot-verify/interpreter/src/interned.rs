//! Interned parts of states, for tables of states that are rows of numbers.

use std::cell::RefCell;
use std::hash::BuildHasher;
use std::mem::size_of;

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use rustc_hash::{FxBuildHasher, FxHashMap};

use super::Part;

/// Interner of parts. Equal parts have equal numbers.
#[derive(Debug)]
pub struct Interned<T: Part> {
    all: Vec<T::Kept>,
    /// Unpacked copies of some of the parts last used, since a part is mostly used again soon.
    /// Indexed by the last bits of their numbers.
    recent: RefCell<[Option<(u32, T)>; RECENT]>,
    numbers: HashTable<u32>,
    /// Versions of each part, in the order of their occurrence.
    versions: Vec<Box<[u32]>>,
    /// Renamed parts, by part and the new names of its versions.
    renamings: FxHashMap<(u32, Box<[u32]>), u32>,
    /// Permuted parts, by part and permutation.
    permuted: FxHashMap<(u32, u32), u32>,
    has_versions: bool,
    /// Size of the allocations that the tables point to.
    bytes: usize,
}

/// Number of unpacked parts.
const RECENT: usize = 16;

/// Approximate size of an allocation besides its content, in bytes.
pub(super) const ALLOCATION: usize = 16;

impl<T: Part> Default for Interned<T> {
    fn default() -> Self {
        Self {
            all: Vec::new(),
            recent: RefCell::default(),
            numbers: HashTable::new(),
            versions: Vec::new(),
            renamings: FxHashMap::default(),
            permuted: FxHashMap::default(),
            has_versions: false,
            bytes: 0,
        }
    }
}

impl<T: Part> Interned<T> {
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub const fn len(&self) -> usize {
        self.all.len()
    }

    /// Returns true if any part holds a version.
    pub const fn has_versions(&self) -> bool {
        self.has_versions
    }

    /// Approximate memory use in bytes.
    pub fn bytes(&self) -> usize {
        let all = self.all.capacity() * size_of::<T::Kept>();
        let versions = self.versions.capacity() * size_of::<Box<[u32]>>();
        // A hash table has one byte per slot, and keeps an eighth of the slots empty.
        let renamings = self.renamings.capacity() * 8 / 7 * size_of::<[usize; 5]>();
        let permuted = self.permuted.capacity() * 8 / 7 * (size_of::<((u32, u32), u32)>() + 1);
        self.bytes + all + versions + self.numbers.allocation_size() + renamings + permuted
    }

    /// Returns the part with this number.
    pub fn get(&self, number: u32) -> T {
        let recent = &mut self.recent.borrow_mut()[number as usize % RECENT];
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
        let versions = part.versions().into_boxed_slice();
        self.has_versions |= !versions.is_empty();
        self.bytes += T::size(&kept) + size_of_val(&*versions);
        self.versions.push(versions);
        self.all.push(kept);
        self.recent.get_mut()[number as usize % RECENT] = Some((number, part));
        number
    }

    /// Renames the versions of a part; calls `rename` in the order of their occurrence.
    pub fn renamed(&mut self, number: u32, rename: impl FnMut(u32) -> u32) -> u32 {
        let before = &self.versions[number as usize];
        let after: Box<[u32]> = before.iter().copied().map(rename).collect();
        if after == *before {
            return number;
        }
        if let Some(renamed) = self.renamings.get(&(number, after.clone())) {
            return *renamed;
        }
        let name = |version: u32| {
            let position = before.iter().position(|known| *known == version);
            after[position.expect("all versions of a part are known")]
        };
        let renamed = self.get(number).renamed(&mut { name });
        let renamed = self.number(renamed);
        self.bytes += size_of_val(&*after) + ALLOCATION;
        self.renamings.insert((number, after), renamed);
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
        self.versions[number as usize].iter().copied().max().unwrap_or(0)
    }
}
