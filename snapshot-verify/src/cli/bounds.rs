//! Numbers as options: sizes, budgets, pairs, bounds. Each says what it expects.

use std::num::NonZeroUsize;
use std::time::Duration;

use clap::Args;
use snapshot_core::Process;
use snapshot_verify::verify::{Operations, Pairs, Reductions, ReductionsError, TABLE};

use super::nearest::hint;

/// What a search may take.
#[derive(Clone, Copy, Debug, Args)]
pub struct Budget {
    /// Threads that search (default: as many as there are processors).
    #[arg(long, value_name = "T")]
    pub threads: Option<NonZeroUsize>,
    /// Bytes that a search may take; K, M, G or KiB, MiB, GiB may follow.
    #[arg(long, value_name = "BYTES", default_value = "4G", value_parser = bytes)]
    pub memory: u64,
    /// Seconds that all pairs of an algorithm together may take (default: no
    /// limit).
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub time: Option<Duration>,
}

impl Budget {
    /// How many threads to use.
    pub fn threads(self) -> NonZeroUsize {
        self.threads
            .unwrap_or_else(|| std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN))
    }
}

/// `500M`
pub fn bytes(text: &str) -> Result<u64, String> {
    // What is printed can be typed: 16G and 16GiB are the same.
    let short = text.strip_suffix("iB").filter(|text| text.ends_with(char::is_alphabetic));
    let text = short.unwrap_or(text);
    let (digits, unit) = match text.char_indices().next_back() {
        Some((at, 'k' | 'K')) => (&text[..at], 1 << 10),
        Some((at, 'm' | 'M')) => (&text[..at], 1 << 20),
        Some((at, 'g' | 'G')) => (&text[..at], 1 << 30),
        _ => (text, 1),
    };
    let number: u64 = digits
        .parse()
        .map_err(|_| "expected a number of bytes such as 500000000, 500M or 2G".to_owned())?;
    number.checked_mul(unit).ok_or_else(|| "this many bytes do not exist".to_owned())
}

/// `0.5`
pub fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "expected a number of seconds".to_owned())?;
    Duration::try_from_secs_f64(seconds)
        .map_err(|_| "expected a number of seconds that is not negative".to_owned())
}

/// Numbers of processes.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Sizes(pub Vec<usize>);

/// `3`, `3,5`, `3..6`
pub fn sizes(text: &str) -> Result<Sizes, String> {
    let number = |text: &str| {
        let number: usize = text.trim().parse().map_err(|_| {
            "expected a number of processes, a list such as 3,5, or a range such as 3..6".to_owned()
        })?;
        match number {
            0 | 1 => Err("there are 2 processes at least, for a pair of segments".to_owned()),
            2..=LARGEST => Ok(number),
            _ => Err(format!("more than {LARGEST} processes are not supported")),
        }
    };
    let mut sizes = Vec::new();
    for item in text.split(',') {
        match item.split_once("..") {
            None => sizes.push(number(item)?),
            Some((from, to)) => {
                let (from, to) = (number(from)?, number(to)?);
                if from > to {
                    return Err(format!("the range {from}..{to} is empty"));
                }
                sizes.extend(from..=to);
            }
        }
    }
    sizes.sort_unstable();
    sizes.dedup();
    Ok(Sizes(sizes))
}

/// `3`
pub fn size(text: &str) -> Result<usize, String> {
    match sizes(text)?.0.as_slice() {
        [size] => Ok(*size),
        _ => Err("expected one number of processes".to_owned()),
    }
}

/// `1`
pub fn process(text: &str) -> Result<Process, String> {
    let number = text.parse().ok().filter(|&number| number < LARGEST);
    let process = number.and_then(|number| Process::new(number).ok());
    process.ok_or_else(|| format!("expected the number of a process, from 0 to {}", LARGEST - 1))
}

/// `0,2`
pub fn pair(text: &str) -> Result<[Process; 2], String> {
    match pairs(text)? {
        Pairs::One(i, j) => Ok([i, j]),
        Pairs::All => Err("expected one pair such as 0,1".to_owned()),
    }
}

/// More processes than any search can reach.
const LARGEST: usize = 64;

/// `all`, `0,2`
pub fn pairs(text: &str) -> Result<Pairs, String> {
    if text == "all" {
        return Ok(Pairs::All);
    }
    let numbers = text.split_once(',').and_then(|(i, j)| {
        let number = |text: &str| Process::new(text.trim().parse().ok()?).ok();
        Some((number(i)?, number(j)?))
    });
    match numbers {
        None => Err("expected `all`, or two segments such as 0,1".to_owned()),
        Some((i, j)) if i == j => Err("a pair is of two different segments".to_owned()),
        Some((i, j)) if i > j => Err(format!("the smaller segment comes first: {j},{i}")),
        Some((i, j)) => Ok(Pairs::One(i, j)),
    }
}

/// More operations than any search can reach: what a state can count.
const MOST_OPERATIONS: u32 = i32::MAX as u32;

/// `none`, `2`, `grow`
pub fn operations(text: &str) -> Result<Operations, String> {
    match text {
        "none" => Ok(Operations::Unbounded),
        "grow" => Ok(Operations::Grow),
        number => match number.parse() {
            Ok(bound @ 1..=MOST_OPERATIONS) => Ok(Operations::AtMost(bound)),
            _ => Err(format!(
                "expected a number of operations per process from 1 to {MOST_OPERATIONS}, `none` \
                 (no bound), or `grow` (1, 2, 3, ...)"
            )),
        },
    }
}

/// `all`, `none`, `dead,constant`, `no-symmetry`
pub fn reductions(text: &str) -> Result<Reductions, String> {
    text.parse().map_err(|error| match &error {
        ReductionsError::Unknown { name } => {
            format!("{error}{}", hint(name, TABLE.iter().map(|entry| entry.name)))
        }
        _ => error.to_string(),
    })
}
