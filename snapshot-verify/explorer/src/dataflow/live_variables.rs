//! Live variables: the slots that a process may still read.
//!
//! A slot that only one process reads ([`Owner::reader`]) is *live* where that process may read it
//! before assigning it again. Other processes may break its links meanwhile, without reading them.
//! A read for an assignment to a dead slot does not count.
//!
//! Arrays are read and assigned by indices known only at run time: a process links to `B[q][me]`,
//! and later stores there under the same q. So besides single slots, *the element at an index* of
//! an array may be live: until the same element is assigned, or until the index changes (then all
//! slots of the array are live before). A slot is dead if neither the slot itself nor an array that
//! contains it is live.
//!
//! The analysis is a backward data flow over the blocks of a graph. A pause is followed by the step
//! of its location and by its reactions. The conditions of reactions do not count as reads, since a
//! reaction whose condition reads a dead slot is dispensable (see
//! [`crate::passes::dead_variable_reset`]).

use std::cell::RefCell;

use fixedbitset::FixedBitSet;
use snapshot_core::Process;

use crate::dataflow::predicates::mentions;
use crate::dataflow::{self, Backward, Facts, Lattice};
use crate::deadline::{Deadline, Stopped};
use crate::instance::{
    Assignment, Block, BlockId, End, Instance, Location, Owner, SlotId, Standing, Target, Term,
};

/// The live slots of one process at each point. Covers only slots that no other process reads.
#[derive(Debug)]
pub struct Liveness {
    /// The slots that only this process reads.
    own: FixedBitSet,
    /// Arrays of such slots.
    arrays: RefCell<Vec<Array>>,
    /// The slots of this process's operations.
    of_operation: FixedBitSet,
    facts: Facts<Live>,
    /// The live slots at locations; a live array counts as all of its slots.
    standing_slots: Vec<FixedBitSet>,
}

/// Slots of which one is selected by an index.
#[derive(Clone, Debug, Eq, PartialEq)]
struct Array {
    index: Term,
    of: Vec<SlotId>,
}

/// The live slots and arrays at a point.
#[derive(Debug, Default, Eq, PartialEq)]
pub struct Live {
    slots: FixedBitSet,
    /// By number of the array.
    arrays: FixedBitSet,
}

impl Clone for Live {
    fn clone(&self) -> Self {
        Self { slots: self.slots.clone(), arrays: self.arrays.clone() }
    }

    /// Reuses the allocation.
    fn clone_from(&mut self, from: &Self) {
        self.slots.clone_from(&from.slots);
        self.arrays.clone_from(&from.arrays);
    }
}

impl Lattice for Live {
    fn join(&mut self, other: &Self) -> bool {
        let slots = self.slots.join(&other.slots);
        self.arrays.join(&other.arrays) || slots
    }
}

impl Backward for Liveness {
    type Fact = Live;

    fn bottom(&self) -> Live {
        Live { slots: FixedBitSet::with_capacity(self.own.len()), arrays: FixedBitSet::new() }
    }

    fn block(&self, block: &Block, live: &mut Live) {
        self.decision(&block.end, live);
        for assignment in block.assignments.iter().rev() {
            self.assign(live, assignment);
        }
    }

    fn location(&self, at: Location, _: &Standing, live: &mut Live) {
        if at == Location::IDLE {
            let of_operation = |slot: SlotId| self.of_operation[slot.index()];
            self.expand(live, |array| {
                let mut any = array.of.iter().copied().any(of_operation);
                array.index.slots(&mut |slot| any |= of_operation(slot));
                any
            });
            live.slots.difference_with(&self.of_operation);
        }
        // Other processes may change an index that is not the process's own.
        self.expand(live, |array| {
            let mut own = true;
            array.index.slots(&mut |slot| own &= self.own[slot.index()]);
            !own
        });
    }
}

impl Liveness {
    /// Analyses one process. O(blocks * slots) for graphs without long loops.
    pub fn new(
        instance: &Instance,
        process: Process,
        deadline: Deadline<'_>,
    ) -> Result<Self, Stopped> {
        let slots_of = |holds: &dyn Fn(Owner) -> bool| {
            let slots = instance.slots.iter().enumerate();
            let mut set = FixedBitSet::with_capacity(instance.slots.len());
            set.extend(slots.filter(|(_, slot)| holds(slot.owner)).map(|(index, _)| index));
            set
        };
        let mut liveness = Self {
            own: slots_of(&|owner| owner.reader() == Some(process)),
            of_operation: slots_of(&|owner| owner == Owner::Operation(process)),
            arrays: RefCell::default(),
            facts: Facts { blocks: Vec::new(), locations: Vec::new() },
            standing_slots: Vec::new(),
        };
        let graph = &instance.graphs[process.index()];
        liveness.facts = dataflow::backward(graph, &liveness, deadline)?;
        let standing = liveness.facts.locations.iter();
        liveness.standing_slots = standing.map(|live| liveness.slots(live)).collect();
        Ok(liveness)
    }

    /// Returns the live slots at the end of a block, including the reads of its decision.
    pub fn after(&self, end: &End) -> Live {
        let mut live = dataflow::after(self, &self.facts, end);
        self.decision(end, &mut live);
        live
    }

    fn decision(&self, end: &End, live: &mut Live) {
        end.terms().into_iter().for_each(|term| self.read(live, term));
    }

    /// Goes back over an assignment. Returns true if the assignment has an effect.
    pub fn assign(&self, live: &mut Live, assignment: &Assignment) -> bool {
        if !self.matters(live, &assignment.target) {
            return false;
        }
        match &assignment.target {
            Target::Slot(slot) => {
                live.slots.set(slot.index(), false);
                self.index_changes(live, *slot, &assignment.value);
            }
            Target::Element { index, of } => {
                if self.all_own(of) {
                    let array = self.array(index, of);
                    live.arrays.grow(array + 1);
                    live.arrays.set(array, false);
                }
                for slot in of {
                    self.index_changes(live, *slot, &Term::Fresh);
                }
                self.read(live, index);
            }
        }
        self.read(live, &assignment.value);
        true
    }

    /// Goes back over an assignment of an index of live arrays: before it, the arrays are live at
    /// the assigned value.
    fn index_changes(&self, live: &mut Live, index: SlotId, value: &Term) {
        let affected: Vec<Array> = {
            let arrays = self.arrays.borrow();
            let indexed = |&at: &usize| mentions(&arrays[at].index, index);
            live.arrays.ones().filter(indexed).map(|at| arrays[at].clone()).collect()
        };
        for array in affected {
            let number = self.array(&array.index, &array.of);
            live.arrays.set(number, false);
            match value {
                Term::Slot(_) if array.index == Term::Slot(index) => {
                    let number = self.array(value, &array.of);
                    live.arrays.grow(number + 1);
                    live.arrays.insert(number);
                }
                _ => array.of.iter().for_each(|slot| live.slots.insert(slot.index())),
            }
        }
    }

    /// Replaces arrays by all of their slots.
    fn expand(&self, live: &mut Live, which: impl Fn(&Array) -> bool) {
        let arrays = self.arrays.borrow();
        for number in live.arrays.clone().ones().filter(|&number| which(&arrays[number])) {
            live.arrays.set(number, false);
            arrays[number].of.iter().for_each(|slot| live.slots.insert(slot.index()));
        }
    }

    /// Returns the number of an array, adding it if it is new.
    fn array(&self, index: &Term, of: &[SlotId]) -> usize {
        let mut arrays = self.arrays.borrow_mut();
        let known = arrays.iter().position(|array| array.index == *index && array.of == of);
        known.unwrap_or_else(|| {
            arrays.push(Array { index: index.clone(), of: of.to_vec() });
            arrays.len() - 1
        })
    }

    fn all_own(&self, slots: &[SlotId]) -> bool {
        slots.iter().all(|slot| self.own[slot.index()])
    }

    /// Returns true if an assignment to the target has an effect.
    pub fn matters(&self, live: &Live, target: &Target) -> bool {
        let arrays = self.arrays.borrow();
        let in_array =
            |slot: &SlotId| live.arrays.ones().any(|number| arrays[number].of.contains(slot));
        let matters =
            |slot: &SlotId| !self.own[slot.index()] || live.slots[slot.index()] || in_array(slot);
        match target {
            Target::Slot(slot) => matters(slot),
            Target::Element { of, .. } => of.iter().any(matters),
        }
    }

    fn read(&self, live: &mut Live, term: &Term) {
        match term {
            Term::Constant(_) | Term::Process(_) | Term::Fresh => {}
            Term::Slot(slot) | Term::Successor(slot) => {
                if self.own[slot.index()] {
                    live.slots.insert(slot.index());
                }
            }
            Term::Element { index, of } => {
                let slots: Option<Vec<SlotId>> = of
                    .iter()
                    .map(|term| match term {
                        Term::Slot(slot) => Some(*slot),
                        _ => None,
                    })
                    .collect();
                match slots {
                    Some(slots) if self.all_own(&slots) => {
                        let number = self.array(index, &slots);
                        live.arrays.grow(number + 1);
                        live.arrays.insert(number);
                    }
                    _ => of.iter().for_each(|term| self.read(live, term)),
                }
                self.read(live, index);
            }
            Term::Apply(_, arguments) => arguments.iter().for_each(|term| self.read(live, term)),
        }
    }

    /// Returns the slots that only this process reads.
    pub const fn own(&self) -> &FixedBitSet {
        &self.own
    }

    /// Returns the slots that are live at the start of a block.
    pub fn before(&self, block: BlockId) -> FixedBitSet {
        self.slots(&self.facts.blocks[block.index()])
    }

    /// Returns the slots that are live at a location.
    pub fn at(&self, location: Location) -> &FixedBitSet {
        &self.standing_slots[location.index()]
    }

    fn slots(&self, live: &Live) -> FixedBitSet {
        let mut live = live.clone();
        self.expand(&mut live, |_| true);
        live.slots
    }

    /// Returns true if only this process reads the slot, and will not read it before assigning it.
    pub fn is_dead(&self, location: Location, slot: SlotId) -> bool {
        self.own[slot.index()] && !self.at(location)[slot.index()]
    }
}
