//! What statements mean.

use super::body::Body;
use super::exchange::is_first_half;
use super::globals::Expected;
use crate::language::Span;
use crate::language::diagnostic::{DiagnosticKind, Parsed};
use crate::language::tree::{self, StatementKind as Form};
use crate::program::{Expression, ExpressionKind, Mark, Statement, StatementKind, Type};

impl Body<'_> {
    /// The statements of a block. What is wrong with one does not keep the others
    /// from being checked.
    pub fn statements(&mut self, written: &[tree::Statement]) -> Vec<Statement> {
        let (_, statements) = self.apart(|body| {
            for statement in written {
                // Reported where it was found.
                let _ = body.statement(statement);
            }
            Ok(())
        });
        statements
    }

    fn statement(&mut self, written: &tree::Statement) -> Parsed<()> {
        self.spent = None;
        let span = written.span;
        let before = self.block.len();
        match &written.kind {
            Form::Assign(place, value) => self.assign(place, value, span)?,
            Form::TakeApart(places, value) => self.take_apart(places, value, span)?,
            Form::Do(expression) => self.act(expression, span)?,
            Form::If(arms, otherwise) => self.choice(arms, otherwise.as_deref(), span)?,
            Form::Repeat(body, condition) => {
                return self.repeat(body, condition, written.mark.as_ref(), span);
            }
            Form::While(condition, body) => self.repeat_while(condition, body, span)?,
            Form::Loop(body) => {
                self.not_in_atomic(DiagnosticKind::LoopInAtomic, span)?;
                let body = self.in_loop(|checked| checked.statements(body));
                self.push(StatementKind::Loop { body }, span);
            }
            Form::Exit => {
                if self.loops == 0 {
                    return Err(self.report(DiagnosticKind::ExitOutsideLoop, span));
                }
                self.push(StatementKind::Break, span);
            }
            Form::For(over, body) => self.for_each(over, body, span)?,
            Form::Return(value) => self.give_back(value.as_ref(), span)?,
            Form::Atomic(body) => {
                self.not_in_atomic(DiagnosticKind::NestedAtomic, span)?;
                self.atomic = true;
                let body = self.statements(body);
                self.atomic = false;
                self.push(StatementKind::Atomic(body), span);
            }
            Form::Free(pointer) => self.free(pointer, span)?,
            Form::Skip => {}
            Form::Choose(place, over) => self.choose(place, over, span)?,
            Form::Together => {
                if !matches!(self.globals.interface, Expected::Specification(_)) {
                    return Err(self.report(DiagnosticKind::TogetherOutsideObject, span));
                }
                self.push(StatementKind::Together, span);
            }
        }
        match &written.mark {
            Some(mark) => self.mark(before, mark),
            None => Ok(()),
        }
    }

    pub fn not_in_atomic(&mut self, kind: DiagnosticKind, span: Span) -> Parsed<()> {
        if self.atomic { Err(self.report(kind, span)) } else { Ok(()) }
    }

    /// Marks the accesses of the statements from here on.
    fn mark(&mut self, from: usize, written: &tree::Mark) -> Parsed<()> {
        let mut condition = None;
        if let Some(written) = &written.condition {
            let accessed = self.block.len();
            self.spent = None;
            condition = Some(self.condition(written)?);
            if self.block.len() > accessed {
                return Err(self.report(DiagnosticKind::PointAccesses, written.span));
            }
        }
        if mark(&mut self.block[from..], &Mark { condition }) {
            Ok(())
        } else {
            Err(self.report(DiagnosticKind::NothingLinearizes, written.span))
        }
    }

    fn in_loop<T>(&mut self, check: impl FnOnce(&mut Self) -> T) -> T {
        self.loops += 1;
        let checked = check(self);
        self.loops -= 1;
        checked
    }

    fn choice(
        &mut self,
        arms: &[(tree::Expression, Vec<tree::Statement>)],
        otherwise: Option<&[tree::Statement]>,
        span: Span,
    ) -> Parsed<()> {
        let Some(((condition, then), rest)) = arms.split_first() else {
            let statements = self.statements(otherwise.unwrap_or_default());
            self.block.extend(statements);
            return Ok(());
        };
        self.spent = None;
        let condition = self.condition(condition);
        let then = self.statements(then);
        let next = rest.first().map_or(span, |(condition, _)| condition.span);
        let (rest, otherwise) = self.apart(|body| body.choice(rest, otherwise, next));
        let condition = condition?;
        rest?;
        self.push(StatementKind::If { condition, then, otherwise }, span);
        Ok(())
    }

    fn repeat(
        &mut self,
        written: &[tree::Statement],
        condition: &tree::Expression,
        mark: Option<&tree::Mark>,
        span: Span,
    ) -> Parsed<()> {
        self.not_in_atomic(DiagnosticKind::LoopInAtomic, span)?;
        let (checked, body) = self.apart(|body| {
            let statements = body.in_loop(|body| body.statements(written));
            body.block.extend(statements);
            let before = body.block.len();
            body.spent = None;
            let condition = body.condition(condition)?;
            if let Some(mark) = mark {
                body.mark(before, mark)?;
            }
            body.leave_if(condition, span);
            Ok(())
        });
        checked?;
        self.push(StatementKind::Loop { body }, span);
        Ok(())
    }

    fn repeat_while(
        &mut self,
        condition: &tree::Expression,
        written: &[tree::Statement],
        span: Span,
    ) -> Parsed<()> {
        self.not_in_atomic(DiagnosticKind::LoopInAtomic, span)?;
        let (checked, body) = self.apart(|body| {
            let condition = body.condition(condition);
            let checked = condition.map(|condition| {
                let at = condition.span;
                let kind = ExpressionKind::Not(Box::new(condition));
                body.leave_if(Expression { kind, content: Type::Bool, span: at }, at);
            });
            let statements = body.in_loop(|body| body.statements(written));
            body.block.extend(statements);
            checked
        });
        checked?;
        self.push(StatementKind::Loop { body }, span);
        Ok(())
    }

    fn leave_if(&mut self, condition: Expression, span: Span) {
        let then = vec![Statement { kind: StatementKind::Break, span, mark: None }];
        self.push(StatementKind::If { condition, then, otherwise: Vec::new() }, span);
    }

    fn for_each(
        &mut self,
        over: &tree::Range,
        written: &[tree::Statement],
        span: Span,
    ) -> Parsed<()> {
        let (index, between) = self.run_through(&over.over)?;
        let between = between.map(|between| self.fixed(between));
        let except = self.exception(over, index);
        let variable = self.declare_index(&over.variable, index.index_type());
        let mut body = self.statements(written);
        if let Ok(variable) = variable {
            self.forget(&over.variable);
            body = self.only_between(between.as_ref(), variable, body, span)?;
        }
        let kind = StatementKind::For { variable: variable?, over: index, except: except?, body };
        self.push(kind, span);
        Ok(())
    }
}

/// Marks all accesses; whether there is one.
fn mark(statements: &mut [Statement], with: &Mark) -> bool {
    let mut any = false;
    for at in 0..statements.len() {
        if is_first_half(&statements[at], &statements[at + 1..]) {
            continue;
        }
        let statement = &mut statements[at];
        match &mut statement.kind {
            StatementKind::Access { .. } => {
                statement.mark = Some(with.clone());
                any = true;
            }
            StatementKind::If { then, otherwise, .. } => {
                any |= mark(then, with);
                any |= mark(otherwise, with);
            }
            StatementKind::Loop { body }
            | StatementKind::For { body, .. }
            | StatementKind::Atomic(body) => any |= mark(body, with),
            _ => {}
        }
    }
    any
}
