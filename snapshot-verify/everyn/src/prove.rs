//! The least set of views that is closed under all steps: level-1 thread-modular.
//!
//! Kinds of views: of i or of j, following its ghost scans; and of any third process t,
//! for each place of t relative to i and j. A view changes
//!
//! 1. by a step of the process that it follows;
//! 2. by a step of i or j outside of its ghost scans, which the view shows in full;
//! 3. by a step of i or j within a ghost scan, which a view of kind i or j with the same
//!    centre shows;
//! 4. by a step of any other process e, which a view of e with the same centre shows. No
//!    process is both t and e: what names one of them in the centre names not the other.
//!
//! Steps of kinds 3 and 4 are seen only through what they change in the centre, and cells
//! of "any other" that may be those of t: their effects are kept per centre, and applied
//! to all views there.

use std::time::{Duration, Instant};

use rustc_hash::{FxHashMap, FxHashSet};
use snapshot_language::Span;
use snapshot_language::program::SharedId;

use super::model::{Model, Unsupported, at};
use super::run::{Branch, Crowd, Failure, Run, pc};
use super::shape::{BASE, DEAD, I, J, Mode, OLD, OTHER, Scalar, T, UNKNOWN};
use super::view::{canonical, centre, definite, hide, is_outside, versions};

/// A way to break the engine, for tests of the tests.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Sabotage {
    /// A join does not ask whether t and e are both named where only one can be.
    pub two_owners: bool,
}

/// What a proof may take.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Views at most.
    pub views: usize,
    /// Bytes at most, about.
    pub bytes: usize,
    /// When to stop.
    pub until: Option<Instant>,
}

/// What became of an attempt.
#[derive(Clone, Debug)]
pub enum Attempt {
    /// The obligation holds for every n.
    Holds,
    /// It could not be excluded that it fails.
    Fails(Failure, Vec<Event>),
    /// A construct is not modelled.
    Unsupported(Unsupported),
    /// It would take more than it may.
    Budget(&'static str),
}

/// A step on the way to a failure.
#[derive(Clone, Debug)]
pub struct Event {
    /// The process.
    pub who: Who,
    /// Where it stood; none: it was idle.
    pub span: Option<Span>,
}

/// A process of the crowd.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Who {
    /// The one that updates segment i.
    I,
    /// The one that updates segment j.
    J,
    /// The one that is followed.
    Tracked,
    /// Yet another one.
    Another,
}

/// The views of one kind.
#[derive(Clone, Debug)]
pub struct Kind {
    /// Which.
    pub crowd: Crowd,
    /// How many there are.
    pub views: usize,
}

/// An attempt, and how large it got.
#[derive(Clone, Debug)]
pub struct Finding {
    /// What became of it.
    pub attempt: Attempt,
    /// The kinds.
    pub kinds: Vec<Kind>,
    /// The number of different centres.
    pub centres: usize,
    /// How long it took.
    pub elapsed: Duration,
}

impl Finding {
    /// Whether the obligation holds for every n.
    pub const fn holds(&self) -> bool {
        matches!(self.attempt, Attempt::Holds)
    }

    /// The number of views.
    pub fn views(&self) -> usize {
        self.kinds.iter().map(|kind| kind.views).sum()
    }
}

/// What a step of one process is to the views of others with the same centre.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
struct Effect {
    /// The kind that it is of.
    kind: usize,
    /// Which process made it: i, j, or another one.
    actor: u8,
    /// Bytes that name the actor, so not t.
    named: Vec<usize>,
    /// Bytes that get a new value; versions that never were count from the first such.
    sets: Vec<(usize, u8)>,
    /// Numbers of versions from here on are of new ones.
    fresh: u8,
    /// Bytes that name another process now, which may be t.
    others: Vec<usize>,
    /// Tokens that are old now.
    tokens: Vec<usize>,
    /// Cells of other processes that were written.
    elsewhere: Vec<(SharedId, Vec<Option<u8>>)>,
    /// Whether the ghost scan of i or j ended.
    ends: bool,
}

/// Views, and how each was reached.
struct Views {
    ids: FxHashMap<Box<[u8]>, u32>,
    kinds: Vec<u8>,
    rows: Vec<Box<[u8]>>,
    centres: Vec<u32>,
    origins: Vec<Origin>,
}

#[derive(Clone, Copy)]
struct Origin {
    from: u32,
    who: Who,
    place: u32,
}

#[derive(Default)]
struct AtCentre {
    views: Vec<u32>,
    effects: Vec<(Effect, u32)>,
}

/// A closed set of views, or the attempt at one.
pub struct Proof {
    /// What became of it.
    pub finding: Finding,
    /// All views by kind, if they are wanted.
    pub views: Vec<Vec<Box<[u8]>>>,
    /// The kinds.
    pub crowds: Vec<Crowd>,
}

/// All views that are reached, and the steps between them: for tests against executions.
#[derive(Clone, Debug)]
pub struct Steps {
    /// The kinds.
    pub crowds: Vec<Crowd>,
    /// Per view, its kind.
    pub kinds: Vec<u8>,
    /// Per view, its bytes.
    pub rows: Vec<Box<[u8]>>,
    /// Per view, the steps from it to others: whose, and where to.
    pub steps: Vec<Vec<(Who, u32)>>,
    /// Per view, the steps that fail, whose, and why. They are not followed.
    pub failures: Vec<Vec<(Who, Failure)>>,
    /// The views of the initial states.
    pub initial: Vec<u32>,
}

/// What is noted of steps.
#[derive(Default)]
struct Record {
    steps: Vec<FxHashSet<(Who, u32)>>,
    failures: Vec<Vec<(Who, Failure)>>,
}

struct Search<'m> {
    model: &'m Model,
    crowds: Vec<Crowd>,
    views: Views,
    centre_ids: FxHashMap<Box<[u8]>, u32>,
    at_centres: Vec<AtCentre>,
    known_effects: FxHashMap<(u32, Effect), ()>,
    bytes: usize,
    limits: Limits,
    sabotage: Sabotage,
    record: Option<Record>,
}

enum End {
    Fails(Failure, u32, Who, Option<Span>),
    Unsupported(Unsupported),
    Budget(&'static str),
}

impl From<Unsupported> for End {
    fn from(unsupported: Unsupported) -> Self {
        Self::Unsupported(unsupported)
    }
}

/// The kinds of an obligation.
fn crowds(mode: Mode) -> Vec<Crowd> {
    let crowd = |members: &[u8], tracked| Crowd { members: members.to_vec(), tracked };
    match mode {
        Mode::Direct => vec![
            crowd(&[I, J], I),
            crowd(&[I, J], J),
            crowd(&[T, I, J], T),
            crowd(&[I, T, J], T),
            crowd(&[I, J, T], T),
        ],
        Mode::Nested => vec![crowd(&[I], I), crowd(&[T, I], T), crowd(&[I, T], T)],
    }
}

/// Tries to show an obligation.
pub fn prove(model: &Model, limits: Limits, sabotage: Sabotage) -> Proof {
    let began = Instant::now();
    let mut search = Search::new(model, limits, sabotage);
    let attempt = match search.close() {
        Ok(()) => Attempt::Holds,
        Err(End::Unsupported(unsupported)) => Attempt::Unsupported(unsupported),
        Err(End::Budget(which)) => Attempt::Budget(which),
        Err(End::Fails(failure, from, who, span)) => {
            let mut events = search.retrace(from);
            events.push(Event { who, span });
            Attempt::Fails(failure, events)
        }
    };
    let mut by_kind: Vec<Vec<Box<[u8]>>> = vec![Vec::new(); search.crowds.len()];
    for (kind, row) in search.views.kinds.iter().zip(search.views.rows) {
        by_kind[usize::from(*kind)].push(row);
    }
    let kinds = search.crowds.iter().zip(&by_kind);
    let kinds = kinds.map(|(crowd, views)| Kind { crowd: crowd.clone(), views: views.len() });
    let finding = Finding {
        attempt,
        kinds: kinds.collect(),
        centres: search.at_centres.len(),
        elapsed: began.elapsed(),
    };
    Proof { finding, views: by_kind, crowds: search.crowds }
}

/// All views and steps; those that fail are noted, and not followed.
///
/// # Errors
/// If a construct is not modelled, or it takes more than it may.
pub fn steps(model: &Model, limits: Limits, sabotage: Sabotage) -> Result<Steps, Attempt> {
    let mut search = Search::new(model, limits, sabotage);
    search.record = Some(Record::default());
    match search.close() {
        Ok(()) | Err(End::Fails(..)) => {}
        Err(End::Unsupported(unsupported)) => return Err(Attempt::Unsupported(unsupported)),
        Err(End::Budget(which)) => return Err(Attempt::Budget(which)),
    }
    let record = search.record.unwrap_or_default();
    let origins = search.views.origins.iter().zip(0..);
    let initial = origins.filter(|(origin, _)| origin.from == u32::MAX).map(|(_, id)| id);
    Ok(Steps {
        crowds: search.crowds,
        kinds: search.views.kinds,
        initial: initial.collect(),
        rows: search.views.rows,
        steps: record.steps.into_iter().map(|steps| steps.into_iter().collect()).collect(),
        failures: record.failures,
    })
}

impl<'m> Search<'m> {
    fn new(model: &'m Model, limits: Limits, sabotage: Sabotage) -> Self {
        Self {
            model,
            crowds: crowds(model.obligation.mode),
            views: Views {
                ids: FxHashMap::default(),
                kinds: Vec::new(),
                rows: Vec::new(),
                centres: Vec::new(),
                origins: Vec::new(),
            },
            centre_ids: FxHashMap::default(),
            at_centres: Vec::new(),
            known_effects: FxHashMap::default(),
            bytes: 0,
            limits,
            sabotage,
            record: None,
        }
    }
}

impl Search<'_> {
    fn close(&mut self) -> Result<(), End> {
        for kind in 0..self.crowds.len() {
            for state in self.initial(kind)? {
                let origin = Origin { from: u32::MAX, who: Who::Tracked, place: 0 };
                self.add(kind, state, origin)?;
            }
        }
        let mut next = 0;
        while next < self.views.rows.len() {
            if next % 1024 == 0 && self.limits.until.is_some_and(|until| Instant::now() >= until) {
                return Err(End::Budget("time"));
            }
            self.expand(next as u32)?;
            next += 1;
        }
        Ok(())
    }

    fn initial(&self, kind: usize) -> Result<Vec<Vec<u8>>, Unsupported> {
        let model = self.model;
        let crowd = &self.crowds[kind];
        let mut state = vec![DEAD; model.slots.len()];
        state[super::model::SPECIFICATION] = 0;
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
                    }
                }
            }
        }
        for owner in crowd.members.clone() {
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

    fn constant(&self, state: &mut [u8], me: u8, term: &super::term::Term) -> super::shape::Bytes {
        let mut scope = super::evaluate::Scope {
            model: self.model,
            members: &[I, J, T],
            state,
            me,
            unknown: None,
            fresh: 1,
            lenient: true,
        };
        scope.bytes(term).unwrap_or_default()
    }

    /// Makes a view known, with the effects of its centre.
    fn add(&mut self, kind: usize, mut state: Vec<u8>, origin: Origin) -> Result<(), End> {
        for owner in [I, J] {
            if owner != self.crowds[kind].tracked {
                hide(self.model, &mut state, owner);
            }
        }
        canonical(self.model, &mut state);
        // The kind is part of what tells views apart.
        state.push(kind as u8);
        if let Some(&id) = self.views.ids.get(state.as_slice()) {
            self.note(origin, id);
            return Ok(());
        }
        let id = self.views.rows.len() as u32;
        self.bytes += 2 * state.len() + 120;
        if self.views.rows.len() >= self.limits.views || self.bytes > self.limits.bytes {
            return Err(End::Budget("memory"));
        }
        let key = state.clone().into_boxed_slice();
        state.pop();
        let centre = centre(self.model, &self.crowds[kind], &state).into_boxed_slice();
        let count = self.centre_ids.len() as u32;
        let centre = *self.centre_ids.entry(centre).or_insert(count);
        if centre == count {
            self.at_centres.push(AtCentre::default());
        }
        self.views.ids.insert(key, id);
        self.views.kinds.push(kind as u8);
        self.views.rows.push(state.into_boxed_slice());
        self.views.centres.push(centre);
        self.views.origins.push(origin);
        if let Some(record) = &mut self.record {
            record.steps.push(FxHashSet::default());
            record.failures.push(Vec::new());
        }
        self.note(origin, id);
        Ok(())
    }

    fn note(&mut self, origin: Origin, to: u32) {
        if let Some(record) = &mut self.record
            && let Some(steps) = record.steps.get_mut(origin.from as usize)
            && steps.insert((origin.who, to))
        {
            self.bytes += 16;
        }
    }

    fn expand(&mut self, id: u32) -> Result<(), End> {
        let model = self.model;
        let kind = usize::from(self.views.kinds[id as usize]);
        let crowd = self.crowds[kind].clone();
        let view = self.views.rows[id as usize].clone();
        let home = self.views.centres[id as usize];
        for &me in &crowd.members {
            let run = Run { model, crowd: &crowd, me };
            let block = model.blocks[usize::from(me)];
            let here = pc(&view, block);
            let is_followed = me == crowd.tracked;
            let who = match me {
                I => Who::I,
                J => Who::J,
                _ => Who::Tracked,
            };
            let is_ghost = run.in_ghost(&view);
            let mut ways: Vec<(Branch, bool)> = Vec::new();
            if here == 0 {
                let scan_is_ghost = model.is_ghost[model.scan.0 as usize];
                ways.extend(run.begin(&view, false)?.into_iter().map(|branch| (branch, false)));
                if is_followed || !scan_is_ghost {
                    let begun = run.begin(&view, true)?;
                    ways.extend(begun.into_iter().map(|branch| (branch, scan_is_ghost)));
                }
            } else if is_followed || !is_ghost {
                ways.extend(run.step(&view)?.into_iter().map(|branch| (branch, is_ghost)));
            }
            for (branch, within) in ways {
                if let (Some(failure), Some(record)) = (branch.failure, &mut self.record) {
                    record.failures[id as usize].push((who, failure));
                    continue;
                }
                if let Some(failure) = branch.failure {
                    let span = (here != 0).then(|| model.code[here].span);
                    return Err(End::Fails(failure, id, who, span));
                }
                let origin = Origin { from: id, who, place: here as u32 };
                if is_followed && (me == T || within) {
                    self.affect(kind, &view, &branch, home, id)?;
                }
                self.add(kind, branch.state, origin)?;
            }
        }
        // What others do at this centre.
        self.at_centres[home as usize].views.push(id);
        for position in 0..self.at_centres[home as usize].effects.len() {
            let (effect, partner) = self.at_centres[home as usize].effects[position].clone();
            self.apply(id, &effect, partner)?;
        }
        Ok(())
    }

    /// Notes what a step is to others.
    fn affect(
        &mut self,
        kind: usize,
        before: &[u8],
        branch: &Branch,
        home: u32,
        id: u32,
    ) -> Result<(), End> {
        let model = self.model;
        let crowd = &self.crowds[kind];
        let actor = crowd.tracked;
        let after = &branch.state;
        let old = centre(model, crowd, before);
        let new = centre(model, crowd, after);
        let fresh = versions(model, before);
        let is_own = |at: usize| {
            // i and j stand elsewhere only if their ghost scan has ended.
            model.slots[at].owner.is_none()
                || (actor != T
                    && model.slots[at].owner == Some(actor)
                    && model.slots[at].frame.is_none()
                    && at - model.blocks[usize::from(actor)] >= at::END)
        };
        let mut sets = Vec::new();
        for at in 0..old.len() {
            // A name of the actor is one of "any other" in the centre: so what changes is told
            // by the view.
            let changes =
                old[at] != new[at] || (before[at] != after[at] && !is_outside(model, after, at));
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
            && pc(&old, block) != pc(&new, block);
        let mut others: Vec<usize> = branch.others.clone();
        others.retain(|at| !is_outside(model, after, *at) && after[*at] == BASE + OTHER);
        let changes = !sets.is_empty()
            || ends
            || !others.is_empty()
            || !branch.tokens.is_empty()
            || !branch.elsewhere.is_empty();
        if !changes {
            return Ok(());
        }
        let named = (0..old.len()).filter(|at| {
            let slot = &model.slots[*at];
            actor == T
                && before[*at] == BASE + T
                && old[*at] != DEAD
                && slot.leaf.is_some_and(|leaf| leaf.scalar == Scalar::Member)
        });
        let effect = Effect {
            kind,
            actor,
            named: named.collect(),
            sets,
            fresh,
            others,
            tokens: branch.tokens.clone(),
            elsewhere: branch.elsewhere.clone(),
            ends,
        };
        let key = (home, effect);
        if self.known_effects.contains_key(&key) {
            return Ok(());
        }
        let effect = key.1.clone();
        self.bytes += 200;
        self.known_effects.insert(key, ());
        self.at_centres[home as usize].effects.push((effect.clone(), id));
        for position in 0..self.at_centres[home as usize].views.len() {
            let view = self.at_centres[home as usize].views[position];
            self.apply(view, &effect, id)?;
        }
        Ok(())
    }

    /// What a step of another process makes of a view.
    fn apply(&mut self, id: u32, effect: &Effect, partner: u32) -> Result<(), End> {
        let model = self.model;
        let kind = usize::from(self.views.kinds[id as usize]);
        let crowd = self.crowds[kind].clone();
        if effect.actor != T && effect.actor == crowd.tracked {
            // Its own steps it makes itself.
            return Ok(());
        }
        let view = self.views.rows[id as usize].clone();
        if !self.sabotage.two_owners && effect.named.iter().any(|at| view[*at] == BASE + T) {
            return Ok(());
        }
        let newest = versions(model, &view);
        let mut state = view.to_vec();
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
        for (variable, indices) in &effect.elsewhere {
            for (at, slot) in model.slots.iter().enumerate() {
                let Some((of, path)) = &slot.cell else { continue };
                if of != variable || !slot.kept || !path.contains(&T) {
                    continue;
                }
                let hit = indices.iter().zip(path).all(|(index, place)| match index {
                    None => true,
                    Some(OTHER) => *place == T,
                    // The actor itself is neither t, nor i, nor j.
                    Some(T) => false,
                    Some(index) => index == place,
                });
                if hit && crowd.members.contains(&T) {
                    let is_token = model.obligation.mode == Mode::Nested
                        && slot.leaf.is_some_and(|leaf| leaf.scalar == Scalar::View);
                    state[at] = if is_token { OLD } else { UNKNOWN };
                }
            }
        }
        let mut states = vec![state];
        if crowd.members.contains(&T) {
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
            }
        }
        if effect.ends {
            let run = Run { model, crowd: &crowd, me: effect.actor };
            states = states.iter().flat_map(|state| run.exit(state)).collect();
        }
        let who = match effect.actor {
            I => Who::I,
            J => Who::J,
            _ => Who::Another,
        };
        let row = &self.views.rows[partner as usize];
        let place = pc(row, model.blocks[usize::from(effect.actor)]) as u32;
        for state in states {
            for state in definite(model, &crowd, state)? {
                self.add(kind, state, Origin { from: id, who, place })?;
            }
        }
        Ok(())
    }

    fn retrace(&self, mut at: u32) -> Vec<Event> {
        let mut events = Vec::new();
        loop {
            let origin = self.views.origins[at as usize];
            if origin.from == u32::MAX {
                events.reverse();
                return events;
            }
            let place = origin.place as usize;
            let span = (place != 0).then(|| self.model.code[place].span);
            events.push(Event { who: origin.who, span });
            at = origin.from;
        }
    }
}
