//! The second reading: undecided objects, and proofs.

use std::collections::HashMap;
use std::num::NonZero;
use std::sync::{Mutex, PoisonError};
use std::thread;

use super::survey::{Object, Survey};
use super::{MOST_PROOFS, Objects, Part, objects};
use crate::Value;
use crate::error::InputError;
use crate::format::Location;
use crate::input::{OpenError, Replay};
use crate::judge::reading::{FirstReading, HistoryOf, Standing};
use crate::judge::{Class, Counts, Finding, Judgement, Options};
use crate::kind::{Next, SnapshotKind};
use crate::origins::Origins;

/// An object that is read again.
struct Task<R> {
    index: usize,
    object: Object<R>,
}

/// A history in memory, to be checked.
struct Job<R: FirstReading> {
    index: usize,
    counts: Counts,
    standing: Standing,
    history: HistoryOf<R>,
    locations: Vec<Location>,
}

/// Decides the objects that the first reading left undecided, and explains violations.
///
/// # Errors
/// If the input cannot be read again.
pub(super) fn decide<R: FirstReading>(
    survey: Survey<R>,
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
            Standing::Right if !is_whole_wanted || is_cut => {
                quiet += 1;
                continue;
            }
            Standing::Right => true,
            Standing::Violation => {
                proofs += 1;
                proofs <= MOST_PROOFS || is_whole_wanted
            }
            Standing::Undecided => !is_cut && (R::SEARCHES || is_whole_wanted),
        };
        if is_reread && replay.is_some() {
            tasks.push(Task { index, object });
        } else {
            let finding = object.reading.conclude(None, options);
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
    Ok(objects(R::Kind::OBJECT.criterion(), parts, quiet, error.map(OpenError::from)))
}

type Answer = (usize, Counts, Finding);

fn reread<R: FirstReading>(
    tasks: Vec<Task<R>>,
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
    let mut group: Vec<Task<R>> = Vec::new();
    let mut bytes = 0;
    for task in tasks {
        if task.object.bytes > room && !options.linearization && options.checker.is_none() {
            let part = replay.of(&names[task.index]).map_err(InputError::io)?;
            let counts = task.object.reading.counts();
            let finding = task.object.reading.conclude(Some(part), options);
            answers.push((task.index, counts, finding));
            continue;
        }
        if bytes + task.object.bytes > room && !group.is_empty() {
            answers.extend(check::<R>(
                load(std::mem::take(&mut group), replay, events, &each)?,
                &each,
            ));
            bytes = 0;
        }
        bytes += task.object.bytes;
        group.push(task);
    }
    if !group.is_empty() {
        answers.extend(check::<R>(load(group, replay, events, &each)?, &each));
    }
    Ok(answers)
}

/// Reads the histories of a group of objects, from the first `events` of the input.
fn load<R: FirstReading>(
    group: Vec<Task<R>>,
    replay: &Replay,
    events: u64,
    options: &Options,
) -> Result<Vec<Job<R>>, OpenError> {
    let mut reader = replay.open()?;
    reader.take_all();
    let declaration = reader.declaration().clone();
    let refused = |location, error| R::Kind::refused(&Origins::default(), location, error, None);
    let mut places = HashMap::new();
    let mut builders = Vec::new();
    for (place, task) in group.iter().enumerate() {
        places.insert(task.index, place);
        let builder = R::Kind::builder(declaration.clone());
        let builder = builder.map_err(|error| refused(Location::START, error))?;
        builders.push((builder, Vec::new(), task.object.reading.extent(options)));
    }
    for _ in 0..events {
        let Some(next) = R::Kind::next(&mut reader) else { break };
        let Next { key, location, event } = next?;
        let place = places.get(&key.map_or(0, |(index, _)| index));
        if let Some((builder, locations, extent)) = place.map(|place| &mut builders[*place])
            && locations.len() < *extent
        {
            R::Kind::push(builder, &event).map_err(|error| refused(location, error))?;
            locations.push(location);
        }
    }
    let jobs = group.into_iter().zip(builders).map(|(task, (builder, locations, _))| Job {
        index: task.index,
        counts: task.object.reading.counts(),
        standing: task.object.reading.standing(),
        history: R::Kind::finish(builder),
        locations,
    });
    Ok(jobs.collect())
}

/// Judges histories in parallel.
fn check<R: FirstReading>(jobs: Vec<Job<R>>, options: &Options) -> Vec<Answer> {
    let threads = thread::available_parallelism().map_or(1, NonZero::get).min(jobs.len());
    let jobs = Mutex::new(jobs.into_iter());
    let answers = Mutex::new(Vec::new());
    let next = || jobs.lock().unwrap_or_else(PoisonError::into_inner).next();
    let work = || {
        while let Some(Job { index, counts, standing, history, locations }) = next() {
            let finding = R::judge(history, locations, options);
            let contradicts = matches!(
                (standing, finding.class()),
                (Standing::Violation, Class::Right) | (Standing::Right, Class::Violation)
            );
            assert!(!contradicts, "a bug of this program: two ways to judge an object disagree");
            let mut answers = answers.lock().unwrap_or_else(PoisonError::into_inner);
            answers.push((index, counts, finding));
        }
    };
    thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
        work();
        for other in others {
            other.join().expect("it ends");
        }
    });
    answers.into_inner().unwrap_or_else(PoisonError::into_inner)
}
