//! A checked algorithm: names and types are resolved, and every statement either computes locally
//! or makes exactly one access to shared memory.
//!
//! The front end makes programs, and all other stages start from them: the interpreter runs a
//! program as it is, the compiler of the explorer unrolls it for given n, i, j. A program is
//! independent of n.
//!
//! Invariants, kept by the front end:
//!
//! * every expression carries its type, and is well-typed. Conversions are explicit, with one
//!   exception: an integer stands unconverted where a wider range is expected, also inside an
//!   optional;
//! * expressions are local: shared memory occurs only in [`Access`]. If the text has an access
//!   within an expression (`until active = me`), the front end reads the value into a hidden local
//!   before it;
//! * a field of a node is accessed like any cell; it is a cell of a family whose index is the node;
//! * calls of procedures are not circular;
//! * every path from the beginning of a [`StatementKind::Loop`] back to it makes an access;
//! * in a snapshot, `update` has one parameter, of type [`Type::Value`], and no result; `scan` has
//!   no parameters and returns a view. In an object, the procedure of an operation has its
//!   parameters and its result;
//! * a path through a procedure with a result ends in a `Return`;
//! * a program has linearization points ([`Mark`], [`StatementKind::Point`]) only if it was made
//!   with them: the effects of an algorithm do not depend on its marks.

pub mod anonymity;
pub mod counters;
mod display;
mod expression;
mod extent;
pub mod guards;
pub mod independence;
pub mod linearization;
pub(crate) mod links;
mod node;
mod object;
pub mod rewrite;
mod statement;
mod types;

pub use expression::{Binary, Expression, ExpressionKind, ListOperation};
pub use extent::{Extent, ExtentError, MOST_SCALARS, MOST_WORK};
pub use node::{InitialNode, NodeId, NodeType};
pub use object::{By, Object, Operation, OperationId};
pub use statement::{Access, CellPlace, Mark, Place, Projection, Root, Statement, StatementKind};
pub use types::{Bound, Field, IndexSet, Type};

use crate::language::Span;

/// An index into [`Program::shared`].
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct SharedId(pub u32);

/// An index into [`Program::private`].
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct PrivateId(pub u32);

/// An index into [`Procedure::locals`].
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct LocalId(pub u32);

/// An index into [`Program::procedures`].
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct ProcedureId(pub u32);

/// A checked algorithm, or one of its bug variants.
#[derive(Clone, Debug)]
pub struct Program {
    /// Name, as in `algorithm NAME`.
    pub name: String,
    /// Bug variant, if the program is one.
    pub bug: Option<String>,
    /// Publication of the algorithm.
    pub citation: Option<String>,
    /// Kinds of nodes; only programs that implement an object have some.
    pub nodes: Vec<NodeType>,
    /// Initial nodes; each kind in the order of its numbers.
    pub initial_nodes: Vec<InitialNode>,
    /// Shared variables. Each is one cell, or an array of cells. Variables that implement nodes
    /// come last.
    pub shared: Vec<SharedVariable>,
    /// Variables of each process that keep their values between operations.
    pub private: Vec<PrivateVariable>,
    /// All procedures, including the operations.
    pub procedures: Vec<Procedure>,
    /// Implemented object, with the procedures of its operations.
    pub interface: Interface,
}

/// Object that a program implements.
#[derive(Clone, Debug)]
pub enum Interface {
    Snapshot {
        update: ProcedureId,
        scan: ProcedureId,
    },
    /// The object that the text declares.
    Object(Box<Object>),
    /// The specification of an object itself, whose private variables are the object's state.
    Specification,
}

impl Program {
    /// Returns the procedure that updates.
    ///
    /// # Panics
    /// If the program does not implement a snapshot.
    pub fn update(&self) -> ProcedureId {
        match self.interface {
            Interface::Snapshot { update, .. } => update,
            _ => panic!("only a program of a snapshot updates"),
        }
    }

    /// Returns the procedure that scans.
    ///
    /// # Panics
    /// If the program does not implement a snapshot.
    pub fn scan(&self) -> ProcedureId {
        match self.interface {
            Interface::Snapshot { scan, .. } => scan,
            _ => panic!("only a program of a snapshot scans"),
        }
    }

    /// Returns the object that the text declares, if any.
    pub const fn object(&self) -> Option<&Object> {
        match &self.interface {
            Interface::Object(object) => Some(object),
            Interface::Snapshot { .. } | Interface::Specification => None,
        }
    }

    /// Returns true if an operation of a process may begin with this procedure.
    pub fn is_operation(&self, procedure: ProcedureId) -> bool {
        match &self.interface {
            Interface::Snapshot { update, scan } => [*update, *scan].contains(&procedure),
            Interface::Object(object) => {
                object.operations.iter().any(|operation| operation.procedure == procedure)
            }
            Interface::Specification => true,
        }
    }

    /// Returns the types of all variables: shared, private and local ones.
    pub fn types(&self) -> impl Iterator<Item = &Type> {
        let shared = self.shared.iter().map(|variable| &variable.content);
        let private = self.private.iter().map(|variable| &variable.content);
        let locals = self.procedures.iter().flat_map(|procedure| &procedure.locals);
        shared.chain(private).chain(locals.map(|local| &local.content))
    }

    /// Returns true if the program has counters, which may grow without bound.
    pub fn has_counters(&self) -> bool {
        self.types().any(Type::has_counters)
    }

    /// Returns the initial contents of variables and of the fields of nodes.
    pub fn initial_values(&self) -> impl Iterator<Item = &Expression> {
        let shared = self.shared.iter().map(|variable| &variable.initial);
        let private = self.private.iter().map(|variable| &variable.initial);
        let locals = self.procedures.iter().flat_map(|procedure| &procedure.locals);
        let nodes = self.initial_nodes.iter().flat_map(|node| &node.fields);
        shared.chain(private).chain(locals.map(|local| &local.initial)).chain(nodes)
    }
}

/// A shared variable: a family of cells. Each cell is read and written as a whole.
#[derive(Clone, Debug)]
pub struct SharedVariable {
    pub name: String,
    /// Span of the declaration.
    pub span: Span,
    /// One cell per combination of indices; without dimensions, a single cell.
    pub dimensions: Vec<IndexSet>,
    /// Type of the content of a cell.
    pub content: Type,
    /// Operations on a cell besides reads and writes.
    pub cell: CellKind,
    /// Initial content of every cell: a constant expression of type `content`.
    pub initial: Expression,
}

/// Operations on a cell besides reads and writes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum CellKind {
    /// No further operations.
    Register,
    /// LL links the calling process to the cell. SC writes, and breaks all links to the cell, iff
    /// the caller's link is unbroken; VL returns whether it is. A plain write breaks all links.
    /// Initially no process is linked.
    Linked,
    /// Compare-and-swap.
    Swappable,
}

/// A variable of each process that keeps its value between operations.
#[derive(Clone, Debug)]
pub struct PrivateVariable {
    pub name: String,
    /// Span of the declaration.
    pub span: Span,
    /// Type, arrays included.
    pub content: Type,
    /// Initial value: a constant expression, which may mention `me`.
    pub initial: Expression,
}

/// A procedure. Each call starts with fresh locals.
#[derive(Clone, Debug)]
pub struct Procedure {
    pub name: String,
    /// Span of the declaration.
    pub span: Span,
    /// Parameters, followed by the other locals.
    pub locals: Vec<Local>,
    pub parameters: usize,
    /// Result type, if it returns a result.
    pub returns: Option<Type>,
    pub body: Vec<Statement>,
}

/// A parameter, a local variable, or the variable of a `for` or a quantifier.
#[derive(Clone, Debug)]
pub struct Local {
    /// Declared name. A hidden local is named after its access: `active`, for example.
    pub name: String,
    /// Span of the declaration, or of the access whose result it holds.
    pub span: Span,
    /// Type, arrays included.
    pub content: Type,
    /// Value at the beginning of each call, except for a parameter: a constant expression, which
    /// may mention `me`.
    pub initial: Expression,
    /// True if the front end made it for the result of an access.
    pub hidden: bool,
}

impl Program {
    pub fn node(&self, id: NodeId) -> &NodeType {
        &self.nodes[id.0 as usize]
    }

    /// Returns the kind of nodes of which a family of cells is a field.
    pub fn node_of_field(&self, field: SharedId) -> Option<NodeId> {
        let node = self.nodes.iter().position(|node| node.fields.contains(&field));
        node.map(|node| NodeId(node as u16))
    }

    /// Returns true if the program frees nodes. Then the choice of `new` depends on nodes that
    /// other processes have freed, so each `new` is a step of its own.
    pub fn frees(&self) -> bool {
        let mut found = false;
        let bodies = self.procedures.iter().flat_map(|procedure| &procedure.body);
        Statement::each(bodies, &mut |statement| {
            found |= matches!(statement.kind, StatementKind::Free(_));
        });
        found
    }

    pub fn shared(&self, id: SharedId) -> &SharedVariable {
        &self.shared[id.0 as usize]
    }

    pub fn private(&self, id: PrivateId) -> &PrivateVariable {
        &self.private[id.0 as usize]
    }

    pub fn procedure(&self, id: ProcedureId) -> &Procedure {
        &self.procedures[id.0 as usize]
    }
}

impl Procedure {
    pub fn local(&self, id: LocalId) -> &Local {
        &self.locals[id.0 as usize]
    }
}
