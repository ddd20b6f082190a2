//! Objects, as programs that share nothing with the crate's specifications.

use std::collections::VecDeque;

use super::definition::Answered;

/// (i, j)-simple histories, without updates that repeat the current value.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum Simple {
    /// The first update of i, or j, to 1.
    Switch(usize),
    /// A scan with its values of i and j.
    Scan([bool; 2]),
}

impl Answered for Simple {
    type State = [bool; 2];

    fn execute(&self, state: &mut [bool; 2]) -> bool {
        match self {
            Self::Switch(segment) => {
                state[*segment] = true;
                true
            }
            Self::Scan(values) => values == state,
        }
    }
}

/// A snapshot of two segments; the values of a segment are 1, 2, ... in the order of its
/// updates, and 0 at first.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum Snapshot {
    Update(usize, u8),
    Scan([u8; 2]),
}

impl Answered for Snapshot {
    type State = [u8; 2];

    fn execute(&self, state: &mut [u8; 2]) -> bool {
        match self {
            Self::Update(segment, value) => {
                state[*segment] = *value;
                true
            }
            Self::Scan(values) => values == state,
        }
    }
}

/// A register, 0 at first.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum Register {
    Write(u8),
    Read(u8),
}

impl Answered for Register {
    type State = u8;

    fn execute(&self, state: &mut u8) -> bool {
        match self {
            Self::Write(value) => {
                *state = *value;
                true
            }
            Self::Read(value) => value == state,
        }
    }
}

/// A counter, 0 at first.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum Counter {
    Increment,
    Get(u8),
}

impl Answered for Counter {
    type State = u8;

    fn execute(&self, state: &mut u8) -> bool {
        match self {
            Self::Increment => {
                *state += 1;
                true
            }
            Self::Get(value) => value == state,
        }
    }
}

/// A queue or a stack, empty at first.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum Pool<const FIRST_IN_FIRST_OUT: bool> {
    Add(u8),
    /// The removed value; `None` if the object was empty.
    Remove(Option<u8>),
}

impl<const FIRST_IN_FIRST_OUT: bool> Answered for Pool<FIRST_IN_FIRST_OUT> {
    type State = VecDeque<u8>;

    fn execute(&self, state: &mut VecDeque<u8>) -> bool {
        match self {
            Self::Add(value) => {
                state.push_back(*value);
                true
            }
            Self::Remove(removed) => {
                let next = if FIRST_IN_FIRST_OUT { state.pop_front() } else { state.pop_back() };
                next == *removed
            }
        }
    }
}

pub type Queue = Pool<true>;
pub type Stack = Pool<false>;
