//! States whose nodes are numbered differently are one: nodes are renamed in the order in
//! which they are reached, and what nothing reaches is absent ([`Heap`]).
//!
//! That depends on the whole state, not on the parts that a step changes; so it is done to rows,
//! after a step. What parts point to is known by number, and so is what they are called when
//! their nodes are renamed.

use std::mem::size_of;

use rustc_hash::FxHashMap;

use crate::interpret::{Heap, Interned, ProcessPart, Shape, SharedPart};

/// What is known of the parts that occurred, by number.
#[derive(Debug, Default)]
pub struct Naming {
    shapes: FxHashMap<u32, Shape>,
    held: FxHashMap<u32, Box<[u32]>>,
    /// By shared part and the order of its nodes.
    shared: FxHashMap<(u32, Box<[u32]>), u32>,
    /// By the part of a process and the new numbers of the nodes that it holds.
    processes: FxHashMap<(u32, Box<[u32]>), u32>,
    bytes: usize,
}

impl Naming {
    /// Renames the nodes of a row: the number of its shared part, then those of its processes.
    pub fn normalise(
        &mut self,
        heap: &Heap,
        row: &mut [u32],
        shared: &mut Interned<SharedPart>,
        processes: &mut Interned<ProcessPart>,
    ) {
        let [first, others @ ..] = row else { return };
        let number = *first;
        self.shapes.entry(number).or_insert_with(|| {
            let shape = heap.shape(shared.get(number));
            self.bytes += size_of_val(&*shape.edges) + size_of::<[usize; 16]>();
            shape
        });
        for &number in &*others {
            self.held.entry(number).or_insert_with(|| {
                let held = heap.held(processes.get(number));
                self.bytes += size_of_val(&*held) + size_of::<[usize; 4]>();
                held
            });
        }
        let shape = &self.shapes[&*first];
        let order = heap.order(shape, others.iter().map(|number| &*self.held[number]));
        let names = heap.names(&order);
        let is_normal = order.iter().all(|node| names[*node as usize] == Some(*node));
        if is_normal && order.len() == shape.present {
            return;
        }
        for number in others {
            let held = &self.held[number];
            let named: Box<[u32]> = held.iter().filter_map(|node| names[*node as usize]).collect();
            if named == *held {
                continue;
            }
            let bytes = size_of_val(&*named) + size_of::<[usize; 6]>();
            *number = *self.processes.entry((*number, named)).or_insert_with(|| {
                self.bytes += bytes;
                processes.number(heap.renamed_process(processes.get(*number), &names))
            });
        }
        let order = order.into_boxed_slice();
        let bytes = size_of_val(&*order) + size_of::<[usize; 6]>();
        *first = *self.shared.entry((*first, order)).or_insert_with(|| {
            self.bytes += bytes;
            shared.number(heap.renamed_shared(shared.get(*first), &names))
        });
    }

    /// About how many bytes it takes.
    pub const fn bytes(&self) -> usize {
        self.bytes
    }
}
