//! The types of the language.

use std::fmt;

use super::NodeId;

#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum Type {
    /// Opaque data: the argument of `update`. May be moved, stored and returned.
    Value,
    Bool,
    /// A process, 0 to n - 1.
    Process,
    /// A segment, 0 to n - 1. Segment k is owned by process k.
    Segment,
    /// An integer within bounds, both included.
    Integer {
        /// Least integer.
        low: Bound,
        /// Greatest integer.
        high: Bound,
    },
    /// An unbounded supply of distinct elements, made by `fresh`; supports only equality.
    Version,
    /// An unbounded natural number: supports plus 1, equality, order, remainder.
    Counter,
    /// A scalar, or none. The scalar is not an `Optional`, `Array` or `Record`.
    Optional(Box<Type>),
    /// One element per index. A view is an array of values by segment.
    Array {
        /// Indices of the array.
        index: IndexSet,
        element: Box<Type>,
    },
    Record(Vec<Field>),
    /// A node; none before the first assignment. Not within an object.
    Node {
        /// Kind of the node.
        id: NodeId,
        /// Name of the kind.
        name: String,
    },
    /// A list of elements of one type, of any length; only within an object.
    List(Box<Type>),
}

#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Field {
    pub name: String,
    pub content: Type,
}

/// Indices of an array or a `for`, in ascending order.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum IndexSet {
    Processes,
    Segments,
    /// The integers from the first to the second, both included.
    Range(Bound, Bound),
}

/// The number `times_n * n + plus`.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub struct Bound {
    pub times_n: i32,
    pub plus: i32,
}

impl Type {
    /// Returns true if the type or a part of it satisfies `is_it`.
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

    pub fn has_counters(&self) -> bool {
        self.any(&|content| *content == Self::Counter)
    }
}

impl Bound {
    /// Creates a bound that does not depend on n.
    pub const fn constant(plus: i32) -> Self {
        Self { times_n: 0, plus }
    }

    /// Returns the value for n processes.
    pub const fn at(self, n: usize) -> i32 {
        self.times_n * n as i32 + self.plus
    }
}

impl IndexSet {
    /// Returns true if the indices are processes or segments: names instead of numbers.
    pub const fn is_of_names(self) -> bool {
        matches!(self, Self::Processes | Self::Segments)
    }

    /// Returns the first and the last index for n processes; the set is empty if they are out of
    /// order.
    pub const fn bounds(self, n: usize) -> (i32, i32) {
        match self {
            Self::Processes | Self::Segments => (0, n as i32 - 1),
            Self::Range(low, high) => (low.at(n), high.at(n)),
        }
    }

    /// Returns the set as the language writes it in the plural: `processes`, `0..n-1`.
    pub fn plural(self) -> String {
        match self {
            Self::Processes => "processes".to_owned(),
            Self::Segments => "segments".to_owned(),
            Self::Range(..) => self.to_string(),
        }
    }

    /// Returns the type of an index.
    pub const fn index_type(self) -> Type {
        match self {
            Self::Processes => Type::Process,
            Self::Segments => Type::Segment,
            Self::Range(low, high) => Type::Integer { low, high },
        }
    }
}

impl Type {
    /// Returns the type of a view: a value per segment.
    pub fn view() -> Self {
        Self::Array { index: IndexSet::Segments, element: Box::new(Self::Value) }
    }

    /// Returns true for a scalar, as opposed to an array, a record or a list.
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

/// Formats as the language writes it.
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
