//! Men and women.

use std::hash::Hash;
use std::ops::RangeInclusive;

use super::{bond, object, returns};
use crate::synchronisation::{Bond, Keyed, Member, Role, Side, Synchronisation};

object! {
    /// Threads of two kinds meet, one of each kind, and each returns the identity of the
    /// other.
    MenAndWomen
}

/// An operation of one of two kinds, with the identity of its thread.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum PairInput<V> {
    /// The first kind: a man, a member of the first family.
    First(V),
    /// The second kind: a woman, a member of the second family.
    Second(V),
}

impl<V: Clone + Eq + Hash> Synchronisation for MenAndWomen<V> {
    type State = ();
    type Input = PairInput<V>;
    type Output = V;

    fn initial(&self) {}

    fn arities(&self) -> RangeInclusive<usize> {
        2..=2
    }

    fn together(&self, (): &mut (), group: &[Member<'_, PairInput<V>, V>]) -> Bond {
        match *group {
            [_] => Bond::Prefix,
            [man @ (PairInput::First(he), _), woman @ (PairInput::Second(she), _)]
            | [woman @ (PairInput::Second(she), _), man @ (PairInput::First(he), _)] => {
                bond(returns(man, she) && returns(woman, he))
            }
            _ => Bond::No,
        }
    }
}

impl<V: Clone + Eq + Hash> Keyed for MenAndWomen<V> {
    /// The identities of the first and the second.
    type Key = (V, V);
    /// Pending operations by kind and identity.
    type Pool = PairInput<V>;

    fn role(&self, input: &PairInput<V>, output: &V) -> Role<(V, V), PairInput<V>> {
        match input {
            PairInput::First(me) => Role::Pair {
                side: Side::A,
                key: (me.clone(), output.clone()),
                partners: PairInput::Second(output.clone()),
            },
            PairInput::Second(me) => Role::Pair {
                side: Side::B,
                key: (output.clone(), me.clone()),
                partners: PairInput::First(output.clone()),
            },
        }
    }

    fn pool(&self, input: &PairInput<V>) -> Option<PairInput<V>> {
        Some(input.clone())
    }
}
