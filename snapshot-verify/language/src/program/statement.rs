//! Statements: local computation, control, and accesses to shared memory.

use super::{Expression, IndexSet, LocalId, NodeId, PrivateId, ProcedureId, SharedId};
use crate::language::Span;

/// A statement.
#[derive(Clone, Debug)]
pub struct Statement {
    /// What it does.
    pub kind: StatementKind,
    /// Where it stands.
    pub span: Span,
    /// If its access is marked as a linearization point, and the program has
    /// [points](crate::language::Algorithm::program_with_points).
    pub mark: Option<Mark>,
}

/// When an access is a linearization point of the operation that makes it: an SC or CAS only if
/// it succeeds.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Mark {
    /// Always.
    Always,
    /// Where the condition of the next [`StatementKind::Point`] holds, which comes in the same step.
    OnCondition,
}

/// What a statement does.
#[derive(Clone, Debug)]
pub enum StatementKind {
    /// Local: evaluates, then stores.
    Assign {
        /// Where to.
        place: Place,
        /// What.
        value: Expression,
    },
    /// One access to shared memory, an atomic step with the local computation
    /// that follows it.
    Access {
        /// The access.
        access: Access,
        /// Where its result goes: the content of the cell for reads and LL, a
        /// bool for SC, VL, CAS. Writes have none.
        into: Option<Place>,
    },
    /// Calls a procedure with fresh locals.
    Call {
        /// Which.
        procedure: ProcedureId,
        /// What for.
        arguments: Vec<Expression>,
        /// Where its result goes.
        into: Option<Place>,
    },
    /// A choice.
    If {
        /// A bool.
        condition: Expression,
        /// If it holds.
        then: Vec<Statement>,
        /// If not.
        otherwise: Vec<Statement>,
    },
    /// Repeats until `Break` or `Return`. All other loops are made of this.
    Loop {
        /// What is repeated.
        body: Vec<Statement>,
    },
    /// Leaves the innermost `Loop`.
    Break,
    /// Runs the body for each index, in ascending order.
    For {
        /// The index.
        variable: LocalId,
        /// The indices.
        over: IndexSet,
        /// Left out of the indices, if given; evaluated once, before the loop.
        except: Option<Expression>,
        /// What is done.
        body: Vec<Statement>,
    },
    /// Ends the procedure.
    Return(Option<Expression>),
    /// Several accesses in one atomic step. Without loops that access.
    Atomic(Vec<Statement>),
    /// Allocates a node. Local computation, for no other process can reach it yet; a step of
    /// its own where the program frees nodes. Never within `Atomic`.
    New {
        /// What it is of.
        node: NodeId,
        /// What its fields hold, in order.
        fields: Vec<Expression>,
        /// Where the node goes.
        into: Place,
    },
    /// Frees a node: a step of its own, like an access.
    Free(Expression),
    /// Takes any of a set, which has one for every n: a step of its own. Of algorithms that
    /// implement an object only, and never within `Atomic`.
    Choose {
        /// The set.
        over: IndexSet,
        /// Where it goes; of the type of the set.
        into: Place,
    },
    /// Local: the accesses marked with [`Mark::OnCondition`] since the last of these, if there
    /// are any, are linearization points if this bool holds. Stands behind the statements that store the
    /// results of these accesses.
    Point(Expression),
    /// Operations that take effect together have all come as far as this before one of them
    /// goes on. Of the operations of an object only, once, and in no block.
    Together,
}

/// A part of a local or private variable.
#[derive(Clone, Debug)]
pub struct Place {
    /// The variable.
    pub root: Root,
    /// Which part of it.
    pub path: Vec<Projection>,
}

/// A variable that only its process sees.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Root {
    /// A local of the procedure.
    Local(LocalId),
    /// Kept between operations.
    Private(PrivateId),
}

/// From a variable to a part of it.
#[derive(Clone, Debug)]
pub enum Projection {
    /// An element of an array.
    Index(Expression),
    /// A field of a record, by position.
    Field(usize),
}

/// One cell of a shared variable.
#[derive(Clone, Debug)]
pub struct CellPlace {
    /// The variable.
    pub variable: SharedId,
    /// One index per dimension.
    pub indices: Vec<Expression>,
    /// Where it stands.
    pub span: Span,
}

/// An access to one cell.
#[derive(Clone, Debug)]
pub enum Access {
    /// Reads it.
    Read(CellPlace),
    /// Writes it; breaks all links.
    Write(CellPlace, Expression),
    /// Reads it and links the caller.
    LoadLinked(CellPlace),
    /// Writes it and breaks all links iff the caller's link is unbroken; tells
    /// whether it did. The value is evaluated only if it is written.
    StoreConditional(CellPlace, Expression),
    /// Whether the caller's link is unbroken.
    Validate(CellPlace),
    /// Writes the second if the cell holds the first; tells whether it did. The
    /// second is evaluated only if it is written.
    CompareAndSwap(CellPlace, Expression, Expression),
}

impl Statement {
    /// The statements of its blocks, not those within them.
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

    /// The expressions that it evaluates itself; those within its blocks are not among them.
    pub fn operands(&self) -> Vec<&Expression> {
        let into: Option<&Place> = match &self.kind {
            StatementKind::Assign { place, .. } => Some(place),
            StatementKind::Access { into, .. } | StatementKind::Call { into, .. } => into.as_ref(),
            StatementKind::New { into, .. } | StatementKind::Choose { into, .. } => Some(into),
            _ => None,
        };
        let mut operands: Vec<&Expression> = into.into_iter().flat_map(Place::indices).collect();
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

    /// Does something with every statement, those in blocks included: first with the
    /// statement, then with what is in its blocks.
    pub fn each<'a>(statements: impl IntoIterator<Item = &'a Self>, act: &mut dyn FnMut(&'a Self)) {
        for statement in statements {
            act(statement);
            Self::each(Box::new(statement.parts()) as Box<dyn Iterator<Item = &'a Self>>, act);
        }
    }
}

impl Statement {
    /// The same, and may change the statement.
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
    /// The indices of its path.
    pub fn indices(&self) -> impl Iterator<Item = &Expression> {
        self.path.iter().filter_map(|part| match part {
            Projection::Index(index) => Some(index),
            Projection::Field(_) => None,
        })
    }
}

impl Access {
    /// The cell.
    pub const fn place(&self) -> &CellPlace {
        let (Self::Read(place)
        | Self::Write(place, _)
        | Self::LoadLinked(place)
        | Self::StoreConditional(place, _)
        | Self::Validate(place)
        | Self::CompareAndSwap(place, ..)) = self;
        place
    }

    /// The indices of the cell, then what is written or compared.
    pub fn operands(&self) -> Vec<&Expression> {
        let mut operands: Vec<&Expression> = self.place().indices.iter().collect();
        match self {
            Self::Read(_) | Self::LoadLinked(_) | Self::Validate(_) => {}
            Self::Write(_, value) | Self::StoreConditional(_, value) => operands.push(value),
            Self::CompareAndSwap(_, old, new) => operands.extend([old, new]),
        }
        operands
    }

    /// Whether it may change what the cell holds, or break links to it.
    pub const fn writes(&self) -> bool {
        match self {
            Self::Write(..) | Self::StoreConditional(..) | Self::CompareAndSwap(..) => true,
            Self::Read(_) | Self::LoadLinked(_) | Self::Validate(_) => false,
        }
    }
}
