//! Views, and their shared part: the centre.
//!
//! A view restricts a state of all processes to i, j and one tracked process. Its centre is the
//! restriction to i and j alone: shared cells not indexed by t, and the locations of i and j
//! outside of their ghost scans. Views of different tracked processes of the same state have the
//! same centre: so the centre must be a function of the state, and is made definite ([`definite`]).
//! All other bytes may be unknown.

use super::model::{Act, Model, Outside, Unsupported, at};
use super::run::{Crowd, GAP, MEMBER, NOT_BEGUN, pc, set_pc};
use super::shape::{BASE, DEAD, I, J, NONE, OTHER, SOME, T, UNKNOWN};

/// Returns the largest number of a version in a state, plus 1.
pub fn versions(model: &Model, state: &[u8]) -> u8 {
    let bytes = model.versions.iter().map(|at| state[*at]).filter(|byte| *byte >= BASE);
    bytes.map(|byte| byte - BASE + 1).max().unwrap_or(1)
}

/// Returns true if the whole centre is definite.
pub fn is_definite(model: &Model, state: &[u8]) -> bool {
    let mut unknown = model.in_centre.iter().filter(|at| matches!(state[**at], UNKNOWN | SOME));
    unknown.all(|at| model.is_outside(state, *at))
}

/// Maximum number of outcomes of one step.
const MOST_WAYS: usize = 1 << 14;

/// Maximum number of bytes of their states.
const MOST_BYTES: usize = 1 << 26;

/// Returns true if a step has too many outcomes, each with a state of this many bytes.
pub const fn are_too_many(ways: usize, size: usize) -> bool {
    ways > MOST_WAYS || ways.saturating_mul(size) > MOST_BYTES
}

/// Reports [too many](are_too_many) outcomes of a step.
pub fn too_many_ways(model: &Model, here: usize) -> Unsupported {
    Unsupported { span: model.code[here].span, construct: "a step with more than 16,384 ways" }
}

/// Returns all ways to make the centre definite.
///
/// # Errors
/// If there are infinitely many, or [too many](are_too_many).
pub fn definite(model: &Model, crowd: &Crowd, state: Vec<u8>) -> Result<Vec<Vec<u8>>, Unsupported> {
    let mut states = vec![state];
    for &at in &model.in_centre {
        let slot = &model.slots[at];
        if !matches!(states[0][at], UNKNOWN | SOME) || model.is_outside(&states[0], at) {
            continue;
        }
        let Some(leaf) = slot.leaf else { continue };
        let values = match slot.names {
            true => Some(vec![BASE + crowd.tracked, BASE + OTHER]),
            false => leaf.values(model.obligation.mode, &crowd.members),
        };
        let Some(values) = values else {
            let owner = slot.owner.map_or(I, |owner| owner);
            let here = pc(&states[0], model.blocks[usize::from(owner)]);
            return Err(Unsupported {
                span: model.code[here].span,
                construct: "a version or a number from a process that is not tracked",
            });
        };
        if are_too_many(states.len() * values.len(), states[0].len()) {
            return Err(too_many_ways(
                model,
                slot.owner.map_or(0, |owner| pc(&states[0], model.blocks[usize::from(owner)])),
            ));
        }
        let some = states[0][at] == SOME;
        let with = |state: &Vec<u8>, value: u8| {
            let mut state = state.clone();
            state[at] = value;
            state
        };
        states = states
            .iter()
            .flat_map(|state| {
                let values = values.iter().filter(|value| !some || **value >= BASE);
                values.map(|value| with(state, *value)).collect::<Vec<_>>()
            })
            .collect();
    }
    Ok(states)
}

/// Hides a process in a ghost scan from views that do not follow it.
pub fn hide(model: &Model, state: &mut [u8], owner: u8) {
    let block = model.blocks[usize::from(owner)];
    if state[block + at::GHOST] == 0 {
        return;
    }
    let mut to = 0;
    for (procedure, frame) in model.frames.iter().enumerate() {
        if model.is_ghost[procedure] {
            let back = [state[block + frame.back], state[block + frame.back + 1]];
            to = to.max(usize::from(u16::from_le_bytes(back)));
        }
    }
    let here = pc(state, block);
    let is_hidden = matches!(&model.code[here].act, Act::Call(procedure, ..)
        if model.is_ghost[procedure.0 as usize]);
    if is_hidden && to == 0 {
        return;
    }
    for (procedure, frame) in model.frames.iter().enumerate() {
        if model.ghostly[procedure] {
            state[block + frame.back..block + frame.end].fill(DEAD);
        }
    }
    for offset in [at::BEGUN, at::BITS] {
        state[block + offset] = 0;
    }
    for (_, links) in model.all_links(owner) {
        state[links].fill(DEAD);
    }
    if to == 0 || to == usize::from(NOT_BEGUN) {
        // The operation is a ghost scan, or is not shown yet: it counts as not begun.
        for offset in [at::GHOST, at::OPERATION, at::TOKEN, at::INVOKED] {
            state[block + offset] = 0;
        }
        set_pc(state, block, 0);
    } else {
        set_pc(state, block, to - 1);
    }
}

/// Makes the rows of a process under a name unknown, and the links to their cells.
pub fn forget_row(model: &Model, state: &mut [u8], name: usize, process: u8) {
    for row in &model.named[name].rows {
        let room = &model.shared[row.array.0 as usize];
        for (_, number) in model.named_cells(*row, process) {
            let cell = room.base + number * room.size..room.base + (number + 1) * room.size;
            for at in cell.filter(|at| model.slots[*at].kept) {
                state[at] = UNKNOWN;
            }
            for owner in [I, J, T] {
                let link = model.links_of(owner, row.array).nth(number);
                if let Some(at) = link.filter(|at| state[*at] != DEAD) {
                    state[at] = UNKNOWN;
                }
            }
        }
    }
}

/// Forgets the rows of processes that are not followed, and names that are not in force with the
/// rows that they name.
pub fn drop_rows(model: &Model, state: &mut [u8], followed: u8) {
    for number in 0..model.named.len() {
        let at = model.name_at(number);
        if model.is_in_force(state, number) {
            if state[at] == BASE + followed {
                // Its row is the named one.
                forget_row(model, state, number, followed);
            }
            continue;
        }
        // No process is named: all rows belong to their processes only.
        if model.slots[at].kept {
            state[at] = BASE + OTHER;
        }
        for row in &model.named[number].rows {
            let room = &model.shared[row.named.0 as usize];
            for (cell, _) in model.named_cells(*row, followed) {
                state[room.base + cell * room.size..room.base + (cell + 1) * room.size].fill(DEAD);
            }
            for owner in [I, J, T] {
                for at in model.links_of(owner, row.named) {
                    if state[at] != DEAD {
                        state[at] = NONE;
                    }
                }
            }
        }
    }
    for (at, row) in &model.in_rows {
        if *row != followed {
            state[*at] = DEAD;
        }
    }
}

/// Numbers versions by first occurrence, versions of the centre first.
pub fn canonical(model: &Model, state: &mut [u8]) {
    let mut names: Vec<u8> = Vec::new();
    for outside in [false, true] {
        for &at in &model.versions {
            // The initial version keeps its number.
            if state[at] > BASE && model.is_outside(state, at) == outside {
                let byte = state[at];
                if !names.contains(&byte) {
                    names.push(byte);
                }
            }
        }
    }
    if names.is_empty() {
        return;
    }
    for &at in &model.versions {
        if state[at] > BASE {
            let number = names.iter().position(|name| *name == state[at]).unwrap_or_default();
            state[at] = BASE + 1 + number as u8;
        }
    }
}

/// Returns the centre of a view, with the view's numbers of versions.
pub fn centre(model: &Model, crowd: &Crowd, view: &[u8]) -> Vec<u8> {
    let mut state = view.to_vec();
    for owner in [I, J] {
        hide(model, &mut state, owner);
    }
    if crowd.members.contains(&T) {
        for (at, merged) in &model.positions {
            state[*at] = without_tracked(crowd, state[*at], merged);
        }
    }
    for &at in &model.names {
        if state[at] == BASE + T || (model.slots[at].names && state[at] >= BASE) {
            state[at] = BASE + OTHER;
        }
    }
    let in_ghost = model.blocks.map(|block| state[block + at::GHOST] != 0);
    for (byte, outside) in state.iter_mut().zip(&model.outside) {
        match outside {
            Outside::Never => {}
            Outside::Always => *byte = DEAD,
            Outside::InGhost(owner) if in_ghost[usize::from(*owner)] => *byte = DEAD,
            Outside::InGhost(_) => {}
        }
    }
    state
}

/// Returns a position in a loop, with t as one of the others.
fn without_tracked(crowd: &Crowd, position: u8, merged: &[bool; 3]) -> u8 {
    if position != MEMBER + T && position != GAP + 1 + T {
        return position;
    }
    let before = crowd.members.iter().take_while(|member| **member != T);
    let before = before.filter(|member| !merged[usize::from(**member)]).last();
    before.map_or(GAP, |member| GAP + 1 + member)
}
