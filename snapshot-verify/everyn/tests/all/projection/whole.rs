//! The whole state space of two processes, where it is small.

use std::collections::HashMap;

use snapshot_everyn::model::{Model, Obligation};
use snapshot_everyn::prove::Steps;
use snapshot_language::program::Program;
use snapshot_semantics::interpret::Machine;

use super::execution::Execution;
use super::follow::{Counts, Follower};
use super::programs::{DIRECT, LOCAL, corpus, small, views};
use trial::effort::{Effort, is_left_out};

/// Explores all states of `n` processes, whose moves must be fewer than `most`, each with the views
/// that some path to it has led to; new views of a known state are followed, too.
fn explore(
    program: &Program,
    model: &Model,
    steps: &Steps,
    n: usize,
    most: usize,
) -> (usize, Counts) {
    let machine = Machine::new(program, n).unwrap();
    let first = Follower::new(Execution::new(&machine, model, [0, n - 1]), steps);
    let mut known: HashMap<_, Vec<Vec<u32>>> = HashMap::new();
    let mut waiting = vec![first];
    let mut counts = Counts::default();
    while let Some(follower) = waiting.pop() {
        for process in 0..n {
            let calls = follower.execution.calls(process);
            let mut ways: Vec<_> = calls.into_iter().map(Some).collect();
            if ways.is_empty() {
                ways.push(None);
            }
            for call in ways {
                let mut next = follower.clone();
                next.counts = Counts::default();
                let goes_on = next.go(process, call).unwrap_or_else(|missing| panic!("{missing}"));
                counts.add(next.counts);
                if !goes_on {
                    continue;
                }
                let views: Vec<Vec<u32>> = next.views().map(|(_, views)| views.to_vec()).collect();
                let known = known.entry(next.execution.key()).or_default();
                let covered = known
                    .iter()
                    .zip(&views)
                    .all(|(known, views)| views.iter().all(|view| known.contains(view)));
                if known.is_empty() || !covered {
                    known.resize(views.len(), Vec::new());
                    for (known, views) in known.iter_mut().zip(views) {
                        known.extend(views);
                        known.sort_unstable();
                        known.dedup();
                    }
                    waiting.push(next);
                }
            }
        }
        assert!(counts.total() < most, "more than {most} steps");
    }
    (known.len(), counts)
}

fn whole(program: &Program, obligation: Obligation, n: usize, most: usize) -> (usize, Counts) {
    let (model, steps) = views(program, obligation, 1 << 20).expect("all views are found");
    let found = explore(program, &model, &steps, n, most);
    println!("{} {obligation:?}, n = {n}: {found:?}", program.name);
    found
}

#[test]
fn all_states_of_two_processes_have_views() {
    if is_left_out(Effort::Slow) {
        return;
    }
    let programs = [corpus("bowman"), small("versioned"), small("locked")];
    for program in &programs {
        let (states, counts) = whole(program, DIRECT, 2, 2_000_000);
        assert!(states > 100 && counts.total() > 1_000, "{states} {counts:?}");
        assert_eq!((counts.failures, counts.dubious), (0, 0), "no execution is abandoned");
    }
    // bowman is not right by memory, which takes three processes to see.
    let (states, counts) = whole(&corpus("bowman"), LOCAL, 2, 2_000_000);
    assert!(states > 100 && counts.failures == 0, "{states} {counts:?}");
}
