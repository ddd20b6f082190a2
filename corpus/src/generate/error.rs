//! Recipes that no history can follow.

use thiserror::Error;

use super::Rule;

/// What is wrong with a recipe.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum RecipeError {
    /// A size outside what is possible.
    #[error("expected from 1 to {limit} {what}, found {given}")]
    BadSize {
        /// What is counted.
        what: &'static str,
        /// The number asked for.
        given: usize,
        /// The largest number possible.
        limit: usize,
    },
    /// The two segments of a simple history are equal or do not exist.
    #[error(
        "expected two different segments for a simple history, found {i} and {j}; \
         the segments are 0 to {}", segments - 1
    )]
    BadSimple {
        /// The first segment named.
        i: usize,
        /// The second segment named.
        j: usize,
        /// Number of segments.
        segments: usize,
    },
    /// A share that is not one.
    #[error("expected {what} to be a share, from 0 to 1, found {given}")]
    BadShare {
        /// Which share.
        what: &'static str,
        /// The number given.
        given: f64,
    },
    /// The rule cannot be broken in so small a history.
    #[error(
        "breaking the rule `{rule}` takes at least {needed} {what}, found {given}; \
         ask for more, or for another rule"
    )]
    TooSmall {
        /// The rule.
        rule: Rule,
        /// What is too few.
        what: &'static str,
        /// The fewest that do.
        needed: usize,
        /// The number that there are.
        given: usize,
    },
    /// The same, with many writers.
    #[error(
        "the violation `{rule}` takes at least {needed} {what}, found {given}; \
         ask for more, or for another one"
    )]
    TooSmallForMany {
        /// The violation.
        rule: &'static str,
        /// What is too few.
        what: &'static str,
        /// The fewest that do.
        needed: usize,
        /// The number that there are.
        given: usize,
    },
    /// The violation is to happen at segments where it cannot.
    #[error(
        "the rule `{rule}` cannot be broken at segments {i} and {j}: they must differ, be the two \
         that switch, if the history is simple, and have a writer, as segments 0 to {} do",
        writers - 1
    )]
    BadTarget {
        /// The rule.
        rule: Rule,
        /// The first segment named.
        i: usize,
        /// The second segment named.
        j: usize,
        /// Number of segments with a writer.
        writers: usize,
    },
}
