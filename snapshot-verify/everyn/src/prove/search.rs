//! The fixpoint: every view is expanded once, with the effects of its centre; new effects are
//! applied to all known views.

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};
use snapshot_language::deadline::Deadline;

use super::effects::{Effect, disagree};
use super::recall::{Recall, Way};
use super::store::{Origin, Views};
use super::{Actor, End, Event, Limits, MEMORY, Sabotage, VIEWS, budget_of, crowds};
use crate::links::BROKEN;
use crate::model::{Model, Unsupported, at};
use crate::run::{Branch, Crowd, Failure, Run, pc};
use crate::shape::{DEAD, I, J, Mode, OLD, Scalar, T};
use crate::view::{canonical, centre, definite, hide, versions};

/// Number of made or known views between two checks of the deadline: each takes a microsecond to a
/// tenth of a millisecond.
const OFTEN: u32 = 64;

#[derive(Default)]
pub(super) struct AtCentre {
    pub(super) views: Vec<u32>,
    /// Interference at the centre, each with the location of its process.
    pub(super) effects: Vec<(Rc<Effect>, u32)>,
    /// Successors of steps of i and of j that each view makes by itself.
    outside: [Outside; 2],
}

/// Centres after a step of i or j outside of its ghost scans, from one centre.
#[derive(Default)]
struct Outside {
    /// In views that follow i, j and t.
    reached: [FxHashSet<u32>; 3],
    /// Location of the process.
    place: u32,
}

/// Records of steps, for tests.
#[derive(Default)]
pub(super) struct Record {
    pub(super) steps: Vec<FxHashSet<(Actor, u32)>>,
    pub(super) failures: Vec<Vec<(Actor, Failure)>>,
}

pub(super) struct Search<'m> {
    pub(super) model: &'m Model,
    pub(super) crowds: Vec<Crowd>,
    pub(super) views: Views,
    pub(super) centre_ids: FxHashMap<Box<[u8]>, u32>,
    pub(super) at_centres: Vec<AtCentre>,
    pub(super) known_effects: FxHashSet<(u32, Rc<Effect>)>,
    pub(super) recall: Recall,
    pub(super) bytes: usize,
    /// Number of views of each kind.
    pub(super) counts: Vec<usize>,
    /// Next view to expand; `None` before the views of the initial state are known.
    next: Option<u32>,
    pub(super) limits: Limits<'m>,
    pub(super) deadline: Deadline<'m>,
    /// Number of views made, or found known, since the last check of the deadline.
    pub(super) made: u32,
    pub(super) sabotage: Sabotage,
    pub(super) record: Option<Record>,
    /// True if operations are shown late.
    pub(super) delays: bool,
    /// Buffer for lookups of views.
    pub(super) scratch: Vec<u8>,
    /// Centres of the successors of the present step.
    pub(super) reached: Vec<u32>,
}

impl<'m> Search<'m> {
    pub(super) fn new(model: &'m Model, sabotage: Sabotage) -> Self {
        let crowds = crowds(model);
        Self {
            model,
            counts: vec![0; crowds.len()],
            crowds,
            next: None,
            views: Views::new(model),
            centre_ids: FxHashMap::default(),
            at_centres: Vec::new(),
            known_effects: FxHashSet::default(),
            recall: Recall::new(model),
            bytes: 0,
            limits: Limits::default(),
            deadline: Deadline::NEVER,
            made: 0,
            sabotage,
            record: None,
            delays: model.delays,
            scratch: Vec::new(),
            reached: Vec::new(),
        }
    }

    pub(super) const fn limit(&mut self, limits: Limits<'m>) {
        self.limits = limits;
        self.deadline = limits.deadline();
    }
}

/// Makes a step of a process; returns the outcomes, each with true if it is within a ghost scan.
fn made(run: &Run<'_>, view: &[u8], delays: bool) -> Result<Vec<(Branch, bool)>, Unsupported> {
    let model = run.model;
    let is_followed = run.me == run.crowd.tracked;
    if pc(view, model.blocks[usize::from(run.me)]) != 0 {
        let is_ghost = run.in_ghost(view);
        return Ok(run.step(view)?.into_iter().map(|branch| (branch, is_ghost)).collect());
    }
    let scan_is_ghost = model.is_ghost[model.scan.0 as usize];
    let mut ways: Vec<(Branch, bool)> = match delays {
        true => run.from_idle(view, is_followed)?,
        false => run.begin(view, false)?.into_iter().map(|branch| (branch, false)).collect(),
    };
    let is_begun_there = delays && !scan_is_ghost;
    if !is_begun_there && (is_followed || !scan_is_ghost) {
        let begun = run.begin(view, true)?;
        ways.extend(begun.into_iter().map(|branch| (branch, scan_is_ghost)));
    }
    Ok(ways)
}

impl Search<'_> {
    /// Closes the set, or continues to. If the number of views stops it, each view is expanded or
    /// waits: with larger limits it can continue.
    pub(super) fn close(&mut self) -> Result<(), End> {
        if self.next.is_none() {
            for kind in 0..self.crowds.len() {
                for mut state in self.initial(kind)? {
                    let origin = Origin { from: u32::MAX, actor: Actor::Tracked, place: 0 };
                    self.add(kind, &mut state, origin)?;
                }
            }
        }
        let mut next = self.next.unwrap_or_default();
        while (next as usize) < self.views.len() {
            self.next = Some(next);
            self.look()?;
            if self.views.len() > self.limits.views {
                return Err(End::Budget(VIEWS));
            }
            self.expand(next)?;
            next += 1;
        }
        self.agree_outside()
    }

    /// Checks that steps of i and j outside of their ghost scans depend only on the centre and t's
    /// knowledge of itself: all views must reach the same centres.
    fn agree_outside(&self) -> Result<(), End> {
        for (number, outside) in self.at_centres.iter().flat_map(|at| &at.outside).enumerate() {
            if number % OFTEN as usize == 0 {
                self.look()?;
            }
            let [of_i, of_j, of_t] = &outside.reached;
            let differ = |one: &FxHashSet<u32>, another: &FxHashSet<u32>| {
                !one.is_empty() && !another.is_empty() && !one.is_subset(another)
            };
            if differ(of_i, of_j) || differ(of_j, of_i) || differ(of_t, of_i) || differ(of_t, of_j)
            {
                return Err(End::Unsupported(disagree(self.model, outside.place)));
            }
        }
        Ok(())
    }

    /// Checks the deadline and the interrupt.
    fn look(&self) -> Result<(), End> {
        self.deadline.check().map_err(|stopped| End::Budget(budget_of(stopped)))
    }

    /// As `look`, once in a while.
    pub(super) fn look_sometimes(&mut self) -> Result<(), End> {
        self.made = (self.made + 1) % OFTEN;
        if self.made == 0 { self.look() } else { Ok(()) }
    }

    pub(super) fn initial(&self, kind: usize) -> Result<Vec<Vec<u8>>, Unsupported> {
        let model = self.model;
        let crowd = &self.crowds[kind];
        let mut state = vec![DEAD; model.slots.len()];
        state[crate::model::SPECIFICATION] = 0;
        let is_nested = model.obligation.mode == Mode::Nested;
        state[crate::model::ROUND] = if is_nested { OLD } else { 0 };
        let present = |at: usize| {
            let slot = &model.slots[at];
            let path = slot.cell.as_ref().map_or(&[][..], |(_, path)| path);
            path.iter().all(|place| crowd.members.contains(place))
        };
        for (id, (base, initial)) in model.initial.iter().enumerate() {
            let bytes = self.constant(&mut state, I, initial);
            let size = model.shared[id].size;
            let end = model.shared.get(id + 1).map_or(model.blocks[0], |next| next.base);
            for begin in (*base..end).step_by(size.max(1)) {
                for (offset, &byte) in bytes.iter().enumerate() {
                    let at = begin + offset;
                    let slot = &model.slots[at];
                    if slot.kept && present(at) {
                        let is_token = model.obligation.mode == Mode::Nested
                            && slot.leaf.is_some_and(|leaf| leaf.scalar == Scalar::View);
                        state[at] = if is_token { OLD } else { byte };
                        if slot.names || slot.row.is_some() {
                            // It is unknown whether t is the process named at first.
                            state[at] = crate::shape::UNKNOWN;
                        }
                    }
                }
            }
        }
        for owner in crowd.members.clone() {
            for (variable, links) in model.all_links(owner) {
                for at in links {
                    let is_there = model.slots[at].is_link_among(&crowd.members);
                    let is_live = model.code[0].live_links[variable.0 as usize];
                    if model.slots[at].kept && is_there && is_live {
                        // Before the first LL no process is linked.
                        state[at] = BROKEN;
                    }
                }
            }
            for (room, initial) in &model.private {
                let begin = model.blocks[usize::from(owner)] + room.base;
                let bytes = self.constant(&mut state, owner, initial);
                for (offset, &byte) in bytes.iter().enumerate() {
                    let slot = &model.slots[begin + offset];
                    if slot.kept && !slot.other {
                        let is_token = model.obligation.mode == Mode::Nested
                            && bytes.len() > 1
                            && slot.leaf.is_some_and(|leaf| leaf.scalar == Scalar::View);
                        state[begin + offset] = if is_token { OLD } else { byte };
                    }
                }
            }
        }
        definite(model, crowd, state)
    }

    pub(super) fn constant(
        &self,
        state: &mut [u8],
        me: u8,
        term: &crate::term::Term,
    ) -> crate::shape::Bytes {
        let mut scope = crate::evaluate::Scope {
            model: self.model,
            members: &[I, J, T],
            state,
            me,
            unknown: None,
            fresh: 1,
            lenient: true,
            trusting: true,
        };
        scope.bytes(term).unwrap_or_default()
    }

    /// Adds a view, with the effects of its centre.
    pub(super) fn add(&mut self, kind: usize, state: &mut [u8], origin: Origin) -> Result<(), End> {
        self.look_sometimes()?;
        for owner in [I, J] {
            if owner != self.crowds[kind].tracked {
                hide(self.model, state, owner);
            }
        }
        crate::view::drop_rows(self.model, state, self.crowds[kind].tracked);
        canonical(self.model, state);
        if !self.sabotage.no_flips {
            crate::flips::canonical(self.model, state);
        }
        if let Some(id) = self.views.find(kind, state) {
            self.reached.push(self.views.centres[id as usize]);
            self.note(origin, id);
            return Ok(());
        }
        self.bytes += self.views.size();
        if self.bytes > self.limits.bytes {
            return Err(End::Budget(MEMORY));
        }
        let centre = centre(self.model, &self.crowds[kind], state).into_boxed_slice();
        let count = self.centre_ids.len() as u32;
        let centre = *self.centre_ids.entry(centre).or_insert(count);
        if centre == count {
            self.at_centres.push(AtCentre::default());
        }
        self.reached.push(centre);
        let id = self.views.insert(centre, origin);
        self.counts[kind] += 1;
        if let Some(record) = &mut self.record {
            record.steps.push(FxHashSet::default());
            record.failures.push(Vec::new());
        }
        self.note(origin, id);
        Ok(())
    }

    /// Adds a view; of lost processes, with the locations at which they test their link again.
    pub(super) fn add_all(
        &mut self,
        kind: usize,
        state: Vec<u8>,
        origin: Origin,
    ) -> Result<(), End> {
        if self.model.lost.is_empty() {
            let mut state = state;
            return self.add(kind, &mut state, origin);
        }
        let crowd = self.crowds[kind].clone();
        let mut waiting = vec![state];
        let mut left: FxHashSet<Vec<u8>> = FxHashSet::default();
        while let Some(mut state) = waiting.pop() {
            let fresh = versions(self.model, &state);
            let (model, crowd) = (self.model, &crowd);
            let deadline = self.deadline;
            let runs = crowd.members.iter().map(|&me| Run { model, crowd, me, fresh, deadline });
            let lost = runs.into_iter().find(|run| run.ways_out(&state).is_some());
            match lost {
                // Some test it again at their location.
                Some(run) if left.insert(state.clone()) => waiting.extend(run.look_again(&state)?),
                _ => self.add(kind, &mut state, origin)?,
            }
        }
        Ok(())
    }

    pub(super) fn note(&mut self, origin: Origin, to: u32) {
        if let Some(record) = &mut self.record
            && let Some(steps) = record.steps.get_mut(origin.from as usize)
            && steps.insert((origin.actor, to))
        {
            self.bytes += 16;
        }
    }

    /// Returns the outcomes of a step of a process.
    fn ways(&mut self, kind: usize, me: u8, view: &[u8]) -> Result<Rc<[Way]>, Unsupported> {
        let crowd = &self.crowds[kind];
        let fresh = versions(self.model, view);
        let run = Run { model: self.model, crowd, me, fresh, deadline: self.deadline };
        if self.sabotage.no_recall {
            let ways = made(&run, view, self.delays)?;
            return Ok(self.recall.ways(self.model, me, view, ways));
        }
        if let Some(known) = self.recall.get(kind, me, view) {
            return Ok(known);
        }
        let seen = self.recall.seen(me, view);
        let ways = self.recall.ways(self.model, me, &seen, made(&run, &seen, self.delays)?);
        self.bytes += self.recall.insert(ways.clone());
        Ok(ways)
    }

    pub(super) fn expand(&mut self, id: u32) -> Result<(), End> {
        let model = self.model;
        let kind = self.views.kind(id);
        let crowd = self.crowds[kind].clone();
        let view = self.views.row(id);
        let home = self.views.centres[id as usize];
        let old = centre(model, &crowd, &view);
        for &me in &crowd.members {
            let block = model.blocks[usize::from(me)];
            let here = pc(&view, block);
            let is_followed = me == crowd.tracked;
            if here != 0 && !is_followed && view[block + at::GHOST] != 0 {
                // Only effects show the steps of a ghost scan that is not followed.
                continue;
            }
            let actor = match me {
                I => Actor::I,
                J => Actor::J,
                _ => Actor::Tracked,
            };
            for way in self.ways(kind, me, &view)?.iter() {
                if let (Some(failure), Some(record)) = (way.left.failure, &mut self.record) {
                    record.failures[id as usize].push((actor, failure));
                    continue;
                }
                if let Some(failure) = way.left.failure {
                    let span = (here != 0).then(|| model.code[here].span);
                    return Err(End::Fails(failure, id, actor, span));
                }
                let mut state = view.to_vec();
                way.make(&mut state);
                let origin = Origin { from: id, actor, place: here as u32 };
                let affects = is_followed && (me == T || way.within) && !way.is_silent;
                let after = affects.then(|| state.clone());
                self.reached.clear();
                self.add_all(kind, state, origin)?;
                // Only views that follow i or j know whether it is named.
                if me != T && !way.within && model.named.is_empty() {
                    let outside = &mut self.at_centres[home as usize].outside[usize::from(me)];
                    outside.place = here as u32;
                    let reached = &mut outside.reached[usize::from(crowd.tracked)];
                    let before = reached.len();
                    reached.extend(&self.reached);
                    self.bytes += (reached.len() - before) * 16;
                }
                if let Some(after) = after {
                    self.affect(kind, [&view, &after], &old, &way.left, home)?;
                }
            }
        }
        // Steps of others at this centre.
        self.at_centres[home as usize].views.push(id);
        for position in 0..self.at_centres[home as usize].effects.len() {
            let (effect, place) = self.at_centres[home as usize].effects[position].clone();
            self.apply(id, &effect, place)?;
        }
        Ok(())
    }

    pub(super) fn retrace(&self, mut at: u32) -> Vec<Event> {
        let mut events = Vec::new();
        loop {
            let origin = self.views.origins[at as usize];
            if origin.from == u32::MAX {
                events.reverse();
                return events;
            }
            let place = origin.place as usize;
            let span = (place != 0).then(|| self.model.code[place].span);
            events.push(Event { actor: origin.actor, span });
            at = origin.from;
        }
    }
}
