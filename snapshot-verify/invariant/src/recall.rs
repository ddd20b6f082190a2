//! Memoised steps: made once for all views that agree on the bytes that the step depends on.
//!
//! A step of one process reads and changes the specification, shared cells, its own block, and of
//! the blocks of others the known state of their ghost scans. It neither reads nor changes the
//! location and locals of another process: those of i and j are definite where they are in the
//! centre, and stay so. Versions are an exception, since a new version differs from all of them; so
//! are tokens, which grow old everywhere. So [`Recall::steps`] makes a step in a view without the
//! other bytes, and its changes apply to all such views. It is the same as
//! [`steps`](crate::views::steps), which the tests compare it with.
//!
//! A list may stand for several kinds, which differ in the place of t among i and j. Then the steps
//! of all of them are made, in the order of each.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use crate::byte::{ANY, I, J, T};
use crate::flips::load;
use crate::interference::effect;
use crate::layout::{Layout, Scalar, at, op};
use crate::step::{Failure, InjectedFault, Kind, Outcome, Run};
use crate::views::{Steps, listed};

/// An outcome of a step.
#[derive(Debug, PartialEq)]
struct Way {
    /// Bytes that change.
    changes: Vec<(u32, u8)>,
    /// Rest of the outcome.
    outcome: Outcome,
    /// True if the step interferes with other views.
    is_seen: bool,
}

/// Memoised steps of the views of one list.
pub struct Recall {
    /// Kinds that the list stands for: the same members, with the same followed one.
    kinds: Rc<[Kind]>,
    planted: InjectedFault,
    /// Per process, the bytes that its steps depend on, among those that may be known.
    seen: [Vec<usize>; 3],
    /// Outcomes, by process and seen bytes.
    known: FxHashMap<Box<[u8]>, Rc<[Way]>>,
    /// Buffer for lookup keys.
    scratch: Vec<u8>,
    /// Approximate memory use in bytes.
    pub bytes: usize,
}

impl Recall {
    pub fn new(layout: &Layout<'_>, kinds: &[Kind], planted: InjectedFault) -> Self {
        let is_kept = |at: &usize| layout.slots[*at].kept;
        let seen = [I, J, T].map(|me| {
            let all = (0..layout.slots.len()).filter(is_kept);
            all.filter(|at| !is_apart(layout, me, *at)).collect()
        });
        Self {
            kinds: kinds.into(),
            planted,
            seen,
            known: FxHashMap::default(),
            scratch: Vec::new(),
            bytes: 0,
        }
    }

    /// Returns all steps that a view shows, in the layout of the memo.
    ///
    /// # Errors
    /// If one of them goes wrong.
    pub fn steps(&mut self, layout: &Layout<'_>, view: &[u8]) -> Result<Steps, Failure> {
        let mut steps = Steps::default();
        let loaded = load(layout, view);
        let kinds = Rc::clone(&self.kinds);
        let Some(kind) = kinds.first() else { return Ok(steps) };
        for &me in &kind.members {
            for way in self.ways(layout, me, &loaded).iter() {
                if let Some(failure) = way.outcome.failure {
                    if self.planted.no_failures {
                        continue;
                    }
                    return Err(failure);
                }
                let mut state = loaded.clone();
                way.changes.iter().for_each(|(at, byte)| state[*at as usize] = *byte);
                if way.is_seen {
                    let writes = &way.outcome.writes;
                    steps.effects.extend(effect(layout, kind, &loaded, &state, writes)?);
                }
                listed(layout, kind, self.planted, state, &mut steps.views)?;
            }
        }
        Ok(steps)
    }

    fn ways(&mut self, layout: &Layout<'_>, me: u8, view: &[u8]) -> Rc<[Way]> {
        self.scratch.clear();
        self.scratch.push(me);
        self.scratch.extend(self.seen[usize::from(me)].iter().map(|at| view[*at]));
        if let Some(known) = self.known.get(self.scratch.as_slice()) {
            return Rc::clone(known);
        }
        let mut seen = vec![ANY; view.len()];
        self.seen[usize::from(me)].iter().for_each(|at| seen[*at] = view[*at]);
        let mut ways: Vec<Way> = Vec::new();
        for kind in &*self.kinds {
            let run = Run { layout, kind, me, planted: self.planted };
            for outcome in run.steps(&seen) {
                let way = way(&run, &seen, outcome);
                if !ways.contains(&way) {
                    ways.push(way);
                }
            }
        }
        let ways: Rc<[Way]> = ways.into();
        self.bytes += self.scratch.len() + 64 + ways.len() * (size_of::<Way>() + 32);
        self.known.insert(self.scratch.as_slice().into(), Rc::clone(&ways));
        ways
    }
}

fn way(run: &Run<'_, '_>, before: &[u8], mut outcome: Outcome) -> Way {
    // A scan may begin, and end, with that step.
    let is_inside = run.is_inside(before) || outcome.operation == op::SCANS;
    let is_mine = run.me == run.kind.followed && (run.me == T || is_inside);
    // Interference that fails here is computed again in the whole view, where it fails too.
    let is_nothing = || {
        let effect = effect(run.layout, run.kind, before, &outcome.state, &outcome.writes);
        matches!(effect, Ok(None))
    };
    let is_seen = outcome.failure.is_none() && is_mine && !is_nothing();
    let state = std::mem::take(&mut outcome.state);
    let bytes = before.iter().zip(&state).zip(0..);
    let changes = bytes.filter(|((before, after), _)| before != after);
    let changes = changes.map(|((_, after), at)| (at, *after)).collect();
    Way { changes, outcome, is_seen }
}

/// Returns true if the steps of a process neither read nor change a byte.
fn is_apart(layout: &Layout<'_>, me: u8, at: usize) -> bool {
    let slot = &layout.slots[at];
    let Some(owner) = slot.owner.filter(|owner| *owner != me) else { return false };
    let scalar = slot.leaf.map(|leaf| leaf.scalar);
    let is_token = scalar == Some(Scalar::View) && layout.tokens();
    // A tick changes all counters.
    let is_seen = is_token || matches!(scalar, Some(Scalar::Version | Scalar::Counter));
    let head = at - layout.blocks[usize::from(owner)];
    !is_seen && (slot.frame.is_some() || matches!(head, at::OP | at::INVOKED | at::SWITCHED))
}
