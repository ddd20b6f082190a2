//! Replays: an execution step by step, with the changes of each step.

use std::fmt::Write;

use rustc_hash::FxHashMap;

use super::inspect::{Holding, Owner};
use super::machine::Machine;
use super::report::StepReport;
use super::schedule::{Move, MoveError};
use super::state::State;

/// One step of a replay.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Scene {
    /// Number of the move, from 1.
    pub number: usize,
    pub report: StepReport,
    /// All cells and variables after the step.
    pub holdings: Vec<Shown>,
}

/// A cell or variable of a scene.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Shown {
    pub holding: Holding,
    /// Its content before the step, if different.
    pub before: Option<Holding>,
}

/// Iterator over the scenes of an execution. It ends with the first move that is impossible or
/// faulty.
#[derive(Clone, Debug)]
pub struct Replay<'m, 'p> {
    machine: &'m Machine<'p>,
    moves: &'m [Move],
    /// Number of moves made; the number of all moves after an error.
    made: usize,
    state: State,
}

impl<'p> Machine<'p> {
    /// Replays a schedule from the initial state.
    pub fn replay<'m>(&'m self, moves: &'m [Move]) -> Replay<'m, 'p> {
        Replay { machine: self, moves, made: 0, state: self.initial().clone() }
    }
}

impl Iterator for Replay<'_, '_> {
    type Item = Result<Scene, MoveError>;

    fn next(&mut self) -> Option<Self::Item> {
        let made = *self.moves.get(self.made)?;
        self.made += 1;
        let number = self.made;
        let before = self.machine.holdings(&self.state);
        match self.machine.make(&mut self.state, made) {
            Ok(report) => {
                let holdings = compared(before, self.machine.holdings(&self.state));
                Some(Ok(Scene { number, report, holdings }))
            }
            Err(kind) => {
                self.made = self.moves.len();
                Some(Err(MoveError { number, made, kind }))
            }
        }
    }
}

fn compared(before: Vec<Holding>, after: Vec<Holding>) -> Vec<Shown> {
    let mut old: FxHashMap<(Owner, String), Holding> = before
        .into_iter()
        .map(|holding| ((holding.owner.clone(), holding.name.clone()), holding))
        .collect();
    let shown = |holding: Holding| {
        let before = old.remove(&(holding.owner.clone(), holding.name.clone()));
        Shown { before: before.filter(|before| *before != holding), holding }
    };
    after.into_iter().map(shown).collect()
}

impl Scene {
    /// Renders the step and its changes; with `all`, also unchanged cells and variables, with the
    /// changes marked by a star.
    pub fn text(&self, all: bool) -> String {
        let mut text = format!("{:>4}  p{}  {}\n", self.number, self.report.process, self.deeds());
        for Shown { holding, before } in &self.holdings {
            if !all && before.is_none() {
                continue;
            }
            let mark = if all && before.is_some() { '*' } else { ' ' };
            let owner = holding.owner.to_string();
            let mut line = format!("      {mark} {owner:<10} {} = {holding}", holding.name);
            if let Some(before) = before {
                write!(line, "  (was {before})").expect("writing to a string cannot fail");
            }
            text.push_str(&line);
            text.push('\n');
        }
        text
    }

    /// Describes the step on one line.
    pub fn deeds(&self) -> String {
        self.report.deeds()
    }
}
