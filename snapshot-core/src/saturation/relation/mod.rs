//! The saturated relation, kept as a graph with clocks.
//!
//! **Nodes** are operations; *instants*, one per maximal group of responses
//! (`x -> instant -> instant -> y` states in O(n) edges that x responded before y was invoked); and
//! for each block its *end*, behind all operations of the block. "All of block a before all of
//! block b" is one edge, from the end of a to the update of b, since that update comes before all
//! scans that see it.
//!
//! This module defines the graph; `events.rs` makes it grow, `clocks.rs` tracks predecessors,
//! `blocks.rs` derives one block's order from another's, `trials.rs` supposes an order of two
//! scans, `forgetting.rs` finds the forgettable operations, and `compaction.rs` removes them.

mod blocks;
mod clocks;
mod compaction;
mod events;
mod forgetting;
mod trials;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

pub(super) use self::compaction::Moves;
use self::trials::Trail;
use super::chains::{Chains, Mark};

/// No node, block, operation or chain.
pub(super) const NONE: u32 = u32::MAX;

/// The object that a node represents.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Stands {
    Operation(u32),
    Instant,
    /// The end of a block.
    End(u32),
}

#[derive(Clone, Debug)]
struct Node {
    clock: Vec<u32>,
    /// Index of the node's first edge.
    edges: u32,
    /// The slot of its rises that were not passed on yet; [`NONE`] without rises.
    dirty: u32,
    stands: Stands,
}

/// An edge; edges are numbered in the order of their creation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Edge {
    pub to: u32,
    next: u32,
    /// For a derived edge: an operation of the first block that comes before one of the second.
    pub cause: (u32, u32),
}

/// The kind of an operation, with blocks for values.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Kind {
    Update {
        block: u32,
    },
    Scan {
        /// Start of its entries, once the scan is complete; else [`NONE`].
        entries: u32,
    },
}

/// The end of an operation.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum End {
    /// The operation is open.
    Open,
    Response,
    /// The operation is an update that may have taken effect, or may do so at any time.
    Unknown,
    /// The operation failed; or it is a scan without response.
    NoEffect,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Operation {
    /// Number of the operation in the history.
    pub id: u64,
    pub kind: Kind,
    pub end: End,
    node: u32,
    /// [`NONE`]: on no chain.
    pub chain: u32,
    pub number: u32,
    /// Times: positions of events. `response` is [`NONE`] without a response.
    pub invocation: u32,
    pub response: u32,
}

/// An update with the scans that saw it; or, without update, the scans that saw the initial value.
#[derive(Clone, Copy, Debug)]
pub(super) struct Block {
    pub segment: u32,
    /// [`NONE`] for the initial value.
    pub update: u32,
    end: u32,
    /// The first complete scan that saw it, or [`NONE`].
    pub seen_by: u32,
    /// True for an initial value that no scan can return any more.
    pub is_gone: bool,
}

/// A clock that rose: chain, value before, and the block whose end raised it.
#[derive(Clone, Copy, Debug)]
struct Rise {
    chain: u32,
    before: u32,
    via: u32,
}

/// The part of a clock that was used for derivations before its rises are passed on.
#[derive(Clone, Copy, Debug)]
struct Derived {
    operation: u32,
    /// Number of the first rises of the clock that were used.
    rises: usize,
}

/// The relation has a cycle: this operation comes before itself.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Cycle {
    pub operation: u32,
}

#[derive(Clone, Debug)]
pub(super) struct Relation {
    nodes: Vec<Node>,
    edges: Vec<Edge>,
    operations: Vec<Operation>,
    /// Number of operations invoked so far.
    invoked: u64,
    blocks: Vec<Block>,
    /// The block of the initial value, per segment.
    initial: Vec<u32>,
    /// Blocks that scans saw; [`NONE`]: not returned, or unknown.
    entries: Vec<u32>,
    chains: Chains,
    /// The instant before the next invocation.
    now: u32,
    /// The instant after the responses since the last invocation, or [`NONE`].
    next: u32,
    time: u32,
    queue: BinaryHeap<Reverse<u32>>,
    rises: Vec<Vec<Rise>>,
    spare: Vec<u32>,
    derived: Option<Derived>,
    cycle: Option<Cycle>,
    trials: Vec<Trail>,
    /// True if clocks are completed even after a cycle was found.
    pub is_thorough: bool,
    /// True if updates of unknown outcome keep their chains, so that scans of them can be settled
    /// later.
    pub keeps_chains: bool,
    candidates: Vec<(u32, u32, Mark)>,
}

#[inline]
fn at(clock: &[u32], chain: u32) -> u32 {
    clock.get(chain as usize).copied().unwrap_or(0)
}

impl Relation {
    pub fn new() -> Self {
        let root = Node { clock: Vec::new(), edges: NONE, dirty: NONE, stands: Stands::Instant };
        Self {
            nodes: vec![root],
            edges: Vec::new(),
            operations: Vec::new(),
            invoked: 0,
            blocks: Vec::new(),
            initial: Vec::new(),
            entries: Vec::new(),
            chains: Chains::default(),
            now: 0,
            next: NONE,
            time: 0,
            queue: BinaryHeap::new(),
            rises: Vec::new(),
            spare: Vec::new(),
            derived: None,
            cycle: None,
            trials: Vec::new(),
            is_thorough: false,
            keeps_chains: false,
            candidates: Vec::new(),
        }
    }

    pub fn operations(&self) -> &[Operation] {
        &self.operations
    }

    pub fn operation(&self, operation: u32) -> &Operation {
        &self.operations[operation as usize]
    }

    pub fn block(&self, block: u32) -> &Block {
        &self.blocks[block as usize]
    }

    /// Number of blocks held.
    pub fn blocks(&self) -> usize {
        self.blocks.len()
    }

    pub fn chains(&self) -> &Chains {
        &self.chains
    }

    /// Approximate number of bytes held.
    pub fn bytes(&self) -> usize {
        self.nodes.len() * (size_of::<Node>() + 4 * self.chains.len())
            + self.edges.len() * size_of::<Edge>()
            + self.operations.len() * size_of::<Operation>()
            + self.entries.len() * 4
    }

    /// The block of the initial value of a segment.
    pub fn initial_block(&mut self, segment: u32) -> u32 {
        while self.initial.len() <= segment as usize {
            let segment = self.initial.len() as u32;
            let block = self.blocks.len() as u32;
            let end = self.add_node(Stands::End(block));
            self.blocks.push(Block { segment, update: NONE, end, seen_by: NONE, is_gone: false });
            self.initial.push(block);
        }
        self.initial[segment as usize]
    }

    /// The blocks of the initial values, by segment.
    pub fn initial_blocks(&self) -> &[u32] {
        &self.initial
    }

    /// The blocks that a complete scan saw, one per segment.
    pub fn entries(&self, operation: &Operation) -> &[u32] {
        match operation.kind {
            Kind::Scan { entries } if entries != NONE => {
                &self.entries[entries as usize + 1..][..self.entries[entries as usize] as usize]
            }
            _ => &[],
        }
    }

    /// The block of an operation at a segment, or [`NONE`].
    pub fn block_at(&self, operation: u32, segment: u32) -> u32 {
        let operation = self.operation(operation);
        match operation.kind {
            Kind::Update { block } if self.block(block).segment == segment => block,
            Kind::Update { .. } => NONE,
            Kind::Scan { .. } => {
                self.entries(operation).get(segment as usize).copied().unwrap_or(NONE)
            }
        }
    }

    /// Returns true if one operation comes before another one. The first must be on a chain.
    #[inline]
    pub fn is_before(&self, first: u32, second: u32) -> bool {
        let first = self.operation(first);
        at(self.clock(second), first.chain) >= first.number
    }

    /// The clock of an operation.
    #[inline]
    pub fn clock(&self, operation: u32) -> &[u32] {
        &self.nodes[self.operation(operation).node as usize].clock
    }

    /// The edges of an operation's node: targets are operations or the ends of
    /// blocks; calls `visit(edge number, edge, target)`.
    pub fn each_successor(&self, operation: u32, mut visit: impl FnMut(Successor)) {
        let mut edge = self.nodes[self.operation(operation).node as usize].edges;
        while edge != NONE {
            let Edge { to, next, .. } = self.edges[edge as usize];
            match self.nodes[to as usize].stands {
                Stands::Operation(to) => visit(Successor::Operation(to)),
                Stands::Instant => {}
                Stands::End(block) => {
                    let mut edge = self.nodes[to as usize].edges;
                    while edge != NONE {
                        let Edge { to, next, cause } = self.edges[edge as usize];
                        if let Stands::Operation(to) = self.nodes[to as usize].stands {
                            visit(Successor::Block { block, to, edge, cause });
                        }
                        edge = next;
                    }
                }
            }
            edge = next;
        }
    }

    fn add_node(&mut self, stands: Stands) -> u32 {
        self.nodes.push(Node { clock: Vec::new(), edges: NONE, dirty: NONE, stands });
        self.nodes.len() as u32 - 1
    }
}

/// A step from an operation to a successor, other than by time.
#[derive(Clone, Copy, Debug)]
pub(super) enum Successor {
    /// A scan that saw the update; or, from a scan, one supposed to be later.
    Operation(u32),
    /// The update of a later block; or, of the initial block, any update.
    Block { block: u32, to: u32, edge: u32, cause: (u32, u32) },
}
