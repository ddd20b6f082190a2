//! The channel whose operations may give up.

use std::hash::Hash;
use std::ops::RangeInclusive;

use super::channel::{ChannelInput, receiver, sender};
use super::{bond, object};
use crate::synchronisation::{Bond, Keyed, Member, Role, Synchronisation};

object! {
    /// A synchronous channel whose operations may time out: then they take effect alone.
    TimeoutChannel
}

/// The output of an operation of a channel with time limits.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum TimeoutOutput<V> {
    /// True if the value was received.
    Sent(bool),
    /// The value received, if any.
    Received(Option<V>),
}

impl<V: Clone + Eq + Hash> Synchronisation for TimeoutChannel<V> {
    type State = ();
    type Input = ChannelInput<V>;
    type Output = TimeoutOutput<V>;

    fn initial(&self) {}

    fn arities(&self) -> RangeInclusive<usize> {
        1..=2
    }

    fn together(
        &self,
        (): &mut (),
        group: &[Member<'_, ChannelInput<V>, TimeoutOutput<V>>],
    ) -> Bond {
        use ChannelInput::{Receive, Send};
        use TimeoutOutput::{Received, Sent};
        match *group {
            [(Send(_), None | Some(Sent(false))) | (Receive, None | Some(Received(None)))] => {
                Bond::Yes
            }
            [(Send(_), Some(Sent(true))) | (Receive, Some(Received(Some(_))))] => Bond::Prefix,
            [(Send(value), None | Some(Sent(true))), (Receive, received)]
            | [(Receive, received), (Send(value), None | Some(Sent(true)))] => {
                bond(match received {
                    None => true,
                    Some(Received(Some(received))) => received == value,
                    Some(_) => false,
                })
            }
            _ => Bond::No,
        }
    }
}

impl<V: Clone + Eq + Hash> Keyed for TimeoutChannel<V> {
    type Key = V;
    type Pool = Option<V>;

    fn role(&self, input: &ChannelInput<V>, output: &TimeoutOutput<V>) -> Role<V, Option<V>> {
        match (input, output) {
            (ChannelInput::Send(_), TimeoutOutput::Sent(false))
            | (ChannelInput::Receive, TimeoutOutput::Received(None)) => Role::Alone,
            (ChannelInput::Send(value), TimeoutOutput::Sent(true)) => sender(value),
            (ChannelInput::Receive, TimeoutOutput::Received(Some(value))) => receiver(value),
            _ => Role::Never,
        }
    }

    fn pool(&self, input: &ChannelInput<V>) -> Option<Option<V>> {
        match input {
            ChannelInput::Send(value) => Some(Some(value.clone())),
            ChannelInput::Receive => Some(None),
        }
    }
}
