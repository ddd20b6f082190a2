//! The worklist, and analyses whose edges pass facts on unchanged.

use std::collections::VecDeque;

use fixedbitset::FixedBitSet;

use super::Lattice;
use crate::deadline::{Deadline, Stopped};

/// Solves an analysis without transfer over any points: a fact at a point also holds at the targets
/// of its edges, which `edges` visits.
pub(crate) fn spread<F: Lattice>(
    facts: &mut [F],
    edges: impl Fn(usize, &mut dyn FnMut(usize)),
    deadline: Deadline<'_>,
) -> Result<(), Stopped> {
    let Some(mut fact) = facts.first().cloned() else { return Ok(()) };
    Worklist::new(facts.len(), (0..facts.len()).rev()).run(deadline, |point, open| {
        fact.clone_from(&facts[point]);
        edges(point, &mut |next| {
            if facts[next].join(&fact) {
                open.add(next);
            }
        });
    })
}

/// Returns the points reachable along edges, including the starting points.
pub(crate) fn closure(
    points: usize,
    begin: impl IntoIterator<Item = usize>,
    edges: impl Fn(usize, &mut dyn FnMut(usize)),
    deadline: Deadline<'_>,
) -> Result<FixedBitSet, Stopped> {
    let mut reached = FixedBitSet::with_capacity(points);
    reached.extend(begin);
    let open: Vec<usize> = reached.ones().collect();
    Worklist::new(points, open).run(deadline, |point, open| {
        edges(point, &mut |next| {
            if !reached.put(next) {
                open.add(next);
            }
        });
    })?;
    Ok(reached)
}

/// Points to be visited; each occurs at most once.
pub(super) struct Worklist {
    queue: VecDeque<usize>,
    contains: FixedBitSet,
}

impl Worklist {
    pub(super) fn new(points: usize, open: impl IntoIterator<Item = usize>) -> Self {
        let mut worklist =
            Self { queue: VecDeque::new(), contains: FixedBitSet::with_capacity(points) };
        open.into_iter().for_each(|point| worklist.add(point));
        worklist
    }

    pub(super) fn add(&mut self, point: usize) {
        if !self.contains.put(point) {
            self.queue.push_back(point);
        }
    }

    /// Visits points until none is left. `visit` adds points whose facts may have grown.
    pub(super) fn run(
        mut self,
        deadline: Deadline<'_>,
        mut visit: impl FnMut(usize, &mut Self),
    ) -> Result<(), Stopped> {
        while let Some(point) = self.queue.pop_front() {
            deadline.check()?;
            self.contains.set(point, false);
            visit(point, &mut self);
        }
        Ok(())
    }
}
