//! Centre of a view: the part that all views of one state share.
//!
//! Views of a state with different tracked processes agree on the bytes of i and j alone. So each
//! byte in the centre is a function of the state, and definite. Excluded from the centre are the
//! scans of i and j, and bytes with t among their indices.

use smallvec::SmallVec;
use snapshot_language::program::SharedId;

use crate::byte::{ANY, BASE, LOOSE, OTHER, T};
use crate::layout::{Layout, RowOf, at, op};
use crate::step::{Failure, GAP, Kind, MEMBER, are_too_many};

/// Condition under which a byte of a view is in the centre.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Central {
    /// At all times.
    Always,
    /// At no time.
    Never,
    /// While its owner, whose block begins there, is outside scans (in a scan it counts as idle)
    /// and, if the byte's procedure may run in a ghost scan, outside ghost scans.
    Outside {
        /// First byte of the block.
        block: usize,
        /// True if the byte is in the frame of a procedure that may run in a ghost scan.
        ghostly: bool,
    },
    /// While its owner is outside scans. In a ghost scan also, unless the link is forgotten at the
    /// call of the ghost scan: there nothing was known of it, and only views that follow the owner
    /// learn of it.
    Link {
        owner: u8,
        /// Variable of the cell.
        variable: SharedId,
    },
}

impl Central {
    /// Returns the condition for a byte.
    pub fn of(layout: &Layout<'_>, byte: usize) -> Self {
        let slot = &layout.slots[byte];
        let Some(owner) = slot.owner.filter(|_| !slot.tracked) else {
            return if slot.tracked { Self::Never } else { Self::Always };
        };
        let block = layout.blocks[usize::from(owner)];
        if let Some(variable) = slot.linked() {
            return Self::Link { owner, variable };
        }
        match (slot.frame, byte - block) {
            (None, at::SWITCHED | at::END..) => Self::Always,
            (frame, _) => {
                let ghostly = frame.is_some_and(|frame| layout.ghostly[frame]);
                Self::Outside { block, ghostly }
            }
        }
    }
}

/// Returns true if a byte of a view is in the centre.
pub fn is_central(layout: &Layout<'_>, state: &[u8], byte: usize) -> bool {
    match layout.in_centre[byte] {
        Central::Always => true,
        Central::Never => false,
        Central::Outside { block, ghostly } => {
            let is_scanning = matches!(state[block + at::OP], op::SCANS | op::GHOSTS..);
            !(is_scanning || ghostly && state[block + at::GHOST] != 0)
        }
        Central::Link { owner, variable } => {
            let block = layout.blocks[usize::from(owner)];
            let is_scanning = matches!(state[block + at::OP], op::SCANS | op::GHOSTS..);
            let is_ghost = state[block + at::GHOST] != 0;
            !(is_scanning || is_ghost && layout.is_unlinked(state, owner, variable))
        }
    }
}

/// Returns the centre of a view: bytes outside the centre are 0, and t counts as any other process.
pub fn centre(layout: &Layout<'_>, kind: &Kind, state: &[u8]) -> Vec<u8> {
    let mut centre: Vec<u8> = (0..state.len())
        .map(|at| if is_central(layout, state, at) { state[at] } else { 0 })
        .collect();
    for &(position, variable) in &layout.loose_bytes {
        if matches!(centre[position], byte if byte == MEMBER + T || byte == GAP + 1 + T) {
            centre[position] = GAP;
        }
        if centre[variable] == BASE + T {
            centre[variable] = BASE + LOOSE;
        }
    }
    for &at in &layout.names {
        if centre[at] == BASE + T {
            centre[at] = BASE + OTHER;
        }
    }
    for &at in &layout.positions {
        if centre[at] == MEMBER + T || centre[at] == GAP + 1 + T {
            let before = kind.members.iter().take_while(|member| **member != T).last();
            centre[at] = before.map_or(GAP, |member| GAP + 1 + member);
        }
    }
    centre
}

/// Returns all ways to make the centre definite. A byte that is forgotten at its process's location
/// stays unknown in all views.
///
/// # Errors
/// If there are infinitely many, or [too many](are_too_many).
pub fn definite(layout: &Layout<'_>, kind: &Kind, state: &[u8]) -> Result<Vec<Vec<u8>>, Failure> {
    let mut state = state.to_vec();
    layout.forget_rows(kind, &mut state)?;
    let state = state.as_slice();
    let mut states = vec![state.to_vec()];
    for &at in &layout.central {
        let is_told = !layout.is_vague(at, state[at]);
        if is_told || !is_central(layout, state, at) || is_forgotten(layout, state, at) {
            continue;
        }
        let numbers = layout.numbers(at, state[at]).map(SmallVec::from_vec);
        let Some(values) = numbers.or_else(|| layout.values(state, at, &kind.members)) else {
            return Err(Failure::Unfit("a version or a view that is kept of i or j, and unknown"));
        };
        let count = states.len() * values.len();
        if are_too_many(count, state.len()) {
            return Err(Failure::TooMany);
        }
        if !layout.asks.go_on(count * state.len()) {
            return Err(Failure::Ended);
        }
        let with = |state: &Vec<u8>, value: u8| {
            let mut state = state.clone();
            state[at] = value;
            state
        };
        states = states
            .iter()
            .flat_map(|state| values.iter().map(|value| with(state, *value)).collect::<Vec<_>>())
            .collect();
    }
    Ok(states)
}

/// Returns true if a local or a link holds nothing at its process's location: the procedure is not
/// called, the byte is forgotten there, or it belongs to a loop that is not running.
fn is_forgotten(layout: &Layout<'_>, state: &[u8], byte: usize) -> bool {
    let slot = &layout.slots[byte];
    if let Some(RowOf::Named(name)) = slot.row
        && layout.is_in_force(state, name) == Ok(false)
    {
        return true;
    }
    if let (Some(owner), Some(variable)) = (slot.owner, slot.linked()) {
        return layout.is_unlinked(state, owner, variable);
    }
    let (Some(owner), Some(procedure)) = (slot.owner, slot.frame) else { return false };
    let block = layout.blocks[usize::from(owner)];
    let frame = &layout.frames[procedure];
    if slot.name.is_empty() {
        // A loop variable is unknown only if it is unknown in all views. The index that a running
        // loop leaves out is an exception.
        let this = frame.fors.iter().position(|position| block + position + 1 == byte);
        let runs = |this: usize| state[block + frame.fors[this]] != ANY;
        return !this.is_some_and(|this| layout.leaves_out[procedure][this] && runs(this));
    }
    let Some(here) = state[block + frame.at].checked_sub(1) else { return true };
    layout.forgotten[procedure][usize::from(here)].iter().any(|local| {
        let room = frame.locals[*local];
        (room.base..room.base + room.size).contains(&(byte - block))
    })
}

/// Numbers versions in the order of their occurrence, versions of the centre first. The initial
/// version keeps its number.
pub fn canonical(layout: &Layout<'_>, state: &mut [u8]) {
    let mut names: Vec<u8> = Vec::new();
    for central in [true, false] {
        for &at in &layout.versions {
            if state[at] > BASE && is_central(layout, state, at) == central {
                let byte = state[at];
                if !names.contains(&byte) {
                    names.push(byte);
                }
            }
        }
    }
    for &at in &layout.versions {
        if state[at] > BASE {
            let number = names.iter().position(|name| *name == state[at]).unwrap_or_default();
            state[at] = BASE + 1 + number as u8;
        }
    }
}

/// Returns the first number that no version of the centre has.
pub fn central_versions(layout: &Layout<'_>, state: &[u8]) -> u8 {
    let numbers = layout.versions.iter().filter(|at| is_central(layout, state, **at));
    numbers.filter_map(|at| state[*at].checked_sub(BASE)).max().map_or(1, |most| most + 1)
}
