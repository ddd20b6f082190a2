//! What is said to threads that wait and wake, as in the published crate.

/// Given by a thread that waits to the one that wakes it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct ParkToken(pub usize);

/// Given by the thread that wakes another one.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct UnparkToken(pub usize);

/// Where none is needed.
pub const DEFAULT_PARK_TOKEN: ParkToken = ParkToken(0);

/// Where none is needed.
pub const DEFAULT_UNPARK_TOKEN: UnparkToken = UnparkToken(0);

/// How waiting ended.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ParkResult {
    /// Woken.
    Unparked(UnparkToken),
    /// There was nothing to wait for.
    Invalid,
    /// Never, here.
    TimedOut,
}

impl ParkResult {
    /// Whether it was woken.
    pub const fn is_unparked(self) -> bool {
        matches!(self, Self::Unparked(_))
    }
}

/// What an unparking did.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct UnparkResult {
    /// Number of threads that were woken.
    pub unparked_threads: usize,
    /// Number of threads that wait for another key now.
    pub requeued_threads: usize,
    /// Whether others wait for the key.
    pub have_more_threads: bool,
    /// Never, here.
    pub be_fair: bool,
}

/// What is to be done with threads that wait.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum RequeueOp {
    /// Nothing.
    Abort,
    /// Wakes one, moves the others.
    UnparkOneRequeueRest,
    /// Moves all.
    RequeueAll,
    /// Wakes one.
    UnparkOne,
    /// Moves one.
    RequeueOne,
}

/// What is to be done with one of them.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum FilterOp {
    /// It is woken.
    Unpark,
    /// It is left.
    Skip,
    /// It is left, as all others are.
    Stop,
}
