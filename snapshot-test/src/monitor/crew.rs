//! Workers that judge the objects of one recording, each in a thread.
//!
//! One thread reads. Events go to the worker that [owns](super::owner()) their object, in batches, by a queue of
//! few of them: a slow worker holds the reader up, and that its input. So memory is bounded by the
//! objects and by the queues. An object is judged by one worker, event by event in the order of the
//! input, and what is found depends on its own events alone: so the alarms are the same for any number of workers.
//!
//! Batches are handed over when they are full, and before the input is waited for: an alarm
//! does not wait for events that may never come.

use std::cell::RefCell;
use std::io::{self, Read};
use std::panic::resume_unwind;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread::{Builder, Scope, ScopedJoinHandle};

use super::{Answer, Judge, Saved, Share, Standing, owner};
use crate::format::{Batch, Key, Location, Parsed, ReadError, Reader};
use crate::{InputError, Value};

/// Batches that a worker may be behind.
const BATCHES: usize = 3;

/// Where workers bring what they find. Whatever is brought is over and done with when the call
/// returns: a checkpoint that is made later may rely on it.
pub trait Desk: Sync {
    /// Takes an alarm, or an object that is left open at the end. Whether to go on.
    fn answer(&self, answer: &Answer) -> bool;

    /// Takes the error for an event of this object that no history can have there.
    fn refuse(&self, key: &Value, error: &InputError);
}

/// What a worker is sent.
enum Message {
    /// Events of its objects; their keys are numbered as they came to this worker. Before them,
    /// the keys that are new.
    Events(Vec<Value>, Batch),
    /// The next event of the input begins here: what is to be saved of its objects?
    Save(Location, SyncSender<Vec<Saved>>),
}

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
    lanes: Vec<Lane>,
    used: Option<Receiver<Batch>>,
    /// Whether the input was read since this was asked last.
    was_read: bool,
}

impl Lanes {
    fn send(&mut self, worker: usize) {
        let lane = &mut self.lanes[worker];
        if lane.batch.is_empty() {
            return;
        }
        let used = self.used.as_ref().and_then(|used| used.try_recv().ok());
        let batch = std::mem::replace(&mut lane.batch, used.unwrap_or_else(Batch::new));
        // A worker that is gone has panicked, which is seen when it is joined.
        let _ = lane.messages.send(Message::Events(std::mem::take(&mut lane.fresh), batch));
    }

    fn send_all(&mut self) {
        (0..self.lanes.len()).for_each(|worker| self.send(worker));
    }
}

/// What the reader has handed over and the workers have not got yet.
#[derive(Clone, Default)]
pub struct Outbox(Rc<RefCell<Lanes>>);

impl Outbox {
    /// An input before which this is emptied whenever it may have to be waited for.
    pub fn before<R>(&self, input: R) -> Emptied<R> {
        Emptied { outbox: self.clone(), input }
    }

    /// Whether the input was read since this was asked last.
    pub fn was_read(&self) -> bool {
        std::mem::take(&mut self.0.borrow_mut().was_read)
    }
}

/// An input that may have to be waited for: see [`Outbox::before`].
pub struct Emptied<R> {
    outbox: Outbox,
    input: R,
}

impl<R: Read> Read for Emptied<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut lanes = self.outbox.0.borrow_mut();
        lanes.was_read = true;
        lanes.send_all();
        drop(lanes);
        self.input.read(buffer)
    }
}

/// The workers, as the thread that reads knows them.
pub struct Crew<'scope> {
    outbox: Outbox,
    /// Of each key of the reader its worker, and its number there.
    places: Vec<(usize, Key)>,
    threads: Vec<ScopedJoinHandle<'scope, Standing>>,
    stop: &'scope AtomicBool,
}

impl<'scope> Crew<'scope> {
    /// A worker for each share; objects must be in the share of their [owner](super::owner()). What
    /// is found comes to the desk, until that sets `stop`.
    ///
    /// # Errors
    /// If there are not as many threads.
    pub fn new<'env, J: Judge + 'scope>(
        scope: &'scope Scope<'scope, 'env>,
        shares: Vec<Share<J>>,
        outbox: Outbox,
        desk: &'scope dyn Desk,
        stop: &'scope AtomicBool,
    ) -> io::Result<Self> {
        let (sender, used) = channel();
        let (mut lanes, mut threads) = (Vec::new(), Vec::new());
        for (number, share) in shares.into_iter().enumerate() {
            let (messages, received) = sync_channel(BATCHES);
            let used = sender.clone();
            let worker = Worker { share, names: Vec::new(), desk, stop };
            let thread = Builder::new().name(format!("worker {number}"));
            threads.push(thread.spawn_scoped(scope, move || worker.work(&received, &used))?);
            lanes.push(Lane { messages, keys: 0, fresh: Vec::new(), batch: Batch::new() });
        }
        *outbox.0.borrow_mut() = Lanes { lanes, used: Some(used), was_read: false };
        Ok(Self { outbox, places: Vec::new(), threads, stop })
    }

    /// Whether the desk has had enough.
    pub fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Where the next event begins; it is to be [dealt](Self::deal).
    ///
    /// # Errors
    /// If what follows is no event.
    pub fn next<R: Read>(&self, reader: &mut Reader<R>) -> Option<Result<Dealt, ReadError>> {
        match reader.parse_keyed()? {
            Ok(parsed) => parsed.key.map(|key| Ok(Dealt { parsed, key })),
            Err(error) => Some(Err(error)),
        }
    }

    /// Hands over the event that was read last.
    pub fn deal<R: Read>(&mut self, dealt: &Dealt, reader: &mut Reader<R>) {
        let mut lanes = self.outbox.0.borrow_mut();
        let index = dealt.key.index();
        if index == self.places.len() {
            // The reader numbers keys as they occur.
            let name = &reader.keys()[index];
            let worker = owner(name, lanes.lanes.len());
            let lane = &mut lanes.lanes[worker];
            self.places.push((worker, Key::new(lane.keys)));
            lane.keys += 1;
            lane.fresh.push(name.clone());
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
        let (reply, replies) = sync_channel(self.threads.len());
        let mut lanes = self.outbox.0.borrow_mut();
        lanes.send_all();
        for lane in &lanes.lanes {
            let _ = lane.messages.send(Message::Save(location, reply.clone()));
        }
        drop(reply);
        replies.iter().flatten().collect()
    }

    /// Waits until all is judged, at the end of the input; what became of it.
    pub fn finish(mut self) -> Standing {
        let mut lanes = self.outbox.0.take();
        lanes.send_all();
        drop(lanes);
        let mut standing = Standing::default();
        for thread in std::mem::take(&mut self.threads) {
            standing.add(thread.join().unwrap_or_else(|panic| resume_unwind(panic)));
        }
        standing
    }
}

/// Workers end where nothing more can come.
impl Drop for Crew<'_> {
    fn drop(&mut self) {
        drop(self.outbox.0.take());
    }
}

/// An event that was read, and is not handed over yet.
#[derive(Debug)]
pub struct Dealt {
    parsed: Parsed,
    key: Key,
}

impl Dealt {
    /// Where it begins.
    pub const fn location(&self) -> Location {
        self.parsed.location
    }
}

/// A worker, in its thread.
struct Worker<'a, J> {
    share: Share<J>,
    /// The keys of its objects, by number.
    names: Vec<Value>,
    desk: &'a dyn Desk,
    stop: &'a AtomicBool,
}

impl<J: Judge> Worker<'_, J> {
    fn work(mut self, messages: &Receiver<Message>, used: &Sender<Batch>) -> Standing {
        for message in messages {
            match message {
                Message::Events(fresh, mut batch) => {
                    self.names.extend(fresh);
                    J::for_each(&batch, |key, location, event| self.judge(key, location, event));
                    batch.clear();
                    let _ = used.send(batch);
                }
                Message::Save(location, reply) => {
                    let violated = self.share.cut(location);
                    for number in violated.expect("what was admitted contradicts nothing") {
                        self.raise(number);
                    }
                    let _ = reply.send(self.share.save(location));
                }
            }
        }
        for number in self.share.undecided().collect::<Vec<_>>() {
            if !self.stop.load(Ordering::Relaxed)
                && let Some(answer) = self.share.settle(number)
            {
                self.bring(&answer);
            }
        }
        self.share.standing()
    }

    fn judge(&mut self, key: Key, location: Location, event: &J::Event<'_>) {
        if self.stop.load(Ordering::Relaxed) {
            return;
        }
        let key = (key.index(), &self.names[key.index()]);
        match self.share.observe(Some(key), location, event) {
            Ok(None) => {}
            Ok(Some(number)) => self.raise(number),
            Err(error) => match self.share.refuse(key, location, error) {
                Ok(error) => self.desk.refuse(key.1, &error),
                Err(answer) => self.bring(&answer),
            },
        }
    }

    fn raise(&mut self, number: usize) {
        let answer = self.share.alarm(number);
        self.bring(&answer);
    }

    fn bring(&self, answer: &Answer) {
        if !self.desk.answer(answer) {
            self.stop.store(true, Ordering::Relaxed);
        }
    }
}
