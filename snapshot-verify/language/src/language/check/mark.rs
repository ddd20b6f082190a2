//! `linearizes`: accesses marked as linearization points.
//!
//! The condition of a mark is evaluated once the result of the access is stored. If a temporary
//! holds the result first, a statement after the access stores it. So the condition is a statement
//! of its own, after all statements that belong to the marked one. Only a statement that may be a
//! step of its own, or that leaves the procedure, comes after the condition: the access is its
//! operand.
//!
//! Marks are checked in any case. Only a program with linearization points keeps them; other
//! programs do not evaluate them.

use super::body::Body;
use super::exchange::is_first_half;
use crate::language::Span;
use crate::language::diagnostic::{Parsed, message};
use crate::language::tree;
use crate::program::{Expression, ExpressionKind, Mark, Statement, StatementKind, Type};

/// The mark of a block while its statements are being made.
#[derive(Clone, Copy, Debug)]
pub(super) struct BlockMark {
    mark: Mark,
    /// Span of the mark; a placeholder for its condition, which sees all declarations of the block.
    span: Span,
}

impl BlockMark {
    const fn new(written: &tree::Mark) -> Self {
        let mark = match written.condition {
            None => Mark::Always,
            Some(_) => Mark::OnCondition,
        };
        Self { mark, span: written.span }
    }

    const fn condition(self) -> Expression {
        Expression { kind: ExpressionKind::Bool(true), content: Type::Bool, span: self.span }
    }

    fn is_condition(self, condition: &Expression) -> bool {
        condition.span == self.span
    }
}

impl Body<'_> {
    /// Marks the accesses of the statements from here on.
    pub fn mark(&mut self, from: usize, written: &tree::Mark) -> Parsed<()> {
        let condition = self.mark_condition(from, written)?;
        let mark = BlockMark::new(written).mark;
        self.keep(from, mark, condition);
        Ok(())
    }

    /// Gives accesses without a mark the mark of an enclosing block, if any.
    pub fn mark_by_block(&mut self, from: usize) {
        if let Some(block) = self.block_mark {
            self.keep(from, block.mark, Some(block.condition()));
        }
    }

    /// Makes the statements of a block with a mark.
    pub fn within_marked<T>(
        &mut self,
        written: &tree::Mark,
        make: impl FnOnce(&mut Self) -> T,
    ) -> T {
        let outer = self.block_mark.replace(BlockMark::new(written));
        let made = make(self);
        self.block_mark = outer;
        made
    }

    /// Ends a block with a mark; its statements begin at `from`.
    pub fn mark_block(&mut self, from: usize, written: &tree::Mark) -> Parsed<()> {
        let block = BlockMark::new(written);
        if let Some(condition) = self.mark_condition(from, written)? {
            Statement::each_mut(&mut self.block[from..], &mut |statement| {
                if let StatementKind::Point(of) = &mut statement.kind
                    && block.is_condition(of)
                {
                    of.clone_from(&condition);
                }
            });
        }
        Ok(())
    }

    /// Checks the condition of a mark, and that there is an access to be marked.
    fn mark_condition(&mut self, from: usize, written: &tree::Mark) -> Parsed<Option<Expression>> {
        let mut condition = None;
        if let Some(written) = &written.condition {
            let (accessed, locals) = (self.block.len(), self.count_locals());
            self.spent = None;
            condition = Some(self.condition(written)?);
            if self.block.len() > accessed {
                let message = message!(
                    "point-accesses",
                    "whether this is a linearization point depends on shared memory"
                )
                .help(
                    "name locals: the condition is evaluated in the step of the access, \
                     once its result is stored",
                );
                return Err(self.report(message, written.span));
            }
            if !self.with_points {
                self.keep_locals(locals);
            }
        }
        let Some(first) = first_access(&self.block[from..]) else {
            let message = message!(
                "nothing-linearizes",
                "nothing to linearize at: the statement accesses no shared memory"
            )
            .help("move `linearizes` to the statement with the access");
            return Err(self.report(message, written.span));
        };
        self.marked.get_or_insert(first);
        Ok(condition)
    }

    /// Applies a mark to the statements from here on, if points are kept.
    fn keep(&mut self, from: usize, mark: Mark, condition: Option<Expression>) {
        if !self.with_points || !mark_accesses(&mut self.block[from..], mark) {
            return;
        }
        if let (Mark::OnCondition, Some(condition)) = (mark, condition) {
            let span = condition.span;
            let point = Statement { kind: StatementKind::Point(condition), span, mark: None };
            let leaves = self.block[from..].iter().position(leaves);
            let at = leaves.map_or(self.block.len(), |position| from + position);
            self.block.insert(at, point);
        }
    }
}

/// Returns true if a statement uses results of accesses as operands without storing them.
const fn leaves(statement: &Statement) -> bool {
    matches!(
        statement.kind,
        StatementKind::Return(_)
            | StatementKind::Call { .. }
            | StatementKind::New { .. }
            | StatementKind::Free(_)
            | StatementKind::Choose { .. }
    )
}

fn first_access(statements: &[Statement]) -> Option<Span> {
    let mut first = None;
    Statement::each(statements, &mut |statement| {
        if matches!(statement.kind, StatementKind::Access { .. }) {
            first.get_or_insert(statement.span);
        }
    });
    first
}

/// Marks all accesses without a mark; returns true if there is one.
fn mark_accesses(statements: &mut [Statement], mark: Mark) -> bool {
    let mut any = false;
    for at in 0..statements.len() {
        if is_first_half(&statements[at], &statements[at + 1..]) {
            continue;
        }
        let statement = &mut statements[at];
        match &mut statement.kind {
            StatementKind::Access { .. } if statement.mark.is_none() => {
                statement.mark = Some(mark);
                any = true;
            }
            StatementKind::If { then, otherwise, .. } => {
                any |= mark_accesses(then, mark);
                any |= mark_accesses(otherwise, mark);
            }
            StatementKind::Loop { body }
            | StatementKind::For { body, .. }
            | StatementKind::Atomic(body) => any |= mark_accesses(body, mark),
            _ => {}
        }
    }
    any
}
