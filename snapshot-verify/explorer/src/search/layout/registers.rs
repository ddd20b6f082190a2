//! The assignment of registers of an unpacked state to variables.

use snapshot_core::Process;

use crate::instance::{Instance, Scalar, SlotId};

/// An index into an unpacked state.
pub type Register = usize;

/// The variable that a register holds.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Variable {
    Slot(SlotId),
    /// The location of a process: the number of a [`crate::instance::Location`].
    Location(Process),
    /// The bits of the [`snapshot_core::observer::Must`] of a process's open scan; 0 if no scan is
    /// open.
    Must(Process),
    /// The observer's bits `invoked_i` and `invoked_j`.
    Invoked,
    /// The observer's bits `needed_i`, `needed_j`, `bad01`, `bad10`.
    NeededAndBad,
    /// The number of operations that a process may still begin; with barriers, until the next one.
    /// Always 0 without a bound.
    Left(Process),
    /// The observer's bits `needed_i`, `needed_j`, `bad01`, `bad10` after the next barrier; always
    /// 0 if barriers are not counted.
    Due,
    /// The number of barriers left; always 0 if they are not counted.
    Barriers,
}

/// The order of the registers: slots by their ids, then locations, musts, the observer, operations
/// left, and the registers for barriers.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Registers {
    slots: usize,
    processes: usize,
}

impl Registers {
    /// Creates the registers of an instance.
    pub const fn new(instance: &Instance) -> Self {
        Self { slots: instance.slots.len(), processes: instance.processes }
    }

    /// Returns the number of slots, which are the first registers.
    pub const fn slots(self) -> usize {
        self.slots
    }

    pub const fn processes(self) -> usize {
        self.processes
    }

    pub const fn count(self) -> usize {
        self.slots + 3 * self.processes + 4
    }

    /// Returns the register of a slot.
    pub const fn slot(self, slot: SlotId) -> Register {
        slot.index()
    }

    /// See [`Variable::Location`].
    pub const fn location(self, process: Process) -> Register {
        self.slots + process.index()
    }

    /// See [`Variable::Must`].
    pub const fn must_bits(self, process: Process) -> Register {
        self.slots + self.processes + process.index()
    }

    /// See [`Variable::Invoked`].
    pub const fn invoked(self) -> Register {
        self.slots + 2 * self.processes
    }

    /// See [`Variable::NeededAndBad`].
    pub const fn needed_and_bad(self) -> Register {
        self.invoked() + 1
    }

    /// See [`Variable::Left`].
    pub const fn left(self, process: Process) -> Register {
        self.invoked() + 2 + process.index()
    }

    /// See [`Variable::Due`].
    pub const fn due(self) -> Register {
        self.invoked() + 2 + self.processes
    }

    /// See [`Variable::Barriers`].
    pub const fn barriers(self) -> Register {
        self.due() + 1
    }

    /// Returns the number of operations that a process may still begin in a state, if that is
    /// bounded. Each barrier allows one more.
    pub fn operations_left(self, process: Process, state: &[Scalar]) -> u32 {
        (state[self.left(process)] + state[self.barriers()]).unsigned_abs()
    }

    /// Returns the variables in the order of their registers.
    pub fn variables(self) -> impl Iterator<Item = Variable> {
        let processes = move || (0..self.processes).map(Process::from_index);
        let slots = (0..self.slots as u32).map(|slot| Variable::Slot(SlotId(slot)));
        slots
            .chain(processes().map(Variable::Location))
            .chain(processes().map(Variable::Must))
            .chain([Variable::Invoked, Variable::NeededAndBad])
            .chain(processes().map(Variable::Left))
            .chain([Variable::Due, Variable::Barriers])
    }
}

impl Variable {
    /// Returns true if the variable consists of monotone bits: the more are set, the more histories
    /// the observer accepts.
    pub const fn is_monotone(self) -> bool {
        matches!(self, Self::Must(_) | Self::NeededAndBad)
    }

    /// Returns true if the variable is the number of operations or barriers left: the larger, the
    /// more may begin.
    pub const fn is_left(self) -> bool {
        matches!(self, Self::Left(_) | Self::Barriers)
    }

    /// Returns true if larger values allow more, and the comparison is optional.
    pub const fn is_compared_with_room(self) -> bool {
        self.is_left() || matches!(self, Self::Due)
    }

    /// Returns a name for people.
    pub fn name(self, instance: &Instance) -> String {
        match self {
            Self::Slot(slot) => instance.slot(slot).name.clone(),
            Self::Location(process) => format!("location of p{process}"),
            Self::Must(process) => format!("must of p{process}'s scan"),
            Self::Invoked => "observer: invoked".to_owned(),
            Self::NeededAndBad => "observer: needed, bad".to_owned(),
            Self::Left(process) => format!("operations left to p{process}"),
            Self::Due => "observer: needed, bad from the next barrier on".to_owned(),
            Self::Barriers => "barriers left".to_owned(),
        }
    }
}
