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
    Queue,
    QueuePre,
    ManualResetEvent,
    ManualResetEventPre,
    LinkedList,
    LinkedListPre,
    BlockingCollection,
    BlockingCollectionD,
    BlockingCollectionHI,
    BlockingCollectionK,
    Bag,
    BagE,
    BagJ,
    TaskSource,
    TaskSourceF,
    TaskSourceG,
    PhaseBarrier,
);
