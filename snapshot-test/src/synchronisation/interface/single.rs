//! Recordings of objects whose operations take effect one at a time.

use snapshot_core::generic::objects::{
    Counter, CounterInput, CounterOutput, Queue, QueueInput, QueueOutput, Register, RegisterInput,
    RegisterOutput, Set, SetInput, SetOutput, Stack, StackInput, StackOutput,
};
use snapshot_core::generic::{self, PartsOutcome};
use snapshot_core::search::Budget;
use snapshot_core::synchronisation::{Single, Verdict, one_by_one};

use super::{Interface, Recorded, Signature, one_value, signature};
use crate::Value;
use crate::synchronisation::token::Token;

/// The methods of an object whose operations take effect one at a time.
macro_rules! one_at_a_time {
    () => {
        fn decide(&self, history: &Recorded<Self>, budget: &mut Budget<'_>) -> Verdict {
            one_by_one(self, history, budget)
        }

        fn refute_parts(
            &self,
            history: &Recorded<Self>,
            most: usize,
            budget: &mut Budget<'_>,
        ) -> Option<PartsOutcome> {
            Some(generic::refute_parts(&self.0, history, most, budget))
        }
    };
}

impl Interface for Single<Queue<Value>> {
    const SIGNATURES: &'static [Signature] = &[
        signature("enqueue", "enqueue VALUE", "nothing"),
        signature("dequeue", "dequeue", "a value or none"),
    ];
    one_at_a_time!();

    fn input(&self, name: &str, arguments: &[Token]) -> Option<QueueInput<Value>> {
        match (name, arguments) {
            ("dequeue", []) => Some(QueueInput::Dequeue),
            _ => one_value(name, "enqueue", arguments).map(QueueInput::Enqueue),
        }
    }

    fn output(&self, input: &Self::Input, results: &[Token]) -> Option<QueueOutput<Value>> {
        match (input, results) {
            (QueueInput::Enqueue(_), []) => Some(QueueOutput::Enqueued),
            (QueueInput::Dequeue, [Token::Value(value)]) => {
                Some(QueueOutput::Dequeued(value.clone()))
            }
            (QueueInput::Dequeue, [Token::None]) => Some(QueueOutput::Empty),
            _ => None,
        }
    }
}

impl Interface for Single<Stack<Value>> {
    const SIGNATURES: &'static [Signature] =
        &[signature("push", "push VALUE", "nothing"), signature("pop", "pop", "a value or none")];
    one_at_a_time!();

    fn input(&self, name: &str, arguments: &[Token]) -> Option<StackInput<Value>> {
        match (name, arguments) {
            ("pop", []) => Some(StackInput::Pop),
            _ => one_value(name, "push", arguments).map(StackInput::Push),
        }
    }

    fn output(&self, input: &Self::Input, results: &[Token]) -> Option<StackOutput<Value>> {
        match (input, results) {
            (StackInput::Push(_), []) => Some(StackOutput::Pushed),
            (StackInput::Pop, [Token::Value(value)]) => Some(StackOutput::Popped(value.clone())),
            (StackInput::Pop, [Token::None]) => Some(StackOutput::Empty),
            _ => None,
        }
    }
}

impl Interface for Single<Register<Value>> {
    const SIGNATURES: &'static [Signature] =
        &[signature("write", "write VALUE", "nothing"), signature("read", "read", "a value")];
    one_at_a_time!();

    fn input(&self, name: &str, arguments: &[Token]) -> Option<RegisterInput<Value>> {
        match (name, arguments) {
            ("read", []) => Some(RegisterInput::Read),
            _ => one_value(name, "write", arguments).map(RegisterInput::Write),
        }
    }

    fn output(&self, input: &Self::Input, results: &[Token]) -> Option<RegisterOutput<Value>> {
        match (input, results) {
            (RegisterInput::Write(_), []) => Some(RegisterOutput::Written),
            (RegisterInput::Read, [Token::Value(value)]) => {
                Some(RegisterOutput::Read(value.clone()))
            }
            _ => None,
        }
    }
}

impl Interface for Single<Set<Value>> {
    const SIGNATURES: &'static [Signature] = &[
        signature("add", "add VALUE", "true if it was not there, else false"),
        signature("remove", "remove VALUE", "true if it was there, else false"),
        signature("contains", "contains VALUE", "true or false"),
    ];
    one_at_a_time!();

    fn input(&self, name: &str, arguments: &[Token]) -> Option<SetInput<Value>> {
        one_value(name, "add", arguments)
            .map(SetInput::Add)
            .or_else(|| one_value(name, "remove", arguments).map(SetInput::Remove))
            .or_else(|| one_value(name, "contains", arguments).map(SetInput::Contains))
    }

    fn output(&self, _: &Self::Input, results: &[Token]) -> Option<SetOutput> {
        match results {
            [Token::Truth(truth)] => Some(SetOutput(*truth)),
            _ => None,
        }
    }
}

impl Interface for Single<Counter> {
    const SIGNATURES: &'static [Signature] = &[
        signature("increment", "increment", "nothing or the number before"),
        signature("decrement", "decrement", "nothing or the number before"),
        signature("read", "read", "the number"),
    ];
    one_at_a_time!();

    fn input(&self, name: &str, arguments: &[Token]) -> Option<CounterInput> {
        if !arguments.is_empty() {
            return None;
        }
        match name {
            "increment" => Some(CounterInput::Increment),
            "decrement" => Some(CounterInput::Decrement),
            "read" => Some(CounterInput::Read),
            _ => None,
        }
    }

    fn output(&self, input: &CounterInput, results: &[Token]) -> Option<CounterOutput> {
        match results {
            [] if *input != CounterInput::Read => Some(CounterOutput::Changed),
            [Token::Value(Value::Integer(number))] => Some(CounterOutput::Number(*number)),
            _ => None,
        }
    }
}
