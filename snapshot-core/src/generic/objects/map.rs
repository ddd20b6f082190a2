//! A key-value map, which is a part per key.

use std::collections::BTreeMap;
use std::hash::Hash;
use std::marker::PhantomData;

use crate::OperationId;
use crate::generic::certificate::{Facts, Kind, ProofError};
use crate::generic::effect::{Effect, compare_and_swap, effects};
use crate::generic::monitors::{self, Decision, part::Part};
use crate::generic::{ByValues, Concern, History, Proof, Specification};

/// A map from keys to values.
///
/// Operations on different keys do not know of each other: each key is a part.
#[derive(Clone, Copy, Debug)]
pub struct Map<K, V> {
    /// The value of each key before the first operation, if it has one.
    pub initial: Option<V>,
    keys: PhantomData<K>,
}

impl<K, V> Map<K, V> {
    /// Creates the map in which each key has this value at first, or none.
    pub const fn new(initial: Option<V>) -> Self {
        Self { initial, keys: PhantomData }
    }
}

impl<K, V> Default for Map<K, V> {
    fn default() -> Self {
        Self::new(None)
    }
}

impl<K: Clone + Ord, V: Eq> Map<K, V> {
    fn get<'a>(&'a self, state: &'a BTreeMap<K, Option<V>>, key: &K) -> Option<&'a V> {
        state.get(key).unwrap_or(&self.initial).as_ref()
    }

    fn set(&self, state: &mut BTreeMap<K, Option<V>>, key: &K, value: Option<V>) {
        if value == self.initial {
            state.remove(key);
        } else {
            state.insert(key.clone(), value);
        }
    }
}

/// An operation of a map.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum MapInput<K, V> {
    /// Returns the value of a key.
    Get(K),
    /// Gives a key a value.
    Put(K, V),
    /// Takes the value of a key away, if it has one.
    Delete(K),
    /// Replaces the value of a key if it is the one expected.
    CompareAndSwap {
        /// The key.
        key: K,
        /// The value expected.
        expected: V,
        /// The new value.
        new: V,
    },
}

impl<K, V> MapInput<K, V> {
    /// The key.
    pub const fn key(&self) -> &K {
        let (Self::Get(key)
        | Self::Put(key, _)
        | Self::Delete(key)
        | Self::CompareAndSwap { key, .. }) = self;
        key
    }
}

/// The output of an operation of a map.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum MapOutput<V> {
    /// The value found, if there was one.
    Found(Option<V>),
    /// The value was put, or taken away if there was one.
    Done,
    /// Whether the value was the one expected, and was replaced.
    Swapped(bool),
}

impl<K: Clone + Eq + Hash + Ord, V: Clone + Eq + Hash> Specification for Map<K, V> {
    /// The keys whose values are not the initial one.
    type State = BTreeMap<K, Option<V>>;
    type Input = MapInput<K, V>;
    type Output = MapOutput<V>;
    type Part = K;

    fn initial(&self) -> BTreeMap<K, Option<V>> {
        BTreeMap::new()
    }

    fn apply(
        &self,
        state: &mut BTreeMap<K, Option<V>>,
        input: &MapInput<K, V>,
        output: Option<&MapOutput<V>>,
    ) -> bool {
        match (input, output) {
            (MapInput::Get(_), _) => self.allows(state, input, output),
            (MapInput::Put(key, value), None | Some(MapOutput::Done)) => {
                self.set(state, key, Some(value.clone()));
                true
            }
            (MapInput::Delete(key), None | Some(MapOutput::Done)) => {
                self.set(state, key, None);
                true
            }
            (
                MapInput::CompareAndSwap { key, expected, new },
                None | Some(MapOutput::Swapped(_)),
            ) => {
                let is_equal = self.get(state, key) == Some(expected);
                if is_equal {
                    self.set(state, key, Some(new.clone()));
                }
                output.is_none_or(|output| *output == MapOutput::Swapped(is_equal))
            }
            _ => false,
        }
    }

    fn part(&self, input: &MapInput<K, V>) -> K {
        input.key().clone()
    }

    fn is_query(&self, input: &MapInput<K, V>, output: Option<&MapOutput<V>>) -> bool {
        match input {
            MapInput::Get(_) => true,
            MapInput::Put(..) | MapInput::Delete(_) => false,
            MapInput::CompareAndSwap { expected, new, .. } => {
                expected == new || output == Some(&MapOutput::Swapped(false))
            }
        }
    }

    fn allows(
        &self,
        state: &BTreeMap<K, Option<V>>,
        input: &MapInput<K, V>,
        output: Option<&MapOutput<V>>,
    ) -> bool {
        match (input, output) {
            (MapInput::Get(_), None) => true,
            (MapInput::Get(key), Some(MapOutput::Found(found))) => {
                self.get(state, key) == found.as_ref()
            }
            (MapInput::CompareAndSwap { .. }, _) => self.apply(&mut state.clone(), input, output),
            _ => false,
        }
    }

    fn bytes(&self, state: &BTreeMap<K, Option<V>>) -> usize {
        // Nodes have room for eleven elements, and all but the first are half full at least.
        let room = if state.is_empty() { 0 } else { 2 * state.len().max(6) };
        size_of_val(state) + room * size_of::<(K, Option<V>)>()
    }

    fn has_rules(&self) -> bool {
        true
    }

    fn decide_part(
        &self,
        history: &History<MapInput<K, V>, MapOutput<V>>,
        part: &[OperationId],
    ) -> Decision {
        monitors::cell(
            &Part::new(history, part, effects(history, part, effect)),
            Some(&self.initial),
        )
    }

    fn check_proof(
        &self,
        history: &History<MapInput<K, V>, MapOutput<V>>,
        part: &[OperationId],
        proof: &Proof,
    ) -> Result<(), ProofError> {
        let kind = Kind::Cell(Some(&self.initial));
        Facts::new(kind, history, part, effects(history, part, effect)).check(proof)
    }
}

/// Each key is a part.
impl<K: Clone + Eq + Hash + Ord, V: Clone + Eq + Hash> ByValues for Map<K, V> {
    type Value = K;

    fn concern(&self, input: &MapInput<K, V>, _: Option<&MapOutput<V>>) -> Concern<K> {
        Concern::Value(input.key().clone())
    }
}

/// The effect on the value of the key.
fn effect<K, V: Clone + Eq>(
    input: &MapInput<K, V>,
    output: Option<&MapOutput<V>>,
) -> Effect<Option<V>> {
    match (input, output) {
        (MapInput::Get(_), None) => Effect::Nothing,
        (MapInput::Get(_), Some(MapOutput::Found(value))) => Effect::Read(value.clone()),
        (MapInput::Put(_, value), None | Some(MapOutput::Done)) => {
            Effect::Write(Some(value.clone()))
        }
        (MapInput::Delete(_), None | Some(MapOutput::Done)) => Effect::Write(None),
        (MapInput::CompareAndSwap { expected, new, .. }, None) => {
            compare_and_swap(Some(expected.clone()), Some(new.clone()), None)
        }
        (MapInput::CompareAndSwap { expected, new, .. }, Some(MapOutput::Swapped(is_swapped))) => {
            compare_and_swap(Some(expected.clone()), Some(new.clone()), Some(*is_swapped))
        }
        _ => Effect::Impossible,
    }
}
