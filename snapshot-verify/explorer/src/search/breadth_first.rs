//! The search: breadth-first, level by level.
//!
//! All states of a level are explored before any of the next, by all threads,
//! chunk by chunk. What is on which level does not depend on who explores what
//! first, so neither do the counts; a violation is reported only when its level
//! is complete, and of several the first in a fixed order.

use super::budget::{Exhausted, Memory, Supervisor, Unfinished};
use super::level::Level;
use super::outcome::Progress;
use super::product::Product;
use super::self_check::{Defect, Examined, Examiner, SelfCheck};
use super::store::{Chunk, Frontier, SHARDS, Store, shard_of};
use super::worker::{Found, Worker};
use crate::instance::Instance;
use crate::search::layout::Monotone;

/// Levels with fewer states are left to one thread: starting others takes longer.
const FEW: u64 = 4096;

/// Seconds between two reports of progress.
const REPORT: f64 = 0.5;

/// What a search works with.
pub(super) struct Search<'a> {
    pub(super) product: &'a Product<'a>,
    pub(super) memory: &'a Memory,
    pub(super) watch: &'a Supervisor<'a>,
    pub(super) threads: usize,
    pub(super) antichain: bool,
    /// With more states, it ends.
    pub(super) most_states: u64,
    /// Whether it examines itself, and the instance that it is about.
    pub(super) self_check: Option<(SelfCheck, &'a Instance)>,
}

/// How far to go.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plan {
    /// Explore on past violations and faults, rather than end on their level.
    pub(super) past_violations: bool,
    /// The first level that is not explored.
    pub(super) end: u32,
    /// How many bytes the explored levels may take before they are forgotten.
    pub(super) keep: u64,
    /// Whether this is only for the trace.
    pub(super) tracing: bool,
}

/// What a search found.
#[derive(Debug)]
pub(super) struct Explored<const W: usize> {
    pub(super) states: u64,
    pub(super) transitions: u64,
    /// The greatest level that has states.
    pub(super) depth: u32,
    /// On the first level that has any.
    pub(super) found: Option<(u32, Found<W>)>,
    /// The explored levels, unless they were too large to keep.
    pub(super) levels: Option<Vec<Vec<Chunk<W>>>>,
    /// What the self-check tried.
    pub(super) examined: Examined,
    /// What it found: the search has ended there.
    pub(super) defect: Option<Defect>,
}

impl Search<'_> {
    /// Searches, until there is nothing more, or the watch says so.
    ///
    /// # Errors
    /// If the memory does not suffice even to begin.
    pub(super) fn run<const W: usize>(
        &self,
        plan: Plan,
        progress: &mut dyn FnMut(&Progress),
    ) -> Result<Explored<W>, Exhausted> {
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

        let initial = &self.product.initial().0;
        let initial = match layout.is_narrow() {
            true => layout.try_pack(initial),
            false => Some(layout.pack(initial)),
        };
        let mut explored = Explored {
            states: 1,
            transitions: 0,
            depth: 0,
            found: None,
            levels: Some(Vec::new()),
            examined: Examined::default(),
            defect: None,
        };
        let Some(initial) = initial else {
            self.watch.end(Unfinished::TooNarrow);
            return Ok(explored);
        };
        let shard = shard_of(store.hash(&initial));
        store.insert(shard, &[initial])?;
        let mut chunks = store.take_new(shard);
        let mut kept = 0;
        let mut reporter = Reporter { plan, seconds: 0.0, states: 0 };
        for depth in 0..plan.end {
            explored.depth = depth;
            kept += (chunks.len() * Frontier::<W>::CHUNK_BYTES) as u64;
            if kept > plan.keep {
                let levels = explored.levels.take().into_iter().flatten();
                levels.for_each(|chunks| self.forget(chunks));
            }
            let level = Level::new(chunks, explored.levels.is_some(), self.memory);
            let before = explored.states - level.states();
            self.explore(&level, &store, &mut workers, &mut || {
                reporter.tick(self, depth, before, &level, progress);
            });
            explored.transitions += workers.iter_mut().map(Worker::take_transitions).sum::<u64>();
            let found = workers.iter_mut().map(Worker::take_found).fold(None, Found::first);
            if explored.found.is_none() {
                explored.found = found.map(|found| (depth, found));
            }
            for worker in workers.iter_mut().filter(|_| self.watch.cause().is_none()) {
                worker.examine(&store);
            }
            workers.iter_mut().for_each(|worker| explored.examined.add(&worker.take_examined()));
            let defects = workers.iter_mut().filter_map(Worker::take_defect);
            explored.defect = defects.min_by_key(|(state, _)| *state).map(|(_, defect)| defect);
            if let (Some(levels), Some(level)) = (&mut explored.levels, level.into_kept()) {
                levels.push(level);
            }
            if self.watch.cause().is_some() || explored.defect.is_some() {
                break;
            }
            chunks = (0..SHARDS).flat_map(|shard| store.take_new(shard)).collect();
            explored.states += chunks.iter().map(|chunk| chunk.len() as u64).sum::<u64>();
            if chunks.is_empty() || explored.found.is_some() && !plan.past_violations {
                break;
            }
            if explored.states > self.most_states {
                self.watch.end(Unfinished::TooMany);
                break;
            }
            reporter.between(self, &explored, &chunks, progress);
            self.watch.look();
            if self.watch.cause().is_some() {
                break;
            }
        }
        Ok(explored)
    }

    fn forget<const W: usize>(&self, chunks: Vec<Chunk<W>>) {
        self.memory.give(chunks.len() * Frontier::<W>::CHUNK_BYTES);
    }

    /// Explores a level; `tick` is called now and then, on this thread.
    fn explore<const W: usize>(
        &self,
        level: &Level<'_, W>,
        store: &Store<'_, W>,
        workers: &mut [Worker<'_, W>],
        tick: &mut dyn FnMut(),
    ) {
        let work = |worker: &mut Worker<'_, W>, tick: &mut dyn FnMut()| {
            while self.watch.cause().is_none()
                && let Some(chunk) = level.take()
            {
                worker.explore(&chunk, self.product, store, self.watch, level.states());
                level.explored(chunk);
                tick();
            }
            worker.finish(store, self.watch);
        };
        let Some((first, others)) = workers.split_first_mut() else { return };
        let others = if level.states() < FEW { &mut [] } else { others };
        std::thread::scope(|scope| {
            for worker in others {
                scope.spawn(|| work(worker, &mut || {}));
            }
            work(first, &mut || {
                self.watch.look();
                tick();
            });
        });
    }
}

/// Reports progress now and then.
struct Reporter {
    plan: Plan,
    /// When it reported last.
    seconds: f64,
    /// What it reported last.
    states: u64,
}

impl Reporter {
    fn tick<const W: usize>(
        &mut self,
        search: &Search<'_>,
        depth: u32,
        before: u64,
        level: &Level<'_, W>,
        progress: &mut dyn FnMut(&Progress),
    ) {
        let seconds = search.watch.elapsed().as_secs_f64();
        if seconds - self.seconds < REPORT {
            return;
        }
        let states = before + level.explored_states();
        progress(&Progress {
            seconds,
            states,
            states_per_second: (states.saturating_sub(self.states)) as f64
                / (seconds - self.seconds),
            frontier: level.states(),
            depth,
            memory: search.memory.used(),
            tracing: self.plan.tracing,
            between: false,
        });
        (self.seconds, self.states) = (seconds, states);
    }

    /// Between two levels: the numbers are those of any other search of the same.
    fn between<const W: usize>(
        &self,
        search: &Search<'_>,
        explored: &Explored<W>,
        next: &[Chunk<W>],
        progress: &mut dyn FnMut(&Progress),
    ) {
        progress(&Progress {
            seconds: search.watch.elapsed().as_secs_f64(),
            states: explored.states,
            states_per_second: 0.0,
            frontier: next.iter().map(|chunk| chunk.len() as u64).sum(),
            depth: explored.depth,
            memory: search.memory.used(),
            tracing: self.plan.tracing,
            between: true,
        });
    }
}
