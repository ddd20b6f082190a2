//! Numeric options: sizes, budgets, pairs, bounds. Each error states the expected form.

use std::num::NonZeroUsize;
use std::time::Duration;

use clap::Args;
use snapshot_core::Process;
use snapshot_io::quantity;
use snapshot_verify::interpret::Client;
use snapshot_verify::verify::every::{Rungs, UnknownRung};
use snapshot_verify::verify::{Barriers, Operations, Pairs, Reductions, ReductionsError, TABLE};
use thiserror::Error;

use super::nearest::hint;

/// Budget of a search.
#[derive(Clone, Copy, Debug, Args)]
pub struct Budget {
    /// Threads of an exploration or a refinement (default: one per processor); all other work uses
    /// one thread.
    #[arg(long, value_name = "T")]
    pub threads: Option<NonZeroUsize>,
    /// Bytes that a search may take: 500M, 1.5GiB; units go by 1024.
    #[arg(long, value_name = "BYTES", default_value = "4G",
          value_parser = quantity::bytes::<u64>)]
    pub memory: u64,
    /// Time limit in seconds: for `check` in total, shared equally among algorithms and numbers of
    /// processes; for `expect` for each expectation (default: no limit).
    #[arg(long, value_name = "SECONDS", value_parser = quantity::seconds)]
    pub time: Option<Duration>,
}

impl Budget {
    /// Returns the number of threads to use.
    pub fn threads(self) -> NonZeroUsize {
        self.threads
            .unwrap_or_else(|| std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN))
    }
}

/// Error in a given number, with the expected form.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
pub enum BoundError {
    #[error("expected a number of processes, a list such as 3,5, a range such as 3..6, or `every`")]
    Sizes,
    #[error("expected one number of processes")]
    Size,
    #[error("there is no rung `{name}`; the rungs are {names}")]
    Rung { name: String, names: String },
    #[error("at least 2 processes are needed, for a pair of segments")]
    TooFewProcesses,
    #[error("more than {LARGEST} processes are not supported")]
    TooManyProcesses,
    #[error("the range {from}..{to} is empty")]
    EmptyRange { from: usize, to: usize },
    #[error("expected the number of a process, from 0 to {}", LARGEST - 1)]
    Process,
    #[error("expected `all`, or two segments such as 0,1")]
    Pairs,
    #[error("expected one pair such as 0,1")]
    Pair,
    #[error("a pair is of two different segments")]
    SameSegment,
    #[error("the smaller segment comes first: {smaller},{larger}")]
    Descending { smaller: Process, larger: Process },
    #[error(
        "expected a number of operations per process from 1 to {MOST_OPERATIONS}, `none` (no \
         bound), or `grow` (1, 2, 3, ...)"
    )]
    Operations,
    #[error(
        "expected numbers of operations from 0 to {MOST_OF_EACH}, for at most {} processes",
        Client::MOST_BOUNDED
    )]
    OfEach,
    #[error(
        "expected a number of barriers from 0 to {MOST_BARRIERS}, `none` (no bound), or `grow` \
         (0, 1, 2, ...)"
    )]
    Barriers,
    #[error("{error}{hint}")]
    Reductions { error: ReductionsError, hint: String },
}

/// Numbers of processes; empty for every n.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Sizes(pub Vec<usize>);

impl Sizes {
    /// Returns true if every n is meant: no number is given.
    pub const fn is_every(&self) -> bool {
        self.0.is_empty()
    }
}

/// Parses `3`, `3,5`, `3..6`, `every`.
pub fn sizes(text: &str) -> Result<Sizes, BoundError> {
    let number = |text: &str| match text.trim().parse().map_err(|_| BoundError::Sizes)? {
        0 | 1 => Err(BoundError::TooFewProcesses),
        number @ 2..=LARGEST => Ok(number),
        _ => Err(BoundError::TooManyProcesses),
    };
    let mut sizes = Vec::new();
    if text.trim() == "every" {
        return Ok(Sizes(sizes));
    }
    for item in text.split(',') {
        match item.split_once("..") {
            None => sizes.push(number(item)?),
            Some((from, to)) => {
                let (from, to) = (number(from)?, number(to)?);
                if from > to {
                    return Err(BoundError::EmptyRange { from, to });
                }
                sizes.extend(from..=to);
            }
        }
    }
    sizes.sort_unstable();
    sizes.dedup();
    Ok(Sizes(sizes))
}

/// Parses `3`.
pub fn size(text: &str) -> Result<usize, BoundError> {
    match sizes(text)?.0.as_slice() {
        [size] => Ok(*size),
        _ => Err(BoundError::Size),
    }
}

/// Parses `1`.
pub fn process(text: &str) -> Result<Process, BoundError> {
    let number = text.parse().ok().filter(|&number| number < LARGEST);
    let process = number.and_then(|number| Process::new(number).ok());
    process.ok_or(BoundError::Process)
}

/// Parses `0,2`.
pub fn pair(text: &str) -> Result<[Process; 2], BoundError> {
    match pairs(text)? {
        Pairs::One(i, j) => Ok([i, j]),
        Pairs::All => Err(BoundError::Pair),
    }
}

/// More processes than any search can reach.
const LARGEST: usize = 64;

/// Parses `all`, `0,2`.
pub fn pairs(text: &str) -> Result<Pairs, BoundError> {
    if text == "all" {
        return Ok(Pairs::All);
    }
    let number = |text: &str| Process::new(text.trim().parse().ok()?).ok();
    let numbers = text.split_once(',').and_then(|(i, j)| Some((number(i)?, number(j)?)));
    match numbers {
        None => Err(BoundError::Pairs),
        Some((i, j)) if i == j => Err(BoundError::SameSegment),
        Some((i, j)) if i > j => Err(BoundError::Descending { smaller: j, larger: i }),
        Some((i, j)) => Ok(Pairs::One(i, j)),
    }
}

/// More operations than any search can reach, and than a state can count.
const MOST_OPERATIONS: u32 = i32::MAX as u32;

/// Parses `none`, `2`, `grow`.
pub fn operations(text: &str) -> Result<Operations, BoundError> {
    match text {
        "none" => Ok(Operations::Unbounded),
        "grow" => Ok(Operations::Grow),
        number => match number.parse() {
            Ok(bound @ 1..=MOST_OPERATIONS) => Ok(Operations::AtMost(bound)),
            _ => Err(BoundError::Operations),
        },
    }
}

/// A bound on the operations, for all processes or for each.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Bounds {
    pub all: Operations,
    /// Bound of each process; empty: `all` is the bound.
    pub each: Vec<u32>,
}

/// Parses `none`, `2`, `grow`, `1,2,1`.
pub fn operations_of_each(text: &str) -> Result<Bounds, BoundError> {
    if !text.contains(',') {
        return Ok(Bounds { all: operations(text)?, each: Vec::new() });
    }
    let number = |text: &str| match text.trim().parse() {
        Ok(bound @ 0..=MOST_OF_EACH) => Ok(bound),
        _ => Err(BoundError::OfEach),
    };
    let each = text.split(',').map(number).collect::<Result<Vec<u32>, _>>()?;
    if each.len() > Client::MOST_BOUNDED {
        return Err(BoundError::OfEach);
    }
    Ok(Bounds { all: Operations::AtMost(each.iter().copied().max().unwrap_or(1).max(1)), each })
}

/// Most operations of a process with a bound of its own.
const MOST_OF_EACH: u32 = u8::MAX as u32;

/// With this many barriers, each process begins as many operations as a state can count.
const MOST_BARRIERS: u32 = MOST_OPERATIONS - 1;

/// Parses `none`, `1`, `grow`.
pub fn barriers(text: &str) -> Result<Barriers, BoundError> {
    match text {
        "none" => Ok(Barriers::Unbounded),
        "grow" => Ok(Barriers::Grow),
        number => match number.parse() {
            Ok(bound @ 0..=MOST_BARRIERS) => Ok(Barriers::AtMost(bound)),
            _ => Err(BoundError::Barriers),
        },
    }
}

/// Parses `all`, `calls.nesting,calls.memory-t`, `no-scans.observer`.
pub fn rungs(text: &str) -> Result<Rungs, BoundError> {
    text.parse().map_err(|UnknownRung { name }| {
        let names: Vec<String> = Rungs::all().into_iter().map(|rung| rung.name()).collect();
        BoundError::Rung { name, names: names.join(", ") }
    })
}

/// Parses `all`, `none`, `dead,constant`, `no-symmetry`.
pub fn reductions(text: &str) -> Result<Reductions, BoundError> {
    text.parse().map_err(|error| {
        let hint = match &error {
            ReductionsError::Unknown { name } => hint(name, TABLE.iter().map(|entry| entry.name)),
            _ => String::new(),
        };
        BoundError::Reductions { error, hint }
    })
}
