//! Index sets of variables: sets known before the processes run, or numbers between two computed
//! bounds, `me + 1 .. n - 1`.
//!
//! A computed range becomes a known set, which covers all possible values of the bounds, with a
//! test that skips numbers outside of the bounds. So later stages do not know computed ranges.

use super::body::Body;
use super::expression::apply;
use super::result::{assign, whole};
use super::{range, types};
use crate::language::Span;
use crate::language::diagnostic::Parsed;
use crate::language::diagnostic::types::{empty_range, not_defined};
use crate::language::tree::{self, ExpressionKind as Written, Indices, IndicesKind, Operator};
use crate::program::{
    Binary, Bound, Expression, ExpressionKind, IndexSet, LocalId, Statement, StatementKind, Type,
};

/// Lowest and highest number of a computed range.
pub(super) struct Between {
    low: Expression,
    high: Expression,
}

impl Body<'_> {
    /// Returns an index set, and the bounds of a computed range.
    pub fn run_through(&mut self, written: &Indices) -> Parsed<(IndexSet, Option<Between>)> {
        let (low, high) = match &written.kind {
            IndicesKind::Range(low, high) if self.constant.is_none() => (low, high),
            _ => return Ok((types::indices(written, self.reporter)?, None)),
        };
        if is_known(low) && is_known(high) {
            return Ok((types::indices(written, self.reporter)?, None));
        }
        let (low, low_of_name) = self.computed_bound(low)?;
        let (high, high_of_name) = self.computed_bound(high)?;
        let (Some((least, _)), Some((_, greatest))) =
            (range::numbers(&low.content), range::numbers(&high.content))
        else {
            unreachable!("a bound is a number")
        };
        if !range::at_most(least, greatest) {
            let range = format!("{least}..{greatest}");
            return Err(self.report(empty_range(&range), written.span));
        }
        let lies_in_names =
            range::at_most(Bound::constant(0), least) && range::at_most(greatest, range::BELOW_N.1);
        let over = if (low_of_name || high_of_name) && lies_in_names {
            IndexSet::Processes
        } else {
            IndexSet::Range(least, greatest)
        };
        Ok((over, Some(Between { low, high })))
    }

    /// Returns a bound as a number, and true if it is computed from a process or segment.
    fn computed_bound(&mut self, written: &tree::Expression) -> Parsed<(Expression, bool)> {
        let bound = self.expression(written, None)?;
        let bound = self.present(bound);
        let of_name = is_of_name(&bound);
        match bound.content {
            Type::Integer { .. } => Ok((bound, of_name)),
            Type::Process | Type::Segment => {
                let (low, high) = range::BELOW_N;
                Ok((self.coerce(bound, &Type::Integer { low, high })?, true))
            }
            found => Err(self.report(not_defined("..", &found), bound.span)),
        }
    }

    /// Stores the current bounds, so that assignments in the body do not affect them.
    pub fn fixed(&mut self, between: Between) -> Between {
        let mut fix = |bound: Expression| {
            if is_fixed(&bound) {
                return bound;
            }
            let (kept, span) = (self.hidden(bound.content.clone(), bound.span), bound.span);
            self.block.push(assign(whole(kept), bound));
            self.read(kept, span)
        };
        let (low, high) = (fix(between.low), fix(between.high));
        Between { low, high }
    }

    /// Returns the test that the variable is within the bounds.
    pub fn is_between(&mut self, between: &Between, variable: LocalId) -> Parsed<Expression> {
        let span = between.low.span.to(between.high.span);
        let number = self.read(variable, span);
        let (least, greatest) = range::BELOW_N;
        let number = match number.content {
            Type::Process | Type::Segment => {
                self.coerce(number, &Type::Integer { low: least, high: greatest })?
            }
            _ => number,
        };
        let not_below =
            apply(Binary::LessOrEqual, between.low.clone(), number.clone(), Type::Bool, span);
        let not_above = apply(Binary::LessOrEqual, number, between.high.clone(), Type::Bool, span);
        Ok(apply(Binary::And, not_below, not_above, Type::Bool, span))
    }

    /// Restricts the body to iterations in which the variable is within the bounds.
    pub fn only_between(
        &mut self,
        between: Option<&Between>,
        variable: LocalId,
        body: Vec<Statement>,
        span: Span,
    ) -> Parsed<Vec<Statement>> {
        let Some(between) = between else { return Ok(body) };
        let condition = self.is_between(between, variable)?;
        let kind = StatementKind::If { condition, then: body, otherwise: Vec::new() };
        Ok(vec![Statement { kind, span, mark: None }])
    }
}

/// Returns true for expressions over numbers and n.
fn is_known(written: &tree::Expression) -> bool {
    match &written.kind {
        Written::Number(_) | Written::N => true,
        Written::Binary(Operator::Add | Operator::Subtract | Operator::Multiply, left, right) => {
            is_known(left) && is_known(right)
        }
        _ => false,
    }
}

/// Returns true if the value stays the same while the procedure runs.
fn is_fixed(bound: &Expression) -> bool {
    match &bound.kind {
        ExpressionKind::Local(_) | ExpressionKind::Private(_) | ExpressionKind::Fresh => false,
        _ => bound.operands().into_iter().all(is_fixed),
    }
}

/// Returns true if a number is computed from a process or a segment: `s - 1`, `(me + 1) mod n`.
pub(super) fn is_of_name(number: &Expression) -> bool {
    match &number.kind {
        ExpressionKind::Checked(inside) => {
            matches!(inside.content, Type::Process | Type::Segment) || is_of_name(inside)
        }
        ExpressionKind::Binary(Binary::Add | Binary::Subtract, left, right) => {
            is_of_name(left) || is_of_name(right)
        }
        ExpressionKind::Remainder(inside, _) | ExpressionKind::Quotient(inside, _) => {
            is_of_name(inside)
        }
        ExpressionKind::If(_, then, otherwise) => is_of_name(then) && is_of_name(otherwise),
        _ => false,
    }
}
