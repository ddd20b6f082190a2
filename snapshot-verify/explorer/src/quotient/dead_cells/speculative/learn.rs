//! Learns which slots are stale in which states: from random walks, and from refutations.
//!
//! Liveness is a backward data flow. Its points are pairs of a slot and a key of the slot's group;
//! its edges were observed on walks. To find out whether a step reads a slot, and where it moves
//! the slot's content, the step is taken once more with that one slot blank: the step faults, or
//! blanks appear elsewhere.

use fixedbitset::FixedBitSet;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use rustc_hash::{FxHashMap, FxHashSet};
use snapshot_core::Process;

use super::{Group, Layer, READ, Seen, Stale};
use crate::dataflow;
use crate::deadline::{Deadline, Stopped};
use crate::instance::{Domain, Instance, Scalar, SlotId};
use crate::search::code::RegisterMachine;
use crate::search::layout::Registers;
use crate::search::product::{Product, Scratch};
use crate::search::{Choice, Exploration, ExploreError, Fault, SearchPath, Stop};

/// The number of steps of all walks together, per layer.
const STEPS: u32 = 300_000;

/// The number of steps after which a walk that finds nothing new restarts.
const LENGTH: u32 = 40;

/// Keys are made coarser while this percentage of the stale entries stays stale.
const WORTH_KEEPING: u64 = 92;

/// A slot by group and position, and a key of the group.
type FlowPoint = (u32, u32, u64);

/// The effect of a step on a slot's content.
enum Fate {
    Read,
    /// The step keeps the content, or moves it, in these slots: groups and positions.
    Kept(Vec<(u32, u32)>),
}

#[derive(Default)]
struct Flow {
    numbers: FxHashMap<FlowPoint, u32>,
    /// Pairs of a target and a source.
    edges: FxHashSet<(u32, u32)>,
    read: FxHashSet<u32>,
}

impl Flow {
    fn number(&mut self, place: FlowPoint) -> u32 {
        let next = self.numbers.len() as u32;
        *self.numbers.entry(place).or_insert(next)
    }

    fn size(&self) -> usize {
        self.numbers.len() + self.edges.len() + self.read.len()
    }

    /// Returns the points from which a read is reachable.
    fn live(&self, deadline: Deadline<'_>) -> Result<FixedBitSet, Stopped> {
        let mut before: Vec<Vec<u32>> = vec![Vec::new(); self.numbers.len()];
        for &(to, from) in &self.edges {
            before[to as usize].push(from);
        }
        let read = self.read.iter().map(|&place| place as usize);
        let edges = |place: usize, visit: &mut dyn FnMut(usize)| {
            before[place].iter().for_each(|&from| visit(from as usize));
        };
        dataflow::closure(before.len(), read, edges, deadline)
    }
}

/// A slot that was blank in a state although it was live.
struct Culprit {
    layer: usize,
    /// Group and position.
    at: (u32, u32),
    state: Vec<Scalar>,
    /// The state one step earlier.
    before: Vec<Scalar>,
}

impl Stale {
    /// Learns from random walks of the guarded instance, with a fixed seed. Slots count as live if
    /// they were not learnt before the deadline. O(steps * slots).
    ///
    /// # Errors
    /// If the instance cannot be explored.
    pub fn learn(
        &mut self,
        guarded: &Instance,
        exploration: &Exploration<'_>,
        deadline: Deadline<'_>,
    ) -> Result<(), ExploreError> {
        for number in 0..self.layers.len() {
            let earlier = Self { layers: self.layers[..number].to_vec() };
            let walks = Exploration {
                operations: None,
                barriers: None,
                symmetry: None,
                forgetting: Some(&earlier),
                ..exploration.clone()
            };
            let layer = &self.layers[number];
            let flow = walks.product(guarded, |product| walk(product, layer, deadline))?;
            // An incomplete walk would find reads only by chance.
            let Ok(flow) = flow else { break };
            if self.layers[number].conclude(&flow, deadline).is_err() {
                // Groups without a conclusion count as live.
                let groups = &mut self.layers[number].groups;
                for group in groups {
                    group.table.clear();
                    group.refresh();
                }
                break;
            }
        }
        Ok(())
    }

    /// Corrects the conjecture after a fault that a blank caused: the slot that was read is live
    /// from now on, along the trace.
    ///
    /// # Errors
    /// If the instance cannot be explored.
    pub fn refute(
        &mut self,
        guarded: &Instance,
        exploration: &Exploration<'_>,
        trace: &SearchPath,
    ) -> Result<(), ExploreError> {
        let plain = Exploration { forgetting: None, symmetry: None, ..exploration.clone() };
        let culprits = plain.product(guarded, |product| {
            let initial = product.initial().0;
            let states = trace.steps.iter().map(|step| &step.state);
            let states: Vec<&Vec<Scalar>> = std::iter::once(&initial).chain(states).collect();
            self.culprits(guarded, product, trace, &states)
        })?;
        let registers = Registers::new(guarded);
        for Culprit { layer, at: (group, position), state, mut before } in culprits {
            let layer = &mut self.layers[layer];
            layer.mark(group, position, &state);
            if let Some(symmetry) = exploration.symmetry {
                // The search sees the state after the previous step, renamed.
                let slot = layer.groups[group as usize].slots[position as usize];
                let by = symmetry.canonicalise(registers, &mut before);
                let mut only = state.clone();
                for group in &layer.groups {
                    for other in group.slots.iter().filter(|other| **other != slot) {
                        only[other.index()] = low(guarded, *other);
                    }
                }
                only[slot.index()] = layer.blank;
                let mut renamed = state;
                symmetry.permute(registers, &by, &mut renamed);
                symmetry.permute(registers, &by, &mut only);
                let image = (0..).zip(&layer.groups).find_map(|(group, described)| {
                    let blank = |slot: &SlotId| only[slot.index()] == layer.blank;
                    Some((group, described.slots.iter().position(blank)? as u32))
                });
                if let Some((group, position)) = image {
                    layer.mark(group, position, &renamed);
                }
            }
        }
        Ok(())
    }

    /// Returns the slots that should have been live.
    fn culprits(
        &self,
        guarded: &Instance,
        product: &Product<'_>,
        trace: &SearchPath,
        states: &[&Vec<Scalar>],
    ) -> Vec<Culprit> {
        let mut machine = Scratch::new(product).machine;
        let mut found = Vec::new();
        for (number, layer) in self.layers.iter().enumerate() {
            // The slots that must be live before the current step.
            let mut wanted: Vec<(u32, u32)> = Vec::new();
            for (position, step) in trace.steps.iter().enumerate().rev() {
                let state = states[position];
                let mut filled = state.clone();
                for other in self.layers.iter().flat_map(|layer| &layer.groups) {
                    for slot in &other.slots {
                        if self.blank(*slot) == Some(filled[slot.index()]) {
                            filled[slot.index()] = low(guarded, *slot);
                        }
                    }
                }
                let mut earlier = Vec::new();
                for (slot, at) in layer.slots() {
                    if state[slot.index()] != layer.blank {
                        continue;
                    }
                    let by = (step.process, step.choice);
                    let is_wanted = match fate(product, &mut machine, &filled, by, layer, slot) {
                        Fate::Read => position + 1 == trace.steps.len(),
                        Fate::Kept(kept) => kept.iter().any(|place| wanted.contains(place)),
                    };
                    if is_wanted {
                        earlier.push(at);
                        found.push(Culprit {
                            layer: number,
                            at,
                            state: state.clone(),
                            before: states[position.saturating_sub(1)].clone(),
                        });
                    }
                }
                wanted = earlier;
                if wanted.is_empty() {
                    break;
                }
            }
        }
        found
    }

    /// Marks all slots in the tables as stale, at every key.
    pub(crate) fn mark_all_dead(&mut self) {
        for group in self.layers.iter_mut().flat_map(|layer| &mut layer.groups) {
            group.table.values_mut().for_each(|seen| seen.live = 0);
            group.refresh();
        }
    }
}

fn low(instance: &Instance, slot: SlotId) -> Scalar {
    match instance.slot(slot).domain {
        Domain::Range { low, .. } => low,
        Domain::Version { .. } | Domain::Counter { .. } => 0,
    }
}

impl Layer {
    /// Returns all slots, with their groups and positions.
    fn slots(&self) -> impl Iterator<Item = (SlotId, (u32, u32))> {
        (0..).zip(&self.groups).flat_map(|(group, described)| {
            (0..).zip(&described.slots).map(move |(at, slot)| (*slot, (group, at)))
        })
    }

    /// Adds the results of a flow to the tables.
    fn conclude(&mut self, flow: &Flow, deadline: Deadline<'_>) -> Result<(), Stopped> {
        let live = flow.live(deadline)?;
        for (&(group, position, key), &number) in &flow.numbers {
            let group = &mut self.groups[group as usize];
            let seen = group.table.entry(key).or_default();
            seen.slots |= 1 << position;
            seen.live |= u64::from(live.contains(number as usize)) << position;
        }
        self.groups.iter_mut().try_for_each(|group| generalise(group, deadline))
    }

    fn mark(&mut self, group: u32, position: u32, state: &[Scalar]) {
        let group = &mut self.groups[group as usize];
        let key = group.key(state);
        if let Some(seen) = group.table.get_mut(&key) {
            seen.live |= 1 << position;
        }
        group.refresh();
    }
}

/// Drops digits from the key that make little difference, so that observations at some keys apply
/// to others.
fn generalise(group: &mut Group, deadline: Deadline<'_>) -> Result<(), Stopped> {
    let original = group.table.clone();
    let stale = |table: &FxHashMap<u64, Seen>| {
        table.values().map(|seen| u64::from((seen.slots & !seen.live).count_ones())).sum::<u64>()
    };
    let all = stale(&original);
    // The radices decode a key of the original table.
    let radices: Vec<u64> = group.key.iter().map(|digit| digit.radix).collect();
    let project = |key: u64, kept: &[usize]| {
        let mut digits = vec![0; radices.len()];
        let mut rest = key;
        for (digit, radix) in digits.iter_mut().zip(&radices).rev() {
            *digit = rest % radix;
            rest /= radix;
        }
        kept.iter().fold(0, |number, &at| number * radices[at] + digits[at])
    };
    let projected = |kept: &[usize]| {
        let mut table: FxHashMap<u64, Seen> = FxHashMap::default();
        for (&key, seen) in &original {
            let merged = table.entry(project(key, kept)).or_default();
            merged.slots |= seen.slots;
            merged.live |= seen.live;
        }
        let left = original.iter().map(|(&key, seen)| {
            let live = table[&project(key, kept)].live;
            u64::from((seen.slots & !live).count_ones())
        });
        let left = left.sum::<u64>();
        (left, table)
    };
    let mut kept: Vec<usize> = (0..radices.len()).collect();
    loop {
        let without = |at: &usize| kept.iter().copied().filter(|kept| kept != at).collect();
        let mut ways = Vec::with_capacity(kept.len());
        for fewer in kept.iter().map(without) {
            deadline.check()?;
            let fewer: Vec<usize> = fewer;
            ways.push((projected(&fewer), fewer));
        }
        let best = ways
            .into_iter()
            .max_by_key(|((left, _), kept)| (*left, std::cmp::Reverse(kept.clone())));
        match best {
            Some(((left, table), fewer)) if left * 100 >= all * WORTH_KEEPING => {
                group.table = table;
                kept = fewer;
            }
            _ => break,
        }
    }
    group.key = kept.iter().map(|&at| group.key[at]).collect();
    group.refresh();
    Ok(())
}

/// Walks at random, and records the effects of steps on the slots of a layer.
fn walk(product: &Product<'_>, layer: &Layer, deadline: Deadline<'_>) -> Result<Flow, Stopped> {
    let mut random = ChaCha8Rng::seed_from_u64(0);
    let mut machine = Scratch::new(product).machine;
    let mut flow = Flow::default();
    let initial = product.initial().0;
    let mut state = initial.clone();
    let mut after = initial.clone();
    // Walks restart behind steps that found something new.
    let mut promising: Vec<Vec<Scalar>> = vec![initial];
    let mut left = LENGTH;
    for _ in 0..STEPS {
        deadline.check()?;
        if left == 0 {
            let begin = random.next_u32() as usize % promising.len();
            state.copy_from_slice(&promising[begin]);
            left = LENGTH;
        }
        left -= 1;
        load(&mut machine, &state);
        let moves = product.moves(&machine);
        if moves.is_empty() {
            left = 0;
            continue;
        }
        let by = moves[random.next_u32() as usize % moves.len()];
        if product.take(by.0, by.1, &mut machine).is_err() {
            left = 0;
            continue;
        }
        after.copy_from_slice(machine.state());
        product.canonicalise(&mut after);
        let keys = |state: &[Scalar]| -> Vec<u64> {
            layer.groups.iter().map(|group| group.key(state)).collect()
        };
        let (keys_before, keys_after) = (keys(&state), keys(&after));
        let known = flow.size();
        for (slot, at) in layer.slots() {
            if state[slot.index()] == layer.blank {
                continue;
            }
            let place = (at.0, at.1, keys_before[at.0 as usize]);
            let from = flow.number(place);
            match fate(product, &mut machine, &state, by, layer, slot) {
                Fate::Read => {
                    flow.read.insert(from);
                }
                Fate::Kept(kept) => {
                    for (group, position) in kept {
                        let to = flow.number((group, position, keys_after[group as usize]));
                        flow.edges.insert((to, from));
                    }
                }
            }
        }
        if flow.size() > known {
            promising.push(after.clone());
            left = LENGTH;
        }
        state.copy_from_slice(&after);
    }
    Ok(flow)
}

fn load(machine: &mut RegisterMachine, state: &[Scalar]) {
    machine.begin();
    machine.state_mut().copy_from_slice(state);
}

/// Returns the effect of a step on the content of a slot that is not blank.
fn fate(
    product: &Product<'_>,
    machine: &mut RegisterMachine,
    state: &[Scalar],
    by: (Process, Choice),
    layer: &Layer,
    slot: SlotId,
) -> Fate {
    load(machine, state);
    machine.state_mut()[slot.index()] = layer.blank;
    match product.take(by.0, by.1, machine) {
        Err(Stop::Fault(Fault { what: READ, .. })) => Fate::Read,
        _ => {
            let after = machine.state();
            let is_blank = |slot: SlotId| after[slot.index()] == layer.blank;
            let moved = |other: SlotId| state[other.index()] != layer.blank;
            let written = |other: SlotId| machine.written().contains(&(other.index() as u16));
            let kept = layer.slots().filter(|(other, _)| {
                is_blank(*other) && (*other == slot || moved(*other) || written(*other))
            });
            Fate::Kept(kept.map(|(_, at)| at).collect())
        }
    }
}
