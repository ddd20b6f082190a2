//! The slots that may be stale, and their keys.

use std::collections::BTreeSet;

use fixedbitset::FixedBitSet;

use super::{Digit, Group, Layer};
use crate::dataflow;
use crate::dataflow::cone_of_influence::Sources;
use crate::deadline::{Deadline, Stopped};
use crate::instance::{
    Assignment, Domain, End, Instance, NONE, Owner, Scalar, SlotId, Target, Term,
};
use crate::quotient::canonical_renaming::classes::Classes;

/// The uses of slots in the graphs.
struct Uses {
    /// Slots that a decision depends on, perhaps indirectly.
    decisive: FixedBitSet,
    /// Elements of arrays that are read at an index known only at run time.
    elements: BTreeSet<SlotId>,
    /// By slot, the processes that assign it directly.
    writers: Vec<BTreeSet<usize>>,
    /// Slots in the conditions of reactions.
    watched: BTreeSet<SlotId>,
}

/// Returns the nonempty layers.
pub(super) fn layers(instance: &Instance, deadline: Deadline<'_>) -> Result<Vec<Layer>, Stopped> {
    let uses = Uses::new(instance, deadline)?;
    let control: Vec<SlotId> = slots(instance)
        .filter(|slot| is_shared(instance, *slot) && uses.decisive.contains(slot.index()))
        .filter(|slot| !uses.elements.contains(slot) && is_plain(instance, *slot))
        .collect();
    let names = names(instance, &uses, deadline)?;
    let shared_names = names.iter().copied().filter(|slot| is_shared(instance, *slot));
    let keys: Vec<SlotId> = control.iter().copied().chain(shared_names).collect();
    // Anonymous bits are excluded: flips would change a blank.
    let classes = Classes::new(instance);
    let numbered: BTreeSet<SlotId> = classes.iter().flat_map(|of| &of.slots).copied().collect();
    let is_numbered = |slot: &SlotId| numbered.contains(slot);
    let elements = uses.elements.iter().copied().filter(|slot| {
        let is_cell = is_shared(instance, *slot) && is_plain(instance, *slot);
        is_cell && !uses.watched.contains(slot) && !is_numbered(slot)
    });
    let elements: Vec<SlotId> = elements.collect();
    let beyond = |slot: &SlotId| match instance.slot(*slot).domain {
        Domain::Range { high, .. } => high + 1,
        _ => 0,
    };
    let blank = elements.iter().map(beyond).max().unwrap_or(0);
    let home = |slot: SlotId| match instance.slot(slot).owner {
        Owner::Shared => {
            let writers = &uses.writers[slot.index()];
            let is_everybody = writers.len() == instance.processes;
            if is_everybody { BTreeSet::new() } else { writers.clone() }
        }
        Owner::Link(owner) | Owner::Process(owner) | Owner::Operation(owner) => {
            [owner.index()].into()
        }
    };
    let layers = [
        Layer { blank: NONE, groups: groups(instance, &names, &control, &home) },
        Layer { blank, groups: groups(instance, &elements, &keys, &home) },
    ];
    // Where all processes write a cell, and no keys distinguish its uses, nothing can be learnt.
    Ok(layers.into_iter().filter(|layer| !layer.groups.is_empty()).collect())
}

/// Returns the shared cells that always name a process, and the slots that their contents are moved
/// to.
fn names(instance: &Instance, uses: &Uses, deadline: Deadline<'_>) -> Result<Vec<SlotId>, Stopped> {
    let may = |slot: SlotId| {
        instance.slot(slot).domain.names_processes()
            && !uses.watched.contains(&slot)
            && !uses.elements.contains(&slot)
    };
    let always =
        |slot: SlotId| matches!(instance.slot(slot).domain, Domain::Range { optional: false, .. });
    let mut moved: Vec<Vec<SlotId>> = vec![Vec::new(); instance.slots.len()];
    assignments(instance, &mut |_, assignment| {
        if let (Target::Slot(to), Term::Slot(from)) = (&assignment.target, &assignment.value)
            && may(*to)
            && !is_shared(instance, *to)
        {
            moved[from.index()].push(*to);
        }
    });
    let begin = slots(instance)
        .filter(|slot| is_shared(instance, *slot) && may(*slot) && always(*slot))
        .map(SlotId::index);
    let edges = |from: usize, visit: &mut dyn FnMut(usize)| {
        moved[from].iter().for_each(|to| visit(to.index()));
    };
    let names = dataflow::closure(instance.slots.len(), begin, edges, deadline)?;
    Ok(names.ones().map(|slot| SlotId(slot as u32)).collect())
}

/// Groups slots with the same home, and so the same key.
fn groups(
    instance: &Instance,
    slots: &[SlotId],
    keys: &[SlotId],
    home: &dyn Fn(SlotId) -> BTreeSet<usize>,
) -> Vec<Group> {
    let mut groups: Vec<(BTreeSet<usize>, Group)> = Vec::new();
    for &slot in slots {
        let home = home(slot);
        if let Some((_, group)) =
            groups.iter_mut().find(|(of, group)| *of == home && group.slots.len() < 64)
        {
            group.slots.push(slot);
            continue;
        }
        let digits = keys.iter().map(|slot| digit(instance, *slot));
        let locations = home.iter().map(|&process| Digit::location(instance, process));
        let key: Vec<Digit> = digits.chain(locations).collect();
        let fits = key.iter().try_fold(1u64, |product, digit| product.checked_mul(digit.radix));
        if fits.is_some() {
            let (table, live) = (Default::default(), Vec::new());
            let group = Group { key, slots: vec![slot], table, live, useful: false };
            groups.push((home, group));
        }
    }
    groups.into_iter().map(|(_, group)| group).collect()
}

fn digit(instance: &Instance, slot: SlotId) -> Digit {
    let Domain::Range { low, high, .. } = instance.slot(slot).domain else {
        unreachable!("keys are made of ranges")
    };
    Digit { register: slot.index(), low, radix: (high - low) as u64 + 2 }
}

fn slots(instance: &Instance) -> impl Iterator<Item = SlotId> + use<> {
    (0..instance.slots.len() as u32).map(SlotId)
}

fn is_shared(instance: &Instance, slot: SlotId) -> bool {
    instance.slot(slot).owner == Owner::Shared
}

/// Returns true if the slot holds numbers, values or Booleans.
fn is_plain(instance: &Instance, slot: SlotId) -> bool {
    let Domain::Range { names_processes, high, .. } = instance.slot(slot).domain else {
        return false;
    };
    !names_processes && high < Scalar::MAX
}

fn assignments(instance: &Instance, visit: &mut dyn FnMut(usize, &Assignment)) {
    for (process, graph) in instance.graphs.iter().enumerate() {
        let assignments = graph.blocks.iter().flat_map(|block| &block.assignments);
        assignments.for_each(|assignment| visit(process, assignment));
    }
}

impl Uses {
    fn new(instance: &Instance, deadline: Deadline<'_>) -> Result<Self, Stopped> {
        let mut uses = Self {
            decisive: FixedBitSet::with_capacity(instance.slots.len()),
            elements: BTreeSet::new(),
            writers: vec![BTreeSet::new(); instance.slots.len()],
            watched: instance.watched(),
        };
        for graph in &instance.graphs {
            for block in &graph.blocks {
                deadline.check()?;
                if let End::Branch { condition, .. } = &block.end {
                    condition.slots(&mut |slot| uses.decisive.insert(slot.index()));
                }
                block.terms(&mut |term| uses.indices(term));
            }
        }
        assignments(instance, &mut |process, assignment| match &assignment.target {
            Target::Slot(slot) => {
                uses.writers[slot.index()].insert(process);
            }
            Target::Element { index, .. } => {
                index.slots(&mut |slot| uses.decisive.insert(slot.index()))
            }
        });
        uses.decisive.extend(uses.watched.iter().map(|slot| slot.index()));
        let decisive = uses.decisive.ones().map(|slot| SlotId(slot as u32));
        uses.decisive = Sources::new(instance, deadline)?.cone(decisive, |_| true, deadline)?;
        Ok(uses)
    }

    fn indices(&mut self, term: &Term) {
        match term {
            Term::Element { index, of } => {
                index.slots(&mut |slot| self.decisive.insert(slot.index()));
                for term in of {
                    if let Term::Slot(slot) = term {
                        self.elements.insert(*slot);
                    }
                    self.indices(term);
                }
                self.indices(index);
            }
            Term::Apply(_, arguments) => arguments.iter().for_each(|term| self.indices(term)),
            Term::Constant(_)
            | Term::Process(_)
            | Term::Slot(_)
            | Term::Fresh
            | Term::Successor(_) => {}
        }
    }
}
