//! Certificates in files, and their check against the recording.

use std::io::Read;

use serde::{Deserialize, Serialize};
use snapshot_core::certificate::groups::GroupsError;
use snapshot_core::immediate::SetLinearization;
use snapshot_core::object::{Evidence, GroupsProof, GroupsProofError};
use snapshot_core::synchronisation::Deficiency;
use snapshot_core::{IdError, OperationId};
use thiserror::Error;

use super::error::{ReadError, ReadErrorKind};
use super::interface::Interface;
use super::judge::{Finding, Judgement, Violation};
use super::object::{InitialError, Object, ObjectError};
use super::proof::{self, Lists, lists};
use super::recording::{Live, read};
use super::source::begun;
use crate::Value;
use crate::format::{Format, JsonValue, Location};
use crate::judge::Options;

/// Version of the format.
const VERSION: u32 = 1;

/// The proof of a verdict.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Certificate {
    /// The recording is set-linearizable: groups.
    SetLinearizable(SetLinearization),
    /// It is not: operations that cannot all have partners, or break a rule.
    Violation(GroupsProof),
}

/// As it stands in a file.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Contents {
    #[serde(rename = "snapshot-certificate")]
    version: u32,
    object: String,
    /// The value before the first operation, unless it is the usual one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    initial: Option<JsonValue>,
    /// The key of its object, in a recording of several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    key: Option<JsonValue>,
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
    /// The object is unknown.
    #[error("the object of the certificate: {0}")]
    Object(#[from] ObjectError),
    /// Its object cannot have its initial value.
    #[error("the object of the certificate: {0}")]
    Initial(#[from] InitialError),
    /// A field is missing or superfluous.
    #[error(
        "a certificate has `blocks` for a set-linearizable recording, else `partners` and `components`, or `rule` and `operations`; write it again with `check --certificate`"
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
    /// The operations are no proof.
    #[error(transparent)]
    Proof(#[from] GroupsProofError),
}

impl Certificate {
    /// The certificate of a judgement, if there is one.
    pub fn new(judgement: &Judgement) -> Option<Self> {
        // Numbers of operations are those of the whole recording.
        if judgement.watched.is_some_and(|watched| watched.forgotten > 0) {
            return None;
        }
        match &judgement.finding {
            Finding::SetLinearizable(groups) => Some(Self::SetLinearizable(groups.clone())),
            Finding::Violation(Violation::Found(found)) => found.proof().map(Self::Violation),
            Finding::Violation(_) | Finding::Unknown { .. } | Finding::Disputed(_) => None,
        }
    }

    /// Returns true if it proves that the recording is correct.
    pub const fn is_order(&self) -> bool {
        matches!(self, Self::SetLinearizable(_))
    }

    /// Its text for a recording of an object, which has a key if it is one of several, with a line
    /// end.
    pub fn to_text(&self, object: &Object, key: Option<&Value>) -> String {
        let numbers = |ids: &[OperationId]| ids.iter().map(|id| id.index()).collect();
        let blank = Contents {
            version: VERSION,
            object: object.to_string(),
            initial: object.initial().map(JsonValue::from),
            key: key.map(JsonValue::from),
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
            Self::Violation(GroupsProof::Deficiency(deficiency)) => Contents {
                verdict: Word::Violation,
                partners: Some(numbers(&deficiency.partners)),
                components: Some(deficiency.components.iter().map(|set| numbers(set)).collect()),
                ..blank
            },
            Self::Violation(GroupsProof::Rule(proof)) => Contents {
                verdict: Word::Violation,
                rule: Some(proof::name(proof)),
                operations: Some(lists(proof)),
                ..blank
            },
        };
        let mut text =
            serde_json::to_string(&contents).expect("a certificate consists of numbers and texts");
        text.push('\n');
        text
    }

    /// Returns true if a text looks like a certificate of this kind: it names its object.
    pub fn is_one(text: &str) -> bool {
        #[derive(Deserialize)]
        struct Named {
            #[serde(rename = "object")]
            _object: String,
        }
        serde_json::from_str::<Named>(text).is_ok()
    }

    /// Reads the text of [`Self::to_text`]. Returns the object and its key, if it is one of several.
    ///
    /// # Errors
    /// If it is no certificate.
    pub fn from_text(text: &str) -> Result<(Object, Option<Value>, Self), CertificateError> {
        let contents: Contents = serde_json::from_str(text)?;
        if contents.version != VERSION {
            return Err(CertificateError::Version { found: contents.version });
        }
        let mut object: Object = contents.object.parse()?;
        if let Some(initial) = &contents.initial {
            object = object.with_initial(Value::from(initial))?;
        }
        let key = contents.key.as_ref().map(Value::from);
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
                    Ok((object, key, Self::Violation(GroupsProof::Rule(proof))))
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
                Self::Violation(GroupsProof::Deficiency(Deficiency { partners, components }))
            }
            _ => return Err(CertificateError::Fields),
        };
        Ok((object, key, certificate))
    }
}

/// Checks a certificate against a recording of an object, or of several, of which it takes the one
/// with the key, without any search.
///
/// # Errors
/// If it is no recording of the object.
pub fn certify(
    object: &Object,
    certificate: &Certificate,
    input: impl Read,
    format: Option<Format>,
    key: Option<&Value>,
) -> Result<Result<(), Refuted>, ReadError> {
    let (mut input, format) = begun(input, format)?;
    let object = object.of(format);
    object.kind().certify(&object, certificate, &mut input, format, key)
}

/// As [`certify`], for this kind of object.
pub(super) fn certify_by<K: Interface>(
    kind: &K,
    object: &Object,
    certificate: &Certificate,
    input: &mut dyn Read,
    format: Option<Format>,
    key: Option<&Value>,
) -> Result<Result<(), Refuted>, ReadError> {
    let recordings = read(kind, object, input, format, key, &Options::default(), Live::Off)?;
    let [recording] = recordings.objects.as_slice() else {
        return Err(ReadError {
            location: Location::START,
            kind: ReadErrorKind::SeveralObjects,
            line: None,
        });
    };
    Ok(match certificate {
        Certificate::SetLinearizable(found) => {
            kind.check_order(&recording.history, found).map_err(Refuted::from)
        }
        Certificate::Violation(proof) => {
            kind.check_proof(&recording.history, proof).map_err(Refuted::from)
        }
    })
}
