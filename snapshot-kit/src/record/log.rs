//! Log of one process, in the order of its stamps, written without a lock.
//!
//! The thread that acts as the process puts its events into a ring (`rtrb`: one writer, one reader,
//! no lock, no write that another thread waits for). A reader that requests a history drains the
//! rings under the lock of [`Log`]. Only when its ring is full does the writer take that lock, and
//! drains it itself. So an event can be seen as soon as it is in the ring, even if the thread then
//! hangs in a call forever.
//!
//! Values follow their event in the ring, as separate items: nothing is allocated per event. An
//! event whose values are incomplete has not happened yet.

use rtrb::{Consumer, Producer, RingBuffer};
use snapshot_core::history::Action;
use snapshot_core::{Process, Segment};

/// Capacity of a ring: items between two times that a writer takes the lock.
const RING: usize = 2048;

/// Event, or a part of one.
#[derive(Debug)]
pub(super) enum Item<V> {
    /// An event; its values follow.
    Event { stamp: u64, mark: Mark },
    /// A value of the preceding event.
    Value(V),
    /// A value of the preceding event, with its segment.
    Entry(Segment, V),
}

/// An event without its values.
#[derive(Clone, Copy, Debug)]
pub(super) enum Mark {
    /// One value follows.
    InvokeUpdate(Segment),
    InvokeScan,
    RespondUpdate,
    /// This many values follow.
    RespondScan(u32),
    /// This many entries follow.
    RespondPartialScan(u32),
    Fail,
    Unknown,
}

impl Mark {
    /// Returns the number of values that follow.
    const fn values(self) -> usize {
        match self {
            Self::InvokeUpdate(_) => 1,
            Self::RespondScan(values) => values as usize,
            _ => 0,
        }
    }

    /// Returns the number of entries that follow.
    const fn entries(self) -> usize {
        if let Self::RespondPartialScan(entries) = self { entries as usize } else { 0 }
    }

    /// Returns true if an operation ends.
    const fn is_end(self) -> bool {
        !matches!(self, Self::InvokeUpdate(_) | Self::InvokeScan)
    }

    pub(super) fn action<'a, V>(
        self,
        values: &'a [V],
        entries: &'a [(Segment, V)],
    ) -> Action<'a, V> {
        match self {
            Self::InvokeUpdate(segment) => Action::InvokeUpdate { segment, value: &values[0] },
            Self::InvokeScan => Action::InvokeScan,
            Self::RespondUpdate => Action::RespondUpdate,
            Self::RespondScan(_) => Action::RespondScan { values },
            Self::RespondPartialScan(_) => Action::RespondPartialScan { segments: None, entries },
            Self::Fail => Action::Fail,
            Self::Unknown => Action::Unknown,
        }
    }
}

/// The drained events of one process, and the rest of its ring.
#[derive(Debug)]
pub(super) struct Log<V> {
    pub(super) process: Process,
    /// The writing end, while no thread acts as the process.
    pub(super) idle: Option<Producer<Item<V>>>,
    ring: Consumer<Item<V>>,
    events: Vec<(u64, Mark)>,
    /// The values of all events, one after the other.
    values: Vec<V>,
    /// The entries of all partial scans, one after the other.
    entries: Vec<(Segment, V)>,
    /// Numbers of values and entries that `events` need.
    needed: (usize, usize),
}

impl<V> Log<V> {
    pub(super) fn new(process: Process) -> Self {
        let (producer, ring) = RingBuffer::new(RING);
        let (events, values, entries) = (Vec::new(), Vec::new(), Vec::new());
        Self { process, idle: Some(producer), ring, events, values, entries, needed: (0, 0) }
    }

    /// Takes the items of the ring.
    pub(super) fn drain(&mut self) {
        let items = self.ring.slots();
        let Ok(chunk) = self.ring.read_chunk(items) else { return };
        for item in chunk {
            match item {
                Item::Event { stamp, mark } => {
                    self.needed.0 += mark.values();
                    self.needed.1 += mark.entries();
                    self.events.push((stamp, mark));
                }
                Item::Value(value) => self.values.push(value),
                Item::Entry(segment, value) => self.entries.push((segment, value)),
            }
        }
    }

    /// Returns the events with stamps below `cut`, to be read in their order.
    pub(super) fn until(&self, cut: u64) -> Cursor<'_, V> {
        let mut events = &self.events[..];
        // Only the last event can lack values.
        if self.values.len() < self.needed.0 || self.entries.len() < self.needed.1 {
            events = &events[..events.len() - 1];
        }
        let count = events.partition_point(|(stamp, _)| *stamp < cut);
        let Self { process, values, entries, .. } = self;
        Cursor { process: *process, events: &events[..count], values, entries }
    }

    /// Removes the first `events` events.
    pub(super) fn forget(&mut self, events: usize) {
        let (mut values, mut entries) = (0, 0);
        for (_, mark) in self.events.drain(..events) {
            values += mark.values();
            entries += mark.entries();
        }
        self.values.drain(..values);
        self.entries.drain(..entries);
        self.needed.0 -= values;
        self.needed.1 -= entries;
    }
}

#[derive(Debug)]
pub(super) struct Cursor<'a, V> {
    pub(super) process: Process,
    events: &'a [(u64, Mark)],
    values: &'a [V],
    entries: &'a [(Segment, V)],
}

impl<'a, V> Cursor<'a, V> {
    /// Returns the position of the next event in time order. At one instant, invocations precede
    /// responses: operations that only touch overlap.
    #[inline]
    pub(super) fn key(&self) -> Option<(u64, bool)> {
        self.events.first().map(|(stamp, mark)| (*stamp, mark.is_end()))
    }

    /// Returns the next event, with its values.
    #[inline]
    pub(super) fn next(&mut self) -> Option<Action<'a, V>> {
        let (&(_, mark), events) = self.events.split_first()?;
        let (values, rest) = self.values.split_at(mark.values());
        let (entries, other_entries) = self.entries.split_at(mark.entries());
        (self.events, self.values, self.entries) = (events, rest, other_entries);
        Some(mark.action(values, entries))
    }

    pub(super) fn len(&self) -> usize {
        self.events.len()
    }
}
