//! Relevant conditions: the conditions of later branches that matter at a point.
//!
//! The conditions are carried backward over assignments, as weakest preconditions (Dijkstra,
//! Guarded commands, nondeterminacy and formal derivation of programs, CACM 18, 1975). So a
//! condition over slots yet to be assigned becomes a condition over the sources of the assignment:
//! `a.seq = b.seq`, before `b := r`, is `a.seq = r.seq`, and is known to be false as soon as `r`
//! has been written. Conditions that become constant, cannot be expressed, or exceed the limit are
//! left out. The set only selects the facts worth tracking, so any set is sound.

use std::collections::BTreeSet;
use std::rc::Rc;

use super::predicates::{UNKNOWN, before, mentions};
use super::{Backward, backward};
use crate::deadline::{Deadline, Stopped};
use crate::instance::{Block, End, Graph, Location, Slot, Standing, Target, Term};
use crate::limits::Limit;

/// The greatest number of conditions tracked at one point.
const MOST_CONDITIONS: usize = 64;

/// Canonical conditions, shared by the points where they matter.
pub(crate) type Conditions = BTreeSet<Rc<Term>>;

/// Returns by block the conditions of later branches, as conditions at its start.
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
        // An operation first reads or assigns all slots that it tests.
        if at == Location::IDLE {
            conditions.clear();
        }
    }
}
