//! Results of parking and unparking, as in the published crate.

/// Token from a waiting thread to the thread that wakes it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct ParkToken(pub usize);

/// Token from the waking thread to the woken one.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct UnparkToken(pub usize);

/// Default token.
pub const DEFAULT_PARK_TOKEN: ParkToken = ParkToken(0);

/// Default token.
pub const DEFAULT_UNPARK_TOKEN: UnparkToken = UnparkToken(0);

/// End of a wait.
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

/// Result of an unparking.
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

/// Decision on the waiting threads of a key.
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

/// Decision on one waiting thread.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum FilterOp {
    /// Wakes it.
    Unpark,
    /// Leaves it.
    Skip,
    /// Leaves it and all others.
    Stop,
}
