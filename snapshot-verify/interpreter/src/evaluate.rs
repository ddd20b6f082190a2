//! Semantics of expressions.
//!
//! An expression reads only the variables of its own process. It changes only the index variables
//! of its quantifiers, and the supply of versions.

use super::data::{Data, offset, range};
use super::fault::{Fault, FaultKind};
use crate::language::Span;
use crate::program::{
    Binary, Bound, Expression, ExpressionKind, IndexSet, ListOperation, LocalId, NodeId, Type,
};

/// Variables that an expression can read.
#[derive(Debug)]
pub(super) struct Scope<'a> {
    pub n: usize,
    pub me: usize,
    pub locals: &'a mut Vec<Data>,
    pub private: &'a [Data],
    /// Version that `fresh` creates next.
    pub fresh: &'a mut u32,
}

/// Evaluated selection of a part of an array or record.
#[derive(Clone, Copy, Debug)]
pub(super) struct Selector {
    offset: usize,
}

impl Selector {
    /// Selects a field of a record.
    pub const fn field(position: usize) -> Self {
        Self { offset: position }
    }

    /// Selects an element of an array.
    pub fn element(index: i64, over: IndexSet, n: usize, span: Span) -> Result<Self, Fault> {
        let bounds = over.bounds(n);
        let (low, high) = (i64::from(bounds.0), i64::from(bounds.1));
        let offset = offset(index, bounds)
            .ok_or_else(|| FaultKind::OutOfRange { given: index, low, high }.at(span))?;
        Ok(Self { offset })
    }

    /// Returns the selected part.
    pub fn of(self, whole: &Data) -> &Data {
        match whole {
            Data::Parts(parts) => &parts[self.offset],
            _ => unreachable!("a well-typed path leads through arrays and records"),
        }
    }

    /// Returns the selected part, mutably.
    pub fn of_mut(self, whole: &mut Data) -> &mut Data {
        match whole {
            Data::Parts(parts) => &mut parts[self.offset],
            _ => unreachable!("a well-typed path leads through arrays and records"),
        }
    }
}

/// Returns the number, if it is in the range of its type.
pub(super) fn in_range(given: i64, content: &Type, n: usize, span: Span) -> Result<Data, Fault> {
    match range(content, n) {
        Some((low, high)) if !(low..=high).contains(&given) => {
            Err(FaultKind::OutOfRange { given, low, high }.at(span))
        }
        _ => Ok(Data::Number(given)),
    }
}

/// Returns the indices of a set.
pub(super) fn indices(over: IndexSet, n: usize) -> impl Iterator<Item = i64> {
    let (low, high) = over.bounds(n);
    (i64::from(low)..=i64::from(high)).filter(move |_| low <= high)
}

impl Scope<'_> {
    pub fn evaluate(&mut self, expression: &Expression) -> Result<Data, Fault> {
        let span = expression.span;
        Ok(match &expression.kind {
            ExpressionKind::Bool(data) => Data::Bool(*data),
            ExpressionKind::Integer(bound)
            | ExpressionKind::Process(bound)
            | ExpressionKind::Segment(bound) => {
                in_range(i64::from(bound.at(self.n)), &expression.content, self.n, span)?
            }
            ExpressionKind::None => Data::None,
            ExpressionKind::InitialValue => Data::Value(0),
            ExpressionKind::InitialNode(number) => match expression.content {
                Type::Node { id, .. } => Data::Node { id, number: *number },
                _ => unreachable!("a node has a type of nodes"),
            },
            ExpressionKind::FirstVersion => Data::Version(0),
            ExpressionKind::Counter(number) => Data::Counter(u64::from(*number)),
            ExpressionKind::Me => Data::Number(self.me as i64),
            ExpressionKind::Convert(inner) | ExpressionKind::Some(inner) => self.evaluate(inner)?,
            ExpressionKind::Checked(inner) => {
                let number = self.number(inner)?;
                in_range(number, &expression.content, self.n, span)?
            }
            ExpressionKind::NumberOf(inner) => match self.evaluate(inner)? {
                Data::Value(value) => Data::Number(i64::from(value)),
                _ => unreachable!("only values have numbers"),
            },
            ExpressionKind::ValueOf(inner) => {
                let number = u32::try_from(self.number(inner)?);
                Data::Value(number.expect("a number of the operand's type is one of a value"))
            }
            ExpressionKind::Local(_)
            | ExpressionKind::Private(_)
            | ExpressionKind::Index(..)
            | ExpressionKind::Field(..) => self.variable(expression)?,
            ExpressionKind::Record(fields) => {
                let fields: Result<_, _> =
                    fields.iter().map(|field| self.evaluate(field)).collect();
                Data::Parts(fields?)
            }
            ExpressionKind::Filled(element) => {
                let Type::Array { index, .. } = &expression.content else {
                    unreachable!("only arrays are filled")
                };
                let element = self.evaluate(element)?;
                Data::Parts(indices(*index, self.n).map(|_| element.clone()).collect())
            }
            ExpressionKind::With(record, fields) => {
                let mut record = self.evaluate(record)?;
                for (position, field) in fields {
                    *Selector::field(*position).of_mut(&mut record) = self.evaluate(field)?;
                }
                record
            }
            ExpressionKind::Each { variable, over, body } => {
                let elements: Result<_, _> = indices(*over, self.n)
                    .map(|index| self.with(*variable, index, |scope| scope.evaluate(body)))
                    .collect();
                Data::Parts(elements?)
            }
            ExpressionKind::Quantified { all, variable, over, except, body } => {
                let except = except.as_deref().map(|except| self.number(except)).transpose()?;
                let mut outcome = *all;
                for index in indices(*over, self.n).filter(|index| Some(*index) != except) {
                    if self.with(*variable, index, |scope| scope.holds(body))? != *all {
                        outcome = !*all;
                        break;
                    }
                }
                Data::Bool(outcome)
            }
            ExpressionKind::Unwrap(inner) => match self.evaluate(inner)? {
                Data::None => return Err(FaultKind::NoneUnwrapped.at(span)),
                data => data,
            },
            ExpressionKind::Not(inner) => Data::Bool(!self.holds(inner)?),
            ExpressionKind::Binary(operator, left, right) => self.binary(*operator, left, right)?,
            ExpressionKind::If(condition, then, otherwise) => {
                let chosen = if self.holds(condition)? { then } else { otherwise };
                self.evaluate(chosen)?
            }
            ExpressionKind::Successor(inner) => match self.evaluate(inner)? {
                Data::Counter(number) => Data::Counter(number + 1),
                _ => unreachable!("only counters have a successor"),
            },
            ExpressionKind::Remainder(inner, modulus) => {
                let modulus = self.divisor(*modulus, span)?;
                Data::Number(match self.evaluate(inner)? {
                    Data::Counter(number) => (number % modulus as u64) as i64,
                    Data::Number(number) => number.rem_euclid(modulus),
                    _ => unreachable!("only counters and integers have a remainder"),
                })
            }
            ExpressionKind::Quotient(inner, divisor) => {
                let divisor = self.divisor(*divisor, span)?;
                Data::Number(self.number(inner)?.div_euclid(divisor))
            }
            ExpressionKind::List(operation, operands) => self.list(*operation, operands, span)?,
            ExpressionKind::Fresh => {
                let fresh = Data::Version(*self.fresh);
                *self.fresh += 1;
                fresh
            }
        })
    }

    /// Returns a divisor, which must be positive.
    fn divisor(&self, divisor: Bound, span: Span) -> Result<i64, Fault> {
        let given = i64::from(divisor.at(self.n));
        match given {
            1.. => Ok(given),
            _ => Err(FaultKind::OutOfRange { given, low: 1, high: i64::from(i32::MAX) }.at(span)),
        }
    }

    fn list(
        &mut self,
        operation: ListOperation,
        operands: &[Expression],
        span: Span,
    ) -> Result<Data, Fault> {
        let operands: Result<Vec<Data>, Fault> =
            operands.iter().map(|operand| self.evaluate(operand)).collect();
        let mut operands = operands?.into_iter();
        let mut next = || operands.next().unwrap_or(Data::Parts(Vec::new()));
        let list = |data| match data {
            Data::Parts(parts) => parts,
            _ => unreachable!("a list has parts"),
        };
        let longer = |parts: Vec<Data>| match parts.len() {
            length if length > ListOperation::LONGEST => {
                Err(FaultKind::ListTooLong { limit: ListOperation::LONGEST }.at(span))
            }
            _ => Ok(Data::Parts(parts)),
        };
        let empty = || FaultKind::EmptyList.at(span);
        match operation {
            ListOperation::Empty => Ok(Data::Parts(Vec::new())),
            ListOperation::Prepend => {
                let mut parts = vec![next()];
                parts.extend(list(next()));
                longer(parts)
            }
            ListOperation::Append => {
                let mut parts = list(next());
                parts.push(next());
                longer(parts)
            }
            ListOperation::First => list(next()).into_iter().next().ok_or_else(empty),
            ListOperation::Rest => {
                let mut parts = list(next());
                if parts.is_empty() {
                    return Err(empty());
                }
                parts.remove(0);
                Ok(Data::Parts(parts))
            }
            ListOperation::Length => Ok(Data::Number(list(next()).len() as i64)),
        }
    }

    /// Evaluates a condition.
    pub fn holds(&mut self, condition: &Expression) -> Result<bool, Fault> {
        match self.evaluate(condition)? {
            Data::Bool(holds) => Ok(holds),
            _ => unreachable!("a condition is a bool"),
        }
    }

    /// Evaluates an integer, a process or a segment to its number.
    pub fn number(&mut self, expression: &Expression) -> Result<i64, Fault> {
        match self.evaluate(expression)? {
            Data::Number(number) => Ok(number),
            _ => unreachable!("an index is a number"),
        }
    }

    /// Evaluates a pointer to its node.
    pub fn node(&mut self, pointer: &Expression) -> Result<(NodeId, u32), Fault> {
        match self.evaluate(pointer)? {
            Data::Node { id, number } => Ok((id, number)),
            Data::None => Err(FaultKind::NoneUnwrapped.at(pointer.span)),
            _ => unreachable!("a pointer points to a node"),
        }
    }

    /// Evaluates the index of a cell: a number, or a node.
    pub fn index(&mut self, expression: &Expression) -> Result<i64, Fault> {
        match expression.content {
            Type::Node { .. } => Ok(i64::from(self.node(expression)?.1)),
            _ => self.number(expression),
        }
    }

    /// Evaluates with the variable of an index set bound, and restores the variable.
    fn with<T>(
        &mut self,
        variable: LocalId,
        index: i64,
        compute: impl FnOnce(&mut Self) -> T,
    ) -> T {
        let slot = variable.0 as usize;
        let outer = std::mem::replace(&mut self.locals[slot], Data::Number(index));
        let result = compute(self);
        self.locals[slot] = outer;
        result
    }

    /// Evaluates a variable or a part of it, without a copy of the whole.
    fn variable(&mut self, expression: &Expression) -> Result<Data, Fault> {
        let mut path = Vec::new();
        let mut base = expression;
        let computed;
        let root = loop {
            match &base.kind {
                ExpressionKind::Field(inner, position) => {
                    path.push(Selector::field(*position));
                    base = inner;
                }
                ExpressionKind::Index(inner, index) => {
                    let Type::Array { index: over, .. } = &inner.content else {
                        unreachable!("only arrays have elements")
                    };
                    let at = self.number(index)?;
                    path.push(Selector::element(at, *over, self.n, index.span)?);
                    base = inner;
                }
                ExpressionKind::Local(id) => break &self.locals[id.0 as usize],
                ExpressionKind::Private(id) => break &self.private[id.0 as usize],
                _ => {
                    computed = self.evaluate(base)?;
                    break &computed;
                }
            }
        };
        Ok(path.iter().rev().fold(root, |whole, part| part.of(whole)).clone())
    }

    fn binary(
        &mut self,
        operator: Binary,
        left: &Expression,
        right: &Expression,
    ) -> Result<Data, Fault> {
        Ok(match operator {
            Binary::And => Data::Bool(self.holds(left)? && self.holds(right)?),
            Binary::Or => Data::Bool(self.holds(left)? || self.holds(right)?),
            Binary::Equal => Data::Bool(self.evaluate(left)? == self.evaluate(right)?),
            Binary::NotEqual => Data::Bool(self.evaluate(left)? != self.evaluate(right)?),
            Binary::Less | Binary::LessOrEqual => {
                let order = match (self.evaluate(left)?, self.evaluate(right)?) {
                    (Data::Number(left), Data::Number(right)) => left.cmp(&right),
                    (Data::Counter(left), Data::Counter(right)) => left.cmp(&right),
                    _ => unreachable!("integers and counters are ordered"),
                };
                Data::Bool(order.is_lt() || (operator == Binary::LessOrEqual && order.is_eq()))
            }
            Binary::Add => Data::Number(self.number(left)? + self.number(right)?),
            Binary::Subtract => Data::Number(self.number(left)? - self.number(right)?),
        })
    }
}
