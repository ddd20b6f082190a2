//! Reading and judging at the same time.
//!
//! One thread reads a recording batch by batch, the calling one judges what was
//! read before. Four batches go round between them, so memory is bounded and
//! each may be some batches ahead of the other. Parsing takes about as long as
//! judging does: two threads are worth it, and a third would find nothing to do.
//!
//! The reading thread must not wait for its input: a batch comes when it is
//! full, and a call that is done with the recording returns only when the batch
//! that is being read is. So this is for files, not for pipes.

use std::io;
use std::ops::ControlFlow;
use std::sync::mpsc::sync_channel;
use std::thread;

use crate::format::{Batch, ReadError};
use crate::input::InputReader;

/// How many batches there are: one being read, one being judged, and two
/// because neither takes equally long each time.
const BATCHES: usize = 4;

/// Has `judge` take all batches that `reader` still has, in order, until it
/// breaks off. Returns what is wrong behind the last event, if it came to that.
pub(super) fn for_each_batch(
    reader: &mut InputReader,
    mut judge: impl FnMut(&Batch) -> ControlFlow<()>,
) -> Option<ReadError> {
    // A system that has no thread to spare still gets its answer.
    with_two_threads(reader, &mut judge).unwrap_or_else(|_| with_one_thread(reader, judge))
}

/// # Errors
/// If there is no second thread; nothing was read then.
fn with_two_threads(
    reader: &mut InputReader,
    judge: &mut impl FnMut(&Batch) -> ControlFlow<()>,
) -> io::Result<Option<ReadError>> {
    thread::scope(|scope| {
        let (filled, to_judge) = sync_channel::<Batch>(BATCHES);
        let (judged, to_fill) = sync_channel(BATCHES);
        thread::Builder::new().name("reader".to_owned()).spawn_scoped(scope, move || {
            while let Ok(mut batch) = to_fill.recv() {
                reader.next_batch(&mut batch);
                let is_last = batch.is_last();
                if filled.send(batch).is_err() || is_last {
                    return;
                }
            }
        })?;
        let mut batches = (0..BATCHES).map(|_| Batch::new());
        while batches.next().is_some_and(|batch| judged.send(batch).is_ok()) {}
        for batch in to_judge {
            if judge(&batch).is_break() {
                return Ok(None);
            }
            if batch.is_last() {
                return Ok(batch.into_error());
            }
            // If the reader is gone it has left a last batch.
            let _ = judged.send(batch);
        }
        Ok(None)
    })
}

fn with_one_thread(
    reader: &mut InputReader,
    mut judge: impl FnMut(&Batch) -> ControlFlow<()>,
) -> Option<ReadError> {
    let mut batch = Batch::new();
    loop {
        reader.next_batch(&mut batch);
        if judge(&batch).is_break() {
            return None;
        }
        if batch.is_last() {
            return batch.into_error();
        }
    }
}
