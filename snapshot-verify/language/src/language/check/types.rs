//! Resolves written types.

use crate::language::diagnostic::syntax::{duplicate, number_too_large, reserved_name};
use crate::language::diagnostic::types::{empty_range, list_outside_object, product};
use std::collections::{HashMap, HashSet, VecDeque};

use super::range;
use crate::language::Span;
use crate::language::diagnostic::{Parsed, Reporter, message};
use crate::language::tree::{
    Expression, ExpressionKind, Indices, IndicesKind, Node, Operator, TypeDeclaration,
    TypeExpression, TypeKind,
};
use crate::program::{Binary, Bound, Field, IndexSet, NodeId, Type};

/// Names of built-in types.
const OWN: [&str; 10] =
    ["value", "bool", "bit", "process", "segment", "version", "counter", "view", "record", "array"];

/// Types by name.
#[derive(Debug, Default)]
pub(super) struct Types {
    declared: HashMap<String, Type>,
    /// Types with invalid declarations, already reported.
    failed: HashSet<String>,
    /// True within an object, which supports lists.
    has_lists: bool,
}

/// Most parts of a type; it also bounds the depth.
const LIMIT: usize = 200;

impl Types {
    /// Resolves all declarations, and reports each error once.
    pub fn declare(
        declarations: &[TypeDeclaration],
        nodes: &[Node],
        has_lists: bool,
        reporter: &mut Reporter,
    ) -> Self {
        let mut by_name: HashMap<&str, &TypeDeclaration> = HashMap::new();
        for declaration in declarations {
            let name = &declaration.name;
            if OWN.contains(&name.text.as_str()) {
                reporter.report(reserved_name(&name.text), name.span);
                continue;
            }
            if let Some(first) = by_name.get(name.text.as_str()) {
                let first = first.name.span;
                reporter.report(duplicate(&name.text, first), name.span);
                continue;
            }
            by_name.insert(&name.text, declaration);
        }
        let mut types = Self { has_lists, ..Self::default() };
        types.declare_nodes(nodes, &by_name, reporter);
        // Types are resolved after the types they name. The remaining ones form a circle or depend
        // on one.
        let declarations: Vec<&TypeDeclaration> = declarations
            .iter()
            .filter(|declaration| {
                by_name
                    .get(declaration.name.text.as_str())
                    .is_some_and(|first| first.name.span == declaration.name.span)
            })
            .collect();
        let mut naming: HashMap<&str, Vec<usize>> = HashMap::new();
        let mut waits_for = vec![0_usize; declarations.len()];
        for (number, declaration) in declarations.iter().enumerate() {
            names(&declaration.content, &mut |name| {
                if by_name.contains_key(name) {
                    naming.entry(name).or_default().push(number);
                    waits_for[number] += 1;
                }
            });
        }
        let mut ready: VecDeque<usize> =
            (0..declarations.len()).filter(|&number| waits_for[number] == 0).collect();
        while let Some(number) = ready.pop_front() {
            let declaration = declarations[number];
            let name = &declaration.name.text;
            match types.resolve(&declaration.content, reporter) {
                Ok(content) => _ = types.declared.insert(name.clone(), content),
                Err(_) => _ = types.failed.insert(name.clone()),
            }
            for &next in naming.get(name.as_str()).into_iter().flatten() {
                waits_for[next] -= 1;
                if waits_for[next] == 0 {
                    ready.push_back(next);
                }
            }
        }
        let waiting = declarations.iter().zip(&waits_for).filter(|(_, waits)| **waits > 0);
        let waiting = waiting.map(|(declaration, _)| *declaration);
        for declaration in waiting {
            let mut excused = false;
            names(&declaration.content, &mut |name| excused |= types.failed.contains(name));
            let name = declaration.name.text.clone();
            types.failed.insert(name.clone());
            if !excused {
                let message = message!("type-contains-itself", "type `{name}` contains itself")
                    .help("a type must have an end");
                reporter.report(message, declaration.name.span);
            }
        }
        types
    }

    /// Nodes are known by name, independent of their fields.
    fn declare_nodes(
        &mut self,
        nodes: &[Node],
        by_name: &HashMap<&str, &TypeDeclaration>,
        reporter: &mut Reporter,
    ) {
        let mut places: HashMap<&str, Span> = HashMap::new();
        for node in nodes {
            let (name, text) = (&node.name, node.name.text.as_str());
            let declared = by_name.get(text).map(|declaration| declaration.name.span);
            if OWN.contains(&text) {
                reporter.report(reserved_name(&name.text), name.span);
            } else if let Some(first) = declared.or(places.get(text).copied()) {
                reporter.report(duplicate(&name.text, first), name.span);
            } else {
                let id = NodeId(places.len() as u16);
                places.insert(text, name.span);
                let content = Type::Node { id, name: name.text.clone() };
                self.declared.insert(name.text.clone(), content);
            }
        }
    }

    /// Returns the type of the nodes with this name.
    pub fn node(&self, name: &str) -> Option<&Type> {
        self.declared
            .get(name)
            .filter(|content| matches!(content, Type::Node { name: own, .. } if own == name))
    }

    /// Resolves a written type.
    pub fn resolve(&self, written: &TypeExpression, reporter: &mut Reporter) -> Parsed<Type> {
        let content = self.resolve_parts(written, reporter)?;
        if size(&content) > LIMIT {
            let message = message!("type-too-large", "the type is too large")
                .help("use fewer or smaller fields");
            return Err(reporter.report(message, written.span));
        }
        Ok(content)
    }

    fn resolve_parts(&self, written: &TypeExpression, reporter: &mut Reporter) -> Parsed<Type> {
        match &written.kind {
            TypeKind::Named(name) => match name.as_str() {
                "value" => Ok(Type::Value),
                "bool" => Ok(Type::Bool),
                "bit" => Ok(Type::Integer { low: Bound::constant(0), high: Bound::constant(1) }),
                "process" => Ok(Type::Process),
                "segment" => Ok(Type::Segment),
                "version" => Ok(Type::Version),
                "counter" => Ok(Type::Counter),
                "view" => Ok(Type::view()),
                name if self.failed.contains(name) => Err(reporter.already()),
                name => self.declared.get(name).cloned().ok_or_else(|| {
                    let known = OWN.into_iter().chain(self.declared.keys().map(String::as_str));
                    let nearest = reporter.nearest(name, known);
                    let message = message!("unknown-type", "unknown type `{name}`")
                        .nearest(nearest)
                        .help(
                            "the types are value, bool, bit, L..H, process, segment, version, \
                             counter, view, array [INDEX] of T, record (F: T), T or none, and those \
                             declared by `type`",
                        );
                    reporter.report(message, written.span)
                }),
            },
            TypeKind::Range(low, high) => {
                let (low, high) = bounds(low, high, written.span, reporter)?;
                Ok(Type::Integer { low, high })
            }
            TypeKind::Optional(content) => {
                let content = self.resolve_parts(content, reporter)?;
                if !content.is_scalar() || matches!(content, Type::Optional(_)) {
                    let message = message!("optional-compound", "`{content}` cannot be optional")
                    .help(
                        "only a scalar may be none: add a field that says whether there is \
                         something",
                    );
                    return Err(reporter.report(message, written.span));
                }
                Ok(Type::Optional(Box::new(content)))
            }
            TypeKind::Record(written) => {
                let mut fields: Vec<Field> = Vec::new();
                let mut places = HashMap::new();
                for (name, content) in written {
                    if let Some(&first) = places.get(&name.text) {
                        return Err(reporter.report(duplicate(&name.text, first), name.span));
                    }
                    places.insert(name.text.clone(), name.span);
                    let content = self.resolve_parts(content, reporter)?;
                    fields.push(Field { name: name.text.clone(), content });
                }
                Ok(Type::Record(fields))
            }
            TypeKind::List(_) if !self.has_lists => {
                Err(reporter.report(list_outside_object(), written.span))
            }
            TypeKind::List(element) => {
                Ok(Type::List(Box::new(self.resolve_parts(element, reporter)?)))
            }
            TypeKind::Array(written, element) => {
                let index = indices(written, reporter)?;
                if let IndexSet::Range(low, high) = index
                    && !range::at_most(low, high)
                {
                    let range = index.to_string();
                    return Err(reporter.report(empty_range(&range), written.span));
                }
                let element = Box::new(self.resolve_parts(element, reporter)?);
                Ok(Type::Array { index, element })
            }
        }
    }

    /// Wraps a type in arrays of these dimensions.
    pub fn dimensioned(dimensions: &[IndexSet], content: Type) -> Type {
        dimensions
            .iter()
            .rev()
            .fold(content, |element, &index| Type::Array { index, element: Box::new(element) })
    }
}

/// Calls `visit` with every name in a written type.
fn names<'a>(written: &'a TypeExpression, visit: &mut impl FnMut(&'a str)) {
    match &written.kind {
        TypeKind::Named(name) => visit(name),
        TypeKind::Range(..) => {}
        TypeKind::Optional(content) | TypeKind::Array(_, content) | TypeKind::List(content) => {
            names(content, visit);
        }
        TypeKind::Record(fields) => fields.iter().for_each(|(_, content)| names(content, visit)),
    }
}

/// Returns the number of parts of a type.
fn size(content: &Type) -> usize {
    match content {
        Type::Optional(content) => 1 + size(content),
        Type::Array { element, .. } | Type::List(element) => 1 + size(element),
        Type::Record(fields) => 1 + fields.iter().map(|field| size(&field.content)).sum::<usize>(),
        _ => 1,
    }
}

/// Resolves an index set.
pub(super) fn indices(written: &Indices, reporter: &mut Reporter) -> Parsed<IndexSet> {
    match &written.kind {
        IndicesKind::Processes => Ok(IndexSet::Processes),
        IndicesKind::Segments => Ok(IndexSet::Segments),
        IndicesKind::Range(low, high) => {
            Ok(IndexSet::Range(bound(low, reporter)?, bound(high, reporter)?))
        }
    }
}

/// Resolves an index set that has an index for every n.
pub(super) fn never_empty(written: &Indices, reporter: &mut Reporter) -> Parsed<IndexSet> {
    match &written.kind {
        IndicesKind::Range(low, high) => {
            let (low, high) = bounds(low, high, written.span, reporter)?;
            Ok(IndexSet::Range(low, high))
        }
        IndicesKind::Processes | IndicesKind::Segments => indices(written, reporter),
    }
}

/// Resolves bounds that leave at least one number for every n.
fn bounds(
    low: &Expression,
    high: &Expression,
    span: Span,
    reporter: &mut Reporter,
) -> Parsed<(Bound, Bound)> {
    let (low, high) = (bound(low, reporter)?, bound(high, reporter)?);
    if !range::at_most(low, high) {
        let range = format!("{low}..{high}");
        return Err(reporter.report(empty_range(&range), span));
    }
    Ok((low, high))
}

/// Resolves a number, which may depend only on n.
pub(super) fn bound(written: &Expression, reporter: &mut Reporter) -> Parsed<Bound> {
    let too_large = |bound: Option<Bound>, reporter: &mut Reporter| {
        let message = number_too_large();
        bound.ok_or_else(|| reporter.report(message, written.span))
    };
    match &written.kind {
        ExpressionKind::Number(number) => Ok(Bound::constant(*number)),
        ExpressionKind::N => Ok(Bound { times_n: 1, plus: 0 }),
        ExpressionKind::Binary(operator @ (Operator::Add | Operator::Subtract), left, right) => {
            let (left, right) = (bound(left, reporter)?, bound(right, reporter)?);
            let operator = if *operator == Operator::Add { Binary::Add } else { Binary::Subtract };
            too_large(range::combine(operator, left, right), reporter)
        }
        ExpressionKind::Binary(Operator::Multiply, left, right) => {
            let (left, right) = (bound(left, reporter)?, bound(right, reporter)?);
            let product = match (left.times_n, right.times_n) {
                (0, _) => range::scale(left.plus, right),
                (_, 0) => range::scale(right.plus, left),
                _ => return Err(reporter.report(product(), written.span)),
            };
            too_large(product, reporter)
        }
        _ => Err(reporter.report(
            message!("bound-not-constant", "a bound that is not known before the processes run")
                .help("use numbers and `n`, with `+`, `-` and `*`"),
            written.span,
        )),
    }
}
