//! Which register of an unpacked state holds what.

use snapshot_core::Process;

use crate::instance::{Instance, Scalar, SlotId};

/// An index into an unpacked state.
pub type Register = usize;

/// What one register holds.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Variable {
    /// A slot.
    Slot(SlotId),
    /// Where a process stands: the number of a [`crate::instance::Location`].
    Location(Process),
    /// The bits of the [`snapshot_core::observer::Must`] of a process's open scan;
    /// 0 without one.
    Must(Process),
    /// The observer's bits `invoked_i` and `invoked_j`.
    Invoked,
    /// The observer's bits `needed_i`, `needed_j`, `bad01`, `bad10`.
    NeededAndBad,
    /// How many operations a process may still begin; always 0 if they are not bounded. With
    /// barriers: until the next one.
    Left(Process),
    /// The observer's bits `needed_i`, `needed_j`, `bad01`, `bad10` as the next barrier will
    /// make them; always 0 if barriers are not counted.
    Due,
    /// How many barriers there may still be; always 0 if they are not counted.
    Barriers,
}

/// The order of the registers: slots by their ids, then locations, musts, the
/// observer, operations left, and what barriers need.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Registers {
    slots: usize,
    processes: usize,
}

impl Registers {
    /// Those of an instance.
    pub const fn new(instance: &Instance) -> Self {
        Self { slots: instance.slots.len(), processes: instance.processes }
    }

    /// How many slots there are: they are the first registers.
    pub const fn slots(self) -> usize {
        self.slots
    }

    /// How many processes there are.
    pub const fn processes(self) -> usize {
        self.processes
    }

    /// How many registers there are.
    pub const fn count(self) -> usize {
        self.slots + 3 * self.processes + 4
    }

    /// The register of a slot.
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

    /// How many operations a process may still begin in a state, if that is bounded. Each
    /// barrier allows one more.
    pub fn operations_left(self, process: Process, state: &[Scalar]) -> u32 {
        (state[self.left(process)] + state[self.barriers()]).unsigned_abs()
    }

    /// What the registers hold, in their order.
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
    /// Whether it is made of bits of which more allow more: the more are set, the more
    /// histories the observer accepts.
    pub const fn is_monotone(self) -> bool {
        matches!(self, Self::Must(_) | Self::NeededAndBad)
    }

    /// Whether it is a number of operations or barriers that are left: the larger, the more
    /// may begin.
    pub const fn is_left(self) -> bool {
        matches!(self, Self::Left(_) | Self::Barriers)
    }

    /// Whether it allows more the more of it there is, and need not be compared.
    pub const fn is_compared_with_room(self) -> bool {
        self.is_left() || matches!(self, Self::Due)
    }

    /// For people.
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
