//! Accesses that read a cell and write it in one step: SWAP, FAA, TAS, and writes of a part.
//!
//! Each is expressed by existing constructs, `atomic` with a read and a write of one cell, so no
//! judge and no reduction needs to know them.

use super::body::Body;
use super::result::whole;
use crate::language::Span;
use crate::language::diagnostic::Parsed;
use crate::language::diagnostic::types::{counter_arithmetic, not_defined};
use crate::language::tree::{self, Name};
use crate::program::{
    Access, CellKind, CellPlace, Expression, ExpressionKind, LocalId, Place, Projection, Root,
    Statement, StatementKind, Type,
};

impl Body<'_> {
    /// Makes the access SWAP, FAA or TAS, and returns the local with its result, the previous
    /// content of the cell; `None` for other names.
    pub fn exchange(
        &mut self,
        name: &Name,
        arguments: &[tree::Expression],
        span: Span,
    ) -> Parsed<Option<LocalId>> {
        let (operation, count) = match name.text.as_str() {
            "SWAP" => ("SWAP", 2),
            "FAA" => ("FAA", 2),
            "TAS" => ("TAS", 1),
            _ => return Ok(None),
        };
        self.not_constant(span)?;
        if arguments.len() != count {
            return Err(self.argument_count(operation, count, arguments.len(), span));
        }
        let cell = self.cell_argument(operation, CellKind::Swappable, &arguments[0])?;
        let content = self.globals.shared[cell.variable.0 as usize].content.clone();
        let operand = match operation {
            "TAS" if content != Type::Bool => {
                return Err(self.report(not_defined(operation, &content), arguments[0].span));
            }
            "TAS" => Expression { kind: ExpressionKind::Bool(true), content: Type::Bool, span },
            "SWAP" => self.expect_type(&arguments[1], &content)?,
            _ => self.summand(operation, &content, &arguments[1])?,
        };
        self.spend(span)?;
        let seen = self.hidden(content.clone(), span);
        let written = match operation {
            "FAA" => {
                let held = self.read(seen, span);
                self.increased(held, operand, &content, span)?
            }
            _ => operand,
        };
        self.in_one_step(cell, seen, Vec::new(), written, span);
        Ok(Some(seen))
    }

    /// Checks the summand of FAA.
    fn summand(
        &mut self,
        operator: &'static str,
        content: &Type,
        written: &tree::Expression,
    ) -> Parsed<Expression> {
        let summand = self.expression(written, None)?;
        let summand = self.present(summand);
        let found = match (content, &summand.content) {
            (Type::Integer { .. }, Type::Integer { .. }) => return Ok(summand),
            (Type::Counter, _) if super::operator::is_one(&summand) => return Ok(summand),
            (Type::Counter, _) => {
                return Err(self.report(counter_arithmetic(), written.span));
            }
            (Type::Integer { .. }, found) => found.clone(),
            (cell, _) => cell.clone(),
        };
        Err(self.report(not_defined(operator, &found), written.span))
    }

    fn increased(
        &mut self,
        held: Expression,
        by: Expression,
        content: &Type,
        span: Span,
    ) -> Parsed<Expression> {
        if *content == Type::Counter {
            let kind = ExpressionKind::Successor(Box::new(held));
            return Ok(Expression { kind, content: Type::Counter, span });
        }
        let sum = self.sum_of_numbers(tree::Operator::Add, held, by, span)?;
        self.coerce(sum, content)
    }

    /// Writes a part of the content of a cell.
    pub fn write_part(
        &mut self,
        cell: CellPlace,
        path: Vec<Projection>,
        part: Expression,
        span: Span,
    ) -> Parsed<()> {
        self.spend(cell.span)?;
        let content = self.globals.shared[cell.variable.0 as usize].content.clone();
        let whole_content = self.hidden(content, cell.span);
        let place = Place { root: Root::Local(whole_content), path };
        let changed = StatementKind::Assign { place, value: part };
        let changed = Statement { kind: changed, span, mark: None };
        let written = self.read(whole_content, cell.span);
        self.in_one_step(cell, whole_content, vec![changed], written, span);
        Ok(())
    }

    /// Reads a cell into a local, executes the statements `between`, and writes the cell.
    fn in_one_step(
        &mut self,
        cell: CellPlace,
        held: LocalId,
        between: Vec<Statement>,
        written: Expression,
        span: Span,
    ) {
        let access = |access, into| Statement {
            kind: StatementKind::Access { access, into },
            span,
            mark: None,
        };
        let mut step = vec![access(Access::Read(cell.clone()), Some(whole(held)))];
        step.extend(between);
        step.push(access(Access::Write(cell, written), None));
        if self.atomic {
            self.block.extend(step);
        } else {
            self.push(StatementKind::Atomic(step), span);
        }
    }
}

/// Returns true if a read is the first half of an access that also writes. Such an access is marked
/// as one linearization point, at its write.
pub(super) fn is_first_half(statement: &Statement, after: &[Statement]) -> bool {
    matches!(&statement.kind, StatementKind::Access { access: Access::Read(_), .. })
        && after.iter().take(2).any(|later| {
            later.span == statement.span
                && matches!(&later.kind, StatementKind::Access { access: Access::Write(..), .. })
        })
}
