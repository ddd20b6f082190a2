//! The types of the language.

use std::fmt;

use super::NodeId;

/// A type.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum Type {
    /// Opaque data: what `update` is given. May be moved, stored and returned.
    Value,
    /// True or false.
    Bool,
    /// A process, 0 to n - 1.
    Process,
    /// A segment, 0 to n - 1. Segment k is owned by process k.
    Segment,
    /// An integer within bounds, both included.
    Integer {
        /// The least.
        low: Bound,
        /// The greatest.
        high: Bound,
    },
    /// An unbounded supply of different things, made by `fresh`: only equality.
    Version,
    /// An unbounded natural number: plus 1, equality, order, remainder.
    Counter,
    /// A scalar, or none. The scalar is none of `Optional`, `Array`, `Record`.
    Optional(Box<Type>),
    /// One element per index. A view is an array of values by segment.
    Array {
        /// The indices.
        index: IndexSet,
        /// What each element is.
        element: Box<Type>,
    },
    /// Named fields.
    Record(Vec<Field>),
    /// A node; none before it is assigned. Not within an object.
    Node {
        /// What it is of.
        id: NodeId,
        /// The name of that.
        name: String,
    },
    /// As many of a type as there are, in order: within an object only.
    List(Box<Type>),
}

/// A field of a record type.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Field {
    /// Its name.
    pub name: String,
    /// Its type.
    pub content: Type,
}

/// The indices of an array, or what a `for` runs through, in ascending order.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum IndexSet {
    /// All processes.
    Processes,
    /// All segments.
    Segments,
    /// The integers from the first to the second, both included.
    Range(Bound, Bound),
}

/// `times_n * n + plus`.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub struct Bound {
    /// The factor of n.
    pub times_n: i32,
    /// What is added.
    pub plus: i32,
}

impl Type {
    /// Whether it, or something in it, is one that `is_it` accepts.
    pub fn any(&self, is_it: &dyn Fn(&Self) -> bool) -> bool {
        let within = match self {
            Self::Optional(content)
            | Self::Array { element: content, .. }
            | Self::List(content) => content.any(is_it),
            Self::Record(fields) => fields.iter().any(|field| field.content.any(is_it)),
            Self::Value
            | Self::Bool
            | Self::Process
            | Self::Segment
            | Self::Integer { .. }
            | Self::Counter
            | Self::Node { .. }
            | Self::Version => false,
        };
        within || is_it(self)
    }

    /// Whether counters are in it.
    pub fn has_counters(&self) -> bool {
        self.any(&|content| *content == Self::Counter)
    }
}

impl Bound {
    /// A bound that does not depend on n.
    pub const fn constant(plus: i32) -> Self {
        Self { times_n: 0, plus }
    }

    /// Its value for n processes.
    pub const fn at(self, n: usize) -> i32 {
        self.times_n * n as i32 + self.plus
    }
}

impl IndexSet {
    /// Whether the indices are processes or segments: names, and no numbers.
    pub const fn is_of_names(self) -> bool {
        matches!(self, Self::Processes | Self::Segments)
    }

    /// The first and the last index for n processes; empty if out of order.
    pub const fn bounds(self, n: usize) -> (i32, i32) {
        match self {
            Self::Processes | Self::Segments => (0, n as i32 - 1),
            Self::Range(low, high) => (low.at(n), high.at(n)),
        }
    }

    /// As the language writes all of them: `processes`, `0..n-1`.
    pub fn plural(self) -> String {
        match self {
            Self::Processes => "processes".to_owned(),
            Self::Segments => "segments".to_owned(),
            Self::Range(..) => self.to_string(),
        }
    }

    /// The type of an index.
    pub const fn index_type(self) -> Type {
        match self {
            Self::Processes => Type::Process,
            Self::Segments => Type::Segment,
            Self::Range(low, high) => Type::Integer { low, high },
        }
    }
}

impl Type {
    /// A value per segment.
    pub fn view() -> Self {
        Self::Array { index: IndexSet::Segments, element: Box::new(Self::Value) }
    }

    /// Whether it is one scalar, rather than an array or a record of some.
    pub const fn is_scalar(&self) -> bool {
        !matches!(self, Self::Array { .. } | Self::Record(_) | Self::List(_))
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.times_n, self.plus) {
            (0, plus) => write!(f, "{plus}"),
            (times, plus) => {
                match times {
                    1 => f.write_str("n")?,
                    times => write!(f, "{times}*n")?,
                }
                match plus {
                    0 => Ok(()),
                    plus if plus > 0 => write!(f, "+{plus}"),
                    plus => write!(f, "{plus}"),
                }
            }
        }
    }
}

impl fmt::Display for IndexSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Processes => f.write_str("process"),
            Self::Segments => f.write_str("segment"),
            Self::Range(low, high) => write!(f, "{low}..{high}"),
        }
    }
}

/// As the language writes it.
impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Value => f.write_str("value"),
            Self::Bool => f.write_str("bool"),
            Self::Process => f.write_str("process"),
            Self::Segment => f.write_str("segment"),
            Self::Integer { low, high } => write!(f, "{low}..{high}"),
            Self::Version => f.write_str("version"),
            Self::Counter => f.write_str("counter"),
            Self::Node { name, .. } => f.write_str(name),
            Self::Optional(content) => write!(f, "{content} or none"),
            view if *view == Self::view() => f.write_str("view"),
            Self::List(element) => write!(f, "list of {element}"),
            Self::Array { index, element } => write!(f, "array [{index}] of {element}"),
            Self::Record(fields) => {
                f.write_str("record (")?;
                for (position, field) in fields.iter().enumerate() {
                    let comma = if position == 0 { "" } else { ", " };
                    write!(f, "{comma}{}: {}", field.name, field.content)?;
                }
                f.write_str(")")
            }
        }
    }
}
