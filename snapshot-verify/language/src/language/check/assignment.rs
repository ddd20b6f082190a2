//! Assignments: to variables and their parts, to cells, and from records to several places.

use super::body::Body;
use super::globals;
use super::result::{assign, deliver, whole};
use super::target::Target;
use crate::language::Span;
use crate::language::diagnostic::types::{call_within, described, no_fields};
use crate::language::diagnostic::{Parsed, message};
use crate::language::tree::{self, ExpressionKind as Written, Name};
use crate::program::{Access, Binary, Expression, ExpressionKind, Place, StatementKind, Type};

impl Body<'_> {
    pub fn assign(
        &mut self,
        place: &tree::Expression,
        value: &tree::Expression,
        span: Span,
    ) -> Parsed<()> {
        if let Written::New(name, fields) = &value.kind {
            let made = self.assign_node(place, (name, fields), value.span, span);
            if let (Err(_), Written::Variable(name)) = (&made, &place.kind)
                && self.meaning(name).is_none()
            {
                self.declare_broken(name);
            }
            return made;
        }
        let target = self.target(place);
        match target {
            Ok(Target::Place(place, content)) => self.assign_place(place, content, value, span),
            Ok(Target::Cell(cell, content)) => {
                self.no_call_into_cell(value)?;
                let value = self.expect_type(value, &content)?;
                self.spend(cell.span)?;
                self.push(
                    StatementKind::Access { access: Access::Write(cell, value), into: None },
                    span,
                );
                Ok(())
            }
            Ok(Target::PartOfCell(cell, path, content)) => {
                self.no_call_into_cell(value)?;
                let value = self.expect_type(value, &content)?;
                self.write_part(cell, path, value, span)
            }
            Ok(Target::New(name)) => {
                let declared = self.assign_new(&name, value, span);
                if declared.is_err() {
                    self.declare_broken(&name.text);
                }
                declared
            }
            Err(reported) => {
                // Looks for further errors. Types of records depend on the place, which is unknown.
                let since = self.reporter.len();
                let _ = self.apart(|body| body.expression(value, None));
                self.reporter.retract_tentative(since);
                Err(reported)
            }
        }
    }

    fn no_call_into_cell(&mut self, value: &tree::Expression) -> Parsed<()> {
        if self.called(value).is_some()
            && let Written::Call(..) = &value.kind
        {
            return Err(self.report(call_within(), value.span));
        }
        Ok(())
    }

    fn assign_place(
        &mut self,
        place: Place,
        content: Type,
        value: &tree::Expression,
        span: Span,
    ) -> Parsed<()> {
        let value = match self.called(value) {
            Some(procedure) => self.call_for_result(procedure, value, span)?,
            None => self.expect_type(value, &content)?,
        };
        let value = self.coerce(value, &content)?;
        let made = self.release_last(&value);
        self.deliver_last(made, value, place, span);
        Ok(())
    }

    fn assign_new(&mut self, name: &Name, value: &tree::Expression, span: Span) -> Parsed<()> {
        let value = match self.called(value) {
            Some(procedure) => self.call_for_result(procedure, value, span)?,
            None => self.expression(value, None)?,
        };
        if matches!(value.content, Type::Integer { .. }) && is_computed(&value.kind) {
            let (name, found) = (name.text.clone(), value.content);
            let message = message!(
                "unknown-range",
                "the range of `{name}` does not follow from {}",
                described(&found)
            )
            .label("expected something whose range is declared")
            .help(format!("declare it at the top of the procedure: `local {name}: 0..9`, say"));
            return Err(self.report(message, value.span));
        }
        let content = value.content.clone();
        let made = self.release_last(&value);
        let initial = globals::default(&content, name.span);
        let id = self.declare(name, content, initial, false)?;
        self.deliver_last(made, value, whole(id), span);
        Ok(())
    }

    /// Delivers a value after the statements made so far. The last of them gets this span.
    fn deliver_last(&mut self, made: bool, value: Expression, place: Place, span: Span) {
        deliver(&mut self.block, made, value, place);
        if let Some(last) = self.block.last_mut() {
            last.span = span;
        }
    }

    fn release_last(&mut self, value: &Expression) -> bool {
        let block = std::mem::take(&mut self.block);
        let made = self.release(&block, value);
        self.block = block;
        made
    }

    pub fn take_apart(
        &mut self,
        places: &[Option<tree::Expression>],
        value: &tree::Expression,
        span: Span,
    ) -> Parsed<()> {
        let taken = self.taken_apart(places, value, span);
        if taken.is_err() {
            for place in places.iter().flatten() {
                if let Written::Variable(name) = &place.kind
                    && self.meaning(name).is_none()
                {
                    self.declare_broken(name);
                }
            }
        }
        taken
    }

    fn taken_apart(
        &mut self,
        places: &[Option<tree::Expression>],
        value: &tree::Expression,
        span: Span,
    ) -> Parsed<()> {
        let value = match self.called(value) {
            Some(procedure) => self.call_for_result(procedure, value, span)?,
            None => self.expression(value, None)?,
        };
        let Type::Record(fields) = value.content.clone() else {
            return Err(self.report(no_fields(&value.content), value.span));
        };
        if fields.len() != places.len() {
            let (expected, found) = (fields.len(), places.len());
            let message = message!(
                "place-count",
                "a record of {expected} fields is taken apart into {found}"
            )
            .label(format!("expected `{}`", value.content))
            .help("use `_` for components that are not needed");
            return Err(self.report(message, span));
        }
        let whole_value = match value.kind {
            ExpressionKind::Local(id) if self.local(id).hidden => id,
            _ => {
                let kept = self.hidden(value.content.clone(), value.span);
                self.block.push(assign(whole(kept), value));
                kept
            }
        };
        for (position, (place, field)) in places.iter().zip(&fields).enumerate() {
            let Some(written) = place else { continue };
            let (place, content) = match self.target(written)? {
                Target::Place(place, content) => (place, content),
                Target::Cell(..) | Target::PartOfCell(..) => {
                    let message = message!(
                        "shared-target",
                        "several shared variables are assigned in one step"
                    )
                    .help("take it apart into locals, then assign them one by one");
                    return Err(self.report(message, written.span));
                }
                Target::New(name) => {
                    let initial = globals::default(&field.content, name.span);
                    let id = self.declare(&name, field.content.clone(), initial, false)?;
                    (whole(id), field.content.clone())
                }
            };
            let record = Box::new(self.read(whole_value, written.span));
            let component = Expression {
                kind: ExpressionKind::Field(record, position),
                content: field.content.clone(),
                span: written.span,
            };
            let component = self.coerce(component, &content)?;
            self.push(StatementKind::Assign { place, value: component }, span);
        }
        Ok(())
    }
}

/// Returns true if the range of a number results from its computation instead of a declaration.
fn is_computed(kind: &ExpressionKind) -> bool {
    match kind {
        ExpressionKind::Integer(_) | ExpressionKind::NumberOf(_) | ExpressionKind::Quotient(..) => {
            true
        }
        ExpressionKind::Binary(operator, ..) => {
            matches!(operator, Binary::Add | Binary::Subtract)
        }
        ExpressionKind::If(_, then, otherwise) => {
            is_computed(&then.kind) || is_computed(&otherwise.kind)
        }
        _ => false,
    }
}
