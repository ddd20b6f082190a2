//! Workers that judge the objects of one or several recordings, each in a thread.
//!
//! A thread for each input hands its events over ([`Intake`]). They go to the worker that
//! [owns](super::owner()) their object, in batches, by a short queue: a slow worker holds the
//! readers up, and they their inputs. So memory is bounded by the objects, by the queues, and by
//! the waiting events of each input. An object is judged by one worker, event by event in the order
//! of its input, and the findings depend only on its own events: so the alarms are the same for any
//! number of workers, and any order of reading the inputs.
//!
//! That holds since an object belongs to one input: the order of events within an input is known,
//! but not between two inputs. The worker that owns a key knows its input, and refuses a second
//! one.

use std::collections::HashMap;
use std::io;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, SyncSender, sync_channel};
use std::thread::{Builder, Scope, ScopedJoinHandle};

use super::intake::Intake;
use super::judge::EventOf;
use super::{Answer, Judge, Partition, Saved, Standing};
use crate::format::{Batch, Key, Location};
use crate::kind::SnapshotKind;
use crate::{InputError, Value};

/// Number of batches that a worker may be behind.
const BATCHES: usize = 3;

/// Receives the findings of workers, with the number of the input. A finding must be completely
/// processed when the call returns: a later checkpoint may rely on it.
pub trait AlarmSink: Sync {
    /// Takes an alarm, or an object that is undecided at the end. Returns false to stop.
    fn answer(&self, input: usize, answer: &Answer) -> bool;

    /// Takes the error for an event of this object that no history can have there; without a key,
    /// of a recording without keys. Returns false to stop.
    fn refuse(&self, input: usize, key: Option<&Value>, error: &InputError) -> bool;

    /// Takes the keys of objects of this input, before their first events are judged; some keys
    /// more than once.
    fn claim(&self, _input: usize, _keys: &[Value]) {}

    /// Takes an object that was read from two inputs: no further event is judged.
    fn clash(&self, clash: &DuplicateKey<'_>);
}

/// An object that was read from two inputs.
#[derive(Debug)]
pub struct DuplicateKey<'a> {
    pub key: &'a Value,
    /// The input that it was read from first.
    pub first: usize,
    /// Input that has the key, too.
    pub second: usize,
    /// Its first event there, if that was read: it may also come from a checkpoint.
    pub at: Option<Location>,
}

/// A message to a worker.
pub(super) enum Message {
    /// An input begins: its part for this worker, and the return path of used batches.
    Begin(usize, Box<dyn Part>, Sender<Batch>),
    /// The new keys, then events of its objects. Keys are numbered in the order in which this input
    /// sent them to this worker.
    Events(usize, Vec<Value>, Batch),
    /// The next event of the input begins here: requests the state of its objects to save.
    Save(usize, Location, SyncSender<Vec<Saved>>),
    /// The input has ended, regularly if there is a position: requests the state of its objects to
    /// save.
    End(usize, Option<Location>, SyncSender<Vec<Saved>>),
}

pub struct WorkerPool<'scope> {
    queues: Vec<SyncSender<Message>>,
    threads: Vec<ScopedJoinHandle<'scope, Vec<Standing>>>,
    inputs: usize,
}

impl<'scope> WorkerPool<'scope> {
    /// Starts this many workers for this many inputs. Findings are passed to the desk, until `stop`
    /// is set.
    ///
    /// # Errors
    /// If the threads cannot be started.
    pub fn new(
        scope: &'scope Scope<'scope, '_>,
        workers: NonZeroUsize,
        inputs: usize,
        desk: &'scope dyn AlarmSink,
        stop: &'scope AtomicBool,
    ) -> io::Result<Self> {
        let (mut queues, mut threads) = (Vec::new(), Vec::new());
        for number in 0..workers.get() {
            let (queue, messages) = sync_channel(BATCHES);
            let worker = Worker {
                stages: (0..inputs).map(|_| Stage::Awaited).collect(),
                homes: (inputs > 1).then(HashMap::new),
                desk: Bench { desk, stop },
            };
            let thread = Builder::new().name(format!("worker {number}"));
            threads.push(thread.spawn_scoped(scope, move || worker.work(&messages))?);
            queues.push(queue);
        }
        Ok(Self { queues, threads, inputs })
    }

    /// Returns the intake for handing over an input.
    ///
    /// # Panics
    /// If the input does not exist.
    pub fn intake(&self, input: usize) -> Intake {
        assert!(input < self.inputs, "there are {} inputs", self.inputs);
        Intake::new(input, self.queues.clone())
    }

    /// Waits until all inputs have ended and all events are judged. Returns the results of each
    /// input.
    pub fn finish(self) -> Vec<Standing> {
        drop(self.queues);
        let mut standings = vec![Standing::default(); self.inputs];
        for thread in self.threads {
            let parts = thread.join().unwrap_or_else(|panic| resume_unwind(panic));
            standings.iter_mut().zip(parts).for_each(|(standing, part)| standing.add(part));
        }
        standings
    }
}

/// The desk, for use by a part.
pub(super) struct Bench<'a> {
    desk: &'a dyn AlarmSink,
    stop: &'a AtomicBool,
}

impl Bench<'_> {
    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    fn go_on(&self, is_wanted: bool) {
        if !is_wanted {
            self.stop.store(true, Ordering::Relaxed);
        }
    }
}

/// The part of one input that a worker judges.
pub(super) trait Part: Send {
    /// Returns the keys that it begins with.
    fn keys(&self) -> Vec<Value>;

    /// Judges events; registers new keys before.
    fn judge(&mut self, fresh: Vec<Value>, batch: &Batch, input: usize, bench: &Bench<'_>);

    /// Returns the state to save, if the next event of the input begins here.
    fn save(&mut self, at: Location, input: usize, bench: &Bench<'_>) -> Vec<Saved>;

    /// Judges undecided objects at the end. Returns their state to save, if the input has ended
    /// here.
    fn end(&mut self, at: Option<Location>, input: usize, bench: &Bench<'_>) -> Vec<Saved>;

    /// Returns the results of its objects.
    fn standing(&self) -> Standing;
}

/// The stage of an input.
enum Stage {
    Awaited,
    Judged(Box<dyn Part>, Sender<Batch>),
    Ended(Standing),
}

struct Worker<'a> {
    /// One stage per input.
    stages: Vec<Stage>,
    /// The input of each key, if there are several inputs.
    homes: Option<HashMap<Value, usize>>,
    desk: Bench<'a>,
}

impl Worker<'_> {
    fn work(mut self, messages: &Receiver<Message>) -> Vec<Standing> {
        for message in messages {
            match message {
                Message::Begin(input, part, used) => {
                    let keys = part.keys();
                    keys.iter().for_each(|key| self.admit(input, key, || None));
                    self.desk.desk.claim(input, &keys);
                    self.stages[input] = Stage::Judged(part, used);
                }
                Message::Events(input, fresh, mut batch) => {
                    for (number, key) in fresh.iter().enumerate() {
                        self.admit(input, key, || first(&batch, fresh.len() - number));
                    }
                    self.desk.desk.claim(input, &fresh);
                    if let Stage::Judged(part, used) = &mut self.stages[input] {
                        part.judge(fresh, &batch, input, &self.desk);
                        batch.clear();
                        let _ = used.send(batch);
                    }
                }
                Message::Save(input, at, reply) => {
                    if let Stage::Judged(part, _) = &mut self.stages[input] {
                        let _ = reply.send(part.save(at, input, &self.desk));
                    }
                }
                Message::End(input, at, reply) => self.end(input, at, Some(&reply)),
            }
        }
        (0..self.stages.len()).for_each(|input| self.end(input, None, None));
        let standing = |stage| match stage {
            Stage::Ended(standing) => standing,
            _ => Standing::default(),
        };
        self.stages.into_iter().map(standing).collect()
    }

    /// Registers the input of an object; its first event is at `at`.
    fn admit(&mut self, input: usize, key: &Value, at: impl FnOnce() -> Option<Location>) {
        let Some(homes) = &mut self.homes else { return };
        let home = *homes.entry(key.clone()).or_insert(input);
        if home != input && !self.desk.stop.swap(true, Ordering::Relaxed) {
            self.desk.desk.clash(&DuplicateKey { key, first: home, second: input, at: at() });
        }
    }

    /// Ends an input, and frees its objects.
    fn end(&mut self, input: usize, at: Option<Location>, reply: Option<&SyncSender<Vec<Saved>>>) {
        let Stage::Judged(part, _) = &mut self.stages[input] else { return };
        let saved = part.end(at, input, &self.desk);
        if let Some(reply) = reply {
            let _ = reply.send(saved);
        }
        self.stages[input] = Stage::Ended(part.standing());
    }
}

/// Returns the position of the first event of a key: the new key with `behind - 1` new keys after
/// it in this batch.
fn first(batch: &Batch, behind: usize) -> Option<Location> {
    let last = batch.keys().iter().map(|key| key.index()).max()?;
    let wanted = (last + 1).checked_sub(behind)?;
    let at = batch.keys().iter().position(|key| key.index() == wanted)?;
    batch.location(at)
}

/// The objects of one input that belong to one worker.
pub(super) struct Judged<J> {
    share: Partition<J>,
    /// The keys of its objects, by number.
    names: Vec<Value>,
}

impl<J: Judge> Judged<J> {
    pub const fn new(share: Partition<J>) -> Self {
        Self { share, names: Vec::new() }
    }

    fn raise(&mut self, number: usize, input: usize, bench: &Bench<'_>) {
        let answer = self.share.alarm(number);
        bench.go_on(bench.desk.answer(input, &answer));
    }

    fn judge_event(
        &mut self,
        key: Key,
        location: Location,
        event: &EventOf<'_, J>,
        (input, bench): (usize, &Bench<'_>),
    ) {
        if bench.is_stopped() {
            return;
        }
        // Without keys there is one object.
        let key = self.names.get(key.index()).map(|name| (key.index(), name));
        match self.share.observe(key, location, event) {
            Ok(None) => {}
            Ok(Some(number)) => self.raise(number, input, bench),
            Err(error) => match self.share.refuse(key, location, error) {
                Ok(error) => {
                    bench.go_on(bench.desk.refuse(input, key.map(|(_, name)| name), &error));
                }
                Err(answer) => bench.go_on(bench.desk.answer(input, &answer)),
            },
        }
    }
}

impl<J: Judge> Part for Judged<J> {
    fn keys(&self) -> Vec<Value> {
        self.share.keys().cloned().collect()
    }

    fn judge(&mut self, fresh: Vec<Value>, batch: &Batch, input: usize, bench: &Bench<'_>) {
        self.names.extend(fresh);
        J::Kind::for_each(batch, |key, location, event| {
            self.judge_event(key, location, event, (input, bench));
            ControlFlow::Continue(())
        });
    }

    fn save(&mut self, at: Location, input: usize, bench: &Bench<'_>) -> Vec<Saved> {
        let violated = self.share.cut(at);
        for number in violated.expect("what was admitted contradicts nothing") {
            self.raise(number, input, bench);
        }
        self.share.save(at)
    }

    fn end(&mut self, at: Option<Location>, input: usize, bench: &Bench<'_>) -> Vec<Saved> {
        for number in self.share.undecided().collect::<Vec<_>>() {
            if !bench.is_stopped()
                && let Some(answer) = self.share.judge_undecided(number)
            {
                bench.go_on(bench.desk.answer(input, &answer));
            }
        }
        let Some(at) = at else { return Vec::new() };
        let cut = self.share.cut_decided(at);
        cut.expect("what was admitted contradicts nothing");
        self.share.save(at)
    }

    fn standing(&self) -> Standing {
        self.share.standing()
    }
}
