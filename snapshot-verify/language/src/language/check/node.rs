//! Nodes: their declarations, `new`, `free`, and the cells of their fields.

use super::body::{Body, Constant};
use super::globals::{self, Globals};
use super::target::Target;
use super::types::{self, Types};
use super::{range, result};
use crate::language::diagnostic::syntax::duplicate;
use crate::language::diagnostic::types::{described, mismatch, new_within, unknown_field};
use crate::language::diagnostic::{Parsed, Reporter, message};
use crate::language::tree::{self, Name, Tree};
use crate::language::{Source, Span};
use crate::program::{
    Access, Bound, CellPlace, Expression, ExpressionKind, IndexSet, InitialNode, NodeId, NodeType,
    Place, Projection, Root, SharedId, SharedVariable, StatementKind, Type,
};

#[derive(Debug, Default)]
pub(super) struct Nodes {
    pub types: Vec<NodeType>,
    /// Families of cells that implement the nodes. They come after all declared variables.
    pub families: Vec<SharedVariable>,
    /// Kind and number of each initial node, in the order of the text.
    pub initial: Vec<(NodeId, u32)>,
}

impl Nodes {
    /// Declares the nodes of a tree, whose names are types, and reports errors.
    pub fn declare(tree: &Tree, types: &Types, reporter: &mut Reporter) -> Self {
        let mut nodes = Self::default();
        let first = tree.shared.len() as u32;
        for declaration in &tree.nodes {
            let Some(Type::Node { id, name }) = types.node(&declaration.name.text) else {
                continue;
            };
            if id.0 as usize != nodes.types.len() {
                // A second declaration of this name, which was reported.
                continue;
            }
            let bound = nodes.bound(declaration, reporter);
            let over = IndexSet::Range(Bound::constant(0), Bound { plus: bound.plus - 1, ..bound });
            let mut fields: Vec<SharedId> = Vec::new();
            for (position, field) in declaration.fields.iter().enumerate() {
                let mut before = declaration.fields[..position].iter();
                if let Some(other) = before.find(|other| other.name.text == field.name.text) {
                    let (name, first) = (field.name.text.clone(), other.name.span);
                    reporter.report(duplicate(&name, first), field.name.span);
                    continue;
                }
                let Ok(content) = types.resolve(&field.content, reporter) else { continue };
                fields.push(SharedId(first + nodes.families.len() as u32));
                nodes.families.push(SharedVariable {
                    name: format!("{name}.{}", field.name.text),
                    span: field.name.span,
                    dimensions: vec![over],
                    initial: globals::default(&content, field.name.span),
                    content,
                    cell: globals::cell_kind(field.cell),
                });
            }
            let state = SharedId(first + nodes.families.len() as u32);
            let absent = Bound::constant(NodeType::ABSENT as i32);
            let content =
                Type::Integer { low: absent, high: Bound::constant(NodeType::FREED as i32) };
            nodes.families.push(SharedVariable {
                name: name.clone(),
                span: declaration.name.span,
                dimensions: vec![over],
                initial: globals::default(&content, declaration.name.span),
                content,
                cell: crate::program::CellKind::Register,
            });
            let (name, span) = (name.clone(), declaration.name.span);
            let is_stable = declaration.stable;
            nodes.types.push(NodeType { name, span, bound, is_stable, fields, state });
        }
        nodes
    }

    fn bound(&self, declaration: &tree::Node, reporter: &mut Reporter) -> Bound {
        let Some(written) = &declaration.bound else { return NodeType::BOUND };
        let Ok(bound) = types::bound(written, reporter) else { return NodeType::BOUND };
        if !range::at_most(Bound::constant(1), bound) {
            let name = declaration.name.text.clone();
            let message = message!("node-bound", "there can be no `{name}`")
                .help("the bound must be at least 1 for every n >= 2");
            reporter.report(message, written.span);
        }
        bound
    }
}

impl Globals {
    /// Returns the initial nodes with the content of their fields, and reports errors.
    pub fn initial_nodes(
        &self,
        source: &Source,
        tree: &Tree,
        reporter: &mut Reporter,
    ) -> Vec<InitialNode> {
        let mut made = Vec::new();
        for (one, &(node, number)) in tree.initially.iter().zip(&self.nodes.initial) {
            let constant = Constant { of_process: false, names_nodes: true };
            let mut body = Body::constant(source, self, constant, reporter);
            if let Ok(fields) = body.fields_of_node(node, &one.fields, one.span) {
                made.push(InitialNode { node, number, fields });
            }
        }
        made
    }

    /// Returns the kind of nodes with this name.
    pub fn node(&self, name: &Name, reporter: &mut Reporter) -> Parsed<NodeId> {
        match self.types.node(&name.text) {
            Some(Type::Node { id, .. }) if (id.0 as usize) < self.nodes.types.len() => Ok(*id),
            _ => {
                let known = self.nodes.types.iter().map(|node| node.name.as_str());
                let nearest = reporter.nearest(&name.text, known);
                let message = message!("unknown-node", "`{}` is not declared as a node", name.text)
                    .nearest(nearest)
                    .help(format!("declare it: `node {0}: next: {0} or none`, say", name.text));
                Err(reporter.report(message, name.span))
            }
        }
    }
}

/// Returns the kind of node that a type points to, possibly as an optional.
const fn pointed_to(content: &Type) -> Option<NodeId> {
    match content {
        Type::Node { id, .. } => Some(*id),
        Type::Optional(inside) => match **inside {
            Type::Node { id, .. } => Some(id),
            _ => None,
        },
        _ => None,
    }
}

impl Body<'_> {
    fn fields_of_node(
        &mut self,
        node: NodeId,
        written: &[tree::Expression],
        span: Span,
    ) -> Parsed<Vec<Expression>> {
        let globals = self.globals;
        let Some(declared) = globals.nodes.types.get(node.0 as usize) else {
            return Err(self.reporter.already());
        };
        if declared.fields.len() != written.len() {
            let (name, expected) = (format!("new {}", declared.name), declared.fields.len());
            return Err(self.argument_count(&name, expected, written.len(), span));
        }
        let mut fields = Vec::new();
        for (field, written) in declared.fields.iter().zip(written) {
            fields.push(self.expect_type(written, &globals.shared[field.0 as usize].content)?);
        }
        Ok(fields)
    }

    /// Checks `PLACE := new NODE(...)`.
    pub fn assign_node(
        &mut self,
        place: &tree::Expression,
        (name, fields): (&Name, &[tree::Expression]),
        value: Span,
        span: Span,
    ) -> Parsed<()> {
        let message = message!("new-in-atomic", "a `new` in an atomic step")
            .help("write it before the block: other processes do not see the node");
        self.not_in_atomic(message, value)?;
        let node = self.globals.node(name, self.reporter)?;
        let content = self.globals.nodes.content(node);
        let (target, wanted) = match self.target(place)? {
            Target::Place(target, wanted) => (target, wanted),
            Target::New(name) => {
                let initial = globals::default(&content, name.span);
                let id = self.declare(&name, content.clone(), initial, false)?;
                (result::whole(id), content.clone())
            }
            Target::Cell(..) | Target::PartOfCell(..) => {
                return Err(self.report(new_within(), value));
            }
        };
        if pointed_to(&wanted) != Some(node) {
            return Err(self.report(mismatch(&wanted, &content), value));
        }
        let fields = self.fields_of_node(node, fields, value)?;
        self.push(StatementKind::New { node, fields, into: target }, span);
        Ok(())
    }

    /// Checks `free E`.
    pub fn free(&mut self, written: &tree::Expression, span: Span) -> Parsed<()> {
        let pointer = self.expression(written, None)?;
        let pointer = self.present(pointer);
        if pointed_to(&pointer.content).is_none() {
            let message = message!(
                "not-a-node",
                "`free` needs a node, found {}",
                described(&pointer.content)
            )
            .help("free what points to a node: `free p`");
            return Err(self.report(message, written.span));
        }
        self.spend(span)?;
        self.push(StatementKind::Free(pointer), span);
        Ok(())
    }

    /// Returns the cell of a node's field, with its type; `None` if `pointer` does not point to a
    /// node.
    pub fn field_cell(
        &mut self,
        pointer: &Expression,
        name: &Name,
        span: Span,
    ) -> Parsed<Option<(CellPlace, Type)>> {
        let Some(node) = pointed_to(&pointer.content) else { return Ok(None) };
        self.not_constant(span)?;
        let globals = self.globals;
        let declared = &globals.nodes.types[node.0 as usize];
        let of = |field: &SharedId| &globals.shared[field.0 as usize];
        let named = |field: &SharedId| &of(field).name[declared.name.len() + 1..];
        let Some(field) = declared.fields.iter().find(|field| named(field) == name.text) else {
            let nearest = self.reporter.nearest(&name.text, declared.fields.iter().map(named));
            let (content, name_span) = (globals.nodes.content(node), name.span);
            return Err(self.report(unknown_field(&name.text, &content, nearest), name_span));
        };
        let pointer = self.present(pointer.clone());
        let place = CellPlace { variable: *field, indices: vec![pointer], span };
        Ok(Some((place, of(field).content.clone())))
    }

    /// Returns the pointer that a place holds, if its type is a pointer. A shared place is read.
    pub fn held(&mut self, target: Target, span: Span) -> Parsed<Option<Expression>> {
        Ok(match target {
            Target::Place(place, content) if pointed_to(&content).is_some() => {
                Some(self.content_of(&place, span))
            }
            Target::Cell(cell, content) if pointed_to(&content).is_some() => {
                Some(self.result_of(Access::Read(cell), content, span)?)
            }
            Target::PartOfCell(cell, path, content) if pointed_to(&content).is_some() => {
                let whole = self.globals.shared[cell.variable.0 as usize].content.clone();
                let whole = self.result_of(Access::Read(cell), whole, span)?;
                Some(path.iter().fold(whole, |whole, part| part_of(whole, part, span)))
            }
            _ => None,
        })
    }

    fn content_of(&self, place: &Place, span: Span) -> Expression {
        let root = match place.root {
            Root::Local(id) => self.read(id, span),
            Root::Private(id) => {
                let content = self.globals.private[id.0 as usize].content.clone();
                Expression { kind: ExpressionKind::Private(id), content, span }
            }
        };
        place.path.iter().fold(root, |whole, part| part_of(whole, part, span))
    }
}

fn part_of(whole: Expression, part: &Projection, span: Span) -> Expression {
    let (content, whole) = (whole.content.clone(), Box::new(whole));
    match (part, content) {
        (Projection::Index(index), Type::Array { element, .. }) => {
            let kind = ExpressionKind::Index(whole, Box::new(index.clone()));
            Expression { kind, content: *element, span }
        }
        (Projection::Field(position), Type::Record(mut fields)) => {
            let kind = ExpressionKind::Field(whole, *position);
            Expression { kind, content: fields.swap_remove(*position).content, span }
        }
        _ => unreachable!("a path was checked"),
    }
}

impl Nodes {
    pub fn content(&self, id: NodeId) -> Type {
        Type::Node { id, name: self.types[id.0 as usize].name.clone() }
    }
}
