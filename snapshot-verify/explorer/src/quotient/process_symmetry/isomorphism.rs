//! Isomorphisms: whether one instance is another with its processes renamed.
//!
//! Given a permutation of the processes, the graphs of each process and of its image are walked
//! side by side from their invocations. They must be the same code, except that a process named by
//! a constant becomes its image, and an array indexed by a process is permuted. The images of slots
//! and locations are found during the walk. They must be bijections that keep domains and (renamed)
//! owners. Then the renaming of states maps executions to executions, and back.
//!
//! This relies on names being a scalarset, see [`crate::instance::Kind`]. Names occur as
//! [`Term::Process`], in slots of names, and as indices; all of these are renamed, and numbers are
//! not. A conversion between the two ([`Operator::NumberOf`], [`Operator::NameOf`]) is respected
//! only by the identity, so a remaining conversion excludes other isomorphisms. That everything
//! else keeps to kinds is checked first ([`Instance::kinds`]), in every build: a pass that violates
//! kinds costs a reduction, and never a verdict.
//!
//! The number of accesses of the text in a block is ignored: removed steps leave different numbers
//! in interchangeable processes.
//!
//! The walk compares code literally, except for the order of consecutive assignments of constants
//! (an SC breaks links in the order of processes). Other reordered code is not recognised: that
//! loses a reduction, not correctness.

use std::collections::BTreeSet;

use snapshot_core::Process;

use crate::deadline::{Deadline, Stopped};
use crate::instance::{
    Assignment, BlockId, Domain, End, Graph, Instance, Location, Operator, Owner, Response, Scalar,
    Slot, SlotId, Target, Term,
};

/// A renaming that maps one instance to another.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Isomorphism {
    pub processes: Vec<usize>,
    pub slots: Vec<SlotId>,
    /// Per process, the image of each of its locations, in the graph of the process's image.
    pub locations: Vec<Vec<Location>>,
}

/// Returns the isomorphism that renames processes in this way, if there is one. The observed pair
/// of `from` is mapped to the pair of `to`, in this order or swapped; the initial state is mapped
/// to the initial state.
pub fn isomorphism(
    from: &Instance,
    to: &Instance,
    processes: &[usize],
    deadline: Deadline<'_>,
) -> Result<Option<Isomorphism>, Stopped> {
    let Some(found) = bisimilarity(from, to, processes, deadline)? else { return Ok(None) };
    let initial = |(slot, image): (&Slot, &SlotId)| {
        found.scalar(slot.domain, slot.initial) == to.slot(*image).initial
    };
    Ok(from.slots.iter().zip(&found.slots).all(initial).then_some(found))
}

/// Returns the isomorphism like [`isomorphism`], except that the initial states may differ.
pub fn bisimilarity(
    from: &Instance,
    to: &Instance,
    processes: &[usize],
    deadline: Deadline<'_>,
) -> Result<Option<Isomorphism>, Stopped> {
    if from.slots.len() != to.slots.len() || from.processes != to.processes {
        return Ok(None);
    }
    deadline.check()?;
    if from.kinds().is_err() || to.kinds().is_err() {
        debug_assert!(false, "instances keep to kinds: {:?} {:?}", from.kinds(), to.kinds());
        return Ok(None);
    }
    // The domain of a slot of names must be closed under the renaming.
    let is_closed = |slot: &Slot| {
        let held = |process: usize| slot.domain.contains(process as Scalar);
        let mut images = processes.iter().enumerate();
        !slot.domain.names_processes() || images.all(|(name, &image)| held(name) == held(image))
    };
    if !from.slots.iter().all(is_closed) {
        return Ok(None);
    }
    let mut walk = Walk {
        from,
        to,
        processes,
        slots: vec![None; from.slots.len()],
        taken: vec![false; to.slots.len()],
        deferred: Vec::new(),
        swapped: processes[from.pair[0].index()] != to.pair[0].index(),
    };
    let mut locations = Vec::with_capacity(from.processes);
    for (process, &image) in processes.iter().enumerate() {
        deadline.check()?;
        match walk.graphs(&from.graphs[process], &to.graphs[image]) {
            Some(found) => locations.push(found),
            None => return Ok(None),
        }
    }
    deadline.check()?;
    let slots = walk.deferred().and_then(|()| walk.leftovers()).and_then(|()| {
        let slots = walk.slots.into_iter();
        slots.collect::<Option<Vec<SlotId>>>()
    });
    let processes = processes.to_vec();
    Ok(slots.map(|slots| Isomorphism { processes, slots, locations }))
}

impl Isomorphism {
    /// Renames a scalar of a domain.
    pub fn scalar(&self, domain: Domain, scalar: Scalar) -> Scalar {
        renamed(&self.processes, domain, scalar)
    }
}

fn renamed(processes: &[usize], domain: Domain, scalar: Scalar) -> Scalar {
    match usize::try_from(scalar) {
        Ok(process) if domain.names_processes() && process < processes.len() => {
            processes[process] as Scalar
        }
        _ => scalar,
    }
}

/// Consecutive assignments of constants to slots.
type Run = Vec<(SlotId, Scalar)>;

struct Walk<'a> {
    from: &'a Instance,
    to: &'a Instance,
    processes: &'a [usize],
    slots: Vec<Option<SlotId>>,
    taken: Vec<bool>,
    /// Whether i becomes j.
    swapped: bool,
    /// Runs of constants, to be matched once other images are known.
    deferred: Vec<(Run, Run)>,
}

impl Walk<'_> {
    /// Matches two graphs, and returns the images of the locations.
    fn graphs(&mut self, from: &Graph, to: &Graph) -> Option<Vec<Location>> {
        let same_size =
            from.blocks.len() == to.blocks.len() && from.locations.len() == to.locations.len();
        if !same_size {
            return None;
        }
        match (from.argument, to.argument) {
            (None, None) => {}
            (Some(from), Some(to)) => self.slot(from, to)?,
            _ => return None,
        }
        let mut locations: Vec<Option<Location>> = vec![None; from.locations.len()];
        let mut taken: BTreeSet<Location> = [Location::IDLE].into();
        locations[Location::IDLE.index()] = Some(Location::IDLE);
        let mut seen: BTreeSet<(BlockId, BlockId)> = BTreeSet::new();
        let mut open = vec![
            (from.invocations.update, to.invocations.update),
            (from.invocations.scan, to.invocations.scan),
        ];
        while let Some(pair) = open.pop() {
            if !seen.insert(pair) {
                continue;
            }
            let (block, image) = (from.block(pair.0), to.block(pair.1));
            self.assignments(&block.assignments, &image.assignments)?;
            match (&block.end, &image.end) {
                (End::Jump(next), End::Jump(next_image)) => open.push((*next, *next_image)),
                (
                    End::Branch { condition, then, otherwise },
                    End::Branch { condition: c, then: t, otherwise: o },
                ) => {
                    self.term(condition, c)?;
                    open.push((*then, *t));
                    open.push((*otherwise, *o));
                }
                (End::Respond(response), End::Respond(image)) => self.response(response, image)?,
                (End::Fault { what, .. }, End::Fault { what: w, .. }) if what == w => {}
                (End::Pause(at), End::Pause(at_image)) => match locations[at.index()] {
                    Some(known) if known == *at_image => {}
                    Some(_) => return None,
                    None => {
                        if !taken.insert(*at_image) {
                            return None;
                        }
                        locations[at.index()] = Some(*at_image);
                        let standing = &from.locations[at.index()];
                        let image = &to.locations[at_image.index()];
                        let same = standing.updating == image.updating
                            && standing.reactions.len() == image.reactions.len();
                        if !same {
                            return None;
                        }
                        open.push((standing.step?, image.step?));
                        for (reaction, image) in standing.reactions.iter().zip(&image.reactions) {
                            self.term(&reaction.when, &image.when)?;
                            open.push((reaction.then, image.then));
                        }
                    }
                },
                _ => return None,
            }
        }
        locations.into_iter().collect()
    }

    fn response(&mut self, from: &Response, to: &Response) -> Option<()> {
        match (from, to) {
            (Response::Update { value }, Response::Update { value: image }) => {
                self.term(value, image)
            }
            (Response::Scan { at, foreign }, Response::Scan { at: image, foreign: f }) => {
                let (i, j) = if self.swapped { (1, 0) } else { (0, 1) };
                self.term(&at[0], &image[i])?;
                self.term(&at[1], &image[j])?;
                self.term(foreign, f)
            }
            _ => None,
        }
    }

    fn assignments(&mut self, from: &[Assignment], to: &[Assignment]) -> Option<()> {
        if from.len() != to.len() {
            return None;
        }
        let mut at = 0;
        while at < from.len() {
            let (run, length) = constants_first(&from[at..]);
            let (image, same) = constants_first(&to[at..]);
            if run.len() != image.len() || length != same {
                return None;
            }
            if run.is_empty() {
                self.assignment(&from[at], &to[at])?;
                at += 1;
            } else {
                at += length;
                self.deferred.push((run, image));
            }
        }
        Some(())
    }

    /// Matches runs of constants, now that most images are known.
    fn deferred(&mut self) -> Option<()> {
        for (run, mut image) in std::mem::take(&mut self.deferred) {
            let mut unknown = Vec::new();
            for (slot, constant) in run {
                let Some(known) = self.slots[slot.index()] else {
                    unknown.push((slot, constant));
                    continue;
                };
                let at = image.iter().position(|&other| other == (known, constant))?;
                image.remove(at);
            }
            for (slot, constant) in unknown {
                let at = image
                    .iter()
                    .position(|&(other, same)| same == constant && self.may_become(slot, other))?;
                self.slot(slot, image.remove(at).0)?;
            }
        }
        Some(())
    }

    fn image(&self, owner: Owner) -> Owner {
        let image = |process: Process| Process::from_index(self.processes[process.index()]);
        match owner {
            Owner::Shared => Owner::Shared,
            Owner::Link(process) => Owner::Link(image(process)),
            Owner::Process(process) => Owner::Process(image(process)),
            Owner::Operation(process) => Owner::Operation(image(process)),
        }
    }

    fn assignment(&mut self, from: &Assignment, to: &Assignment) -> Option<()> {
        match (&from.target, &to.target) {
            (Target::Slot(slot), Target::Slot(image)) => self.slot(*slot, *image)?,
            (Target::Element { index, of }, Target::Element { index: i, of: o }) => {
                self.term(index, i)?;
                if of.len() != o.len() {
                    return None;
                }
                let permuted = self.names_processes(index);
                for (position, slot) in of.iter().enumerate() {
                    self.slot(*slot, *o.get(self.position(permuted, position))?)?;
                }
            }
            _ => return None,
        }
        self.term(&from.value, &to.value)
    }

    fn term(&mut self, from: &Term, to: &Term) -> Option<()> {
        match (from, to) {
            (Term::Constant(scalar), Term::Constant(image)) => (scalar == image).then_some(()),
            (Term::Process(scalar), Term::Process(image)) => {
                let expected = self.processes.get(usize::try_from(*scalar).ok()?)?;
                (*expected as Scalar == *image).then_some(())
            }
            (Term::Slot(slot), Term::Slot(image))
            | (Term::Successor(slot), Term::Successor(image)) => self.slot(*slot, *image),
            (Term::Fresh, Term::Fresh) => Some(()),
            (Term::Element { index, of }, Term::Element { index: i, of: o }) => {
                self.term(index, i)?;
                if of.len() != o.len() {
                    return None;
                }
                let permuted = self.names_processes(index);
                for (position, term) in of.iter().enumerate() {
                    self.term(term, o.get(self.position(permuted, position))?)?;
                }
                Some(())
            }
            (Term::Apply(operator, of), Term::Apply(image, o)) => {
                let converts = matches!(operator, Operator::NumberOf | Operator::NameOf);
                let respected = !converts || self.is_identity();
                if operator != image || of.len() != o.len() || !respected {
                    return None;
                }
                of.iter().zip(o).try_for_each(|(term, image)| self.term(term, image))
            }
            _ => None,
        }
    }

    fn position(&self, permuted: bool, position: usize) -> usize {
        match self.processes.get(position) {
            Some(&image) if permuted => image,
            _ => position,
        }
    }

    fn names_processes(&self, term: &Term) -> bool {
        term.names_processes(&|slot| self.from.slot(slot).domain)
    }

    /// Returns true if every process keeps its name.
    fn is_identity(&self) -> bool {
        self.processes.iter().enumerate().all(|(process, &image)| process == image)
    }

    fn slot(&mut self, slot: SlotId, image: SlotId) -> Option<()> {
        if let Some(known) = self.slots[slot.index()] {
            return (known == image).then_some(());
        }
        if !self.may_become(slot, image) {
            return None;
        }
        self.taken[image.index()] = true;
        self.slots[slot.index()] = Some(image);
        Some(())
    }

    fn may_become(&self, slot: SlotId, image: SlotId) -> bool {
        let (described, expected) = (self.from.slot(slot), self.to.slot(image));
        !self.taken[image.index()]
            && described.domain == expected.domain
            && self.image(described.owner) == expected.owner
    }

    /// Matches the slots that occur in no code.
    fn leftovers(&mut self) -> Option<()> {
        let mut free = 0;
        for slot in 0..self.slots.len() {
            if self.slots[slot].is_none() {
                free += self.taken[free..].iter().position(|taken| !taken)?;
                self.slot(SlotId(slot as u32), SlotId(free as u32))?;
            }
        }
        Some(())
    }
}

/// Returns the leading assignments of constants to slots, and their number. Their order is
/// irrelevant.
fn constants_first(assignments: &[Assignment]) -> (Run, usize) {
    let constants =
        assignments.iter().map_while(|assignment| match (&assignment.target, &assignment.value) {
            (Target::Slot(slot), Term::Constant(constant)) => Some((*slot, *constant)),
            _ => None,
        });
    let mut run = Run::new();
    let mut length = 0;
    for (slot, constant) in constants {
        length += 1;
        // The last assignment to a slot counts.
        run.retain(|&(other, _)| other != slot);
        run.push((slot, constant));
    }
    (run, length)
}
