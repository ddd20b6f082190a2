//! One worker: a dataflow of one exchange, on which the parts of jobs run round by round.
//!
//! A message enters at its sender, and leaves at its receiver. Its time, a number, has the round in
//! the upper half. The lower half counts *turns*, and is [`REPORTS`] for messages sent after all
//! work is done. A worker's input also has a time, below which it will send nothing more. Timely's
//! probe tells below which time no message of any worker is in transit. So the two barriers of a
//! round are waits for the probe: before reports are made, all messages of the round have been
//! received; and after the second wait, all reports have been received.
//!
//! A turn ends when a worker has sent [`WINDOW`] words. The worker starts the next turn once all
//! messages of turns before the last one have arrived. So at most two windows per worker are in
//! transit, and a slow receiver delays the other workers instead of filling their memory.

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

/// The number of words that a worker sends in a turn.
pub const WINDOW: usize = 1 << 16;

const REPORTS: u64 = 1 << 31;

/// The interval at which a waiting worker checks for failures.
const LOOK: Duration = Duration::from_millis(20);

/// The time for which messages of a lost process may still be in transit.
const GRACE: Duration = Duration::from_millis(500);

#[derive(Clone, Debug, Deserialize, Serialize)]
struct Message {
    /// The worker that receives the message.
    to: u64,
    from: u64,
    is_report: bool,
    words: Vec<u64>,
}

/// Messages that have arrived, but were not yet passed to a part.
#[derive(Debug, Default)]
struct Arrived {
    words: VecDeque<Vec<u64>>,
    /// Reports, with their senders.
    reports: Vec<(u64, Vec<u64>)>,
}

pub struct Node {
    worker: Worker,
    input: InputHandle<u64, CapacityContainerBuilder<Vec<Message>>>,
    probe: ProbeHandle<u64>,
    arrived: Rc<RefCell<Arrived>>,
    place: Place,
    /// The number of rounds of all jobs so far.
    round: u64,
}

impl Node {
    /// Creates a worker with this allocator; its process has `threads` workers.
    pub fn new(allocator: Allocator, threads: usize) -> Self {
        // A worker without a start time never parks.
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

    /// Runs this worker's part of a job to completion.
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

    /// Works on a round, until all workers have finished and all their messages were received.
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

    /// Exchanges reports, and returns them in the order of workers.
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

    /// Waits until no message from before this time is in transit. Passes arriving messages to
    /// `part`, if there is one.
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
            // If this thread was delayed, this step may have completed the wait.
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

    /// Passes all messages that have arrived to a part.
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
