//! `decided`: specialises processes to the known outcomes of their tests.
//!
//! Some facts, once true, stay true until the process itself acts
//! ([`crate::dataflow::stable_predicates`]): its link on a cell is broken, a version that it saved
//! is outdated, `active` no longer names it, two of its own slots differ. Such a fact may decide a
//! later SC or test. Slots that were read only for the other outcome are then dead.
//!
//! This reduction makes the facts visible to the others: it specialises the graph of a process to
//! them. A location is split into one location per combination of facts that matter to a later
//! test, and tests that the facts decide are resolved. At a location, the process holds the facts
//! of that location. When another fact becomes true, by a step of any process, a reaction takes the
//! process to the location that also holds it. So the process stays the same but has more
//! locations. Other passes use the result: [`crate::passes::dead_variable_reset`] resets dead
//! slots, step fusion skips steps without effect, and [`crate::passes::bisimulation`] merges
//! combinations that make no difference.
//!
//! **Sound**, since a run of the specialised process is a run of the original with each location
//! annotated by true facts. A fact is added only by a test that has just shown it (a branch, a
//! reaction), is carried over an assignment by the assignment's effect, and is kept over a pause
//! only if no other process can undo it. The observer sees the same.
//!
//! The facts that matter at a location are the conditions of later branches
//! ([`crate::dataflow::relevant_conditions`]).
//!
//! The outcome of an own atom, whose slots others do not write, is known immediately, and the pause
//! becomes a branch to two locations. The slots that the atom reads are then often dead, and many
//! bits shrink to one.

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

/// With more blocks than this, a process is specialised to fewer facts.
const MOST_BLOCKS: usize = 16_000;

/// Specialises every process to its facts.
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

/// The specialised graph of one process, under construction.
///
/// Blocks and locations still to be written are in a queue. A step may be a chain of as many blocks
/// as the program has, so nothing here is recursive.
struct Specialisation<'a> {
    graph: &'a Graph,
    slots: &'a [Slot],
    stability: Stability,
    /// Whether pauses branch on atoms that only the process itself can change.
    own_facts: bool,
    relevant: &'a [Conditions],
    /// `None` while the block is in the queue.
    blocks: Vec<Option<Block>>,
    locations: Vec<Standing>,
    /// Specialised blocks, by block and facts.
    walked: FxHashMap<(BlockId, Knowledge), BlockId>,
    /// Specialised locations, by location and facts.
    places: FxHashMap<(Location, Knowledge), Location>,
    open: VecDeque<Open>,
}

enum Open {
    Block(BlockId, Knowledge, BlockId),
    /// The rest of a step that pauses at a location, with the own facts found so far.
    Settled(Location, Knowledge, BlockId),
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

    /// Returns the specialised graph, or `None` if it has too many locations or blocks.
    ///
    /// Termination: blocks and locations are distinguished by facts over the finitely many atoms of
    /// `relevant`, and a pause is settled at most once per own atom (see `paused_at`).
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
                    let end = self.paused_at(location, known);
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

    /// Returns the location that holds these facts.
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

    /// Adds a block to be written later.
    fn reserve(&mut self) -> BlockId {
        self.blocks.push(None);
        BlockId(self.blocks.len() as u32 - 1)
    }

    /// Returns the block under the given facts, restricted to facts that matter for its successors.
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
            End::Pause(location) => self.paused_at(*location, known),
            End::Respond(_) | End::Fault { .. } => {
                block.end.map(&mut |term| known.fold(term, self.slots))
            }
        };
        Block { accesses: block.accesses, assignments, end }
    }

    /// Returns the end of a step that pauses at the location with these facts: the pause, or a
    /// branch on an open own atom. Both branches are settled with the outcome.
    ///
    /// The outcome is added to the facts, and own facts are stable. So each time one more own atom
    /// of the location is known, and in the end none is open. Only facts that matter at the
    /// location are kept.
    fn paused_at(&mut self, location: Location, mut knowledge: Knowledge) -> End {
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

    /// Returns a block that only settles a pause.
    fn settled(&mut self, location: Location, knowledge: Knowledge) -> BlockId {
        let block = self.reserve();
        self.open.push_back(Open::Settled(location, knowledge, block));
        block
    }

    /// Returns the reactions at a location, by which the process learns further facts.
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
