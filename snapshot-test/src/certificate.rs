//! Certificates in files: what proves a verdict, for
//! [`snapshot_core::certificate`] to check against the recording.
//!
//! A certificate is one JSON object. It names operations by their numbers in
//! the order of invocations, from 0, and nothing else of the recording; so it
//! is of use only with the recording it was made for.

use serde::{Deserialize, Serialize};
use snapshot_core::certificate::linearization::LinearizationError;
use snapshot_core::certificate::witness::WitnessError;
use snapshot_core::certificate::{linearization, witness};
use snapshot_core::verdict::{Linearization, Reason, Witness};
use snapshot_core::{History, IdError, OperationId, Segment};
use thiserror::Error;

use crate::value::Value;

/// Version of the format.
const VERSION: u32 = 1;

/// The proof of a verdict.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Certificate {
    /// The history is linearizable: an order.
    Linearizable(Linearization),
    /// It is not: operations that have no order.
    Violation(Witness),
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
        (1 << 16) + 32 * (history.operations().len() + history.segments())
    }

    /// `"linearizable"` or `"violation"`.
    pub const fn verdict(&self) -> &'static str {
        match self {
            Self::Linearizable(_) => "linearizable",
            Self::Violation(_) => "violation",
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
            },
            Self::Violation(witness) => Contents {
                version: VERSION,
                verdict: Verdict::Violation,
                rule: Some(witness.reason.name().to_owned()),
                segments: Some(witness.segments.iter().map(|segment| segment.index()).collect()),
                operations: Some(witness.operations.iter().map(|id| id.index()).collect()),
                order: None,
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
        let Contents { verdict, segments, operations, order, .. } = contents;
        match (verdict, segments, operations, order) {
            (Verdict::Linearizable, None, None, Some(order)) => {
                Ok(Self::Linearizable(Linearization { order: ids(order)? }))
            }
            (Verdict::Violation, Some(segments), Some(operations), None) => {
                let segments: Result<Vec<Segment>, IdError> =
                    segments.into_iter().map(Segment::new).collect();
                Ok(Self::Violation(Witness {
                    reason: Reason::NoOrder,
                    segments: segments?,
                    operations: ids(operations)?,
                    renaming: None,
                }))
            }
            (Verdict::Linearizable, ..) => Err(CertificateError::Fields {
                verdict: "linearizable history",
                expected: "`order`, and neither `segments` nor `operations`",
            }),
            (Verdict::Violation, ..) => Err(CertificateError::Fields {
                verdict: "violation",
                expected: "`segments` and `operations`, and no `order`",
            }),
        }
    }
}
