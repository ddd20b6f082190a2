//! The relation without its past (`forgetting.rs`), renumbered.
//!
//! Kept in their old order: operations outside of the past; updates whose blocks are kept, since
//! their values may still be returned, or other scans of them are kept; scans that carry such an
//! update, which is on no chain; the ends of kept blocks; the instants with a successor outside of
//! the past; and the edges between these.

use super::forgetting::Past;
use super::{Block, Edge, End, Kind, NONE, Node, Operation, Relation, Stands};

/// The new numbers of operations and blocks, by their old numbers; [`NONE`]: forgotten.
#[derive(Clone, Debug)]
pub(in super::super) struct Moves {
    pub operations: Vec<u32>,
    pub blocks: Vec<u32>,
}

/// The kept objects, by old numbers.
struct Kept {
    operations: Vec<bool>,
    blocks: Vec<bool>,
    nodes: Vec<bool>,
}

impl Relation {
    /// Forgets operations and blocks that no later event can depend on. `open` are the open
    /// operations.
    pub fn forget(&mut self, open: impl Iterator<Item = u32>) -> Moves {
        debug_assert!(self.trials.is_empty() && self.queue.is_empty(), "at rest");
        let oldest = open.map(|open| self.operation(open).invocation).min().unwrap_or(self.time);
        let past = Past::new(self, oldest);
        let kept = self.kept(&past);
        let gone: Vec<u32> =
            self.initial.iter().copied().filter(|block| past.has_block(*block)).collect();
        for block in gone {
            self.blocks[block as usize].is_gone = true;
        }
        let moves = Moves { operations: places(&kept.operations), blocks: places(&kept.blocks) };
        self.compact(&kept, &moves);
        // Times before the oldest open invocation are no longer distinguished.
        let base = oldest.saturating_sub(1);
        self.time -= base;
        for operation in &mut self.operations {
            operation.invocation = operation.invocation.saturating_sub(base);
            if operation.response != NONE {
                operation.response = operation.response.saturating_sub(base);
            }
        }
        moves
    }

    fn kept(&self, past: &Past<'_>) -> Kept {
        // The blocks of initial values stay: later updates are put behind them.
        let is_kept = |(number, block): (u32, &Block)| {
            let end =
                if block.update == NONE { End::Open } else { self.operation(block.update).end };
            block.update == NONE || end != End::NoEffect && !past.has_block(number)
        };
        let blocks: Vec<bool> = (0..).zip(&self.blocks).map(is_kept).collect();
        let is_kept = |operation: &Operation| match operation.kind {
            Kind::Update { block } => blocks[block as usize],
            Kind::Scan { .. } => operation.end != End::NoEffect && !past.contains(operation),
        };
        let mut operations: Vec<bool> = self.operations.iter().map(is_kept).collect();
        self.chains
            .each_mark(|mark| operations[mark.operation as usize] |= blocks[mark.block as usize]);
        let is_kept = |(number, node): (u32, &Node)| match node.stands {
            Stands::Operation(operation) => operations[operation as usize],
            Stands::End(block) => blocks[block as usize],
            Stands::Instant => {
                number == self.now || number == self.next || !past.covers(&node.clock)
            }
        };
        let nodes = (0..).zip(&self.nodes).map(is_kept).collect();
        Kept { operations, blocks, nodes }
    }

    fn compact(&mut self, kept: &Kept, moves: &Moves) {
        let nodes = places(&kept.nodes);
        let mut entries = Vec::new();
        let mut operations = Vec::new();
        for (mut operation, _) in
            old(&mut self.operations).zip(&kept.operations).filter(|(_, kept)| **kept)
        {
            operation.node = nodes[operation.node as usize];
            operation.kind = match operation.kind {
                Kind::Update { block } => Kind::Update { block: moves.blocks[block as usize] },
                Kind::Scan { entries: NONE } => operation.kind,
                Kind::Scan { entries: old } => {
                    let start = entries.len() as u32;
                    let count = self.entries[old as usize];
                    entries.push(count);
                    let blocks = &self.entries[old as usize + 1..][..count as usize];
                    entries.extend(blocks.iter().map(|block| moved(&moves.blocks, *block)));
                    Kind::Scan { entries: start }
                }
            };
            operations.push(operation);
        }
        self.operations = operations;
        self.entries = entries;
        let mut blocks = Vec::new();
        for (mut block, _) in old(&mut self.blocks).zip(&kept.blocks).filter(|(_, kept)| **kept) {
            block.update = moved(&moves.operations, block.update);
            block.seen_by = moved(&moves.operations, block.seen_by);
            block.end = nodes[block.end as usize];
            blocks.push(block);
        }
        self.blocks = blocks;
        for block in &mut self.initial {
            *block = moves.blocks[*block as usize];
        }
        self.compact_graph(kept, moves, &nodes);
        self.chains.renumber(&moves.operations, &moves.blocks);
    }

    fn compact_graph(&mut self, kept: &Kept, moves: &Moves, nodes: &[u32]) {
        let edges = std::mem::take(&mut self.edges);
        let mut kept_nodes = Vec::new();
        // The numbers of edges are their ages: their order is kept.
        let mut kept_edges: Vec<(u32, u32)> = Vec::new();
        for ((from, mut node), _) in
            (0..).zip(old(&mut self.nodes)).zip(&kept.nodes).filter(|(_, kept)| **kept)
        {
            let mut edge = std::mem::replace(&mut node.edges, NONE);
            while edge != NONE {
                if kept.nodes[edges[edge as usize].to as usize] {
                    kept_edges.push((edge, nodes[from as usize]));
                }
                edge = edges[edge as usize].next;
            }
            node.stands = match node.stands {
                Stands::Operation(operation) => {
                    Stands::Operation(moves.operations[operation as usize])
                }
                Stands::End(block) => Stands::End(moves.blocks[block as usize]),
                Stands::Instant => Stands::Instant,
            };
            kept_nodes.push(node);
        }
        kept_edges.sort_unstable();
        for (number, (edge, from)) in (0..).zip(kept_edges) {
            let Edge { to, cause, .. } = edges[edge as usize];
            let next = std::mem::replace(&mut kept_nodes[from as usize].edges, number);
            let cause = (moved(&moves.operations, cause.0), moved(&moves.operations, cause.1));
            self.edges.push(Edge { to: nodes[to as usize], next, cause });
        }
        self.nodes = kept_nodes;
        self.now = moved(nodes, self.now);
        self.next = moved(nodes, self.next);
    }
}

fn old<T>(list: &mut Vec<T>) -> impl Iterator<Item = T> {
    std::mem::take(list).into_iter()
}

fn moved(places: &[u32], number: u32) -> u32 {
    if number == NONE { NONE } else { places[number as usize] }
}

/// Returns new indices without gaps for the kept objects.
fn places(kept: &[bool]) -> Vec<u32> {
    let mut next = 0;
    let place = |is_kept: &bool| {
        if !is_kept {
            return NONE;
        }
        next += 1;
        next - 1
    };
    kept.iter().map(place).collect()
}
