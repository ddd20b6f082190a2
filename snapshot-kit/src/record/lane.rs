//! The writing end of a log.

use std::sync::{Arc, Mutex};

use rtrb::Producer;
use snapshot_core::Segment;

use super::lock;
use super::log::{Item, Log, Mark};
use crate::clock::Source;

/// A process's log, for the thread that acts as the process.
#[derive(Debug)]
pub(super) struct Lane<V> {
    source: Arc<Source>,
    log: Arc<Mutex<Log<V>>>,
    /// `None` only while it is dropped.
    ring: Option<Producer<Item<V>>>,
    /// The least stamp of the next event.
    least: u64,
}

impl<V> Lane<V> {
    pub(super) fn new(
        source: Arc<Source>,
        log: Arc<Mutex<Log<V>>>,
        ring: Producer<Item<V>>,
    ) -> Self {
        Self { source, log, ring: Some(ring), least: 0 }
    }

    /// Records an invocation; called right before the call into the object.
    #[inline]
    pub(super) fn invoke(&mut self, mark: Mark, value: Option<V>) {
        let stamp = self.source.before_call(self.least);
        self.least = stamp;
        self.push(stamp, mark, value.into_iter());
        self.source.begin();
    }

    /// Returns the stamp for a response; called right after the call.
    #[inline]
    pub(super) fn returned(&mut self) -> u64 {
        let stamp = self.source.after_call(self.least);
        // The next invocation is later: a process has one operation at a time.
        self.least = stamp + 1;
        stamp
    }

    /// Stores an event with as many values as its mark requires.
    #[inline]
    pub(super) fn push(
        &mut self,
        stamp: u64,
        mark: Mark,
        values: impl ExactSizeIterator<Item = V>,
    ) {
        self.store(stamp, mark, values.map(Item::Value));
    }

    /// Stores an event with the entries of a partial scan.
    pub(super) fn push_entries(
        &mut self,
        stamp: u64,
        mark: Mark,
        entries: impl ExactSizeIterator<Item = (Segment, V)>,
    ) {
        self.store(stamp, mark, entries.map(|(segment, value)| Item::Entry(segment, value)));
    }

    #[inline]
    fn store(&mut self, stamp: u64, mark: Mark, more: impl ExactSizeIterator<Item = Item<V>>) {
        let Some(ring) = &mut self.ring else { return };
        let items = 1 + more.len();
        let event = Item::Event { stamp, mark };
        if ring.slots() < items {
            lock(&self.log).drain();
        }
        if let Ok(chunk) = ring.write_chunk_uninit(items) {
            chunk.fill_from_iter(std::iter::once(event).chain(more));
        } else {
            // There are more values than the ring holds.
            for mut item in std::iter::once(event).chain(more) {
                while let Err(rtrb::PushError::Full(refused)) = ring.push(item) {
                    lock(&self.log).drain();
                    item = refused;
                }
            }
        }
    }
}

/// Releases the process.
impl<V> Drop for Lane<V> {
    fn drop(&mut self) {
        lock(&self.log).idle = self.ring.take();
    }
}
