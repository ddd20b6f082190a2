//! Growth of the relation with each event: invocations and responses add nodes and the edges of the
//! rules *time*, *reads* and *first*.

use super::super::chains::Mark;
use super::trials::Settled;
use super::{Block, Cycle, Derived, End, Kind, NONE, Operation, Relation, Rise, Stands};

impl Relation {
    fn invoke(&mut self, kind: Kind) -> u32 {
        if self.next != NONE {
            self.now = std::mem::replace(&mut self.next, NONE);
        }
        let (chain, number) = self.chains.take();
        let id = self.operations.len() as u32;
        let node = self.add_node(Stands::Operation(id));
        let invocation = self.time;
        self.time += 1;
        self.operations.push(Operation {
            id: self.invoked,
            kind,
            end: End::Open,
            node,
            chain,
            number,
            invocation,
            response: NONE,
        });
        self.invoked += 1;
        id
    }

    /// Records the invocation of an update; its block becomes the last one.
    pub fn invoke_update(&mut self, segment: u32) -> Result<u32, Cycle> {
        let initial = self.initial_block(segment);
        let block = self.blocks.len() as u32;
        let update = self.invoke(Kind::Update { block });
        let end = self.add_node(Stands::End(block));
        self.blocks.push(Block { segment, update, end, seen_by: NONE, is_gone: false });
        let Operation { node, chain, number, .. } = *self.operation(update);
        // Unless another update, which is after the initial value, precedes it.
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

    /// Records the response of an operation: later invocations come after it.
    fn respond(&mut self, operation: u32) {
        if self.next == NONE {
            self.next = self.add_node(Stands::Instant);
            self.add_edge(self.now, self.next, (NONE, NONE));
        }
        let Operation { node, chain, .. } = *self.operation(operation);
        self.chains.free(chain);
        self.operations[operation as usize].response = self.time;
        self.operations[operation as usize].end = End::Response;
        self.time += 1;
        self.add_edge(node, self.next, (NONE, NONE));
    }

    pub fn respond_update(&mut self, update: u32) -> Result<(), Cycle> {
        self.respond(update);
        self.saturate()
    }

    /// Records the response of a scan; `entries` are the blocks that it saw, by segment.
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
        self.derive_all(scan);
        self.saturate()
    }

    /// States, or supposes, the block that a complete scan saw in a segment, if unknown so far. The
    /// relation keeps chains.
    pub fn settle_entry(&mut self, scan: u32, segment: u32, block: u32) -> Result<(), Cycle> {
        let Kind::Scan { entries } = self.operation(scan).kind else { return Ok(()) };
        let place = (entries + 1 + segment) as usize;
        debug_assert!(self.keeps_chains && self.entries[place] == NONE, "it is open");
        let seen_by = self.block(block).seen_by;
        if let Some(trail) = self.trials.last_mut() {
            trail.entries.push(Settled { place, block, seen_by });
        }
        self.entries[place] = block;
        self.add_reader(scan, segment, block);
        self.derive_all(scan);
        self.saturate()
    }

    /// Derives the consequences of the clock of a scan after one of its entries has become known.
    fn derive_all(&mut self, scan: u32) {
        let rise = |chain| Rise { chain, before: 0, via: NONE };
        let dirty = self.nodes[self.operation(scan).node as usize].dirty;
        let risen = if dirty == NONE { 0 } else { self.rises[dirty as usize].len() };
        let slot = self.spare_slot();
        let mut rises = std::mem::take(&mut self.rises[slot as usize]);
        rises.extend((0..self.clock(scan).len() as u32).map(rise));
        self.derive(scan, &rises);
        self.give_back(slot, rises);
        self.derived = Some(Derived { operation: scan, rises: risen });
    }

    fn add_reader(&mut self, scan: u32, segment: u32, block: u32) {
        let Operation { node, chain, number, .. } = *self.operation(scan);
        let Block { update, end, .. } = *self.block(block);
        if self.blocks[block as usize].seen_by == NONE {
            self.blocks[block as usize].seen_by = scan;
        }
        if update != NONE {
            let is_carrier = self.operation(update).chain == NONE;
            // A successor of a later scan of the chain is a successor of the first one.
            if is_carrier && self.chains.last_block(chain, segment) != Some(block) {
                self.chains.mark(chain, segment, Mark { number, operation: scan, block });
            }
            self.add_edge(self.operation(update).node, node, (NONE, NONE));
        }
        self.add_edge(node, end, (NONE, NONE));
    }

    /// Records the end of an operation without response: a scan, an update that failed and that no
    /// scan has seen, or one whose outcome is unknown.
    pub fn end_without_response(&mut self, operation: u32, is_unknown: bool) {
        self.time += 1;
        let has_effect =
            is_unknown && matches!(self.operation(operation).kind, Kind::Update { .. });
        let end = if has_effect { End::Unknown } else { End::NoEffect };
        self.operations[operation as usize].end = end;
        let Operation { kind, chain, .. } = *self.operation(operation);
        if has_effect && self.keeps_chains {
            return;
        }
        self.chains.free(chain);
        if let Kind::Update { block } = kind {
            let Block { segment, seen_by, .. } = *self.block(block);
            if seen_by == NONE {
                self.chains.unmark(chain, segment, operation);
                self.operations[operation as usize].chain = NONE;
            }
        }
    }
}
