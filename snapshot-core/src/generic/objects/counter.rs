//! A counter.

use crate::OperationId;
use crate::generic::effect::{Effect, effects};
use crate::generic::monitors::{self, Decision, part::Part};
use crate::generic::online::{self, OnlineOf};
use crate::generic::{ByValues, History, RelevantValues, Specification};

/// A counter with its initial number.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counter {
    /// The number before the first operation.
    pub initial: i64,
}

/// An operation of a counter.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum CounterInput {
    /// Adds one.
    Increment,
    /// Subtracts one.
    Decrement,
    /// Returns the number.
    Read,
}

/// What an operation of a counter returns.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum CounterOutput {
    /// The number was changed.
    Changed,
    /// The number: before the change, of an operation that changes it.
    Number(i64),
}

impl Specification for Counter {
    type State = i64;
    type Input = CounterInput;
    type Output = CounterOutput;
    type Part = ();

    fn initial(&self) -> i64 {
        self.initial
    }

    fn apply(&self, state: &mut i64, input: &CounterInput, output: Option<&CounterOutput>) -> bool {
        let is_returned = match output {
            None => true,
            Some(CounterOutput::Changed) => *input != CounterInput::Read,
            Some(CounterOutput::Number(number)) => number == state,
        };
        *state += match input {
            CounterInput::Increment => 1,
            CounterInput::Decrement => -1,
            CounterInput::Read => 0,
        };
        is_returned
    }

    fn part(&self, _: &CounterInput) {}

    fn is_query(&self, input: &CounterInput, _: Option<&CounterOutput>) -> bool {
        *input == CounterInput::Read
    }

    fn has_rules(&self) -> bool {
        true
    }

    fn online(&self) -> Option<Box<OnlineOf<'_, Self>>> {
        let effect = |input: &_, output: Option<&_>| effect(self.initial, input, output);
        Some(online::by_parts(
            self,
            |()| online::Waiting::number(),
            effect,
            |object, parts| {
                let number = parts.get(&()).map_or(0, |part| part.rule.number);
                Some(Self { initial: object.initial.wrapping_add(number) })
            },
        ))
    }

    fn decide_part(
        &self,
        history: &History<CounterInput, CounterOutput>,
        part: &[OperationId],
    ) -> Decision {
        let effect = |input: &_, output: Option<&_>| effect(self.initial, input, output);
        monitors::number(&Part::new(history, part, effects(history, part, effect)))
    }
}

/// A counter has no parts.
impl ByValues for Counter {
    type Value = ();

    fn concern(&self, _: &CounterInput, _: Option<&CounterOutput>) -> RelevantValues<()> {
        RelevantValues::All
    }
}

/// The effect on the difference from the initial number.
const fn effect(initial: i64, input: &CounterInput, output: Option<&CounterOutput>) -> Effect<i64> {
    match (input, output) {
        (CounterInput::Increment, None | Some(CounterOutput::Changed)) => Effect::Increment,
        (CounterInput::Increment, Some(CounterOutput::Number(number))) => {
            let number = number.wrapping_sub(initial);
            Effect::Swap(number, number.wrapping_add(1))
        }
        (CounterInput::Read, None) => Effect::Nothing,
        (CounterInput::Read, Some(CounterOutput::Number(number))) => {
            Effect::Read(number.wrapping_sub(initial))
        }
        (CounterInput::Read, Some(CounterOutput::Changed)) => Effect::Impossible,
        (CounterInput::Decrement, _) => Effect::Other,
    }
}
