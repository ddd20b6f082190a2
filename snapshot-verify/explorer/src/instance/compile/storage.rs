//! Storage of variables: a slot for every scalar of every variable.

use super::tree::Tree;
use crate::instance::scalars::Scalars;
use crate::instance::{Domain, InstanceError, NONE, Owner, Scalar, Slot, SlotId};
use crate::language::Span;
use crate::program::{Bound, IndexSet, Type};

/// The greatest number of slots of an instance.
pub(super) const SLOT_LIMIT: usize = 1 << 16;

/// The number n of processes, and values that depend only on it.
#[derive(Clone, Copy)]
pub(super) struct Size(pub(super) usize);

impl Size {
    /// Returns a bound for this n.
    pub(super) fn bound(self, bound: Bound) -> Result<Scalar, InstanceError> {
        let exact = i128::from(bound.times_n) * self.0 as i128 + i128::from(bound.plus);
        match Scalar::try_from(exact) {
            Ok(number) if number != NONE && number != Scalar::MAX => Ok(number),
            _ => {
                Err(InstanceError::BoundOutOfRange { bound: bound.to_string(), processes: self.0 })
            }
        }
    }

    /// Returns the first and the last index; the set is empty if these are out of order.
    pub(super) fn bounds(self, set: IndexSet) -> Result<(Scalar, Scalar), InstanceError> {
        match set {
            IndexSet::Processes | IndexSet::Segments => Ok((0, self.0 as Scalar - 1)),
            IndexSet::Range(low, high) => Ok((self.bound(low)?, self.bound(high)?)),
        }
    }

    /// Returns the domain of a scalar of this type.
    ///
    /// # Panics
    /// If the type is not scalar.
    pub(super) fn domain(self, content: &Type) -> Result<Domain, InstanceError> {
        let range = |low, high, names_processes| Domain::Range {
            low,
            high,
            optional: false,
            names_processes,
        };
        Ok(match content {
            Type::Value | Type::Bool => Domain::BIT,
            Type::Process | Type::Segment => range(0, self.0 as Scalar - 1, true),
            Type::Integer { low, high } => range(self.bound(*low)?, self.bound(*high)?, false),
            Type::Version => Domain::Version { optional: false },
            Type::Counter => Domain::Counter { optional: false },
            Type::Optional(content) => self.domain(content)?.or_none(),
            Type::Array { .. } | Type::Record(_) | Type::List(_) | Type::Node { .. } => {
                panic!("a well-typed program has no scalar of type {content}")
            }
        })
    }
}

impl Domain {
    /// Returns the domain with `none` added.
    pub(super) const fn or_none(self) -> Self {
        match self {
            Self::Range { low, high, names_processes, .. } => {
                Self::Range { low, high, optional: true, names_processes }
            }
            Self::Version { .. } => Self::Version { optional: true },
            Self::Counter { .. } => Self::Counter { optional: true },
        }
    }

    /// Returns a scalar of the domain.
    pub(super) const fn some_scalar(self) -> Scalar {
        match self {
            Self::Range { low, .. } => low,
            Self::Version { .. } | Self::Counter { .. } => 0,
        }
    }
}

pub(super) struct Slots {
    pub(super) size: Size,
    pub(super) all: Vec<Slot>,
}

impl Slots {
    pub(super) fn scalar(
        &mut self,
        name: String,
        owner: Owner,
        domain: Domain,
        span: Span,
    ) -> Result<SlotId, InstanceError> {
        if self.all.len() == SLOT_LIMIT {
            return Err(InstanceError::TooManySlots { limit: SLOT_LIMIT, span });
        }
        let id = SlotId(self.all.len() as u32);
        self.all.push(Slot { name, owner, domain, initial: domain.some_scalar() });
        Ok(id)
    }

    /// Adds slots for a variable.
    pub(super) fn variable(
        &mut self,
        name: &str,
        owner: Owner,
        content: &Type,
        span: Span,
    ) -> Result<Tree<SlotId>, InstanceError> {
        match content {
            Type::Array { index, element } => {
                let (low, high) = self.size.bounds(*index)?;
                let elements = (low..=high)
                    .map(|index| self.variable(&format!("{name}[{index}]"), owner, element, span));
                Ok(Tree::Node(elements.collect::<Result<_, _>>()?))
            }
            Type::Record(fields) => {
                let fields = fields.iter().map(|field| {
                    self.variable(&format!("{name}.{}", field.name), owner, &field.content, span)
                });
                Ok(Tree::Node(fields.collect::<Result<_, _>>()?))
            }
            scalar => {
                let domain = self.size.domain(scalar)?;
                Ok(Tree::Leaf(self.scalar(name.to_owned(), owner, domain, span)?))
            }
        }
    }
    /// Sets the initial scalars of a variable.
    pub(super) fn initialise(
        &mut self,
        variable: &Tree<SlotId>,
        initial: &Tree<Scalar>,
        (name, span): (&str, Span),
    ) -> Result<(), InstanceError> {
        for (slot, scalar) in variable.leaves().into_iter().zip(initial.leaves()) {
            let slot = &mut self.all[slot.index()];
            if !Scalars::of_domain(slot.domain).contains(*scalar) {
                let what = "a number is out of its range";
                return Err(InstanceError::BadInitial { name: name.to_owned(), what, span });
            }
            slot.initial = *scalar;
        }
        Ok(())
    }
}
