//! Results of a whole family.

use std::time::{Duration, Instant};

use super::{Case, Family, Fault};

#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Wrong {
    /// The name of the case.
    pub name: String,
    /// The faults, at least one.
    pub faults: Vec<Fault>,
}

/// The results of a family's cases.
///
/// Invariant: `cases` is `right` plus the number of `wrong` ones.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Tally {
    pub family: Family,
    pub cases: usize,
    /// Number of cases without faults.
    pub right: usize,
    /// Cases with faults.
    pub wrong: Vec<Wrong>,
    /// Number of answers whose certificate was confirmed.
    pub confirmed: usize,
    /// Number of cases for which exact search found the expected answer.
    pub searched: usize,
    /// Number of events of all cases.
    pub events: usize,
    /// Total time, including the generation of the cases.
    pub elapsed: Duration,
}

impl Tally {
    pub fn new(family: Family) -> Self {
        let start = Instant::now();
        let mut tally = Self::of_cases(family, family.cases());
        tally.elapsed = start.elapsed();
        tally
    }

    fn of_cases(family: Family, cases: impl Iterator<Item = Case>) -> Self {
        let mut tally = Self {
            family,
            cases: 0,
            right: 0,
            wrong: Vec::new(),
            confirmed: 0,
            searched: 0,
            events: 0,
            elapsed: Duration::ZERO,
        };
        for case in cases {
            let trial = case.try_out(family.is_searchable());
            tally.cases += 1;
            tally.confirmed += usize::from(trial.is_confirmed);
            tally.searched += usize::from(trial.is_searched);
            tally.events += case.history.len();
            if trial.faults.is_empty() {
                tally.right += 1;
            } else {
                tally.wrong.push(Wrong { name: case.name, faults: trial.faults });
            }
        }
        tally
    }

    /// Returns true if every case is right, and every answer was proved.
    pub fn is_right(&self) -> bool {
        self.wrong.is_empty() && self.confirmed == self.cases
    }
}

#[cfg(test)]
mod tests {
    use corpus::Expected;

    use super::*;
    use crate::conformance::Answer;

    /// Returns the tally of the twins with these expectations instead.
    fn with_expectations(expected: impl Fn(Expected) -> Expected) -> Tally {
        let cases = Family::Twins.cases();
        let cases = cases.map(|mut case| {
            case.expected = expected(case.expected);
            case
        });
        Tally::of_cases(Family::Twins, cases)
    }

    #[test]
    fn opposite_expectations_are_all_wrong() {
        let tally = with_expectations(|expected| match expected {
            Expected::Linearizable => Expected::Violation { reason: None },
            Expected::Violation { .. } => Expected::Linearizable,
        });
        assert_eq!((tally.right, tally.searched), (0, 0));
        assert!(tally.cases > 100 && tally.confirmed == tally.cases && !tally.is_right());
        for wrong in &tally.wrong {
            let [Fault::Answer { expected, found }, Fault::Search { .. }] = wrong.faults[..] else {
                panic!("{wrong:?}");
            };
            assert_ne!(expected.is_linearizable(), found == Answer::Linearizable);
        }
    }

    #[test]
    fn only_the_expected_or_any_reason_is_right() {
        let any = with_expectations(|expected| match expected {
            Expected::Violation { .. } => Expected::Violation { reason: None },
            linearizable => linearizable,
        });
        assert!(any.is_right(), "{:?}", any.wrong);
        let other = with_expectations(|expected| match expected {
            Expected::Violation { reason: Some("stale") } => {
                Expected::Violation { reason: Some("missing") }
            }
            expected => expected,
        });
        assert!(!other.wrong.is_empty() && other.searched == other.cases);
        for wrong in &other.wrong {
            let fault = wrong.faults[0].to_string();
            assert_eq!(fault, "expected violation missing, found violation stale");
        }
    }
}
