//! Recipes that no history can follow.

use thiserror::Error;

use super::Rule;

/// What is wrong with a recipe.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum RecipeError {
    /// A size outside what is possible.
    #[error("the recipe asks for {given} {what}, but from 1 to {limit} are possible")]
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
        "a ({i}, {j})-simple history needs two different segments, \
         but the recipe has segments 0 to {}", segments - 1
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
    #[error("{what} is {given}, but a share is from 0 to 1")]
    BadShare {
        /// Which share.
        what: &'static str,
        /// The number given.
        given: f64,
    },
    /// The rule cannot be broken in so small a history.
    #[error("breaking the rule `{rule}` needs {needed} {what}, but the recipe has {given}")]
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
    /// The violation is to happen at segments where it cannot.
    #[error(
        "the rule `{rule}` cannot be broken at segments ({i}, {j}): \
         they must differ, have a writer and, in a simple history, be its two segments"
    )]
    BadTarget {
        /// The rule.
        rule: Rule,
        /// The first segment named.
        i: usize,
        /// The second segment named.
        j: usize,
    },
}
