//! The worklist, and analyses in which edges only pass facts on.

use std::collections::VecDeque;

use fixedbitset::FixedBitSet;

use super::Lattice;
use crate::deadline::{Deadline, Stopped};

/// Solves an analysis without transfer, of any points: what holds at a point holds
/// where its edges lead, too. `edges` visits these.
///
/// # Errors
/// If the deadline comes first.
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

/// The points that edges lead to from these, themselves included.
///
/// # Errors
/// If the deadline comes first.
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

/// Points to be looked at, each once at a time.
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

    /// Looks at points until none is left: `visit` adds those whose facts may have grown.
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
