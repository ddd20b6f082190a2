//! States whose nodes are numbered differently are one: nodes are renamed in the order in
//! which they are reached, and what nothing reaches is absent ([`Heap`]).
//!
//! That depends on the whole state, not on the parts that a step changes; so it is done to rows,
//! after a step. What parts point to is known by number, and so is what they are called when
//! their nodes are renamed.

use std::mem::size_of;

use rustc_hash::FxHashMap;

use crate::interpret::{ALLOCATION, Heap, Interned, ProcessPart, Shape, SharedPart};

/// What is known of the parts that occurred, by number.
#[derive(Debug, Default)]
pub struct Naming {
    shapes: Vec<Option<Box<Shape>>>,
    held: Vec<Option<Box<[u32]>>>,
    /// By shared part and the order of its nodes.
    shared: FxHashMap<(u32, Box<[u32]>), u32>,
    /// By the part of a process and the new numbers of the nodes that it holds.
    processes: FxHashMap<(u32, Box<[u32]>), u32>,
    /// Of what the tables point to.
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
        let number = *first as usize;
        if self.shapes.len() <= number {
            self.shapes.resize_with(shared.len(), || None);
        }
        let shape = self.shapes[number].get_or_insert_with(|| {
            let shape = heap.shape(&shared.get(*first));
            self.bytes += size_of::<Shape>() + shape.bytes() + 4 * ALLOCATION;
            Box::new(shape)
        });
        if self.held.len() < processes.len() {
            self.held.resize_with(processes.len(), || None);
        }
        for &number in &*others {
            self.held[number as usize].get_or_insert_with(|| {
                let held = heap.held(&processes.get(number));
                self.bytes += size_of_val(&*held) + ALLOCATION;
                held
            });
        }
        let held = |number: &u32| self.held[*number as usize].as_deref().unwrap_or_default();
        let order = heap.order(shape, others.iter().map(held));
        let names = heap.names(&order);
        let is_normal = order.iter().all(|node| names[*node as usize] == Some(*node));
        if is_normal && order.len() == shape.present {
            return;
        }
        for number in others {
            let held = self.held[*number as usize].as_deref().unwrap_or_default();
            let named: Box<[u32]> = held.iter().filter_map(|node| names[*node as usize]).collect();
            if *named == *held {
                continue;
            }
            let bytes = size_of_val(&*named) + ALLOCATION;
            *number = *self.processes.entry((*number, named)).or_insert_with(|| {
                self.bytes += bytes;
                processes.number(heap.renamed_process(&processes.get(*number), &names))
            });
        }
        let order = order.into_boxed_slice();
        let bytes = size_of_val(&*order) + ALLOCATION;
        *first = *self.shared.entry((*first, order)).or_insert_with(|| {
            self.bytes += bytes;
            shared.number(heap.renamed_shared(&shared.get(*first), &names))
        });
    }

    /// About how many bytes it takes.
    pub fn bytes(&self) -> usize {
        // A byte per place of a table of hashes, and an eighth of the places stays empty.
        let place = size_of::<((u32, Box<[u32]>), u32)>() + 1;
        let places = (self.shared.capacity() + self.processes.capacity()) * 8 / 7;
        let shapes = self.shapes.capacity() * size_of::<Option<Box<Shape>>>();
        let held = self.held.capacity() * size_of::<Option<Box<[u32]>>>();
        self.bytes + places * place + shapes + held
    }
}
