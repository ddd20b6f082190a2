//! Recordings of objects whose operations take effect one at a time.

use std::collections::BTreeMap;

use snapshot_core::generic::objects::{
    Counter, CounterInput, CounterOutput, Lock, LockInput, LockOutput, Map, MapInput, MapOutput,
    PriorityQueue, PriorityQueueInput, PriorityQueueOutput, Queue, QueueInput, QueueOutput,
    Register, RegisterInput, RegisterOutput, Semaphore, SemaphoreInput, SemaphoreOutput, Set,
    SetInput, SetOutput, Stack, StackInput, StackOutput, SwapRegister, SwapRegisterInput,
    SwapRegisterOutput, Text,
};
use snapshot_core::synchronisation::Single;

use super::{Interface, Nouns, Signature, one_value, signature};
use crate::Value;
use crate::synchronisation::token::Token;

impl Interface for Single<Queue<Value>> {
    type Input = QueueInput<Value>;
    type Output = QueueOutput<Value>;

    const SIGNATURES: &'static [Signature] = &[
        signature("enqueue", "enqueue VALUE", "nothing"),
        signature("dequeue", "dequeue", "a value or none"),
    ];
    const NOUNS: Nouns = Nouns {
        added: "enqueued",
        adding: "enqueue",
        removed: "dequeued",
        removal: "dequeue",
        has_owners: false,
    };

    fn signatures(&self) -> &'static [Signature] {
        const BOUNDED: &[Signature] = &[
            signature("enqueue", "enqueue VALUE", "nothing, or whether there was room"),
            signature("dequeue", "dequeue", "a value or none"),
        ];
        if self.0.is_bounded() { BOUNDED } else { Self::SIGNATURES }
    }

    fn input(&self, name: &str, arguments: &[Token]) -> Option<QueueInput<Value>> {
        match (name, arguments) {
            ("dequeue", []) => Some(QueueInput::Dequeue),
            _ => one_value(name, "enqueue", arguments).map(QueueInput::Enqueue),
        }
    }

    fn output(&self, input: &Self::Input, results: &[Token]) -> Option<QueueOutput<Value>> {
        match (input, results) {
            (QueueInput::Enqueue(_), []) => Some(QueueOutput::Enqueued),
            (QueueInput::Enqueue(_), [Token::Truth(is_added)]) if self.0.is_bounded() => {
                Some(if *is_added { QueueOutput::Enqueued } else { QueueOutput::Full })
            }
            (QueueInput::Dequeue, [Token::Value(value)]) => {
                Some(QueueOutput::Dequeued(value.clone()))
            }
            (QueueInput::Dequeue, [Token::None]) => Some(QueueOutput::Empty),
            _ => None,
        }
    }
}

impl Interface for Single<Stack<Value>> {
    type Input = StackInput<Value>;
    type Output = StackOutput<Value>;

    const SIGNATURES: &'static [Signature] =
        &[signature("push", "push VALUE", "nothing"), signature("pop", "pop", "a value or none")];
    const NOUNS: Nouns = Nouns {
        added: "pushed",
        adding: "push",
        removed: "popped",
        removal: "pop",
        has_owners: false,
    };

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
    type Input = RegisterInput<Value>;
    type Output = RegisterOutput<Value>;

    const SIGNATURES: &'static [Signature] =
        &[signature("write", "write VALUE", "nothing"), signature("read", "read", "a value")];

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

impl Interface for Single<PriorityQueue<Value>> {
    type Input = PriorityQueueInput<Value>;
    type Output = PriorityQueueOutput<Value>;

    const SIGNATURES: &'static [Signature] = &[
        signature("add", "add VALUE", "nothing"),
        signature("remove", "remove", "a value or none"),
    ];

    fn input(&self, name: &str, arguments: &[Token]) -> Option<PriorityQueueInput<Value>> {
        match (name, arguments) {
            ("remove", []) => Some(PriorityQueueInput::Remove),
            _ => one_value(name, "add", arguments).map(PriorityQueueInput::Add),
        }
    }

    fn output(&self, input: &Self::Input, results: &[Token]) -> Option<PriorityQueueOutput<Value>> {
        match (input, results) {
            (PriorityQueueInput::Add(_), []) => Some(PriorityQueueOutput::Added),
            (PriorityQueueInput::Remove, [Token::Value(value)]) => {
                Some(PriorityQueueOutput::Removed(value.clone()))
            }
            (PriorityQueueInput::Remove, [Token::None]) => Some(PriorityQueueOutput::Empty),
            _ => None,
        }
    }
}

impl Interface for Single<SwapRegister<Value>> {
    type Input = SwapRegisterInput<Value>;
    type Output = SwapRegisterOutput<Value>;

    const SIGNATURES: &'static [Signature] = &[
        signature("write", "write VALUE", "nothing"),
        signature("read", "read", "a value"),
        signature("cas", "cas EXPECTED NEW", "true or false"),
    ];

    fn input(&self, name: &str, arguments: &[Token]) -> Option<SwapRegisterInput<Value>> {
        match (name, arguments) {
            ("read", []) => Some(SwapRegisterInput::Read),
            ("cas", [Token::Value(expected), Token::Value(new)]) => {
                let (expected, new) = (expected.clone(), new.clone());
                Some(SwapRegisterInput::CompareAndSwap { expected, new })
            }
            _ => one_value(name, "write", arguments).map(SwapRegisterInput::Write),
        }
    }

    fn output(&self, input: &Self::Input, results: &[Token]) -> Option<SwapRegisterOutput<Value>> {
        match (input, results) {
            (SwapRegisterInput::Write(_), []) => Some(SwapRegisterOutput::Written),
            (SwapRegisterInput::Read, [Token::Value(value)]) => {
                Some(SwapRegisterOutput::Read(value.clone()))
            }
            (SwapRegisterInput::CompareAndSwap { .. }, [Token::Truth(is_swapped)]) => {
                Some(SwapRegisterOutput::Swapped(*is_swapped))
            }
            _ => None,
        }
    }
}

/// The texts of values.
pub(in crate::synchronisation) const TEXT: Text<Value> = Text {
    bytes: |value| match value {
        Value::Text(text) => Some(text.as_bytes()),
        Value::Integer(_) => None,
    },
    join: |value, tail| {
        let text = |value: &Value| match value {
            Value::Text(text) => text.to_string(),
            Value::Integer(number) => number.to_string(),
        };
        Value::from((text(value) + &text(tail)).as_str())
    },
};

impl Interface for Single<Map<Value, Value>> {
    type Input = MapInput<Value, Value>;
    type Output = MapOutput<Value>;

    const SIGNATURES: &'static [Signature] = &[
        signature("get", "get KEY", "a value or none"),
        signature("put", "put KEY VALUE", "nothing"),
        signature("append", "append KEY TEXT", "nothing"),
        signature("delete", "delete KEY", "nothing"),
        signature("cas", "cas KEY EXPECTED NEW", "true or false"),
    ];

    fn input(&self, name: &str, arguments: &[Token]) -> Option<MapInput<Value, Value>> {
        let values: Option<Vec<Value>> =
            arguments.iter().map(|token| token.value().cloned()).collect();
        match (name, values?.as_slice()) {
            ("get", [key]) => Some(MapInput::Get(key.clone())),
            ("put", [key, value]) => Some(MapInput::Put(key.clone(), value.clone())),
            ("append", [key, text @ Value::Text(_)]) => {
                Some(MapInput::Append(key.clone(), text.clone()))
            }
            ("delete", [key]) => Some(MapInput::Delete(key.clone())),
            ("cas", [key, expected, new]) => {
                let (key, expected, new) = (key.clone(), expected.clone(), new.clone());
                Some(MapInput::CompareAndSwap { key, expected, new })
            }
            _ => None,
        }
    }

    fn output(&self, input: &Self::Input, results: &[Token]) -> Option<MapOutput<Value>> {
        match (input, results) {
            (MapInput::Get(_), [Token::Value(value)]) => {
                Some(MapOutput::Found(Some(value.clone())))
            }
            (MapInput::Get(_), [Token::None]) => Some(MapOutput::Found(None)),
            (MapInput::Put(..) | MapInput::Append(..) | MapInput::Delete(_), []) => {
                Some(MapOutput::Done)
            }
            (MapInput::CompareAndSwap { .. }, [Token::Truth(is_swapped)]) => {
                Some(MapOutput::Swapped(*is_swapped))
            }
            _ => None,
        }
    }

    fn results(
        &self,
        state: &BTreeMap<Value, Option<Value>>,
        input: &Self::Input,
    ) -> Option<Vec<Token>> {
        let MapInput::Get(key) = input else { return None };
        let value = state.get(key).unwrap_or(&self.0.initial).clone();
        Some(vec![value.map_or(Token::None, Token::Value)])
    }
}

impl Interface for Single<Lock<Value>> {
    type Input = LockInput<Value>;
    type Output = LockOutput;

    const SIGNATURES: &'static [Signature] = &[
        signature("acquire", "acquire OWNER", "nothing"),
        signature("release", "release OWNER", "nothing"),
    ];
    const NOUNS: Nouns = Nouns { has_owners: true, ..Nouns::COLLECTION };

    fn input(&self, name: &str, arguments: &[Token]) -> Option<LockInput<Value>> {
        one_value(name, "acquire", arguments)
            .map(LockInput::Acquire)
            .or_else(|| one_value(name, "release", arguments).map(LockInput::Release))
    }

    fn output(&self, _: &Self::Input, results: &[Token]) -> Option<LockOutput> {
        results.is_empty().then_some(LockOutput)
    }
}

impl Interface for Single<Set<Value>> {
    type Input = SetInput<Value>;
    type Output = SetOutput;

    const SIGNATURES: &'static [Signature] = &[
        signature("add", "add VALUE", "true if it was not there, else false"),
        signature("remove", "remove VALUE", "true if it was there, else false"),
        signature("contains", "contains VALUE", "true or false"),
    ];

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
    type Input = CounterInput;
    type Output = CounterOutput;

    const SIGNATURES: &'static [Signature] = &[
        signature("increment", "increment", "nothing or the number before"),
        signature("decrement", "decrement", "nothing or the number before"),
        signature("read", "read", "the number"),
    ];

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

impl Interface for Single<Semaphore> {
    type Input = SemaphoreInput;
    type Output = SemaphoreOutput;

    const SIGNATURES: &'static [Signature] = &[
        signature("acquire", "acquire", "nothing"),
        signature("try-acquire", "try-acquire", "true if there was a permit, else false"),
        signature("release", "release", "nothing"),
    ];

    fn input(&self, name: &str, arguments: &[Token]) -> Option<SemaphoreInput> {
        match name {
            _ if !arguments.is_empty() => None,
            "acquire" => Some(SemaphoreInput::Acquire),
            "try-acquire" => Some(SemaphoreInput::TryAcquire),
            "release" => Some(SemaphoreInput::Release),
            _ => None,
        }
    }

    fn output(&self, input: &SemaphoreInput, results: &[Token]) -> Option<SemaphoreOutput> {
        match (input, results) {
            (SemaphoreInput::TryAcquire, [Token::Truth(is_acquired)]) => {
                Some(SemaphoreOutput::Tried(*is_acquired))
            }
            (SemaphoreInput::Acquire | SemaphoreInput::Release, []) => Some(SemaphoreOutput::Done),
            _ => None,
        }
    }
}
