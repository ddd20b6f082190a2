//! What variables and cells hold while a program runs.

use std::fmt::{self, Display, Write};

use crate::program::{Bound, NodeId, Type};

/// The content of a variable, a cell, or a part of one. A `T or none` is either
/// [`Data::None`] or what a T is.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Data {
    /// None.
    None,
    /// A truth value.
    Bool(bool),
    /// An integer, a process or a segment.
    Number(i64),
    /// What an update was given; 0 is the initial value of every segment.
    Value(u32),
    /// A version: 0 is the first, the others are numbered as they were made.
    Version(u32),
    /// A counter.
    Counter(u64),
    /// A node, by its number among those of its kind.
    Node {
        /// What it is of.
        id: NodeId,
        /// Which of them.
        number: u32,
    },
    /// The elements of an array, or the fields of a record.
    Parts(Vec<Self>),
}

impl Data {
    /// Whether a variable of this type may hold it. The front end sees to that;
    /// this is for assertions.
    pub(super) fn fits(&self, content: &Type, n: usize) -> bool {
        match (self, content) {
            // A variable of nodes that was not assigned yet holds none.
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

    /// How people read it, given its type.
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

/// Where an array's element lies, if the index is one of the array's.
pub(super) fn offset(index: i64, bounds: (i32, i32)) -> Option<usize> {
    let (low, high) = (i64::from(bounds.0), i64::from(bounds.1));
    (low..=high).contains(&index).then(|| (index - low) as usize)
}

/// The numbers from which to which a type of number reaches; `None` for other
/// types.
pub(super) fn range(content: &Type, n: usize) -> Option<(i64, i64)> {
    let at = |bound: &Bound| i64::from(bound.at(n));
    match content {
        Type::Process | Type::Segment => Some((0, n as i64 - 1)),
        Type::Integer { low, high } => Some((at(low), at(high))),
        _ => None,
    }
}

/// `p3[1]`, say: a name with indices.
pub(super) fn indexed(name: &str, indices: impl IntoIterator<Item = impl Display>) -> String {
    indices.into_iter().fold(name.to_owned(), |name, index| format!("{name}[{index}]"))
}
