//! The channel that counts.

use std::hash::Hash;
use std::ops::RangeInclusive;

use super::channel::ChannelInput;
use super::{bond, object};
use crate::synchronisation::{Bond, Member, Synchronisation};

object! {
    /// A synchronous channel with a counter: both operations of the k-th meeting return k,
    /// from 1.
    CounterChannel
}

/// The output of an operation of a counting channel.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum CounterOutput<V> {
    /// The number of the meeting.
    Sent(u64),
    /// The value received, and the number of the meeting.
    Received(V, u64),
}

impl<V: Clone + Eq + Hash> Synchronisation for CounterChannel<V> {
    type State = u64;
    type Input = ChannelInput<V>;
    type Output = CounterOutput<V>;

    fn initial(&self) -> u64 {
        0
    }

    fn arities(&self) -> RangeInclusive<usize> {
        2..=2
    }

    fn together(
        &self,
        count: &mut u64,
        group: &[Member<'_, ChannelInput<V>, CounterOutput<V>>],
    ) -> Bond {
        *count += 1;
        let is_sent = |output: Option<&CounterOutput<V>>| match output {
            None => true,
            Some(CounterOutput::Sent(number)) => number == count,
            Some(CounterOutput::Received(..)) => false,
        };
        let is_received = |output: Option<&CounterOutput<V>>, value: Option<&V>| match output {
            None => true,
            Some(CounterOutput::Received(received, number)) => {
                number == count && value.is_none_or(|value| value == received)
            }
            Some(CounterOutput::Sent(_)) => false,
        };
        match *group {
            [(ChannelInput::Send(_), output)] if is_sent(output) => Bond::Prefix,
            [(ChannelInput::Receive, output)] if is_received(output, None) => Bond::Prefix,
            [(ChannelInput::Send(value), sent), (ChannelInput::Receive, received)]
            | [(ChannelInput::Receive, received), (ChannelInput::Send(value), sent)] => {
                bond(is_sent(sent) && is_received(received, Some(value)))
            }
            _ => Bond::No,
        }
    }
}
