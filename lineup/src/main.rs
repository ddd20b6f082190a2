//! The program `lineup`: the subjects that come with the crate, to begin with.
#![forbid(unsafe_code)]

use lineup::subjects::{
    Bag, BagE, BagJ, BlockingCollection, BlockingCollectionD, BlockingCollectionHI,
    BlockingCollectionK, Counter, Counter1, Counter2, LinkedList, LinkedListPre, ManualResetEvent,
    ManualResetEventPre, PhaseBarrier, Queue, QueuePre, TaskSource, TaskSourceF, TaskSourceG,
};

lineup::main!(
    Counter,
    Counter1,
    Counter2,
    ManualResetEventPre,
    ManualResetEvent,
    QueuePre,
    Queue,
    LinkedListPre,
    LinkedList,
    BlockingCollectionD,
    BlockingCollectionHI,
    BlockingCollectionK,
    BlockingCollection,
    BagE,
    BagJ,
    Bag,
    TaskSourceF,
    TaskSourceG,
    TaskSource,
    PhaseBarrier,
);
