//! Breadth-first search, level by level.
//!
//! All states of a level are explored before any state of the next. All threads take chunks of
//! states from the level. The set of states on a level does not depend on the order in which
//! threads explore it, so neither do the counts. A violation is reported only when its level is
//! complete; among several, the first in a fixed order is reported.
//!
//! With a checkpoint (`checkpoint`), the threads leave a level when one is due, and then enter the
//! level again. With a disk (`spill`), they also leave the level when the memory is full.

use std::io::{self, Read};
use std::sync::atomic::{AtomicBool, Ordering};

use super::budget::{Exhausted, Memory, Supervisor, Unfinished};
use super::checkpoint::{Checkpoint, CheckpointError, under_way};
use super::level::Level;
use super::outcome::{Progress, Reporter};
use super::product::Product;
use super::self_check::{Defect, Examined, Examiner, SelfCheck};
use super::spill::{Files, Run, Spill};
use super::store::{Chunk, Frontier, SHARDS, Store, shard_of};
use super::trace_reconstruction::LevelStates;
use super::worker::{Found, Worker};
use crate::instance::Instance;
use crate::search::layout::Monotone;

/// Levels with fewer states are explored by one thread: starting others takes longer.
const MIN_STATES_FOR_THREADS: u64 = 4096;

pub(super) struct Search<'a> {
    pub(super) product: &'a Product<'a>,
    pub(super) memory: &'a Memory,
    pub(super) watch: &'a Supervisor<'a>,
    pub(super) threads: usize,
    pub(super) antichain: bool,
    /// The search ends if there are more states than this.
    pub(super) most_states: u64,
    /// The self-check, if it is on, with the instance under search.
    pub(super) self_check: Option<(SelfCheck, &'a Instance)>,
    /// The checkpoint, if the search is saved.
    pub(super) checkpoint: Option<Checkpoint<'a>>,
    /// The files for states that exceed the memory, if there is a disk.
    pub(super) files: Option<Files<'a>>,
    /// States go to the disk once more bytes than this are in use.
    pub(super) spill_above: u64,
}

/// The states of the next level.
enum Next<const W: usize> {
    Memory(Vec<Chunk<W>>),
    Disk(Run),
}

impl<const W: usize> Next<W> {
    fn states(&self) -> u64 {
        match self {
            Self::Memory(chunks) => chunks.iter().map(|chunk| chunk.len() as u64).sum(),
            Self::Disk(run) => run.states(),
        }
    }
}

/// Why a search cannot start.
#[derive(Debug)]
pub(super) enum StartError {
    Exhausted,
    /// The search cannot resume from its checkpoint.
    Checkpoint(CheckpointError),
}

impl From<Exhausted> for StartError {
    fn from(_: Exhausted) -> Self {
        Self::Exhausted
    }
}

impl From<CheckpointError> for StartError {
    fn from(error: CheckpointError) -> Self {
        Self::Checkpoint(error)
    }
}

/// Limits and purpose of one search.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plan {
    /// Continue past violations and faults, rather than end on their level.
    pub(super) past_violations: bool,
    /// The first level that is not explored.
    pub(super) end: u32,
    /// The number of bytes that explored levels may take before they are dropped.
    pub(super) keep: u64,
    /// Whether the search only reconstructs the trace.
    pub(super) tracing: bool,
}

#[derive(Debug)]
pub(super) struct Explored<const W: usize> {
    pub(super) states: u64,
    pub(super) transitions: u64,
    /// The greatest level that has states.
    pub(super) depth: u32,
    /// The violation or fault, and its level: the first level that has one.
    pub(super) found: Option<(u32, Found<W>)>,
    /// The explored levels, unless they were too large to keep.
    pub(super) levels: Option<Vec<LevelStates<W>>>,
    /// How often the self-check examined each claim.
    pub(super) examined: Examined,
    /// The defect that the self-check found. It ends the search.
    pub(super) defect: Option<Defect>,
}

impl<const W: usize> Explored<W> {
    /// Returns the results before any exploration: the initial state is reached.
    pub(super) fn begun() -> Self {
        Self {
            states: 1,
            transitions: 0,
            depth: 0,
            found: None,
            levels: None,
            examined: Examined::default(),
            defect: None,
        }
    }
}

/// Returns the packed initial state, or `None` if it does not fit the layout.
pub(super) fn packed_initial<const W: usize>(product: &Product<'_>) -> Option<[u64; W]> {
    let layout = product.layout();
    let initial = &product.initial().0;
    match layout.is_narrow() {
        true => layout.try_pack(initial),
        false => Some(layout.pack(initial)),
    }
}

impl Search<'_> {
    /// Searches until no states are left or the watch ends the search. Starts from the initial
    /// state, or from the checkpoint `kept`.
    ///
    /// # Errors
    /// If the memory does not suffice even to begin, or the checkpoint cannot be read.
    pub(super) fn run<const W: usize>(
        &self,
        plan: Plan,
        kept: Option<&mut dyn Read>,
        progress: &mut dyn FnMut(&Progress),
    ) -> Result<Explored<W>, StartError> {
        let layout = self.product.layout();
        let nothing = Monotone::default();
        let dominance = if self.antichain { layout.monotone() } else { &nothing };
        let store = Store::<W>::new(self.memory, dominance)?;
        let examiner = || {
            let (options, instance) = self.self_check.filter(|_| !plan.tracing)?;
            Some(Examiner::new(self.product, instance, options, self.antichain))
        };
        let worker = |_| Worker::new(self.product, self.memory, examiner());
        let workers = (0..self.threads).map(worker);
        let mut workers: Vec<Worker<'_, W>> = workers.collect::<Result<_, _>>()?;
        let mut explored = Explored { levels: Some(Vec::new()), ..Explored::begun() };
        let mut spill = self.files.map(|files| Spill::new(files, dominance, self.watch));
        let mut next = Next::Memory(match kept {
            Some(kept) => {
                let kept = under_way(self.product, &store, self.watch, kept)?;
                let (states, transitions, found) = (kept.states, kept.transitions, kept.found);
                let depth = kept.depth;
                explored = Explored { states, transitions, depth, found, levels: None, ..explored };
                self.memory.has_peaked_at(kept.peak);
                kept.waiting
            }
            None => match self.initial(&store)? {
                Some(chunks) => chunks,
                None => return Ok(explored),
            },
        });
        let mut bytes_kept = 0;
        let mut reporter = Reporter::default();
        for depth in explored.depth..plan.end {
            explored.depth = depth;
            let level = match self.enter(next, &mut explored, plan, &mut bytes_kept) {
                Ok(level) => level,
                Err(error) => {
                    self.watch.fail(error);
                    break;
                }
            };
            let rooms = (&level, &store);
            self.explore_level(rooms, &mut workers, &mut spill, &mut explored, &mut |explored| {
                let before = explored.states.saturating_sub(level.states());
                let states = before + level.explored_states();
                let now = self.progress(explored, plan, level.states());
                reporter.tick(Progress { states, ..now }).iter().for_each(&mut *progress);
            });
            let is_in_memory = spill.as_ref().is_none_or(|spill| !spill.has_begun());
            self.examine(&mut workers, &store, is_in_memory, &mut explored);
            if let (Some(levels), Some(level)) = (&mut explored.levels, level.into_kept()) {
                levels.push(LevelStates::Memory(level));
            }
            if self.watch.cause().is_some() || explored.defect.is_some() {
                break;
            }
            match self.next_level(&store, &mut spill) {
                Some(found) => next = found,
                None => break,
            }
            let states = next.states();
            explored.states += states;
            if states == 0 || explored.found.is_some() && !plan.past_violations {
                break;
            }
            if explored.states > self.most_states {
                self.watch.end(Unfinished::TooMany);
                break;
            }
            progress(&self.progress(&explored, plan, states));
            // If the watch ends the search here, the next level is entered, left immediately and
            // saved.
            self.watch.look();
        }
        Ok(explored)
    }

    /// Returns the progress between two levels, the next of which has `frontier` states.
    fn progress<const W: usize>(
        &self,
        explored: &Explored<W>,
        plan: Plan,
        frontier: u64,
    ) -> Progress {
        Progress {
            seconds: self.watch.elapsed().as_secs_f64(),
            states: explored.states,
            states_per_second: 0.0,
            frontier,
            depth: explored.depth,
            memory: self.memory.used(),
            tracing: plan.tracing,
            between: true,
        }
    }

    /// Has the workers examine states of a level that is in memory, and takes what they found.
    fn examine<const W: usize>(
        &self,
        workers: &mut [Worker<'_, W>],
        store: &Store<'_, W>,
        is_in_memory: bool,
        explored: &mut Explored<W>,
    ) {
        if is_in_memory && self.watch.cause().is_none() {
            workers.iter_mut().for_each(|worker| worker.examine(store, |_| true));
        }
        workers.iter_mut().for_each(|worker| explored.examined.add(&worker.take_examined()));
        let defects = workers.iter_mut().filter_map(Worker::take_defect);
        explored.defect = defects.min_by_key(|(state, _)| *state).map(|(_, defect)| defect);
    }

    /// Returns the new states, or `None` if the watch has ended the search: the level may be
    /// incomplete.
    fn next_level<const W: usize>(
        &self,
        store: &Store<'_, W>,
        spill: &mut Option<Spill<'_>>,
    ) -> Option<Next<W>> {
        let next = match spill.as_mut().filter(|spill| spill.has_begun()) {
            Some(spill) => match spill.next_level(store) {
                Ok(run) => Next::Disk(run),
                Err(error) => {
                    self.watch.fail(error);
                    return None;
                }
            },
            None => Next::Memory((0..SHARDS).flat_map(|shard| store.take_new(shard)).collect()),
        };
        self.watch.cause().is_none().then_some(next)
    }

    /// Adds the initial state to the store and returns it as a level, or `None` if it does not fit.
    fn initial<const W: usize>(
        &self,
        store: &Store<'_, W>,
    ) -> Result<Option<Vec<Chunk<W>>>, Exhausted> {
        let initial = packed_initial(self.product);
        let Some(initial) = initial else {
            self.watch.end(Unfinished::TooNarrow);
            return Ok(None);
        };
        let shard = shard_of(store.hash(&initial));
        store.insert(shard, &[initial])?;
        Ok(Some(store.take_new(shard)))
    }

    /// Returns the next level, ready to be explored. Explored levels that are too large to keep go
    /// to the disk, if there is one; otherwise they are dropped.
    fn enter<const W: usize>(
        &self,
        next: Next<W>,
        explored: &mut Explored<W>,
        plan: Plan,
        bytes_kept: &mut u64,
    ) -> io::Result<Level<'_, W>> {
        let chunks = match (next, self.files) {
            (Next::Memory(chunks), _) => chunks,
            (Next::Disk(run), Some(files)) => {
                explored.levels.iter_mut().for_each(|levels| levels.push(LevelStates::Disk(run)));
                return Ok(Level::on_disk(files.read(run)?, self.memory));
            }
            (Next::Disk(_), None) => unreachable!("what is on the disk has one"),
        };
        *bytes_kept += (chunks.len() * Frontier::<W>::CHUNK_BYTES) as u64;
        if *bytes_kept <= plan.keep {
            return Ok(Level::new(chunks, explored.levels.is_some(), self.memory));
        }
        let mut levels = explored.levels.take();
        for level in levels.iter_mut().flatten() {
            if let LevelStates::Memory(chunks) = level {
                let chunks = std::mem::take(chunks);
                self.memory.give(chunks.len() * Frontier::<W>::CHUNK_BYTES);
                if let Some(files) = self.files {
                    *level = LevelStates::Disk(files.write(&chunks)?);
                }
            }
        }
        if let (Some(files), Some(mut levels)) = (self.files, levels) {
            levels.push(LevelStates::Disk(files.write(&chunks)?));
            explored.levels = Some(levels);
        }
        Ok(Level::new(chunks, false, self.memory))
    }

    /// Returns true if there is a disk and enough memory is in use to move states there.
    fn is_full(&self) -> bool {
        self.files.is_some() && self.memory.used() > self.spill_above
    }

    /// Explores a level and saves the search whenever a checkpoint is due. Calls `tick` now and
    /// then on this thread.
    fn explore_level<const W: usize>(
        &self,
        (level, store): (&Level<'_, W>, &Store<'_, W>),
        workers: &mut [Worker<'_, W>],
        spill: &mut Option<Spill<'_>>,
        explored: &mut Explored<W>,
        tick: &mut dyn FnMut(&Explored<W>),
    ) {
        loop {
            self.explore(level, store, workers, &mut || tick(explored));
            explored.transitions += workers.iter_mut().map(Worker::take_transitions).sum::<u64>();
            let found = workers.iter_mut().map(Worker::take_found).fold(None, Found::first);
            let found = found.map(|found| (explored.depth, found));
            // A violation from an earlier part of this level may be later in the order.
            explored.found = match (explored.found, found) {
                (Some((depth, one)), Some((now, other))) if depth == now => {
                    Found::first(Some(one), Some(other)).map(|found| (depth, found))
                }
                (one, other) => one.or(other),
            };
            let cause = self.watch.cause();
            if let Some(checkpoint) = &self.checkpoint
                && self.watch.can_go_on()
                && (cause.is_some() || checkpoint.keeper.is_due())
            {
                checkpoint.keep(self.product, explored, level, store, self.memory.peak());
            }
            if let (Some(spill), Some(files)) = (spill.as_mut(), self.files)
                && cause.is_none()
                && self.is_full()
            {
                let spilt = level.spill(|chunks| files.read(files.write(chunks)?));
                if let Err(error) = spilt.and_then(|()| spill.spill(store)) {
                    self.watch.fail(error);
                    return;
                }
            }
            if cause.is_some() || level.is_done() {
                return;
            }
        }
    }

    /// Explores a level until it is complete or a checkpoint is due. Calls `tick` now and then on
    /// this thread.
    fn explore<const W: usize>(
        &self,
        level: &Level<'_, W>,
        store: &Store<'_, W>,
        workers: &mut [Worker<'_, W>],
        tick: &mut dyn FnMut(),
    ) {
        let is_paused = AtomicBool::new(false);
        let work = |worker: &mut Worker<'_, W>, tick: &mut dyn FnMut()| {
            while self.watch.cause().is_none()
                && !is_paused.load(Ordering::Relaxed)
                && let Some(chunk) = level.take(self.watch)
            {
                match worker.explore(&chunk, self.product, store, self.watch, level.states()) {
                    true => level.explored(chunk),
                    false => level.put_back(chunk),
                }
                tick();
            }
            worker.finish(store, self.watch);
        };
        let Some((first, others)) = workers.split_first_mut() else { return };
        let others = if level.states() < MIN_STATES_FOR_THREADS { &mut [] } else { others };
        std::thread::scope(|scope| {
            for worker in others {
                scope.spawn(|| work(worker, &mut || {}));
            }
            work(first, &mut || {
                self.watch.look();
                tick();
                let is_due = self.checkpoint.is_some_and(|checkpoint| checkpoint.keeper.is_due());
                if is_due || self.is_full() {
                    is_paused.store(true, Ordering::Relaxed);
                }
            });
        });
    }
}
