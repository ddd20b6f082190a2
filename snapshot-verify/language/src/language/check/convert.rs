//! Implicit conversions: to and from `or none`, between a process and its segment, from either to
//! its number, between ranges.

use super::body::Body;
use super::bounds::is_of_name;
use super::range;
use crate::language::diagnostic::types::{self, never_in_range};
use crate::language::diagnostic::{Message, Parsed};
use crate::language::tree;
use crate::program::{Expression, ExpressionKind, IndexSet, Type};

impl Body<'_> {
    /// Checks an expression and converts it to this type.
    pub fn expect_type(
        &mut self,
        written: &tree::Expression,
        content: &Type,
    ) -> Parsed<Expression> {
        let expression = self.expression(written, Some(content))?;
        self.coerce(expression, content)
    }

    /// Converts an expression to this type.
    pub fn coerce(&mut self, expression: Expression, content: &Type) -> Parsed<Expression> {
        let span = expression.span;
        self.convert(expression, content).map_err(|kind| self.report(*kind, span))
    }

    /// Converts an expression to this type, or returns the error without reporting it.
    pub fn convert(
        &mut self,
        expression: Expression,
        content: &Type,
    ) -> Result<Expression, Box<Message>> {
        if expression.content == *content {
            return Ok(expression);
        }
        let span = expression.span;
        let found = expression.content.clone();
        let become_kind = |kind: fn(Box<Expression>) -> ExpressionKind, of: Expression| {
            Ok(Expression { kind: kind(Box::new(of)), content: content.clone(), span })
        };
        match (&found, content) {
            (Type::Optional(found), Type::Optional(wanted)) => {
                // Only ranges of integers, which need no conversion, so that none stays none.
                match (range::numbers(found), range::numbers(wanted)) {
                    (Some(inner), Some(outer))
                        if matches!(**found, Type::Integer { .. })
                            && matches!(**wanted, Type::Integer { .. })
                            && range::within(inner, outer) =>
                    {
                        Ok(expression)
                    }
                    _ => Err(mismatch(&expression.content, content)),
                }
            }
            (_, Type::Optional(wanted)) => {
                let inner = self.convert(expression, wanted)?;
                become_kind(ExpressionKind::Some, inner)
            }
            (Type::Optional(inside), _) => {
                let kind = ExpressionKind::Unwrap(Box::new(expression));
                let inner = Expression { kind, content: (**inside).clone(), span };
                self.convert(inner, content).map_err(|_| mismatch(&found, content))
            }
            (Type::Process, Type::Segment) | (Type::Segment, Type::Process) => {
                become_kind(ExpressionKind::Convert, expression)
            }
            (Type::Integer { low, high }, Type::Integer { low: least, high: greatest }) => {
                let (inner, outer) = ((*low, *high), (*least, *greatest));
                if range::within(inner, outer) {
                    return Ok(expression);
                }
                if range::apart(inner, outer) {
                    let number = if low == high { low.to_string() } else { found.to_string() };
                    return Err(Box::new(never_in_range(&number, content)));
                }
                become_kind(ExpressionKind::Checked, expression)
            }
            (Type::Process | Type::Segment, Type::Integer { .. }) => {
                become_kind(ExpressionKind::Checked, expression)
            }
            (Type::Integer { low, high }, Type::Process | Type::Segment)
                if is_of_name(&expression) =>
            {
                if range::apart((*low, *high), range::BELOW_N) {
                    return Err(Box::new(never_in_range(found, content)));
                }
                become_kind(ExpressionKind::Checked, expression)
            }
            (Type::Integer { .. }, Type::Counter) => match range::constant(&expression.kind) {
                Some(number) if number.times_n == 0 && number.plus >= 0 => Ok(Expression {
                    kind: ExpressionKind::Counter(number.plus as u32),
                    content: Type::Counter,
                    span,
                }),
                _ => Err(mismatch(&found, content)),
            },
            (
                Type::Array { index: from, element: inside },
                Type::Array { index: to, element: wanted },
            ) if from == to || (from.is_of_names() && to.is_of_names()) => {
                let kind = self.each_of(expression, (*from, inside), (*to, wanted))?;
                let kind = kind.ok_or_else(|| mismatch(&found, content))?;
                Ok(Expression { kind, content: content.clone(), span })
            }
            _ => Err(mismatch(&found, content)),
        }
    }

    /// Returns the array of an array's converted elements; `None` if they cannot be converted.
    fn each_of(
        &mut self,
        array: Expression,
        (from, inside): (IndexSet, &Type),
        (to, wanted): (IndexSet, &Type),
    ) -> Result<Option<ExpressionKind>, Box<Message>> {
        let span = array.span;
        let variable = self.hidden(to.index_type(), span);
        let number = self.read(variable, span);
        let number = self.convert(number, &from.index_type())?;
        let kind = ExpressionKind::Index(Box::new(array), Box::new(number));
        let element = Expression { kind, content: inside.clone(), span };
        let body = self.convert(element, wanted).ok().map(Box::new);
        Ok(body.map(|body| ExpressionKind::Each { variable, over: to, body }))
    }

    /// Returns a type to which both can be converted, so that they can be compared.
    pub fn join(left: &Expression, right: &Expression) -> Option<Type> {
        join(&left.content, &right.content)
    }
}

fn mismatch(found: &Type, expected: &Type) -> Box<Message> {
    Box::new(types::mismatch(expected, found))
}

fn join(left: &Type, right: &Type) -> Option<Type> {
    if left == right {
        return Some(left.clone());
    }
    match (left, right) {
        (Type::Optional(left), Type::Optional(right)) => match (&**left, &**right) {
            // Both are numbers, which need no conversion.
            (Type::Integer { .. }, Type::Integer { .. }) => {
                Some(Type::Optional(Box::new(join(left, right)?)))
            }
            _ => None,
        },
        (Type::Optional(inside), other) | (other, Type::Optional(inside)) => {
            let inside = &**inside;
            let joined = join(inside, other)?;
            // The content of the optional side cannot be converted.
            let kept = joined == *inside
                || matches!((inside, &joined), (Type::Integer { .. }, Type::Integer { .. }));
            kept.then(|| Type::Optional(Box::new(joined)))
        }
        (Type::Process, Type::Segment) | (Type::Segment, Type::Process) => Some(left.clone()),
        (Type::Counter, Type::Integer { .. }) | (Type::Integer { .. }, Type::Counter) => {
            Some(Type::Counter)
        }
        (Type::Array { .. }, Type::Array { .. }) => Some(left.clone()),
        _ => {
            let (low, high) = range::hull(range::numbers(left)?, range::numbers(right)?);
            Some(Type::Integer { low, high })
        }
    }
}
