//! Memoised steps: made once for all views that agree on the bytes that the step depends on.
//!
//! Invariant: a step of one process neither reads nor changes the location of another, nor its
//! private variables and locals. It does see versions, because a new version differs from all of
//! them; and tokens of views, which grow old everywhere. So a step is made in a view without the
//! other bytes, and its changes apply to all views that include this one.

use std::ops::Range;
use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::store::used;
use crate::model::{Model, Outside, at};
use crate::run::Branch;
use crate::shape::{DEAD, I, J, Mode, Scalar, T};

/// An outcome of a step.
pub(super) struct Way {
    /// Bytes that change.
    changes: Box<[(u32, u8)]>,
    /// Rest of the outcome, without the state.
    pub(super) left: Branch,
    /// True if it is within a ghost scan.
    pub(super) within: bool,
    /// True if it does not interfere with other views.
    pub(super) is_silent: bool,
}

/// Memoised steps.
pub(super) struct Recall {
    /// Per process, the bytes that its steps neither read nor change.
    apart: [Vec<Range<usize>>; 3],
    /// Per process, all other bytes that may change.
    seen: [Vec<usize>; 3],
    /// Outcomes, by process, kind, and seen bytes.
    known: FxHashMap<Box<[u8]>, Rc<[Way]>>,
    /// Buffer for lookup keys.
    scratch: Vec<u8>,
}

impl Recall {
    pub(super) fn new(model: &Model) -> Self {
        let all = |me: u8, apart: bool| {
            let is = |at: &usize| is_apart(model, me, *at) == apart;
            used(model).into_iter().filter(is).collect::<Vec<usize>>()
        };
        Self {
            apart: [I, J, T].map(|me| ranges(&all(me, true))),
            seen: [I, J, T].map(|me| all(me, false)),
            known: FxHashMap::default(),
            scratch: Vec::new(),
        }
    }

    /// Returns the outcomes of a step of a process in a view, if they are known.
    pub(super) fn get(&mut self, kind: usize, me: u8, view: &[u8]) -> Option<Rc<[Way]>> {
        self.scratch.clear();
        self.scratch.extend([me, kind as u8]);
        self.scratch.extend(self.seen[usize::from(me)].iter().map(|at| view[*at]));
        self.known.get(self.scratch.as_slice()).cloned()
    }

    /// Returns the bytes of the view that the process sees.
    pub(super) fn seen(&self, me: u8, view: &[u8]) -> Vec<u8> {
        let mut seen = view.to_vec();
        self.apart[usize::from(me)].iter().for_each(|range| seen[range.clone()].fill(DEAD));
        seen
    }

    /// Returns the outcomes of a step that was made in the seen view.
    pub(super) fn ways(
        &self,
        model: &Model,
        me: u8,
        view: &[u8],
        made: Vec<(Branch, bool)>,
    ) -> Rc<[Way]> {
        let ways: Rc<[Way]> =
            made.into_iter().map(|(branch, within)| way(model, me, view, branch, within)).collect();
        debug_assert!(ways.iter().flat_map(|way| &way.changes).all(|(at, _)| {
            !self.apart[usize::from(me)].iter().any(|range| range.contains(&(*at as usize)))
        }));
        ways
    }

    /// Stores the outcomes of the step last looked up; returns their size in bytes.
    pub(super) fn insert(&mut self, ways: Rc<[Way]>) -> usize {
        let bytes = self.scratch.len() + 96 + ways.len() * size_of::<Way>();
        self.known.insert(self.scratch.as_slice().into(), ways);
        bytes
    }
}

impl Way {
    pub(super) fn make(&self, state: &mut [u8]) {
        self.changes.iter().for_each(|(at, byte)| state[*at as usize] = *byte);
    }
}

fn way(model: &Model, me: u8, seen: &[u8], mut branch: Branch, within: bool) -> Way {
    let state = std::mem::take(&mut branch.state);
    let bytes = seen.iter().zip(&state).enumerate();
    let changes: Box<[(u32, u8)]> = bytes
        .filter(|(_, (before, after))| before != after)
        .map(|(at, (_, after))| (at as u32, *after))
        .collect();
    let has_notes = branch != Branch { failure: branch.failure, ..Branch::new(Vec::new()) };
    let is_silent = |(at, _): &(u32, u8)| is_own_place(model, me, *at as usize);
    let is_silent = !has_notes && changes.iter().all(is_silent);
    Way { changes, left: branch, within, is_silent }
}

/// Returns true for a byte invisible to others: it is in no centre, or it is the process's
/// location, or a local of it, which no view shows to others in a ghost scan, and all views show
/// outside of one.
fn is_own_place(model: &Model, me: u8, at: usize) -> bool {
    let slot = &model.slots[at];
    let head = at.checked_sub(model.blocks[usize::from(me)]).filter(|at| *at < at::END);
    let is_place = slot.frame.is_some() || head.is_some_and(|offset| offset != at::GHOST);
    model.outside[at] == Outside::Always || slot.owner == Some(me) && is_place
}

/// Returns true if the steps of a process neither read nor change a byte.
fn is_apart(model: &Model, me: u8, at: usize) -> bool {
    let slot = &model.slots[at];
    let Some(owner) = slot.owner.filter(|owner| *owner != me) else { return false };
    let scalar = slot.leaf.map(|leaf| leaf.scalar);
    let is_token = scalar == Some(Scalar::View) && model.obligation.mode == Mode::Nested;
    match at - model.blocks[usize::from(owner)] {
        _ if scalar == Some(Scalar::Version) || is_token || slot.link.is_some() => false,
        at::GHOST | at::BEGUN | at::BITS | at::TOKEN => false,
        _ => true,
    }
}

/// Returns ascending numbers as ranges without gaps.
fn ranges(numbers: &[usize]) -> Vec<Range<usize>> {
    let mut ranges: Vec<Range<usize>> = Vec::new();
    for &number in numbers {
        match ranges.last_mut() {
            Some(last) if last.end == number => last.end += 1,
            _ => ranges.push(number..number + 1),
        }
    }
    ranges
}
