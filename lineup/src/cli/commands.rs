//! From a command to its answer.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use snapshot_io::{limited, replacement};

use super::checks::{Answered, Checks};
use super::options::{Arguments, Command};
use super::{CommandError, TROUBLE};
use crate::apart;
use crate::batch::RandomCheck;
use crate::files::{Failure, ObservationFile};
use crate::report;
use crate::subject::AnySubject;

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

fn named(subjects: &[AnySubject], given: &str) -> Result<AnySubject, CommandError> {
    let found = subjects.iter().find(|subject| subject.name() == given);
    found.copied().ok_or_else(|| CommandError::Subject {
        given: given.to_owned(),
        known: subjects.iter().map(|subject| subject.name()).collect::<Vec<_>>().join(", "),
    })
}

fn chosen(subjects: &[AnySubject], given: &[String]) -> Result<Vec<AnySubject>, CommandError> {
    match given {
        [] => Ok(subjects.to_vec()),
        _ => given.iter().map(|name| named(subjects, name)).collect(),
    }
}

/// Joins the answers for several subjects: a failure takes precedence over an unknown answer.
fn each(subjects: &[AnySubject], mut command: impl FnMut(AnySubject) -> Answered) -> Answered {
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

pub(super) fn run(subjects: &[AnySubject], arguments: &Arguments) -> Answered {
    match &arguments.command {
        Command::List => {
            let mut text = String::new();
            for subject in subjects {
                let invocations = subject.representatives().into_iter().chain(subject.dropping());
                let texts: Vec<String> = invocations.map(|i| i.text().to_owned()).collect();
                let _ = writeln!(text, "{}: {}", subject.name(), texts.join(" "));
            }
            Ok((text, 0))
        }
        Command::Run { subject, test, observations, baseline, failing, bounds } => {
            let checks = Checks::new(named(subjects, subject)?, bounds, false);
            checks.run(test, observations.as_deref(), baseline.as_deref(), failing)
        }
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
                Checks::new(s, bounds, true).random(&tests, around, failing)
            })
        }
        Command::All { subjects: given, shape, around, failing, bounds } => {
            let shape = (shape.0, shape.1);
            each(&chosen(subjects, given)?, |s| {
                Checks::new(s, bounds, true).all(shape, around, failing)
            })
        }
        Command::Auto { subjects: given, up_to, around, failing, bounds } => {
            each(&chosen(subjects, given)?, |s| {
                Checks::new(s, bounds, true).auto(*up_to, around, failing)
            })
        }
        Command::Replay { file, bounds } => {
            let failure = Failure::parse(&read(file)?)
                .map_err(|error| CommandError::File { path: file.clone(), error })?;
            Checks::new(named(subjects, &failure.subject)?, bounds, false).replay(file, &failure)
        }
        Command::Show { file } => {
            let shown = ObservationFile::parse(&read(file)?)
                .map_err(|error| CommandError::File { path: file.clone(), error })?;
            Ok((report::shown(&shown), 0))
        }
        Command::Survey { subjects: given, survey, bounds } => {
            each(&chosen(subjects, given)?, |s| Checks::new(s, bounds, true).survey(survey))
        }
    }
}
