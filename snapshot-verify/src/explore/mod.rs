//! Executions made by hand: the state after some moves, the possible next steps, the history and
//! its verdict.
//!
//! Nothing is kept between two questions: each has all moves, and the interpreter makes them from
//! the beginning. So a question can be asked twice, out of order, or by several pages, and every
//! answer is of an execution that exists.
//!
//! | file | content |
//! | --- | --- |
//! | `view` | the execution at a position: steps, state, next steps |
//! | `choices` | the moves that a process can make |
//! | `standing` | the verdict on the history, with its argument and its pictures |
//! | `finding` | a counterexample, by a search |
//! | `api` | questions and answers over HTTP, as data |

mod api;
mod choices;
mod finding;
mod standing;
mod view;

pub use api::{Answer, BODY_LIMIT, Question};
pub use choices::{Choice, Turn};
pub use finding::Found;
pub use standing::Standing;
pub use view::{Place, StepLine, View};

use std::num::NonZeroUsize;

use thiserror::Error;

use crate::interpret::{
    Machine, MachineError, Move, MoveError, Sequential, StepReport, Trace, digest,
};
use crate::language::Source;
use crate::object::{Forbidden, forbidden};
use crate::program::Program;
use crate::report::page::PageError;
use crate::verify::VerifyError;

/// Most moves of an explored execution: each question makes all of them again.
pub const MOST_MOVES: usize = 2_000;

/// Memory in bytes of each search of orders, if a history needs one.
const MEMORY: usize = 1 << 28;

/// An algorithm whose executions are explored.
#[derive(Clone, Debug)]
pub struct Explorer {
    /// Name of the algorithm, with its bug and its size.
    pub title: String,
    pub source: Source,
    pub program: Program,
    /// The head of shared traces; its moves are those of a recorded execution, if there is one.
    pub recorded: Trace,
    /// Threads of a search for a counterexample.
    pub threads: NonZeroUsize,
}

/// Reason why there is no answer about an execution.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ExploreError {
    #[error(
        "an explored execution has at most {MOST_MOVES} moves, and this one has {given}: go back, \
         or begin anew"
    )]
    TooLong { given: usize },
    /// The execution is shorter.
    #[error("there is no position {at} in an execution of {moves} moves")]
    NoPosition { at: usize, moves: usize },
    #[error("move {number}, `{found}`: {reason}")]
    NotAMove {
        /// Number of the move, from 1.
        number: usize,
        found: String,
        reason: String,
    },
    /// A move that its process cannot make.
    #[error(transparent)]
    Impossible(#[from] MoveError),
    /// A move after a fault.
    #[error("move {number} comes after a step that goes wrong: take it back")]
    AfterFault { number: usize },
    #[error("{0}: an algorithm promises nothing to clients that do not keep to the object")]
    Forbidden(#[from] Forbidden),
    #[error(transparent)]
    Machine(#[from] MachineError),
    #[error("the object goes wrong at {place}: {fault}")]
    Object { place: String, fault: String },
    #[error(transparent)]
    Page(#[from] PageError),
    #[error(transparent)]
    Search(#[from] VerifyError),
}

impl ExploreError {
    /// Returns true if this program is at fault, as opposed to the question.
    pub fn is_ours(&self) -> bool {
        match self {
            Self::Page(error) => error.is_ours(),
            Self::Search(error) => error.is_ours(),
            _ => false,
        }
    }
}

/// Moves that the interpreter can make, one after the other.
struct Path<'e> {
    machine: Machine<'e>,
    sequential: Option<Sequential<'e>>,
    moves: Vec<Move>,
}

impl Explorer {
    /// Returns the number of processes.
    pub const fn processes(&self) -> usize {
        self.recorded.processes
    }

    /// Checks that the algorithm can be explored, and the recorded execution, if there is one.
    ///
    /// # Errors
    /// As for a question about the recorded execution.
    pub fn validate(&self) -> Result<(), ExploreError> {
        let moves = self.recorded_moves();
        self.view(&moves, moves.len()).map(|_| ())
    }

    /// Returns the moves of the recorded execution, as lines of a trace.
    pub fn recorded_moves(&self) -> Vec<String> {
        let operations = &self.recorded.operations;
        self.recorded.moves.iter().map(|made| made.named(operations).to_string()).collect()
    }

    fn machine(&self) -> Result<Machine<'_>, MachineError> {
        match self.recorded.points {
            true => Machine::at_points(&self.program, self.processes()),
            false => Machine::new(&self.program, self.processes()),
        }
    }

    /// Reads moves, and checks that the object allows them.
    fn path(&self, lines: &[String]) -> Result<Path<'_>, ExploreError> {
        if lines.len() > MOST_MOVES {
            return Err(ExploreError::TooLong { given: lines.len() });
        }
        let read = |(number, line): (usize, &String)| {
            let made = Move::read(line, self.processes(), &self.recorded.operations);
            made.map_err(|_| self.not_a_move(number, line))
        };
        let moves: Vec<Move> = (1..).zip(lines).map(read).collect::<Result<_, _>>()?;
        let machine = self.machine()?;
        let object = self.program.object();
        let sequential =
            object.map(|object| Sequential::new(object, self.processes())).transpose()?;
        if let Some(sequential) = &sequential {
            let found = forbidden(&machine, sequential, &moves, || true);
            let found = found.map_err(|fault| ExploreError::Object {
                place: self.source.place(fault.span),
                fault: fault.to_string(),
            })?;
            if let Some(found) = found {
                return Err(found.into());
            }
        }
        Ok(Path { machine, sequential, moves })
    }

    fn not_a_move(&self, number: usize, line: &str) -> ExploreError {
        let last = self.processes().saturating_sub(1);
        let begin = match self.recorded.operations.as_slice() {
            [] => "`p0 update 1`, `p0 scan`".to_owned(),
            names => format!("`p0 begin NAME ARGUMENTS`, NAME one of {}", names.join(", ")),
        };
        ExploreError::NotAMove {
            number,
            found: line.chars().take(80).collect(),
            reason: format!("a move is {begin}, `p0 step` or `p0 take 1`, of p0 to p{last}"),
        }
    }

    /// Returns the execution up to a position as a trace, for `replay`.
    ///
    /// # Errors
    /// As [`Self::view`].
    pub fn trace(&self, lines: &[String], at: usize) -> Result<Trace, ExploreError> {
        let moves = lines.len();
        let lines = lines.get(..at).ok_or(ExploreError::NoPosition { at, moves })?;
        let path = self.path(lines)?;
        let made = path.make(at)?;
        let standing = made.standing(self, &path)?;
        let deeds = made.execution.reports.iter().map(StepReport::deeds);
        Ok(Trace {
            pair: None,
            program: Some(digest(&self.program)),
            linearizable: standing.is_linearizable(),
            deeds: (1..).zip(deeds).collect(),
            moves: path.moves,
            repeats: None,
            ..self.recorded.clone()
        })
    }
}
