//! The linear-time check of a differentiated history in memory.

use snapshot_core::linear::{self, Outcome, Reading};
use snapshot_core::verdict::Linearization;
use snapshot_core::{History, certificate};

use super::of_history;
use crate::{Digest, Row, Size, Stream, half_scans};

/// Decides, without a certificate.
#[derive(Clone, Copy, Debug)]
pub struct Check;

impl Row for Check {
    type Input = History<i64>;
    type Answer<'i> = Outcome<'i, i64>;

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

    fn run<'i>(&self, input: &'i History<i64>) -> Outcome<'i, i64> {
        linear::check(input)
    }

    /// The linearization is what the check has read, made visible.
    fn digest(&self, input: &History<i64>, answer: &Outcome<'_, i64>) -> Digest {
        Linearize.digest(input, &reading(answer).linearization())
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
        reading(&linear::check(input)).linearization()
    }

    fn digest(&self, input: &History<i64>, answer: &Linearization) -> Digest {
        certificate::linearization::check(input, answer).expect("the order is a proof");
        of_history(Digest::EMPTY, input).linearization(answer)
    }
}

fn reading<'a, 'i>(outcome: &'a Outcome<'i, i64>) -> &'a Reading<'i, i64> {
    match outcome {
        Outcome::Linearizable(reading) => reading,
        other => panic!("the history is linearizable by construction, but: {other:?}"),
    }
}
