//! Schedules: executions as lists of moves.
//!
//! Steps of a process are deterministic, except for the node that `new` takes and the element of a
//! choice. A move names this outcome, so a list of moves determines an execution. Counterexamples
//! are passed on in this form: the search hands over moves, and the interpreter executes them.

use std::fmt;

use snapshot_core::{History, Process};
use thiserror::Error;

use super::event::{Argument, Call, Event, history};
use super::fault::Fault;
use super::machine::Machine;
use super::report::StepReport;
use super::state::State;

/// One move of one process.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Move {
    pub process: Process,
    pub kind: MoveKind,
}

#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum MoveKind {
    Begin(Call),
    /// Makes the next step of the open operation: an access or the response.
    Step,
    /// Makes the next step with this [outcome](Machine::outcomes), from 1: `Step` has outcome 0.
    Take(u32),
}

impl Move {
    /// Creates the move that begins `update(value)`.
    pub const fn update(process: Process, value: u32) -> Self {
        Self { process, kind: MoveKind::Begin(Call::Update(value)) }
    }

    /// Creates the move that begins a scan.
    pub const fn scan(process: Process) -> Self {
        Self { process, kind: MoveKind::Begin(Call::Scan) }
    }

    /// Creates a step with this outcome.
    pub const fn taking(process: Process, outcome: u32) -> Self {
        let kind = if outcome == 0 { MoveKind::Step } else { MoveKind::Take(outcome) };
        Self { process, kind }
    }

    /// Returns the outcome of a step; 0 for other moves.
    pub const fn outcome(&self) -> u32 {
        match self.kind {
            MoveKind::Take(outcome) => outcome,
            MoveKind::Step | MoveKind::Begin(_) => 0,
        }
    }

    pub const fn step(process: Process) -> Self {
        Self { process, kind: MoveKind::Step }
    }
}

/// A move, with the names of the operations of the object that the program declares.
#[derive(Clone, Copy, Debug)]
struct Named<'a> {
    made: Move,
    operations: &'a [String],
}

impl Move {
    /// Formats as in trace files, with the names of the operations of the object that the program
    /// declares: `p0 begin push 1`.
    pub const fn named(self, operations: &[String]) -> impl fmt::Display {
        Named { made: self, operations }
    }
}

/// Formats as `p0 begin push 1`; `-` stands for `none`.
impl fmt::Display for Named<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let MoveKind::Begin(Call::Operation(call)) = self.made.kind else {
            return self.made.fmt(f);
        };
        let number = call.operation.0 as usize;
        let name = self.operations.get(number).map_or("?", String::as_str);
        write!(f, "p{} begin {name}", self.made.process)?;
        let is_given = |argument: &&Argument| **argument != Argument::NONE;
        let last = call.arguments.iter().rposition(|argument| is_given(&argument));
        for argument in &call.arguments[..last.map_or(0, |last| last + 1)] {
            match is_given(&argument) {
                true => write!(f, " {}", argument.0)?,
                false => f.write_str(" -")?,
            }
        }
        Ok(())
    }
}

/// Formats as `p0 update 1`, `p1 scan`, `p1 step`. Operations of an object are given by number:
/// their names belong to a program ([`Self::named`]).
impl fmt::Display for Move {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            MoveKind::Begin(Call::Update(value)) => write!(f, "p{} update {value}", self.process),
            MoveKind::Begin(Call::Scan) => write!(f, "p{} scan", self.process),
            MoveKind::Begin(Call::Operation(call)) => {
                write!(f, "p{} operation {}", self.process, call.operation.0)?;
                let given = call.arguments.iter().filter(|argument| **argument != Argument::NONE);
                given.into_iter().try_for_each(|argument| write!(f, " {}", argument.0))
            }
            MoveKind::Step => write!(f, "p{} step", self.process),
            MoveKind::Take(outcome) => write!(f, "p{} take {outcome}", self.process),
        }
    }
}

/// A move that its process cannot make.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
#[error("move {number}, `{made}`: {kind}")]
pub struct MoveError {
    /// Number of the move, from 1.
    pub number: usize,
    pub made: Move,
    pub kind: MoveErrorKind,
}

/// Reason why a move is impossible.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
#[non_exhaustive]
pub enum MoveErrorKind {
    /// The process does not exist.
    #[error("there are {processes} processes, numbered from 0")]
    NoSuchProcess {
        /// Number of processes.
        processes: usize,
    },
    /// The process begins an operation while another one is open.
    #[error("the process has an operation open; it can only step")]
    Busy,
    /// The process steps without an open operation.
    #[error("the process is idle; it can only begin an update or a scan")]
    Idle,
    /// The process steps without an open operation; the text declares an object.
    #[error("the process is idle; it can only begin an operation of the object")]
    IdleAtObject,
    /// The step has fewer outcomes.
    #[error("the step has the outcomes 0 to {last} only")]
    NoSuchOutcome {
        /// Largest outcome.
        last: u32,
    },
    /// The program has no such operation, or not with these arguments.
    #[error("the algorithm has no such operation")]
    NoSuchOperation,
    /// The step is a fault of the program.
    #[error("the program is faulty: {0}")]
    Fault(Fault),
}

impl Machine<'_> {
    /// Makes a move.
    ///
    /// # Errors
    /// If its process cannot make the move, or the program is faulty there; after a fault the state
    /// is meaningless.
    pub fn make(&self, state: &mut State, made: Move) -> Result<StepReport, MoveErrorKind> {
        if made.process.index() >= self.processes() {
            return Err(MoveErrorKind::NoSuchProcess { processes: self.processes() });
        }
        if let MoveKind::Begin(call) = made.kind
            && !self.has(call)
        {
            return Err(MoveErrorKind::NoSuchOperation);
        }
        let report = match (made.kind, state.is_idle(made.process.index())) {
            (MoveKind::Begin(call), true) => self.invoke(state, made.process, call),
            (MoveKind::Step, false) => self.step(state, made.process),
            (MoveKind::Take(outcome), false) => {
                let outcomes = self.outcomes(state, made.process);
                if outcome >= outcomes {
                    return Err(MoveErrorKind::NoSuchOutcome { last: outcomes - 1 });
                }
                self.step_taking(state, made.process, outcome)
            }
            (MoveKind::Begin(_), false) => return Err(MoveErrorKind::Busy),
            (MoveKind::Step | MoveKind::Take(_), true) => {
                return Err(match self.program().object() {
                    None => MoveErrorKind::Idle,
                    Some(_) => MoveErrorKind::IdleAtObject,
                });
            }
        };
        report.map_err(MoveErrorKind::Fault)
    }

    /// Runs a schedule from the initial state.
    ///
    /// # Errors
    /// At the first move that its process cannot make, or that is faulty.
    pub fn run(&self, moves: &[Move]) -> Result<Execution, MoveError> {
        let mut state = self.initial().clone();
        let mut reports = Vec::with_capacity(moves.len());
        for (position, &made) in moves.iter().enumerate() {
            let report = self.make(&mut state, made);
            let number = position + 1;
            reports.push(report.map_err(|kind| MoveError { number, made, kind })?);
        }
        Ok(Execution { processes: self.processes(), reports, last: state })
    }
}

#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Execution {
    pub processes: usize,
    pub reports: Vec<StepReport>,
    /// State at the end.
    pub last: State,
}

impl Execution {
    /// Returns the invocations and responses, in their order.
    pub fn events(&self) -> impl Iterator<Item = &Event> {
        self.reports.iter().filter_map(|report| report.event.as_ref())
    }

    /// Returns the number, from 1, of the step with an event; 0 if there are fewer events.
    pub fn step_of(&self, event: usize) -> usize {
        let steps = self.reports.iter().zip(1..).filter(|(report, _)| report.event.is_some());
        steps.map(|(_, number)| number).nth(event).unwrap_or(0)
    }

    /// Returns the history of the execution; open operations are pending.
    pub fn history(&self) -> History<u32> {
        history(self.processes, self.events())
    }
}
