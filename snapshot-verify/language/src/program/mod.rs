//! A checked algorithm: names and types resolved, and every statement either
//! computes locally or makes exactly one access to shared memory.
//!
//! This is what the front end makes and what everything else starts from: the
//! interpreter runs it as it is, the compiler of the explorer unrolls it
//! for given n, i, j. It is independent of n.
//!
//! Invariants, kept by the front end:
//!
//! * every expression carries its type, and is well-typed: conversions are written
//!   out, but for an integer that stands where a wider range is expected, which is
//!   as it is, also inside an optional;
//! * expressions are local: shared memory occurs only in [`Access`], and where
//!   the text has an access within an expression (`until active = me`), the
//!   front end has put the value read into a hidden local before it;
//! * a field of a node is accessed like any cell, and is a cell of a family whose index is the
//!   node;
//! * procedures do not call each other in a circle;
//! * every path from a [`StatementKind::Loop`]'s begin to its begin makes an
//!   access;
//! * of a snapshot, `update` has one parameter, of type [`Type::Value`], and returns nothing;
//!   `scan` has none and returns a view; of an object, the procedure of an operation has its
//!   parameters and its result;
//! * a path through a procedure that returns something ends in a `Return`;
//! * a program has linearization points ([`Mark`], [`StatementKind::Point`]) only if it was made
//!   with them: what an algorithm does does not depend on where its text says that it takes effect.

pub mod anonymity;
mod display;
mod expression;
mod extent;
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
    /// Its name, as in `algorithm NAME`.
    pub name: String,
    /// The bug variant this is, if it is one.
    pub bug: Option<String>,
    /// Where it was published.
    pub citation: Option<String>,
    /// Kinds of nodes; only a program that implements an object has some.
    pub nodes: Vec<NodeType>,
    /// The nodes that there are at first; of each kind in the order of their numbers.
    pub initial_nodes: Vec<InitialNode>,
    /// Shared variables. Each is one cell, or an array of cells. Those that nodes are made of
    /// come last.
    pub shared: Vec<SharedVariable>,
    /// Variables of each process that keep their values between operations.
    pub private: Vec<PrivateVariable>,
    /// All procedures, those of the operations among them.
    pub procedures: Vec<Procedure>,
    /// What it implements, and which procedures are the operations.
    pub interface: Interface,
}

/// What a program implements.
#[derive(Clone, Debug)]
pub enum Interface {
    /// The snapshot.
    Snapshot {
        /// The procedure that updates.
        update: ProcedureId,
        /// The procedure that scans.
        scan: ProcedureId,
    },
    /// The object that the text declares.
    Object(Box<Object>),
    /// Nothing: it is the specification of an object itself, whose private variables are the
    /// object's state.
    Specification,
}

impl Program {
    /// The procedure that updates.
    ///
    /// # Panics
    /// If it is no program of a snapshot.
    pub fn update(&self) -> ProcedureId {
        match self.interface {
            Interface::Snapshot { update, .. } => update,
            _ => panic!("only a program of a snapshot updates"),
        }
    }

    /// The procedure that scans.
    ///
    /// # Panics
    /// If it is no program of a snapshot.
    pub fn scan(&self) -> ProcedureId {
        match self.interface {
            Interface::Snapshot { scan, .. } => scan,
            _ => panic!("only a program of a snapshot scans"),
        }
    }

    /// The object that it declares, if it does.
    pub const fn object(&self) -> Option<&Object> {
        match &self.interface {
            Interface::Object(object) => Some(object),
            Interface::Snapshot { .. } | Interface::Specification => None,
        }
    }

    /// Whether a process may begin with this procedure.
    pub fn is_operation(&self, procedure: ProcedureId) -> bool {
        match &self.interface {
            Interface::Snapshot { update, scan } => [*update, *scan].contains(&procedure),
            Interface::Object(object) => {
                object.operations.iter().any(|operation| operation.procedure == procedure)
            }
            Interface::Specification => true,
        }
    }

    /// The types of all variables: shared, private and local ones.
    pub fn types(&self) -> impl Iterator<Item = &Type> {
        let shared = self.shared.iter().map(|variable| &variable.content);
        let private = self.private.iter().map(|variable| &variable.content);
        let locals = self.procedures.iter().flat_map(|procedure| &procedure.locals);
        shared.chain(private).chain(locals.map(|local| &local.content))
    }

    /// Whether it has counters, which may grow without bound.
    pub fn has_counters(&self) -> bool {
        self.types().any(Type::has_counters)
    }

    /// What variables and the fields of nodes hold at first.
    pub fn initial_values(&self) -> impl Iterator<Item = &Expression> {
        let shared = self.shared.iter().map(|variable| &variable.initial);
        let private = self.private.iter().map(|variable| &variable.initial);
        let locals = self.procedures.iter().flat_map(|procedure| &procedure.locals);
        let nodes = self.initial_nodes.iter().flat_map(|node| &node.fields);
        shared.chain(private).chain(locals.map(|local| &local.initial)).chain(nodes)
    }
}

/// A shared variable: a family of cells. Each cell is read and written whole.
#[derive(Clone, Debug)]
pub struct SharedVariable {
    /// As declared.
    pub name: String,
    /// Where it is declared.
    pub span: Span,
    /// One cell per combination of indices; no dimension: a single cell.
    pub dimensions: Vec<IndexSet>,
    /// What one cell holds.
    pub content: Type,
    /// What may be done with a cell.
    pub cell: CellKind,
    /// What every cell holds at first: a constant expression of type `content`.
    pub initial: Expression,
}

/// What may be done with a cell besides reading and writing it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum CellKind {
    /// Nothing.
    Register,
    /// LL links the calling process to the cell. SC writes, and breaks all
    /// links to the cell, iff the caller's link is unbroken; VL tells whether it
    /// is. A plain write breaks all links. At first no process is linked.
    Linked,
    /// Compare-and-swap.
    Swappable,
}

/// A variable of each process that keeps its value between operations.
#[derive(Clone, Debug)]
pub struct PrivateVariable {
    /// As declared.
    pub name: String,
    /// Where it is declared.
    pub span: Span,
    /// Its type, arrays included.
    pub content: Type,
    /// Its first value: a constant expression, which may mention `me`.
    pub initial: Expression,
}

/// A procedure. Called, it starts with fresh locals.
#[derive(Clone, Debug)]
pub struct Procedure {
    /// As declared.
    pub name: String,
    /// Where it is declared.
    pub span: Span,
    /// Parameters first.
    pub locals: Vec<Local>,
    /// How many of the locals are parameters.
    pub parameters: usize,
    /// What it returns, if anything.
    pub returns: Option<Type>,
    /// What it does.
    pub body: Vec<Statement>,
}

/// A parameter, a local variable, or the variable of a `for` or a quantifier.
#[derive(Clone, Debug)]
pub struct Local {
    /// As declared; a hidden local is named after what it holds, `active` say.
    pub name: String,
    /// Where it is declared, or the access that it holds the result of.
    pub span: Span,
    /// Its type, arrays included.
    pub content: Type,
    /// The value it has at each call, unless it is a parameter: a constant
    /// expression, which may mention `me`.
    pub initial: Expression,
    /// Whether the front end made it for the result of an access.
    pub hidden: bool,
}

impl Program {
    /// The nodes with this id.
    pub fn node(&self, id: NodeId) -> &NodeType {
        &self.nodes[id.0 as usize]
    }

    /// The nodes that a family of cells is a field of.
    pub fn node_of_field(&self, field: SharedId) -> Option<NodeId> {
        let node = self.nodes.iter().position(|node| node.fields.contains(&field));
        node.map(|node| NodeId(node as u16))
    }

    /// Whether it frees nodes. Then which node `new` takes depends on what others have freed:
    /// each `new` is a step of its own.
    pub fn frees(&self) -> bool {
        let mut found = false;
        let bodies = self.procedures.iter().flat_map(|procedure| &procedure.body);
        Statement::each(bodies, &mut |statement| {
            found |= matches!(statement.kind, StatementKind::Free(_));
        });
        found
    }

    /// The shared variable with this id.
    pub fn shared(&self, id: SharedId) -> &SharedVariable {
        &self.shared[id.0 as usize]
    }

    /// The private variable with this id.
    pub fn private(&self, id: PrivateId) -> &PrivateVariable {
        &self.private[id.0 as usize]
    }

    /// The procedure with this id.
    pub fn procedure(&self, id: ProcedureId) -> &Procedure {
        &self.procedures[id.0 as usize]
    }
}

impl Procedure {
    /// The local with this id.
    pub fn local(&self, id: LocalId) -> &Local {
        &self.locals[id.0 as usize]
    }
}
