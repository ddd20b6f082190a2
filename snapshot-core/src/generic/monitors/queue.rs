//! Queues in O(n log n).
//!
//! Value v is *before* value w if ra(v) < ia(w) or rr(v) < ir(w) (intervals cut as in
//! [`super::values`]).
//!
//! *Claim.* A history of a queue is linearizable iff each operation that finds it empty has a
//! point at which no solid value is inside, and there are no two values each before the other.
//!
//! 1. *Zones.* Let T be points at which no solid value is inside. Solid values fall left or right
//!    of each t in T, thin ones where max(ia, ir) is. If each zone is linearizable, their
//!    linearizations one after the other are one in which the queue is empty at each t: were an
//!    operation b of a value w on the right of t before an operation a of a value v on the left,
//!    then a would begin after a response on the right of t; but on the left all begin before t.
//! 2. *No two, no more.* Each half of the relation is an interval order. In a shortest cycle the
//!    kinds alternate, or transitivity shortens it: v1 < v2 by additions, v2 < v3 by removals, v3 < v4 by
//!    additions, ... Of two pairs of an interval order, v1 < v2 and v3 < v4, one of v1 < v4 and
//!    v3 < v2 follows, which gives a shorter cycle.
//! 3. *An order suffices.* Let v1, v2, ... extend the relation. Put addition i at e(i), the
//!    greatest ia(vj) of all j <= i, and removal i at the greatest of e(i), removal i - 1 and
//!    ir(vi). Then e(i) < ra(vi), since no later value's addition is before an earlier one's; and the
//!    removal is before rr(vi): ir(vj) < rr(vi) for the same reason, and ia(vj) < rr(vi), else ra(vi) <=
//!    rr(vi) < ia(vj), for ra is cut.
//! 4. *The cut invents nothing*: of two values each before the other by cut intervals each is by the
//!    intervals themselves.
//!
//! The criterion of two values is that of Henzinger, Sezgin and Vafeiadis ("Aspect-Oriented
//! Linearizability Proofs", 2013) and Bouajjani, Emmi, Enea and Hamza (2015).
//!
//! *Removals without response* may take any value that stays, at any time after they began. A
//! value x that stays must have left by D(x), the least rr(y) of removed values y with ra(x) < ia(y); at a
//! point at which the queue is empty, each x with ra(x) before it must have. Which removal takes
//! x matters only by when it began; so x can be taken iff for each t no more values have deadlines
//! up to t than removals began before t (Hall), and then the earliest deadline takes the removal
//! that began first. Values that are taken have rr = infinity and are in no pair that is each
//! before the other; a value left over is before no taken one, since then its deadline would be earlier. A point s can
//! be empty iff no removed value is inside and the count holds with the values of ra before s due at s;
//! which points other operations choose does not matter, since the demand at a time t is that of the last
//! chosen point up to t alone.

use super::part::{NEVER, Part};
use super::tree::Sums;
use super::values::{Life, Values, fewest_cover, free_points};
use super::{Beyond, Found, NAMED};
use crate::generic::proof::{Debt, Proof};

/// Decides a queue with these values.
pub(super) fn judge<V>(values: &Values<'_, V>, mut lives: Vec<Life>) -> Found {
    let part = values.part;
    let deadlines = match Deadlines::new(values, &lives) {
        Ok(deadlines) => deadlines,
        Err(proof) => return Found::Violation(proof),
    };
    let points = match empty_points(values, &lives, &deadlines) {
        Ok(points) => points,
        Err(found) => return found,
    };
    deadlines.assign_removals(values, &mut lives, &points);
    match order(part, &lives, &points) {
        Ok(order) => Found::Order(order),
        Err((first, second)) => Found::Violation(Proof::Overtaken {
            first: lives[first].stay(part),
            second: lives[second].stay(part),
        }),
    }
}

/// By when values that stay must have left.
struct Deadlines {
    /// Values with their deadlines, the earliest first.
    due: Vec<(u32, u32)>,
    /// Values that stay.
    staying: Vec<u32>,
}

impl Deadlines {
    /// # Errors
    /// If there are too few removals without response. Without any, that is left to the order.
    fn new<V>(values: &Values<'_, V>, lives: &[Life]) -> Result<Self, Proof> {
        let (part, takers) = (values.part, &values.takers);
        if takers.is_empty() {
            return Ok(Self { due: Vec::new(), staying: Vec::new() });
        }
        let (mut staying, mut removed): (Vec<u32>, Vec<u32>) =
            (0..lives.len() as u32).partition(|life| lives[*life as usize].removal == NEVER);
        removed.sort_unstable_by_key(|life| std::cmp::Reverse(lives[*life as usize].ia));
        staying.sort_unstable_by_key(|life| std::cmp::Reverse(lives[*life as usize].ra));
        let mut due = Vec::new();
        let mut removed = removed.into_iter().peekable();
        let mut earliest: Option<u32> = None;
        for &life in &staying {
            let after = lives[life as usize].ra;
            while let Some(later) = removed.next_if(|later| lives[*later as usize].ia > after) {
                if earliest.is_none_or(|one| lives[later as usize].rr < lives[one as usize].rr) {
                    earliest = Some(later);
                }
            }
            due.extend(earliest.map(|by| (lives[by as usize].rr, life, by)));
        }
        due.sort_unstable();
        for (count, (deadline, ..)) in due.iter().enumerate() {
            let begun = takers.partition_point(|taker| part.invoked[*taker as usize] < *deadline);
            if begun <= count {
                let debt = |&(_, life, by): &(u32, u32, u32)| Debt {
                    addition: part.ids[lives[life as usize].addition as usize],
                    later: lives[by as usize].stay(part),
                };
                return Err(Proof::Overdue {
                    debts: due[..=count].iter().map(debt).collect(),
                    removals: part.named(takers[..begun].iter().copied()),
                });
            }
        }
        Ok(Self {
            due: due.into_iter().map(|(deadline, life, _)| (deadline, life)).collect(),
            staying,
        })
    }

    /// Gives each value that must have left a removal without response.
    fn assign_removals<V>(
        &self,
        values: &Values<'_, V>,
        lives: &mut [Life],
        points: &[(u32, u32)],
    ) {
        let mut deadline = vec![NEVER; lives.len()];
        for &(by, life) in &self.due {
            deadline[life as usize] = by;
        }
        let mut due = Vec::new();
        for &life in &self.staying {
            let added = lives[life as usize].ra;
            let next = points.partition_point(|(point, _)| *point <= added);
            let empty = points.get(next).map_or(NEVER, |(point, _)| *point);
            let by = deadline[life as usize].min(empty);
            if by != NEVER {
                due.push((by, life));
            }
        }
        due.sort_unstable();
        for ((_, life), &taker) in due.into_iter().zip(&values.takers) {
            let life = &mut lives[life as usize];
            *life = life.taken(taker, values.part.invoked[taker as usize]);
        }
    }
}

/// A point for each operation that finds the queue empty, in the order of the points.
fn empty_points<V>(
    values: &Values<'_, V>,
    lives: &[Life],
    deadlines: &Deadlines,
) -> Result<Vec<(u32, u32)>, Found> {
    if values.empties.is_empty() {
        return Ok(Vec::new());
    }
    let part = values.part;
    let first = values.takers.first().map_or(NEVER, |taker| part.invoked[*taker as usize]);
    // A value that stays is inside for certain until the first removal without response begins.
    let certain: Vec<Life> =
        lives
            .iter()
            .map(|life| {
                if life.removal == NEVER && first != NEVER {
                    life.taken(NEVER, first)
                } else {
                    *life
                }
            })
            .collect();
    let free = free_points(part.events, certain.iter());
    let good =
        if values.takers.is_empty() { None } else { Some(good_points(values, lives, deadlines)) };
    let mut points = Vec::with_capacity(values.empties.len());
    for &operation in &values.empties {
        let (from, to) = (part.invoked[operation as usize] + 1, part.responded[operation as usize]);
        if free[from as usize] > to {
            let cover = fewest_cover(certain.iter(), from, to).unwrap_or_default();
            return Err(Found::Violation(Proof::NotEmpty {
                operation: part.ids[operation as usize],
                inside: cover.iter().map(|life| life.stay(part)).collect(),
            }));
        }
        let point = good.as_ref().map_or(free[from as usize], |good| good[from as usize]);
        if point > to {
            return Err(Found::Beyond(Beyond::Unanswered(
                part.named(values.takers.iter().copied().take(NAMED)),
            )));
        }
        points.push((point, operation));
    }
    points.sort_unstable();
    Ok(points)
}

/// Per point the first from it on at which the queue can be empty, with removals without response.
fn good_points<V>(values: &Values<'_, V>, lives: &[Life], deadlines: &Deadlines) -> Vec<u32> {
    let part = values.part;
    let points = part.events as usize + 1;
    // Removals that began before each point, less the values that are due up to it.
    let mut change = vec![0_i32; points + 1];
    for taker in &values.takers {
        change[part.invoked[*taker as usize] as usize + 1] += 1;
    }
    let mut deadline = vec![points; lives.len()];
    for &(by, life) in &deadlines.due {
        change[by as usize] -= 1;
        deadline[life as usize] = by as usize;
    }
    let mut sum = 0;
    let mut left = Sums::new(
        change[..points]
            .iter()
            .map(|change| {
                sum += change;
                sum
            })
            .collect::<Vec<_>>()
            .into_iter(),
    );
    let removed = lives.iter().filter(|life| life.removal != NEVER);
    let free = free_points(part.events, removed);
    // Values that stay, the first added last.
    let mut staying = deadlines.staying.iter().map(|life| *life as usize).rev().peekable();
    let mut good = vec![points as u32; points + 1];
    for point in 0..points {
        while let Some(life) = staying.next_if(|life| (lives[*life].ra as usize) < point) {
            left.add(point, deadline[life], -1);
        }
        if free[point] == point as u32 && left.first_at_most(point, points, -1).is_none() {
            good[point] = point as u32;
        }
    }
    for point in (0..points).rev() {
        if good[point] != point as u32 {
            good[point] = good[point + 1];
        }
    }
    good
}

/// A linearization, zone by zone.
///
/// # Errors
/// Two values, each before the other.
fn order<V>(
    part: &Part<V>,
    lives: &[Life],
    points: &[(u32, u32)],
) -> Result<Vec<u32>, (usize, usize)> {
    let zone_of = |life: &Life| points.partition_point(|(point, _)| *point <= life.begun());
    let zones = points.len() + 1;
    let sorted = Sorted::new(part, lives, zones, zone_of);
    let mut found = Vec::with_capacity(part.ids.len());
    let mut removals = Vec::new();
    let mut flags = vec![0; lives.len()];
    for zone in 0..zones {
        let values = sorted.values(lives, zone, &mut flags)?;
        // The points of additions, and of removals, do not decrease.
        let (mut added, mut removed) = (0, 0);
        removals.clear();
        for &value in &values {
            let life = &lives[value as usize];
            added = added.max(life.ia);
            removed = removed.max(added).max(life.ir);
            removals.push((removed, added, life));
        }
        let mut next = 0;
        for &(_, added, life) in &removals {
            while removals[next].0 < added {
                found.push(removals[next].2.removal);
                next += 1;
            }
            found.push(life.addition);
        }
        found.extend(removals[next..].iter().map(|(.., life)| life.removal));
        found.extend(points.get(zone).map(|(_, operation)| *operation));
    }
    found.retain(|operation| *operation != NEVER);
    Ok(found)
}

const OUT: u8 = 4;

/// Values by zones, sorted by each of their four times.
struct Sorted {
    starts: Vec<u32>,
    /// By ia, ra, ir, rr.
    lists: [Vec<u32>; 4],
}

impl Sorted {
    fn new<V>(
        part: &Part<V>,
        lives: &[Life],
        zones: usize,
        zone_of: impl Fn(&Life) -> usize,
    ) -> Self {
        let zone: Vec<u32> = lives.iter().map(|life| zone_of(life) as u32).collect();
        let mut starts = vec![0_u32; zones + 1];
        for zone in &zone {
            starts[*zone as usize + 1] += 1;
        }
        for zone in 0..zones {
            starts[zone + 1] += starts[zone];
        }
        let times: [fn(&Life) -> u32; 4] =
            [|life| life.ia, |life| life.ra, |life| life.ir, |life| life.rr];
        let lists = times.map(|time| {
            // Each event is a time of one value at most; those without come last.
            let mut at = vec![NEVER; part.events as usize];
            let mut last = Vec::new();
            for (value, life) in lives.iter().enumerate() {
                match at.get_mut(time(life) as usize) {
                    Some(at) => *at = value as u32,
                    None => last.push(value as u32),
                }
            }
            let mut next = starts.clone();
            let mut list = vec![0; lives.len()];
            for value in at.into_iter().filter(|value| *value != NEVER).chain(last) {
                let place = &mut next[zone[value as usize] as usize];
                list[*place as usize] = value;
                *place += 1;
            }
            list
        });
        Self { starts, lists }
    }

    /// The values of a zone in an order that extends the relation. Of the flags, two say in
    /// which half of the relation no value that is left is before, and one that it is taken.
    ///
    /// # Errors
    /// Two values, each before the other.
    fn values(
        &self,
        lives: &[Life],
        zone: usize,
        flags: &mut [u8],
    ) -> Result<Vec<u32>, (usize, usize)> {
        let range = self.starts[zone] as usize..self.starts[zone + 1] as usize;
        let [ia, ra, ir, rr] = [0, 1, 2, 3].map(|list: usize| &self.lists[list][range.clone()]);
        let life = |value: u32| &lives[value as usize];
        let mut order: Vec<u32> = Vec::with_capacity(ia.len());
        // Of those that are left, how many first in each list are passed.
        let (mut by_ia, mut by_ra, mut by_ir, mut by_rr) = (0, 0, 0, 0);
        let mut free: Vec<u32> = Vec::new();
        while order.len() < ia.len() {
            while flags[ra[by_ra] as usize] & OUT != 0 {
                by_ra += 1;
            }
            while flags[rr[by_rr] as usize] & OUT != 0 {
                by_rr += 1;
            }
            let (least_ra, least_rr) = (life(ra[by_ra]).ra, life(rr[by_rr]).rr);
            while by_ia < ia.len() && life(ia[by_ia]).ia <= least_ra {
                let value = ia[by_ia];
                flags[value as usize] |= 1;
                if flags[value as usize] == 3 {
                    free.push(value);
                }
                by_ia += 1;
            }
            while by_ir < ir.len() && life(ir[by_ir]).ir <= least_rr {
                let value = ir[by_ir];
                flags[value as usize] |= 2;
                if flags[value as usize] == 3 {
                    free.push(value);
                }
                by_ir += 1;
            }
            let Some(value) = free.pop() else {
                return Err((ra[by_ra] as usize, rr[by_rr] as usize));
            };
            flags[value as usize] |= OUT;
            order.push(value);
        }
        Ok(order)
    }
}
