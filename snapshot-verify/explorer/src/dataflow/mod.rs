//! Data flow over the graph of a process: one worklist for all analyses.
//!
//! An analysis has a lattice of facts and a transfer function for blocks. The solver finds the
//! least solution at every **point** of a graph: the start of each block, and each location where
//! the process pauses. A pause is an edge from the end of a block to its location, and from there
//! to the blocks of its step and reactions. A response is a pause at [`Location::IDLE`], from which
//! invocations start. (Kildall, A unified approach to global program optimization, POPL 1973;
//! compare `rustc_mir_dataflow`.)
//!
//! * [`Backward`]: the facts before a block follow from the facts at the points after it.
//! * [`Forward`]: the facts after a block follow from the facts before it. An analysis may learn
//!   from the outcome of a branch, and filters facts at a pause. Unreachable points have no fact.
//! * `spread` and `closure`: analyses over other points (slots, abstract locations), whose edges
//!   pass facts on unchanged.
//!
//! [`Lattice::join`] only adds to facts, so a lattice of finite height guarantees termination.
//! O(height * edges) transfers. The deadline is checked before each transfer. Facts are joined in
//! place, and passed along edges by reference.
//!
//! | analysis | direction | fact at a point | used by |
//! | --- | --- | --- | --- |
//! | [`live_variables`] | backward | slots, and elements of arrays, that may be read | [`crate::passes::dead_variable_reset`] |
//! | [`definite_assignment`] | forward | slots of an operation that may be unassigned | compilation, [`value_sets`] |
//! | [`value_sets`] | forward | scalars that slots may hold | [`crate::passes::sccp`] |
//! | [`copies`] | forward | variables equal to counters of cells | [`crate::passes::link_copy_propagation`] |
//! | [`reaching_definitions`] | backward, then by union-find | which assignments share a read | [`crate::passes::live_range_split`] |
//! | [`relevant_conditions`] | backward | conditions of later branches | [`crate::passes::predicate_specialisation`] |
//! | [`cone_of_influence`] | slots, backward | whether a slot matters | [`crate::passes::sccp`], keys of cells |
//! | [`stable_predicates`] | not a flow: all assignments | assignments by other processes | [`crate::passes::predicate_specialisation`] |

pub mod cone_of_influence;
pub mod copies;
pub mod definite_assignment;
pub mod live_variables;
pub mod predicates;
pub mod reaching_definitions;
pub mod relevant_conditions;
pub mod stable_predicates;
mod tests;
pub mod value_sets;
mod worklist;

use std::borrow::Cow;
use std::collections::BTreeSet;

use fixedbitset::FixedBitSet;

use self::worklist::Worklist;
pub(crate) use self::worklist::{closure, spread};
use crate::deadline::{Deadline, Stopped};
use crate::instance::{Block, BlockId, End, Graph, Location, Reaction, Standing, Term};

/// Facts that can be joined.
pub trait Lattice: Clone {
    /// Joins the facts of another path into this. Returns true if this fact has grown.
    fn join(&mut self, other: &Self) -> bool;
}

impl Lattice for FixedBitSet {
    fn join(&mut self, other: &Self) -> bool {
        let grows = !other.is_subset(self);
        if grows {
            self.union_with(other);
        }
        grows
    }
}

impl<T: Clone + Ord> Lattice for BTreeSet<T> {
    fn join(&mut self, other: &Self) -> bool {
        let before = self.len();
        self.extend(other.difference(self).cloned().collect::<Vec<T>>());
        self.len() > before
    }
}

#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Facts<F> {
    /// By block, the fact at its start.
    pub blocks: Vec<F>,
    /// By location, the fact while the process is there.
    pub locations: Vec<F>,
}

impl<F: Clone> Facts<F> {
    /// Creates the same fact for every point of a graph.
    pub fn all(graph: &Graph, fact: &F) -> Self {
        Self {
            blocks: vec![fact.clone(); graph.blocks.len()],
            locations: vec![fact.clone(); graph.locations.len()],
        }
    }
}

/// An analysis against the direction of steps. Transfer functions change facts in place.
pub trait Backward {
    type Fact: Lattice;

    fn bottom(&self) -> Self::Fact;

    /// Transforms the fact at the end of a block into the fact at its start.
    fn block(&self, block: &Block, fact: &mut Self::Fact);

    /// Transforms the joined fact of a location's blocks into the fact at the location.
    fn location(&self, at: Location, standing: &Standing, fact: &mut Self::Fact);
}

/// Joins the facts at the points after a block's end into `after`.
fn join_after<F: Lattice>(facts: &Facts<F>, end: &End, after: &mut F) {
    for next in end.blocks() {
        after.join(&facts.blocks[next.index()]);
    }
    if let Some(location) = end.location() {
        after.join(&facts.locations[location.index()]);
    }
}

/// Returns the fact at a block's end.
pub fn after<A: Backward>(analysis: &A, facts: &Facts<A::Fact>, end: &End) -> A::Fact {
    let mut after = analysis.bottom();
    join_after(facts, end, &mut after);
    after
}

pub fn backward<A: Backward>(
    graph: &Graph,
    analysis: &A,
    deadline: Deadline<'_>,
) -> Result<Facts<A::Fact>, Stopped> {
    let blocks = graph.blocks.len();
    let points = blocks + graph.locations.len();
    // By point, the points whose facts depend on its fact.
    let mut before: Vec<Vec<usize>> = vec![Vec::new(); points];
    for (index, block) in graph.blocks.iter().enumerate() {
        block.end.blocks().for_each(|next| before[next.index()].push(index));
        if let Some(location) = block.end.location() {
            before[blocks + location.index()].push(index);
        }
    }
    for location in graph.every_location() {
        for next in graph.blocks_from(location) {
            before[next.index()].push(blocks + location.index());
        }
    }
    let bottom = analysis.bottom();
    let mut facts = Facts::all(graph, &bottom);
    let mut fact = bottom.clone();
    // Later points are visited first: blocks mostly lead to later blocks.
    Worklist::new(points, (0..points).rev()).run(deadline, |point, open| {
        fact.clone_from(&bottom);
        let grows = match point.checked_sub(blocks) {
            None => {
                let block = &graph.blocks[point];
                join_after(&facts, &block.end, &mut fact);
                analysis.block(block, &mut fact);
                facts.blocks[point].join(&fact)
            }
            Some(index) => {
                let at = Location(index as u32);
                for block in graph.blocks_from(at) {
                    fact.join(&facts.blocks[block.index()]);
                }
                analysis.location(at, graph.standing(at), &mut fact);
                facts.locations[index].join(&fact)
            }
        };
        if grows {
            before[point].iter().for_each(|point| open.add(*point));
        }
    })?;
    Ok(facts)
}

/// An analysis in the direction of steps. Transfer functions change facts in place; facts are
/// copied only if an edge adds to them.
pub trait Forward {
    type Fact: Lattice;

    /// Transforms the fact at the start of a block into the fact at its end. Any state that the
    /// analysis itself collects must only grow.
    fn block(&mut self, block: &Block, fact: &mut Self::Fact);

    /// Returns the facts after a true and after a false outcome of the condition; `None` for an
    /// impossible outcome.
    fn branch<'f>(
        &self,
        _condition: &Term,
        after: &'f Self::Fact,
    ) -> [Option<Cow<'f, Self::Fact>>; 2] {
        [true, false].map(|_| Some(Cow::Borrowed(after)))
    }

    /// Returns the fact that still holds after a pause; `None` if the analysis ends there.
    fn pause<'f>(&self, after: &'f Self::Fact) -> Option<Cow<'f, Self::Fact>>;

    /// Returns true if a reaction may be taken where this fact holds.
    fn reacts(&self, _reaction: &Reaction, _fact: &Self::Fact) -> bool {
        true
    }
}

/// Solves a forward analysis that starts with these facts. A response ends it. Unreachable points
/// have no fact.
pub fn forward<A: Forward>(
    graph: &Graph,
    analysis: &mut A,
    begin: impl IntoIterator<Item = (BlockId, A::Fact)>,
    deadline: Deadline<'_>,
) -> Result<Facts<Option<A::Fact>>, Stopped> {
    let mut facts = Facts::all(graph, &None);
    for (block, fact) in begin {
        arrive(&mut facts.blocks[block.index()], &fact);
    }
    resume(graph, analysis, &mut facts, deadline)?;
    Ok(facts)
}

/// Resumes a forward analysis from existing facts: all points with a fact are visited again.
pub fn resume<A: Forward>(
    graph: &Graph,
    analysis: &mut A,
    facts: &mut Facts<Option<A::Fact>>,
    deadline: Deadline<'_>,
) -> Result<(), Stopped> {
    let blocks = graph.blocks.len();
    let points = blocks + graph.locations.len();
    let known = |point: &usize| match point.checked_sub(blocks) {
        None => facts.blocks[*point].is_some(),
        Some(at) => facts.locations[at].is_some(),
    };
    let open = Worklist::new(points, (0..points).filter(known));
    let mut scratch: Option<A::Fact> = None;
    open.run(deadline, |point, open| {
        let Facts { blocks: at_blocks, locations } = &mut *facts;
        if let Some(at) = point.checked_sub(blocks) {
            let (Some(fact), standing) = (&locations[at], &graph.locations[at]) else { return };
            let reactions = standing.reactions.iter();
            let taken = reactions.filter(|reaction| analysis.reacts(reaction, fact));
            for next in standing.step.into_iter().chain(taken.map(|reaction| reaction.then)) {
                if arrive(&mut at_blocks[next.index()], fact) {
                    open.add(next.index());
                }
            }
            return;
        }
        let block = &graph.blocks[point];
        scratch.clone_from(&at_blocks[point]);
        let Some(fact) = &mut scratch else { return };
        analysis.block(block, fact);
        let mut reach = |next: BlockId, fact: &A::Fact| {
            if arrive(&mut at_blocks[next.index()], fact) {
                open.add(next.index());
            }
        };
        match &block.end {
            End::Jump(next) => reach(*next, fact),
            End::Branch { condition, then, otherwise } => {
                let outcomes = analysis.branch(condition, fact).into_iter();
                for (fact, next) in outcomes.zip([then, otherwise]) {
                    fact.into_iter().for_each(|fact| reach(*next, &fact));
                }
            }
            End::Pause(location) => {
                if let Some(fact) = analysis.pause(fact)
                    && arrive(&mut locations[location.index()], &fact)
                {
                    open.add(blocks + location.index());
                }
            }
            End::Respond(_) | End::Fault { .. } => {}
        }
    })
}

/// Joins a fact into the fact at a point. Returns true if the latter has grown.
fn arrive<F: Lattice>(known: &mut Option<F>, fact: &F) -> bool {
    match known {
        Some(known) => known.join(fact),
        unknown => {
            *unknown = Some(fact.clone());
            true
        }
    }
}

impl End {
    /// Returns the process's location after the block: idle after a response.
    pub(crate) const fn location(&self) -> Option<Location> {
        match self {
            Self::Pause(location) => Some(*location),
            Self::Respond(_) => Some(Location::IDLE),
            Self::Jump(_) | Self::Branch { .. } | Self::Fault { .. } => None,
        }
    }
}

impl Graph {
    /// Returns the blocks that start at a location, including invocations.
    pub(crate) fn blocks_from(&self, at: Location) -> impl Iterator<Item = BlockId> {
        let invocations = [self.invocations.update, self.invocations.scan];
        let invocations = invocations.into_iter().filter(move |_| at == Location::IDLE);
        invocations.chain(self.standing(at).beginnings())
    }
}
