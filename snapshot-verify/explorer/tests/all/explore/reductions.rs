//! Reductions of random instances keep the verdict.

use crate::passes::{constant, dead, decided, merge, shrink};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use snapshot_core::Process;
use snapshot_explorer::deadline::Deadline;
use snapshot_explorer::instance::{
    Assignment, Block, BlockId, End, Graph, Instance, Owner, SlotId, Target, Term,
};
use snapshot_explorer::pipeline::Prepared;
use snapshot_explorer::quotient::{
    canonical_renaming::CanonicalRenaming, process_symmetry::ProcessSymmetry,
};
use snapshot_explorer::reduction::Reductions;
use snapshot_explorer::search::{Exploration, SearchVerdict};
use test_support::effort::either;

use crate::explore::random;

const INSTANCES: u64 = 150;

/// Initialises locals: random instances read unassigned locals, instances of programs do not.
fn with_assigned_locals(mut instance: Instance) -> Instance {
    for (index, graph) in instance.graphs.iter_mut().enumerate() {
        let process = Process::from_index(index);
        // Reactions are created by reductions; programs have none.
        graph.locations.iter_mut().for_each(|standing| standing.reactions.clear());
        if !instance.pair.contains(&process) {
            graph.argument = None;
        }
        let locals: Vec<Assignment> = instance
            .slots
            .iter()
            .enumerate()
            .filter(|(slot, described)| {
                described.owner == Owner::Operation(process)
                    && graph.argument != Some(SlotId(*slot as u32))
            })
            .map(|(slot, described)| Assignment {
                target: Target::Slot(SlotId(slot as u32)),
                value: Term::Constant(described.initial),
            })
            .collect();
        graph.invocations.update = prefixed(graph, graph.invocations.update, &locals);
        let argument = graph
            .argument
            .map(|slot| Assignment { target: Target::Slot(slot), value: Term::Constant(0) });
        let locals: Vec<Assignment> = locals.into_iter().chain(argument).collect();
        graph.invocations.scan = prefixed(graph, graph.invocations.scan, &locals);
    }
    instance.validate();
    instance
}

fn prefixed(graph: &mut Graph, next: BlockId, assignments: &[Assignment]) -> BlockId {
    let id = BlockId(graph.blocks.len() as u32);
    let end = End::Jump(next);
    graph.blocks.push(Block { accesses: 0, assignments: assignments.to_vec(), end });
    id
}

/// Restricts the writers: only process k assigns bit k. Then some steps commute with the steps of
/// others.
fn with_single_writers(mut instance: Instance) -> Instance {
    for (process, graph) in instance.graphs.iter_mut().enumerate() {
        for block in &mut graph.blocks {
            block.assignments.retain(|assignment| {
                let mut allowed = true;
                assignment.target.slots(&mut |slot| {
                    allowed &= instance.slots[slot.index()].owner != Owner::Shared
                        || slot.index() == process;
                });
                allowed
            });
        }
    }
    instance
}

/// Returns the verdict in a word, the length of the counterexample, and the number of states.
fn explore(instance: &Instance, symmetry: bool, antichain: bool) -> (String, Option<u64>, u64) {
    let numbering = CanonicalRenaming::new(instance, 2, Deadline::NEVER).unwrap();
    let found = ProcessSymmetry::new(instance, |_| true, Deadline::NEVER).unwrap();
    let exploration = Exploration {
        operations: Some(2),
        memory: 1 << 28,
        antichain,
        numbering: Some(&numbering),
        symmetry: if symmetry { Some(&found) } else { None },
        ..Exploration::default()
    };
    let outcome = exploration.run(instance, &mut |_| {}).unwrap();
    let verdict = match &outcome.verdict {
        SearchVerdict::Verified => ("verified".to_owned(), None),
        SearchVerdict::Violation { trace, .. } => {
            ("violation".to_owned(), Some(trace.steps.len() as u64))
        }
        SearchVerdict::Fault { trace, .. } => ("fault".to_owned(), Some(trace.steps.len() as u64)),
        other => panic!("{other:?}"),
    };
    (verdict.0, verdict.1, outcome.states)
}

#[test]
fn every_reduction_keeps_verdict_and_counterexample_length() {
    let mut verdicts = std::collections::BTreeMap::<String, u32>::new();
    let mut saved = [0u32; 6];
    for seed in 0..INSTANCES {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let plain = with_assigned_locals(random::instance(&mut random));
        let expected = explore(&plain, false, false);
        *verdicts.entry(expected.0.clone()).or_default() += 1;
        let dead_only = dead(&plain);
        let decided_only = decided(&plain);
        let both = dead(&decided_only);
        let merged = merge(&both);
        let variants = [
            (&dead_only, false, false),
            (&decided_only, false, false),
            (&both, false, false),
            (&merged, false, false),
            (&merged, true, false),
            (&merged, true, true),
        ];
        for (at, (instance, symmetry, antichain)) in variants.into_iter().enumerate() {
            instance.validate();
            let found = explore(instance, symmetry, antichain);
            // A violation and a fault on one level may be found in either order.
            let wrong = |verdict: &str| verdict != "verified";
            assert_eq!(
                (wrong(&found.0), found.1),
                (wrong(&expected.0), expected.1),
                "seed {seed}, variant {at}: {instance}\nbefore: {plain}"
            );
            saved[at] += u32::from(found.2 < expected.2);
        }
    }
    assert!(verdicts["violation"] > 10, "{verdicts:?}");
    assert!(verdicts.get("verified").is_some_and(|&count| count > 10), "{verdicts:?}");

    assert!(saved[0] > 5 && saved[3] >= saved[0] && saved[5] > 5, "saved {saved:?}");
}

/// If steps are fused, a counterexample is shorter, and a violation and a fault may swap their
/// order; but its existence is unchanged.
#[test]
fn reductions_that_fuse_steps_keep_the_verdict() {
    let instances = either(300, 600);
    let (mut wrong, mut saved) = (0, [0; 4]);
    for seed in 0..instances {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut plain = with_assigned_locals(random::instance(&mut random));
        if seed % 2 == 1 {
            plain = with_single_writers(plain);
        }
        let expected = explore(&plain, false, false);
        wrong += u64::from(expected.0 != "verified");
        let constant_only = constant(&plain);
        let variants = [
            shrink(&plain),
            shrink(&constant_only),
            constant_only,
            Prepared::from_instance(plain.clone(), Reductions::standard(), Deadline::NEVER)
                .unwrap()
                .instance,
        ];
        for (at, instance) in variants.iter().enumerate() {
            instance.validate();
            let found = explore(instance, at == 3, at == 3);
            assert_eq!(
                found.0 == "verified",
                expected.0 == "verified",
                "seed {seed}, variant {at}: {instance}\nbefore: {plain}"
            );
            saved[at] += u64::from(found.2 < expected.2);
        }
    }
    assert!(wrong > 10 && wrong < instances - 10, "{wrong}");
    assert!(saved.iter().all(|&saved| saved > 5), "saved {saved:?}");
}
