//! Which processes may read a cell, given what a gate does not hold.

use std::collections::BTreeSet;

use fixedbitset::FixedBitSet;

use crate::deadline::{Deadline, Stopped};
use crate::instance::{Instance, Owner, Scalar, SlotId};
use crate::por::abstract_locations::{Event, Graph, Path, scalars_of};

/// What is proven of a cell.
#[derive(Debug)]
pub(super) struct Claim {
    pub(super) cell: SlotId,
    /// The gate, and what it must not hold.
    pub(super) gate: Option<(SlotId, Scalar)>,
    /// By process, the places from which it is a danger.
    pub(super) dangers: Vec<FixedBitSet>,
    /// By process, how many others there are.
    harmless: Vec<usize>,
}

impl Claim {
    /// The claim of the cell that holds most often, if any ever does.
    ///
    /// # Errors
    /// If the deadline comes first.
    pub(super) fn best(
        instance: &Instance,
        graphs: &[Graph],
        gates: &BTreeSet<SlotId>,
        cell: SlotId,
        deadline: Deadline<'_>,
    ) -> Result<Option<Self>, Stopped> {
        // A link is read by a process that knows what it has linked.
        let is_link = instance.slot(cell).owner != Owner::Shared;
        let gates = gates.iter().filter(|gate| !is_link && **gate != cell);
        let held = gates.flat_map(|&gate| {
            let scalars = scalars_of(instance, gate).into_iter();
            scalars.map(move |scalar| Some((gate, scalar)))
        });
        let mut best: Option<Self> = None;
        for gate in std::iter::once(None).chain(held) {
            deadline.check()?;
            let claim = Self::new(graphs, cell, gate);
            // Of equal ones the first: without gate, if possible.
            if claim.worth() > best.as_ref().map_or(0, Self::worth) {
                best = Some(claim);
            }
        }
        Ok(best)
    }

    fn new(graphs: &[Graph], cell: SlotId, gate: Option<(SlotId, Scalar)>) -> Self {
        let dangers: Vec<FixedBitSet> =
            graphs.iter().map(|graph| dangers(graph, cell, gate)).collect();
        let counts = dangers.iter().zip(graphs);
        let harmless = counts.map(|(set, graph)| graph.places.len() - set.count_ones(..)).collect();
        Self { cell, gate, dangers, harmless }
    }

    /// In how many ways it may hold; 0 if it never does.
    pub(super) fn worth(&self) -> u64 {
        self.harmless.iter().fold(1, |product: u64, &count| product.saturating_mul(count as u64))
    }
}

/// What a path means for a cell.
enum Meaning {
    /// It reads the cell, or opens the gate to it.
    Danger,
    /// It writes the cell first, or cannot be taken.
    Safe,
    /// It goes on.
    Nothing,
}

/// The places from which a process may come to read the cell, or to write that to the
/// gate, though the gate does not hold it and the cell was not written.
fn dangers(graph: &Graph, cell: SlotId, gate: Option<(SlotId, Scalar)>) -> FixedBitSet {
    // All other paths go on.
    let mut ending = FixedBitSet::with_capacity(graph.paths.len());
    let mut open = Vec::new();
    let of_gate = gate.map_or(&[][..], |(gate, _)| graph.touching(gate));
    for &number in graph.touching(cell).iter().chain(of_gate) {
        let path = &graph.paths[number];
        match meaning(path, cell, gate) {
            Meaning::Danger => open.push(path.from),
            Meaning::Safe => ending.insert(number),
            Meaning::Nothing => {}
        }
    }
    let mut dangers = FixedBitSet::with_capacity(graph.places.len());
    while let Some(place) = open.pop() {
        if !dangers.put(place) {
            let before = graph.arriving(place).iter().filter(|path| !ending.contains(**path));
            open.extend(before.map(|path| graph.paths[*path].from));
        }
    }
    dangers
}

fn meaning(path: &Path, cell: SlotId, gate: Option<(SlotId, Scalar)>) -> Meaning {
    for event in &path.events {
        match event {
            Event::Read(slot) if *slot == cell => return Meaning::Danger,
            Event::Lead(slot, scalars)
                if gate.is_some_and(|(gate, open)| gate == *slot && scalars.contains(&open)) =>
            {
                return Meaning::Danger;
            }
            Event::Write(slot) if *slot == cell => return Meaning::Safe,
            Event::Find(slot, scalar) if gate == Some((*slot, *scalar)) => return Meaning::Safe,
            _ => {}
        }
    }
    Meaning::Nothing
}
