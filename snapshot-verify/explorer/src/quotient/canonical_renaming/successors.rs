//! How many successors of counters a move takes at most.
//!
//! A move is a step of one process, and then the reactions of all processes until none
//! applies. A step is a path through blocks without a circle; the reactions of a process
//! lead from location to location. The longest way through both bounds a move from above,
//! whatever its conditions.

use std::collections::BTreeMap;

use crate::deadline::{Deadline, Stopped};
use crate::instance::{BlockId, End, Graph, Instance, Location, SlotId, Term};

/// The most successors of counters for which `counts` holds that any move of the instance
/// takes; none if there is no bound, as reactions lead in a circle on which successors
/// are taken. O(size of the instance * locations).
///
/// # Errors
/// If the deadline comes first.
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

/// Where a step ends: at a location, or with a response or fault.
type Ends = BTreeMap<Option<Location>, u32>;

/// The longest paths through the blocks of a graph.
struct Paths {
    /// From each block, by where the step ends, the successors taken on the way.
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
            // Depth first: a block is finished once those that follow are.
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

/// The most successors that the reactions of one process take, one after the other.
fn longest_reactions(
    graph: &Graph,
    paths: &Paths,
    deadline: Deadline<'_>,
) -> Result<Option<u32>, Stopped> {
    let mut longest = vec![0; graph.locations.len()];
    // Without a circle that counts, no way is longer than there are locations.
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
