//! The interpreter's instructions, with places and expressions resolved.

use snapshot_language::program::{Access, CellPlace, Place, Projection, Root, Type};
use snapshot_semantics::interpret::code::{self, Instruction};

use super::expressions::Scope;
use super::layout::over;
use crate::model::{Act, Cell, For, Step, Target, Unsupported};
use crate::shape::Shape;

impl Scope<'_> {
    /// Returns an instruction of a procedure whose first instruction has this number.
    pub(super) fn act(
        &self,
        instruction: &Instruction<'_>,
        begin: usize,
    ) -> Result<Act, Unsupported> {
        let into = instruction.into().map(|place| self.target(place)).transpose()?;
        Ok(match *instruction {
            Instruction::Assign { place, value } => {
                Act::Assign(self.target(place)?, self.term(value)?)
            }
            Instruction::Access { access, .. } => match access {
                Access::Read(place) => Act::Read(self.cell(place)?, into),
                Access::Write(place, value) => Act::Write(self.cell(place)?, self.term(value)?),
                Access::CompareAndSwap(place, old, new) => {
                    Act::Swap(self.cell(place)?, self.term(old)?, self.term(new)?, into)
                }
                Access::LoadLinked(place) => Act::LoadLinked(self.cell(place)?, into),
                Access::StoreConditional(place, value) => {
                    Act::StoreConditional(self.cell(place)?, self.term(value)?, into)
                }
                Access::Validate(place) => Act::Validate(self.cell(place)?, into),
            },
            Instruction::Call { procedure, arguments, .. } => {
                Act::Call(procedure, self.terms(arguments)?, into)
            }
            Instruction::Unless { condition, target } => {
                Act::Unless(self.term(condition)?, begin + target)
            }
            Instruction::Jump { target } => Act::Jump(begin + target),
            Instruction::BeginFor(this) => Act::Begin(self.round(&this, begin)?),
            Instruction::NextFor(this) => Act::Next(self.round(&this, begin)?),
            Instruction::Return { result } => {
                Act::Return(result.map(|result| self.term(result)).transpose()?)
            }
            Instruction::BeginAtomic { .. } => Act::Atomic,
            Instruction::EndAtomic | Instruction::Point { .. } => Act::EndAtomic,
            Instruction::New { .. }
            | Instruction::Free { .. }
            | Instruction::Choose { .. }
            | Instruction::Together { .. } => {
                unreachable!(
                    "only objects have nodes, choices and blocks, and they are not compiled"
                )
            }
        })
    }

    fn round(&self, this: &code::For<'_>, begin: usize) -> Result<For, Unsupported> {
        Ok(For {
            variable: self.room(this.variable).base,
            over: over(this.over),
            except: this.except.map(|except| self.term(except)).transpose()?,
            merged: Default::default(),
            body: begin + this.body,
            end: begin + this.end,
        })
    }

    fn cell(&self, place: &CellPlace) -> Result<Cell, Unsupported> {
        let variable = self.program.shared(place.variable);
        let sets = variable.dimensions.iter().map(|set| over(*set));
        let indices =
            sets.zip(&place.indices).map(|(over, index)| Ok((over, self.index(index, over)?)));
        let indices = indices.collect::<Result<_, Unsupported>>()?;
        let shape = self.shape(&variable.content);
        Ok(Cell { variable: place.variable, indices, shape })
    }

    fn target(&self, place: &Place) -> Result<Target, Unsupported> {
        let (room, mut content, local, private) = match place.root {
            Root::Local(id) => {
                let procedure = self.program.procedure(self.procedure);
                (self.room(id), &procedure.local(id).content, Some(id), None)
            }
            Root::Private(id) => {
                let room = self.model.private[id.0 as usize].clone();
                (room, &self.program.private(id).content, None, Some(id))
            }
        };
        let mut path = Vec::new();
        let mut in_token = false;
        for projection in &place.path {
            if in_token {
                // A value that is unsupported as a whole has no parts.
                if let Projection::Index(index) = projection {
                    path.extend(self.fallible(&[index])?.into_iter().map(Step::Passed));
                }
                continue;
            }
            let shape = self.shape(content);
            match (projection, content) {
                (Projection::Field(position), Type::Record(fields)) => {
                    path.push(Step::Field(shape.field(*position).0));
                    content = &fields[*position].content;
                }
                (Projection::Index(index), Type::Array { index: set, element }) => {
                    match shape {
                        Shape::Leaf(_) => {
                            in_token = true;
                            path.extend(self.fallible(&[index])?.into_iter().map(Step::Passed));
                        }
                        _ => {
                            let (over, size) = (over(*set), self.shape(element).size());
                            path.push(Step::Element(self.index(index, over)?, over, size));
                        }
                    }
                    content = element;
                }
                _ => unreachable!("a well-typed path leads through arrays and records"),
            }
        }
        let size = if in_token { 1 } else { self.shape(content).size() };
        Ok(Target { room, path, size, local, private, in_token })
    }
}
