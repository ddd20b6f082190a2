//! The online monitor, on the same events as the check.

use snapshot_core::History;
use snapshot_core::monitor::{Judgement, Monitor};

use super::{Check, of_history};
use crate::{Digest, Row, Size};

/// Feeds the monitor event by event.
#[derive(Clone, Copy, Debug)]
pub struct Monitored;

impl Row for Monitored {
    type Input = History<i64>;
    type Answer<'i> = Monitor<i64>;

    fn name(&self) -> String {
        "monitor".to_owned()
    }

    fn seed(&self) -> String {
        Check.seed()
    }

    fn input(&self, size: Size) -> History<i64> {
        Check.input(size)
    }

    fn events(&self, input: &History<i64>) -> u64 {
        Check.events(input)
    }

    fn run(&self, input: &History<i64>) -> Monitor<i64> {
        let mut monitor = Monitor::new(input.declaration()).expect("a history declares its sizes");
        for event in input.events() {
            monitor.observe(&event).expect("a history's events are admissible");
        }
        monitor
    }

    fn digest(&self, input: &History<i64>, answer: &Monitor<i64>) -> Digest {
        assert_eq!(answer.judgement(), Judgement::Linearizable, "by construction");
        of_history(Digest::EMPTY, input)
            .number(answer.events() as u64)
            .number(answer.operations())
            .number(answer.pending())
    }
}
