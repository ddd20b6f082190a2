//! What the next step of a process is going to access.

use snapshot_core::Process;

use super::code::Instruction;
use super::evaluate::Scope;
use super::machine::Machine;
use super::state::{Activity, State};
use crate::program::{NodeId, SharedId};

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
        /// Whether the text marks it as a linearization point.
        linearizes: bool,
    },
    /// An `atomic` block, or an access whose indices have no meaning.
    Other,
}

impl Machine<'_> {
    /// How many outcomes the next step of a process has: more than one only where it allocates
    /// a node and others were freed. [`super::MoveKind::Take`] tells them apart.
    ///
    /// # Panics
    /// If there is no such process.
    pub fn outcomes(&self, state: &State, process: Process) -> u32 {
        match self.allocates(state, process) {
            Some(node) => self.heap.choices(&state.cells, node),
            None => 1,
        }
    }

    /// What the next step of a process allocates, if it does and is a step of its own.
    pub(crate) fn allocates(&self, state: &State, process: Process) -> Option<NodeId> {
        let Activity::Running(frames) = &state.processes[process.index()].activity else {
            return None;
        };
        let frame = frames.last()?;
        match self.code[frame.procedure.0 as usize].instructions[frame.at] {
            Instruction::New { node, is_step: true, .. } => Some(node),
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
                linearizes: statement.linearizes,
            },
            Err(_) => Next::Other,
        }
    }
}
