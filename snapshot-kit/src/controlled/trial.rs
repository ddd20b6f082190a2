//! What determines an execution, as a text.

use std::fmt;
use std::str::FromStr;

use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use thiserror::Error;

/// The first line, with the version of the format.
const FIRST: &str = "snapshot-schedule 1";

/// What a thread does.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Operation {
    /// It writes its segment: 1 at first, then 2, and so on.
    Update,
    /// It reads all segments.
    Scan,
}

/// At a step, the thread that runs is not the one that would.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Switch {
    /// The number of the step, from 0.
    pub step: usize,
    /// The task of shuttle: thread k is task k + 1, and 0 is the one that spawns them.
    pub task: usize,
}

/// What threads do, and where they are switched: all that an execution depends on, if the
/// object decides nothing by itself.
///
/// ```
/// use snapshot_kit::controlled::Trial;
///
/// let text = "snapshot-schedule 1\nsegments 2\nthread update update\nthread scan\nswitches 4:2 7:1\n";
/// assert_eq!(text.parse::<Trial>()?.to_string(), text);
/// # Ok::<(), snapshot_kit::controlled::TrialError>(())
/// ```
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Trial {
    /// The number of segments; thread k updates segment k.
    pub segments: usize,
    /// What each thread does, in order.
    pub threads: Vec<Vec<Operation>>,
    /// Where they are switched, ascending by step.
    pub switches: Vec<Switch>,
}

/// A text that is no trial.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
#[error("line {line}: expected {expected}")]
pub struct TrialError {
    /// The line, from 1.
    pub line: usize,
    /// What should stand there.
    pub expected: &'static str,
}

impl Trial {
    /// How many operations there are.
    pub fn operations(&self) -> usize {
        self.threads.iter().map(Vec::len).sum()
    }

    /// Threads that update or scan, each time one of the two.
    pub(super) fn random(
        threads: usize,
        segments: usize,
        operations: usize,
        random: &mut ChaCha8Rng,
    ) -> Self {
        let mut choose = |thread: usize| match thread < segments && random.random() {
            true => Operation::Update,
            false => Operation::Scan,
        };
        let threads =
            (0..threads).map(|thread| (0..operations).map(|_| choose(thread)).collect()).collect();
        Self { segments, threads, switches: Vec::new() }
    }
}

impl fmt::Display for Trial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{FIRST}\nsegments {}", self.segments)?;
        for operations in &self.threads {
            f.write_str("thread")?;
            for operation in operations {
                f.write_str(match operation {
                    Operation::Update => " update",
                    Operation::Scan => " scan",
                })?;
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
                    let operation = |word| match word {
                        "update" => Ok(Operation::Update),
                        "scan" => Ok(Operation::Scan),
                        _ => Err(missing(line, "`update` or `scan`")),
                    };
                    let words = rest.split_whitespace().map(operation);
                    threads.push(words.collect::<Result<Vec<_>, _>>()?);
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
        let updates = |operations: &Vec<Operation>| operations.contains(&Operation::Update);
        if threads.is_empty() || threads.iter().skip(segments).any(updates) {
            return Err(missing(last, "threads, of which those beyond the segments only scan"));
        }
        let switches = switches.ok_or(missing(last, "a line `switches`; is it cut off?"))?;
        Ok(Self { segments, threads, switches })
    }
}

fn switch(word: &str) -> Option<Switch> {
    let (step, task) = word.split_once(':')?;
    Some(Switch { step: step.parse().ok()?, task: task.parse().ok()? })
}
