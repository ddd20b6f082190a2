//! Reaching definitions, as webs: which assignments of a slot share a read.
//!
//! A *web* is a set of assignments of a slot and of the reads that they reach, closed
//! under reaching (Chaitin et al., Register allocation via coloring, Computer
//! Languages 6, 1981). What comes to each place is one node of a union-find, and every edge
//! unites what leaves with what arrives, where it is read later: so one pass over the edges
//! is the solution, whatever their order.
//!
//! An assignment that chooses among slots by an index may leave each of them as it was:
//! it belongs to the webs of what reaches it. Where a slot is read later is found out
//! here, not by [`super::live_variables`]: that does not count the conditions of reactions,
//! nor what is read for nothing, and both have to be renamed with a web.

use fixedbitset::FixedBitSet;

use super::{Backward, Facts, backward};
use crate::deadline::{Deadline, Stopped};
use crate::instance::{
    Assignment, Block, BlockId, End, Graph, Location, SlotId, Standing, Target, Term,
};

/// The webs of some slots in a graph.
pub(crate) struct Webs {
    /// What is split.
    slots: Vec<SlotId>,
    /// By slot of the instance, its position in `slots`.
    positions: Vec<Option<usize>>,
    blocks: usize,
    /// What is read later, where blocks begin and then at locations, by position.
    live: Vec<FixedBitSet>,
    /// A union-find; what is not united with others is a web by itself. First what
    /// comes to each place, by place and position, then what each assignment assigns.
    parents: Vec<usize>,
    /// The webs that are read, by root.
    read: FixedBitSet,
}

/// What is read later.
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
        // Nothing of an operation outlives it.
        if at == Location::IDLE {
            live.clear();
        }
        for reaction in &standing.reactions {
            reaction.when.slots(&mut |slot| live.extend(self.position(slot)));
        }
    }
}

impl Webs {
    /// Of these slots of `all` in the instance.
    ///
    /// # Errors
    /// If the deadline comes first.
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

    /// The position of a slot, if it is to be split.
    pub(crate) fn position(&self, slot: SlotId) -> Option<usize> {
        self.positions[slot.index()]
    }

    /// What comes to where a block begins, by position: nodes of the union-find.
    fn at_block(&self, block: usize) -> Vec<usize> {
        (0..self.slots.len()).map(|position| block * self.slots.len() + position).collect()
    }

    /// What comes to a location, by position.
    pub(crate) fn at_location(&self, location: usize) -> Vec<usize> {
        self.at_block(self.blocks + location)
    }

    /// Unites what is assigned or comes somewhere with what comes from there to the
    /// places where it is read later.
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

    /// Whether any process reads what belongs to a web.
    pub(crate) fn is_read(&self, web: usize) -> bool {
        self.read[web]
    }

    /// The web of a node of the union-find: its root.
    pub(crate) fn web(&self, mut node: usize) -> usize {
        while self.parents[node] != node {
            node = self.parents[node];
        }
        node
    }

    /// Goes through all blocks in order; `each` sees every assignment and every
    /// end, with what the slots hold just before it.
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
    /// With the node of what it assigns.
    Assignment(&'g Assignment, usize),
    End(&'g End),
}
