//! What a thread that reads an input hands over to the workers.
//!
//! Batches are handed over when they are full, and before the input is waited for: an alarm
//! does not wait for events that may never come.

use std::cell::RefCell;
use std::io::{self, Read};
use std::rc::Rc;
use std::sync::mpsc::{Receiver, SyncSender, channel, sync_channel};

use super::crew::{Judged, Message};
use super::{Judge, Saved, Share, owner};
use crate::Value;
use crate::format::{Batch, Key, Location, Parsed, ReadError, Reader};

/// What waits to be sent to a worker.
struct Lane {
    messages: SyncSender<Message>,
    /// Keys that it was sent, or will be.
    keys: usize,
    fresh: Vec<Value>,
    batch: Batch,
}

/// What waits to be sent to all workers.
#[derive(Default)]
struct Lanes {
    input: usize,
    lanes: Vec<Lane>,
    used: Option<Receiver<Batch>>,
    /// Whether the input was read since this was asked last.
    was_read: bool,
    /// Events that were handed over since they were counted last.
    events: u64,
    /// Keys that were counted.
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
        // A worker that is gone has panicked, which is seen when it is joined.
        let _ = lane.messages.send(events);
    }

    fn send_all(&mut self) {
        (0..self.lanes.len()).for_each(|worker| self.send(worker));
    }

    /// Events and keys since they were counted last.
    fn count(&mut self) -> (u64, u64) {
        let keys: usize = self.lanes.iter().map(|lane| lane.keys).sum();
        let fresh = keys - std::mem::replace(&mut self.counted, keys);
        (std::mem::take(&mut self.events), fresh as u64)
    }
}

/// What a thread has read and the workers have not got yet.
#[derive(Clone, Default)]
pub struct Outbox(Rc<RefCell<Lanes>>);

impl Outbox {
    /// An input before which this is emptied whenever it may have to be waited for, and of which
    /// no more than `most` bytes are read at a time: what waits is no more than what stands in these. `count` takes
    /// the events and the keys that have come since the time before.
    pub fn before<R, C: FnMut(u64, u64)>(&self, input: R, most: usize, count: C) -> Emptied<R, C> {
        Emptied { outbox: self.clone(), input, most, count }
    }

    /// Events and keys since they were counted last.
    pub fn count(&self) -> (u64, u64) {
        self.0.borrow_mut().count()
    }

    /// Whether the input was read since this was asked last.
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

/// The way of an input to the workers, for any thread.
pub struct Intake {
    input: usize,
    queues: Vec<SyncSender<Message>>,
}

impl Intake {
    pub(super) const fn new(input: usize, queues: Vec<SyncSender<Message>>) -> Self {
        Self { input, queues }
    }

    /// Begins to hand over, by the thread that reads. There is a share for each worker; objects must
    /// be in that of their [owner](super::owner()), of a recording without keys in that of `home`.
    ///
    /// # Panics
    /// If there are not as many shares as workers, or `home` is none of these.
    pub fn begin<J: Judge + 'static>(
        self,
        shares: Vec<Share<J>>,
        home: usize,
        outbox: Outbox,
    ) -> Dealer {
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
        Dealer { outbox, places: Vec::new(), home }
    }
}

/// Hands the events of one input over.
pub struct Dealer {
    outbox: Outbox,
    /// Of each key of the reader its worker, and its number there.
    places: Vec<(usize, Key)>,
    /// The worker of a recording without keys.
    home: usize,
}

impl Dealer {
    /// Where the next event begins; it is to be [dealt](Self::deal).
    ///
    /// # Errors
    /// If what follows is no event.
    pub fn next<R: Read>(&self, reader: &mut Reader<R>) -> Option<Result<Dealt, ReadError>> {
        Some(reader.parse_keyed()?.map(|parsed| Dealt { parsed }))
    }

    /// Hands over the event that was read last.
    pub fn deal<R: Read>(&mut self, dealt: &Dealt, reader: &mut Reader<R>) {
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

    /// What is to be saved of all objects, if the next event of the input begins here. All alarms
    /// for events before have come to the desk by then.
    pub fn save(&self, location: Location) -> Vec<Saved> {
        self.ask(|input, reply| Message::Save(input, location, reply))
    }

    /// Ends the input: what is open is judged, and objects are given back. What is to be saved of
    /// them, if it has ended in order, here.
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

/// The worker of a key that is new, and its number there. The reader numbers keys as they occur.
#[cold]
fn place(name: Option<&Value>, home: usize, lanes: &mut [Lane]) -> (usize, Key) {
    let Some(name) = name else { return (home, Key::new(0)) };
    let worker = owner(name, lanes.len());
    let lane = &mut lanes[worker];
    lane.keys += 1;
    lane.fresh.push(name.clone());
    (worker, Key::new(lane.keys - 1))
}

/// The workers wait for nothing more.
impl Drop for Dealer {
    fn drop(&mut self) {
        drop(self.outbox.0.take());
    }
}

/// An event that was read, and is not handed over yet.
#[derive(Debug)]
pub struct Dealt {
    parsed: Parsed,
}

impl Dealt {
    /// Where it begins.
    pub const fn location(&self) -> Location {
        self.parsed.location
    }
}
