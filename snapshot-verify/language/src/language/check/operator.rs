//! Semantics of operators.

use super::body::Body;
use super::expression::{apply, number_of};
use super::range;
use crate::language::Span;
use crate::language::diagnostic::syntax::number_too_large;
use crate::language::diagnostic::types::{counter_arithmetic, described, not_defined, product};
use crate::language::diagnostic::{Parsed, Reported, message};
use crate::language::tree::{self, ExpressionKind as Written, Operator};
use crate::program::{Binary, Bound, Expression, ExpressionKind, Type};

/// Largest factor of a variable.
const COPIES: i32 = 16;

impl Body<'_> {
    /// Checks a binary operator.
    pub fn binary(
        &mut self,
        operator: Operator,
        left: &tree::Expression,
        right: &tree::Expression,
        span: Span,
    ) -> Parsed<Expression> {
        match operator {
            Operator::And => self.short_circuit(Binary::And, left, right, span),
            Operator::Or => self.short_circuit(Binary::Or, left, right, span),
            Operator::Equal => self.equality(Binary::Equal, left, right, span),
            Operator::NotEqual => self.equality(Binary::NotEqual, left, right, span),
            Operator::Less
            | Operator::LessOrEqual
            | Operator::Greater
            | Operator::GreaterOrEqual => self.order(operator, left, right, span),
            Operator::Add | Operator::Subtract => self.sum(operator, left, right, span),
            Operator::Multiply => self.product(left, right, span),
            Operator::Divide => self.quotient(left, right, span),
            Operator::Modulo => self.remainder(left, right, span),
        }
    }

    /// Checks `not C`; for a bit, the complement.
    pub fn not(&mut self, operand: &tree::Expression, span: Span) -> Parsed<Expression> {
        let operand = self.expression(operand, Some(&Type::Bool))?;
        let operand = self.present(operand);
        let bit = (Bound::constant(0), Bound::constant(1));
        match operand.content {
            Type::Bool => {
                let kind = ExpressionKind::Not(Box::new(operand));
                Ok(Expression { kind, content: Type::Bool, span })
            }
            Type::Integer { low, high } if range::within((low, high), bit) => {
                let content = Type::Integer { low: bit.0, high: bit.1 };
                let one = number_of(Bound::constant(1), span);
                Ok(apply(Binary::Subtract, one, operand, content, span))
            }
            found => Err(self.report(not_defined("not", &found), operand.span)),
        }
    }

    /// Checks `=` and `!=`.
    fn equality(
        &mut self,
        operator: Binary,
        left: &tree::Expression,
        right: &tree::Expression,
        span: Span,
    ) -> Parsed<Expression> {
        for operand in [left, right] {
            if matches!(operand.kind, Written::Fresh) {
                let message = message!("fresh-compared", "a fresh version is equal to nothing")
                    .help("assign it to a variable first");
                return Err(self.report(message, operand.span));
            }
        }
        let (left, right) = if takes_its_type(left) {
            let right = self.expression(right, None)?;
            (self.expression(left, Some(&right.content))?, right)
        } else {
            let left = self.expression(left, None)?;
            let right = self.expression(right, Some(&left.content))?;
            (left, right)
        };
        let Some(content) = Self::join(&left, &right) else {
            let (expected, found) = (left.content, right.content);
            let message = message!(
                "incomparable",
                "{} and {} cannot be compared",
                described(&expected),
                described(&found)
            )
            .label(format!(
                "{} on the left, {} on the right",
                described(&expected),
                described(&found)
            ));
            return Err(self.report(message, span));
        };
        let (left, right) = (self.coerce(left, &content)?, self.coerce(right, &content)?);
        Ok(apply(operator, left, right, Type::Bool, span))
    }

    /// Checks `<`, `<=`, `>`, `>=`, between two numbers or two counters.
    fn order(
        &mut self,
        operator: Operator,
        left: &tree::Expression,
        right: &tree::Expression,
        span: Span,
    ) -> Parsed<Expression> {
        let left = self.operand(operator, left)?;
        let right = self.operand(operator, right)?;
        let (left, right) = match (&left.content, &right.content) {
            (Type::Counter, _) => {
                let right = self.coerce(right, &Type::Counter)?;
                (left, right)
            }
            (_, Type::Counter) => (self.coerce(left, &Type::Counter)?, right),
            _ => (left, right),
        };
        let (operator, left, right) = match operator {
            Operator::Less => (Binary::Less, left, right),
            Operator::LessOrEqual => (Binary::LessOrEqual, left, right),
            Operator::Greater => (Binary::Less, right, left),
            _ => (Binary::LessOrEqual, right, left),
        };
        Ok(apply(operator, left, right, Type::Bool, span))
    }

    /// Checks `+` and `-`: of two numbers, or a counter plus 1.
    fn sum(
        &mut self,
        operator: Operator,
        left: &tree::Expression,
        right: &tree::Expression,
        span: Span,
    ) -> Parsed<Expression> {
        let left = self.operand(operator, left)?;
        let right = self.operand(operator, right)?;
        if left.content != Type::Counter && right.content != Type::Counter {
            return self.sum_of_numbers(operator, left, right, span);
        }
        let counter = match operator {
            Operator::Add if is_one(&right) => left,
            Operator::Add if is_one(&left) => right,
            _ => return Err(self.report(counter_arithmetic(), span)),
        };
        let kind = ExpressionKind::Successor(Box::new(counter));
        Ok(Expression { kind, content: Type::Counter, span })
    }

    /// Applies `+` or `-` to two numbers.
    pub fn sum_of_numbers(
        &mut self,
        operator: Operator,
        left: Expression,
        right: Expression,
        span: Span,
    ) -> Parsed<Expression> {
        let (Some(a), Some(b)) = (range::numbers(&left.content), range::numbers(&right.content))
        else {
            return Err(self.not_an_operand(operator, left));
        };
        let operator = if operator == Operator::Add { Binary::Add } else { Binary::Subtract };
        // The least difference takes the greatest subtrahend.
        let b = if operator == Binary::Add { b } else { (b.1, b.0) };
        let low = self.limited(range::combine(operator, a.0, b.0), span)?;
        let high = self.limited(range::combine(operator, a.1, b.1), span)?;
        if low == high {
            return Ok(number_of(low, span));
        }
        Ok(apply(operator, left, right, Type::Integer { low, high }, span))
    }

    /// Checks `*` of a number and a variable or another number, and expresses it as a sum.
    fn product(
        &mut self,
        left: &tree::Expression,
        right: &tree::Expression,
        span: Span,
    ) -> Parsed<Expression> {
        let left = self.operand(Operator::Multiply, left)?;
        let right = self.operand(Operator::Multiply, right)?;
        let factor = |operand: &Expression| {
            let bound = range::constant(&operand.kind)?;
            (bound.times_n == 0).then_some(bound.plus)
        };
        let (factor, operand) = match (factor(&left), factor(&right)) {
            (Some(factor), _) => (factor, right),
            (_, Some(factor)) => (factor, left),
            _ => return Err(self.report(product(), span)),
        };
        if let Some(number) = range::constant(&operand.kind) {
            let product = self.limited(range::scale(factor, number), span)?;
            return Ok(number_of(product, span));
        }
        if operand.content == Type::Counter {
            return Err(self.not_an_operand(Operator::Multiply, operand));
        }
        if !(1..=COPIES).contains(&factor) || !is_variable(&operand) {
            return Err(self.report(product(), span));
        }
        let mut sum = operand.clone();
        for _ in 1..factor {
            sum = self.sum_of_numbers(Operator::Add, sum, operand.clone(), span)?;
        }
        Ok(sum)
    }

    /// Checks `/` of a number by a known divisor. The quotient is rounded down, consistently with
    /// `mod`.
    fn quotient(
        &mut self,
        left: &tree::Expression,
        right: &tree::Expression,
        span: Span,
    ) -> Parsed<Expression> {
        let left = self.operand(Operator::Divide, left)?;
        let divisor = self.divisor(right)?;
        let Some(numbers) = range::numbers(&left.content) else {
            return Err(self.not_an_operand(Operator::Divide, left));
        };
        let (low, high) = range::quotients(numbers, divisor);
        let kind = ExpressionKind::Quotient(Box::new(left), divisor);
        Ok(Expression { kind, content: Type::Integer { low, high }, span })
    }

    /// Checks a divisor: a known number that is positive for every n.
    fn divisor(&mut self, written: &tree::Expression) -> Parsed<Bound> {
        let divisor = self.expression(written, None)?;
        let known = range::constant(&divisor.kind)
            .filter(|&divisor| range::at_most(Bound::constant(1), divisor));
        known.ok_or_else(|| {
            self.report(
                message!("divisor", "the divisor is no positive number")
                    .help("divide by a number or by n, which is greater than 0 for every n >= 2"),
                divisor.span,
            )
        })
    }

    /// Checks `mod` of a number or counter by a known number.
    fn remainder(
        &mut self,
        left: &tree::Expression,
        right: &tree::Expression,
        span: Span,
    ) -> Parsed<Expression> {
        let left = self.operand(Operator::Modulo, left)?;
        let divisor = self.divisor(right)?;
        let high = Bound { times_n: divisor.times_n, plus: divisor.plus - 1 };
        let kind = ExpressionKind::Remainder(Box::new(left), divisor);
        Ok(Expression { kind, content: Type::Integer { low: Bound::constant(0), high }, span })
    }

    /// Checks an operand that is a number or counter. Processes and segments count as their
    /// numbers.
    fn operand(&mut self, operator: Operator, written: &tree::Expression) -> Parsed<Expression> {
        let operand = self.expression(written, None)?;
        let operand = self.present(operand);
        match operand.content {
            Type::Integer { .. } | Type::Counter => Ok(operand),
            Type::Process | Type::Segment => {
                let (low, high) = range::BELOW_N;
                self.coerce(operand, &Type::Integer { low, high })
            }
            _ => Err(self.not_an_operand(operator, operand)),
        }
    }

    fn not_an_operand(&mut self, operator: Operator, operand: Expression) -> Reported {
        let (operator, found) = (operator.symbol(), operand.content);
        self.report(not_defined(operator, &found), operand.span)
    }

    fn limited(&mut self, bound: Option<Bound>, span: Span) -> Parsed<Bound> {
        let message = number_too_large();
        bound.ok_or_else(|| self.report(message, span))
    }
}

/// Returns true for the number 1.
pub(super) fn is_one(operand: &Expression) -> bool {
    range::constant(&operand.kind) == Some(Bound::constant(1))
}

/// Returns true for an expression that may be copied: a variable, or its number.
fn is_variable(operand: &Expression) -> bool {
    match &operand.kind {
        ExpressionKind::Me | ExpressionKind::Local(_) | ExpressionKind::Private(_) => true,
        ExpressionKind::Checked(inside) | ExpressionKind::Unwrap(inside) => is_variable(inside),
        _ => false,
    }
}

/// Returns true if the type of an expression depends on the expected one.
fn takes_its_type(written: &tree::Expression) -> bool {
    match &written.kind {
        Written::None | Written::Tuple(_) | Written::Record(_) | Written::EmptyList => true,
        Written::If(_, then, otherwise) => takes_its_type(then) || takes_its_type(otherwise),
        _ => false,
    }
}
