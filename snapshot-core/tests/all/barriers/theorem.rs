//! One barrier suffices for every violation of a snapshot, after a renaming.

use test_support::effort::is_night;

use super::definition::{is_linearizable, weakenings};
use super::objects::{Simple, Snapshot};
use super::orders::{self, Order};
use super::table::{differentiated, single_writers};

/// Returns the simple history of a renaming: updates of a segment from number `from` on become 1.
/// Updates that repeat the current value are left out; the rest keeps its numbers.
fn renamed(operations: &[Snapshot], from: [u8; 2]) -> Vec<(usize, Simple)> {
    let renamed = operations.iter().enumerate().filter_map(|(number, operation)| {
        let operation = match *operation {
            Snapshot::Update(segment, value) => {
                (value == from[segment]).then_some(Simple::Switch(segment))?
            }
            Snapshot::Scan(values) => Simple::Scan([0, 1].map(|l| values[l] >= from[l])),
        };
        Some((number, operation))
    });
    renamed.collect()
}

/// Returns true if the remaining operations cannot be put in order.
fn is_refuted(left: &[(usize, Simple)], before: &[u32]) -> bool {
    let operations: Vec<Simple> = left.iter().map(|(_, operation)| operation.clone()).collect();
    let among = |of: u32| {
        let places = left.iter().enumerate().filter(|(_, (number, _))| of >> number & 1 == 1);
        places.fold(0, |set, (place, _)| set | 1 << place)
    };
    let before: Vec<u32> = left.iter().map(|(number, _)| among(before[*number])).collect();
    !is_linearizable(&operations, &before)
}

/// Returns the number of cuts that the best renaming needs.
fn cuts_needed(operations: &[Snapshot], order: &Order) -> Option<usize> {
    let weakenings = weakenings(order);
    let (_, whole) = weakenings.last()?;
    if is_linearizable(operations, whole) {
        return None;
    }
    let froms = || (1..=4).flat_map(|i| (1..=4).map(move |j| [i, j]));
    let needed = weakenings
        .iter()
        .find(|(_, before)| froms().any(|from| is_refuted(&renamed(operations, from), before)));
    Some(needed.expect("some renaming shows the violation").0)
}

/// A renaming and one cut show every violation, and many need the cut.
#[test]
fn after_a_renaming_one_cut_shows_every_violation() {
    let most = if is_night() { 6 } else { 5 };
    let mut needing = [0; 2];
    for space in differentiated(most) {
        orders::each(space.operations(), &mut |order| {
            if !single_writers(&space.updates, order) {
                return;
            }
            for operations in &space.answered {
                if let Some(cuts) = cuts_needed(operations, order) {
                    needing[cuts] += 1;
                }
            }
        });
    }
    let expected = if is_night() { [502_853, 1_400_233] } else { [17_179, 78_926] };
    assert_eq!(needing, expected);
}
