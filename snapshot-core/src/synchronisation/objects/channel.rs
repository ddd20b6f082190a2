//! The synchronous channel.

use std::hash::Hash;
use std::ops::RangeInclusive;

use super::{bond, object, returns};
use crate::synchronisation::{Bond, Keyed, Member, Role, Side, Synchronisation};

object! {
    /// A synchronous channel without a buffer: a send meets a receive, which returns the value
    /// sent.
    Channel
}

/// An operation of a channel.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum ChannelInput<V> {
    /// Sends a value.
    Send(V),
    /// Receives a value.
    Receive,
}

/// The output of an operation of a channel.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum ChannelOutput<V> {
    /// The value was received.
    Sent,
    /// The value received.
    Received(V),
}

impl<V: Clone + Eq + Hash> Synchronisation for Channel<V> {
    type State = ();
    type Input = ChannelInput<V>;
    type Output = ChannelOutput<V>;

    fn initial(&self) {}

    fn arities(&self) -> RangeInclusive<usize> {
        2..=2
    }

    fn together(
        &self,
        (): &mut (),
        group: &[Member<'_, ChannelInput<V>, ChannelOutput<V>>],
    ) -> Bond {
        match *group {
            [_] => Bond::Prefix,
            [sent @ (ChannelInput::Send(value), _), received @ (ChannelInput::Receive, _)]
            | [received @ (ChannelInput::Receive, _), sent @ (ChannelInput::Send(value), _)] => {
                let is_received = match received.1 {
                    Some(ChannelOutput::Received(received)) => received == value,
                    Some(ChannelOutput::Sent) => false,
                    None => true,
                };
                bond(is_received && returns(sent, &ChannelOutput::Sent))
            }
            _ => Bond::No,
        }
    }
}

impl<V: Clone + Eq + Hash> Keyed for Channel<V> {
    type Key = V;
    /// The value of pending sends; `None` for pending receives.
    type Pool = Option<V>;

    fn role(&self, input: &ChannelInput<V>, output: &ChannelOutput<V>) -> Role<V, Option<V>> {
        match (input, output) {
            (ChannelInput::Send(value), ChannelOutput::Sent) => sender(value),
            (ChannelInput::Receive, ChannelOutput::Received(value)) => receiver(value),
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

/// Returns the role of an operation that sent a value.
pub(super) fn sender<V: Clone>(value: &V) -> Role<V, Option<V>> {
    Role::Pair { side: Side::A, key: value.clone(), partners: None }
}

/// Returns the role of an operation that received a value.
pub(super) fn receiver<V: Clone>(value: &V) -> Role<V, Option<V>> {
    Role::Pair { side: Side::B, key: value.clone(), partners: Some(value.clone()) }
}
