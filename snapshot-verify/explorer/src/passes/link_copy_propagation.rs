//! Values stored under an unbroken link, in terms of the content of the cell.
//!
//! `x := LL(C) ; ... ; SC(C, x + 1)` stores the successor of x. As the SC succeeds only
//! if no process has written C since, x is what C holds: the SC stores the successor of C.
//! Put that way, it shows that C only ever counts up, and that no copy of C, however
//! old, will ever be counted up from. Counters that are only compared need not be kept
//! as exactly as others ([`crate::quotient::canonical_renaming::counter_gaps`]).
//!
//! Which variables equal a cell, now or as long as a link is unbroken, is found by
//! [`crate::dataflow::copies`].
//!
//! **Sound**, since only terms are replaced, by terms that are equal wherever they are
//! evaluated.

use rayon::prelude::*;

use crate::dataflow;
use crate::dataflow::copies::{Copies, Facts, Guards};
use crate::deadline::{Deadline, Stopped};
use crate::instance::{Block, Graph, Instance, SlotId, Target, Term};

/// With cells counted up from what they hold.
///
/// # Errors
/// If the deadline comes first.
pub fn propagate_link_copies(
    instance: &Instance,
    deadline: Deadline<'_>,
) -> Result<Instance, Stopped> {
    let mut rewritten = instance.clone();
    let guards = Guards::new(instance);
    if guards.pairs.is_empty() {
        return Ok(rewritten);
    }
    rewritten.graphs_parallel_mut().enumerate().try_for_each(|(index, graph)| {
        // Reactions are none of a process's steps; here there are none yet.
        if graph.locations.iter().all(|standing| standing.reactions.is_empty()) {
            let mut copies = Copies { instance, guards: &guards, process: index };
            let begin = [graph.invocations.update, graph.invocations.scan];
            let begin = begin.map(|block| (block, Facts::default()));
            let entries = dataflow::forward(graph, &mut copies, begin, deadline)?;
            rewrite(graph, &copies, entries.blocks);
        }
        Ok(())
    })?;
    #[cfg(debug_assertions)]
    rewritten.validate();
    Ok(rewritten)
}

/// Puts what is assigned to cells in terms of what they hold.
fn rewrite(graph: &mut Graph, copies: &Copies<'_>, entries: Vec<Option<Facts>>) {
    for (Block { assignments, .. }, entry) in graph.blocks.iter_mut().zip(entries) {
        let Some(mut facts) = entry else { continue };
        for assignment in assignments {
            if let Target::Slot(cell) = assignment.target {
                let is = |x: SlotId, by| facts.now.contains(&(x, cell, by));
                let rewritten = match assignment.value {
                    Term::Slot(x) if is(x, 0) => Some(Term::Slot(cell)),
                    Term::Slot(x) if is(x, 1) => Some(Term::Successor(cell)),
                    Term::Successor(x) if is(x, 0) => Some(Term::Successor(cell)),
                    _ => None,
                };
                if let Some(rewritten) = rewritten {
                    assignment.value = rewritten;
                }
            }
            copies.assign(&mut facts, assignment);
        }
    }
}
