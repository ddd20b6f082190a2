//! The values of a collection: each with the operation that added it and the one that removed it.
//!
//! Value v has an addition \[ia, ra\] and a removal \[ir, rr\]; never removed: ir = rr =
//! [`NEVER`]. Since v is added before it is removed, `ra := min(ra, rr)` and `ir := max(ir, ia)`
//! change nothing. Then v is *solid* if ra < ir: it is certainly inside at the points ra + 1 to
//! ir. Else it is *thin*: its two operations can stand side by side at one instant.
//!
//! *Which removal belongs to which addition.* Let a value have additions A1, A2, ... in the order
//! of their invocations and removals R1, R2, ... in that of their responses, and let A(k-1) and
//! R(k-1) respond before Ak begins, for each k > 1. Then Rk removes what Ak added: before Ak, in any
//! linearization, k - 1 copies were added, and at least R1 to R(k-1) took effect; no more copies
//! were there, so these are all, and no removal whose value is unknown took one. Other values
//! that come again are *ambiguous*, and the pairs only a guess.
//!
//! *Unfounded.* If j removals have responded and fewer than j additions begun, there is no
//! linearization, ambiguous or not.
//!
//! *Additions without response.* If the value was removed, ra = rr. Else the value is left out: a
//! linearization without it, and without a removal of unknown value that took it, is legal.

use std::hash::Hash;

use super::part::{NEVER, Part};
use super::{Beyond, Decision, NAMED};
use crate::generic::effect::Effect;
use crate::generic::proof::{Proof, Stay};
use crate::seeded::SeededMap;

/// The time of a value in a collection.
#[derive(Clone, Copy, Debug)]
pub(super) struct Life {
    /// The operation that added it, by its place in the part.
    pub addition: u32,
    /// The operation that removed it, or [`NEVER`].
    pub removal: u32,
    pub ia: u32,
    pub ra: u32,
    pub ir: u32,
    pub rr: u32,
    /// The number of the value.
    pub value: u32,
}

impl Life {
    /// Whether the value is certainly inside at some points.
    pub const fn is_solid(&self) -> bool {
        self.ra < self.ir
    }

    /// The first event by which both operations have begun.
    pub fn begun(&self) -> u32 {
        self.ia.max(self.ir)
    }

    /// The same value, removed by an operation that began at this event and did not respond.
    pub fn taken(self, removal: u32, begun: u32) -> Self {
        Self { removal, ir: begun.max(self.ia), rr: NEVER, ..self }
    }

    pub fn stay<V>(&self, part: &Part<V>) -> Stay {
        let removal = part.responded.get(self.removal as usize).filter(|time| **time != NEVER);
        Stay {
            addition: part.ids[self.addition as usize],
            removal: removal.map(|_| part.ids[self.removal as usize]),
        }
    }
}

/// What happened to a collection.
pub(super) struct Values<'p, V> {
    pub part: &'p Part<V>,
    /// The values by their numbers.
    pub values: Vec<&'p V>,
    pub lives: Vec<Life>,
    /// Operations that found nothing.
    pub empties: Vec<u32>,
    /// Removals without response, in the order of their invocations.
    pub takers: Vec<u32>,
    /// Per value, whether it is ambiguous.
    pub ambiguous: Vec<bool>,
}

impl<'p, V: Eq + Hash> Values<'p, V> {
    /// Pairs additions with removals.
    ///
    /// # Errors
    /// If that alone decides, or the part has effects that no collection has.
    pub fn new(part: &'p Part<V>) -> Result<Self, Decision> {
        let mut numbers: SeededMap<&V, u32> = SeededMap::default();
        let mut found = Self {
            part,
            values: Vec::new(),
            lives: Vec::new(),
            empties: Vec::new(),
            takers: Vec::new(),
            ambiguous: Vec::new(),
        };
        // Operations with the numbers of their values.
        let (mut additions, mut removals) = (Vec::new(), Vec::new());
        for (index, effect) in part.effects.iter().enumerate() {
            let index = index as u32;
            let (value, list) = match effect {
                Effect::Add(value) => (value, &mut additions),
                Effect::Remove(Some(value)) => (value, &mut removals),
                Effect::Remove(None) => {
                    found.takers.push(index);
                    continue;
                }
                Effect::Empty => {
                    found.empties.push(index);
                    continue;
                }
                Effect::Nothing => continue,
                Effect::Impossible => {
                    let operation = part.ids[index as usize];
                    return Err(Decision::Violation(Proof::Impossible { operation }));
                }
                _ => {
                    let operation = part.ids[index as usize];
                    return Err(Decision::Beyond(Beyond::Operation(operation)));
                }
            };
            let number = *numbers.entry(value).or_insert_with(|| {
                found.values.push(value);
                found.values.len() as u32 - 1
            });
            list.push((number, index));
        }
        let count = found.values.len();
        let additions = Groups::new(count, &additions);
        let removals = Groups::new(count, &removals);
        found.ambiguous = vec![false; count];
        let mut in_order = Vec::new();
        for value in 0..count {
            in_order.clear();
            in_order.extend_from_slice(removals.of_value(value));
            in_order.sort_unstable_by_key(|removal| part.responded[*removal as usize]);
            found.pair(value, additions.of_value(value), &in_order).map_err(Decision::Violation)?;
        }
        Ok(found)
    }

    fn pair(&mut self, value: usize, additions: &[u32], removals: &[u32]) -> Result<(), Proof> {
        let part = self.part;
        let began = |operation: u32| part.invoked[operation as usize];
        let ended = |operation: u32| part.responded[operation as usize];
        for (place, removal) in removals.iter().enumerate() {
            let begun = additions.partition_point(|addition| began(*addition) < ended(*removal));
            if begun <= place {
                return Err(Proof::Unfounded {
                    removals: part.named(removals[..=place].iter().copied()),
                    additions: part.named(additions[..begun].iter().copied()),
                });
            }
        }
        for (place, &addition) in additions.iter().enumerate() {
            let removal = removals.get(place).copied().unwrap_or(NEVER);
            if let Some(&next) = additions.get(place + 1) {
                let is_over = |operation: u32| ended(operation) < began(next);
                if !is_over(addition) || removal == NEVER || !is_over(removal) {
                    self.ambiguous[value] = true;
                }
            }
            let (ia, mut ra) = (began(addition), ended(addition));
            let (mut ir, mut rr) = (NEVER, NEVER);
            if removal != NEVER {
                (ir, rr) = (began(removal).max(ia), ended(removal));
                ra = ra.min(rr);
            } else if ra == NEVER {
                continue;
            }
            self.lives.push(Life { addition, removal, ia, ra, ir, rr, value: value as u32 });
        }
        Ok(())
    }

    /// An operation on each of a few ambiguous values.
    pub fn repeated(&self) -> Vec<crate::OperationId> {
        let of_ambiguous = self.lives.iter().filter(|life| self.ambiguous[life.value as usize]);
        self.part.named(of_ambiguous.map(|life| life.addition).take(NAMED))
    }
}

/// Operations by the number of their values.
struct Groups {
    starts: Vec<u32>,
    operations: Vec<u32>,
}

impl Groups {
    fn new(values: usize, operations: &[(u32, u32)]) -> Self {
        let mut starts = vec![0; values + 1];
        for (value, _) in operations {
            starts[*value as usize + 1] += 1;
        }
        for value in 0..values {
            starts[value + 1] += starts[value];
        }
        let mut next = starts.clone();
        let mut sorted = vec![0; operations.len()];
        for (value, operation) in operations {
            let place = &mut next[*value as usize];
            sorted[*place as usize] = *operation;
            *place += 1;
        }
        Self { starts, operations: sorted }
    }

    fn of_value(&self, value: usize) -> &[u32] {
        &self.operations[self.starts[value] as usize..self.starts[value + 1] as usize]
    }
}

/// Per point the first from it on at which none of the solid values is inside; one more than there
/// are points if there is none.
pub(super) fn free_points<'l>(events: u32, lives: impl Iterator<Item = &'l Life>) -> Vec<u32> {
    let points = events as usize + 1;
    let mut change = vec![0_i32; points + 1];
    for life in lives.filter(|life| life.is_solid()) {
        change[life.ra as usize + 1] += 1;
        change[life.ir.min(events) as usize + 1] -= 1;
    }
    let mut inside = 0;
    for count in &mut change {
        inside += *count;
        *count = inside;
    }
    let mut free = vec![points as u32; points + 1];
    for point in (0..points).rev() {
        free[point] = if change[point] == 0 { point as u32 } else { free[point + 1] };
    }
    free
}

/// The fewest of the solid values that are inside at all points from `from` to `to`, in the order
/// of time.
///
/// `None` if a point is free.
pub(super) fn fewest_cover<'l>(
    lives: impl Iterator<Item = &'l Life>,
    from: u32,
    to: u32,
) -> Option<Vec<Life>> {
    let mut solid: Vec<Life> =
        lives.filter(|life| life.is_solid() && life.ra < to && life.ir >= from).copied().collect();
    solid.sort_unstable_by_key(|life| life.ra);
    let mut cover = Vec::new();
    let (mut next, mut point) = (0, from);
    let mut farthest: Option<Life> = None;
    while point <= to {
        while let Some(life) = solid.get(next).filter(|life| life.ra < point) {
            if farthest.is_none_or(|other| other.ir < life.ir) {
                farthest = Some(*life);
            }
            next += 1;
        }
        let life = farthest.filter(|life| life.ir >= point)?;
        cover.push(life);
        if life.ir >= to {
            break;
        }
        point = life.ir + 1;
    }
    Some(cover)
}
