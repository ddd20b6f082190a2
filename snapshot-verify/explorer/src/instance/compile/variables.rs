//! The uses of locals in a procedure.

use std::collections::BTreeSet;

use crate::program::{
    Expression, ExpressionKind, LocalId, Place, Procedure, Root, Statement, StatementKind,
};

/// The uses of locals in a procedure.
#[derive(Default)]
pub(super) struct Variables {
    /// Locals that statements assign to.
    pub(super) assigned: BTreeSet<LocalId>,
    /// Locals that run through indices: their values are known at compile time.
    pub(super) indices: BTreeSet<LocalId>,
}

impl Variables {
    /// Collects the uses in all statements of the procedure.
    pub(super) fn new(procedure: &Procedure) -> Self {
        let mut variables = Self::default();
        procedure.body.iter().for_each(|statement| variables.statement(statement));
        variables
    }

    fn statement(&mut self, statement: &Statement) {
        match &statement.kind {
            StatementKind::Assign { place, value } => {
                self.place(place);
                self.expression(value);
            }
            StatementKind::Access { access, into } => {
                into.iter().for_each(|place| self.place(place));
                access.operands().into_iter().for_each(|operand| self.expression(operand));
            }
            StatementKind::Call { arguments, into, .. } => {
                into.iter().for_each(|place| self.place(place));
                arguments.iter().for_each(|argument| self.expression(argument));
            }
            StatementKind::If { condition, then, otherwise } => {
                self.expression(condition);
                then.iter().chain(otherwise).for_each(|statement| self.statement(statement));
            }
            StatementKind::For { variable, except, body, .. } => {
                self.indices.insert(*variable);
                except.iter().for_each(|except| self.expression(except));
                body.iter().for_each(|statement| self.statement(statement));
            }
            StatementKind::Loop { body } | StatementKind::Atomic(body) => {
                body.iter().for_each(|statement| self.statement(statement));
            }
            StatementKind::Return(value) => {
                value.iter().for_each(|value| self.expression(value));
            }
            StatementKind::New { .. }
            | StatementKind::Free(_)
            | StatementKind::Choose { .. }
            | StatementKind::Together
            | StatementKind::Point(_)
            | StatementKind::Break => {}
        }
    }

    fn place(&mut self, place: &Place) {
        if let Root::Local(local) = place.root {
            self.assigned.insert(local);
        }
        place.indices().for_each(|index| self.expression(index));
    }

    fn expression(&mut self, expression: &Expression) {
        match &expression.kind {
            ExpressionKind::Each { variable, .. } | ExpressionKind::Quantified { variable, .. } => {
                self.indices.insert(*variable);
            }
            _ => {}
        }
        expression.operands().into_iter().for_each(|operand| self.expression(operand));
    }
}
