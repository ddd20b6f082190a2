//! The steps of an instance as flat code over registers.
//!
//! Blocks and terms are trees, good to transform and slow to walk. Before a
//! search they become straight runs of small operations with resolved operands:
//! every operand is a register, for behind the registers of the state
//! ([`crate::search::layout::Registers`]) there are some for temporary results and one
//! per constant. The frequent shapes - a move, a branch on an equality - are
//! one operation each.
//!
//! While code runs, each state register that is written is noted, so that a
//! caller can undo the step and pack only what has changed.

mod compile;
mod footprint;
mod machine;
mod terms;

use snapshot_core::Process;

pub use compile::CodeError;
pub use footprint::Footprint;
pub use machine::{Ending, RegisterMachine};

use crate::instance::{Location, Operator, Scalar};
use crate::language::Span;

/// An operand: an index into [`RegisterMachine::registers`].
type Operand = u16;

/// An index into [`Code::operations`].
type Address = u32;

/// What all processes can do, compiled.
#[derive(Clone, Debug)]
pub struct Code {
    operations: Vec<Operation>,
    /// What the `Element` operations choose from, one after the other.
    tables: Vec<Operand>,
    /// How many registers of the state there are: they come first.
    variables: usize,
    /// How many temporary registers follow.
    temporaries: usize,
    /// What the registers after those hold, for ever.
    constants: Vec<Scalar>,
    /// The first version that no canonical state contains.
    first_fresh: Scalar,
    faults: Vec<Fault>,
    graphs: Vec<Entries>,
}

/// Where the code of one process begins.
#[derive(Clone, Debug)]
struct Entries {
    update: Address,
    scan: Address,
    /// By location; of idle none.
    steps: Vec<Option<Address>>,
    /// By location.
    reactions: Vec<Vec<Address>>,
}

/// A place where the program goes wrong.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Fault {
    /// Where.
    pub span: Span,
    /// What.
    pub what: &'static str,
}

/// One operation. Only `Assign` and `AssignElement` write registers of the state,
/// `to` of all others is a temporary.
#[derive(Clone, Copy, Debug)]
enum Operation {
    Assign {
        to: Operand,
        from: Operand,
    },
    AssignElement {
        index: Operand,
        table: Table,
        from: Operand,
    },
    Fresh {
        to: Operand,
    },
    Successor {
        to: Operand,
        of: Operand,
    },
    Let {
        operator: Operator,
        to: Operand,
        left: Operand,
        right: Operand,
    },
    Choose {
        to: Operand,
        bit: Operand,
        then: Operand,
        otherwise: Operand,
    },
    Select {
        to: Operand,
        index: Operand,
        table: Table,
    },
    Jump {
        to: Address,
    },
    JumpIfZero {
        bit: Operand,
        to: Address,
    },
    JumpIfOne {
        bit: Operand,
        to: Address,
    },
    JumpIfEqual {
        left: Operand,
        right: Operand,
        to: Address,
    },
    JumpIfDifferent {
        left: Operand,
        right: Operand,
        to: Address,
    },
    Accesses {
        count: u32,
    },
    Pause {
        at: Location,
    },
    RespondUpdate {
        value: Operand,
    },
    RespondScan {
        at: [Operand; 2],
        foreign: Operand,
    },
    Fault {
        index: u32,
    },
    /// The condition of a reaction does not hold.
    Decline,
}

/// A part of [`Code::tables`].
#[derive(Clone, Copy, Debug)]
struct Table {
    begin: u32,
    length: u16,
}

/// What a process begins.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Entry {
    /// An update.
    Update,
    /// A scan.
    Scan,
    /// The step of the location that it stands at.
    Step(Location),
}

impl Code {
    /// A machine for this code, its state registers all 0.
    pub fn machine(&self) -> RegisterMachine {
        let mut registers = vec![0; self.variables + self.temporaries];
        registers.extend_from_slice(&self.constants);
        RegisterMachine::new(registers, self.variables)
    }

    /// Runs one step of a process.
    ///
    /// # Panics
    /// If the process has no such step: idle processes must invoke something.
    #[inline]
    pub fn run(&self, process: Process, entry: Entry, machine: &mut RegisterMachine) -> Ending {
        machine.run(self, self.address(process, entry))
    }

    #[inline]
    fn address(&self, process: Process, entry: Entry) -> Address {
        let entries = &self.graphs[process.index()];
        match entry {
            Entry::Update => entries.update,
            Entry::Scan => entries.scan,
            Entry::Step(location) => match entries.steps[location.index()] {
                Some(address) => address,
                None => panic!("p{process} stands at a location without step: {location:?}"),
            },
        }
    }

    /// What an `Element` operation chooses from.
    #[inline]
    fn elements(&self, table: Table) -> &[Operand] {
        &self.tables[table.begin as usize..][..usize::from(table.length)]
    }

    /// How many locations a process has.
    pub fn locations(&self, process: Process) -> usize {
        self.graphs[process.index()].steps.len()
    }

    /// Whether a process has a step at a location: everywhere but where it is idle.
    pub fn has_step(&self, process: Process, location: Location) -> bool {
        self.graphs[process.index()].steps[location.index()].is_some()
    }

    /// How many reactions a process has at a location.
    #[inline]
    pub fn reactions(&self, process: Process, location: Location) -> usize {
        self.graphs[process.index()].reactions[location.index()].len()
    }

    /// Runs a reaction, by number, if its condition holds; else nothing happens
    /// and the ending is [`Ending::Declined`].
    pub fn react(
        &self,
        process: Process,
        location: Location,
        number: usize,
        machine: &mut RegisterMachine,
    ) -> Ending {
        machine.run(self, self.graphs[process.index()].reactions[location.index()][number])
    }

    /// The fault with this index.
    pub fn fault(&self, index: u32) -> Fault {
        self.faults[index as usize]
    }
}
