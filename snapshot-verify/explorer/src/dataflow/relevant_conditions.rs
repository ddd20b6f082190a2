//! Relevant conditions: which conditions of later branches bear on a place.
//!
//! The conditions are carried backward over the assignments on the way, as their weakest
//! preconditions (Dijkstra, Guarded commands, nondeterminacy and formal derivation of
//! programs, CACM 18, 1975). A condition over slots that are yet to be read thereby becomes
//! one over what they will be read from: `a.seq = b.seq`, before `b := r`, is
//! `a.seq = r.seq`, and is known to be false as soon as `r` has been written. What becomes
//! constant, cannot be said, or is one too many, is left out: conditions only say what is
//! worth knowing, so that any set of them is right.

use std::collections::BTreeSet;
use std::rc::Rc;

use super::predicates::{UNKNOWN, before, mentions};
use super::{Backward, backward};
use crate::deadline::{Deadline, Stopped};
use crate::instance::{Block, End, Graph, Location, Slot, Standing, Target, Term};
use crate::limits::Limit;

/// More conditions than this at one place are not tracked.
const MOST_CONDITIONS: usize = 64;

/// Canonical conditions, shared by the places that they bear on.
pub(crate) type Conditions = BTreeSet<Rc<Term>>;

/// Per block, the conditions of later branches, as conditions where it begins.
///
/// # Errors
/// If the deadline comes first.
pub(crate) fn relevant_conditions(
    graph: &Graph,
    slots: &[Slot],
    deadline: Deadline<'_>,
) -> Result<Vec<Conditions>, Stopped> {
    Ok(backward(graph, &Relevant { slots, deadline }, deadline)?.blocks)
}

struct Relevant<'a> {
    slots: &'a [Slot],
    deadline: Deadline<'a>,
}

impl Backward for Relevant<'_> {
    type Fact = Conditions;

    fn bottom(&self) -> Conditions {
        Conditions::new()
    }

    fn block(&self, block: &Block, conditions: &mut Conditions) {
        if let End::Branch { condition, .. } = &block.end {
            conditions.insert(Rc::new(condition.canonical(self.slots)));
        }
        for assignment in block.assignments.iter().rev() {
            let unchanged = |condition: &Term| match &assignment.target {
                Target::Slot(slot) => !mentions(condition, *slot),
                Target::Element { .. } => false,
            };
            if !conditions.iter().all(|condition| unchanged(condition)) {
                *conditions = std::mem::take(conditions)
                    .into_iter()
                    .map(|condition| match unchanged(&condition) {
                        true => condition,
                        false => Rc::new(before(&condition, assignment, self.slots, self.deadline)),
                    })
                    .collect();
            }
        }
        conditions.retain(|condition| **condition != UNKNOWN && condition.constant().is_none());
        while conditions.len() > MOST_CONDITIONS {
            Limit::Conditions.reach(self.deadline);
            conditions.pop_last();
        }
    }

    fn location(&self, at: Location, _: &Standing, conditions: &mut Conditions) {
        // Whatever an operation tests, it first reads or assigns.
        if at == Location::IDLE {
            conditions.clear();
        }
    }
}
