//! What the next step of a process is going to access.

use snapshot_core::Process;

use super::code::Instruction;
use super::evaluate::Scope;
use super::machine::Machine;
use super::state::{Activity, State};
use crate::program::{IndexSet, NodeId, SharedId};

/// The next step of a process.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum Next {
    /// There is none before an operation begins.
    Begin,
    /// The response.
    Respond,
    /// One access to shared memory.
    Access {
        /// To a cell of this variable.
        variable: SharedId,
        /// Which of them. Possibly out of range: then the step is a fault.
        indices: Vec<i64>,
        /// Whether it may change what the cell holds.
        writes: bool,
        /// Whether it may be a linearization point.
        linearizes: bool,
    },
    /// An `atomic` block, a choice, or an access whose indices have no meaning.
    Other,
}

/// What a step has several outcomes by.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Branching {
    /// Which node is allocated.
    Allocation(NodeId),
    /// Which element of a set is chosen.
    Choice(IndexSet),
}

impl Machine<'_> {
    /// How many outcomes the next step of a process has: more than one only where it chooses, or
    /// allocates a node and others were freed. [`super::MoveKind::Take`] tells them apart.
    ///
    /// # Panics
    /// If there is no such process.
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

    /// What the next step of a process has several outcomes by, perhaps.
    pub(crate) fn branching(&self, state: &State, process: Process) -> Option<Branching> {
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

    /// What the next step of a process is going to access.
    ///
    /// # Panics
    /// If there is no such process.
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
