//! Objects that a text declares: what their operations do, one at a time.

use super::{ProcedureId, Program, Type};
use crate::language::Span;

/// An index into [`Object::operations`].
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct OperationId(pub u16);

/// An object: its states, and what operations do to them.
///
/// Its specification is a program without shared memory: its private variables are the
/// state, and each operation is a procedure that runs from its begin to its end at one
/// instant, as the process that executes it.
#[derive(Clone, Debug)]
pub struct Object {
    /// As declared.
    pub name: String,
    /// Where it is declared.
    pub span: Span,
    /// What the operations do.
    pub specification: Program,
    /// At least one.
    pub operations: Vec<Operation>,
}

/// An operation of an object.
#[derive(Clone, Debug)]
pub struct Operation {
    /// The procedure of the algorithm that implements it.
    pub procedure: ProcedureId,
    /// The procedure of the specification that says what it does.
    pub effect: ProcedureId,
    /// The procedure of the specification, with the same parameters, that says whether it may
    /// be begun; always if there is none.
    pub when: Option<ProcedureId>,
    /// The procedure of the specification, with the same parameters, that says whether it may
    /// take effect; always if there is none. Until then it waits.
    pub awaits: Option<ProcedureId>,
    /// The processes that may begin it.
    pub by: By,
    /// Whether others may take effect together with it: its effect has a
    /// [`Together`](super::StatementKind::Together).
    pub together: bool,
}

/// The processes that may begin an operation.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum By {
    /// All of them.
    All,
    /// The one with this number.
    Process(u32),
    /// All but those with these numbers.
    Except(Vec<u32>),
}

impl By {
    /// Whether it is this process, by number.
    pub fn includes(&self, process: usize) -> bool {
        let is_it = |number: &u32| *number as usize == process;
        match self {
            Self::All => true,
            Self::Process(number) => is_it(number),
            Self::Except(numbers) => !numbers.iter().any(is_it),
        }
    }
}

impl Object {
    /// The most operations.
    pub const MOST_OPERATIONS: usize = 32;
    /// The most parameters of an operation.
    pub const MOST_PARAMETERS: usize = 3;

    /// Whether operations may take effect together.
    pub fn has_blocks(&self) -> bool {
        self.operations.iter().any(|operation| operation.together)
    }

    /// Whether operations are given values.
    pub fn takes_values(&self) -> bool {
        self.operations.iter().any(|operation| {
            let effect = self.specification.procedure(operation.effect);
            let mut given = effect.locals[..effect.parameters].iter();
            given.any(|local| local.content.any(&|part| *part == Type::Value))
        })
    }

    /// The operation with this id.
    pub fn operation(&self, id: OperationId) -> &Operation {
        &self.operations[id.0 as usize]
    }

    /// The name of an operation.
    pub fn name_of(&self, id: OperationId) -> &str {
        &self.specification.procedure(self.operation(id).effect).name
    }

    /// The names of its operations, by their ids.
    pub fn names(&self) -> Vec<String> {
        let ids = (0..self.operations.len() as u16).map(OperationId);
        ids.map(|id| self.name_of(id).to_owned()).collect()
    }

    /// The operation with this name, if there is one.
    pub fn find(&self, name: &str) -> Option<OperationId> {
        let ids = (0..self.operations.len() as u16).map(OperationId);
        ids.into_iter().find(|id| self.name_of(*id) == name)
    }
}

impl Program {
    /// The names of the operations of the object that it declares, by their ids; none if it
    /// declares no object.
    pub fn operation_names(&self) -> Vec<String> {
        self.object().map(Object::names).unwrap_or_default()
    }
}
