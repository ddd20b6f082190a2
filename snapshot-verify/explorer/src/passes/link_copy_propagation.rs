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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

    use super::*;
    use crate::instance::Assignment;
    use crate::language::parse;

    /// What is assigned to the counter of the cell, by process 0, in the order of the
    /// text, with an update of these statements.
    fn stored(statements: &[&str], change: impl Fn(&mut Instance)) -> Vec<String> {
        let lines = statements.iter().map(|line| format!("    {line}\n")).collect::<String>();
        let text = format!(
            "algorithm linking\nshared c: llsc counter\nshared whole: view\nupdate(v):\n{lines}    \
             atomic: w := whole; w[me] := v; whole := w\nscan:\n    w := whole\n    return w\n"
        );
        let program = parse("linking", &text).unwrap().program(None).unwrap();
        let mut instance = Instance::new(&program, 2, (0, 1)).unwrap();
        change(&mut instance);
        let linked = propagate_link_copies(&instance, Deadline::NEVER).unwrap();
        let name = |slot: SlotId| linked.slot(slot).name.as_str();
        let assignments = linked.graphs[0].blocks.iter().flat_map(|block| &block.assignments);
        let stored = assignments.filter_map(|Assignment { target, value }| match (target, value) {
            (Target::Slot(cell), Term::Slot(of)) if name(*cell) == "c" => {
                Some(name(*of).to_owned())
            }
            (Target::Slot(cell), Term::Successor(of)) if name(*cell) == "c" => {
                Some(format!("{} + 1", name(*of)))
            }
            _ => None,
        });
        stored.collect()
    }

    fn nothing(_: &mut Instance) {}

    #[test]
    fn what_was_read_under_the_link_is_what_the_cell_holds() {
        let read = ["x := LL(c)", "SC(c, x + 1)"];
        assert_eq!(stored(&read, nothing), ["c + 1"]);
        let read_later = ["x := LL(c)", "y := c", "z := y", "SC(c, z + 1)"];
        assert_eq!(stored(&read_later, nothing), ["c + 1"]);
        let found_equal = ["s := c", "if LL(c) + 1 = s: SC(c, s)"];
        assert_eq!(stored(&found_equal, nothing), ["c + 1"]);
        let on_both_ways = ["x := LL(c)", "y := c", "if y = x: x := y", "SC(c, x + 1)"];
        assert_eq!(stored(&on_both_ways, nothing), ["c + 1"]);
    }

    #[test]
    fn what_was_read_before_the_link_or_on_some_ways_only_is_not() {
        let read_before = ["x := c", "y := LL(c)", "SC(c, x + 1)"];
        assert_eq!(stored(&read_before, nothing), ["p0.update.x + 1"]);
        let linked_anew = ["x := LL(c)", "y := LL(c)", "SC(c, x + 1)"];
        assert_eq!(stored(&linked_anew, nothing), ["p0.update.x + 1"]);
        let on_one_way = ["z := c", "x := LL(c)", "if z != x: x := z", "SC(c, x + 1)"];
        assert_eq!(stored(&on_one_way, nothing), ["p0.update.x + 1"]);
        let found_unequal = ["s := c", "if LL(c) + 1 != s: SC(c, s)"];
        assert_eq!(stored(&found_unequal, nothing), ["p0.update.s"]);
    }

    #[test]
    fn a_link_that_somebody_leaves_unbroken_says_nothing() {
        let read = ["x := LL(c)", "SC(c, x + 1)"];
        let unbroken = |instance: &mut Instance| {
            let slots = instance.slots.clone();
            for block in &mut instance.graphs[1].blocks {
                block.assignments.retain(|Assignment { target, value }| {
                    let of_p0 = target
                        .choices()
                        .iter()
                        .any(|slot| slots[slot.index()].name == "link c of p0");
                    !(of_p0 && value.constant() == Some(0))
                });
            }
        };
        assert_eq!(stored(&read, unbroken), ["p0.update.x + 1"]);
    }
}
