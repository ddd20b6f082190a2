//! Accesses to named rows, and to the cells of names.

use snapshot_language::program::SharedId;

use super::{Outcome, Run, Write};
use crate::byte::{ANY, BASE, BROKEN, LINKED, NONE, OTHER, Row, truth};
use crate::layout::Index;
use crate::names::Use;

/// Cell of an access: its variable, its indices, and its number, if it has a place.
pub(super) struct Cell {
    pub variable: SharedId,
    pub indices: Vec<Index>,
    pub number: Option<usize>,
}

impl Run<'_, '_> {
    /// Returns the use of names by an instruction.
    pub(super) fn used(&self, procedure: usize, here: usize) -> Option<&Use> {
        self.layout.uses[procedure][here].as_ref()
    }

    /// Returns true if a name refers to the process; `None` if that is unknown.
    fn is_named(&self, state: &[u8], name: usize) -> Option<bool> {
        if !self.layout.is_in_force(state, name).ok()? {
            return Some(false);
        }
        let followed = self.kind.followed;
        match state[self.layout.name_at(name)] {
            ANY => None,
            byte if byte == BASE + followed => Some(self.me == followed),
            _ if self.me == followed => Some(false),
            _ => None,
        }
    }

    /// Returns true if the process is linked to the cell of a name that is in force: then a copy is
    /// the name.
    fn is_by_name(&self, state: &[u8], name: usize) -> bool {
        let variable = self.layout.named[name].variable;
        let link = self.layout.link(self.me, variable, 0);
        self.layout.is_in_force(state, name) == Ok(true)
            && link.is_some_and(|at| state[at] == LINKED)
    }

    /// Returns true if an access by a copy reads the named row, that is, if the copy is the name.
    pub(super) fn is_read(&self, state: &[u8], used: Option<&Use>) -> bool {
        match used {
            Some(Use::Through(name)) => self.is_by_name(state, *name),
            _ => true,
        }
    }

    /// Returns the links of the process to the rows of an array, if it has any: to the named row,
    /// and to the followed process's row, in its own column.
    fn row_links(&self, array: SharedId) -> [Option<usize>; 2] {
        let followed = self.kind.followed;
        let cells = &self.layout.cells[array.0 as usize];
        let is_mine = |(_, own): &(usize, usize)| {
            cells[*own].0[1..].iter().all(|index| *index == Index::Member(self.me))
        };
        let link = |number| self.layout.link(self.me, array, number);
        let own = self.layout.row_cells(array, followed).find(is_mine);
        own.map_or([None; 2], |(named, own)| [link(named), link(own)])
    }

    /// Applies an LL by a copy.
    pub(super) fn link_by_copy(&self, branch: &mut Outcome, name: usize, array: SharedId) {
        let is_by_name = self.is_by_name(&branch.state, name);
        let byte = branch.state[self.layout.name_at(name)];
        // The row does not belong to the followed process.
        let is_elsewhere = is_by_name && byte != ANY && byte != BASE + self.kind.followed;
        let [named, own] = self.row_links(array);
        if let Some(at) = named {
            branch.state[at] = if is_by_name { LINKED } else { ANY };
        }
        if let Some(at) = own {
            branch.state[at] = if is_elsewhere { BROKEN } else { ANY };
        }
        let write = Write::Link(array);
        if self.layout.keeps_links(self.me, array) && !branch.writes.contains(&write) {
            branch.writes.push(write);
        }
    }

    /// Applies an SC by a copy, to the cell of the latest LL; returns all outcomes, each with its
    /// result.
    pub(super) fn store_by_copy(
        &self,
        branch: Outcome,
        name: usize,
        (cell, row): (&Cell, &Row),
        place: (usize, usize),
    ) -> Vec<(u8, Outcome)> {
        let mut ways = Vec::new();
        let is_in_force = self.layout.is_in_force(&branch.state, name) == Ok(true);
        let [named, own] = self.row_links(cell.variable);
        let said = |at: Option<usize>, state: &[u8]| at.map_or(ANY, |at| state[at]);
        let byte = if is_in_force { said(named, &branch.state) } else { BROKEN };
        if byte != BROKEN {
            let mut branch = branch.clone();
            let is_other = !matches!(self.is_followed_named(&branch.state, name), Some(false));
            self.write(&mut branch, cell.variable, &cell.indices, cell.number, row.clone(), place);
            if is_other {
                self.forget_own(&mut branch, cell.variable);
            }
            self.break_own(&mut branch, [named, own]);
            ways.push((truth(true), branch));
        }
        if byte != LINKED {
            let mut branch = branch;
            // It is unknown to which row the SC was, and whether it succeeds.
            if said(own, &branch.state) != BROKEN {
                self.forget_own(&mut branch, cell.variable);
            }
            self.break_own(&mut branch, [named, own]);
            ways.push((ANY, branch));
        }
        ways
    }

    fn is_followed_named(&self, state: &[u8], name: usize) -> Option<bool> {
        match state[self.layout.name_at(name)] {
            ANY => None,
            byte => Some(byte == BASE + self.kind.followed),
        }
    }

    /// Breaks the process's links after an SC.
    fn break_own(&self, branch: &mut Outcome, links: [Option<usize>; 2]) {
        for at in links.into_iter().flatten() {
            branch.state[at] = BROKEN;
        }
    }

    /// Forgets the process's own column in the row of the followed process.
    fn forget_own(&self, branch: &mut Outcome, array: SharedId) {
        let cells = &self.layout.cells[array.0 as usize];
        for (_, own) in self.layout.row_cells(array, self.kind.followed) {
            let (path, room) = &cells[own];
            if path[1..].iter().all(|index| *index == Index::Member(self.me)) {
                branch.state[room.base] = ANY;
            }
        }
    }

    /// Writes the process's own row, in all outcomes.
    pub(super) fn write_own(
        &self,
        branch: Outcome,
        name: usize,
        (cell, row): (&Cell, &Row),
        place: (usize, usize),
    ) -> Vec<Outcome> {
        let mut ways = Vec::new();
        let is_named = self.is_named(&branch.state, name);
        let at = self.layout.name_at(name);
        let is_followed = self.me == self.kind.followed;
        for named in [true, false] {
            if is_named == Some(!named) {
                continue;
            }
            let mut branch = branch.clone();
            if is_named.is_none() && is_followed && self.layout.slots[at].kept {
                branch.state[at] = BASE + if named { self.me } else { OTHER };
            }
            self.write(&mut branch, cell.variable, &cell.indices, cell.number, row.clone(), place);
            if let Some(number) = cell.number {
                self.layout.break_all_links(&mut branch.state, cell.variable, number);
            }
            if named {
                let cells = &self.layout.cells[cell.variable.0 as usize];
                let indices = [&[Index::Named], &cell.indices[1..]].concat();
                let is_there = cell.number.is_some();
                let number = cells.iter().position(|(path, _)| is_there && *path == indices);
                self.write(&mut branch, cell.variable, &indices, number, row.clone(), place);
            }
            ways.push(branch);
        }
        ways
    }

    /// Writes a cell, possibly the cell of names.
    pub(super) fn write_as(
        &self,
        branch: &mut Outcome,
        variable: SharedId,
        indices: &[Index],
        cell: Option<usize>,
        mut row: Row,
        place: (usize, usize),
    ) {
        match self.used(place.0, place.1) {
            Some(Use::Writes(names)) => self.write_names(branch, names, |branch, code| {
                code(&mut row);
                self.write(branch, variable, indices, cell, row, place);
            }),
            _ => self.write(branch, variable, indices, cell, row, place),
        }
    }

    /// Applies a write to the cell of names, whose written bytes determine the new names.
    fn write_names(
        &self,
        branch: &mut Outcome,
        names: &[(usize, bool)],
        write: impl FnOnce(&mut Outcome, &dyn Fn(&mut Row)),
    ) {
        let layout = self.layout;
        let mut before = Vec::new();
        for &(name, _) in names {
            let is_in_force = layout.is_in_force(&branch.state, name);
            match is_in_force {
                Ok(is_in_force) => before.push((branch.state[layout.name_at(name)], is_in_force)),
                Err(failure) => {
                    branch.failure = branch.failure.or(Some(failure));
                    return;
                }
            }
        }
        write(branch, &|row: &mut Row| {
            for &(name, itself) in names {
                row[layout.named[name].offset] = if itself { BASE + self.me } else { NONE };
            }
        });
        for (&(name, itself), was) in names.iter().zip(before) {
            let passed =
                layout.pass_name(self.kind, &mut branch.state, (name, self.me, itself), was);
            if let Err(failure) = passed {
                branch.failure = branch.failure.or(Some(failure));
            }
            if itself {
                branch.writes.push(Write::Named(name));
            }
        }
    }
}
