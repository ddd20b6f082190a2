//! What a procedure does with its locals.

use std::collections::BTreeSet;

use crate::program::{
    Access, CellPlace, Expression, ExpressionKind, LocalId, Place, Procedure, Projection, Root,
    Statement, StatementKind,
};

/// What a procedure does with its locals.
#[derive(Default)]
pub(super) struct Variables {
    /// Those that statements assign to.
    pub(super) assigned: BTreeSet<LocalId>,
    /// Those that run through indices: known wherever they occur.
    pub(super) indices: BTreeSet<LocalId>,
}

impl Variables {
    /// All statements of the procedure are looked at.
    pub(super) fn of(procedure: &Procedure) -> Self {
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
                expressions(access).into_iter().for_each(|operand| self.expression(operand));
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
            StatementKind::Break => {}
        }
    }

    fn place(&mut self, place: &Place) {
        if let Root::Local(local) = place.root {
            self.assigned.insert(local);
        }
        for projection in &place.path {
            if let Projection::Index(index) = projection {
                self.expression(index);
            }
        }
    }

    fn expression(&mut self, expression: &Expression) {
        match &expression.kind {
            ExpressionKind::Each { variable, .. } | ExpressionKind::Quantified { variable, .. } => {
                self.indices.insert(*variable);
            }
            _ => {}
        }
        operands(expression).into_iter().for_each(|operand| self.expression(operand));
    }
}

/// The cell that an access goes to.
pub(super) const fn cell(access: &Access) -> &CellPlace {
    let (Access::Read(cell)
    | Access::Write(cell, _)
    | Access::LoadLinked(cell)
    | Access::StoreConditional(cell, _)
    | Access::Validate(cell)
    | Access::CompareAndSwap(cell, ..)) = access;
    cell
}

/// The indices and operands of an access.
fn expressions(access: &Access) -> Vec<&Expression> {
    let mut expressions: Vec<&Expression> = cell(access).indices.iter().collect();
    match access {
        Access::Read(_) | Access::LoadLinked(_) | Access::Validate(_) => {}
        Access::Write(_, value) | Access::StoreConditional(_, value) => expressions.push(value),
        Access::CompareAndSwap(_, old, new) => expressions.extend([old, new]),
    }
    expressions
}

/// What an expression is computed from.
fn operands(expression: &Expression) -> Vec<&Expression> {
    match &expression.kind {
        ExpressionKind::Bool(_)
        | ExpressionKind::Integer(_)
        | ExpressionKind::Process(_)
        | ExpressionKind::Segment(_)
        | ExpressionKind::None
        | ExpressionKind::InitialValue
        | ExpressionKind::FirstVersion
        | ExpressionKind::Counter(_)
        | ExpressionKind::Me
        | ExpressionKind::Local(_)
        | ExpressionKind::Private(_)
        | ExpressionKind::Fresh => Vec::new(),
        ExpressionKind::Convert(operand)
        | ExpressionKind::Checked(operand)
        | ExpressionKind::Field(operand, _)
        | ExpressionKind::Some(operand)
        | ExpressionKind::Unwrap(operand)
        | ExpressionKind::Filled(operand)
        | ExpressionKind::Not(operand)
        | ExpressionKind::Successor(operand)
        | ExpressionKind::Remainder(operand, _)
        | ExpressionKind::Each { body: operand, .. } => vec![operand],
        ExpressionKind::Index(a, b) | ExpressionKind::Binary(_, a, b) => vec![a, b],
        ExpressionKind::If(a, b, c) => vec![a, b, c],
        ExpressionKind::Record(fields) => fields.iter().collect(),
        ExpressionKind::With(record, fields) => {
            let fields = fields.iter().map(|(_, field)| field);
            std::iter::once(&**record).chain(fields).collect()
        }
        ExpressionKind::Quantified { except, body, .. } => {
            except.as_deref().into_iter().chain([&**body]).collect()
        }
    }
}
