//! Why an instance has no layout.

use thiserror::Error;

use crate::instance::Scalar;

/// Why an instance has no layout.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
pub enum LayoutError {
    /// Too many bits.
    #[error(
        "a state is too large: it needs {bits} bits, and at most {limit} are supported; \
         try fewer processes, or more reductions"
    )]
    TooLarge {
        /// What a state needs.
        bits: u32,
        /// What there can be.
        limit: u32,
    },
    /// Too many processes.
    #[error("{given} processes are too many: at most {limit} are supported")]
    TooManyProcesses {
        /// How many there are.
        given: usize,
        /// How many there can be.
        limit: usize,
    },
    /// A version or counter without canonical form.
    #[error(
        "`{slot}` is unbounded: without the reduction `counters` it has no finite domain; \
         switch that on, or bound the operations (--operations)"
    )]
    Unbounded {
        /// Its name.
        slot: String,
    },
    /// A range without scalars, or with too many.
    #[error("`{slot}` has the domain {low}..{high}: expected from 1 to 2^31 scalars")]
    Domain {
        /// Its name.
        slot: String,
        /// The least.
        low: Scalar,
        /// The greatest.
        high: Scalar,
    },
}
