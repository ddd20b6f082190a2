//! Lists, which only objects support.

use super::body::Body;
use super::globals::Expected;
use crate::language::Span;
use crate::language::diagnostic::Parsed;
use crate::language::diagnostic::types::{list_outside_object, not_defined, unknown_shape};
use crate::language::tree::{self, Name};
use crate::program::{Bound, Expression, ExpressionKind, ListOperation, Type};

impl Body<'_> {
    /// Returns the operation on lists with this name, within an object.
    pub fn list_operation(&self, name: &Name) -> Option<ListOperation> {
        let is_object = matches!(self.globals.interface, Expected::Specification(_));
        let mut calls = ListOperation::CALLS.into_iter();
        calls.find(|call| is_object && call.name() == name.text)
    }

    /// Checks `[]`.
    pub fn empty_list(&mut self, expected: Option<&Type>, span: Span) -> Parsed<Expression> {
        match expected {
            Some(content @ Type::List(_)) => {
                let kind = ExpressionKind::List(ListOperation::Empty, Vec::new());
                Ok(Expression { kind, content: content.clone(), span })
            }
            Some(expected) if !matches!(self.globals.interface, Expected::Specification(_)) => {
                let _ = expected;
                Err(self.report(list_outside_object(), span))
            }
            _ => Err(self.report(unknown_shape("[]"), span)),
        }
    }

    /// Checks an operation on a list.
    pub fn list(
        &mut self,
        operation: ListOperation,
        written: &[tree::Expression],
        span: Span,
    ) -> Parsed<Expression> {
        let (count, at) = match operation {
            ListOperation::Prepend => (2, 1),
            ListOperation::Append => (2, 0),
            _ => (1, 0),
        };
        if written.len() != count {
            return Err(self.argument_count(operation.name(), count, written.len(), span));
        }
        let list = self.expression(&written[at], None)?;
        let Type::List(element) = list.content.clone() else {
            let (operator, found) = (operation.name(), list.content);
            return Err(self.report(not_defined(operator, &found), list.span));
        };
        let content = match operation {
            ListOperation::First => (*element).clone(),
            ListOperation::Length => {
                let high = Bound::constant(ListOperation::LONGEST as i32);
                Type::Integer { low: Bound::constant(0), high }
            }
            _ => list.content.clone(),
        };
        let mut operands = vec![list];
        if count == 2 {
            operands.push(self.expect_type(&written[1 - at], &element)?);
        }
        if at == 1 {
            operands.swap(0, 1);
        }
        Ok(Expression { kind: ExpressionKind::List(operation, operands), content, span })
    }
}
