//! Cells and maps with *unknown* answers: `cargo lineup random` (../FINDINGS.md, 7).

use std::sync::Arc;

use arc_swap::ArcSwap;

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
    /// papaya: a hash map, with a deterministic hasher.
    pub Papaya(map: papaya::HashMap<u32, u32, std::hash::BuildHasherDefault<
        std::collections::hash_map::DefaultHasher>>) = papaya::HashMap::default();
    insert(k: u32, v: u32) in [(1, 10), (1, 11), (2, 20)] => map.pin().insert(k, v).copied();
    remove(k: u32) in [1] => map.pin().remove(&k).copied();
    get(k: u32) in [1, 2] => map.pin().get(&k).copied();
    len() => map.pin().len();
    is_empty() => map.pin().is_empty();
}

lineup::subject! {
    /// sharded-slab: each thread inserts into its own shard; `take` takes the value that a thread
    /// inserted first.
    pub Slab(slab: sharded_slab::Slab<u32>) = sharded_slab::Slab::new();
    insert(v: u32) in [10, 20] => slab.insert(v);
    get(key: usize) in [0] => slab.get(key).map(|value| *value);
    take(key: usize) in [0] => slab.take(key);
    remove(key: usize) in [0] => slab.remove(key);
    contains(key: usize) in [0] => slab.contains(key);
}

lineup::main!(ArcSwapCell, Papaya, Slab);
