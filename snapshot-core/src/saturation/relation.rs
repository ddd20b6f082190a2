//! The saturated relation, kept as a graph with clocks.
//!
//! **Nodes** are operations; *instants*, one per maximal group of responses
//! (`x -> instant -> instant -> y` says in O(n) edges that x responded before y
//! was invoked); and per block its *end*, behind all operations of the block.
//! "All of block a before all of block b" is one edge, from the end of a to the
//! update of b, since that update comes before all that see it.
//!
//! **Clocks.** The clock of a node says, per chain, the number of the last
//! operation that comes before it. Invariant, once the queue is empty: along an
//! edge x -> y the clock of y is at least that of x, and includes x. So the
//! relation is acyclic iff no operation's clock includes the operation itself.
//!
//! **Saturation.** Where the clock of an operation of block b rises at a chain,
//! the last mark there, of block a, yields "a before b". Earlier marks of the
//! chain are before that one by time, so what they yield has been derived from
//! it, or will be. A derivation is left out if it follows from the one that
//! raised the clock, or from another one that is made: from a' before b, where
//! the update of a' has the mark in its clock, so that a before a' was derived.
//!
//! **Trials.** Between [`Relation::begin_trial`] and [`Relation::end_trial`], old
//! clock entries are kept on a trail, and undone with the edges.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::chains::{Chains, Mark};

/// No node, block, operation or chain.
pub(super) const NONE: u32 = u32::MAX;

/// What a node stands for.
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
    /// First of its edges.
    edges: u32,
    /// Its rises that were not passed on yet; [`NONE`]: there are none.
    dirty: u32,
    stands: Stands,
}

/// An edge, numbered in the order in which edges were made.
#[derive(Clone, Copy, Debug)]
pub(super) struct Edge {
    pub to: u32,
    next: u32,
    /// For a derived edge: an operation of the first block that comes before
    /// one of the second.
    pub cause: (u32, u32),
}

/// What an operation does, with blocks for values.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Kind {
    Update {
        block: u32,
    },
    Scan {
        /// Start of its entries, once it is complete; else [`NONE`].
        entries: u32,
    },
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Operation {
    pub kind: Kind,
    node: u32,
    /// [`NONE`]: on no chain.
    pub chain: u32,
    pub number: u32,
    /// Times: positions of events. The response is [`NONE`] without one.
    pub invocation: u32,
    pub response: u32,
}

/// An update with the scans that saw it; or, without update, those that saw
/// the initial value.
#[derive(Clone, Copy, Debug)]
pub(super) struct Block {
    pub segment: u32,
    /// [`NONE`] for the initial value.
    pub update: u32,
    end: u32,
    /// The first complete scan that saw it; [`NONE`]: none did.
    pub seen_by: u32,
}

/// A clock that rose: chain, value before, and the block whose end raised it.
#[derive(Clone, Copy, Debug)]
struct Rise {
    chain: u32,
    before: u32,
    via: u32,
}

/// The relation has a cycle: this operation comes before itself.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Cycle {
    pub operation: u32,
}

/// What a trial has changed.
#[derive(Clone, Debug, Default)]
struct Trail {
    clocks: Vec<(u32, u32, u32)>,
    edges: Vec<u32>,
    first_edge: usize,
}

#[derive(Clone, Debug)]
pub(super) struct Relation {
    nodes: Vec<Node>,
    edges: Vec<Edge>,
    operations: Vec<Operation>,
    blocks: Vec<Block>,
    /// The block of the initial value, per segment.
    initial: Vec<u32>,
    /// Blocks that scans saw; [`NONE`]: not returned, or not known which.
    entries: Vec<u32>,
    chains: Chains,
    /// The instant before what is invoked now.
    now: u32,
    /// The instant after the responses since the last invocation, or [`NONE`].
    next: u32,
    time: u32,
    queue: BinaryHeap<Reverse<u32>>,
    rises: Vec<Vec<Rise>>,
    spare: Vec<u32>,
    cycle: Option<Cycle>,
    trials: Vec<Trail>,
    /// Whether clocks are brought to their end even after a cycle was found.
    pub is_thorough: bool,
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
            cycle: None,
            trials: Vec::new(),
            is_thorough: false,
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

    pub fn chains(&self) -> &Chains {
        &self.chains
    }

    /// Bytes held, roughly.
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
            self.blocks.push(Block { segment, update: NONE, end, seen_by: NONE });
            self.initial.push(block);
        }
        self.initial[segment as usize]
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

    /// Whether one operation comes before another one. The first must be on a chain.
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

    /// Adds an edge, and what it tells to the clock at its end.
    fn add_edge(&mut self, from: u32, to: u32, cause: (u32, u32)) {
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
            for (chain, &number) in clock.iter().enumerate() {
                self.raise(to, chain as u32, number, via);
            }
        }
        if own.0 != NONE {
            self.raise(to, own.0, own.1, via);
        }
        self.nodes[from as usize].clock = clock;
    }

    /// As raising all entries of an empty clock.
    fn fill(&mut self, node: u32, clock: &[u32], via: u32) {
        if clock.is_empty() {
            return;
        }
        self.nodes[node as usize].clock.reserve_exact(clock.len() + 1);
        self.nodes[node as usize].clock.extend_from_slice(clock);
        let slot = self.dirty_slot(node);
        let rises = (0..).zip(clock).filter(|(_, number)| **number > 0);
        self.rises[slot].extend(rises.map(|(chain, _)| Rise { chain, before: 0, via }));
    }

    fn dirty_slot(&mut self, node: u32) -> usize {
        if self.nodes[node as usize].dirty == NONE {
            let slot = self.spare.pop().unwrap_or_else(|| {
                self.rises.push(Vec::new());
                self.rises.len() as u32 - 1
            });
            self.nodes[node as usize].dirty = slot;
            self.queue.push(Reverse(node));
        }
        self.nodes[node as usize].dirty as usize
    }

    #[inline]
    fn raise(&mut self, node: u32, chain: u32, number: u32, via: u32) {
        let clock = &mut self.nodes[node as usize].clock;
        let before = at(clock, chain);
        if before >= number {
            return;
        }
        if clock.len() <= chain as usize {
            clock.resize(chain as usize + 1, 0);
        }
        clock[chain as usize] = number;
        if let Some(trail) = self.trials.last_mut() {
            trail.clocks.push((node, chain, before));
        }
        let slot = self.dirty_slot(node);
        self.rises[slot].push(Rise { chain, before, via });
    }

    /// Passes on all rises and derives what follows. After a cycle was found,
    /// clocks are still brought to their end if `is_thorough`: then they tell what
    /// reaches what.
    fn saturate(&mut self) -> Result<(), Cycle> {
        while let Some(Reverse(node)) = self.queue.pop() {
            if self.cycle.is_some() && !self.is_thorough {
                let slot = std::mem::replace(&mut self.nodes[node as usize].dirty, NONE);
                self.rises[slot as usize].clear();
                self.spare.push(slot);
                continue;
            }
            let slot = std::mem::replace(&mut self.nodes[node as usize].dirty, NONE);
            let mut rises = std::mem::take(&mut self.rises[slot as usize]);
            let mut via = NONE;
            match self.nodes[node as usize].stands {
                Stands::Operation(operation) if self.cycle.is_none() => {
                    self.derive(operation, &rises);
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
            rises.clear();
            self.rises[slot as usize] = rises;
            self.spare.push(slot);
        }
        self.cycle.map_or(Ok(()), Err)
    }

    /// What follows from an operation's clock, where it has risen.
    fn derive(&mut self, operation: u32, rises: &[Rise]) {
        let Operation { kind, chain, number, node, .. } = *self.operation(operation);
        if chain != NONE && at(&self.nodes[node as usize].clock, chain) >= number {
            self.cycle = Some(Cycle { operation });
            return;
        }
        match kind {
            Kind::Update { block } => {
                let segment = self.block(block).segment;
                self.derive_at(operation, segment, block, rises);
            }
            Kind::Scan { entries: NONE } => {}
            Kind::Scan { entries } => {
                let count = self.entries[entries as usize];
                for segment in 0..count {
                    let block = self.entries[(entries + 1 + segment) as usize];
                    if block != NONE {
                        self.derive_at(operation, segment, block, rises);
                    }
                }
            }
        }
    }

    fn derive_at(&mut self, operation: u32, segment: u32, block: u32, rises: &[Rise]) {
        let update = self.block(block).update;
        if update == NONE {
            // What comes before a scan of the initial value, and belongs to
            // another block, comes after the scan by the rule `first`.
            return;
        }
        let mut candidates = std::mem::take(&mut self.candidates);
        let clock = self.clock(operation);
        for rise in rises {
            let number = at(clock, rise.chain);
            let Some(mark) = self.chains.last_mark(rise.chain, segment, number) else { continue };
            if mark.number <= rise.before || mark.block == block {
                continue;
            }
            let is_known = if operation == update {
                rise.via != NONE
                    && (rise.via == mark.block || self.follows(mark, rise.chain, rise.via))
            } else {
                at(self.clock(update), rise.chain) >= mark.number
            };
            if !is_known {
                candidates.push((mark.operation, rise.chain, mark));
            }
        }
        // The latest first: earlier ones mostly follow from them.
        candidates.sort_unstable_by_key(|candidate| Reverse(candidate.0));
        let mut made = 0;
        for index in 0..candidates.len() {
            let candidate = candidates[index];
            let (_, chain, mark) = candidate;
            let follows = candidates[..made].iter().any(|(_, _, other)| {
                other.block == mark.block || self.follows(mark, chain, other.block)
            });
            if !follows {
                candidates[made] = candidate;
                made += 1;
            }
        }
        let to = self.operation(update).node;
        for (_, _, mark) in candidates.drain(..made) {
            let end = self.block(mark.block).end;
            self.add_edge(end, to, (mark.operation, operation));
        }
        candidates.clear();
        self.candidates = candidates;
    }

    /// Whether the block of a mark is known to be before another block.
    #[inline]
    fn follows(&self, mark: Mark, chain: u32, block: u32) -> bool {
        let update = self.block(block).update;
        update != NONE && at(self.clock(update), chain) >= mark.number
    }

    fn invoke(&mut self, kind: Kind) -> u32 {
        if self.next != NONE {
            self.now = std::mem::replace(&mut self.next, NONE);
        }
        let (chain, number) = self.chains.take();
        let id = self.operations.len() as u32;
        let node = self.add_node(Stands::Operation(id));
        let invocation = self.time;
        self.time += 1;
        let operation = Operation { kind, node, chain, number, invocation, response: NONE };
        self.operations.push(operation);
        id
    }

    /// An update is invoked; its block is the last one then.
    pub fn invoke_update(&mut self, segment: u32) -> Result<u32, Cycle> {
        let initial = self.initial_block(segment);
        let block = self.blocks.len() as u32;
        let update = self.invoke(Kind::Update { block });
        let end = self.add_node(Stands::End(block));
        self.blocks.push(Block { segment, update, end, seen_by: NONE });
        let Operation { node, chain, number, .. } = *self.operation(update);
        // Unless another update came before, which is after the initial value.
        let clock = &self.nodes[self.now as usize].clock;
        let has_earlier = (0..).zip(clock).any(|(chain, &number)| {
            number > 0 && self.chains.last_mark(chain, segment, number).is_some()
        });
        self.chains.mark(chain, segment, Mark { number, operation: update, block });
        self.add_edge(self.now, node, (NONE, NONE));
        if !has_earlier {
            self.add_edge(self.block(initial).end, node, (NONE, NONE));
        }
        self.add_edge(node, end, (NONE, NONE));
        self.saturate()?;
        Ok(update)
    }

    pub fn invoke_scan(&mut self) -> u32 {
        let scan = self.invoke(Kind::Scan { entries: NONE });
        self.add_edge(self.now, self.operation(scan).node, (NONE, NONE));
        let result = self.saturate();
        debug_assert!(result.is_ok(), "nothing comes after what was just invoked");
        scan
    }

    /// An operation has responded: what is invoked from now on comes after it.
    fn respond(&mut self, operation: u32) {
        if self.next == NONE {
            self.next = self.add_node(Stands::Instant);
            self.add_edge(self.now, self.next, (NONE, NONE));
        }
        let Operation { node, chain, .. } = *self.operation(operation);
        self.chains.free(chain);
        self.operations[operation as usize].response = self.time;
        self.time += 1;
        self.add_edge(node, self.next, (NONE, NONE));
    }

    pub fn respond_update(&mut self, update: u32) -> Result<(), Cycle> {
        self.respond(update);
        self.saturate()
    }

    /// A scan has responded; `entries` are the blocks that it saw, by segment.
    pub fn respond_scan(&mut self, scan: u32, entries: &[u32]) -> Result<(), Cycle> {
        self.respond(scan);
        let start = self.entries.len() as u32;
        self.entries.push(entries.len() as u32);
        self.entries.extend_from_slice(entries);
        self.operations[scan as usize].kind = Kind::Scan { entries: start };
        let Operation { chain, number, .. } = *self.operation(scan);
        self.chains.add_scan(chain, number, scan);
        for (segment, &block) in (0..).zip(entries) {
            if block != NONE {
                self.add_reader(scan, segment, block);
            }
        }
        let clock = self.clock(scan);
        let rise = |chain| Rise { chain, before: 0, via: NONE };
        let rises: Vec<Rise> = (0..clock.len() as u32).map(rise).collect();
        self.derive(scan, &rises);
        self.saturate()
    }

    fn add_reader(&mut self, scan: u32, segment: u32, block: u32) {
        let Operation { node, chain, number, .. } = *self.operation(scan);
        let Block { update, end, .. } = *self.block(block);
        if self.blocks[block as usize].seen_by == NONE {
            self.blocks[block as usize].seen_by = scan;
        }
        if update != NONE {
            if self.operation(update).chain == NONE {
                self.chains.mark(chain, segment, Mark { number, operation: scan, block });
            }
            self.add_edge(self.operation(update).node, node, (NONE, NONE));
        }
        self.add_edge(node, end, (NONE, NONE));
    }

    /// An open operation ends without response: a scan, an update that failed
    /// and that no scan has seen, or one whose outcome is unknown.
    pub fn end_without_response(&mut self, operation: u32) {
        self.time += 1;
        let Operation { kind, chain, .. } = *self.operation(operation);
        self.chains.free(chain);
        if let Kind::Update { block } = kind {
            let Block { segment, seen_by, .. } = *self.block(block);
            if seen_by == NONE {
                self.chains.unmark(chain, segment, operation);
                self.operations[operation as usize].chain = NONE;
            }
        }
    }

    /// Supposes, or states, that one scan comes before another one.
    pub fn order(&mut self, first: u32, second: u32) -> Result<(), Cycle> {
        let (from, to) = (self.operation(first).node, self.operation(second).node);
        self.add_edge(from, to, (NONE, NONE));
        self.saturate()
    }

    /// Whether an order of two scans makes no cycle; changes nothing.
    pub fn can_order(&mut self, first: u32, second: u32) -> bool {
        self.begin_trial();
        let result = self.order(first, second);
        self.undo_trial();
        result.is_ok()
    }

    /// What follows can be undone.
    pub fn begin_trial(&mut self) {
        let first_edge = self.edges.len();
        self.trials.push(Trail { first_edge, ..Trail::default() });
    }

    /// Undoes what was done since the trial began; a cycle is gone with it.
    pub fn undo_trial(&mut self) {
        let Some(trail) = self.trials.pop() else { return };
        for (node, chain, before) in trail.clocks.into_iter().rev() {
            self.nodes[node as usize].clock[chain as usize] = before;
        }
        for (edge, from) in (trail.first_edge..self.edges.len()).zip(&trail.edges).rev() {
            self.nodes[*from as usize].edges = self.edges[edge].next;
        }
        self.edges.truncate(trail.first_edge);
        self.cycle = None;
    }

    /// Makes what was done since the trial began part of what was before.
    pub fn keep_trial(&mut self) {
        let Some(mut trail) = self.trials.pop() else { return };
        if let Some(outer) = self.trials.last_mut() {
            outer.clocks.append(&mut trail.clocks);
            outer.edges.append(&mut trail.edges);
        }
    }
}

/// A step from an operation to one that comes after it, other than by time.
#[derive(Clone, Copy, Debug)]
pub(super) enum Successor {
    /// A scan that saw the update; or, from a scan, one supposed to be later.
    Operation(u32),
    /// The update of a later block; or, of the initial block, any update.
    Block { block: u32, to: u32, edge: u32, cause: (u32, u32) },
}
