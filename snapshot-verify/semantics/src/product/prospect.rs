//! Next steps of processes, without making them.

use snapshot_core::Process;

use super::lent::{Lent, Unknown, known};
use super::states::{Scratch, States};
use crate::interpret::{Branching, Next, Operation};
use crate::program::{NodeId, SharedId};

/// Cells that a step depends on, before the process goes on with its own variables.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Seen {
    Nothing,
    Cell(u32),
    /// Several cells, or unknown ones.
    #[default]
    Any,
}

/// Properties of the next step of a process, known without making it.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Prospect {
    /// The process has no open operation.
    pub is_idle: bool,
    /// The step is the response.
    pub responds: bool,
    /// No other process can ever make a step that depends on this one, and it is not a
    /// linearization point.
    pub is_alone: bool,
    /// Node of the field that the step accesses; `None` also for a linearization point.
    pub node: Option<u32>,
    /// The step chooses, or allocates a node, and may have several outcomes.
    pub branches: bool,
    /// The step is a `choose`.
    pub chooses: bool,
    /// The step accesses shared memory.
    pub accesses: bool,
    /// Cells that the step depends on.
    pub seen: Seen,
    /// The open operation.
    pub operation: Option<Operation>,
}

/// Prospects of parts.
#[derive(Debug, Default)]
pub struct Prospects {
    /// Prospects that occur.
    all: Vec<Prospect>,
    /// One more than the position in `all`, by part and process; 0: unknown.
    numbers: Vec<u32>,
}

impl Prospects {
    fn get(&self, key: usize) -> Option<Prospect> {
        let position = self.numbers.get(key)?.checked_sub(1)?;
        Some(self.all[position as usize])
    }

    fn insert(&mut self, key: usize, prospect: Prospect) {
        let known = self.all.iter().position(|known| *known == prospect);
        let position = known.unwrap_or_else(|| {
            self.all.push(prospect);
            self.all.len() - 1
        });
        self.numbers[key] = position as u32 + 1;
    }

    /// Approximate memory use in bytes.
    pub const fn bytes(&self) -> usize {
        self.all.capacity() * size_of::<Prospect>() + self.numbers.capacity() * size_of::<u32>()
    }
}

impl States<'_, '_> {
    /// Returns the prospect of the next step of a process.
    pub fn prospect(&mut self, row: &[u32], process: Process) -> Prospect {
        known(Lent::Exclusive(self).prospect(row, process))
    }

    fn key(&self, row: &[u32], process: Process) -> usize {
        row[1 + process.index()] as usize * self.machine.processes() + process.index()
    }

    /// Computes the prospect of the next step of a process.
    fn learn_prospect(&mut self, row: &[u32], process: Process) -> Prospect {
        let state = self.state(row);
        let next = self.machine.next(&state, process);
        let branching = self.machine.branching(&state, process);
        let is_alone = match &next {
            Next::Access { variable, indices, writes, linearizes } => {
                let (n, me) = (self.machine.processes(), process.index());
                !*linearizes && self.footprint.is_alone(n, me, *variable, indices, *writes)
            }
            Next::Begin | Next::Respond | Next::Other => false,
        };
        let node = match &next {
            Next::Access { variable, indices, linearizes: false, .. } => {
                let mut nodes = (0..).map(NodeId).zip(&self.machine.program().nodes);
                let of = nodes.find(|(_, node)| node.fields.contains(variable));
                of.map(|(id, _)| self.machine.heap().number(id, indices[0] as u32))
            }
            _ => None,
        };
        let chooses = matches!(branching, Some(Branching::Choice(_)));
        let seen = match &next {
            Next::Access { variable, .. } if self.may_be_freed(*variable) => Seen::Any,
            Next::Access { variable, indices, .. } => {
                let cell = self.machine.number_of_cell(*variable, indices);
                cell.map_or(Seen::Any, |cell| Seen::Cell(cell as u32))
            }
            Next::Respond => Seen::Nothing,
            Next::Other if chooses => Seen::Nothing,
            Next::Begin | Next::Other => Seen::Any,
        };
        let (is_idle, responds) = (next == Next::Begin, next == Next::Respond);
        let prospect = Prospect {
            is_idle,
            responds,
            is_alone,
            node,
            branches: branching.is_some(),
            chooses,
            accesses: self.machine.accesses(&state, process),
            operation: self.machine.open_operation(&state, process),
            seen,
        };
        let numbers = &mut self.prospects.numbers;
        numbers.resize(numbers.len().max(self.processes.len() * self.machine.processes()), 0);
        self.prospects.insert(self.key(row, process), prospect);
        prospect
    }

    /// Returns true if a variable is a field of nodes that may be freed.
    fn may_be_freed(&self, variable: SharedId) -> bool {
        let program = self.machine.program();
        program.frees() && program.node_of_field(variable).is_some()
    }
}

impl Lent<'_, States<'_, '_>> {
    /// Returns the prospect of the next step of a process.
    ///
    /// # Errors
    /// If it is unknown.
    pub fn prospect(&mut self, row: &[u32], process: Process) -> Result<Prospect, Unknown> {
        match self.prospects.get(self.key(row, process)) {
            Some(prospect) => Ok(prospect),
            None => Ok(self.exclusively()?.learn_prospect(row, process)),
        }
    }

    /// Returns true if no other process can make a step that depends on the next one of this
    /// process before this process publishes a pointer, and the step is not a linearization point.
    ///
    /// # Errors
    /// If the pointers of the row are unknown.
    pub fn is_alone(
        &mut self,
        row: &[u32],
        process: Process,
        prospect: Prospect,
        scratch: &mut Scratch,
    ) -> Result<bool, Unknown> {
        let Some(node) = prospect.node.filter(|_| !prospect.is_alone) else {
            return Ok(prospect.is_alone);
        };
        let row = &row[..=self.machine.processes()];
        self.is_private(row, (process.index(), node), &mut scratch.walk)
    }
}
