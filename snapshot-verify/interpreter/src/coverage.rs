//! Statements of the text that some executions execute.
//!
//! Coverage counts statements with an effect: assignments, accesses, calls, `exit`, `return`.
//! Control flow (`if`, loops, the conditions of loops) shows in the statements it leads to.

use std::collections::BTreeMap;

use super::machine::Machine;
use crate::language::Span;
use crate::program::ProcedureId;

/// Executed statements of one [`Machine`].
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Coverage {
    /// True if executed, per procedure and instruction.
    executed: Vec<Vec<bool>>,
}

impl Coverage {
    /// Records the execution of this instruction.
    pub(super) fn add(&mut self, procedure: ProcedureId, instruction: usize) {
        self.executed[procedure.0 as usize][instruction] = true;
    }
}

impl Machine<'_> {
    pub fn no_coverage(&self) -> Coverage {
        let none = self.code.iter().map(|code| vec![false; code.instructions.len()]);
        Coverage { executed: none.collect() }
    }

    /// Returns the statements of the text in its order, each with whether it was executed.
    ///
    /// # Panics
    /// If the coverage belongs to another program.
    pub fn statements(&self, coverage: &Coverage) -> Vec<(Span, bool)> {
        // A statement may have several instructions; any of them executes it.
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
