//! Abstract locations of processes, and the accesses to cells on the paths between them.
//!
//! A process may select cells at run time, by variables of its own: its **selectors**. Its location
//! together with the scalars of its selectors (remainders, for counters) is its abstract location,
//! its **place**. The place determines the possible future accesses of the process. Each process is
//! analysed separately: it may read any scalar that a cell may hold.

mod index;
mod selector;

pub(crate) use index::Index;
pub(crate) use selector::{Encoding, Selector, Selectors, scalars_of};

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::{FxHashMap, FxHashSet};

use crate::deadline::{Deadline, Stopped};
use crate::instance::fold::{SlotValues, folded};
use crate::instance::scalars::{Scalars, remainder};
use crate::instance::{
    Assignment, BlockId, Domain, End, Instance, Location, NONE, Operator, Owner, Scalar, SlotId,
    Target, Term,
};
use crate::limits::Limit;

/// With more places than this, a process is not analysed: it would take too long.
const MOST_PLACES: usize = 1 << 16;

/// With more ways through blocks than this, of all steps from all places, a process is not
/// analysed.
const MOST_WAYS: usize = 1 << 21;

/// A location, with the scalars of the selectors.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) struct AbstractLocation {
    pub(crate) location: Location,
    /// A code per selector.
    pub(crate) codes: Vec<usize>,
}

/// The accesses of a step to cells, in order.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub(crate) enum Event {
    /// A possible read of this cell.
    Read(SlotId),
    /// A certain write of this cell.
    Write(SlotId),
    /// A possible write of this cell.
    MayWrite(SlotId),
    /// A read of this scalar from a pointer.
    Find(SlotId, Scalar),
    /// A possible write of one of these scalars to a pointer.
    Lead(SlotId, Vec<Scalar>),
}

/// One path through a step.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) struct Path {
    /// The number of the place where the path starts.
    pub(crate) from: usize,
    pub(crate) events: Vec<Event>,
    /// The number of the place where the path ends; `None` after a fault.
    pub(crate) to: Option<usize>,
}

/// The places of one process, and the paths between them.
#[derive(Debug, Default)]
pub(crate) struct AbstractGraph {
    /// The first is the initial idle place.
    pub(crate) places: Vec<AbstractLocation>,
    pub(crate) paths: Vec<Path>,
    /// By place, the paths that end there.
    arriving: Vec<Vec<usize>>,
    /// The paths that have events of a slot.
    touching: FxHashMap<SlotId, Vec<usize>>,
}

impl Event {
    /// Returns the cell or pointer.
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

impl AbstractGraph {
    /// Analyses one process, with its accesses to pointers and cells. Returns `None` if it has too
    /// many places, or ways through its steps.
    ///
    /// Ways that reach a block with the same codes and events are merged. So tests of other slots
    /// than selectors and cells do not multiply ways. O(places * different ways to take a step).
    pub(crate) fn new(
        instance: &Instance,
        process: usize,
        all: &Selectors,
        is_cell: &dyn Fn(SlotId) -> bool,
        deadline: Deadline<'_>,
    ) -> Result<Option<Self>, Stopped> {
        let selectors = &all.of[process];
        let walker = Walker { instance, process, selectors, pointers: &all.pointers, is_cell };
        let begin = selectors.iter().map(|selector| walker.idle(selector)).collect();
        let begin = AbstractLocation { location: Location::IDLE, codes: begin };
        let mut numbers = BTreeMap::from([(begin.clone(), 0)]);
        let mut graph = Self { places: vec![begin], ..Self::default() };
        let mut ways = 0;
        for from in 0.. {
            let Some(place) = graph.places.get(from).cloned() else { break };
            let mut found = BTreeSet::new();
            let begin = |block| Way { block, from: 0, codes: place.codes.clone(), events: vec![] };
            let mut open: Vec<Way> =
                walker.blocks_from(place.location).into_iter().map(begin).collect();
            let mut seen: FxHashSet<Way> = FxHashSet::default();
            while let Some(way) = open.pop() {
                if !seen.insert(way.clone()) {
                    continue;
                }
                deadline.check()?;
                ways += 1;
                if ways > MOST_WAYS {
                    Limit::Places.reach(deadline);
                    return Ok(None);
                }
                let here = Here { walker: &walker, way };
                here.walk(&mut open, &mut |events, to| {
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
                Limit::Places.reach(deadline);
                return Ok(None);
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
        Ok(Some(graph))
    }

    /// Returns the numbers of the paths that end in a place.
    pub(crate) fn arriving(&self, place: usize) -> &[usize] {
        &self.arriving[place]
    }

    /// Returns the numbers of the paths with events of a cell or pointer.
    pub(crate) fn touching(&self, slot: SlotId) -> &[usize] {
        self.touching.get(&slot).map_or(&[], Vec::as_slice)
    }
}

/// The context of a walk through steps.
struct Walker<'a> {
    instance: &'a Instance,
    process: usize,
    selectors: &'a [Selector],
    pointers: &'a BTreeSet<SlotId>,
    /// Returns true if reads and writes of the slot are recorded.
    is_cell: &'a dyn Fn(SlotId) -> bool,
}

/// A way through a step, up to an assignment of a block: the codes of the selectors, and the events
/// so far.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
struct Way {
    block: BlockId,
    /// The index of the assignment.
    from: usize,
    codes: Vec<usize>,
    events: Vec<Event>,
}

/// A way in its context.
struct Here<'a> {
    walker: &'a Walker<'a>,
    way: Way,
}

impl Here<'_> {
    fn selector(&self, slot: SlotId) -> Option<(&Selector, usize)> {
        let at = self.walker.selectors.iter().position(|selector| selector.slot == slot)?;
        Some((&self.walker.selectors[at], self.way.codes[at]))
    }

    fn note(&mut self, event: Event) {
        if !self.way.events.contains(&event) {
            self.way.events.push(event);
        }
    }

    /// Records the reads of a term.
    fn reads(&mut self, term: &Term) {
        let mut slots = Vec::new();
        term.slots(&mut |slot| slots.push(slot));
        for slot in slots {
            if (self.walker.is_cell)(slot) {
                self.note(Event::Read(slot));
            }
        }
    }

    /// Returns the term with known remainders substituted, folded by the known scalars.
    fn folded(&self, term: &Term) -> (Term, Scalars) {
        folded(&self.divided(term), self)
    }

    fn divided(&self, term: &Term) -> Term {
        match term {
            Term::Apply(Operator::Remainder, arguments) => {
                if let [Term::Slot(slot), by] = arguments.as_slice()
                    && let Some((selector, code)) = self.selector(*slot)
                    && let Encoding::Remainders(modulus) = selector.encoding
                    && let (number, Some(by)) = (selector.scalar(code), by.constant())
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

    /// Returns the codes that a selector may get; with each, the read from a pointer, if the
    /// selector is loaded from one.
    fn codes(
        &self,
        selector: &Selector,
        value: &Term,
        scalars: &Scalars,
    ) -> Vec<(usize, Option<Event>)> {
        if let Encoding::Remainders(modulus) = selector.encoding {
            let of = |slot: &SlotId| self.selector(*slot).map(|(of, code)| of.scalar(code));
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
            let may = |code: &usize| may_be_none || selector.scalar(*code) != NONE;
            return match known.and_then(|number| selector.code(number)) {
                Some(code) => vec![(code, None)],
                None => (0..selector.codes()).filter(may).map(|code| (code, None)).collect(),
            };
        }
        let pointer = match value {
            Term::Slot(slot) if self.walker.pointers.contains(slot) => Some(*slot),
            _ => None,
        };
        let may = |code: &usize| scalars.contains(selector.scalar(*code));
        let codes = (0..selector.codes()).filter(may);
        codes
            .map(|code| (code, pointer.map(|pointer| Event::Find(pointer, selector.scalar(code)))))
            .collect()
    }
}

impl SlotValues for Here<'_> {
    fn scalars(&self, slot: SlotId) -> Scalars {
        match self.selector(slot) {
            Some((selector, code)) => match (selector.encoding, selector.scalar(code)) {
                // Many counters have the same remainder.
                (Encoding::Remainders(_), remainder) if remainder != NONE => Scalars::Any,
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
    /// Returns the selector's initial code. A selector of operations also has it between
    /// operations.
    fn idle(&self, selector: &Selector) -> usize {
        let slot = self.instance.slot(selector.slot);
        let scalar = slot.meaningless().unwrap_or(slot.initial);
        selector.code(scalar).unwrap_or(0)
    }

    /// Returns the blocks at which steps from a location start.
    fn blocks_from(&self, location: Location) -> Vec<BlockId> {
        let graph = &self.instance.graphs[self.process];
        let invocations = [graph.invocations.update, graph.invocations.scan];
        let idle = location == Location::IDLE;
        let begun = graph.standing(location).beginnings();
        begun.chain(invocations.into_iter().filter(|_| idle)).collect()
    }
}

impl Here<'_> {
    /// Follows the way to a fork or to the end of the step; passes an end to `end`.
    fn walk(
        mut self,
        open: &mut Vec<Way>,
        end: &mut impl FnMut(Vec<Event>, Option<AbstractLocation>),
    ) {
        let Walker { instance, process, selectors, pointers, is_cell } = *self.walker;
        let content = instance.graphs[process].block(self.way.block);
        for (at, assignment) in content.assignments.iter().enumerate().skip(self.way.from) {
            let Assignment { target, value } = assignment;
            let (value, scalars) = self.folded(value);
            self.reads(&value);
            let targets = self.targets(target);
            for pointer in targets.iter().filter(|slot| pointers.contains(slot)) {
                let all = scalars_of(instance, *pointer).into_iter();
                let written = all.filter(|scalar| scalars.contains(*scalar)).collect();
                self.note(Event::Lead(*pointer, written));
            }
            for &cell in targets.iter().filter(|slot| is_cell(**slot)) {
                let is_only = targets.len() == 1;
                self.note(if is_only { Event::Write(cell) } else { Event::MayWrite(cell) });
            }
            let selector = selectors.iter().position(|selector| targets.contains(&selector.slot));
            let Some(selector) = selector else { continue };
            debug_assert_eq!(targets.len(), 1, "what is chosen at run time is no selector");
            for (code, event) in self.codes(&selectors[selector], &value, &scalars) {
                let mut way = Way { from: at + 1, ..self.way.clone() };
                way.codes[selector] = code;
                way.events.extend(event.filter(|event| !self.way.events.contains(event)));
                open.push(way);
            }
            return;
        }
        for term in content.end.terms() {
            let (term, _) = self.folded(term);
            self.reads(&term);
        }
        match &content.end {
            End::Jump(next) => open.push(Way { block: *next, from: 0, ..self.way }),
            End::Branch { condition, then, otherwise } => {
                let (_, holds) = self.folded(condition);
                for (bit, next) in [(1, then), (0, otherwise)] {
                    if holds.contains(bit) {
                        open.push(Way { block: *next, from: 0, ..self.way.clone() });
                    }
                }
            }
            End::Pause(location) => {
                let Way { codes, events, .. } = self.way;
                end(events, Some(AbstractLocation { location: *location, codes }));
            }
            End::Respond(_) => {
                let Way { mut codes, events, .. } = self.way;
                for (code, selector) in codes.iter_mut().zip(selectors) {
                    if matches!(instance.slot(selector.slot).owner, Owner::Operation(_)) {
                        *code = self.walker.idle(selector);
                    }
                }
                end(events, Some(AbstractLocation { location: Location::IDLE, codes }));
            }
            End::Fault { .. } => end(self.way.events, None),
        }
    }

    /// Returns the slots that an assignment may go to, and records the reads of its index.
    fn targets(&mut self, target: &Target) -> Vec<SlotId> {
        match target {
            Target::Slot(slot) => vec![*slot],
            Target::Element { index, of } => {
                let (index, indices) = self.folded(index);
                self.reads(&index);
                let may = |(at, _): &(usize, &SlotId)| indices.contains(*at as Scalar);
                of.iter().enumerate().filter(may).map(|(_, slot)| *slot).collect()
            }
        }
    }
}
