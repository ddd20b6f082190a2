//! Handing events from a reading thread over to the workers.
//!
//! Batches are handed over when they are full, and before the input is waited for: an alarm does
//! not wait for events that may never come.

use std::cell::RefCell;
use std::io::{self, Read};
use std::rc::Rc;
use std::sync::mpsc::{Receiver, SyncSender, channel, sync_channel};

use super::worker_pool::{Judged, Message};
use super::{Judge, Partition, Saved, owner};
use crate::Value;
use crate::format::{Batch, Key, Location, Parsed, ReadError, Reader};

/// Events to be sent to a worker.
struct Lane {
    messages: SyncSender<Message>,
    /// Number of keys sent to it, or to be sent.
    keys: usize,
    fresh: Vec<Value>,
    batch: Batch,
}

/// Events to be sent to all workers.
#[derive(Default)]
struct Lanes {
    input: usize,
    lanes: Vec<Lane>,
    used: Option<Receiver<Batch>>,
    /// True if the input was read since the last call of `was_read`.
    was_read: bool,
    /// Number of events handed over since the last count.
    events: u64,
    counted: usize,
}

impl Lanes {
    fn send(&mut self, worker: usize) {
        let lane = &mut self.lanes[worker];
        if lane.batch.is_empty() {
            return;
        }
        let used = self.used.as_ref().and_then(|used| used.try_recv().ok());
        let batch = std::mem::replace(&mut lane.batch, used.unwrap_or_else(Batch::new));
        let events = Message::Events(self.input, std::mem::take(&mut lane.fresh), batch);
        // A worker that is gone has panicked, which is noticed when it is joined.
        let _ = lane.messages.send(events);
    }

    fn send_all(&mut self) {
        (0..self.lanes.len()).for_each(|worker| self.send(worker));
    }

    /// Returns the numbers of events and keys since the last count.
    fn count(&mut self) -> (u64, u64) {
        let keys: usize = self.lanes.iter().map(|lane| lane.keys).sum();
        let fresh = keys - std::mem::replace(&mut self.counted, keys);
        (std::mem::take(&mut self.events), fresh as u64)
    }
}

/// The events that a thread has read but the workers have not received yet.
#[derive(Clone, Default)]
pub struct Outbox(Rc<RefCell<Lanes>>);

impl Outbox {
    /// Wraps an input so that this outbox is emptied whenever the input may have to be waited for,
    /// and at most `most` bytes are read at a time, which bounds the waiting events. `count` takes
    /// the numbers of events and keys since its last call.
    pub fn before<R, C: FnMut(u64, u64)>(&self, input: R, most: usize, count: C) -> Emptied<R, C> {
        Emptied { outbox: self.clone(), input, most, count }
    }

    /// Returns the numbers of events and keys since the last count.
    pub fn count(&self) -> (u64, u64) {
        self.0.borrow_mut().count()
    }

    /// Returns true if the input was read since the last call.
    pub fn was_read(&self) -> bool {
        std::mem::take(&mut self.0.borrow_mut().was_read)
    }
}

/// An input that may have to be waited for: see [`Outbox::before`].
pub struct Emptied<R, C> {
    outbox: Outbox,
    input: R,
    most: usize,
    count: C,
}

impl<R: Read, C: FnMut(u64, u64)> Read for Emptied<R, C> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut lanes = self.outbox.0.borrow_mut();
        lanes.was_read = true;
        lanes.send_all();
        let (events, keys) = lanes.count();
        drop(lanes);
        (self.count)(events, keys);
        let most = buffer.len().min(self.most);
        self.input.read(&mut buffer[..most])
    }
}

/// The connection from an input to the workers, for any thread.
pub struct Intake {
    input: usize,
    queues: Vec<SyncSender<Message>>,
}

impl Intake {
    pub(super) const fn new(input: usize, queues: Vec<SyncSender<Message>>) -> Self {
        Self { input, queues }
    }

    /// Begins handing over, by the reading thread. There is a share for each worker; objects must
    /// be in the share of their [owner](super::owner()), without keys in the share of `home`.
    ///
    /// # Panics
    /// If the number of shares differs from the number of workers, or `home` is not a worker.
    pub fn begin<J: Judge + 'static>(
        self,
        shares: Vec<Partition<J>>,
        home: usize,
        outbox: Outbox,
    ) -> Router {
        assert!(home < shares.len() && shares.len() == self.queues.len(), "a share for each");
        let (sender, used) = channel();
        let mut lanes = Vec::new();
        for (messages, share) in self.queues.into_iter().zip(shares) {
            let part = Box::new(Judged::new(share));
            let _ = messages.send(Message::Begin(self.input, part, sender.clone()));
            lanes.push(Lane { messages, keys: 0, fresh: Vec::new(), batch: Batch::new() });
        }
        *outbox.0.borrow_mut() =
            Lanes { input: self.input, lanes, used: Some(used), ..Lanes::default() };
        Router { outbox, places: Vec::new(), home }
    }
}

/// Hands the events of one input over.
pub struct Router {
    outbox: Outbox,
    /// For each key of the reader, its worker, and its number there.
    places: Vec<(usize, Key)>,
    /// The worker of a recording without keys.
    home: usize,
}

impl Router {
    /// Returns the position of the next event, which is to be [dealt](Self::deal).
    ///
    /// # Errors
    /// If the next line is not an event.
    pub fn next<R: Read>(&self, reader: &mut Reader<R>) -> Option<Result<Routed, ReadError>> {
        Some(reader.parse_keyed()?.map(|parsed| Routed { parsed }))
    }

    pub fn deal<R: Read>(&mut self, dealt: &Routed, reader: &mut Reader<R>) {
        let mut lanes = self.outbox.0.borrow_mut();
        lanes.events += 1;
        let index = dealt.parsed.key.map_or(0, Key::index);
        if index == self.places.len() {
            let name = dealt.parsed.key.map(|key| &reader.keys()[key.index()]);
            self.places.push(place(name, self.home, &mut lanes.lanes));
        }
        let (worker, key) = self.places[index];
        let lane = &mut lanes.lanes[worker];
        reader.append(&dealt.parsed, key, &mut lane.batch);
        if lane.batch.is_full() {
            lanes.send(worker);
        }
    }

    /// Returns the state to save of all objects, if the next event of the input begins here. By
    /// then the desk has received all alarms for earlier events.
    pub fn save(&self, location: Location) -> Vec<Saved> {
        self.ask(|input, reply| Message::Save(input, location, reply))
    }

    /// Ends the input: undecided objects are judged, and objects are freed. Returns their state to
    /// save, if the input has ended regularly, here.
    pub fn end(self, location: Option<Location>) -> Vec<Saved> {
        self.ask(|input, reply| Message::End(input, location, reply))
    }

    fn ask(&self, message: impl Fn(usize, SyncSender<Vec<Saved>>) -> Message) -> Vec<Saved> {
        let mut lanes = self.outbox.0.borrow_mut();
        lanes.send_all();
        let (reply, replies) = sync_channel(lanes.lanes.len());
        for lane in &lanes.lanes {
            let _ = lane.messages.send(message(lanes.input, reply.clone()));
        }
        drop(reply);
        replies.iter().flatten().collect()
    }
}

/// Returns the worker of a new key, and its number there. The reader numbers keys as they occur.
#[cold]
fn place(name: Option<&Value>, home: usize, lanes: &mut [Lane]) -> (usize, Key) {
    let Some(name) = name else { return (home, Key::new(0)) };
    let worker = owner(name, lanes.len());
    let lane = &mut lanes[worker];
    lane.keys += 1;
    lane.fresh.push(name.clone());
    (worker, Key::new(lane.keys - 1))
}

/// Lets the workers stop waiting.
impl Drop for Router {
    fn drop(&mut self) {
        drop(self.outbox.0.take());
    }
}

/// An event that was read, but not handed over yet.
#[derive(Debug)]
pub struct Routed {
    parsed: Parsed,
}

impl Routed {
    /// Returns the position of the start of the event.
    pub const fn location(&self) -> Location {
        self.parsed.location
    }
}
