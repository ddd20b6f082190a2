//! A cached move equals the move itself.

use std::collections::HashSet;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use snapshot_core::Process;
use snapshot_explorer::deadline::Deadline;
use snapshot_explorer::instance::Instance;
use snapshot_explorer::pipeline::Prepared;
use snapshot_explorer::reduction::{Reduction, Reductions};
use snapshot_explorer::search::Exploration;
use snapshot_explorer::search::product::{Move, Product, Scratch, Successor, TransitionCache};
use snapshot_language::parse;
use test_support::effort::either;

use crate::explore::{published, random};

/// A bound on the number of states compared per instance.
const ENOUGH: usize = 20_000;

/// Compares all moves from reachable states, and returns their number.
fn compare<const W: usize>(product: &Product<'_>) -> usize {
    let mut cache =
        TransitionCache::<W>::new(product).expect("this product has nothing to depend on");
    let mut scratch = [Scratch::new(product), Scratch::new(product)];
    let mut states = vec![product.layout().pack(&product.initial().0)];
    let mut reached: HashSet<[u64; W]> = states.iter().copied().collect();
    let mut compared = 0;
    while let Some(state) = states.pop() {
        let mut made: [Vec<(Move, Successor<W>)>; 2] = Default::default();
        let [computed, cached] = &mut made;
        let [first, second] = &mut scratch;
        product.successors(&state, first, |by, successor| computed.push((by, successor)));
        let each = |by, successor| cached.push((by, successor));
        product.successors_cached(&state, second, &mut cache, each);
        assert_eq!(computed, cached);
        compared += computed.len();
        for next in computed.iter().filter_map(|(_, successor)| successor.state) {
            if reached.len() < ENOUGH && reached.insert(next) {
                states.push(next);
            }
        }
    }
    compared
}

fn without_reactions(instance: &mut Instance) {
    let standings = instance.graphs.iter_mut().flat_map(|graph| &mut graph.locations);
    standings.for_each(|standing| standing.reactions.clear());
}

fn compare_all(exploration: &Exploration<'_>, instance: &Instance) -> usize {
    let compared = exploration.product(instance, |product| match product.layout().words() {
        1 => compare::<1>(product),
        2 => compare::<2>(product),
        3 => compare::<3>(product),
        words => panic!("{words} words are more than expected"),
    });
    compared.unwrap()
}

#[test]
fn cached_random_moves_equal_the_moves() {
    let mut compared = 0;
    for seed in 0..either(150, 400) {
        let mut instance = random::instance(&mut ChaCha8Rng::seed_from_u64(seed));
        without_reactions(&mut instance);
        if seed % 2 == 0 {
            instance.slots.extend([3, 5, 7].map(random::filler));
        }
        let operations = [None, Some(1), Some(2)][seed as usize % 3];
        let past_violations = seed % 5 == 0;
        let exploration = Exploration { operations, past_violations, ..Exploration::default() };
        compared += compare_all(&exploration, &instance);
    }
    assert!(compared > either(300_000, 1_000_000), "{compared}");
}

#[test]
fn cached_moves_of_algorithms_equal_the_moves() {
    let reductions = Reductions::NONE.with(Reduction::Dead).with(Reduction::Constant);
    let bowman = corpus::algorithm("bowman").unwrap().text;
    for (text, bug) in [(bowman, None), (bowman, Some("early_exit")), (COMPARING, None)] {
        let program = parse("text", text).unwrap().program(bug).unwrap();
        for pair in [[0, 1], [1, 2]] {
            let pair = pair.map(Process::from_index);
            let prepared =
                Prepared::new(&program, 3, pair, reductions, |_| true, Deadline::NEVER).unwrap();
            let compared = compare_all(&Exploration::default(), prepared.explored());
            assert!(compared > ENOUGH, "{compared}");
        }
    }
}

/// A branch on two variables; the second one occurs nowhere else in the step.
const COMPARING: &str = "algorithm comparing
shared a[segment]: value
shared last[segment]: value
private known: value
update(v):
    x := a[me]
    if x = known: a[me] := v
    else: last[me] := v
scan:
    local copy[segment]: value
    known := last[me]
    for s in segments: copy[s] := a[s]
    return copy
";

#[test]
fn no_cache_if_more_than_the_footprint_matters() {
    let is_remembered = |exploration: &Exploration<'_>, instance: &Instance| {
        let cache = |product: &Product<'_>| match product.layout().words() {
            1 => TransitionCache::<1>::new(product).is_some(),
            _ => TransitionCache::<2>::new(product).is_some(),
        };
        exploration.product(instance, cache).unwrap()
    };
    let text = corpus::algorithm("bowman").unwrap().text;
    let prepared = published::prepared(text, None, 3, Reductions::NONE);
    let plain = Exploration::default();
    assert!(is_remembered(&plain, prepared.explored()));

    let with_ample = published::prepared(text, None, 3, Reductions::NONE.with(Reduction::Ample));
    let ample =
        with_ample.ample(None, Deadline::NEVER).unwrap().expect("bowman has steps that commute");
    let at_once = Exploration { ample: Some(&ample), ..Exploration::default() };
    assert!(!is_remembered(&at_once, prepared.explored()));

    let reacting = (0..).map(|seed| random::instance(&mut ChaCha8Rng::seed_from_u64(seed)));
    let mut reacting = reacting.filter(|instance| {
        let mut standings = instance.graphs.iter().flat_map(|graph| &graph.locations);
        standings.any(|standing| !standing.reactions.is_empty())
    });
    let mut reacting = reacting.next().expect("some react");
    assert!(!is_remembered(&plain, &reacting));
    without_reactions(&mut reacting);
    assert!(is_remembered(&plain, &reacting));
}
