//! Maps, cells and snapshots.

use std::sync::{Arc, Mutex};

use arc_swap::ArcSwap;
use left_right::{Absorb, ReadHandleFactory, WriteHandle};
use todc_mem::snapshot::{BoundedAtomicSnapshot, Snapshot};

lineup::subject! {
    /// arc-swap.
    pub ArcSwapCell(cell: ArcSwap<u32>) = ArcSwap::from_pointee(0);
    load() => **cell.load();
    load_full() => *cell.load_full();
    store(v: u32) in [1, 2] => cell.store(Arc::new(v));
    swap(v: u32) in [3] => *cell.swap(Arc::new(v));
    add() => *cell.rcu(|value| **value + 10);
}

lineup::subject! {
    /// papaya: a hash map, with a hasher that is always the same.
    pub Papaya(map: papaya::HashMap<u32, u32, std::hash::BuildHasherDefault<
        std::collections::hash_map::DefaultHasher>>) = papaya::HashMap::default();
    insert(k: u32, v: u32) in [(1, 10), (1, 11), (2, 20)] => map.pin().insert(k, v).copied();
    remove(k: u32) in [1] => map.pin().remove(&k).copied();
    get(k: u32) in [1, 2] => map.pin().get(&k).copied();
    len() => map.pin().len();
    is_empty() => map.pin().is_empty();
}

lineup::subject! {
    /// sharded-slab: what two threads insert goes to shards of their own; the value first
    /// inserted by a thread is taken again.
    pub Slab(slab: sharded_slab::Slab<u32>) = sharded_slab::Slab::new();
    insert(v: u32) in [10, 20] => slab.insert(v);
    get(key: usize) in [0] => slab.get(key).map(|value| *value);
    take(key: usize) in [0] => slab.take(key);
    remove(key: usize) in [0] => slab.remove(key);
    contains(key: usize) in [0] => slab.contains(key);
}

/// A counter in two copies.
#[derive(Clone, Default)]
pub struct Count(u32);

impl Absorb<u32> for Count {
    fn absorb_first(&mut self, operation: &mut u32, _: &Self) {
        self.0 += *operation;
    }

    fn sync_with(&mut self, first: &Self) {
        self.0 = first.0;
    }
}

/// Its writer behind a lock, and a source of readers.
pub struct Sides(Mutex<WriteHandle<Count, u32>>, ReadHandleFactory<Count>);

fn sides() -> Sides {
    let (writer, reader) = left_right::new::<Count, u32>();
    Sides(Mutex::new(writer), reader.factory())
}

lineup::subject! {
    /// left-right: a counter; what is added is seen when it is published.
    pub LeftRight(sides: Sides) = sides();
    add(n: u32) in [1, 2] => { sides.0.lock().unwrap().append(n); };
    publish() => { sides.0.lock().unwrap().publish(); };
    read() => sides.1.handle().enter().map(|count| count.0);
}

lineup::subject! {
    /// todc-mem: an atomic snapshot of two segments.
    pub TodcAtomic(snapshot: BoundedAtomicSnapshot<2>) = BoundedAtomicSnapshot::new();
    update(process: usize, value: u8) in [(0, 1), (1, 2)] => snapshot.update(process, value);
    scan(process: usize) in [0, 1] => snapshot.scan(process);
}
