//! Reading ahead: the calling thread reads a recording batch by batch, others judge earlier batches.
//!
//! A judge may be some batches behind, so memory is bounded. Parsing takes about as long as judging.
//! A batch is passed on when it is full, so the reading thread must not wait for its input: this is
//! for files, not for pipes.

use std::collections::VecDeque;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use crate::format::{Batch, ReadError};
use crate::input::InputReader;

/// Number of batches that a judging thread may be behind.
const BATCHES: usize = 3;

/// The batches of a recording, in order.
pub(super) type Batches = Receiver<Arc<Batch>>;

/// Has each judge take all remaining batches of `reader`, until one of them ends. Returns their
/// results and the error behind the last event, if it was read; `None` if the threads cannot be
/// started, and nothing was read.
pub(super) fn read_ahead<T: Send>(
    reader: &mut InputReader,
    judges: Vec<impl FnOnce(Batches) -> T + Send>,
) -> Option<(Vec<T>, Option<ReadError>)> {
    thread::scope(|scope| {
        let (mut senders, mut threads) = (Vec::new(), Vec::new());
        for (number, judge) in judges.into_iter().enumerate() {
            let (sender, batches) = sync_channel(BATCHES);
            senders.push(sender);
            let thread = thread::Builder::new().name(format!("judge {number}"));
            threads.push(thread.spawn_scoped(scope, move || judge(batches)).ok()?);
        }
        let unread = read(reader, &senders);
        drop(senders);
        let joined = threads.into_iter().map(|thread| thread.join());
        Some((joined.map(|one| one.unwrap_or_else(|panic| resume_unwind(panic))).collect(), unread))
    })
}

/// Sends every batch to all judges; reuses batches that all have finished.
fn read(reader: &mut InputReader, judges: &[SyncSender<Arc<Batch>>]) -> Option<ReadError> {
    let mut sent: VecDeque<Arc<Batch>> = VecDeque::new();
    loop {
        let is_used = sent.front_mut().is_some_and(|batch| Arc::get_mut(batch).is_some());
        let used = if is_used { sent.pop_front() } else { None };
        let mut batch = used.and_then(Arc::into_inner).unwrap_or_else(Batch::new);
        reader.next_batch(&mut batch);
        let (is_last, error) = (batch.is_last(), batch.take_error());
        let batch = Arc::new(batch);
        let has_ended = judges.iter().any(|judge| judge.send(Arc::clone(&batch)).is_err());
        if is_last || has_ended {
            return error;
        }
        sent.push_back(batch);
    }
}
