//! Infinite executions as cycles of a part of a graph.
//!
//! A *part* is given by its states and its edges. An infinite execution of a finite part stays in
//! one strongly connected component in the end, and a closed walk through all edges of a component
//! exists. So an execution that does something infinitely often exists iff some component has an
//! edge that does it.
//!
//! Under *fair choices*, each outcome of a `choose` that is made infinitely often is taken
//! infinitely often. Then executions stay in an end component (de Alfaro, *Formal verification of
//! probabilistic systems*, 1997): one that no outcome of its choices leaves.

use std::collections::VecDeque;

use rustc_hash::{FxHashMap, FxHashSet};
use snapshot_core::Process;

use crate::graph::{Components, Edge, Graph, Kind, LOST};

/// A part of a graph.
pub struct Part<'a> {
    pub keeps_state: &'a dyn Fn(u32) -> bool,
    pub keeps_edge: &'a dyn Fn(u32, &Edge) -> bool,
}

/// Components of a part, with their edges.
#[derive(Debug)]
pub struct Cycles {
    components: Components,
    /// Edges that were removed because a choice leaves the component: state, position.
    removed: FxHashSet<(u32, usize)>,
}

/// Edge with its source.
pub type Step = (u32, Edge);

/// Properties of a component that has an edge.
#[derive(Clone, Copy, Debug, Default)]
pub struct Component {
    /// Some state of it.
    pub state: u32,
    /// Processes with an edge within an operation, as a bit set.
    pub within: u64,
    /// Processes with any edge.
    pub moving: u64,
    /// Processes with an open operation in some state.
    pub open: u64,
}

impl Cycles {
    /// Finds the components of a part; with `fair_choices` its end components.
    pub fn new(graph: &Graph<'_, '_>, part: &Part<'_>, fair_choices: bool) -> Self {
        let mut removed = FxHashSet::default();
        loop {
            let components = Components::new(
                graph.expanded(),
                part.keeps_state,
                &|number| graph.from(number).len(),
                &|number, position| {
                    let edge = &graph.edge(number, position);
                    let is_kept = edge.to != LOST
                        && (edge.to as usize) < graph.expanded()
                        && (part.keeps_edge)(number, edge)
                        && !removed.contains(&(number, position));
                    is_kept.then_some(edge.to)
                },
            );
            let mut cycles = Self { components, removed: std::mem::take(&mut removed) };
            if !fair_choices || !cycles.remove_choices(graph, part) {
                return cycles;
            }
            removed = cycles.removed;
        }
    }

    /// Removes the choices that leave their component; returns false if there is none.
    fn remove_choices(&mut self, graph: &Graph<'_, '_>, part: &Part<'_>) -> bool {
        let before = self.removed.len();
        for number in 0..graph.expanded() as u32 {
            let edges: Vec<Edge> = graph.from(number).collect();
            for process in 0..graph.machine().processes() {
                let is_choice = |edge: &Edge| {
                    edge.label.kind() == Kind::Choice && edge.label.process().index() == process
                };
                let choices = || (0..edges.len()).filter(|at| is_choice(&edges[*at]));
                if choices().any(|at| !self.contains(part, number, at, &edges[at])) {
                    self.removed.extend(choices().map(|at| (number, at)));
                }
            }
        }
        self.removed.len() > before
    }

    fn contains(&self, part: &Part<'_>, from: u32, position: usize, edge: &Edge) -> bool {
        edge.to != LOST
            && (edge.to as usize) < self.components.of.len()
            && self.components.are_connected(from, edge.to)
            && (part.keeps_edge)(from, edge)
            && !self.removed.contains(&(from, position))
    }

    /// Returns the component of a state.
    pub fn component_of(&self, state: u32) -> u32 {
        self.components.of.get(state as usize).copied().unwrap_or(Components::NONE)
    }

    /// Returns the components with edges, in the order of their first states.
    pub fn components(
        &self,
        graph: &Graph<'_, '_>,
        part: &Part<'_>,
        open: &[u64],
    ) -> Vec<Component> {
        let mut places: FxHashMap<u32, usize> = FxHashMap::default();
        let mut found: Vec<Component> = Vec::new();
        for from in 0..graph.expanded() as u32 {
            for (position, edge) in graph.from(from).enumerate() {
                if !self.contains(part, from, position, &edge) {
                    continue;
                }
                let place = *places.entry(self.component_of(from)).or_insert_with(|| {
                    found.push(Component { state: from, ..Component::default() });
                    found.len() - 1
                });
                let bit = 1 << edge.label.process().index();
                let component = &mut found[place];
                component.moving |= bit;
                component.within |= if edge.label.is_within() { bit } else { 0 };
                component.open |= open[from as usize];
            }
        }
        found
    }

    /// Returns a closed walk in the component of a state, from its first state, through an edge
    /// within an operation of each of these processes (a bit each).
    ///
    /// # Panics
    /// If some of them has no such edge there.
    pub fn walk(
        &self,
        graph: &Graph<'_, '_>,
        part: &Part<'_>,
        state: u32,
        processes: u64,
    ) -> Vec<Step> {
        let component = self.component_of(state);
        let members = || {
            let all = 0..graph.expanded() as u32;
            all.filter(move |number| self.component_of(*number) == component)
        };
        let mut walk: Vec<Step> = Vec::new();
        let mut start = None;
        for process in (0..graph.machine().processes()).map(Process::from_index) {
            let is_done =
                |step: &Step| step.1.label.process() == process && step.1.label.is_within();
            if processes >> process.index() & 1 == 0 || walk.iter().any(is_done) {
                continue;
            }
            let own = |number: u32| {
                let mut own = graph.from(number).enumerate().filter(|(at, edge)| {
                    edge.label.process() == process
                        && edge.label.is_within()
                        && self.contains(part, number, *at, edge)
                });
                own.next().map(|(_, edge)| (number, edge))
            };
            let step = members().find_map(own).expect("each of the processes has an edge here");
            let from = *start.get_or_insert(step.0);
            let at = walk.last().map_or(from, |last| last.1.to);
            walk.extend(self.way(graph, part, at, step.0));
            walk.push(step);
        }
        let from = start.expect("there is at least one process");
        let at = walk.last().map_or(from, |last| last.1.to);
        walk.extend(self.way(graph, part, at, from));
        // Begins at the first of its states.
        let first = walk.iter().map(|step| step.0).min().unwrap_or(from);
        let position = walk.iter().position(|step| step.0 == first).unwrap_or(0);
        walk.rotate_left(position);
        walk
    }

    /// Returns a shortest way from one state to another within their component.
    fn way(&self, graph: &Graph<'_, '_>, part: &Part<'_>, from: u32, to: u32) -> Vec<Step> {
        let mut parents: FxHashMap<u32, Step> = FxHashMap::default();
        let mut work = VecDeque::from([from]);
        while let Some(number) = work.pop_front() {
            if number == to {
                break;
            }
            for (position, edge) in graph.from(number).enumerate() {
                let is_new = edge.to != from && !parents.contains_key(&edge.to);
                if is_new && self.contains(part, number, position, &edge) {
                    parents.insert(edge.to, (number, edge));
                    work.push_back(edge.to);
                }
            }
        }
        let (mut way, mut at) = (Vec::new(), to);
        while at != from {
            let step = parents[&at];
            way.push(step);
            at = step.0;
        }
        way.reverse();
        way
    }
}
