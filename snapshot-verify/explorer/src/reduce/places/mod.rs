//! Where processes stand, and what they do to cells on their way from place to place.
//!
//! A process may choose cells at run time, by variables of its own: its **handle**. What
//! it will do to which cells is told by its **place**: its location with the scalars of
//! its handle, of counters the remainders. Each process is looked at by itself: whatever
//! it reads may be anything that the cell may hold.

mod handle;
mod index;

pub(super) use handle::{Handles, Part, scalars_of};
pub(super) use index::Index;

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;

use handle::Kind;

use crate::instance::fold::{Knowledge, folded};
use crate::instance::scalars::{Scalars, remainder};
use crate::instance::{
    Assignment, BlockId, Domain, End, Instance, Location, NONE, Operator, Owner, Scalar, SlotId,
    Target, Term,
};

/// With more places than this, a process is not looked at: it would take too long.
const MOST_PLACES: usize = 1 << 16;

/// Where a process stands, and by which handle it would choose cells.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) struct Place {
    pub(super) location: Location,
    /// A code per part.
    pub(super) handle: Vec<usize>,
}

/// What a step does to cells, in the order in which it is done.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) enum Event {
    /// It may read this one.
    Read(SlotId),
    /// It writes this one, whatever else.
    Write(SlotId),
    /// It may write this one, or another.
    MayWrite(SlotId),
    /// It finds this in a gate.
    Find(SlotId, Scalar),
    /// It may write one of these to a gate.
    Lead(SlotId, Vec<Scalar>),
}

/// One way to take a step.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) struct Path {
    /// The place where it begins, by number.
    pub(super) from: usize,
    pub(super) events: Vec<Event>,
    /// The place where it ends, by number; none after a fault.
    pub(super) to: Option<usize>,
}

/// The places of one process, and how it gets from one to the other.
#[derive(Debug, Default)]
pub(super) struct Graph {
    /// The first is where the process is idle at first.
    pub(super) places: Vec<Place>,
    pub(super) paths: Vec<Path>,
    /// By place, the paths that end there.
    arriving: Vec<Vec<usize>>,
    /// The paths that have events of a slot.
    touching: FxHashMap<SlotId, Vec<usize>>,
}

impl Event {
    /// The cell or gate.
    const fn slot(&self) -> SlotId {
        match self {
            Self::Read(slot)
            | Self::Write(slot)
            | Self::MayWrite(slot)
            | Self::Find(slot, _)
            | Self::Lead(slot, _) => *slot,
        }
    }
}

impl Graph {
    /// Of one process, with what it does to gates and cells; none if it has too many
    /// places. O(places * ways to take a step).
    pub(super) fn of(
        instance: &Instance,
        process: usize,
        handles: &Handles,
        is_cell: &dyn Fn(SlotId) -> bool,
    ) -> Option<Self> {
        let parts = &handles.parts[process];
        let walker = Walker { instance, process, parts, gates: &handles.gates, is_cell };
        let begin = parts.iter().map(|part| walker.idle(part)).collect();
        let begin = Place { location: Location::IDLE, handle: begin };
        let mut numbers = BTreeMap::from([(begin.clone(), 0)]);
        let mut graph = Self { places: vec![begin], ..Self::default() };
        for from in 0.. {
            let Some(place) = graph.places.get(from).cloned() else { break };
            let mut found = BTreeSet::new();
            for block in walker.begun(place.location) {
                let way = Way { walker: &walker, handle: place.handle.clone(), events: vec![] };
                walker.walk((block, 0), way, &mut |events, to| {
                    let to = to.map(|to| {
                        *numbers.entry(to).or_insert_with_key(|to| {
                            graph.places.push(to.clone());
                            graph.places.len() - 1
                        })
                    });
                    found.insert(Path { from, events, to });
                });
            }
            if graph.places.len() > MOST_PLACES {
                return None;
            }
            graph.paths.extend(found);
        }
        graph.arriving = vec![Vec::new(); graph.places.len()];
        for (number, path) in graph.paths.iter().enumerate() {
            path.to.into_iter().for_each(|to| graph.arriving[to].push(number));
            let slots: BTreeSet<SlotId> = path.events.iter().map(Event::slot).collect();
            for slot in slots {
                graph.touching.entry(slot).or_default().push(number);
            }
        }
        Some(graph)
    }

    /// The paths that end in a place, by number.
    pub(super) fn arriving(&self, place: usize) -> &[usize] {
        &self.arriving[place]
    }

    /// The paths with events of a cell or gate, by number.
    pub(super) fn touching(&self, slot: SlotId) -> &[usize] {
        self.touching.get(&slot).map_or(&[], Vec::as_slice)
    }
}

/// What is known while steps are walked.
struct Walker<'a> {
    instance: &'a Instance,
    process: usize,
    parts: &'a [Part],
    gates: &'a BTreeSet<SlotId>,
    /// Of which slots reads and writes are noted.
    is_cell: &'a dyn Fn(SlotId) -> bool,
}

/// What is known on one way: the handle, as codes, and what was done.
#[derive(Clone)]
struct Way<'a> {
    walker: &'a Walker<'a>,
    handle: Vec<usize>,
    events: Vec<Event>,
}

impl Way<'_> {
    fn part(&self, slot: SlotId) -> Option<(&Part, usize)> {
        let at = self.walker.parts.iter().position(|part| part.slot == slot)?;
        Some((&self.walker.parts[at], self.handle[at]))
    }

    fn note(&mut self, event: Event) {
        if !self.events.contains(&event) {
            self.events.push(event);
        }
    }

    /// Notes what a term reads.
    fn reads(&mut self, term: &Term) {
        let mut slots = Vec::new();
        term.slots(&mut |slot| slots.push(slot));
        for slot in slots {
            if (self.walker.is_cell)(slot) {
                self.note(Event::Read(slot));
            }
        }
    }

    /// The term with known remainders in place, folded by what is known.
    fn folded(&self, term: &Term) -> (Term, Scalars) {
        folded(&self.divided(term), self)
    }

    fn divided(&self, term: &Term) -> Term {
        match term {
            Term::Apply(Operator::Remainder, arguments) => {
                if let [Term::Slot(slot), by] = arguments.as_slice()
                    && let Some((part, code)) = self.part(*slot)
                    && let Kind::Remainders(modulus) = part.kind
                    && let (number, Some(by)) = (part.scalar(code), by.constant())
                    && number != NONE
                    && by > 0
                    && modulus % by == 0
                {
                    return Term::Constant(remainder(number, by));
                }
                term.clone()
            }
            _ => term.with_parts(&mut |part| self.divided(part)),
        }
    }

    /// The codes that a part may get, and, where that is told by what a gate holds, that.
    fn codes(&self, part: &Part, value: &Term, scalars: &Scalars) -> Vec<(usize, Option<Event>)> {
        if let Kind::Remainders(modulus) = part.kind {
            let of = |slot: &SlotId| self.part(*slot).map(|(of, code)| of.scalar(code));
            let known = match value {
                Term::Constant(number) => Some(*number),
                Term::Slot(slot) => of(slot),
                Term::Successor(slot) => {
                    of(slot).filter(|&number| number != NONE).map(|number| (number + 1) % modulus)
                }
                _ => None,
            };
            let may_be_none = match value {
                Term::Slot(slot) => self.domain(*slot).contains(NONE),
                Term::Successor(_) => false,
                _ => true,
            };
            let may = |code: &usize| may_be_none || part.scalar(*code) != NONE;
            return match known.and_then(|number| part.code(number)) {
                Some(code) => vec![(code, None)],
                None => (0..part.codes()).filter(may).map(|code| (code, None)).collect(),
            };
        }
        let gate = match value {
            Term::Slot(slot) if self.walker.gates.contains(slot) => Some(*slot),
            _ => None,
        };
        let may = |code: &usize| scalars.contains(part.scalar(*code));
        let codes = (0..part.codes()).filter(may);
        codes.map(|code| (code, gate.map(|gate| Event::Find(gate, part.scalar(code))))).collect()
    }
}

impl Knowledge for Way<'_> {
    fn scalars(&self, slot: SlotId) -> Scalars {
        match self.part(slot) {
            Some((part, code)) => match (part.kind, part.scalar(code)) {
                // Counters with one remainder are many.
                (Kind::Remainders(_), remainder) if remainder != NONE => Scalars::Any,
                (_, scalar) => Scalars::one(scalar),
            },
            None => Scalars::of_domain(self.domain(slot)),
        }
    }

    fn domain(&self, slot: SlotId) -> Domain {
        self.walker.instance.slot(slot).domain
    }
}

impl Walker<'_> {
    /// What a part holds at first, and, if it belongs to operations, whenever there is
    /// none.
    fn idle(&self, part: &Part) -> usize {
        let slot = self.instance.slot(part.slot);
        let scalar = slot.meaningless().unwrap_or(slot.initial);
        part.code(scalar).unwrap_or(0)
    }

    /// Where steps from a location begin.
    fn begun(&self, location: Location) -> Vec<BlockId> {
        let graph = &self.instance.graphs[self.process];
        let invocations = [graph.invocations.update, graph.invocations.scan];
        let idle = location == Location::IDLE;
        let begun = graph.standing(location).begun();
        begun.chain(invocations.into_iter().filter(|_| idle)).collect()
    }

    /// Walks from an assignment of a block to where the step ends.
    fn walk(
        &self,
        (block, from): (BlockId, usize),
        mut way: Way<'_>,
        end: &mut impl FnMut(Vec<Event>, Option<Place>),
    ) {
        let content = self.instance.graphs[self.process].block(block);
        for (at, assignment) in content.assignments.iter().enumerate().skip(from) {
            let Assignment { target, value } = assignment;
            let (value, scalars) = way.folded(value);
            way.reads(&value);
            let targets = self.targets(target, &mut way);
            for gate in targets.iter().filter(|slot| self.gates.contains(slot)) {
                let all = scalars_of(self.instance, *gate).into_iter();
                let written = all.filter(|scalar| scalars.contains(*scalar)).collect();
                way.note(Event::Lead(*gate, written));
            }
            for &cell in targets.iter().filter(|slot| (self.is_cell)(**slot)) {
                let is_only = targets.len() == 1;
                way.note(if is_only { Event::Write(cell) } else { Event::MayWrite(cell) });
            }
            let part = self.parts.iter().position(|part| targets.contains(&part.slot));
            let Some(part) = part else { continue };
            debug_assert_eq!(targets.len(), 1, "what is chosen at run time is no part");
            for (code, event) in way.codes(&self.parts[part], &value, &scalars) {
                let mut way = way.clone();
                way.handle[part] = code;
                event.into_iter().for_each(|event| way.note(event));
                self.walk((block, at + 1), way, end);
            }
            return;
        }
        for term in content.end.terms() {
            let (term, _) = way.folded(term);
            way.reads(&term);
        }
        match &content.end {
            End::Jump(next) => self.walk((*next, 0), way, end),
            End::Branch { condition, then, otherwise } => {
                let (_, holds) = way.folded(condition);
                for (bit, next) in [(1, then), (0, otherwise)] {
                    if holds.contains(bit) {
                        self.walk((*next, 0), way.clone(), end);
                    }
                }
            }
            End::Pause(location) => {
                let place = Place { location: *location, handle: way.handle };
                end(way.events, Some(place));
            }
            End::Respond(_) => {
                for (code, part) in way.handle.iter_mut().zip(self.parts) {
                    if matches!(self.instance.slot(part.slot).owner, Owner::Operation(_)) {
                        *code = self.idle(part);
                    }
                }
                end(way.events, Some(Place { location: Location::IDLE, handle: way.handle }));
            }
            End::Fault { .. } => end(way.events, None),
        }
    }

    /// The slots that an assignment may go to; notes what its index reads.
    fn targets(&self, target: &Target, way: &mut Way<'_>) -> Vec<SlotId> {
        match target {
            Target::Slot(slot) => vec![*slot],
            Target::Element { index, of } => {
                let (index, indices) = way.folded(index);
                way.reads(&index);
                let may = |(at, _): &(usize, &SlotId)| indices.contains(*at as Scalar);
                of.iter().enumerate().filter(may).map(|(_, slot)| *slot).collect()
            }
        }
    }
}
