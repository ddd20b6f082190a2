//! Stable facts: facts that hold until the process itself acts.
//!
//! A fact about slots that no other process writes is stable. So is a fact that no assignment of
//! another process can undo: a broken link (others only ever break it); that `active` does not name
//! p (only p makes it name p); that a version saved by p is not the current one (others only write
//! fresh versions, which differ from all existing ones).

use std::collections::BTreeSet;

use snapshot_core::Process;

use crate::deadline::Deadline;
use crate::instance::{Domain, Instance, NONE, Operator, Owner, Scalar, SlotId, Term};
use crate::limits::Limit;

/// Domains with more scalars than this count as unlimited.
const MOST: i64 = 64;

/// The possible assignments of other processes to a slot.
#[derive(Clone, Debug, Default)]
struct Writes {
    scalars: BTreeSet<Scalar>,
    fresh: bool,
    /// Any scalar.
    unlimited: bool,
    /// Any scalar, because the set would be too large.
    too_many: bool,
}

/// By slot, the possible assignments of all processes except one.
#[derive(Debug)]
pub struct Stability {
    writes: Vec<Writes>,
}

impl Stability {
    /// Computes the stability of facts known to this process. The deadline notes whether a domain
    /// is too large. O(size of the instance).
    pub fn new(instance: &Instance, process: Process, deadline: Deadline<'_>) -> Self {
        let mut writes = vec![Writes::default(); instance.slots.len()];
        for (other, graph) in instance.graphs.iter().enumerate() {
            if other == process.index() {
                continue;
            }
            for assignment in graph.blocks.iter().flat_map(|block| &block.assignments) {
                assignment.target.slots(&mut |slot| {
                    writes[slot.index()].include(&assignment.value, instance);
                });
            }
        }
        for (slot, writes) in instance.slots.iter().zip(&mut writes) {
            // Slots of the process are not assigned by others.
            if matches!(slot.owner, Owner::Operation(owner) | Owner::Process(owner) if owner == process)
            {
                *writes = Writes::default();
            }
            let is_cell = matches!(slot.owner, Owner::Shared | Owner::Link(_));
            if is_cell && writes.too_many {
                Limit::CellDomain.reach(deadline);
            }
        }
        Self { writes }
    }

    /// Returns true if no other process assigns any slot that the atom reads.
    pub fn is_own(&self, atom: &Term) -> bool {
        let mut own = true;
        atom.slots(&mut |slot| own &= self.writes[slot.index()].is_nothing());
        own
    }

    /// Returns true if the atom keeps this outcome until the process acts.
    pub fn keeps(&self, atom: &Term, truth: bool) -> bool {
        if self.is_own(atom) {
            return true;
        }
        match atom {
            Term::Slot(slot) => self.keeps_equal(*slot, 1, truth),
            Term::Apply(Operator::Equal, of) => match (&of[0], &of[1]) {
                (Term::Slot(slot), Term::Constant(scalar) | Term::Process(scalar)) => {
                    self.keeps_equal(*slot, *scalar, truth)
                }
                (Term::Slot(first), Term::Slot(second)) => {
                    !truth && [first, second].iter().all(|slot| self.only_fresh(**slot))
                }
                _ => false,
            },
            _ => false,
        }
    }

    fn keeps_equal(&self, slot: SlotId, scalar: Scalar, truth: bool) -> bool {
        let writes = &self.writes[slot.index()];
        !writes.unlimited
            && !writes.fresh
            && writes.scalars.iter().all(|&written| (written == scalar) == truth)
    }

    fn only_fresh(&self, slot: SlotId) -> bool {
        let writes = &self.writes[slot.index()];
        !writes.unlimited && writes.scalars.is_empty()
    }
}

impl Writes {
    fn is_nothing(&self) -> bool {
        !self.unlimited && !self.fresh && self.scalars.is_empty()
    }

    fn include(&mut self, value: &Term, instance: &Instance) {
        match value {
            Term::Constant(scalar) | Term::Process(scalar) => {
                self.scalars.insert(*scalar);
            }
            Term::Fresh => self.fresh = true,
            Term::Slot(slot) => match instance.slot(*slot).domain {
                Domain::Range { low, high, optional, .. }
                    if i64::from(high) - i64::from(low) < MOST =>
                {
                    self.scalars.extend(low..=high);
                    if optional {
                        self.scalars.insert(NONE);
                    }
                }
                Domain::Range { .. } => (self.unlimited, self.too_many) = (true, true),
                Domain::Version { .. } | Domain::Counter { .. } => self.unlimited = true,
            },
            Term::Element { of, .. } => of.iter().for_each(|term| self.include(term, instance)),
            Term::Apply(Operator::If, of) => {
                of[1..].iter().for_each(|term| self.include(term, instance));
            }
            Term::Apply(Operator::NumberOf | Operator::NameOf, of) => {
                of.iter().for_each(|term| self.include(term, instance));
            }
            Term::Apply(
                Operator::Not
                | Operator::And
                | Operator::Or
                | Operator::Equal
                | Operator::Less
                | Operator::LessOrEqual,
                _,
            ) => self.scalars.extend([0, 1]),
            Term::Apply(
                Operator::Add | Operator::Subtract | Operator::Remainder | Operator::Quotient,
                _,
            )
            | Term::Successor(_) => self.unlimited = true,
        }
    }
}
