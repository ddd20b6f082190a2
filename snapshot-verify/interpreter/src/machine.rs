//! A program for n processes, ready to run.

use std::sync::Arc;

use snapshot_core::Process;
use thiserror::Error;

use super::code::{self, Code};
use super::coverage::Coverage;
use super::data::Data;
use super::evaluate::Scope;
use super::event::{Action, Call, Event};
use super::fault::Fault;
use super::forget::Forgetting;
use super::heap::Heap;
use super::report::{AccessReport, StepReport};
use super::run::Run;
use super::state::{Activity, Cell, Local, State};
use super::structure::Passage;
use crate::program::{
    CellKind, Expression, Extent, ExtentError, IndexSet, Program, SharedVariable,
};

/// Largest number of processes that can be interpreted.
pub const MAX_PROCESSES: usize = 1 << 10;

/// A program for n processes. Running changes a [`State`], never the machine.
///
/// Every event is a step of its own. An invocation runs local code up to the first access. Each
/// access, or `atomic` block, runs local code up to the next. The response is the last step, once
/// the operation has nothing left to do.
/// when the operation has nothing left to do, its response is the last step.
#[derive(Clone, Debug)]
pub struct Machine<'p> {
    pub(super) program: &'p Program,
    pub(super) n: usize,
    pub(super) code: Vec<Code<'p>>,
    /// Number of the first cell of each shared variable.
    pub(super) first_cells: Vec<usize>,
    pub(super) heap: Heap,
    /// For a program with nodes: the locals that still hold their nodes.
    holding: Option<Forgetting>,
    initial: State,
    extent: Extent,
    /// True if linearization points are decided.
    at_points: bool,
}

/// Observable effect of a step.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Advance {
    /// Response, if the step is one.
    pub action: Option<Action>,
    /// Number of linearization points passed.
    pub points: u32,
}

/// Reason why a program cannot be run with this many processes.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
#[non_exhaustive]
pub enum MachineError {
    /// Too few or too many processes.
    #[error("{given} processes cannot be run: from 1 to {limit} are possible")]
    Processes {
        /// Requested number of processes.
        given: usize,
        /// Largest possible number.
        limit: usize,
    },
    #[error("with {processes} processes, {error}")]
    Extent {
        processes: usize,
        /// Violated limit.
        error: ExtentError,
    },
    /// An initial value has no meaning for this number of processes.
    #[error("with {processes} processes, an initial value is faulty: {fault}")]
    Initial {
        processes: usize,
        /// Fault of the initial value.
        fault: Fault,
    },
}

impl<'p> Machine<'p> {
    /// Creates a machine of n processes that ignores linearization points and does not evaluate
    /// their conditions.
    ///
    /// # Errors
    /// If n is not from 1 to [`MAX_PROCESSES`], the program is too large for n, or an initial value
    /// has no meaning for n.
    pub fn new(program: &'p Program, n: usize) -> Result<Self, MachineError> {
        Self::of(program, n, false)
    }

    /// Creates a machine whose steps report the linearization points they pass, if the program has
    /// [some](crate::language::Algorithm::program_with_points). Here, a meaningless condition of a
    /// point is a fault.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn at_points(program: &'p Program, n: usize) -> Result<Self, MachineError> {
        Self::of(program, n, true)
    }

    fn of(program: &'p Program, n: usize, at_points: bool) -> Result<Self, MachineError> {
        if n == 0 || n > MAX_PROCESSES {
            return Err(MachineError::Processes { given: n, limit: MAX_PROCESSES });
        }
        let extent = program.check_extent(n);
        let extent = extent.map_err(|error| MachineError::Extent { processes: n, error })?;
        let mut first_cells = Vec::new();
        let mut cells = 0;
        for variable in &program.shared {
            first_cells.push(cells);
            cells += cells_of(variable, n);
        }
        let initial = State { cells: Arc::default(), processes: Vec::new(), fresh: 1 };
        let code = code::compile_with(program, at_points);
        let (heap, holding) = (Heap::default(), None);
        let mut machine =
            Self { program, n, code, first_cells, heap, holding, initial, extent, at_points };
        let initial = machine.first_state();
        let faulty = |fault| MachineError::Initial { processes: n, fault };
        machine.initial = initial.map_err(faulty)?;
        if !program.nodes.is_empty() {
            let cells = &machine.initial.cells;
            machine.heap = Heap::new(program, n, &machine.first_cells, cells);
            machine.holding = Some(Forgetting::new(&machine));
            let mut state = machine.initial.clone();
            machine.place_nodes(&mut state).map_err(faulty)?;
            machine.initial = state;
        }
        Ok(machine)
    }

    pub const fn program(&self) -> &'p Program {
        self.program
    }

    /// Returns true if steps report the linearization points they pass.
    pub const fn is_at_points(&self) -> bool {
        self.at_points
    }

    /// Returns n, the number of processes and of segments.
    pub const fn processes(&self) -> usize {
        self.n
    }

    /// Returns the size of the program for n processes, a bound on the cost of a step.
    pub const fn extent(&self) -> Extent {
        self.extent
    }

    /// Returns the layout of the nodes.
    pub const fn heap(&self) -> &Heap {
        &self.heap
    }

    /// Makes unreachable nodes absent.
    fn collect(&self, state: &mut State) {
        if !self.heap.is_empty() {
            self.heap.collect(state);
        }
    }

    /// Releases the nodes that a process can no longer use.
    fn let_go(&self, state: &mut State, process: Process) {
        if let Some(holding) = &self.holding {
            holding.forget_nodes(state, process.index());
        }
    }

    /// Returns the state before any event: all processes are idle.
    pub const fn initial(&self) -> &State {
        &self.initial
    }

    /// Begins an operation of `process`.
    ///
    /// # Errors
    /// If local code is faulty; the state is then meaningless.
    ///
    /// # Panics
    /// If the process or operation does not exist, or the process is not idle.
    pub fn invoke(
        &self,
        state: &mut State,
        process: Process,
        call: Call,
    ) -> Result<StepReport, Fault> {
        let action = self.begin(state, process, call)?;
        let event = Some(Event { process, action });
        Ok(StepReport { process, span: None, accesses: Vec::new(), event })
    }

    /// Begins `update(value)` of the process's own segment. As [`Self::invoke`].
    ///
    /// # Errors
    /// As [`Self::invoke`].
    pub fn invoke_update(
        &self,
        state: &mut State,
        process: Process,
        value: u32,
    ) -> Result<StepReport, Fault> {
        self.invoke(state, process, Call::Update(value))
    }

    /// Begins `scan()`. As [`Self::invoke`].
    ///
    /// # Errors
    /// As [`Self::invoke`].
    pub fn invoke_scan(&self, state: &mut State, process: Process) -> Result<StepReport, Fault> {
        self.invoke(state, process, Call::Scan)
    }

    /// Makes the next step of a process within its operation, with a report.
    ///
    /// # Errors
    /// If the step is faulty; the state is then meaningless.
    ///
    /// # Panics
    /// If the process does not exist, or it is idle.
    pub fn step(&self, state: &mut State, process: Process) -> Result<StepReport, Fault> {
        self.step_taking(state, process, 0)
    }

    /// Steps as [`Self::step`], with one of its [outcomes](Self::outcomes).
    ///
    /// # Errors
    /// As [`Self::step`].
    ///
    /// # Panics
    /// As [`Self::step`], or if the outcome does not exist.
    pub fn step_taking(
        &self,
        state: &mut State,
        process: Process,
        outcome: u32,
    ) -> Result<StepReport, Fault> {
        let mut accesses = Vec::new();
        let span = self.next_text(state, process);
        let action = self.go_on(state, process, outcome, Some(&mut accesses), None)?.action;
        let event = action.map(|action| Event { process, action });
        Ok(StepReport { process, span, accesses, event })
    }

    /// Begins as [`Self::invoke`], without a report.
    ///
    /// # Errors
    /// As [`Self::invoke`].
    pub fn begin(&self, state: &mut State, process: Process, call: Call) -> Result<Action, Fault> {
        self.begin_covered(state, process, call, None)
    }

    /// Begins as [`Self::begin`], and records the executed statements.
    ///
    /// # Errors
    /// As [`Self::invoke`].
    pub fn begin_covered(
        &self,
        state: &mut State,
        process: Process,
        call: Call,
        coverage: Option<&mut Coverage>,
    ) -> Result<Action, Fault> {
        let action = self.begin_observed(state, process, call, coverage, None)?;
        self.collect(state);
        Ok(action)
    }

    /// Begins as [`Self::begin`], without collecting unreachable nodes. So the effect depends only
    /// on shared memory and on the part of this process.
    ///
    /// # Errors
    /// As [`Self::invoke`].
    pub fn begin_in_parts(
        &self,
        state: &mut State,
        process: Process,
        call: Call,
        coverage: Option<&mut Coverage>,
    ) -> Result<Action, Fault> {
        self.begin_observed(state, process, call, coverage, None)
    }

    pub(super) fn begin_observed(
        &self,
        state: &mut State,
        process: Process,
        call: Call,
        coverage: Option<&mut Coverage>,
        passages: Option<&mut Vec<Passage>>,
    ) -> Result<Action, Fault> {
        let (procedure, argument, action) = match call {
            Call::Update(value) => {
                (self.program.update(), vec![Data::Value(value)], Action::InvokeUpdate(value))
            }
            Call::Scan => (self.program.scan(), Vec::new(), Action::InvokeScan),
            Call::Operation(call) => self.operation_begun(call),
        };
        assert!(state.is_idle(process.index()), "only an idle process begins an operation");
        let mut run = Run::new(self, state, process.index(), None);
        run.coverage = coverage;
        run.passages = passages;
        run.call(procedure, argument)?;
        run.until_access()?;
        self.let_go(state, process);
        Ok(action)
    }

    /// Steps as [`Self::step`], without a report; returns the response, if any.
    ///
    /// # Errors
    /// As [`Self::step`].
    pub fn advance(&self, state: &mut State, process: Process) -> Result<Option<Action>, Fault> {
        Ok(self.go_on(state, process, 0, None, None)?.action)
    }

    /// Steps as [`Self::advance_taking`], and records the executed statements.
    ///
    /// # Errors
    /// As [`Self::step`].
    ///
    /// # Panics
    /// As [`Self::step_taking`].
    pub fn advance_covered(
        &self,
        state: &mut State,
        process: Process,
        outcome: u32,
        coverage: &mut Coverage,
    ) -> Result<Option<Action>, Fault> {
        Ok(self.go_on(state, process, outcome, None, Some(coverage))?.action)
    }

    /// Steps as [`Self::advance`], with one of its [outcomes](Self::outcomes).
    ///
    /// # Errors
    /// As [`Self::step`].
    ///
    /// # Panics
    /// As [`Self::step_taking`].
    pub fn advance_taking(
        &self,
        state: &mut State,
        process: Process,
        outcome: u32,
    ) -> Result<Option<Action>, Fault> {
        Ok(self.go_on(state, process, outcome, None, None)?.action)
    }

    /// Steps as [`Self::advance_taking`], and reports linearization points. As
    /// [`Self::begin_in_parts`], it does not collect unreachable nodes.
    ///
    /// # Errors
    /// As [`Self::step`].
    pub fn advance_in_parts(
        &self,
        state: &mut State,
        process: Process,
        outcome: u32,
        coverage: Option<&mut Coverage>,
    ) -> Result<Advance, Fault> {
        self.advance_observed(state, process, outcome, None, coverage)
    }

    fn go_on(
        &self,
        state: &mut State,
        process: Process,
        outcome: u32,
        accesses: Option<&mut Vec<AccessReport>>,
        coverage: Option<&mut Coverage>,
    ) -> Result<Advance, Fault> {
        let advance = self.advance_observed(state, process, outcome, accesses, coverage)?;
        self.collect(state);
        Ok(advance)
    }

    fn advance_observed(
        &self,
        state: &mut State,
        process: Process,
        outcome: u32,
        accesses: Option<&mut Vec<AccessReport>>,
        coverage: Option<&mut Coverage>,
    ) -> Result<Advance, Fault> {
        let activity = &mut Arc::make_mut(&mut state.processes[process.index()]).activity;
        match activity {
            Activity::Idle => panic!("only a process with an open operation makes a step"),
            Activity::Responding(result) => {
                let action = result.take().map_or(Action::RespondUpdate, Action::RespondScan);
                *activity = Activity::Idle;
                Ok(Advance { action: Some(action), points: 0 })
            }
            Activity::Returning(operation, result) => {
                let action = self.operation_ended(*operation, result.take());
                *activity = Activity::Idle;
                Ok(Advance { action: Some(action), points: 0 })
            }
            Activity::Running(_) => {
                let mut run = Run::new(self, state, process.index(), accesses);
                run.coverage = coverage;
                run.choice = outcome;
                run.access()?;
                run.choice = 0;
                run.until_access()?;
                let points = run.points.count();
                self.let_go(state, process);
                Ok(Advance { action: None, points })
            }
        }
    }

    fn place_nodes(&self, state: &mut State) -> Result<(), Fault> {
        for one in &self.program.initial_nodes {
            let (n, me, fresh) = (self.n, 0, &mut state.fresh);
            let mut scope = Scope { n, me, locals: &mut Vec::new(), private: &[], fresh };
            let fields = one.fields.iter().map(|field| scope.evaluate(field));
            let fields = fields.collect::<Result<_, _>>()?;
            let placed = self.heap.place(&mut state.cells, (one.node, one.number), fields);
            placed.map_err(|kind| kind.at(self.program.node(one.node).span))?;
        }
        self.collect(state);
        Ok(())
    }

    fn first_state(&self) -> Result<State, Fault> {
        let mut fresh = self.initial.fresh;
        let mut constant = |initial: &Expression, me: usize| {
            let (n, fresh) = (self.n, &mut fresh);
            Scope { n, me, locals: &mut Vec::new(), private: &[], fresh }.evaluate(initial)
        };
        let mut cells = Vec::new();
        for variable in &self.program.shared {
            let links = match variable.cell {
                CellKind::Linked => vec![false; self.n],
                CellKind::Register | CellKind::Swappable => Vec::new(),
            };
            let cell = Cell { content: constant(&variable.initial, 0)?, links };
            let count = cells_of(variable, self.n);
            cells.extend(std::iter::repeat_n(cell, count));
        }
        let mut processes = Vec::new();
        for me in 0..self.n {
            let private = self.program.private.iter();
            let private = private.map(|variable| constant(&variable.initial, me));
            let private = private.collect::<Result<_, _>>()?;
            processes.push(Arc::new(Local { private, activity: Activity::Idle }));
        }
        Ok(State { cells: Arc::new(cells), processes, fresh })
    }
}

/// Returns the number of cells of a shared variable.
pub(super) fn cells_of(variable: &SharedVariable, n: usize) -> usize {
    let size = |over: &IndexSet| {
        let (low, high) = over.bounds(n);
        (i64::from(high) - i64::from(low) + 1).max(0) as usize
    };
    variable.dimensions.iter().map(size).product()
}
