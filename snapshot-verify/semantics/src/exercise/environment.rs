//! Environment of an algorithm: the operations that may begin in a situation, and whether an object
//! itself keeps its operations waiting.
//!
//! For an object, the conditions `when` and `await` depend on the configurations that agree with
//! the events so far, as in [`crate::refine`]. If no operation has either, configurations are not
//! followed: this saves states.

use rustc_hash::FxHashMap;
use snapshot_core::Process;

use crate::interpret::{Call, Client, Event, Sequential};
use crate::program::linearization::Points;
use crate::refine::{ObjectWorld, Possibilities, SnapshotWorld, World};

/// Most configurations visited to decide whether an object keeps operations waiting, over all
/// questions.
const CONFIGURATIONS: usize = 100_000;

/// A client with the specification of its object.
pub struct Environment<'p> {
    kind: Kind<'p>,
    /// Cached answers: true if these processes, a bit each, wait for the object at these
    /// possibilities.
    waits: FxHashMap<(Possibilities, u64), Option<bool>>,
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
        Self::of(Kind::Snapshot(Box::new(SnapshotWorld::new(client, n, Points::NONE))))
    }

    /// Creates the environment of an object that the text declares.
    pub fn of_object(client: Client, sequential: &Sequential<'p>) -> Self {
        let mut operations = sequential.object().operations.iter();
        let is_followed = operations.any(|one| one.when.is_some() || one.awaits.is_some());
        let world = ObjectWorld::new(client, sequential.clone(), Box::default(), false);
        Self::of(Kind::Object { world: Box::new(world), client, is_followed })
    }

    fn of(kind: Kind<'p>) -> Self {
        Self { kind, waits: FxHashMap::default(), configurations: CONFIGURATIONS }
    }

    /// Returns the situation before any event.
    pub fn first(&self) -> Situation {
        let possibilities = match &self.kind {
            Kind::Snapshot(world) => world.known().initial(),
            Kind::Object { world, .. } => world.known().initial(),
        };
        Situation { progress: 0, possibilities }
    }

    /// Returns the operations that an idle process may begin, each with the situation before the
    /// event; `None` if the object is faulty there.
    pub fn choices(&mut self, at: Situation, process: Process) -> Option<Vec<(Call, Situation)>> {
        let Situation { progress, possibilities } = at;
        let choices = match &mut self.kind {
            Kind::Snapshot(world) => world.choices(progress, possibilities, process),
            Kind::Object { world, .. } => world.choices(progress, possibilities, process),
        };
        let begun = |&(call, progress)| (call, Situation { progress, possibilities });
        Some(choices.ok()?.iter().map(begun).collect())
    }

    /// Returns the situation after an event; `None` if the object does not allow it, or is faulty
    /// there.
    pub fn after(&mut self, at: Situation, event: &Event) -> Option<Situation> {
        match &mut self.kind {
            Kind::Object { world, is_followed: true, .. } => {
                let specification = world.specification();
                let after = specification.after(at.possibilities, event);
                match specification.take_fault() {
                    None => after.map(|possibilities| Situation { possibilities, ..at }),
                    Some(_) => None,
                }
            }
            Kind::Object { .. } | Kind::Snapshot(_) => Some(at),
        }
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
    /// Returns bytes that are equal iff situations are.
    pub fn key(self) -> impl Iterator<Item = u8> {
        let numbers = [self.progress, self.possibilities.number()];
        numbers.into_iter().flat_map(u32::to_le_bytes)
    }
}
