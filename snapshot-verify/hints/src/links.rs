//! Links to LL/SC cells.
//!
//! A view has a byte for each process in it and each cell in it: whether the process is linked to
//! the cell. The byte is known only for the cell of the process's latest LL on this variable, and
//! is `none` for all others: so an LL ends the knowledge of links to the whole variable, and links
//! that no SC or VL tests before the next LL are forgotten.
//!
//! An unknown link is not a failure: an SC may succeed then, with the effects of a write, also on
//! links of others.

use snapshot_language::program::SharedId;

use super::liveness;
use super::model::{Act, Model};
use super::shape::{Leaf, Scalar, T};

/// Type of the byte of a link; `none`: the latest LL was to another cell.
pub const LINK: Leaf = Leaf { scalar: Scalar::Bool, optional: true };

impl Model {
    /// Returns the offsets of the links of a process to the cells of a variable.
    pub fn links_of(&self, owner: u8, variable: SharedId) -> std::ops::Range<usize> {
        let Some(begin) = self.links[variable.0 as usize] else { return 0..0 };
        let begin = self.blocks[usize::from(owner)] + begin;
        begin..begin + self.cells_of(variable)
    }

    /// Returns the number of cells of a variable.
    fn cells_of(&self, variable: SharedId) -> usize {
        let at = variable.0 as usize;
        let end = self.shared.get(at + 1).map_or(self.blocks[0], |next| next.base);
        (end - self.shared[at].base) / self.shared[at].size.max(1)
    }
}

/// Drops links to cells of t by LLs in ghost scans of i and j: views that do not follow the ghost
/// scan do not see them.
pub fn drop_hidden(model: &mut Model) {
    let mut hidden = vec![false; model.shared.len()];
    for one in model.code.iter().filter(|one| model.ghostly[one.procedure.0 as usize]) {
        if let Act::LoadLinked(cell, _) = &one.act {
            hidden[cell.variable.0 as usize] = true;
        }
    }
    for slot in &mut model.slots {
        let Some((variable, path)) = &slot.link else { continue };
        if hidden[variable.0 as usize] && slot.owner != Some(T) && path.contains(&T) {
            slot.kept = false;
        }
    }
}

/// Returns the possible next locations of a process, into procedures and out of them.
pub fn next(model: &Model, at: usize) -> Vec<usize> {
    let one = &model.code[at];
    match &one.act {
        Act::Idle => [model.update, model.scan].map(|id| model.entries[id.0 as usize]).to_vec(),
        Act::Call(procedure, ..) => vec![model.entries[procedure.0 as usize]],
        Act::Return(_) => {
            // A ghost scan may end while its operation is not shown.
            let callers = model.code.iter().enumerate().filter_map(|(at, caller)| {
                let is_caller = matches!(&caller.act,
                    Act::Call(procedure, ..) if *procedure == one.procedure);
                is_caller.then_some(at + 1)
            });
            callers.chain([0]).collect()
        }
        act => liveness::successors(act, at),
    }
}
