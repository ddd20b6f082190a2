//! Objects to begin with, right and wrong: those of the paper, which the program `lineup`
//! checks, and atomic snapshots.

pub mod counters;
pub mod events;
pub mod queues;
pub mod snapshots;

pub use counters::{Counter, Counter1, Counter2};
pub use events::{ManualResetEvent, ManualResetEventPre};
pub use queues::{Queue, QueuePre};
