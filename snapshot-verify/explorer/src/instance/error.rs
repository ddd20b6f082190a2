//! Why there is no instance.

use thiserror::Error;

use crate::deadline::Stopped;
use crate::language::Span;
use crate::program::ExtentError;

/// Why a program has no instance for some n, i, j.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
pub enum InstanceError {
    /// A snapshot with one segment is a register, and there is no pair (i, j).
    #[error("{given} processes are too few: there must be at least {least}")]
    TooFewProcesses {
        /// n.
        given: usize,
        /// The least n.
        least: usize,
    },
    /// Another object than the snapshot.
    #[error("the algorithm declares an object, and only those of snapshots have instances")]
    Object,
    /// More processes than an instance is made for.
    #[error("{given} processes are too many: at most {most} are possible")]
    TooManyProcesses {
        /// n.
        given: usize,
        /// The greatest n.
        most: usize,
    },
    /// Not a pair i < j < n.
    #[error("the pair ({i}, {j}) is out of range: it must be i < j < {processes}")]
    PairOutOfRange {
        /// i.
        i: usize,
        /// j.
        j: usize,
        /// n.
        processes: usize,
    },
    /// The program is too large to be looked at.
    #[error(transparent)]
    Extent(#[from] ExtentError),
    /// It was not compiled to the end.
    #[error(transparent)]
    Stopped(#[from] Stopped),
    /// The arrays of the program are too large for this n.
    #[error(
        "the state is too large: the variables have more than {limit} scalars, use a smaller n or smaller arrays"
    )]
    TooManySlots {
        /// The most scalars that a state may have.
        limit: usize,
        /// The variable that passed the limit.
        span: Span,
    },
    /// The loops of the program are too long for this n.
    #[error(
        "the program is too long: unrolled it has more than {limit} pieces, use a smaller n or shorter loops"
    )]
    TooManyBlocks {
        /// The most blocks that a process may have.
        limit: usize,
        /// The statement that passed the limit.
        span: Span,
    },
    /// A bound like `1000000000*n` leaves the numbers that slots can hold.
    #[error("the bound {bound} is out of range for {processes} processes")]
    BoundOutOfRange {
        /// The bound, as the language writes it.
        bound: String,
        /// n.
        processes: usize,
    },
    /// Of values an instance knows only which are 1.
    #[error(
        "values are used as numbers, so simple executions show little, and exploration knows no \
         others: explore all that write a few values, --values 3 say"
    )]
    NumberedValue {
        /// Where.
        span: Span,
    },
    /// An operation may use a variable before it assigned it: a bug of ours, for compiled
    /// operations begin by assigning their variables.
    #[error(
        "BUG in this program, please report it: an operation may use {name} before it assigned it. \
         Its verdicts cannot be trusted"
    )]
    Unassigned {
        /// The variable.
        name: String,
    },
    /// An initial expression has no constant value that its type allows.
    #[error("the initial value of {name} cannot be computed: {what}")]
    BadInitial {
        /// The variable.
        name: String,
        /// Why.
        what: &'static str,
        /// The expression.
        span: Span,
    },
}
