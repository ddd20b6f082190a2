//! Identifies states up to the order of processes, if the processes are anonymous
//! ([`crate::program::anonymity`]): the scalarset symmetry of Ip and Dill, *Better verification
//! through symmetry*, 1993, for one scalarset, the processes.
//!
//! The processes of a row are sorted by their location and contents without nodes, since the names
//! of nodes depend on the order of the processes; then by the nodes that they hold. Ties keep their
//! order, so a class of states may have several rows: this costs states, but does not affect
//! answers. The other data per process, in the set of configurations and the progress of the
//! client, are reordered in the same way.

use rustc_hash::FxHashMap;

/// Number of an order of the processes: for each new position, the old process.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct OrderId(u32);

impl OrderId {
    pub const fn number(self) -> u32 {
        self.0
    }
}

#[derive(Debug, Default)]
pub struct Orders {
    all: Vec<Box<[u32]>>,
    numbers: FxHashMap<Box<[u32]>, OrderId>,
}

impl Orders {
    /// Returns the number of an order, if it has one.
    pub fn find(&self, order: &[u32]) -> Option<OrderId> {
        self.numbers.get(order).copied()
    }

    /// Returns the number of an order.
    pub fn number(&mut self, order: &[u32]) -> OrderId {
        if let Some(number) = self.find(order) {
            return number;
        }
        let number = OrderId(self.all.len() as u32);
        self.all.push(order.into());
        self.numbers.insert(order.into(), number);
        number
    }

    /// Returns the order with this number.
    ///
    /// # Panics
    /// If the order does not exist.
    pub fn get(&self, number: OrderId) -> &[u32] {
        &self.all[number.0 as usize]
    }

    /// Approximate memory use in bytes.
    pub fn bytes(&self) -> usize {
        let words: usize = self.all.iter().map(|order| 2 * size_of_val(&**order)).sum();
        words + self.all.capacity() * size_of::<[usize; 6]>()
    }
}

/// Reorders data per process.
pub fn reordered<T: Clone>(of: &[T], order: &[u32]) -> Vec<T> {
    order.iter().map(|process| of[*process as usize].clone()).collect()
}
