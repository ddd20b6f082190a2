//! Statements as instructions, with the interpreter's numbering: in sequence, control as jumps, one
//! `EndAtomic` per block on every path out of it.

use snapshot_language::Span;
use snapshot_language::program::{
    Access, CellPlace, Place, ProcedureId, Projection, Root, Statement, StatementKind, Type,
};

use super::expressions::Scope;
use super::layout::over;
use crate::model::{Act, Cell, For, Instruction, Step, Target, Unsupported};
use crate::shape::Shape;

/// Writer of the instructions of a procedure.
pub(super) struct Writer<'a> {
    pub(super) scope: Scope<'a>,
    pub(super) procedure: ProcedureId,
    /// Number of its first instruction.
    pub(super) begin: usize,
    pub(super) code: Vec<Instruction>,
    pub(super) loops: Vec<(Vec<usize>, usize)>,
    pub(super) atomics: usize,
}

impl Writer<'_> {
    pub(super) fn here(&self) -> usize {
        self.begin + self.code.len()
    }

    pub(super) fn push(&mut self, act: Act, span: Span) -> usize {
        let procedure = self.procedure;
        self.code.push(Instruction {
            act,
            span,
            procedure,
            live: Vec::new(),
            point: false,
            round: None,
            used: None,
        });
        self.code.len() - 1
    }

    pub(super) fn leave_atomics(&mut self, outside: usize, span: Span) {
        for _ in outside..self.atomics {
            self.push(Act::EndAtomic, span);
        }
    }

    pub(super) fn block(&mut self, statements: &[Statement]) -> Result<(), Unsupported> {
        statements.iter().try_for_each(|statement| self.statement(statement))
    }

    pub(super) fn statement(&mut self, statement: &Statement) -> Result<(), Unsupported> {
        let span = statement.span;
        match &statement.kind {
            StatementKind::Assign { place, value } => {
                let act = Act::Assign(self.target(place)?, self.scope.term(value)?);
                self.push(act, span);
            }
            StatementKind::Access { access, into } => {
                let into = into.as_ref().map(|place| self.target(place)).transpose()?;
                let act = match access {
                    Access::Read(place) => Act::Read(self.cell(place)?, into),
                    Access::Write(place, value) => {
                        Act::Write(self.cell(place)?, self.scope.term(value)?)
                    }
                    Access::CompareAndSwap(place, old, new) => {
                        let values = (self.scope.term(old)?, self.scope.term(new)?);
                        Act::Swap(self.cell(place)?, values.0, values.1, into)
                    }
                    Access::LoadLinked(place) => Act::LoadLinked(self.cell(place)?, into),
                    Access::StoreConditional(place, value) => {
                        Act::StoreConditional(self.cell(place)?, self.scope.term(value)?, into)
                    }
                    Access::Validate(place) => Act::Validate(self.cell(place)?, into),
                };
                self.push(act, span);
            }
            StatementKind::Point(_) => {}
            StatementKind::Call { procedure, arguments, into } => {
                let into = into.as_ref().map(|place| self.target(place)).transpose()?;
                let act = Act::Call(*procedure, self.scope.terms(arguments)?, into);
                self.push(act, span);
            }
            StatementKind::New { .. }
            | StatementKind::Free(_)
            | StatementKind::Choose { .. }
            | StatementKind::Together => {
                unreachable!(
                    "only objects have nodes, choices and blocks, and they are not compiled"
                )
            }
            StatementKind::If { condition, then, otherwise } => {
                let condition = self.scope.term(condition)?;
                let branch = self.push(Act::Unless(condition.clone(), 0), span);
                self.block(then)?;
                let mut target = self.here();
                if !otherwise.is_empty() {
                    let skip = self.push(Act::Jump(0), span);
                    target += 1;
                    self.block(otherwise)?;
                    self.code[skip].act = Act::Jump(self.here());
                }
                self.code[branch].act = Act::Unless(condition, target);
            }
            StatementKind::Loop { body } => {
                let begin = self.here();
                self.loops.push((Vec::new(), self.atomics));
                self.block(body)?;
                self.push(Act::Jump(begin), span);
                let target = self.here();
                let (breaks, _) = self.loops.pop().expect("a loop was begun");
                for jump in breaks {
                    self.code[jump].act = Act::Jump(target);
                }
            }
            StatementKind::Break => {
                let outside = self.loops.last().expect("`Break` stands in a loop").1;
                self.leave_atomics(outside, span);
                let jump = self.push(Act::Jump(0), span);
                self.loops.last_mut().expect("`Break` stands in a loop").0.push(jump);
            }
            StatementKind::For { variable, over: set, except, body } => {
                let except = except.as_ref().map(|except| self.scope.term(except)).transpose()?;
                let begin = self.push(Act::EndAtomic, span);
                self.block(body)?;
                let next = self.push(Act::EndAtomic, span);
                let this = For {
                    variable: self.scope.room(*variable).base,
                    over: over(*set),
                    except,
                    merged: Default::default(),
                    body: self.begin + begin + 1,
                    end: self.begin + next + 1,
                };
                self.code[begin].act = Act::Begin(this.clone());
                self.code[next].act = Act::Next(this);
            }
            StatementKind::Return(result) => {
                self.leave_atomics(0, span);
                let result = result.as_ref().map(|result| self.scope.term(result)).transpose()?;
                self.push(Act::Return(result), span);
            }
            StatementKind::Atomic(body) => {
                self.push(Act::Atomic, span);
                self.atomics += 1;
                self.block(body)?;
                self.atomics -= 1;
                self.push(Act::EndAtomic, span);
            }
        }
        Ok(())
    }

    pub(super) fn cell(&self, place: &CellPlace) -> Result<Cell, Unsupported> {
        let variable = self.scope.program.shared(place.variable);
        let sets = variable.dimensions.iter().map(|set| over(*set));
        let indices = sets
            .zip(&place.indices)
            .map(|(over, index)| Ok((over, self.scope.index(index, over)?)));
        let indices = indices.collect::<Result<_, Unsupported>>()?;
        let shape = self.scope.shape(&variable.content);
        Ok(Cell { variable: place.variable, indices, shape })
    }

    pub(super) fn target(&self, place: &Place) -> Result<Target, Unsupported> {
        let scope = &self.scope;
        let (room, mut content, local, private) = match place.root {
            Root::Local(id) => {
                let procedure = scope.program.procedure(self.procedure);
                (scope.room(id), &procedure.local(id).content, Some(id), None)
            }
            Root::Private(id) => {
                let room = scope.model.private[id.0 as usize].clone();
                (room, &scope.program.private(id).content, None, Some(id))
            }
        };
        let mut path = Vec::new();
        let mut in_token = false;
        for projection in &place.path {
            if in_token {
                // A value that is unsupported as a whole has no parts.
                if let Projection::Index(index) = projection {
                    path.extend(scope.fallible(&[index])?.into_iter().map(Step::Passed));
                }
                continue;
            }
            let shape = scope.shape(content);
            match (projection, content) {
                (Projection::Field(position), Type::Record(fields)) => {
                    path.push(Step::Field(shape.field(*position).0));
                    content = &fields[*position].content;
                }
                (Projection::Index(index), Type::Array { index: set, element }) => {
                    match shape {
                        Shape::Leaf(_) => {
                            in_token = true;
                            path.extend(scope.fallible(&[index])?.into_iter().map(Step::Passed));
                        }
                        _ => {
                            let (over, size) = (over(*set), scope.shape(element).size());
                            path.push(Step::Element(scope.index(index, over)?, over, size));
                        }
                    }
                    content = element;
                }
                _ => unreachable!("a well-typed path leads through arrays and records"),
            }
        }
        let size = if in_token { 1 } else { scope.shape(content).size() };
        Ok(Target { room, path, size, local, private, in_token })
    }
}
