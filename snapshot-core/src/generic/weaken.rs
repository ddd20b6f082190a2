//! Barriers: how much of the order of time a violation needs.
//!
//! A *barrier* is an invocation before which the last event, of invocations and responses,
//! is a response (Bouajjani, Emmi, Enea and Hamza, "Verifying Concurrent Programs against
//! Sequential Specifications", 2013, section 6). Barriers divide a history into
//! *intervals*, in each of which invocations come before responses; an operation *spans* the
//! intervals from that of its invocation to that of its response, and precedes another iff it
//! ends in an earlier interval than the other begins in. So only spans matter, and a history
//! with k barriers has k + 1 intervals.
//!
//! [`weaken`] keeps some of the barriers, the *cuts*, and forgets all order between them.
//! What is not linearizable then was not before: a linearization of a history is one of
//! every weakening. And cuts are as good as any other way of forgetting: let W be a history
//! of the same operations with at most k barriers, whose order is contained in that of a
//! history H. For each barrier of W, with A the operations that respond before it and B those
//! that are invoked at it or later, each of A precedes in W, so in H, each of B: cut H at the
//! first invocation among B. All of A have responded by then, so these at most k cuts keep
//! the order of W (and each cut is as good as the last barrier of H that is not after it: no
//! response lies between them). Hence a violation shows with at most k barriers iff some k
//! cuts leave a history that is not linearizable, and [`refute`] need not look at more.
//!
//! `docs/barriers.md` says how many barriers violations of which objects need.

use super::history::{Ending, History, Operation};
use super::specification::Specification;
use super::{Outcome, check};
use crate::search::Budget;
use crate::verdict::Exhausted;

/// The barriers of a history: the numbers of the events that are one, ascending.
///
/// Failed operations are passed over, with their events: they had no effect. Costs
/// O(events).
pub fn barriers<I, O>(history: &History<I, O>) -> Vec<usize> {
    let mut events = vec![Event::Other; history.len()];
    for operation in history.operations().iter().filter(|operation| !operation.is_failed()) {
        events[operation.invocation] = Event::Invocation;
        if let Some(response) = operation.response() {
            events[response] = Event::Response;
        }
    }
    let mut after_response = false;
    let mut found = Vec::new();
    for (number, event) in events.into_iter().enumerate() {
        match event {
            Event::Other => {}
            Event::Response => after_response = true,
            Event::Invocation => {
                if after_response {
                    found.push(number);
                }
                after_response = false;
            }
        }
    }
    found
}

#[derive(Clone, Copy)]
enum Event {
    Invocation,
    Response,
    Other,
}

/// The history of the same operations in which only the order across cuts is left.
///
/// A cut is the number of an event: it separates the events before this one from it and those
/// after it. Cuts may come in any order, and any number will do; between barriers they are as
/// good as the last barrier before them. In the result invocations come before responses
/// between any two cuts that follow each other, so an operation precedes another iff it
/// responded before a cut and the other was invoked at or after it.
///
/// Operations keep their numbers, and the events of the result are numbered by themselves;
/// events that are neither invocation nor response of an operation that took effect are gone.
/// **A process may have several operations open**, which no recording has, and no check here
/// minds. Costs O(events log events).
pub fn weaken<I: Clone, O: Clone>(history: &History<I, O>, cuts: &[usize]) -> History<I, O> {
    let mut cuts = cuts.to_vec();
    cuts.sort_unstable();
    let interval = |event: usize| cuts.partition_point(|&cut| cut <= event);
    let operations = history.operations();
    // By new place: (interval, is a response, old place), and the operation.
    let mut events = Vec::with_capacity(history.len());
    for (id, operation) in operations.iter().enumerate() {
        let invocation = operation.invocation;
        events.push(((interval(invocation), false, invocation), id));
        if let Some(response) = operation.response() {
            events.push(((interval(response), true, response), id));
        }
    }
    events.sort_unstable();
    let mut weakened: Vec<Operation<I, O>> = operations.to_vec();
    for (number, ((_, is_response, _), id)) in events.iter().enumerate() {
        let operation = &mut weakened[*id];
        match &mut operation.ending {
            Ending::Complete { response, .. } if *is_response => *response = number,
            _ => operation.invocation = number,
        }
    }
    History::new(weakened, events.len())
}

/// What [`refute`] found out.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Refutation {
    /// The history is not linearizable, for it is not with these cuts alone; with fewer than
    /// these it is, unless `is_least` is false: then a budget ran out for some of those.
    Refuted {
        /// The numbers of the events to cut at, ascending: barriers of the history.
        cuts: Vec<usize>,
        /// Whether all choices of fewer cuts were searched to the end.
        is_least: bool,
        /// Number of configurations entered.
        states: u64,
    },
    /// It is linearizable with any cuts, as many as were allowed. If those are all its
    /// barriers, it is linearizable; else nothing is known of it.
    Unrefuted {
        /// Whether the cuts are all barriers.
        is_linearizable: bool,
        /// Number of configurations entered.
        states: u64,
    },
    /// It is with all cuts that were tried to the end, and a budget ran out for others.
    Exhausted {
        /// Budget that ran out.
        exhausted: Exhausted,
        /// Number of configurations entered.
        states: u64,
    },
}

/// Looks for at most `most` cuts that show that a history is not linearizable, the fewest
/// first. As [`refute_within`] with a window of all barriers.
pub fn refute<S: Specification>(
    specification: &S,
    history: &History<S::Input, S::Output>,
    most: usize,
    budget: &mut Budget<'_>,
) -> Refutation
where
    S::Input: Clone,
    S::Output: Clone,
{
    refute_within(specification, history, most, usize::MAX, budget)
}

/// Looks for at most `most` cuts that show that a history is not linearizable, among each
/// `window` barriers that follow each other (at least 1), the fewest first.
///
/// Among operations that nothing separates, equal ones of equal spans are
/// interchangeable, and the search treats them so: in effect it counts them. Every choice of
/// cuts has all the memory of the budget; one that needs more is passed over. Of b barriers,
/// up to b times (`window` choose `most` - 1) choices are searched, each at worst exponential in
/// the number of operations: for one history with many barriers the exact check is mostly
/// quicker.
pub fn refute_within<S: Specification>(
    specification: &S,
    history: &History<S::Input, S::Output>,
    most: usize,
    window: usize,
    budget: &mut Budget<'_>,
) -> Refutation
where
    S::Input: Clone,
    S::Output: Clone,
{
    let window = window.max(1);
    let barriers = barriers(history);
    let mut states = 0;
    let mut passed_over = None;
    for count in 0..=most.min(barriers.len()).min(window) {
        let is_least = passed_over.is_none();
        let mut chosen: Vec<usize> = (0..count).collect();
        loop {
            let cuts: Vec<usize> = chosen.iter().map(|&barrier| barriers[barrier]).collect();
            match check(specification, &weaken(history, &cuts), budget) {
                Outcome::NotLinearizable { states: more, .. } => {
                    states += more;
                    return Refutation::Refuted { cuts, is_least, states };
                }
                Outcome::Linearizable { states: more, .. } => states += more,
                Outcome::Exhausted { exhausted, states: more, .. } => {
                    states += more;
                    if exhausted != Exhausted::Memory {
                        return Refutation::Exhausted { exhausted, states };
                    }
                    passed_over = Some(exhausted);
                }
            }
            if !(budget.proceed)() {
                return Refutation::Exhausted { exhausted: Exhausted::Time, states };
            }
            if !next_choice(&mut chosen, barriers.len(), window) {
                break;
            }
        }
    }
    match passed_over {
        Some(exhausted) => Refutation::Exhausted { exhausted, states },
        None => {
            Refutation::Unrefuted { is_linearizable: most.min(window) >= barriers.len(), states }
        }
    }
}

/// The next of the ascending choices of numbers below `of`, the first and the last less than
/// `window` apart, in lexicographic order; `false` if this was the last.
fn next_choice(chosen: &mut [usize], of: usize, window: usize) -> bool {
    let count = chosen.len();
    // The first may grow as long as the others have room behind it; each other one up to the
    // end of the window, too.
    let end = |position: usize, chosen: &[usize]| match position {
        0 => of,
        _ => of.min(chosen[0].saturating_add(window)),
    };
    let can_grow = |position: &usize| {
        let behind = count - position;
        chosen[*position] + behind < end(*position, chosen) && behind <= window
    };
    let Some(position) = (0..count).rev().find(can_grow) else { return false };
    let first = chosen[position] + 1;
    for (later, number) in chosen[position..].iter_mut().enumerate() {
        *number = first + later;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::next_choice;

    #[test]
    fn next_choice_lists_each_choice_once() {
        for (count, of, expected) in [(0, 4, 1), (1, 4, 4), (2, 4, 6), (3, 6, 20), (4, 4, 1)] {
            let mut chosen: Vec<usize> = (0..count).collect();
            let mut seen = vec![chosen.clone()];
            while next_choice(&mut chosen, of, usize::MAX) {
                assert!(chosen.is_sorted() && chosen.iter().all(|&number| number < of));
                assert!(seen.last() < Some(&chosen), "ascending");
                seen.push(chosen.clone());
            }
            assert_eq!(seen.len(), expected, "{count} of {of}");
        }
    }

    #[test]
    fn next_choice_keeps_to_the_window() {
        for of in 1..8 {
            for count in 1..=of {
                for window in 1..=of {
                    let mut all: Vec<usize> = (0..count).collect();
                    let mut expected = Vec::new();
                    loop {
                        if all[count - 1] - all[0] < window {
                            expected.push(all.clone());
                        }
                        if !next_choice(&mut all, of, usize::MAX) {
                            break;
                        }
                    }
                    let mut chosen: Vec<usize> = (0..count).collect();
                    let mut found = Vec::new();
                    if count <= window {
                        found.push(chosen.clone());
                        while next_choice(&mut chosen, of, window) {
                            found.push(chosen.clone());
                        }
                    }
                    assert_eq!(found, expected, "{count} of {of} within {window}");
                }
            }
        }
    }
}
