//! Immediate snapshots in memory: decided, checked with blocks, and monitored.

use corpus::generate::Exchanges;
use snapshot_core::certificate::blocks;
use snapshot_core::immediate::{
    Action, Decision, Event, History, Judgement, Monitor, SetLinearization, Verdict, check, decide,
};

use crate::{Digest, Row, Size};

/// The processes and segments of the executions.
const PROCESSES: usize = 8;

const SEED: u64 = 1_993;

/// A way to judge an execution that is set-linearizable.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Exchanged {
    /// Without proof.
    Decided,
    /// With the blocks that prove it.
    Checked,
    /// Event by event.
    Monitored,
}

/// What a way to judge comes to.
#[derive(Debug)]
pub enum Judged {
    /// Without proof.
    Decision(Decision),
    /// With proof.
    Verdict(Verdict),
    /// By the monitor.
    Monitor(Box<Monitor<i64>>),
}

impl Exchanged {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Decided, Self::Checked, Self::Monitored];

    /// Values returned per event: an operation has two events, and returns one per segment.
    pub const ENTRIES: f64 = PROCESSES as f64 / 2.0;

    /// An execution of this many events.
    ///
    /// # Panics
    /// If there are no events at all.
    pub fn execution(events: u64) -> History<i64> {
        let recipe = Exchanges::new(PROCESSES, (events / 2) as usize, SEED);
        recipe.history().expect("the recipe can be followed")
    }
}

impl Row for Exchanged {
    type Input = History<i64>;
    type Answer<'i> = Judged;

    fn name(&self) -> String {
        let name = match self {
            Self::Decided => "immediate",
            Self::Checked => "immediate-blocks",
            Self::Monitored => "immediate-monitor",
        };
        name.to_owned()
    }

    fn seed(&self) -> String {
        SEED.to_string()
    }

    fn input(&self, size: Size) -> History<i64> {
        Self::execution(size.events())
    }

    fn events(&self, input: &History<i64>) -> u64 {
        input.len() as u64
    }

    fn run(&self, input: &History<i64>) -> Judged {
        match self {
            Self::Decided => Judged::Decision(decide(input)),
            Self::Checked => Judged::Verdict(check(input)),
            Self::Monitored => {
                let declaration = input.declaration().clone();
                let mut monitor = Monitor::new(declaration).expect("it declares its sizes");
                for (_, event) in input.events() {
                    monitor.observe(&event).expect("an execution's events are admissible");
                }
                Judged::Monitor(Box::new(monitor))
            }
        }
    }

    fn digest(&self, input: &History<i64>, answer: &Judged) -> Digest {
        let digest = input.events().fold(Digest::EMPTY, |digest, (_, event)| add(digest, &event));
        match answer {
            Judged::Decision(decision) => {
                assert_eq!(*decision, Decision::SetLinearizable, "by construction");
                digest
            }
            Judged::Verdict(Verdict::SetLinearizable(order)) => {
                blocks::check(input, order).expect("the blocks are a proof");
                add_blocks(digest, order)
            }
            Judged::Verdict(other) => panic!("set-linearizable by construction, but: {other:?}"),
            Judged::Monitor(monitor) => {
                assert_eq!(monitor.judgement(), Judgement::SetLinearizable, "by construction");
                digest.number(monitor.operations()).number(monitor.pending())
            }
        }
    }
}

fn add(digest: Digest, event: &Event<'_, i64>) -> Digest {
    let digest = digest.number(event.process as u64);
    match event.action {
        Action::Invoke { value } => digest.number(1).number(*value as u64),
        Action::Respond { values } => {
            values.iter().fold(digest.number(2), |digest, value| digest.number(*value as u64))
        }
        Action::Fail => digest.number(3),
        Action::Unknown => digest.number(4),
    }
}

fn add_blocks(digest: Digest, order: &SetLinearization) -> Digest {
    order.blocks().fold(digest.number(order.len() as u64), |digest, block| {
        block.iter().fold(digest, |digest, id| digest.number(id.index() as u64))
    })
}
