//! Certificates in files: the proof of a verdict, for [`snapshot_core::certificate`] to check
//! against the recording.
//!
//! A certificate is one JSON object. It refers to the recording only by the numbers of operations
//! in the order of invocations, from 0; so it is useless without its recording.

mod line;

use std::collections::BTreeMap;
use std::fmt::Display;

use serde::{Deserialize, Serialize};
use snapshot_core::certificate::blocks::BlocksError;
use snapshot_core::certificate::exchanges::ExchangesError;
use snapshot_core::certificate::linearization::LinearizationError;
use snapshot_core::certificate::refutation::RefutationError;
use snapshot_core::certificate::witness::WitnessError;
use snapshot_core::certificate::{blocks, exchanges, linearization, refutation, witness};
use snapshot_core::explanation::Explanation;
use snapshot_core::immediate::{self, SetLinearization};
use snapshot_core::verdict::{Line, Linearization, Reason, Refutation, Rule, Witness};
use snapshot_core::{History, IdError, Names, OperationId, Segment};
use thiserror::Error;

use self::line::line;
pub use self::line::line_text;
use crate::Value;
use crate::format::JsonValue;
use crate::judge::{self, Finding, Judgement};
use crate::synchronisation::{self, Object};

const VERSION: u32 = 1;

/// The proof of a verdict.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Certificate {
    /// The history is linearizable: an order.
    Linearizable(Linearization),
    /// The history is not linearizable: operations that have no order.
    Violation(Witness),
    /// The history is not linearizable: a contradiction is derived, line by line.
    Refutation(Refutation),
    /// The execution of an immediate snapshot is set-linearizable: blocks.
    SetLinearizable(SetLinearization),
    /// The execution is not set-linearizable: one operation, or two, that break a condition.
    Exchanges(immediate::Violation),
    /// The proof for a recording of an object with named operations.
    Recorded(Object, synchronisation::Certificate),
}

/// The contents of a certificate file.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Contents {
    #[serde(rename = "snapshot-certificate")]
    version: u32,
    /// The key of its object, in a recording of several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    key: Option<JsonValue>,
    verdict: Verdict,
    /// For human readers; the checker ignores it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    rule: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    segments: Option<Vec<usize>>,
    /// The names of segments, by number, for human readers; the checker ignores them.
    #[serde(rename = "segment-names", default, skip_serializing_if = "BTreeMap::is_empty")]
    segment_names: BTreeMap<usize, String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    operations: Option<Vec<usize>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    order: Option<Vec<usize>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    lines: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    blocks: Option<Vec<Vec<usize>>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    condition: Option<Condition>,
}

/// A violated condition of an immediate snapshot; operations and segments by number.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
enum Condition {
    OwnValue { operation: usize },
    Containment { first: usize, second: usize, i: usize, j: usize },
    Immediacy { viewer: usize, seen: usize, newer: usize },
    Validity { operation: usize, segment: usize, writer: Option<usize> },
}

impl From<&immediate::Violation> for Condition {
    fn from(violation: &immediate::Violation) -> Self {
        use immediate::Violation as V;
        match *violation {
            V::OwnValue { operation } => Self::OwnValue { operation: operation.index() },
            V::Containment { first, second, i, j } => {
                Self::Containment { first: first.index(), second: second.index(), i, j }
            }
            V::Immediacy { viewer, seen, newer } => {
                Self::Immediacy { viewer: viewer.index(), seen: seen.index(), newer }
            }
            V::Validity { operation, segment, writer } => Self::Validity {
                operation: operation.index(),
                segment,
                writer: writer.map(OperationId::index),
            },
        }
    }
}

impl Condition {
    fn violation(self) -> Result<immediate::Violation, IdError> {
        use immediate::Violation as V;
        let id = OperationId::new;
        Ok(match self {
            Self::OwnValue { operation } => V::OwnValue { operation: id(operation)? },
            Self::Containment { first, second, i, j } => {
                V::Containment { first: id(first)?, second: id(second)?, i, j }
            }
            Self::Immediacy { viewer, seen, newer } => {
                V::Immediacy { viewer: id(viewer)?, seen: id(seen)?, newer }
            }
            Self::Validity { operation, segment, writer } => V::Validity {
                operation: id(operation)?,
                segment,
                writer: writer.map(id).transpose()?,
            },
        })
    }
}

#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Verdict {
    Linearizable,
    SetLinearizable,
    Violation,
}

/// The reason why a file is not a certificate.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum CertificateError {
    /// The file is not JSON, or not of the right form.
    #[error("expected a certificate as `snapshot-test check --certificate` writes it, found: {0}")]
    Json(#[from] serde_json::Error),
    /// The certificate has another version.
    #[error(
        "expected a certificate of version {VERSION}, found version {found}; write it again with `check --certificate`"
    )]
    Version {
        /// The version of the file.
        found: u32,
    },
    /// A field is missing or superfluous.
    #[error("a certificate of {verdict} has {expected}; write it again with `check --certificate`")]
    Fields {
        verdict: &'static str,
        /// The required fields.
        expected: &'static str,
    },
    /// A line of a refutation is malformed.
    #[error(
        "expected a line such as `time 3 5`, `reads 1 2`, `first 2 3`, `chain 3 7 0 1` (lines), \
         `block 2 5 0 4` (segment, line), `suppose 2 4`, `otherwise 4 2`, `source 1 2 0` (segment), \
         `excluded 1 2 0` or `unreadable 2 2 0`, found `{found}`"
    )]
    Line {
        /// The line, shortened.
        found: String,
    },
    /// A number is out of range.
    #[error(transparent)]
    Id(#[from] IdError),
    /// It is no certificate for an object with named operations.
    #[error(transparent)]
    Recorded(#[from] synchronisation::CertificateError),
}

/// A certificate that does not prove its verdict of a history.
#[derive(Debug, Error)]
pub enum Refuted {
    /// The order is not a linearization.
    #[error("{}", no_linearization(.0))]
    Linearization(#[from] LinearizationError),
    /// The operations prove nothing.
    #[error("{}", no_proof(.0))]
    Witness(#[from] WitnessError),
    /// A line does not follow.
    #[error("the lines are no proof of a violation: {0}")]
    Refutation(#[from] RefutationError),
    /// The blocks are not a set linearization.
    #[error("the blocks are no set linearization: {0}")]
    Blocks(#[from] BlocksError),
    /// The operations do not break the condition.
    #[error("{}", no_proof(.0))]
    Exchanges(#[from] ExchangesError),
    /// It proves nothing of an object with named operations.
    #[error(transparent)]
    Recorded(#[from] synchronisation::Refuted),
    /// The certificate is for another object.
    #[error("it is a certificate for {found}, and the recording is of {}",
            if *is_immediate { "an immediate snapshot" } else { "a snapshot" })]
    Object {
        /// The object of the certificate, with its article.
        found: String,
        /// True if the recording is of an immediate snapshot.
        is_immediate: bool,
    },
}

fn no_linearization(error: &dyn Display) -> String {
    format!("the order is no linearization: {error}")
}

fn no_proof(error: &dyn Display) -> String {
    format!("the operations are no proof of a violation: {error}")
}

impl Refuted {
    /// Returns the sentence for this error; segments have these names.
    pub fn told(&self, names: &Names) -> String {
        match self {
            Self::Linearization(error) => no_linearization(&error.told(names)),
            Self::Witness(error) => no_proof(&error.told(names)),
            _ => self.to_string(),
        }
    }

    /// Returns true if the certificate is not refused, but is too large for exhaustive search.
    pub const fn is_undecided(&self) -> bool {
        matches!(self, Self::Witness(error) if error.is_undecided())
    }
}

impl Certificate {
    /// Returns the largest number of bytes of a certificate of a history of this size, with room
    /// for blanks.
    pub const fn most_bytes(operations: usize, segments: usize) -> usize {
        (1 << 16) + 128 * (operations + segments)
    }

    /// Returns `"linearizable"`, `"set-linearizable"` or `"violation"`.
    pub fn verdict(&self) -> &'static str {
        match self {
            Self::Linearizable(_) => "linearizable",
            Self::SetLinearizable(_) => "set-linearizable",
            Self::Recorded(object, proof) if proof.is_order() => object.criterion(),
            Self::Violation(_) | Self::Refutation(_) | Self::Exchanges(_) | Self::Recorded(..) => {
                "violation"
            }
        }
    }

    /// Returns the object, with its article.
    fn object(&self) -> String {
        match self {
            Self::Linearizable(_) | Self::Violation(_) | Self::Refutation(_) => {
                "a snapshot".to_owned()
            }
            Self::SetLinearizable(_) | Self::Exchanges(_) => "an immediate snapshot".to_owned(),
            Self::Recorded(object, _) => format!("the object `{object}`"),
        }
    }

    /// Returns the certificate of a decided input, if it has one.
    pub fn new(judgement: &Judgement) -> Option<Self> {
        match &judgement.finding {
            Finding::Linearizable { linearization: Some(order), .. } => {
                Some(Self::Linearizable(order.clone()))
            }
            Finding::Violation(violation) => {
                let proof = violation.proof.as_ref()?;
                Some(Self::of_violation(&proof.explanation))
            }
            Finding::Immediate(judge::immediate::Finding::SetLinearizable(Some(blocks))) => {
                Some(Self::SetLinearizable(blocks.clone()))
            }
            Finding::Immediate(judge::immediate::Finding::Violation(violation)) => {
                Some(Self::Exchanges(violation.alarm.violation))
            }
            Finding::Recorded(judgement) => {
                let proof = synchronisation::Certificate::new(judgement)?;
                Some(Self::Recorded(judgement.object.clone(), proof))
            }
            _ => None,
        }
    }

    /// Returns the proof of a violation: lines, if a contradiction was derived, else operations.
    pub fn of_violation(explanation: &Explanation<Value>) -> Self {
        match &explanation.refutation {
            Some(refutation) => Self::Refutation(refutation.clone()),
            None => Self::Violation(explanation.witness.clone()),
        }
    }

    /// Checks that the certificate proves its verdict of this history. Linear time, plus brute
    /// force on the operations of a witness.
    ///
    /// # Errors
    /// The reason why it proves nothing.
    pub fn check(&self, history: &History<Value>) -> Result<(), Refuted> {
        match self {
            Self::Linearizable(order) => Ok(linearization::check(history, order)?),
            Self::Violation(operations) => Ok(witness::check(history, operations)?),
            Self::Refutation(lines) => Ok(refutation::check(history, lines)?),
            Self::SetLinearizable(_) | Self::Exchanges(_) | Self::Recorded(..) => {
                Err(Refuted::Object { found: self.object(), is_immediate: false })
            }
        }
    }

    /// As [`Self::check`], for an execution of an immediate snapshot.
    ///
    /// # Errors
    /// The reason why it proves nothing.
    pub fn check_exchanges(&self, history: &immediate::History<Value>) -> Result<(), Refuted> {
        match self {
            Self::SetLinearizable(order) => Ok(blocks::check(history, order)?),
            Self::Exchanges(violation) => Ok(exchanges::check(history, violation)?),
            _ => Err(Refuted::Object { found: self.object(), is_immediate: true }),
        }
    }

    /// Returns the text, with a line end.
    pub fn to_text(&self) -> String {
        self.to_text_of(None, &Names::default())
    }

    /// As [`Self::to_text`], for one object of several, by its key, with the names of the segments
    /// that the certificate concerns.
    pub fn to_text_of(&self, key: Option<&Value>, names: &Names) -> String {
        if let Self::Recorded(object, proof) = self {
            return proof.to_text(object, key);
        }
        let numbers = |ids: &[OperationId]| ids.iter().map(|id| id.index()).collect();
        let blank = Contents {
            version: VERSION,
            key: key.map(JsonValue::from),
            verdict: Verdict::Violation,
            rule: None,
            segments: None,
            segment_names: self.segment_names(names),
            operations: None,
            order: None,
            lines: None,
            blocks: None,
            condition: None,
        };
        let contents = match self {
            Self::Linearizable(order) => Contents {
                verdict: Verdict::Linearizable,
                order: Some(order.iter().map(OperationId::index).collect()),
                ..blank
            },
            Self::Violation(witness) => Contents {
                rule: Some(witness.reason.name().to_owned()),
                segments: Some(witness.segments.iter().map(|segment| segment.index()).collect()),
                operations: Some(numbers(&witness.operations)),
                ..blank
            },
            Self::Refutation(refutation) => {
                Contents { lines: Some(refutation.lines.iter().map(line_text).collect()), ..blank }
            }
            Self::SetLinearizable(order) => Contents {
                verdict: Verdict::SetLinearizable,
                blocks: Some(order.blocks().map(numbers).collect()),
                ..blank
            },
            Self::Exchanges(violation) => Contents { condition: Some(violation.into()), ..blank },
            Self::Recorded(..) => blank,
        };
        let mut text =
            serde_json::to_string(&contents).expect("a certificate consists of numbers and texts");
        text.push('\n');
        text
    }

    /// Returns the names of the segments that a proof of a violation of a snapshot mentions.
    fn segment_names(&self, names: &Names) -> BTreeMap<usize, String> {
        let of_line = |line: &Line| match line.rule {
            Rule::Block { segment, .. }
            | Rule::Source { segment }
            | Rule::Excluded { segment }
            | Rule::Unreadable { segment } => Some(segment),
            _ => None,
        };
        let segments: Vec<Segment> = match self {
            Self::Violation(witness) => witness.segments.clone(),
            Self::Refutation(refutation) => refutation.lines.iter().filter_map(of_line).collect(),
            _ => Vec::new(),
        };
        let named = segments.into_iter().filter_map(|segment| {
            let name = names.segments().get(segment.index())?;
            Some((segment.index(), name.to_string()))
        });
        named.collect()
    }

    /// Returns the key of a certificate's object, if the certificate contains one.
    ///
    /// # Errors
    /// If the text is not a certificate.
    pub fn key_of(text: &str) -> Result<Option<Value>, CertificateError> {
        if synchronisation::Certificate::is_one(text) {
            return Ok(synchronisation::Certificate::from_text(text)?.1);
        }
        let contents: Contents = serde_json::from_str(text)?;
        Ok(contents.key.as_ref().map(Value::from))
    }

    /// Parses the text of [`Self::to_text`]. Ignores the reason of a witness: the proof does not
    /// depend on it.
    ///
    /// # Errors
    /// If the text is not a certificate.
    pub fn from_text(text: &str) -> Result<Self, CertificateError> {
        if synchronisation::Certificate::is_one(text) {
            let (object, _, proof) = synchronisation::Certificate::from_text(text)?;
            return Ok(Self::Recorded(object, proof));
        }
        let contents: Contents = serde_json::from_str(text)?;
        if contents.version != VERSION {
            return Err(CertificateError::Version { found: contents.version });
        }
        let ids = |numbers: Vec<usize>| -> Result<Vec<OperationId>, IdError> {
            numbers.into_iter().map(OperationId::new).collect()
        };
        let Contents { verdict, segments, operations, order, lines, blocks, condition, .. } =
            contents;
        match (blocks, condition) {
            (None, None) => {}
            (Some(blocks), None) if verdict == Verdict::SetLinearizable => {
                let blocks: Result<Vec<_>, _> = blocks.into_iter().map(ids).collect();
                return Ok(Self::SetLinearizable(SetLinearization::new(blocks?)));
            }
            (None, Some(condition)) if verdict == Verdict::Violation => {
                return Ok(Self::Exchanges(condition.violation()?));
            }
            _ => {
                return Err(CertificateError::Fields {
                    verdict: "an immediate snapshot",
                    expected: "`blocks` if it is set-linearizable, else `condition`",
                });
            }
        }
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
            (Verdict::SetLinearizable, ..) => Err(CertificateError::Fields {
                verdict: "a set-linearizable execution",
                expected: "`blocks`",
            }),
            (Verdict::Linearizable, ..) => Err(CertificateError::Fields {
                verdict: "a linearizable history",
                expected: "`order`, and none of `segments`, `operations` and `lines`",
            }),
            (Verdict::Violation, ..) => Err(CertificateError::Fields {
                verdict: "a violation",
                expected: "`segments` and `operations`, or `lines`, and no `order`",
            }),
        }
    }
}
