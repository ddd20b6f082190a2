//! Certificates in files, and their check against the recording.

use std::io::Read;

use serde::{Deserialize, Serialize};
use snapshot_core::certificate::deficiency::DeficiencyError;
use snapshot_core::certificate::groups::{self, GroupsError};
use snapshot_core::generic::{Proof, ProofError};
use snapshot_core::immediate::SetLinearization;
use snapshot_core::synchronisation::Deficiency;
use snapshot_core::{IdError, OperationId};
use thiserror::Error;

use super::error::ReadError;
use super::interface::Interface;
use super::judge::{Finding, Judgement, Task, Violation};
use super::object::{Object, ObjectError};
use super::proof::{self, Lists, lists};
use super::recording::read;
use crate::format::Format;

/// Version of the format.
const VERSION: u32 = 1;

/// The proof of a verdict.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Certificate {
    /// The recording is set-linearizable: groups.
    SetLinearizable(SetLinearization),
    /// It is not: operations that cannot all have partners.
    Violation(Deficiency),
    /// It is not: operations that break a rule.
    Rule(Proof),
}

/// As it stands in a file.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Contents {
    #[serde(rename = "snapshot-certificate")]
    version: u32,
    object: String,
    verdict: Word,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    blocks: Option<Vec<Vec<usize>>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    partners: Option<Vec<usize>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    components: Option<Vec<Vec<usize>>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    rule: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    operations: Option<Lists>,
}

#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Word {
    SetLinearizable,
    Linearizable,
    Violation,
}

/// A file that is no certificate for the recording of such an object.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum CertificateError {
    /// It is no JSON, or not of the right form.
    #[error("expected a certificate as `snapshot-test check --certificate` writes it, found: {0}")]
    Json(#[from] serde_json::Error),
    /// It is of another version.
    #[error(
        "expected a certificate of version {VERSION}, found version {found}; write it again with `check --certificate`"
    )]
    Version {
        /// The version found.
        found: u32,
    },
    /// Its object is none.
    #[error("the object of the certificate: {0}")]
    Object(#[from] ObjectError),
    /// A field is missing or superfluous.
    #[error(
        "a certificate has `blocks` if it is of a set-linearizable recording, else `partners` and `components`, or `rule` and `operations`; write it again with `check --certificate`"
    )]
    Fields,
    /// A number is out of range.
    #[error(transparent)]
    Id(#[from] IdError),
}

/// A certificate that does not prove its verdict of a recording.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Refuted {
    /// The groups are no set linearization.
    #[error("the groups are no set linearization: {0}")]
    Groups(#[from] GroupsError),
    /// The operations can have partners.
    #[error("the operations are no proof of a violation: {0}")]
    Deficiency(#[from] DeficiencyError),
    /// The operations break no rule.
    #[error("the operations break no rule: {0}")]
    Rule(#[from] ProofError),
}

impl Certificate {
    /// The certificate of a judgement, if there is one.
    pub fn of(judgement: &Judgement) -> Option<Self> {
        match &judgement.finding {
            Finding::SetLinearizable(groups) => Some(Self::SetLinearizable(groups.clone())),
            Finding::Violation(Violation::Unmatched(_, deficiency)) => {
                deficiency.clone().map(Self::Violation)
            }
            Finding::Violation(Violation::Rule(proof)) => Some(Self::Rule(proof.clone())),
            Finding::Violation(_) | Finding::Unknown { .. } | Finding::Disputed(_) => None,
        }
    }

    /// `"set-linearizable"` or `"violation"`.
    pub const fn verdict(&self) -> &'static str {
        match self {
            Self::SetLinearizable(_) => "set-linearizable",
            Self::Violation(_) | Self::Rule(_) => "violation",
        }
    }

    /// Its text for a recording of an object, with a line end.
    pub fn to_text(&self, object: Object) -> String {
        let numbers = |ids: &[OperationId]| ids.iter().map(|id| id.index()).collect();
        let blank = Contents {
            version: VERSION,
            object: object.to_string(),
            verdict: if object.is_single() { Word::Linearizable } else { Word::SetLinearizable },
            blocks: None,
            partners: None,
            components: None,
            rule: None,
            operations: None,
        };
        let contents = match self {
            Self::SetLinearizable(groups) => {
                Contents { blocks: Some(groups.blocks().map(numbers).collect()), ..blank }
            }
            Self::Violation(deficiency) => Contents {
                verdict: Word::Violation,
                partners: Some(numbers(&deficiency.partners)),
                components: Some(deficiency.components.iter().map(|set| numbers(set)).collect()),
                ..blank
            },
            Self::Rule(proof) => Contents {
                verdict: Word::Violation,
                rule: Some(proof.rule().to_owned()),
                operations: Some(lists(proof)),
                ..blank
            },
        };
        let mut text =
            serde_json::to_string(&contents).expect("a certificate consists of numbers and texts");
        text.push('\n');
        text
    }

    /// Whether a text looks like a certificate of this kind: it names its object.
    pub fn is_one(text: &str) -> bool {
        let Ok(serde_json::Value::Object(fields)) = serde_json::from_str(text) else {
            return false;
        };
        fields.contains_key("object")
    }

    /// Reads what [`Self::to_text`] wrote.
    ///
    /// # Errors
    /// If it is no certificate.
    pub fn from_text(text: &str) -> Result<(Object, Self), CertificateError> {
        let contents: Contents = serde_json::from_str(text)?;
        if contents.version != VERSION {
            return Err(CertificateError::Version { found: contents.version });
        }
        let object = contents.object.parse()?;
        let ids = |numbers: Vec<usize>| -> Result<Vec<OperationId>, IdError> {
            numbers.into_iter().map(OperationId::new).collect()
        };
        let sets = |sets: Vec<Vec<usize>>| -> Result<Vec<Vec<OperationId>>, IdError> {
            sets.into_iter().map(ids).collect()
        };
        let Contents { verdict, blocks, partners, components, rule, operations, .. } = contents;
        if let (Some(rule), Some(operations)) = (&rule, &operations) {
            let is_alone = blocks.is_none() && partners.is_none() && components.is_none();
            return match proof::read(rule, operations)? {
                Some(proof) if is_alone && matches!(verdict, Word::Violation) => {
                    Ok((object, Self::Rule(proof)))
                }
                _ => Err(CertificateError::Fields),
            };
        }
        if rule.is_some() || operations.is_some() {
            return Err(CertificateError::Fields);
        }
        let certificate = match (verdict, blocks, partners, components) {
            (Word::SetLinearizable | Word::Linearizable, Some(blocks), None, None) => {
                Self::SetLinearizable(SetLinearization::new(sets(blocks)?))
            }
            (Word::Violation, None, Some(partners), Some(components)) => {
                let (partners, components) = (ids(partners)?, sets(components)?);
                Self::Violation(Deficiency { partners, components })
            }
            _ => return Err(CertificateError::Fields),
        };
        Ok((object, certificate))
    }
}

/// Checks a certificate against a recording of an object, without any search.
///
/// # Errors
/// If it is no recording of the object.
pub fn certify(
    object: Object,
    certificate: &Certificate,
    input: impl Read,
    format: Option<Format>,
) -> Result<Result<(), Refuted>, ReadError> {
    object.with(Certify { object, certificate, input, format })
}

struct Certify<'a, R> {
    object: Object,
    certificate: &'a Certificate,
    input: R,
    format: Option<Format>,
}

impl<R: Read> Task for Certify<'_, R> {
    type Answer = Result<Result<(), Refuted>, ReadError>;

    fn run<S: Interface>(self, interface: &S) -> Self::Answer {
        let recording = read(interface, self.object, self.input, self.format)?;
        Ok(match self.certificate {
            Certificate::SetLinearizable(found) => {
                groups::check(interface, &recording.history, found).map_err(Refuted::from)
            }
            Certificate::Violation(deficiency) => {
                interface.refute(&recording.history, deficiency).map_err(Refuted::from)
            }
            Certificate::Rule(proof) => {
                interface.check_proof(&recording.history, proof).map_err(Refuted::from)
            }
        })
    }
}
