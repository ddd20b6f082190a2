//! What a state holds, as data: cells by variable and indices, variables by position, and
//! where each process stands in the calls that it is in. [`Machine::holdings`] tells the
//! same by names and as text.
//!
//! For those that compare states of the interpreter with states of something else.

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
    /// The procedure.
    pub procedure: ProcedureId,
    /// The number of its next instruction; of all calls but the innermost, of the call
    /// that it waits for. Statements are numbered as they are written: one number per
    /// assignment, access, call, jump and return, two for `for` and `atomic`, one for `if`
    /// and one more for its `else`.
    pub at: usize,
    /// Its variables, in the order of their declarations, parameters first.
    pub locals: &'s [Data],
    /// Per `for` of the procedure, the index that it leaves out.
    pub excepts: &'s [Option<i64>],
}

/// Into a procedure, or out of it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Passage {
    /// It is called.
    In(ProcedureId),
    /// It returns this.
    Out(ProcedureId, Option<Data>),
}

impl Machine<'_> {
    /// What a cell holds; `None` if there is no such cell.
    pub fn cell<'s>(
        &self,
        state: &'s State,
        variable: SharedId,
        indices: &[i64],
    ) -> Option<&'s Data> {
        self.numbered(state, variable, indices).map(|cell| &cell.content)
    }

    /// Whether a process has an unbroken link to the cell of a variable; `None` if there is no
    /// such cell, or it has no links.
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
        let dimensions = &self.program.shared(variable).dimensions;
        let mut number = 0;
        for (set, index) in dimensions.iter().zip(indices) {
            let (low, high) = set.bounds(self.n);
            let count = (i64::from(high) - i64::from(low) + 1).max(0) as usize;
            number = number * count + offset(*index, (low, high))?;
        }
        let first = self.first_cells[variable.0 as usize];
        state.cells.get(first + number)
    }

    /// The private variables of a process, in the order of their declarations.
    ///
    /// # Panics
    /// If there is no such process.
    pub fn private<'s>(&self, state: &'s State, process: Process) -> &'s [Data] {
        &state.processes[process.index()].private
    }

    /// The calls that a process is in, the operation itself first; none if it is idle or
    /// has only to respond.
    ///
    /// # Panics
    /// If there is no such process.
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

    /// As [`Self::begin`], and adds the calls that it makes and that return.
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

    /// As [`Self::advance`], and adds the calls that it makes and that return.
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
