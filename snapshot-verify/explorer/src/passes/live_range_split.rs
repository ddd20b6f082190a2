//! Splits variables with several unrelated uses into one slot per use.
//!
//! `for k: { t := h[k] ; g[k] := t }` moves every `h[k]` through one t, so it seems that each
//! `h[k]` could be compared with any value that some `g[l]` is compared with. The relations between
//! versions, counters and anonymous bits are computed without regard to the order of moves
//! ([`crate::quotient::canonical_renaming::classes`]). With a separate slot for each t, the order
//! is not needed.
//!
//! Each web ([`crate::dataflow::reaching_definitions`]) of an operation's local that holds such a
//! number or bit gets its own slot.
//!
//! **Sound**: whenever a slot is read, the slot of its web has the content of the original slot,
//! since the assignment that is read belongs to that web, and no other assignment of the slot lies
//! between. A web that is read before it is assigned reads the initial scalar of the original slot.
//! So executions, responses and the observer are the same.

use std::collections::BTreeMap;

use snapshot_core::Process;

use crate::dataflow::reaching_definitions::{Followed, Webs};
use crate::deadline::{Deadline, Stopped};
use crate::instance::{Assignment, Block, Graph, Instance, Owner, Slot, SlotId, Target, Term};
use crate::quotient::canonical_renaming::classes::Classes;

/// Gives each variable one slot per group of related webs. O(size of the instance * slots
/// concerned).
pub fn split_live_ranges(instance: &Instance, deadline: Deadline<'_>) -> Result<Instance, Stopped> {
    let webs = found(instance, deadline)?;
    // First each web gets a slot. The classes then show which webs are related.
    let mut all = Slots::new(instance);
    let apart = renamed(instance, &webs, &mut all, &|_, web| web);
    let mut class_of: Vec<usize> = vec![0; apart.slots.len()];
    for (number, class) in (1..).zip(Classes::new(&apart).iter()) {
        class.slots.iter().for_each(|slot| class_of[slot.index()] = number);
    }
    // Webs of one slot are never live together, so webs of one class can share a slot.
    let class = |slot, web| all.known(slot, web).map_or(0, |slot| class_of[slot.index()]);
    let split = renamed(instance, &webs, &mut Slots::new(instance), &class);
    #[cfg(debug_assertions)]
    split.validate();
    Ok(split)
}

/// Gives each web its own slot, related or not. O(size of the instance * slots concerned).
pub fn split_webs(instance: &Instance, deadline: Deadline<'_>) -> Result<Instance, Stopped> {
    let webs = found(instance, deadline)?;
    Ok(renamed(instance, &webs, &mut Slots::new(instance), &|_, web| web))
}

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

/// The slots of an instance, with the slots added by splitting.
struct Slots {
    slots: Vec<Slot>,
    /// By slot and part, in order of first occurrence. The first part keeps the original slot.
    parts: BTreeMap<SlotId, Vec<(usize, SlotId)>>,
}

impl Slots {
    fn new(instance: &Instance) -> Self {
        Self { slots: instance.slots.clone(), parts: BTreeMap::new() }
    }

    /// Returns the slot of a known part.
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

/// Returns the instance with a slot for each part of a slot; `part` maps a slot and its web to a
/// part.
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

/// Returns the graph with the slots that `choose` returns for their webs.
fn renamed_graph(
    graph: &Graph,
    webs: &Webs,
    choose: &mut dyn FnMut(SlotId, usize) -> SlotId,
) -> Graph {
    let mut slot = |slot: SlotId, node: &dyn Fn(usize) -> usize| {
        let web = webs.position(slot).map(|position| webs.web(node(position)));
        // A web that no process reads may use the original slot.
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

/// Returns the term with renamed slots.
fn with_slots(term: &Term, slot: &mut dyn FnMut(SlotId) -> SlotId) -> Term {
    match term {
        Term::Slot(read) => Term::Slot(slot(*read)),
        Term::Successor(read) => Term::Successor(slot(*read)),
        _ => term.with_parts(&mut |part| with_slots(part, slot)),
    }
}
