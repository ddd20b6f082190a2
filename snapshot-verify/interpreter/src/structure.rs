//! Content of a state, as data: cells by variable and indices, variables by position, and the
//! location of each process in its calls. [`Machine::holdings`] gives the same by names and as
//! text.
//!
//! Serves comparisons of the interpreter's states with other representations.

use snapshot_core::Process;

use super::data::{Data, offset};
use super::event::{Action, Call};
use super::fault::Fault;
use super::machine::Machine;
use super::run::Run;
use super::state::{Activity, Cell, State};
use crate::program::{ProcedureId, SharedId};

/// A call of a procedure that has not returned.
#[derive(Clone, Copy, Debug)]
pub struct OpenCall<'s> {
    pub procedure: ProcedureId,
    /// Number of its next instruction; in all calls but the innermost, the number of the call that
    /// it waits for. Statements are numbered as they are written: one number per assignment,
    /// access, call, jump and return, two for `for` and `atomic`, one for `if` and one more for its
    /// `else`.
    pub at: usize,
    /// Local variables in the order of their declarations, parameters first.
    pub locals: &'s [Data],
    /// Index that each `for` of the procedure skips.
    pub excepts: &'s [Option<i64>],
}

/// Call or return of a procedure.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Passage {
    In(ProcedureId),
    /// Return with this result.
    Out(ProcedureId, Option<Data>),
}

impl Machine<'_> {
    /// Returns the content of a cell; `None` if the cell does not exist.
    pub fn cell<'s>(
        &self,
        state: &'s State,
        variable: SharedId,
        indices: &[i64],
    ) -> Option<&'s Data> {
        self.numbered(state, variable, indices).map(|cell| &cell.content)
    }

    /// Returns true if a process has an unbroken link to the cell of a variable; `None` if the cell
    /// does not exist or has no links.
    pub fn is_linked(
        &self,
        state: &State,
        variable: SharedId,
        indices: &[i64],
        process: Process,
    ) -> Option<bool> {
        let cell = self.numbered(state, variable, indices)?;
        cell.links.get(process.index()).copied()
    }

    fn numbered<'s>(
        &self,
        state: &'s State,
        variable: SharedId,
        indices: &[i64],
    ) -> Option<&'s Cell> {
        state.cells.get(self.number_of_cell(variable, indices)?)
    }

    /// Returns the number of a cell among all cells; `None` if an index is out of range.
    pub fn number_of_cell(&self, variable: SharedId, indices: &[i64]) -> Option<usize> {
        let dimensions = &self.program.shared(variable).dimensions;
        let mut number = 0;
        for (set, index) in dimensions.iter().zip(indices) {
            let (low, high) = set.bounds(self.n);
            let count = (i64::from(high) - i64::from(low) + 1).max(0) as usize;
            number = number * count + offset(*index, (low, high))?;
        }
        Some(self.first_cells[variable.0 as usize] + number)
    }

    /// Returns the private variables of a process, in the order of their declarations.
    ///
    /// # Panics
    /// If the process does not exist.
    pub fn private<'s>(&self, state: &'s State, process: Process) -> &'s [Data] {
        &state.processes[process.index()].private
    }

    /// Returns the open calls of a process, the operation itself first; empty if it is idle or only
    /// has to respond.
    ///
    /// # Panics
    /// If the process does not exist.
    pub fn open_calls<'s>(&self, state: &'s State, process: Process) -> Vec<OpenCall<'s>> {
        match &state.processes[process.index()].activity {
            Activity::Running(frames) => frames
                .iter()
                .map(|frame| OpenCall {
                    procedure: frame.procedure,
                    at: frame.at,
                    locals: &frame.locals,
                    excepts: &frame.excepts,
                })
                .collect(),
            Activity::Idle | Activity::Responding(_) | Activity::Returning(..) => Vec::new(),
        }
    }

    /// Begins as [`Self::begin`], and records calls and returns.
    ///
    /// # Errors
    /// As [`Self::invoke`].
    pub fn begin_passing(
        &self,
        state: &mut State,
        process: Process,
        call: Call,
        passages: &mut Vec<Passage>,
    ) -> Result<(), Fault> {
        self.begin_observed(state, process, call, None, Some(passages)).map(|_| ())
    }

    /// Steps as [`Self::advance`], and records calls and returns.
    ///
    /// # Errors
    /// As [`Self::step`].
    pub fn advance_passing(
        &self,
        state: &mut State,
        process: Process,
        passages: &mut Vec<Passage>,
    ) -> Result<Option<Action>, Fault> {
        let is_running = matches!(state.processes[process.index()].activity, Activity::Running(_));
        if !is_running {
            return self.advance(state, process);
        }
        let mut run = Run::new(self, state, process.index(), None);
        run.passages = Some(passages);
        run.access()?;
        run.until_access()?;
        Ok(None)
    }
}
