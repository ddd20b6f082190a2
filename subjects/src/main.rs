//! Published crates, unmodified, under Line-Up: `cargo lineup random` (README.md, FINDINGS.md).

mod channels;
mod maps;
mod queues;
mod standard;

use channels::{
    AsyncBounded1, AsyncBounded2, AsyncUnbounded, Crossbeam1, CrossbeamUnbounded, Event1, Flume1,
    FlumeUnbounded,
};
use maps::{ArcSwapCell, LeftRight, Papaya, Slab, TodcAtomic};
use queues::{
    ArrayQueue1, ArrayQueue2, ArrayQueueForce, ArrayQueuePlain, Bounded1, Bounded2, BoundedForce,
    BoundedPlain, Deque, DequeAlone, Seg, Unbounded,
};
use standard::{StdBarrier, StdMpsc, StdOnceLock, StdRwLock, StdSemaphore};

lineup::main!(
    ArrayQueue1,
    ArrayQueue2,
    ArrayQueueForce,
    ArrayQueuePlain,
    Seg,
    Bounded1,
    Bounded2,
    BoundedForce,
    BoundedPlain,
    Unbounded,
    Deque,
    DequeAlone,
    AsyncBounded1,
    AsyncBounded2,
    AsyncUnbounded,
    Crossbeam1,
    CrossbeamUnbounded,
    Flume1,
    FlumeUnbounded,
    Event1,
    ArcSwapCell,
    Papaya,
    Slab,
    LeftRight,
    TodcAtomic,
    StdMpsc,
    StdSemaphore,
    StdRwLock,
    StdOnceLock,
    StdBarrier,
);
