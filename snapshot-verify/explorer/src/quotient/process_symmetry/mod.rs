//! `symmetry`: merges states that differ only in the names of processes.
//!
//! Where the program does not distinguish two processes, renaming them maps executions to
//! executions ([`isomorphism`]). The observer does not distinguish processes other than i and j. So
//! it suffices to explore one state of each orbit.
//!
//! Interchangeable processes are detected, not declared: for every two processes other than i and
//! j, the instance must be isomorphic to itself with the two exchanged. A fixed order of collects
//! breaks this symmetry, unless slicing has removed it. The order of i and j stays: they are not
//! tried.
//!
//! The representative of a state is found by sorting: interchangeable processes are ordered by
//! their locations and contents. Where these are equal, several states may represent an orbit. That
//! saves less, but is sound, since every explored state is an image of a reachable one.

mod isomorphism;

pub use isomorphism::{Isomorphism, bisimilarity, isomorphism};

use std::hash::Hasher;

use rustc_hash::FxHasher;
use snapshot_core::Process;

use crate::deadline::{Deadline, Stopped};
use crate::instance::{Domain, Instance, Owner, Scalar, SlotId};
use crate::search::canonical::{self, Permutation};
use crate::search::layout::Registers;

#[derive(Clone, Debug)]
pub struct ProcessSymmetry {
    orbits: Vec<Orbit>,
    domains: Vec<Domain>,
}

/// Interchangeable processes, at least two.
#[derive(Clone, Debug)]
struct Orbit {
    members: Vec<usize>,
    /// By position of two members, the first smaller: their exchange.
    exchanges: Vec<Vec<Option<Isomorphism>>>,
    /// By member, the slots that distinguish it, in corresponding order.
    telling: Vec<Vec<SlotId>>,
    /// Slots that name processes but belong to none.
    naming: Vec<SlotId>,
}

impl ProcessSymmetry {
    /// Finds the symmetries of an instance. Excludes processes that never begin an operation
    /// (`is_active` is false).
    pub fn new(
        instance: &Instance,
        is_active: impl Fn(Process) -> bool,
        deadline: Deadline<'_>,
    ) -> Result<Self, Stopped> {
        let pair = instance.pair.map(Process::index);
        let active = |&process: &usize| is_active(Process::from_index(process));
        let others: Vec<usize> = (0..instance.processes)
            .filter(active)
            .filter(|process| !pair.contains(process))
            .collect();
        let mut orbits = Vec::new();
        let mut remaining = others;
        while let Some(&first) = remaining.first() {
            let mut members = vec![first];
            for &process in &remaining[1..] {
                if exchange(instance, first, process, deadline)?.is_some() {
                    members.push(process);
                }
            }
            remaining.retain(|process| !members.contains(process));
            orbits.extend(Orbit::new(instance, members, deadline)?);
        }
        let domains = instance.slots.iter().map(|slot| slot.domain).collect();
        Ok(Self { orbits, domains })
    }

    /// Returns true if no two processes are interchangeable.
    pub fn is_trivial(&self) -> bool {
        self.orbits.is_empty()
    }

    /// Returns the classes of interchangeable processes, without singletons.
    pub fn classes(&self) -> impl Iterator<Item = Vec<Process>> {
        self.orbits
            .iter()
            .map(|orbit| orbit.members.iter().map(|&member| Process::from_index(member)).collect())
    }

    /// Exchanges two members of an orbit in a state.
    fn exchange(
        &self,
        orbit: &Orbit,
        first: usize,
        second: usize,
        registers: Registers,
        state: &mut [Scalar],
    ) {
        let (low, high) = (first.min(second), first.max(second));
        let Some(exchange) = &orbit.exchanges[low][high] else { return };
        let before = state.to_vec();
        for (slot, (&image, &domain)) in exchange.slots.iter().zip(&self.domains).enumerate() {
            state[registers.slot(image)] = exchange.scalar(domain, before[slot]);
        }
        for (process, &image) in exchange.processes.iter().enumerate() {
            let [from, to] = [process, image].map(Process::from_index);
            let location = before[registers.location(from)] as usize;
            state[registers.location(to)] = exchange.locations[process][location].index() as Scalar;
            state[registers.left(to)] = before[registers.left(from)];
            state[registers.must_bits(to)] = before[registers.must_bits(from)];
        }
    }

    /// Returns a sort key for a member that does not depend on names.
    fn key(&self, orbit: &Orbit, position: usize, registers: Registers, state: &[Scalar]) -> u64 {
        let member = orbit.members[position];
        let process = Process::from_index(member);
        let mut hasher = FxHasher::default();
        let location = state[registers.location(process)] as usize;
        let location = match &orbit.exchanges[0][position] {
            Some(exchange) if position > 0 => exchange.locations[member][location].index(),
            _ => location,
        };
        hasher.write_usize(location);
        hasher.write_i32(state[registers.left(process)]);
        hasher.write_i32(state[registers.must_bits(process)]);
        for slot in &orbit.telling[position] {
            let scalar = state[registers.slot(*slot)];
            hasher.write_i32(self.seen_by(orbit, member, *slot, scalar));
        }
        for slot in &orbit.naming {
            hasher.write_u8(u8::from(state[registers.slot(*slot)] == member as Scalar));
        }
        hasher.finish()
    }

    /// Returns a scalar with the names of the orbit hidden, except the member's own.
    fn seen_by(&self, orbit: &Orbit, member: usize, slot: SlotId, scalar: Scalar) -> Scalar {
        match usize::try_from(scalar) {
            Ok(process) if self.domains[slot.index()].names_processes() => {
                if process == member {
                    -1
                } else if orbit.members.contains(&process) {
                    -2
                } else {
                    scalar
                }
            }
            _ => scalar,
        }
    }
}

impl Orbit {
    /// Returns the orbit of these processes if there are at least two and any two can be exchanged.
    fn new(
        instance: &Instance,
        members: Vec<usize>,
        deadline: Deadline<'_>,
    ) -> Result<Option<Self>, Stopped> {
        if members.len() < 2 {
            return Ok(None);
        }
        let mut exchanges: Vec<Vec<Option<Isomorphism>>> = Vec::new();
        for (low, &first) in members.iter().enumerate() {
            let mut row = Vec::new();
            for (high, &second) in members.iter().enumerate() {
                if low >= high {
                    row.push(None);
                    continue;
                }
                match exchange(instance, first, second, deadline)? {
                    None => return Ok(None),
                    found => row.push(found),
                }
            }
            exchanges.push(row);
        }
        let slots = || (0..instance.slots.len() as u32).map(SlotId);
        let is_fixed = |slot: SlotId| {
            exchanges.iter().flatten().flatten().all(|e| e.slots[slot.index()] == slot)
        };
        let naming = slots()
            .filter(|&slot| instance.slot(slot).domain.names_processes() && is_fixed(slot))
            .collect();
        let first = Process::from_index(members[0]);
        let of_first: Vec<SlotId> = slots()
            .filter(|&slot| match instance.slot(slot).owner {
                Owner::Shared => {
                    let image = |e: &Isomorphism| e.slots[slot.index()];
                    let moved = exchanges[0].iter().flatten().all(|e| image(e) > slot);
                    let only_by_first =
                        exchanges[1..].iter().flatten().flatten().all(|e| image(e) == slot);
                    moved && only_by_first
                }
                owner => owner.reader() == Some(first),
            })
            .collect();
        let telling = (0..members.len())
            .map(|position| match &exchanges[0][position] {
                Some(exchange) => {
                    of_first.iter().map(|slot| exchange.slots[slot.index()]).collect()
                }
                None => of_first.clone(),
            })
            .collect();
        Ok(Some(Self { members, exchanges, telling, naming }))
    }
}

/// Returns the exchange of two processes, if it maps executions to executions. It need not keep the
/// initial state, which is also replaced by a representative.
fn exchange(
    instance: &Instance,
    first: usize,
    second: usize,
    deadline: Deadline<'_>,
) -> Result<Option<Isomorphism>, Stopped> {
    let mut processes: Vec<usize> = (0..instance.processes).collect();
    processes.swap(first, second);
    bisimilarity(instance, instance, &processes, deadline)
}

impl canonical::Symmetry for ProcessSymmetry {
    fn canonicalise(&self, registers: Registers, state: &mut [Scalar]) -> Permutation {
        let mut permutation = Permutation::IDENTITY;
        for orbit in &self.orbits {
            let mut keys: Vec<u64> = (0..orbit.members.len())
                .map(|position| self.key(orbit, position, registers, state))
                .collect();
            for low in 0..keys.len() {
                let least = (low..keys.len()).min_by_key(|&at| (keys[at], at)).unwrap_or(low);
                if keys[least] != keys[low] {
                    keys.swap(low, least);
                    self.exchange(orbit, low, least, registers, state);
                    permutation = permutation.then(&Permutation::exchange(
                        Process::from_index(orbit.members[low]),
                        Process::from_index(orbit.members[least]),
                    ));
                }
            }
        }
        permutation
    }

    fn orbits(&self) -> Vec<Vec<Process>> {
        self.classes().collect()
    }

    fn permute(&self, registers: Registers, by: &Permutation, state: &mut [Scalar]) {
        for orbit in &self.orbits {
            // The target of the content at each position.
            let position = |process: Process| {
                orbit.members.iter().position(|&member| member == process.index())
            };
            let mut goals: Vec<usize> = orbit
                .members
                .iter()
                .enumerate()
                .map(|(at, &member)| position(by.image(Process::from_index(member))).unwrap_or(at))
                .collect();
            for at in 0..goals.len() {
                while goals[at] != at {
                    let goal = goals[at];
                    self.exchange(orbit, at, goal, registers, state);
                    goals.swap(at, goal);
                }
            }
        }
    }
}
