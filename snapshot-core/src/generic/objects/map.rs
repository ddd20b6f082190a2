//! A key-value map, which is a part per key.

use std::collections::BTreeMap;
use std::hash::Hash;
use std::marker::PhantomData;

use super::appended::{self, Unclear};
use crate::OperationId;
use crate::generic::certificate::{Facts, Kind, ProofError};
use crate::generic::effect::{Effect, compare_and_swap, effects};
use crate::generic::monitors::{self, Decision, part::Part};
use crate::generic::online::{self, OnlineOf};
use crate::generic::{Beyond, ByValues, History, Proof, RelevantValues, Specification};

/// The texts of values that grow.
#[derive(Clone, Copy, Debug)]
pub struct Text<V> {
    /// The text of a value, if it is one.
    pub bytes: fn(&V) -> Option<&[u8]>,
    /// A value with another behind it.
    pub join: fn(&V, &V) -> V,
}

/// A map from keys to values.
///
/// Operations on different keys do not know of each other: each key is a part.
#[derive(Clone, Copy, Debug)]
pub struct Map<K, V> {
    /// The value of each key before the first operation, if it has one.
    pub initial: Option<V>,
    /// How values grow; without, nothing is appended to them.
    pub text: Option<Text<V>>,
    keys: PhantomData<K>,
}

impl<K, V> Map<K, V> {
    /// Creates the map in which each key has this value at first, or none.
    pub const fn new(initial: Option<V>) -> Self {
        Self { initial, text: None, keys: PhantomData }
    }

    /// Creates the map whose values grow as these texts.
    pub const fn growing(initial: Option<V>, text: Text<V>) -> Self {
        Self { initial, text: Some(text), keys: PhantomData }
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
    /// Puts a text behind that of a key, or gives it to a key that has no value.
    Append(K, V),
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
        | Self::Append(key, _)
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
            (MapInput::Append(key, value), None | Some(MapOutput::Done)) => {
                let Some(text) = &self.text else { return false };
                let before = self.get(state, key);
                let grown =
                    before.map_or_else(|| value.clone(), |before| (text.join)(before, value));
                self.set(state, key, Some(grown));
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
            MapInput::Put(..) | MapInput::Append(..) | MapInput::Delete(_) => false,
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

    fn online(&self) -> Option<Box<OnlineOf<'_, Self>>> {
        let make = |_: &K| online::Cell::new(self.initial.clone());
        Some(online::by_parts(self, make, effect, |_, _| None))
    }

    fn decide_part(
        &self,
        history: &History<MapInput<K, V>, MapOutput<V>>,
        part: &[OperationId],
    ) -> Decision {
        if appended::is_grown(history, part) {
            return self.decide_grown(history, part);
        }
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
        if appended::is_grown(history, part) {
            return self.check_grown(history, part, proof);
        }
        let kind = Kind::Cell(Some(&self.initial));
        Facts::new(kind, history, part, effects(history, part, effect)).check(proof)
    }
}

impl<K: Clone + Eq + Hash + Ord, V: Clone + Eq + Hash> Map<K, V> {
    /// Decides a key to which texts are appended.
    fn decide_grown(
        &self,
        history: &History<MapInput<K, V>, MapOutput<V>>,
        part: &[OperationId],
    ) -> Decision {
        let Some(text) = &self.text else { return Decision::Beyond(Beyond::Object) };
        match appended::grown(text, self.initial.as_ref(), history, part, |_| true) {
            Err(Unclear::Operation(operation)) => Decision::Beyond(Beyond::Operation(operation)),
            Err(Unclear::Misplaced { append, first, second }) => {
                Decision::Violation(Proof::Misplaced { append, first, second })
            }
            Ok(mut grown) => {
                let effects = std::mem::take(&mut grown.effects);
                let part = Part::new(history, part, effects);
                match monitors::cell(&part, Some(&grown.initial)) {
                    Decision::Violation(proof) => {
                        Decision::Violation(appended::with_reads(proof, &grown))
                    }
                    decision => decision,
                }
            }
        }
    }

    /// Checks a proof about a key to which texts are appended, by the reads that it names.
    fn check_grown(
        &self,
        history: &History<MapInput<K, V>, MapOutput<V>>,
        part: &[OperationId],
        proof: &Proof,
    ) -> Result<(), ProofError> {
        let Some(text) = &self.text else {
            return Err(ProofError::Object { rule: proof.rule() });
        };
        let named = proof.operations();
        let outside = named.iter().find(|id| !part.contains(id));
        if let Some(&operation) = outside {
            return Err(ProofError::NoSuchOperation { operation });
        }
        let is_shown = |id| named.contains(&id);
        let grown = appended::grown(text, self.initial.as_ref(), history, part, is_shown);
        let rule = proof.rule();
        match (proof, grown) {
            (Proof::Misplaced { append, .. }, Err(Unclear::Misplaced { append: found, .. }))
                if *append == found =>
            {
                Ok(())
            }
            (Proof::Misplaced { append: operation, .. }, _) => {
                Err(ProofError::Effect { rule, operation: *operation })
            }
            (_, Err(Unclear::Misplaced { append: operation, .. })) => {
                Err(ProofError::Effect { rule, operation })
            }
            (_, Err(Unclear::Operation(operation))) => {
                Err(ProofError::Ambiguous { rule, operation })
            }
            (_, Ok(grown)) => {
                let proof = match proof {
                    Proof::Shown { proof, .. } => proof,
                    proof => proof,
                };
                let kind = Kind::Cell(Some(&grown.initial));
                Facts::new(kind, history, part, grown.effects).check(proof)
            }
        }
    }
}

/// Each key is a part.
impl<K: Clone + Eq + Hash + Ord, V: Clone + Eq + Hash> ByValues for Map<K, V> {
    type Value = K;

    fn concern(&self, input: &MapInput<K, V>, _: Option<&MapOutput<V>>) -> RelevantValues<K> {
        RelevantValues::Value(input.key().clone())
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
        (MapInput::Append(..), None | Some(MapOutput::Done)) => Effect::Other,
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
