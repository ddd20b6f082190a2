//! `decided`: what a process already knows about the outcomes of its tests.
//!
//! Some facts, once true, stay true until the process itself acts
//! ([`crate::dataflow::stable_predicates`]): its link on a cell is broken, a version that it saved
//! is no longer current, `active` no longer names it, two of its own slots
//! differ. Under such a fact a later SC or test is already decided, and what was
//! read only for the other outcome is dead.
//!
//! This reduction makes the facts visible to the others: it specialises the
//! graph of a process to them. A location becomes as many locations as there
//! are combinations of facts that bear on a later test there; tests that the
//! facts decide are decided. Standing at a location, the process holds the facts
//! of that location; when another of them becomes true - by whomever's step -
//! a reaction takes the process to the location that also holds it. So it
//! remains the same process, with more locations. That what is dead there is
//! forgotten, and steps without effect are skipped, is the work of
//! [`crate::passes::dead_variable_reset`] and of fusing steps; that combinations which make no
//! difference become one again is that of [`crate::passes::bisimulation`].
//!
//! **Sound**, since a run of the specialised process is a run of the process
//! with each location annotated by facts that hold: a fact is added only by a
//! test that has just shown it (a branch, a reaction), is carried over an
//! assignment by what the assignment does, and is kept over a pause only if
//! no other process can undo it. The observer sees the same.
//!
//! Which facts bear on a location: the conditions of later branches
//! ([`crate::dataflow::relevant_conditions`]).
//!
//! Where an atom is the process's own (others do not write it), its outcome
//! is known at once, and the pause becomes a branch to two locations: the slots
//! that it reads are then often dead, and what is left of many bits is one.

use std::collections::{BTreeSet, VecDeque};
use std::rc::Rc;

use rayon::prelude::*;
use rustc_hash::FxHashMap;
use snapshot_core::Process;

use crate::dataflow::predicates::Knowledge;
use crate::dataflow::relevant_conditions::{Conditions, relevant_conditions};
use crate::dataflow::stable_predicates::Stability;
use crate::deadline::{Deadline, Stopped};
use crate::instance::{
    Assignment, Block, BlockId, End, Graph, Instance, Invocations, Location, Reaction, Slot,
    Standing, Target, Term,
};
use crate::limits::Limit;

/// With more locations than this, a process is specialised to fewer facts.
const MOST_LOCATIONS: usize = 4_000;

/// Nor with more blocks than this.
const MOST_BLOCKS: usize = 16_000;

/// Specialises every process to what it knows.
///
/// # Errors
/// If the deadline comes first.
pub fn specialise(instance: &Instance, deadline: Deadline<'_>) -> Result<Instance, Stopped> {
    let mut reduced = instance.clone();
    reduced.graphs_parallel_mut().enumerate().try_for_each(|(index, graph)| {
        let process = Process::from_index(index);
        let relevant = relevant_conditions(graph, &instance.slots, deadline)?;
        for own_facts in [true, false] {
            let new = Specialisation::new(instance, process, &relevant, own_facts, deadline);
            if let Some(specialised) = new.run(deadline)? {
                *graph = specialised;
                break;
            }
            Limit::Specialised.reach(deadline);
        }
        Ok(())
    })?;
    #[cfg(debug_assertions)]
    reduced.validate();
    Ok(reduced)
}

/// The graph of one process, being specialised.
///
/// What is met and not yet written stands in a queue: a step may be a chain of as many
/// blocks as the program has, so nothing here recurs.
struct Specialisation<'a> {
    graph: &'a Graph,
    slots: &'a [Slot],
    stability: Stability,
    /// Whether pauses branch on what only the process itself can change.
    own_facts: bool,
    relevant: &'a [Conditions],
    /// `None` while a block stands in the queue.
    blocks: Vec<Option<Block>>,
    locations: Vec<Standing>,
    /// Specialised blocks, by block and facts.
    walked: FxHashMap<(BlockId, Knowledge), BlockId>,
    /// Specialised locations, by location and facts.
    places: FxHashMap<(Location, Knowledge), Location>,
    open: VecDeque<Open>,
}

/// What is still to be written.
enum Open {
    /// A block under facts.
    Block(BlockId, Knowledge, BlockId),
    /// The rest of a step that pauses at a location, all own facts up to here known.
    Settled(Location, Knowledge, BlockId),
    /// A location under facts.
    Place(Location, Knowledge, Location),
}

impl<'a> Specialisation<'a> {
    fn new(
        instance: &'a Instance,
        process: Process,
        relevant: &'a [Conditions],
        own_facts: bool,
        deadline: Deadline<'_>,
    ) -> Self {
        let graph = &instance.graphs[process.index()];
        Self {
            graph,
            slots: &instance.slots,
            stability: Stability::new(instance, process, deadline),
            own_facts,
            relevant,
            blocks: Vec::new(),
            locations: Vec::new(),
            walked: FxHashMap::default(),
            places: FxHashMap::default(),
            open: VecDeque::new(),
        }
    }

    /// The specialised graph; none if it has too many locations or blocks.
    ///
    /// It ends: blocks and locations are distinguished by facts over the finitely many atoms
    /// of `relevant`, and a pause is settled at most once per own atom (see `settle`).
    fn run(mut self, deadline: Deadline<'_>) -> Result<Option<Graph>, Stopped> {
        let nothing = Knowledge::default();
        self.place(Location::IDLE, nothing.clone());
        let invocations = Invocations {
            update: self.walk(self.graph.invocations.update, &nothing),
            scan: self.walk(self.graph.invocations.scan, &nothing),
        };
        while let Some(open) = self.open.pop_front() {
            if self.locations.len() > MOST_LOCATIONS || self.blocks.len() > MOST_BLOCKS {
                return Ok(None);
            }
            deadline.check()?;
            match open {
                Open::Block(id, known, at) => {
                    let block = self.specialised(id, known);
                    self.blocks[at.index()] = Some(block);
                }
                Open::Settled(location, known, at) => {
                    let end = self.settle(location, known);
                    self.blocks[at.index()] =
                        Some(Block { accesses: 0, assignments: Vec::new(), end });
                }
                Open::Place(location, known, at) => {
                    let Some(step) = self.graph.locations[location.index()].step else { continue };
                    let walked = self.walk(step, &known);
                    self.locations[at.index()].step = Some(walked);
                    self.locations[at.index()].reactions = self.reactions(location, &known);
                }
            }
        }
        // The queue is empty: all blocks are written.
        let blocks: Option<Vec<Block>> = self.blocks.into_iter().collect();
        let (locations, argument) = (self.locations, self.graph.argument);
        Ok(blocks.map(|blocks| Graph { blocks, locations, invocations, argument }.trimmed()))
    }

    /// The location that holds these facts.
    fn place(&mut self, location: Location, knowledge: Knowledge) -> Location {
        if let Some(&place) = self.places.get(&(location, knowledge.clone())) {
            return place;
        }
        let place = Location(self.locations.len() as u32);
        let standing = self.graph.locations[location.index()].clone();
        self.locations.push(Standing { step: None, reactions: Vec::new(), ..standing });
        self.places.insert((location, knowledge.clone()), place);
        self.open.push_back(Open::Place(location, knowledge, place));
        place
    }

    /// A block that will be written.
    fn reserve(&mut self) -> BlockId {
        self.blocks.push(None);
        BlockId(self.blocks.len() as u32 - 1)
    }

    /// The block under those of these facts that bear on what follows it.
    fn walk(&mut self, id: BlockId, knowledge: &Knowledge) -> BlockId {
        let mut known = Knowledge::default();
        for condition in &self.relevant[id.index()] {
            knowledge.support(condition, &mut known);
        }
        if let Some(&walked) = self.walked.get(&(id, known.clone())) {
            return walked;
        }
        let walked = self.reserve();
        self.walked.insert((id, known.clone()), walked);
        self.open.push_back(Open::Block(id, known, walked));
        walked
    }

    fn specialised(&mut self, id: BlockId, mut known: Knowledge) -> Block {
        let block = self.graph.block(id);
        let mut assignments = Vec::with_capacity(block.assignments.len());
        for assignment in &block.assignments {
            assignments.push(folded(assignment, &known, self.slots));
            known = known.after(assignment, self.slots);
        }
        let end = match &block.end {
            End::Jump(next) => End::Jump(self.walk(*next, &known)),
            End::Branch { condition, then, otherwise } => {
                let condition = known.fold(condition, self.slots);
                match condition.constant() {
                    Some(bit) => {
                        End::Jump(self.walk(if bit == 1 { *then } else { *otherwise }, &known))
                    }
                    None => {
                        let [if_true, if_false] = [true, false].map(|truth| {
                            let mut known = known.clone();
                            known.conclude(&condition, truth);
                            known
                        });
                        let then = self.walk(*then, &if_true);
                        let otherwise = self.walk(*otherwise, &if_false);
                        End::Branch { condition, then, otherwise }
                    }
                }
            }
            End::Pause(location) => self.settle(*location, known),
            End::Respond(_) | End::Fault { .. } => {
                block.end.map(&mut |term| known.fold(term, self.slots))
            }
        };
        Block { accesses: block.accesses, assignments, end }
    }

    /// How a step ends that pauses at the location with this knowledge: there, or with a
    /// branch on something open that the process can find out by itself, after which it
    /// is settled with the outcome.
    ///
    /// The outcome is kept together with all that was known, and own facts are stable: so
    /// each time one more of the own atoms of the location is known, and none is open in
    /// the end. Only what bears on the location goes into it.
    fn settle(&mut self, location: Location, mut knowledge: Knowledge) -> End {
        knowledge.retain(|atom, truth| self.stability.keeps(atom, truth));
        let mut own_atom = None;
        for condition in self.conditions(location) {
            knowledge.open_atoms(condition, &mut |atom| {
                if self.own_facts && own_atom.is_none() && self.stability.is_own(atom) {
                    own_atom = Some(atom.clone());
                }
            });
        }
        let Some(atom) = own_atom else {
            let mut known = Knowledge::default();
            for condition in self.conditions(location) {
                knowledge.support(condition, &mut known);
            }
            return End::Pause(self.place(location, known));
        };
        let [then, otherwise] = [true, false].map(|truth| {
            let mut knowledge = knowledge.clone();
            knowledge.learn(atom.clone(), truth);
            self.settled(location, knowledge)
        });
        End::Branch { condition: atom, then, otherwise }
    }

    /// A block that only settles.
    fn settled(&mut self, location: Location, knowledge: Knowledge) -> BlockId {
        let block = self.reserve();
        self.open.push_back(Open::Settled(location, knowledge, block));
        block
    }

    /// What the process will learn while it stands there.
    fn reactions(&mut self, location: Location, knowledge: &Knowledge) -> Vec<Reaction> {
        let mut atoms = BTreeSet::new();
        for condition in self.conditions(location) {
            knowledge.open_atoms(condition, &mut |atom| {
                atoms.insert(atom.clone());
            });
        }
        let mut reactions = Vec::new();
        for atom in atoms {
            if self.stability.is_own(&atom) {
                continue;
            }
            for truth in [false, true] {
                if self.stability.keeps(&atom, truth) {
                    let mut known = knowledge.clone();
                    known.learn(atom.clone(), truth);
                    let then = self.settled(location, known);
                    let when = if truth { atom.clone() } else { atom.clone().not() };
                    reactions.push(Reaction { when, then });
                }
            }
        }
        reactions
    }

    fn conditions(&self, location: Location) -> impl Iterator<Item = &'a Term> + use<'a> {
        let step = self.graph.locations[location.index()].step;
        let relevant = self.relevant;
        let conditions = step.into_iter().flat_map(|step| &relevant[step.index()]);
        conditions.map(Rc::as_ref)
    }
}

fn folded(assignment: &Assignment, known: &Knowledge, slots: &[Slot]) -> Assignment {
    let target = match &assignment.target {
        Target::Slot(slot) => Target::Slot(*slot),
        Target::Element { index, of } => match known.fold(index, slots) {
            Term::Constant(at) | Term::Process(at) => Target::Slot(of[at as usize]),
            index => Target::Element { index, of: of.clone() },
        },
    };
    let value = match &assignment.value {
        successor @ Term::Successor(_) => successor.clone(),
        value => known.fold(value, slots),
    };
    Assignment { target, value }
}
