//! Certificates in files: what proves a verdict, for
//! [`snapshot_core::certificate`] to check against the recording.
//!
//! A certificate is one JSON object. It names operations by their numbers in
//! the order of invocations, from 0, and nothing else of the recording; so it
//! is of use only with the recording it was made for.

use serde::{Deserialize, Serialize};
use snapshot_core::certificate::linearization::LinearizationError;
use snapshot_core::certificate::refutation::RefutationError;
use snapshot_core::certificate::witness::WitnessError;
use snapshot_core::certificate::{linearization, refutation, witness};
use snapshot_core::explanation::Explanation;
use snapshot_core::verdict::{Line, Linearization, Reason, Refutation, Rule, Witness};
use snapshot_core::{History, IdError, OperationId, Segment};
use thiserror::Error;

use crate::Value;

/// Version of the format.
const VERSION: u32 = 1;

/// The proof of a verdict.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Certificate {
    /// The history is linearizable: an order.
    Linearizable(Linearization),
    /// It is not: operations that have no order.
    Violation(Witness),
    /// It is not: a contradiction is derived, line by line.
    Refutation(Refutation),
}

/// As it stands in a file.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Contents {
    #[serde(rename = "snapshot-certificate")]
    version: u32,
    verdict: Verdict,
    /// For people; a checker does not look at it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    rule: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    segments: Option<Vec<usize>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    operations: Option<Vec<usize>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    order: Option<Vec<usize>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    lines: Option<Vec<String>>,
}

#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Verdict {
    Linearizable,
    Violation,
}

/// A file that is no certificate.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum CertificateError {
    /// It is no JSON, or not of the right form.
    #[error("expected a certificate as `snapshot-test check --certificate` writes it, found: {0}")]
    Json(#[from] serde_json::Error),
    /// It is of another version.
    #[error("expected a certificate of version {VERSION}, found version {found}; make it anew")]
    Version {
        /// The version found.
        found: u32,
    },
    /// A field is missing or superfluous.
    #[error("a certificate of a {verdict} has {expected}; make it anew")]
    Fields {
        /// The verdict.
        verdict: &'static str,
        /// What it must have.
        expected: &'static str,
    },
    /// A line that is none.
    #[error(
        "expected a line such as `time 3 5`, `reads 1 2`, `first 2 3`, `chain 3 7 0 1`, \
         `block 2 5 0 4` (segment, line), `suppose 2 4` or `otherwise 4 2`, found `{found}`"
    )]
    Line {
        /// The line found.
        found: String,
    },
    /// A number is out of range.
    #[error(transparent)]
    Id(#[from] IdError),
}

/// A certificate that does not prove its verdict of a history.
#[derive(Debug, Error)]
pub enum Refuted {
    /// The order is no linearization.
    #[error("the order is no linearization: {0}")]
    Linearization(#[from] LinearizationError),
    /// The operations prove nothing.
    #[error("the operations are no proof of a violation: {0}")]
    Witness(#[from] WitnessError),
    /// A line does not follow.
    #[error("the lines are no proof of a violation: {0}")]
    Refutation(#[from] RefutationError),
}

impl Refuted {
    /// Whether it is not refused, but could not be judged: it is too large to try all
    /// orders.
    pub const fn is_undecided(&self) -> bool {
        matches!(self, Self::Witness(error) if error.is_undecided())
    }
}

impl Certificate {
    /// The most bytes that a certificate of a history takes, with room for blanks.
    pub fn most_bytes(history: &History<Value>) -> usize {
        (1 << 16) + 128 * (history.operations().len() + history.segments())
    }

    /// `"linearizable"` or `"violation"`.
    pub const fn verdict(&self) -> &'static str {
        match self {
            Self::Linearizable(_) => "linearizable",
            Self::Violation(_) | Self::Refutation(_) => "violation",
        }
    }

    /// The proof of a violation: lines, if a contradiction was derived, else operations.
    pub fn of_violation(explanation: &Explanation<Value>) -> Self {
        match &explanation.refutation {
            Some(refutation) => Self::Refutation(refutation.clone()),
            None => Self::Violation(explanation.witness.clone()),
        }
    }

    /// Whether it proves its verdict of this history. Linear time, plus brute
    /// force on the operations of a witness.
    ///
    /// # Errors
    /// Why it does not.
    pub fn check(&self, history: &History<Value>) -> Result<(), Refuted> {
        match self {
            Self::Linearizable(order) => Ok(linearization::check(history, order)?),
            Self::Violation(operations) => Ok(witness::check(history, operations)?),
            Self::Refutation(lines) => Ok(refutation::check(history, lines)?),
        }
    }

    /// Its text, with a line end.
    pub fn to_text(&self) -> String {
        let contents = match self {
            Self::Linearizable(order) => Contents {
                version: VERSION,
                verdict: Verdict::Linearizable,
                rule: None,
                segments: None,
                operations: None,
                order: Some(order.iter().map(OperationId::index).collect()),
                lines: None,
            },
            Self::Violation(witness) => Contents {
                version: VERSION,
                verdict: Verdict::Violation,
                rule: Some(witness.reason.name().to_owned()),
                segments: Some(witness.segments.iter().map(|segment| segment.index()).collect()),
                operations: Some(witness.operations.iter().map(|id| id.index()).collect()),
                order: None,
                lines: None,
            },
            Self::Refutation(refutation) => Contents {
                version: VERSION,
                verdict: Verdict::Violation,
                rule: None,
                segments: None,
                operations: None,
                order: None,
                lines: Some(refutation.lines.iter().map(line_text).collect()),
            },
        };
        let mut text =
            serde_json::to_string(&contents).expect("a certificate consists of numbers and texts");
        text.push('\n');
        text
    }

    /// Reads what [`Self::to_text`] wrote. The reason of a witness is not read:
    /// the proof does not depend on it.
    ///
    /// # Errors
    /// If it is no certificate.
    pub fn from_text(text: &str) -> Result<Self, CertificateError> {
        let contents: Contents = serde_json::from_str(text)?;
        if contents.version != VERSION {
            return Err(CertificateError::Version { found: contents.version });
        }
        let ids = |numbers: Vec<usize>| -> Result<Vec<OperationId>, IdError> {
            numbers.into_iter().map(OperationId::new).collect()
        };
        let Contents { verdict, segments, operations, order, lines, .. } = contents;
        match (verdict, segments, operations, order, lines) {
            (Verdict::Linearizable, None, None, Some(order), None) => {
                Ok(Self::Linearizable(Linearization { order: ids(order)? }))
            }
            (Verdict::Violation, Some(segments), Some(operations), None, None) => {
                let segments: Result<Vec<Segment>, IdError> =
                    segments.into_iter().map(Segment::new).collect();
                Ok(Self::Violation(Witness {
                    reason: Reason::NoOrder,
                    segments: segments?,
                    operations: ids(operations)?,
                    renaming: None,
                }))
            }
            (Verdict::Violation, None, None, None, Some(lines)) => {
                let lines: Result<Vec<Line>, _> = lines.iter().map(|text| line(text)).collect();
                Ok(Self::Refutation(Refutation { lines: lines? }))
            }
            (Verdict::Linearizable, ..) => Err(CertificateError::Fields {
                verdict: "linearizable history",
                expected: "`order`, and none of `segments`, `operations` and `lines`",
            }),
            (Verdict::Violation, ..) => Err(CertificateError::Fields {
                verdict: "violation",
                expected: "`segments` and `operations`, or `lines`, and no `order`",
            }),
        }
    }
}

/// A line of a refutation: the rule, both operations, and what else the rule names.
pub fn line_text(line: &Line) -> String {
    let (rule, before, after) = (line.rule.name(), line.before, line.after);
    match line.rule {
        Rule::Chain { first, second } => format!("{rule} {before} {after} {first} {second}"),
        Rule::Block { segment, because } => {
            format!("{rule} {before} {after} {segment} {because}")
        }
        _ => format!("{rule} {before} {after}"),
    }
}

/// Reads what [`line_text`] wrote.
fn line(text: &str) -> Result<Line, CertificateError> {
    let unexpected = || CertificateError::Line { found: text.chars().take(80).collect() };
    let mut words = text.split_ascii_whitespace();
    let name = words.next().unwrap_or_default();
    let numbers: Result<Vec<usize>, _> = words.map(str::parse).collect();
    let numbers = numbers.map_err(|_| unexpected())?;
    let (before, after, rule) = match (name, numbers.as_slice()) {
        ("time", &[before, after]) => (before, after, Rule::Time),
        ("reads", &[before, after]) => (before, after, Rule::Reads),
        ("first", &[before, after]) => (before, after, Rule::First),
        ("suppose", &[before, after]) => (before, after, Rule::Suppose),
        ("otherwise", &[before, after]) => (before, after, Rule::Otherwise),
        ("chain", &[before, after, first, second]) => {
            (before, after, Rule::Chain { first, second })
        }
        ("block", &[before, after, segment, because]) => {
            (before, after, Rule::Block { segment: Segment::new(segment)?, because })
        }
        _ => return Err(unexpected()),
    };
    Ok(Line { before: OperationId::new(before)?, after: OperationId::new(after)?, rule })
}
