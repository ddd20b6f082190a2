//! The search: verified, a shortest counterexample, or unknown.
//!
//! [`Exploration::run`] explores the product of an [`Instance`] with the most general client and
//! the observer ([`product`]). It searches breadth-first with all threads (`breadth_first`) and
//! stores every visited state exactly, in packed form (`store`, [`crate::search::layout`]). The
//! search knows neither the language nor how an instance was made: reductions run before it, and
//! canonical forms are passed to it ([`canonical`]).
//!
//! # Answers
//!
//! * *Verified*: no reachable response makes the observer accept, within the given bounds
//!   (operations per process, active processes).
//! * *Violation*: a shortest sequence of steps to a response that makes the observer accept.
//! * *Fault*: the program goes wrong before any violation.
//! * *Unknown*: a budget ran out; nothing is claimed.
//!
//! The first three, their counts and the trace do not depend on the number of threads.
//!
//! # Why the antichain is sound
//!
//! State t dominates state s if they differ at most in two parts:
//!
//! * the bits `must`, `needed`, `bad` (current, and after the next barrier), of which t has all
//!   bits of s;
//! * the numbers of operations and barriers left, where t has no fewer than s.
//!
//! 1. *Every move of s is a move of t.* The algorithm does not read these bits. Nor does the
//!    client: it reads only `invoked`, and begins an operation where any are left. So every move
//!    from s is a move from t, with the same effect on slots and locations, and t still has at
//!    least as many operations left after it.
//!
//!    An invocation behind a barrier is tried only where some operation has ended. If one has ended
//!    in s but none in t, then t has the same invocation without a barrier instead. All its
//!    processes may begin operations, as after the barrier, and its observer knows the same as
//!    behind the barrier, at least as much as in s.
//! 2. *The observer is monotone in its bits.* If a move from s leads to s', the same move from t
//!    leads to a violation or to a t' that dominates s'. Each transition of the observer sets or
//!    copies these bits and never clears one (a response clears `must` in both). The observer
//!    accepts if some bits are set, never because a bit is not set.
//!    `tests/all/explore/antichain.rs` tests this for all states and all transitions.
//! 3. *By induction*, t leads to every violation that s leads to, in at most as many steps. A
//!    dropped state was dominated by a state explored on the same or an earlier level. An
//!    overwritten state is dominated by a state that waits on the same level. Hence on every level,
//!    each state at that distance is dominated by a state explored on that level or before: no
//!    violation is missed, and the first one found is shortest.
//!
//! Canonical forms do not disturb this: they are applied to both states before the comparison, and
//! a missed domination costs only time.
//!
//! With `past_violations` all states are wanted, so the antichain is not used.
//!
//! # Ample steps
//!
//! If [`canonical::Ample`] says that a step commutes with all future steps of the other processes,
//! the search takes it immediately: the state is replaced by its successor. From there every
//! violation can still be reached, in at most as many steps. With the antichain, the proof is by
//! induction on the length of a shortest path to a violation: a successor on that path, the state
//! after its ample steps, and a state that dominates it each have a path of at most this length. So
//! no violation is missed. The first one found is shortest in steps of the search, but not in steps
//! of the program.

pub mod canonical;
pub mod code;
pub mod layout;
pub mod product;
pub mod self_check;

mod breadth_first;
mod budget;
pub mod checkpoint;
pub mod distributed;
mod error;
mod level;
mod outcome;
pub mod spill;
mod store;
mod trace_reconstruction;
mod worker;

use std::collections::BTreeSet;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use snapshot_core::Process;

pub(crate) use budget::Supervisor;
pub use budget::Unfinished;
pub use canonical::{Ample, Forgetting, Numbering, Permutation, Symmetry};
pub use code::{CodeError, Fault};
pub use error::ExploreError;
pub use outcome::{Outcome, PathStep, Progress, SearchPath, SearchVerdict};
pub use product::{Choice, Move, Stop};
pub use self_check::{Defect, Examined, SelfCheck};

use crate::instance::Instance;
use crate::search::layout::{Layout, LayoutError, Needs};
use breadth_first::{Explored, Plan, Search, StartError};
use budget::Memory;
use checkpoint::{Checkpoint, CheckpointError, CheckpointStore, Ended, Ending, Identity, Kept};
use code::Code;
use distributed::Engine;
use product::{Product, Rules};
use spill::{Disk, Files};
use store::{Frontier, Store};
use trace_reconstruction::LevelStates;
use worker::{Found, Worker};

/// Explored levels are kept for the trace while they take at most this much, and at most an eighth
/// of the memory. Beyond that a violation costs a second search.
const KEEP_BYTES: u64 = 8 << 20;

/// States of an execution, each with the move that leads to it.
type Way<const W: usize> = Vec<([u64; W], Move)>;

/// Parameters of a search.
#[derive(Clone, Debug)]
pub struct Exploration<'a> {
    /// The number of operations that each process may begin, less than 2^31; `None` for no bound.
    pub operations: Option<u32>,
    /// The number of barriers of an execution, less than 2^31 - 1; `None` for no bound. If set,
    /// `operations` must be `None`: a process can begin at most one operation between two barriers.
    /// [`product`] describes the explored executions.
    pub barriers: Option<u32>,
    /// The processes that may begin operations; `None` for all.
    pub active: Option<BTreeSet<Process>>,
    /// The number of threads, at least 1.
    pub threads: usize,
    /// The number of bytes that states may take.
    pub memory: u64,
    /// The time that the search may take.
    pub time: Option<Duration>,
    /// Ends the search once set.
    pub stop: Option<&'a AtomicBool>,
    /// Ends the search once set: the question was answered by other means.
    pub answered: Option<&'a AtomicBool>,
    /// Continue past violations and faults. After a violation the observer continues with the bits
    /// that the response sets; a fault has no successor. This is for counting: the verdict is the
    /// same.
    pub past_violations: bool,
    /// Drop dominated states; see the module's page.
    pub antichain: bool,
    /// The reset of dead slots after every step.
    pub forgetting: Option<&'a dyn Forgetting>,
    /// The canonical form of versions and counters; required if there are any.
    pub numbering: Option<&'a dyn Numbering>,
    /// A bound on the numbers of a canonical form, for smaller states. If a larger number occurs,
    /// the search ends for [`Unfinished::TooNarrow`].
    pub most_numbers: Option<u32>,
    /// A bound on the number of states. The search ends for [`Unfinished::TooMany`] after the first
    /// level that exceeds it, unless it has an answer.
    pub most_states: Option<u64>,
    /// The symmetry among processes.
    pub symmetry: Option<&'a dyn Symmetry>,
    /// The choice of ample steps; ignored with `past_violations`.
    pub ample: Option<&'a dyn Ample>,
    /// The density of the self-check, if it is on.
    pub self_check: Option<SelfCheck>,
    /// The place of states.
    pub storage: Storage<'a>,
}

/// Place of the states of a search.
#[derive(Clone, Copy, Debug, Default)]
pub enum Storage<'a> {
    /// The memory of this process.
    #[default]
    Memory,
    /// The memory, with checkpoints; the search resumes from its record.
    Checkpoints(&'a dyn CheckpointStore),
    /// The memory, and a disk for the states that exceed it.
    Disk {
        /// The disk.
        disk: &'a dyn Disk,
        /// States go to the disk once more bytes than this are in use. `None` reserves room for the
        /// work that threads have begun when the memory gets full.
        above: Option<u64>,
    },
    /// The memory of the workers of an engine, which runs the search in place of `threads`. The
    /// search's `memory` is that of this process.
    Workers(&'a dyn Engine),
}

impl Default for Exploration<'_> {
    /// Creates parameters without bounds and reductions, with one thread and a gibibyte, and with a
    /// self-check in debug builds.
    fn default() -> Self {
        Self {
            operations: None,
            barriers: None,
            active: None,
            threads: 1,
            memory: 1 << 30,
            time: None,
            stop: None,
            answered: None,
            past_violations: false,
            antichain: false,
            forgetting: None,
            numbering: None,
            most_numbers: None,
            most_states: None,
            symmetry: None,
            ample: None,
            self_check: SelfCheck::of_build(),
            storage: Storage::Memory,
        }
    }
}

impl Exploration<'_> {
    /// Returns the packed layout of the instance's states under these bounds.
    ///
    /// # Errors
    /// If a state is too large, or a slot has no finite domain.
    pub fn layout(&self, instance: &Instance) -> Result<Layout, LayoutError> {
        let operations = self.operations_of(instance);
        let operations = operations.as_deref();
        let numbers = |slot| self.numbering.map(|numbering| numbering.numbers(slot));
        let is_renamed = |slot| self.numbering.is_some_and(|numbering| numbering.is_renamed(slot));
        let (numbers, is_renamed) = (&numbers as _, &is_renamed as _);
        let most_numbers = self.most_numbers;
        let barriers = self.barriers;
        let needs = Needs { operations, barriers, numbers, is_renamed, most_numbers };
        Layout::new(instance, &needs)
    }

    /// Explores an instance. Calls `progress` about twice a second, and between two levels.
    ///
    /// # Errors
    /// If the instance cannot be explored at all.
    ///
    /// # Panics
    /// If the instance breaks its contract: for example, a slot is assigned a scalar outside its
    /// domain.
    /// domain, say.
    pub fn run(
        &self,
        instance: &Instance,
        progress: &mut dyn FnMut(&Progress),
    ) -> Result<Outcome, ExploreError> {
        // The widths of `layout::COMPILED`.
        self.product_in(self.layout(instance)?.compiled(), instance, |product| {
            match product.layout().words() {
                2 => self.explore::<2>(product, instance, progress),
                4 => self.explore::<4>(product, instance, progress),
                8 => self.explore::<8>(product, instance, progress),
                _ => self.explore::<32>(product, instance, progress),
            }
        })?
    }

    /// Calls `with` on the product that would be explored, for callers that walk in it.
    ///
    /// # Errors
    /// If the instance cannot be explored at all.
    pub fn product<R>(
        &self,
        instance: &Instance,
        with: impl FnOnce(&Product<'_>) -> R,
    ) -> Result<R, ExploreError> {
        self.product_in(self.layout(instance)?, instance, with)
    }

    fn product_in<R>(
        &self,
        layout: Layout,
        instance: &Instance,
        with: impl FnOnce(&Product<'_>) -> R,
    ) -> Result<R, ExploreError> {
        let first_fresh = self.numbering.map_or(0, Numbering::first_fresh);
        let code = Code::new(instance, first_fresh)?;
        let active = (0..instance.processes).map(|process| self.is_active(process));
        let operations = self.operations_of(instance);
        let rules = Rules {
            operations: operations.as_deref(),
            barriers: self.barriers,
            active: &active.collect::<Vec<bool>>(),
            forgetting: self.forgetting,
            numbering: self.numbering,
            symmetry: self.symmetry,
            ample: self.ample.filter(|_| !self.past_violations),
            past_violations: self.past_violations,
        };
        Ok(with(&Product::new(instance, &layout, code, &rules)))
    }

    fn is_active(&self, process: usize) -> bool {
        self.active.as_ref().is_none_or(|active| active.contains(&Process::from_index(process)))
    }

    fn operations_of(&self, instance: &Instance) -> Option<Vec<u32>> {
        debug_assert!(self.barriers.is_none() || self.operations.is_none());
        let operations = self.operations.or(self.barriers.map(|_| 1))?;
        let of = |process| if self.is_active(process) { operations } else { 0 };
        Some((0..instance.processes).map(of).collect())
    }

    fn explore<const W: usize>(
        &self,
        product: &Product<'_>,
        instance: &Instance,
        progress: &mut dyn FnMut(&Progress),
    ) -> Result<Outcome, ExploreError> {
        if let Storage::Workers(engine) = self.storage {
            return self.explore_distributed::<W>(engine, product, instance, progress);
        }
        let watch = Supervisor::new(self.time, [self.stop, self.answered]);
        let memory = Memory::new(self.memory);
        let spill_above = self.spill_above::<W>()?;
        let identity = Identity { of: self, layout: product.layout(), instance };
        let checkpoint = match self.storage {
            Storage::Checkpoints(keeper) => Some(Checkpoint { keeper, key: keeper.key(&identity) }),
            _ => None,
        };
        let unusable = |error| {
            let place = checkpoint.map(|of| of.keeper.place(&of.key)).unwrap_or_default();
            ExploreError::Checkpoint { place, error }
        };
        let kept = checkpoint.map(|of| of.keeper.open(&of.key)).transpose();
        let mut kept = match kept.map_err(unusable)? {
            Some(Kept::Ended(record)) => {
                return outcome_of::<W>(product, &record).map_err(unusable);
            }
            Some(Kept::UnderWay(kept)) => Some(kept),
            Some(Kept::Nothing) | None => None,
        };
        let disk = match self.storage {
            Storage::Disk { disk, .. } => Some(disk),
            _ => None,
        };
        let files = disk.map(|disk| Files::new(disk, self.memory));
        let search = |memory, checkpoint| Search {
            product,
            memory,
            watch: &watch,
            threads: self.threads.max(1),
            antichain: self.antichain && !self.past_violations,
            most_states: self.most_states.unwrap_or(u64::MAX),
            self_check: self.self_check.map(|options| (options, instance)),
            checkpoint,
            files,
            spill_above,
        };
        let plan = Plan {
            past_violations: self.past_violations,
            end: u32::MAX,
            keep: KEEP_BYTES.min(self.memory / 8),
            tracing: false,
        };
        let kept = kept.as_mut().map(|kept| kept as _);
        let outcome = search(&memory, checkpoint).run::<W>(plan, kept, progress);
        let mut explored = outcome.map_err(|error| match error {
            StartError::Exhausted => self.too_little_memory::<W>(),
            StartError::Checkpoint(error) => unusable(error),
        })?;
        if let Some(defect) = explored.defect.take() {
            return Err(ExploreError::SelfCheck(Box::new(defect)));
        }
        let again = Memory::new(self.memory);
        let search = search(&again, None);
        let (verdict, moves) = self.verdict(&search, &mut explored, watch.cause(), progress);
        let peak_bytes = memory.peak().max(again.peak());
        if let Some(disk) = disk {
            disk.clear();
        }
        if let Some(error) = watch.take_error() {
            return Err(ExploreError::Disk { reason: error.to_string() });
        }
        if let Some(checkpoint) = checkpoint {
            checkpoint.end(product, &explored, peak_bytes, watch.cause(), moves.as_deref());
        }
        let Explored { states, transitions, depth, examined, .. } = explored;
        let seconds = watch.elapsed().as_secs_f64();
        let limits = product.limits();
        Ok(Outcome { verdict, states, transitions, depth, seconds, peak_bytes, examined, limits })
    }

    /// Returns the verdict of a search, and the moves to a violation or fault, which `search`
    /// reconstructs.
    fn verdict<const W: usize>(
        &self,
        search: &Search<'_>,
        explored: &mut Explored<W>,
        cause: Option<Unfinished>,
        progress: &mut dyn FnMut(&Progress),
    ) -> (SearchVerdict, Option<Way<W>>) {
        let unknown = |cause, found_at| (SearchVerdict::Unknown { cause, found_at }, None);
        match (&explored.found, cause) {
            (None, None) => (SearchVerdict::Verified, None),
            (None, Some(cause)) => unknown(cause, None),
            // The level may be incomplete: an earlier violation may exist on it.
            (Some((depth, _)), Some(cause)) => unknown(cause, Some(depth + 1)),
            (Some((depth, found)), None) => {
                let levels = explored.levels.take();
                match self.way(search, levels, *depth, found, progress) {
                    Ok(way) => {
                        let trace = trace_reconstruction::walk(search.product, &way);
                        (stopped(found.stop, trace), Some(way))
                    }
                    Err(cause) => unknown(cause, Some(depth + 1)),
                }
            }
        }
    }
}

/// Decodes the record of a finished search.
fn outcome_of<const W: usize>(
    product: &Product<'_>,
    record: &[u8],
) -> Result<Outcome, CheckpointError> {
    let ended: Ended<W> = checkpoint::ended(product, record)?;
    let verdict = match ended.ending {
        Ending::Verified => SearchVerdict::Verified,
        Ending::Unfinished(cause) => SearchVerdict::Unknown { cause, found_at: None },
        Ending::Found(moves, stop) => stopped(stop, trace_reconstruction::walk(product, &moves)),
    };
    let Ended { states, transitions, depth, peak: peak_bytes, .. } = ended;
    let (seconds, examined) = (0.0, Examined::default());
    let limits = product.limits();
    Ok(Outcome { verdict, states, transitions, depth, seconds, peak_bytes, examined, limits })
}

/// Returns the verdict for a stopped step.
fn stopped(stop: Stop, trace: SearchPath) -> SearchVerdict {
    match stop {
        Stop::Violation(alarm) => SearchVerdict::Violation { trace, alarm },
        Stop::Fault(fault) => SearchVerdict::Fault { trace, fault },
        Stop::TooNarrow => unreachable!("that ends a search for its cause"),
    }
}

impl Exploration<'_> {
    /// Returns the moves to the violation or fault. Explores again if the levels were not kept.
    fn way<const W: usize>(
        &self,
        search: &Search<'_>,
        levels: Option<Vec<LevelStates<W>>>,
        depth: u32,
        found: &Found<W>,
        progress: &mut dyn FnMut(&Progress),
    ) -> Result<Way<W>, Unfinished> {
        let levels = match levels {
            Some(levels) => levels,
            None => {
                let plan = Plan {
                    past_violations: self.past_violations,
                    end: depth,
                    keep: u64::MAX,
                    tracing: true,
                };
                let again = search.run::<W>(plan, None, progress);
                again.map_err(|_| Unfinished::Memory)?.levels.unwrap_or_default()
            }
        };
        match search.watch.cause() {
            None => {}
            Some(cause) => return Err(cause),
        }
        let levels = &levels[..depth as usize];
        let moves = trace_reconstruction::moves(
            search.product,
            levels,
            search.files,
            found,
            search.threads,
            search.watch,
        );
        match (moves, search.watch.cause()) {
            (Some(moves), None) => Ok(moves),
            (_, cause) => Err(cause.unwrap_or(Unfinished::Interrupted)),
        }
    }

    /// Returns the number of bytes in use above which states go to the disk.
    fn spill_above<const W: usize>(&self) -> Result<u64, ExploreError> {
        match self.storage {
            Storage::Disk { above: None, .. } => {}
            Storage::Disk { above: Some(above), .. } => return Ok(above),
            _ => return Ok(u64::MAX),
        }
        let (given, threads) = (self.memory, self.threads.max(1));
        spill::share::<W>(given, threads, self.least_bytes::<W>())
            .map_err(|least| ExploreError::Memory { given, least })
    }

    /// Returns the least memory for states.
    fn least_bytes<const W: usize>(&self) -> u64 {
        let workers = self.threads.max(1) * Worker::<'_, W>::BYTES;
        (Store::<W>::LEAST_BYTES + workers + Frontier::<W>::CHUNK_BYTES) as u64
    }

    fn too_little_memory<const W: usize>(&self) -> ExploreError {
        ExploreError::Memory { given: self.memory, least: self.least_bytes::<W>() }
    }
}
