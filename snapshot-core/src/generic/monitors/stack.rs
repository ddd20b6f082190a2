//! Stacks in O(n log n).
//!
//! Intervals are cut as in [`super::values`]. *Thin* values are pushed and popped side by side at
//! the point max(ia, ir), where that is legal whatever else is on the stack. S is a set of solid
//! ones.
//!
//! * A *gap* is a point between two values of S at which none of S is inside. S is linearizable
//!   iff both sides are: one linearization after the other, as for the zones of
//!   [`super::queue`].
//! * A value x of S is *outermost* if ia(x) <= the least ra of S and rr(x) >= the greatest ir of S.
//!   S is linearizable iff S without x is: x is pushed first and popped last.
//! * Else there is no linearization: without a gap the stack is not empty between the first
//!   push and the last pop (such an instant were a gap: a value on its left has ir before it, one
//!   on its right ra behind it), so what is pushed first is popped last, and is outermost.
//!
//! *Algorithm.* Values are ranked by ra. A gap cuts time, so a problem is an interval of ranks, or
//! what is left in it. There is a gap iff at the point just before the ra of some value but the first
//! none is inside. Splitting and taking out only make more values outermost: each is noticed once
//! to satisfy either half, and taken out once. Segment trees find the first gap, and
//! the values that satisfy a half.
//!
//! *Proof of a violation.* Let a have the least ra of S, and b the greatest ir, and cover the time
//! from ra(a) to ir(b) by the fewest values of S. The stack is never empty in between; and each of
//! these was pushed after push a ended, or popped before pop b began.

use super::Found;
use super::part::{NEVER, Part};
use super::tree::{Peaks, Sums};
use super::values::{Life, Values, fewest_cover, free_points};
use crate::generic::effect::Effect;
use crate::generic::proof::Proof;

/// Decides a stack with these values; those without removal are never removed.
pub(super) fn judge<V>(values: &Values<'_, V>, lives: &[Life]) -> Found {
    let part = values.part;
    let free = free_points(part.events, lives.iter());
    let mut empties = Vec::with_capacity(values.empties.len());
    for &operation in &values.empties {
        let (from, to) = (part.invoked[operation as usize] + 1, part.responded[operation as usize]);
        let point = free[from as usize];
        if point > to {
            let cover = fewest_cover(lives.iter(), from, to).unwrap_or_default();
            return Found::Violation(Proof::NotEmpty {
                operation: part.ids[operation as usize],
                inside: cover.iter().map(|life| life.stay(part)).collect(),
            });
        }
        empties.push((point, operation));
    }
    empties.sort_unstable();
    let (mut solid, mut thin): (Vec<Life>, Vec<Life>) =
        lives.iter().copied().partition(Life::is_solid);
    solid.sort_unstable_by_key(|life| life.ra);
    let nested = match Nesting::new(&solid).run() {
        Ok(nested) => nested,
        Err((first, last)) => {
            let (a, b) = (&solid[first], &solid[last]);
            // What lies outside the set is no part of the time in between, or outermost.
            let set = solid.iter().filter(|life| {
                (life.ia > a.ra || life.rr < b.ir) && life.ra >= a.ra && life.ir <= b.ir
            });
            let cover = fewest_cover(set, a.ra + 1, b.ir);
            debug_assert!(cover.is_some(), "a set without gap has a cover");
            let cover = cover.unwrap_or_default();
            let chain = shortest(&cover).iter().map(|life| life.stay(part)).collect();
            return Found::Violation(Proof::Crossed { chain });
        }
    };
    thin.sort_unstable_by_key(Life::begun);
    Found::Order(merge(part, &nested, &thin, &empties))
}

/// The fewest neighbours in a chain of which none is outermost among them.
fn shortest(chain: &[Life]) -> &[Life] {
    const MOST: usize = 64;
    let is_crossed = |some: &&[Life]| {
        let (first, last) = (&some[0], &some[some.len() - 1]);
        first.ra < last.ir && some.iter().all(|life| life.ia > first.ra || life.rr < last.ir)
    };
    let mut all = (2..chain.len().min(MOST)).flat_map(|count| chain.windows(count));
    all.find(is_crossed).unwrap_or(chain)
}

/// Pushes and pops of solid values with thin values and operations that find nothing put in.
fn merge<V>(part: &Part<V>, nested: &[u32], thin: &[Life], empties: &[(u32, u32)]) -> Vec<u32> {
    let mut order = Vec::with_capacity(part.ids.len());
    let mut thin = thin.iter().peekable();
    let mut empties = empties.iter().peekable();
    // The last invocation so far: all up to here can have taken effect right behind it.
    let mut time = 0;
    let mut put_in = |order: &mut Vec<u32>, time: u32| {
        while let Some(life) = thin.next_if(|life| life.begun() < time) {
            order.extend([life.addition, life.removal]);
        }
    };
    for &operation in nested {
        if let Effect::Add(_) = part.effects[operation as usize] {
            // What is on the left of a gap is added before it, for certain, and comes first.
            let added = part.responded[operation as usize];
            while let Some((point, empty)) = empties.next_if(|(point, _)| *point <= added) {
                put_in(&mut order, *point);
                order.push(*empty);
                time = time.max(point - 1);
            }
        }
        time = time.max(part.invoked[operation as usize]);
        put_in(&mut order, time);
        order.push(operation);
    }
    for (point, empty) in empties {
        put_in(&mut order, *point);
        order.push(*empty);
    }
    put_in(&mut order, NEVER);
    order
}

/// Solid values, sorted by ra, while gaps and outermost values are sought.
struct Nesting<'l> {
    solid: &'l [Life],
    /// Per rank, how many of those left are inside just before its ra.
    inside: Sums,
    /// 0 is the number of none. The greatest `!ia` of values not yet noticed to be pushed early enough; the greatest rr of
    /// those not yet noticed to be popped late enough.
    early: Peaks,
    late: Peaks,
    /// The greatest ir of those left.
    last: Peaks,
    /// Per rank, itself if it is left, else one behind it.
    next: Vec<u32>,
    is_early: Vec<bool>,
    is_late: Vec<bool>,
}

/// Ranks from the first to before the second, or a removal for when what is above is done.
enum Task {
    Ranks(usize, usize),
    Removal(u32),
}

/// More than there are values.
const OUT: i32 = 1 << 30;

impl<'l> Nesting<'l> {
    fn new(solid: &'l [Life]) -> Self {
        let count = solid.len();
        let mut change = vec![0; count + 1];
        for (rank, life) in solid.iter().enumerate() {
            change[rank + 1] += 1;
            change[Self::end(solid, life)] -= 1;
        }
        let mut sum = 0;
        for number in &mut change {
            sum += *number;
            *number = sum;
        }
        Self {
            solid,
            inside: Sums::new(change[..count].iter().copied()),
            early: Peaks::new(solid.iter().map(|life| !life.ia)),
            late: Peaks::new(solid.iter().map(|life| life.rr)),
            last: Peaks::new(solid.iter().map(|life| life.ir)),
            next: (0..=count as u32).collect(),
            is_early: vec![false; count],
            is_late: vec![false; count],
        }
    }

    /// The first rank whose ra is behind the time at which a value is certainly inside.
    fn end(solid: &[Life], life: &Life) -> usize {
        solid.partition_point(|other| other.ra < life.ir)
    }

    /// The operations of the values, nested; or the ranks of the values a and b of a violation.
    fn run(mut self) -> Result<Vec<u32>, (usize, usize)> {
        let mut order = Vec::with_capacity(2 * self.solid.len());
        let mut tasks = vec![Task::Ranks(0, self.solid.len())];
        while let Some(task) = tasks.pop() {
            let (from, to) = match task {
                Task::Ranks(from, to) => (self.left(from), to),
                Task::Removal(removal) => {
                    order.push(removal);
                    continue;
                }
            };
            if from >= to {
                continue;
            }
            if let Some(gap) = self.inside.first_at_most(from + 1, to, 0) {
                tasks.extend([Task::Ranks(gap, to), Task::Ranks(from, gap)]);
                continue;
            }
            let outermost = self.outermost(from, to)?;
            let life = &self.solid[outermost];
            order.push(life.addition);
            self.take_out(outermost);
            tasks.extend(Some(Task::Removal(life.removal)).filter(|_| life.removal != NEVER));
            tasks.push(Task::Ranks(from, to));
        }
        Ok(order)
    }

    /// The first rank from this one on that is left.
    fn left(&mut self, rank: usize) -> usize {
        let mut root = rank;
        while self.next[root] as usize != root {
            root = self.next[root] as usize;
        }
        let mut step = rank;
        while step != root {
            step = std::mem::replace(&mut self.next[step], root as u32) as usize;
        }
        root
    }

    fn outermost(&mut self, from: usize, to: usize) -> Result<usize, (usize, usize)> {
        let least_ra = self.solid[from].ra;
        let (_, last) = self.last.greatest(from, to);
        let greatest_ir = self.solid[last].ir;
        loop {
            let (ia, rank) = self.early.greatest(from, to);
            if ia == 0 || !ia > least_ra {
                break;
            }
            self.early.set(rank, 0);
            self.is_early[rank] = true;
            if self.is_late[rank] {
                return Ok(rank);
            }
        }
        loop {
            let (rr, rank) = self.late.greatest(from, to);
            if rr == 0 || rr < greatest_ir {
                break;
            }
            self.late.set(rank, 0);
            self.is_late[rank] = true;
            if self.is_early[rank] {
                return Ok(rank);
            }
        }
        Err((from, last))
    }

    fn take_out(&mut self, rank: usize) {
        let life = &self.solid[rank];
        self.inside.add(rank + 1, Self::end(self.solid, life), -1);
        self.inside.add(rank, rank + 1, OUT);
        self.early.set(rank, 0);
        self.late.set(rank, 0);
        self.last.set(rank, 0);
        self.next[rank] = rank as u32 + 1;
    }
}
