//! Environment of an algorithm: the operations that may begin in a situation, and whether an object
//! itself keeps its operations waiting.
//!
//! For an object, the conditions `when` and `await` depend on the configurations that agree with
//! the events so far, as in [`crate::refine`]. If no operation has either, configurations are not
//! followed: this saves states.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use snapshot_core::Process;

use crate::interpret::{Call, Client, Event, Fault, Sequential};
use crate::program::linearization::Points;
use crate::refine::{Choice, ObjectWorld, Possibilities, SnapshotWorld, World};

/// Most configurations visited to decide whether an object keeps operations waiting, over all
/// questions.
const CONFIGURATIONS: usize = 100_000;

/// A client with the specification of its object.
pub struct Environment<'p> {
    kind: Kind<'p>,
    /// Cached answers: true if these processes, a bit each, wait for the object at these
    /// possibilities.
    waits: FxHashMap<(Possibilities, u64), Option<bool>>,
    /// Cached answers: true if the object lets these processes wait now.
    lets_wait: FxHashMap<(Possibilities, u64), bool>,
    configurations: usize,
}

enum Kind<'p> {
    Snapshot(Box<SnapshotWorld>),
    Object {
        world: Box<ObjectWorld<'p>>,
        client: Client,
        /// True if the configurations are followed.
        is_followed: bool,
    },
}

/// Progress of the client, and the configurations that agree with the events so far.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Situation {
    progress: u32,
    possibilities: Possibilities,
}

impl<'p> Environment<'p> {
    /// Creates the environment of an atomic snapshot of n segments.
    pub fn of_snapshot(client: Client, n: usize) -> Self {
        Self::new(Kind::Snapshot(Box::new(SnapshotWorld::new(client, n, Points::NONE))))
    }

    /// Creates the environment of an object that the text declares.
    pub fn of_object(client: Client, sequential: &Sequential<'p>) -> Self {
        let mut operations = sequential.object().operations.iter();
        let is_followed = operations.any(|one| one.when.is_some() || one.awaits.is_some());
        let world = ObjectWorld::new(client, sequential.clone(), Box::default(), false);
        Self::new(Kind::Object { world: Box::new(world), client, is_followed })
    }

    fn new(kind: Kind<'p>) -> Self {
        let (waits, lets_wait) = (FxHashMap::default(), FxHashMap::default());
        Self { kind, waits, lets_wait, configurations: CONFIGURATIONS }
    }

    /// Returns the situation before any event.
    pub fn first(&self) -> Situation {
        let possibilities = match &self.kind {
            Kind::Snapshot(world) => world.known().initial(),
            Kind::Object { world, .. } => world.known().initial(),
        };
        Situation { progress: 0, possibilities }
    }

    /// Returns the operations that an idle process may begin, each with the progress of the client
    /// after it ([`Situation::begun`]).
    ///
    /// # Errors
    /// If the object is faulty there.
    pub fn choices(&mut self, at: Situation, process: Process) -> Result<Arc<[Choice]>, Fault> {
        let Situation { progress, possibilities } = at;
        match &mut self.kind {
            Kind::Snapshot(world) => world.choices(progress, possibilities, process),
            Kind::Object { world, .. } => world.choices(progress, possibilities, process),
        }
    }

    /// Replaces the values of a call by `fresh` and the next ones.
    pub fn with_fresh(&self, call: Call, fresh: u32) -> Call {
        let mut next = fresh..;
        match (call, &self.kind) {
            (Call::Update(_), _) => Call::Update(fresh),
            (Call::Operation(call), Kind::Object { world, .. }) => {
                let replace = &mut |_| next.next().expect("there are more numbers than arguments");
                Call::Operation(world.known().sequential().with_values(call, replace))
            }
            (call, _) => call,
        }
    }

    /// Returns the number of values in a call.
    pub fn values_in(&self, call: Call) -> u32 {
        match (call, &self.kind) {
            (Call::Update(_), _) => 1,
            (Call::Operation(call), Kind::Object { world, .. }) => {
                world.known().sequential().values_of(call).len() as u32
            }
            (Call::Operation(_) | Call::Scan, _) => 0,
        }
    }

    /// Returns true if the operations that may begin, or the ends of operations, depend on the
    /// configurations: then values cannot be renamed.
    pub const fn is_followed(&self) -> bool {
        matches!(self.kind, Kind::Object { is_followed: true, .. })
    }

    /// Returns the situation after an event; `None` if the object does not allow it.
    ///
    /// # Errors
    /// If the object is faulty there.
    pub fn after(&mut self, at: Situation, event: &Event) -> Result<Option<Situation>, Fault> {
        match &mut self.kind {
            Kind::Object { world, is_followed: true, .. } => {
                let specification = world.specification();
                let after = specification.after(at.possibilities, event);
                match specification.take_fault() {
                    None => Ok(after.map(|possibilities| Situation { possibilities, ..at })),
                    Some(fault) => Err(fault),
                }
            }
            Kind::Object { .. } | Kind::Snapshot(_) => Ok(Some(at)),
        }
    }

    /// Returns true if the object's `await` lets all these processes, a bit each, wait: in one of
    /// the configurations, none of their operations can take effect.
    pub fn lets_wait(&mut self, at: Situation, processes: u64) -> bool {
        let Kind::Object { world, is_followed: true, .. } = &self.kind else { return false };
        let known = world.known();
        let waits = self.lets_wait.entry((at.possibilities, processes));
        *waits.or_insert_with_key(|&(set, processes)| known.lets_wait(set, processes))
    }

    /// Returns true if the object's `await` keeps these processes, a bit each, from returning in
    /// any continuation. `None`: not established.
    pub fn keeps_waiting(&mut self, at: Situation, processes: u64) -> Option<bool> {
        let Kind::Object { world, client, is_followed: true } = &self.kind else {
            return Some(false);
        };
        let left = &mut self.configurations;
        let (known, client) = (world.known(), *client);
        let waits = self.waits.entry((at.possibilities, processes));
        *waits.or_insert_with_key(|&(set, processes)| {
            known.keeps_waiting(set, &client, processes, left)
        })
    }

    /// Approximate memory use of the configurations in bytes.
    pub fn bytes(&self) -> usize {
        match &self.kind {
            Kind::Snapshot(_) => 0,
            Kind::Object { world, .. } => world.known().bytes(),
        }
    }
}

impl Situation {
    /// Creates the situation with these numbers, which must exist.
    pub const fn of_numbers(progress: u32, possibilities: u32) -> Self {
        Self { progress, possibilities: Possibilities::of_number(possibilities) }
    }

    /// Returns the situation once an operation begins, before the event.
    #[must_use]
    pub const fn begun(self, progress: u32) -> Self {
        Self { progress, ..self }
    }

    /// Returns the number of the progress of the client.
    pub const fn progress(self) -> u32 {
        self.progress
    }

    /// Returns the number of the set of configurations.
    pub const fn possibilities(self) -> u32 {
        self.possibilities.number()
    }
}
