//! Names ([`crate::names`]): accesses to the named row, to a process's own row, and to the cells of
//! names.
//!
//! Invariants, for a name N of X, an array V by process, and the named row R:
//!
//! * R is `V[N]`, cell by cell.
//! * A view that follows f has of V the row of f only, and of N only whether it is f. Where N is f,
//!   the row of f in V is unknown: it is R.
//! * A link of p to a cell of R is unbroken only if the latest LL of p on V was to this cell, in
//!   the row that N names now, and no write has broken the link since; where p's SC can succeed on
//!   a cell of R, the link is unbroken, or unknown.
//!
//! So an SC through a copy writes R if the link to R is unbroken. Otherwise it writes no cell of R,
//! but it may succeed on the row of a process that is not named any more.
//!
//! A process that names itself puts its row in the place of R, with the links to it. If it was
//! already named, R is unchanged.

use super::memory::Located;
use snapshot_language::program::SharedId;

use super::{Branch, Run, note};
use crate::evaluate::Stop;
use crate::links::{BROKEN, LINKED, is_linked, maybe_broken};
use crate::model::{Cell, Instruction, Unsupported};
use crate::names::{Row, Use};
use crate::shape::{BASE, DEAD, I, NONE, OTHER, UNKNOWN};
use crate::view::forget_row;

impl Run<'_> {
    /// Returns true if a name is the process; `None` if unknown.
    fn is_named(&self, state: &[u8], name: usize) -> Option<bool> {
        let at = self.model.name_at(name);
        let followed = BASE + self.crowd.tracked;
        match state[at] {
            _ if !self.model.slots[at].kept => None,
            byte if byte == followed => Some(self.me == self.crowd.tracked),
            byte if byte >= BASE && self.me == self.crowd.tracked => Some(false),
            _ => None,
        }
    }

    /// Returns true if a name is surely not the process.
    pub(super) fn is_unnamed(&self, state: &[u8], name: usize) -> bool {
        self.is_named(state, name) == Some(false)
    }

    /// Returns the byte of a stored name: whether it is the followed process.
    pub(super) fn as_name(&self, byte: u8) -> u8 {
        match byte {
            byte if byte < BASE || byte == BASE + self.crowd.tracked => byte,
            _ => BASE + OTHER,
        }
    }

    /// Returns true if a process is linked to a name that is not in force, and accesses its row
    /// through a copy: then the guess of the name's force was wrong.
    pub(super) fn is_linked_out_of_force(&self, state: &[u8], instruction: &Instruction) -> bool {
        let Some(Use::Through(name, _)) = instruction.used else { return false };
        self.is_linked_to(state, name) && !self.model.is_in_force(state, name)
    }

    /// Returns true if a process is surely linked to the cell of a name.
    fn is_linked_to(&self, state: &[u8], name: usize) -> bool {
        let link = self.model.links_of(self.me, self.model.named[name].variable).start;
        self.model.slots[link].kept && state[link] == LINKED
    }

    /// Locates an access through a copy: the named row while the process is linked to the cell of
    /// the name; otherwise an unknown row.
    pub(super) fn through(
        &self,
        state: &mut [u8],
        instruction: &Instruction,
        cell: &Cell,
        located: Located,
    ) -> Result<Located, Stop> {
        let Some(Use::Through(name, _)) = instruction.used else { return Ok(located) };
        if instruction.act.may_write() {
            // Its own link tells whether the cell belongs to the named row.
            return Ok(located);
        }
        if self.is_linked_to(state, name) {
            return Ok(located);
        }
        let mut indices = Vec::new();
        for (_, index) in &cell.indices {
            let byte = self.scope(state).scalar(index)?;
            indices.push((byte >= BASE).then(|| byte - BASE));
        }
        Ok(Located::Gone(false, indices))
    }

    /// Links a process by an LL through a copy, which may be to a cell of any row of the array.
    pub(super) fn link_rows(&self, branch: &mut Branch, instruction: &Instruction) {
        let Some(Use::Through(name, row)) = instruction.used else { return };
        let row = self.model.named[name].rows[row];
        for at in self.model.links_of(self.me, row.array) {
            let slot = &self.model.slots[at];
            let Some((_, path)) = &slot.link else { continue };
            if slot.kept && slot.is_link_among(&self.crowd.members) {
                let is_own = path[1..].iter().all(|place| *place == self.me);
                branch.state[at] = if is_own { UNKNOWN } else { NONE };
            }
        }
    }

    /// Returns the outcomes of an SC through a copy, each with its result.
    pub(super) fn store_through(
        &self,
        branch: Branch,
        instruction: &Instruction,
        row: Row,
        (located, bytes): (&Located, &[u8]),
    ) -> Vec<(Branch, u8)> {
        let mut ways = Vec::new();
        let Some(cell) = instruction.act.cell() else { return ways };
        let own = match located {
            Located::At(_, number) => self.model.links_of(self.me, row.named).nth(*number),
            Located::Gone(..) => None,
        };
        let own = own.filter(|at| self.model.slots[*at].kept);
        let linked = own.map_or(UNKNOWN, |at| branch.state[at]);
        if linked == LINKED || is_linked(linked).is_none() && linked != NONE {
            let mut branch = branch.clone();
            self.write(&mut branch, cell, located, bytes);
            ways.push((branch, BASE + 1));
        }
        if linked != LINKED {
            let mut branch = branch;
            if let Some(at) = own.filter(|at| branch.state[*at] == UNKNOWN) {
                branch.state[at] = BROKEN;
            }
            self.write_unnamed(&mut branch, row, bytes);
            ways.push((branch, UNKNOWN));
        }
        ways
    }

    /// Makes an SC that may write its cell in the row of the followed process.
    fn write_unnamed(&self, branch: &mut Branch, row: Row, bytes: &[u8]) {
        let followed = self.crowd.tracked;
        let base = self.model.shared[row.array.0 as usize].base;
        for (_, number) in self.model.named_cells(row, followed) {
            let at = base + number * bytes.len();
            let is_own = self.model.slots[at]
                .cell
                .as_ref()
                .is_some_and(|(_, path)| path[1..].iter().all(|place| *place == self.me));
            let link = self.model.links_of(self.me, row.array).nth(number);
            let link = link.filter(|at| self.model.slots[*at].kept);
            if !is_own || link.is_some_and(|at| matches!(branch.state[at], BROKEN | NONE)) {
                continue;
            }
            self.lose_cell(branch, row, number);
        }
        let dimensions = self.model.slots[base].cell.as_ref().map_or(1, |(_, path)| path.len());
        let mut indices = vec![Some(self.me); dimensions];
        indices[0] = None;
        note(&mut branch.elsewhere, (row.array, indices));
    }

    /// Makes a cell, and the links to it, unknown.
    fn lose_cell(&self, branch: &mut Branch, row: Row, number: usize) {
        let room = &self.model.shared[row.array.0 as usize];
        for at in room.base + number * room.size..room.base + (number + 1) * room.size {
            if self.model.slots[at].kept {
                branch.state[at] = UNKNOWN;
            }
        }
        for owner in &self.crowd.members {
            if let Some(at) = self.model.links_of(*owner, row.array).nth(number) {
                branch.state[at] = maybe_broken(branch.state[at]);
            }
        }
    }

    /// Makes the rows of the process unknown.
    pub(super) fn forget_rows(&self, state: &mut [u8]) {
        if self.me == self.crowd.tracked {
            (0..self.model.named.len())
                .for_each(|name| forget_row(self.model, state, name, self.me));
        }
    }

    /// Makes a write, with its effect on names.
    ///
    /// # Errors
    /// If it brings a name into force without a process naming itself.
    pub(super) fn write_named(
        &self,
        branch: &mut Branch,
        instruction: &Instruction,
        located: &Located,
        bytes: &[u8],
    ) -> Result<(), Unsupported> {
        let Some(cell) = instruction.act.cell() else { return Ok(()) };
        match &instruction.used {
            Some(Use::Own(name, row)) => {
                let row = self.model.named[*name].rows[*row];
                match self.is_named(&branch.state, *name) {
                    Some(false) => self.write(branch, cell, located, bytes),
                    Some(true) => self.write_row(branch, cell, row, bytes),
                    None => {
                        let mut also = branch.clone();
                        self.write_row(&mut also, cell, row, bytes);
                        self.write(branch, cell, located, bytes);
                        self.join(branch, also);
                    }
                }
            }
            Some(Use::Names(names)) => {
                let before = |(name, _): &(usize, bool)| {
                    let state = &branch.state;
                    let at = self.model.name_at(*name);
                    let is_in_force = self.model.is_in_force(state, *name);
                    (at, state[at], self.is_named(state, *name), is_in_force)
                };
                let before: Vec<_> = names.iter().map(before).collect();
                let others = branch.others.clone();
                self.write(branch, cell, located, bytes);
                for ((name, itself), (at, byte, was, was_in_force)) in names.iter().zip(before) {
                    if *itself {
                        self.name_itself(branch, *name, was);
                    } else if was_in_force || !self.model.is_in_force(&branch.state, *name) {
                        branch.state[at] = byte;
                        branch.others.retain(|other| *other != at || others.contains(&at));
                    } else {
                        // No view kept which process it names.
                        let construct = "a name that comes into force without a naming";
                        return Err(Unsupported { span: instruction.span, construct });
                    }
                }
            }
            _ => self.write(branch, cell, located, bytes),
        }
        Ok(())
    }

    /// Joins two branches, one of which has happened.
    fn join(&self, branch: &mut Branch, also: Branch) {
        for (byte, other) in branch.state.iter_mut().zip(&also.state) {
            if *byte != *other {
                *byte = UNKNOWN;
            }
        }
        // A write or a broken link of only one branch becomes a possible one.
        let [mine, theirs] = [branch.broken.clone(), also.broken.clone()];
        let is_in_both = |one: &(SharedId, usize)| mine.contains(one) && theirs.contains(one);
        for one @ (variable, number) in mine.iter().chain(&theirs) {
            let link = self.model.links_of(I, *variable).nth(*number);
            let link = link.and_then(|at| self.model.slots[at].link.as_ref());
            if let (false, Some((_, path))) = (is_in_both(one), link) {
                let indices = path.iter().map(|place| Some(*place)).collect();
                note(&mut branch.elsewhere, (*variable, indices));
            }
        }
        branch.broken.retain(is_in_both);
        also.elsewhere.into_iter().for_each(|one| note(&mut branch.elsewhere, one));
        also.others.into_iter().for_each(|one| note(&mut branch.others, one));
        also.hidden.into_iter().for_each(|one| note(&mut branch.hidden, one));
        also.tokens.into_iter().for_each(|one| note(&mut branch.tokens, one));
        also.of_round.into_iter().for_each(|one| note(&mut branch.tokens, one));
    }

    /// Writes a cell of the named row, as its own process.
    fn write_row(&self, branch: &mut Branch, cell: &Cell, row: Row, bytes: &[u8]) {
        let mut cell = cell.clone();
        cell.variable = row.named;
        cell.indices.remove(0);
        // Its indices have been evaluated before.
        if let Ok(located) = self.locate(&mut branch.state, &cell) {
            self.write(branch, &cell, &located, bytes);
        }
    }

    /// Makes the row of the process the named one; `was`: true if it was already.
    fn name_itself(&self, branch: &mut Branch, name: usize, was: Option<bool>) {
        if was == Some(true) {
            return;
        }
        let model = self.model;
        let is_followed = self.me == self.crowd.tracked;
        for row in &model.named[name].rows {
            let [own, named] = [row.array, row.named].map(|of| &model.shared[of.0 as usize]);
            for (number, in_row) in model.named_cells(*row, self.me) {
                for offset in 0..named.size {
                    let at = named.base + number * named.size + offset;
                    let from = own.base + in_row * own.size + offset;
                    let byte = known(is_followed && model.slots[from].kept, branch.state[from]);
                    if model.slots[at].kept {
                        branch.state[at] = joined(was, branch.state[at], byte);
                    }
                }
                for owner in &self.crowd.members {
                    let links = [row.named, row.array].map(|of| model.links_of(*owner, of));
                    let [mut of_named, mut of_own] = links;
                    let (Some(at), Some(from)) = (of_named.nth(number), of_own.nth(in_row)) else {
                        continue;
                    };
                    let byte = known(is_followed && model.slots[from].kept, branch.state[from]);
                    if model.slots[at].kept && branch.state[at] != DEAD {
                        branch.state[at] = joined(was, branch.state[at], byte);
                    }
                }
            }
        }
        // While it is named, its row is the named one.
        if is_followed {
            forget_row(model, &mut branch.state, name, self.me);
        }
    }
}

/// Returns a byte if it is known.
const fn known(is_said: bool, byte: u8) -> u8 {
    match byte {
        DEAD => UNKNOWN,
        byte if is_said => byte,
        _ => UNKNOWN,
    }
}

/// Returns the byte after an update that may not have happened.
fn joined(stayed: Option<bool>, before: u8, now: u8) -> u8 {
    match stayed {
        Some(false) => now,
        _ if before == now => now,
        _ => UNKNOWN,
    }
}
