//! A set, which is a part per element.

use std::hash::Hash;
use std::marker::PhantomData;

use crate::generic::{ByValues, Concern, Specification};

/// A set of values, empty at first.
///
/// Operations on different elements do not know of each other: each element is
/// a part, and as a part's operations concern only one element, a state is a
/// list of the elements in the set, ascending.
#[derive(Clone, Copy, Debug)]
pub struct Set<V>(PhantomData<V>);

impl<V> Default for Set<V> {
    fn default() -> Self {
        Self(PhantomData)
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
    type State = Vec<V>;
    type Input = SetInput<V>;
    type Output = SetOutput;
    type Part = V;

    fn initial(&self) -> Vec<V> {
        Vec::new()
    }

    fn apply(&self, state: &mut Vec<V>, input: &SetInput<V>, output: Option<&SetOutput>) -> bool {
        let place = state.binary_search(input.element());
        let answer = match (input, place) {
            (SetInput::Add(element), Err(place)) => {
                state.insert(place, element.clone());
                true
            }
            (SetInput::Remove(_), Ok(place)) => {
                state.remove(place);
                true
            }
            (SetInput::Contains(_), place) => place.is_ok(),
            (SetInput::Add(_), Ok(_)) | (SetInput::Remove(_), Err(_)) => false,
        };
        output.is_none_or(|output| output.0 == answer)
    }

    fn part(&self, input: &SetInput<V>) -> V {
        input.element().clone()
    }

    fn is_query(&self, input: &SetInput<V>, output: Option<&SetOutput>) -> bool {
        matches!(input, SetInput::Contains(_)) || output == Some(&SetOutput(false))
    }

    fn allows(&self, state: &Vec<V>, input: &SetInput<V>, output: Option<&SetOutput>) -> bool {
        let is_there = state.binary_search(input.element()).is_ok();
        let answer = match input {
            SetInput::Add(_) => !is_there,
            SetInput::Remove(_) | SetInput::Contains(_) => is_there,
        };
        output.is_none_or(|output| output.0 == answer)
    }

    fn bytes(&self, state: &Vec<V>) -> usize {
        size_of_val(state) + state.len() * size_of::<V>()
    }
}

/// Each element is a part.
impl<V: Clone + Eq + Hash + Ord> ByValues for Set<V> {
    type Value = V;

    fn concern(&self, input: &SetInput<V>, _: Option<&SetOutput>) -> Concern<V> {
        Concern::Value(input.element().clone())
    }
}
