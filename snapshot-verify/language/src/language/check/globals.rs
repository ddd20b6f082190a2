//! Declarations outside of procedures: types, shared and private variables, and the signatures of
//! procedures.

use crate::language::diagnostic::syntax::{duplicate, reserved_name, too_many};
use crate::language::diagnostic::types::empty_range;
use std::collections::{HashMap, HashSet};

use super::body::{Body, Constant};
use super::node::Nodes;
use super::types::{self, Types};
use crate::language::diagnostic::{Parsed, Reporter, message};
use crate::language::tree::{Cell, InitialNode, Name, Procedure, Tree, Variable};
use crate::language::{Source, Span};
use crate::program::{
    CellKind, Expression, ExpressionKind, IndexSet, ListOperation, NodeId, PrivateId,
    PrivateVariable, ProcedureId, SharedId, SharedVariable, Type,
};

/// Accesses and conversions, whose names are reserved.
pub(super) const OWN_PROCEDURES: [&str; 11] =
    ["LL", "SC", "VL", "CAS", "SWAP", "FAA", "TAS", "process", "segment", "number", "value"];

/// Declarations that every procedure sees.
#[derive(Debug, Default)]
pub(super) struct Globals {
    pub types: Types,
    pub shared: Vec<SharedVariable>,
    pub private: Vec<PrivateVariable>,
    pub nodes: Nodes,
    /// Indexed by [`ProcedureId`].
    pub signatures: Vec<Signature>,
    pub interface: Expected,
    variables: HashMap<String, Global>,
    procedures: HashMap<String, ProcedureId>,
}

/// The operations, with their signatures.
#[derive(Debug, Default)]
pub(super) enum Expected {
    #[default]
    Snapshot,
    /// Operations of the object, by name.
    Operations(HashMap<String, Signature>),
    /// The specification of the object itself is being checked. Variables of the algorithm with
    /// these names are invisible.
    Specification(HashSet<String>),
}

/// Declaration that a name outside of procedures denotes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Global {
    Shared(SharedId),
    Private(PrivateId),
    /// An initial node, by its position in the text.
    InitialNode(u32),
    /// An invalid declaration, already reported.
    Broken,
}

#[derive(Clone, Debug)]
pub(super) struct Signature {
    pub name: Name,
    /// `None` if the type is invalid and was reported.
    pub parameters: Vec<Option<Type>>,
    pub returns: Option<Type>,
    /// False if the result type is invalid and was reported.
    pub sound: bool,
}

impl Signature {
    /// Returns true if these types are the operation's, as far as they are written.
    fn fits(&self, parameters: &[Option<Type>], returns: &Option<Type>) -> bool {
        let fits = |(found, wanted): (&Option<Type>, _)| found.is_none() || found == wanted;
        parameters.len() == self.parameters.len()
            && parameters.iter().zip(&self.parameters).all(fits)
            && fits((returns, &self.returns))
    }
}

impl Globals {
    /// Resolves all declarations, and reports errors.
    pub fn declare(
        source: &Source,
        tree: &Tree,
        interface: Expected,
        reporter: &mut Reporter,
    ) -> Self {
        let has_lists = matches!(interface, Expected::Specification(_));
        let types = Types::declare(&tree.types, &tree.nodes, has_lists, reporter);
        let nodes = Nodes::declare(tree, &types, reporter);
        let mut globals = Self { types, nodes, interface, ..Self::default() };
        let mut places = HashMap::new();
        globals.declare_initial_nodes(&tree.initially, &mut places, reporter);
        for variable in &tree.shared {
            if !is_new(&mut places, &variable.name, reporter) {
                continue;
            }
            let global = match globals.shared_variable(source, variable, reporter) {
                Ok(declared) => {
                    globals.shared.push(declared);
                    Global::Shared(SharedId(globals.shared.len() as u32 - 1))
                }
                Err(_) => Global::Broken,
            };
            globals.variables.insert(variable.name.text.clone(), global);
        }
        for variable in &tree.private {
            if !is_new(&mut places, &variable.name, reporter) {
                continue;
            }
            let global = match globals.private_variable(source, variable, reporter) {
                Ok(declared) => {
                    globals.private.push(declared);
                    Global::Private(PrivateId(globals.private.len() as u32 - 1))
                }
                Err(_) => Global::Broken,
            };
            globals.variables.insert(variable.name.text.clone(), global);
        }
        // After the declared variables; nodes assume that there are `tree.shared.len()` of them.
        globals.shared.resize_with(tree.shared.len(), broken);
        globals.shared.extend(globals.nodes.families.iter().cloned());
        let mut places = HashMap::new();
        for (procedure, id) in tree.procedures.iter().zip(0..) {
            if OWN_PROCEDURES.contains(&procedure.name.text.as_str()) {
                let name = procedure.name.text.clone();
                reporter.report(reserved_name(&name), procedure.name.span);
            }
            let signature = globals.signature(procedure, reporter);
            globals.signatures.push(signature);
            if is_new(&mut places, &procedure.name, reporter) {
                globals.procedures.insert(procedure.name.text.clone(), ProcedureId(id));
            }
        }
        globals
    }

    fn declare_initial_nodes(
        &mut self,
        written: &[InitialNode],
        places: &mut HashMap<String, Span>,
        reporter: &mut Reporter,
    ) {
        let mut counts = vec![0; self.nodes.types.len()];
        for (one, position) in written.iter().zip(0..) {
            if !is_new(places, &one.name, reporter) {
                // The fields are checked despite the error.
                self.nodes.initial.push((NodeId(0), 0));
                continue;
            }
            let declared = self.node(&one.node, reporter);
            let global = declared.map_or(Global::Broken, |_| Global::InitialNode(position));
            self.variables.insert(one.name.text.clone(), global);
            let id = declared.unwrap_or(NodeId(0));
            let number = counts.get_mut(id.0 as usize).map_or(0, |count: &mut u32| {
                *count += 1;
                *count - 1
            });
            self.nodes.initial.push((id, number));
        }
    }

    /// Returns the procedure with this name, if declared.
    pub fn operation(&self, name: &str) -> Option<ProcedureId> {
        self.procedures.get(name).copied()
    }

    /// Returns the declaration that a name outside of procedures denotes.
    pub fn variable(&self, name: &str) -> Option<Global> {
        self.variables.get(name).copied()
    }

    /// Returns the declaration of a shared or private variable.
    pub fn place(&self, global: Global) -> Option<Span> {
        match global {
            Global::Shared(id) => Some(self.shared[id.0 as usize].span),
            Global::Private(id) => Some(self.private[id.0 as usize].span),
            Global::InitialNode(_) | Global::Broken => None,
        }
    }

    /// Returns the names of all shared and private variables.
    pub fn variable_names(&self) -> impl Iterator<Item = &str> {
        self.variables.keys().map(String::as_str)
    }

    pub fn procedure_names(&self) -> impl Iterator<Item = &str> {
        self.procedures.keys().map(String::as_str)
    }

    fn shared_variable(
        &self,
        source: &Source,
        variable: &Variable,
        reporter: &mut Reporter,
    ) -> Parsed<SharedVariable> {
        let (dimensions, content) = self.declared(variable, reporter)?;
        let constant = Constant { of_process: false, names_nodes: true };
        let initial = self.initial(source, variable, &content, constant, reporter)?;
        Ok(SharedVariable {
            name: variable.name.text.clone(),
            span: variable.name.span,
            dimensions,
            content,
            cell: cell_kind(variable.cell),
            initial,
        })
    }

    fn private_variable(
        &self,
        source: &Source,
        variable: &Variable,
        reporter: &mut Reporter,
    ) -> Parsed<PrivateVariable> {
        let (content, initial) = self.own_variable(source, variable, true, reporter)?;
        let (name, span) = (variable.name.text.clone(), variable.name.span);
        Ok(PrivateVariable { name, span, content, initial })
    }

    /// Returns the type and the initial content of a private or local variable. The content of a
    /// private one may name nodes.
    pub fn own_variable(
        &self,
        source: &Source,
        variable: &Variable,
        names_nodes: bool,
        reporter: &mut Reporter,
    ) -> Parsed<(Type, Expression)> {
        let (dimensions, element) = self.declared(variable, reporter)?;
        let constant = Constant { of_process: true, names_nodes };
        let mut initial = self.initial(source, variable, &element, constant, reporter)?;
        let content = Types::dimensioned(&dimensions, element.clone());
        let mut filled = element;
        for &index in dimensions.iter().rev() {
            filled = Type::Array { index, element: Box::new(filled) };
            let span = initial.span;
            let kind = ExpressionKind::Filled(Box::new(initial));
            initial = Expression { kind, content: filled.clone(), span };
        }
        Ok((content, initial))
    }

    fn declared(
        &self,
        variable: &Variable,
        reporter: &mut Reporter,
    ) -> Parsed<(Vec<IndexSet>, Type)> {
        let mut dimensions = Vec::new();
        for written in &variable.dimensions {
            let index = types::indices(written, reporter)?;
            if !super::range::never_empty(index, false) {
                let range = index.to_string();
                return Err(reporter.report(empty_range(&range), written.span));
            }
            dimensions.push(index);
        }
        if dimensions.len() > DIMENSIONS {
            return Err(reporter.report(too_many("dimensions", DIMENSIONS), variable.name.span));
        }
        Ok((dimensions, self.types.resolve(&variable.content, reporter)?))
    }

    fn initial(
        &self,
        source: &Source,
        variable: &Variable,
        content: &Type,
        constant: Constant,
        reporter: &mut Reporter,
    ) -> Parsed<Expression> {
        match &variable.initial {
            None => Ok(default(content, variable.content.span)),
            Some(written) => {
                Body::constant(source, self, constant, reporter).expect_type(written, content)
            }
        }
    }

    fn signature(&self, procedure: &Procedure, reporter: &mut Reporter) -> Signature {
        let name = procedure.name.clone();
        let mut sound = true;
        let mut returns = None;
        if let Some(written) = &procedure.returns {
            match self.types.resolve(written, reporter) {
                Ok(content) => returns = Some(content),
                Err(_) => sound = false,
            }
        }
        let (is_update, is_scan, operation) = match &self.interface {
            Expected::Snapshot => (name.text == "update", name.text == "scan", None),
            Expected::Operations(operations) => (false, false, operations.get(&name.text)),
            Expected::Specification(_) => (false, false, None),
        };
        let mut parameters = Vec::new();
        for (position, (parameter, written)) in procedure.parameters.iter().enumerate() {
            parameters.push(match (written, operation) {
                (Some(written), _) => self.types.resolve(written, reporter).ok(),
                (None, Some(operation)) => operation.parameters.get(position).cloned().flatten(),
                (None, None) if is_update => Some(Type::Value),
                (None, None) => {
                    let message =
                        message!("untyped-parameter", "parameter `{}` has no type", parameter.text)
                            .help("write `NAME: TYPE`");
                    reporter.report(message, parameter.span);
                    None
                }
            });
        }
        if is_update && sound {
            let one_value = matches!(parameters[..], [Some(Type::Value) | None]);
            if !one_value || returns.is_some() {
                let message = message!(
                    "update-signature",
                    "`update` has one parameter, the value, and returns nothing"
                )
                .help(match parameters.len() {
                    0 | 1 => "write `update(v):`",
                    _ => {
                        "write `update(v):`, which writes the process's own segment, or \
                         `update(s, v):`, which writes segment s"
                    }
                });
                reporter.report(message, name.span);
            }
        }
        if is_scan && sound {
            if !parameters.is_empty() || returns.as_ref().is_some_and(|r| *r != Type::view()) {
                let message =
                    message!("scan-signature", "`scan` has no parameters and returns a view")
                        .help("write `scan:`");
                reporter.report(message, name.span);
            }
            returns = Some(Type::view());
        }
        if let Some(operation) = operation.filter(|_| sound) {
            if !operation.fits(&parameters, &returns) {
                let message = message!(
                    "operation-signature",
                    "`{}` has other parameters, or another result, than the operation",
                    name.text
                )
                .context(operation.name.span, "the operation")
                .help(
                    "leave out the types of the parameters and of the result: they are the \
                     operation's",
                );
                reporter.report(message, name.span);
            }
            returns.clone_from(&operation.returns);
        }
        Signature { name, parameters, returns, sound }
    }
}

/// Most dimensions of a variable.
const DIMENSIONS: usize = 8;

fn is_new(places: &mut HashMap<String, Span>, name: &Name, reporter: &mut Reporter) -> bool {
    if let Some(&first) = places.get(&name.text) {
        reporter.report(duplicate(&name.text, first), name.span);
        return false;
    }
    places.insert(name.text.clone(), name.span);
    true
}

/// Placeholder for a variable with an invalid declaration: the text has no program then.
fn broken() -> SharedVariable {
    SharedVariable {
        name: String::new(),
        span: Span::default(),
        dimensions: Vec::new(),
        content: Type::Bool,
        cell: CellKind::Register,
        initial: default(&Type::Bool, Span::default()),
    }
}

pub(super) const fn cell_kind(cell: Option<Cell>) -> CellKind {
    match cell {
        None => CellKind::Register,
        Some(Cell::Linked) => CellKind::Linked,
        Some(Cell::Swappable) => CellKind::Swappable,
    }
}

/// Returns the initial value of a variable whose declaration has none.
pub(super) fn default(content: &Type, span: Span) -> Expression {
    let kind = match content {
        Type::Value => ExpressionKind::InitialValue,
        Type::Bool => ExpressionKind::Bool(false),
        Type::Process => ExpressionKind::Process(Default::default()),
        Type::Segment => ExpressionKind::Segment(Default::default()),
        Type::Integer { low, .. } => ExpressionKind::Integer(*low),
        Type::Version => ExpressionKind::FirstVersion,
        Type::Counter => ExpressionKind::Counter(0),
        Type::Optional(_) | Type::Node { .. } => ExpressionKind::None,
        Type::List(_) => ExpressionKind::List(ListOperation::Empty, Vec::new()),
        Type::Array { element, .. } => ExpressionKind::Filled(Box::new(default(element, span))),
        Type::Record(fields) => ExpressionKind::Record(
            fields.iter().map(|field| default(&field.content, span)).collect(),
        ),
    };
    Expression { kind, content: content.clone(), span }
}
