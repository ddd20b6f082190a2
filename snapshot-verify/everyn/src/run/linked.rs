//! LL/SC cells: LL links the process to the cell, every write breaks all links to it, SC writes if
//! the link of the process is unbroken, VL tests the link.
//!
//! Invariant: a known link has its byte's state. For an unknown link both branches are taken: an SC
//! on it may succeed, and then breaks links of others.

use super::memory::Located;
use super::{Branch, Run, note, pc, set_pc};
use crate::links::{BROKEN, LINKED, broken, is_linked, maybe_broken};
use crate::model::{Cell, Instruction, Target, Unsupported};
use crate::names::{Row, Use};
use crate::shape::{BASE, Bytes, DEAD, I, J, NONE, T, UNKNOWN};
use crate::term::Term;

impl Run<'_> {
    /// Returns the byte of the process's link to a cell, if it is kept.
    fn own_link(&self, cell: &Cell, located: &Located) -> Option<usize> {
        let Located::At(_, number) = *located else { return None };
        let at = self.model.links_of(self.me, cell.variable).nth(number)?;
        self.model.slots[at].kept.then_some(at)
    }

    pub(super) fn load_linked(
        &self,
        mut branch: Branch,
        cell: &Cell,
        located: &Located,
        into: Option<&Target>,
        out: &mut Vec<Branch>,
    ) {
        let bytes = self.content(&branch.state, cell, located);
        let own = self.own_link(cell, located);
        for at in self.model.links_of(self.me, cell.variable) {
            let slot = &self.model.slots[at];
            if !slot.kept || !slot.is_link_among(&self.crowd.members) {
                continue;
            }
            branch.state[at] = match located {
                _ if own == Some(at) => LINKED,
                Located::Gone(_, indices) if slot.links_to(cell.variable, indices) => UNKNOWN,
                _ => NONE,
            };
        }
        self.go_on(branch, into, bytes, out);
    }

    pub(super) fn validate(
        &self,
        branch: Branch,
        cell: &Cell,
        located: &Located,
        into: Option<&Target>,
        out: &mut Vec<Branch>,
    ) {
        for (linked, branch) in self.by_link(branch, cell, located) {
            self.go_on(branch, into, truth(linked), out);
        }
    }

    /// Makes an SC. Branches whose operands have no value yet, and must be retried, go to
    /// `stopped`.
    ///
    /// # Errors
    /// If its effect on names is unsupported.
    pub(super) fn store_conditional(
        &self,
        branch: Branch,
        instruction: &Instruction,
        (located, value, into): (&Located, &Term, Option<&Target>),
        stopped: &mut Vec<Branch>,
        out: &mut Vec<Branch>,
    ) -> Result<(), Unsupported> {
        let Some(cell) = instruction.act.cell() else { return Ok(()) };
        if let Some(Use::Through(name, row)) = instruction.used {
            let row = self.model.named[name].rows[row];
            self.store_in_row(branch, instruction, row, (located, value, into), stopped, out);
            return Ok(());
        }
        for (linked, mut branch) in self.by_link(branch, cell, located) {
            if linked {
                let mut scope = self.scope(&mut branch.state);
                let bytes = scope.bytes(value);
                let unknown = scope.unknown;
                match bytes {
                    Ok(bytes) => {
                        self.write_named(&mut branch, instruction, located, &bytes)?;
                        self.written(&mut branch, instruction, located, &bytes);
                    }
                    Err(stop) => {
                        self.stopped(branch, stop, unknown, stopped);
                        continue;
                    }
                }
            }
            if branch.failure.is_some() {
                out.push(branch);
                continue;
            }
            self.go_on(branch, into, truth(linked), out);
        }
        Ok(())
    }

    /// As [`store_conditional`](Self::store_conditional), through a copy of a name.
    fn store_in_row(
        &self,
        mut branch: Branch,
        instruction: &Instruction,
        row: Row,
        (located, value, into): (&Located, &Term, Option<&Target>),
        stopped: &mut Vec<Branch>,
        out: &mut Vec<Branch>,
    ) {
        let mut scope = self.scope(&mut branch.state);
        let bytes = scope.bytes(value);
        let unknown = scope.unknown;
        match bytes {
            Ok(bytes) => {
                for (branch, result) in
                    self.store_through(branch, instruction, row, (located, &bytes))
                {
                    self.go_on(branch, into, Bytes::from_slice(&[result]), out);
                }
            }
            Err(stop) => self.stopped(branch, stop, unknown, stopped),
        }
    }

    /// Splits a branch by whether the process is linked to the cell, which is then known.
    fn by_link(&self, branch: Branch, cell: &Cell, located: &Located) -> Vec<(bool, Branch)> {
        let own = self.own_link(cell, located);
        let known = own.and_then(|at| is_linked(branch.state[at]));
        let possible =
            [true, false].into_iter().filter(|linked| known.is_none_or(|is| is == *linked));
        let with = |linked: bool| {
            let mut branch = branch.clone();
            if let Some(at) = own.filter(|at| branch.state[*at] == UNKNOWN) {
                branch.state[at] = if linked { LINKED } else { BROKEN };
            }
            (linked, branch)
        };
        possible.map(with).collect()
    }

    /// Breaks the links to a cell that is written.
    pub(super) fn break_links(&self, branch: &mut Branch, cell: &Cell, located: &Located) {
        for owner in [I, J, T] {
            let links = self.model.links_of(owner, cell.variable);
            match located {
                Located::At(_, number) => {
                    let Some(at) = links.clone().nth(*number) else { continue };
                    branch.state[at] = broken(branch.state[at]);
                    note(&mut branch.broken, (cell.variable, *number));
                }
                Located::Gone(_, indices) => {
                    for at in links {
                        if self.model.slots[at].links_to(cell.variable, indices) {
                            branch.state[at] = maybe_broken(branch.state[at]);
                        }
                    }
                }
            }
        }
    }

    /// Forgets the links that are not tested any more at a location.
    pub(super) fn forget_links(&self, state: &mut [u8], here: usize) {
        let live = &self.model.code[here].live_links;
        for (variable, links) in self.model.all_links(self.me) {
            if !live[variable.0 as usize] {
                state[links].fill(DEAD);
            }
        }
    }

    /// Makes the links that may be tested unknown.
    pub(super) fn lose_links(&self, state: &mut [u8], here: usize) {
        let live = &self.model.code[here].live_links;
        for (variable, links) in self.model.all_links(self.me) {
            for at in links.filter(|_| live[variable.0 as usize]) {
                let slot = &self.model.slots[at];
                if slot.kept && slot.is_link_among(&self.crowd.members) {
                    state[at] = UNKNOWN;
                }
            }
        }
    }

    /// Moves past an access, with its result.
    fn go_on(
        &self,
        mut branch: Branch,
        into: Option<&Target>,
        result: Bytes,
        out: &mut Vec<Branch>,
    ) {
        let block = self.block();
        let here = pc(&branch.state, block);
        set_pc(&mut branch.state, block, here + 1);
        match into {
            Some(target) => self.store(branch, target, result, out),
            None => out.push(branch),
        }
    }
}

fn truth(truth: bool) -> Bytes {
    Bytes::from_slice(&[BASE + u8::from(truth)])
}
