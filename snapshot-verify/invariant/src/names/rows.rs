//! Names, and the rows that they refer to, in a view.
//!
//! Each byte is a function of the execution, or unknown. Let f be the followed process:
//!
//! * a name says whether it is f; while it is not in force, it is no process;
//! * the row of f in V holds its content; while the name is f it is unknown, because it is the
//!   named row;
//! * the named row holds `V[X.name]`, while the name is in force;
//! * a link of p to a cell of one of these rows is unbroken if p's latest LL on V in its operation
//!   was to this cell, and the cell has not been written since; else it is broken.
//!
//! Each process links to V in its own column only: so a cell has no other links.

use smallvec::SmallVec;

use crate::byte::{ANY, BASE, BROKEN, OTHER, PLACES};
use crate::flips::is_symbol;
use crate::layout::{Layout, RowOf, Scalar};
use crate::step::{Failure, Kind};

impl Layout<'_> {
    /// Returns the byte of a name.
    pub fn name_at(&self, name: usize) -> usize {
        let name = &self.named[name];
        self.shared[name.variable.0 as usize].base + name.offset
    }

    /// Returns true if all names are kept, and the bytes that decide whether they are in force.
    pub fn are_names_kept(&self) -> bool {
        let is_kept = |at: usize| self.slots[at].kept;
        // A bit that is listed relative to others does not decide it.
        let is_relative = |at: usize| self.classes.iter().flatten().any(|bit| bit.at == at);
        let mut names = self.named.iter().enumerate();
        names.all(|(number, name)| {
            let base = self.shared[name.variable.0 as usize].base;
            let tells = |at: usize| is_kept(at) && !is_relative(at);
            let force = name.force.as_ref().is_none_or(|(offset, _)| tells(base + offset));
            force && is_kept(self.name_at(number))
        })
    }

    /// Returns true if a name is in force.
    ///
    /// # Errors
    /// If that is unknown.
    pub fn is_in_force(&self, state: &[u8], name: usize) -> Result<bool, Failure> {
        let of = &self.named[name];
        let Some((offset, bytes)) = &of.force else { return Ok(true) };
        let at = self.shared[of.variable.0 as usize].base + offset;
        let is_truth = self.slots[at].leaf.is_some_and(|leaf| leaf.scalar == Scalar::Bool);
        match state[at] {
            byte if byte == ANY || is_truth && is_symbol(byte) => {
                Err(Failure::Unsupported("a name of which it is not known whether it is in force"))
            }
            byte => Ok(bytes.contains(&byte)),
        }
    }

    /// Forgets the cells of rows that a view does not show.
    ///
    /// # Errors
    /// If it is not known whether a name is in force.
    pub fn forget_rows(&self, kind: &Kind, state: &mut [u8]) -> Result<(), Failure> {
        if self.named.is_empty() {
            return Ok(());
        }
        let mut forgets: SmallVec<[(bool, bool); 4]> = SmallVec::new();
        for name in 0..self.named.len() {
            let is_in_force = self.is_in_force(state, name)?;
            let is_followed = state[self.name_at(name)] == BASE + kind.followed;
            forgets.push((is_in_force, is_followed));
        }
        for &at in &self.row_bytes {
            if state[at] == ANY {
                continue;
            }
            let is_said = match self.slots[at].row {
                Some(RowOf::Named(name)) => forgets[name].0,
                Some(RowOf::Member(name, member)) => member == kind.followed && !forgets[name].1,
                None => true,
            };
            if !is_said {
                state[at] = ANY;
            }
        }
        Ok(())
    }

    /// Forgets links to rows where their owners have no use for them.
    pub fn forget_row_links(&self, state: &mut [u8]) {
        for &at in &self.row_bytes {
            if state[at] == ANY {
                continue;
            }
            let slot = &self.slots[at];
            if let (Some(owner), Some(variable)) = (slot.owner, slot.linked())
                && self.is_unlinked(state, owner, variable)
            {
                state[at] = ANY;
            }
        }
    }

    /// Forgets the row of a process, and the links to it.
    pub fn forget_row(&self, state: &mut [u8], name: usize, member: u8) {
        for &at in &self.row_bytes {
            if self.slots[at].row == Some(RowOf::Member(name, member)) {
                state[at] = ANY;
            }
        }
    }

    /// Makes a process the named one, or leaves the name as it is; `before`: the view's byte of the
    /// name before the write, and whether it was in force.
    ///
    /// # Errors
    /// If it is not known whether the name is in force.
    pub fn pass_name(
        &self,
        kind: &Kind,
        state: &mut [u8],
        (name, me, itself): (usize, u8, bool),
        (byte, was_in_force): (u8, bool),
    ) -> Result<(), Failure> {
        let is_in_force = self.is_in_force(state, name)?;
        let at = self.name_at(name);
        let is_followed = me == kind.followed;
        let now = match (itself, was_in_force, is_in_force) {
            (_, _, false) => BASE + OTHER,
            (true, _, true) => BASE + if is_followed { me } else { OTHER },
            (false, true, true) => byte,
            (false, false, true) => {
                return Err(Failure::Unsupported("a name that comes into force without a naming"));
            }
        };
        if self.slots[at].kept {
            state[at] = now;
        }
        // A process that was named already has the named row.
        let has_it = was_in_force && is_followed && byte == BASE + me;
        if !itself || !is_in_force || has_it {
            return Ok(());
        }
        for &array in &self.named[name].arrays {
            let cells = &self.cells[array.0 as usize];
            for (number, own) in self.row_cells(array, me) {
                let [to, from] = [number, own].map(|number| cells[number].1.base);
                let mut pairs = vec![(to, from)];
                for member in 0..PLACES as u8 {
                    let links = self.links_of(member, array);
                    if !links.is_empty() {
                        pairs.push((links.start + number, links.start + own));
                    }
                }
                for (to, from) in pairs.into_iter().filter(|(to, _)| self.slots[*to].kept) {
                    let is_said = is_followed && self.slots[from].kept;
                    state[to] = if is_said { state[from] } else { ANY };
                }
            }
        }
        Ok(())
    }

    /// Breaks the links of all processes to a cell, including unknown links.
    pub fn break_all_links(
        &self,
        state: &mut [u8],
        variable: snapshot_language::program::SharedId,
        number: usize,
    ) {
        for member in 0..PLACES as u8 {
            if let Some(at) = self.link(member, variable, number) {
                state[at] = BROKEN;
            }
        }
    }
}
