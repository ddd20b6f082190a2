//! One family, two families: never meet the same thread twice.

use std::collections::BTreeSet;
use std::hash::Hash;
use std::ops::RangeInclusive;

use super::pairs::PairInput;
use super::{bond, object, returns};
use crate::synchronisation::{Bond, Member, Synchronisation};

object! {
    /// Threads of two families meet, one of each, and each returns the identity of the
    /// other; no two meet twice.
    TwoFamilies
}

object! {
    /// Threads of one family meet in pairs, each with its identity, and each returns the
    /// identity of the other; no two meet twice, and none meets itself.
    OneFamily
}

impl<V: Clone + Hash + Ord> Synchronisation for TwoFamilies<V> {
    /// The pairs that have met.
    type State = BTreeSet<(V, V)>;
    type Input = PairInput<V>;
    type Output = V;

    fn initial(&self) -> BTreeSet<(V, V)> {
        BTreeSet::new()
    }

    fn arities(&self) -> RangeInclusive<usize> {
        2..=2
    }

    fn together(&self, met: &mut BTreeSet<(V, V)>, group: &[Member<'_, PairInput<V>, V>]) -> Bond {
        match *group {
            [_] => Bond::Prefix,
            [one @ (PairInput::First(first), _), other @ (PairInput::Second(second), _)]
            | [other @ (PairInput::Second(second), _), one @ (PairInput::First(first), _)] => bond(
                returns(one, second)
                    && returns(other, first)
                    && met.insert((first.clone(), second.clone())),
            ),
            _ => Bond::No,
        }
    }

    fn bytes(&self, met: &BTreeSet<(V, V)>) -> usize {
        size_of_val(met) + 2 * met.len() * size_of::<(V, V)>()
    }
}

impl<V: Clone + Hash + Ord> Synchronisation for OneFamily<V> {
    /// The pairs that have met, the lesser identity first.
    type State = BTreeSet<(V, V)>;
    type Input = V;
    type Output = V;

    fn initial(&self) -> BTreeSet<(V, V)> {
        BTreeSet::new()
    }

    fn arities(&self) -> RangeInclusive<usize> {
        2..=2
    }

    fn together(&self, met: &mut BTreeSet<(V, V)>, group: &[Member<'_, V, V>]) -> Bond {
        match *group {
            [_] => Bond::Prefix,
            [one @ (first, _), other @ (second, _)] => {
                let pair = (first.min(second).clone(), first.max(second).clone());
                bond(
                    first != second
                        && returns(one, second)
                        && returns(other, first)
                        && met.insert(pair),
                )
            }
            _ => Bond::No,
        }
    }

    fn bytes(&self, met: &BTreeSet<(V, V)>) -> usize {
        size_of_val(met) + 2 * met.len() * size_of::<(V, V)>()
    }
}
