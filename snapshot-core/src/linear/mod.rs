//! The linear-time check of a history in memory.
//!
//! Number the updates of each segment 1, 2, ... in their order; number 0 is the
//! initial value, and consecutive updates with the same value share a number
//! (all but the first are redundant). A scan S is then a vector phi(S), and the
//! history is linearizable iff for all complete scans S, S1, S2:
//!
//! * A. every value read was written by an update invoked before S responded;
//! * B. phi(S) >= C(inv S), where C(t) numbers the updates that ended before t;
//! * C. S1 < S2 implies phi(S1) <= phi(S2);
//! * D. phi(S1) <= phi(S2) or phi(S2) <= phi(S1);
//! * E. phi(S) >= C(inv of update b of j), for every j and b = phi_j(S) > 0.
//!
//! (Anderson's shrinking lemma, with the real-time condition C that Lemma 30 of
//! the DISC 2022 paper's full version leaves out.)
//!
//! Each condition takes one comparison per entry. B and E: with t* the latest among inv S and the
//! invocations of the updates that S saw, no direct successor of a seen update may have responded
//! before t*. D: order the scans by the sums of their vectors, by counting, and compare neighbours.
//! C: given D, it is enough that the sum of S2 is not below the largest sum of a scan that had
//! ended when S2 began.
//!
//! This module and [`crate::monitor`] implement the same conditions by
//! different means; that they agree on every prefix is a test.

mod linearize;
mod pass;
mod runs;
mod scans;

use std::hash::Hash;

use self::pass::{Pass, Stop};
use self::runs::Runs;
use self::scans::Scans;
use crate::history::History;
use crate::monitor::Undecided;

/// The result of the conditions.
#[derive(Debug)]
pub enum Outcome<'h, V> {
    /// The history is linearizable; the reading provides a linearization.
    Linearizable(Reading<'h, V>),
    /// The history is not linearizable.
    Violation,
    /// The conditions do not decide.
    Undecided(Undecided),
}

/// The result of the conditions, without a reading.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Decision {
    /// The history is linearizable.
    Linearizable,
    /// The history is not linearizable.
    Violation,
    /// The conditions do not decide.
    Undecided(Undecided),
}

/// The updates that every scan of a linearizable history read.
#[derive(Debug)]
pub struct Reading<'h, V> {
    history: &'h History<V>,
    runs: Vec<Runs<'h, V>>,
    scans: Scans,
    /// Indices into `scans`, in the order in which the scans take effect.
    chain: Vec<u32>,
}

/// Checks the conditions. O(length of the history), `segments` per scan.
///
/// ```
/// use snapshot_core::history::{Declaration, History};
/// use snapshot_core::linear::{Outcome, check};
///
/// let mut history = History::builder(Declaration::new(0).with_segments(2)).unwrap();
/// history.invoke_scan(1).unwrap();
/// history.invoke_update(0, 0, 5).unwrap();
/// history.respond_scan(1, &[5, 0]).unwrap();
/// let history = history.finish();
/// let Outcome::Linearizable(reading) = check(&history) else { panic!() };
/// assert_eq!(reading.linearization().order.len(), 2); // the pending update took effect
/// ```
pub fn check<V: Clone + Eq + Hash>(history: &History<V>) -> Outcome<'_, V> {
    let mut pass = Pass::new(history, Scans::keeping_all(history));
    let stopped = pass.run();
    let (runs, scans) = pass.into_parts();
    if let Err(Stop::Violation) = stopped {
        return Outcome::Violation;
    }
    let Some(chain) = scans.chain() else { return Outcome::Violation };
    match stopped {
        Err(Stop::Undecided(undecided)) => Outcome::Undecided(undecided),
        _ => Outcome::Linearizable(Reading { history, runs, scans, chain }),
    }
}

/// As [`check`], without a reading: faster, and in less memory, since vectors are forgotten as soon
/// as no open scan can be compared with them.
pub fn decide<V: Clone + Eq + Hash>(history: &History<V>) -> Decision {
    let mut pass = Pass::new(history, Scans::keeping_recent(history));
    let stopped = pass.run();
    let (_, mut scans) = pass.into_parts();
    match stopped {
        Err(Stop::Violation) => Decision::Violation,
        _ if !scans.settle(u64::MAX) => Decision::Violation,
        Err(Stop::Undecided(undecided)) => Decision::Undecided(undecided),
        Ok(()) => Decision::Linearizable,
    }
}
