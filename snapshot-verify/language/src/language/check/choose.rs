//! `PLACE := choose SET`.

use super::body::Body;
use super::globals::{self, Expected};
use super::target::Target;
use super::{result, types};
use crate::language::Span;
use crate::language::diagnostic::{Parsed, message};
use crate::language::tree::{self, ExpressionKind as Written};
use crate::program::StatementKind;

impl Body<'_> {
    /// Stores an element of a set that is known for each n in a local or private variable, or a
    /// part of one.
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
            Expected::Snapshot => {
                return Err(self.report(
                    message!("choice-of-snapshot", "a `choose` in an algorithm of snapshots").help(
                        "only algorithms of an `object` choose, which are checked by \
                         refinement: a snapshot, too, can be declared as one",
                    ),
                    span,
                ));
            }
            Expected::Specification(_) => {
                let message = message!("choice-in-object", "a `choose` in an object").help(
                    "what an operation does is determined by the state and its parameters: \
                     let the algorithm choose",
                );
                return Err(self.report(message, span));
            }
        }
        let message = message!("choice-in-atomic", "a `choose` in an atomic step")
            .help("choose before the block: a choice is a step of its own");
        self.not_in_atomic(message, span)?;
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
                let message = message!("choice-into-cell", "a `choose` into a shared cell")
                    .help("choose into a local first: `x := choose ...`; then write x");
                return Err(self.report(message, place.span));
            }
        }
        Ok(())
    }
}
