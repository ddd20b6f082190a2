//! Simplification of graphs.
//!
//! No step changes its assignments, its end, or its number of accesses. Unreachable blocks and
//! locations are removed. A block whose only predecessor jumps to it is joined to the predecessor.
//! A jump to an empty block that jumps is redirected to the latter's target. A branch with equal
//! alternatives becomes a jump.

use super::{Block, BlockId, End, Graph, Location, Standing};

impl Graph {
    /// Returns the simplified graph. It depends only on the behaviour of `self`, block by block in
    /// the order in which steps are found from the invocations.
    #[must_use]
    pub(crate) fn tidied(&self) -> Self {
        let mut graph = self.clone();
        graph.straighten();
        graph.join();
        let mut reachable = graph.reachable();
        reachable.locations.sort_unstable();
        graph.renumbered(&reachable)
    }

    /// Turns decided branches and empty blocks into plain jumps.
    fn straighten(&mut self) {
        for block in &mut self.blocks {
            if let End::Branch { condition, then, otherwise } = &block.end {
                match condition.constant() {
                    Some(0) => block.end = End::Jump(*otherwise),
                    Some(_) => block.end = End::Jump(*then),
                    None if then == otherwise => block.end = End::Jump(*then),
                    None => {}
                }
            }
        }
        let through = self.through();
        for block in &mut self.blocks {
            match &mut block.end {
                End::Jump(next) => *next = through[next.index()],
                End::Branch { then, otherwise, .. } => {
                    *then = through[then.index()];
                    *otherwise = through[otherwise.index()];
                    if then == otherwise {
                        block.end = End::Jump(*then);
                    }
                }
                End::Pause(_) | End::Respond(_) | End::Fault { .. } => {}
            }
        }
    }

    /// Returns per block the first nonempty block from it on. O(blocks).
    fn through(&self) -> Vec<BlockId> {
        let passed = |block: BlockId| match self.block(block) {
            Block { accesses: 0, assignments, end: End::Jump(next) } if assignments.is_empty() => {
                Some(*next)
            }
            _ => None,
        };
        let mut through: Vec<Option<BlockId>> = vec![None; self.blocks.len()];
        let mut chain = Vec::new();
        for begin in (0..self.blocks.len() as u32).map(BlockId) {
            let mut at = begin;
            let end = loop {
                if let Some(known) = through[at.index()] {
                    break known;
                }
                // On a cycle of such jumps, any block will do.
                through[at.index()] = Some(at);
                chain.push(at);
                match passed(at) {
                    Some(next) => at = next,
                    None => break at,
                }
            };
            chain.drain(..).for_each(|block| through[block.index()] = Some(end));
        }
        through.into_iter().enumerate().map(|(at, end)| end.unwrap_or(BlockId(at as u32))).collect()
    }

    /// Joins blocks to their only predecessors.
    fn join(&mut self) {
        let mut leading = vec![0_u32; self.blocks.len()];
        let reachable = self.reachable();
        let invocations = [self.invocations.update, self.invocations.scan];
        let standings = reachable.locations().iter().map(|at| self.standing(*at));
        let beginnings = standings.flat_map(Standing::beginnings);
        for block in beginnings.chain(invocations) {
            leading[block.index()] += 2;
        }
        for block in reachable.blocks() {
            for next in self.block(block).end.blocks() {
                leading[next.index()] += 1;
            }
        }
        for block in reachable.blocks() {
            while let End::Jump(next) = self.block(block).end
                && leading[next.index()] == 1
                && next != block
            {
                let joined = self.blocks[next.index()].clone();
                let block = &mut self.blocks[block.index()];
                block.accesses += joined.accesses;
                block.assignments.extend(joined.assignments);
                block.end = joined.end;
                leading[next.index()] = 0;
            }
        }
    }

    /// Removes unreachable blocks and locations; orders the others as they are found.
    #[must_use]
    pub(crate) fn trimmed(&self) -> Self {
        self.renumbered(&self.reachable())
    }

    /// Keeps only the reachable blocks and locations, in their order.
    fn renumbered(&self, reachable: &Reachable) -> Self {
        let mut places = vec![Location::IDLE; self.locations.len()];
        for (place, location) in (0..).map(Location).zip(&reachable.locations) {
            places[location.index()] = place;
        }
        let location = |location: Location| places[location.index()];
        let number = |block: BlockId| reachable.number[block.index()].unwrap_or(block);
        let blocks = reachable.order.iter().map(|block| {
            let block = self.block(*block);
            block.relinked(number, location)
        });
        let locations = reachable.locations.iter().map(|at| {
            let mut standing = self.standing(*at).clone();
            standing.step = standing.step.map(number);
            for reaction in &mut standing.reactions {
                reaction.then = number(reaction.then);
            }
            standing
        });
        let mut invocations = self.invocations;
        invocations.update = number(invocations.update);
        invocations.scan = number(invocations.scan);
        let (blocks, locations) = (blocks.collect(), locations.collect());
        Self { blocks, locations, invocations, argument: self.argument }
    }

    /// Returns the blocks and locations reachable from the invocations.
    pub(crate) fn reachable(&self) -> Reachable {
        let mut found = Reachable {
            number: vec![None; self.blocks.len()],
            order: Vec::new(),
            locations: vec![Location::IDLE],
        };
        let mut standing = vec![false; self.locations.len()];
        let mut open = vec![self.invocations.scan, self.invocations.update];
        while let Some(block) = open.pop() {
            if found.number[block.index()].is_some() {
                continue;
            }
            found.number[block.index()] = Some(BlockId(found.order.len() as u32));
            found.order.push(block);
            let end = &self.block(block).end;
            open.extend(end.blocks());
            if let End::Pause(location) = end
                && !std::mem::replace(&mut standing[location.index()], true)
            {
                found.locations.push(*location);
                let at = self.standing(*location);
                open.extend(at.reactions.iter().map(|reaction| reaction.then));
                open.extend(at.step);
            }
        }
        found
    }
}

/// The blocks and locations reachable from the invocations.
pub(crate) struct Reachable {
    /// Per block, its position in `order`; `None` if it is unreachable.
    number: Vec<Option<BlockId>>,
    order: Vec<BlockId>,
    /// In the order in which they are found, idle first.
    locations: Vec<Location>,
}

impl Reachable {
    /// Returns the blocks, in the order in which they are found.
    pub(crate) fn blocks(&self) -> impl Iterator<Item = BlockId> + '_ {
        self.order.iter().copied()
    }

    /// Returns the locations except idle.
    pub(crate) fn locations(&self) -> &[Location] {
        &self.locations[1..]
    }
}
