//! The first reading: every event is judged by the judges of its object.

use std::collections::VecDeque;
use std::num::NonZero;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use snapshot_core::history::{Declaration, HistoryError};

use super::KEPT;
use crate::Value;
use crate::error::InputError;
use crate::format::{Batch, KeyedEvent, Location, ReadError};
use crate::input::{InputReader, OpenError, Replay};
use crate::judge::Options;
use crate::judge::stream::Reading;
use crate::read::{Origins, size};

/// Number of batches that a judging thread may be behind.
const BATCHES: usize = 3;

/// More threads would be idle: one thread reads for all.
const MOST_JUDGES: usize = 8;

/// The result of the first reading.
pub(super) struct Survey {
    /// The objects, by number.
    pub objects: Vec<Object>,
    pub names: Vec<Value>,
    /// Number of events taken, of all objects.
    pub events: u64,
    /// The error that ended the reading early.
    pub error: Option<InputError>,
    /// True if a violation ended it.
    pub is_stopped: bool,
}

pub(super) struct Object {
    /// Boxed, since there are many, and they move while their number grows.
    pub reading: Box<Reading>,
    /// Approximate number of bytes of its history in memory.
    pub bytes: usize,
}

impl Object {
    fn new(declaration: &Declaration<Value>) -> Result<Self, HistoryError> {
        let reading = Reading::of_one_of_many(declaration.clone(), KEPT)?;
        Ok(Self { reading: Box::new(reading), bytes: 0 })
    }
}

/// Reads all events; of a live input, up to the first violation.
///
/// # Errors
/// If the declaration contradicts itself, or the input cannot be read a second time.
pub(super) fn survey(
    mut reader: InputReader,
    replay: Option<&Replay>,
    options: &Options,
) -> Result<Survey, OpenError> {
    let judges = thread::available_parallelism().map_or(1, NonZero::get).min(MOST_JUDGES);
    match replay.filter(|replay| replay.is_of_file() && !options.live && judges > 1) {
        None => Ok(by_one_thread(reader, options)?),
        Some(replay) => match by_threads(&mut reader, judges, options) {
            Some(survey) => Ok(survey),
            // An event was refused. This finds the first one, and the reason.
            None => Ok(by_one_thread(replay.open()?, options)?),
        },
    }
}

fn by_one_thread(mut reader: InputReader, options: &Options) -> Result<Survey, InputError> {
    let declaration = reader.declaration().clone();
    let contradiction = |error| Origins::default().refused(Location::START, error, None);
    let mut objects: Vec<Object> = Vec::new();
    let mut origins: Vec<Origins> = Vec::new();
    let (mut events, mut error, mut is_stopped) = (0, None, false);
    while let Some(next) = reader.next_keyed() {
        let KeyedEvent { key, location, event, .. } = match next {
            Ok(next) => next,
            Err(defect) => {
                error = Some(defect.into());
                break;
            }
        };
        let index = key.index();
        if index == objects.len() {
            objects.push(Object::new(&declaration).map_err(contradiction)?);
            origins.push(Origins::default());
        }
        let object = &mut objects[index];
        match object.reading.take(location, &event, options) {
            Ok(flow) => {
                object.bytes += size(&event);
                origins[index].note(location, &event);
                events += 1;
                if flow.is_break() {
                    is_stopped = true;
                    break;
                }
            }
            Err(refused) => {
                error = Some(origins[index].refused(location, refused, reader.excerpt()));
                break;
            }
        }
    }
    // The key of a refused event may belong to an object without events.
    let names = reader.keys()[..objects.len()].to_vec();
    Ok(Survey { objects, names, events, error, is_stopped })
}

/// Returns `None` if an event was refused.
fn by_threads(reader: &mut InputReader, judges: usize, options: &Options) -> Option<Survey> {
    let declaration = reader.declaration().clone();
    let is_refused = AtomicBool::new(false);
    let (shards, unread) = thread::scope(|scope| {
        let mut senders = Vec::new();
        let mut threads = Vec::new();
        for number in 0..judges {
            let (sender, batches) = sync_channel::<Arc<Batch>>(BATCHES);
            senders.push(sender);
            let (declaration, is_refused) = (&declaration, &is_refused);
            threads.push(scope.spawn(move || {
                let share = Share { number, judges };
                judge_share(&batches, share, declaration, options).unwrap_or_else(|_| {
                    is_refused.store(true, Ordering::Relaxed);
                    Vec::new()
                })
            }));
        }
        let unread = deal(reader, &senders, &is_refused);
        drop(senders);
        let shards: Vec<Vec<Object>> =
            threads.into_iter().map(|thread| thread.join().expect("it does not panic")).collect();
        (shards, unread)
    });
    if is_refused.into_inner() {
        return None;
    }
    let names = reader.keys().to_vec();
    let mut shards: Vec<_> = shards.into_iter().map(Vec::into_iter).collect();
    let objects: Vec<Object> =
        (0..names.len()).map_while(|index| shards[index % judges].next()).collect();
    let names = names[..objects.len()].to_vec();
    let events = objects.iter().map(|object| object.reading.counts().events as u64).sum();
    let error = unread.map(InputError::from);
    Some(Survey { objects, names, events, error, is_stopped: false })
}

/// Sends every batch to all judges; reuses batches that all have finished.
fn deal(
    reader: &mut InputReader,
    judges: &[SyncSender<Arc<Batch>>],
    is_refused: &AtomicBool,
) -> Option<ReadError> {
    let mut dealt: VecDeque<Arc<Batch>> = VecDeque::new();
    loop {
        let used = dealt.front_mut().is_some_and(|batch| Arc::get_mut(batch).is_some());
        let idle = if used { dealt.pop_front() } else { None };
        let mut batch = idle.and_then(Arc::into_inner).unwrap_or_else(Batch::new);
        reader.next_keyed_batch(&mut batch);
        let (is_last, error) = (batch.is_last(), batch.take_error());
        let batch = Arc::new(batch);
        for judge in judges {
            // A judge that is gone has refused an event.
            let _ = judge.send(Arc::clone(&batch));
        }
        if is_last || is_refused.load(Ordering::Relaxed) {
            return error;
        }
        dealt.push_back(batch);
    }
}

/// The objects of a thread: those with its number, modulo the number of threads.
#[derive(Clone, Copy)]
struct Share {
    number: usize,
    judges: usize,
}

fn judge_share(
    batches: &Receiver<Arc<Batch>>,
    share: Share,
    declaration: &Declaration<Value>,
    options: &Options,
) -> Result<Vec<Object>, HistoryError> {
    let mut objects: Vec<Object> = Vec::new();
    for batch in batches {
        for ((location, event), key) in batch.located_events().zip(batch.keys()) {
            if key.index() % share.judges != share.number {
                continue;
            }
            let index = key.index() / share.judges;
            if index == objects.len() {
                objects.push(Object::new(declaration)?);
            }
            let object = &mut objects[index];
            let flow = object.reading.take(*location, &event, options)?;
            debug_assert!(flow == ControlFlow::Continue(()), "not live");
            object.bytes += size(&event);
        }
    }
    Ok(objects)
}
