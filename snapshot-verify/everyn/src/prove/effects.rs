//! Interference: the effect of one process's step on the views of others (rules 3 and 4).
//!
//! Views of one state have one centre. So a step of the followed process that a view shows may be
//! made, by that process, in any state with a view of the same centre; its changes in the centre
//! apply to all of these. The centre calls the actor "any other": the view itself shows a name that
//! changes from one other to another.

use std::rc::Rc;

use snapshot_language::program::SharedId;

use super::search::Search;
use super::store::Origin;
use super::{Actor, End};
use crate::links::{broken, maybe_broken};
use crate::model::{Model, ROUND, Slot, Unsupported, at};
use crate::run::{Branch, Run, pc};
use crate::shape::{BASE, DEAD, FRESH, I, J, Mode, OLD, OTHER, Scalar, T, UNKNOWN};
use crate::view::{are_too_many, centre, definite, is_definite, too_many_ways, versions};

/// Effect of one process's step on the views of others with the same centre.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub(super) struct Effect {
    /// Process that makes the step: i, j, or another one.
    pub(super) actor: u8,
    /// Bytes that name the actor, so not t.
    pub(super) named: Vec<usize>,
    /// Bytes with new values; new versions are numbered from `fresh`.
    pub(super) sets: Vec<(usize, u8)>,
    /// First number of a new version.
    pub(super) fresh: u8,
    /// Bytes that now name another process, which may be t.
    pub(super) others: Vec<usize>,
    /// Tokens that become old.
    pub(super) tokens: Vec<usize>,
    /// Bytes that become unknown.
    pub(super) hidden: Vec<usize>,
    /// Cells of t that may have been written, as cells of another process.
    pub(super) hit: Vec<usize>,
    /// True if a round began.
    pub(super) begins_round: bool,
    /// Tokens that become the round's.
    pub(super) of_round: Vec<usize>,
    /// Cells that were written, so that links to them broke.
    pub(super) broken: Vec<(SharedId, usize)>,
    /// Links to cells that may have been written.
    pub(super) hit_links: Vec<usize>,
    /// True if new versions are among the new values.
    pub(super) is_numbered: bool,
    /// True if the ghost scan of i or j ended.
    pub(super) ends: bool,
    /// Centres of the actor's views after the step.
    pub(super) centres: Vec<u32>,
}

/// Reports that views of one state have different centres after a step; unreachable in tests.
pub(super) fn disagree(model: &Model, place: u32) -> Unsupported {
    debug_assert!(false, "the views do not agree behind {:?}", model.code[place as usize]);
    let construct = "a step after which not all views agree";
    Unsupported { span: model.code[place as usize].span, construct }
}

impl Search<'_> {
    /// Records the interference of a completed step.
    pub(super) fn affect(
        &mut self,
        kind: usize,
        [before, after]: [&[u8]; 2],
        old: &[u8],
        branch: &Branch,
        home: u32,
    ) -> Result<(), End> {
        let centres = std::mem::take(&mut self.reached);
        let model = self.model;
        let crowd = &self.crowds[kind];
        let actor = crowd.tracked;
        let new = centre(model, crowd, after);
        let fresh = versions(model, before);
        let is_own = |at: usize| {
            // i and j change their location only if their ghost scan has ended.
            model.slots[at].owner.is_none()
                || model.slots[at].link.is_some()
                || (actor != T
                    && model.slots[at].owner == Some(actor)
                    && model.slots[at].frame.is_none()
                    && at - model.blocks[usize::from(actor)] >= at::END)
        };
        let mut sets = Vec::new();
        for at in 0..old.len() {
            // A name of the actor is "any other" in the centre: so the view shows the change.
            let changes =
                old[at] != new[at] || (before[at] != after[at] && !model.is_outside(after, at));
            if changes && is_own(at) {
                let is_version =
                    model.slots[at].leaf.is_some_and(|leaf| leaf.scalar == Scalar::Version);
                let in_centre = old.iter().zip(&model.slots).any(|(byte, slot)| {
                    slot.leaf.is_some_and(|leaf| leaf.scalar == Scalar::Version) && *byte == new[at]
                });
                if is_version && new[at] > BASE && new[at] < BASE + fresh && !in_centre {
                    let here = pc(before, model.blocks[usize::from(actor)]);
                    return Err(End::Unsupported(Unsupported {
                        span: model.code[here].span,
                        construct: "a version that was read before and is stored again",
                    }));
                }
                sets.push((at, new[at]));
            }
        }
        let block = model.blocks[usize::from(actor)];
        let ends = actor != T
            && before[block + at::GHOST] != 0
            && after[block + at::GHOST] == 0
            && pc(old, block) != pc(&new, block);
        let mut others: Vec<usize> = branch.others.clone();
        others.retain(|at| !model.is_outside(after, *at) && after[*at] == BASE + OTHER);
        let changes = !sets.is_empty()
            || ends
            || !others.is_empty()
            || !branch.tokens.is_empty()
            || !branch.hidden.is_empty()
            || !branch.broken.is_empty()
            || branch.begins_round
            || !branch.of_round.is_empty()
            || !branch.elsewhere.is_empty();
        let is_numbered = |(at, byte): &(usize, u8)| {
            let is_version =
                model.slots[*at].leaf.is_some_and(|leaf| leaf.scalar == Scalar::Version);
            is_version && *byte >= BASE + fresh
        };
        if !changes {
            return Ok(());
        }
        let named = (0..old.len()).filter(|at| {
            let slot = &model.slots[*at];
            (actor == T || slot.names)
                && before[*at] == BASE + actor
                && old[*at] != DEAD
                && slot.leaf.is_some_and(|leaf| leaf.scalar == Scalar::Member)
        });
        let is_numbered = sets.iter().any(is_numbered);
        let effect = Effect {
            actor,
            named: named.collect(),
            sets,
            fresh: if is_numbered { fresh } else { 0 },
            others,
            tokens: branch.tokens.clone(),
            hidden: branch.hidden.clone(),
            hit: self.hit(&branch.elsewhere),
            begins_round: branch.begins_round,
            of_round: branch.of_round.clone(),
            broken: self.seen_broken(&branch.broken),
            hit_links: self.hit_links(&branch.elsewhere),
            is_numbered,
            ends,
            centres,
        };
        let effect = Rc::new(effect);
        if !self.known_effects.insert((home, Rc::clone(&effect))) {
            return Ok(());
        }
        self.bytes += 300;
        let place = pc(before, block) as u32;
        self.at_centres[home as usize].effects.push((Rc::clone(&effect), place));
        for position in 0..self.at_centres[home as usize].views.len() {
            let view = self.at_centres[home as usize].views[position];
            self.apply(view, &effect, place)?;
        }
        Ok(())
    }

    /// Applies the interference of another process's step, from a location, to a view.
    pub(super) fn apply(&mut self, id: u32, effect: &Effect, place: u32) -> Result<(), End> {
        self.look_sometimes()?;
        let model = self.model;
        let kind = self.views.kind(id);
        if effect.actor != T && effect.actor == self.crowds[kind].tracked {
            // The process makes its own steps itself.
            return Ok(());
        }
        let mut state = std::mem::take(&mut self.scratch);
        self.views.read(id, &mut state);
        let followed = self.crowds[kind].tracked;
        let is_named = |at: &usize| {
            state[*at] == BASE + T || (model.slots[*at].names && state[*at] == BASE + followed)
        };
        if !self.sabotage.two_owners && effect.named.iter().any(is_named) {
            self.scratch = state;
            return Ok(());
        }
        let has_tracked = self.crowds[kind].members.contains(&T);
        let newest = if effect.is_numbered { versions(model, &state) } else { 0 };
        // New values hold after the step, whichever links broke within it.
        self.break_links(&mut state, effect, kind);
        for &(at, byte) in &effect.sets {
            let is_version =
                model.slots[at].leaf.is_some_and(|leaf| leaf.scalar == Scalar::Version);
            state[at] = match is_version && byte >= BASE + effect.fresh {
                true => byte - effect.fresh + newest,
                false => byte,
            };
        }
        for &at in &effect.tokens {
            state[at] = OLD;
        }
        for &at in effect.hit.iter().chain(&effect.hidden).filter(|at| self.is_there(kind, **at)) {
            let is_token = model.obligation.mode == Mode::Nested
                && model.slots[at].leaf.is_some_and(|leaf| leaf.scalar == Scalar::View);
            state[at] = if is_token { OLD } else { UNKNOWN };
        }
        if model.obligation.mode == Mode::Nested {
            if effect.begins_round {
                let is_within = state[model.blocks[usize::from(T)] + at::GHOST] != 0;
                state[ROUND] = if is_within { FRESH } else { OLD };
            }
            for &at in &effect.of_round {
                state[at] = state[ROUND];
            }
        }
        let actor = match effect.actor {
            I => Actor::I,
            J => Actor::J,
            _ => Actor::Another,
        };
        let origin = Origin { from: id, actor, place };
        self.reached.clear();
        if effect.others.is_empty() && !effect.ends && is_definite(model, &state) {
            if !self.model.lost.is_empty() {
                self.add_all(kind, state, origin)?;
                return self.agree(effect, place);
            }
            let added = self.add(kind, &mut state, origin);
            self.scratch = state;
            added?;
            return self.agree(effect, place);
        }
        let crowd = self.crowds[kind].clone();
        let mut states = vec![state];
        if has_tracked {
            // Another process may be t.
            for &at in &effect.others {
                let mut also = states.clone();
                for state in &mut states {
                    state[at] = BASE + OTHER;
                }
                for state in &mut also {
                    state[at] = BASE + T;
                }
                states.extend(also);
                if are_too_many(states.len(), states[0].len()) {
                    return Err(too_many_ways(model, place as usize).into());
                }
            }
        }
        if effect.ends {
            let run =
                Run { model, crowd: &crowd, me: effect.actor, fresh: 0, deadline: self.deadline };
            let ended: Result<Vec<_>, _> = states.iter().map(|state| run.exit(state)).collect();
            states = ended?.concat();
        }
        for state in states {
            for state in definite(model, &crowd, state)? {
                self.add_all(kind, state, origin)?;
            }
        }
        self.agree(effect, place)
    }

    /// Checks that the centres of others' views after a step are among the actor's. Otherwise
    /// others do not see this program's steps correctly.
    fn agree(&self, effect: &Effect, place: u32) -> Result<(), End> {
        if effect.centres.iter().all(|centre| self.reached.contains(centre)) {
            return Ok(());
        }
        Err(End::Unsupported(disagree(self.model, place)))
    }

    /// Returns true if a byte with t among its indices has a meaning in views of a kind: for
    /// nesting, private tokens have one even without t.
    fn is_there(&self, kind: usize, at: usize) -> bool {
        let slot = &self.model.slots[at];
        let members = &self.crowds[kind].members;
        let is_owned = slot.owner.is_none_or(|owner| members.contains(&owner));
        let is_of_tracked = slot.cell.as_ref().is_some_and(|(_, path)| path.contains(&T));
        is_owned && (members.contains(&T) || !(slot.within_tracked || is_of_tracked))
    }

    /// Breaks the links that the centre does not show.
    fn break_links(&self, state: &mut [u8], effect: &Effect, kind: usize) {
        if self.sabotage.lasting_links {
            return;
        }
        let model = self.model;
        for &(variable, number) in &effect.broken {
            for &owner in &self.crowds[kind].members {
                if let Some(at) = model.links_of(owner, variable).nth(number) {
                    state[at] = broken(state[at]);
                }
            }
        }
        for &at in &effect.hit_links {
            if model.is_outside(state, at) {
                state[at] = maybe_broken(state[at]);
            }
        }
    }

    /// Returns the written cells that are the same cells in views of others: not the actor's.
    fn seen_broken(&self, cells: &[(SharedId, usize)]) -> Vec<(SharedId, usize)> {
        let is_seen = |(variable, number): &&(SharedId, usize)| {
            let at = self.model.links_of(I, *variable).nth(*number);
            let link = at.and_then(|at| self.model.slots[at].link.as_ref());
            link.is_some_and(|(_, path)| !path.contains(&T))
        };
        cells.iter().filter(is_seen).copied().collect()
    }

    /// Returns the links to cells that may be among the written cells of processes that the actor
    /// does not show.
    fn hit_links(&self, elsewhere: &[(SharedId, Vec<Option<u8>>)]) -> Vec<usize> {
        let slots = self.model.slots.iter().enumerate();
        let is_hit = |slot: &Slot| {
            elsewhere.iter().any(|(variable, indices)| {
                // Any other process may be t; the actor is not.
                let is_own = indices.contains(&Some(T));
                let seen: Vec<Option<u8>> = indices
                    .iter()
                    .map(|index| index.map(|place| if place == OTHER { T } else { place }))
                    .collect();
                !is_own && slot.kept && slot.links_to(*variable, &seen)
            })
        };
        slots.filter(|(_, slot)| is_hit(slot)).map(|(at, _)| at).collect()
    }

    /// Returns the cells of t that may be among the written cells of processes that the actor does
    /// not show.
    fn hit(&self, elsewhere: &[(SharedId, Vec<Option<u8>>)]) -> Vec<usize> {
        let is_hit = |(variable, indices): &(SharedId, Vec<Option<u8>>), slot: &Slot| {
            let Some((of, path)) = &slot.cell else { return false };
            of == variable
                && slot.kept
                && path.contains(&T)
                && indices.iter().zip(path).all(|(index, place)| match index {
                    None => true,
                    Some(OTHER) => *place == T,
                    // The actor itself is neither t, nor i, nor j.
                    Some(T) => false,
                    Some(index) => index == place,
                })
        };
        let slots = self.model.slots.iter().enumerate();
        let hit = slots.filter(|(_, slot)| elsewhere.iter().any(|one| is_hit(one, slot)));
        hit.map(|(at, _)| at).collect()
    }
}
