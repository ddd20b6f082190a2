//! The explorer and the oracle agree on random instances, and on every step of every trace.

use std::collections::BTreeSet;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use snapshot_core::Process;
use snapshot_explorer::instance::{Instance, Scalar};
use snapshot_explorer::search::layout::Registers;
use snapshot_explorer::search::{Exploration, Outcome, SearchPath, SearchVerdict};
use test_support::effort::either;

use crate::explore::oracle::{Ends, Found, Oracle, State};
use crate::explore::random;

/// Returns the registers of an unpacked state.
pub fn registers(instance: &Instance, state: &State) -> Vec<Scalar> {
    let registers = Registers::new(instance);
    let mut scalars = vec![0; registers.count()];
    scalars[..state.slots.len()].copy_from_slice(&state.slots);
    for process in (0..instance.processes).map(Process::from_index) {
        let index = process.index();
        scalars[registers.location(process)] = state.locations[index].index() as Scalar;
        scalars[registers.must_bits(process)] = Scalar::from(state.musts[index].bits());
        scalars[registers.left(process)] = state.left[index] as Scalar;
    }
    scalars[registers.invoked()] = Scalar::from(state.observer.bits() & 3);
    scalars[registers.needed_and_bad()] = Scalar::from(state.observer.bits() >> 2);
    scalars
}

/// Replays a trace, and returns its ending.
pub fn replay(oracle: &Oracle<'_>, trace: &SearchPath) -> Ends {
    let mut state = oracle.initial();
    let (last, steps) = trace.steps.split_last().unwrap();
    for step in steps {
        let process = step.process.index();
        assert!(oracle.choices(process, &state).contains(&step.choice), "{step:?}");
        let done = oracle.take(process, step.choice, &mut state);
        assert_eq!((done.ends, done.accesses), (Ends::Well, step.accesses));
        let sorted = |reactions: &[(Process, u32)]| {
            let mut reactions = reactions.to_vec();
            reactions.sort_by_key(|&(process, _)| process);
            reactions
        };
        assert_eq!(sorted(&done.reactions), sorted(&step.reactions));
        assert_eq!(registers(oracle.instance, &state), step.state);
    }
    assert!(oracle.choices(last.process.index(), &state).contains(&last.choice));
    oracle.take(last.process.index(), last.choice, &mut state).ends
}

/// Converts the explorer's result to the oracle's form.
pub fn found(outcome: &Outcome) -> Found {
    let stops_after = match &outcome.verdict {
        SearchVerdict::Verified => None,
        SearchVerdict::Violation { trace, .. } | SearchVerdict::Fault { trace, .. } => {
            Some(trace.steps.len() as u32)
        }
        SearchVerdict::Unknown { .. } => panic!("{outcome:?}"),
    };
    let Outcome { states, transitions, depth, .. } = *outcome;
    Found { states, transitions, depth, stops_after }
}

#[test]
fn explorer_and_oracle_agree_on_random_instances() {
    let mut ended = [0; 3];
    let mut words = BTreeSet::new();
    for seed in 0..either(200, 500) {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut instance = random::instance(&mut random);
        // States have up to 8 words.
        for _ in 0..[0, 0, 1, 2, 4, 8, 14][random.random_range(0..7)] {
            let initial = random.random_range(0..1 << 30);
            instance.slots.push(random::filler(initial));
        }
        let operations = [None, Some(1), Some(2)][random.random_range(0..3)];
        let active: Vec<bool> =
            (0..instance.processes).map(|p| p == 0 || random.random_bool(0.8)).collect();
        let oracle = Oracle { instance: &instance, operations, active: active.clone() };
        let expected = oracle.search(&|_| ());
        let active = active.iter().enumerate().filter(|(_, active)| **active);
        let active: BTreeSet<Process> = active.map(|(p, _)| Process::from_index(p)).collect();
        let exploration = Exploration {
            operations,
            active: Some(active),
            threads: 1 + seed as usize % 3,
            ..Exploration::default()
        };
        let outcome = exploration.run(&instance, &mut |_| {}).unwrap();
        assert_eq!(found(&outcome), expected, "seed {seed}");
        let (kind, trace) = match &outcome.verdict {
            SearchVerdict::Violation { trace, .. } => (Ends::Violation, Some(trace)),
            SearchVerdict::Fault { trace, .. } => (Ends::Fault, Some(trace)),
            _ => (Ends::Well, None),
        };
        let layout = exploration.layout(&instance).unwrap();
        layout.validate();
        if let Some(trace) = trace {
            assert_eq!(replay(&oracle, trace), kind, "seed {seed}");
        }
        ended[kind as usize] += 1;
        words.insert(layout.words());
    }
    assert_eq!(words, BTreeSet::from([1, 2, 3, 6, 8]));
    assert!(
        ended.iter().all(|&times| times >= either(8, 20)),
        "each kind of end occurs: {ended:?}"
    );
}
