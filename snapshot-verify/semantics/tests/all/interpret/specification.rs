//! The normalised specification against exact search, on random events.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use snapshot_core::Process;
use snapshot_core::search::{Budget, Outcome, search_plainly};
use snapshot_semantics::interpret::{Action, Event, history};
use snapshot_semantics::refine::SnapshotSpecification;

/// Draws an event that a history can have there; scans return arbitrary values.
fn event(random: &mut ChaCha8Rng, open: &mut [Option<bool>], values: u32) -> Event {
    let n = open.len();
    let process = random.next_u32() as usize % n;
    let action = match open[process].take() {
        Some(true) => Action::RespondScan((0..n).map(|_| random.next_u32() % values).collect()),
        Some(false) => Action::RespondUpdate,
        None if random.next_u32().is_multiple_of(2) => {
            open[process] = Some(false);
            Action::InvokeUpdate(random.next_u32() % values)
        }
        None => {
            open[process] = Some(true);
            Action::InvokeScan
        }
    };
    Event { process: Process::from_index(process), action }
}

#[test]
fn specification_accepts_exactly_linearizable_histories() {
    let (mut accepted, mut refused) = (0, 0);
    for n in 1..=3 {
        let mut specification = SnapshotSpecification::new(n);
        for seed in 0..1500 {
            let mut random = ChaCha8Rng::seed_from_u64(seed);
            let mut events: Vec<Event> = Vec::new();
            let mut open = vec![None; n];
            let mut possible = specification.initial();
            for _ in 0..24 {
                events.push(event(&mut random, &mut open, 2));
                let mut budget = Budget { memory: usize::MAX, proceed: &mut || true };
                let judged = search_plainly(&history(n, &events), &mut budget);
                let expected = matches!(judged, Outcome::Linearizable(_));
                let after = specification.after(possible, events.last().unwrap());
                assert_eq!(after.is_some(), expected, "{events:?}");
                let Some(after) = after else {
                    refused += 1;
                    break;
                };
                accepted += 1;
                possible = after;
            }
        }
    }
    assert!(accepted > 10_000 && refused > 2_000, "{accepted} {refused}");
}
