//! Searches by many workers: threads, processes, and several machines.
//!
//! [`Cluster`] is an [`Engine`] on timely dataflow. Its dataflow is a single exchange, by which
//! words go from each worker to each, and whose progress tells when a round is complete. It knows
//! nothing of states: the explorer ([`snapshot_explorer::search::distributed`]) decides the
//! messages and their receivers.
//!
//! | module | content |
//! | --- | --- |
//! | `rounds` | the dataflow of one worker, on which a part of a job runs |
//! | `connection` | sockets between all processes, with greetings |
//! | `link` | sockets that record how they ended instead of panicking |
//!
//! Only this crate depends on timely. It has no file, no option and no terminal.

#![forbid(unsafe_code)]

mod connection;
mod link;
mod rounds;

use std::any::Any;
use std::cell::RefCell;
use std::fmt;
use std::net::TcpStream;
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use rayon::{ThreadPool, ThreadPoolBuilder};
use snapshot_explorer::search::distributed::{Engine, Failure, Job};
use snapshot_io::hosts::Members;
use timely::communication::Hooks;
use timely::communication::allocator::zero_copy::initialize::initialize_networking_from_sockets;
use timely::communication::allocator::{Allocator, AllocatorBuilder, ProcessBuilder};

pub use connection::ClusterError;
use link::Links;
use rounds::{Node, WINDOW};

thread_local! {
    /// The node of a worker's thread, which cannot be sent to another thread.
    static NODE: RefCell<Option<Node>> = const { RefCell::new(None) };
}

/// The time after a worker's panic within which a lost connection counts as its cause.
const SOON: Duration = Duration::from_millis(100);

/// The time that other processes have to notice that this process has ended.
const FAREWELL: Duration = Duration::from_secs(2);

/// The workers of this process, connected with the workers of all other processes.
pub struct Cluster {
    /// One thread per worker.
    pool: ThreadPool,
    links: Links,
    /// The threads of the sockets.
    connections: Mutex<Box<dyn Any + Send>>,
}

impl fmt::Debug for Cluster {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cluster").field("links", &self.links).finish_non_exhaustive()
    }
}

impl Cluster {
    /// Starts workers as threads of this process.
    ///
    /// # Errors
    /// If the system does not grant enough threads.
    pub fn of_threads(workers: NonZeroUsize) -> Result<Self, ClusterError> {
        let builders = processes_builders(workers, &Hooks::default()).into_iter();
        let builders = builders.map(AllocatorBuilder::Process).collect();
        Self::new(builders, Links::none(), Box::new(()))
    }

    /// Starts workers as threads in this process, as one of several, and waits at most for
    /// `patience` until all processes are connected.
    ///
    /// # Errors
    /// If they cannot be connected, or have other counts of processes or workers.
    pub fn of_processes(
        workers: NonZeroUsize,
        members: &Members,
        patience: Duration,
    ) -> Result<Self, ClusterError> {
        let sockets = connection::connect(members, workers, patience)?;
        let links = Links::new(members.addresses());
        let link = |(process, socket): (usize, Option<TcpStream>)| {
            socket.map(|socket| links.link(process, socket))
        };
        let sockets = sockets.into_iter().enumerate().map(link).collect();
        let hooks = Hooks::default();
        let inner = processes_builders(workers, &hooks);
        let connected = initialize_networking_from_sockets(
            inner,
            sockets,
            members.process(),
            workers.get(),
            hooks,
        );
        let (builders, guard) =
            connected.map_err(|error| ClusterError::Socket { reason: error.to_string() })?;
        let builders = builders.into_iter().map(AllocatorBuilder::Tcp).collect();
        Self::new(builders, links, Box::new(guard))
    }

    fn new(
        builders: Vec<AllocatorBuilder>,
        links: Links,
        connections: Box<dyn Any + Send>,
    ) -> Result<Self, ClusterError> {
        let threads = builders.len();
        let pool = ThreadPoolBuilder::new()
            .num_threads(threads)
            .thread_name(|worker| format!("worker-{worker}"))
            .build()
            .map_err(|error| ClusterError::Threads { threads, reason: error.to_string() })?;
        let builders: Mutex<Vec<Option<AllocatorBuilder>>> =
            Mutex::new(builders.into_iter().map(Some).collect());
        pool.broadcast(|thread| {
            let mut builders = builders.lock().unwrap_or_else(PoisonError::into_inner);
            let builder = builders[thread.index()].take();
            drop(builders);
            // Each process waits for all others here.
            let allocator = match builder {
                Some(AllocatorBuilder::Process(builder)) => Allocator::Process(builder.build()),
                Some(AllocatorBuilder::Tcp(builder)) => Allocator::Tcp(builder.build()),
                _ => return,
            };
            NODE.set(Some(Node::new(allocator, threads)));
        });
        Ok(Self { pool, links, connections: Mutex::new(connections) })
    }

    /// Returns the number of bytes of messages sent to other workers so far, including workers of
    /// this process: eight per word.
    pub fn bytes_sent(&self) -> u64 {
        self.links.words_sent() * 8
    }
}

impl Engine for Cluster {
    fn workers(&self) -> usize {
        self.pool.current_num_threads()
    }

    fn bytes(&self) -> u64 {
        // Messages sent but not yet received, and the same again for copies.
        (4 * WINDOW * size_of::<u64>() * self.workers()) as u64
    }

    fn run(&self, job: &dyn Job) -> Result<(), Failure> {
        let runs = self.pool.broadcast(|_| {
            NODE.with_borrow_mut(|node| {
                let node = node.as_mut().expect("each thread of the pool has a node");
                let run = catch_unwind(AssertUnwindSafe(|| node.run(job, &self.links)));
                run.or_else(|panic| match self.links.failure_within(SOON) {
                    // The queues of a connection panic, too, after its timely thread has panicked.
                    Some(lost) => Ok(Err(lost)),
                    None => {
                        // The other workers would wait for this one forever.
                        self.links.halt();
                        Err(panic)
                    }
                })
            })
        });
        let mut outcome = Ok(());
        for run in runs {
            outcome = outcome.and(run.unwrap_or_else(|panic| resume_unwind(panic)));
        }
        outcome
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        // The last messages are on their way once the nodes are dropped and the sockets shut down.
        // After a failure the threads of sockets are abandoned: the threads for a lost process
        // would never end.
        if self.links.failure().is_none() {
            self.pool.broadcast(|_| drop(NODE.take()));
            self.links.wait_for_end(FAREWELL);
        } else {
            self.pool.broadcast(|_| std::mem::forget(NODE.take()));
        }
        let connections = self.connections.get_mut().unwrap_or_else(PoisonError::into_inner);
        std::mem::forget(std::mem::replace(connections, Box::new(())));
    }
}

/// Returns the channels between workers of this process. They pass messages without encoding them.
fn processes_builders(workers: NonZeroUsize, hooks: &Hooks) -> Vec<ProcessBuilder> {
    ProcessBuilder::new_typed_vector(workers.get(), hooks.refill.clone(), hooks.spill.clone())
}
