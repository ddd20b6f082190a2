//! Processes that are lost ([`crate::lost`]) stand where they look again.

use super::{Branch, Run, pc, set_pc};
use crate::links::BROKEN;
use crate::model::Unsupported;
use crate::shape::{DEAD, T};

impl Run<'_> {
    /// Where the process goes if it is lost.
    pub fn ways_out(&self, state: &[u8]) -> Option<&[usize]> {
        let here = pc(state, self.block());
        self.model.lost.iter().find_map(|lost| {
            let link = self.model.links_of(self.me, lost.variable).start;
            let is_broken = self.model.slots[link].kept && state[link] == BROKEN;
            let ways = lost.ways[here].as_ref().filter(|_| is_broken)?;
            // Whether i or j are named is known in one kind of views only, while their places
            // outside of ghost scans are in the centre.
            let is_told = self.me == T || self.in_ghost(state);
            let is_unnamed = |name: &usize| is_told && self.is_unnamed(state, *name);
            ways.unnamed.iter().all(is_unnamed).then_some(&*ways.ends)
        })
    }

    /// All places where the process looks again, if it is lost.
    ///
    /// # Errors
    /// If what it does there is not modelled.
    pub fn look_again(&self, state: &[u8]) -> Result<Vec<Vec<u8>>, Unsupported> {
        let mut out = Vec::new();
        let was_within = self.in_ghost(state);
        for &end in self.ways_out(state).unwrap_or_default() {
            let mut state = state.to_vec();
            self.leave_loops(&mut state, end);
            self.clear_others(&mut state);
            self.forget(&mut state, end);
            self.forget_rows(&mut state);
            set_pc(&mut state, self.block(), end);
            let mut branches = Vec::new();
            self.settle(Branch::new(state), true, &mut branches)?;
            for branch in branches {
                // Nothing that others do not see where they stand themselves, as the end of a ghost scan
                // of i or j is for views that do not follow it.
                let is_hidden_end = self.me != T && was_within && !self.in_ghost(&branch.state);
                if is_hidden_end || branch != Branch::new(branch.state.clone()) {
                    let (span, construct) = (self.model.code[end].span, "a process that is late");
                    return Err(Unsupported { span, construct });
                }
                out.push(branch.state);
            }
        }
        Ok(out)
    }

    /// No loop of the procedure goes on that does not contain this instruction.
    fn leave_loops(&self, state: &mut [u8], end: usize) {
        let block = self.block();
        let procedure = self.model.code[end].procedure;
        let of = self.model.code.iter().filter(|one| one.procedure == procedure);
        let loops = of.filter_map(|one| one.act.begins());
        for this in loops.filter(|this| !(this.body..this.end).contains(&end)) {
            state[block + this.position..block + this.position + 2].fill(DEAD);
            state[block + this.variable] = DEAD;
        }
    }
}
