//! Moves processes that are lost ([`crate::lost`]) to the locations at which they test their link
//! again.

use super::{Branch, Run, pc, set_pc};
use crate::links::BROKEN;
use crate::model::Unsupported;
use crate::shape::{DEAD, T};

impl Run<'_> {
    /// Returns the ends of the process's paths, if it is lost.
    pub fn ways_out(&self, state: &[u8]) -> Option<&[usize]> {
        let here = pc(state, self.block());
        self.model.lost.iter().find_map(|lost| {
            let link = self.model.links_of(self.me, lost.variable).start;
            let is_broken = self.model.slots[link].kept && state[link] == BROKEN;
            let ways = lost.ways[here].as_ref().filter(|_| is_broken)?;
            // Only one kind of views knows whether i or j are named, while their locations outside
            // of ghost scans are in the centre.
            let is_told = self.me == T || self.in_ghost(state);
            let is_unnamed = |name: &usize| is_told && self.is_unnamed(state, *name);
            ways.unnamed.iter().all(is_unnamed).then_some(&*ways.ends)
        })
    }

    /// Returns the views with the process at each location where it tests its link again, if it is
    /// lost.
    ///
    /// # Errors
    /// If an instruction there is unsupported.
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
                // Reject ends whose effects others do not see, such as the end of a ghost scan of i
                // or j in views that do not follow it.
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

    /// Ends the loops of the procedure that do not contain this instruction.
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
