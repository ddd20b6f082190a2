//! Recipes that no history can follow.

use thiserror::Error;

use super::Rule;

#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum RecipeError {
    /// A size is out of range.
    #[error("expected from 1 to {limit} {what}, found {given}")]
    BadSize {
        /// Kind of things counted.
        what: &'static str,
        /// Requested number.
        given: usize,
        /// Largest possible number.
        limit: usize,
    },
    /// The two segments of a simple history are equal or do not exist.
    #[error(
        "expected two different segments for a simple history, found {i} and {j}; \
         the segments are 0 to {}", segments - 1
    )]
    BadSimple {
        i: usize,
        j: usize,
        /// Number of segments.
        segments: usize,
    },
    /// A share is not from 0 to 1.
    #[error("expected {what} to be a share, from 0 to 1, found {given}")]
    BadShare {
        /// Name of the share.
        what: &'static str,
        given: f64,
    },
    /// The rule cannot be broken in such a small history.
    #[error(
        "breaking the rule `{rule}` takes at least {needed} {what}, found {given}; \
         ask for more, or for another rule"
    )]
    TooSmall {
        rule: Rule,
        /// Kind of things of which there are too few.
        what: &'static str,
        /// Smallest sufficient number.
        needed: usize,
        /// Number available.
        given: usize,
    },
    /// The violation of many writers cannot occur in such a small history.
    #[error(
        "the violation `{rule}` takes at least {needed} {what}, found {given}; \
         ask for more, or for another one"
    )]
    TooSmallForMany {
        /// Name of the violation.
        rule: &'static str,
        /// Kind of things of which there are too few.
        what: &'static str,
        /// Smallest sufficient number.
        needed: usize,
        /// Number available.
        given: usize,
    },
    /// The violation cannot occur at the requested segments.
    #[error(
        "the rule `{rule}` cannot be broken at segments {i} and {j}: they must differ, be the two \
         that switch, if the history is simple, and have a writer, as segments 0 to {} do",
        writers - 1
    )]
    BadTarget {
        rule: Rule,
        i: usize,
        j: usize,
        /// Number of segments with a writer.
        writers: usize,
    },
}
