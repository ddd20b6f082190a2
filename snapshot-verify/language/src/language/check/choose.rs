//! `PLACE := choose SET`.

use super::body::Body;
use super::globals::{self, Expected};
use super::target::Target;
use super::{result, types};
use crate::language::Span;
use crate::language::diagnostic::{DiagnosticKind, Parsed};
use crate::language::tree::{self, ExpressionKind as Written};
use crate::program::StatementKind;

impl Body<'_> {
    /// Any of a set that is known for each n goes into a local or private variable, or a part of one.
    pub fn choose(
        &mut self,
        place: &tree::Expression,
        over: &tree::Indices,
        span: Span,
    ) -> Parsed<()> {
        let chosen = self.chosen(place, over, span);
        if let (Err(_), Written::Variable(name)) = (&chosen, &place.kind)
            && self.meaning(name).is_none()
        {
            self.declare_broken(name);
        }
        chosen
    }

    fn chosen(&mut self, place: &tree::Expression, over: &tree::Indices, span: Span) -> Parsed<()> {
        match self.globals.interface {
            Expected::Operations(_) => {}
            Expected::Snapshot => return Err(self.report(DiagnosticKind::ChoiceOfSnapshot, span)),
            Expected::Specification(_) => {
                return Err(self.report(DiagnosticKind::ChoiceInObject, span));
            }
        }
        self.not_in_atomic(DiagnosticKind::ChoiceInAtomic, span)?;
        let indices = types::never_empty(over, self.reporter)?;
        let content = indices.index_type();
        match self.target(place)? {
            Target::New(name) => {
                let initial = globals::default(&content, name.span);
                let id = self.declare(&name, content, initial, false)?;
                self.push(StatementKind::Choose { over: indices, into: result::whole(id) }, span);
            }
            Target::Place(target, wanted) if wanted == content => {
                self.push(StatementKind::Choose { over: indices, into: target }, span);
            }
            Target::Place(target, wanted) => {
                let id = self.hidden(content, span);
                let into = result::whole(id);
                self.push(StatementKind::Choose { over: indices, into }, span);
                let value = self.read(id, span);
                let value = self.coerce(value, &wanted)?;
                self.push(StatementKind::Assign { place: target, value }, span);
            }
            Target::Cell(..) | Target::PartOfCell(..) => {
                return Err(self.report(DiagnosticKind::ChoiceIntoCell, place.span));
            }
        }
        Ok(())
    }
}
