//! States whose nodes are numbered differently are one: nodes are renamed in the order in
//! which they are reached, and what nothing reaches is absent ([`Heap`]).
//!
//! That depends on the whole state, not on the parts that a step changes; so it is done to rows,
//! after a step. What parts point to is known by number, and so is what they are called when
//! their nodes are renamed.

use std::hash::BuildHasher;
use std::mem::size_of;

use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;

use super::slices::{Slice, Slices};
use crate::interpret::{Heap, Interned, ProcessPart, Shape, SharedPart};

/// What is known of the parts that occurred, by number.
#[derive(Debug, Default)]
pub struct Naming {
    slices: Slices,
    /// The words of shapes.
    shapes: Vec<Option<Slice>>,
    held: Vec<Option<Slice>>,
    /// The parts of processes without their nodes.
    bare: Vec<Option<u32>>,
    /// By shared part and the order of its nodes.
    shared: Renamings,
    /// By the part of a process and the new numbers of the nodes that it holds.
    processes: Renamings,
}

/// What parts become.
#[derive(Debug, Default)]
struct Renamings(HashTable<Renaming>);

#[derive(Clone, Copy, Debug)]
struct Renaming {
    part: u32,
    by: Slice,
    renamed: u32,
}

impl Renamings {
    fn find(&self, slices: &Slices, part: u32, by: &[u32]) -> Option<u32> {
        let is_it = |known: &Renaming| known.part == part && slices.get(known.by) == by;
        self.0.find(hash(part, by), is_it).map(|known| known.renamed)
    }

    fn insert(&mut self, slices: &mut Slices, part: u32, by: &[u32], renamed: u32) {
        let renaming = Renaming { part, by: slices.keep(by), renamed };
        let hash_of = |known: &Renaming| hash(known.part, slices.get(known.by));
        self.0.insert_unique(hash(part, by), renaming, hash_of);
    }
}

fn hash(part: u32, by: &[u32]) -> u64 {
    FxBuildHasher.hash_one((part, by))
}

impl Naming {
    /// Whether shared variables lead to all these nodes.
    pub fn are_shared(
        &mut self,
        heap: &Heap,
        number: u32,
        shared: &Interned<SharedPart>,
        nodes: impl Iterator<Item = u32>,
    ) -> bool {
        let order = heap.order(self.shape(heap, number, shared), std::iter::empty());
        let mut nodes = nodes;
        nodes.all(|node| order.contains(&node))
    }

    /// Whether some of these nodes point to others.
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

    /// The part of a process with one node of each kind in the place of all, by number.
    pub fn bare(&mut self, heap: &Heap, number: u32, processes: &mut Interned<ProcessPart>) -> u32 {
        if heap.is_empty() {
            return number;
        }
        self.bare.resize(self.bare.len().max(processes.len()), None);
        *self.bare[number as usize]
            .get_or_insert_with(|| processes.number(heap.without_nodes(&processes.get(number))))
    }

    /// Of a normal row, what each process holds: nodes to which shared variables lead, and others, for
    /// whose names the order of the processes counts: all alike.
    pub fn held_in_common(
        &mut self,
        heap: &Heap,
        row: &[u32],
        shared: &Interned<SharedPart>,
        processes: &Interned<ProcessPart>,
    ) -> Vec<Vec<u32>> {
        let [first, others @ ..] = row else { return Vec::new() };
        self.learn_held(heap, others, processes);
        let order = heap.order(self.shape(heap, *first, shared), std::iter::empty());
        let common = |node: &u32| if order.contains(node) { *node } else { u32::MAX };
        let held = others.iter().map(|number| self.held(*number).iter().map(common).collect());
        held.collect()
    }

    /// Finds out what the parts of processes point to.
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

    /// The shape of a shared part.
    fn shape(&mut self, heap: &Heap, number: u32, shared: &Interned<SharedPart>) -> Shape<'_> {
        let words = self.shape_words(heap, number, shared);
        Shape::new(self.slices.get(words))
    }

    /// Its words.
    fn shape_words(&mut self, heap: &Heap, number: u32, shared: &Interned<SharedPart>) -> Slice {
        self.shapes.resize(self.shapes.len().max(shared.len()), None);
        let slices = &mut self.slices;
        *self.shapes[number as usize]
            .get_or_insert_with(|| slices.keep(&heap.shape(&shared.get(number))))
    }

    /// Renames the nodes of a row: the number of its shared part, then those of its processes.
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
        let order = heap.order(shape, others.iter().map(|number| self.held(*number)));
        let names = heap.names(&order);
        let is_normal = order.iter().all(|node| names[*node as usize] == Some(*node));
        if is_normal && order.len() == shape.present {
            return;
        }
        let named: Vec<Option<Vec<u32>>> = others
            .iter()
            .map(|number| {
                let held = self.held(*number);
                let named: Vec<u32> =
                    held.iter().filter_map(|node| names[*node as usize]).collect();
                (named != *held).then_some(named)
            })
            .collect();
        for (number, named) in others.iter_mut().zip(named) {
            let Some(named) = named else { continue };
            let part = *number;
            *number = self.processes.find(&self.slices, part, &named).unwrap_or_else(|| {
                let renamed = processes.number(heap.renamed_process(&processes.get(part), &names));
                self.processes.insert(&mut self.slices, part, &named, renamed);
                renamed
            });
        }
        let part = *first;
        *first = self.shared.find(&self.slices, part, &order).unwrap_or_else(|| {
            let renamed = shared.number(heap.renamed_shared(&shared.get(part), &names));
            self.shared.insert(&mut self.slices, part, &order, renamed);
            renamed
        });
    }

    /// About how many bytes it takes.
    pub fn bytes(&self) -> usize {
        let slices = (self.shapes.capacity() + self.held.capacity()) * size_of::<Option<Slice>>();
        let bare = self.bare.capacity() * size_of::<Option<u32>>();
        let renamings = self.shared.0.allocation_size() + self.processes.0.allocation_size();
        self.slices.bytes() + slices + bare + renamings
    }
}
