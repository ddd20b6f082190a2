//! Bowman's algorithm, given to other model checkers.
//!
//! One question, asked of all: are the (0, 1)-simple executions of bowman with n
//! processes, under the most general client and without a bound on operations,
//! linearizable? Each model is the product of the algorithm with the observer, at
//! the granularity of `snapshot-verify check bowman --pairs 0,1 --reductions
//! dead,constant`; so all must count the same states and transitions, which
//! [`expected`] knows: a checker that counts otherwise answers another question.

pub mod spin;
pub mod stateright;

use std::num::NonZeroUsize;

/// What a model checker counted, if it explored everything and found no violation.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Counts {
    /// Different states.
    pub states: u64,
    /// Steps from a state to a state, whether it is new or not.
    pub transitions: u64,
}

/// What all must count for n processes, as far as it is known: Spin, stateright,
/// Rumur and the project's own search agree on these.
pub const fn expected(processes: usize) -> Option<Counts> {
    match processes {
        3 => Some(Counts { states: 76_075, transitions: 249_645 }),
        4 => Some(Counts { states: 2_151_306, transitions: 9_276_497 }),
        5 => Some(Counts { states: 62_055_312, transitions: 331_569_418 }),
        _ => None,
    }
}

/// One thread, so that what is compared is the search.
pub const THREADS: NonZeroUsize = NonZeroUsize::MIN;
