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
//! [`crate::monitor`] decides them event by event. Here it keeps which updates each scan read, from
//! which a linearization follows.

mod linearize;

use std::hash::Hash;

use crate::history::History;
use crate::monitor::{Alarm, Judgement, Monitor, Undecided};
use crate::sights::Sights;

/// The result of the conditions.
#[derive(Debug)]
pub enum Outcome<'h, V> {
    /// The history is linearizable; the reading provides a linearization.
    Linearizable(Reading<'h, V>),
    /// The history is not linearizable from this event on.
    Violation(Alarm),
    /// The conditions do not decide.
    Undecided(Undecided),
}

/// The updates that every scan of a linearizable history read.
#[derive(Debug)]
pub struct Reading<'h, V> {
    history: &'h History<V>,
    sights: Sights,
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
    let mut monitor = monitor(history);
    monitor.keep(Sights::new(history.scans(), history.segments()));
    match judge(&mut monitor, history) {
        Judgement::Violation(alarm) => Outcome::Violation(alarm),
        Judgement::Undecided(undecided) => Outcome::Undecided(undecided),
        Judgement::Linearizable => {
            let sights = monitor.into_sights().expect("they are kept");
            Outcome::Linearizable(Reading { history, sights })
        }
    }
}

/// As [`check`], without a reading: faster, and in memory bounded by concurrency.
pub fn decide<V: Clone + Eq + Hash>(history: &History<V>) -> Judgement {
    judge(&mut monitor(history), history)
}

fn monitor<V: Clone + Eq + Hash>(history: &History<V>) -> Monitor<V> {
    Monitor::linear(history.declaration()).expect("a history's declaration is valid")
}

fn judge<V: Clone + Eq + Hash>(monitor: &mut Monitor<V>, history: &History<V>) -> Judgement {
    for event in history.events() {
        let judgement = monitor.observe(&event).expect("a history's events are admissible");
        if judgement != Judgement::Linearizable {
            return judgement;
        }
    }
    Judgement::Linearizable
}
