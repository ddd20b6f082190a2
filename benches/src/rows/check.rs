//! The linear-time check of a differentiated history in memory.

use snapshot_core::linear::{self, Decision, Outcome};
use snapshot_core::verdict::Linearization;
use snapshot_core::{History, certificate};

use super::of_history;
use crate::{Digest, Row, Size, Stream, half_scans};

/// Decides, without a certificate.
#[derive(Clone, Copy, Debug)]
pub struct Check;

impl Row for Check {
    type Input = History<i64>;
    type Answer<'i> = Decision;

    fn name(&self) -> String {
        "check".to_owned()
    }

    fn seed(&self) -> String {
        Stream::Differentiated.seed().to_string()
    }

    fn input(&self, size: Size) -> History<i64> {
        half_scans(size.events())
    }

    fn events(&self, input: &History<i64>) -> u64 {
        input.len() as u64
    }

    fn run(&self, input: &History<i64>) -> Decision {
        linear::decide(input)
    }

    /// The linearization is what the check has read, made visible.
    fn digest(&self, input: &History<i64>, answer: &Decision) -> Digest {
        assert_eq!(*answer, Decision::Linearizable, "by construction");
        Linearize.digest(input, &Linearize.run(input))
    }
}

/// Decides and orders the operations.
#[derive(Clone, Copy, Debug)]
pub struct Linearize;

impl Row for Linearize {
    type Input = History<i64>;
    type Answer<'i> = Linearization;

    fn name(&self) -> String {
        "linearization".to_owned()
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

    fn run(&self, input: &History<i64>) -> Linearization {
        match linear::check(input) {
            Outcome::Linearizable(reading) => reading.linearization(),
            other => panic!("the history is linearizable by construction, but: {other:?}"),
        }
    }

    fn digest(&self, input: &History<i64>, answer: &Linearization) -> Digest {
        certificate::linearization::check(input, answer).expect("the order is a proof");
        of_history(Digest::EMPTY, input).linearization(answer)
    }
}
