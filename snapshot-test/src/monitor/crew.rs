//! Workers that judge the objects of one or several recordings, each in a thread.
//!
//! A thread for each recording that is read hands events over ([`Intake`]). They go to the worker that
//! [owns](super::owner()) their object, in batches, by a queue of few of them: a slow worker holds the readers
//! up, and those their inputs. So memory is bounded by the objects, by the queues, and by what waits of
//! each input. An object is judged by one worker, event by event in the order of its
//! input, and what is found depends on its own events alone: so the alarms are the same for any number of workers,
//! and in whatever order inputs are read.
//!
//! That holds since an object is of one input: an event counts when it comes, and of two inputs it is not
//! known in which order theirs came. The worker that owns a key sees where it comes from, and refuses
//! a second input.

use std::collections::HashMap;
use std::io;
use std::num::NonZeroUsize;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, SyncSender, sync_channel};
use std::thread::{Builder, Scope, ScopedJoinHandle};

use super::intake::Intake;
use super::{Answer, Judge, Saved, Share, Standing};
use crate::format::{Batch, Key, Location};
use crate::{InputError, Value};

/// Batches that a worker may be behind.
const BATCHES: usize = 3;

/// Where workers bring what they find, with the number of the input. Whatever is brought is over and
/// done with when the call returns: a checkpoint that is made later may rely on it.
pub trait Desk: Sync {
    /// Takes an alarm, or an object that is left open at the end. Whether to go on.
    fn answer(&self, input: usize, answer: &Answer) -> bool;

    /// Takes the error for an event of this object that no history can have there; of a recording
    /// without keys, of that. Whether to go on.
    fn refuse(&self, input: usize, key: Option<&Value>, error: &InputError) -> bool;

    /// Takes the keys of objects that are of this input, all of them before their first events are judged;
    /// some of them more than once.
    fn claim(&self, _input: usize, _keys: &[Value]) {}

    /// Takes an object that was read from two inputs: nothing more is judged.
    fn clash(&self, clash: &Clash<'_>);
}

/// An object that was read from two inputs.
#[derive(Debug)]
pub struct Clash<'a> {
    /// Its key.
    pub key: &'a Value,
    /// The input that it was read from.
    pub first: usize,
    /// The other one.
    pub second: usize,
    /// Its first event there, if that was read: a checkpoint may have it, too.
    pub at: Option<Location>,
}

/// What a worker is sent.
pub(super) enum Message {
    /// An input: what is judged of it, and where batches go that have been judged.
    Begin(usize, Box<dyn Part>, Sender<Batch>),
    /// Events of its objects; their keys are numbered as they came of this input to this worker.
    /// Before them, the keys that are new.
    Events(usize, Vec<Value>, Batch),
    /// The next event of the input begins here: what is to be saved of its objects?
    Save(usize, Location, SyncSender<Vec<Saved>>),
    /// The input has ended. What is to be saved, if it has ended in order, here?
    End(usize, Option<Location>, SyncSender<Vec<Saved>>),
}

/// The workers.
pub struct Crew<'scope> {
    queues: Vec<SyncSender<Message>>,
    threads: Vec<ScopedJoinHandle<'scope, Vec<Standing>>>,
    inputs: usize,
}

impl<'scope> Crew<'scope> {
    /// This many workers for this many inputs. What is found comes to the desk, until that sets
    /// `stop`.
    ///
    /// # Errors
    /// If there are not as many threads.
    pub fn new(
        scope: &'scope Scope<'scope, '_>,
        workers: NonZeroUsize,
        inputs: usize,
        desk: &'scope dyn Desk,
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

    /// By which an input is handed over.
    ///
    /// # Panics
    /// If there is no input of this number.
    pub fn intake(&self, input: usize) -> Intake {
        assert!(input < self.inputs, "there are {} inputs", self.inputs);
        Intake::new(input, self.queues.clone())
    }

    /// Waits until all inputs have ended and all is judged; what became of each.
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

/// The desk, as a part sees it.
pub(super) struct Bench<'a> {
    desk: &'a dyn Desk,
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

/// What a worker judges of one input.
pub(super) trait Part: Send {
    /// The keys that it begins with.
    fn keys(&self) -> Vec<Value>;

    /// Judges events; before them, keys that are new.
    fn judge(&mut self, fresh: Vec<Value>, batch: &Batch, input: usize, bench: &Bench<'_>);

    /// What is to be saved, if the next event of the input begins here.
    fn save(&mut self, at: Location, input: usize, bench: &Bench<'_>) -> Vec<Saved>;

    /// Judges what is open at the end, and what is to be saved of it, if the input has ended here.
    fn end(&mut self, at: Option<Location>, input: usize, bench: &Bench<'_>) -> Vec<Saved>;

    /// What became of its objects.
    fn standing(&self) -> Standing;
}

/// How far an input is.
enum Stage {
    Awaited,
    Judged(Box<dyn Part>, Sender<Batch>),
    Ended(Standing),
}

/// A worker, in its thread.
struct Worker<'a> {
    /// Of each input.
    stages: Vec<Stage>,
    /// Of each key its input, if there are several.
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

    /// Notes that an object is of this input; its first event is there.
    fn admit(&mut self, input: usize, key: &Value, at: impl FnOnce() -> Option<Location>) {
        let Some(homes) = &mut self.homes else { return };
        let home = *homes.entry(key.clone()).or_insert(input);
        if home != input && !self.desk.stop.swap(true, Ordering::Relaxed) {
            self.desk.desk.clash(&Clash { key, first: home, second: input, at: at() });
        }
    }

    /// Ends an input: its objects are given back.
    fn end(&mut self, input: usize, at: Option<Location>, reply: Option<&SyncSender<Vec<Saved>>>) {
        let Stage::Judged(part, _) = &mut self.stages[input] else { return };
        let saved = part.end(at, input, &self.desk);
        if let Some(reply) = reply {
            let _ = reply.send(saved);
        }
        self.stages[input] = Stage::Ended(part.standing());
    }
}

/// Where the first event is of a key of which `behind` keys, with it, were new in this batch.
fn first(batch: &Batch, behind: usize) -> Option<Location> {
    let last = batch.keys().iter().map(|key| key.index()).max()?;
    let wanted = (last + 1).checked_sub(behind)?;
    let at = batch.keys().iter().position(|key| key.index() == wanted)?;
    batch.location(at)
}

/// The objects of one input that belong to one worker.
pub(super) struct Judged<J> {
    share: Share<J>,
    /// The keys of its objects, by number.
    names: Vec<Value>,
}

impl<J: Judge> Judged<J> {
    pub const fn new(share: Share<J>) -> Self {
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
        event: &J::Event<'_>,
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
        J::for_each(batch, |key, location, event| {
            self.judge_event(key, location, event, (input, bench));
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
                && let Some(answer) = self.share.settle(number)
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
