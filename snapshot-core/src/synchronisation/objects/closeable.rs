//! The channel that can be closed.

use std::hash::Hash;
use std::ops::RangeInclusive;

use super::{bond, object};
use crate::synchronisation::{Bond, Member, Synchronisation};

object! {
    /// A synchronous channel that can be closed: from then on sends and receives take effect
    /// alone, and report that it is closed. Closing it again changes nothing.
    CloseableChannel
}

/// An operation of a channel that can be closed.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum CloseableInput<V> {
    /// Sends a value.
    Send(V),
    /// Receives a value.
    Receive,
    /// Closes the channel.
    Close,
}

/// The output of an operation of a channel that can be closed.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum CloseableOutput<V> {
    /// The value was received.
    Sent,
    /// The value received.
    Received(V),
    /// The channel is closed: by this operation, or before a send or receive met another.
    Closed,
}

impl<V: Clone + Eq + Hash> Synchronisation for CloseableChannel<V> {
    /// True if the channel is closed.
    type State = bool;
    type Input = CloseableInput<V>;
    type Output = CloseableOutput<V>;

    fn initial(&self) -> bool {
        false
    }

    fn arities(&self) -> RangeInclusive<usize> {
        1..=2
    }

    fn together(
        &self,
        is_closed: &mut bool,
        group: &[Member<'_, CloseableInput<V>, CloseableOutput<V>>],
    ) -> Bond {
        use CloseableInput::{Close, Receive, Send};
        use CloseableOutput::{Closed, Received, Sent};
        match *group {
            [(Close, None | Some(Closed))] => {
                *is_closed = true;
                Bond::Yes
            }
            [(Send(_) | Receive, None | Some(Closed))] if *is_closed => Bond::Yes,
            [(Send(_), None | Some(Sent)) | (Receive, None | Some(Received(_)))] if !*is_closed => {
                Bond::Prefix
            }
            [(Send(value), None | Some(Sent)), (Receive, received)]
            | [(Receive, received), (Send(value), None | Some(Sent))]
                if !*is_closed =>
            {
                bond(match received {
                    None => true,
                    Some(Received(received)) => received == value,
                    Some(_) => false,
                })
            }
            _ => Bond::No,
        }
    }
}
