//! The digests that the smoke size must have, from `digests.json`.
//!
//! A digest there changes only together with a change that means to change an
//! input or an answer, and whose message says so.

use serde_json::Value;
use thiserror::Error;

use crate::Digest;

const DIGESTS: &str = include_str!("../digests.json");

/// Compares a row's digest at the smoke size with the recorded one.
///
/// # Errors
/// If they differ, or if none is recorded.
pub fn expected(row: &str, found: Digest) -> Result<(), DigestError> {
    compare(DIGESTS, row, found)
}

fn compare(digests: &str, row: &str, found: Digest) -> Result<(), DigestError> {
    let digests: Value = serde_json::from_str(digests).map_err(DigestError::Malformed)?;
    let row = row.to_owned();
    match digests.get(&row).and_then(Value::as_str) {
        None => Err(DigestError::Missing { row, found }),
        Some(expected) if expected == found.to_string() => Ok(()),
        Some(expected) => Err(DigestError::Differs { row, expected: expected.to_owned(), found }),
    }
}

/// An answer that is not the recorded one.
#[derive(Debug, Error)]
pub enum DigestError {
    /// The row's input or its answer changed.
    #[error(
        "row {row} has digest {found}, but digests.json says {expected}: its input or its answer \
         changed; find out which, and record the new digest only if the change is meant"
    )]
    Differs {
        /// The row.
        row: String,
        /// What is recorded.
        expected: String,
        /// What came out.
        found: Digest,
    },
    /// The row is new.
    #[error("row {row} has no digest in digests.json; once its answer is checked, add {found}")]
    Missing {
        /// The row.
        row: String,
        /// What came out.
        found: Digest,
    },
    /// The record is no JSON.
    #[error("digests.json cannot be read: {0}; it is one object, from rows to digests")]
    Malformed(serde_json::Error),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_recorded_digest_passes() {
        let digests = format!(r#"{{"row": "{}"}}"#, Digest::EMPTY);
        assert!(compare(&digests, "row", Digest::EMPTY).is_ok());
        let other = compare(&digests, "row", Digest::EMPTY.number(0)).unwrap_err();
        assert!(matches!(other, DigestError::Differs { .. }), "{other}");
        let missing = compare(&digests, "other", Digest::EMPTY).unwrap_err();
        assert!(matches!(missing, DigestError::Missing { .. }), "{missing}");
        let malformed = compare("{", "row", Digest::EMPTY).unwrap_err();
        assert!(matches!(malformed, DigestError::Malformed(_)), "{malformed}");
    }
}
