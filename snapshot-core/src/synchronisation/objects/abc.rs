//! Threads of three kinds meet.

use std::hash::Hash;
use std::ops::RangeInclusive;

use super::{bond, object, returns};
use crate::synchronisation::{Bond, Member, Synchronisation};

object! {
    /// Threads of kinds A, B and C meet, one of each; each returns the identities of the two
    /// others, in this order of kinds.
    Abc
}

/// An operation, with the identity of its thread.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum AbcInput<V> {
    /// Of kind A; returns the identities of B and C.
    A(V),
    /// Of kind B; returns the identities of A and C.
    B(V),
    /// Of kind C; returns the identities of A and B.
    C(V),
}

/// The members of each kind.
type Kinds<'a, V> = [Option<(&'a V, Member<'a, AbcInput<V>, (V, V)>)>; 3];

impl<V: Clone + Eq + Hash> Synchronisation for Abc<V> {
    type State = ();
    type Input = AbcInput<V>;
    type Output = (V, V);

    fn initial(&self) {}

    fn arities(&self) -> RangeInclusive<usize> {
        3..=3
    }

    fn together(&self, (): &mut (), group: &[Member<'_, AbcInput<V>, (V, V)>]) -> Bond {
        let mut kinds: Kinds<'_, V> = [None; 3];
        for &member in group {
            let (kind, me) = match member.0 {
                AbcInput::A(me) => (0, me),
                AbcInput::B(me) => (1, me),
                AbcInput::C(me) => (2, me),
            };
            if kinds[kind].replace((me, member)).is_some() {
                return Bond::No;
            }
        }
        match kinds {
            [Some((a, of_a)), Some((b, of_b)), Some((c, of_c))] => bond(
                returns(of_a, &(b.clone(), c.clone()))
                    && returns(of_b, &(a.clone(), c.clone()))
                    && returns(of_c, &(a.clone(), b.clone())),
            ),
            _ if agree(&kinds) => Bond::Prefix,
            _ => Bond::No,
        }
    }
}

/// Returns true if no two of the members contradict each other.
fn agree<V: Clone + Eq + Hash>(kinds: &Kinds<'_, V>) -> bool {
    (0..3).all(|mine| {
        let Some((_, (_, Some(returned)))) = &kinds[mine] else { return true };
        // The two other members, in the order of kinds.
        let others = [usize::from(mine == 0), 2 - usize::from(mine == 2)];
        let expected = [&returned.0, &returned.1];
        others.iter().zip(expected).all(|(&other, expected)| {
            kinds[other].as_ref().is_none_or(|(identity, _)| *identity == expected)
        })
    })
}
