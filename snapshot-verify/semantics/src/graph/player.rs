//! Players: who answers the responses of operations.

use crate::interpret::{Event, Fault, Names};
use crate::product::EventId;

/// Answers to the events of an execution, as a nondeterministic automaton with numbered states.
pub trait Player {
    /// Returns the state before any event.
    fn first(&mut self) -> u32;

    /// Adds the states after an event, each once.
    ///
    /// # Errors
    /// If the object is faulty there.
    fn answers(
        &mut self,
        before: u32,
        event: (EventId, &Event),
        answers: &mut Vec<u32>,
    ) -> Result<(), Fault>;

    /// Renames the values of a state.
    fn renamed(&mut self, state: u32, names: &mut Names) -> u32;

    /// Returns the largest value in a state, or 0. Values must be names.
    fn latest_value(&self, state: u32) -> u32;

    /// Approximate memory use in bytes.
    fn bytes(&self) -> usize;
}

/// The player of one state, for graphs without answers.
#[derive(Debug)]
pub struct Nobody;

impl Player for Nobody {
    fn first(&mut self) -> u32 {
        0
    }

    fn answers(
        &mut self,
        _: u32,
        _: (EventId, &Event),
        answers: &mut Vec<u32>,
    ) -> Result<(), Fault> {
        answers.push(0);
        Ok(())
    }

    fn renamed(&mut self, state: u32, _: &mut Names) -> u32 {
        state
    }

    fn latest_value(&self, _: u32) -> u32 {
        0
    }

    fn bytes(&self) -> usize {
        0
    }
}
