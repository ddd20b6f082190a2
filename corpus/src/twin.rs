//! The hand-written cases of `histories/twins`, with their expected verdicts.
//!
//! Each case is a file in the text format of recordings, about as small as its point allows. Its
//! first lines state the expectation:
//!
//! ```text
//! # expect: violation stale          (or: # expect: linearizable)
//! # about: one sentence
//! # twin: the case that differs by one event and has the other answer
//! ```
//!
//! A bad case breaks the named rule and no other. If updates of one segment overlap (an update of
//! unknown outcome overlaps all later operations of its writer), the rule is `cycle` or `ordering`;
//! if values are ambiguous, the rule is `no-order`. The exception is a case in which real time
//! leaves a single candidate for each read.

use thiserror::Error;

use crate::Expected;

/// A hand-written history with the verdict that a checker must give.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Case {
    /// Name of the file without the ending.
    pub name: &'static str,
    /// Content of the whole file: a recording in the text format.
    pub source: &'static str,
    pub expected: Expected,
    /// Subject of the case, in one sentence.
    pub about: &'static str,
    /// Name of its twin, if it has one.
    pub twin: Option<&'static str>,
}

/// Error in the first lines of a case.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
#[non_exhaustive]
pub enum CaseError {
    /// A line is missing.
    #[error("case `{case}` has no line `# {key}: ...`")]
    Missing {
        case: &'static str,
        /// Key of the missing line.
        key: &'static str,
    },
    /// The expected verdict is invalid.
    #[error(
        "case `{case}` expects `{found}`; \
         write `linearizable`, or `violation` and the name of a reason"
    )]
    Expectation {
        case: &'static str,
        /// Text of the line.
        found: &'static str,
    },
}

impl Case {
    /// Reads the lines that state the expectation. The rest is left to a reader of the text format.
    ///
    /// # Errors
    /// If the expectation or the sentence is missing, or the expectation is not a verdict.
    pub fn parse(name: &'static str, source: &'static str) -> Result<Self, CaseError> {
        let line = |key: &'static str| {
            source.lines().find_map(|line| {
                let text = line.strip_prefix("# ")?.strip_prefix(key)?.strip_prefix(": ")?;
                Some(text.trim())
            })
        };
        let required = |key| line(key).ok_or(CaseError::Missing { case: name, key });
        let found = required("expect")?;
        let expected =
            Expected::from_name(found).ok_or(CaseError::Expectation { case: name, found })?;
        let about = required("about")?;
        Ok(Self { name, source, expected, about, twin: line("twin") })
    }
}

/// Returns all hand-written cases, in the order of their names.
pub fn twins() -> Vec<Case> {
    parsed(FILES)
}

/// Returns all hand-written cases of immediate snapshots, in the order of their names. A bad case
/// breaks the named condition and no other.
pub fn exchange_twins() -> Vec<Case> {
    parsed(EXCHANGES)
}

fn parsed(files: &[(&'static str, &'static str)]) -> Vec<Case> {
    files
        .iter()
        .map(|(name, source)| {
            Case::parse(name, source).expect("the files are part of this crate, and tested")
        })
        .collect()
}

macro_rules! files {
    [$folder:literal: $($name:literal),* $(,)?] => {
        &[$(($name, include_str!(concat!("../histories/", $folder, "/", $name, ".txt")))),*]
    };
}

const FILES: &[(&str, &str)] = files!["twins":
    "ambiguous-initial-bad",
    "ambiguous-initial-good",
    "ambiguous-narrowed-bad",
    "ambiguous-narrowed-good",
    "ambiguous-search-bad",
    "ambiguous-search-good",
    "case-3a-i-bad",
    "case-3a-i-good",
    "case-3a-j-bad",
    "case-3a-j-good",
    "case-3b-future-i-bad",
    "case-3b-future-i-good",
    "case-3b-future-j-bad",
    "case-3b-future-j-good",
    "case-3b-never-i-bad",
    "case-3b-never-i-good",
    "case-3b-never-j-bad",
    "case-3b-never-j-good",
    "case-3c-bad",
    "case-3c-good",
    "case-3c-scan-first-bad",
    "case-3c-scan-first-good",
    "case-3d-bad",
    "case-3d-good",
    "case-3d-scan-first-bad",
    "case-3d-scan-first-good",
    "condition-a-future-bad",
    "condition-a-future-good",
    "condition-a-never-written-bad",
    "condition-a-never-written-good",
    "condition-a-wrong-segment-bad",
    "condition-a-wrong-segment-good",
    "condition-b-initial-bad",
    "condition-b-initial-good",
    "condition-b-stale-bad",
    "condition-b-stale-good",
    "condition-c-decrease-bad",
    "condition-c-decrease-good",
    "condition-d-inversion-bad",
    "condition-d-inversion-good",
    "condition-d-three-segments-bad",
    "condition-d-three-segments-good",
    "condition-e-missing-bad",
    "condition-e-missing-good",
    "condition-e-open-bad",
    "condition-e-open-good",
    "condition-e-three-segments-bad",
    "condition-e-three-segments-good",
    "condition-e-unseen-bad",
    "condition-e-unseen-good",
    "decrease-i-bad",
    "decrease-i-good",
    "decrease-j-bad",
    "decrease-j-good",
    "empty",
    "empty-declared",
    "failed-scan-bad",
    "failed-scan-good",
    "failed-then-next-bad",
    "failed-then-next-good",
    "failed-update-bad",
    "failed-update-early-bad",
    "failed-update-early-good",
    "failed-update-good",
    "foreign-segment-bad",
    "foreign-segment-good",
    "initial-declared-bad",
    "initial-declared-good",
    "initial-overwritten-bad",
    "initial-overwritten-good",
    "inversion-bad",
    "inversion-good",
    "inversion-sequential-bad",
    "inversion-sequential-good",
    "lemma-30-real-time-bad",
    "lemma-30-real-time-good",
    "many-writers-alternate-bad",
    "many-writers-alternate-good",
    "many-writers-order-bad",
    "many-writers-order-good",
    "many-writers-overlap-bad",
    "many-writers-overlap-good",
    "many-writers-sequential-bad",
    "many-writers-sequential-good",
    "no-scan",
    "no-update-bad",
    "no-update-good",
    "one-process-bad",
    "one-process-good",
    "one-segment-bad",
    "one-segment-good",
    "pending-inversion-bad",
    "pending-inversion-good",
    "pending-scan-bad",
    "pending-scan-good",
    "pending-seen-bad",
    "pending-seen-good",
    "redundant-initial-bad",
    "redundant-initial-good",
    "redundant-update-bad",
    "redundant-update-good",
    "scanners-without-segment-bad",
    "scanners-without-segment-good",
    "strings-bad",
    "strings-good",
    "strings-initial-bad",
    "strings-initial-good",
    "unknown-goes-on-bad",
    "unknown-goes-on-good",
    "unknown-late-bad",
    "unknown-late-good",
    "unknown-overwritten-bad",
    "unknown-overwritten-good",
    "unknown-returns-bad",
    "unknown-returns-good",
    "unknown-scan-bad",
    "unknown-scan-good",
    "unknown-seen-bad",
    "unknown-seen-good",
    "unknown-unseen-bad",
    "unknown-unseen-good",
];

const EXCHANGES: &[(&str, &str)] = files!["immediate":
    "containment-bad",
    "containment-good",
    "immediacy-bad",
    "immediacy-good",
    "immediacy-repeated-bad",
    "immediacy-repeated-good",
    "initial-bad",
    "initial-good",
    "missed-bad",
    "missed-good",
    "own-value-bad",
    "own-value-good",
    "pending-seen-bad",
    "pending-seen-good",
    "unknown-seen-bad",
    "unknown-seen-good",
    "validity-failed-bad",
    "validity-failed-good",
    "validity-future-bad",
    "validity-future-good",
    "validity-never-written-bad",
    "validity-never-written-good",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_headers_are_parsed_or_rejected() {
        let parse = |source| Case::parse("x", source);
        let good = parse("# expect: violation no-order\n# about: a b.\np0 scan\n# twin: y\n");
        let good = good.unwrap();
        assert_eq!(good.expected, Expected::Violation { reason: Some("no-order") });
        assert_eq!((good.about, good.twin), ("a b.", Some("y")));
        let missing = |key| Err(CaseError::Missing { case: "x", key });
        assert_eq!(parse("# about: a\n"), missing("expect"));
        assert_eq!(parse("# expect: linearizable\n"), missing("about"));
        for found in ["violation sometimes", "Linearizable", "linearizable stale"] {
            let source = format!("# expect: {found}\n# about: a\n");
            let error = Case::parse("x", source.leak()).unwrap_err();
            assert!(error.to_string().contains(&format!("expects `{found}`")), "{error}");
        }
    }
}
