//! One worker's part of a search. The part stores the states that it owns, explores them, and sends
//! their successors to the parts that own these.

use std::collections::BTreeMap;
use std::mem::take;
use std::sync::mpsc::Sender;

use super::super::breadth_first::{Explored, Plan, packed_initial};
use super::super::budget::{Exhausted, Unfinished};
use super::super::checkpoint::stop;
use super::super::level::Level;
use super::super::outcome::{Progress, Reporter};
use super::super::product::Move;
use super::super::self_check::Examiner;
use super::super::store::{Chunk, Frontier, Store, shard_of};
use super::super::worker::{BATCH, Found, Worker, buffer};
use super::level::{AtLevel, Rooms, Trace, owner};
use super::report::Report;
use super::{Ended, Failure, Part, Place, Send, SharedSearch};

/// The first word of a message with states; they follow.
const STATES: u64 = 0;
/// The first word of a message that ends the search; the number of the cause follows.
const CAUSE: u64 = 1;

pub(super) struct SearchPart<'a, const W: usize> {
    shared: &'a SharedSearch<'a, W>,
    place: Place,
    /// The channel for progress reports, in the first part of a process.
    progress: Option<Sender<Progress>>,
    reporter: Reporter,
    stage: Stage<'a, W>,
    plan: Plan,
    explored: Explored<W>,
    /// The states of the explored levels, unless they are too large to keep.
    levels: Option<Vec<Vec<Chunk<W>>>>,
    /// The bytes of the kept levels of all parts.
    bytes_kept: u64,
    /// Whether the other parts know why the search is to end.
    has_told: bool,
    /// By owner, the states to be sent.
    outgoing: BTreeMap<usize, Vec<u64>>,
    /// The moves found so far by the trace reconstruction, last one first.
    moves: Vec<([u64; W], Move)>,
    /// The results of the search, while the levels before a violation are explored again.
    first: Option<Explored<W>>,
    /// The peak of memory in all processes.
    peak: u64,
}

enum Stage<'a, const W: usize> {
    /// The check that all parts search the same; `None` if the memory does not suffice to begin.
    Agreement(Option<Box<Rooms<'a, W>>>),
    /// A level of the search.
    Level(Box<AtLevel<'a, W>>),
    /// A level of the trace reconstruction.
    Trace(Trace<W>),
}

impl<'a, const W: usize> SearchPart<'a, W> {
    pub(super) fn new(shared: &'a SharedSearch<'a, W>, place: Place) -> Self {
        let plan = Plan {
            past_violations: shared.past_violations,
            end: u32::MAX,
            keep: shared.keep,
            tracing: false,
        };
        let mut part = Self {
            shared,
            place,
            progress: if place.is_first { shared.sender() } else { None },
            reporter: Reporter::default(),
            stage: Stage::Agreement(None),
            plan,
            explored: Explored::begun(),
            levels: Some(Vec::new()),
            bytes_kept: 0,
            has_told: false,
            outgoing: BTreeMap::new(),
            moves: Vec::new(),
            first: None,
            peak: 0,
        };
        part.stage = Stage::Agreement(part.rooms().ok());
        part
    }

    fn memory(&self) -> &'a super::Memory {
        &self.shared.memories[usize::from(self.plan.tracing)]
    }

    fn rooms(&self) -> Result<Box<Rooms<'a, W>>, Exhausted> {
        let SharedSearch { product, monotone, antichain, .. } = *self.shared;
        let store = Store::new(self.memory(), monotone)?;
        let self_check = self.shared.self_check.filter(|_| !self.plan.tracing);
        let examiner = self_check
            .map(|(options, instance)| Examiner::new(product, instance, options, antichain));
        let worker = Worker::new(product, self.memory(), examiner)?;
        Ok(Box::new(Rooms { store, worker }))
    }

    /// Starts the search, or the second search for the trace, with the initial state. Returns false
    /// if the initial state does not fit.
    fn begin(&mut self, rooms: Option<Box<Rooms<'a, W>>>) -> bool {
        let Some(initial) = packed_initial(self.shared.product) else { return false };
        let mut chunks = Vec::new();
        let mut rooms = rooms;
        if let Some(Rooms { store, .. }) = rooms.as_deref() {
            let hash = store.hash(&initial);
            let shard = shard_of(hash);
            if owner(hash, self.place.workers) == self.place.worker {
                match store.insert(shard, &[initial]) {
                    Ok(()) => chunks = store.take_new(shard),
                    Err(Exhausted) => rooms = None,
                }
            }
        }
        self.enter(rooms, chunks, 1, Frontier::<W>::CHUNK_BYTES as u64);
        true
    }

    /// Enters a level. `chunks` holds this part's states; the counts of states and bytes cover all
    /// parts.
    fn enter(
        &mut self,
        rooms: Option<Box<Rooms<'a, W>>>,
        chunks: Vec<Chunk<W>>,
        states: u64,
        bytes: u64,
    ) {
        self.bytes_kept += bytes;
        if self.bytes_kept > self.plan.keep {
            for level in self.levels.take().into_iter().flatten() {
                self.memory().give(level.len() * Frontier::<W>::CHUNK_BYTES);
            }
        }
        let level = Level::new(chunks, self.levels.is_some(), self.memory());
        let next = Vec::new();
        self.stage = Stage::Level(Box::new(AtLevel { rooms, level, states, next }));
    }

    fn tick(&mut self) {
        let (Some(progress), Stage::Level(at)) = (&self.progress, &self.stage) else { return };
        // The other parts are assumed to progress at the same rate.
        let here = at.level.explored_states() * self.place.workers as u64;
        let states = (self.explored.states - at.states) + here.min(at.states);
        let now = Progress { states, ..self.progress_between(at.states) };
        let _ = self.reporter.tick(now).map(|report| progress.send(report));
    }

    /// Returns the progress between two levels, the next of which has `frontier` states.
    fn progress_between(&self, frontier: u64) -> Progress {
        Progress {
            seconds: self.shared.watch.elapsed().as_secs_f64(),
            states: self.explored.states,
            states_per_second: 0.0,
            frontier,
            depth: self.explored.depth,
            memory: self.memory().used(),
            tracing: self.plan.tracing,
            between: true,
        }
    }

    /// Records the result, with the cause if the search ended early.
    fn end(&mut self, cause: Option<Unfinished>, moves: Option<Vec<([u64; W], Move)>>) -> bool {
        let explored = std::mem::replace(&mut self.explored, Explored::begun());
        let explored = self.first.take().unwrap_or(explored);
        self.shared.end(Ok(Ended { explored, cause, moves, peak_bytes: self.peak }));
        false
    }

    fn fail(&self, failure: Failure) -> bool {
        self.shared.end(Err(failure));
        false
    }

    /// Decides by the reports of all parts on a level: continues with the next level, or ends.
    fn decide_level(&mut self, reports: &[Report<W>], cause: Option<Unfinished>) -> bool {
        let Stage::Level(at) = &mut self.stage else { return false };
        let (rooms, next) = (at.rooms.take(), take(&mut at.next));
        if let Some(worker) = reports.iter().position(|report| report.has_defect) {
            return match &self.explored.defect {
                Some(_) => self.end(cause, None),
                None => self.fail(Failure::Defect { worker }),
            };
        }
        let explored = &mut self.explored;
        explored.transitions += reports.iter().map(|report| report.transitions).sum::<u64>();
        reports.iter().for_each(|report| explored.examined.add(&report.examined));
        if let Some((state, by)) = reports.iter().filter_map(|report| report.by).min()
            && explored.found.is_none()
            && let Ok(stop) = stop(self.shared.product, &state, by)
        {
            explored.found = Some((explored.depth, Found { state, by, stop }));
        }
        if cause.is_some() {
            return self.end(cause, None);
        }
        let states = reports.iter().map(|report| report.states).sum::<u64>();
        let bytes = reports.iter().map(|report| report.bytes).sum();
        explored.states += states;
        if states == 0 || explored.found.is_some() && !self.plan.past_violations {
            return self.trace();
        }
        if explored.states > self.shared.most_states {
            return self.end(Some(Unfinished::TooMany), None);
        }
        if let Some(progress) = &self.progress {
            let _ = progress.send(self.progress_between(states));
        }
        if self.explored.depth + 1 == self.plan.end {
            return self.trace();
        }
        self.explored.depth += 1;
        self.enter(rooms, next, states, bytes);
        true
    }

    /// Starts the trace reconstruction if a violation or fault was found; otherwise ends.
    fn trace(&mut self) -> bool {
        let explored = self.first.as_ref().unwrap_or(&self.explored);
        let Some((depth, found)) = explored.found else { return self.end(None, None) };
        match self.levels.take() {
            Some(mut levels) => {
                levels.truncate(depth as usize);
                self.moves = vec![(found.state, found.by)];
                self.step_back(found.state, levels)
            }
            None => self.explore_again(depth),
        }
    }

    /// Explores the levels before the violation again, and keeps them.
    fn explore_again(&mut self, depth: u32) -> bool {
        let past_violations = self.plan.past_violations;
        self.plan = Plan { past_violations, end: depth, keep: u64::MAX, tracing: true };
        self.first = Some(std::mem::replace(&mut self.explored, Explored::begun()));
        (self.levels, self.bytes_kept) = (Some(Vec::new()), 0);
        self.stage = Stage::Agreement(None);
        let rooms = self.rooms().ok();
        self.begin(rooms)
    }

    /// Starts the search for a predecessor of a state in the last of these levels.
    fn step_back(&mut self, target: [u64; W], levels: Vec<Vec<Chunk<W>>>) -> bool {
        if levels.is_empty() {
            let mut moves = take(&mut self.moves);
            moves.reverse();
            return self.end(None, Some(moves));
        }
        self.stage = Stage::Trace(Trace { target, levels, least: None });
        true
    }
}

impl<const W: usize> Part for SearchPart<'_, W> {
    fn work(&mut self, send: &mut Send<'_>) -> bool {
        let SharedSearch { product, watch, .. } = *self.shared;
        watch.look();
        let Place { worker: me, workers, .. } = self.place;
        let is_done = match &mut self.stage {
            Stage::Agreement(_) => true,
            Stage::Trace(trace) => trace.look_at_chunk(product) || watch.cause().is_some(),
            Stage::Level(at) => match (at.rooms.as_deref_mut(), at.level.take(watch)) {
                (Some(Rooms { store, worker }), Some(chunk)) if watch.cause().is_none() => {
                    let outgoing = &mut self.outgoing;
                    let to = |buffers: &mut Vec<Vec<[u64; W]>>, next: [u64; W]| {
                        let hash = store.hash(&next);
                        let owner = owner(hash, workers);
                        if owner == me {
                            buffer(hash, next, buffers, store, watch);
                            return;
                        }
                        let batch = outgoing.entry(owner).or_insert_with(|| vec![STATES]);
                        batch.extend(next);
                        if batch.len() > BATCH * W {
                            send(owner, std::mem::replace(batch, vec![STATES]));
                        }
                    };
                    match worker.explore_to(&chunk, product, watch, at.states, to) {
                        true => at.level.explored(chunk),
                        false => at.level.put_back(chunk),
                    }
                    false
                }
                _ => true,
            },
        };
        self.tick();
        if !is_done {
            return true;
        }
        for (owner, batch) in take(&mut self.outgoing) {
            if batch.len() > 1 {
                send(owner, batch);
            }
        }
        if let Some(cause) = watch.cause()
            && !std::mem::replace(&mut self.has_told, true)
        {
            let others = (0..workers).filter(|&worker| worker != me);
            others.for_each(|other| send(other, vec![CAUSE, cause.number().into()]));
        }
        false
    }

    fn receive(&mut self, words: &[u64]) {
        let watch = self.shared.watch;
        match words {
            [STATES, states @ ..] => {
                let Stage::Level(at) = &mut self.stage else { return };
                let Some(Rooms { store, worker }) = at.rooms.as_deref_mut() else { return };
                for state in states.as_chunks::<W>().0 {
                    worker.receive(*state, store, watch);
                }
            }
            [CAUSE, cause] => {
                if let Some(cause) = u8::try_from(*cause).ok().and_then(Unfinished::from_number) {
                    watch.end(cause);
                }
                self.has_told = true;
            }
            _ => debug_assert!(false, "no part sends anything else"),
        }
    }

    fn report(&mut self) -> Vec<u64> {
        let shared = self.shared;
        let report = match &mut self.stage {
            Stage::Agreement(rooms) => {
                Report { is_exhausted: rooms.is_none(), ..Report::default() }
            }
            Stage::Level(at) => {
                let levels = self.levels.as_mut();
                at.report(shared, self.place, levels, &mut self.explored.defect)
            }
            Stage::Trace(trace) => Report { by: trace.least, ..Report::default() },
        };
        let peak = shared.memories.iter().map(super::Memory::peak).max().unwrap_or(0);
        let report = Report {
            key: shared.key,
            cause: shared.watch.cause(),
            limits: shared.product.limits(),
            peak: if self.place.is_first { peak } else { 0 },
            ..report
        };
        report.words()
    }

    fn decide(&mut self, reports: &[Vec<u64>]) -> bool {
        let key = self.shared.key;
        let read = |words: &Vec<u64>| Report::<W>::read(words).filter(|report| report.key == key);
        let known: Vec<Report<W>> = reports.iter().map_while(read).collect();
        if known.len() < reports.len() {
            return self.fail(Failure::Differs { worker: known.len() });
        }
        let reports = known;
        self.peak = self.peak.max(reports.iter().map(|report| report.peak).sum());
        reports.iter().for_each(|report| self.shared.product.has_reached(report.limits));
        let exhausted = reports.iter().position(|report| report.is_exhausted);
        let out_of_memory = exhausted.map(|_| Unfinished::Memory);
        let causes = reports.iter().filter_map(|report| report.cause);
        let cause = causes.min_by_key(|cause| cause.number()).or(out_of_memory);
        match &mut self.stage {
            Stage::Agreement(rooms) => {
                let rooms = rooms.take();
                if let Some(worker) = exhausted {
                    return self.fail(Failure::Memory { worker });
                }
                // If the watch has ended, the first level ends at its start.
                self.begin(rooms) || self.end(Some(Unfinished::TooNarrow), None)
            }
            Stage::Level(_) => self.decide_level(&reports, cause),
            Stage::Trace(trace) => {
                let mut levels = take(&mut trace.levels);
                let step = reports.iter().filter_map(|report| report.by).min();
                levels.pop();
                match (step, cause) {
                    (Some(step), None) => {
                        self.moves.push(step);
                        self.step_back(step.0, levels)
                    }
                    (_, cause) => {
                        debug_assert!(cause.is_some(), "every state has a predecessor");
                        self.end(cause.or(Some(Unfinished::Interrupted)), None)
                    }
                }
            }
        }
    }
}
