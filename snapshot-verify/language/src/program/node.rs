//! Nodes, which algorithms on linked structures allocate and free.
//!
//! Each field of a declaration is a family of cells ([`SharedVariable`](super::SharedVariable)),
//! with one cell per node. One more family holds the states of the nodes. So an access to a field
//! is an ordinary access to a cell.

use super::{Bound, Expression, SharedId};
use crate::language::Span;

/// An index into [`Program::nodes`](super::Program::nodes).
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct NodeId(pub u16);

/// Nodes that are declared together: a kind of nodes.
#[derive(Clone, Debug)]
pub struct NodeType {
    pub name: String,
    /// Span of the declaration.
    pub span: Span,
    /// Largest number of nodes at a time: they are numbered from 0.
    pub bound: Bound,
    /// True if a freed node keeps its contents, and may be accessed, until it is allocated again:
    /// type-stable memory (Greenwald and Cheriton, OSDI 1996).
    pub is_stable: bool,
    /// Fields, each a family of cells with one index, the node.
    pub fields: Vec<SharedId>,
    /// Family with the same index that holds the state of each node: initially [`Self::ABSENT`].
    pub state: SharedId,
}

impl NodeType {
    /// Largest number of nodes of a declaration that does not set it.
    pub const BOUND: Bound = Bound::constant(16);
    /// State of a node that does not exist.
    pub const ABSENT: i64 = 0;
    /// State of an allocated node.
    pub const ALLOCATED: i64 = 1;
    /// State of a freed node that still has pointers to it.
    pub const FREED: i64 = 2;
}

#[derive(Clone, Debug)]
pub struct InitialNode {
    /// Kind of the node.
    pub node: NodeId,
    pub number: u32,
    /// Contents of its fields: constant expressions.
    pub fields: Vec<Expression>,
}
