//! Objects defined only by a relation: the sets of inputs that can meet are drawn at random, so
//! that no order of trying partners is the right one from the start.

use std::ops::RangeInclusive;

use snapshot_core::generic::History;
use snapshot_core::synchronisation::{Bond, Member, Synchronisation};

use super::domain::{Random, Recording};
use super::oracle::truth;
use super::{Tally, matched, searched};

const INPUTS: usize = 5;

/// A stateless object in which exactly these sets of inputs, of one size, can meet.
struct Relation {
    size: usize,
    /// Ascending.
    sets: Vec<Vec<usize>>,
}

impl Relation {
    fn random(random: &mut Random, size: usize) -> Self {
        let mut sets = Vec::new();
        for _ in 0..1 + random.below(if size == 2 { 6 } else { 24 }) {
            let mut set: Vec<usize> = (0..size).map(|_| random.below(INPUTS)).collect();
            set.sort_unstable();
            sets.push(set);
        }
        Self { size, sets }
    }

    /// Returns an execution: each operation has its own process; a fourth of them never respond.
    fn execution(random: &mut Random, operations: usize) -> Recording<Self> {
        let mut history = History::builder();
        let mut open = Vec::new();
        let mut invoked = 0;
        while invoked < operations || !open.is_empty() {
            if invoked < operations && (open.is_empty() || random.below(5) < 3) {
                history.invoke(invoked, random.below(INPUTS)).unwrap();
                if random.below(4) > 0 {
                    open.push(invoked);
                }
                invoked += 1;
            } else if !open.is_empty() {
                let process = open.swap_remove(random.below(open.len()));
                history.respond(process, ()).unwrap();
            }
        }
        history.finish()
    }
}

impl Synchronisation for Relation {
    type State = ();
    type Input = usize;
    type Output = ();

    fn initial(&self) {}

    fn arities(&self) -> RangeInclusive<usize> {
        self.size..=self.size
    }

    fn together(&self, (): &mut (), group: &[Member<'_, usize, ()>]) -> Bond {
        let mut inputs: Vec<usize> = group.iter().map(|(input, _)| **input).collect();
        inputs.sort_unstable();
        if self.sets.contains(&inputs) {
            Bond::Yes
        } else if inputs.len() < self.size {
            Bond::Prefix
        } else {
            Bond::No
        }
    }
}

/// The same object with a count of its groups: a search must not take it for stateless.
struct Counted(Relation);

impl Synchronisation for Counted {
    type State = usize;
    type Input = usize;
    type Output = ();

    fn initial(&self) -> usize {
        0
    }

    fn arities(&self) -> RangeInclusive<usize> {
        self.0.arities()
    }

    fn together(&self, count: &mut usize, group: &[Member<'_, usize, ()>]) -> Bond {
        *count += 1;
        self.0.together(&mut (), group)
    }
}

#[test]
fn random_relations_of_two() {
    let mut random = Random(31);
    let mut tally = Tally::default();
    for round in 0..30_000 {
        let relation = Relation::random(&mut random, 2);
        let history = Relation::execution(&mut random, 3 + round % 6);
        let found = matched(&relation, &history, &mut tally);
        if round % 4 == 0 {
            assert_eq!(found, truth(&relation, &history), "{:?} {history:#?}", relation.sets);
        }
        let counted = searched(&Counted(relation), &history, &mut Tally::default());
        assert_eq!(found.is_set_linearizable, counted.is_set_linearizable, "{history:#?}");
    }
    assert!(tally.set_linearizable > 1_000 && tally.of_several > 500, "{tally:?}");
}

#[test]
fn random_relations_of_three() {
    let mut random = Random(32);
    let mut tally = Tally::default();
    for round in 0..6_000 {
        let relation = Relation::random(&mut random, 3);
        let history = Relation::execution(&mut random, 4 + round % 6);
        let found = searched(&relation, &history, &mut tally);
        assert_eq!(found, truth(&relation, &history), "{:?} {history:#?}", relation.sets);
    }
    assert!(tally.set_linearizable > 100, "{tally:?}");
}

/// A pending operation that was taken is still open: had another choice been made, it could meet
/// a later one. The first choices leave 4 and 5 to operations 2 and 3, and 6 needs 4.
#[test]
fn a_taken_pending_operation_keeps_earlier_choices_open() {
    let pairs = [[0, 1], [0, 2], [2, 4], [1, 3], [3, 5], [4, 6]];
    let relation = Relation { size: 2, sets: pairs.map(Vec::from).into() };
    let mut history = History::builder();
    for input in 0..6 {
        history.invoke(input, input).unwrap();
    }
    for process in 0..4 {
        history.respond(process, ()).unwrap();
    }
    history.invoke(6, 6).unwrap();
    history.respond(6, ()).unwrap();
    let history = history.finish();
    let found = matched(&relation, &history, &mut Tally::default());
    assert!(found.is_set_linearizable);
    assert_eq!(found, truth(&relation, &history));
}
