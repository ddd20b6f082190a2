//! Expressions as terms.
//!
//! A term is the expression with every place resolved. Unsupported expressions (numbers of
//! processes, counters, ranges that depend on n) are unknown terms: they may have any value.

use snapshot_language::Span;
use snapshot_language::program::{
    Binary, Bound, Expression, ExpressionKind, LocalId, ProcedureId, Program, Type,
};

use super::holds_view;
use super::layout::over;
use crate::model::{Model, Room, Unsupported};
use crate::shape::{BASE, Bytes, Leaf, Mode, NONE, PLACES, Scalar, Shape, integer};
use crate::term::{Over, Term};

/// Inputs of the compilation of expressions.
#[derive(Clone, Copy)]
pub(super) struct Scope<'a> {
    pub(super) program: &'a Program,
    pub(super) model: &'a Model,
    pub(super) procedure: ProcedureId,
}

impl Scope<'_> {
    pub(super) fn mode(&self) -> Mode {
        self.model.goal.mode()
    }

    pub(super) fn shape(&self, content: &Type) -> Shape {
        Shape::new(content, self.mode())
    }

    pub(super) fn room(&self, local: LocalId) -> Room {
        self.model.frames[self.procedure.0 as usize].locals[local.0 as usize].clone()
    }

    pub(super) fn terms(&self, expressions: &[Expression]) -> Result<Vec<Term>, Unsupported> {
        expressions.iter().map(|expression| self.term(expression)).collect()
    }

    pub(super) fn boxed(&self, expression: &Expression) -> Result<Box<Term>, Unsupported> {
        Ok(Box::new(self.term(expression)?))
    }

    pub(super) fn term(&self, of: &Expression) -> Result<Term, Unsupported> {
        let byte = |byte: u8| Term::Constant(Bytes::from_slice(&[byte]));
        let span = of.span;
        let shape = self.shape(&of.content);
        Ok(match &of.kind {
            ExpressionKind::Bool(data) => byte(BASE + u8::from(*data)),
            ExpressionKind::Integer(bound) if !fits(&of.content, *bound) => {
                return Err(Unsupported { span, construct: "a number out of range for some n" });
            }
            ExpressionKind::Integer(bound) => match shape {
                Shape::Leaf(Leaf { scalar: Scalar::Integer { low, count }, .. })
                    if bound.times_n == 0
                        && (low..low + i32::from(count)).contains(&bound.plus) =>
                {
                    byte(integer(bound.plus))
                }
                shape => Term::Unknown(shape),
            },
            ExpressionKind::Process(bound) | ExpressionKind::Segment(bound)
                if !is_within((Bound::constant(0), Bound { times_n: 1, plus: -1 }), *bound) =>
            {
                return Err(Unsupported { span, construct: "a process that there may not be" });
            }
            // The member with this number depends on n, i and j.
            ExpressionKind::Process(_) | ExpressionKind::Segment(_) => Term::Unknown(shape),
            ExpressionKind::None => byte(NONE),
            ExpressionKind::InitialValue | ExpressionKind::FirstVersion => byte(BASE),
            ExpressionKind::Counter(_) => Term::Unknown(shape),
            ExpressionKind::Successor(inner) => self.unseen(&[inner], shape)?,
            ExpressionKind::Me => Term::Me,
            ExpressionKind::Convert(inner) => self.term(inner)?,
            ExpressionKind::Some(inner) => match (self.shape(&inner.content), shape) {
                (Shape::Leaf(one), Shape::Leaf(two)) if one.scalar == two.scalar => {
                    self.term(inner)?
                }
                (
                    Shape::Leaf(Leaf { scalar: Scalar::Integer { .. }, .. }),
                    Shape::Leaf(Leaf { scalar: Scalar::Integer { .. }, .. }),
                ) => self.term(inner)?,
                (_, shape) => self.unseen(&[inner], shape)?,
            },
            ExpressionKind::Checked(inner) => {
                let from = self.shape(&inner.content);
                match (from, &shape) {
                    (
                        Shape::Leaf(Leaf { scalar: Scalar::Member, .. }),
                        Shape::Leaf(Leaf { scalar: Scalar::Member, .. }),
                    ) => self.term(inner)?,
                    (
                        Shape::Leaf(Leaf { scalar: Scalar::Integer { .. }, .. }),
                        Shape::Leaf(Leaf { scalar: Scalar::Integer { low, count }, .. }),
                    ) => checked(self.term(inner)?, *low, *count),
                    // Some process, with any number.
                    (_, Shape::Leaf(Leaf { scalar: Scalar::Member, optional: false }))
                        if numbers_processes(&inner.content) =>
                    {
                        self.unseen(&[inner], shape)?
                    }
                    _ => {
                        return Err(Unsupported {
                            span,
                            construct: "a number that is turned into a process, a segment or a \
                                        range that depends on n",
                        });
                    }
                }
            }
            ExpressionKind::NumberOf(_) | ExpressionKind::ValueOf(_) => {
                return Err(Unsupported { span, construct: "the number of a value" });
            }
            ExpressionKind::Local(id) => {
                let room = self.room(*id);
                Term::Variable(room.base, room.size)
            }
            ExpressionKind::Private(id) => {
                let room = &self.model.private[id.0 as usize];
                Term::Variable(room.base, room.size)
            }
            ExpressionKind::Index(array, index) => {
                let Type::Array { index: set, .. } = &array.content else {
                    unreachable!("only arrays have elements")
                };
                if let Shape::Leaf(leaf) = self.shape(&array.content) {
                    return match leaf.scalar {
                        // The evaluation checks its token.
                        Scalar::View => {
                            let taken = Term::Computed(vec![self.term(array)?], false);
                            self.also(&[index], taken)
                        }
                        _ => self.unseen(&[array, index], shape),
                    };
                }
                Term::Index {
                    array: self.boxed(array)?,
                    element: shape,
                    index: Box::new(self.index(index, over(*set))?),
                    over: over(*set),
                }
            }
            ExpressionKind::Field(record, position) => {
                let record_shape = self.shape(&record.content);
                let (offset, field) = record_shape.field(*position);
                Term::Part(self.boxed(record)?, offset, field.size())
            }
            ExpressionKind::Record(fields) => Term::Row(self.terms(fields)?),
            ExpressionKind::With(record, fields) => {
                let record_shape = self.shape(&record.content);
                let fields = fields.iter().map(|(position, field)| {
                    Ok((record_shape.field(*position).0, self.term(field)?))
                });
                Term::With(self.boxed(record)?, fields.collect::<Result<_, Unsupported>>()?)
            }
            ExpressionKind::Filled(element) | ExpressionKind::Each { body: element, .. }
                if holds_view(&element.content) =>
            {
                return Err(Unsupported { span, construct: "an array of views, computed" });
            }
            ExpressionKind::Filled(element) => match shape {
                Shape::Leaf(Leaf { scalar: Scalar::View, .. }) => {
                    // All elements are values, and none belongs to a view.
                    self.term(element)?
                }
                Shape::Leaf(_) => self.unseen(&[element], shape)?,
                Shape::Members(_) => Term::Filled(self.boxed(element)?, PLACES),
                Shape::Range(_, count, _) => Term::Filled(self.boxed(element)?, count),
                Shape::Record(_) => unreachable!("only arrays are filled"),
            },
            ExpressionKind::Each { variable, over: set, body } => {
                let (variable, body) = (self.room(*variable).base, self.boxed(body)?);
                let each = Term::Each { variable, over: over(*set), body };
                match shape {
                    // A view that is a token is made of the values.
                    Shape::Leaf(Leaf { scalar: Scalar::View, .. }) => {
                        Term::Computed(vec![each], false)
                    }
                    Shape::Leaf(_) => self.after(vec![each], Term::Unknown(shape)),
                    _ => each,
                }
            }
            ExpressionKind::Quantified { variable, over: set, except, body, .. } => {
                let except = except.as_deref().map(|except| self.boxed(except)).transpose()?;
                Term::Quantified {
                    variable: self.room(*variable).base,
                    over: over(*set),
                    except,
                    body: self.boxed(body)?,
                }
            }
            ExpressionKind::Unwrap(inner) => Term::Unwrap(self.boxed(inner)?),
            ExpressionKind::Not(inner) => Term::Not(self.boxed(inner)?),
            ExpressionKind::Binary(operator, left, right) => {
                self.binary(*operator, left, right, shape, span)?
            }
            ExpressionKind::If(condition, then, otherwise) => {
                let branches = (self.boxed(then)?, self.boxed(otherwise)?);
                Term::If(self.boxed(condition)?, branches.0, branches.1, shape)
            }
            ExpressionKind::Remainder(inner, _) | ExpressionKind::Quotient(inner, _) => {
                self.unseen(&[inner], shape)?
            }
            ExpressionKind::Fresh => Term::Computed(Vec::new(), false),
            // Only objects have lists and nodes, and they are not compiled.
            ExpressionKind::List(..) | ExpressionKind::InitialNode(_) => Term::Unknown(shape),
        })
    }

    /// Compiles an index: a member, or an integer of the range.
    pub(super) fn index(&self, index: &Expression, over: Over) -> Result<Term, Unsupported> {
        let term = self.term(index)?;
        match over {
            Over::Members => Ok(term),
            Over::Range(low, count) => match self.is_number(index) {
                true => Ok(checked(term, low, count as u8)),
                false => {
                    let lost = Shape::Leaf(Leaf { scalar: Scalar::Lost, optional: false });
                    Ok(self.after(vec![term], Term::Unknown(lost)))
                }
            },
            Over::Many => Ok(term),
        }
    }

    fn is_number(&self, expression: &Expression) -> bool {
        let shape = self.shape(&expression.content);
        matches!(shape, Shape::Leaf(Leaf { scalar: Scalar::Integer { .. }, optional: false }))
    }

    fn binary(
        &self,
        operator: Binary,
        left: &Expression,
        right: &Expression,
        shape: Shape,
        span: Span,
    ) -> Result<Term, Unsupported> {
        let terms = (self.boxed(left)?, self.boxed(right)?);
        Ok(match operator {
            Binary::And | Binary::Or => Term::Connected(terms.0, terms.1),
            Binary::Equal | Binary::NotEqual => {
                if !alike(&self.shape(&left.content), &self.shape(&right.content)) {
                    return Err(Unsupported { span, construct: "this comparison" });
                }
                Term::Equal(operator == Binary::NotEqual, terms.0, terms.1)
            }
            Binary::Less | Binary::LessOrEqual | Binary::Add | Binary::Subtract => {
                let terms = vec![*terms.0, *terms.1];
                let scalar = match &shape {
                    Shape::Leaf(leaf) => Some(leaf.scalar),
                    _ => None,
                };
                match self.is_number(left) && self.is_number(right) {
                    true => Term::Computed(terms, matches!(scalar, Some(Scalar::Integer { .. }))),
                    false => self.after(terms, Term::Unknown(shape)),
                }
            }
        })
    }

    /// Returns an unknown term in place of these unsupported expressions.
    fn unseen(&self, of: &[&Expression], shape: Shape) -> Result<Term, Unsupported> {
        self.also(of, Term::Unknown(shape))
    }

    /// Returns a term whose value ignores these expressions; their faults remain.
    fn also(&self, of: &[&Expression], value: Term) -> Result<Term, Unsupported> {
        Ok(match self.fallible(of)? {
            before if before.is_empty() => value,
            before => Term::Also(before, Box::new(value)),
        })
    }

    /// Returns a term that is evaluated after others, where faults in these matter.
    fn after(&self, mut before: Vec<Term>, value: Term) -> Term {
        before.retain(|term| self.excludes_faults() && term.may_fail());
        if before.is_empty() { value } else { Term::Also(before, Box::new(value)) }
    }

    /// Returns the expressions in which the program may go wrong, where that matters.
    pub(super) fn fallible(&self, of: &[&Expression]) -> Result<Vec<Term>, Unsupported> {
        if !self.excludes_faults() {
            return Ok(Vec::new());
        }
        let mut terms =
            of.iter().map(|one| self.term(one)).collect::<Result<Vec<_>, Unsupported>>()?;
        terms.retain(Term::may_fail);
        Ok(terms)
    }

    /// Returns true if the obligation excludes faults.
    fn excludes_faults(&self) -> bool {
        self.model.goal.excludes_faults()
    }
}

/// Returns an integer that must be in a range.
fn checked(inner: Term, low: i32, count: u8) -> Term {
    let mut numbers = low..low + i32::from(count);
    match &inner {
        Term::Constant(bytes) if numbers.any(|one| bytes.as_slice() == [integer(one)]) => inner,
        _ => Term::Computed(vec![inner], true),
    }
}

/// Returns true if a number has its type, for every n >= 2.
fn fits(content: &Type, number: Bound) -> bool {
    match content {
        Type::Integer { low, high } => is_within((*low, *high), number),
        _ => false,
    }
}

/// Returns true if a number is in a range, for every n >= 2.
fn is_within((low, high): (Bound, Bound), number: Bound) -> bool {
    // Both differences grow with n, or stay, and are right for two processes.
    let is_below = |one: Bound, two: Bound| one.times_n <= two.times_n && one.at(2) <= two.at(2);
    is_below(low, number) && is_below(number, high)
}

/// Returns true if each integer of a type is the number of a process, for every n >= 2.
fn numbers_processes(content: &Type) -> bool {
    let Type::Integer { low, high } = content else { return false };
    let is_below_n = match high.times_n {
        0 => high.plus <= 1,
        1 => high.plus <= -1,
        _ => false,
    };
    low.times_n == 0 && low.plus >= 0 && is_below_n
}

/// Returns true if two shapes have the same scalars, so that bytes can be compared.
fn alike(one: &Shape, two: &Shape) -> bool {
    let scalars = |shape: &Shape| {
        let mut found = Vec::new();
        shape.each(&mut Vec::new(), &mut |leaf, _| found.push(leaf.scalar));
        found
    };
    let same = |(one, two): (&Scalar, &Scalar)| match (one, two) {
        (Scalar::Integer { .. }, Scalar::Integer { .. }) => true,
        (one, two) => one == two,
    };
    let (one, two) = (scalars(one), scalars(two));
    one.len() == two.len() && one.iter().zip(&two).all(same)
}
