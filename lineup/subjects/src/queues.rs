//! Queues and deques.

use std::sync::{Arc, Mutex};

use concurrent_queue::ConcurrentQueue;
use crossbeam_deque::{Steal, Stealer, Worker};
use crossbeam_queue::{ArrayQueue, SegQueue};

lineup::subject! {
    /// crossbeam-queue: the smallest bounded queue.
    pub ArrayQueue1(queue: ArrayQueue<u32>) = ArrayQueue::new(1);
    push(v: u32) in [10, 20] => queue.push(v);
    pop() => queue.pop();
    force_push(v: u32) in [30] => queue.force_push(v);
    len() => queue.len();
    is_empty() => queue.is_empty();
    is_full() => queue.is_full();
    capacity() => queue.capacity();
}

lineup::subject! {
    /// crossbeam-queue: a bounded queue.
    pub ArrayQueue2(queue: ArrayQueue<u32>) = ArrayQueue::new(2);
    push(v: u32) in [10, 20] => queue.push(v);
    pop() => queue.pop();
    force_push(v: u32) in [30] => queue.force_push(v);
    len() => queue.len();
    is_empty() => queue.is_empty();
    is_full() => queue.is_full();
}

lineup::subject! {
    /// crossbeam-queue: a bounded queue without `force_push`.
    pub ArrayQueuePlain(queue: ArrayQueue<u32>) = ArrayQueue::new(2);
    push(v: u32) in [10, 20] => queue.push(v);
    pop() => queue.pop();
    len() => queue.len();
    is_empty() => queue.is_empty();
    is_full() => queue.is_full();
}

lineup::subject! {
    /// crossbeam-queue: a bounded queue without read-only operations.
    pub ArrayQueueForce(queue: ArrayQueue<u32>) = ArrayQueue::new(1);
    push(v: u32) in [10, 20] => queue.push(v);
    pop() => queue.pop();
    force_push(v: u32) in [30] => queue.force_push(v);
}

lineup::subject! {
    /// crossbeam-queue: an unbounded queue.
    pub Seg(queue: SegQueue<u32>) = SegQueue::new();
    push(v: u32) in [10, 20] => queue.push(v);
    pop() => queue.pop();
    len() => queue.len();
    is_empty() => queue.is_empty();
}

lineup::subject! {
    /// concurrent-queue: one slot.
    pub Bounded1(queue: ConcurrentQueue<u32>) = ConcurrentQueue::bounded(1);
    push(v: u32) in [10, 20] => queue.push(v);
    pop() => queue.pop();
    force_push(v: u32) in [30] => queue.force_push(v);
    close() => queue.close();
    len() => queue.len();
    is_empty() => queue.is_empty();
    is_full() => queue.is_full();
    is_closed() => queue.is_closed();
}

lineup::subject! {
    /// concurrent-queue: a ring.
    pub Bounded2(queue: ConcurrentQueue<u32>) = ConcurrentQueue::bounded(2);
    push(v: u32) in [10, 20] => queue.push(v);
    pop() => queue.pop();
    force_push(v: u32) in [30] => queue.force_push(v);
    close() => queue.close();
    len() => queue.len();
    is_empty() => queue.is_empty();
    is_full() => queue.is_full();
    is_closed() => queue.is_closed();
}

lineup::subject! {
    /// concurrent-queue: a ring, without read-only operations.
    pub BoundedForce(queue: ConcurrentQueue<u32>) = ConcurrentQueue::bounded(2);
    push(v: u32) in [10, 20] => queue.push(v);
    pop() => queue.pop();
    force_push(v: u32) in [30] => queue.force_push(v);
    close() => queue.close();
}

lineup::subject! {
    /// concurrent-queue: a ring, without `force_push`.
    pub BoundedPlain(queue: ConcurrentQueue<u32>) = ConcurrentQueue::bounded(2);
    push(v: u32) in [10, 20] => queue.push(v);
    pop() => queue.pop();
    close() => queue.close();
    len() => queue.len();
    is_empty() => queue.is_empty();
    is_full() => queue.is_full();
}

lineup::subject! {
    /// concurrent-queue: blocks of slots.
    pub Unbounded(queue: ConcurrentQueue<u32>) = ConcurrentQueue::unbounded();
    push(v: u32) in [10, 20] => queue.push(v);
    pop() => queue.pop();
    close() => queue.close();
    len() => queue.len();
    is_empty() => queue.is_empty();
    is_closed() => queue.is_closed();
}

/// A queue of tokens, and a token: the number of remaining tokens shows leaks.
type Tokens<Q> = (Q, Arc<()>);

fn tokens<Q>(queue: Q) -> Tokens<Q> {
    (queue, Arc::new(()))
}

/// Returns the number of tokens that remain after the queue.
fn left<Q>((queue, token): Tokens<Q>) -> usize {
    drop(queue);
    Arc::strong_count(&token) - 1
}

lineup::subject! {
    /// crossbeam-queue: a bounded queue that is dropped at the end.
    pub ArrayQueueDrop(queue: Tokens<ArrayQueue<Arc<()>>>) = tokens(ArrayQueue::new(2)),
        drop(left(queue));
    push() => queue.0.push(Arc::clone(&queue.1)).is_ok();
    pop() => queue.0.pop().is_some();
    force_push() => queue.0.force_push(Arc::clone(&queue.1)).is_some();
}

lineup::subject! {
    /// crossbeam-queue: an unbounded queue that is dropped at the end.
    pub SegDrop(queue: Tokens<SegQueue<Arc<()>>>) = tokens(SegQueue::new()), drop(left(queue));
    push() => queue.0.push(Arc::clone(&queue.1));
    pop() => queue.0.pop().is_some();
}

lineup::subject! {
    /// concurrent-queue: a ring that is dropped at the end.
    pub BoundedDrop(queue: Tokens<ConcurrentQueue<Arc<()>>>) = tokens(ConcurrentQueue::bounded(2)),
        drop(left(queue));
    push() => queue.0.push(Arc::clone(&queue.1)).is_ok();
    pop() => queue.0.pop().is_ok();
    close() => queue.0.close();
}

lineup::subject! {
    /// concurrent-queue: blocks of slots that are dropped at the end.
    pub UnboundedDrop(queue: Tokens<ConcurrentQueue<Arc<()>>>)
        = tokens(ConcurrentQueue::unbounded()), drop(left(queue));
    push() => queue.0.push(Arc::clone(&queue.1)).is_ok();
    pop() => queue.0.pop().is_ok();
    close() => queue.0.close();
}

/// A deque, with its owner's end behind a lock.
pub struct Both {
    worker: Mutex<Worker<u32>>,
    stealer: Stealer<u32>,
}

impl Both {
    fn new(worker: Worker<u32>) -> Self {
        let stealer = worker.stealer();
        Self { worker: Mutex::new(worker), stealer }
    }
}

/// Converts `Steal`, which has no text that shows its value.
fn steal(stealer: &Stealer<u32>) -> Result<Option<u32>, &'static str> {
    match stealer.steal() {
        Steal::Success(value) => Ok(Some(value)),
        Steal::Empty => Ok(None),
        Steal::Retry => Err("Retry"),
    }
}

lineup::subject! {
    /// crossbeam-deque: last in, first out for its owner; `Retry` is always allowed.
    pub Deque(deque: Both) = Both::new(Worker::new_lifo()),
        spurious(steal => Err::<Option<u32>, _>("Retry"));
    push(v: u32) in [10, 20] => deque.worker.lock().unwrap().push(v);
    pop() => deque.worker.lock().unwrap().pop();
    steal() => steal(&deque.stealer);
    len() => deque.stealer.len();
    is_empty() => deque.stealer.is_empty();
}

lineup::subject! {
    /// crossbeam-deque: first in, first out for its owner; `Retry` counts as an answer.
    pub DequeAlone(deque: Both) = Both::new(Worker::new_fifo());
    push(v: u32) in [10, 20] => deque.worker.lock().unwrap().push(v);
    pop() => deque.worker.lock().unwrap().pop();
    steal() => steal(&deque.stealer);
    len() => deque.stealer.len();
    is_empty() => deque.stealer.is_empty();
}
