//! Content of variables and cells while a program runs.

use std::fmt::{self, Display, Write};

use crate::program::{Bound, NodeId, Type};

/// Content of a variable, a cell, or a part of one. A `T or none` is either [`Data::None`] or
/// content of type T.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Data {
    None,
    Bool(bool),
    /// An integer, a process or a segment.
    Number(i64),
    /// An argument of an update; 0 is the initial value of every segment.
    Value(u32),
    /// A version: 0 is the first, later ones are numbered in the order of their creation.
    Version(u32),
    Counter(u64),
    /// A node, numbered within its kind.
    Node {
        /// Kind of the node.
        id: NodeId,
        /// Number within the kind.
        number: u32,
    },
    /// Elements of an array, or fields of a record.
    Parts(Vec<Self>),
}

impl Data {
    /// Returns true if a variable of this type may hold the data. Serves assertions only: the front
    /// end ensures it.
    pub(super) fn fits(&self, content: &Type, n: usize) -> bool {
        match (self, content) {
            // A variable of nodes holds none before its first assignment.
            (Self::None, Type::Optional(_) | Type::Node { .. })
            | (Self::Bool(_), Type::Bool)
            | (Self::Value(_), Type::Value)
            | (Self::Version(_), Type::Version)
            | (Self::Counter(_), Type::Counter) => true,
            (Self::Node { id, .. }, Type::Node { id: own, .. }) => id == own,
            (data, Type::Optional(content)) => data.fits(content, n),
            (Self::Number(number), content) => {
                range(content, n).is_some_and(|(low, high)| (low..=high).contains(number))
            }
            (Self::Parts(parts), Type::Array { index, element }) => {
                let (low, high) = index.bounds(n);
                let length = (i64::from(high) - i64::from(low) + 1).max(0);
                parts.len() as i64 == length && parts.iter().all(|part| part.fits(element, n))
            }
            (Self::Parts(parts), Type::List(element)) => {
                parts.iter().all(|part| part.fits(element, n))
            }
            (Self::Parts(parts), Type::Record(fields)) => {
                let mut pairs = parts.iter().zip(fields);
                parts.len() == fields.len()
                    && pairs.all(|(part, field)| part.fits(&field.content, n))
            }
            _ => false,
        }
    }

    /// Returns the data as text, by its type.
    pub fn shown(&self, content: &Type) -> String {
        let mut text = String::new();
        self.write(content, &mut text).expect("writing to a string cannot fail");
        text
    }

    fn write(&self, content: &Type, out: &mut String) -> fmt::Result {
        match (self, content) {
            (Self::None, _) => out.write_str("none"),
            (data, Type::Optional(content)) => data.write(content, out),
            (Self::Number(number), Type::Process) => write!(out, "p{number}"),
            (Self::Bool(data), _) => write!(out, "{data}"),
            (Self::Number(data), _) => write!(out, "{data}"),
            (Self::Value(data), _) => write!(out, "{data}"),
            (Self::Counter(data), _) => write!(out, "{data}"),
            (Self::Version(data), _) => write!(out, "#{data}"),
            (Self::Node { number, .. }, content) => write!(out, "{content} {number}"),
            (Self::Parts(parts), Type::Array { element, .. } | Type::List(element)) => {
                out.push('[');
                for (position, part) in parts.iter().enumerate() {
                    out.push_str(if position == 0 { "" } else { ", " });
                    part.write(element, out)?;
                }
                out.write_char(']')
            }
            (Self::Parts(parts), Type::Record(fields)) => {
                out.push('(');
                for (position, (part, field)) in parts.iter().zip(fields).enumerate() {
                    let comma = if position == 0 { "" } else { ", " };
                    write!(out, "{comma}{}: ", field.name)?;
                    part.write(&field.content, out)?;
                }
                out.write_char(')')
            }
            (Self::Parts(_), _) => unreachable!("only arrays and records have parts"),
        }
    }
}

/// Returns the position of an array's element, if the index is in bounds.
pub(super) fn offset(index: i64, bounds: (i32, i32)) -> Option<usize> {
    let (low, high) = (i64::from(bounds.0), i64::from(bounds.1));
    (low..=high).contains(&index).then(|| (index - low) as usize)
}

/// Returns the bounds of a numeric type; `None` for other types.
pub(super) fn range(content: &Type, n: usize) -> Option<(i64, i64)> {
    let at = |bound: &Bound| i64::from(bound.at(n));
    match content {
        Type::Process | Type::Segment => Some((0, n as i64 - 1)),
        Type::Integer { low, high } => Some((at(low), at(high))),
        _ => None,
    }
}

/// Returns a name with indices, such as `p3[1]`.
pub(super) fn indexed(name: &str, indices: impl IntoIterator<Item = impl Display>) -> String {
    indices.into_iter().fold(name.to_owned(), |name, index| format!("{name}[{index}]"))
}
