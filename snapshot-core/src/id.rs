//! Identifiers of processes, segments and operations.
//!
//! Each is a dense index behind a newtype, so that a process is never taken
//! for a segment. `OperationId` also numbers the operations of endless streams;
//! `Process` and `Segment` have small upper limits: recordings
//! are untrusted input, and arrays are sized by the largest index that occurs.

use std::fmt;

use thiserror::Error;

/// An index was larger than its kind of identifier allows.
#[derive(Clone, Copy, Debug, Eq, Error, PartialEq)]
#[error("{kind} {given} is out of range: the largest allowed is {limit}")]
pub struct IdError {
    /// The kind of identifier: `"process"`, `"segment"` or `"operation"`.
    pub kind: &'static str,
    /// The rejected index.
    pub given: u64,
    /// The largest index allowed.
    pub limit: u64,
}

macro_rules! id {
    ($(#[$doc:meta])* $name:ident($repr:ty), $kind:literal, $prefix:literal, $limit:expr) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Eq, Hash, Ord, PartialEq, PartialOrd)]
        pub struct $name($repr);

        impl $name {
            /// The largest index allowed.
            pub const LIMIT: usize = $limit;

            /// The identifier with this index.
            ///
            /// # Errors
            /// If `index` exceeds [`Self::LIMIT`].
            #[inline]
            pub const fn new(index: usize) -> Result<Self, IdError> {
                if index > Self::LIMIT {
                    return Err(IdError { kind: $kind, given: index as u64, limit: Self::LIMIT as u64 });
                }
                Ok(Self(index as $repr))
            }

            /// The identifier with this index, for indices known to be in range.
            ///
            /// # Panics
            /// If `index` exceeds [`Self::LIMIT`].
            #[inline]
            pub const fn from_index(index: usize) -> Self {
                assert!(index <= Self::LIMIT, concat!($kind, " index out of range"));
                Self(index as $repr)
            }

            /// The index, from 0 to [`Self::LIMIT`].
            #[inline]
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!($prefix, "{}"), self.0)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}", self.0)
            }
        }
    };
}

id!(
    /// A process: a sequential client that invokes one operation at a time. Processes are numbered
    /// from 0; there may be more of them than segments.
    Process(u32), "process", "p", (1 << 20) - 1
);
id!(
    /// A segment of the snapshot object, numbered from 0.
    Segment(u32), "segment", "s", (1 << 16) - 1
);
id!(
    /// An operation of one history, numbered from 0 in the order of invocations.
    OperationId(u64), "operation", "#", (1 << 62) - 1
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limit_errors_carry_given_and_limit() {
        let error = Process::new(1 << 20).unwrap_err();
        assert_eq!((error.given, error.limit), (1 << 20, (1 << 20) - 1));
        assert!(error.to_string().contains("process 1048576"));
        assert_eq!(Segment::new(65_535).unwrap().index(), 65_535);
    }
}
