//! Data flow over the graph of a process: one worklist for all analyses.
//!
//! An analysis has a lattice of facts and says what a block does to them; the solver finds
//! the least solution, at every **point** of a graph: where a block begins, and where the
//! process pauses. A pause is an edge from the end of a block to its location, and from
//! there to the blocks of its step and reactions; a response is a pause at
//! [`Location::IDLE`], from which the invocations begin. (Kildall, A unified approach to
//! global program optimization, POPL 1973; compare `rustc_mir_dataflow`.)
//!
//! * [`Backward`]: what a block needs is given by what the points after it need.
//! * [`Forward`]: what holds after a block is given by what holds before; an analysis may
//!   learn from the outcome of a branch, and says what a pause leaves. Points that nothing
//!   reaches have no fact.
//!
//! Facts only ever grow in [`Lattice::join`], so a lattice of finite height ends it.
//! O(height * edges) transfers. The deadline is asked before each.

pub(crate) mod definite_assignment;
pub mod live_variables;
pub mod predicates;
pub mod stable_predicates;

use std::collections::VecDeque;

use fixedbitset::FixedBitSet;

use crate::deadline::{Deadline, Stopped};
use crate::instance::{Block, BlockId, End, Graph, Location, Standing, Term};

/// Facts that can be joined.
pub trait Lattice: Clone {
    /// What holds on either way; whether that is more than before.
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

/// A fact per point.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Facts<F> {
    /// Where blocks begin.
    pub blocks: Vec<F>,
    /// While the process stands at locations.
    pub locations: Vec<F>,
}

/// An analysis against the direction of steps.
pub trait Backward {
    /// What is found out.
    type Fact: Lattice;

    /// The least fact.
    fn bottom(&self) -> Self::Fact;

    /// What holds where the block begins, given what does where it ends.
    fn block(&self, block: &Block, after: Self::Fact) -> Self::Fact;

    /// What holds at a location, given what does where its blocks begin.
    fn location(&self, at: Location, standing: &Standing, next: Self::Fact) -> Self::Fact;
}

/// What the facts say where a block ends.
pub fn after<A: Backward>(analysis: &A, facts: &Facts<A::Fact>, end: &End) -> A::Fact {
    let mut after = analysis.bottom();
    for next in end.blocks() {
        after.join(&facts.blocks[next.index()]);
    }
    if let Some(location) = end.location() {
        after.join(&facts.locations[location.index()]);
    }
    after
}

/// Solves a backward analysis.
///
/// # Errors
/// If the deadline comes first.
pub fn backward<A: Backward>(
    graph: &Graph,
    analysis: &A,
    deadline: Deadline<'_>,
) -> Result<Facts<A::Fact>, Stopped> {
    let blocks = graph.blocks.len();
    let points = blocks + graph.locations.len();
    // By point, those whose facts depend on its fact.
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
    let mut facts = Facts {
        blocks: vec![bottom.clone(); blocks],
        locations: vec![bottom; graph.locations.len()],
    };
    let mut open = Open::all(points);
    while let Some(point) = open.next() {
        deadline.check()?;
        let grows = match point.checked_sub(blocks) {
            None => {
                let block = &graph.blocks[point];
                let fact = analysis.block(block, after(analysis, &facts, &block.end));
                facts.blocks[point].join(&fact)
            }
            Some(index) => {
                let at = Location(index as u32);
                let mut next = analysis.bottom();
                for block in graph.blocks_from(at) {
                    next.join(&facts.blocks[block.index()]);
                }
                let fact = analysis.location(at, graph.standing(at), next);
                facts.locations[index].join(&fact)
            }
        };
        if grows {
            before[point].iter().for_each(|point| open.add(*point));
        }
    }
    Ok(facts)
}

/// An analysis in the direction of steps.
pub trait Forward {
    /// What is found out.
    type Fact: Lattice;

    /// What holds where the block ends, given what does where it begins.
    fn block(&self, block: &Block, before: &Self::Fact) -> Self::Fact;

    /// The same, once a condition at the end has had this outcome.
    fn branch(&self, _condition: &Term, _outcome: bool, after: &Self::Fact) -> Self::Fact {
        after.clone()
    }

    /// What of it still holds after a pause; nothing if the analysis ends there.
    fn pause(&self, after: Self::Fact) -> Option<Self::Fact>;
}

/// Solves a forward analysis, which begins with these facts. A response ends it.
///
/// # Errors
/// If the deadline comes first.
pub fn forward<A: Forward>(
    graph: &Graph,
    analysis: &A,
    begin: impl IntoIterator<Item = (BlockId, A::Fact)>,
    deadline: Deadline<'_>,
) -> Result<Vec<Option<A::Fact>>, Stopped> {
    let mut facts: Vec<Option<A::Fact>> = vec![None; graph.blocks.len()];
    let mut open = Open::none(graph.blocks.len());
    let reach = |facts: &mut [Option<A::Fact>], open: &mut Open, at: BlockId, fact: A::Fact| {
        let grows = match &mut facts[at.index()] {
            Some(known) => known.join(&fact),
            unknown => {
                *unknown = Some(fact);
                true
            }
        };
        if grows {
            open.add(at.index());
        }
    };
    for (block, fact) in begin {
        reach(&mut facts, &mut open, block, fact);
    }
    while let Some(index) = open.next() {
        deadline.check()?;
        let Some(before) = &facts[index] else { continue };
        let block = &graph.blocks[index];
        let after = analysis.block(block, before);
        match &block.end {
            End::Jump(next) => reach(&mut facts, &mut open, *next, after),
            End::Branch { condition, then, otherwise } => {
                for (next, outcome) in [(then, true), (otherwise, false)] {
                    let fact = analysis.branch(condition, outcome, &after);
                    reach(&mut facts, &mut open, *next, fact);
                }
            }
            End::Pause(location) => {
                if let Some(fact) = analysis.pause(after) {
                    for next in graph.standing(*location).beginnings() {
                        reach(&mut facts, &mut open, next, fact.clone());
                    }
                }
            }
            End::Respond(_) | End::Fault { .. } => {}
        }
    }
    Ok(facts)
}

/// Points to be looked at, each once at a time.
struct Open {
    queue: VecDeque<usize>,
    contains: FixedBitSet,
}

impl Open {
    fn none(points: usize) -> Self {
        Self { queue: VecDeque::new(), contains: FixedBitSet::with_capacity(points) }
    }

    /// The last first: blocks mostly lead to later ones.
    fn all(points: usize) -> Self {
        let mut open = Self::none(points);
        (0..points).rev().for_each(|point| open.add(point));
        open
    }

    fn add(&mut self, point: usize) {
        if !self.contains.put(point) {
            self.queue.push_back(point);
        }
    }

    fn next(&mut self) -> Option<usize> {
        let point = self.queue.pop_front()?;
        self.contains.set(point, false);
        Some(point)
    }
}

impl End {
    /// Where the process stands after it: idle after a response.
    pub(crate) const fn location(&self) -> Option<Location> {
        match self {
            Self::Pause(location) => Some(*location),
            Self::Respond(_) => Some(Location::IDLE),
            Self::Jump(_) | Self::Branch { .. } | Self::Fault { .. } => None,
        }
    }
}

impl Graph {
    /// The blocks that begin at a location, invocations included.
    pub(crate) fn blocks_from(&self, at: Location) -> impl Iterator<Item = BlockId> {
        let invocations = [self.invocations.update, self.invocations.scan];
        let invocations = invocations.into_iter().filter(move |_| at == Location::IDLE);
        invocations.chain(self.standing(at).beginnings())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

    use proptest::prelude::*;

    use super::*;
    use crate::instance::{Assignment, Invocations, Reaction, Response, SlotId, Target};

    const SLOTS: usize = 3;

    /// Slots read before they are assigned; and, forward, those assigned from others.
    struct Simple;

    fn read(term: &Term, set: &mut FixedBitSet) {
        term.slots(&mut |slot| set.insert(slot.index()));
    }

    impl Backward for Simple {
        type Fact = FixedBitSet;

        fn bottom(&self) -> FixedBitSet {
            FixedBitSet::with_capacity(SLOTS)
        }

        fn block(&self, block: &Block, mut live: FixedBitSet) -> FixedBitSet {
            block.end.terms().into_iter().for_each(|term| read(term, &mut live));
            for assignment in block.assignments.iter().rev() {
                assignment.target.slots(&mut |slot| live.set(slot.index(), false));
                read(&assignment.value, &mut live);
            }
            live
        }

        fn location(&self, _: Location, _: &Standing, next: FixedBitSet) -> FixedBitSet {
            next
        }
    }

    /// A slot is tainted by one that is.
    impl Forward for Simple {
        type Fact = FixedBitSet;

        fn block(&self, block: &Block, before: &FixedBitSet) -> FixedBitSet {
            let mut tainted = before.clone();
            for assignment in &block.assignments {
                let mut from = false;
                assignment.value.slots(&mut |slot| from |= tainted[slot.index()]);
                assignment.target.slots(&mut |slot| tainted.set(slot.index(), from));
            }
            tainted
        }

        fn pause(&self, after: FixedBitSet) -> Option<FixedBitSet> {
            Some(after)
        }
    }

    fn graph() -> impl Strategy<Value = Graph> {
        let slot = || 0..SLOTS as u32;
        let assignment = (slot(), prop::option::of(slot())).prop_map(|(to, from)| Assignment {
            target: Target::Slot(SlotId(to)),
            value: from.map_or(Term::TRUE, |from| Term::Slot(SlotId(from))),
        });
        let end = (0..5_u8, any::<[u8; 2]>(), slot());
        let block = (prop::collection::vec(assignment, 0..3), end);
        let blocks = prop::collection::vec(block, 1..9);
        let locations = prop::collection::vec((any::<u8>(), prop::option::of(any::<u8>())), 0..4);
        (blocks, locations, any::<[u8; 2]>()).prop_map(|(blocks, locations, begin)| {
            let count = blocks.len();
            let block = |at: u8| BlockId((usize::from(at) % count) as u32);
            let location = |at: u8| Location((usize::from(at) % (locations.len() + 1)) as u32);
            let blocks = blocks.into_iter().map(|(assignments, (kind, [a, b], slot))| {
                let condition = Term::Slot(SlotId(slot));
                let end = match kind {
                    0 => End::Jump(block(a)),
                    1 => End::Branch { condition, then: block(a), otherwise: block(b) },
                    2 | 3 if location(a) != Location::IDLE => End::Pause(location(a)),
                    _ => End::Respond(Response::Update { value: condition }),
                };
                Block { accesses: 0, assignments, end }
            });
            let standing = |step, reaction: Option<u8>| Standing {
                step,
                span: crate::language::Span::default(),
                label: String::new(),
                updating: false,
                reactions: reaction
                    .map(|then| Reaction { when: Term::TRUE, then: block(then) })
                    .into_iter()
                    .collect(),
            };
            let others =
                locations.iter().map(|&(step, reaction)| standing(Some(block(step)), reaction));
            Graph {
                blocks: blocks.collect(),
                locations: std::iter::once(standing(None, None)).chain(others).collect(),
                invocations: Invocations { update: block(begin[0]), scan: block(begin[1]) },
                argument: None,
            }
        })
    }

    /// The blocks that may come next, those after a response last.
    fn next(graph: &Graph, block: BlockId, past_responses: bool) -> Vec<BlockId> {
        let end = &graph.block(block).end;
        let mut next: Vec<BlockId> = end.blocks().collect();
        match end {
            End::Pause(location) => next.extend(graph.standing(*location).beginnings()),
            End::Respond(_) if past_responses => {
                next.extend([graph.invocations.update, graph.invocations.scan]);
            }
            _ => {}
        }
        next
    }

    /// Whether some way from the block reads the slot before it assigns it.
    fn is_read(graph: &Graph, begin: BlockId, slot: SlotId) -> bool {
        let mut seen = vec![false; graph.blocks.len()];
        let mut open = vec![begin];
        while let Some(id) = open.pop() {
            if std::mem::replace(&mut seen[id.index()], true) {
                continue;
            }
            let mentions = |term: &Term| *term == Term::Slot(slot);
            let block = graph.block(id);
            let mut assigned = false;
            for assignment in &block.assignments {
                if mentions(&assignment.value) {
                    return true;
                }
                if assignment.target == Target::Slot(slot) {
                    assigned = true;
                    break;
                }
            }
            if !assigned {
                if block.end.terms().into_iter().any(mentions) {
                    return true;
                }
                open.extend(next(graph, id, true));
            }
        }
        false
    }

    /// The slots that some way from the invocation of an update to each block taints,
    /// slot 0 being tainted: all sets that there are, one by one.
    fn tainted(graph: &Graph) -> Vec<Option<FixedBitSet>> {
        let mut one = FixedBitSet::with_capacity(SLOTS);
        one.insert(0);
        let mut seen: Vec<(BlockId, FixedBitSet)> = Vec::new();
        let mut open = vec![(graph.invocations.update, one)];
        while let Some((id, set)) = open.pop() {
            if seen.contains(&(id, set.clone())) {
                continue;
            }
            let after = Forward::block(&Simple, graph.block(id), &set);
            open.extend(next(graph, id, false).into_iter().map(|next| (next, after.clone())));
            seen.push((id, set));
        }
        let mut all = vec![None; graph.blocks.len()];
        for (id, set) in seen {
            all[id.index()]
                .get_or_insert_with(|| FixedBitSet::with_capacity(SLOTS))
                .union_with(&set);
        }
        all
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]

        #[test]
        fn a_solution_is_what_all_ways_say(graph in graph()) {
            let facts = backward(&graph, &Simple, Deadline::NEVER).unwrap();
            for (index, live) in facts.blocks.iter().enumerate() {
                for slot in 0..SLOTS {
                    let expected = is_read(&graph, BlockId(index as u32), SlotId(slot as u32));
                    prop_assert_eq!(live[slot], expected, "slot {} at block {}", slot, index);
                }
            }
            for at in graph.every_location() {
                for slot in 0..SLOTS {
                    let read = |block| is_read(&graph, block, SlotId(slot as u32));
                    let expected = graph.blocks_from(at).any(read);
                    prop_assert_eq!(facts.locations[at.index()][slot], expected);
                }
            }
            let mut one = FixedBitSet::with_capacity(SLOTS);
            one.insert(0);
            let begin = [(graph.invocations.update, one)];
            let found = forward(&graph, &Simple, begin, Deadline::NEVER).unwrap();
            prop_assert_eq!(found, tainted(&graph));
        }
    }

    #[test]
    fn it_ends_at_the_deadline() {
        let block = Block { accesses: 0, assignments: Vec::new(), end: End::Jump(BlockId(0)) };
        let invocations = Invocations { update: BlockId(0), scan: BlockId(0) };
        let graph = Graph { blocks: vec![block], locations: vec![], invocations, argument: None };
        let over = Deadline::new(Some(std::time::Instant::now()), None);
        assert_eq!(backward(&graph, &Simple, over).err(), Some(Stopped::Time));
        let begin = [(BlockId(0), FixedBitSet::with_capacity(SLOTS))];
        assert_eq!(forward(&graph, &Simple, begin, over), Err(Stopped::Time));
    }
}
