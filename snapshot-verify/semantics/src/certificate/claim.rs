//! Claim of a certificate: its first lines.

use std::fmt;
use std::io::{self, BufRead};

use sha2::{Digest, Sha256};
use snapshot_core::Process;
use thiserror::Error;

use super::MOST_PERMUTED;
use super::judge::MOST_PROCESSES;
use super::lines::{LineError, Lines};

/// First line of a certificate. Other kinds of certificate differ in the last word.
const TITLE: &str = "snapshot-certificate 1 states";

/// A program and the property that a certificate proves of it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Claim {
    /// Name of the algorithm in its text.
    pub algorithm: String,
    /// Name of the bug variant, if the program is one.
    pub bug: Option<String>,
    /// [`digest`] of the text.
    pub digest: String,
    pub processes: usize,
    /// Bound on the operations of each process; `None`: unbounded.
    pub operations: Option<u32>,
    pub coverage: Coverage,
    /// Pairs of processes, in ascending order.
    pub pairs: Vec<[Process; 2]>,
}

/// Rule by which a listed state covers further states.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Coverage {
    /// A state also covers its permutations of the processes other than i and j.
    pub symmetry: bool,
    /// A state also covers the states that it dominates.
    pub antichain: bool,
}

#[derive(Clone, Debug, Eq, Error, PartialEq)]
#[non_exhaustive]
pub enum ClaimError {
    #[error("certificates are for 2 to {limit} processes, not for {given}")]
    Processes {
        /// Number of processes of the claim.
        given: usize,
        limit: usize,
    },
    #[error(
        "certificates with symmetry are for at most {MOST_PERMUTED} processes, not for {given}: \
         leave out symmetry"
    )]
    Permuted {
        /// Number of processes of the claim.
        given: usize,
    },
    /// No pairs, an invalid pair, or pairs that do not ascend.
    #[error("the pairs must be ascending, and each of two different processes, the smaller first")]
    Pairs,
}

/// Returns the SHA-256 of a text, in hexadecimal digits.
pub fn digest(text: &str) -> String {
    hexadecimal(Sha256::new_with_prefix(text))
}

/// Returns the hexadecimal digits of a finished hash.
pub fn hexadecimal(hash: Sha256) -> String {
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

impl Claim {
    /// Checks that a certificate can prove this claim.
    pub fn validate(&self) -> Result<(), ClaimError> {
        let given = self.processes;
        if !(2..=MOST_PROCESSES).contains(&given) {
            return Err(ClaimError::Processes { given, limit: MOST_PROCESSES });
        }
        if self.coverage.symmetry && given > MOST_PERMUTED {
            return Err(ClaimError::Permuted { given });
        }
        let are_pairs = self.pairs.iter().all(|[i, j]| i < j && j.index() < given);
        let is_ascending = self.pairs.is_sorted_by(|a, b| a < b);
        match !self.pairs.is_empty() && are_pairs && is_ascending {
            true => Ok(()),
            false => Err(ClaimError::Pairs),
        }
    }

    /// Returns true if the claim lists all pairs.
    pub fn has_all_pairs(&self) -> bool {
        self.pairs.len() == self.processes * (self.processes - 1) / 2
    }

    /// Returns true if the claim concerns all executions: all pairs, any number of operations.
    pub fn is_complete(&self) -> bool {
        self.has_all_pairs() && self.operations.is_none()
    }

    /// Reads the lines that [`fmt::Display`] writes. `Ok(None)`: the input is not a certificate of
    /// this version.
    pub(super) fn read(
        lines: &mut Lines<'_, impl BufRead>,
    ) -> io::Result<Result<Option<Self>, LineError>> {
        if lines.next_line()? != Ok(Some(TITLE)) {
            return Ok(Ok(None));
        }
        Ok(Self::read_rest(lines)?.map(Some))
    }

    fn read_rest(lines: &mut Lines<'_, impl BufRead>) -> io::Result<Result<Self, LineError>> {
        macro_rules! field {
            ($name:literal, $parse:expr) => {
                match lines.field($name)? {
                    Ok(text) => match $parse(text) {
                        Some(content) => content,
                        None => {
                            return Ok(Err(lines.expected(concat!(
                                "another content of `",
                                $name,
                                "`"
                            ))))
                        }
                    },
                    Err(error) => return Ok(Err(error)),
                }
            };
        }
        let name = |text: &str| Some(text.to_owned());
        let optional = |text: &str| Some((text != "-").then(|| text.to_owned()));
        let bound = |text: &str| match text {
            "none" => Some(None),
            number => number.parse().ok().filter(|bound| (1..1 << 30).contains(bound)).map(Some),
        };
        Ok(Ok(Self {
            algorithm: field!("algorithm", name),
            bug: field!("bug", optional),
            digest: field!("text", name),
            processes: field!("processes", |text: &str| text.parse().ok()),
            operations: field!("operations", bound),
            coverage: field!("coverage", Coverage::from_name),
            pairs: field!("pairs", |text: &str| {
                text.split(' ').map(pair).collect::<Option<Vec<_>>>()
            }),
        }))
    }
}

/// Parses `0,1`.
pub(super) fn pair(text: &str) -> Option<[Process; 2]> {
    let (i, j) = text.split_once(',')?;
    let process = |text: &str| Process::new(text.parse().ok()?).ok();
    Some([process(i)?, process(j)?])
}

impl Coverage {
    pub const ALL: [Self; 4] = [
        Self { symmetry: false, antichain: false },
        Self { symmetry: true, antichain: false },
        Self { symmetry: false, antichain: true },
        Self { symmetry: true, antichain: true },
    ];

    pub const fn name(self) -> &'static str {
        match (self.symmetry, self.antichain) {
            (false, false) => "exact",
            (true, false) => "symmetry",
            (false, true) => "antichain",
            (true, true) => "symmetry,antichain",
        }
    }

    fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|one| one.name() == name)
    }
}

impl fmt::Display for Claim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{TITLE}")?;
        writeln!(f, "algorithm {}", self.algorithm)?;
        writeln!(f, "bug {}", self.bug.as_deref().unwrap_or("-"))?;
        writeln!(f, "text {}", self.digest)?;
        writeln!(f, "processes {}", self.processes)?;
        match self.operations {
            None => writeln!(f, "operations none")?,
            Some(bound) => writeln!(f, "operations {bound}")?,
        }
        writeln!(f, "coverage {}", self.coverage.name())?;
        f.write_str("pairs")?;
        self.pairs.iter().try_for_each(|[i, j]| write!(f, " {i},{j}"))?;
        writeln!(f)
    }
}
