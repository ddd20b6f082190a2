//! The program `lineup`: the subjects that come with the crate, to begin with.
#![forbid(unsafe_code)]

use lineup::subjects::{
    Counter, Counter1, Counter2, ManualResetEvent, ManualResetEventPre, Queue, QueuePre,
};

lineup::main!(Counter, Counter1, Counter2, Queue, QueuePre, ManualResetEvent, ManualResetEventPre);
