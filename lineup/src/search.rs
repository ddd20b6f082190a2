//! Enumeration of executions: all serial ones, or all with few preemptions.
//!
//! A switch away from a thread that can run, inside an operation, is a *preemption*; between two
//! operations of a thread a switch is free. Executions are enumerated depth-first, the running
//! thread being chosen first, and those with fewer preemptions before those with more: choices that
//! cost one preemption more wait for the next bound (Musuvathi and Qadeer, "Iterative Context
//! Bounding for Systematic Testing of Multithreaded Programs", PLDI 2007). So no execution is tried
//! at two bounds.
//!
//! What may follow a choice depends on the state, and on the thread from which a switch is a
//! preemption. The state is determined by the [trace](crate::trace). A situation with an equal trace
//! and an equal thread that occurred before, then with fewer preemptions or as many, has had all its
//! continuations enumerated, and the execution is only finished. This loses no trace within the
//! bound, while orders of exploration that leave out a thread's step for an equal one later, as
//! sleep sets do, would (Coons, Musuvathi and McKinley, "Bounded Partial-Order Reduction", OOPSLA
//! 2013).

use rustc_hash::FxHashSet;
use snapshot_core::observation::Thread;

use crate::driver::{Choice, Situation};
use crate::fairness::Fairness;
use crate::spin::Spin;
use crate::trace::Digest;
use crate::unordered::Line;

/// Steps of a thread in one operation after each of which it counts as yielding: real code also
/// spins without a hint.
const PATIENCE: u32 = 60;

/// Maximum number of choices that are kept (1 GB).
const KEPT: usize = 1 << 26;

/// Maximum number of remembered situations (500 MB).
const REMEMBERED: usize = 1 << 24;

/// A choice: here, always of the thread that runs next. The message that a load reads, with weak
/// memory, would be another kind.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Pick {
    /// This thread runs next; `true`: by a preemption.
    Run(Thread, bool),
}

impl Pick {
    const fn preempts(self) -> bool {
        let Self::Run(_, preempts) = self;
        preempts
    }
}

/// A place in the tree of choices: after the choice with this index.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
struct Place(u32);

/// Before all choices.
const ROOT: Place = Place(u32::MAX);

/// A choice that was made.
#[derive(Clone, Copy, Debug)]
struct Made {
    after: Place,
    enabled: u16,
    pick: Pick,
}

/// A choice that was not made yet.
#[derive(Clone, Copy, Debug)]
struct Branch {
    after: Place,
    pick: Pick,
}

/// Executions to enumerate.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Kind {
    /// No thread is switched away from inside an operation.
    Serial,
    /// All, those with fewer preemptions first.
    Concurrent {
        /// The largest number of preemptions; `None`: all.
        most: Option<u32>,
        /// True if one execution per trace suffices.
        reduces: bool,
    },
}

/// A search.
#[derive(Clone, Debug)]
pub(crate) struct Search {
    kind: Kind,
    /// The tree of choices.
    made: Vec<Made>,
    /// Choices of the present bound that were not made yet; the last one is made next.
    branches: Vec<Branch>,
    /// Those of the next bound.
    later: Vec<Branch>,
    seen: FxHashSet<Digest>,
    bound: u32,
    started: bool,
    /// True if an alternative was left out, for its preemptions or for lack of memory.
    pub(crate) cut: bool,
    /// True if choices were left out for lack of memory.
    pub(crate) full: bool,
    /// Choices of the present execution: those to repeat, then those made.
    path: Vec<(u16, Pick)>,
    repeated: usize,
    /// Number of choices that the present execution must reach.
    owed: usize,
    depth: usize,
    /// Place of the last choice; `None` after a situation that occurred before.
    place: Option<Place>,
    preemptions: u32,
    fairness: Fairness,
    /// Situation of the last choice: the threads that could run, and the chosen one.
    last: Option<(u16, usize)>,
    rows: [u32; Thread::LIMIT + 1],
    spin: Spin,
    /// Lines of accesses of plain memory at which threads are switched.
    switching: FxHashSet<Line>,
}

impl Search {
    pub(crate) fn new(kind: Kind, spin: Spin) -> Self {
        Self {
            kind,
            spin,
            made: Vec::new(),
            branches: Vec::new(),
            later: Vec::new(),
            seen: FxHashSet::default(),
            bound: 0,
            started: false,
            cut: false,
            full: false,
            path: Vec::new(),
            repeated: 0,
            owed: 0,
            depth: 0,
            place: Some(ROOT),
            preemptions: 0,
            fairness: Fairness::new(),
            last: None,
            rows: [0; Thread::LIMIT + 1],
            switching: FxHashSet::default(),
        }
    }

    /// Has threads switched at lines of unordered accesses of plain memory. Returns true if some of
    /// them are new: then the search must begin again.
    pub(crate) fn switch_at(&mut self, unordered: &[(Line, Line)]) -> bool {
        let before = self.switching.len();
        self.switching.extend(unordered.iter().flat_map(|(first, second)| [*first, *second]));
        self.switching.len() > before
    }

    /// Makes a search of the same executions, from the beginning.
    pub(crate) fn afresh(self) -> Self {
        let Self { kind, spin, switching, .. } = self;
        Self { switching, ..Self::new(kind, spin) }
    }

    /// Returns the preemptions of the present, or the last, execution.
    pub(crate) const fn preemptions(&self) -> u32 {
        self.preemptions
    }

    /// Returns true if the finished execution reached all choices that it had to repeat. If not,
    /// the same choices led to another situation than before.
    pub(crate) const fn is_repeated(&self) -> bool {
        self.depth >= self.owed
    }

    /// Allows one preemption more. Returns false if there is no execution with more.
    pub(crate) fn raise(&mut self) -> bool {
        self.bound += 1;
        std::mem::swap(&mut self.branches, &mut self.later);
        !self.branches.is_empty()
    }

    /// Advances to the next execution of this bound, if there is one.
    pub(crate) fn next(&mut self) -> bool {
        if self.started {
            let Some(branch) = self.branches.pop() else { return false };
            self.path.clear();
            let mut place = branch.after;
            while let Some(made) = self.made.get(place.0 as usize) {
                self.path.push((made.enabled, made.pick));
                place = made.after;
            }
            self.path.reverse();
            self.repeated = self.path.len();
            self.again();
            // The branch itself is a new choice: the situation is checked when it is made.
            self.path.push((0, branch.pick));
            self.owed = self.path.len();
            self.place = Some(branch.after);
        } else {
            self.again();
        }
        true
    }

    /// Starts the last execution again, or the first one.
    pub(crate) fn again(&mut self) {
        if self.depth > self.repeated {
            self.repeated = self.path.len();
            self.owed = self.repeated;
            self.place = None;
        }
        self.started = true;
        self.depth = 0;
        self.preemptions = 0;
        self.fairness = Fairness::new();
        self.last = None;
        self.rows = [0; Thread::LIMIT + 1];
        self.spin.begin();
    }

    /// Returns the thread that runs next.
    pub(crate) fn choose(&mut self, situation: &Situation<'_>) -> Choice {
        let current = situation.current;
        let can = |thread: Thread| situation.enabled >> thread.index() & 1 == 1;
        if situation.unwinding
            && let Some(thread) = current.filter(|thread| can(*thread))
        {
            return Choice::Run(thread);
        }
        let yielding = situation.yielding || self.is_long(situation);
        self.spin.step(situation, yielding);
        if self.kind == Kind::Serial {
            if let Some(thread) = current.filter(|_| situation.inside) {
                return match can(thread) {
                    true if self.spin.is_stuck(1 << thread.index()) => Choice::Spinning,
                    true => Choice::Run(thread),
                    false => Choice::Stuck,
                };
            }
            let all = threads(situation.enabled).map(|thread| Pick::Run(thread, false));
            return self.pick(situation, &all.collect::<Vec<_>>(), false);
        }
        if let Some((earlier, t)) = self.last {
            self.fairness.step(t, earlier, situation.enabled, yielding);
        }
        if self.spin.is_stuck(situation.enabled) {
            return Choice::Spinning;
        }
        // If all threads spin, the fair choice is as good as any.
        let resting = self.spin.resting(situation.enabled);
        let still = resting == situation.enabled;
        let allowed = match situation.enabled & !resting {
            0 => self.fairness.allowed(situation.enabled),
            working => self.fairness.allowed(working),
        };
        let goes_on = current.filter(|t| allowed >> t.index() & 1 == 1);
        let costs = goes_on.is_some() && situation.inside && !yielding;
        let others = threads(allowed).filter(|thread| Some(*thread) != current);
        let mut options: Vec<Pick> = goes_on
            .into_iter()
            .map(|thread| Pick::Run(thread, false))
            .chain(others.map(|thread| Pick::Run(thread, costs)))
            .collect();
        let is_ordered = situation.plain.is_some_and(|line| !self.switching.contains(line));
        if still || goes_on.is_some() && is_ordered && !yielding {
            options.truncate(1);
        }
        let choice = self.pick(situation, &options, costs);
        if let Choice::Run(thread) = choice {
            self.last = Some((situation.enabled, thread.index()));
        }
        choice
    }

    /// Counts the steps of the running thread in its operation, without those on plain memory;
    /// returns true after each 60th.
    const fn is_long(&mut self, situation: &Situation<'_>) -> bool {
        let Some(thread) = situation.current else { return false };
        if situation.plain.is_some() {
            return false;
        }
        let steps = &mut self.rows[thread.index()];
        *steps = if situation.inside { *steps + 1 } else { 0 };
        *steps > 0 && steps.is_multiple_of(PATIENCE)
    }

    /// Makes a choice: the one to repeat, or the first option. The others are made later. `costs`:
    /// a switch away from the running thread is a preemption.
    fn pick(&mut self, situation: &Situation<'_>, options: &[Pick], costs: bool) -> Choice {
        let enabled = situation.enabled;
        let depth = self.depth;
        self.depth += 1;
        if depth < self.repeated {
            let (expected, pick) = self.path[depth];
            if expected != enabled {
                self.path.truncate(self.depth);
                return Choice::Diverged;
            }
            return self.take(pick);
        }
        if depth < self.path.len() {
            let (expected, pick) = &mut self.path[depth];
            *expected = enabled;
            let pick = *pick;
            let Pick::Run(thread, _) = pick;
            if enabled >> thread.index() & 1 == 0 {
                self.path.truncate(self.depth);
                return Choice::Diverged;
            }
            self.grow(enabled, pick);
            return self.take(pick);
        }
        let Some((first, others)) = options.split_first() else { return Choice::Diverged };
        if !others.is_empty() && self.place.is_some() && self.is_known(situation, costs) {
            self.place = None;
        }
        if let Some(after) = self.place {
            for pick in others.iter().rev() {
                self.postpone(Branch { after, pick: *pick });
            }
        }
        self.grow(enabled, *first);
        self.path.push((enabled, *first));
        self.take(*first)
    }

    /// Adds a choice that was made to the tree.
    fn grow(&mut self, enabled: u16, pick: Pick) {
        let Some(after) = self.place else { return };
        if self.made.len() >= KEPT {
            (self.place, self.full, self.cut) = (None, true, true);
            return;
        }
        self.place = Some(Place(self.made.len() as u32));
        self.made.push(Made { after, enabled, pick });
    }

    /// Leaves a choice for later.
    fn postpone(&mut self, branch: Branch) {
        if !branch.pick.preempts() {
            self.branches.push(branch);
            return;
        }
        match self.kind {
            Kind::Concurrent { most: Some(most), .. } if self.bound >= most => self.cut = true,
            _ => self.later.push(branch),
        }
    }

    fn take(&mut self, pick: Pick) -> Choice {
        let Pick::Run(thread, preempts) = pick;
        self.preemptions += u32::from(preempts);
        Choice::Run(thread)
    }

    /// Returns true if an equal situation occurred before; otherwise remembers it.
    fn is_known(&mut self, situation: &Situation<'_>, costs: bool) -> bool {
        let Kind::Concurrent { reduces: true, .. } = self.kind else { return false };
        let current = situation.current.filter(|_| costs).map_or(0, |thread| 1 + thread.index());
        let mut digest = situation.trace.digest().with(current as u128);
        for word in self.fairness.words().map(u32::from).chain(self.spin.words()) {
            digest = digest.with(u128::from(word));
        }
        if self.seen.len() >= REMEMBERED {
            return self.seen.contains(&digest);
        }
        !self.seen.insert(digest)
    }
}

/// Returns the threads of a set.
fn threads(set: u16) -> impl Iterator<Item = Thread> {
    (0..=Thread::LIMIT).filter(move |t| set >> t & 1 == 1).map(Thread::from_index)
}
