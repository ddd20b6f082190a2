//! Measuring: one module per table, all by the same [`Measuring`].
//!
//! Every run is a process of its own, within limits of time and memory. What it
//! answers is compared with what is known; a wrong answer is recorded and makes the
//! command fail at its end. A run that is recorded already is not repeated with
//! `--resume`, so a command may be stopped and taken up at any time.

pub mod bowman;
pub mod every;
pub mod growth;
pub mod hard;
pub mod many_writers;
pub mod published;
pub mod refinement;
pub mod synchronisation;
pub mod verification;

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::Args;
use thiserror::Error;

use crate::method::{Answer, Method};
use crate::process::{Ended, Exceeded, Limits, RunError, run_within};
use crate::record::{Outcome, Record, Store, StoreError};

/// What all commands that measure have in common.
#[derive(Args, Clone, Debug)]
pub struct Options {
    /// Sizes that take seconds, to see that all works; recorded elsewhere.
    #[arg(long)]
    pub quick: bool,
    /// Where records are kept [default: benches/record; target/tables if --quick].
    #[arg(long, value_name = "DIR")]
    pub record: Option<PathBuf>,
    /// Keep what is recorded, measure only what is missing.
    #[arg(long)]
    pub resume: bool,
    /// Seconds that one run may take [default: 10; 60 where algorithms are verified].
    #[arg(long, value_name = "SECONDS")]
    pub time_limit: Option<f64>,
    /// Other seconds for this method, as `check=600`; may be given several times.
    #[arg(long, value_name = "METHOD=SECONDS", value_parser = limit)]
    pub limit: Vec<(String, f64)>,
    /// GiB of address space that one run may take.
    #[arg(long, value_name = "GIB", default_value_t = 8.0)]
    pub memory_limit: f64,
    /// After this many runs of a method in one row that exceeded their limits, do not
    /// ask it for the rest of the row. The table says how many were asked.
    #[arg(long, value_name = "COUNT", default_value_t = usize::MAX, hide_default_value = true)]
    pub give_up: usize,
    /// Only these methods.
    #[arg(long, value_name = "NAME")]
    pub only: Vec<String>,
}

/// `METHOD=SECONDS`.
fn limit(text: &str) -> Result<(String, f64), String> {
    let parts =
        text.split_once('=').and_then(|(name, seconds)| Some((name, seconds.parse().ok()?)));
    match parts {
        Some((name, seconds)) => Ok((name.to_owned(), seconds)),
        None => Err("a method and its seconds, as `check=600`".to_owned()),
    }
}

impl Options {
    /// Where records are kept.
    pub fn directory(&self) -> PathBuf {
        let default = if self.quick { "target/tables" } else { "benches/record" };
        self.record.clone().unwrap_or_else(|| default.into())
    }

    fn limits(&self, seconds: f64, method: Option<&str>) -> Limits {
        let own = self.limit.iter().find(|(name, _)| method == Some(name));
        let usual = if self.quick { 2.0 } else { seconds };
        let seconds = own.map(|(_, seconds)| *seconds).or(self.time_limit).unwrap_or(usual);
        let time = Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX);
        Limits { time, memory: (self.memory_limit * f64::from(1 << 30)) as u64 }
    }
}

/// Why measuring stopped.
#[derive(Debug, Error)]
pub enum TableError {
    /// A child could not be run.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The records.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// An input could not be written.
    #[error("an input cannot be written: {0}; is there enough space?")]
    Input(#[from] std::io::Error),
    /// An input could not be made.
    #[error(transparent)]
    Text(#[from] crate::text::TextError),
    /// A recording that was handed in.
    #[error(transparent)]
    Subject(#[from] crate::method::SubjectError),
    /// A peer that is a program.
    #[error(transparent)]
    Spin(#[from] crate::model::spin::SpinError),
    /// An object with a mistake, or what it is to show.
    #[error("no object `{0}` with a mistake that shows in `{1}`")]
    Meeting(String, String),
    /// A program of the project.
    #[error("there is no {name} at {}; build it: cargo build --release -p {name}", path.display())]
    NotBuilt {
        /// Which.
        name: &'static str,
        /// Where it should be.
        path: PathBuf,
    },
    /// A child that kept its limits has an output that cannot be read.
    #[error("{method} on {case} ended with {status} and said: {said}")]
    Unexpected {
        /// The method.
        method: String,
        /// The case.
        case: String,
        /// How it ended.
        status: String,
        /// What it printed.
        said: String,
    },
}

/// What is asked.
#[derive(Clone, Debug)]
pub struct Question {
    /// See [`Record::case`].
    pub case: String,
    /// See [`Record::group`].
    pub group: String,
    /// See [`Record::x`].
    pub x: Option<f64>,
    /// See [`Record::expected`].
    pub expected: Option<Outcome>,
}

/// What a process told before it ended by itself.
#[derive(Clone, Copy, Debug)]
pub struct Told {
    /// Its answer, or that it has none.
    pub outcome: Outcome,
    /// Seconds of the work alone.
    pub seconds: Option<f64>,
    /// States that it counted.
    pub states: Option<u64>,
    /// Transitions that it counted.
    pub transitions: Option<u64>,
    /// See [`Record::by`].
    pub by: Option<&'static str>,
}

impl Told {
    /// Of a process that told nothing but how it ended.
    pub const fn nothing(outcome: Outcome) -> Self {
        Self { outcome, seconds: None, states: None, transitions: None, by: None }
    }
}

/// A table while it is measured.
#[derive(Debug)]
pub struct Measuring {
    store: Store,
    seconds: f64,
    options: Options,
    exceeded: HashMap<(String, String), usize>,
    begun: Instant,
    /// The row that is measured, of how many.
    row: (usize, usize),
}

impl Measuring {
    /// Begins, with this limit on the seconds of a run unless the options have another.
    ///
    /// # Errors
    /// If the records cannot be read or written.
    pub fn begin(options: &Options, table: &str, seconds: f64) -> Result<Self, TableError> {
        let store = Store::open(&options.directory(), table, options.resume)?;
        let (options, exceeded) = (options.clone(), HashMap::new());
        Ok(Self { store, seconds, options, exceeded, begun: Instant::now(), row: (0, 0) })
    }

    /// The limits of each run of a method.
    pub fn limits(&self, method: &str) -> Limits {
        self.options.limits(self.seconds, Some(method))
    }

    /// Says on standard error which row is next, of how many.
    pub fn next_row(&mut self, name: &str, of: usize) {
        self.row = (self.row.0 + 1, of);
        let minutes = self.begun.elapsed().as_secs() / 60;
        eprintln!("row {} of {of}: {name}; {minutes} min so far", self.row.0);
    }

    /// What is recorded of a method on a case, within its limits.
    pub fn recorded(&self, case: &str, method: &str) -> Option<&Record> {
        self.store.find(case, method, self.limits(method))
    }

    /// Whether the method is to be asked at all.
    pub fn wants(&self, method: &str) -> bool {
        self.options.only.is_empty() || self.options.only.iter().any(|name| name == method)
    }

    /// Runs a command that answers a question, unless it is recorded already or the
    /// method has given up on the row: then `None`. `read` understands what the
    /// command printed, if it ended by itself; `None` is an error.
    ///
    /// # Errors
    /// If the command cannot be run or understood, or the record cannot be written.
    pub fn ask(
        &mut self,
        question: &Question,
        method: &str,
        (program, arguments): (&OsString, &[OsString]),
        read: impl Fn(&Ended) -> Option<Told>,
    ) -> Result<Option<Outcome>, TableError> {
        if !self.wants(method) {
            return Ok(None);
        }
        let row = (question.group.clone(), method.to_owned());
        let outcome = match self.recorded(&question.case, method) {
            Some(record) => record.outcome,
            None if self.exceeded.get(&row).is_some_and(|n| *n >= self.options.give_up) => {
                return Ok(None);
            }
            None => {
                let ended = run_within(program, arguments, self.limits(method))?;
                self.add(question, method, &ended, read)?
            }
        };
        if matches!(outcome, Outcome::Time | Outcome::Memory) {
            *self.exceeded.entry(row).or_default() += 1;
        }
        Ok(Some(outcome))
    }

    fn add(
        &mut self,
        question: &Question,
        method: &str,
        ended: &Ended,
        read: impl Fn(&Ended) -> Option<Told>,
    ) -> Result<Outcome, TableError> {
        let limits = self.limits(method);
        let told = match ended.exceeded {
            Some(Exceeded::Time) => Told::nothing(Outcome::Time),
            Some(Exceeded::Memory) => Told::nothing(Outcome::Memory),
            None => read(ended).ok_or_else(|| TableError::Unexpected {
                method: method.to_owned(),
                case: question.case.clone(),
                status: ended.cost.status.to_string(),
                said: format!("{}{}", ended.output, ended.errors),
            })?,
        };
        let record = Record {
            session: 0,
            case: question.case.clone(),
            group: question.group.clone(),
            x: question.x,
            method: method.to_owned(),
            by: told.by.map(str::to_owned),
            outcome: told.outcome,
            expected: question.expected,
            seconds: told.seconds,
            wall_seconds: ended.cost.time.as_secs_f64(),
            cpu_seconds: ended.cost.cpu.as_secs_f64(),
            peak_bytes: ended.cost.peak_memory,
            states: told.states,
            transitions: told.transitions,
            time_limit: limits.time.as_secs_f64(),
            memory_limit: limits.memory,
        };
        let place = match self.row {
            (_, 0) => String::new(),
            (row, rows) => format!("[{row}/{rows}] "),
        };
        eprintln!(
            "{place}{:<14} {:<44} {:?} {:.6} s, {:.1} MiB",
            record.method,
            record.case,
            record.outcome,
            record.work(),
            record.peak_bytes as f64 / f64::from(1 << 20),
        );
        self.store.add(record)?;
        Ok(told.outcome)
    }

    /// Notes a part of what was measured, which was no process of its own.
    ///
    /// # Errors
    /// If the record cannot be written.
    pub fn part(&mut self, question: &Question, name: &str, told: Told) -> Result<(), TableError> {
        let seconds = told.seconds.unwrap_or_default();
        let limits = self.limits(name);
        let record = Record {
            session: 0,
            case: question.case.clone(),
            group: question.group.clone(),
            x: question.x,
            method: name.to_owned(),
            by: told.by.map(str::to_owned),
            outcome: told.outcome,
            expected: question.expected,
            seconds: told.seconds,
            wall_seconds: seconds,
            cpu_seconds: seconds,
            peak_bytes: 0,
            states: told.states,
            transitions: told.transitions,
            time_limit: limits.time.as_secs_f64(),
            memory_limit: limits.memory,
        };
        Ok(self.store.add(record)?)
    }

    /// Asks a method for its judgement of a history, in a process of this program's.
    ///
    /// # Errors
    /// As [`Self::ask`].
    pub fn judge(
        &mut self,
        question: &Question,
        method: &Method,
        subject: &[OsString],
    ) -> Result<Option<Outcome>, TableError> {
        let program = std::env::current_exe()?.into_os_string();
        let arguments: Vec<OsString> = ["judge".into(), method.name.into()]
            .into_iter()
            .chain(subject.iter().cloned())
            .collect();
        self.ask(question, method.name, (&program, &arguments), read_answer)
    }

    /// The wrong answers; empty if all is well.
    pub fn wrong(&self) -> Vec<&Record> {
        self.store.records().iter().filter(|record| record.is_wrong()).collect()
    }
}

/// Exit code of a Rust program that panicked.
const PANIC: i32 = 101;

/// What `tables judge` prints. A peer panics on what it does not support; a method
/// that has a memory limit of its own, or whose allocations fail, has no answer.
fn read_answer(ended: &Ended) -> Option<Told> {
    let none = Told::nothing(Outcome::None);
    if ended.cost.status.code() == Some(PANIC) {
        return Some(none);
    }
    let answer: Answer = serde_json::from_str(ended.output.trim()).ok()?;
    let outcome = answer.is_linearizable.map_or(Outcome::None, Outcome::of);
    Some(Told { outcome, seconds: Some(answer.seconds), ..none })
}

/// A program of the project, which is built beside this one.
///
/// # Errors
/// If it is not.
pub fn program(name: &'static str) -> Result<OsString, TableError> {
    let own = std::env::current_exe()?;
    // Tests lie one level below the programs.
    let folders = own.ancestors().skip(1).take(2);
    let at = |folder: &Path| folder.join(format!("{name}{}", std::env::consts::EXE_SUFFIX));
    let found = folders.map(at).find(|path| path.is_file());
    let missing = || TableError::NotBuilt { name, path: own.with_file_name(name) };
    found.map(PathBuf::into_os_string).ok_or_else(missing)
}
