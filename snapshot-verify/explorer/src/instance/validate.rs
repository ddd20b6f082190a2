//! The invariants of instances, as code.

use std::collections::BTreeSet;

use snapshot_core::Process;
use thiserror::Error;

use super::{Block, BlockId, Domain, End, Graph, Instance, Location, Operator, Owner, SlotId};
use super::{Target, Term};
use crate::deadline::Deadline;

/// A violated invariant of an instance: a bug of this program, not of the algorithm.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
#[error("{place}: {rule}")]
pub struct Broken {
    pub rule: &'static str,
    pub place: String,
}

type Validity = Result<(), Broken>;

pub(super) fn ensure(holds: bool, rule: &'static str, place: impl FnOnce() -> String) -> Validity {
    if holds { Ok(()) } else { Err(Broken { rule, place: place() }) }
}

impl Instance {
    /// Checks every invariant that can be checked without running the instance. Cost: see
    /// [`Instance::validity`].
    ///
    /// # Panics
    /// If an invariant is broken, naming it.
    pub fn validate(&self) {
        if let Err(broken) = self.validity() {
            panic!("{broken}");
        }
    }

    /// Checks every invariant that can be checked without running the instance. O(size of the
    /// instance), except for the order of assignment and use, which is O(blocks * slots of the
    /// process).
    ///
    /// # Errors
    /// The first invariant that is broken.
    pub fn validity(&self) -> Result<(), Broken> {
        let [i, j] = self.pair;
        let here = || "the instance".to_owned();
        ensure(i < j && j.index() < self.processes, "the pair is i < j < n", here)?;
        ensure(self.graphs.len() == self.processes, "every process has a graph", here)?;
        for slot in &self.slots {
            let inside = slot.domain.contains(slot.initial);
            ensure(inside, "a slot begins within its domain", || slot.name.clone())?;
        }
        for (me, graph) in self.graphs.iter().enumerate() {
            let view = View { instance: self, graph, me: Process::from_index(me) };
            view.references()?;
            view.circles()?;
            view.readers()?;
            view.writers()?;
            view.reactions()?;
            view.order_of_use()?;
        }
        self.kinds()
    }
}

/// One graph in its instance.
struct View<'a> {
    instance: &'a Instance,
    graph: &'a Graph,
    me: Process,
}

impl Graph {
    /// Returns a location from which reactions lead into a cycle, or `None` without a cycle.
    /// Locations that no reaction leads to are removed repeatedly (Kahn, Comm. ACM 5(11), 1962).
    /// O(blocks of the reactions).
    fn circle_of_reactions(&self) -> Option<Location> {
        let pause = |block: BlockId| match self.block(block).end {
            End::Pause(at) => Some(at),
            _ => None,
        };
        let lead = |at: Location| -> Vec<Location> {
            let reactions = self.standing(at).reactions.iter();
            reactions.flat_map(|reaction| self.step_from(reaction.then)).filter_map(pause).collect()
        };
        let leads: Vec<Vec<Location>> = self.every_location().map(lead).collect();
        let mut arriving = vec![0_u32; leads.len()];
        leads.iter().flatten().for_each(|to| arriving[to.index()] += 1);
        let mut open: Vec<Location> =
            self.every_location().filter(|at| arriving[at.index()] == 0).collect();
        while let Some(at) = open.pop() {
            for to in &leads[at.index()] {
                arriving[to.index()] -= 1;
                if arriving[to.index()] == 0 {
                    open.push(*to);
                }
            }
        }
        self.every_location().find(|at| arriving[at.index()] > 0)
    }
}

impl View<'_> {
    fn place(&self, what: impl std::fmt::Display) -> String {
        format!("process {}, {what}", self.me.index())
    }

    /// Checks that every id is valid, that only idle has no step, and that operators have their
    /// operands.
    fn references(&self) -> Validity {
        let Graph { blocks, locations, argument, .. } = self.graph;
        for (position, standing) in locations.iter().enumerate() {
            let idle = position == Location::IDLE.index();
            let fits = standing.step.is_none() == idle;
            let place = || self.place(&standing.label);
            ensure(fits, "idle is the first location, and it alone has no step", place)?;
            standing.reactions.iter().try_for_each(|reaction| self.part(&reaction.when))?;
        }
        ensure(!locations.is_empty(), "idle is a location", || self.place("locations"))?;
        self.graph.beginnings().into_iter().try_for_each(|block| self.block(block))?;
        for (position, Block { assignments, end, .. }) in blocks.iter().enumerate() {
            let place = || self.place(BlockId(position as u32));
            end.blocks().try_for_each(|block| self.block(block))?;
            if let End::Pause(location) = end {
                let known = location.index() < locations.len();
                ensure(known, "a pause is at a location", place)?;
                let busy = *location != Location::IDLE;
                ensure(busy, "an operation ends with a response", place)?;
            }
            for assignment in assignments {
                let slots = assignment.target.choices();
                ensure(!slots.is_empty(), "an assignment goes somewhere", place)?;
                slots.iter().try_for_each(|slot| self.slot(*slot))?;
                self.whole(&assignment.value, slots)?;
                if let Target::Element { index, .. } = &assignment.target {
                    self.part(index)?;
                }
            }
            end.terms().into_iter().try_for_each(|term| self.part(term))?;
        }
        let Some(argument) = *argument else { return Ok(()) };
        self.slot(argument)?;
        let slot = self.instance.slot(argument);
        let own = slot.owner == Owner::Operation(self.me);
        ensure(own, "an argument is a slot of its operation", || slot.name.clone())?;
        let switches = self.instance.pair.contains(&self.me);
        ensure(switches, "only updates of i and j have an argument", || slot.name.clone())
    }

    fn slot(&self, slot: SlotId) -> Validity {
        let known = slot.index() < self.instance.slots.len();
        ensure(known, "slots are in the table", || self.place(format!("{slot:?}")))
    }

    fn block(&self, block: BlockId) -> Validity {
        let known = block.index() < self.graph.blocks.len();
        ensure(known, "blocks lead to blocks", || self.place(block))
    }

    /// Checks the whole value of an assignment to one of these slots.
    fn whole(&self, value: &Term, targets: &[SlotId]) -> Validity {
        let slots = || targets.iter().map(|slot| self.instance.slot(*slot));
        let place = || {
            let names: Vec<&str> = slots().map(|slot| slot.name.as_str()).collect();
            self.place(names.join(", "))
        };
        match value {
            Term::Fresh => {
                let versions = slots().all(|slot| matches!(slot.domain, Domain::Version { .. }));
                ensure(versions, "what is fresh is a version", place)
            }
            Term::Successor(counter) => {
                self.slot(*counter)?;
                let of = self.instance.slot(*counter);
                let mut all = slots().chain([of]);
                let counters = all.all(|slot| matches!(slot.domain, Domain::Counter { .. }));
                ensure(counters, "counters have successors", place)
            }
            value => {
                self.part(value)?;
                let Some(scalar) = value.constant() else { return Ok(()) };
                let inside = slots().all(|slot| slot.domain.contains(scalar));
                ensure(inside, "a slot is assigned scalars of its domain", place)
            }
        }
    }

    fn part(&self, term: &Term) -> Validity {
        let place = || self.place(format!("{term:?}"));
        match term {
            Term::Fresh | Term::Successor(_) => {
                ensure(false, "what changes numbers is assigned as a whole", place)
            }
            Term::Constant(_) | Term::Process(_) => Ok(()),
            Term::Slot(slot) => self.slot(*slot),
            Term::Element { index, of } => {
                ensure(!of.is_empty(), "an index chooses among something", place)?;
                self.part(index)?;
                of.iter().try_for_each(|term| self.part(term))
            }
            Term::Apply(operator, arguments) => {
                let expected = match operator {
                    Operator::Not | Operator::NumberOf | Operator::NameOf => 1,
                    Operator::And | Operator::Or => arguments.len(),
                    Operator::If => 3,
                    _ => 2,
                };
                let complete = arguments.len() == expected;
                ensure(complete, "operators have their operands", place)?;
                arguments.iter().try_for_each(|term| self.part(term))
            }
        }
    }

    /// Checks that every cycle of blocks passes a pause.
    fn circles(&self) -> Validity {
        let following = |block| self.graph.block(block).end.blocks().collect::<Vec<_>>();
        let mut finished = BTreeSet::new();
        for begin in self.graph.beginnings() {
            let mut path = vec![(begin, following(begin))];
            let mut on_path = BTreeSet::from([begin]);
            while let Some((block, left)) = path.last_mut() {
                match left.pop() {
                    Some(next) if finished.contains(&next) => {}
                    Some(next) => {
                        let new = on_path.insert(next);
                        ensure(new, "every circle of blocks has a pause", || self.place(next))?;
                        path.push((next, following(next)));
                    }
                    None => {
                        on_path.remove(block);
                        finished.insert(*block);
                        path.pop();
                    }
                }
            }
        }
        Ok(())
    }

    fn readers(&self) -> Validity {
        let mut read = BTreeSet::new();
        self.graph.terms(&mut |term| {
            term.slots(&mut |slot| {
                read.insert(slot);
            });
        });
        read.into_iter().try_for_each(|slot| {
            let slot = self.instance.slot(slot);
            let allowed = slot.owner.reader().is_none_or(|reader| reader == self.me);
            ensure(allowed, "a process reads no slot of others", || self.place(&slot.name))
        })
    }

    fn writers(&self) -> Validity {
        for assignment in self.graph.blocks.iter().flat_map(|block| &block.assignments) {
            for slot in assignment.target.choices() {
                let slot = self.instance.slot(*slot);
                let allowed = match slot.owner {
                    Owner::Shared => true,
                    Owner::Link(reader) => reader == self.me || assignment.value == Term::FALSE,
                    Owner::Process(owner) | Owner::Operation(owner) => owner == self.me,
                };
                let rule = "a process assigns no slot of others, but breaks their links";
                ensure(allowed, rule, || self.place(&slot.name))?;
            }
        }
        Ok(())
    }

    fn reactions(&self) -> Validity {
        for location in self.graph.every_location() {
            let standing = self.graph.standing(location);
            let place = || self.place(&standing.label);
            for reaction in &standing.reactions {
                for block in self.graph.step_from(reaction.then) {
                    let Block { assignments, end, .. } = self.graph.block(block);
                    let own =
                        |slot: &SlotId| self.instance.slot(*slot).owner.reader() == Some(self.me);
                    let mut targets =
                        assignments.iter().flat_map(|assignment| assignment.target.choices());
                    ensure(targets.all(own), "a reaction assigns own slots only", place)?;
                    let moves = !matches!(end, End::Pause(at) if *at == location);
                    ensure(moves, "a reaction leads elsewhere", place)?;
                }
            }
        }
        let circle = self.graph.circle_of_reactions();
        let place = || self.place(circle.map_or("", |at| &self.graph.standing(at).label));
        ensure(circle.is_none(), "reactions form no circle", place)
    }

    fn order_of_use(&self) -> Validity {
        let own = |slot| self.instance.slot(slot).owner == Owner::Operation(self.me);
        self.graph.used_unassigned(&own, Deadline::NEVER).into_iter().flatten().try_for_each(
            |slot| {
                let place = || self.instance.slot(slot).name.clone();
                ensure(false, "a slot of an operation is assigned before it is used", place)
            },
        )
    }
}
