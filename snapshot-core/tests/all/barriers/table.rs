//! The table of `docs/barriers.md`: the number of barriers that violations need, object by object.
//!
//! A history is an interval order of labelled operations with an answer of each. Operations with
//! inputs are distinguished by them; other equal operations, by their positions, and answers are
//! counted as multisets.

use test_support::effort::is_night;

use super::definition::{Answered, cuts_needed, weakenings};
use super::objects::{Counter, Queue, Register, Simple, Snapshot, Stack};
use super::orders::{self, Order};
use super::weaken::agree;

/// A row of the table.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
struct Row {
    histories: usize,
    /// By number of cuts, the non-linearizable histories that need this many.
    needing: [usize; 5],
}

impl Row {
    /// Counts all orders of these operations with any of these answers.
    fn count<A: Answered>(&mut self, answers: &[Vec<A>], is_order: impl Fn(&Order) -> bool) {
        let operations = answers.first().map_or(0, Vec::len);
        orders::each(operations, &mut |order| {
            if !is_order(order) {
                return;
            }
            let weakenings = weakenings(order);
            for answered in answers {
                self.histories += 1;
                let needed = cuts_needed(answered, &weakenings);
                if let Some(cuts) = needed {
                    self.needing[cuts] += 1;
                }
                // The crate's own answer takes longer than the definition.
                if self.histories.is_multiple_of(7) {
                    agree(answered, order, needed);
                }
            }
        });
    }
}

/// All multisets of `count` of these, each after `first`.
fn with_multisets<A: Clone>(first: &[A], of: &[A], count: usize) -> Vec<Vec<A>> {
    let mut all = vec![(first.to_vec(), 0)];
    for _ in 0..count {
        let more = all.iter().flat_map(|(chosen, least)| {
            (*least..of.len()).map(move |next| {
                let mut chosen = chosen.clone();
                chosen.push(of[next].clone());
                (chosen, next)
            })
        });
        all = more.collect();
    }
    all.into_iter().map(|(chosen, _)| chosen).collect()
}

/// Combines each of `firsts` with all of 1 to 3 queries, up to `most` operations.
fn rows<A: Answered>(
    most: usize,
    firsts: impl IntoIterator<Item = Vec<A>>,
    answers: impl Fn(&[A]) -> Vec<A>,
    is_order: impl Fn(&[A], &Order) -> bool,
) -> Row {
    let mut row = Row::default();
    for first in firsts {
        for queries in 1..=3 {
            if first.len() + queries <= most {
                let answered = with_multisets(&first, &answers(&first), queries);
                row.count(&answered, |order| is_order(&first, order));
            }
        }
    }
    row
}

fn any<A>(_: &[A], _: &Order) -> bool {
    true
}

/// Returns the expected row: of the shorter table, or of the whole one.
fn either(
    (histories, needing): (usize, [usize; 5]),
    (of_all, needing_of_all): (usize, [usize; 5]),
) -> Row {
    match is_night() {
        true => Row { histories: of_all, needing: needing_of_all },
        false => Row { histories, needing },
    }
}

#[test]
fn simple_snapshot_histories_need_at_most_one_cut() {
    let switches = (0..=2).map(|count| (0..count).map(Simple::Switch).collect());
    let scans = [[false; 2], [false, true], [true, false], [true; 2]].map(Simple::Scan);
    let row = rows(5, switches, |_| scans.to_vec(), any);
    assert_eq!(row, Row { histories: 75_922, needing: [17_853, 49_878, 0, 0, 0] });
}

/// Returns true if the updates of each segment follow each other.
pub fn single_writers(updates: &[Snapshot], order: &Order) -> bool {
    let spans = &order.spans[..updates.len()];
    let mut neighbours = updates.windows(2).zip(spans.windows(2));
    neighbours.all(|(updates, spans)| match updates {
        [Snapshot::Update(one, _), Snapshot::Update(other, _)] if one == other => {
            spans[0].1 < spans[1].0
        }
        _ => true,
    })
}

/// Operations of a snapshot with all answers.
pub struct Space {
    pub updates: Vec<Snapshot>,
    /// The updates, and the scans with their answers.
    pub answered: Vec<Vec<Snapshot>>,
}

impl Space {
    pub fn operations(&self) -> usize {
        self.answered.first().map_or(0, Vec::len)
    }
}

/// Returns updates of two segments by one writer each, with at least as many of the second, and the
/// answers of up to three scans.
pub fn differentiated(most: usize) -> Vec<Space> {
    let mut all = Vec::new();
    for [i, j] in (0..=3).flat_map(|i| (i..=3).map(move |j| [i, j])) {
        let of =
            |segment: usize, count| (1..=count).map(move |value| Snapshot::Update(segment, value));
        let updates: Vec<Snapshot> = of(0, i).chain(of(1, j)).collect();
        let values = (0..=i).flat_map(|i| (0..=j).map(move |j| [i, j]));
        let scans: Vec<Snapshot> = values.map(Snapshot::Scan).collect();
        for count in 1..=3 {
            if updates.len() + count <= most {
                let answered = with_multisets(&updates, &scans, count);
                all.push(Space { updates: updates.clone(), answered });
            }
        }
    }
    all
}

#[test]
fn differentiated_snapshot_histories_need_at_most_two_cuts() {
    let mut row = Row::default();
    for Space { updates, answered } in differentiated(if is_night() { 6 } else { 5 }) {
        row.count(&answered, |order| single_writers(&updates, order));
    }
    assert_eq!(
        row,
        either(
            (111_330, [16_123, 78_297, 1_685, 0, 0]),
            (2_052_196, [329_827, 1_526_867, 46_392, 0, 0])
        )
    );
}

#[test]
fn registers() {
    let most = if is_night() { 5 } else { 4 };
    let writes = (1..=3_u8).map(|count| (1..=count).map(Register::Write).collect());
    let answers =
        |writes: &[Register]| (0..=writes.len() as u8).map(Register::Read).collect::<Vec<_>>();
    let row = rows(most, writes, answers, any);
    assert_eq!(row, either((3_018, [0, 1_633, 117, 0, 0]), (72_038, [0, 47_556, 4_742, 0, 0])));
}

#[test]
fn counters() {
    let most = if is_night() { 5 } else { 4 };
    let increments = (1..=3).map(|count| vec![Counter::Increment; count]);
    let answers =
        |first: &[Counter]| (0..=first.len() as u8 + 1).map(Counter::Get).collect::<Vec<_>>();
    let row = rows(most, increments, answers, any);
    assert_eq!(
        row,
        either((5_374, [2_356, 1_798, 4, 0, 0]), (126_159, [54_121, 53_773, 277, 0, 0]))
    );
}

/// Returns one to three values, and one to three removals: each value at most once, and with
/// `empty` any number of removals that found the object empty.
fn pools<A: Answered>(
    most: usize,
    has_empty: bool,
    add: impl Fn(u8) -> A,
    remove: impl Fn(Option<u8>) -> A,
) -> Row {
    let mut row = Row::default();
    for values in 1..=3_u8 {
        for removals in 1..=3_u8 {
            if usize::from(values + removals) > most {
                continue;
            }
            let chosen = (0..1_u8 << values).filter(|set| {
                let count = set.count_ones() as u8;
                count == removals || has_empty && count < removals
            });
            let answered = chosen.map(|set| {
                let adds = (0..values).map(&add);
                let removed = (0..values).filter(|value| set >> value & 1 == 1).map(Some);
                let mut all: Vec<A> = adds.chain(removed.map(&remove)).collect();
                all.resize_with(usize::from(values + removals), || remove(None));
                all
            });
            row.count(&answered.collect::<Vec<_>>(), |_| true);
        }
    }
    row
}

#[test]
fn queues() {
    let most = if is_night() { 6 } else { 5 };
    let row = pools(most, false, Queue::Add, Queue::Remove);
    assert_eq!(row, either((11_222, [0, 7_574, 346, 0, 0]), (92_885, [0, 62_199, 6_736, 0, 0])));
}

#[test]
fn queues_with_empty_answers() {
    let most = if is_night() { 5 } else { 4 };
    let row = pools(most, true, Queue::Add, Queue::Remove);
    assert_eq!(row, either((2_171, [0, 1_175, 46, 0, 0]), (40_132, [0, 27_325, 1_416, 8, 0])));
}

#[test]
fn stacks() {
    let most = if is_night() { 6 } else { 5 };
    let row = pools(most, false, Stack::Add, Stack::Remove);
    assert_eq!(
        row,
        either((11_222, [0, 5_714, 716, 80, 0]), (92_885, [0, 60_339, 716, 1_484, 30]))
    );
}

#[test]
fn stacks_with_empty_answers() {
    let most = if is_night() { 5 } else { 4 };
    let row = pools(most, true, Stack::Add, Stack::Remove);
    assert_eq!(row, either((2_171, [0, 988, 97, 2, 0]), (40_132, [0, 24_237, 2_036, 106, 0])));
}
