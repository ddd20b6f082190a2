//! Compiles statements to blocks.

use std::collections::BTreeMap;

use snapshot_core::Process;

use super::body::{Body, Frame, Returning};
use super::place::Selection;
use super::tree::Tree;
use super::variables::Variables;
use crate::instance::{BlockId, End, InstanceError, Owner, Response, SlotId, Target, Term};
use crate::language::Span;
use crate::program::{Expression, LocalId, Place, ProcedureId, Statement, StatementKind};

impl<'a> Body<'a> {
    /// Compiles updates. Returns the first block, and the slot of the argument if the process is i
    /// or j.
    pub(super) fn update(
        &mut self,
        switches: bool,
    ) -> Result<(BlockId, Option<SlotId>), InstanceError> {
        self.updating = true;
        let begin = self.block()?;
        self.current = begin;
        let argument = switches.then(|| self.argument()).transpose()?;
        let value = argument.map_or(Term::FALSE, Term::Slot);
        let update = self.program.update();
        self.call(update, vec![Tree::Leaf(value.clone())], Returning::Nowhere)?;
        self.pause("response".to_owned(), self.program.procedure(update).span, 0)?;
        self.leave(End::Respond(Response::Update { value }))?;
        Ok((begin, argument))
    }

    /// Adds a slot that keeps the argument until the response.
    fn argument(&mut self) -> Result<SlotId, InstanceError> {
        let procedure = self.program.procedure(self.program.update());
        let name = format!("p{}.{}", self.me.index(), procedure.local(LocalId(0)).name);
        let owner = Owner::Operation(self.me);
        self.slots.scalar(name, owner, crate::instance::Domain::BIT, procedure.span)
    }

    /// Compiles scans. Returns the first block.
    pub(super) fn scan(&mut self, pair: [Process; 2]) -> Result<BlockId, InstanceError> {
        self.updating = false;
        let begin = self.block()?;
        self.current = begin;
        let scan = self.program.scan();
        let procedure = self.program.procedure(scan);
        let view = crate::program::Type::view();
        let name = format!("p{}.result", self.me.index());
        let owner = Owner::Operation(self.me);
        let result = self.slots.variable(&name, owner, &view, procedure.span)?;
        self.call(scan, Vec::new(), Returning::Operation(result.clone()))?;
        self.pause("response".to_owned(), procedure.span, 0)?;
        let returned: Vec<Term> =
            result.leaves().into_iter().map(|slot| Term::Slot(*slot)).collect();
        let at = pair.map(|segment| returned[segment.index()].clone());
        let others =
            (0..returned.len()).filter(|segment| !pair.iter().any(|p| p.index() == *segment));
        let foreign = Term::or(others.map(|segment| returned[segment].clone()));
        self.leave(End::Respond(Response::Scan { at, foreign }))?;
        Ok(begin)
    }

    /// Compiles a call, in place.
    fn call(
        &mut self,
        id: ProcedureId,
        arguments: Vec<Tree<Term>>,
        result: Returning<'a>,
    ) -> Result<(), InstanceError> {
        let procedure = self.program.procedure(id);
        let exit = self.block()?;
        let frame =
            Frame { procedure: id, known: BTreeMap::new(), exit, result, breaks: Vec::new() };
        self.frames.push(frame);
        let variables = Variables::new(procedure);
        for (position, argument) in arguments.iter().enumerate() {
            let local = LocalId(position as u32);
            let constant = argument.leaves().iter().all(|term| term.constant().is_some());
            let the_argument = self.frames.len() == 1;
            if (constant || the_argument) && !variables.assigned.contains(&local) {
                self.frame().known.insert(local, argument.clone());
            } else {
                self.store(id, local, argument)?;
            }
        }
        for position in procedure.parameters..procedure.locals.len() {
            let local = LocalId(position as u32);
            if variables.indices.contains(&local) {
                continue;
            }
            self.declare(id, local)?;
            if !procedure.local(local).hidden {
                let initial = self.evaluate(&procedure.local(local).initial, true)?;
                self.store(id, local, &initial)?;
            }
        }
        self.statements(&procedure.body)?;
        self.end(End::Jump(exit), exit);
        self.frames.pop();
        Ok(())
    }

    /// Returns the slots of a local.
    fn declare(&mut self, id: ProcedureId, local: LocalId) -> Result<Tree<SlotId>, InstanceError> {
        if let Some(slots) = self.locals.get(&(id, local)) {
            return Ok(slots.clone());
        }
        let procedure = self.program.procedure(id);
        let variable = procedure.local(local);
        let name = format!("p{}.{}.{}", self.me.index(), procedure.name, variable.name);
        let owner = Owner::Operation(self.me);
        let slots = self.slots.variable(&name, owner, &variable.content, variable.span)?;
        self.locals.insert((id, local), slots.clone());
        Ok(slots)
    }

    fn store(
        &mut self,
        id: ProcedureId,
        local: LocalId,
        value: &Tree<Term>,
    ) -> Result<(), InstanceError> {
        let targets = Selection::whole(self.declare(id, local)?).targets();
        self.assign(&targets, value, self.span)
    }

    fn statements(&mut self, statements: &'a [Statement]) -> Result<(), InstanceError> {
        statements.iter().try_for_each(|statement| self.statement(statement))
    }

    fn statement(&mut self, statement: &'a Statement) -> Result<(), InstanceError> {
        let span = statement.span;
        self.begin(span)?;
        match &statement.kind {
            StatementKind::Assign { place, value } => {
                let value = self.evaluate(value, true)?;
                self.put(place, &value, span)
            }
            StatementKind::Access { access, into } => self.access(access, into.as_ref(), span),
            StatementKind::Point(_) => Ok(()),
            StatementKind::Call { procedure, arguments, into } => {
                let arguments = arguments.iter().map(|argument| self.evaluate(argument, true));
                let arguments = arguments.collect::<Result<_, _>>()?;
                let result = into.as_ref().map_or(Returning::Nowhere, Returning::Caller);
                self.call(*procedure, arguments, result)
            }
            StatementKind::New { .. }
            | StatementKind::Free(_)
            | StatementKind::Choose { .. }
            | StatementKind::Together => {
                unreachable!("only objects have nodes, choices and blocks")
            }
            StatementKind::If { condition, then, otherwise } => {
                let condition = self.scalar(condition)?;
                self.choice(
                    condition,
                    |body| body.statements(then),
                    |body| body.statements(otherwise),
                )
            }
            StatementKind::Loop { body } => {
                let (begin, exit) = (self.block()?, self.block()?);
                self.end(End::Jump(begin), begin);
                self.frame().breaks.push(exit);
                self.statements(body)?;
                self.frame().breaks.pop();
                self.end(End::Jump(begin), exit);
                Ok(())
            }
            StatementKind::Break => {
                let exit = *self.frame().breaks.last().expect("`exit` occurs in loops only");
                self.leave(End::Jump(exit))
            }
            StatementKind::For { variable, over, except, body } => {
                let except = except.as_ref().map(|except| self.fixed(except)).transpose()?;
                for index in self.indices(*over)? {
                    let except = except.clone().unwrap_or(Term::NONE);
                    let left_out = self.equal(except, index.clone());
                    self.choice(
                        left_out,
                        |_| Ok(()),
                        |this| {
                            this.frame_known(*variable, Some(&index));
                            this.statements(body)
                        },
                    )?;
                }
                self.frame_known(*variable, None);
                Ok(())
            }
            StatementKind::Return(value) => {
                let value = value.as_ref().map(|value| self.evaluate(value, true)).transpose()?;
                self.give_back(value, span)
            }
            StatementKind::Atomic(body) if self.atomic => self.statements(body),
            StatementKind::Atomic(body) => {
                let label = format!("{}: atomic", self.path());
                self.pause(label, span, 1)?;
                self.atomic = true;
                let result = self.statements(body);
                self.atomic = false;
                result
            }
        }
    }

    /// Assigns to a part of a local or private variable.
    pub(super) fn put(
        &mut self,
        place: &Place,
        value: &Tree<Term>,
        span: Span,
    ) -> Result<(), InstanceError> {
        match self.place(place)? {
            Some(selection) => self.assign(&selection.targets(), value, span),
            None => Ok(()),
        }
    }

    /// Returns a scalar that keeps its value while the slots it was computed from change.
    fn fixed(&mut self, expression: &Expression) -> Result<Term, InstanceError> {
        let term = self.scalar(expression)?;
        if term.constant().is_some() {
            return Ok(term);
        }
        let domain = self.size.domain(&expression.content)?;
        let slot = self.hidden("except", domain)?;
        self.emit(Target::Slot(slot), term);
        Ok(Term::Slot(slot))
    }

    fn give_back(&mut self, value: Option<Tree<Term>>, span: Span) -> Result<(), InstanceError> {
        let exit = self.frame().exit;
        let result = self.frame().result.clone();
        match (result, value) {
            (Returning::Operation(slots), Some(value)) => {
                let targets = Selection::whole(slots).targets();
                self.assign(&targets, &value, span)?;
            }
            (Returning::Caller(place), Some(value)) => {
                let callee = self.frames.pop();
                let result = self.put(place, &value, span);
                self.frames.extend(callee);
                result?;
            }
            (Returning::Nowhere, _) | (_, None) => {}
        }
        self.leave(End::Jump(exit))
    }

    /// Returns the names of the open calls, outermost first.
    pub(super) fn path(&self) -> String {
        let names: Vec<&str> = self
            .frames
            .iter()
            .map(|frame| self.program.procedure(frame.procedure).name.as_str())
            .collect();
        names.join(" > ")
    }
}
