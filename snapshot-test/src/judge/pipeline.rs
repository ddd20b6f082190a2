//! Reading and judging at the same time.
//!
//! One thread reads a recording batch by batch, the calling one judges earlier batches. Four
//! batches circulate between them, so memory is bounded and each may be some batches ahead of the
//! other. Parsing takes about as long as judging: two threads are worth it, and a third would be
//! idle.
//!
//! The reading thread must not wait for its input: a batch is passed on when it is full, and a call
//! that has finished with the recording returns only after the batch that is being read. So this is
//! for files, not for pipes.

use std::io;
use std::ops::ControlFlow;
use std::sync::mpsc::sync_channel;
use std::thread;

use crate::format::{Batch, ReadError};
use crate::input::InputReader;

/// Number of batches: one being read, one being judged, and two because the times of both vary.
const BATCHES: usize = 4;

/// Has `judge` take all remaining batches of `reader`, in order, until it breaks off. Returns the
/// error behind the last event, if any.
pub(super) fn for_each_batch(
    reader: &mut InputReader,
    mut judge: impl FnMut(&Batch) -> ControlFlow<()>,
) -> Option<ReadError> {
    // A system without a spare thread still gets its answer.
    with_two_threads(reader, &mut judge).unwrap_or_else(|_| with_one_thread(reader, judge))
}

/// # Errors
/// If a second thread cannot be started; then nothing was read.
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
