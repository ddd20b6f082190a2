//! Which kinds of views there are, the first of each, and all steps from one.

use smallvec::SmallVec;

use crate::byte::{ANY, I, J, Row, T};
use crate::centre::{canonical, centre, definite};
use crate::claim::Aim;
use crate::flips::{load, normal};
use crate::join::{Effect, effect};
use crate::layout::{Layout, op};
use crate::step::{Failure, Kind, Outcome, Planted, Run};

/// The kinds of an obligation: of i's and j's scans, and of a third process at each place
/// among them. Of nesting, j is not there.
pub fn kinds(layout: &Layout<'_>) -> Vec<Kind> {
    let kind = |members: &[u8], followed| Kind { members: members.to_vec(), followed };
    match layout.obligation.aim {
        Aim::Faults | Aim::Nesting => vec![kind(&[I], I), kind(&[T, I], T), kind(&[I, T], T)],
        Aim::Observer | Aim::Memory(_) => vec![
            kind(&[I, J], I),
            kind(&[I, J], J),
            kind(&[T, I, J], T),
            kind(&[I, T, J], T),
            kind(&[I, J, T], T),
        ],
    }
}

/// The kinds that each list stands for: the one, or, of t, all of its places.
pub fn lists(layout: &Layout<'_>) -> Vec<Vec<Kind>> {
    let mut lists: Vec<Vec<Kind>> = Vec::new();
    for kind in kinds(layout) {
        let is_of = |list: &&mut Vec<Kind>| {
            layout.alike && kind.followed == T && list.iter().all(|one| one.followed == T)
        };
        match lists.last_mut().filter(is_of) {
            Some(list) => list.push(kind),
            None => lists.push(vec![kind]),
        }
    }
    lists
}

/// The centres that a view of a list has, as one of its kinds.
pub fn centres(layout: &Layout<'_>, kinds: &[Kind], view: &[u8]) -> SmallVec<[Vec<u8>; 1]> {
    let mut centres: SmallVec<[Vec<u8>; 1]> = SmallVec::new();
    for kind in kinds {
        let centre = centre(layout, kind, view);
        if !centres.contains(&centre) {
            centres.push(centre);
        }
    }
    centres
}

/// The views of the initial state.
///
/// # Errors
/// If they cannot be said.
pub fn initial(layout: &Layout<'_>, kind: &Kind) -> Result<Vec<Vec<u8>>, Failure> {
    let mut state = vec![ANY; layout.slots.len()];
    let planted = Planted::default();
    let constant = |of: &snapshot_language::program::Expression, me: u8| -> Option<Row> {
        let state = vec![ANY; layout.slots.len()];
        let mut branch =
            Outcome { state, writes: Vec::new(), failure: None, fresh: 1, operation: op::IDLE };
        Run { layout, kind, me, planted }.scope(&mut branch, 0).row(of).ok()
    };
    for (number, variable) in layout.program.shared.iter().enumerate() {
        let Some(row) = constant(&variable.initial, T) else { continue };
        for (_, room) in &layout.cells[number] {
            keep(layout, &mut state, room.base, &row);
        }
    }
    for me in [I, J, T] {
        for (variable, room) in layout.program.private.iter().zip(&layout.private) {
            let Some(row) = constant(&variable.initial, me) else { continue };
            keep(layout, &mut state, layout.blocks[usize::from(me)] + room.base, &row);
        }
    }
    clear_absent(layout, kind, &mut state);
    let mut states = definite(layout, kind, &state)?;
    states.iter_mut().for_each(|state| canonical(layout, state));
    Ok(states.into_iter().flat_map(|state| normal(layout, state)).collect())
}

fn keep(layout: &Layout<'_>, state: &mut [u8], begin: usize, row: &[u8]) {
    for (at, byte) in (begin..).zip(row) {
        if layout.slots[at].kept {
            state[at] = layout.element(at, *byte);
        }
    }
}

/// Nothing is known of members that are not there.
fn clear_absent(layout: &Layout<'_>, kind: &Kind, state: &mut [u8]) {
    for (byte, slot) in state.iter_mut().zip(&layout.slots) {
        if slot.members().any(|member| !kind.members.contains(&member)) {
            *byte = ANY;
        }
    }
}

/// What comes of a view: views of its kind, and what its steps are to others.
#[derive(Debug, Default)]
pub struct Steps {
    /// The views.
    pub views: Vec<Vec<u8>>,
    /// The effects.
    pub effects: Vec<Effect>,
}

/// All steps that a view shows: of i and j where they are not in a scan, of the process that
/// it follows in all that it does.
///
/// # Errors
/// If one of them goes wrong.
pub fn steps(
    layout: &Layout<'_>,
    kind: &Kind,
    view: &[u8],
    planted: Planted,
) -> Result<Steps, Failure> {
    let mut steps = Steps::default();
    let view = &load(layout, view);
    for &me in &kind.members {
        let run = Run { layout, kind, me, planted };
        let is_followed = me == kind.followed;
        for mut outcome in run.steps(view) {
            if let Some(failure) = outcome.failure {
                if planted.no_failures {
                    continue;
                }
                return Err(failure);
            }
            // A scan may begin, and end, with that step.
            let is_inside = run.is_inside(view) || outcome.operation == op::SCANS;
            let is_mine = is_followed && (me == T || is_inside);
            if is_mine && let Some(effect) = effect(layout, kind, view, &outcome)? {
                steps.effects.push(effect);
            }
            canonical(layout, &mut outcome.state);
            steps.views.extend(normal(layout, outcome.state));
        }
    }
    Ok(steps)
}
