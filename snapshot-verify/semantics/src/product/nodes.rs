//! Identifies states up to the numbers of nodes: nodes are renamed in the order in which they are
//! reached, and unreachable nodes are absent ([`Heap`]).
//!
//! The names depend on the whole state, not only on the parts that a step changes, so rows are
//! renamed after a step. The pointers of parts and the results of renaming are cached by number.

use std::mem::size_of;

use super::slices::{Slice, Slices};
use crate::interpret::{Heap, Interned, ProcessPart, Reached, Renamings, Shape, SharedPart};

/// Cached pointers and renamings of parts, by number.
#[derive(Debug, Default)]
pub struct Naming {
    slices: Slices,
    /// Words of the shapes.
    shapes: Vec<Option<Slice>>,
    held: Vec<Option<Slice>>,
    /// Freed nodes of the shared parts.
    freed: Vec<Option<Slice>>,
    /// Numbers of the parts of processes without their nodes.
    bare: Vec<Option<u32>>,
    /// Renamed shared parts, by part and the order of its nodes.
    shared: Renamings,
    /// Renamed process's parts, by part and the new numbers of the nodes that it holds.
    processes: Renamings,
    walk: Reached,
}

impl Naming {
    /// Returns true if shared variables reach all these nodes.
    pub fn are_shared(
        &mut self,
        heap: &Heap,
        number: u32,
        shared: &Interned<SharedPart>,
        nodes: impl Iterator<Item = u32>,
    ) -> bool {
        let mut walk = std::mem::take(&mut self.walk);
        heap.walk(&mut walk, self.shape(heap, number, shared), std::iter::empty());
        let mut nodes = nodes;
        let are_shared = nodes.all(|node| walk.reaches(node));
        self.walk = walk;
        are_shared
    }

    /// Returns true if one of these nodes points to other nodes.
    pub fn lead_on(
        &mut self,
        heap: &Heap,
        number: u32,
        shared: &Interned<SharedPart>,
        nodes: impl Iterator<Item = u32>,
    ) -> bool {
        let shape = self.shape(heap, number, shared);
        let mut nodes = nodes;
        nodes.any(|node| !shape.edges(node).is_empty())
    }

    /// Returns true if only this process can reach a node, which is not freed. `row`: the number of
    /// the shared part, then the parts of all processes.
    pub fn is_private(
        &mut self,
        heap: &Heap,
        row: &[u32],
        (process, node): (usize, u32),
        shared: &Interned<SharedPart>,
        processes: &Interned<ProcessPart>,
    ) -> bool {
        let [first, others @ ..] = row else { return false };
        self.learn_held(heap, others, processes);
        let shape = self.shape_words(heap, *first, shared);
        self.freed.resize(self.freed.len().max(shared.len()), None);
        let slices = &mut self.slices;
        let freed = *self.freed[*first as usize]
            .get_or_insert_with(|| slices.keep(&heap.freed(&shared.get(*first))));
        if self.slices.get(freed).contains(&node) {
            return false;
        }
        let mut walk = std::mem::take(&mut self.walk);
        let held = others.iter().enumerate().filter(|(other, _)| *other != process);
        let held = held.map(|(_, number)| self.held(*number));
        let shape = Shape::new(self.slices.get(shape));
        heap.walk(&mut walk, shape, held);
        let is_private = !walk.reaches(node);
        self.walk = walk;
        is_private
    }

    /// Replaces each node of a process's part by the first of its kind; parts are given by number.
    pub fn bare(&mut self, heap: &Heap, number: u32, processes: &mut Interned<ProcessPart>) -> u32 {
        if heap.is_empty() {
            return number;
        }
        self.bare.resize(self.bare.len().max(processes.len()), None);
        *self.bare[number as usize]
            .get_or_insert_with(|| processes.number(heap.without_nodes(&processes.get(number))))
    }

    /// Returns, for a normal row, the nodes that each process holds and that shared variables
    /// reach. The names of other nodes depend on the order of the processes, so all of these are
    /// replaced by one number.
    pub fn held_in_common(
        &mut self,
        heap: &Heap,
        row: &[u32],
        shared: &Interned<SharedPart>,
        processes: &Interned<ProcessPart>,
    ) -> Vec<Vec<u32>> {
        let [first, others @ ..] = row else { return Vec::new() };
        self.learn_held(heap, others, processes);
        let mut walk = std::mem::take(&mut self.walk);
        heap.walk(&mut walk, self.shape(heap, *first, shared), std::iter::empty());
        let common = |node: &u32| if walk.reaches(*node) { *node } else { u32::MAX };
        let held = others.iter().map(|number| self.held(*number).iter().map(common).collect());
        let held = held.collect();
        self.walk = walk;
        held
    }

    /// Caches the pointers of the parts of processes.
    fn learn_held(&mut self, heap: &Heap, parts: &[u32], processes: &Interned<ProcessPart>) {
        self.held.resize(self.held.len().max(processes.len()), None);
        let slices = &mut self.slices;
        for &number in parts {
            self.held[number as usize]
                .get_or_insert_with(|| slices.keep(&heap.held(&processes.get(number))));
        }
    }

    fn held(&self, number: u32) -> &[u32] {
        self.held[number as usize].map_or(&[][..], |held| self.slices.get(held))
    }

    /// Returns the shape of a shared part.
    fn shape(&mut self, heap: &Heap, number: u32, shared: &Interned<SharedPart>) -> Shape<'_> {
        let words = self.shape_words(heap, number, shared);
        Shape::new(self.slices.get(words))
    }

    /// Returns the words of the shape of a shared part.
    fn shape_words(&mut self, heap: &Heap, number: u32, shared: &Interned<SharedPart>) -> Slice {
        self.shapes.resize(self.shapes.len().max(shared.len()), None);
        let slices = &mut self.slices;
        *self.shapes[number as usize]
            .get_or_insert_with(|| slices.keep(&heap.shape(&shared.get(number))))
    }

    /// Renames the nodes of a row: the number of its shared part, followed by the parts of its
    /// processes.
    pub fn normalise(
        &mut self,
        heap: &Heap,
        row: &mut [u32],
        shared: &mut Interned<SharedPart>,
        processes: &mut Interned<ProcessPart>,
    ) {
        let [first, others @ ..] = row else { return };
        let shape = self.shape_words(heap, *first, shared);
        self.learn_held(heap, others, processes);
        let shape = Shape::new(self.slices.get(shape));
        let mut walk = std::mem::take(&mut self.walk);
        heap.walk(&mut walk, shape, others.iter().map(|number| self.held(*number)));
        let is_normal = walk.order.len() == shape.present && heap.keeps_names(&mut walk);
        if !is_normal {
            heap.name(&mut walk);
            self.renumber(heap, row, &walk, shared, processes);
        }
        self.walk = walk;
    }

    /// Replaces the parts of a row by those with these names.
    fn renumber(
        &mut self,
        heap: &Heap,
        row: &mut [u32],
        walk: &Reached,
        shared: &mut Interned<SharedPart>,
        processes: &mut Interned<ProcessPart>,
    ) {
        let [first, others @ ..] = row else { return };
        let mut named = Vec::new();
        for number in others {
            named.clear();
            let held = self.held(*number);
            named.extend(held.iter().filter_map(|node| walk.names[*node as usize]));
            if named == held {
                continue;
            }
            let part = *number;
            *number = self.processes.find(part, &named).unwrap_or_else(|| {
                let renamed = heap.renamed_process(&processes.get(part), &walk.names);
                let renamed = processes.number(renamed);
                self.processes.insert(part, &named, renamed);
                renamed
            });
        }
        let part = *first;
        *first = self.shared.find(part, &walk.order).unwrap_or_else(|| {
            let renamed = shared.number(heap.renamed_shared(&shared.get(part), &walk.names));
            self.shared.insert(part, &walk.order, renamed);
            renamed
        });
    }

    /// Approximate memory use in bytes.
    pub fn bytes(&self) -> usize {
        let slices = (self.shapes.capacity() + self.held.capacity() + self.freed.capacity())
            * size_of::<Option<Slice>>();
        let bare = self.bare.capacity() * size_of::<Option<u32>>();
        let renamings = self.shared.bytes() + self.processes.bytes();
        self.slices.bytes() + slices + bare + renamings
    }
}
