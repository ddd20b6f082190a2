//! Maps, cells and snapshots.

use std::sync::Mutex;

use left_right::{Absorb, ReadHandleFactory, WriteHandle};
use todc_mem::snapshot::{BoundedAtomicSnapshot, Snapshot};

/// A deterministic hasher.
type Hasher = std::hash::BuildHasherDefault<std::collections::hash_map::DefaultHasher>;

lineup::subject! {
    /// dashmap, of two shards: 1 and 3 are in different ones. No operation keeps a reference into
    /// the map: a thread that keeps one, and calls another operation, waits for itself.
    pub DashMap2(map: dashmap::DashMap<u32, u32, Hasher>)
        = dashmap::DashMap::with_hasher_and_shard_amount(Hasher::default(), 2);
    insert(k: u32, v: u32) in [(1, 10), (3, 20)] => map.insert(k, v);
    remove(k: u32) in [1, 3] => map.remove(&k);
    get(k: u32) in [1, 3] => map.get(&k).map(|value| *value);
    contains_key(k: u32) in [1] => map.contains_key(&k);
    entry_add(k: u32) in [1] => { *map.entry(k).or_insert(0) += 1; };
    alter(k: u32) in [1] => map.alter(&k, |_, value| value + 5);
    remove_if(k: u32) in [3] => map.remove_if(&k, |_, value| *value == 20);
    retain_small() => map.retain(|_, value| *value < 15);
    clear() => map.clear();
    len() => map.len();
    is_empty() => map.is_empty();
    sum() => map.iter().map(|pair| *pair.value()).sum::<u32>();
}

lineup::subject! {
    /// dashmap: operations on one key.
    pub DashMapKeys(map: dashmap::DashMap<u32, u32, Hasher>)
        = dashmap::DashMap::with_hasher_and_shard_amount(Hasher::default(), 2);
    insert(k: u32, v: u32) in [(1, 10), (3, 20)] => map.insert(k, v);
    remove(k: u32) in [1, 3] => map.remove(&k);
    get(k: u32) in [1, 3] => map.get(&k).map(|value| *value);
    contains_key(k: u32) in [1] => map.contains_key(&k);
    entry_add(k: u32) in [1] => { *map.entry(k).or_insert(0) += 1; };
    alter(k: u32) in [1] => map.alter(&k, |_, value| value + 5);
    remove_if(k: u32) in [3] => map.remove_if(&k, |_, value| *value == 20);
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

/// The writer behind a lock, and a source of readers.
pub struct Sides(Mutex<WriteHandle<Count, u32>>, ReadHandleFactory<Count>);

fn sides() -> Sides {
    let (writer, reader) = left_right::new::<Count, u32>();
    Sides(Mutex::new(writer), reader.factory())
}

lineup::subject! {
    /// left-right: a counter; additions are visible once they are published.
    pub LeftRight(sides: Sides) = sides();
    add(n: u32) in [1, 2] => { sides.0.lock().unwrap().append(n); };
    publish() => { sides.0.lock().unwrap().publish(); };
    read() => sides.1.handle().enter().map(|count| count.0);
}

lineup::subject! {
    /// todc-mem: an atomic snapshot of two segments, where threads may act for one process at the
    /// same time.
    pub TodcAtomic(snapshot: BoundedAtomicSnapshot<2>) = BoundedAtomicSnapshot::new();
    update(process: usize, value: u8) in [(0, 1), (1, 2)] => snapshot.update(process, value);
    scan(process: usize) in [0, 1] => snapshot.scan(process);
}

/// A snapshot whose processes each execute one operation at a time.
pub struct Processes(BoundedAtomicSnapshot<2>, [Mutex<()>; 2]);

lineup::subject! {
    /// todc-mem: as `TodcAtomic`, with one thread at a time per process.
    pub TodcTurns(all: Processes) = Processes(BoundedAtomicSnapshot::new(), Default::default());
    update(process: usize, value: u8) in [(0, 1), (1, 2)] => {
        let _turn = all.1[process].lock().unwrap();
        all.0.update(process, value);
    };
    scan(process: usize) in [0, 1] => {
        let _turn = all.1[process].lock().unwrap();
        all.0.scan(process)
    };
}
