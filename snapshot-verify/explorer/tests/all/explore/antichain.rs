//! The antichain: the observer is monotone, and no violation is lost.

use std::collections::HashMap;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use snapshot_core::Process;
use snapshot_core::observer::{Must, ObserverState};
use snapshot_core::simple::Switching;
use snapshot_explorer::search::{Exploration, Outcome, SearchVerdict};

use crate::explore::bowman::{Exit, bowman};
use crate::explore::meaning::{found, replay};
use crate::explore::oracle::{Ends, Found, Oracle, State};
use crate::explore::random;

const INVOKED: u8 = 3;

/// Returns true if t dominates s.
fn dominates(t: ObserverState, s: ObserverState) -> bool {
    (t.bits() ^ s.bits()) & INVOKED == 0 && s.bits() & !t.bits() == 0
}

#[test]
fn the_observer_is_monotone() {
    let states =
        || (0..1 << ObserverState::BITS).map(|bits| ObserverState::from_bits(bits).unwrap());
    let musts = || (0..Must::COUNT as u8).map(|bits| Must::from_bits(bits).unwrap());
    let mut pairs = 0;
    for s in states() {
        for t in states().filter(|&t| dominates(t, s)) {
            pairs += 1;
            assert_eq!(s.invoke_scan().bits() & !t.invoke_scan().bits(), 0, "{s:?} {t:?}");
            for l in Switching::BOTH {
                assert_eq!(s.invoked(l), t.invoked(l));
                assert!(dominates(t.invoke_update(l), s.invoke_update(l)), "{s:?} {t:?}");
                assert!(dominates(t.respond_update(l), s.respond_update(l)), "{s:?} {t:?}");
            }
            for m in musts() {
                for more in musts().filter(|more| m.bits() & !more.bits() == 0) {
                    for (at_i, at_j) in [(false, false), (false, true), (true, false), (true, true)]
                    {
                        let weak = s.respond_scan(m, at_i, at_j);
                        match t.respond_scan(more, at_i, at_j) {
                            Err(_) => {}
                            Ok(strong) => assert!(dominates(strong, weak.unwrap()), "{s:?} {t:?}"),
                        }
                    }
                }
            }
        }
    }
    assert_eq!(pairs, 4 * 3_u32.pow(4), "4 ways to be invoked, 3 to be included per bit");
}

/// The parts compared by dominance: bits, and operations left, if they are bounded.
type Compared = (Vec<u8>, Vec<u32>);

/// Searches with maximal states only, by comparing all states with each other.
fn naive(oracle: &Oracle<'_>) -> Found {
    let bits = |state: &State| {
        let musts = state.musts.iter().map(|must| must.bits());
        let bits = musts.chain([state.observer.bits() & !INVOKED]).collect::<Vec<u8>>();
        (bits, state.left.clone())
    };
    let rest = |state: &State| {
        let invoked = state.observer.bits() & INVOKED;
        (state.slots.clone(), state.locations.clone(), invoked)
    };
    let included = |(s, few): &Compared, (t, many): &Compared| {
        s.iter().zip(t).all(|(s, t)| s & !t == 0) && few.iter().zip(many).all(|(s, t)| s <= t)
    };
    let mut kept = HashMap::from([(rest(&oracle.initial()), vec![bits(&oracle.initial())])]);
    let mut level = vec![oracle.initial()];
    let mut found = Found { states: 1, ..Found::default() };
    for depth in 0.. {
        found.depth = depth;
        let mut reached = Vec::new();
        for state in &level {
            for process in 0..oracle.instance.processes {
                for choice in oracle.choices(process, state) {
                    let mut after = state.clone();
                    found.transitions += 1;
                    match oracle.take(process, choice, &mut after).ends {
                        Ends::Well => reached.push(after),
                        _ => found.stops_after = Some(depth + 1),
                    }
                }
            }
        }
        let mut next = Vec::new();
        for state in reached {
            let of = kept.entry(rest(&state)).or_insert_with(Vec::new);
            let new = bits(&state);
            if !of.iter().any(|old| included(&new, old)) {
                of.retain(|old| !included(old, &new));
                of.push(new);
                next.push(state);
            }
        }
        next.retain(|state| kept[&rest(state)].contains(&bits(state)));
        found.states += next.len() as u64;
        if next.is_empty() || found.stops_after.is_some() {
            return found;
        }
        level = next;
    }
    unreachable!()
}

#[test]
fn antichain_keeps_maximal_states_and_shortest_counterexamples() {
    let mut saved = 0;
    let mut counted = 0;
    for seed in 1000..1300 {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let instance = random::instance(&mut random);
        let operations = [None, Some(2), Some(3)][random.random_range(0..3)];
        let active = vec![true; instance.processes];
        let oracle = Oracle { instance: &instance, operations, active };
        let all = Exploration { operations, ..Exploration::default() };
        let antichain = Exploration { antichain: true, ..all.clone() };
        let all = found(&all.run(&instance, &mut |_| {}).unwrap());
        let outcome = antichain.run(&instance, &mut |_| {}).unwrap();
        let maximal = found(&outcome);
        assert_eq!(maximal, naive(&oracle), "seed {seed}");
        assert_eq!(maximal.stops_after, all.stops_after, "seed {seed}");
        assert!(maximal.states <= all.states, "seed {seed}");
        let layout = antichain.layout(&instance).unwrap();
        let left = layout.fields()[layout.registers().left(Process::from_index(0))];
        counted += u32::from(left.word() == 0 && left.mask() & layout.monotone().mask() != 0);
        saved += u32::from(maximal.states < all.states);
        match &outcome.verdict {
            SearchVerdict::Violation { trace, .. } => {
                assert_eq!(replay(&oracle, trace), Ends::Violation)
            }
            SearchVerdict::Fault { trace, .. } => assert_eq!(replay(&oracle, trace), Ends::Fault),
            _ => {}
        }
    }
    assert!(saved > 20, "an antichain that saves nothing tests nothing: {saved}");
    assert!(counted > 100, "operations left are compared: {counted}");
}

#[test]
fn the_antichain_is_the_same_for_any_number_of_threads() {
    for (exit, n) in [(Exit::Correct, 4), (Exit::Early, 4)] {
        let run = |threads| {
            let exploration = Exploration { threads, antichain: true, ..Exploration::default() };
            let outcome = exploration.run(&bowman(n, [0, 2], exit), &mut |_| {}).unwrap();
            let Outcome { verdict, states, transitions, depth, .. } = outcome;
            (verdict, states, transitions, depth)
        };
        let alone = run(1);
        assert_eq!(alone, run(2));
        assert_eq!(alone, run(3));
        assert!(alone.1 < 2_000_000, "of 2.15 million: {}", alone.1);
    }
}
