//! Most shared accesses of an operation: the longest path over the components of the states in which
//! it is open, weighted by the accesses of its process.
//!
//! For a wait-free operation no step of its process lies on a cycle, so the components form an
//! acyclic graph whose edges between components include all its steps.

use rustc_hash::FxHashMap;
use snapshot_core::Process;

use super::cycles::{Cycles, Part};
use crate::graph::{Components, Graph};
use crate::interpret::Operation;

/// Returns the most accesses of each operation of a process, for operations without cycles. `cycles`
/// are those of the states in which the process has an operation open, with all edges.
pub fn most_accesses(
    graph: &mut Graph<'_, '_>,
    part: &Part<'_>,
    cycles: &Cycles,
    process: Process,
) -> FxHashMap<Operation, u32> {
    let mut vertices: Vec<u32> = (0..graph.expanded() as u32).collect();
    vertices.retain(|number| cycles.component_of(*number) != Components::NONE);
    // Edges lead to components of smaller numbers.
    vertices.sort_by_key(|number| cycles.component_of(*number));
    let mut longest: FxHashMap<u32, u32> = FxHashMap::default();
    let mut most: FxHashMap<Operation, u32> = FxHashMap::default();
    for number in vertices {
        let own = cycles.component_of(number);
        let mut here = longest.get(&own).copied().unwrap_or(0);
        for edge in graph.from(number) {
            let weight = u32::from(edge.label.process() == process && edge.label.accesses());
            let after = match (part.keeps_edge)(number, &edge).then(|| cycles.component_of(edge.to))
            {
                Some(component) if component == own => continue,
                Some(component) => longest.get(&component).copied().unwrap_or(0),
                None => 0,
            };
            here = here.max(weight.saturating_add(after));
        }
        longest.insert(own, here);
        if let Some(operation) = graph.prospect(number, process).operation {
            let known = most.entry(operation).or_default();
            *known = (*known).max(here);
        }
    }
    most
}
