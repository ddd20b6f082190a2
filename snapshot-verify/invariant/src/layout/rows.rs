//! The rows of arrays that names name: cells behind those of the members.

use rustc_hash::FxHashSet;
use snapshot_language::program::SharedId;

use super::scalars::{cells, located};
use super::{Index, Layout, Room, Slot};
use crate::byte::{ANY, PLACES, Row, T};

/// Of which row of an array a byte is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum RowOf {
    /// Of the one that this name names.
    Named(usize),
    /// Of the row of this member, of an array whose rows the name names.
    Member(usize, u8),
}

/// Whether a cell of a row may be kept, or a link to one: in columns of i and j only, and the links of
/// those to cells in their own.
pub(super) fn is_shown_of_row(slot: &Slot) -> bool {
    let column = match slot.row {
        Some(RowOf::Member(..)) => slot.path.get(1..).unwrap_or_default(),
        _ => &slot.path,
    };
    let is_own = |owner: u8| column.iter().all(|member| *member == owner);
    !column.contains(&T) && slot.owner.is_none_or(is_own)
}

impl Layout<'_> {
    /// The name that names the rows of an array.
    pub fn name_of(&self, array: SharedId) -> Option<usize> {
        self.named.iter().position(|name| name.arrays.contains(&array))
    }

    /// Whether a byte of a variable's cell is a name.
    pub fn is_name(&self, variable: SharedId, offset: usize) -> bool {
        let is_it = |name: &crate::names::Name| (name.variable, name.offset) == (variable, offset);
        self.named.iter().any(is_it)
    }

    /// What a variable holds, as it is read: which process a name names is not known, but whether it is
    /// one of a view.
    pub fn without_names(&self, variable: SharedId, mut content: Row) -> Row {
        for name in self.named.iter().filter(|name| name.variable == variable) {
            content[name.offset] = ANY;
        }
        content
    }

    /// The cells of a variable that have a place: the members among the indices of each, its name
    /// behind that of the variable, and whose row it is in.
    pub(super) fn places(&self, variable: SharedId) -> Vec<(Vec<u8>, String, Option<RowOf>)> {
        let dimensions = &self.program.shared(variable).dimensions;
        let name = self.name_of(variable);
        let row = |path: &[u8]| Some(RowOf::Member(name?, *path.first()?));
        let mut all: Vec<_> = cells(dimensions)
            .into_iter()
            .map(|(path, name)| {
                let row = row(&path);
                (path, name, row)
            })
            .collect();
        if let Some(number) = name {
            let of = &self.named[number];
            let declared = self.program.shared(of.variable);
            let leaves = super::leaves(&declared.content, self.tokens());
            let of = format!("[{}{}]", declared.name, leaves[of.offset].2);
            for (path, rest) in cells(&dimensions[1..]) {
                all.push((path, format!("{of}{rest}"), Some(RowOf::Named(number))));
            }
        }
        all
    }

    /// The same by their indices, with the place of each, the first of which is given.
    pub(super) fn located_cells(&self, variable: SharedId, first: Room) -> Vec<(Vec<Index>, Room)> {
        let dimensions = &self.program.shared(variable).dimensions;
        let mut all = located(dimensions, first);
        if self.name_of(variable).is_some() {
            let base = first.base + all.len() * first.size;
            for (path, room) in located(&dimensions[1..], Room { base, ..first }) {
                all.push(([&[Index::Named], path.as_slice()].concat(), room));
            }
        }
        all
    }

    /// Of rows of which something is kept, the same of the named row, and of all members.
    pub fn with_named_rows(&self, names: &FxHashSet<String>) -> Vec<String> {
        let mut all = Vec::new();
        for slot in &self.slots {
            let Some(RowOf::Named(name)) = slot.row else { continue };
            let of = &self.named[name];
            let declared = self.program.shared(of.variable);
            let leaves = super::leaves(&declared.content, self.tokens());
            let of = format!("[{}{}]", declared.name, leaves[of.offset].2);
            let rows = ["[i]", "[j]", "[t]"].map(|row| slot.name.replacen(&of, row, 1));
            if rows.iter().any(|row| names.contains(row)) {
                all.push(slot.name.clone());
                all.extend(rows);
            }
        }
        all
    }

    /// The cells of the named row, by number: for each, that of the same column in a member's.
    pub fn row_cells(&self, array: SharedId, member: u8) -> impl Iterator<Item = (usize, usize)> {
        let count = self.cells[array.0 as usize].len() / (PLACES + 1);
        (0..count).map(move |at| (PLACES * count + at, usize::from(member) * count + at))
    }
}
