//! Published crates, unmodified, under Line-Up: `cargo lineup random` (README.md, FINDINGS.md).

mod channels;
mod maps;
mod queues;
mod standard;

use channels::{
    AsyncBounded1, AsyncBounded2, AsyncDrop, AsyncUnbounded, Crossbeam1, CrossbeamDrop,
    CrossbeamUnbounded, Event1, Flume1, FlumeDrop, FlumeUnbounded,
};
use maps::{DashMap2, DashMapKeys, LeftRight, TodcAtomic, TodcTurns};
use queues::{
    ArrayQueue1, ArrayQueue2, ArrayQueueDrop, ArrayQueueForce, ArrayQueuePlain, Bounded1, Bounded2,
    BoundedDrop, BoundedForce, BoundedPlain, Deque, DequeAlone, Seg, SegDrop, Unbounded,
    UnboundedDrop,
};
use standard::{StdBarrier, StdMpsc, StdOnceLock, StdRwLock, StdSemaphore};

lineup::main!(
    ArrayQueue1,
    ArrayQueue2,
    ArrayQueueForce,
    ArrayQueuePlain,
    ArrayQueueDrop,
    Seg,
    SegDrop,
    Bounded1,
    Bounded2,
    BoundedForce,
    BoundedPlain,
    BoundedDrop,
    Unbounded,
    UnboundedDrop,
    Deque,
    DequeAlone,
    AsyncBounded1,
    AsyncBounded2,
    AsyncUnbounded,
    AsyncDrop,
    Crossbeam1,
    CrossbeamUnbounded,
    CrossbeamDrop,
    Flume1,
    FlumeUnbounded,
    FlumeDrop,
    Event1,
    DashMap2,
    DashMapKeys,
    LeftRight,
    TodcAtomic,
    TodcTurns,
    StdMpsc,
    StdSemaphore,
    StdRwLock,
    StdOnceLock,
    StdBarrier,
);
