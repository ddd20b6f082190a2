//! Compiles expressions to terms.

use super::body::Body;
use super::place::Selection;
use super::tree::Tree;
use crate::instance::{Domain, InstanceError, NONE, Operator, Scalar, Term};
use crate::language::Span;
use crate::program::{Binary, Bound, Expression, ExpressionKind, IndexSet, LocalId, Type};

const OUT_OF_RANGE: &str = "a number is out of its range";

impl Body<'_> {
    /// Returns the term of a scalar expression.
    pub(super) fn scalar(&mut self, expression: &Expression) -> Result<Term, InstanceError> {
        Ok(self.evaluate(expression, false)?.into_leaf())
    }

    /// Returns the terms of an expression, and writes the checks for its faults before. If it is
    /// the `whole` value of an assignment, its scalars may be [`Term::Fresh`] and
    /// [`Term::Successor`].
    pub(super) fn evaluate(
        &mut self,
        expression: &Expression,
        whole: bool,
    ) -> Result<Tree<Term>, InstanceError> {
        self.tick()?;
        let mut tree = self.terms_of(expression, whole)?;
        if let Tree::Leaf(term) = &mut tree {
            // The kind depends only on the type.
            let domain = self.size.domain(&expression.content)?;
            let converted = std::mem::replace(term, Term::NONE);
            *term = self.of_kind(converted, domain);
        }
        Ok(tree)
    }

    fn terms_of(
        &mut self,
        expression: &Expression,
        whole: bool,
    ) -> Result<Tree<Term>, InstanceError> {
        let span = expression.span;
        Ok(match &expression.kind {
            ExpressionKind::Bool(bit) => Tree::Leaf(Term::bit(*bit)),
            ExpressionKind::Integer(bound) => Tree::Leaf(Term::Constant(self.size.bound(*bound)?)),
            ExpressionKind::Process(bound) | ExpressionKind::Segment(bound) => {
                let number = Term::Constant(self.size.bound(*bound)?);
                Tree::Leaf(self.checked(number, &expression.content, span)?)
            }
            ExpressionKind::None => Tree::Leaf(Term::NONE),
            ExpressionKind::InitialValue | ExpressionKind::FirstVersion => {
                Tree::Leaf(Term::Constant(0))
            }
            ExpressionKind::Counter(number) => {
                Tree::Leaf(Term::Constant(self.size.bound(Bound::constant(*number as i32))?))
            }
            ExpressionKind::Me => Tree::Leaf(Term::Process(self.me.index() as Scalar)),
            ExpressionKind::Convert(operand) => self.evaluate(operand, false)?,
            ExpressionKind::Checked(operand) => {
                let number = self.scalar(operand)?;
                Tree::Leaf(self.checked(number, &expression.content, span)?)
            }
            ExpressionKind::NumberOf(_) | ExpressionKind::ValueOf(_) => {
                return Err(InstanceError::NumberedValue { span });
            }
            ExpressionKind::Local(id) => self.local(*id),
            ExpressionKind::Private(id) => {
                Selection::whole(self.private[id.0 as usize].clone()).terms()
            }
            ExpressionKind::Index(array, index) => self.indexed(array, index)?,
            ExpressionKind::Field(record, field) => {
                self.evaluate(record, false)?.parts()[*field].clone()
            }
            ExpressionKind::Record(fields) => {
                let fields = fields.iter().map(|field| self.evaluate(field, whole));
                Tree::Node(fields.collect::<Result<_, _>>()?)
            }
            ExpressionKind::With(record, replaced) => {
                let mut fields = self.evaluate(record, false)?.parts().to_vec();
                for (field, value) in replaced {
                    fields[*field] = self.evaluate(value, whole)?;
                }
                Tree::Node(fields)
            }
            ExpressionKind::Each { variable, over, body } => {
                let mut elements = Vec::new();
                self.each(*variable, *over, |this, _| {
                    elements.push(this.evaluate(body, whole)?);
                    Ok(())
                })?;
                Tree::Node(elements)
            }
            ExpressionKind::Filled(element) => {
                let Type::Array { index, .. } = &expression.content else {
                    panic!("a well-typed program fills arrays, not {}", expression.content)
                };
                let element = self.evaluate(element, false)?;
                Tree::Node(self.indices(*index)?.map(|_| element.clone()).collect())
            }
            ExpressionKind::Quantified { .. } => Tree::Leaf(self.quantified(expression)?),
            ExpressionKind::Some(scalar) => self.evaluate(scalar, whole)?,
            ExpressionKind::Unwrap(optional) => Tree::Leaf(self.unwrapped(optional, span)?),
            ExpressionKind::Not(bit) => Tree::Leaf(self.scalar(bit)?.not()),
            ExpressionKind::Binary(operator, a, b) => {
                Tree::Leaf(self.binary(*operator, a, b, expression)?)
            }
            ExpressionKind::If(condition, then, otherwise) => {
                self.chosen(condition, then, otherwise, whole)?
            }
            ExpressionKind::Successor(counter) => Tree::Leaf(self.successor(counter, whole)?),
            ExpressionKind::Remainder(number, modulus) => {
                let fault = "a remainder by a number below 1";
                Tree::Leaf(self.divided(Operator::Remainder, number, *modulus, span, fault)?)
            }
            ExpressionKind::Quotient(number, divisor) => {
                let fault = "a division by a number below 1";
                Tree::Leaf(self.divided(Operator::Quotient, number, *divisor, span, fault)?)
            }
            ExpressionKind::List(..) | ExpressionKind::InitialNode(_) => {
                unreachable!("only objects have lists and nodes")
            }
            ExpressionKind::Fresh if whole => Tree::Leaf(Term::Fresh),
            ExpressionKind::Fresh => {
                Tree::Leaf(self.hoisted(Term::Fresh, Domain::Version { optional: false })?)
            }
        })
    }

    fn local(&mut self, id: LocalId) -> Tree<Term> {
        let frame = self.frame();
        if let Some(known) = frame.known.get(&id) {
            return known.clone();
        }
        let procedure = frame.procedure;
        Selection::whole(self.locals[&(procedure, id)].clone()).terms()
    }

    /// Returns the terms of a conditional expression.
    fn chosen(
        &mut self,
        condition: &Expression,
        then: &Expression,
        otherwise: &Expression,
        whole: bool,
    ) -> Result<Tree<Term>, InstanceError> {
        let condition = self.scalar(condition)?;
        match condition.constant() {
            Some(0) => return self.evaluate(otherwise, whole),
            Some(_) => return self.evaluate(then, whole),
            None => {}
        }
        let then = self.guarded(condition.clone(), |body| body.evaluate(then, false))?;
        let otherwise =
            self.guarded(condition.clone().not(), |body| body.evaluate(otherwise, false))?;
        Ok(Tree::zip(&[&then, &otherwise], &mut |terms| {
            Term::choose(condition.clone(), terms[0].clone(), terms[1].clone())
        }))
    }

    fn unwrapped(&mut self, optional: &Expression, span: Span) -> Result<Term, InstanceError> {
        let term = self.scalar(optional)?;
        if self.scalars_of(&term).contains(NONE) {
            let some = term.clone().equal(Term::NONE).not();
            self.check(some, span, "none is unwrapped")?;
        }
        Ok(term)
    }

    /// Returns the quotient or remainder of a division; a divisor below 1 is a fault.
    fn divided(
        &mut self,
        operator: Operator,
        number: &Expression,
        divisor: Bound,
        span: Span,
        fault: &'static str,
    ) -> Result<Term, InstanceError> {
        let number = self.scalar(number)?;
        let number = self.number(number);
        let divisor = self.size.bound(divisor)?;
        self.check(Term::bit(divisor > 0), span, fault)?;
        Ok(Term::apply(operator, vec![number, Term::Constant(divisor)]))
    }

    /// Returns a number as a process, segment or integer of this type, with a check of its range.
    fn checked(&mut self, term: Term, content: &Type, span: Span) -> Result<Term, InstanceError> {
        let domain = self.size.domain(content)?;
        if let Domain::Range { low, high, .. } = domain {
            self.check_range(&term, (low, high), span, OUT_OF_RANGE)?;
        }
        Ok(self.of_kind(term, domain))
    }

    fn indexed(
        &mut self,
        array: &Expression,
        index: &Expression,
    ) -> Result<Tree<Term>, InstanceError> {
        let Type::Array { index: set, element } = &array.content else {
            panic!("a well-typed program has no index into {}", array.content)
        };
        let array = self.evaluate(array, false)?;
        let Some(index) = self.index(index, *set)? else { return self.unreachable(element) };
        let parts = array.parts();
        Ok(match index.constant() {
            Some(position) => parts[position as usize].clone(),
            None => Tree::zip(&parts.iter().collect::<Vec<_>>(), &mut |terms| {
                Term::element(index.clone(), terms.iter().map(|term| (*term).clone()).collect())
            }),
        })
    }

    /// Returns an arbitrary value of this type, for unreachable code.
    fn unreachable(&self, content: &Type) -> Result<Tree<Term>, InstanceError> {
        Ok(match content {
            Type::Array { index, element } => {
                let (low, high) = self.size.bounds(*index)?;
                let elements = (low..=high).map(|_| self.unreachable(element));
                Tree::Node(elements.collect::<Result<_, _>>()?)
            }
            Type::Record(fields) => {
                let fields = fields.iter().map(|field| self.unreachable(&field.content));
                Tree::Node(fields.collect::<Result<_, _>>()?)
            }
            scalar => {
                let domain = self.size.domain(scalar)?;
                Tree::Leaf(Term::scalar(domain.some_scalar(), domain))
            }
        })
    }

    /// Evaluates an expression whose value matters only where the condition holds.
    fn guarded<T>(
        &mut self,
        condition: Term,
        evaluate: impl FnOnce(&mut Self) -> Result<T, InstanceError>,
    ) -> Result<T, InstanceError> {
        self.guards.push(condition);
        let result = evaluate(self);
        self.guards.pop();
        result
    }

    /// Calls a function for each index, as the known value of the variable.
    fn each(
        &mut self,
        variable: LocalId,
        over: IndexSet,
        mut body: impl FnMut(&mut Self, &Term) -> Result<(), InstanceError>,
    ) -> Result<(), InstanceError> {
        for index in self.indices(over)? {
            self.frame_known(variable, Some(&index));
            body(self, &index)?;
        }
        self.frame_known(variable, None);
        Ok(())
    }

    /// Returns the indices, as terms, in order.
    pub(super) fn indices(
        &self,
        over: IndexSet,
    ) -> Result<impl Iterator<Item = Term> + use<>, InstanceError> {
        let (low, high) = self.size.bounds(over)?;
        let term = if over.is_of_names() { Term::Process } else { Term::Constant };
        Ok((low..=high).map(term))
    }

    /// Sets or removes the known value of a variable.
    pub(super) fn frame_known(&mut self, variable: LocalId, value: Option<&Term>) {
        let known = &mut self.frame().known;
        match value {
            Some(value) => known.insert(variable, Tree::Leaf(value.clone())),
            None => known.remove(&variable),
        };
    }

    /// `all` and `any` evaluate lazily.
    fn quantified(&mut self, expression: &Expression) -> Result<Term, InstanceError> {
        let ExpressionKind::Quantified { all, variable, over, except, body } = &expression.kind
        else {
            panic!("only quantified expressions are quantified")
        };
        let except = except.as_ref().map(|except| self.scalar(except)).transpose()?;
        let outer = self.guards.len();
        let mut bits = Vec::new();
        let result = self.each(*variable, *over, |this, index| {
            let left_out =
                except.clone().map_or(Term::FALSE, |except| this.equal(except, index.clone()));
            if left_out == Term::TRUE {
                return Ok(());
            }
            let bit = this.guarded(left_out.clone().not(), |this| this.scalar(body))?;
            let (bit, goes_on) = if *all {
                let bit = Term::or([left_out, bit]);
                (bit.clone(), bit)
            } else {
                let bit = Term::and([left_out.not(), bit]);
                (bit.clone(), bit.not())
            };
            // A bit that is constantly neutral is left out.
            if bit != Term::bit(*all) {
                this.made += 1;
                bits.push(bit);
                this.guards.push(goes_on);
            }
            Ok(())
        });
        self.guards.truncate(outer);
        result?;
        Ok(if *all { Term::and(bits) } else { Term::or(bits) })
    }

    fn binary(
        &mut self,
        operator: Binary,
        a: &Expression,
        b: &Expression,
        whole: &Expression,
    ) -> Result<Term, InstanceError> {
        Ok(match operator {
            Binary::And | Binary::Or => {
                let a = self.scalar(a)?;
                let needed = if operator == Binary::And { a.clone() } else { a.clone().not() };
                if needed == Term::FALSE {
                    return Ok(a);
                }
                let b = self.guarded(needed, |body| body.scalar(b))?;
                if operator == Binary::And { Term::and([a, b]) } else { Term::or([a, b]) }
            }
            Binary::Equal | Binary::NotEqual => {
                let (a, b) = (self.evaluate(a, false)?, self.evaluate(b, false)?);
                let pairs = a.leaves().into_iter().zip(b.leaves());
                let equal = Term::and(pairs.map(|(a, b)| self.equal(a.clone(), b.clone())));
                if operator == Binary::Equal { equal } else { equal.not() }
            }
            Binary::Less | Binary::LessOrEqual | Binary::Add | Binary::Subtract => {
                let arguments = [self.scalar(a)?, self.scalar(b)?];
                let arguments = arguments.map(|term| self.number(term)).to_vec();
                let operator = match operator {
                    Binary::Less => Operator::Less,
                    Binary::LessOrEqual => Operator::LessOrEqual,
                    Binary::Add => Operator::Add,
                    _ => Operator::Subtract,
                };
                let term = Term::apply(operator, arguments);
                match &whole.content {
                    integer @ Type::Integer { .. } => self.checked(term, integer, whole.span)?,
                    _ => term,
                }
            }
        })
    }

    fn successor(&mut self, counter: &Expression, whole: bool) -> Result<Term, InstanceError> {
        let domain = Domain::Counter { optional: false };
        let slot = match self.scalar(counter)? {
            Term::Slot(slot) => slot,
            term => match term.constant() {
                Some(number) => return Ok(Term::Constant(number.saturating_add(1))),
                None => match self.hoisted(term, domain)? {
                    Term::Slot(slot) => slot,
                    _ => unreachable!("a hoisted term is in a slot"),
                },
            },
        };
        if whole { Ok(Term::Successor(slot)) } else { self.hoisted(Term::Successor(slot), domain) }
    }
}
