//! The channel with filters.

use std::hash::Hash;
use std::ops::RangeInclusive;

use super::channel::{ChannelOutput, receiver, sender};
use super::{bond, object, returns};
use crate::synchronisation::{Bond, Keyed, Member, Role, Synchronisation};

object! {
    /// A synchronous channel in which a receive states the values that it accepts, and meets only a
    /// send of one of these.
    FilterChannel
}

/// An operation of a channel with filters.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum FilterInput<V> {
    /// Sends a value.
    Send(V),
    /// Receives one of these values.
    Receive(Vec<V>),
}

impl<V: Clone + Eq + Hash> Synchronisation for FilterChannel<V> {
    type State = ();
    type Input = FilterInput<V>;
    type Output = ChannelOutput<V>;

    fn initial(&self) {}

    fn arities(&self) -> RangeInclusive<usize> {
        2..=2
    }

    fn together(
        &self,
        (): &mut (),
        group: &[Member<'_, FilterInput<V>, ChannelOutput<V>>],
    ) -> Bond {
        match *group {
            [_] => Bond::Prefix,
            [sent @ (FilterInput::Send(value), _), (FilterInput::Receive(accepted), received)]
            | [(FilterInput::Receive(accepted), received), sent @ (FilterInput::Send(value), _)] => {
                let is_received = match received {
                    Some(ChannelOutput::Received(received)) => received == value,
                    Some(ChannelOutput::Sent) => false,
                    None => true,
                };
                bond(is_received && accepted.contains(value) && returns(sent, &ChannelOutput::Sent))
            }
            _ => Bond::No,
        }
    }
}

/// Besides its returned value, the accepted values of a complete receive do not matter; a pending
/// receive can meet sends of several values.
impl<V: Clone + Eq + Hash> Keyed for FilterChannel<V> {
    type Key = V;
    type Pool = Option<V>;

    fn role(&self, input: &FilterInput<V>, output: &ChannelOutput<V>) -> Role<V, Option<V>> {
        match (input, output) {
            (FilterInput::Send(value), ChannelOutput::Sent) => sender(value),
            (FilterInput::Receive(accepted), ChannelOutput::Received(value))
                if accepted.contains(value) =>
            {
                receiver(value)
            }
            _ => Role::Never,
        }
    }

    fn pool(&self, input: &FilterInput<V>) -> Option<Option<V>> {
        match input {
            FilterInput::Send(value) => Some(Some(value.clone())),
            FilterInput::Receive(_) => None,
        }
    }
}
