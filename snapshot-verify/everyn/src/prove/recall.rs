//! Steps are made once for all views that are alike in what they depend on.
//!
//! Invariant: a step of one process neither reads nor changes where another one stands, nor what
//! that one has to itself: its private variables and locals. It does see versions, for a new one
//! is none of them; and tokens of views, which grow old everywhere. So a step is made in a view
//! without the rest, and the same changes are what it does in all views that have it from there.

use std::ops::Range;
use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::store::used;
use crate::model::{Model, Outside, at};
use crate::run::Branch;
use crate::shape::{DEAD, I, J, Mode, Scalar, T};

/// A way in which a step may end.
pub(super) struct Way {
    /// The bytes that change.
    changes: Box<[(u32, u8)]>,
    /// What else is to be said of it, without the state.
    pub(super) left: Branch,
    /// Whether it is within a ghost scan.
    pub(super) within: bool,
    /// Whether it is nothing to others.
    pub(super) is_silent: bool,
}

/// The steps that were made.
pub(super) struct Recall {
    /// Per process, the bytes that its steps have nothing to do with.
    apart: [Vec<Range<usize>>; 3],
    /// Per process, all other bytes that may change.
    seen: [Vec<usize>; 3],
    /// By process, kind, and the bytes that are seen.
    known: FxHashMap<Box<[u8]>, Rc<[Way]>>,
    /// For a key that may turn out to be known.
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

    /// The ways of a step of a process in a view, if they are known.
    pub(super) fn get(&mut self, kind: usize, me: u8, view: &[u8]) -> Option<Rc<[Way]>> {
        self.scratch.clear();
        self.scratch.extend([me, kind as u8]);
        self.scratch.extend(self.seen[usize::from(me)].iter().map(|at| view[*at]));
        self.known.get(self.scratch.as_slice()).cloned()
    }

    /// The view that the process sees.
    pub(super) fn seen(&self, me: u8, view: &[u8]) -> Vec<u8> {
        let mut seen = view.to_vec();
        self.apart[usize::from(me)].iter().for_each(|range| seen[range.clone()].fill(DEAD));
        seen
    }

    /// The ways of a step that was made in a view as the process sees it.
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

    /// Notes the ways of the step that was asked for last; and how many bytes that takes.
    pub(super) fn insert(&mut self, ways: Rc<[Way]>) -> usize {
        let bytes = self.scratch.len() + 96 + ways.len() * size_of::<Way>();
        self.known.insert(self.scratch.as_slice().into(), ways);
        bytes
    }
}

impl Way {
    /// Makes the step.
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

/// Whether a byte says nothing to others: it is in no centre, or tells where the process stands, or
/// is a local of it, which in a ghost scan no view shows to others, and outside of one all do.
fn is_own_place(model: &Model, me: u8, at: usize) -> bool {
    let slot = &model.slots[at];
    let head = at.checked_sub(model.blocks[usize::from(me)]).filter(|at| *at < at::END);
    let is_place = slot.frame.is_some() || head.is_some_and(|offset| offset != at::GHOST);
    model.outside[at] == Outside::Always || slot.owner == Some(me) && is_place
}

/// Whether the steps of a process have nothing to do with a byte.
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

/// Numbers in ascending order, by ranges without gaps.
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
