//! Text of the operations of each object, and the nouns of its sentences.

mod fit;
mod signature;
mod single;

use snapshot_core::certificate::groups::GroupsError;
use snapshot_core::generic::History;
use snapshot_core::immediate::SetLinearization;
use snapshot_core::object::{ByKeys, BySearch, GroupsProofError, ObjectKind, Open, Specified};
use snapshot_core::synchronisation::objects::{
    Abc, AbcInput, AtomicBroadcast, Barrier, Channel, ChannelInput, ChannelOutput,
    CloseableChannel, CloseableInput, CloseableOutput, CounterChannel, CounterOutput,
    EnrollableBarrier, EnrollableInput, Exchanger, FilterChannel, FilterInput, LeaderBarrier,
    MenAndWomen, OneFamily, PairInput, TerminatingInput, TerminatingOutput, TerminatingQueue,
    TimeoutChannel, TimeoutExchanger, TimeoutOutput, TwoFamilies,
};
use snapshot_core::synchronisation::{Synchronisation, Violation};

pub use self::fit::Beyond;
pub(super) use self::fit::Fit;
use self::signature::signature;
pub(crate) use self::signature::{Nouns, Signature};
pub(super) use self::single::TEXT;
use super::generate::Role;
use super::token::Token;
use crate::Value;

/// A kind of object with the text of its operations.
pub(super) trait Interface:
    ObjectKind<
        History = History<Self::Input, Self::Output>,
        Order = SetLinearization,
        Violation = Violation,
        Unknown = Open,
        OrderError = GroupsError,
        ProofError = GroupsProofError,
    > + Specified<Specification: Synchronisation<Input = Self::Input, Output = Self::Output>>
{
    /// The invocation, with its arguments.
    type Input: Clone;
    /// The response.
    type Output: Clone;

    /// The operations.
    const SIGNATURES: &'static [Signature];
    const NOUNS: Nouns = Nouns::COLLECTION;

    /// Returns the operations.
    fn signatures(&self) -> &'static [Signature] {
        Self::SIGNATURES
    }

    /// Returns the operation of this name, if it can have these arguments.
    fn input(&self, name: &str, arguments: &[Token]) -> Option<Self::Input>;

    /// As [`Self::input`], by a process, where its effect may depend on it.
    fn input_of(&self, _process: usize, name: &str, arguments: &[Token]) -> Option<Self::Input> {
        self.input(name, arguments)
    }

    /// Returns the reason why executions cannot be judged, once they were, and the operation at
    /// which that was found.
    fn fault(&self) -> Option<(String, Option<Self::Input>)> {
        None
    }

    /// Compares the arguments of an operation with their declared ranges, for the processes so far,
    /// and for more unless the recording has ended.
    fn fit(&self, _input: &Self::Input, _has_ended: bool) -> Fit {
        Fit::Always
    }

    /// Returns true if two invocations cannot be told apart.
    fn is_same(&self, _one: &Self::Input, _other: &Self::Input) -> bool {
        false
    }

    /// Returns the output of an operation, if it can have these results.
    fn output(&self, input: &Self::Input, results: &[Token]) -> Option<Self::Output>;

    /// Allows for a number of processes, where the object depends on it.
    fn expect_processes(&self, _processes: usize) {}

    /// Returns true if a client may begin an operation in a state.
    fn may_begin(
        &self,
        _state: &<Self::Specification as Synchronisation>::State,
        _input: &Self::Input,
    ) -> bool {
        true
    }

    /// Returns the ways in which the arguments of an operation are chosen.
    fn roles(&self, signature: &Signature, _processes: usize) -> Vec<Role> {
        let is_test = signature.results.starts_with("true");
        let role = |word: &str| match word {
            "KEY" => Role::Key,
            "OWNER" | "ME" => Role::Process,
            "EXPECTED" => Role::Known,
            "TEXT" => Role::Text,
            "VALUE" if is_test => Role::Element,
            _ => Role::Fresh,
        };
        signature.usage.split_whitespace().skip(1).map(role).collect()
    }

    /// Returns results that an operation may have in a state, where arguments of operations are
    /// not among them.
    fn results(
        &self,
        _state: &<Self::Specification as Synchronisation>::State,
        _input: &Self::Input,
    ) -> Option<Vec<Token>> {
        None
    }
}

const SEND: Signature = signature("send", "send VALUE", "nothing");
const RECEIVE: Signature = signature("receive", "receive", "a value");

fn channel_input(name: &str, arguments: &[Token]) -> Option<ChannelInput<Value>> {
    match (name, arguments) {
        ("send", [Token::Value(value)]) => Some(ChannelInput::Send(value.clone())),
        ("receive", []) => Some(ChannelInput::Receive),
        _ => None,
    }
}

fn channel_output(is_send: bool, results: &[Token]) -> Option<ChannelOutput<Value>> {
    match (is_send, results) {
        (true, []) => Some(ChannelOutput::Sent),
        (false, [Token::Value(value)]) => Some(ChannelOutput::Received(value.clone())),
        _ => None,
    }
}

impl Interface for ByKeys<Channel<Value>> {
    type Input = ChannelInput<Value>;
    type Output = ChannelOutput<Value>;

    const SIGNATURES: &'static [Signature] = &[SEND, RECEIVE];

    fn input(&self, name: &str, arguments: &[Token]) -> Option<ChannelInput<Value>> {
        channel_input(name, arguments)
    }

    fn output(&self, input: &Self::Input, results: &[Token]) -> Option<ChannelOutput<Value>> {
        channel_output(matches!(input, ChannelInput::Send(_)), results)
    }
}

impl Interface for ByKeys<FilterChannel<Value>> {
    type Input = FilterInput<Value>;
    type Output = ChannelOutput<Value>;

    const SIGNATURES: &'static [Signature] =
        &[SEND, signature("receive", "receive VALUE... (those accepted)", "a value")];

    fn input(&self, name: &str, arguments: &[Token]) -> Option<FilterInput<Value>> {
        match (name, arguments) {
            ("send", [Token::Value(value)]) => Some(FilterInput::Send(value.clone())),
            ("receive", accepted) => {
                let accepted = accepted.iter().map(|token| token.value().cloned());
                Some(FilterInput::Receive(accepted.collect::<Option<_>>()?))
            }
            _ => None,
        }
    }

    fn output(&self, input: &Self::Input, results: &[Token]) -> Option<ChannelOutput<Value>> {
        channel_output(matches!(input, FilterInput::Send(_)), results)
    }
}

impl Interface for ByKeys<TimeoutChannel<Value>> {
    type Input = ChannelInput<Value>;
    type Output = TimeoutOutput<Value>;

    const SIGNATURES: &'static [Signature] = &[
        signature("send", "send VALUE", "true or false"),
        signature("receive", "receive", "a value or none"),
    ];

    fn input(&self, name: &str, arguments: &[Token]) -> Option<ChannelInput<Value>> {
        channel_input(name, arguments)
    }

    fn output(&self, input: &Self::Input, results: &[Token]) -> Option<TimeoutOutput<Value>> {
        match (input, results) {
            (ChannelInput::Send(_), [Token::Truth(sent)]) => Some(TimeoutOutput::Sent(*sent)),
            (ChannelInput::Receive, [Token::Value(value)]) => {
                Some(TimeoutOutput::Received(Some(value.clone())))
            }
            (ChannelInput::Receive, [Token::None]) => Some(TimeoutOutput::Received(None)),
            _ => None,
        }
    }
}

impl Interface for BySearch<CounterChannel<Value>> {
    type Input = ChannelInput<Value>;
    type Output = CounterOutput<Value>;

    const SIGNATURES: &'static [Signature] = &[
        signature("send", "send VALUE", "the number of the meeting"),
        signature("receive", "receive", "a value and the number of the meeting"),
    ];

    fn input(&self, name: &str, arguments: &[Token]) -> Option<ChannelInput<Value>> {
        channel_input(name, arguments)
    }

    fn output(&self, input: &Self::Input, results: &[Token]) -> Option<CounterOutput<Value>> {
        match (input, results) {
            (ChannelInput::Send(_), [number]) => Some(CounterOutput::Sent(number.number()?)),
            (ChannelInput::Receive, [Token::Value(value), number]) => {
                Some(CounterOutput::Received(value.clone(), number.number()?))
            }
            _ => None,
        }
    }
}

impl Interface for BySearch<CloseableChannel<Value>> {
    type Input = CloseableInput<Value>;
    type Output = CloseableOutput<Value>;

    const SIGNATURES: &'static [Signature] = &[
        signature("send", "send VALUE", "nothing or closed"),
        signature("receive", "receive", "a value or closed"),
        signature("close", "close", "nothing"),
    ];

    fn input(&self, name: &str, arguments: &[Token]) -> Option<CloseableInput<Value>> {
        match (name, arguments) {
            ("send", [Token::Value(value)]) => Some(CloseableInput::Send(value.clone())),
            ("receive", []) => Some(CloseableInput::Receive),
            ("close", []) => Some(CloseableInput::Close),
            _ => None,
        }
    }

    fn output(&self, input: &Self::Input, results: &[Token]) -> Option<CloseableOutput<Value>> {
        match (input, results) {
            (CloseableInput::Send(_), []) => Some(CloseableOutput::Sent),
            (CloseableInput::Receive, [Token::Value(value)]) => {
                Some(CloseableOutput::Received(value.clone()))
            }
            (CloseableInput::Send(_) | CloseableInput::Receive, [Token::Closed])
            | (CloseableInput::Close, []) => Some(CloseableOutput::Closed),
            _ => None,
        }
    }
}

impl Interface for ByKeys<Exchanger<Value>> {
    type Input = Value;
    type Output = Value;

    const SIGNATURES: &'static [Signature] = &[signature("exchange", "exchange VALUE", "a value")];

    fn input(&self, name: &str, arguments: &[Token]) -> Option<Value> {
        one_value(name, "exchange", arguments)
    }

    fn output(&self, _: &Value, results: &[Token]) -> Option<Value> {
        one_value("", "", results)
    }
}

/// The value of an operation that has one argument, or one result.
fn one_value(name: &str, wanted: &str, tokens: &[Token]) -> Option<Value> {
    match tokens {
        [Token::Value(value)] if name == wanted => Some(value.clone()),
        _ => None,
    }
}

impl Interface for ByKeys<TimeoutExchanger<Value>> {
    type Input = Value;
    type Output = Option<Value>;

    const SIGNATURES: &'static [Signature] =
        &[signature("exchange", "exchange VALUE", "a value or none")];

    fn input(&self, name: &str, arguments: &[Token]) -> Option<Value> {
        one_value(name, "exchange", arguments)
    }

    fn output(&self, _: &Value, results: &[Token]) -> Option<Option<Value>> {
        match results {
            [Token::None] => Some(None),
            _ => one_value("", "", results).map(Some),
        }
    }
}

/// The input of an operation by one of two kinds.
fn pair_input(name: &str, kinds: [&str; 2], arguments: &[Token]) -> Option<PairInput<Value>> {
    let [Token::Value(me)] = arguments else { return None };
    let kind = kinds.iter().position(|kind| *kind == name)?;
    Some(if kind == 0 { PairInput::First(me.clone()) } else { PairInput::Second(me.clone()) })
}

impl Interface for ByKeys<MenAndWomen<Value>> {
    type Input = PairInput<Value>;
    type Output = Value;

    const SIGNATURES: &'static [Signature] = &[
        signature("man", "man ME", "the identity of the woman"),
        signature("woman", "woman ME", "the identity of the man"),
    ];

    fn input(&self, name: &str, arguments: &[Token]) -> Option<PairInput<Value>> {
        pair_input(name, ["man", "woman"], arguments)
    }

    fn output(&self, _: &Self::Input, results: &[Token]) -> Option<Value> {
        one_value("", "", results)
    }
}

impl Interface for BySearch<TwoFamilies<Value>> {
    type Input = PairInput<Value>;
    type Output = Value;

    const SIGNATURES: &'static [Signature] = &[
        signature("first", "first ME", "the identity of the other"),
        signature("second", "second ME", "the identity of the other"),
    ];

    fn input(&self, name: &str, arguments: &[Token]) -> Option<PairInput<Value>> {
        pair_input(name, ["first", "second"], arguments)
    }

    fn output(&self, _: &Self::Input, results: &[Token]) -> Option<Value> {
        one_value("", "", results)
    }
}

impl Interface for BySearch<OneFamily<Value>> {
    type Input = Value;
    type Output = Value;

    const SIGNATURES: &'static [Signature] =
        &[signature("meet", "meet ME", "the identity of the other")];

    fn input(&self, name: &str, arguments: &[Token]) -> Option<Value> {
        one_value(name, "meet", arguments)
    }

    fn output(&self, _: &Value, results: &[Token]) -> Option<Value> {
        one_value("", "", results)
    }
}

impl Interface for BySearch<Abc<Value>> {
    type Input = AbcInput<Value>;
    type Output = (Value, Value);

    const SIGNATURES: &'static [Signature] = &[
        signature("a", "a ME", "the identities of b and c"),
        signature("b", "b ME", "the identities of a and c"),
        signature("c", "c ME", "the identities of a and b"),
    ];

    fn input(&self, name: &str, arguments: &[Token]) -> Option<AbcInput<Value>> {
        let [Token::Value(me)] = arguments else { return None };
        let me = me.clone();
        match name {
            "a" => Some(AbcInput::A(me)),
            "b" => Some(AbcInput::B(me)),
            "c" => Some(AbcInput::C(me)),
            _ => None,
        }
    }

    fn output(&self, _: &Self::Input, results: &[Token]) -> Option<(Value, Value)> {
        match results {
            [Token::Value(one), Token::Value(other)] => Some((one.clone(), other.clone())),
            _ => None,
        }
    }
}

impl Interface for BySearch<Barrier> {
    type Input = ();
    type Output = ();

    const SIGNATURES: &'static [Signature] = &[signature("sync", "sync", "nothing")];

    fn input(&self, name: &str, arguments: &[Token]) -> Option<()> {
        (name == "sync" && arguments.is_empty()).then_some(())
    }

    fn output(&self, (): &(), results: &[Token]) -> Option<()> {
        results.is_empty().then_some(())
    }
}

impl Interface for BySearch<LeaderBarrier> {
    type Input = ();
    type Output = bool;

    const SIGNATURES: &'static [Signature] =
        &[signature("sync", "sync", "true for the leader, else false")];

    fn input(&self, name: &str, arguments: &[Token]) -> Option<()> {
        (name == "sync" && arguments.is_empty()).then_some(())
    }

    fn output(&self, (): &(), results: &[Token]) -> Option<bool> {
        match results {
            [Token::Truth(leads)] => Some(*leads),
            _ => None,
        }
    }
}

impl Interface for BySearch<EnrollableBarrier<Value>> {
    type Input = EnrollableInput<Value>;
    type Output = ();

    const SIGNATURES: &'static [Signature] = &[
        signature("sync", "sync ME", "nothing"),
        signature("enrol", "enrol ME", "nothing"),
        signature("resign", "resign ME", "nothing"),
    ];

    fn input(&self, name: &str, arguments: &[Token]) -> Option<EnrollableInput<Value>> {
        let [Token::Value(me)] = arguments else { return None };
        let me = me.clone();
        match name {
            "sync" => Some(EnrollableInput::Sync(me)),
            "enrol" => Some(EnrollableInput::Enrol(me)),
            "resign" => Some(EnrollableInput::Resign(me)),
            _ => None,
        }
    }

    fn output(&self, _: &Self::Input, results: &[Token]) -> Option<()> {
        results.is_empty().then_some(())
    }
}

impl Interface for BySearch<TerminatingQueue<Value>> {
    type Input = TerminatingInput<Value>;
    type Output = TerminatingOutput<Value>;

    const SIGNATURES: &'static [Signature] = &[
        signature("enqueue", "enqueue VALUE", "nothing"),
        signature("dequeue", "dequeue", "a value or none"),
    ];

    fn input(&self, name: &str, arguments: &[Token]) -> Option<TerminatingInput<Value>> {
        match (name, arguments) {
            ("enqueue", [Token::Value(value)]) => Some(TerminatingInput::Enqueue(value.clone())),
            ("dequeue", []) => Some(TerminatingInput::Dequeue),
            _ => None,
        }
    }

    fn output(&self, input: &Self::Input, results: &[Token]) -> Option<TerminatingOutput<Value>> {
        match (input, results) {
            (TerminatingInput::Enqueue(_), []) => Some(TerminatingOutput::Enqueued),
            (TerminatingInput::Dequeue, [Token::Value(value)]) => {
                Some(TerminatingOutput::Dequeued(value.clone()))
            }
            (TerminatingInput::Dequeue, [Token::None]) => Some(TerminatingOutput::Ended),
            _ => None,
        }
    }
}

impl Interface for BySearch<AtomicBroadcast<Value>> {
    type Input = ChannelInput<Value>;
    type Output = ChannelOutput<Value>;

    const SIGNATURES: &'static [Signature] = &[SEND, RECEIVE];

    fn input(&self, name: &str, arguments: &[Token]) -> Option<ChannelInput<Value>> {
        channel_input(name, arguments)
    }

    fn output(&self, input: &Self::Input, results: &[Token]) -> Option<ChannelOutput<Value>> {
        channel_output(matches!(input, ChannelInput::Send(_)), results)
    }
}
