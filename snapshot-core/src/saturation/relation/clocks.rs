//! Clocks: the predecessors of each node.
//!
//! The clock of a node has, for each chain, the number of the last operation that comes before it.
//! Invariant, once the queue is empty: along an edge x -> y the clock of y is at least the clock of
//! x, and includes x. So the relation is acyclic iff no operation's clock includes the operation
//! itself. Nodes are processed in the order of their creation, which mostly agrees with the
//! relation.

use std::cmp::Reverse;

use super::{Cycle, Edge, Kind, NONE, Node, Relation, Rise, Stands, at};

impl Relation {
    /// Adds an edge, and joins the clock of its start into the clock of its end.
    pub(super) fn add_edge(&mut self, from: u32, to: u32, cause: (u32, u32)) {
        if let Some(trail) = self.trials.last_mut() {
            trail.edges.push(from);
        }
        let next = std::mem::replace(&mut self.nodes[from as usize].edges, self.edges.len() as u32);
        self.edges.push(Edge { to, next, cause });
        let clock = std::mem::take(&mut self.nodes[from as usize].clock);
        let (mut via, mut own) = (NONE, (NONE, 0));
        match self.nodes[from as usize].stands {
            Stands::Operation(operation) => {
                let operation = self.operation(operation);
                own = (operation.chain, operation.number);
            }
            Stands::End(block) => via = block,
            Stands::Instant => {}
        }
        if self.nodes[to as usize].clock.is_empty() && self.trials.is_empty() {
            self.fill(to, &clock, via);
        } else {
            self.join(to, &clock, via);
        }
        if own.0 != NONE {
            self.raise(to, own.0, own.1, via);
        }
        self.nodes[from as usize].clock = clock;
    }

    /// Returns true if a rise of this node's clock can have consequences: it is passed on along
    /// edges, and derived from at updates and complete scans. An edge that is added later takes the
    /// whole clock along.
    #[inline]
    fn is_watched(&self, node: u32) -> bool {
        let Node { edges, stands, .. } = self.nodes[node as usize];
        edges != NONE
            || match stands {
                Stands::Operation(operation) => {
                    self.operation(operation).kind != Kind::Scan { entries: NONE }
                }
                Stands::Instant | Stands::End(_) => false,
            }
    }

    /// Raises all entries of an empty clock.
    fn fill(&mut self, node: u32, clock: &[u32], via: u32) {
        if clock.is_empty() {
            return;
        }
        let room = self.chains.len().max(clock.len());
        self.nodes[node as usize].clock.reserve_exact(room);
        self.nodes[node as usize].clock.extend_from_slice(clock);
        if !self.is_watched(node) {
            return;
        }
        let slot = self.dirty_slot(node);
        let rises = (0..).zip(clock).filter(|(_, number)| **number > 0);
        self.rises[slot].extend(rises.map(|(chain, _)| Rise { chain, before: 0, via }));
    }

    /// Raises each entry to the entry of another clock.
    fn join(&mut self, node: u32, clock: &[u32], via: u32) {
        let own = &self.nodes[node as usize].clock;
        // Usually nothing rises; this test takes no branches.
        let is_below = own.iter().zip(clock).fold(false, |so_far, (a, b)| so_far | (a < b));
        if is_below || clock.len() > own.len() {
            for (chain, &number) in (0..).zip(clock) {
                self.raise(node, chain, number, via);
            }
        }
    }

    fn dirty_slot(&mut self, node: u32) -> usize {
        if self.nodes[node as usize].dirty == NONE {
            let slot = self.spare_slot();
            self.nodes[node as usize].dirty = slot;
            self.queue.push(Reverse(node));
        }
        self.nodes[node as usize].dirty as usize
    }

    /// Allocates a slot for rises, until it is given back.
    pub(super) fn spare_slot(&mut self) -> u32 {
        self.spare.pop().unwrap_or_else(|| {
            self.rises.push(Vec::new());
            self.rises.len() as u32 - 1
        })
    }

    /// Gives back a slot, with its capacity.
    pub(super) fn give_back(&mut self, slot: u32, mut rises: Vec<Rise>) {
        rises.clear();
        self.rises[slot as usize] = rises;
        self.spare.push(slot);
    }

    #[inline]
    fn raise(&mut self, node: u32, chain: u32, number: u32, via: u32) {
        let clock = &mut self.nodes[node as usize].clock;
        let before = at(clock, chain);
        if before >= number {
            return;
        }
        if clock.len() <= chain as usize {
            if clock.capacity() <= chain as usize {
                // Not twice the capacity: clocks dominate the memory.
                clock.reserve_exact(self.chains.len().max(chain as usize + 1) - clock.len());
            }
            clock.resize(chain as usize + 1, 0);
        }
        clock[chain as usize] = number;
        if let Some(trail) = self.trials.last_mut() {
            trail.clocks.push((node, chain, before));
        }
        if self.is_watched(node) {
            let slot = self.dirty_slot(node);
            self.rises[slot].push(Rise { chain, before, via });
        }
    }

    /// Passes on all rises and derives the consequences. After a cycle was found, clocks are still
    /// completed if `is_thorough`: then they show all predecessors.
    pub(super) fn saturate(&mut self) -> Result<(), Cycle> {
        while let Some(Reverse(node)) = self.queue.pop() {
            let slot = std::mem::replace(&mut self.nodes[node as usize].dirty, NONE);
            let rises = std::mem::take(&mut self.rises[slot as usize]);
            if self.cycle.is_some() && !self.is_thorough {
                self.give_back(slot, rises);
                continue;
            }
            let mut via = NONE;
            match self.nodes[node as usize].stands {
                Stands::Operation(operation) if self.cycle.is_none() => {
                    let derived = self.derived.take_if(|derived| derived.operation == operation);
                    self.derive(operation, &rises[derived.map_or(0, |derived| derived.rises)..]);
                }
                Stands::End(block) => via = block,
                _ => {}
            }
            let mut edge = self.nodes[node as usize].edges;
            while edge != NONE {
                let Edge { to, next, .. } = self.edges[edge as usize];
                for rise in &rises {
                    let number = self.nodes[node as usize].clock[rise.chain as usize];
                    self.raise(to, rise.chain, number, via);
                }
                edge = next;
            }
            self.give_back(slot, rises);
        }
        self.derived = None;
        self.cycle.map_or(Ok(()), Err)
    }
}
