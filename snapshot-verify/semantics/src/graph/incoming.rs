//! Edges by their targets.

use super::{Graph, LOST, Label};

/// Edges to each state: source and label.
#[derive(Debug)]
pub struct Incoming {
    begins: Vec<usize>,
    edges: Vec<(u32, Label)>,
}

impl Incoming {
    /// Groups the edges of a graph by target state.
    pub fn new(graph: &Graph<'_, '_>) -> Self {
        let mut begins = vec![0; graph.len() + 1];
        let all = || {
            let from = |number| graph.from(number).map(move |edge| (number, edge));
            let all = (0..graph.expanded() as u32).flat_map(from);
            all.filter(|(_, edge)| edge.to != LOST)
        };
        all().for_each(|(_, edge)| begins[edge.to as usize + 1] += 1);
        (0..graph.len()).for_each(|state| begins[state + 1] += begins[state]);
        let mut places = begins.clone();
        let mut edges = Vec::new();
        if let Some((from, edge)) = all().next() {
            edges = vec![(from, edge.label); begins[graph.len()]];
        }
        for (from, edge) in all() {
            let place = &mut places[edge.to as usize];
            edges[*place] = (from, edge.label);
            *place += 1;
        }
        Self { begins, edges }
    }

    pub fn of(&self, state: u32) -> &[(u32, Label)] {
        &self.edges[self.begins[state as usize]..self.begins[state as usize + 1]]
    }
}
