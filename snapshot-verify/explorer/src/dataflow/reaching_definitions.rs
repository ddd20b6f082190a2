//! Reaching definitions as webs: the assignments of a slot that share a read.
//!
//! A *web* is a set of assignments of a slot and of the reads that they reach, closed under
//! reaching (Chaitin et al., Register allocation via coloring, Computer Languages 6, 1981). The
//! definitions that reach a point are one node of a union-find. Every edge unites the node at its
//! start with the node at its end, if the slot is read later. So one pass over the edges, in any
//! order, is the solution.
//!
//! An assignment that selects among slots by an index may leave each of them unchanged: it belongs
//! to the webs of the definitions that reach it. This module has its own liveness, since
//! [`super::live_variables`] ignores the conditions of reactions and reads for dead assignments,
//! and both have to be renamed with a web.

use fixedbitset::FixedBitSet;

use super::{Backward, Facts, backward};
use crate::deadline::{Deadline, Stopped};
use crate::instance::{
    Assignment, Block, BlockId, End, Graph, Location, SlotId, Standing, Target, Term,
};

/// The webs of some slots in a graph.
pub(crate) struct Webs {
    /// The slots to be split.
    slots: Vec<SlotId>,
    /// By slot of the instance, its position in `slots`.
    positions: Vec<Option<usize>>,
    blocks: usize,
    /// By point (blocks, then locations), the positions of slots that are read later.
    live: Vec<FixedBitSet>,
    /// A union-find; each root is a web. The nodes are first the definitions that reach each point,
    /// by point and position, then the assignments.
    parents: Vec<usize>,
    /// The webs that are read, by root.
    read: FixedBitSet,
}

/// Liveness of the slots to be split.
impl Backward for Webs {
    type Fact = FixedBitSet;

    fn bottom(&self) -> FixedBitSet {
        FixedBitSet::with_capacity(self.slots.len())
    }

    fn block(&self, block: &Block, live: &mut FixedBitSet) {
        let read = |term: &Term, live: &mut FixedBitSet| {
            term.slots(&mut |slot| live.extend(self.position(slot)));
        };
        block.end.terms().into_iter().for_each(|term| read(term, live));
        for Assignment { target, value } in block.assignments.iter().rev() {
            match target {
                Target::Slot(slot) => {
                    if let Some(position) = self.position(*slot) {
                        live.set(position, false);
                    }
                }
                Target::Element { index, .. } => read(index, live),
            }
            read(value, live);
        }
    }

    fn location(&self, at: Location, standing: &Standing, live: &mut FixedBitSet) {
        // Slots of an operation do not outlive it.
        if at == Location::IDLE {
            live.clear();
        }
        for reaction in &standing.reactions {
            reaction.when.slots(&mut |slot| live.extend(self.position(slot)));
        }
    }
}

impl Webs {
    /// Computes the webs of `slots`. The instance has `all` slots.
    pub(crate) fn new(
        graph: &Graph,
        slots: Vec<SlotId>,
        all: usize,
        deadline: Deadline<'_>,
    ) -> Result<Self, Stopped> {
        let mut positions = vec![None; all];
        for (position, slot) in slots.iter().enumerate() {
            positions[slot.index()] = Some(position);
        }
        let places = graph.blocks.len() + graph.locations.len();
        let assignments = graph.blocks.iter().map(|block| block.assignments.len()).sum::<usize>();
        let nodes = places * slots.len() + assignments;
        let mut webs = Self {
            positions,
            blocks: graph.blocks.len(),
            live: Vec::new(),
            parents: (0..nodes).collect(),
            read: FixedBitSet::with_capacity(nodes),
            slots,
        };
        let Facts { mut blocks, locations } = backward(graph, &webs, deadline)?;
        blocks.extend(locations);
        webs.live = blocks;
        webs.unite(graph);
        webs.find_reads(graph);
        Ok(webs)
    }

    /// Returns the position of a slot, if it is to be split.
    pub(crate) fn position(&self, slot: SlotId) -> Option<usize> {
        self.positions[slot.index()]
    }

    /// Returns the nodes of the definitions that reach a block's start, by position.
    fn at_block(&self, block: usize) -> Vec<usize> {
        (0..self.slots.len()).map(|position| block * self.slots.len() + position).collect()
    }

    /// Returns the nodes of the definitions that reach a location, by position.
    pub(crate) fn at_location(&self, location: usize) -> Vec<usize> {
        self.at_block(self.blocks + location)
    }

    /// Unites the nodes at both ends of each edge, for slots that are read later.
    fn unite(&mut self, graph: &Graph) {
        let mut edges: Vec<(Vec<usize>, usize)> = Vec::new();
        self.follow(graph, &mut |followed, nodes| {
            if let Followed::End(end) = followed {
                let paused = match end {
                    End::Pause(location) => Some(self.blocks + location.index()),
                    _ => None,
                };
                let next = end.blocks().map(BlockId::index).chain(paused);
                edges.extend(next.map(|place| (nodes.to_vec(), place)));
            }
        });
        for (location, standing) in graph.locations.iter().enumerate() {
            let next = standing.beginnings().map(BlockId::index);
            edges.extend(next.map(|place| (self.at_location(location), place)));
        }
        for (nodes, place) in edges {
            for position in self.live[place].ones().collect::<Vec<_>>() {
                let one = self.web(nodes[position]);
                let other = self.web(place * self.slots.len() + position);
                self.parents[one.max(other)] = one.min(other);
            }
        }
    }

    fn find_reads(&mut self, graph: &Graph) {
        let mut read = std::mem::take(&mut self.read);
        let mut note = |slot: SlotId, nodes: &[usize]| {
            read.extend(self.position(slot).map(|position| self.web(nodes[position])));
        };
        self.follow(graph, &mut |followed, nodes| match followed {
            Followed::Assignment(Assignment { target, value }, _) => {
                if let Target::Element { index, of } = target {
                    index.slots(&mut |slot| note(slot, nodes));
                    of.iter().for_each(|slot| note(*slot, nodes));
                }
                value.slots(&mut |slot| note(slot, nodes));
            }
            Followed::End(end) => {
                let terms = end.terms().into_iter();
                terms.for_each(|term| term.slots(&mut |slot| note(slot, nodes)));
            }
        });
        for (location, standing) in graph.locations.iter().enumerate() {
            let nodes = self.at_location(location);
            for reaction in &standing.reactions {
                reaction.when.slots(&mut |slot| note(slot, &nodes));
            }
        }
        self.read = read;
    }

    /// Returns true if any process reads the web.
    pub(crate) fn is_read(&self, web: usize) -> bool {
        self.read[web]
    }

    /// Returns the web of a node: the root of the union-find.
    pub(crate) fn web(&self, mut node: usize) -> usize {
        while self.parents[node] != node {
            node = self.parents[node];
        }
        node
    }

    /// Follows all blocks in order. Calls `each` on every assignment and every end, with the nodes
    /// of the slots just before it.
    pub(crate) fn follow<'g>(
        &self,
        graph: &'g Graph,
        each: &mut dyn FnMut(Followed<'g>, &[usize]),
    ) {
        let mut next = (self.blocks + graph.locations.len()) * self.slots.len();
        for (index, block) in graph.blocks.iter().enumerate() {
            let mut nodes = self.at_block(index);
            for assignment in &block.assignments {
                each(Followed::Assignment(assignment, next), &nodes);
                if let Target::Slot(slot) = assignment.target
                    && let Some(position) = self.position(slot)
                {
                    nodes[position] = next;
                }
                next += 1;
            }
            each(Followed::End(&block.end), &nodes);
        }
    }
}

/// A part of a block.
pub(crate) enum Followed<'g> {
    /// An assignment, with its node.
    Assignment(&'g Assignment, usize),
    End(&'g End),
}
