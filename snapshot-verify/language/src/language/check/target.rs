//! Targets of assignments.

use super::access;
use super::body::{Body, Meaning};
use super::globals::Global;
use super::result::whole;
use crate::language::diagnostic::types::{initial_node_outside, no_elements};
use crate::language::diagnostic::{Parsed, message};
use crate::language::tree::{self, ExpressionKind as Written, Name};
use crate::program::{CellPlace, Place, Projection, Root, Type};

#[derive(Clone)]
pub(super) enum Target {
    Place(Place, Type),
    Cell(CellPlace, Type),
    /// A part of a cell's content, with its type.
    PartOfCell(CellPlace, Vec<Projection>, Type),
    /// A name that the assignment declares.
    New(Name),
}

impl Body<'_> {
    /// Resolves the target of an assignment.
    pub fn target(&mut self, written: &tree::Expression) -> Parsed<Target> {
        match &written.kind {
            Written::Variable(name) => match self.meaning(name) {
                None if self.is_broken(name) => Err(self.reporter.already()),
                None => Ok(Target::New(Name { text: name.clone(), span: written.span })),
                Some(Meaning::Local(visible)) if visible.index => {
                    let message = message!(
                        "assigned-index",
                        "`{name}` runs through the indices and cannot be assigned to"
                    )
                    .help("use another variable");
                    Err(self.report(message, written.span))
                }
                Some(Meaning::Local(visible)) => {
                    let content = self.local(visible.id).content.clone();
                    Ok(Target::Place(whole(visible.id), content))
                }
                Some(Meaning::Global(Global::Private(id))) => {
                    let content = self.globals.private[id.0 as usize].content.clone();
                    Ok(Target::Place(Place { root: Root::Private(id), path: Vec::new() }, content))
                }
                Some(Meaning::Global(Global::Shared(id))) => {
                    let cell = self.cell(id, &[], written.span)?;
                    let content = self.globals.shared[id.0 as usize].content.clone();
                    Ok(Target::Cell(cell, content))
                }
                Some(Meaning::Global(Global::InitialNode(_))) => {
                    Err(self.report(initial_node_outside(name), written.span))
                }
                Some(Meaning::Global(Global::Broken)) => Err(self.reporter.already()),
            },
            Written::Index(array, index) => {
                let (root, indices) = access::unindexed(written);
                if let Written::Variable(name) = &root.kind
                    && let Some(Meaning::Global(Global::Shared(id))) = self.meaning(name)
                {
                    let dimensions = self.globals.shared[id.0 as usize].dimensions.len();
                    if indices.len() <= dimensions {
                        let cell = self.cell(id, &indices, written.span)?;
                        let content = self.globals.shared[id.0 as usize].content.clone();
                        return Ok(Target::Cell(cell, content));
                    }
                }
                let (whole, content) = self.whole(array, written)?;
                let Type::Array { index: over, element } = content else {
                    return Err(self.report(no_elements(&content), array.span));
                };
                let index = self.expect_type(index, &over.index_type())?;
                Ok(whole.part(Projection::Index(index), *element))
            }
            Written::Field(record, name) => {
                let target = self.target(record)?;
                if let Some(pointer) = self.held(target.clone(), record.span)?
                    && let Some((cell, content)) = self.field_cell(&pointer, name, written.span)?
                {
                    return Ok(Target::Cell(cell, content));
                }
                let (whole, content) = self.whole_of(target, written)?;
                let (position, content) = self.field_of(&content, name, record.span)?;
                Ok(whole.part(Projection::Field(position), content))
            }
            _ => {
                let what = self.source.slice(written.span).to_owned();
                let message = message!("not-a-place", "`{what}` cannot be assigned to")
                    .help("assign to a variable, or to an element or field of one");
                Err(self.report(message, written.span))
            }
        }
    }

    /// Returns the whole that contains the target, and its type.
    fn whole(
        &mut self,
        written: &tree::Expression,
        of: &tree::Expression,
    ) -> Parsed<(Whole, Type)> {
        let target = self.target(written)?;
        self.whole_of(target, of)
    }

    fn whole_of(&mut self, target: Target, of: &tree::Expression) -> Parsed<(Whole, Type)> {
        match target {
            Target::Place(place, content) => Ok((Whole::Place(place), content)),
            Target::Cell(cell, content) => Ok((Whole::Cell(cell, Vec::new()), content)),
            Target::PartOfCell(cell, path, content) => Ok((Whole::Cell(cell, path), content)),
            Target::New(name) if matches!(of.kind, Written::Index(..)) => {
                Err(self.unknown_array(&name.text, name.span))
            }
            Target::New(name) => Err(self.unknown(&name.text, name.span)),
        }
    }
}

/// A whole with assignable parts.
enum Whole {
    Place(Place),
    Cell(CellPlace, Vec<Projection>),
}

impl Whole {
    fn part(self, projection: Projection, content: Type) -> Target {
        match self {
            Self::Place(mut place) => {
                place.path.push(projection);
                Target::Place(place, content)
            }
            Self::Cell(cell, mut path) => {
                path.push(projection);
                Target::PartOfCell(cell, path, content)
            }
        }
    }
}
