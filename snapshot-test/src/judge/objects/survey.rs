//! The first reading: every event is judged by the judges of its object.

use std::num::NonZero;
use std::ops::ControlFlow;
use std::thread;

use snapshot_core::history::Declaration;

use crate::Value;
use crate::error::InputError;
use crate::format::Location;
use crate::input::{InputReader, OpenError, Replay};
use crate::judge::Options;
use crate::judge::ahead::{Batches, read_ahead};
use crate::judge::reading::{ErrorOf, FirstReading, Standing};
use crate::kind::{Next, SnapshotKind};
use crate::origins::Origins;

/// More threads would be idle: one thread reads for all.
const MOST_JUDGES: usize = 8;

/// The result of the first reading.
pub(in crate::judge) struct Survey<R> {
    /// The objects, by number.
    pub objects: Vec<Object<R>>,
    pub names: Vec<Value>,
    /// Number of events taken, of all objects.
    pub events: u64,
    /// The error that ended the reading early.
    pub error: Option<InputError>,
    /// True if a violation ended it.
    pub is_stopped: bool,
}

pub(in crate::judge) struct Object<R> {
    /// Boxed, since there are many, and they move while their number grows.
    pub reading: Box<R>,
    /// Approximate number of bytes of its history in memory.
    pub bytes: usize,
}

impl<R: FirstReading> Object<R> {
    fn new(declaration: &Declaration<Value>) -> Result<Self, ErrorOf<R>> {
        Ok(Self { reading: Box::new(R::begin(declaration)?), bytes: 0 })
    }
}

/// Reads all events; of a live input, up to the first violation.
///
/// # Errors
/// If the declaration contradicts itself, or the input cannot be read a second time.
pub(super) fn survey<R: FirstReading>(
    mut reader: InputReader,
    replay: Option<&Replay>,
    options: &Options,
) -> Result<Survey<R>, OpenError> {
    let judges = thread::available_parallelism().map_or(1, NonZero::get).min(MOST_JUDGES);
    reader.take_all();
    match replay.filter(|replay| replay.is_of_file() && !options.live && judges > 1) {
        None => Ok(by_one_thread(&mut reader, options)?),
        Some(replay) => match by_threads(&mut reader, judges, options) {
            Some(survey) => Ok(survey),
            // An event was refused. This finds the first one, and the reason.
            None => {
                let mut reader = replay.open()?;
                reader.take_all();
                Ok(by_one_thread(&mut reader, options)?)
            }
        },
    }
}

/// Reads all chosen events, of one or of several objects; of a live input, up to the first
/// violation.
///
/// # Errors
/// If the declaration contradicts itself.
pub(in crate::judge) fn by_one_thread<R: FirstReading>(
    reader: &mut InputReader,
    options: &Options,
) -> Result<Survey<R>, InputError> {
    let declaration = reader.declaration().clone();
    let contradiction = |error| R::Kind::refused(&Origins::default(), Location::START, error, None);
    let mut objects: Vec<Object<R>> = Vec::new();
    let mut origins: Vec<Origins> = Vec::new();
    let (mut events, mut error, mut is_stopped) = (0, None, false);
    loop {
        let Next { key, location, event } = match R::Kind::next(reader) {
            None => break,
            Some(Ok(next)) => next,
            Some(Err(defect)) => {
                error = Some(defect.into());
                break;
            }
        };
        let is_alone = key.is_none();
        let index = key.map_or(0, |(index, _)| index);
        if index == objects.len() {
            objects.push(Object::new(&declaration).map_err(contradiction)?);
            origins.push(Origins::default());
        }
        let object = &mut objects[index];
        let taken = object.reading.take(location, &event, options);
        if taken.is_ok() {
            object.bytes += R::Kind::size(&event);
            R::Kind::note(&mut origins[index], location, &event);
        }
        drop(event);
        match taken {
            Ok(flow) => {
                events += 1;
                // An undecided object does not end the others.
                if flow.is_break() && (is_alone || object.reading.standing() == Standing::Violation)
                {
                    is_stopped = true;
                    break;
                }
            }
            Err(refused) => {
                let excerpt = reader.excerpt();
                error = Some(R::Kind::refused(&origins[index], location, refused, excerpt));
                break;
            }
        }
    }
    // The key of a refused event may belong to an object without events.
    let names = reader.keys().iter().take(objects.len()).cloned().collect();
    Ok(Survey { objects, names, events, error, is_stopped })
}

/// Returns `None` if an event was refused, or the threads cannot be started.
fn by_threads<R: FirstReading>(
    reader: &mut InputReader,
    judges: usize,
    options: &Options,
) -> Option<Survey<R>> {
    let declaration = reader.declaration().clone();
    let judge = |number| {
        let (share, declaration) = (Share { number, judges }, &declaration);
        move |batches| judge_share(batches, share, declaration, options)
    };
    let (shards, unread) = read_ahead(reader, (0..judges).map(judge).collect())?;
    let shards: Result<Vec<Vec<Object<R>>>, ErrorOf<R>> = shards.into_iter().collect();
    let names = reader.keys().to_vec();
    let mut shards: Vec<_> = shards.ok()?.into_iter().map(Vec::into_iter).collect();
    let objects: Vec<Object<R>> =
        (0..names.len()).map_while(|index| shards[index % judges].next()).collect();
    let names = names[..objects.len()].to_vec();
    let events = objects.iter().map(|object| object.reading.counts().events as u64).sum();
    let error = unread.map(InputError::from);
    Some(Survey { objects, names, events, error, is_stopped: false })
}

/// The objects of a thread: those with its number, modulo the number of threads.
#[derive(Clone, Copy)]
struct Share {
    number: usize,
    judges: usize,
}

fn judge_share<R: FirstReading>(
    batches: Batches,
    share: Share,
    declaration: &Declaration<Value>,
    options: &Options,
) -> Result<Vec<Object<R>>, ErrorOf<R>> {
    let mut objects: Vec<Object<R>> = Vec::new();
    for batch in batches {
        let mut refused = None;
        R::Kind::for_each(&batch, |key, location, event| {
            if key.index() % share.judges != share.number {
                return ControlFlow::Continue(());
            }
            let index = key.index() / share.judges;
            if index == objects.len() {
                match Object::new(declaration) {
                    Ok(object) => objects.push(object),
                    Err(error) => {
                        refused = Some(error);
                        return ControlFlow::Break(());
                    }
                }
            }
            let object = &mut objects[index];
            object.bytes += R::Kind::size(event);
            // Not live, so nothing else breaks off.
            object.reading.take(location, event, options).unwrap_or_else(|error| {
                refused = Some(error);
                ControlFlow::Break(())
            })
        });
        if let Some(refused) = refused {
            return Err(refused);
        }
    }
    Ok(objects)
}
