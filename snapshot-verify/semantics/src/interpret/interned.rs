//! Parts of states by number, for tables of states that are rows of numbers.

use std::hash::Hash;
use std::mem::size_of;

use rustc_hash::FxHashMap;

use super::Part;

/// Parts by number. Equal ones have equal numbers.
#[derive(Debug)]
pub struct Interned<T> {
    all: Vec<T>,
    numbers: FxHashMap<T, u32>,
    /// Per part, its versions in the order in which they occur.
    versions: Vec<Box<[u32]>>,
    /// By part and the new names of its versions.
    renamings: FxHashMap<(u32, Box<[u32]>), u32>,
    /// By part and permutation.
    permuted: FxHashMap<(u32, u32), u32>,
    has_versions: bool,
    bytes: usize,
}

impl<T> Default for Interned<T> {
    fn default() -> Self {
        Self {
            all: Vec::new(),
            numbers: FxHashMap::default(),
            versions: Vec::new(),
            renamings: FxHashMap::default(),
            permuted: FxHashMap::default(),
            has_versions: false,
            bytes: 0,
        }
    }
}

impl<T: Part + Clone + Eq + Hash> Interned<T> {
    /// How many there are.
    pub const fn len(&self) -> usize {
        self.all.len()
    }

    /// Whether any part holds a version.
    pub const fn has_versions(&self) -> bool {
        self.has_versions
    }

    /// About how many bytes they take.
    pub const fn bytes(&self) -> usize {
        self.bytes
    }

    /// The part with this number.
    pub fn get(&self, number: u32) -> &T {
        &self.all[number as usize]
    }

    /// The number of a part, which is new if it is the number of parts there were.
    pub fn number(&mut self, part: T) -> u32 {
        if let Some(number) = self.numbers.get(&part) {
            return *number;
        }
        let number = self.all.len() as u32;
        let versions = part.versions().into_boxed_slice();
        self.has_versions |= !versions.is_empty();
        // With its places in tables.
        self.bytes += part.size() + size_of::<[usize; 8]>() + size_of_val(&*versions);
        self.versions.push(versions);
        self.all.push(part.clone());
        self.numbers.insert(part, number);
        number
    }

    /// The part with its versions renamed; `rename` is asked in their order.
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
        let renamed = self.all[number as usize].renamed(&mut { name });
        let renamed = self.number(renamed);
        self.bytes += size_of_val(&*after) + size_of::<[usize; 8]>();
        self.renamings.insert((number, after), renamed);
        renamed
    }

    /// The part with its processes renamed by the permutation with this number.
    pub fn permuted(&mut self, number: u32, permutation: usize, permute: impl Fn(&T) -> T) -> u32 {
        let key = (number, permutation as u32);
        if let Some(known) = self.permuted.get(&key) {
            return *known;
        }
        let permuted = permute(self.get(number));
        let permuted = self.number(permuted);
        self.bytes += size_of::<[u32; 4]>();
        self.permuted.insert(key, permuted);
        permuted
    }

    /// The largest version in a part, 0 if there is none.
    pub fn latest(&self, number: u32) -> u32 {
        self.versions[number as usize].iter().copied().max().unwrap_or(0)
    }
}
