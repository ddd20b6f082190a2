//! The greatest number of successors of counters in a move.
//!
//! A move is a step of one process, followed by reactions of all processes until none applies. A
//! step is an acyclic path through blocks; the reactions of a process lead from location to
//! location. The longest path through both bounds every move, for any outcome of its conditions.

use std::collections::BTreeMap;

use crate::deadline::{Deadline, Stopped};
use crate::instance::{BlockId, End, Graph, Instance, Location, SlotId, Term};

/// Returns the greatest number of successors in any move of the instance, of counters for which
/// `counts` returns true. Returns `None` without a bound, if a cycle of reactions takes successors.
/// O(size of the instance * locations).
pub fn most_successors(
    instance: &Instance,
    counts: impl Fn(SlotId) -> bool,
    deadline: Deadline<'_>,
) -> Result<Option<u32>, Stopped> {
    let mut longest_step = 0;
    let mut reactions = 0;
    for graph in &instance.graphs {
        let paths = Paths::new(graph, &counts, deadline)?;
        for begin in graph.beginnings() {
            let longest = paths.ends[&begin].values().max();
            longest_step = longest_step.max(longest.copied().unwrap_or(0));
        }
        match longest_reactions(graph, &paths, deadline)? {
            Some(longest) => reactions += longest,
            None => return Ok(None),
        }
    }
    Ok(Some(longest_step + reactions))
}

/// The ends of steps (a location, or `None` for a response or fault), with successors taken.
type Ends = BTreeMap<Option<Location>, u32>;

/// The longest paths through the blocks of a graph.
struct Paths {
    /// From each block, by end of the step, the greatest number of successors on the way.
    ends: BTreeMap<BlockId, Ends>,
}

impl Paths {
    fn new(
        graph: &Graph,
        counts: &impl Fn(SlotId) -> bool,
        deadline: Deadline<'_>,
    ) -> Result<Self, Stopped> {
        let mut ends: BTreeMap<BlockId, Ends> = BTreeMap::new();
        for begin in graph.beginnings() {
            // Depth first: a block is finished after its successors.
            let mut open = vec![begin];
            while let Some(&block) = open.last() {
                deadline.check()?;
                let content = graph.block(block);
                let waiting: Vec<BlockId> =
                    content.end.blocks().filter(|next| !ends.contains_key(next)).collect();
                if !ends.contains_key(&block) && !waiting.is_empty() {
                    open.extend(waiting);
                    continue;
                }
                open.pop();
                let is_successor =
                    |value: &Term| matches!(value, Term::Successor(slot) if counts(*slot));
                let own = content.assignments.iter().filter(|one| is_successor(&one.value));
                let own = own.count() as u32;
                let mut found = Ends::new();
                match content.end {
                    End::Pause(at) => _ = found.insert(Some(at), own),
                    End::Respond(_) => _ = found.insert(Some(Location::IDLE), own),
                    End::Fault { .. } => _ = found.insert(None, own),
                    End::Jump(_) | End::Branch { .. } => {
                        for (end, taken) in content.end.blocks().flat_map(|next| &ends[&next]) {
                            let most = found.entry(*end).or_default();
                            *most = (*most).max(own + taken);
                        }
                    }
                }
                ends.insert(block, found);
            }
        }
        Ok(Self { ends })
    }
}

/// Returns the greatest number of successors in consecutive reactions of one process.
fn longest_reactions(
    graph: &Graph,
    paths: &Paths,
    deadline: Deadline<'_>,
) -> Result<Option<u32>, Stopped> {
    let mut longest = vec![0; graph.locations.len()];
    // Without a counting cycle, no path has more reactions than there are locations.
    for _ in 0..=graph.locations.len() {
        let mut changed = false;
        for location in graph.every_location() {
            deadline.check()?;
            for reaction in &graph.standing(location).reactions {
                for (end, taken) in &paths.ends[&reaction.then] {
                    let after = end.map_or(0, |end| longest[end.index()]);
                    if taken + after > longest[location.index()] {
                        longest[location.index()] = taken + after;
                        changed = true;
                    }
                }
            }
        }
        if !changed {
            return Ok(longest.into_iter().max().or(Some(0)));
        }
    }
    Ok(None)
}
