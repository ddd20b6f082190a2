//! What one process did, in the order of its stamps, written without a lock.
//!
//! The thread that acts as the process puts its events into a ring (`rtrb`: one writer,
//! one reader, no lock, no write that another thread waits for); whoever wants a history
//! drains the rings under the lock of [`Log`]. Only when its ring is full does the writer
//! take that lock, and drains it itself. So an event can be seen as soon as it is in the
//! ring, also if the thread then hangs in a call for ever.
//!
//! Values follow their event in the ring, as items of their own: nothing is allocated
//! per event. An event whose values are not all there yet has not happened.

use rtrb::{Consumer, Producer, RingBuffer};
use snapshot_core::history::Action;
use snapshot_core::{Process, Segment};

/// Items between two times that a writer takes the lock.
const RING: usize = 2048;

/// What stands in a ring.
#[derive(Debug)]
pub(super) enum Item<V> {
    /// Something happened.
    Event { stamp: u64, mark: Mark },
    /// A value of the event before.
    Value(V),
}

/// An event without its values.
#[derive(Clone, Copy, Debug)]
pub(super) enum Mark {
    /// One value follows.
    InvokeUpdate(Segment),
    InvokeScan,
    RespondUpdate,
    /// Its values follow.
    RespondScan(u32),
    Fail,
    Unknown,
}

impl Mark {
    /// How many values follow.
    const fn values(self) -> usize {
        match self {
            Self::InvokeUpdate(_) => 1,
            Self::RespondScan(values) => values as usize,
            _ => 0,
        }
    }

    /// Whether an operation ends.
    const fn is_end(self) -> bool {
        !matches!(self, Self::InvokeUpdate(_) | Self::InvokeScan)
    }

    pub(super) fn action<V>(self, values: &[V]) -> Action<'_, V> {
        match self {
            Self::InvokeUpdate(segment) => Action::InvokeUpdate { segment, value: &values[0] },
            Self::InvokeScan => Action::InvokeScan,
            Self::RespondUpdate => Action::RespondUpdate,
            Self::RespondScan(_) => Action::RespondScan { values },
            Self::Fail => Action::Fail,
            Self::Unknown => Action::Unknown,
        }
    }
}

/// The events of one process that have been drained, and the rest of its ring.
#[derive(Debug)]
pub(super) struct Log<V> {
    pub(super) process: Process,
    /// The writing end, while no thread acts as the process.
    pub(super) idle: Option<Producer<Item<V>>>,
    ring: Consumer<Item<V>>,
    events: Vec<(u64, Mark)>,
    /// The values of all events, one after the other.
    values: Vec<V>,
    /// How many of these `events` need.
    needed: usize,
}

impl<V> Log<V> {
    pub(super) fn new(process: Process) -> Self {
        let (producer, ring) = RingBuffer::new(RING);
        let (events, values) = (Vec::new(), Vec::new());
        Self { process, idle: Some(producer), ring, events, values, needed: 0 }
    }

    /// Takes over what is in the ring.
    pub(super) fn drain(&mut self) {
        let items = self.ring.slots();
        let Ok(chunk) = self.ring.read_chunk(items) else { return };
        for item in chunk {
            match item {
                Item::Event { stamp, mark } => {
                    self.needed += mark.values();
                    self.events.push((stamp, mark));
                }
                Item::Value(value) => self.values.push(value),
            }
        }
    }

    /// The events with stamps below `cut`, to be read in their order.
    pub(super) fn until(&self, cut: u64) -> Cursor<'_, V> {
        let mut events = &self.events[..];
        // Only the last event can lack values.
        if self.values.len() < self.needed {
            events = &events[..events.len() - 1];
        }
        let count = events.partition_point(|(stamp, _)| *stamp < cut);
        Cursor { process: self.process, events: &events[..count], values: &self.values }
    }

    /// Forgets the first `events` events.
    pub(super) fn forget(&mut self, events: usize) {
        let values: usize = self.events.drain(..events).map(|(_, mark)| mark.values()).sum();
        self.values.drain(..values);
        self.needed -= values;
    }
}

/// Reads a log.
#[derive(Debug)]
pub(super) struct Cursor<'a, V> {
    pub(super) process: Process,
    events: &'a [(u64, Mark)],
    values: &'a [V],
}

impl<'a, V> Cursor<'a, V> {
    /// The place of the next event in the order of time. At one instant, invocations
    /// come first: operations that only touch overlap.
    #[inline]
    pub(super) fn key(&self) -> Option<(u64, bool)> {
        self.events.first().map(|(stamp, mark)| (*stamp, mark.is_end()))
    }

    /// The next event, with its values.
    #[inline]
    pub(super) fn next(&mut self) -> Option<Action<'a, V>> {
        let (&(_, mark), events) = self.events.split_first()?;
        let (values, rest) = self.values.split_at(mark.values());
        (self.events, self.values) = (events, rest);
        Some(mark.action(values))
    }

    pub(super) fn len(&self) -> usize {
        self.events.len()
    }
}
