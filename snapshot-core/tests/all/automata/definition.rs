//! Linearizability by its definition (Definition 1 of the paper), by trying
//! all orders. Knows operations and intervals, but no theorem.

use snapshot_core::simple::{Letter, Symbol};

/// The kind of an operation, with its returned values if complete.
#[derive(Clone, Copy)]
pub enum Kind {
    Scan { returned: Option<[bool; 2]>, foreign: bool },
    Update { segment: usize, value: bool },
    Other,
}

/// An operation as an interval of positions.
#[derive(Clone, Copy)]
pub struct Operation {
    pub kind: Kind,
    pub invocation: usize,
    pub response: Option<usize>,
}

impl Operation {
    pub fn precedes(&self, other: &Self) -> bool {
        self.response.is_some_and(|response| response < other.invocation)
    }
}

/// The operations of a well-formed word, in the order of their invocations.
pub fn operations(word: &[Letter]) -> Vec<Operation> {
    let mut operations: Vec<Operation> = Vec::new();
    let mut open = std::collections::HashMap::new();
    for (position, letter) in word.iter().enumerate() {
        let kind = match letter.symbol() {
            Symbol::InvokeScan => Kind::Scan { returned: None, foreign: false },
            Symbol::InvokeUpdate { segment, value } => {
                Kind::Update { segment: segment.index(), value }
            }
            Symbol::InvokeOther => Kind::Other,
            response => {
                let operation: &mut Operation = &mut operations[open[&letter.process()]];
                operation.response = Some(position);
                match response {
                    Symbol::RespondScan { at_i, at_j } => {
                        operation.kind =
                            Kind::Scan { returned: Some([at_i, at_j]), foreign: false };
                    }
                    Symbol::RespondForeign => {
                        operation.kind = Kind::Scan { returned: None, foreign: true };
                    }
                    _ => {}
                }
                continue;
            }
        };
        open.insert(letter.process(), operations.len());
        operations.push(Operation { kind, invocation: position, response: None });
    }
    operations
}

/// Returns true if some order of the operations explains the word.
pub fn is_linearizable(word: &[Letter]) -> bool {
    let mut operations = operations(word);
    operations.retain(|operation| match operation.kind {
        Kind::Scan { .. } => operation.response.is_some(),
        Kind::Update { .. } => true,
        Kind::Other => false,
    });
    search(&operations, 0, [false; 2])
}

/// Returns true if the operations outside `done` can follow, from the current values.
fn search(operations: &[Operation], done: u32, held: [bool; 2]) -> bool {
    let missing = |index: usize| done >> index & 1 == 0;
    let complete = |index: usize| operations[index].response.is_some();
    if !(0..operations.len()).any(|index| missing(index) && complete(index)) {
        return true;
    }
    (0..operations.len()).filter(|&index| missing(index)).any(|index| {
        let next = &operations[index];
        let waits =
            (0..operations.len()).any(|other| missing(other) && operations[other].precedes(next));
        let mut held = held;
        let fits = match next.kind {
            Kind::Scan { returned, .. } => returned == Some(held),
            Kind::Update { segment, value } => {
                held[segment] = value;
                true
            }
            Kind::Other => true,
        };
        !waits && fits && search(operations, done | 1 << index, held)
    })
}
