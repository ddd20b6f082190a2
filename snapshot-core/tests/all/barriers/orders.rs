//! All interval orders.

use std::ops::Range;

/// The span of an operation: its first and its last interval.
pub type Span = (usize, usize);

/// An order of time among operations, by the intervals that they span.
///
/// Every interval is the first of some operation and the last of some operation. So the number of
/// intervals is minimal for the order, and each interval order of labelled operations has one such
/// representation (Greenough, "Representation and enumeration of interval orders and semiorders",
/// 1976).
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Order {
    pub spans: Vec<Span>,
    pub intervals: usize,
}

impl Order {
    /// Returns for each operation the set of its predecessors, if only the order across these cuts
    /// is kept: bit c of `cuts` stands for the barrier between the intervals c and c + 1.
    pub fn before(&self, cuts: u32) -> Vec<u32> {
        let is_cut = |between: Range<usize>| between.into_iter().any(|cut| cuts >> cut & 1 == 1);
        let before = |&(first, _): &Span| {
            let earlier = self.spans.iter().enumerate();
            let earlier = earlier.filter(|(_, (_, last))| is_cut(*last..first));
            earlier.fold(0, |set, (operation, _)| set | 1 << operation)
        };
        self.spans.iter().map(before).collect()
    }

    /// The set of all barriers.
    pub const fn barriers(&self) -> u32 {
        (1 << (self.intervals - 1)) - 1
    }
}

/// Visits every interval order of this many labelled operations, at least one.
pub fn each(operations: usize, visit: &mut impl FnMut(&Order)) {
    for intervals in 1..=operations {
        let mut order = Order { spans: Vec::new(), intervals };
        extend(operations, (0, 0), &mut order, visit);
    }
}

/// `begun` and `ended`: the intervals that are the first or the last of an operation so far.
fn extend(
    operations: usize,
    (begun, ended): (u32, u32),
    order: &mut Order,
    visit: &mut impl FnMut(&Order),
) {
    let intervals = order.intervals;
    let missing = |set: u32| intervals - set.count_ones() as usize;
    let left = operations - order.spans.len();
    if missing(begun) > left || missing(ended) > left {
        return;
    }
    if left == 0 {
        visit(order);
        return;
    }
    for first in 0..intervals {
        for last in first..intervals {
            order.spans.push((first, last));
            extend(operations, (begun | 1 << first, ended | 1 << last), order, visit);
            order.spans.pop();
        }
    }
}

/// The known numbers (OEIS A079144).
#[test]
fn every_interval_order_is_enumerated_once() {
    for (operations, expected) in [(1, 1), (2, 3), (3, 19), (4, 207), (5, 3451)] {
        let mut seen = Vec::new();
        each(operations, &mut |order| seen.push(order.before(order.barriers())));
        assert_eq!(seen.len(), expected, "{operations} operations");
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), expected, "{operations} operations, without repetitions");
    }
}
