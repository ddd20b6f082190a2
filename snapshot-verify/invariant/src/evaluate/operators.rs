//! Operators, quantifiers and comparisons of unknown values.

use snapshot_language::Span;
use snapshot_language::program::{
    Binary, Bound, Expression, ExpressionKind, IndexSet, LocalId, Type,
};

use super::{Scope, Stop, plain};
use crate::byte::{ANY, BASE, INTEGERS, LOOSE, NONE, OTHER, T, integer, number, truth};
use crate::clock;
use crate::cursor;
use crate::flips::{class, is_symbol};
use crate::layout::{Leaf, Scalar, each_leaf, fixed, numbers_processes};

impl Scope<'_, '_> {
    pub(super) fn quantified(
        &mut self,
        all: bool,
        variable: LocalId,
        over: IndexSet,
        except: Option<&Expression>,
        body: &Expression,
    ) -> Result<Option<bool>, Stop> {
        let except = except.map(|except| self.scalar(except)).transpose()?;
        let is_loose = |byte: u8| over.is_of_names() && byte == BASE + LOOSE;
        let except = except.map(|byte| if is_loose(byte) { ANY } else { byte });
        // Each index, and whether some such index surely exists.
        let mut indices: Vec<(u8, bool)> = match over {
            IndexSet::Range(low, high) => match fixed(low, high) {
                Some((low, high)) => (low..=high).map(|at| (integer(at), true)).collect(),
                None => vec![(ANY, false)],
            },
            _ => self.members.iter().map(|one| (BASE + one, true)).collect(),
        };
        if over.is_of_names() {
            indices.push((BASE + OTHER, false));
        }
        let mut outcome = Some(all);
        for (byte, surely) in indices {
            let is_other = over.is_of_names() && byte == BASE + OTHER;
            if byte != ANY && !is_other && except == Some(byte) {
                continue;
            }
            let surely = surely && except != Some(ANY);
            let holds = self.with(variable, byte, |scope| scope.holds(body))?;
            outcome = match (outcome, holds) {
                (Some(decided), _) if decided != all => outcome,
                (_, Some(holds)) if holds == all => outcome,
                (_, Some(_)) if surely => Some(!all),
                _ => None,
            };
        }
        Ok(outcome)
    }

    pub(super) fn checked(
        &mut self,
        inner: &Expression,
        content: &Type,
        span: Span,
    ) -> Result<u8, Stop> {
        let Type::Integer { low, high } = content else {
            let byte = self.scalar(inner)?;
            // A process owns the segment of the same number.
            if matches!(inner.content, Type::Process | Type::Segment) {
                return Ok(byte);
            }
            return match numbers_processes(&inner.content) {
                true => self.computed(inner),
                false => Err(Stop::Fault(span)),
            };
        };
        let Some((low, high)) = fixed(*low, *high) else { return Err(Stop::Fault(span)) };
        let (least, most) = self.interval(inner)?;
        if least < low || most > high {
            return Err(Stop::Fault(span));
        }
        Ok(if least == most { integer(least) } else { ANY })
    }

    /// Returns the process, or segment, of a number that is one of all processes.
    fn computed(&mut self, number: &Expression) -> Result<u8, Stop> {
        const N: Bound = Bound { times_n: 1, plus: 0 };
        match plain(number) {
            ExpressionKind::Remainder(of, by) if of.content == Type::Counter && *by == N => {
                Ok(cursor::place(self.scalar(of)?, 0))
            }
            _ => self.scalar(number).map(|_| ANY),
        }
    }

    /// Returns the range of an expression's integer.
    pub(super) fn interval(&mut self, expression: &Expression) -> Result<(i64, i64), Stop> {
        let far = (i64::from(i32::MIN), i64::from(i32::MAX));
        if let ExpressionKind::Binary(operator, left, right) = &expression.kind {
            let (one, two) = (self.interval(left)?, self.interval(right)?);
            return Ok(match operator {
                Binary::Add => (one.0 + two.0, one.1 + two.1),
                Binary::Subtract => (one.0 - two.1, one.1 - two.0),
                _ => far,
            });
        }
        let byte = self.scalar(expression)?;
        Ok(match (&expression.content, byte) {
            (Type::Integer { low, high }, ANY) => fixed(*low, *high).unwrap_or(far),
            (Type::Integer { .. }, byte) => (number(byte), number(byte)),
            (Type::Counter, byte) => clock::range(byte),
            _ => far,
        })
    }

    pub(super) fn binary(
        &mut self,
        operator: Binary,
        left: &Expression,
        right: &Expression,
    ) -> Result<u8, Stop> {
        let three = |truth_of: Option<bool>| truth_of.map_or(ANY, truth);
        Ok(match operator {
            Binary::And | Binary::Or => {
                let decides = Some(operator == Binary::Or);
                let one = self.holds(left)?;
                if one == decides {
                    return Ok(three(one));
                }
                let two = self.holds(right)?;
                three(if two == decides || one.is_some() { two } else { None })
            }
            Binary::Equal | Binary::NotEqual => {
                let (one, two) = (self.row(left)?, self.row(right)?);
                // The type of the operands; if one is `none`, the type of the other.
                let content = match left.kind {
                    ExpressionKind::None => &right.content,
                    _ => &left.content,
                };
                let equal = self.equal(content, &one, &two);
                three(equal.map(|equal| equal == (operator == Binary::Equal)))
            }
            Binary::Less | Binary::LessOrEqual => {
                let (one, two) = (self.interval(left)?, self.interval(right)?);
                let reach = i64::from(operator == Binary::Less);
                match (one.1 + reach <= two.0, one.0 + reach > two.1) {
                    (true, _) => truth(true),
                    (_, true) => truth(false),
                    _ => ANY,
                }
            }
            Binary::Add | Binary::Subtract => {
                let (one, two) = (self.interval(left)?, self.interval(right)?);
                let number = match operator {
                    Binary::Add => (one.0 + two.0, one.1 + two.1),
                    _ => (one.0 - two.1, one.1 - two.0),
                };
                let fits = number.0 == number.1 && INTEGERS.contains(&number.0);
                if fits { integer(number.0) } else { ANY }
            }
        })
    }

    /// Returns true if two rows of a type are equal.
    pub fn equal(&self, content: &Type, one: &[u8], two: &[u8]) -> Option<bool> {
        let mut equal = Some(true);
        let mut pairs = one.iter().zip(two);
        each_leaf(content, self.layout.tokens(), 0, &mut |leaf, members| {
            let (one, two) = pairs.next().unwrap_or((&ANY, &ANY));
            // An array by process has elements that are not shown; members that are not present may
            // have no element.
            let is_there = self.members.iter().fold(members, |left, one| left & !(1 << one)) == 0;
            let same = same(leaf, *one, *two);
            let mut same = same.filter(|same| is_there && (!same || members == 0));
            if self.symbols_differ && leaf.scalar == Scalar::Bool && is_symbol(*one) {
                same = Some(false);
            }
            equal = match (equal, same) {
                (Some(false), _) | (_, Some(false)) => Some(false),
                (Some(true), Some(true)) => Some(true),
                _ => None,
            };
        });
        equal
    }
}

/// Returns true if two scalars are equal.
fn same(leaf: Leaf, one: u8, two: u8) -> Option<bool> {
    match leaf.scalar {
        _ if one == ANY || two == ANY => None,
        _ if one == NONE || two == NONE => Some(one == two),
        Scalar::Member if one == BASE + OTHER && two == BASE + OTHER => None,
        // Some process that is not t.
        Scalar::Member if one == BASE + LOOSE || two == BASE + LOOSE => {
            (one == BASE + T || two == BASE + T).then_some(false)
        }
        Scalar::Counter => clock::equal(one, two),
        Scalar::Value | Scalar::View | Scalar::Lost => None,
        // Comparable are two symbols of one class and two truth values; otherwise nothing is known.
        Scalar::Bool if is_symbol(one) || is_symbol(two) => {
            let is_comparable = is_symbol(one) && is_symbol(two) && class(one) == class(two);
            is_comparable.then_some(one == two)
        }
        _ => Some(one == two),
    }
}
