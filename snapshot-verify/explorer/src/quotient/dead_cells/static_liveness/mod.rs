//! `stale`: resets shared cells that no process can read before they are written.
//!
//! A cell may be one of several that processes choose from at run time: the views of
//! riany, say. A process that reads *this* one has chosen it by variables of its own, its
//! **selectors**, and loaded these from other cells, **pointers**. While no pointer leads to
//! a cell, no process has selected it, and every process that may make a pointer lead
//! to it writes the cell first, the content of the cell does not matter: it is *dead*.
//!
//! A process stands at an **abstract location** ([`crate::por::abstract_locations`]). Let g
//! be a pointer and x a scalar, and consider one process by itself, from an abstract
//! location on, for as long as it has not certainly written the cell. Reading g it finds
//! anything but x, and all other cells hold anything. It is a *reader* of the cell if it
//! may come to read the cell, or to write x to g (`cell_liveness.rs`).
//!
//! *Soundness.* In a state in which g does not hold x and no process is a reader, no
//! process reads the cell before it is written. Suppose one does, and consider the first
//! step that reads the cell or makes g hold x, the cell not being written before it. Up to
//! this step g did not hold x, so the process that takes it has come there in a way that
//! was considered, from its abstract location in the state on: it is a reader, a
//! contradiction. So states that differ in dead cells only have the same future, and one
//! that holds a fixed scalar there stands for all of them. The same without g and x: then
//! no process may come to read the cell. (Global liveness; compare Bozga, Fernandez and
//! Ghirvu, State space reduction based on live variables analysis, SAS 1999.)
//!
//! A pointer may be dead itself, and is reset first. What it holds then leads to no cell: so a cell
//! that was dead since the pointer led elsewhere stays dead, and the states behind states that differ
//! in dead cells differ in dead cells only, which the self-check demands. A pointer whose
//! scalars all lead to some cell is not reset.
//!
//! Links are cells that one process reads; nothing else is special about them.
//!
//! Without a bound, riany has 20,285,533 states for 2 processes; with 3 operations each
//! 1,356,491 of 4,923,068 are left. Where it matters, too, how far others have come, only
//! [`crate::quotient::dead_cells::speculative`] helps, which conjectures.

mod cell_liveness;

use std::cmp::Reverse;
use std::collections::BTreeMap;

use fixedbitset::FixedBitSet;
use snapshot_core::Process;

use crate::deadline::{Deadline, Stopped};
use crate::instance::{Domain, Instance, NONE, Owner, Scalar, Slot, SlotId};
use crate::limits::Limit;
use crate::por::abstract_locations::{AbstractGraph, Index, Selectors, scalars_of};
use crate::quotient::canonical_renaming::classes::{Classes, Content};
use crate::search::canonical::Forgetting;
use crate::search::layout::Registers;
use cell_liveness::CellLiveness;

/// A set of cells, by number.
type Cells = u128;

/// Which cells are dead in which states.
#[derive(Clone, Debug, Default)]
pub struct StaticDeadCells {
    /// As many as a set has room for, at most.
    cells: Vec<Cell>,
    /// By process.
    readers: Vec<Readers>,
}

/// A cell that may be dead.
#[derive(Clone, Copy, Debug)]
struct Cell {
    slot: SlotId,
    /// What it holds then.
    blank: Scalar,
    /// The pointer, and what it must not hold.
    pointer: Option<(SlotId, Scalar)>,
}

/// The cells that a process is a reader of, by abstract location.
#[derive(Clone, Debug)]
struct Readers {
    index: Index,
    /// By number of the place in the index.
    to: Vec<Cells>,
}

impl StaticDeadCells {
    /// What may be dead in this instance: nothing, if processes have too many places.
    ///
    /// O(places * (ways to take a step + cells * pointers)).
    ///
    /// # Errors
    /// If the deadline comes first.
    pub fn new(instance: &Instance, deadline: Deadline<'_>) -> Result<Self, Stopped> {
        let blanks = candidates(instance);
        let is_cell = |slot: SlotId| blanks.contains_key(&slot);
        let selectors = Selectors::new(instance, &is_cell, deadline)?;
        let graphs: Vec<AbstractGraph> = (0..instance.processes)
            .map(|process| AbstractGraph::new(instance, process, &selectors, &is_cell, deadline))
            .collect::<Result<Option<_>, Stopped>>()?
            .unwrap_or_default();
        if graphs.is_empty() {
            return Ok(Self::default());
        }
        let mut liveness: Vec<CellLiveness> = Vec::new();
        for cell in blanks.keys() {
            liveness.extend(CellLiveness::best(
                instance,
                &graphs,
                &selectors.pointers,
                *cell,
                deadline,
            )?);
        }
        // If there are too many, links are left out first: they tell least.
        let is_link = |liveness: &CellLiveness| instance.slot(liveness.cell).owner != Owner::Shared;
        liveness.sort_by_key(|liveness| (is_link(liveness), Reverse(liveness.worth())));
        if liveness.len() > Cells::BITS as usize {
            Limit::Cells.reach(deadline);
        }
        liveness.truncate(Cells::BITS as usize);
        // A pointer that is dead itself leads to no cell then: what was forgotten before it
        // died stays forgotten.
        let pointers: Vec<(SlotId, Scalar)> = liveness.iter().filter_map(|of| of.pointer).collect();
        let harmless = |slot: SlotId| {
            let leads = |scalar: &Scalar| pointers.contains(&(slot, *scalar));
            // Names are renamed, so another one does not stay what it is.
            let others = match instance.slot(slot).domain.names_processes() {
                true => Vec::new(),
                false => scalars_of(instance, slot),
            };
            std::iter::once(blanks[&slot]).chain(others).find(|scalar| !leads(scalar))
        };
        let blanks: BTreeMap<SlotId, Scalar> =
            liveness.iter().filter_map(|of| Some((of.cell, harmless(of.cell)?))).collect();
        liveness.retain(|liveness| blanks.contains_key(&liveness.cell));
        // Pointers before the cells that they lead to.
        let is_pointer = |liveness: &CellLiveness| selectors.pointers.contains(&liveness.cell);
        liveness.sort_by_key(|liveness| !is_pointer(liveness));
        let cells: Vec<Cell> = liveness
            .iter()
            .map(|liveness| Cell {
                slot: liveness.cell,
                blank: blanks[&liveness.cell],
                pointer: liveness.pointer,
            })
            .collect();
        let graphs = graphs.iter().zip(selectors.of).enumerate();
        let readers = graphs.map(|(process, (graph, parts))| {
            let of_process: Vec<_> =
                liveness.iter().map(|liveness| &liveness.readers[process]).collect();
            let index = Index::new(instance, Process::from_index(process), parts, graph)?;
            Some(Readers::new(index, graph, &of_process))
        });
        let readers: Option<Vec<Readers>> = readers.collect();
        if readers.is_none() {
            Limit::Places.reach(deadline);
        }
        Ok(readers.map_or_else(Self::default, |readers| Self { cells, readers }))
    }

    /// Whether anything may ever be dead.
    pub const fn is_useful(&self) -> bool {
        !self.cells.is_empty()
    }
}

/// The slots that may be dead, with what they hold then: cells and links, but those
/// that a process waits for.
fn candidates(instance: &Instance) -> BTreeMap<SlotId, Scalar> {
    let watched = instance.watched();
    // Anonymous bits are flipped: no scalar stays what it is.
    let classes = Classes::new(instance);
    let is_flipped = |slot: SlotId| {
        classes.iter().any(|class| class.content == Content::Bit && class.slots.contains(&slot))
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

impl Readers {
    /// Of one process, given the abstract locations at which it is a reader, by cell.
    fn new(index: Index, graph: &AbstractGraph, by_cell: &[&FixedBitSet]) -> Self {
        // Of places where no process ever stands, nothing is known.
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

    /// The cells that the process is a reader of in a state.
    #[inline]
    fn to(&self, state: &[Scalar]) -> Cells {
        self.index.of_state(state).map_or(Cells::MAX, |at| self.to[at])
    }
}

impl Forgetting for StaticDeadCells {
    fn forget(&self, _: Registers, state: &mut [Scalar]) {
        let unused = Cells::BITS - self.cells.len() as u32;
        let all = Cells::MAX.checked_shr(unused).unwrap_or(0);
        let mut safe = self.readers.iter().fold(all, |cells, process| cells & !process.to(state));
        while safe != 0 {
            let Cell { slot, blank, pointer } = self.cells[safe.trailing_zeros() as usize];
            safe &= safe - 1;
            if pointer.is_none_or(|(pointer, open)| state[pointer.index()] != open) {
                state[slot.index()] = blank;
            }
        }
    }
}
