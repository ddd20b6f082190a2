//! Arguments of operations against their declared ranges.

/// The fit of the arguments of an operation in their declared ranges.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(in super::super) enum Fit {
    /// They are within the ranges.
    Always,
    /// One is not, but may be for another number of processes.
    Open(Beyond),
    /// One is not, for any number of processes.
    Never(Beyond),
}

/// An argument beyond its declared range.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Beyond {
    /// Its place among the arguments.
    pub argument: usize,
    pub given: i64,
    pub low: i64,
    pub high: i64,
    /// Number of processes, if the range depends on it.
    pub processes: Option<usize>,
}
