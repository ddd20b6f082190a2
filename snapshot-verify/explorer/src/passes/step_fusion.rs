//! Step fusion: a process continues at a location instead of pausing.
//!
//! The callers decide which locations may be fused, and prove it sound. This module ensures that a
//! step remains a step: blocks have no cycle without a pause, reactions have no cycle without a
//! step, and accesses are counted on every path as before.

use std::collections::BTreeSet;

use crate::deadline::{Deadline, Stopped};
use crate::instance::{BlockId, End, Graph, Location};

/// Returns the graph in which no process pauses at these locations, which must be ascending.
pub(super) fn fused(graph: &Graph, at: &[Location]) -> Graph {
    debug_assert!(at.is_sorted(), "locations are found by bisection");
    let mut fused = graph.clone();
    for block in &mut fused.blocks {
        if let End::Pause(location) = block.end
            && at.binary_search(&location).is_ok()
            && let Some(step) = graph.standing(location).step
        {
            block.end = End::Jump(step);
        }
    }
    fused.tidied()
}

/// Returns the locations at which no process needs to pause. A pause remains on every cycle of
/// steps, and on every cycle of steps that a reaction would go through. A process reacts until no
/// reaction applies, and this must terminate. Without such a pause, a process whose reaction leads
/// back to a location with reactions (for example, because it reads its own cell again and finds
/// the same) would never come to rest.
///
/// A process that does not pause does not react there, which is always allowed: reactions are
/// optional. Reactions among the remaining locations form no cycle, if they formed none before.
/// O(blocks of all steps) for each round; a round breaks at least one cycle.
pub(super) fn without_circles(
    graph: &Graph,
    locations: &[Location],
    deadline: Deadline<'_>,
) -> Result<Vec<Location>, Stopped> {
    let step = |at: Location| graph.standing(at).step.map(|step| pauses(graph, step));
    let reactions = |at: Location| {
        let reactions = graph.standing(at).reactions.iter();
        reactions.flat_map(|reaction| pauses(graph, reaction.then)).collect::<Vec<_>>()
    };
    let mut is_fused = vec![false; graph.locations.len()];
    locations.iter().for_each(|at| is_fused[at.index()] = true);
    loop {
        let next = |at: Location| {
            if is_fused[at.index()] { step(at).unwrap_or_default() } else { reactions(at) }
        };
        let paused = on_circles(graph, &is_fused, next, deadline)?;
        if paused.is_empty() {
            return Ok(locations.iter().copied().filter(|at| is_fused[at.index()]).collect());
        }
        paused.into_iter().for_each(|at| is_fused[at.index()] = false);
    }
}

/// The state of a location in a depth-first search.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Mark {
    New,
    /// On the current path, with this many locations before it.
    OnPath(usize),
    Finished,
}

/// Returns one fused location of every cycle that a depth-first search closes. It is empty only if
/// no cycle goes through a fused location.
fn on_circles(
    graph: &Graph,
    is_fused: &[bool],
    next: impl Fn(Location) -> Vec<Location>,
    deadline: Deadline<'_>,
) -> Result<BTreeSet<Location>, Stopped> {
    let mut found = BTreeSet::new();
    let mut mark = vec![Mark::New; graph.locations.len()];
    for begin in graph.every_location().skip(1) {
        if mark[begin.index()] != Mark::New {
            continue;
        }
        mark[begin.index()] = Mark::OnPath(0);
        let mut path = vec![(begin, next(begin))];
        while let Some((location, left)) = path.last_mut() {
            let Some(to) = left.pop() else {
                mark[location.index()] = Mark::Finished;
                path.pop();
                continue;
            };
            match mark[to.index()] {
                Mark::New => {
                    deadline.check()?;
                    mark[to.index()] = Mark::OnPath(path.len());
                    path.push((to, next(to)));
                }
                Mark::OnPath(from) => {
                    let circle = || path[from..].iter().map(|(at, _)| *at);
                    if !circle().any(|at| found.contains(&at)) {
                        found.extend(circle().find(|at| is_fused[at.index()]));
                    }
                }
                Mark::Finished => {}
            }
        }
    }
    Ok(found)
}

impl Graph {
    /// Returns the targets of reactions if no process pauses at the locations that `goes_on`
    /// selects.
    pub(super) fn reacted(&self, goes_on: impl Fn(Location) -> bool) -> BTreeSet<Location> {
        let reactions = self.locations.iter().flat_map(|standing| &standing.reactions);
        let mut open: Vec<Location> =
            reactions.flat_map(|reaction| pauses(self, reaction.then)).collect();
        let mut reacted = BTreeSet::new();
        while let Some(at) = open.pop() {
            if reacted.insert(at) && goes_on(at) {
                let step = self.standing(at).step;
                open.extend(step.into_iter().flat_map(|step| pauses(self, step)));
            }
        }
        reacted
    }
}

/// Returns the locations at which a step that starts with this block may end.
fn pauses(graph: &Graph, begin: BlockId) -> Vec<Location> {
    let blocks = graph.step_from(begin).into_iter();
    let ends = blocks.filter_map(|block| match graph.block(block).end {
        End::Pause(location) => Some(location),
        _ => None,
    });
    ends.collect()
}
