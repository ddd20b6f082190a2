//! Semantics of statements.

use super::body::Body;
use super::globals::Expected;
use crate::language::Span;
use crate::language::diagnostic::{Message, Parsed, message};
use crate::language::tree::{self, StatementKind as Form};
use crate::program::{Expression, ExpressionKind, Statement, StatementKind, Type};

impl Body<'_> {
    /// Checks the statements of a block. An error in one does not prevent checks of the others.
    pub fn statements(&mut self, written: &[tree::Statement]) -> Vec<Statement> {
        let (_, statements) = self.apart(|body| {
            for statement in written {
                // Already reported.
                let _ = body.statement(statement);
            }
            Ok(())
        });
        statements
    }

    fn statement(&mut self, written: &tree::Statement) -> Parsed<()> {
        let before = self.block.len();
        match &written.mark {
            Some(mark) if is_marked_as_block(&written.kind) => {
                self.within_marked(mark, |body| body.meaning_of(written))?;
                self.mark_block(before, mark)
            }
            Some(mark) if !is_block(&written.kind) => {
                self.meaning_of(written)?;
                self.mark(before, mark)
            }
            _ => {
                self.meaning_of(written)?;
                if !is_block(&written.kind) {
                    self.mark_by_block(before);
                }
                Ok(())
            }
        }
    }

    /// Checks a statement without its own mark.
    fn meaning_of(&mut self, written: &tree::Statement) -> Parsed<()> {
        self.spent = None;
        let span = written.span;
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
                self.not_in_atomic(loop_in_atomic(), span)?;
                let body = self.in_loop(|checked| checked.statements(body));
                self.push(StatementKind::Loop { body }, span);
            }
            Form::Exit => {
                if self.loops == 0 {
                    let message = message!("exit-outside-loop", "`exit` outside of a loop").help(
                        "`exit` leaves `repeat`, `while` and `loop`; to leave a procedure, use \
                         `return`",
                    );
                    return Err(self.report(message, span));
                }
                self.push(StatementKind::Break, span);
            }
            Form::For(over, body) => self.for_each(over, body, span)?,
            Form::Return(value) => self.give_back(value.as_ref(), span)?,
            Form::Atomic(body) => {
                let message = message!("nested-atomic", "an atomic step in an atomic step")
                    .help("it is one step already: remove the inner `atomic:`");
                self.not_in_atomic(message, span)?;
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
                    let message =
                        message!("together-outside-object", "`together` outside of an object")
                            .help(
                                "it says that operations of an `object` take effect together; a \
                                 procedure of the algorithm takes its steps one by one",
                            );
                    return Err(self.report(message, span));
                }
                self.push(StatementKind::Together, span);
            }
        }
        Ok(())
    }

    pub fn not_in_atomic(&mut self, message: Message, span: Span) -> Parsed<()> {
        if self.atomic { Err(self.report(message, span)) } else { Ok(()) }
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
        let before = self.block.len();
        let condition = self.condition(condition);
        self.mark_by_block(before);
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
        self.not_in_atomic(loop_in_atomic(), span)?;
        let (checked, body) = self.apart(|body| {
            let statements = body.in_loop(|body| body.statements(written));
            body.block.extend(statements);
            let before = body.block.len();
            body.spent = None;
            let condition = body.condition(condition)?;
            match mark {
                Some(mark) => body.mark(before, mark)?,
                None => body.mark_by_block(before),
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
        self.not_in_atomic(loop_in_atomic(), span)?;
        let (checked, body) = self.apart(|body| {
            let condition = body.condition(condition);
            body.mark_by_block(0);
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
        let before = self.block.len();
        let (index, between) = self.run_through(&over.over)?;
        let between = between.map(|between| self.fixed(between));
        let except = self.exception(over, index);
        self.mark_by_block(before);
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

/// Returns true if a statement contains others.
const fn is_block(kind: &Form) -> bool {
    matches!(
        kind,
        Form::If(..)
            | Form::Repeat(..)
            | Form::While(..)
            | Form::Loop(_)
            | Form::For(..)
            | Form::Atomic(_)
    )
}

/// Returns true if a mark behind a statement applies to all accesses within it. Behind `repeat` it
/// applies to the condition only.
const fn is_marked_as_block(kind: &Form) -> bool {
    is_block(kind) && !matches!(kind, Form::Repeat(..))
}

fn loop_in_atomic() -> Message {
    message!("loop-in-atomic", "a loop in an atomic step")
        .help("a step must end: use `for` to go through indices")
}
