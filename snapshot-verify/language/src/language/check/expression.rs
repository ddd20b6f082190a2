//! Semantics of expressions.

use super::body::{Body, Meaning};
use super::globals::Global;
use super::{access, range, types};
use crate::language::Span;
use crate::language::diagnostic::types::{
    empty_range, initial_node_outside, mismatch, never_in_range, new_within, no_elements,
    not_constant, unknown_shape,
};
use crate::language::diagnostic::{Parsed, Reported, message};
use crate::language::tree::{self, ExpressionKind as Written, Name};
use crate::program::{Binary, Bound, Expression, ExpressionKind, IndexSet, LocalId, Type};

impl Body<'_> {
    /// Checks an expression. The expected type determines the meaning of literals; the result may
    /// have another type.
    pub fn expression(
        &mut self,
        written: &tree::Expression,
        expected: Option<&Type>,
    ) -> Parsed<Expression> {
        let span = written.span;
        let (kind, content) = match &written.kind {
            Written::Bool(bool) => (ExpressionKind::Bool(*bool), Type::Bool),
            Written::Number(number) => return Ok(number_of(Bound::constant(*number), span)),
            Written::N => return Ok(number_of(Bound { times_n: 1, plus: 0 }, span)),
            Written::None => return self.none(expected, span),
            Written::Me => {
                self.only_of_process(span)?;
                (ExpressionKind::Me, Type::Process)
            }
            // The initial version of all variables, which declarations may need to name.
            Written::Initial if expected == Some(&Type::Version) && self.constant.is_some() => {
                (ExpressionKind::FirstVersion, Type::Version)
            }
            Written::Initial => (ExpressionKind::InitialValue, Type::Value),
            Written::Fresh => {
                self.not_constant(span)?;
                (ExpressionKind::Fresh, Type::Version)
            }
            Written::Variable(name) => return self.variable(name, written),
            Written::Index(..) => return self.index(written),
            Written::Field(record, name) => return self.field(record, name, span),
            Written::Call(name, arguments) => return self.call_within(name, arguments, span),
            Written::New(..) => return Err(self.report(new_within(), span)),
            Written::EmptyList => return self.empty_list(expected, span),
            Written::Tuple(components) => return self.tuple(components, expected, span),
            Written::Record(fields) => return self.record(fields, expected, span),
            Written::With(record, fields) => return self.with(record, fields, expected, span),
            Written::Each(body, over) => return self.each(body, over, expected, span),
            Written::Quantified(all, over, body) => return self.quantified(*all, over, body, span),
            Written::If(condition, then, otherwise) => {
                return self.either(condition, then, otherwise, expected, span);
            }
            Written::Not(operand) => return self.not(operand, span),
            Written::Binary(operator, left, right) => {
                return self.binary(*operator, left, right, span);
            }
        };
        Ok(Expression { kind, content, span })
    }

    /// Checks an expression that is true or false.
    pub fn condition(&mut self, written: &tree::Expression) -> Parsed<Expression> {
        self.expect_type(written, &Type::Bool)
    }

    fn none(&mut self, expected: Option<&Type>, span: Span) -> Parsed<Expression> {
        match expected {
            Some(content @ Type::Optional(_)) => {
                Ok(Expression { kind: ExpressionKind::None, content: content.clone(), span })
            }
            Some(content) => {
                let content = content.clone();
                let message = message!("never-none", "`{content}` is never none")
                    .help("declare it as `... or none`");
                Err(self.report(message, span))
            }
            None => Err(self.report(unknown_shape("none"), span)),
        }
    }

    fn only_of_process(&mut self, span: Span) -> Parsed<()> {
        match self.constant {
            Some(constant) if !constant.of_process => self.not_constant(span),
            _ => Ok(()),
        }
    }

    /// Refuses a constant expression.
    pub fn not_constant(&mut self, span: Span) -> Parsed<()> {
        match self.constant {
            Some(_) => Err(self.report(not_constant(), span)),
            None => Ok(()),
        }
    }

    fn variable(&mut self, name: &str, written: &tree::Expression) -> Parsed<Expression> {
        let span = written.span;
        match self.meaning(name) {
            Some(Meaning::Local(visible)) => {
                if self.constant.is_some() {
                    self.not_constant(span)?;
                }
                Ok(self.read(visible.id, span))
            }
            Some(Meaning::Global(Global::Private(id))) => {
                self.not_constant(span)?;
                let content = self.globals.private[id.0 as usize].content.clone();
                Ok(Expression { kind: ExpressionKind::Private(id), content, span })
            }
            Some(Meaning::Global(Global::Shared(id))) => self.read_cell(id, &[], span),
            Some(Meaning::Global(Global::InitialNode(position))) => {
                if !self.constant.is_some_and(|constant| constant.names_nodes) {
                    return Err(self.report(initial_node_outside(name), span));
                }
                let (node, number) = self.globals.nodes.initial[position as usize];
                let (kind, content) =
                    (ExpressionKind::InitialNode(number), self.globals.nodes.content(node));
                Ok(Expression { kind, content, span })
            }
            Some(Meaning::Global(Global::Broken)) => Err(self.reporter.already()),
            None => Err(self.unknown(name, span)),
        }
    }

    /// Checks `x[e]`: a cell of a family, or an element of an array.
    fn index(&mut self, written: &tree::Expression) -> Parsed<Expression> {
        let (root, indices) = access::unindexed(written);
        if let Written::Variable(name) = &root.kind
            && let Some(Meaning::Global(Global::Shared(id))) = self.meaning(name)
        {
            let dimensions = self.globals.shared[id.0 as usize].dimensions.len();
            let (cell, within) = indices.split_at(dimensions.min(indices.len()));
            let mut expression = self.read_cell(id, cell, written.span)?;
            for index in within {
                expression = self.element(expression, index, written.span)?;
            }
            return Ok(expression);
        }
        let Written::Index(array, index) = &written.kind else {
            return self.expression(written, None);
        };
        let array = self.expression(array, None)?;
        self.element(array, index, written.span)
    }

    /// Selects an element of an array.
    pub fn element(
        &mut self,
        array: Expression,
        index: &tree::Expression,
        span: Span,
    ) -> Parsed<Expression> {
        let Type::Array { index: over, element } = array.content.clone() else {
            let found = array.content;
            return Err(self.report(no_elements(&found), array.span));
        };
        let index = self.expect_type(index, &over.index_type())?;
        let kind = ExpressionKind::Index(Box::new(array), Box::new(index));
        Ok(Expression { kind, content: *element, span })
    }

    fn each(
        &mut self,
        written: &tree::Expression,
        over: &tree::Range,
        expected: Option<&Type>,
        span: Span,
    ) -> Parsed<Expression> {
        let mut index = types::indices(&over.over, self.reporter)?;
        let mut wanted = None;
        if let Some(Type::Array { index: expected, element }) = expected {
            wanted = Some(&**element);
            // A view may be made from any data per process.
            if expected.is_of_names() && index.is_of_names() {
                index = *expected;
            }
        }
        if !range::never_empty(index, false) {
            let range = index.to_string();
            return Err(self.report(empty_range(&range), over.over.span));
        }
        let constant = self.constant.is_some();
        let body = |body: &mut Self, _| match wanted {
            Some(element) => body.expect_type(written, element),
            None => body.expression(written, None),
        };
        let (variable, body, statements) = self.for_each_index(&over.variable, index, body)?;
        let element = Box::new(body.content.clone());
        let content = Type::Array { index, element };
        let kind = if constant {
            ExpressionKind::Filled(Box::new(body))
        } else if statements.is_empty() {
            ExpressionKind::Each { variable, over: index, body: Box::new(body) }
        } else {
            return Ok(self.collected(variable, index, body, statements, content, span));
        };
        Ok(Expression { kind, content, span })
    }

    fn quantified(
        &mut self,
        all: bool,
        over: &tree::Range,
        written: &tree::Expression,
        span: Span,
    ) -> Parsed<Expression> {
        self.not_constant(span)?;
        let (index, between) = self.run_through(&over.over)?;
        let except = self.exception(over, index)?;
        let (variable, body, statements) =
            self.for_each_index(&over.variable, index, |body, variable| match &between {
                None => body.condition(written),
                Some(between) => {
                    let inside = body.is_between(between, variable)?;
                    body.where_inside(all, inside, written, span)
                }
            })?;
        if !statements.is_empty() {
            return Ok(self.decided(all, variable, (index, except), body, statements, span));
        }
        let except = except.map(Box::new);
        let body = Box::new(body);
        let kind = ExpressionKind::Quantified { all, variable, over: index, except, body };
        Ok(Expression { kind, content: Type::Bool, span })
    }

    /// Checks the index to skip.
    pub fn exception(&mut self, over: &tree::Range, index: IndexSet) -> Parsed<Option<Expression>> {
        match &over.except {
            Some(except) => Ok(Some(self.expect_type(except, &index.index_type())?)),
            None => Ok(None),
        }
    }

    /// Checks an expression that is evaluated once per index; also returns the statements it needs.
    fn for_each_index(
        &mut self,
        name: &Name,
        index: IndexSet,
        make: impl FnOnce(&mut Self, LocalId) -> Parsed<Expression>,
    ) -> Parsed<(LocalId, Expression, Vec<crate::program::Statement>)> {
        let variable = self.declare_index(name, index.index_type())?;
        let outer = std::mem::replace(&mut self.repeated, true);
        let (body, statements) = self.apart(|body| make(body, variable));
        self.repeated = outer;
        self.forget(name);
        Ok((variable, body?, statements))
    }

    /// Checks `process(e)`, `segment(e)`: the process or segment with this number.
    pub fn by_number(
        &mut self,
        name: &Name,
        arguments: &[tree::Expression],
        content: Type,
        span: Span,
    ) -> Parsed<Expression> {
        let [argument] = arguments else {
            return Err(self.argument_count(&name.text, 1, arguments.len(), span));
        };
        let number = self.expression(argument, None)?;
        let number = self.present(number);
        if let Some(bound) = range::constant(&number.kind) {
            if range::apart((bound, bound), range::BELOW_N) {
                return Err(self.report(never_in_range(bound, &content), number.span));
            }
            let kind = match content {
                Type::Process => ExpressionKind::Process(bound),
                _ => ExpressionKind::Segment(bound),
            };
            return Ok(Expression { kind, content, span });
        }
        if range::numbers(&number.content).is_none() {
            let expected = Type::Integer { low: range::BELOW_N.0, high: range::BELOW_N.1 };
            return Err(self.report(mismatch(&expected, &number.content), number.span));
        }
        if matches!(number.content, Type::Process | Type::Segment) {
            return self.coerce(number, &content);
        }
        Ok(Expression { kind: ExpressionKind::Checked(Box::new(number)), content, span })
    }

    /// Checks `number(v)`: the number of a value.
    pub fn number_of_value(
        &mut self,
        arguments: &[tree::Expression],
        span: Span,
    ) -> Parsed<Expression> {
        let [argument] = arguments else {
            return Err(self.argument_count("number", 1, arguments.len(), span));
        };
        let value = Box::new(self.expect_type(argument, &Type::Value)?);
        let content = range::any_number();
        Ok(Expression { kind: ExpressionKind::NumberOf(value), content, span })
    }

    /// Checks `value(e)`: the value with this number.
    pub fn value_by_number(
        &mut self,
        arguments: &[tree::Expression],
        span: Span,
    ) -> Parsed<Expression> {
        let [argument] = arguments else {
            return Err(self.argument_count("value", 1, arguments.len(), span));
        };
        self.not_constant(span)?;
        let number = Box::new(self.expect_type(argument, &range::any_number())?);
        Ok(Expression { kind: ExpressionKind::ValueOf(number), content: Type::Value, span })
    }

    /// Unwraps an optional; other expressions are unchanged.
    pub fn present(&self, expression: Expression) -> Expression {
        match &expression.content {
            Type::Optional(inside) => {
                let (content, span) = ((**inside).clone(), expression.span);
                Expression { kind: ExpressionKind::Unwrap(Box::new(expression)), content, span }
            }
            _ => expression,
        }
    }

    pub fn argument_count(
        &mut self,
        name: &str,
        expected: usize,
        found: usize,
        span: Span,
    ) -> Reported {
        let plural = if expected == 1 { "" } else { "s" };
        let message =
            message!("argument-count", "`{name}` takes {expected} argument{plural}, found {found}")
                .label(format!("expected {expected} argument{plural}"));
        self.report(message, span)
    }
}

/// Returns a number, which may depend on n, as an expression.
pub(super) fn number_of(bound: Bound, span: Span) -> Expression {
    let content = Type::Integer { low: bound, high: bound };
    Expression { kind: ExpressionKind::Integer(bound), content, span }
}

/// Applies an operator to two expressions.
pub(super) fn apply(
    operator: Binary,
    left: Expression,
    right: Expression,
    content: Type,
    span: Span,
) -> Expression {
    let kind = ExpressionKind::Binary(operator, Box::new(left), Box::new(right));
    Expression { kind, content, span }
}
