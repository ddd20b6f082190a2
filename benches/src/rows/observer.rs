//! The observer over a simple history of 20 processes.

use snapshot_core::observer::TableObserver;
use snapshot_core::simple::SimpleHistory;

use super::super::stream::simple;
use crate::{Digest, Row, Size, Stream};

/// Runs the observer over the letters of a linearizable simple history.
#[derive(Clone, Copy, Debug)]
pub struct Observed;

impl Row for Observed {
    type Input = SimpleHistory;
    type Answer<'i> = TableObserver;

    fn name(&self) -> String {
        "observer".to_owned()
    }

    fn seed(&self) -> String {
        Stream::Simple.seed().to_string()
    }

    fn input(&self, size: Size) -> SimpleHistory {
        simple(size.events())
    }

    fn events(&self, input: &SimpleHistory) -> u64 {
        input.letters().len() as u64
    }

    fn run(&self, input: &SimpleHistory) -> TableObserver {
        let mut observer = TableObserver::new(input.processes());
        observer.run(input.letters());
        observer
    }

    fn digest(&self, input: &SimpleHistory, answer: &TableObserver) -> Digest {
        let state = answer.state().expect("the history is linearizable");
        let letters = input.letters().iter();
        letters
            .fold(Digest::EMPTY, |digest, letter| digest.number(letter.index() as u64))
            .bytes(format!("{state:?}").as_bytes())
    }
}
