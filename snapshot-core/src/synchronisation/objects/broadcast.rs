//! Atomic broadcast.

use std::hash::Hash;
use std::marker::PhantomData;
use std::ops::RangeInclusive;

use super::channel::{ChannelInput, ChannelOutput};
use crate::synchronisation::{Bond, Member, Synchronisation};

/// A channel in which one send meets n receives, which all return the value sent.
#[derive(Clone, Copy, Debug)]
pub struct AtomicBroadcast<V> {
    receivers: usize,
    values: PhantomData<V>,
}

impl<V> AtomicBroadcast<V> {
    /// Creates the broadcast to this many receivers.
    pub const fn new(receivers: usize) -> Self {
        Self { receivers, values: PhantomData }
    }
}

impl<V: Clone + Eq + Hash> Synchronisation for AtomicBroadcast<V> {
    type State = ();
    type Input = ChannelInput<V>;
    type Output = ChannelOutput<V>;

    fn initial(&self) {}

    fn arities(&self) -> RangeInclusive<usize> {
        self.receivers + 1..=self.receivers + 1
    }

    fn together(
        &self,
        (): &mut (),
        group: &[Member<'_, ChannelInput<V>, ChannelOutput<V>>],
    ) -> Bond {
        let mut sent = None;
        let mut received = None;
        let mut receivers = 0;
        for member in group {
            let value = match member {
                (ChannelInput::Send(value), None | Some(ChannelOutput::Sent)) => {
                    if sent.replace(value).is_some() {
                        return Bond::No;
                    }
                    continue;
                }
                (ChannelInput::Receive, None) => None,
                (ChannelInput::Receive, Some(ChannelOutput::Received(value))) => Some(value),
                _ => return Bond::No,
            };
            receivers += 1;
            if value.is_some() && received.is_some() && received != value {
                return Bond::No;
            }
            received = received.or(value);
        }
        let is_same = sent.is_none() || received.is_none() || sent == received;
        if !is_same || receivers > self.receivers {
            Bond::No
        } else if sent.is_some() && receivers == self.receivers {
            Bond::Yes
        } else {
            Bond::Prefix
        }
    }
}
