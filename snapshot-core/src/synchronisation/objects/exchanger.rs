//! Exchangers.

use std::cmp::Ordering;
use std::hash::Hash;
use std::ops::RangeInclusive;

use super::{bond, object};
use crate::synchronisation::{Bond, Keyed, Member, Role, Side, Synchronisation};

object! {
    /// An exchanger: two operations meet, and each returns the value of the other. Input and output
    /// are values.
    Exchanger
}

object! {
    /// An exchanger whose operations may time out: then they take effect alone, and return no
    /// value.
    TimeoutExchanger
}

impl<V: Clone + Hash + Ord> Synchronisation for Exchanger<V> {
    type State = ();
    type Input = V;
    type Output = V;

    fn initial(&self) {}

    fn arities(&self) -> RangeInclusive<usize> {
        2..=2
    }

    fn together(&self, (): &mut (), group: &[Member<'_, V, V>]) -> Bond {
        match *group {
            [_] => Bond::Prefix,
            [(one, returned), (other, returned_too)] => bond(
                returned.is_none_or(|returned| returned == other)
                    && returned_too.is_none_or(|returned| returned == one),
            ),
            _ => Bond::No,
        }
    }
}

impl<V: Clone + Hash + Ord> Keyed for Exchanger<V> {
    /// The lesser and the greater value.
    type Key = (V, V);
    /// The value of pending operations.
    type Pool = V;

    fn role(&self, given: &V, returned: &V) -> Role<(V, V), V> {
        exchanged(given, returned)
    }

    fn pool(&self, given: &V) -> Option<V> {
        Some(given.clone())
    }
}

impl<V: Clone + Hash + Ord> Synchronisation for TimeoutExchanger<V> {
    type State = ();
    type Input = V;
    type Output = Option<V>;

    fn initial(&self) {}

    fn arities(&self) -> RangeInclusive<usize> {
        1..=2
    }

    fn together(&self, (): &mut (), group: &[Member<'_, V, Option<V>>]) -> Bond {
        let met = |returned: Option<&Option<V>>, other: &V| match returned {
            None => true,
            Some(returned) => returned.as_ref() == Some(other),
        };
        match *group {
            [(_, None | Some(None))] => Bond::Yes,
            [_] => Bond::Prefix,
            [(one, returned), (other, returned_too)] => {
                bond(met(returned, other) && met(returned_too, one))
            }
            _ => Bond::No,
        }
    }
}

impl<V: Clone + Hash + Ord> Keyed for TimeoutExchanger<V> {
    type Key = (V, V);
    type Pool = V;

    fn role(&self, given: &V, returned: &Option<V>) -> Role<(V, V), V> {
        match returned {
            None => Role::Alone,
            Some(returned) => exchanged(given, returned),
        }
    }

    fn pool(&self, given: &V) -> Option<V> {
        Some(given.clone())
    }
}

fn exchanged<V: Clone + Ord>(given: &V, returned: &V) -> Role<(V, V), V> {
    let (side, key) = match given.cmp(returned) {
        Ordering::Less => (Side::A, (given, returned)),
        Ordering::Greater => (Side::B, (returned, given)),
        Ordering::Equal => (Side::Either, (given, returned)),
    };
    Role::Pair { side, key: (key.0.clone(), key.1.clone()), partners: returned.clone() }
}
