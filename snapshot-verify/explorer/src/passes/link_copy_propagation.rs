//! Expresses values stored under an unbroken link by the content of the cell.
//!
//! `x := LL(C) ; ... ; SC(C, x + 1)` stores the successor of x. Since the SC succeeds only if no
//! process has written C since, C holds x: the SC stores the successor of C. In this form it is
//! evident that C only counts up, and that no old copy of C is ever incremented. Counters that are
//! only compared can be kept less exactly than others
//! ([`crate::quotient::canonical_renaming::counter_gaps`]).
//!
//! [`crate::dataflow::copies`] finds the variables that equal a cell, now or while a link is
//! unbroken.
//!
//! **Sound**, since terms are only replaced by terms that are equal wherever they are evaluated.

use rayon::prelude::*;

use crate::dataflow;
use crate::dataflow::copies::{Copies, Facts, Guards};
use crate::deadline::{Deadline, Stopped};
use crate::instance::{Block, Graph, Instance, SlotId, Target, Term};

/// Expresses increments of cells by their contents.
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
        // The analysis covers steps only, so graphs with reactions are skipped.
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

/// Expresses values assigned to cells by the cells' contents.
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
