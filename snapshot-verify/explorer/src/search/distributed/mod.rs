//! One search by many workers, in one process or in several on several machines.
//!
//! This module knows neither threads nor sockets. The search is a [`Job`] with one [`Part`] per
//! worker, and an [`Engine`] runs the parts in *rounds*. In a round each part works and sends words
//! to others. When all have finished and all messages are received, each part gives a report. When
//! each part has all reports, it decides how to continue. All parts make the same decision, by the
//! same reports.
//!
//! The hash of a state determines the part that owns it (`part`), and a level of the search is a
//! round. So each level has the same states as in a search by one process, and the counts, the
//! verdict and the shortest trace are the same for any number of workers. This holds with
//! dominance, too: the hash leaves out the bits that dominance compares, so a state and the states
//! it dominates belong to the same part.
//!
//! Each process prepares the instance for itself. The first report checks that all instances are
//! equal.

mod level;
mod part;
mod report;

use std::fmt;
use std::hash::{DefaultHasher, Hasher};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, PoisonError};

use thiserror::Error;

use super::breadth_first::Explored;
use super::budget::{Memory, Supervisor, Unfinished};
use super::checkpoint::Identity;
use super::outcome::{Outcome, Progress, SearchVerdict};
use super::product::{Move, Product};
use super::self_check::SelfCheck;
use super::store::{Frontier, Store};
use super::worker::Worker;
use super::{Exploration, ExploreError, KEEP_BYTES, stopped, trace_reconstruction};
use crate::instance::Instance;
use crate::search::layout::Monotone;
use part::SearchPart;

/// Runs the parts of jobs, one on each worker of all processes.
pub trait Engine: fmt::Debug + Sync {
    /// Returns the number of workers of this process.
    fn workers(&self) -> usize;

    /// Returns the number of bytes that messages may take in this process.
    fn bytes(&self) -> u64;

    /// Runs a job to completion. All processes must run the same jobs in the same order.
    ///
    /// # Errors
    /// If another process is lost.
    fn run(&self, job: &dyn Job) -> Result<(), Failure>;
}

/// The common task of all workers.
pub trait Job: Sync {
    /// Creates the part of a worker; called on its thread, once.
    fn part(&self, place: Place) -> Box<dyn Part + '_>;
}

/// A worker's position among all workers.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Place {
    /// The worker's number among the workers of all processes.
    pub worker: usize,
    /// The number of workers of all processes.
    pub workers: usize,
    /// Whether the worker is the first of its process.
    pub is_first: bool,
}

/// Sends words to the part with this number. They are received in the same round.
pub type Send<'a> = dyn FnMut(usize, Vec<u64>) + 'a;

/// The part of a job that one worker runs.
pub trait Part {
    /// Works for about a millisecond. Returns true if there is more to do in this round.
    fn work(&mut self, send: &mut Send<'_>) -> bool;

    /// Receives words that another part sent in this round.
    fn receive(&mut self, words: &[u64]);

    /// Returns the part's report on the round, which is complete.
    fn report(&mut self) -> Vec<u64>;

    /// Decides by the reports of all parts, in order of their numbers. Returns true if there is
    /// another round.
    fn decide(&mut self, reports: &[Vec<u64>]) -> bool;
}

/// Why workers cannot continue together.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
pub enum Failure {
    /// A process does not answer any more.
    #[error(
        "process {process} of the cluster ({address}) is lost: {reason}. There is no answer; start \
         all processes again"
    )]
    Lost {
        process: usize,
        /// The network address of the process.
        address: String,
        /// The error of the connection.
        reason: String,
    },
    /// A process has ended before the others.
    #[error(
        "process {process} of the cluster ({address}) has ended before this one: see what it \
         says, give all processes the same algorithms and options, and start them again"
    )]
    Ended {
        process: usize,
        /// The network address of the process.
        address: String,
    },
    /// A worker searches another instance or with other options.
    #[error(
        "worker {worker} of the cluster searches something else: give all processes the same \
         version of this program, the same algorithms and the same options"
    )]
    Differs {
        /// The first such worker.
        worker: usize,
    },
    /// The self-check of another process has found a defect.
    #[error(
        "worker {worker} of the cluster has found a BUG in this program: see what its process says"
    )]
    Defect {
        /// Its number among the workers of all processes.
        worker: usize,
    },
    /// The memory of a process does not suffice to begin.
    #[error(
        "worker {worker} of the cluster has no memory to begin: give its process more --memory"
    )]
    Memory {
        /// Its number among the workers of all processes.
        worker: usize,
    },
}

/// State shared by the parts of one process.
struct SharedSearch<'a, const W: usize> {
    product: &'a Product<'a>,
    watch: &'a Supervisor<'a>,
    monotone: &'a Monotone,
    /// The memory of the search, and of the second search for the trace.
    memories: [Memory; 2],
    antichain: bool,
    past_violations: bool,
    most_states: u64,
    self_check: Option<(SelfCheck, &'a Instance)>,
    /// A hash of the search's parameters.
    key: u64,
    /// The number of bytes that explored levels of all processes may take before they are dropped.
    keep: u64,
    progress: Mutex<Option<Sender<Progress>>>,
    ended: Mutex<Option<Result<Ended<W>, Failure>>>,
}

/// The common result of all parts.
struct Ended<const W: usize> {
    explored: Explored<W>,
    cause: Option<Unfinished>,
    /// The moves to the violation or fault.
    moves: Option<Vec<([u64; W], Move)>>,
    /// The greatest number of bytes that states took in all processes.
    peak_bytes: u64,
}

impl<const W: usize> Job for SharedSearch<'_, W> {
    fn part(&self, place: Place) -> Box<dyn Part + '_> {
        Box::new(SearchPart::new(self, place))
    }
}

impl<const W: usize> SharedSearch<'_, W> {
    /// Records the result. All parts have the same result, but a defect found here replaces the
    /// bare failure that some part has one.
    fn end(&self, ended: Result<Ended<W>, Failure>) {
        let mut place = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        let says_more = matches!(&ended, Ok(ended) if ended.explored.defect.is_some());
        if place.is_none() || says_more {
            *place = Some(ended);
        }
    }

    /// Takes the sender for progress reports; only one part gets it.
    fn sender(&self) -> Option<Sender<Progress>> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl Exploration<'_> {
    /// Searches with the workers of an engine.
    pub(super) fn explore_distributed<const W: usize>(
        &self,
        engine: &dyn Engine,
        product: &Product<'_>,
        instance: &Instance,
        progress: &mut dyn FnMut(&Progress),
    ) -> Result<Outcome, ExploreError> {
        let watch = Supervisor::new(self.time, [self.stop, self.answered]);
        let given = self.memory;
        let least = engine.bytes() + least_bytes::<W>(engine.workers());
        if given < least {
            return Err(ExploreError::Memory { given, least });
        }
        let memory = given - engine.bytes();
        let identity = Identity { of: self, layout: product.layout(), instance };
        let nothing = Monotone::default();
        let antichain = self.antichain && !self.past_violations;
        let (sender, receiver) = channel();
        let search = SharedSearch::<W> {
            product,
            watch: &watch,
            monotone: if antichain { product.layout().monotone() } else { &nothing },
            memories: [Memory::new(memory), Memory::new(memory)],
            antichain,
            past_violations: self.past_violations,
            most_states: self.most_states.unwrap_or(u64::MAX),
            self_check: self.self_check.map(|options| (options, instance)),
            key: key(&identity),
            keep: KEEP_BYTES.min(self.memory / 8),
            progress: Mutex::new(Some(sender)),
            ended: Mutex::new(None),
        };
        run(engine, &search, receiver, progress)?;
        let ended = search.ended.into_inner().unwrap_or_else(PoisonError::into_inner);
        let Ended { explored, cause, moves, peak_bytes } =
            ended.expect("an engine runs all parts until they have decided")?;
        if let Some(defect) = explored.defect {
            return Err(ExploreError::SelfCheck(Box::new(defect)));
        }
        let verdict = match (explored.found, cause, moves) {
            (None, None, _) => SearchVerdict::Verified,
            (Some((_, found)), None, Some(moves)) => {
                stopped(found.stop, trace_reconstruction::walk(product, &moves))
            }
            (found, cause, _) => SearchVerdict::Unknown {
                cause: cause.unwrap_or(Unfinished::Interrupted),
                found_at: found.map(|(depth, _)| depth + 1),
            },
        };
        let Explored { states, transitions, depth, examined, .. } = explored;
        let seconds = watch.elapsed().as_secs_f64();
        let limits = product.limits();
        Ok(Outcome { verdict, states, transitions, depth, seconds, peak_bytes, examined, limits })
    }
}

/// Runs a search, and reports progress on this thread.
fn run<const W: usize>(
    engine: &dyn Engine,
    search: &SharedSearch<'_, W>,
    receiver: Receiver<Progress>,
    progress: &mut dyn FnMut(&Progress),
) -> Result<(), Failure> {
    std::thread::scope(|scope| {
        let running = scope.spawn(|| {
            let run = engine.run(search);
            // If no part has begun, none has taken the sender.
            drop(search.sender());
            run
        });
        // The loop ends when the part that has the sender drops it.
        for report in receiver {
            progress(&report);
        }
        running.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// Returns the least memory for the states of this many workers.
fn least_bytes<const W: usize>(workers: usize) -> u64 {
    let each = Store::<W>::LEAST_BYTES + Worker::<'_, W>::BYTES + Frontier::<W>::CHUNK_BYTES;
    (workers * each) as u64
}

/// Returns a hash of the debug representation: equal in all processes that run the same program.
fn key(search: &dyn fmt::Debug) -> u64 {
    struct Hash(DefaultHasher);
    impl fmt::Write for Hash {
        fn write_str(&mut self, text: &str) -> fmt::Result {
            self.0.write(text.as_bytes());
            Ok(())
        }
    }
    let mut hash = Hash(DefaultHasher::new());
    // Writing to the hash cannot fail.
    let _ = fmt::write(&mut hash, format_args!("{search:?}"));
    hash.0.finish()
}
