//! One slot per use: variables that are used again for something else are split.
//!
//! `for k: { t := h[k] ; g[k] := t }` moves every `h[k]` through one t, so it looks as
//! if each `h[k]` could come to be compared with whatever any `g[l]` is compared with.
//! What versions, counters and anonymous bits have to do with each other is found
//! out without regard to when they are moved ([`crate::quotient::canonical_renaming::classes`]); with a
//! slot of its own for each t, it need not be.
//!
//! Each web ([`crate::dataflow::reaching_definitions`]) of a local of an operation that holds
//! such a number or bit gets a slot of its own.
//!
//! **Sound**: whenever a slot is read, what its web's slot holds is what it held, as
//! the assignment that is read belongs to that web and no other one of the slot lies
//! between. A web that is read before it is assigned reads the initial scalar, which is
//! that of the slot. So executions, responses and the observer are the same.

use std::collections::BTreeMap;

use snapshot_core::Process;

use crate::dataflow::reaching_definitions::{Followed, Webs};
use crate::deadline::{Deadline, Stopped};
use crate::instance::{Assignment, Block, Graph, Instance, Owner, Slot, SlotId, Target, Term};
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

/// With a slot for each web, related or not: as many as there can be. O(size of the instance *
/// slots concerned).
///
/// # Errors
/// If the deadline comes first.
pub fn split_webs(instance: &Instance, deadline: Deadline<'_>) -> Result<Instance, Stopped> {
    let webs = found(instance, deadline)?;
    Ok(renamed(instance, &webs, &mut Slots::new(instance), &|_, web| web))
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
        renamed_graph(graph, webs, &mut |slot, web| slots.part(slot, part(slot, web)))
    };
    let graphs = graphs.map(rename).collect();
    Instance { slots: std::mem::take(&mut slots.slots), graphs, ..instance.clone() }
}

/// The graph with the slots that `choose` has for their webs.
fn renamed_graph(
    graph: &Graph,
    webs: &Webs,
    choose: &mut dyn FnMut(SlotId, usize) -> SlotId,
) -> Graph {
    let mut slot = |slot: SlotId, node: &dyn Fn(usize) -> usize| {
        let web = webs.position(slot).map(|position| webs.web(node(position)));
        // What no process reads may go to the slot itself.
        web.filter(|web| webs.is_read(*web)).map_or(slot, |web| choose(slot, web))
    };
    let mut blocks: Vec<Block> = Vec::with_capacity(graph.blocks.len());
    let mut assignments = Vec::new();
    webs.follow(graph, &mut |followed, nodes| {
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
        let nodes = webs.at_location(location);
        for reaction in &mut standing.reactions {
            let held = &mut |read| slot(read, &|position| nodes[position]);
            reaction.when = with_slots(&reaction.when, held);
        }
    }
    renamed
}

/// The term with other slots.
fn with_slots(term: &Term, slot: &mut dyn FnMut(SlotId) -> SlotId) -> Term {
    match term {
        Term::Slot(read) => Term::Slot(slot(*read)),
        Term::Successor(read) => Term::Successor(slot(*read)),
        _ => term.with_parts(&mut |part| with_slots(part, slot)),
    }
}
