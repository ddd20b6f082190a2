//! The contract of `together` for every object: independence of the order, and the meaning of
//! `Bond::No` and `Bond::Prefix`.

use std::fmt::Debug;

use snapshot_core::synchronisation::{Bond, Member, Synchronisation};

use super::domain::{self, Domain};

/// All groups of up to `most` operations (pending ones too) in all states that are reached by
/// up to two groups.
fn judge<S: Synchronisation>(domain: &Domain<S>, most: usize)
where
    S::Input: Clone + Debug,
    S::Output: Clone + Debug,
    S::State: Debug,
{
    let mut kinds: Vec<Member<'_, S::Input, S::Output>> = Vec::new();
    for (input, outputs) in &domain.operations {
        kinds.push((input, None));
        kinds.extend(outputs.iter().map(|output| (input, Some(output))));
    }
    let mut groups: Vec<Vec<Member<'_, S::Input, S::Output>>> = vec![Vec::new()];
    let mut from = 0;
    for _ in 0..most {
        let end = groups.len();
        for index in from..end {
            for &kind in &kinds {
                let mut longer = groups[index].clone();
                longer.push(kind);
                groups.push(longer);
            }
        }
        from = end;
    }
    groups.remove(0);
    let mut states = vec![domain.object.initial()];
    for _ in 0..2 {
        for state in states.clone() {
            for group in &groups {
                let mut after = state.clone();
                if domain.object.together(&mut after, group) == Bond::Yes
                    && !states.contains(&after)
                {
                    states.push(after);
                }
            }
        }
    }
    let arities = domain.object.arities();
    let mut seen = [0; 3];
    for state in &states {
        let answers: Vec<(Bond, S::State)> = groups
            .iter()
            .map(|group| {
                let mut after = state.clone();
                (domain.object.together(&mut after, group), after)
            })
            .collect();
        for (group, (bond, after)) in groups.iter().zip(&answers) {
            seen[*bond as usize] += 1;
            if *bond == Bond::Yes {
                assert!(arities.contains(&group.len()), "{group:?}");
            }
            let mut reversed: Vec<_> = group.iter().rev().copied().collect();
            for _ in 0..group.len() {
                let mut state = state.clone();
                assert_eq!(domain.object.together(&mut state, &reversed), *bond, "{group:?}");
                assert!(*bond != Bond::Yes || state == *after, "{group:?}");
                reversed.rotate_left(1);
            }
        }
        // A group contains no refused part.
        for (index, (bond, _)) in answers.iter().enumerate() {
            let group = &groups[index];
            if group.len() < 2 || *bond == Bond::No {
                continue;
            }
            let mut prefix = group.clone();
            prefix.pop();
            let mut state = state.clone();
            let bond = domain.object.together(&mut state, &prefix);
            assert_ne!(bond, Bond::No, "{prefix:?} of {group:?}");
        }
    }
    assert!(
        seen[Bond::Yes as usize] > 0 && seen[Bond::No as usize] + seen[Bond::Prefix as usize] > 0
    );
}

#[test]
fn together_keeps_its_contract_for_every_object() {
    judge(&domain::channel(), 3);
    judge(&domain::filter_channel(), 3);
    judge(&domain::men_and_women(), 3);
    judge(&domain::exchanger(), 3);
    judge(&domain::timeout_channel(), 3);
    judge(&domain::timeout_exchanger(), 3);
    judge(&domain::counter_channel(), 3);
    judge(&domain::two_families(), 3);
    judge(&domain::one_family(), 3);
    judge(&domain::abc(), 4);
    judge(&domain::barrier(3), 4);
    judge(&domain::leader_barrier(3), 4);
    judge(&domain::enrollable_barrier(), 3);
    judge(&domain::closeable_channel(), 3);
    judge(&domain::terminating_queue(3), 4);
    judge(&domain::atomic_broadcast(2), 4);
}
