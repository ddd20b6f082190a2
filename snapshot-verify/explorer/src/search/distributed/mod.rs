//! One search by many workers, in one process or in several on several machines.
//!
//! The search knows neither threads nor sockets here. It is a [`Job`] of as many [`Part`]s as
//! there are workers, and an [`Engine`] runs them in *rounds*: in a round each part works, and
//! sends words to others; when all have finished and all that was sent has been received, each
//! gives a report; and when each has the reports of all, they decide how to go on. All decide
//! alike, since they decide by the same reports.
//!
//! A state belongs to the part that its hash names (`part`), and a level of the search is a
//! round. So what is on which level is what it is in the search of one process: the
//! counts, the verdict and the shortest trace are the same for any number of workers. Domination is
//! no obstacle: the hash leaves out what domination compares, so states of which one may dominate
//! another belong to the same part.
//!
//! All processes prepare the same instance, each for itself. That they did is the first report.

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
    /// How many workers this process has.
    fn workers(&self) -> usize;

    /// Bytes that messages may take in this process.
    fn bytes(&self) -> u64;

    /// Runs a job to its end. All processes must run the same jobs in the same order.
    ///
    /// # Errors
    /// If another process is lost.
    fn run(&self, job: &dyn Job) -> Result<(), Failure>;
}

/// What all workers do together.
pub trait Job: Sync {
    /// The part of a worker; called on its thread, once.
    fn part(&self, place: Place) -> Box<dyn Part + '_>;
}

/// A worker among all.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Place {
    /// Its number among the workers of all processes.
    pub worker: usize,
    /// How many these are.
    pub workers: usize,
    /// Whether it is the first of its process.
    pub is_first: bool,
}

/// Sends words to the part with this number; they are received in the same round.
pub type Send<'a> = dyn FnMut(usize, Vec<u64>) + 'a;

/// What one worker does.
pub trait Part {
    /// Works for about a millisecond; whether there is more to do in this round.
    fn work(&mut self, send: &mut Send<'_>) -> bool;

    /// Takes what another part has sent in this round.
    fn receive(&mut self, words: &[u64]);

    /// What all are to know, now that the round is complete.
    fn report(&mut self) -> Vec<u64>;

    /// Whether there is another round, by the reports of all, in order of their numbers.
    fn decide(&mut self, reports: &[Vec<u64>]) -> bool;
}

/// Why workers cannot go on together.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
pub enum Failure {
    /// A process does not answer any more.
    #[error(
        "process {process} of the cluster ({address}) is lost: {reason}. There is no answer; start \
         all processes again"
    )]
    Lost {
        /// Which.
        process: usize,
        /// Where it was.
        address: String,
        /// What the connection says.
        reason: String,
    },
    /// A process has ended before the others.
    #[error(
        "process {process} of the cluster ({address}) has ended before this one: see what it \
         says, give all processes the same algorithms and options, and start them again"
    )]
    Ended {
        /// Which.
        process: usize,
        /// Where it was.
        address: String,
    },
    /// A worker searches something else.
    #[error(
        "worker {worker} of the cluster searches something else: give all processes the same \
         version of this program, the same algorithms and the same options"
    )]
    Differs {
        /// The first of those that do.
        worker: usize,
    },
    /// The self-check of another process has found something.
    #[error(
        "worker {worker} of the cluster has found a BUG in this program: see what its process says"
    )]
    Defect {
        /// Which.
        worker: usize,
    },
    /// The memory of a process does not suffice to begin.
    #[error(
        "worker {worker} of the cluster has no memory to begin: give its process more --memory"
    )]
    Memory {
        /// Which.
        worker: usize,
    },
}

/// What the parts of one process share.
struct SharedSearch<'a, const W: usize> {
    product: &'a Product<'a>,
    watch: &'a Supervisor<'a>,
    monotone: &'a Monotone,
    /// Of the search, and of the second one for the trace.
    memories: [Memory; 2],
    antichain: bool,
    past_violations: bool,
    most_states: u64,
    self_check: Option<(SelfCheck, &'a Instance)>,
    /// What the search is known by.
    key: u64,
    /// Bytes that explored levels of all processes may take before they are forgotten.
    keep: u64,
    progress: Mutex<Option<Sender<Progress>>>,
    ended: Mutex<Option<Result<Ended<W>, Failure>>>,
}

/// What all parts have decided.
struct Ended<const W: usize> {
    explored: Explored<W>,
    cause: Option<Unfinished>,
    /// To what was found.
    moves: Option<Vec<([u64; W], Move)>>,
    /// The most memory that states took in all processes.
    peak_bytes: u64,
}

impl<const W: usize> Job for SharedSearch<'_, W> {
    fn part(&self, place: Place) -> Box<dyn Part + '_> {
        Box::new(SearchPart::new(self, place))
    }
}

impl<const W: usize> SharedSearch<'_, W> {
    /// All parts end alike, but a defect that was found here says more than that there is one.
    fn end(&self, ended: Result<Ended<W>, Failure>) {
        let mut place = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        let says_more = matches!(&ended, Ok(ended) if ended.explored.defect.is_some());
        if place.is_none() || says_more {
            *place = Some(ended);
        }
    }

    /// Where to report progress: for one part.
    fn sender(&self) -> Option<Sender<Progress>> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl Exploration<'_> {
    /// The search by the workers of an engine.
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

/// Runs a search, while progress is reported on this thread.
fn run<const W: usize>(
    engine: &dyn Engine,
    search: &SharedSearch<'_, W>,
    receiver: Receiver<Progress>,
    progress: &mut dyn FnMut(&Progress),
) -> Result<(), Failure> {
    std::thread::scope(|scope| {
        let running = scope.spawn(|| {
            let run = engine.run(search);
            // No part has it if none has begun.
            drop(search.sender());
            run
        });
        // Ends when the part that has the sender does.
        for report in receiver {
            progress(&report);
        }
        running.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// The least memory for the states of this many workers.
fn least_bytes<const W: usize>(workers: usize) -> u64 {
    let each = Store::<W>::LEAST_BYTES + Worker::<'_, W>::BYTES + Frontier::<W>::CHUNK_BYTES;
    (workers * each) as u64
}

/// A number for what is shown: the same in all processes that run the same program.
fn key(search: &dyn fmt::Debug) -> u64 {
    struct Hash(DefaultHasher);
    impl fmt::Write for Hash {
        fn write_str(&mut self, text: &str) -> fmt::Result {
            self.0.write(text.as_bytes());
            Ok(())
        }
    }
    let mut hash = Hash(DefaultHasher::new());
    // Nothing that is hashed can fail.
    let _ = fmt::write(&mut hash, format_args!("{search:?}"));
    hash.0.finish()
}
