//! A set, which is a part per element.

use std::collections::BTreeSet;
use std::hash::Hash;

use crate::OperationId;
use crate::generic::effect::{Effect, effects};
use crate::generic::monitors::{self, Decision, part::Part};
use crate::generic::online::{self, OnlineOf};
use crate::generic::{ByValues, History, RelevantValues, Specification};

/// A set of values, usually empty at first.
///
/// Operations on different elements do not know of each other: each element is
/// a part.
#[derive(Clone, Debug)]
pub struct Set<V> {
    /// The elements before the first operation.
    pub initial: BTreeSet<V>,
}

impl<V> Default for Set<V> {
    fn default() -> Self {
        Self { initial: BTreeSet::new() }
    }
}

/// An operation of a set.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum SetInput<V> {
    /// Adds an element, unless it is there.
    Add(V),
    /// Removes an element, if it is there.
    Remove(V),
    /// Asks whether an element is there.
    Contains(V),
}

impl<V> SetInput<V> {
    /// The element concerned.
    pub const fn element(&self) -> &V {
        let (Self::Add(element) | Self::Remove(element) | Self::Contains(element)) = self;
        element
    }
}

/// What an operation of a set returns: whether it added, removed, found.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct SetOutput(pub bool);

impl<V: Clone + Eq + Hash + Ord> Specification for Set<V> {
    type State = BTreeSet<V>;
    type Input = SetInput<V>;
    type Output = SetOutput;
    type Part = V;

    fn initial(&self) -> BTreeSet<V> {
        self.initial.clone()
    }

    fn apply(
        &self,
        state: &mut BTreeSet<V>,
        input: &SetInput<V>,
        output: Option<&SetOutput>,
    ) -> bool {
        let answer = match input {
            SetInput::Add(element) => !state.contains(element) && state.insert(element.clone()),
            SetInput::Remove(element) => state.remove(element),
            SetInput::Contains(element) => state.contains(element),
        };
        output.is_none_or(|output| output.0 == answer)
    }

    fn part(&self, input: &SetInput<V>) -> V {
        input.element().clone()
    }

    fn is_query(&self, input: &SetInput<V>, output: Option<&SetOutput>) -> bool {
        matches!(input, SetInput::Contains(_)) || output == Some(&SetOutput(false))
    }

    fn allows(&self, state: &BTreeSet<V>, input: &SetInput<V>, output: Option<&SetOutput>) -> bool {
        let is_there = state.contains(input.element());
        let answer = match input {
            SetInput::Add(_) => !is_there,
            SetInput::Remove(_) | SetInput::Contains(_) => is_there,
        };
        output.is_none_or(|output| output.0 == answer)
    }

    fn bytes(&self, state: &BTreeSet<V>) -> usize {
        // Nodes have room for eleven elements, and all but the first are half full at least.
        let room = if state.is_empty() { 0 } else { 2 * state.len().max(6) };
        size_of_val(state) + room * size_of::<V>()
    }

    fn has_rules(&self) -> bool {
        true
    }

    fn online(&self) -> Option<Box<OnlineOf<'_, Self>>> {
        let make = |element: &V| online::Waiting::element(self.initial.contains(element));
        Some(online::by_parts(self, make, effect, |object, parts| {
            let mut initial = object.initial.clone();
            for (element, part) in parts {
                if part.rule.bit.state {
                    initial.insert(element.clone());
                } else {
                    initial.remove(element);
                }
            }
            Some(Self { initial })
        }))
    }

    fn decide_part(
        &self,
        history: &History<SetInput<V>, SetOutput>,
        part: &[OperationId],
    ) -> Decision {
        let is_first = |id: &OperationId| {
            self.initial.contains(history.operations()[id.index()].input.element())
        };
        let initial = part.first().is_some_and(is_first);
        monitors::bit(&Part::new(history, part, effects(history, part, effect)), initial)
    }
}

/// Each element is a part.
impl<V: Clone + Eq + Hash + Ord> ByValues for Set<V> {
    type Value = V;

    fn concern(&self, input: &SetInput<V>, _: Option<&SetOutput>) -> RelevantValues<V> {
        RelevantValues::Value(input.element().clone())
    }
}

/// The effect on the bit of the element.
const fn effect<V>(input: &SetInput<V>, output: Option<&SetOutput>) -> Effect<bool> {
    match (input, output) {
        (SetInput::Add(_), None | Some(SetOutput(true))) => Effect::Swap(false, true),
        (SetInput::Remove(_), None | Some(SetOutput(true))) => Effect::Swap(true, false),
        (SetInput::Add(_), Some(SetOutput(false))) => Effect::Read(true),
        (SetInput::Remove(_), Some(SetOutput(false))) => Effect::Read(false),
        (SetInput::Contains(_), Some(SetOutput(found))) => Effect::Read(*found),
        (SetInput::Contains(_), None) => Effect::Nothing,
    }
}
