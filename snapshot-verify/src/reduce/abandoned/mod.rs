//! `stale`: what nobody is on the way to read, everybody forgets.
//!
//! A cell may be one of several that processes choose from at run time: the views of
//! riany, say. Who reads *this* one has chosen it by variables of its own, its
//! **handle**, and took these from other cells, the **gates**. While no gate leads to a
//! cell, nobody holds a handle of it, and whoever may open a gate to it writes the cell
//! anew before, what the cell holds does not matter: it is *abandoned*.
//!
//! Where a process stands towards the cells is its **place**: its location with the
//! scalars of its handles, of counters the remainders (`places.rs`). Let g be a gate and
//! x a scalar, and look at one process by itself, from a place on, for as long as it has
//! not written the cell for certain. Reading g it finds anything but x, and all other
//! cells hold anything. It is a *danger* to the cell if it may come to read the cell, or to
//! write x to g (`claim.rs`).
//!
//! *Soundness.* Claim: in a state in which g does not hold x and no process is a danger,
//! nobody reads the cell before it is written. Suppose somebody does, and consider the
//! first step that reads the cell or makes g hold x, the cell not being written before it.
//! Up to this step g did not hold x, so the process that takes it has come there in a way
//! that was looked at, from its place in the state on: it is a danger, which contradicts.
//! So states that differ in an abandoned cell only have the same future, and one that
//! holds a fixed scalar there stands for all of them. The same without g and x: then no
//! process may come to read the cell.
//!
//! Links are cells that one process reads; nothing else is special about them.
//!
//! Without a bound, riany has 20,285,533 states for 2 processes; with 3 operations each
//! 1,356,491 of 4,923,068 are left. Where it matters, too, how far others have come, only
//! [`super::stale`] helps, which conjectures.

mod claim;
mod handle;
mod places;

use std::cmp::{Ordering, Reverse};
use std::collections::BTreeMap;

use fixedbitset::FixedBitSet;
use snapshot_core::Process;

use super::numbering::classes::{Classes, Kind};
use crate::explore::canonical::Forgetting;
use crate::instance::{Domain, Instance, NONE, Owner, Scalar, Slot, SlotId};
use crate::layout::{Register, Registers};
use claim::Claim;
use handle::{Handles, Part};
use places::{Graph, Place};

/// A set of cells, by number.
type Cells = u128;

/// What is abandoned when.
#[derive(Clone, Debug, Default)]
pub struct Abandoned {
    /// As many as a set has room for, at most.
    cells: Vec<Cell>,
    /// By process.
    dangers: Vec<Dangers>,
}

/// A cell that may be abandoned.
#[derive(Clone, Copy, Debug)]
struct Cell {
    slot: SlotId,
    /// What it holds then.
    blank: Scalar,
    /// The gate, and what it must not hold.
    gate: Option<(SlotId, Scalar)>,
}

/// To which cells a process is a danger.
#[derive(Clone, Debug)]
struct Dangers {
    location: Register,
    parts: Vec<Part>,
    /// By location.
    at: Vec<At>,
    /// By number of the place; those of one location are together.
    to: Vec<Cells>,
}

/// The places of one location.
#[derive(Clone, Debug, Default)]
struct At {
    /// The number of the first.
    begin: usize,
    /// The parts that make a difference here: which, the least code, how many codes.
    digits: Vec<(usize, usize, usize)>,
    /// All other parts, with the only codes that they have here.
    fixed: Vec<(usize, usize)>,
}

impl Abandoned {
    /// What may be abandoned in this instance: nothing, if processes have too many places.
    ///
    /// O(places * (ways to take a step + cells * gates)).
    pub fn of(instance: &Instance) -> Self {
        let blanks = candidates(instance);
        let is_cell = |slot: SlotId| blanks.contains_key(&slot);
        let handles = Handles::of(instance, &is_cell);
        let graphs: Vec<Graph> = (0..instance.processes)
            .map(|process| Graph::of(instance, process, &handles, &is_cell))
            .collect::<Option<_>>()
            .unwrap_or_default();
        if graphs.is_empty() {
            return Self::default();
        }
        let mut claims: Vec<Claim> = blanks
            .keys()
            .filter_map(|cell| Claim::best(instance, &graphs, &handles.gates, *cell))
            .collect();
        // If there are too many, links are left out first: they tell least.
        let is_link = |claim: &Claim| instance.slot(claim.cell).owner != Owner::Shared;
        claims.sort_by_key(|claim| (is_link(claim), Reverse(claim.worth())));
        claims.truncate(Cells::BITS as usize);
        // Gates before the cells that they lead to: one may be abandoned itself.
        let is_gate = |claim: &Claim| handles.gates.contains(&claim.cell);
        claims.sort_by_key(|claim| !is_gate(claim));
        let cells: Vec<Cell> = claims
            .iter()
            .map(|claim| Cell { slot: claim.cell, blank: blanks[&claim.cell], gate: claim.gate })
            .collect();
        let graphs = graphs.iter().zip(handles.parts).enumerate();
        let dangers = graphs.map(|(process, (graph, parts))| {
            let of_process = claims.iter().map(|claim| &claim.dangers[process]).collect();
            Dangers::of(instance, Process::must(process), parts, graph, of_process)
        });
        let dangers = dangers.collect();
        Self { cells, dangers }
    }

    /// Whether anything may ever be abandoned.
    pub const fn is_useful(&self) -> bool {
        !self.cells.is_empty()
    }
}

/// The slots that may be abandoned, with what they hold then: cells and links, but those
/// that somebody waits for.
fn candidates(instance: &Instance) -> BTreeMap<SlotId, Scalar> {
    let watched = instance.watched();
    // Anonymous bits are flipped: no scalar stays what it is.
    let classes = Classes::of(instance);
    let is_flipped = |slot: SlotId| {
        classes.iter().any(|class| class.kind == Kind::Bit && class.slots.contains(&slot))
    };
    let blank = |slot: &Slot| match slot.domain {
        Domain::Range { optional: true, .. }
        | Domain::Version { optional: true }
        | Domain::Counter { optional: true } => Some(NONE),
        Domain::Range { low, names_processes: false, .. } => Some(low),
        // Any scalar would be one among others, and be renamed with them.
        Domain::Range { .. } | Domain::Version { .. } | Domain::Counter { .. } => None,
    };
    let slots = (0..).map(SlotId).zip(&instance.slots);
    slots
        .filter(|(_, slot)| matches!(slot.owner, Owner::Shared | Owner::Link(_)))
        .filter(|(id, _)| !watched.contains(id) && !is_flipped(*id))
        .filter_map(|(id, slot)| Some((id, blank(slot)?)))
        .collect()
}

impl Dangers {
    /// Of one process; by cell, the places from which it is a danger.
    fn of(
        instance: &Instance,
        process: Process,
        parts: Vec<Part>,
        graph: &Graph,
        by_cell: Vec<&FixedBitSet>,
    ) -> Self {
        let mut at = vec![At::default(); instance.graphs[process.index()].locations.len()];
        let mut to: Vec<Cells> = Vec::new();
        let places = graph.places.iter().enumerate();
        let mut by_location: Vec<Vec<(usize, &Place)>> = vec![Vec::new(); at.len()];
        places.for_each(|place| by_location[place.1.location.index()].push(place));
        for (at, here) in at.iter_mut().zip(by_location) {
            at.begin = to.len();
            for part in 0..parts.len() {
                let codes = here.iter().map(|(_, place)| place.handle[part]);
                let (low, high) = codes
                    .fold((usize::MAX, 0), |(low, high), code| (low.min(code), high.max(code)));
                match low.cmp(&high) {
                    Ordering::Less => at.digits.push((part, low, high - low + 1)),
                    Ordering::Equal => at.fixed.push((part, low)),
                    // Nobody ever stands here.
                    Ordering::Greater => {}
                }
            }
            let count: usize = at.digits.iter().map(|(_, _, radix)| radix).product();
            // Of handles that nobody ever has, nothing is known.
            to.resize(at.begin + count, Cells::MAX);
            for (number, place) in here {
                if let Some(offset) = at.offset(|part| Some(place.handle[part])) {
                    let cells = by_cell.iter().enumerate();
                    let cells = cells.filter(|(_, places)| places.contains(number));
                    to[at.begin + offset] = cells.fold(0, |cells, (cell, _)| cells | 1 << cell);
                }
            }
        }
        Self { location: Registers::of(instance).location(process), parts, at, to }
    }

    /// The cells to which the process is a danger in a state.
    #[inline]
    fn to(&self, state: &[Scalar]) -> Cells {
        let at = &self.at[state[self.location] as usize];
        let code = |part: usize| {
            let part = &self.parts[part];
            part.code(state[part.slot.index()])
        };
        at.offset(code).map_or(Cells::MAX, |offset| self.to[at.begin + offset])
    }
}

impl At {
    /// The number of the place with these codes, from the first of the location on; none
    /// if nobody ever has such a handle.
    #[inline]
    fn offset(&self, code: impl Fn(usize) -> Option<usize>) -> Option<usize> {
        if self.fixed.iter().any(|&(part, only)| code(part) != Some(only)) {
            return None;
        }
        self.digits.iter().try_fold(0, |offset, &(part, low, radix)| {
            let digit = code(part)?.checked_sub(low)?;
            (digit < radix).then_some(offset * radix + digit)
        })
    }
}

impl Forgetting for Abandoned {
    fn forget(&self, _: Registers, state: &mut [Scalar]) {
        let unused = Cells::BITS - self.cells.len() as u32;
        let all = Cells::MAX.checked_shr(unused).unwrap_or(0);
        let mut safe = self.dangers.iter().fold(all, |cells, process| cells & !process.to(state));
        while safe != 0 {
            let Cell { slot, blank, gate } = self.cells[safe.trailing_zeros() as usize];
            safe &= safe - 1;
            if gate.is_none_or(|(gate, open)| state[gate.index()] != open) {
                state[slot.index()] = blank;
            }
        }
    }
}
