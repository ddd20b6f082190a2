//! Kinds of views, valid rows, initial views of each kind, and all steps from a view.

use snapshot_core::observer::{Must, ObserverState};

use crate::byte::{ANY, BASE, FRESH, I, J, LOOSE, NONE, OLD, OTHER, Row, T, integer};
pub use crate::centre::centres;
use crate::centre::{canonical, definite};
use crate::claim::{Ghosts, Property};
use crate::clock;
use crate::flips::{load, normal, normal_into};
use crate::interference::{Effect, effect};
use crate::layout::{Layout, ROUND, SIGNER, SPECIFICATION, Scalar, at, op};
use crate::step::lost::{found, may_move};
use crate::step::{COUNTING, Failure, GAP, InjectedFault, Kind, MEMBER, Outcome, Run};

/// Returns the kinds of an obligation: one for i's scans, one for j's scans, and one for a
/// third process at each place among them. For nesting, j is absent.
pub fn kinds(layout: &Layout<'_>) -> Vec<Kind> {
    let kind = |members: &[u8], followed| Kind { members: members.to_vec(), followed };
    match layout.obligation.property {
        Property::Faults | Property::Nesting => {
            vec![kind(&[I], I), kind(&[T, I], T), kind(&[I, T], T)]
        }
        Property::Observer | Property::Memory(_) => vec![
            kind(&[I, J], I),
            kind(&[I, J], J),
            kind(&[T, I, J], T),
            kind(&[I, T, J], T),
            kind(&[I, J, T], T),
        ],
    }
}

/// Returns the kinds that each list stands for: one kind, or, for t, all of its places.
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

/// Returns the views of the initial state.
///
/// # Errors
/// If there are too many.
pub fn initial(layout: &Layout<'_>, kind: &Kind) -> Result<Vec<Vec<u8>>, Failure> {
    let mut state = vec![ANY; layout.slots.len()];
    let planted = InjectedFault::default();
    let constant = |of: &snapshot_language::program::Expression, me: u8| -> Option<Row> {
        let state = vec![ANY; layout.slots.len()];
        let mut branch =
            Outcome { state, writes: Vec::new(), failure: None, fresh: 1, operation: op::IDLE };
        let run = Run { layout, kind, me, planted };
        let mut scope = run.scope(&mut branch, 0);
        scope.is_first = true;
        scope.row(of).ok()
    };
    for (number, variable) in layout.program.shared.iter().enumerate() {
        let Some(row) = constant(&variable.initial, T) else { continue };
        for (_, room) in &layout.cells[number] {
            keep(layout, &mut state, room.base, &row);
            // Views that lie in shared memory were not made here.
            let cell = room.base..room.base + room.size;
            for (byte, slot) in state[cell.clone()].iter_mut().zip(&layout.slots[cell]) {
                let is_view = slot.leaf.is_some_and(|leaf| leaf.scalar == Scalar::View);
                if is_view && layout.tokens() && *byte != ANY {
                    *byte = OLD;
                }
            }
        }
    }
    for me in [I, J, T] {
        for (variable, room) in layout.program.private.iter().zip(&layout.private) {
            let Some(row) = constant(&variable.initial, me) else { continue };
            keep(layout, &mut state, layout.blocks[usize::from(me)] + room.base, &row);
        }
    }
    if let (Some(at), Some(first)) = (layout.remainder_at(), layout.first_number()) {
        let divisor = layout.clock.map_or(1, |clock| clock.divisor);
        state[at] = integer(i64::from(first) % divisor);
    }
    if layout.slots[SIGNER].kept {
        state[SIGNER] = NONE;
    }
    if layout.obligation.ghosts == Ghosts::Rounds {
        state[ROUND] = if layout.tokens() { OLD } else { 0 };
    }
    // It is unknown which process is named at first.
    (0..layout.named.len()).for_each(|name| state[layout.name_at(name)] = ANY);
    clear_absent(layout, kind, &mut state);
    let mut states = definite(layout, kind, state)?;
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

/// Forgets the bytes of members that are not present.
fn clear_absent(layout: &Layout<'_>, kind: &Kind, state: &mut [u8]) {
    for (byte, slot) in state.iter_mut().zip(&layout.slots) {
        if slot.members().any(|member| !kind.members.contains(&member)) {
            *byte = ANY;
        }
    }
}

/// Successors of a view, and the interference of its steps.
#[derive(Debug, Default)]
pub struct Steps {
    pub views: Vec<Vec<u8>>,
    pub effects: Vec<Effect>,
}

/// Returns all steps that a view shows: of i and j while they are not in a scan, of the followed
/// process at all times.
///
/// # Errors
/// If one of them goes wrong.
pub fn steps(
    layout: &Layout<'_>,
    kind: &Kind,
    view: &[u8],
    planted: InjectedFault,
) -> Result<Steps, Failure> {
    let mut steps = Steps::default();
    let view = &load(layout, view);
    for &me in &kind.members {
        let run = Run { layout, kind, me, planted };
        let is_followed = me == kind.followed;
        for outcome in run.steps(view) {
            if let Some(failure) = outcome.failure {
                if planted.no_failures {
                    continue;
                }
                return Err(failure);
            }
            // A scan may begin, and end, with that step.
            let is_inside = run.is_inside(view) || outcome.operation == op::SCANS;
            let is_mine = is_followed && (me == T || is_inside);
            if is_mine
                && let Some(effect) = effect(layout, kind, view, &outcome.state, &outcome.writes)?
            {
                steps.effects.push(effect);
            }
            listed(layout, kind, planted, outcome.state, &mut steps.views)?;
        }
    }
    Ok(steps)
}

/// Adds the views of a state after a step, as they are listed: lost processes at the ends of their
/// paths, versions in order, bits relative to each other.
///
/// # Errors
/// If there are too many.
pub(crate) fn listed(
    layout: &Layout<'_>,
    kind: &Kind,
    planted: InjectedFault,
    state: Vec<u8>,
    views: &mut Vec<Vec<u8>>,
) -> Result<(), Failure> {
    let mut add = |mut state: Vec<u8>| {
        canonical(layout, &mut state);
        normal_into(layout, state, views);
    };
    match may_move(layout) {
        false => add(state),
        true => found(layout, kind, planted, state)?.into_iter().for_each(add),
    }
    Ok(())
}

/// Maximum number of kept versions.
pub(crate) const MOST_VERSIONS: usize = 100;

/// Rows that are views of a kind: every byte has a value of its type, locations and loops exist, the
/// centre is definite, versions are numbered in order. Listing unreachable views is sound; this
/// excludes rows that the rules do not support.
pub(crate) struct Valid<'k> {
    kind: &'k Kind,
    /// Per byte, its values.
    bytes: Vec<[bool; 256]>,
}

impl<'k> Valid<'k> {
    pub fn new(layout: &Layout<'_>, kind: &'k Kind) -> Self {
        let all = |at: usize| std::array::from_fn(|byte| is_byte(layout, kind, at, byte as u8));
        Self { kind, bytes: (0..layout.slots.len()).map(all).collect() }
    }

    /// Returns true if a row is a view.
    pub fn has(&self, layout: &Layout<'_>, view: &[u8]) -> bool {
        let mut bytes = view.iter().zip(&self.bytes);
        bytes.all(|(byte, values)| values[usize::from(*byte)]) && is_state(layout, self.kind, view)
    }
}

/// Returns true if a byte of a view may have this value.
fn is_byte(layout: &Layout<'_>, kind: &Kind, at: usize, byte: u8) -> bool {
    let slot = &layout.slots[at];
    let is_there = |member: &u8| *member == OTHER || kind.members.contains(member);
    if byte == ANY {
        return true;
    }
    if slot.members().any(|member| !kind.members.contains(&member)) {
        return false;
    }
    if slot.position {
        return match byte {
            GAP | COUNTING => true,
            byte if byte >= MEMBER => kind.members.contains(&(byte - MEMBER)),
            byte => kind.members.contains(&byte.wrapping_sub(GAP + 1)),
        };
    }
    match slot.leaf {
        Some(leaf) => match leaf.scalar {
            Scalar::Member if byte == BASE + LOOSE => {
                layout.loose_bytes.iter().any(|(_, variable)| *variable == at)
            }
            Scalar::Member => {
                leaf.optional && byte == NONE
                    || byte.checked_sub(BASE).is_some_and(|member| is_there(&member))
            }
            Scalar::Version => (BASE..BASE + 2 + MOST_VERSIONS as u8).contains(&byte),
            Scalar::Counter if slot.window > 0 => layout.is_window_of(at, byte, &kind.members),
            Scalar::Counter => match layout.clock {
                Some(_) => (NONE..=clock::UNTIL).contains(&byte),
                None => matches!(byte, NONE | clock::SOME),
            },
            Scalar::View => (BASE..=crate::byte::MINE).contains(&byte),
            _ => leaf.values(&kind.members).is_some_and(|values| values.contains(&byte)),
        },
        None if at == SPECIFICATION => match layout.obligation.property {
            Property::Observer => byte < 1 << ObserverState::BITS,
            Property::Memory(_) => byte < 4,
            Property::Faults | Property::Nesting => false,
        },
        None if at == ROUND && layout.tokens() => matches!(byte, FRESH | OLD),
        None if at == ROUND => Must::from_bits(byte - 1).is_some(),
        None => true,
    }
}

/// Returns true if the bytes of a view, each a value of its type, belong to a state.
fn is_state(layout: &Layout<'_>, kind: &Kind, view: &[u8]) -> bool {
    let stands = |owner: usize, block: &usize| {
        let head = |offset: usize| view[block + offset];
        let ghost = head(at::OP).checked_sub(op::GHOSTS).map(usize::from);
        let is_alone = |ghost: usize| {
            layout.late && layout.is_ghost.get(ghost) == Some(&true) && head(at::GHOST) == 1
        };
        let is_head = ghost.is_none_or(is_alone)
            && head(at::GHOST) <= 1
            && head(at::BEGUN) <= 1
            && head(at::BITS) < 16
            && (head(at::TOKEN) == 0 || layout.tokens())
            && head(at::TOKEN) <= OLD
            && head(at::INVOKED) <= 1
            && head(at::SWITCHED) <= 1;
        let is_absent = !kind.members.contains(&(owner as u8));
        let mut frames = layout.frames.iter().zip(&layout.code);
        let stand = frames
            .all(|(frame, code)| usize::from(view[block + frame.at]) <= code.instructions.len());
        if !is_head {
            return false;
        }
        let root = layout.root(head(at::OP));
        let runs = head(at::OP) == op::IDLE || view[block + layout.frames[root].at] != 0;
        stand && runs && (!is_absent || head(at::OP) == op::IDLE)
    };
    if !layout.blocks.iter().enumerate().all(|(owner, block)| stands(owner, block)) {
        return false;
    }
    let mut same = view.to_vec();
    canonical(layout, &mut same);
    same == view
        && definite(layout, kind, view.to_vec()).is_ok_and(|all| all == [view])
        && normal(layout, same) == [view]
}
