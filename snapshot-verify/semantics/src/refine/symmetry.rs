//! States that differ in nothing but in which process does what are one, if the processes are
//! anonymous ([`crate::program::anonymity`]): the scalarset symmetry of Ip and Dill, *Better
//! verification through symmetry*, 1993, for one scalarset, the processes.
//!
//! The processes of a row are sorted by where they stand and what they hold, nodes aside, which are
//! named by the order of processes; then by the nodes that they hold. Where both are alike their
//! order stays what it is, so a class of states may have several rows: that costs states, and
//! no answer. What else a row has for each process, the set of configurations and the progress of
//! the client, is put in the same order.

use rustc_hash::FxHashMap;

/// An order of the processes, by number: which process of the row before comes where.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct OrderId(u32);

/// The orders that occurred.
#[derive(Debug, Default)]
pub struct Orders {
    all: Vec<Box<[u32]>>,
    numbers: FxHashMap<Box<[u32]>, OrderId>,
}

impl Orders {
    /// The number of an order.
    pub fn number(&mut self, order: &[u32]) -> OrderId {
        if let Some(number) = self.numbers.get(order) {
            return *number;
        }
        let number = OrderId(self.all.len() as u32);
        self.all.push(order.into());
        self.numbers.insert(order.into(), number);
        number
    }

    /// The order with this number.
    ///
    /// # Panics
    /// If there is none.
    pub fn get(&self, number: OrderId) -> &[u32] {
        &self.all[number.0 as usize]
    }

    /// About how many bytes they take.
    pub fn bytes(&self) -> usize {
        let words: usize = self.all.iter().map(|order| 2 * size_of_val(&**order)).sum();
        words + self.all.capacity() * size_of::<[usize; 6]>()
    }
}

/// What is per process, in another order.
pub fn reordered<T: Clone>(of: &[T], order: &[u32]) -> Vec<T> {
    order.iter().map(|process| of[*process as usize].clone()).collect()
}
