//! Records: their fields, literals, and replaced fields.

use super::body::Body;
use crate::language::Span;
use crate::language::diagnostic::types::{no_fields, unknown_field, unknown_shape};
use crate::language::diagnostic::{Parsed, Reported, message};
use crate::language::tree::{self, Name};
use crate::program::{Access, Expression, ExpressionKind, Type};

impl Body<'_> {
    pub fn field(
        &mut self,
        record: &tree::Expression,
        name: &Name,
        span: Span,
    ) -> Parsed<Expression> {
        let record = self.expression(record, None)?;
        if let Some((cell, content)) = self.field_cell(&record, name, span)? {
            return self.result_of(Access::Read(cell), content, span);
        }
        let (position, content) = self.field_of(&record.content, name, record.span)?;
        let kind = ExpressionKind::Field(Box::new(record), position);
        Ok(Expression { kind, content, span })
    }

    /// Returns the position and the type of a field.
    pub fn field_of(&mut self, of: &Type, name: &Name, span: Span) -> Parsed<(usize, Type)> {
        let Type::Record(fields) = of else {
            return Err(self.report(no_fields(of), span));
        };
        match fields.iter().position(|field| field.name == name.text) {
            Some(position) => Ok((position, fields[position].content.clone())),
            None => {
                let known = fields.iter().map(|field| field.name.as_str());
                let nearest = self.reporter.nearest(&name.text, known);
                let (name, of, span) = (name.text.clone(), of.clone(), name.span);
                Err(self.report(unknown_field(&name, &of, nearest), span))
            }
        }
    }

    pub fn tuple(
        &mut self,
        components: &[tree::Expression],
        expected: Option<&Type>,
        span: Span,
    ) -> Parsed<Expression> {
        let Some(content @ Type::Record(fields)) = expected else {
            return Err(self.no_record(expected, span));
        };
        if fields.len() != components.len() {
            let (expected, found) = (fields.len(), components.len());
            let content = content.clone();
            let message = message!("field-count", "expected {expected} fields, found {found}")
                .label(format!("expected `{content}`"))
                .help(
                    "give every field, in order; or change some of a record: `r with \
                     (field: ...)`",
                );
            return Err(self.report(message, span));
        }
        let mut made = Vec::new();
        for (field, component) in fields.iter().zip(components) {
            made.push(self.expect_type(component, &field.content)?);
        }
        Ok(Expression { kind: ExpressionKind::Record(made), content: content.clone(), span })
    }

    pub fn record(
        &mut self,
        given: &[(Name, tree::Expression)],
        expected: Option<&Type>,
        span: Span,
    ) -> Parsed<Expression> {
        let Some(content @ Type::Record(fields)) = expected else {
            return Err(self.no_record(expected, span));
        };
        let mut made: Vec<Option<Expression>> = fields.iter().map(|_| None).collect();
        for (position, expression) in self.fields(content, given, span)? {
            made[position] = Some(expression);
        }
        if let Some(missing) = made.iter().position(Option::is_none) {
            let (name, content) = (fields[missing].name.clone(), content.clone());
            let message = message!("missing-field", "field `{name}` is missing")
                .label(format!("expected `{content}`"))
                .help("to change some fields only, write `r with (field: ...)`");
            return Err(self.report(message, span));
        }
        let made = made.into_iter().flatten().collect();
        Ok(Expression { kind: ExpressionKind::Record(made), content: content.clone(), span })
    }

    fn no_record(&mut self, expected: Option<&Type>, span: Span) -> Reported {
        let message = match expected {
            Some(content) => message!("record-unexpected", "expected `{content}`, found a record")
                .label(format!("expected `{content}`")),
            None => unknown_shape("the record"),
        };
        self.report(message, span)
    }

    pub fn with(
        &mut self,
        record: &tree::Expression,
        given: &[(Name, tree::Expression)],
        expected: Option<&Type>,
        span: Span,
    ) -> Parsed<Expression> {
        let record = self.expression(record, expected)?;
        let content = record.content.clone();
        let fields = self.fields(&content, given, record.span)?;
        let kind = ExpressionKind::With(Box::new(record), fields);
        Ok(Expression { kind, content, span })
    }

    /// Checks the fields given by name, and returns them with their positions.
    fn fields(
        &mut self,
        of: &Type,
        given: &[(Name, tree::Expression)],
        span: Span,
    ) -> Parsed<Vec<(usize, Expression)>> {
        let mut made: Vec<(usize, Expression)> = Vec::new();
        for (name, written) in given {
            let (position, content) = self.field_of(of, name, span)?;
            if made.iter().any(|(other, _)| *other == position) {
                let first = given.iter().find(|(other, _)| other.text == name.text);
                let first = first.map_or(span, |(first, _)| first.span);
                let message = message!("repeated-field", "field `{}` is given twice", name.text)
                    .context(first, "first given here")
                    .help("remove one of the two");
                return Err(self.report(message, name.span));
            }
            made.push((position, self.expect_type(written, &content)?));
        }
        Ok(made)
    }
}
