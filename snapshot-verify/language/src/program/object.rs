//! Objects that a text declares: their operations, one at a time.

use super::{ProcedureId, Program, Root, Statement, StatementKind, Type};
use crate::language::Span;

/// An index into [`Object::operations`].
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct OperationId(pub u16);

/// An object: its states, and the effects of its operations.
///
/// Its specification is a program without shared memory. The private variables are the state. Each
/// operation is a procedure that runs at one instant, as the process that executes it.
#[derive(Clone, Debug)]
pub struct Object {
    pub name: String,
    /// Span of the declaration.
    pub span: Span,
    /// Program of the effects of the operations.
    pub specification: Program,
    /// Operations; at least one.
    pub operations: Vec<Operation>,
}

#[derive(Clone, Debug)]
pub struct Operation {
    /// Procedure of the algorithm that implements it.
    pub procedure: ProcedureId,
    /// Procedure of the specification that computes its effect.
    pub effect: ProcedureId,
    /// Procedure of the specification, with the same parameters, that decides whether the operation
    /// may begin; `None`: always.
    pub when: Option<ProcedureId>,
    /// Procedure of the specification, with the same parameters, that decides whether the operation
    /// may take effect; `None`: always. Until then the operation waits.
    pub awaits: Option<ProcedureId>,
    /// Processes that may begin it.
    pub by: By,
    /// True if others may take effect together with it: its effect has a
    /// [`Together`](super::StatementKind::Together).
    pub together: bool,
}

/// Processes that may begin an operation.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum By {
    All,
    /// The process with this number.
    Process(u32),
    /// All processes but those with these numbers.
    Except(Vec<u32>),
}

impl By {
    /// Returns true if the process with this number may begin the operation.
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
    /// Name of the object of a text that declares none and whose `update` names its segment.
    pub const MULTI_WRITER_SNAPSHOT: &str = "multi_writer_snapshot";
    /// Most operations of an object.
    pub const MOST_OPERATIONS: usize = 32;
    /// Most parameters of an operation.
    pub const MOST_PARAMETERS: usize = 3;

    /// Returns true if operations may take effect together.
    pub fn has_blocks(&self) -> bool {
        self.operations.iter().any(|operation| operation.together)
    }

    /// Returns true if an operation may change the state: its effect assigns a `state` variable,
    /// even to the same content.
    pub fn changes(&self, id: OperationId) -> bool {
        let mut called = vec![self.operation(id).effect];
        let mut next = 0;
        let mut changes = false;
        while let Some(procedure) = called.get(next) {
            let body = &self.specification.procedure(*procedure).body;
            Statement::each(body, &mut |statement| {
                let place = statement.result();
                changes |= place.is_some_and(|place| matches!(place.root, Root::Private(_)));
                if let StatementKind::Call { procedure, .. } = statement.kind
                    && !called.contains(&procedure)
                {
                    called.push(procedure);
                }
            });
            next += 1;
        }
        changes
    }

    /// Returns true if an operation has a parameter with values.
    pub fn takes_values(&self) -> bool {
        self.operations.iter().any(|operation| {
            let effect = self.specification.procedure(operation.effect);
            let mut given = effect.locals[..effect.parameters].iter();
            given.any(|local| local.content.any(&|part| *part == Type::Value))
        })
    }

    pub fn operation(&self, id: OperationId) -> &Operation {
        &self.operations[id.0 as usize]
    }

    /// Returns the name of an operation.
    pub fn name_of(&self, id: OperationId) -> &str {
        &self.specification.procedure(self.operation(id).effect).name
    }

    /// Returns the names of the operations, by their ids.
    pub fn names(&self) -> Vec<String> {
        let ids = (0..self.operations.len() as u16).map(OperationId);
        ids.map(|id| self.name_of(id).to_owned()).collect()
    }

    pub fn find(&self, name: &str) -> Option<OperationId> {
        let ids = (0..self.operations.len() as u16).map(OperationId);
        ids.into_iter().find(|id| self.name_of(*id) == name)
    }
}

impl Program {
    /// Returns the names of the operations of the declared object, by their ids; empty without an
    /// object.
    pub fn operation_names(&self) -> Vec<String> {
        self.object().map(Object::names).unwrap_or_default()
    }
}
