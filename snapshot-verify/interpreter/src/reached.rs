//! Walks over the nodes of a state, which number them in the order in which they are reached.

use super::heap::{Heap, Shape};

/// A walk over the nodes of a state, and the names that it gives them. Walks reuse its memory.
#[derive(Debug, Default)]
pub struct Reached {
    /// Reachable nodes.
    pub order: Vec<u32>,
    /// New number of each node; `None`: it is unreachable.
    pub names: Vec<Option<u32>>,
    is_found: Vec<bool>,
    used: Vec<u32>,
}

impl Reached {
    fn reach(&mut self, nodes: &[u32]) {
        for &node in nodes {
            if !std::mem::replace(&mut self.is_found[node as usize], true) {
                self.order.push(node);
            }
        }
    }

    /// Returns true if the walk has found a node.
    pub fn reaches(&self, node: u32) -> bool {
        self.is_found[node as usize]
    }
}

impl Heap {
    /// Finds the reachable nodes, in the order of a breadth-first walk from shared variables, then
    /// from the nodes that each process holds.
    pub fn walk<'a>(
        &self,
        walk: &mut Reached,
        shape: Shape<'_>,
        held: impl Iterator<Item = &'a [u32]>,
    ) {
        walk.order.clear();
        walk.is_found.clear();
        walk.is_found.resize(self.len(), false);
        walk.reach(shape.roots);
        held.for_each(|held| walk.reach(held));
        let mut at = 0;
        while let Some(node) = walk.order.get(at) {
            walk.reach(shape.edges(*node));
            at += 1;
        }
    }

    /// Renumbers the nodes that a walk has found in its order, over all kinds. Returns true if all
    /// keep their numbers.
    pub fn name(&self, walk: &mut Reached) -> bool {
        let Reached { order, names, used, .. } = walk;
        names.clear();
        names.resize(self.len(), None);
        used.clear();
        used.resize(self.kinds(), 0);
        let mut is_same = true;
        for &node in &*order {
            let (kind, first) = self.kind_and_first(node);
            let name = first + used[kind];
            names[node as usize] = Some(name);
            is_same &= name == node;
            used[kind] += 1;
        }
        is_same
    }
}
