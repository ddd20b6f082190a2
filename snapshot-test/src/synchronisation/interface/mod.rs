//! What stands in recordings of each object, and how it is decided.

mod single;

use snapshot_core::certificate::deficiency::{self, DeficiencyError};
use snapshot_core::generic::{History, PartsOutcome, Proof, ProofError};
use snapshot_core::search::Budget;
use snapshot_core::synchronisation::objects::{
    Abc, AbcInput, AtomicBroadcast, Barrier, Channel, ChannelInput, ChannelOutput,
    CloseableChannel, CloseableInput, CloseableOutput, CounterChannel, CounterOutput,
    EnrollableBarrier, EnrollableInput, Exchanger, FilterChannel, FilterInput, LeaderBarrier,
    MenAndWomen, OneFamily, PairInput, TerminatingInput, TerminatingOutput, TerminatingQueue,
    TimeoutChannel, TimeoutExchanger, TimeoutOutput, TwoFamilies,
};
use snapshot_core::synchronisation::progress::{self, Progress};
use snapshot_core::synchronisation::{self, Deficiency, Synchronisation, Verdict};

use super::token::Token;
use crate::Value;

/// An operation of an object, as recordings have it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Signature {
    pub name: &'static str,
    /// With its arguments.
    pub usage: &'static str,
    /// What stands behind `ok`.
    pub results: &'static str,
}

const fn signature(name: &'static str, usage: &'static str, results: &'static str) -> Signature {
    Signature { name, usage, results }
}

pub(super) type Recorded<S> =
    History<<S as Synchronisation>::Input, <S as Synchronisation>::Output>;

/// An object of which there are recordings.
pub(super) trait Interface: Synchronisation {
    /// Its operations.
    const SIGNATURES: &'static [Signature];
    /// How it is decided: `keys`, `matching` or `search`; of an object whose operations take effect
    /// one at a time, `rules` where they were enough.
    const METHOD: &'static str = "search";

    /// The operation of this name, if it can have these arguments.
    fn input(&self, name: &str, arguments: &[Token]) -> Option<Self::Input>;

    /// The output of an operation, if it can have these results.
    fn output(&self, input: &Self::Input, results: &[Token]) -> Option<Self::Output>;

    /// The verdict, and how it was reached.
    fn decide(&self, history: &Recorded<Self>, budget: &mut Budget<'_>) -> (Verdict, &'static str)
    where
        Self: Sized,
    {
        (synchronisation::by_search(self, history, budget), Self::METHOD)
    }

    fn progress(&self, history: &Recorded<Self>, budget: &mut Budget<'_>) -> Progress
    where
        Self: Sized,
    {
        progress::by_search(self, history, budget)
    }

    /// Looks for a part of the history, and at most `most` cuts, that show a violation, if
    /// operations take effect one at a time.
    fn refute_parts(
        &self,
        _history: &Recorded<Self>,
        _most: usize,
        _budget: &mut Budget<'_>,
    ) -> Option<PartsOutcome>
    where
        Self: Sized,
    {
        None
    }

    /// Checks the proof that a rule is broken, if operations take effect one at a time.
    fn check_proof(&self, _history: &Recorded<Self>, proof: &Proof) -> Result<(), ProofError>
    where
        Self: Sized,
    {
        Err(ProofError::Object { rule: proof.rule() })
    }

    /// Checks the proof that operations cannot all have partners.
    fn refute(
        &self,
        _history: &Recorded<Self>,
        _deficiency: &Deficiency,
    ) -> Result<(), DeficiencyError>
    where
        Self: Sized,
    {
        Err(DeficiencyError::Arity)
    }
}

/// The methods of an object that is decided by keys.
macro_rules! by_keys {
    () => {
        const METHOD: &'static str = "keys";

        fn decide(
            &self,
            history: &Recorded<Self>,
            budget: &mut Budget<'_>,
        ) -> (Verdict, &'static str) {
            (synchronisation::by_keys(self, history, budget), Self::METHOD)
        }

        fn progress(&self, history: &Recorded<Self>, budget: &mut Budget<'_>) -> Progress {
            progress::by_keys(self, history, budget)
        }

        fn refute(
            &self,
            history: &Recorded<Self>,
            deficiency: &Deficiency,
        ) -> Result<(), DeficiencyError> {
            deficiency::check(self, history, deficiency)
        }
    };
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

impl Interface for Channel<Value> {
    const SIGNATURES: &'static [Signature] = &[SEND, RECEIVE];
    by_keys!();

    fn input(&self, name: &str, arguments: &[Token]) -> Option<ChannelInput<Value>> {
        channel_input(name, arguments)
    }

    fn output(&self, input: &Self::Input, results: &[Token]) -> Option<ChannelOutput<Value>> {
        channel_output(matches!(input, ChannelInput::Send(_)), results)
    }
}

impl Interface for FilterChannel<Value> {
    const SIGNATURES: &'static [Signature] =
        &[SEND, signature("receive", "receive VALUE... (those accepted)", "a value")];
    by_keys!();

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

impl Interface for TimeoutChannel<Value> {
    const SIGNATURES: &'static [Signature] = &[
        signature("send", "send VALUE", "true or false"),
        signature("receive", "receive", "a value or none"),
    ];
    by_keys!();

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

impl Interface for CounterChannel<Value> {
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

impl Interface for CloseableChannel<Value> {
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

impl Interface for Exchanger<Value> {
    const SIGNATURES: &'static [Signature] = &[signature("exchange", "exchange VALUE", "a value")];
    by_keys!();

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

impl Interface for TimeoutExchanger<Value> {
    const SIGNATURES: &'static [Signature] =
        &[signature("exchange", "exchange VALUE", "a value or none")];
    by_keys!();

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

impl Interface for MenAndWomen<Value> {
    const SIGNATURES: &'static [Signature] = &[
        signature("man", "man ME", "the identity of the woman"),
        signature("woman", "woman ME", "the identity of the man"),
    ];
    by_keys!();

    fn input(&self, name: &str, arguments: &[Token]) -> Option<PairInput<Value>> {
        pair_input(name, ["man", "woman"], arguments)
    }

    fn output(&self, _: &Self::Input, results: &[Token]) -> Option<Value> {
        one_value("", "", results)
    }
}

impl Interface for TwoFamilies<Value> {
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

impl Interface for OneFamily<Value> {
    const SIGNATURES: &'static [Signature] =
        &[signature("meet", "meet ME", "the identity of the other")];

    fn input(&self, name: &str, arguments: &[Token]) -> Option<Value> {
        one_value(name, "meet", arguments)
    }

    fn output(&self, _: &Value, results: &[Token]) -> Option<Value> {
        one_value("", "", results)
    }
}

impl Interface for Abc<Value> {
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

impl Interface for Barrier {
    const SIGNATURES: &'static [Signature] = &[signature("sync", "sync", "nothing")];

    fn input(&self, name: &str, arguments: &[Token]) -> Option<()> {
        (name == "sync" && arguments.is_empty()).then_some(())
    }

    fn output(&self, (): &(), results: &[Token]) -> Option<()> {
        results.is_empty().then_some(())
    }
}

impl Interface for LeaderBarrier {
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

impl Interface for EnrollableBarrier<Value> {
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

impl Interface for TerminatingQueue<Value> {
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

impl Interface for AtomicBroadcast<Value> {
    const SIGNATURES: &'static [Signature] = &[SEND, RECEIVE];

    fn input(&self, name: &str, arguments: &[Token]) -> Option<ChannelInput<Value>> {
        channel_input(name, arguments)
    }

    fn output(&self, input: &Self::Input, results: &[Token]) -> Option<ChannelOutput<Value>> {
        channel_output(matches!(input, ChannelInput::Send(_)), results)
    }
}
