//! One worker: a dataflow of one exchange, on which the parts of jobs run round by round.
//!
//! A message goes in at the worker that sends it, and comes out at the one that it is for. Its
//! time, a number, says of which round it is: in the upper half; the lower half counts *turns*,
//! and is [`REPORTS`] for what is sent when all work is done. A worker's input has a time, too, below
//! which it will send nothing more, and timely's probe tells below which time nothing is under way
//! from any worker. So the two barriers of a round are waits for the probe: before reports are made
//! all that was sent in the round has been received, and when they have been received none is
//! missing.
//!
//! A turn ends when a worker has sent [`WINDOW`] words. It begins the next one when all has arrived
//! that any worker sent in turns before the last: so no more than two windows per worker are under
//! way, and a worker that is slow to receive holds up the others instead of filling their memory.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use snapshot_explorer::search::distributed::{Failure, Job, Part, Place};
use timely::communication::Allocator;
use timely::container::CapacityContainerBuilder;
use timely::dataflow::channels::pact::Exchange;
use timely::dataflow::operators::generic::operator::Operator;
use timely::dataflow::operators::{Input, Probe};
use timely::dataflow::{InputHandle, ProbeHandle};
use timely::worker::Worker;

use crate::link::Links;

/// Words that a worker sends in a turn.
pub const WINDOW: usize = 1 << 16;

/// The turn of reports.
const REPORTS: u64 = 1 << 31;

/// A worker that waits looks this often whether it waits in vain.
const LOOK: Duration = Duration::from_millis(20);

/// What a process sent before it was lost may still be under way in this one, for so long.
const GRACE: Duration = Duration::from_millis(500);

#[derive(Clone, Debug, Deserialize, Serialize)]
struct Message {
    /// The worker that it is for.
    to: u64,
    from: u64,
    is_report: bool,
    words: Vec<u64>,
}

/// What has arrived, and no part has received yet.
#[derive(Debug, Default)]
struct Arrived {
    words: VecDeque<Vec<u64>>,
    /// With the workers that they are from.
    reports: Vec<(u64, Vec<u64>)>,
}

/// One worker.
pub struct Node {
    worker: Worker,
    input: InputHandle<u64, CapacityContainerBuilder<Vec<Message>>>,
    probe: ProbeHandle<u64>,
    arrived: Rc<RefCell<Arrived>>,
    place: Place,
    /// Of all jobs so far.
    round: u64,
}

impl Node {
    /// A worker by these means; its process has this many.
    pub fn new(allocator: Allocator, threads: usize) -> Self {
        // Without a time of its own a worker never parks.
        let begin = Some(Instant::now());
        let mut worker = Worker::new(timely::WorkerConfig::default(), allocator, begin);
        let mut input = InputHandle::new();
        let probe = ProbeHandle::new();
        let arrived = Rc::new(RefCell::new(Arrived::default()));
        let arriving = Rc::clone(&arrived);
        worker.dataflow(|scope| {
            let route = Exchange::new(|message: &Message| message.to);
            scope
                .input_from(&mut input)
                .unary::<CapacityContainerBuilder<Vec<()>>, _, _, _>(route, "Receive", |_, _| {
                    move |messages, _| {
                        messages.for_each(|_, messages| {
                            arriving.borrow_mut().extend(messages.drain(..));
                        });
                    }
                })
                .probe_with(&probe);
        });
        let place = Place {
            worker: worker.index(),
            workers: worker.peers(),
            is_first: worker.index().is_multiple_of(threads),
        };
        Self { worker, input, probe, arrived, place, round: 0 }
    }

    /// Runs this worker's part of a job to its end.
    pub fn run(&mut self, job: &dyn Job, links: &Links) -> Result<(), Failure> {
        let mut part = job.part(self.place);
        loop {
            self.work(part.as_mut(), links)?;
            let reports = self.report(part.as_mut(), links)?;
            if !part.decide(&reports) {
                return Ok(());
            }
        }
    }

    /// The work of a round, until that of all workers is done and all that they sent was received.
    fn work(&mut self, part: &mut dyn Part, links: &Links) -> Result<(), Failure> {
        let (me, begin) = (self.place.worker as u64, self.round << 32);
        let mut turn = 0;
        let mut is_more = true;
        while is_more {
            let mut sent = 0;
            while is_more && sent < WINDOW {
                let before = sent;
                is_more = part.work(&mut |to, words| {
                    sent += words.len();
                    self.input.send(Message { to: to as u64, from: me, is_report: false, words });
                });
                if sent > before {
                    self.input.flush();
                }
                self.worker.step();
                self.receive(part);
            }
            links.count_words(sent as u64);
            if is_more {
                turn += 1;
                self.input.advance_to(begin + turn);
                self.wait(begin + turn - 1, Some(part), links)?;
            }
        }
        self.input.advance_to(begin + REPORTS);
        self.wait(begin + REPORTS, Some(part), links)
    }

    /// The reports of all, in the order of workers.
    fn report(&mut self, part: &mut dyn Part, links: &Links) -> Result<Vec<Vec<u64>>, Failure> {
        let from = self.place.worker as u64;
        let words = part.report();
        for to in 0..self.place.workers as u64 {
            self.input.send(Message { to, from, is_report: true, words: words.clone() });
        }
        self.round += 1;
        self.input.advance_to(self.round << 32);
        self.wait(self.round << 32, None, links)?;
        let mut reports = std::mem::take(&mut self.arrived.borrow_mut().reports);
        debug_assert_eq!(reports.len(), self.place.workers, "the barrier was passed by all");
        reports.sort_by_key(|(from, _)| *from);
        Ok(reports.into_iter().map(|(_, words)| words).collect())
    }

    /// Waits until nothing is under way from before this time; what arrives meanwhile is for this
    /// part, if there is one.
    fn wait(
        &mut self,
        until: u64,
        mut part: Option<&mut dyn Part>,
        links: &Links,
    ) -> Result<(), Failure> {
        let mut failed: Option<Instant> = None;
        while self.probe.less_than(&until) {
            self.worker.step_or_park(Some(LOOK));
            if let Some(part) = &mut part {
                self.receive(*part);
            }
            // Where this thread has stood still for long, that step may have been the last.
            if self.probe.less_than(&until)
                && let Some(failure) = links.failure()
                && failed.get_or_insert_with(Instant::now).elapsed() > GRACE
            {
                return Err(failure);
            }
        }
        if let Some(part) = &mut part {
            self.receive(*part);
        }
        Ok(())
    }

    /// Gives a part what has arrived for it.
    fn receive(&self, part: &mut dyn Part) {
        loop {
            let Some(words) = self.arrived.borrow_mut().words.pop_front() else { return };
            part.receive(&words);
        }
    }
}

impl Extend<Message> for Arrived {
    fn extend<I: IntoIterator<Item = Message>>(&mut self, messages: I) {
        for message in messages {
            match message.is_report {
                true => self.reports.push((message.from, message.words)),
                false => self.words.push_back(message.words),
            }
        }
    }
}
