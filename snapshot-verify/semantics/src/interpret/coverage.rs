//! Which statements of the text some executions execute.
//!
//! Counted are the statements that do something: assignments, accesses, calls,
//! `exit`, `return`. Of control (`if`, loops, the conditions of loops) it is enough to
//! know where it leads to.

use std::collections::BTreeMap;

use super::machine::Machine;
use crate::language::Span;
use crate::program::ProcedureId;

/// The statements that were executed, of one [`Machine`].
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Coverage {
    /// Per procedure and instruction.
    executed: Vec<Vec<bool>>,
}

impl Coverage {
    /// Notes that this instruction is executed.
    pub(super) fn add(&mut self, procedure: ProcedureId, instruction: usize) {
        self.executed[procedure.0 as usize][instruction] = true;
    }
}

impl Machine<'_> {
    /// Nothing executed yet.
    pub fn no_coverage(&self) -> Coverage {
        let none = self.code.iter().map(|code| vec![false; code.instructions.len()]);
        Coverage { executed: none.collect() }
    }

    /// The statements of the text in its order, each with whether it was executed.
    ///
    /// # Panics
    /// If the coverage is that of another program.
    pub fn statements(&self, coverage: &Coverage) -> Vec<(Span, bool)> {
        // A statement may be several instructions, and be executed by each of them.
        let mut statements: BTreeMap<Span, bool> = BTreeMap::new();
        for (code, executed) in self.code.iter().zip(&coverage.executed) {
            for (statement, executed) in code.statements.iter().zip(executed) {
                let Some(span) = *statement else { continue };
                *statements.entry(span).or_default() |= executed;
            }
        }
        statements.into_iter().collect()
    }
}
