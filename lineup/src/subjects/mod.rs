//! Objects to begin with: those of the paper, with their bugs. The program `lineup`
//! checks them.

pub mod counters;
pub mod events;
pub mod queues;

pub use counters::{Counter, Counter1, Counter2};
pub use events::{ManualResetEvent, ManualResetEventPre};
pub use queues::{Queue, QueuePre};
