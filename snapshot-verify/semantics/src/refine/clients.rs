//! What a client may begin next, by number: how far it has come, and what each
//! process may begin there; with what executions are held against.

use rustc_hash::FxHashMap;
use snapshot_core::Process;

use super::object::{AtomicObject, ObjectSpecification};
use super::specification::{AtomicSnapshot, Misplacement, SnapshotSpecification};
use super::subsets::{Automaton, LetterId, Possibilities, Subsets};
use super::symmetry::OrderId;
use crate::interpret::{Call, Client, Fault, Progress, Sequential};
use crate::program::linearization::Points;

/// A call, and how far the client has come after it.
pub type Choice = (Call, u32);

/// What executions are held against, and what may be begun in them.
pub trait World {
    /// The specification.
    type Automaton: Automaton;

    /// Its sets.
    fn specification(&mut self) -> &mut Subsets<Self::Automaton>;

    /// The same.
    fn known(&self) -> &Subsets<Self::Automaton>;

    /// What a process may begin if it is idle, how far the client has come, and what the
    /// specification allows by then.
    ///
    /// # Errors
    /// If the specification is faulty there.
    fn choices(
        &mut self,
        progress: u32,
        possibilities: Possibilities,
        process: Process,
    ) -> Result<&[Choice], Fault>;

    /// Whether some operations take effect at points.
    fn has_points(&self) -> bool;

    /// Why operations do not take effect at their points, where nothing is after a letter of
    /// this process, as executions name it.
    fn misplaced(&self, before: Possibilities, letter: LetterId, process: Process) -> Misplacement;

    /// Whether processes are anonymous, and may all begin the same.
    fn is_symmetric(&self) -> bool;

    /// How far the client has come, and a set, with the processes in another order.
    ///
    /// # Panics
    /// If they are not symmetric.
    fn reordered(
        &mut self,
        progress: u32,
        possibilities: Possibilities,
        order: (OrderId, &[u32]),
    ) -> (u32, Possibilities);

    /// The specification, with operations that may take effect anywhere.
    fn anywhere(&self) -> Subsets<Self::Automaton>;
}

/// The snapshot, and a client of it.
pub struct SnapshotWorld {
    clients: Clients,
    specification: SnapshotSpecification,
}

impl SnapshotWorld {
    /// Of n processes; operations with points take effect there.
    pub fn new(client: Client, n: usize, points: Points) -> Self {
        let specification = SnapshotSpecification::with_points(n, points);
        Self { clients: Clients::new(client, n), specification }
    }
}

impl World for SnapshotWorld {
    type Automaton = AtomicSnapshot;

    fn specification(&mut self) -> &mut SnapshotSpecification {
        &mut self.specification
    }

    fn known(&self) -> &SnapshotSpecification {
        &self.specification
    }

    fn choices(
        &mut self,
        progress: u32,
        _: Possibilities,
        process: Process,
    ) -> Result<&[Choice], Fault> {
        Ok(self.clients.choices(progress, process))
    }

    fn has_points(&self) -> bool {
        self.specification.has_points()
    }

    fn misplaced(&self, before: Possibilities, letter: LetterId, _: Process) -> Misplacement {
        self.specification.why(before, letter)
    }

    fn is_symmetric(&self) -> bool {
        false
    }

    fn reordered(
        &mut self,
        _: u32,
        _: Possibilities,
        _: (OrderId, &[u32]),
    ) -> (u32, Possibilities) {
        panic!("each process of a snapshot has its own segment")
    }

    fn anywhere(&self) -> SnapshotSpecification {
        SnapshotSpecification::new(self.clients.processes)
    }
}

/// An object, and a client of it.
pub struct ObjectWorld<'p> {
    clients: Clients,
    specification: ObjectSpecification<'p>,
    /// Per progress and process, all that may be begun in some state.
    offers: FxHashMap<(u32, Process), Box<[Choice]>>,
    /// Per progress, set and process, what may be begun there.
    choices: FxHashMap<(u32, Possibilities, Process), Box<[Choice]>>,
    is_symmetric: bool,
    /// Progresses and sets with their processes in another order.
    progresses: FxHashMap<(u32, OrderId), u32>,
    sets: FxHashMap<(Possibilities, OrderId), Possibilities>,
}

impl<'p> ObjectWorld<'p> {
    /// Of the processes of an object, anonymous or not; these operations take effect at points.
    pub fn new(
        client: Client,
        sequential: Sequential<'p>,
        at_points: Box<[bool]>,
        is_anonymous: bool,
    ) -> Self {
        let all = (0..sequential.processes()).map(Process::from_index);
        Self {
            is_symmetric: is_anonymous && all.into_iter().all(|process| client.takes_part(process)),
            progresses: FxHashMap::default(),
            sets: FxHashMap::default(),
            clients: Clients::new(client, sequential.processes()),
            specification: ObjectSpecification::with_points(sequential, at_points),
            offers: FxHashMap::default(),
            choices: FxHashMap::default(),
        }
    }
}

impl<'p> World for ObjectWorld<'p> {
    type Automaton = AtomicObject<'p>;

    fn specification(&mut self) -> &mut ObjectSpecification<'p> {
        &mut self.specification
    }

    fn known(&self) -> &ObjectSpecification<'p> {
        &self.specification
    }

    fn choices(
        &mut self,
        progress: u32,
        possibilities: Possibilities,
        process: Process,
    ) -> Result<&[Choice], Fault> {
        let key = (progress, possibilities, process);
        if !self.choices.contains_key(&key) {
            let sequential = self.specification.sequential();
            let calls = |client: &Client, before: &Progress| {
                client.calls_of_object(sequential, before, process)
            };
            if !self.offers.contains_key(&(progress, process)) {
                let offers = self.clients.after(progress, process, calls);
                self.offers.insert((progress, process), offers);
            }
            let mut choices = Vec::new();
            for &(call, after) in &self.offers[&(progress, process)] {
                let Call::Operation(operation) = call else { continue };
                if self.specification.may_begin(possibilities, process, operation)? {
                    choices.push((call, after));
                }
            }
            self.choices.insert(key, choices.into());
        }
        Ok(&self.choices[&key])
    }

    fn has_points(&self) -> bool {
        self.specification.has_points()
    }

    fn misplaced(&self, _: Possibilities, _: LetterId, process: Process) -> Misplacement {
        Misplacement::Elsewhere(process)
    }

    fn is_symmetric(&self) -> bool {
        self.is_symmetric
    }

    fn reordered(
        &mut self,
        progress: u32,
        possibilities: Possibilities,
        (number, order): (OrderId, &[u32]),
    ) -> (u32, Possibilities) {
        assert!(self.is_symmetric, "processes are not anonymous");
        let (clients, specification) = (&mut self.clients, &mut self.specification);
        let progress = self.progresses.entry((progress, number));
        let progress =
            *progress.or_insert_with_key(|(before, _)| clients.reordered(*before, order));
        let possibilities = self.sets.entry((possibilities, number));
        let possibilities = *possibilities
            .or_insert_with_key(|(before, _)| specification.reordered(*before, order));
        (progress, possibilities)
    }

    fn anywhere(&self) -> ObjectSpecification<'p> {
        ObjectSpecification::new(self.specification.sequential().clone())
    }
}

/// How far a client can come, each once.
#[derive(Debug)]
pub struct Clients {
    client: Client,
    processes: usize,
    all: Vec<Progress>,
    numbers: FxHashMap<Progress, u32>,
    /// Per progress and process, as far as it was asked for.
    choices: FxHashMap<(u32, Process), Box<[Choice]>>,
}

impl Clients {
    /// Of a client of n processes, which has begun nothing: that is number 0.
    pub fn new(client: Client, processes: usize) -> Self {
        let mut clients = Self {
            client,
            processes,
            all: Vec::new(),
            numbers: FxHashMap::default(),
            choices: FxHashMap::default(),
        };
        clients.number(client.start(processes));
        clients
    }

    /// What a process may begin if it is idle.
    pub fn choices(&mut self, progress: u32, process: Process) -> &[Choice] {
        if !self.choices.contains_key(&(progress, process)) {
            let n = self.processes;
            let calls = |client: &Client, before: &Progress| client.calls(before, process, n);
            let choices = self.after(progress, process, calls);
            self.choices.insert((progress, process), choices);
        }
        &self.choices[&(progress, process)]
    }

    /// These calls of a process, and how far the client has come after each.
    fn after(
        &mut self,
        progress: u32,
        process: Process,
        calls: impl FnOnce(&Client, &Progress) -> Vec<Call>,
    ) -> Box<[Choice]> {
        let before = self.all[progress as usize].clone();
        let calls = calls(&self.client, &before);
        let after = |call| {
            let mut after = before.clone();
            self.client.begin(&mut after, process, call);
            (call, after)
        };
        let choices: Vec<(Call, Progress)> = calls.into_iter().map(after).collect();
        choices.into_iter().map(|(call, after)| (call, self.number(after))).collect()
    }

    /// How far the client has come, with the processes in another order.
    fn reordered(&mut self, progress: u32, order: &[u32]) -> u32 {
        let after = self.all[progress as usize].reordered(order);
        self.number(after)
    }

    fn number(&mut self, progress: Progress) -> u32 {
        if let Some(number) = self.numbers.get(&progress) {
            return *number;
        }
        let number = self.all.len() as u32;
        self.all.push(progress.clone());
        self.numbers.insert(progress, number);
        number
    }
}
