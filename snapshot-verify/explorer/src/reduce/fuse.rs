//! Fusing steps: a process that would pause at some location goes on at once.
//!
//! What may be fused, and why, is the business of those who call this. Here it
//! is only seen to that a step remains a step: blocks form no circle without a
//! pause, and accesses are counted on every path as before.

use std::collections::BTreeSet;

use crate::instance::{BlockId, End, Graph, Location};

/// The graph in which nobody pauses at these locations.
pub(super) fn fused(graph: &Graph, at: &[Location]) -> Graph {
    let mut fused = graph.clone();
    for block in &mut fused.blocks {
        if let End::Pause(location) = block.end
            && at.contains(&location)
            && let Some(step) = graph.standing(location).step
        {
            block.end = End::Jump(step);
        }
    }
    fused.tidied()
}

/// Those of the locations at which nobody needs to pause: at least one of every
/// circle is left out. A process that does not pause does not react there, which
/// is its right: reactions are offers. O(blocks of all steps).
pub(super) fn without_circles(graph: &Graph, locations: &[Location]) -> Vec<Location> {
    let mut mark = vec![Mark::Pauses; graph.locations.len()];
    for location in locations {
        mark[location.index()] = Mark::New;
    }
    for begin in locations {
        search(graph, *begin, &mut mark);
    }
    locations.iter().copied().filter(|at| mark[at.index()] == Mark::Finished).collect()
}

/// How far the search is with a location.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Mark {
    /// Processes will pause here.
    Pauses,
    /// Not looked at.
    New,
    /// On the path that is being looked at.
    OnPath,
    /// No circle leads through it and other locations that are finished.
    Finished,
}

/// Depth first; a location that a path comes back to is one to pause at.
fn search(graph: &Graph, begin: Location, mark: &mut [Mark]) {
    let next = |location: Location| {
        graph.standing(location).step.map_or(Vec::new(), |step| pauses(graph, step))
    };
    if mark[begin.index()] != Mark::New {
        return;
    }
    mark[begin.index()] = Mark::OnPath;
    let mut path = vec![(begin, next(begin))];
    while let Some((location, left)) = path.last_mut() {
        match left.pop() {
            Some(to) => match mark[to.index()] {
                Mark::New => {
                    mark[to.index()] = Mark::OnPath;
                    path.push((to, next(to)));
                }
                Mark::OnPath => mark[to.index()] = Mark::Pauses,
                Mark::Pauses | Mark::Finished => {}
            },
            None => {
                if mark[location.index()] == Mark::OnPath {
                    mark[location.index()] = Mark::Finished;
                }
                path.pop();
            }
        }
    }
}

impl Graph {
    /// Where reactions lead.
    pub(super) fn reacted(&self) -> BTreeSet<Location> {
        let reactions = self.locations.iter().flat_map(|standing| &standing.reactions);
        reactions.flat_map(|reaction| pauses(self, reaction.then)).collect()
    }
}

/// Where a step that begins with this block may end.
fn pauses(graph: &Graph, begin: BlockId) -> Vec<Location> {
    let blocks = graph.step_from(begin).into_iter();
    let ends = blocks.filter_map(|block| match graph.block(block).end {
        End::Pause(location) => Some(location),
        _ => None,
    });
    ends.collect()
}
