//! What a certificate claims: its first lines.

use std::fmt;
use std::io::{self, BufRead};

use sha2::{Digest, Sha256};
use snapshot_core::Process;
use thiserror::Error;

use super::MOST_PERMUTED;
use super::judge::MOST_PROCESSES;
use super::lines::{LineError, Lines};

/// The first line. Another kind of certificate has another last word.
const TITLE: &str = "snapshot-certificate 1 states";

/// What is proved, of which program.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Claim {
    /// The name of the algorithm in its text.
    pub algorithm: String,
    /// The bug variant, if it is one.
    pub bug: Option<String>,
    /// The [`digest`] of the text.
    pub digest: String,
    /// n.
    pub processes: usize,
    /// The most operations of each process; `None`: any number.
    pub operations: Option<u32>,
    /// What a list of states covers.
    pub coverage: Coverage,
    /// The pairs, ascending.
    pub pairs: Vec<[Process; 2]>,
}

/// What a list of states covers besides its states.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Coverage {
    /// What permutations of the processes other than i and j make of them.
    pub symmetry: bool,
    /// What they dominate.
    pub antichain: bool,
}

/// A claim that no certificate can prove.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
#[non_exhaustive]
pub enum ClaimError {
    /// Too few or too many processes.
    #[error("certificates are for 2 to {limit} processes, not for {given}")]
    Processes {
        /// How many were given.
        given: usize,
        /// How many are possible.
        limit: usize,
    },
    /// Too many processes to permute.
    #[error(
        "certificates with symmetry are for at most {MOST_PERMUTED} processes, not for {given}: \
         leave out symmetry"
    )]
    Permuted {
        /// How many were given.
        given: usize,
    },
    /// No pairs, a pair that is none, or not in ascending order.
    #[error("the pairs must be ascending, and each of two different processes, the smaller first")]
    Pairs,
}

/// What identifies a text: its SHA-256, in hexadecimal digits.
pub fn digest(text: &str) -> String {
    hexadecimal(Sha256::new_with_prefix(text))
}

/// The digits of a finished hash.
pub fn hexadecimal(hash: Sha256) -> String {
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

impl Claim {
    /// Whether it can be proved by a certificate.
    ///
    /// # Errors
    /// If not.
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

    /// Whether all pairs are there.
    pub fn has_all_pairs(&self) -> bool {
        self.pairs.len() == self.processes * (self.processes - 1) / 2
    }

    /// Whether it is about all executions: of all pairs, with any number of operations.
    pub fn is_complete(&self) -> bool {
        self.has_all_pairs() && self.operations.is_none()
    }

    /// Reads the lines that [`fmt::Display`] writes. `Ok(None)`: it is no certificate of
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

/// `0,1`
pub(super) fn pair(text: &str) -> Option<[Process; 2]> {
    let (i, j) = text.split_once(',')?;
    let process = |text: &str| Process::new(text.parse().ok()?).ok();
    Some([process(i)?, process(j)?])
}

impl Coverage {
    /// All of them.
    pub const ALL: [Self; 4] = [
        Self { symmetry: false, antichain: false },
        Self { symmetry: true, antichain: false },
        Self { symmetry: false, antichain: true },
        Self { symmetry: true, antichain: true },
    ];

    /// Its name.
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

/// The lines of a file.
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
