//! Nodes: what algorithms on linked structures allocate and free.
//!
//! Each field of a declaration is a family of cells ([`SharedVariable`](super::SharedVariable)),
//! with one cell per node, and one more family says which nodes there are. So an access to a
//! field is an access to a cell like any other.

use super::{Bound, Expression, SharedId};
use crate::language::Span;

/// An index into [`Program::nodes`](super::Program::nodes).
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct NodeId(pub u16);

/// Nodes that are declared together: those of one kind.
#[derive(Clone, Debug)]
pub struct NodeType {
    /// As declared.
    pub name: String,
    /// Where it is declared.
    pub span: Span,
    /// How many there may be at a time: they are numbered from 0.
    pub bound: Bound,
    /// Whether a node that was freed keeps its contents, and may be accessed, until it is
    /// allocated again: type-stable memory (Greenwald and Cheriton, OSDI 1996).
    pub is_stable: bool,
    /// The fields, each a family of cells with one index, the node.
    pub fields: Vec<SharedId>,
    /// A family with the same index that says what a node is: [`Self::ABSENT`] at first.
    pub state: SharedId,
}

impl NodeType {
    /// How many there may be of one declaration that does not say it.
    pub const BOUND: Bound = Bound::constant(16);
    /// There is no such node.
    pub const ABSENT: i64 = 0;
    /// It is allocated.
    pub const ALLOCATED: i64 = 1;
    /// It was freed, and something points to it all the same.
    pub const FREED: i64 = 2;
}

/// A node that there is at first.
#[derive(Clone, Debug)]
pub struct InitialNode {
    /// What it is of.
    pub node: NodeId,
    /// Its number.
    pub number: u32,
    /// What its fields hold: constant expressions.
    pub fields: Vec<Expression>,
}
