//! The steps of an instance as flat code over registers.
//!
//! Blocks and terms are trees, easy to transform but slow to walk. Before a search they are
//! compiled to straight runs of small operations with resolved operands. Every operand is a
//! register: behind the registers of the state ([`crate::search::layout::Registers`]) there are
//! registers for temporary results and one per constant. The frequent shapes, a move and a branch
//! on an equality, are one operation each.
//!
//! While code runs, each written state register is recorded, so that a caller can undo the step and
//! pack only the changed registers.

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

/// The compiled steps of all processes.
#[derive(Clone, Debug)]
pub struct Code {
    operations: Vec<Operation>,
    /// The operands from which `Element` operations choose, one table after the other.
    tables: Vec<Operand>,
    /// The number of state registers; they come first.
    variables: usize,
    /// The number of temporary registers that follow.
    temporaries: usize,
    /// The constant contents of the remaining registers.
    constants: Vec<Scalar>,
    /// The first version that no canonical state contains.
    first_fresh: Scalar,
    faults: Vec<Fault>,
    graphs: Vec<Entries>,
}

/// The entry addresses of one process.
#[derive(Clone, Debug)]
struct Entries {
    update: Address,
    scan: Address,
    /// By location; `None` at the idle location.
    steps: Vec<Option<Address>>,
    /// By location.
    reactions: Vec<Vec<Address>>,
}

/// A place where the program faults.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Fault {
    pub span: Span,
    pub what: &'static str,
}

/// One operation. Only `Assign` and `AssignElement` write registers of the state; `to` of all
/// others is a temporary.
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

/// A range of [`Code::tables`].
#[derive(Clone, Copy, Debug)]
struct Table {
    begin: u32,
    length: u16,
}

/// The entry points of a process.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Entry {
    Update,
    Scan,
    /// The step at the process's current location.
    Step(Location),
}

impl Code {
    /// Creates a machine for this code with all state registers 0.
    pub fn machine(&self) -> RegisterMachine {
        let mut registers = vec![0; self.variables + self.temporaries];
        registers.extend_from_slice(&self.constants);
        RegisterMachine::new(registers, self.variables)
    }

    /// Runs one step of a process.
    ///
    /// # Panics
    /// If the process has no such step: idle processes must invoke an operation.
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

    /// Returns the operands of a table.
    #[inline]
    fn elements(&self, table: Table) -> &[Operand] {
        &self.tables[table.begin as usize..][..usize::from(table.length)]
    }

    /// Returns the number of locations of a process.
    pub fn locations(&self, process: Process) -> usize {
        self.graphs[process.index()].steps.len()
    }

    /// Returns true if a process has a step at a location: everywhere except at the idle location.
    pub fn has_step(&self, process: Process, location: Location) -> bool {
        self.graphs[process.index()].steps[location.index()].is_some()
    }

    /// Returns the number of reactions of a process at a location.
    #[inline]
    pub fn reactions(&self, process: Process, location: Location) -> usize {
        self.graphs[process.index()].reactions[location.index()].len()
    }

    /// Runs a reaction, by number, if its condition holds. Otherwise nothing happens and the ending
    /// is [`Ending::Declined`].
    pub fn react(
        &self,
        process: Process,
        location: Location,
        number: usize,
        machine: &mut RegisterMachine,
    ) -> Ending {
        machine.run(self, self.graphs[process.index()].reactions[location.index()][number])
    }

    /// Returns the fault with this index.
    pub fn fault(&self, index: u32) -> Fault {
        self.faults[index as usize]
    }
}
