//! Operations that a client may begin, by the number of its progress, combined with the
//! specification.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use snapshot_core::Process;

use super::object::{AtomicObject, ObjectSpecification};
use super::specification::{AtomicSnapshot, Misplacement, SnapshotSpecification};
use super::subsets::{LetterId, Pointed, Possibilities, Subsets};
use crate::interpret::{Call, Client, Fault, Progress, Sequential, Values};
use crate::product::{Memo, OrderId};
use crate::program::guards;
use crate::program::linearization::Points;

/// A call, and the progress of the client after it.
pub type Choice = (Call, u32);

/// A specification with a client of it.
pub trait World: Sync {
    type Automaton: Pointed;

    /// Returns the subset construction of the specification.
    fn specification(&mut self) -> &mut Subsets<Self::Automaton>;

    /// Returns the subset construction, immutably.
    fn known(&self) -> &Subsets<Self::Automaton>;

    /// Returns the operations that an idle process may begin, given the progress of the client and
    /// the set of configurations, if they are known.
    fn find_choices(
        &self,
        progress: u32,
        possibilities: Possibilities,
        process: Process,
    ) -> Option<Arc<[Choice]>>;

    /// Computes the operations that an idle process may begin.
    ///
    /// # Errors
    /// If the specification is faulty there.
    fn choices(
        &mut self,
        progress: u32,
        possibilities: Possibilities,
        process: Process,
    ) -> Result<Arc<[Choice]>, Fault>;

    /// Returns true if the operations that a process may begin depend neither on the moments at
    /// which others begin and end, nor on barriers.
    fn is_free(&self) -> bool;

    /// Returns the progress of the client after a response, if it is known.
    fn find_ended(&self, progress: u32) -> Option<u32>;

    /// Returns the progress of the client after a response.
    fn ended(&mut self, progress: u32) -> u32;

    /// Returns true if some operations take effect at points.
    fn has_points(&self) -> bool;

    /// Returns the reason why operations do not take effect at their points, if a letter of this
    /// process has no successor. Executions name the process.
    fn misplaced(&self, before: Possibilities, letter: LetterId, process: Process) -> Misplacement;

    /// Returns true if processes are anonymous and all take part.
    fn is_symmetric(&self) -> bool;

    /// Reorders the processes in the progress of the client and in a set, if the results are known.
    fn find_reordered(
        &self,
        progress: u32,
        possibilities: Possibilities,
        order: OrderId,
    ) -> Option<(u32, Possibilities)>;

    /// Reorders the processes in the progress of the client and in a set.
    ///
    /// # Panics
    /// If the processes are not symmetric.
    fn reordered(
        &mut self,
        progress: u32,
        possibilities: Possibilities,
        order: (OrderId, &[u32]),
    ) -> (u32, Possibilities);

    /// Returns the specification whose operations may take effect anywhere.
    fn anywhere(&self) -> Subsets<Self::Automaton>;
}

/// The snapshot with a client of it.
pub struct SnapshotWorld {
    clients: Clients,
    specification: SnapshotSpecification,
}

impl SnapshotWorld {
    /// Creates the world of n processes; operations with points take effect there.
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

    fn find_choices(
        &self,
        progress: u32,
        _: Possibilities,
        process: Process,
    ) -> Option<Arc<[Choice]>> {
        self.clients.find_choices(progress, process)
    }

    fn choices(
        &mut self,
        progress: u32,
        _: Possibilities,
        process: Process,
    ) -> Result<Arc<[Choice]>, Fault> {
        Ok(self.clients.choices(progress, process))
    }

    fn is_free(&self) -> bool {
        matches!(self.clients.client.values, Values::Full(_))
            && self.clients.client.barriers.is_none()
    }

    fn find_ended(&self, progress: u32) -> Option<u32> {
        self.clients.find_ended(progress)
    }

    fn ended(&mut self, progress: u32) -> u32 {
        self.clients.ended(progress)
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

    fn find_reordered(&self, _: u32, _: Possibilities, _: OrderId) -> Option<(u32, Possibilities)> {
        None
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

/// An object with a client of it.
pub struct ObjectWorld<'p> {
    clients: Clients,
    specification: ObjectSpecification<'p>,
    /// Operations that may begin in some state, per progress and process.
    offers: FxHashMap<(u32, Process), Arc<[Choice]>>,
    /// Lists of operations that may begin, by progress, set and process. Sets count only if some
    /// operation has a `when`.
    choices: Memo<3, 1>,
    has_guards: bool,
    lists: Lists,
    is_symmetric: bool,
    /// Reordered progresses and sets.
    progresses: Memo<2, 1>,
    sets: Memo<2, 1>,
}

impl<'p> ObjectWorld<'p> {
    /// Creates the world of an object, with its processes anonymous or not; `at_points`: operations
    /// that take effect at points.
    pub fn new(
        client: Client,
        sequential: Sequential<'p>,
        at_points: Box<[bool]>,
        is_anonymous: bool,
    ) -> Self {
        Self {
            is_symmetric: is_anonymous && client.is_symmetric(sequential.processes()),
            progresses: Memo::default(),
            sets: Memo::default(),
            has_guards: sequential.object().operations.iter().any(|one| one.when.is_some()),
            lists: Lists::default(),
            clients: Clients::new(client, sequential.processes()),
            specification: ObjectSpecification::with_points(sequential, at_points),
            offers: FxHashMap::default(),
            choices: Memo::default(),
        }
    }
}

impl ObjectWorld<'_> {
    fn key(&self, progress: u32, possibilities: Possibilities, process: Process) -> [u32; 3] {
        let set = if self.has_guards { possibilities.number() } else { 0 };
        [progress, set, process.index() as u32]
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

    fn find_choices(
        &self,
        progress: u32,
        possibilities: Possibilities,
        process: Process,
    ) -> Option<Arc<[Choice]>> {
        let [known] = self.choices.find(&self.key(progress, possibilities, process))?;
        Some(self.lists.get(known))
    }

    fn choices(
        &mut self,
        progress: u32,
        possibilities: Possibilities,
        process: Process,
    ) -> Result<Arc<[Choice]>, Fault> {
        if let Some(known) = self.find_choices(progress, possibilities, process) {
            return Ok(known);
        }
        let sequential = self.specification.sequential();
        let calls = |client: &Client, before: &Progress| {
            client.calls_of_object(sequential, before, process)
        };
        if !self.offers.contains_key(&(progress, process)) {
            let offers = self.clients.after(progress, process, calls);
            self.offers.insert((progress, process), offers);
        }
        let mut choices = Vec::new();
        for &(call, after) in &*self.offers[&(progress, process)] {
            let Call::Operation(operation) = call else { continue };
            if self.specification.may_begin(possibilities, process, operation)? {
                choices.push((call, after));
            }
        }
        let list = self.lists.number(choices.into());
        self.choices.insert(&self.key(progress, possibilities, process), [list]);
        Ok(self.lists.get(list))
    }

    fn is_free(&self) -> bool {
        guards::are_own(self.specification.sequential().object())
            && self.clients.client.barriers.is_none()
    }

    fn find_ended(&self, progress: u32) -> Option<u32> {
        self.clients.find_ended(progress)
    }

    fn ended(&mut self, progress: u32) -> u32 {
        self.clients.ended(progress)
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

    fn find_reordered(
        &self,
        progress: u32,
        possibilities: Possibilities,
        order: OrderId,
    ) -> Option<(u32, Possibilities)> {
        let [progress] = self.progresses.find(&[progress, order.number()])?;
        let [set] = self.sets.find(&[possibilities.number(), order.number()])?;
        Some((progress, Possibilities::of_number(set)))
    }

    fn reordered(
        &mut self,
        progress: u32,
        possibilities: Possibilities,
        (number, order): (OrderId, &[u32]),
    ) -> (u32, Possibilities) {
        assert!(self.is_symmetric, "processes are not anonymous");
        let (clients, specification) = (&mut self.clients, &mut self.specification);
        let key = [progress, number.number()];
        let [progress] =
            self.progresses.get_or_insert_with(&key, || [clients.reordered(progress, order)]);
        let key = [possibilities.number(), number.number()];
        let [set] = self
            .sets
            .get_or_insert_with(&key, || [specification.reordered(possibilities, order).number()]);
        (progress, Possibilities::of_number(set))
    }

    fn anywhere(&self) -> ObjectSpecification<'p> {
        ObjectSpecification::new(self.specification.sequential().clone())
    }
}

/// Interner of lists of operations: there are few.
#[derive(Debug, Default)]
struct Lists {
    all: Vec<Arc<[Choice]>>,
    numbers: FxHashMap<Arc<[Choice]>, u32>,
}

impl Lists {
    fn get(&self, number: u32) -> Arc<[Choice]> {
        Arc::clone(&self.all[number as usize])
    }

    fn number(&mut self, list: Arc<[Choice]>) -> u32 {
        let number = self.numbers.entry(list).or_insert_with_key(|list| {
            self.all.push(Arc::clone(list));
            self.all.len() as u32 - 1
        });
        *number
    }
}

/// Interner of the progress of a client.
#[derive(Debug)]
pub struct Clients {
    client: Client,
    processes: usize,
    all: Vec<Progress>,
    numbers: FxHashMap<Progress, u32>,
    /// Lists of operations by progress and process, computed on demand.
    choices: Memo<2, 1>,
    lists: Lists,
}

impl Clients {
    /// Creates the interner of a client of n processes. Number 0 is the progress before any
    /// operation.
    pub fn new(client: Client, processes: usize) -> Self {
        let mut clients = Self {
            client,
            processes,
            all: Vec::new(),
            numbers: FxHashMap::default(),
            choices: Memo::default(),
            lists: Lists::default(),
        };
        clients.number(client.start(processes));
        clients
    }

    /// Returns the operations that an idle process may begin, if they are known.
    fn find_choices(&self, progress: u32, process: Process) -> Option<Arc<[Choice]>> {
        let [known] = self.choices.find(&[progress, process.index() as u32])?;
        Some(self.lists.get(known))
    }

    /// Returns the operations that an idle process may begin.
    pub fn choices(&mut self, progress: u32, process: Process) -> Arc<[Choice]> {
        if let Some(known) = self.find_choices(progress, process) {
            return known;
        }
        let n = self.processes;
        let calls = |client: &Client, before: &Progress| client.calls(before, process, n);
        let choices = self.after(progress, process, calls);
        let list = self.lists.number(choices);
        self.choices.insert(&[progress, process.index() as u32], [list]);
        self.lists.get(list)
    }

    /// Returns these calls of a process, each with the progress after it.
    fn after(
        &mut self,
        progress: u32,
        process: Process,
        calls: impl FnOnce(&Client, &Progress) -> Vec<Call>,
    ) -> Arc<[Choice]> {
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

    /// Returns the progress after a response, if it is known.
    fn find_ended(&self, progress: u32) -> Option<u32> {
        match self.client.barriers {
            None => Some(progress),
            Some(_) => self.numbers.get(&self.after_end(progress)).copied(),
        }
    }

    /// Returns the progress after a response.
    fn ended(&mut self, progress: u32) -> u32 {
        self.number(self.after_end(progress))
    }

    fn after_end(&self, progress: u32) -> Progress {
        let mut after = self.all[progress as usize].clone();
        self.client.end(&mut after);
        after
    }

    /// Reorders the processes in a progress.
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
