//! Claim of a certificate: its first lines, and the answers.

use std::fmt;

use super::play::Order;
use super::{Refusal, Strategy};
use crate::interpret::{Client, Values};

/// First line of a certificate of strong linearizability.
pub const TITLE: &str = "snapshot-strategy 1";

/// Most lines that are read: a list of answers.
const MOST_ANSWERS: usize = 1 << 28;

/// Executions of an algorithm that a strategy is for.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Claim {
    pub algorithm: String,
    pub bug: Option<String>,
    /// Digest of the text.
    pub digest: String,
    pub processes: usize,
    /// Bound on the operations of each process.
    pub operations: Option<u32>,
    /// Bound of each process; empty: `operations` is the bound.
    pub each: Vec<u32>,
    /// Number of values; `None`: all are different.
    pub values: Option<u32>,
}

/// Strategy as a list of answers, in the order of play.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Answers {
    pub all: Vec<Order>,
    next: usize,
}

impl Claim {
    /// Returns the bound on the operations of a process.
    pub fn bound(&self, process: usize) -> Option<u32> {
        self.each.get(process).copied().or(self.operations)
    }

    /// Returns the client of the claim.
    pub fn executions(&self) -> Client {
        Client { operations: self.operations, ..self.client() }.with_each(&self.each)
    }

    /// Returns the client; the player counts its operations.
    pub(super) const fn client(&self) -> Client {
        Client::unbounded(Values::Full(match self.values {
            Some(values) => values,
            None => 1,
        }))
    }
}

impl Answers {
    pub const fn new(all: Vec<Order>) -> Self {
        Self { all, next: 0 }
    }

    /// Returns true if all answers were given.
    pub const fn is_used(&self) -> bool {
        self.next == self.all.len()
    }
}

impl Strategy for Answers {
    fn order(&mut self, _: usize, _: usize) -> Option<Order> {
        let order = self.all.get(self.next)?.clone();
        self.next += 1;
        Some(order)
    }

    fn moved(&mut self, _: usize, _: usize, _: usize) {}
}

/// Formats the first lines.
impl fmt::Display for Claim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{TITLE}")?;
        writeln!(f, "algorithm {}", self.algorithm)?;
        if let Some(bug) = &self.bug {
            writeln!(f, "bug {bug}")?;
        }
        writeln!(f, "text {}", self.digest)?;
        writeln!(f, "processes {}", self.processes)?;
        let each: Vec<String> = self.each.iter().map(u32::to_string).collect();
        match self.operations {
            _ if !each.is_empty() => writeln!(f, "operations {}", each.join(","))?,
            Some(bound) => writeln!(f, "operations {bound}")?,
            None => writeln!(f, "operations none")?,
        }
        match self.values {
            Some(values) => writeln!(f, "values {values}"),
            None => writeln!(f, "values different"),
        }
    }
}

/// Returns a certificate as text.
#[must_use]
pub fn written(claim: &Claim, answers: &[Order]) -> String {
    let mut text = format!("{claim}answers {}\n", answers.len());
    for order in answers {
        let block =
            |block: &Vec<usize>| block.iter().map(usize::to_string).collect::<Vec<_>>().join("+");
        let blocks: Vec<String> = order.iter().map(block).collect();
        text.push_str(&blocks.join(" "));
        text.push('\n');
    }
    text + "end\n"
}

/// Reads a certificate.
///
/// # Errors
/// If the text is no certificate.
pub fn read(text: &str) -> Result<(Claim, Answers), Refusal> {
    let mut lines = text.lines();
    let malformed = || Refusal::Malformed;
    if lines.next() != Some(TITLE) {
        return Err(malformed());
    }
    let mut line = |key: &str| -> Option<String> {
        let rest = lines.clone().next()?.strip_prefix(key)?.strip_prefix(' ')?.to_owned();
        lines.next();
        Some(rest)
    };
    let number = |text: String| text.parse::<u32>().map_err(|_| Refusal::Malformed);
    let algorithm = line("algorithm").ok_or_else(malformed)?;
    let bug = line("bug");
    let digest = line("text").ok_or_else(malformed)?;
    let processes = number(line("processes").ok_or_else(malformed)?)? as usize;
    let operations = line("operations").ok_or_else(malformed)?;
    let (operations, each) = match &*operations {
        "none" => (None, Vec::new()),
        list if list.contains(',') => {
            let each = list.split(',').map(|one| number(one.to_owned()));
            (None, each.collect::<Result<Vec<u32>, _>>()?)
        }
        one => (Some(number(one.to_owned())?), Vec::new()),
    };
    let values = match &*line("values").ok_or_else(malformed)? {
        "different" => None,
        number => Some(number.parse().map_err(|_| Refusal::Malformed)?),
    };
    let count = number(line("answers").ok_or_else(malformed)?)? as usize;
    if !(1..=64).contains(&processes) || values == Some(0) || count > MOST_ANSWERS {
        return Err(malformed());
    }
    let mut all = Vec::new();
    for _ in 0..count {
        let blocks = lines.next().ok_or_else(malformed)?.split(' ');
        let block = |block: &str| {
            let members = block.split('+').map(|one| one.parse().map_err(|_| Refusal::Malformed));
            members.collect::<Result<Vec<usize>, _>>()
        };
        all.push(blocks.map(block).collect::<Result<Order, _>>()?);
    }
    if lines.next() != Some("end") || lines.next().is_some() {
        return Err(malformed());
    }
    let claim = Claim { algorithm, bug, digest, processes, operations, each, values };
    Ok((claim, Answers::new(all)))
}
