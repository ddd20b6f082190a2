//! One slot per use: variables that are used again for something else are split.
//!
//! `for k: { t := h[k] ; g[k] := t }` moves every `h[k]` through one t, so it looks as
//! if each `h[k]` could come to be compared with whatever any `g[l]` is compared with.
//! What versions, counters and anonymous bits have to do with each other is found
//! out without regard to when they are moved ([`crate::quotient::canonical_renaming::classes`]); with a
//! slot of its own for each t, it need not be.
//!
//! A *web* is a set of assignments of a slot and of the reads that they reach, closed
//! under reaching (Chaitin et al., Register allocation via coloring, Computer
//! Languages 6, 1981). Each web of a local of an operation that holds such a number or
//! bit gets a slot of its own.
//!
//! **Sound**: whenever a slot is read, what its web's slot holds is what it held, as
//! the assignment that is read belongs to that web and no other one of the slot lies
//! between. A web that is read before it is assigned reads the initial scalar, which is
//! that of the slot. So executions, responses and the observer are the same.
//!
//! An assignment that chooses among slots by an index may leave each of them as it was:
//! it belongs to the webs of what reaches it. Where a slot is read later is found out
//! here, not by [`crate::dataflow::live_variables`]: that does not count the conditions of reactions,
//! nor what is read for nothing, and both are renamed here.

use std::collections::BTreeMap;

use fixedbitset::FixedBitSet;
use snapshot_core::Process;

use crate::dataflow::{self, Backward, Facts};
use crate::deadline::{Deadline, Stopped};
use crate::instance::{
    Assignment, Block, BlockId, End, Graph, Instance, Location, Owner, Slot, SlotId, Standing,
    Target, Term,
};
use crate::quotient::canonical_renaming::classes::Classes;

/// With as many slots per variable as it has webs that have nothing to do with each
/// other. O(size of the instance * slots concerned).
///
/// # Errors
/// If the deadline comes first.
pub fn split_live_ranges(instance: &Instance, deadline: Deadline<'_>) -> Result<Instance, Stopped> {
    let webs = found(instance, deadline)?;
    // First a slot for each: then it shows which webs have to do with each other.
    let mut all = Slots::new(instance);
    let apart = renamed(instance, &webs, &mut all, &|_, web| web);
    let mut class_of: Vec<usize> = vec![0; apart.slots.len()];
    for (number, class) in (1..).zip(Classes::new(&apart).iter()) {
        class.slots.iter().for_each(|slot| class_of[slot.index()] = number);
    }
    // Webs of one slot are never held at once: those of one class can share a slot.
    let class = |slot, web| all.known(slot, web).map_or(0, |slot| class_of[slot.index()]);
    let split = renamed(instance, &webs, &mut Slots::new(instance), &class);
    #[cfg(debug_assertions)]
    split.validate();
    Ok(split)
}

/// The webs of each process.
fn found(instance: &Instance, deadline: Deadline<'_>) -> Result<Vec<Webs>, Stopped> {
    let classes = Classes::new(instance);
    let graphs = instance.graphs.iter().enumerate();
    let webs = graphs.map(|(index, graph)| {
        let is_local = |slot: &SlotId| {
            let owner = instance.slot(*slot).owner;
            owner == Owner::Operation(Process::from_index(index)) && graph.argument != Some(*slot)
        };
        let slots = classes.iter().flat_map(|class| &class.slots).copied().filter(is_local);
        Webs::new(graph, slots.collect(), instance.slots.len(), deadline)
    });
    webs.collect()
}

/// The slots of an instance, and those that were added to split them.
struct Slots {
    slots: Vec<Slot>,
    /// By slot and part, in the order in which the parts were met. The first is
    /// the slot itself.
    parts: BTreeMap<SlotId, Vec<(usize, SlotId)>>,
}

impl Slots {
    fn new(instance: &Instance) -> Self {
        Self { slots: instance.slots.clone(), parts: BTreeMap::new() }
    }

    /// The slot of a part that was met.
    fn known(&self, slot: SlotId, part: usize) -> Option<SlotId> {
        self.parts.get(&slot)?.iter().find(|(known, _)| *known == part).map(|(_, slot)| *slot)
    }

    fn part(&mut self, slot: SlotId, part: usize) -> SlotId {
        if let Some(known) = self.known(slot, part) {
            return known;
        }
        let parts = self.parts.entry(slot).or_default();
        let chosen = if parts.is_empty() {
            slot
        } else {
            let described = &self.slots[slot.index()];
            let name = format!("{} ({})", described.name, parts.len() + 1);
            self.slots.push(Slot { name, ..described.clone() });
            SlotId(self.slots.len() as u32 - 1)
        };
        parts.push((part, chosen));
        chosen
    }
}

/// The instance with a slot for each part of a slot; `part` tells to which part a web
/// of a slot belongs.
fn renamed(
    instance: &Instance,
    webs: &[Webs],
    slots: &mut Slots,
    part: &dyn Fn(SlotId, usize) -> usize,
) -> Instance {
    let graphs = instance.graphs.iter().zip(webs);
    let rename = |(graph, webs): (&Graph, &Webs)| {
        webs.renamed(graph, &mut |slot, web| slots.part(slot, part(slot, web)))
    };
    let graphs = graphs.map(rename).collect();
    Instance { slots: std::mem::take(&mut slots.slots), graphs, ..instance.clone() }
}

/// Where what a slot holds comes from.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Point {
    /// Whatever comes to where a block begins.
    Block(BlockId),
    /// Whatever comes to a location.
    Location(Location),
}

/// The webs of some slots in a graph.
struct Webs {
    /// What is split.
    slots: Vec<SlotId>,
    /// By slot of the instance, its position in `slots`.
    positions: Vec<Option<usize>>,
    blocks: usize,
    /// What is read later, where blocks begin and then at locations, by position.
    live: Vec<FixedBitSet>,
    /// A union-find; what is not united with others is a web by itself. First what
    /// comes to each place, by place and position, then what each assignment assigns.
    parents: Vec<usize>,
    /// The webs that are read, by root.
    read: FixedBitSet,
}

/// What is read later.
impl Backward for Webs {
    type Fact = FixedBitSet;

    fn bottom(&self) -> FixedBitSet {
        FixedBitSet::with_capacity(self.slots.len())
    }

    fn block(&self, block: &Block, mut live: FixedBitSet) -> FixedBitSet {
        let read = |term: &Term, live: &mut FixedBitSet| {
            term.slots(&mut |slot| live.extend(self.position(slot)));
        };
        block.end.terms().into_iter().for_each(|term| read(term, &mut live));
        for Assignment { target, value } in block.assignments.iter().rev() {
            match target {
                Target::Slot(slot) => {
                    if let Some(position) = self.position(*slot) {
                        live.set(position, false);
                    }
                }
                Target::Element { index, .. } => read(index, &mut live),
            }
            read(value, &mut live);
        }
        live
    }

    fn location(&self, at: Location, standing: &Standing, mut live: FixedBitSet) -> FixedBitSet {
        // Nothing of an operation outlives it.
        if at == Location::IDLE {
            return self.bottom();
        }
        for reaction in &standing.reactions {
            reaction.when.slots(&mut |slot| live.extend(self.position(slot)));
        }
        live
    }
}

impl Webs {
    fn new(
        graph: &Graph,
        slots: Vec<SlotId>,
        all: usize,
        deadline: Deadline<'_>,
    ) -> Result<Self, Stopped> {
        let mut positions = vec![None; all];
        for (position, slot) in slots.iter().enumerate() {
            positions[slot.index()] = Some(position);
        }
        let places = graph.blocks.len() + graph.locations.len();
        let assignments = graph.blocks.iter().map(|block| block.assignments.len()).sum::<usize>();
        let nodes = places * slots.len() + assignments;
        let mut webs = Self {
            positions,
            blocks: graph.blocks.len(),
            live: Vec::new(),
            parents: (0..nodes).collect(),
            read: FixedBitSet::with_capacity(nodes),
            slots,
        };
        let Facts { mut blocks, locations } = dataflow::backward(graph, &webs, deadline)?;
        blocks.extend(locations);
        webs.live = blocks;
        webs.unite(graph);
        webs.find_reads(graph);
        Ok(webs)
    }

    /// The position of a slot, if it is to be split.
    fn position(&self, slot: SlotId) -> Option<usize> {
        self.positions[slot.index()]
    }

    fn place(&self, place: Point) -> usize {
        match place {
            Point::Block(block) => block.index(),
            Point::Location(location) => self.blocks + location.index(),
        }
    }

    /// What comes to a place, by position.
    fn at(&self, place: usize) -> Vec<usize> {
        (0..self.slots.len()).map(|position| place * self.slots.len() + position).collect()
    }

    /// Unites what is assigned or comes somewhere with what comes from there to the
    /// places where it is read later.
    fn unite(&mut self, graph: &Graph) {
        let mut comings: Vec<(Vec<usize>, Point)> = Vec::new();
        self.follow(graph, &mut |followed, nodes| {
            if let Followed::End(end) = followed {
                comings.extend(after(end).into_iter().map(|place| (nodes.to_vec(), place)));
            }
        });
        for location in 1..graph.locations.len() {
            let begun = graph.locations[location].beginnings().map(Point::Block);
            comings.extend(begun.map(|place| (self.at(self.blocks + location), place)));
        }
        for (nodes, place) in comings {
            let place = self.place(place);
            for position in self.live[place].ones().collect::<Vec<_>>() {
                let one = self.web(nodes[position]);
                let other = self.web(place * self.slots.len() + position);
                self.parents[one.max(other)] = one.min(other);
            }
        }
    }

    fn find_reads(&mut self, graph: &Graph) {
        let mut read = std::mem::take(&mut self.read);
        let mut note = |slot: SlotId, nodes: &[usize]| {
            read.extend(self.position(slot).map(|position| self.web(nodes[position])));
        };
        self.follow(graph, &mut |followed, nodes| match followed {
            Followed::Assignment(Assignment { target, value }, _) => {
                if let Target::Element { index, of } = target {
                    index.slots(&mut |slot| note(slot, nodes));
                    of.iter().for_each(|slot| note(*slot, nodes));
                }
                value.slots(&mut |slot| note(slot, nodes));
            }
            Followed::End(end) => {
                let terms = end.terms().into_iter();
                terms.for_each(|term| term.slots(&mut |slot| note(slot, nodes)));
            }
        });
        for (location, standing) in graph.locations.iter().enumerate() {
            let nodes = self.at(self.blocks + location);
            for reaction in &standing.reactions {
                reaction.when.slots(&mut |slot| note(slot, &nodes));
            }
        }
        self.read = read;
    }

    /// The web of a node of the union-find: its root.
    fn web(&self, mut node: usize) -> usize {
        while self.parents[node] != node {
            node = self.parents[node];
        }
        node
    }

    /// Goes through all blocks in order; `each` sees every assignment and every
    /// end, with what the slots hold just before it.
    fn follow<'g>(&self, graph: &'g Graph, each: &mut dyn FnMut(Followed<'g>, &[usize])) {
        let mut next = (self.blocks + graph.locations.len()) * self.slots.len();
        for (index, block) in graph.blocks.iter().enumerate() {
            let mut nodes = self.at(index);
            for assignment in &block.assignments {
                each(Followed::Assignment(assignment, next), &nodes);
                if let Target::Slot(slot) = assignment.target
                    && let Some(position) = self.position(slot)
                {
                    nodes[position] = next;
                }
                next += 1;
            }
            each(Followed::End(&block.end), &nodes);
        }
    }

    /// The graph with the slots that `choose` has for their webs.
    fn renamed(&self, graph: &Graph, choose: &mut dyn FnMut(SlotId, usize) -> SlotId) -> Graph {
        let mut slot = |slot: SlotId, node: &dyn Fn(usize) -> usize| {
            let web = self.position(slot).map(|position| self.web(node(position)));
            // What no process reads may go to the slot itself.
            web.filter(|web| self.read[*web]).map_or(slot, |web| choose(slot, web))
        };
        let mut blocks: Vec<Block> = Vec::with_capacity(graph.blocks.len());
        let mut assignments = Vec::new();
        self.follow(graph, &mut |followed, nodes| {
            let mut held = |read| slot(read, &|position| nodes[position]);
            match followed {
                Followed::Assignment(Assignment { target, value }, node) => {
                    let value = with_slots(value, &mut held);
                    let target = match target {
                        Target::Slot(assigned) => Target::Slot(slot(*assigned, &|_| node)),
                        Target::Element { index, of } => Target::Element {
                            index: with_slots(index, &mut held),
                            of: of.iter().copied().map(held).collect(),
                        },
                    };
                    assignments.push(Assignment { target, value });
                }
                Followed::End(end) => {
                    let accesses = graph.blocks[blocks.len()].accesses;
                    let end = end.map(&mut |term| with_slots(term, &mut held));
                    let assignments = std::mem::take(&mut assignments);
                    blocks.push(Block { accesses, assignments, end });
                }
            }
        });
        let mut renamed = Graph { blocks, ..graph.clone() };
        for (location, standing) in renamed.locations.iter_mut().enumerate() {
            let nodes = self.at(self.blocks + location);
            for reaction in &mut standing.reactions {
                let held = &mut |read| slot(read, &|position| nodes[position]);
                reaction.when = with_slots(&reaction.when, held);
            }
        }
        renamed
    }
}

/// A part of a block.
enum Followed<'g> {
    /// With the node of what it assigns.
    Assignment(&'g Assignment, usize),
    End(&'g End),
}

/// Where a process that ends a block like this goes on.
fn after(end: &End) -> Vec<Point> {
    match end {
        End::Pause(location) => vec![Point::Location(*location)],
        _ => end.blocks().map(Point::Block).collect(),
    }
}

/// The term with other slots.
fn with_slots(term: &Term, slot: &mut dyn FnMut(SlotId) -> SlotId) -> Term {
    match term {
        Term::Slot(read) => Term::Slot(slot(*read)),
        Term::Successor(read) => Term::Successor(slot(*read)),
        _ => term.with_parts(&mut |part| with_slots(part, slot)),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

    use super::*;
    use crate::language::parse;
    use crate::passes::dead_variable_reset::reset_dead_variables;
    use crate::pipeline::Prepared;
    use crate::quotient::canonical_renaming::classes::Class;
    use crate::reduction::{Reduction, Reductions};
    use crate::search::Exploration;

    fn instance(algorithm: &str, bug: Option<&str>, processes: usize) -> Instance {
        let text = corpus::algorithm(algorithm).unwrap().text;
        let program = parse(algorithm, text).unwrap().program(bug).unwrap();
        let pair = [0, 1].map(Process::from_index);
        let reductions = Reductions::standard().without(Reduction::Counters);
        Prepared::new(&program, processes, pair, reductions, |_| true, Deadline::NEVER)
            .unwrap()
            .instance
    }

    /// Whether some class has slots with both names.
    fn are_one(instance: &Instance, names: [&str; 2]) -> bool {
        let has = |class: &Class, name: &str| {
            class.slots.iter().any(|slot| instance.slot(*slot).name == name)
        };
        Classes::new(instance).iter().any(|class| names.iter().all(|name| has(class, name)))
    }

    #[test]
    fn handshakes_of_different_pairs_are_told_apart() {
        let whole = instance("attiya_welch", None, 3);
        let split = split_live_ranges(&whole, Deadline::NEVER).unwrap();
        for others in [["h_j[1][0]", "h_j[2][0]"], ["h_j[1][0]", "h_i[1][0]"]] {
            assert!(are_one(&whole, others));
            assert!(!are_one(&split, others));
        }
        assert!(are_one(&split, ["h_j[1][0]", "h_i[0][1]"]), "what is compared stays together");
        let added = split.slots.len() - whole.slots.len();
        assert!(added < whole.slots.len() / 4, "related webs share a slot: {added} were added");
        assert_eq!(
            split_live_ranges(&split, Deadline::NEVER).unwrap(),
            split,
            "there is no more to be had"
        );
    }

    /// Where dead slots are blank, splitting is renaming: the states are as many.
    #[test]
    fn there_are_as_many_states_as_before() {
        for (algorithm, bug, processes, operations) in [
            ("afek_bounded", None, 2, Some(1)),
            ("afek_bounded", Some("no_negation"), 2, Some(1)),
            ("attiya_welch", None, 2, Some(1)),
            ("attiya_welch", Some("stale_view"), 2, Some(1)),
        ] {
            let whole = instance(algorithm, bug, processes);
            let apart = renamed(
                &whole,
                &found(&whole, Deadline::NEVER).unwrap(),
                &mut Slots::new(&whole),
                &|_, web| web,
            );
            assert!(apart.slots.len() > whole.slots.len());
            let exploration =
                Exploration { operations, past_violations: true, ..Exploration::default() };
            let counts =
                [whole.clone(), split_live_ranges(&whole, Deadline::NEVER).unwrap(), apart].map(
                    |instance| {
                        let outcome = exploration
                            .run(
                                &reset_dead_variables(&instance, Deadline::NEVER).unwrap(),
                                &mut |_| (),
                            )
                            .unwrap();
                        let verdict = std::mem::discriminant(&outcome.verdict);
                        (verdict, outcome.states, outcome.transitions, outcome.depth)
                    },
                );
            assert_eq!(counts[0], counts[1], "{algorithm} {bug:?}");
            assert_eq!(counts[0], counts[2], "{algorithm} {bug:?}, each web apart");
        }
    }
}
