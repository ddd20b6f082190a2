//! Spans of expressions: the text of a span is the expression.

use snapshot_language::tree::{
    Expression, ExpressionKind, Indices, IndicesKind, Range, Statement, StatementKind, Tree,
};
use snapshot_language::{Source, parse};

use crate::texts::{read, shape, texts};

/// Collector of all expressions of a tree.
struct Walk<'a> {
    expressions: Vec<&'a Expression>,
}

impl<'a> Walk<'a> {
    fn tree(&mut self, tree: &'a Tree) {
        for variable in tree.shared.iter().chain(&tree.private) {
            variable.initial.iter().for_each(|initial| self.expression(initial));
        }
        for procedure in &tree.procedures {
            self.block(&procedure.body);
        }
        if let Some(object) = &tree.object {
            for variable in &object.state {
                variable.initial.iter().for_each(|initial| self.expression(initial));
            }
            for operation in &object.operations {
                let conditions = operation.when.iter().chain(&operation.awaits);
                conditions.for_each(|condition| self.expression(condition));
                self.block(&operation.procedure.body);
            }
        }
    }

    fn block(&mut self, statements: &'a [Statement]) {
        for statement in statements {
            match &statement.kind {
                StatementKind::Assign(place, value) => {
                    self.expression(place);
                    self.expression(value);
                }
                StatementKind::TakeApart(places, value) => {
                    places.iter().flatten().for_each(|place| self.expression(place));
                    self.expression(value);
                }
                StatementKind::Do(expression) | StatementKind::Free(expression) => {
                    self.expression(expression)
                }
                StatementKind::If(arms, otherwise) => {
                    for (condition, then) in arms {
                        self.expression(condition);
                        self.block(then);
                    }
                    otherwise.iter().for_each(|otherwise| self.block(otherwise));
                }
                StatementKind::Repeat(body, condition) | StatementKind::While(condition, body) => {
                    self.block(body);
                    self.expression(condition);
                }
                StatementKind::Loop(body) | StatementKind::Atomic(body) => self.block(body),
                StatementKind::For(range, body) => {
                    self.range(range);
                    self.block(body);
                }
                StatementKind::Return(value) => {
                    value.iter().for_each(|value| self.expression(value));
                }
                StatementKind::Exit | StatementKind::Skip | StatementKind::Together => {}
                StatementKind::Choose(place, over) => {
                    self.expression(place);
                    self.indices(over);
                }
            }
        }
    }

    fn range(&mut self, range: &'a Range) {
        self.indices(&range.over);
        range.except.iter().for_each(|except| self.expression(except));
    }

    fn indices(&mut self, indices: &'a Indices) {
        if let IndicesKind::Range(low, high) = &indices.kind {
            self.expression(low);
            self.expression(high);
        }
    }

    fn expression(&mut self, of: &'a Expression) {
        use ExpressionKind as K;
        self.expressions.push(of);
        match &of.kind {
            K::Index(a, b) | K::Binary(_, a, b) => {
                self.expression(a);
                self.expression(b);
            }
            K::Field(a, _) | K::Not(a) => self.expression(a),
            K::Call(_, parts) | K::New(_, parts) | K::Tuple(parts) => {
                parts.iter().for_each(|part| self.expression(part));
            }
            K::Record(fields) => fields.iter().for_each(|(_, part)| self.expression(part)),
            K::With(record, fields) => {
                self.expression(record);
                fields.iter().for_each(|(_, part)| self.expression(part));
            }
            K::Each(body, range) | K::Quantified(_, range, body) => {
                self.range(range);
                self.expression(body);
            }
            K::If(a, b, c) => {
                self.expression(a);
                self.expression(b);
                self.expression(c);
            }
            K::Bool(_)
            | K::Number(_)
            | K::None
            | K::Me
            | K::N
            | K::Initial
            | K::EmptyList
            | K::Fresh
            | K::Variable(_) => {}
        }
    }
}

/// Parses a text as an expression of its own, with `size` declared if given.
fn alone(text: &str, size: Option<u32>) -> String {
    let size = size
        .map_or_else(String::new, |size| format!("size {size}\nobject one:\n    alone: skip\n"));
    let text = format!("algorithm alone\n{size}procedure alone():\n    x := ({text})\n");
    let tree = parse("alone.snapshot", &text).unwrap_or_else(|error| panic!("{error}"));
    let tree = tree.tree(None).unwrap();
    match &tree.procedures[0].body[0].kind {
        StatementKind::Assign(_, value) => shape(value),
        other => panic!("{other:?}"),
    }
}

#[test]
fn text_of_a_span_is_its_expression() {
    for directory in [
        "right",
        "../../../../corpus/algorithms",
        "../../../../corpus/objects",
        "../../../../corpus/strong",
    ] {
        for (name, text) in texts(directory) {
            let algorithm = read(&name, &text);
            let (mut tree, size) = (algorithm.tree(None).unwrap(), algorithm.size());
            // An implied object has no text.
            if !text.lines().any(|line| line.starts_with("object ")) {
                tree.object = None;
            }
            let source = Source::new("", text.as_str());
            let mut walk = Walk { expressions: Vec::new() };
            walk.tree(&tree);
            assert!(walk.expressions.len() > 5, "{name} has expressions");
            for expression in walk.expressions {
                let there = source.slice(expression.span);
                assert_eq!(alone(there, size), shape(expression), "{name}: {there}");
            }
        }
    }
}
