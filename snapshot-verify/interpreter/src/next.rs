//! Predicts the next access of a process.

use snapshot_core::Process;

use super::code::Instruction;
use super::evaluate::Scope;
use super::event::Operation;
use super::machine::Machine;
use super::state::{Activity, State};
use crate::program::{IndexSet, NodeId, OperationId, SharedId};

#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum Next {
    /// The process is idle.
    Begin,
    /// The process responds.
    Respond,
    /// The process makes one access to shared memory.
    Access {
        /// Variable of the cell.
        variable: SharedId,
        /// Indices of the cell. If they are out of range, the step is a fault.
        indices: Vec<i64>,
        /// True if the access may change the cell.
        writes: bool,
        /// True if the access may be a linearization point.
        linearizes: bool,
    },
    /// An `atomic` block, a choice, or an access with meaningless indices.
    Other,
}

/// Reason why a step has several outcomes.
#[derive(Clone, Copy, Debug)]
pub enum Branching {
    /// Allocation of any of several nodes.
    Allocation(NodeId),
    /// Choice of an element of a set.
    Choice(IndexSet),
}

impl Machine<'_> {
    /// Returns the number of outcomes of the next step of a process. It exceeds 1 only if the step
    /// chooses, or allocates a node in the presence of freed ones. [`super::MoveKind::Take`]
    /// selects the outcome.
    ///
    /// # Panics
    /// If the process does not exist.
    pub fn outcomes(&self, state: &State, process: Process) -> u32 {
        match self.branching(state, process) {
            Some(Branching::Allocation(node)) => self.heap.choices(&state.cells, node),
            Some(Branching::Choice(over)) => {
                let (low, high) = over.bounds(self.n);
                let count = (i64::from(high) - i64::from(low) + 1).max(1);
                u32::try_from(count).unwrap_or(u32::MAX)
            }
            None => 1,
        }
    }

    /// Returns the reason why the next step of a process may have several outcomes.
    pub fn branching(&self, state: &State, process: Process) -> Option<Branching> {
        let Activity::Running(frames) = &state.processes[process.index()].activity else {
            return None;
        };
        let frame = frames.last()?;
        match self.code[frame.procedure.0 as usize].instructions[frame.at] {
            Instruction::New { node, is_step: true, .. } => Some(Branching::Allocation(node)),
            Instruction::Choose { over, .. } => Some(Branching::Choice(over)),
            _ => None,
        }
    }

    /// Returns true if the next step of a process accesses shared memory: by one access, or by an
    /// `atomic` block.
    ///
    /// # Panics
    /// If the process does not exist.
    pub fn accesses(&self, state: &State, process: Process) -> bool {
        let Activity::Running(frames) = &state.processes[process.index()].activity else {
            return false;
        };
        let Some(frame) = frames.last() else { return false };
        matches!(
            self.code[frame.procedure.0 as usize].instructions[frame.at],
            Instruction::Access { .. } | Instruction::BeginAtomic { .. }
        )
    }

    /// Returns the open operation of a process.
    ///
    /// # Panics
    /// If the process does not exist.
    pub fn open_operation(&self, state: &State, process: Process) -> Option<Operation> {
        let procedure = match &state.processes[process.index()].activity {
            Activity::Idle => return None,
            Activity::Responding(None) => return Some(Operation::Update),
            Activity::Responding(Some(_)) => return Some(Operation::Scan),
            Activity::Returning(procedure, _) => *procedure,
            Activity::Running(frames) => frames.first()?.procedure,
        };
        let Some(object) = self.program.object() else {
            let is_update = procedure == self.program.update();
            return Some(if is_update { Operation::Update } else { Operation::Scan });
        };
        let mut operations = (0..).map(OperationId).zip(&object.operations);
        let found = operations.find(|(_, operation)| operation.procedure == procedure)?;
        Some(Operation::Declared(found.0))
    }

    /// Returns the next access of a process.
    ///
    /// # Panics
    /// If the process does not exist.
    pub fn next(&self, state: &State, process: Process) -> Next {
        let local = &*state.processes[process.index()];
        let frame = match &local.activity {
            Activity::Idle => return Next::Begin,
            Activity::Responding(_) | Activity::Returning(..) => return Next::Respond,
            Activity::Running(frames) => frames.last().expect("a running process has a frame"),
        };
        let code = &self.code[frame.procedure.0 as usize];
        let Instruction::Access { statement, access, .. } = code.instructions[frame.at] else {
            return Next::Other;
        };
        let mut scope = Scope {
            n: self.n,
            me: process.index(),
            locals: &mut frame.locals.clone(),
            private: &local.private,
            fresh: &mut state.versions_made(),
        };
        let place = access.place();
        let indices = place.indices.iter().map(|index| scope.index(index));
        match indices.collect::<Result<Vec<_>, _>>() {
            Ok(indices) => Next::Access {
                variable: place.variable,
                indices,
                writes: access.writes(),
                linearizes: self.is_at_points() && statement.mark.is_some(),
            },
            Err(_) => Next::Other,
        }
    }
}
