//! Compares solutions with an enumeration of all paths through random graphs.

#![cfg(test)]
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use proptest::prelude::*;

use snapshot_core::Process;

use super::cone_of_influence::irrelevant;
use super::value_sets::ValueSets;
use super::*;
use crate::instance::fold::SlotValues;
use crate::instance::{
    Assignment, Domain, Instance, Invocations, Owner, Reaction, Response, Slot, SlotId, Target,
};

const SLOTS: usize = 3;

/// A test analysis: backward, the slots read before they are assigned; forward, taint.
struct Simple;

fn read(term: &Term, set: &mut FixedBitSet) {
    term.slots(&mut |slot| set.insert(slot.index()));
}

impl Backward for Simple {
    type Fact = FixedBitSet;

    fn bottom(&self) -> FixedBitSet {
        FixedBitSet::with_capacity(SLOTS)
    }

    fn block(&self, block: &Block, live: &mut FixedBitSet) {
        block.end.terms().into_iter().for_each(|term| read(term, live));
        for assignment in block.assignments.iter().rev() {
            assignment.target.slots(&mut |slot| live.set(slot.index(), false));
            read(&assignment.value, live);
        }
    }

    fn location(&self, _: Location, _: &Standing, _: &mut FixedBitSet) {}
}

/// A slot assigned from a tainted slot is tainted.
impl Forward for Simple {
    type Fact = FixedBitSet;

    fn block(&mut self, block: &Block, tainted: &mut FixedBitSet) {
        for assignment in &block.assignments {
            let mut from = false;
            assignment.value.slots(&mut |slot| from |= tainted[slot.index()]);
            assignment.target.slots(&mut |slot| tainted.set(slot.index(), from));
        }
    }

    fn pause<'f>(&self, after: &'f FixedBitSet) -> Option<Cow<'f, FixedBitSet>> {
        Some(Cow::Borrowed(after))
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

/// Returns the possible next blocks, with blocks after a response last.
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

/// Returns true if some path from the block reads the slot before it assigns it.
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

/// Returns by block the slots tainted on some path from the invocation of an update, where slot 0
/// is tainted at the start. Enumerates all sets.
fn tainted(graph: &Graph) -> Vec<Option<FixedBitSet>> {
    let mut one = FixedBitSet::with_capacity(SLOTS);
    one.insert(0);
    let mut seen: Vec<(BlockId, FixedBitSet)> = Vec::new();
    let mut open = vec![(graph.invocations.update, one)];
    while let Some((id, set)) = open.pop() {
        if seen.contains(&(id, set.clone())) {
            continue;
        }
        let mut after = set.clone();
        Forward::block(&mut Simple, graph.block(id), &mut after);
        open.extend(next(graph, id, false).into_iter().map(|next| (next, after.clone())));
        seen.push((id, set));
    }
    let mut all = vec![None; graph.blocks.len()];
    for (id, set) in seen {
        all[id.index()].get_or_insert_with(|| FixedBitSet::with_capacity(SLOTS)).union_with(&set);
    }
    all
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]

    #[test]
    fn solutions_agree_with_all_paths(graph in graph()) {
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
        let mut found = forward(&graph, &mut Simple, begin, Deadline::NEVER).unwrap();
        prop_assert_eq!(&found.blocks, &tainted(&graph));
        let solved = found.clone();
        resume(&graph, &mut Simple, &mut found, Deadline::NEVER).unwrap();
        prop_assert_eq!(found, solved, "a solution stays");
    }
}

proptest! {
    #[test]
    fn facts_spread_along_edges(
        edges in prop::collection::vec((0..8_usize, 0..8_usize), 0..16),
        begin in prop::collection::vec(0..8_usize, 0..3),
    ) {
        let next = |from: usize, visit: &mut dyn FnMut(usize)| {
            edges.iter().filter(|edge| edge.0 == from).for_each(|edge| visit(edge.1));
        };
        // The algorithm of Floyd and Warshall.
        let mut leads = [[false; 8]; 8];
        (0..8).for_each(|at| leads[at][at] = true);
        edges.iter().for_each(|&(from, to)| leads[from][to] = true);
        for (via, from, to) in (0..512).map(|n| (n / 64, n / 8 % 8, n % 8)) {
            leads[from][to] |= leads[from][via] && leads[via][to];
        }
        let mut origins: Vec<BTreeSet<usize>> = (0..8).map(|at| [at].into()).collect();
        spread(&mut origins, next, Deadline::NEVER).unwrap();
        for (to, origins) in origins.iter().enumerate() {
            let expected: BTreeSet<usize> = (0..8).filter(|from| leads[*from][to]).collect();
            prop_assert_eq!(origins, &expected);
        }
        let reached = closure(8, begin.clone(), next, Deadline::NEVER).unwrap();
        for to in 0..8 {
            prop_assert_eq!(reached[to], begin.iter().any(|from| leads[*from][to]));
        }
    }
}

#[test]
fn analyses_end_at_the_deadline() {
    let block = Block { accesses: 0, assignments: Vec::new(), end: End::Jump(BlockId(0)) };
    let invocations = Invocations { update: BlockId(0), scan: BlockId(0) };
    let graph = Graph { blocks: vec![block], locations: vec![], invocations, argument: None };
    let over = Deadline::new(Some(std::time::Instant::now()), None);
    assert_eq!(backward(&graph, &Simple, over).err(), Some(Stopped::Time));
    let begin = [(BlockId(0), FixedBitSet::with_capacity(SLOTS))];
    assert_eq!(forward(&graph, &mut Simple, begin, over), Err(Stopped::Time));
}

/// A cell, an index, and two slots of operations that it selects from; all are 0 at first.
const CELL: SlotId = SlotId(0);
const INDEX: SlotId = SlotId(1);
const CHOSEN: [SlotId; 2] = [SlotId(2), SlotId(3)];

/// Creates an instance of one process whose updates start with the first block and whose scans
/// start with the last. The process may pause at one location, from which it continues with block
/// 1, or with block 2 if the condition holds.
fn instance(blocks: Vec<(Vec<(Target, Term)>, End)>, when: Term) -> Instance {
    let slot = |owner, domain| Slot { name: String::new(), owner, domain, initial: 0 };
    let own = Owner::Operation(Process::from_index(0));
    let number = Domain::Range { low: 0, high: 3, optional: false, names_processes: false };
    let standing = |step, reactions| Standing {
        step,
        span: crate::language::Span::default(),
        label: String::new(),
        updating: false,
        reactions,
    };
    let last = BlockId(blocks.len() as u32 - 1);
    let blocks = blocks.into_iter().map(|(assignments, end)| {
        let assignments = assignments.into_iter();
        let assignments = assignments.map(|(target, value)| Assignment { target, value });
        Block { accesses: 0, assignments: assignments.collect(), end }
    });
    let reaction = Reaction { when, then: BlockId(2) };
    let graph = Graph {
        blocks: blocks.collect(),
        locations: vec![standing(None, Vec::new()), standing(Some(BlockId(1)), vec![reaction])],
        invocations: Invocations { update: BlockId(0), scan: last },
        argument: None,
    };
    Instance {
        processes: 1,
        pair: [0, 1].map(Process::from_index),
        slots: vec![
            slot(Owner::Shared, Domain::BIT),
            slot(own, Domain::BIT),
            slot(own, number),
            slot(own, number),
        ],
        graphs: vec![graph],
    }
}

/// Assigns to the slot that the index selects.
fn choose(value: i32) -> (Target, Term) {
    let target = Target::Element { index: Term::Slot(INDEX), of: CHOSEN.to_vec() };
    (target, Term::Constant(value))
}

fn assign(slot: SlotId, value: Term) -> (Target, Term) {
    (Target::Slot(slot), value)
}

fn respond(value: Term) -> End {
    End::Respond(Response::Update { value })
}

#[test]
fn assignment_by_index_is_a_weak_update() {
    let read = respond(Term::Slot(CHOSEN[0]).equal(Term::Constant(1)));
    let first = vec![
        assign(CHOSEN[0], Term::Constant(1)),
        assign(CELL, Term::TRUE),
        assign(INDEX, Term::Slot(CELL)),
        choose(2),
    ];
    let instance = instance(
        vec![(first, End::Jump(BlockId(1))), (Vec::new(), read.clone()), (vec![choose(3)], read)],
        Term::FALSE,
    );
    let sets = ValueSets::new(&instance, Deadline::NEVER).unwrap();
    let local = sets.facts[0].blocks[1].as_ref().unwrap();
    let held = sets.here(local).scalars(CHOSEN[0]);
    assert_eq!([0, 1, 2, 3].map(|scalar| held.contains(scalar)), [false, true, true, false]);
    // The scan reads a slot that it may have assigned only elsewhere.
    let slots = |_: SlotId| true;
    let used = instance.graphs[0].used_unassigned(&slots, Deadline::NEVER).unwrap();
    assert!(used.contains(&CHOSEN[0]), "{used:?}");
    let irrelevant = irrelevant(&instance, Deadline::NEVER).unwrap();
    let expected = [CELL, INDEX, CHOSEN[0], CHOSEN[1]].map(|slot| irrelevant[slot.index()]);
    assert_eq!(expected, [false, false, false, true], "the index and its source are relevant");
}

#[test]
fn a_reaction_is_taken_where_its_condition_may_hold() {
    let reached = |when: Term| {
        let blocks = vec![
            (vec![assign(CELL, Term::TRUE)], End::Pause(Location(1))),
            (Vec::new(), respond(Term::TRUE)),
            (Vec::new(), respond(Term::TRUE)),
            (Vec::new(), respond(Term::TRUE)),
        ];
        let sets = ValueSets::new(&instance(blocks, when), Deadline::NEVER).unwrap();
        [1, 2].map(|block| sets.facts[0].blocks[block].is_some())
    };
    assert_eq!(reached(Term::Slot(CELL)), [true, true]);
    assert_eq!(reached(Term::FALSE), [true, false]);
}
