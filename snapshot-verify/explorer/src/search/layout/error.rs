//! Errors of a layout.

use thiserror::Error;

use crate::instance::Scalar;

/// Why an instance has no layout.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
pub enum LayoutError {
    /// A state needs too many bits.
    #[error(
        "a state is too large: it needs {bits} bits, and at most {limit} are supported; \
         try fewer processes, or more reductions"
    )]
    TooLarge {
        /// The bits of a state.
        bits: u32,
        /// The supported maximum.
        limit: u32,
    },
    #[error("{given} processes are too many: at most {limit} are supported")]
    TooManyProcesses {
        given: usize,
        /// The supported maximum.
        limit: usize,
    },
    /// A version or counter has no canonical form and no bound.
    #[error(
        "`{slot}` is unbounded: without the reduction `counters` it has no finite domain; \
         switch that on, or bound the operations (--operations)"
    )]
    Unbounded {
        /// The name of the slot.
        slot: String,
    },
    /// A range is empty or too large.
    #[error("`{slot}` has the domain {low}..{high}: expected from 1 to 2^31 scalars")]
    Domain {
        /// The name of the slot.
        slot: String,
        low: Scalar,
        high: Scalar,
    },
}
