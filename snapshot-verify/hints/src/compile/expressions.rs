//! Expressions as terms.
//!
//! A term is the expression with every place resolved. Unsupported expressions (numbers of
//! processes, counters, ranges that depend on n) are unknown terms: they may have any value.

use snapshot_language::Span;
use snapshot_language::program::{
    Binary, Bound, Expression, ExpressionKind, LocalId, ProcedureId, Program, Statement,
    StatementKind, Type,
};

use super::holds_view;
use super::layout::over;
use crate::model::{Model, Part, Room, Unsupported};
use crate::shape::{BASE, Bytes, Leaf, Mode, NONE, OWN, PLACES, Scalar, Shape, integer};
use crate::term::{Operand, Other, Over, Term, Wide};

/// Inputs of the compilation of expressions.
#[derive(Clone, Copy)]
pub(super) struct Scope<'a> {
    pub(super) program: &'a Program,
    pub(super) model: &'a Model,
    pub(super) procedure: Option<ProcedureId>,
    /// True if there are loops in loops, so that "any other" may be two processes.
    pub(super) nested: bool,
    /// True for code, false for an initial value.
    pub(super) procedure_code: bool,
}

impl Scope<'_> {
    pub(super) fn mode(&self) -> Mode {
        self.model.obligation.mode
    }

    pub(super) fn shape(&self, content: &Type) -> Shape {
        Shape::of(content, self.mode())
    }

    pub(super) fn room(&self, local: LocalId) -> Room {
        let procedure = self.procedure.expect("only procedures have locals");
        self.model.frames[procedure.0 as usize].locals[local.0 as usize].clone()
    }

    /// Compiles an initial value: as any other expression, except that views are not scanned.
    pub(super) fn initial(&self, expression: &Expression) -> Result<Term, Unsupported> {
        self.term(expression)
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
            ExpressionKind::InitialValue => byte(OWN),
            ExpressionKind::FirstVersion => byte(BASE),
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
                        Shape::Leaf(Leaf { scalar: Scalar::Integer { low, count: many }, .. }),
                        Shape::Leaf(Leaf { scalar: Scalar::Integer { low: to, count }, .. }),
                    ) => {
                        let from = (low, i32::from(many));
                        self.checked(self.term(inner)?, from, *to, *count, span)
                    }
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
                let room = &self.model.private[id.0 as usize].0;
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
                            let taken = Term::Taken(self.boxed(array)?, span);
                            self.also(&[index], taken)
                        }
                        _ => self.unseen(&[array, index], shape),
                    };
                }
                let scratch = !is_private(array) && self.is_scratch(index);
                Term::Index {
                    array: self.boxed(array)?,
                    element: shape,
                    index: Box::new(self.index(index, over(*set))?),
                    over: over(*set),
                    other: if scratch { Other::Scratch } else { Other::Unknown },
                    span,
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
                if self.procedure_code && holds_view(&element.content) =>
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
                let variable = self.room(*variable).base;
                match shape {
                    Shape::Leaf(Leaf { scalar: Scalar::View, .. }) => {
                        Term::Made { variable, body: self.boxed(body)? }
                    }
                    Shape::Leaf(_) => {
                        let body = self.boxed(body)?;
                        let each = Term::Each { variable, over: over(*set), body };
                        self.after(vec![each], Term::Unknown(shape))
                    }
                    _ => Term::Each { variable, over: over(*set), body: self.boxed(body)? },
                }
            }
            ExpressionKind::Quantified { all, variable, over: set, except, body } => {
                let except = except.as_deref().map(|except| self.boxed(except)).transpose()?;
                Term::Quantified {
                    all: *all,
                    variable: self.room(*variable).base,
                    over: over(*set),
                    except,
                    body: self.boxed(body)?,
                }
            }
            ExpressionKind::Unwrap(inner) => Term::Unwrap(self.boxed(inner)?, span),
            ExpressionKind::Not(inner) => Term::Not(self.boxed(inner)?),
            ExpressionKind::Binary(operator, left, right) => {
                self.binary(*operator, left, right, &shape, span)?
            }
            ExpressionKind::If(condition, then, otherwise) => {
                let branches = (self.boxed(then)?, self.boxed(otherwise)?);
                Term::If(self.boxed(condition)?, branches.0, branches.1, shape)
            }
            ExpressionKind::Remainder(inner, _) | ExpressionKind::Quotient(inner, _) => {
                self.unseen(&[inner], shape)?
            }
            ExpressionKind::Fresh => Term::Fresh,
            // Only objects have lists and nodes, and they are not compiled.
            ExpressionKind::List(..) | ExpressionKind::InitialNode(_) => Term::Unknown(shape),
        })
    }

    /// Returns true if an index is the variable of the enclosing loop, and there is no other loop
    /// around.
    pub(super) fn is_scratch(&self, index: &Expression) -> bool {
        let mut index = index;
        while let ExpressionKind::Convert(inner) = &index.kind {
            index = inner;
        }
        let ExpressionKind::Local(id) = index.kind else { return false };
        let Some(procedure) = self.procedure else { return false };
        let mut is = false;
        Statement::each(&self.program.procedure(procedure).body, &mut |statement| {
            is |= matches!(statement.kind, StatementKind::For { variable, .. } if variable == id);
        });
        is && !self.nested
    }

    /// Compiles an integer that must be in a range.
    pub(super) fn checked(
        &self,
        inner: Term,
        from: (i32, i32),
        to: i32,
        count: u8,
        span: Span,
    ) -> Term {
        if let Term::Constant(bytes) = &inner
            && (to..to + i32::from(count)).any(|number| bytes.as_slice() == [integer(number)])
        {
            return inner;
        }
        let wide = Wide { low: to, count: i32::from(count), span };
        let zero = Term::Constant(Bytes::from_slice(&[integer(0)]));
        let zero = Operand { term: zero, low: 0, count: 1 };
        let inner = Operand { term: inner, low: from.0, count: from.1 };
        Term::Arithmetic(Binary::Add, Box::new(inner), Box::new(zero), wide)
    }

    /// Compiles an index: a member, or an integer of the range.
    pub(super) fn index(&self, index: &Expression, over: Over) -> Result<Term, Unsupported> {
        let term = self.term(index)?;
        match over {
            Over::Members => Ok(term),
            Over::Range(low, count) => match self.low_of(index) {
                Some(from) => Ok(self.checked(term, from, low, count as u8, index.span)),
                None => {
                    let lost = Shape::Leaf(Leaf { scalar: Scalar::Lost, optional: false });
                    Ok(self.after(vec![term], Term::Unknown(lost)))
                }
            },
            Over::Many => Ok(term),
        }
    }

    pub(super) fn low_of(&self, expression: &Expression) -> Option<(i32, i32)> {
        match self.shape(&expression.content) {
            Shape::Leaf(Leaf { scalar: Scalar::Integer { low, count }, optional: false }) => {
                Some((low, i32::from(count)))
            }
            _ => None,
        }
    }

    pub(super) fn binary(
        &self,
        operator: Binary,
        left: &Expression,
        right: &Expression,
        shape: &Shape,
        span: Span,
    ) -> Result<Term, Unsupported> {
        let terms = (self.boxed(left)?, self.boxed(right)?);
        Ok(match operator {
            Binary::And => Term::Connected(true, terms.0, terms.1),
            Binary::Or => Term::Connected(false, terms.0, terms.1),
            Binary::Equal | Binary::NotEqual => {
                let negated = operator == Binary::NotEqual;
                let leaves = leaves(&self.shape(&left.content));
                if !alike(&leaves, &self.shape(&right.content)) {
                    return Err(Unsupported { span, construct: "this comparison" });
                }
                Term::Equal { negated, left: terms.0, right: terms.1, leaves }
            }
            Binary::Less | Binary::LessOrEqual | Binary::Add | Binary::Subtract => {
                let wide = match shape {
                    Shape::Leaf(Leaf { scalar: Scalar::Integer { low, count }, .. }) => {
                        Wide { low: *low, count: i32::from(*count), span }
                    }
                    _ => Wide { low: 0, count: 0, span },
                };
                match (self.low_of(left), self.low_of(right)) {
                    (Some(one), Some(two)) => Term::Arithmetic(
                        operator,
                        Box::new(Operand { term: *terms.0, low: one.0, count: one.1 }),
                        Box::new(Operand { term: *terms.1, low: two.0, count: two.1 }),
                        wide,
                    ),
                    _ => self.after(vec![*terms.0, *terms.1], Term::Unknown(shape.clone())),
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
        self.mode() == Mode::Nested && self.model.obligation.part != Part::Tokens
    }
}

/// Returns true for a part of a private variable: procedures called within a round store there,
/// too, in their own rounds.
fn is_private(expression: &Expression) -> bool {
    match &expression.kind {
        ExpressionKind::Private(_) => true,
        ExpressionKind::Index(whole, _) | ExpressionKind::Field(whole, _) => is_private(whole),
        _ => false,
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

/// Returns the bytes of a shape, each with the indices that lead to it.
pub(super) fn leaves(shape: &Shape) -> Vec<(Leaf, Bytes)> {
    let mut found = Vec::new();
    shape.each(&mut Vec::new(), &mut |leaf, path| found.push((leaf, Bytes::from_slice(path))));
    found
}

/// Returns true if a shape has these scalars, so that bytes can be compared.
pub(super) fn alike(leaves: &[(Leaf, Bytes)], shape: &Shape) -> bool {
    let others = self::leaves(shape);
    let same = |one: Leaf, two: Leaf| match (one.scalar, two.scalar) {
        (Scalar::Integer { .. }, Scalar::Integer { .. }) => true,
        (one, two) => one == two,
    };
    others.len() == leaves.len() && leaves.iter().zip(&others).all(|(one, two)| same(one.0, two.0))
}
