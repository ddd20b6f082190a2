//! Which of its slots a process may still read.
//!
//! A slot that only one process reads ([`Owner::reader`]) is *live* where that
//! process may read it before it assigns it again. Others may break its links
//! meanwhile, which is no read. Reading for an assignment to a dead slot is no
//! reading either.
//!
//! Arrays are read and assigned by indices that are known only at run time: a
//! process links to `B[q][me]`, and later stores there under the same q. So
//! besides single slots, *the element of these slots at that index* may be live:
//! it is until the same element is assigned, or the index changes (then all of
//! the slots are live before). A slot is dead if it is not live by itself nor
//! in a live array.
//!
//! A backward data flow over the blocks of a graph. A pause is followed by the
//! step of its location and by its reactions; the conditions of reactions are
//! not counted as reads, since a reaction whose condition reads a dead slot is
//! dispensable (see [`super::dead`]).

use std::cell::RefCell;

use fixedbitset::FixedBitSet;
use snapshot_core::Process;

use super::fact::mentions;
use crate::deadline::{Deadline, Stopped};
use crate::instance::{
    Assignment, BlockId, End, Graph, Instance, Location, Owner, SlotId, Target, Term,
};

/// The live slots of one process, by place. Only slots that it alone reads.
#[derive(Debug)]
pub struct Liveness {
    /// The slots that this process alone reads.
    own: FixedBitSet,
    /// The elements, at one index, of such slots.
    arrays: RefCell<Vec<Array>>,
    /// Per block, what is live where it begins.
    blocks: Vec<Live>,
    /// Per location, what is live while the process stands there.
    locations: Vec<Live>,
    /// The same, arrays told by their slots.
    standing_slots: Vec<FixedBitSet>,
}

/// One of some slots, by index.
#[derive(Clone, Debug, Eq, PartialEq)]
struct Array {
    index: Term,
    of: Vec<SlotId>,
}

/// What is live at some place.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Live {
    slots: FixedBitSet,
    /// By number of the array.
    arrays: FixedBitSet,
}

impl Live {
    fn include(&mut self, other: &Self) {
        self.slots.union_with(&other.slots);
        self.arrays.union_with(&other.arrays);
    }
}

impl Liveness {
    /// Of this process. O(blocks * slots) for graphs without long loops.
    ///
    /// # Errors
    /// If the deadline comes first.
    pub fn of(
        instance: &Instance,
        process: Process,
        deadline: Deadline<'_>,
    ) -> Result<Self, Stopped> {
        let graph = &instance.graphs[process.index()];
        let mut own = FixedBitSet::with_capacity(instance.slots.len());
        for (index, slot) in instance.slots.iter().enumerate() {
            own.set(index, slot.owner.reader() == Some(process));
        }
        let slots = FixedBitSet::with_capacity(instance.slots.len());
        let nothing = Live { slots, arrays: FixedBitSet::new() };
        let mut liveness = Self {
            own,
            arrays: RefCell::default(),
            blocks: vec![nothing.clone(); graph.blocks.len()],
            locations: vec![nothing; graph.locations.len()],
            standing_slots: Vec::new(),
        };
        let mut operation_slots = FixedBitSet::with_capacity(instance.slots.len());
        for (index, slot) in instance.slots.iter().enumerate() {
            operation_slots.set(index, slot.owner == Owner::Operation(process));
        }
        liveness.solve(graph, &operation_slots, deadline)?;
        liveness.standing_slots =
            liveness.locations.iter().map(|live| liveness.slots(live)).collect();
        Ok(liveness)
    }

    /// Goes back from what is read until nothing more becomes live.
    fn solve(
        &mut self,
        graph: &Graph,
        operation_slots: &FixedBitSet,
        deadline: Deadline<'_>,
    ) -> Result<(), Stopped> {
        let mut before: Vec<Vec<usize>> = vec![Vec::new(); graph.blocks.len()];
        let mut pausing: Vec<Vec<usize>> = vec![Vec::new(); graph.locations.len()];
        for (index, block) in graph.blocks.iter().enumerate() {
            block.end.blocks().for_each(|next| before[next.index()].push(index));
            match block.end {
                End::Pause(location) => pausing[location.index()].push(index),
                End::Respond(_) => pausing[Location::IDLE.index()].push(index),
                End::Jump(_) | End::Branch { .. } | End::Fault { .. } => {}
            }
        }
        let mut begun_at: Vec<Vec<usize>> = vec![Vec::new(); graph.blocks.len()];
        for (index, standing) in graph.locations.iter().enumerate() {
            for block in standing.begun() {
                begun_at[block.index()].push(index);
            }
        }
        for block in [graph.invocations.update, graph.invocations.scan] {
            begun_at[block.index()].push(Location::IDLE.index());
        }
        let mut open: Vec<usize> = (0..graph.blocks.len()).collect();
        let mut is_open = vec![true; graph.blocks.len()];
        let reopen = |blocks: &[usize], open: &mut Vec<usize>, is_open: &mut Vec<bool>| {
            for &block in blocks {
                if !std::mem::replace(&mut is_open[block], true) {
                    open.push(block);
                }
            }
        };
        while let Some(index) = open.pop() {
            deadline.check()?;
            is_open[index] = false;
            let live = self.transfer(graph, BlockId(index as u32));
            if live == self.blocks[index] {
                continue;
            }
            self.blocks[index] = live;
            reopen(&before[index], &mut open, &mut is_open);
            for &location in &begun_at[index] {
                let live = self.standing(graph, location, operation_slots);
                if live != self.locations[location] {
                    self.locations[location] = live;
                    reopen(&pausing[location], &mut open, &mut is_open);
                }
            }
        }
        Ok(())
    }

    /// What is live at a location, given what is where its blocks begin.
    fn standing(&self, graph: &Graph, index: usize, operation_slots: &FixedBitSet) -> Live {
        let standing = &graph.locations[index];
        let mut live = self.locations[index].clone();
        if index == Location::IDLE.index() {
            live.include(&self.blocks[graph.invocations.update.index()]);
            live.include(&self.blocks[graph.invocations.scan.index()]);
            self.expand(&mut live, |array| {
                let mut of_operation = array.of.iter().any(|s| operation_slots[s.index()]);
                array.index.slots(&mut |slot| of_operation |= operation_slots[slot.index()]);
                of_operation
            });
            live.slots.difference_with(operation_slots);
        }
        for block in standing.begun() {
            live.include(&self.blocks[block.index()]);
        }
        // Others may change an index that is not the process's own.
        self.expand(&mut live, |array| {
            let mut own = true;
            array.index.slots(&mut |slot| own &= self.own[slot.index()]);
            !own
        });
        live
    }

    fn transfer(&self, graph: &Graph, id: BlockId) -> Live {
        let block = graph.block(id);
        let mut live = self.after(&block.end);
        for assignment in block.assignments.iter().rev() {
            self.assign(&mut live, assignment);
        }
        // Nothing is ever forgotten: so rounds come to an end.
        let mut before = self.blocks[id.index()].clone();
        before.include(&live);
        before
    }

    /// What is live where a block ends, its decision included.
    pub fn after(&self, end: &End) -> Live {
        let mut live =
            Live { slots: FixedBitSet::with_capacity(self.own.len()), arrays: FixedBitSet::new() };
        match end {
            End::Jump(next) => live.include(&self.blocks[next.index()]),
            End::Branch { condition, then, otherwise } => {
                live.include(&self.blocks[then.index()]);
                live.include(&self.blocks[otherwise.index()]);
                self.read(&mut live, condition);
            }
            End::Pause(location) => live.include(&self.locations[location.index()]),
            End::Respond(response) => {
                live.include(&self.locations[Location::IDLE.index()]);
                response.terms(&mut |term| self.read(&mut live, term));
            }
            End::Fault { .. } => {}
        }
        live
    }

    /// Goes back over an assignment; whether anybody can notice the assignment.
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

    /// An index of live arrays is assigned: before, they are live at what it is
    /// assigned.
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

    /// The number of an array.
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

    /// Whether an assignment to the target can be noticed.
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

    /// The slots that the process alone reads.
    pub const fn own(&self) -> &FixedBitSet {
        &self.own
    }

    /// The slots that are live where the block begins.
    pub fn before(&self, block: BlockId) -> FixedBitSet {
        self.slots(&self.blocks[block.index()])
    }

    /// The slots that are live while the process stands there.
    pub fn at(&self, location: Location) -> &FixedBitSet {
        &self.standing_slots[location.index()]
    }

    fn slots(&self, live: &Live) -> FixedBitSet {
        let mut live = live.clone();
        self.expand(&mut live, |_| true);
        live.slots
    }

    /// Whether the process alone reads the slot, and will not any more.
    pub fn is_dead(&self, location: Location, slot: SlotId) -> bool {
        self.own[slot.index()] && !self.at(location)[slot.index()]
    }
}
