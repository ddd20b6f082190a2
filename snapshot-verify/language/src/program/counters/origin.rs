//! Where counters lie, and which of them an expression yields.

use crate::program::{
    Expression, ExpressionKind, LocalId, Place, PrivateId, ProcedureId, Projection, Root, SharedId,
    Type,
};

/// A variable.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Base {
    /// A shared one.
    Shared(SharedId),
    /// One of each process.
    Private(PrivateId),
    /// One of each call of a procedure.
    Local(ProcedureId, LocalId),
    /// The result of a procedure.
    Result(ProcedureId),
}

impl Base {
    /// Whether only its process sees it.
    pub const fn is_of_process(self) -> bool {
        !matches!(self, Self::Shared(_))
    }
}

/// From a variable to a part of it.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Step {
    /// A field of a record.
    Field(usize),
    /// Any element of an array, or any cell of a family.
    Index,
}

/// All counters at one place of a variable: at any index of its arrays.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Location {
    /// The variable.
    pub base: Base,
    pub path: Vec<Step>,
}

impl Location {
    /// How many indices lead to one counter.
    pub fn indices(&self) -> usize {
        indices_of(&self.path)
    }
}

/// How many indices are on a path.
pub fn indices_of(path: &[Step]) -> usize {
    path.iter().filter(|step| **step == Step::Index).count()
}

/// An index.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Index {
    /// The executing process, or its segment.
    Me,
    /// What a local of the procedure holds.
    Variable(LocalId),
    /// Any: the n-th index of a whole value that is copied or compared element by element.
    Each(usize),
    /// Anything else.
    Unknown,
}

impl Index {
    /// What an expression is as an index.
    pub fn new(expression: &Expression) -> Self {
        match &expression.kind {
            ExpressionKind::Convert(inner) => Self::new(inner),
            ExpressionKind::Me => Self::Me,
            ExpressionKind::Local(local) => Self::Variable(*local),
            _ => Self::Unknown,
        }
    }

    /// The same in another procedure: its locals are others.
    pub const fn elsewhere(self) -> Self {
        match self {
            Self::Variable(_) => Self::Unknown,
            index => index,
        }
    }
}

/// The indices of a whole value: the n-th is any.
pub fn each(count: usize) -> Vec<Index> {
    (0..count).map(Index::Each).collect()
}

/// A counter at definite indices.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Spot {
    pub location: Location,
    /// One index for each of the location.
    pub indices: Vec<Index>,
}

/// Where the counter in the value of an expression may come from.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Origin {
    /// The number 0.
    Zero,
    /// A copy.
    Copy(Spot),
    /// The successor of a copy.
    Successor(Spot),
    /// What is outside of the form.
    Foreign,
}

/// The paths to the counters in a value of a type.
pub fn leaves(content: &Type) -> Vec<Vec<Step>> {
    let below = |step: Step, inner: &Type| {
        let longer = |path: Vec<Step>| [vec![step], path].concat();
        leaves(inner).into_iter().map(longer).collect::<Vec<_>>()
    };
    match content {
        Type::Counter => vec![Vec::new()],
        Type::Optional(inner) => leaves(inner),
        Type::Array { element, .. } => below(Step::Index, element),
        Type::Record(fields) => {
            let of = |(at, field): (usize, &crate::program::Field)| {
                below(Step::Field(at), &field.content)
            };
            fields.iter().enumerate().flat_map(of).collect()
        }
        _ => Vec::new(),
    }
}

/// Where the counter at a path in the value of an expression of this procedure comes from.
pub fn origins(
    procedure: ProcedureId,
    value: &Expression,
    path: &[Step],
    indices: &[Index],
) -> Vec<Origin> {
    let go = |value: &Expression, path: &[Step], indices: &[Index]| {
        origins(procedure, value, path, indices)
    };
    let copy = |base: Base| {
        let location = Location { base, path: path.to_vec() };
        vec![Origin::Copy(Spot { location, indices: indices.to_vec() })]
    };
    match (&value.kind, path) {
        (ExpressionKind::Local(local), _) => copy(Base::Local(procedure, *local)),
        (ExpressionKind::Private(private), _) => copy(Base::Private(*private)),
        (ExpressionKind::None, _) => Vec::new(),
        (ExpressionKind::Counter(0), []) => vec![Origin::Zero],
        (ExpressionKind::Some(inner) | ExpressionKind::Unwrap(inner), _) => {
            go(inner, path, indices)
        }
        (ExpressionKind::Index(array, index), _) => {
            let longer = [&[Step::Index], path].concat();
            go(array, &longer, &[&[Index::new(index)], indices].concat())
        }
        (ExpressionKind::Field(record, at), _) => {
            go(record, &[&[Step::Field(*at)], path].concat(), indices)
        }
        (ExpressionKind::If(_, then, otherwise), _) => {
            [go(then, path, indices), go(otherwise, path, indices)].concat()
        }
        (ExpressionKind::Record(fields), [Step::Field(at), rest @ ..]) => {
            go(&fields[*at], rest, indices)
        }
        (ExpressionKind::With(record, fields), [Step::Field(at), rest @ ..]) => {
            match fields.iter().find(|(field, _)| field == at) {
                Some((_, field)) => go(field, rest, indices),
                None => go(record, path, indices),
            }
        }
        (ExpressionKind::Filled(element), [Step::Index, rest @ ..]) => {
            go(element, rest, indices.get(1..).unwrap_or_default())
        }
        (ExpressionKind::Each { variable, body, .. }, [Step::Index, rest @ ..]) => {
            let Some((first, others)) = indices.split_first() else {
                return vec![Origin::Foreign];
            };
            let mut found = go(body, rest, others);
            found.iter_mut().for_each(|one| bind(one, *variable, *first));
            found
        }
        (ExpressionKind::Successor(before), []) if is_path(before) => {
            let of = |origin: Origin| match origin {
                Origin::Copy(spot) => Origin::Successor(spot),
                _ => Origin::Foreign,
            };
            go(before, &[], &[]).into_iter().map(of).collect()
        }
        _ => vec![Origin::Foreign],
    }
}

/// Whether an expression is a part of a variable, which nothing can go wrong with.
fn is_path(expression: &Expression) -> bool {
    match &expression.kind {
        ExpressionKind::Local(_) | ExpressionKind::Private(_) => true,
        ExpressionKind::Field(record, _) => is_path(record),
        ExpressionKind::Index(array, index) => {
            is_path(array) && Index::new(index) != Index::Unknown
        }
        _ => false,
    }
}

/// The variable of an array's elements is this index.
fn bind(origin: &mut Origin, variable: LocalId, index: Index) {
    if let Origin::Copy(spot) | Origin::Successor(spot) = origin {
        for one in &mut spot.indices {
            if *one == Index::Variable(variable) {
                *one = index;
            }
        }
    }
}

/// The counters of a part of a variable.
#[derive(Clone, Debug)]
pub struct Target {
    /// The variable.
    pub base: Base,
    /// The part.
    pub path: Vec<Step>,
    /// The indices that lead to it.
    pub indices: Vec<Index>,
}

impl Target {
    /// Of a place in a procedure.
    pub fn new(procedure: ProcedureId, place: &Place) -> Self {
        let base = match place.root {
            Root::Local(local) => Base::Local(procedure, local),
            Root::Private(private) => Base::Private(private),
        };
        let (mut path, mut indices) = (Vec::new(), Vec::new());
        for projection in &place.path {
            match projection {
                Projection::Index(index) => {
                    path.push(Step::Index);
                    indices.push(Index::new(index));
                }
                Projection::Field(at) => path.push(Step::Field(*at)),
            }
        }
        Self { base, path, indices }
    }

    /// A whole variable.
    pub const fn whole(base: Base) -> Self {
        Self { base, path: Vec::new(), indices: Vec::new() }
    }

    /// The counter behind it; `within`: the indices of the rest.
    pub fn leaf(&self, rest: &[Step], within: &[Index]) -> Spot {
        let location = Location { base: self.base, path: [&self.path, rest].concat() };
        Spot { location, indices: [&self.indices, within].concat() }
    }
}
