//! The scalars that a type, or a shared variable, consists of.

use snapshot_language::program::{Bound, CellKind, IndexSet, Program, SharedId, Type};

use super::{Index, Room};
use crate::byte::{BASE, INTEGERS, NONE, OTHER, PLACES, integer};
use crate::clock::SOME;

/// Kind of a scalar.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Scalar {
    Bool,
    /// An integer of a range that does not depend on n.
    Integer(i64, i64),
    /// A process or a segment.
    Member,
    /// Data.
    Value,
    /// Data within a view; for nesting, the token of a whole view.
    View,
    Version,
    /// Link of a process to a cell of this variable: broken or not.
    Link(SharedId),
    /// A number without bound: none or not, and its relation to the [clock](crate::clock).
    Counter,
    /// Integers whose range depends on n: at most none or not.
    Lost,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Leaf {
    pub scalar: Scalar,
    /// True if the value may be none.
    pub optional: bool,
}

impl Leaf {
    /// Returns true if no byte holds its values.
    pub const fn is_unbounded(self) -> bool {
        matches!(self.scalar, Scalar::Counter | Scalar::Lost)
    }

    /// Returns all definite bytes; `None` if they are infinitely many.
    pub fn values(self, members: &[u8]) -> Option<Vec<u8>> {
        let mut values: Vec<u8> = match self.scalar {
            Scalar::Bool | Scalar::Value | Scalar::Link(_) => vec![BASE, BASE + 1],
            Scalar::Integer(low, high) => (low..=high).map(integer).collect(),
            Scalar::Member => members.iter().chain(&[OTHER]).map(|one| BASE + one).collect(),
            Scalar::Counter | Scalar::Lost if self.optional => vec![SOME],
            Scalar::View | Scalar::Version | Scalar::Counter | Scalar::Lost => return None,
        };
        if self.optional {
            values.push(NONE);
        }
        Some(values)
    }
}

/// Returns the bounds of a range that does not depend on n and whose integers have bytes.
pub fn fixed(low: Bound, high: Bound) -> Option<(i64, i64)> {
    let (from, to) = (i64::from(low.plus), i64::from(high.plus));
    let is_fixed = low.times_n == 0 && high.times_n == 0;
    let has_bytes = INTEGERS.contains(&from) && INTEGERS.contains(&to);
    (is_fixed && has_bytes && from <= to).then_some((from, to))
}

/// Returns true for the type of a view: a value per segment.
pub fn is_view(content: &Type) -> bool {
    match content {
        Type::Array { index: IndexSet::Segments, element } => **element == Type::Value,
        _ => false,
    }
}

/// Returns the scalars of a type, in order: each with its type, the members among the indices, and
/// the suffix of its name.
pub fn leaves(content: &Type, tokens: bool) -> Vec<(Leaf, Vec<u8>, String)> {
    let leaf = |scalar| vec![(Leaf { scalar, optional: false }, Vec::new(), String::new())];
    match content {
        Type::Optional(inner) => {
            let mut inner = leaves(inner, tokens);
            inner.iter_mut().for_each(|(leaf, ..)| leaf.optional = true);
            inner
        }
        view if tokens && is_view(view) => leaf(Scalar::View),
        Type::Array { index, element } => {
            let mut inner = leaves(element, tokens);
            if is_view(content) {
                inner[0].0.scalar = Scalar::View;
            }
            let names: Vec<(Option<u8>, String)> = match index {
                IndexSet::Processes | IndexSet::Segments => ["i", "j", "t"]
                    .iter()
                    .zip(0..)
                    .map(|(name, at)| (Some(at), name.to_string()))
                    .collect(),
                IndexSet::Range(low, high) => match fixed(*low, *high) {
                    Some((low, high)) => (low..=high).map(|at| (None, at.to_string())).collect(),
                    None => return leaf(Scalar::Lost),
                },
            };
            let mut all = Vec::new();
            for (member, name) in names {
                for (leaf, path, rest) in &inner {
                    let path = member.into_iter().chain(path.iter().copied()).collect();
                    all.push((*leaf, path, format!("[{name}]{rest}")));
                }
            }
            all
        }
        Type::Record(fields) => {
            let of = |field: &snapshot_language::program::Field| {
                let name = field.name.clone();
                let inner = leaves(&field.content, tokens).into_iter();
                inner.map(move |(leaf, path, rest)| (leaf, path, format!(".{name}{rest}")))
            };
            fields.iter().flat_map(of).collect()
        }
        scalar => leaf(scalar_of(scalar)),
    }
}

/// Returns the number of scalars of a program, shared and in the blocks of i, j and t, without
/// laying them out: memory may not suffice for them.
pub fn count(program: &Program, tokens: bool) -> u64 {
    let shared = program.shared.iter().map(|variable| {
        let links = 3 * u64::from(variable.cell == CellKind::Linked);
        let each = count_of(&variable.content, tokens).saturating_add(links);
        let cells = variable.dimensions.iter().map(|set| elements(*set).unwrap_or(1));
        cells.fold(each, u64::saturating_mul)
    });
    let locals = program.procedures.iter().flat_map(|procedure| &procedure.locals);
    let own = program.private.iter().map(|one| &one.content);
    let own = own.chain(locals.map(|local| &local.content));
    let own = own.map(|content| count_of(content, tokens).saturating_mul(PLACES as u64));
    shared.chain(own).fold(0, u64::saturating_add)
}

fn count_of(content: &Type, tokens: bool) -> u64 {
    match content {
        view if tokens && is_view(view) => 1,
        Type::Optional(inner) => count_of(inner, tokens),
        Type::Array { index, element } => match elements(*index) {
            Some(elements) => count_of(element, tokens).saturating_mul(elements),
            None => 1,
        },
        Type::Record(fields) => {
            let of = fields.iter().map(|field| count_of(&field.content, tokens));
            of.fold(0, u64::saturating_add)
        }
        _ => 1,
    }
}

/// Returns the number of elements of an array that have places, if it does not depend on n.
fn elements(index: IndexSet) -> Option<u64> {
    match index {
        IndexSet::Processes | IndexSet::Segments => Some(PLACES as u64),
        IndexSet::Range(low, high) => fixed(low, high).map(|(low, high)| (high - low + 1) as u64),
    }
}

pub fn size(content: &Type, tokens: bool) -> usize {
    count_of(content, tokens) as usize
}

/// Calls `act` on each scalar of a type, in order: its type, and which members are among its
/// indices, one bit each.
pub fn each_leaf(content: &Type, tokens: bool, members: u8, act: &mut dyn FnMut(Leaf, u8)) {
    let leaf = |scalar| Leaf { scalar, optional: false };
    match content {
        Type::Optional(inner) => each_leaf(inner, tokens, members, &mut |leaf, members| {
            act(Leaf { optional: true, ..leaf }, members);
        }),
        view if tokens && is_view(view) => act(leaf(Scalar::View), members),
        view if is_view(view) => {
            (0..PLACES).for_each(|place| act(leaf(Scalar::View), members | 1 << place));
        }
        Type::Array { index, element } => {
            let (count, by_process) = match index {
                IndexSet::Processes | IndexSet::Segments => (PLACES, 1),
                IndexSet::Range(low, high) => match fixed(*low, *high) {
                    Some((low, high)) => ((high - low + 1) as usize, 0),
                    None => return act(leaf(Scalar::Lost), members),
                },
            };
            for place in 0..count {
                each_leaf(element, tokens, members | by_process << place.min(PLACES), act);
            }
        }
        Type::Record(fields) => {
            fields.iter().for_each(|field| each_leaf(&field.content, tokens, members, act));
        }
        scalar => act(leaf(scalar_of(scalar)), members),
    }
}

/// Returns the kind of a type that is neither an array nor a record.
fn scalar_of(content: &Type) -> Scalar {
    match content {
        Type::Value => Scalar::Value,
        Type::Bool => Scalar::Bool,
        Type::Process | Type::Segment => Scalar::Member,
        Type::Version => Scalar::Version,
        Type::Counter => Scalar::Counter,
        Type::Integer { low, high } => match fixed(*low, *high) {
            Some((low, high)) => Scalar::Integer(low, high),
            None => Scalar::Lost,
        },
        _ => Scalar::Lost,
    }
}

/// Returns the cells of a shared variable, in row-major order: the members among the indices of
/// each, and the suffix of its name.
pub fn cells(dimensions: &[IndexSet]) -> Vec<(Vec<u8>, String)> {
    let Some((first, rest)) = dimensions.split_first() else {
        return vec![(Vec::new(), String::new())];
    };
    let inner = cells(rest);
    let firsts: Vec<(Option<u8>, String)> = match first {
        IndexSet::Processes | IndexSet::Segments => ["i", "j", "t"]
            .iter()
            .zip(0..)
            .map(|(name, at)| (Some(at), (*name).to_owned()))
            .collect(),
        IndexSet::Range(low, high) => match fixed(*low, *high) {
            Some((low, high)) => (low..=high).map(|at| (None, at.to_string())).collect(),
            // The number of cells depends on n: they are not kept.
            None => Vec::new(),
        },
    };
    let mut all = Vec::new();
    for (member, name) in firsts {
        for (path, rest) in &inner {
            let path = member.into_iter().chain(path.iter().copied()).collect();
            all.push((path, format!("[{name}]{rest}")));
        }
    }
    all
}

/// Returns the same cells with their places; `first` is the place of the first.
pub(super) fn located(dimensions: &[IndexSet], first: Room) -> Vec<(Vec<Index>, Room)> {
    let mut all = vec![Vec::new()];
    for over in dimensions {
        let places: Vec<Index> = match over {
            IndexSet::Range(low, high) => {
                let count = fixed(*low, *high).map_or(0, |(low, high)| (high - low + 1) as usize);
                (0..count).map(Index::Place).collect()
            }
            _ => (0..PLACES as u8).map(Index::Member).collect(),
        };
        let longer = |path: &Vec<Index>| {
            let with = |place: &Index| [path.as_slice(), &[*place]].concat();
            places.iter().map(with).collect::<Vec<_>>()
        };
        all = all.iter().flat_map(longer).collect();
    }
    let room = |number: usize| Room { base: first.base + number * first.size, size: first.size };
    all.into_iter().enumerate().map(|(number, path)| (path, room(number))).collect()
}
