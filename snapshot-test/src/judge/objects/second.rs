//! The second reading: undecided objects, and proofs.

use std::collections::HashMap;
use std::num::NonZero;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use snapshot_core::History;

use super::survey::{Object, Survey};
use super::{MOST_PROOFS, Objects, Part, objects};
use crate::Value;
use crate::error::InputError;
use crate::format::{KeyedEvent, Location, Object as Kind};
use crate::input::{OpenError, Replay};
use crate::judge::stream::{self, Standing};
use crate::judge::{Counts, Finding, Judgement, Options, find};
use crate::read::Origins;

/// An object that is read again.
struct Task {
    index: usize,
    object: Object,
}

/// A history in memory, to be checked.
struct Job {
    index: usize,
    counts: Counts,
    standing: Standing,
    history: History<Value>,
    locations: Vec<Location>,
}

/// Decides the objects that the first reading left undecided, and explains violations.
///
/// # Errors
/// If the input cannot be read again.
pub(super) fn decide(
    survey: Survey,
    replay: Option<&Replay>,
    options: &Options,
) -> Result<Objects, OpenError> {
    let Survey { objects: surveyed, names, events, error, is_stopped } = survey;
    let format = replay.map(Replay::format);
    // Objects that were not read to their end are not judged further: there is a violation already.
    let is_cut = error.is_some() || is_stopped;
    let is_whole_wanted = options.linearization || options.checker.is_some();
    let (mut quiet, mut proofs) = (0, 0);
    let (mut found, mut tasks) = (Vec::new(), Vec::new());
    for (index, object) in surveyed.into_iter().enumerate() {
        let counts = object.reading.counts();
        let is_reread = match object.reading.standing() {
            Standing::Linearizable(_) if !is_whole_wanted || is_cut => {
                quiet += 1;
                continue;
            }
            Standing::Linearizable(_) => true,
            Standing::Violation => {
                proofs += 1;
                proofs <= MOST_PROOFS || is_whole_wanted
            }
            Standing::Undecided => !is_cut,
        };
        if is_reread && replay.is_some() {
            tasks.push(Task { index, object });
        } else {
            let finding = stream::conclude(*object.reading, None, options);
            found.push((index, Judgement::new(format, counts, finding)));
        }
    }
    if let Some(replay) = replay {
        for (index, counts, finding) in reread(tasks, &names, replay, events, options)? {
            found.push((index, Judgement::new(format, counts, finding)));
        }
    }
    found.sort_by_key(|(index, _)| *index);
    let part = |(index, judgement): (usize, Judgement)| Part {
        key: names[index].clone(),
        judgement,
        certificate: None,
    };
    let parts = found.into_iter().map(part).collect();
    Ok(objects(Kind::Snapshot.criterion(), parts, quiet, error.map(OpenError::from)))
}

type Answer = (usize, Counts, Finding);

fn reread(
    tasks: Vec<Task>,
    names: &[Value],
    replay: &Replay,
    events: u64,
    options: &Options,
) -> Result<Vec<Answer>, OpenError> {
    let threads = thread::available_parallelism().map_or(1, NonZero::get);
    // Half of the memory for histories, half for searches.
    let room = options.memory / 2;
    let each = Options { memory: room / threads, ..*options };
    let mut answers = Vec::new();
    let mut group: Vec<Task> = Vec::new();
    let mut bytes = 0;
    for task in tasks {
        if task.object.bytes > room && !options.linearization && options.checker.is_none() {
            let part = replay.of(&names[task.index]).map_err(InputError::io)?;
            let counts = task.object.reading.counts();
            let finding = stream::conclude(*task.object.reading, Some(part), options);
            answers.push((task.index, counts, finding));
            continue;
        }
        if bytes + task.object.bytes > room && !group.is_empty() {
            answers.extend(check(load(std::mem::take(&mut group), replay, events)?, &each));
            bytes = 0;
        }
        bytes += task.object.bytes;
        group.push(task);
    }
    if !group.is_empty() {
        answers.extend(check(load(group, replay, events)?, &each));
    }
    Ok(answers)
}

/// Reads the histories of a group of objects, from the first `events` of the input.
fn load(group: Vec<Task>, replay: &Replay, events: u64) -> Result<Vec<Job>, OpenError> {
    let mut reader = replay.open()?;
    let declaration = reader.declaration().clone();
    let refused = |location, error| Origins::default().refused(location, error, None);
    let mut places = HashMap::new();
    let mut builders = Vec::new();
    for (place, task) in group.iter().enumerate() {
        places.insert(task.index, place);
        let builder = History::builder(declaration.clone());
        builders.push((builder.map_err(|error| refused(Location::START, error))?, Vec::new()));
    }
    for _ in 0..events {
        let Some(next) = reader.next_keyed() else { break };
        let KeyedEvent { key, location, event, .. } = next?;
        if let Some(&place) = places.get(&key.index()) {
            let (builder, locations) = &mut builders[place];
            builder.push(&event).map_err(|error| refused(location, error))?;
            locations.push(location);
        }
    }
    let jobs = group.into_iter().zip(builders).map(|(task, (builder, locations))| Job {
        index: task.index,
        counts: task.object.reading.counts(),
        standing: task.object.reading.standing(),
        history: builder.finish(),
        locations,
    });
    Ok(jobs.collect())
}

/// Checks histories in parallel.
fn check(jobs: Vec<Job>, options: &Options) -> Vec<Answer> {
    let threads = thread::available_parallelism().map_or(1, NonZero::get).min(jobs.len());
    let next = AtomicUsize::new(0);
    let answers = Mutex::new(Vec::with_capacity(jobs.len()));
    let work = || {
        while let Some(job) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
            let finding = find(&job.history, &job.locations, None, options);
            let contradicts = matches!(
                (job.standing, &finding),
                (Standing::Violation, Finding::Linearizable { .. })
                    | (Standing::Linearizable(_), Finding::Violation(_))
            );
            assert!(!contradicts, "a bug of this program: two ways to judge an object disagree");
            let mut answers = answers.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            answers.push((job.index, job.counts, finding));
        }
    };
    thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
        work();
        for other in others {
            other.join().expect("it ends");
        }
    });
    answers.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner)
}
