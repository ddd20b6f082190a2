//! `stale`: resets shared cells that no process can read before they are written.
//!
//! A process may select one of several cells at run time, for example one of riany's views. It
//! selects the cell by variables of its own, its **selectors**, loaded from other cells,
//! **pointers**. The content of a cell is *dead* while no pointer leads to the cell, no process has
//! selected it, and every process that may make a pointer lead to it writes the cell first.
//!
//! A process is at an **abstract location** ([`crate::por::abstract_locations`]). Let g be a
//! pointer and x a scalar. Consider one process by itself, from an abstract location on, for as
//! long as it has not certainly written the cell. When it reads g it finds any scalar except x, and
//! all other cells hold any scalar. It is a *reader* of the cell if it may read the cell, or write
//! x to g (`cell_liveness.rs`).
//!
//! *Soundness.* Claim: in a state in which g does not hold x and no process is a reader, no process
//! reads the cell before it is written. Suppose one does, and consider the first step that reads
//! the cell or makes g hold x, before the cell is written. Up to this step g did not hold x, so the
//! path of its process from its abstract location in the state was considered: the process is a
//! reader, a contradiction. So states that differ only in dead cells have the same future, and a
//! state with a fixed scalar there represents all of them. Without g and x the same holds if no
//! process may read the cell. (Global liveness; compare Bozga, Fernandez and Ghirvu, State space
//! reduction based on live variables analysis, SAS 1999.)
//!
//! A pointer may be dead itself, and is reset first, to a scalar that leads to no cell. So a cell
//! that was dead because the pointer led elsewhere stays dead. Then successors of states that
//! differ only in dead cells differ only in dead cells, as the self-check requires. A pointer is
//! not reset if all its scalars lead to some cell.
//!
//! Links are cells that one process reads, and are treated like other cells.
//!
//! Without a bound, riany has 20,285,533 states for 2 processes; with 3 operations each 1,356,491
//! of 4,923,068 are left. Where staleness also depends on the progress of other processes, only
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

/// The conditions under which cells are dead.
#[derive(Clone, Debug, Default)]
pub struct StaticDeadCells {
    /// At most `Cells::BITS` many.
    cells: Vec<Cell>,
    /// By process.
    readers: Vec<Readers>,
}

/// A cell that may be dead.
#[derive(Clone, Copy, Debug)]
struct Cell {
    slot: SlotId,
    /// The content of the cell while it is dead.
    blank: Scalar,
    /// The pointer, and the scalar that it must not hold.
    pointer: Option<(SlotId, Scalar)>,
}

/// By abstract location, the cells that a process is a reader of.
#[derive(Clone, Debug)]
struct Readers {
    index: Index,
    /// By number of the abstract location in the index.
    to: Vec<Cells>,
}

impl StaticDeadCells {
    /// Analyses an instance. No cell is dead if processes have too many abstract locations.
    ///
    /// O(places * (ways to take a step + cells * pointers)).
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
        // If there are too many, links are left out first: they gain least.
        let is_link = |liveness: &CellLiveness| instance.slot(liveness.cell).owner != Owner::Shared;
        liveness.sort_by_key(|liveness| (is_link(liveness), Reverse(liveness.worth())));
        if liveness.len() > Cells::BITS as usize {
            Limit::Cells.reach(deadline);
        }
        liveness.truncate(Cells::BITS as usize);
        // A dead pointer must lead to no cell, so that cells reset before it died stay dead.
        let pointers: Vec<(SlotId, Scalar)> = liveness.iter().filter_map(|of| of.pointer).collect();
        let harmless = |slot: SlotId| {
            let leads = |scalar: &Scalar| pointers.contains(&(slot, *scalar));
            // Names are renamed, so a fixed name is not invariant.
            let others = match instance.slot(slot).domain.names_processes() {
                true => Vec::new(),
                false => scalars_of(instance, slot),
            };
            std::iter::once(blanks[&slot]).chain(others).find(|scalar| !leads(scalar))
        };
        let blanks: BTreeMap<SlotId, Scalar> =
            liveness.iter().filter_map(|of| Some((of.cell, harmless(of.cell)?))).collect();
        liveness.retain(|liveness| blanks.contains_key(&liveness.cell));
        // Pointers come before the cells that they lead to.
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

    /// Returns true if any cell may ever be dead.
    pub const fn is_useful(&self) -> bool {
        !self.cells.is_empty()
    }
}

/// Returns the slots that may be dead, with their blanks: all cells and links that no process waits
/// for.
fn candidates(instance: &Instance) -> BTreeMap<SlotId, Scalar> {
    let watched = instance.watched();
    // Anonymous bits are flipped, so no scalar is invariant.
    let classes = Classes::new(instance);
    let is_flipped = |slot: SlotId| {
        classes.iter().any(|class| class.content == Content::Bit && class.slots.contains(&slot))
    };
    let blank = |slot: &Slot| match slot.domain {
        Domain::Range { optional: true, .. }
        | Domain::Version { optional: true }
        | Domain::Counter { optional: true } => Some(NONE),
        Domain::Range { low, names_processes: false, .. } => Some(low),
        // Any scalar would be renamed with the others.
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
    /// Prepares the lookup for one process, given by cell the abstract locations at which it is a
    /// reader.
    fn new(index: Index, graph: &AbstractGraph, by_cell: &[&FixedBitSet]) -> Self {
        // Unreachable places get the most pessimistic entries.
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

    /// Returns the cells that the process is a reader of in a state.
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
