//! Barriers.

use std::collections::BTreeSet;
use std::hash::Hash;
use std::ops::RangeInclusive;

use super::{bond, object};
use crate::synchronisation::{Bond, Member, Synchronisation};

/// A barrier at which n threads meet. Inputs and outputs carry no information.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Barrier {
    /// Number of threads; at least 1.
    pub threads: usize,
}

impl Synchronisation for Barrier {
    type State = ();
    type Input = ();
    type Output = ();

    fn initial(&self) {}

    fn arities(&self) -> RangeInclusive<usize> {
        self.threads..=self.threads
    }

    fn together(&self, (): &mut (), group: &[Member<'_, (), ()>]) -> Bond {
        if group.len() < self.threads { Bond::Prefix } else { bond(group.len() == self.threads) }
    }
}

/// A barrier at which n threads meet, and exactly one of them is the leader (as in
/// `std::sync::Barrier`). The output is true for the leader.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct LeaderBarrier {
    /// Number of threads; at least 1.
    pub threads: usize,
}

impl Synchronisation for LeaderBarrier {
    type State = ();
    type Input = ();
    type Output = bool;

    fn initial(&self) {}

    fn arities(&self) -> RangeInclusive<usize> {
        self.threads..=self.threads
    }

    fn together(&self, (): &mut (), group: &[Member<'_, (), bool>]) -> Bond {
        let leaders = group.iter().filter(|(_, leads)| *leads == Some(&true)).count();
        let followers = group.iter().filter(|(_, leads)| *leads == Some(&false)).count();
        if leaders > 1 || followers >= self.threads || group.len() > self.threads {
            Bond::No
        } else if group.len() < self.threads {
            Bond::Prefix
        } else {
            Bond::Yes
        }
    }
}

object! {
    /// A barrier at which all enrolled threads meet: none at first. A thread enrols when it is not
    /// enrolled, resigns and synchronises when it is.
    EnrollableBarrier
}

/// An operation of an enrollable barrier, with the identity of its thread.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum EnrollableInput<V> {
    /// Meets all enrolled threads.
    Sync(V),
    /// Enrols the thread.
    Enrol(V),
    /// Resigns the thread.
    Resign(V),
}

impl<V: Clone + Hash + Ord> Synchronisation for EnrollableBarrier<V> {
    /// The enrolled threads.
    type State = BTreeSet<V>;
    type Input = EnrollableInput<V>;
    type Output = ();

    fn initial(&self) -> BTreeSet<V> {
        BTreeSet::new()
    }

    fn arities(&self) -> RangeInclusive<usize> {
        1..=usize::MAX
    }

    fn together(
        &self,
        enrolled: &mut BTreeSet<V>,
        group: &[Member<'_, EnrollableInput<V>, ()>],
    ) -> Bond {
        match group {
            [(EnrollableInput::Enrol(me), _)] => return bond(enrolled.insert(me.clone())),
            [(EnrollableInput::Resign(me), _)] => return bond(enrolled.remove(me)),
            _ => {}
        }
        let mut met = BTreeSet::new();
        for (input, _) in group {
            match input {
                EnrollableInput::Sync(me) if enrolled.contains(me) && met.insert(me) => {}
                _ => return Bond::No,
            }
        }
        if met.len() == enrolled.len() { Bond::Yes } else { Bond::Prefix }
    }

    /// All enrolled threads must be present.
    fn can_complete(
        &self,
        enrolled: &BTreeSet<V>,
        group: &[Member<'_, EnrollableInput<V>, ()>],
        left: &[Member<'_, EnrollableInput<V>, ()>],
    ) -> bool {
        let all = group.iter().chain(left).filter_map(|(input, _)| match input {
            EnrollableInput::Sync(me) => enrolled.get(me),
            EnrollableInput::Enrol(_) | EnrollableInput::Resign(_) => None,
        });
        all.collect::<BTreeSet<_>>().len() == enrolled.len()
    }

    fn bytes(&self, enrolled: &BTreeSet<V>) -> usize {
        size_of_val(enrolled) + 2 * enrolled.len() * size_of::<V>()
    }
}
