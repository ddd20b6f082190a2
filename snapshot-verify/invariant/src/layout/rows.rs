//! Rows of arrays that names refer to: their cells follow the cells of the members.

use rustc_hash::FxHashSet;
use snapshot_language::program::SharedId;

use super::scalars::{cells, located};
use super::{Index, Layout, Room, Slot};
use crate::byte::{ANY, PLACES, Row, T};

/// Row of an array that a byte belongs to.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum RowOf {
    /// The row that this name refers to.
    Named(usize),
    /// The row of this member, of an array whose rows the name refers to.
    Member(usize, u8),
}

/// Returns true if a cell of a row, or a link to one, may be kept: columns of i and j only, and
/// links of i and j to cells in their own columns.
pub(super) fn is_shown_of_row(slot: &Slot) -> bool {
    let column = match slot.row {
        Some(RowOf::Member(..)) => slot.path.get(1..).unwrap_or_default(),
        _ => &slot.path,
    };
    let is_own = |owner: u8| column.iter().all(|member| *member == owner);
    !column.contains(&T) && slot.owner.is_none_or(is_own)
}

impl Layout<'_> {
    /// Returns the name that refers to the rows of an array.
    pub fn name_of(&self, array: SharedId) -> Option<usize> {
        self.named.iter().position(|name| name.arrays.contains(&array))
    }

    /// Returns true if a byte of a variable's cell is a name.
    pub fn is_name(&self, variable: SharedId, offset: usize) -> bool {
        let is_it = |name: &crate::names::Name| (name.variable, name.offset) == (variable, offset);
        self.named.iter().any(is_it)
    }

    /// Returns a variable's content as it is read: which process a name refers to is unknown,
    /// except whether it is a member of the view.
    pub fn without_names(&self, variable: SharedId, mut content: Row) -> Row {
        for name in self.named.iter().filter(|name| name.variable == variable) {
            content[name.offset] = ANY;
        }
        content
    }

    /// Returns the cells of a variable that have a place: the members among the indices of each,
    /// the suffix of its name, and the owner of its row.
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

    /// Returns the same cells by their indices, with their places; `first` is the place of the
    /// first.
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

    /// Adds, for rows with a kept cell, the same cell of the named row and of all members.
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

    /// Returns the cells of the named row, by number: each with the cell of the same column in a
    /// member's row.
    pub fn row_cells(&self, array: SharedId, member: u8) -> impl Iterator<Item = (usize, usize)> {
        let count = self.cells[array.0 as usize].len() / (PLACES + 1);
        (0..count).map(move |at| (PLACES * count + at, usize::from(member) * count + at))
    }
}
