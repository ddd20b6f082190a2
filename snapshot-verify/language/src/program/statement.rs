//! Statements: local computation, control, and accesses to shared memory.

use super::{Expression, IndexSet, LocalId, NodeId, PrivateId, ProcedureId, SharedId};
use crate::language::Span;

#[derive(Clone, Debug)]
pub struct Statement {
    pub kind: StatementKind,
    pub span: Span,
    /// Mark of its access as a linearization point, if the program has
    /// [points](crate::language::Algorithm::program_with_points).
    pub mark: Option<Mark>,
}

/// Condition under which an access is a linearization point of its operation. An SC or CAS is one
/// only if it succeeds.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Mark {
    /// On every execution of the access.
    Always,
    /// If the condition of the next [`StatementKind::Point`] holds, which follows in the same step.
    OnCondition,
}

#[derive(Clone, Debug)]
pub enum StatementKind {
    /// Evaluates and stores a value. Local computation.
    Assign {
        place: Place,
        /// Value to store.
        value: Expression,
    },
    /// Makes one access to shared memory, an atomic step with the local computation that follows
    /// it.
    Access {
        access: Access,
        /// Place of the result: the content of the cell for reads and LL, a bool for SC, VL, CAS.
        /// Writes have none.
        into: Option<Place>,
    },
    /// Calls a procedure with fresh locals.
    Call {
        procedure: ProcedureId,
        arguments: Vec<Expression>,
        /// Place of the result.
        into: Option<Place>,
    },
    /// Chooses one of two blocks.
    If {
        /// An expression of type bool.
        condition: Expression,
        then: Vec<Statement>,
        /// Executed if the condition is false.
        otherwise: Vec<Statement>,
    },
    /// Repeats until `Break` or `Return`. All other loops are made of this.
    Loop {
        /// Statements to repeat.
        body: Vec<Statement>,
    },
    /// Leaves the innermost `Loop`.
    Break,
    /// Runs the body for each index, in ascending order.
    For {
        /// Local that holds the index.
        variable: LocalId,
        over: IndexSet,
        /// Index to skip; evaluated once, before the loop.
        except: Option<Expression>,
        body: Vec<Statement>,
    },
    /// Ends the procedure.
    Return(Option<Expression>),
    /// Several accesses in one atomic step. Contains no loops with accesses.
    Atomic(Vec<Statement>),
    /// Allocates a node. Local computation, since no other process can reach it yet; but a step of
    /// its own if the program frees nodes. Never within `Atomic`.
    New {
        node: NodeId,
        /// Contents of its fields, in order.
        fields: Vec<Expression>,
        /// Place for a pointer to the node.
        into: Place,
    },
    /// Frees a node: a step of its own, like an access.
    Free(Expression),
    /// Takes any element of a set, which is not empty for any n: a step of its own. Only in
    /// algorithms that implement an object, and never within `Atomic`.
    Choose {
        /// Set to choose from.
        over: IndexSet,
        /// Place for the element, of its type.
        into: Place,
    },
    /// Decides linearization points; local computation. The accesses marked with
    /// [`Mark::OnCondition`] since the last `Point`, if any, are linearization points if this bool
    /// holds. Stands after the statements that store the results of these accesses.
    Point(Expression),
    /// Barrier of operations that take effect together: all of them reach it before one continues.
    /// Only in the operations of an object, at most once, and not within a block.
    Together,
}

/// A part of a local or private variable.
#[derive(Clone, Debug)]
pub struct Place {
    pub root: Root,
    /// Path from the variable to the part.
    pub path: Vec<Projection>,
}

/// A variable that only its process sees.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Root {
    Local(LocalId),
    /// A variable that is kept between operations.
    Private(PrivateId),
}

/// A step from a variable to a part of it.
#[derive(Clone, Debug)]
pub enum Projection {
    Index(Expression),
    /// A field of a record, by position.
    Field(usize),
}

/// One cell of a shared variable.
#[derive(Clone, Debug)]
pub struct CellPlace {
    pub variable: SharedId,
    /// One index per dimension.
    pub indices: Vec<Expression>,
    pub span: Span,
}

/// An access to one cell.
#[derive(Clone, Debug)]
pub enum Access {
    /// Reads the cell.
    Read(CellPlace),
    /// Writes the cell; breaks all links.
    Write(CellPlace, Expression),
    /// Reads the cell and links the caller.
    LoadLinked(CellPlace),
    /// Writes the cell and breaks all links iff the caller's link is unbroken; returns true if it
    /// did. The value is evaluated only if it is written.
    StoreConditional(CellPlace, Expression),
    /// Returns true if the caller's link is unbroken.
    Validate(CellPlace),
    /// Writes the second expression if the cell holds the first; returns true if it did. The second
    /// is evaluated only if it is written.
    CompareAndSwap(CellPlace, Expression, Expression),
}

impl Statement {
    /// Returns the statements of its blocks, but not their parts.
    pub fn parts(&self) -> impl Iterator<Item = &Self> {
        let [first, second]: [&[Self]; 2] = match &self.kind {
            StatementKind::If { then, otherwise, .. } => [then, otherwise],
            StatementKind::Loop { body }
            | StatementKind::For { body, .. }
            | StatementKind::Atomic(body) => [body, &[]],
            StatementKind::Assign { .. }
            | StatementKind::Access { .. }
            | StatementKind::Call { .. }
            | StatementKind::Break
            | StatementKind::New { .. }
            | StatementKind::Free(_)
            | StatementKind::Point(_)
            | StatementKind::Together
            | StatementKind::Choose { .. }
            | StatementKind::Return(_) => [&[], &[]],
        };
        first.iter().chain(second)
    }

    /// Returns the place that the statement itself assigns.
    pub const fn result(&self) -> Option<&Place> {
        match &self.kind {
            StatementKind::Assign { place, .. } => Some(place),
            StatementKind::Access { into, .. } | StatementKind::Call { into, .. } => into.as_ref(),
            StatementKind::New { into, .. } | StatementKind::Choose { into, .. } => Some(into),
            _ => None,
        }
    }

    /// Returns the expressions that the statement itself evaluates, without those within its
    /// blocks.
    pub fn operands(&self) -> Vec<&Expression> {
        let result = self.result();
        let mut operands: Vec<&Expression> = result.into_iter().flat_map(Place::indices).collect();
        match &self.kind {
            StatementKind::Assign { value, .. }
            | StatementKind::If { condition: value, .. }
            | StatementKind::Point(value)
            | StatementKind::Free(value) => operands.push(value),
            StatementKind::Access { access, .. } => operands.extend(access.operands()),
            StatementKind::Call { arguments: values, .. }
            | StatementKind::New { fields: values, .. } => operands.extend(values),
            StatementKind::For { except: value, .. } | StatementKind::Return(value) => {
                operands.extend(value);
            }
            StatementKind::Loop { .. }
            | StatementKind::Break
            | StatementKind::Atomic(_)
            | StatementKind::Choose { .. }
            | StatementKind::Together => {}
        }
        operands
    }

    /// Visits every statement in pre-order, those in blocks included.
    pub fn each<'a>(statements: impl IntoIterator<Item = &'a Self>, act: &mut dyn FnMut(&'a Self)) {
        for statement in statements {
            act(statement);
            Self::each(Box::new(statement.parts()) as Box<dyn Iterator<Item = &'a Self>>, act);
        }
    }
}

impl Statement {
    /// Visits every statement as [`Self::each`], mutably.
    pub fn each_mut(statements: &mut [Self], act: &mut dyn FnMut(&mut Self)) {
        for statement in statements {
            act(statement);
            match &mut statement.kind {
                StatementKind::If { then, otherwise, .. } => {
                    Self::each_mut(then, act);
                    Self::each_mut(otherwise, act);
                }
                StatementKind::Loop { body }
                | StatementKind::For { body, .. }
                | StatementKind::Atomic(body) => Self::each_mut(body, act),
                _ => {}
            }
        }
    }
}

impl Place {
    /// Returns the indices of its path.
    pub fn indices(&self) -> impl Iterator<Item = &Expression> {
        self.path.iter().filter_map(|part| match part {
            Projection::Index(index) => Some(index),
            Projection::Field(_) => None,
        })
    }
}

impl Access {
    pub const fn place(&self) -> &CellPlace {
        let (Self::Read(place)
        | Self::Write(place, _)
        | Self::LoadLinked(place)
        | Self::StoreConditional(place, _)
        | Self::Validate(place)
        | Self::CompareAndSwap(place, ..)) = self;
        place
    }

    /// Returns the indices of the cell, then the expressions to write or compare.
    pub fn operands(&self) -> Vec<&Expression> {
        let mut operands: Vec<&Expression> = self.place().indices.iter().collect();
        match self {
            Self::Read(_) | Self::LoadLinked(_) | Self::Validate(_) => {}
            Self::Write(_, value) | Self::StoreConditional(_, value) => operands.push(value),
            Self::CompareAndSwap(_, old, new) => operands.extend([old, new]),
        }
        operands
    }

    /// Returns true if the access may change the cell, or break links to it.
    pub const fn writes(&self) -> bool {
        match self {
            Self::Write(..) | Self::StoreConditional(..) | Self::CompareAndSwap(..) => true,
            Self::Read(_) | Self::LoadLinked(_) | Self::Validate(_) => false,
        }
    }
}
