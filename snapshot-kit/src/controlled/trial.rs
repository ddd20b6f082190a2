//! Text that determines an execution.

use std::fmt;
use std::str::FromStr;

use rand_chacha::ChaCha8Rng;
use snapshot_core::history::Writers;
use thiserror::Error;

use crate::workload::{Operation, Workload};

/// The first line, with the version of the format.
const FIRST: &str = "snapshot-schedule 1";

/// At a step, another thread runs than by default.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Switch {
    /// The number of the step, from 0.
    pub step: usize,
    /// The task of shuttle: thread k is task k + 1, and 0 is the one that spawns them.
    pub task: usize,
}

/// Operations and switches of threads. They determine an execution, if the object makes no choices
/// of its own.
///
/// ```
/// use snapshot_kit::controlled::Trial;
///
/// let text = "snapshot-schedule 1\nsegments 2\nthread update update\nthread scan\nswitches 4:2 7:1\n";
/// assert_eq!(text.parse::<Trial>()?.to_string(), text);
/// # Ok::<(), snapshot_kit::controlled::TrialError>(())
/// ```
///
/// `update` writes the thread's own segment, `update:2` segment 2; `scan` reads all segments,
/// `scan:0,2` these two.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Trial {
    /// Number of segments.
    pub segments: usize,
    /// Operations of each thread, in order.
    pub threads: Vec<Vec<Operation>>,
    /// Switches of threads, ascending by step.
    pub switches: Vec<Switch>,
}

/// Error in the text of a trial.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
#[error("line {line}: expected {expected}")]
pub struct TrialError {
    /// The line, from 1.
    pub line: usize,
    /// The expected text.
    pub expected: &'static str,
}

impl Trial {
    /// Returns the number of operations.
    pub fn operations(&self) -> usize {
        self.threads.iter().map(Vec::len).sum()
    }

    /// Returns [`Writers::Many`] if a thread updates another segment than its own.
    pub(super) fn writers(&self) -> Writers {
        let mut all = self.threads.iter().enumerate();
        let updates_another = |(thread, operations): (usize, &Vec<Operation>)| {
            operations
                .iter()
                .any(|it| matches!(it, Operation::Update { segment } if *segment != thread))
        };
        if all.any(updates_another) { Writers::Many } else { Writers::Single }
    }

    /// Draws operations of a workload at random.
    pub(super) fn random<V>(workload: &Workload<V>, random: &mut ChaCha8Rng) -> Self {
        let mut draw = |thread| {
            (0..workload.operations).map(|_| workload.draw(thread, random)).collect::<Vec<_>>()
        };
        let threads = (0..workload.threads).map(&mut draw).collect();
        Self { segments: workload.segments(), threads, switches: Vec::new() }
    }
}

impl fmt::Display for Trial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{FIRST}\nsegments {}", self.segments)?;
        for (thread, operations) in self.threads.iter().enumerate() {
            f.write_str("thread")?;
            for operation in operations {
                match operation {
                    Operation::Update { segment } if *segment == thread => f.write_str(" update"),
                    Operation::Update { segment } => write!(f, " update:{segment}"),
                    Operation::Scan => f.write_str(" scan"),
                    Operation::PartialScan { segments } => {
                        let segments: Vec<String> = segments.iter().map(usize::to_string).collect();
                        write!(f, " scan:{}", segments.join(","))
                    }
                }?;
            }
            f.write_str("\n")?;
        }
        f.write_str("switches")?;
        for Switch { step, task } in &self.switches {
            write!(f, " {step}:{task}")?;
        }
        f.write_str("\n")
    }
}

impl FromStr for Trial {
    type Err = TrialError;

    fn from_str(text: &str) -> Result<Self, TrialError> {
        let lines = text.lines().map(|line| line.trim_start_matches('#').trim());
        let mut lines = (1..).zip(lines).filter(|(_, line)| !line.is_empty());
        let missing = |line, expected| TrialError { line, expected };
        match lines.next() {
            Some((_, FIRST)) => {}
            Some((line, _)) => return Err(missing(line, "`snapshot-schedule 1`")),
            None => return Err(missing(1, "`snapshot-schedule 1`")),
        }
        let (mut segments, mut threads, mut switches) = (None, Vec::new(), None);
        let mut last = 1;
        for (line, content) in lines {
            last = line;
            let (word, rest) = content.split_once(' ').unwrap_or((content, ""));
            match word {
                "segments" if segments.is_none() => {
                    let number = rest.parse().ok().filter(|number| *number > 0);
                    segments = Some(number.ok_or(missing(line, "`segments` and a number"))?);
                }
                "thread" if switches.is_none() => {
                    let words = rest.split_whitespace().map(|word| operation(threads.len(), word));
                    let all: Option<Vec<Operation>> = words.collect();
                    threads.push(all.ok_or(missing(line, OPERATIONS))?);
                }
                "switches" if switches.is_none() => {
                    let words = rest.split_whitespace().map(switch);
                    let all: Option<Vec<Switch>> = words.collect();
                    let ascends = |all: &Vec<Switch>| all.is_sorted_by(|a, b| a.step < b.step);
                    switches = Some(
                        all.filter(ascends)
                            .ok_or(missing(line, "switches as `step:task`, ascending"))?,
                    );
                }
                _ => {
                    return Err(missing(line, "`segments`, `thread` or `switches`, in this order"));
                }
            }
        }
        let segments = segments.ok_or(missing(last, "a line `segments`"))?;
        if threads.is_empty() || !threads.iter().flatten().all(|it| is_within(it, segments)) {
            return Err(missing(last, "threads that update and scan the segments that there are"));
        }
        let switches = switches.ok_or(missing(last, "a line `switches`; is it cut off?"))?;
        Ok(Self { segments, threads, switches })
    }
}

/// Words for operations.
const OPERATIONS: &str = "`update`, `update:2`, `scan` or `scan:0,2` with segments that ascend";

fn operation(thread: usize, word: &str) -> Option<Operation> {
    match word.split_once(':') {
        None if word == "update" => Some(Operation::Update { segment: thread }),
        None if word == "scan" => Some(Operation::Scan),
        Some(("update", segment)) => Some(Operation::Update { segment: segment.parse().ok()? }),
        Some(("scan", list)) => {
            let segments: Option<Vec<usize>> =
                list.split(',').map(|segment| segment.parse().ok()).collect();
            let segments = segments.filter(|all| all.is_sorted_by(|a, b| a < b))?;
            Some(Operation::PartialScan { segments })
        }
        _ => None,
    }
}

fn is_within(operation: &Operation, segments: usize) -> bool {
    match operation {
        Operation::Update { segment } => *segment < segments,
        Operation::Scan => true,
        Operation::PartialScan { segments: read } => read.iter().all(|it| *it < segments),
    }
}

fn switch(word: &str) -> Option<Switch> {
    let (step, task) = word.split_once(':')?;
    Some(Switch { step: step.parse().ok()?, task: task.parse().ok()? })
}
