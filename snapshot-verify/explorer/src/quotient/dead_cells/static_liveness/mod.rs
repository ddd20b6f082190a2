//! `stale`: resets shared cells that no process can read before they are written.
//!
//! A cell may be one of several that processes choose from at run time: the views of
//! riany, say. Who reads *this* one has chosen it by variables of its own, its
//! **handle**, and took these from other cells, the **gates**. While no gate leads to a
//! cell, no process holds a handle of it, and whichever process may open a gate to it writes the cell
//! again before, what the cell holds does not matter: it is *abandoned*.
//!
//! Where a process stands towards the cells is its **place** ([`crate::por::abstract_locations`]). Let g
//! be a gate and x a scalar, and look at one process by itself, from a place on, for as
//! long as it has not written the cell for certain. Reading g it finds anything but x, and
//! all other cells hold anything. It is a *danger* to the cell if it may come to read the
//! cell, or to write x to g (`claim.rs`).
//!
//! *Soundness.* Claim: in a state in which g does not hold x and no process is a danger,
//! no process reads the cell before it is written. Suppose somebody does, and consider the
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
//! [`crate::quotient::dead_cells::speculative`] helps, which conjectures.

mod claim;

use std::cmp::Reverse;
use std::collections::BTreeMap;

use fixedbitset::FixedBitSet;
use snapshot_core::Process;

use crate::deadline::{Deadline, Stopped};
use crate::instance::{Domain, Instance, NONE, Owner, Scalar, Slot, SlotId};
use crate::por::abstract_locations::{Graph, Handles, Index};
use crate::quotient::canonical_renaming::classes::{Classes, Kind};
use crate::search::canonical::Forgetting;
use crate::search::layout::Registers;
use claim::Claim;

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
    index: Index,
    /// By number of the place in the index.
    to: Vec<Cells>,
}

impl Abandoned {
    /// What may be abandoned in this instance: nothing, if processes have too many places.
    ///
    /// O(places * (ways to take a step + cells * gates)).
    ///
    /// # Errors
    /// If the deadline comes first.
    pub fn new(instance: &Instance, deadline: Deadline<'_>) -> Result<Self, Stopped> {
        let blanks = candidates(instance);
        let is_cell = |slot: SlotId| blanks.contains_key(&slot);
        let handles = Handles::new(instance, &is_cell, deadline)?;
        let graphs: Vec<Graph> = (0..instance.processes)
            .map(|process| Graph::new(instance, process, &handles, &is_cell, deadline))
            .collect::<Result<Option<_>, Stopped>>()?
            .unwrap_or_default();
        if graphs.is_empty() {
            return Ok(Self::default());
        }
        let mut claims: Vec<Claim> = Vec::new();
        for cell in blanks.keys() {
            claims.extend(Claim::best(instance, &graphs, &handles.gates, *cell, deadline)?);
        }
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
            let of_process: Vec<_> = claims.iter().map(|claim| &claim.dangers[process]).collect();
            let index = Index::new(instance, Process::from_index(process), parts, graph)?;
            Some(Dangers::new(index, graph, &of_process))
        });
        let dangers: Option<Vec<Dangers>> = dangers.collect();
        Ok(dangers.map_or_else(Self::default, |dangers| Self { cells, dangers }))
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
    let classes = Classes::new(instance);
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
    fn new(index: Index, graph: &Graph, by_cell: &[&FixedBitSet]) -> Self {
        // Of handles that no process ever has, nothing is known.
        let mut to = vec![Cells::MAX; index.count()];
        for (number, place) in graph.places.iter().enumerate() {
            let cells = by_cell.iter().enumerate();
            let cells = cells.filter(|(_, places)| places.contains(number));
            if let Some(at) = index.at(place) {
                to[at] = cells.fold(0, |cells, (cell, _)| cells | 1 << cell);
            }
        }
        Self { index, to }
    }

    /// The cells to which the process is a danger in a state.
    #[inline]
    fn to(&self, state: &[Scalar]) -> Cells {
        self.index.of_state(state).map_or(Cells::MAX, |at| self.to[at])
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
