//! Identifies states up to the numbers of nodes: nodes are renamed in the order in which they are
//! reached, and unreachable nodes are absent ([`Heap`]).
//!
//! The names depend on the whole state, not only on the parts that a step changes, so rows are
//! renamed after a step. The pointers of parts and the results of renaming are cached by number.

use std::mem::size_of;

use super::lent::{Lent, Unknown};
use super::slices::{Slice, Slices};
use super::states::{SHARED, Scratch, States};
use crate::interpret::{Heap, Reached, Renamings, Shape};

/// Cached pointers and renamings of parts, by number.
#[derive(Debug, Default)]
pub struct Naming {
    slices: Slices,
    /// Words of the shapes.
    shapes: ByPart<Slice>,
    held: ByPart<Slice>,
    /// Freed nodes of the shared parts.
    freed: ByPart<Slice>,
    /// Numbers of the parts of processes without their nodes.
    bare: ByPart<u32>,
    /// Renamed shared parts, by part and the order of its nodes.
    shared: Renamings,
    /// Renamed process's parts, by part and the new numbers of the nodes that it holds.
    processes: Renamings,
}

/// Data of some parts, by number.
#[derive(Debug)]
pub struct ByPart<T>(Vec<Option<T>>);

impl<T> Default for ByPart<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> ByPart<T> {
    pub fn get(&self, number: u32) -> Option<&T> {
        self.0.get(number as usize)?.as_ref()
    }

    /// Adds the data of one of this many parts.
    pub fn insert(&mut self, number: u32, parts: usize, data: T) {
        self.0.resize_with(self.0.len().max(parts), || None);
        self.0[number as usize] = Some(data);
    }

    const fn bytes(&self) -> usize {
        self.0.capacity() * size_of::<Option<T>>()
    }
}

impl Naming {
    fn held(&self, number: u32) -> &[u32] {
        self.held.get(number).map_or(&[][..], |held| self.slices.get(*held))
    }

    /// Returns a shape.
    pub fn shape(&self, words: Slice) -> Shape<'_> {
        Shape::new(self.slices.get(words))
    }

    /// Approximate memory use in bytes.
    pub fn bytes(&self) -> usize {
        let slices = self.shapes.bytes() + self.held.bytes() + self.freed.bytes();
        let renamings = self.shared.bytes() + self.processes.bytes();
        self.slices.bytes() + slices + self.bare.bytes() + renamings
    }
}

impl<'m> Lent<'_, States<'m, '_>> {
    fn heap(&self) -> &'m Heap {
        self.machine.heap()
    }

    /// Returns true if only this process can reach a node, which is not freed. `row`: the number of
    /// the shared part, then the parts of all processes.
    pub(super) fn is_private(
        &mut self,
        row: &[u32],
        (process, node): (usize, u32),
        walk: &mut Reached,
    ) -> Result<bool, Unknown> {
        let [first, others @ ..] = row else { return Ok(false) };
        self.learn_held(others)?;
        let (shape, freed) = (self.shape(*first)?, self.freed(*first)?);
        if self.naming.slices.get(freed).contains(&node) {
            return Ok(false);
        }
        let held = others.iter().enumerate().filter(|(other, _)| *other != process);
        let held = held.map(|(_, number)| self.naming.held(*number));
        self.heap().walk(walk, self.naming.shape(shape), held);
        Ok(!walk.reaches(node))
    }

    /// Replaces each node of a process's part by the first of its kind; parts are given by number.
    pub(super) fn bare(&mut self, number: u32) -> Result<u32, Unknown> {
        if self.heap().is_empty() {
            return Ok(number);
        }
        if let Some(bare) = self.naming.bare.get(number) {
            return Ok(*bare);
        }
        let heap = self.heap();
        let states = self.exclusively()?;
        let bare = states.processes.number(heap.without_nodes(&states.processes.get(number)));
        states.naming.bare.insert(number, states.processes.len(), bare);
        Ok(bare)
    }

    /// Returns, for a normal row, the nodes that each process holds and that shared variables
    /// reach. The names of other nodes depend on the order of the processes, so all of these are
    /// replaced by one number.
    pub(super) fn held_in_common(
        &mut self,
        row: &[u32],
        walk: &mut Reached,
    ) -> Result<Vec<Vec<u32>>, Unknown> {
        let [first, others @ ..] = row else { return Ok(Vec::new()) };
        self.learn_held(others)?;
        let shape = self.shape(*first)?;
        self.heap().walk(walk, self.naming.shape(shape), std::iter::empty());
        let common = |node: &u32| if walk.reaches(*node) { *node } else { u32::MAX };
        let held = |number: &u32| self.naming.held(*number).iter().map(common).collect();
        Ok(others.iter().map(held).collect())
    }

    /// Caches the pointers of the parts of processes.
    fn learn_held(&mut self, parts: &[u32]) -> Result<(), Unknown> {
        for &number in parts {
            if self.naming.held.get(number).is_none() {
                let heap = self.heap();
                let States { naming, processes, .. } = self.exclusively()?;
                let held = naming.slices.keep(&heap.held(&processes.get(number)));
                naming.held.insert(number, processes.len(), held);
            }
        }
        Ok(())
    }

    /// Returns the words of the shape of a shared part.
    pub(super) fn shape(&mut self, number: u32) -> Result<Slice, Unknown> {
        if let Some(shape) = self.naming.shapes.get(number) {
            return Ok(*shape);
        }
        let heap = self.heap();
        let States { naming, shared, .. } = self.exclusively()?;
        let shape = naming.slices.keep(&heap.shape(&shared.get(number)));
        naming.shapes.insert(number, shared.len(), shape);
        Ok(shape)
    }

    /// Returns the freed nodes of a shared part.
    fn freed(&mut self, number: u32) -> Result<Slice, Unknown> {
        if let Some(freed) = self.naming.freed.get(number) {
            return Ok(*freed);
        }
        let heap = self.heap();
        let States { naming, shared, .. } = self.exclusively()?;
        let freed = naming.slices.keep(&heap.freed(&shared.get(number)));
        naming.freed.insert(number, shared.len(), freed);
        Ok(freed)
    }

    /// Renames the nodes of a row: the number of its shared part, followed by the parts of its
    /// processes.
    pub(super) fn rename_nodes(
        &mut self,
        row: &mut [u32],
        scratch: &mut Scratch,
    ) -> Result<(), Unknown> {
        let heap = self.heap();
        if heap.is_empty() {
            return Ok(());
        }
        let (width, walk) = (self.width(), &mut scratch.walk);
        let shape = self.shape(row[SHARED])?;
        let processes = SHARED + 1..width;
        self.learn_held(&row[processes.clone()])?;
        let shape = self.naming.shape(shape);
        heap.walk(walk, shape, row[processes].iter().map(|number| self.naming.held(*number)));
        if walk.order.len() == shape.present && heap.keeps_names(walk) {
            return Ok(());
        }
        heap.name(walk);
        self.renumber(&mut row[..width], walk, &mut scratch.after)
    }

    /// Replaces the parts of a row by those with these names.
    fn renumber(
        &mut self,
        row: &mut [u32],
        walk: &Reached,
        named: &mut Vec<u32>,
    ) -> Result<(), Unknown> {
        let heap = self.heap();
        let [first, others @ ..] = row else { return Ok(()) };
        for number in others {
            named.clear();
            let held = self.naming.held(*number);
            named.extend(held.iter().filter_map(|node| walk.names[*node as usize]));
            if *named == held {
                continue;
            }
            *number = match self.naming.processes.find(*number, named) {
                Some(known) => known,
                None => {
                    let States { naming, processes, .. } = self.exclusively()?;
                    let part = heap.renamed_process(&processes.get(*number), &walk.names);
                    let renamed = processes.number(part);
                    naming.processes.insert(*number, named, renamed);
                    renamed
                }
            };
        }
        *first = match self.naming.shared.find(*first, &walk.order) {
            Some(known) => known,
            None => {
                let States { naming, shared, .. } = self.exclusively()?;
                let renamed = shared.number(heap.renamed_shared(&shared.get(*first), &walk.names));
                naming.shared.insert(*first, &walk.order, renamed);
                renamed
            }
        };
        Ok(())
    }
}
