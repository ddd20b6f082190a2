//! Walks over the nodes of a state, which number them in the order in which they are reached.

use super::heap::{Heap, Shape};

/// A walk over the nodes of a state, and the names that it gives them. Walks reuse its memory.
#[derive(Debug, Default)]
pub struct Reached {
    /// Reachable nodes.
    pub order: Vec<u32>,
    /// New number of each node; `None`: it is unreachable.
    pub names: Vec<Option<u32>>,
    /// Per node, the number of the last walk that found it.
    found: Vec<u32>,
    /// Number of this walk.
    walk: u32,
    used: Vec<u32>,
}

impl Reached {
    fn reach(&mut self, nodes: &[u32]) {
        for &node in nodes {
            if std::mem::replace(&mut self.found[node as usize], self.walk) != self.walk {
                self.order.push(node);
            }
        }
    }

    /// Returns true if the walk has found a node.
    pub fn reaches(&self, node: u32) -> bool {
        self.found[node as usize] == self.walk
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
        if walk.found.len() != self.len() || walk.walk == u32::MAX {
            walk.found = vec![0; self.len()];
            walk.walk = 0;
        }
        walk.walk += 1;
        walk.reach(shape.roots);
        held.for_each(|held| walk.reach(held));
        let mut at = 0;
        while let Some(node) = walk.order.get(at) {
            walk.reach(shape.edges(*node));
            at += 1;
        }
    }

    /// Returns true if [`Self::name`] leaves all nodes that a walk has found their numbers.
    pub fn keeps_names(&self, walk: &mut Reached) -> bool {
        let Reached { order, used, .. } = walk;
        used.clear();
        used.resize(self.kinds(), 0);
        order.iter().all(|&node| {
            let (kind, first) = self.kind_and_first(node);
            used[kind] += 1;
            first + used[kind] == node + 1
        })
    }

    /// Renumbers the nodes that a walk has found in its order, over all kinds.
    pub fn name(&self, walk: &mut Reached) {
        let Reached { order, names, used, .. } = walk;
        names.clear();
        names.resize(self.len(), None);
        used.clear();
        used.resize(self.kinds(), 0);
        for &node in &*order {
            let (kind, first) = self.kind_and_first(node);
            names[node as usize] = Some(first + used[kind]);
            used[kind] += 1;
        }
    }
}
