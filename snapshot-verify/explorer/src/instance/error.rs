//! Errors of compilation.

use thiserror::Error;

use crate::deadline::Stopped;
use crate::language::Span;
use crate::program::ExtentError;

/// Why a program has no instance for some n, i, j.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
pub enum InstanceError {
    /// A snapshot with one segment is a register, without a pair (i, j).
    #[error("{given} processes are too few: there must be at least {least}")]
    TooFewProcesses {
        given: usize,
        /// The least n.
        least: usize,
    },
    /// The algorithm is not a snapshot but declares another object.
    #[error("the algorithm declares an object, and only those of snapshots have instances")]
    Object,
    /// There are more processes than instances support.
    #[error("{given} processes are too many: at most {most} are possible")]
    TooManyProcesses {
        given: usize,
        /// The greatest n.
        most: usize,
    },
    /// The pair is not i < j < n.
    #[error("the pair ({i}, {j}) is out of range: it must be i < j < {processes}")]
    PairOutOfRange {
        i: usize,
        j: usize,
        /// n.
        processes: usize,
    },
    /// The program is too large to be analysed.
    #[error(transparent)]
    Extent(#[from] ExtentError),
    #[error(transparent)]
    Stopped(#[from] Stopped),
    /// The arrays of the program are too large for this n.
    #[error(
        "the state is too large: the variables have more than {limit} scalars, use a smaller n or smaller arrays"
    )]
    TooManySlots {
        /// The greatest number of scalars of a state.
        limit: usize,
        /// The variable that exceeds the limit.
        span: Span,
    },
    /// The loops of the program are too long for this n.
    #[error(
        "the program is too long: unrolled it has more than {limit} pieces, use a smaller n or shorter loops"
    )]
    TooManyBlocks {
        /// The greatest number of blocks of a process.
        limit: usize,
        /// The statement that exceeds the limit.
        span: Span,
    },
    /// A bound like `1000000000*n` is outside the range of slots.
    #[error("the bound {bound} is out of range for {processes} processes")]
    BoundOutOfRange {
        /// The bound, as the language writes it.
        bound: String,
        processes: usize,
    },
    /// The program uses values as numbers, but instances only distinguish 1 from other values.
    #[error(
        "values are used as numbers, so simple executions show little, and exploration knows no \
         others: explore all that write a few values, --values 3 say"
    )]
    NumberedValue {
        /// The use of the value.
        span: Span,
    },
    /// An operation may use a variable before it assigned it. This is a bug of this program, since
    /// compiled operations begin by assigning their variables.
    #[error(
        "BUG in this program, please report it: an operation may use {name} before it assigned it. \
         Its verdicts cannot be trusted"
    )]
    Unassigned {
        /// The name of the slot.
        name: String,
    },
    /// An initial expression has no constant value that its type allows.
    #[error("the initial value of {name} cannot be computed: {what}")]
    BadInitial {
        /// The variable.
        name: String,
        what: &'static str,
        /// The expression.
        span: Span,
    },
}
