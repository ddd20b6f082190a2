//! Cells, maps and queues that share state by statics: `cargo lineup random` (../FINDINGS.md, 7).

use std::sync::{Arc, Mutex};

use arc_swap::ArcSwap;
use thingbuf::mpsc::blocking::{Receiver, Sender};

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

lineup::subject! {
    /// kanal: a channel of one.
    pub Kanal(q: (kanal::Sender<u32>, kanal::Receiver<u32>)) = kanal::bounded(1);
    send(v: u32) in [10, 20] => q.0.send(v).is_ok();
    try_send(v: u32) in [30] => q.0.try_send(v).ok();
    recv() => q.1.recv().ok();
    try_recv() => q.1.try_recv().ok().flatten();
    len() => q.1.len();
    close() => q.0.close().is_ok();
}
lineup::subject! {
    /// thingbuf: a queue of two.
    pub ThingBuf(q: thingbuf::ThingBuf<u32>) = thingbuf::ThingBuf::new(2);
    push(v: u32) in [10, 20] => q.push(v).is_ok();
    pop() => q.pop();
    len() => q.len();
}
lineup::subject! {
    /// thingbuf: a channel of two; the lock around the receiver is the subject's.
    pub ThingChannel(q: (Sender<u32>, Mutex<Receiver<u32>>)) = {
        let (sender, receiver) = thingbuf::mpsc::blocking::channel(2);
        (sender, Mutex::new(receiver))
    };
    try_send(v: u32) in [10, 20] => q.0.try_send(v).is_ok();
    try_recv() => q.1.lock().unwrap().try_recv().ok();
    recv() => q.1.lock().unwrap().recv();
}
lineup::subject! {
    /// lockfree: a stack.
    pub FreeStack(stack: lockfree::stack::Stack<u32>) = lockfree::stack::Stack::new();
    push(v: u32) in [10, 20] => stack.push(v);
    pop() => stack.pop();
}
lineup::subject! {
    /// lockfree: a queue.
    pub FreeQueue(queue: lockfree::queue::Queue<u32>) = lockfree::queue::Queue::new();
    push(v: u32) in [10, 20] => queue.push(v);
    pop() => queue.pop();
}
lineup::subject! {
    /// lockfree: a hash map, with a deterministic hasher.
    pub FreeMap(map: lockfree::map::Map<u32, u32, std::hash::BuildHasherDefault<
        std::collections::hash_map::DefaultHasher>>) =
        lockfree::map::Map::with_hasher(Default::default());
    insert(k: u32, v: u32) in [(1, 10), (2, 20)] => map.insert(k, v).map(|r| *r.val());
    remove(k: u32) in [1] => map.remove(&k).map(|r| *r.val());
    get(k: u32) in [1, 2] => map.get(&k).map(|r| *r.val());
}
lineup::main!(
    ArcSwapCell,
    Papaya,
    Slab,
    Kanal,
    ThingBuf,
    ThingChannel,
    FreeStack,
    FreeQueue,
    FreeMap
);
