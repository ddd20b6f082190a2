//! Names of operations in the order of their invocations: S1, S2, ... for scans, U1, U2, ... for
//! updates.

use snapshot_core::history::OperationKind;
use snapshot_core::{History, OperationId};

use crate::interpret::{Action, Execution};

#[derive(Clone, Debug)]
pub(super) struct Names {
    names: Vec<String>,
}

impl Names {
    pub fn new(history: &History<u32>) -> Self {
        let (mut scans, mut updates) = (0, 0);
        let name = |operation: &snapshot_core::history::Operation| {
            let (letter, count) = match operation.kind() {
                OperationKind::Scan => ('S', &mut scans),
                OperationKind::Update { .. } => ('U', &mut updates),
            };
            *count += 1;
            format!("{letter}{count}")
        };
        Self { names: history.operations().iter().map(name).collect() }
    }

    /// Names the operations of an execution, of a snapshot or of an object.
    pub fn of_execution(execution: &Execution) -> Self {
        let is_of_object = |action: &Action| matches!(action, Action::Begin { .. });
        match execution.events().any(|event| is_of_object(&event.action)) {
            true => Self::of_object(super::object::begun(execution)),
            false => Self::new(&execution.history()),
        }
    }

    /// Names operations of an object O1, O2, ...: the initials of their names may coincide.
    pub fn of_object(operations: usize) -> Self {
        Self { names: (1..=operations).map(|number| format!("O{number}")).collect() }
    }

    pub fn of_operation(&self, id: OperationId) -> String {
        self.names[id.index()].clone()
    }
}
