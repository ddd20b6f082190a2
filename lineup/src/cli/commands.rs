//! From a command to its answer.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use snapshot_io::{limited, replacement};

use super::any::{Answered, AnySubject};
use super::options::{Arguments, Command};
use super::{CommandError, TROUBLE};
use crate::apart;
use crate::files::{Failure, ObservationFile};
use crate::many::RandomCheck;
use crate::report;
use crate::survey::{self, Record};

/// Maximum size of a file, and of its lines.
const FILE: usize = 64 << 20;

/// Returns a flag that becomes `true` at Ctrl-C: then checks end with the answer unknown.
pub(super) fn interrupted() -> Arc<AtomicBool> {
    static FLAG: OnceLock<Arc<AtomicBool>> = OnceLock::new();
    let flag = FLAG.get_or_init(|| {
        let flag = Arc::new(AtomicBool::new(false));
        let handler = Arc::clone(&flag);
        apart::obey(&flag);
        // Without a handler Ctrl-C ends the program, which is acceptable.
        drop(ctrlc::set_handler(move || {
            handler.store(true, Ordering::Relaxed);
            apart::interrupt();
        }));
        flag
    });
    Arc::clone(flag)
}

pub(super) fn read(path: &Path) -> Result<String, CommandError> {
    limited::read_text(path, FILE, FILE)
        .map_err(|error| CommandError::Read { path: path.to_owned(), error })
}

pub(super) fn write(path: &Path, text: &str) -> Result<(), CommandError> {
    replacement::write(path, text.as_bytes())
        .map_err(|error| CommandError::Write { path: path.to_owned(), error })
}

type Subjects<'s> = &'s [Box<dyn AnySubject>];

fn named<'s>(subjects: Subjects<'s>, given: &str) -> Result<&'s dyn AnySubject, CommandError> {
    let found = subjects.iter().find(|subject| subject.name() == given);
    found.map(|subject| &**subject).ok_or_else(|| CommandError::Subject {
        given: given.to_owned(),
        known: subjects.iter().map(|subject| subject.name()).collect::<Vec<_>>().join(", "),
    })
}

fn chosen<'s>(
    subjects: Subjects<'s>,
    given: &[String],
) -> Result<Vec<&'s dyn AnySubject>, CommandError> {
    match given {
        [] => Ok(subjects.iter().map(|subject| &**subject).collect()),
        _ => given.iter().map(|name| named(subjects, name)).collect(),
    }
}

/// Joins the answers for several subjects: a failure takes precedence over an unknown answer.
fn each(
    subjects: &[&dyn AnySubject],
    mut command: impl FnMut(&dyn AnySubject) -> Answered,
) -> Answered {
    let (mut all, mut worst) = (String::new(), 0);
    for subject in subjects {
        let (text, code) = command(*subject)?;
        all.push_str(&text);
        worst = match (worst, code) {
            (TROUBLE, _) | (_, TROUBLE) => TROUBLE,
            (1, _) | (_, 1) => 1,
            (one, other) => one.max(other),
        };
        if interrupted().load(Ordering::Relaxed) {
            break;
        }
    }
    Ok((all, worst))
}

pub(super) fn run(subjects: Subjects<'_>, arguments: &Arguments) -> Answered {
    match &arguments.command {
        Command::List => {
            let mut text = String::new();
            for subject in subjects {
                let _ = writeln!(text, "{}: {}", subject.name(), subject.invocations().join(" "));
            }
            Ok((text, 0))
        }
        Command::Run { subject, test, observations, baseline, failing, bounds } => named(
            subjects, subject,
        )?
        .commands()
        .run(test, observations.as_deref(), baseline.as_deref(), failing, bounds),
        Command::Random { subjects: given, shape, samples, seed, around, failing, bounds } => {
            let tests = RandomCheck {
                shape: (shape.0, shape.1),
                samples: *samples,
                seed: *seed,
                initial: around.random_init.into(),
                finally: around.random_final.into(),
            };
            let around = &around.given;
            each(&chosen(subjects, given)?, |s| {
                s.commands().random(&tests, around, failing, bounds)
            })
        }
        Command::All { subjects: given, shape, around, failing, bounds } => {
            let shape = (shape.0, shape.1);
            each(&chosen(subjects, given)?, |s| s.commands().all(shape, around, failing, bounds))
        }
        Command::Auto { subjects: given, up_to, around, failing, bounds } => {
            each(&chosen(subjects, given)?, |s| s.commands().auto(*up_to, around, failing, bounds))
        }
        Command::Replay { file, bounds } => {
            let failure = Failure::parse(&read(file)?)
                .map_err(|error| CommandError::File { path: file.clone(), error })?;
            named(subjects, &failure.subject)?.commands().replay(file, &failure, bounds)
        }
        Command::Show { file } => {
            let shown = ObservationFile::parse(&read(file)?)
                .map_err(|error| CommandError::File { path: file.clone(), error })?;
            Ok((report::shown(&shown), 0))
        }
        Command::Survey {
            subjects: given,
            tests,
            budget,
            subject_budget,
            seed,
            record,
            bounds,
        } => each(&chosen(subjects, given)?, |s| {
            let (mut text, mut worst) = (String::new(), 0);
            let end = subject_budget.map(|budget| Instant::now() + budget);
            for (index, series) in tests.iter().enumerate() {
                let budget = end.map_or(*budget, |end| {
                    let left = end.saturating_duration_since(Instant::now());
                    left / u32::try_from(tests.len() - index).unwrap_or(u32::MAX)
                });
                let found = s.commands().survey(series, *seed, budget, bounds)?;
                if interrupted().load(Ordering::Relaxed) {
                    return Ok((text + "interrupted\n", 3));
                }
                worst = if found.failed > 0 || worst == 1 {
                    1
                } else if found.unknown > 0 {
                    3
                } else {
                    worst
                };
                let _ = writeln!(
                    text,
                    "{}, {}: {} of {} tests run: {} passed, {} failed, {} unknown",
                    found.subject,
                    found.tests,
                    found.run,
                    found.number,
                    found.passed,
                    found.failed,
                    found.unknown
                );
                let mut all = if record.exists() { records(record)? } else { Vec::new() };
                all.push(found);
                write(record, &survey::lines(&survey::latest(all)))?;
            }
            Ok((text, worst))
        }),
    }
}

fn records(path: &Path) -> Result<Vec<Record>, CommandError> {
    let error = |error| CommandError::Records { path: path.to_owned(), error };
    survey::records(&read(path)?).map_err(error)
}
