//! Sample objects, right and wrong: the paper's, which the program `lineup` checks, and atomic
//! snapshots.

pub mod bags;
pub mod collections;
pub mod counters;
pub mod events;
pub mod lists;
pub mod monitor;
pub mod queues;
pub mod snapshots;
pub mod tasks;

pub use bags::{Bag, BagE, BagJ};
pub use collections::{
    BlockingCollection, BlockingCollectionD, BlockingCollectionHI, BlockingCollectionK,
};
pub use counters::{Counter, Counter1, Counter2};
pub use events::{ManualResetEvent, ManualResetEventPre};
pub use lists::{LinkedList, LinkedListPre};
pub use monitor::{Mistake, Monitor};
pub use queues::{Queue, QueuePre};
pub use tasks::{PhaseBarrier, TaskSource, TaskSourceF, TaskSourceG};
