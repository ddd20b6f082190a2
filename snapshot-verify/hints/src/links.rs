//! Links to LL/SC cells.
//!
//! A view has a byte for each process in it and each cell in it: whether the process is linked to
//! the cell. The byte is known only for the cell of the process's latest LL on this variable, and
//! is `none` for all others: so an LL ends the knowledge of links to the whole variable, and links
//! that no SC or VL tests before the next LL are forgotten.
//!
//! An unknown link is not a failure: an SC may succeed then, with the effects of a write, also on
//! links of others.

use snapshot_language::deadline::Deadline;
use snapshot_language::program::SharedId;

use super::liveness;
use super::model::{Act, Cell, Model, Slot};
use super::names::Use;
use super::shape::{BASE, DEAD, Leaf, NONE, Scalar, T, UNKNOWN};

/// Type of the byte of a link; `none`: the latest LL was to another cell.
pub const LINK: Leaf = Leaf { scalar: Scalar::Bool, optional: true };

pub const BROKEN: u8 = BASE;

pub const LINKED: u8 = BASE + 1;

/// Returns true if a process is linked, by the byte of the link; `None` if unknown.
pub const fn is_linked(byte: u8) -> Option<bool> {
    match byte {
        BROKEN => Some(false),
        LINKED => Some(true),
        _ => None,
    }
}

/// Returns the byte of a link to a cell that was written.
pub const fn broken(byte: u8) -> u8 {
    match byte {
        DEAD | NONE => byte,
        _ => BROKEN,
    }
}

/// Returns the byte of a link to a cell that may have been written.
pub const fn maybe_broken(byte: u8) -> u8 {
    match byte {
        LINKED => UNKNOWN,
        _ => byte,
    }
}

impl Slot {
    /// Returns true for a link to a cell whose indices are among these.
    pub fn is_link_among(&self, members: &[u8]) -> bool {
        let path = self.link.as_ref().map(|(_, path)| path);
        path.is_some_and(|path| path.iter().all(|place| members.contains(place)))
    }

    /// Returns true for a link to a cell of a variable that these indices may lead to: `None` is an
    /// unknown index.
    pub fn links_to(&self, variable: SharedId, indices: &[Option<u8>]) -> bool {
        self.link.as_ref().is_some_and(|(of, path)| {
            *of == variable
                && indices
                    .iter()
                    .zip(path)
                    .all(|(index, place)| index.is_none_or(|one| one == *place))
        })
    }
}

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

    /// Returns all links of a process.
    pub fn all_links(&self, owner: u8) -> impl Iterator<Item = (SharedId, std::ops::Range<usize>)> {
        let variables = (0..self.links.len()).map(|at| SharedId(at as u32));
        variables.map(move |variable| (variable, self.links_of(owner, variable)))
    }
}

/// Fills in the instructions before which links may be tested: a process keeps them between
/// operations, and from one procedure to another.
pub fn fill_live(model: &mut Model, deadline: Deadline<'_>) {
    let count = model.shared.len();
    let successors: Vec<Vec<usize>> = {
        let all = (0..model.code.len()).take_while(|_| !deadline.is_over());
        all.map(|at| next(model, at)).collect()
    };
    let mut live = vec![vec![false; count]; model.code.len()];
    loop {
        let before = live.clone();
        for at in (0..model.code.len()).rev() {
            if deadline.is_over() {
                return;
            }
            let mut now = vec![false; count];
            for next in &successors[at] {
                now.iter_mut().zip(&live[*next]).for_each(|(now, after)| *now |= after);
            }
            let one = &model.code[at];
            // An access through a copy of a name also accesses a row of the array, and tests the
            // link to the name's cell.
            let through = match one.used {
                Some(Use::Through(name, row)) => {
                    let name = &model.named[name];
                    Some((name.variable, name.rows[row].array))
                }
                _ => None,
            };
            let of = |cell: &Cell| {
                let rows = through.map(|(_, array)| array);
                [Some(cell.variable), rows].into_iter().flatten().map(|one| one.0 as usize)
            };
            match &one.act {
                Act::LoadLinked(cell, _) => of(cell).for_each(|at| now[at] = false),
                Act::StoreConditional(cell, ..) | Act::Validate(cell, _) => {
                    of(cell).for_each(|at| now[at] = true);
                }
                _ => {}
            }
            if let Some((variable, _)) = through
                && !matches!(one.act, Act::StoreConditional(..))
            {
                now[variable.0 as usize] = true;
            }
            live[at] = now;
        }
        if live == before {
            break;
        }
    }
    for (one, live) in model.code.iter_mut().zip(live) {
        one.live_links = live;
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
