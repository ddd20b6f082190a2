//! Serial histories.

use super::{Shape, Thread};

/// An execution of a test, one operation at a time.
///
/// The k-th element of `operations` with a given thread is that thread's k-th operation and its
/// response. If `stuck` names a thread, its next operation was called last, and can never return.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct SerialHistory<R> {
    /// The complete operations: thread and response.
    pub operations: Vec<(Thread, R)>,
    /// The thread whose next operation is stuck, if any.
    pub stuck: Option<Thread>,
}

impl<R> SerialHistory<R> {
    /// Returns the threads in the order of their operations, as letters; `#` follows a stuck
    /// thread.
    pub fn letters(&self) -> String {
        let mut letters: String =
            self.operations.iter().map(|(thread, _)| thread.letter()).collect();
        if let Some(thread) = self.stuck {
            letters.push(thread.letter());
            letters.push('#');
        }
        letters
    }

    /// Number of complete operations of each thread of a test.
    pub(super) fn counts(&self) -> [usize; Thread::LIMIT + 1] {
        let mut counts = [0; Thread::LIMIT + 1];
        for (thread, _) in &self.operations {
            counts[thread.index()] += 1;
        }
        counts
    }

    /// Returns true if this is a history of a test of this shape: no thread exceeds its number of
    /// operations, and each completes all of them unless the history ends stuck.
    pub(super) fn is_of(&self, shape: &Shape) -> bool {
        let mut counts = self.counts();
        if let Some(thread) = self.stuck {
            counts[thread.index()] += 1;
        }
        let threads = (0..=Thread::LIMIT).map(Thread::from_index);
        threads.zip(counts).all(|(thread, count)| {
            let length = shape.length(thread);
            if self.stuck.is_none() { count == length } else { count <= length }
        })
    }
}
