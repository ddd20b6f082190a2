//! Processes that may read a cell, provided that a pointer does not hold a certain scalar.

use std::collections::BTreeSet;

use fixedbitset::FixedBitSet;

use crate::dataflow;
use crate::deadline::{Deadline, Stopped};
use crate::instance::{Instance, Owner, Scalar, SlotId};
use crate::por::abstract_locations::{AbstractGraph, Event, Path, scalars_of};

/// The abstract locations at which processes are readers of a cell.
#[derive(Debug)]
pub(super) struct CellLiveness {
    pub(super) cell: SlotId,
    /// The pointer, and the scalar that it must not hold.
    pub(super) pointer: Option<(SlotId, Scalar)>,
    /// By process, the abstract locations at which it is a reader.
    pub(super) readers: Vec<FixedBitSet>,
    /// By process, the number of other abstract locations.
    harmless: Vec<usize>,
}

impl CellLiveness {
    /// Selects the pointer that leaves the fewest readers. Returns `None` if the cell is never
    /// dead.
    pub(super) fn best(
        instance: &Instance,
        graphs: &[AbstractGraph],
        pointers: &BTreeSet<SlotId>,
        cell: SlotId,
        deadline: Deadline<'_>,
    ) -> Result<Option<Self>, Stopped> {
        // A link is read by a process that knows its target, so pointers are irrelevant.
        let is_link = instance.slot(cell).owner != Owner::Shared;
        let pointers = pointers.iter().filter(|pointer| !is_link && **pointer != cell);
        let held = pointers.flat_map(|&pointer| {
            let scalars = scalars_of(instance, pointer).into_iter();
            scalars.map(move |scalar| Some((pointer, scalar)))
        });
        let mut best: Option<Self> = None;
        for pointer in std::iter::once(None).chain(held) {
            let liveness = Self::new(graphs, cell, pointer, deadline)?;
            // The first of equals is taken: without a pointer, if possible.
            if liveness.worth() > best.as_ref().map_or(0, Self::worth) {
                best = Some(liveness);
            }
        }
        Ok(best)
    }

    fn new(
        graphs: &[AbstractGraph],
        cell: SlotId,
        pointer: Option<(SlotId, Scalar)>,
        deadline: Deadline<'_>,
    ) -> Result<Self, Stopped> {
        let readers = graphs.iter().map(|graph| readers(graph, cell, pointer, deadline));
        let readers: Vec<FixedBitSet> = readers.collect::<Result<_, _>>()?;
        let counts = readers.iter().zip(graphs);
        let harmless = counts.map(|(set, graph)| graph.places.len() - set.count_ones(..)).collect();
        Ok(Self { cell, pointer, readers, harmless })
    }

    /// Returns the number of combinations of abstract locations without a reader.
    pub(super) fn worth(&self) -> u64 {
        self.harmless.iter().fold(1, |product: u64, &count| product.saturating_mul(count as u64))
    }
}

/// The effect of a path on a cell's liveness.
enum Meaning {
    /// The path reads the cell, or makes the pointer lead to it.
    Read,
    /// The path writes the cell first, or cannot be taken.
    Safe,
    /// The path does neither.
    Nothing,
}

/// Returns the abstract locations from which a process may read the cell, or make the pointer lead
/// to it, while the pointer does not yet lead to it and the cell was not written.
fn readers(
    graph: &AbstractGraph,
    cell: SlotId,
    pointer: Option<(SlotId, Scalar)>,
    deadline: Deadline<'_>,
) -> Result<FixedBitSet, Stopped> {
    // All other paths continue.
    let mut ending = FixedBitSet::with_capacity(graph.paths.len());
    let mut open = Vec::new();
    let of_pointer = pointer.map_or(&[][..], |(pointer, _)| graph.touching(pointer));
    for &number in graph.touching(cell).iter().chain(of_pointer) {
        let path = &graph.paths[number];
        match meaning(path, cell, pointer) {
            Meaning::Read => open.push(path.from),
            Meaning::Safe => ending.insert(number),
            Meaning::Nothing => {}
        }
    }
    let edges = |place: usize, visit: &mut dyn FnMut(usize)| {
        let before = graph.arriving(place).iter().filter(|path| !ending.contains(**path));
        before.for_each(|path| visit(graph.paths[*path].from));
    };
    dataflow::closure(graph.places.len(), open, edges, deadline)
}

fn meaning(path: &Path, cell: SlotId, pointer: Option<(SlotId, Scalar)>) -> Meaning {
    for event in &path.events {
        match event {
            Event::Read(slot) if *slot == cell => return Meaning::Read,
            Event::Lead(slot, scalars)
                if pointer
                    .is_some_and(|(pointer, open)| pointer == *slot && scalars.contains(&open)) =>
            {
                return Meaning::Read;
            }
            Event::Write(slot) if *slot == cell => return Meaning::Safe,
            Event::Find(slot, scalar) if pointer == Some((*slot, *scalar)) => return Meaning::Safe,
            _ => {}
        }
    }
    Meaning::Nothing
}
