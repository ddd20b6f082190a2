//! The order of efforts in which `grow` hunts for bugs.
//!
//! A violation mostly takes few operations of few processes, but a plain breadth-first search at
//! large n drowns in the idle steps of all the others before it gets there. So explorations are
//! tried with 1, 2, 3, ... operations per process and with few participating processes, the
//! cheapest first, until one finds a violation, or until the unbounded exploration is done.
//!
//! The cost of an exploration is not known before it ran. Its states grow like (operations x steps
//! per operation) to the power of the processes, and this estimate gives a good order. An unbounded
//! exploration is tried where one with [`UNBOUNDED_AS`] operations would be: often it is not much
//! larger, and once it ends, all bounds have been answered.
//!
//! The same order applies to 0, 1, 2, ... barriers, each of which allows each process one operation
//! more.
//!
//! Invariants: an effort occurs once; never one that a finished effort includes (all its executions
//! are explored), nor one that includes an effort that did not fit into memory.

/// Bounds of an exploration.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Effort {
    /// Number of operations that each process may invoke; `None` if unbounded.
    pub operations: Option<u32>,
    /// Number of barriers of an execution; `None` if unbounded.
    pub barriers: Option<u32>,
    /// Number of participating processes, i and j first.
    pub active: usize,
}

/// Approximate steps per operation.
const STEPS: u128 = 10;

/// Bound that stands for an unbounded effort in the order.
const UNBOUNDED_AS: u32 = 4;

impl Effort {
    /// Returns true if this effort covers all executions of `that`.
    pub fn includes(self, that: Self) -> bool {
        let includes = |these: Option<u32>, those: Option<u32>| {
            these.is_none_or(|these| those.is_some_and(|those| those <= these))
        };
        includes(self.operations, that.most_operations())
            && includes(self.barriers, that.barriers)
            && that.active <= self.active
    }

    /// Returns the maximum number of operations of each process, if bounded: one, and one more
    /// behind each barrier.
    pub fn most_operations(self) -> Option<u32> {
        let of_barriers = self.barriers.map(|barriers| barriers.saturating_add(1));
        self.operations.into_iter().chain(of_barriers).min()
    }

    /// Returns the estimated cost; between equal costs the smaller bound is first.
    fn order(self) -> (u128, u32) {
        let operations = self.most_operations().unwrap_or(UNBOUNDED_AS);
        let states = (STEPS * u128::from(operations)).saturating_pow(self.active as u32);
        (states, self.most_operations().unwrap_or(u32::MAX))
    }
}

/// Efforts for one pair, the cheapest remaining one first.
#[derive(Clone, Debug)]
pub struct Schedule {
    /// Bounds are on barriers, one fewer than on operations.
    of_barriers: bool,
    rows: Vec<Row>,
    finished: Vec<Effort>,
    too_large: Vec<Effort>,
}

/// Efforts with one number of active processes.
#[derive(Clone, Copy, Debug)]
struct Row {
    active: usize,
    /// The bound to try next.
    bound: u32,
    /// True if the unbounded effort was tried.
    unbounded: bool,
}

impl Row {
    const fn without_bound(self) -> Effort {
        Effort { operations: None, barriers: None, active: self.active }
    }

    const fn with_bound(self, of_barriers: bool) -> Effort {
        let (operations, barriers) = match of_barriers {
            true => (None, Some(self.bound - 1)),
            false => (Some(self.bound), None),
        };
        Effort { operations, barriers, active: self.active }
    }
}

impl Schedule {
    /// Schedules efforts for n processes; n is at least 2.
    pub fn new(processes: usize) -> Self {
        let row = |active| Row { active, bound: 1, unbounded: false };
        let rows = (2..=processes).map(row).collect();
        Self { of_barriers: false, rows, finished: Vec::new(), too_large: Vec::new() }
    }

    /// Schedules efforts with bounds on barriers rather than on operations.
    pub fn by_barriers(processes: usize) -> Self {
        Self { of_barriers: true, ..Self::new(processes) }
    }

    /// Records that an effort was finished, or did not fit.
    pub fn note(&mut self, effort: Effort, finished: bool) {
        let list = if finished { &mut self.finished } else { &mut self.too_large };
        list.push(effort);
    }

    /// Returns the finished efforts that no other one includes.
    pub fn finished(&self) -> impl Iterator<Item = Effort> {
        let larger =
            |one: Effort| self.finished.iter().any(|&other| other != one && other.includes(one));
        self.finished.iter().copied().filter(move |&one| !larger(one))
    }

    fn is_answered(&self, effort: Effort) -> bool {
        self.finished.iter().any(|finished| finished.includes(effort))
    }

    fn is_hopeless(&self, effort: Effort) -> bool {
        self.too_large.iter().any(|&large| effort.includes(large))
    }
}

/// Yields the cheapest remaining effort, given the results that [`Schedule::note`] recorded.
impl Iterator for Schedule {
    type Item = Effort;

    fn next(&mut self) -> Option<Effort> {
        let mut cheapest: Option<Effort> = None;
        for position in 0..self.rows.len() {
            let mut row = self.rows[position];
            if self.is_answered(row.without_bound()) {
                continue;
            }
            while self.is_answered(row.with_bound(self.of_barriers)) {
                row.bound += 1;
            }
            self.rows[position] = row;
            let without_bound = (!row.unbounded).then(|| row.without_bound());
            let with_bound = row.with_bound(self.of_barriers);
            for effort in without_bound.into_iter().chain([with_bound]) {
                let cheaper = cheapest.is_none_or(|other| effort.order() < other.order());
                if cheaper && !self.is_hopeless(effort) {
                    cheapest = Some(effort);
                }
            }
        }
        let effort = cheapest?;
        let row = &mut self.rows[effort.active - 2];
        match effort.most_operations() {
            Some(bound) => row.bound = bound + 1,
            None => row.unbounded = true,
        }
        Some(effort)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn effort(operations: u32, active: usize) -> Effort {
        Effort { operations: Some(operations), barriers: None, active }
    }

    const fn unbounded(active: usize) -> Effort {
        Effort { operations: None, barriers: None, active }
    }

    const fn barriers(barriers: u32, active: usize) -> Effort {
        Effort { operations: None, barriers: Some(barriers), active }
    }

    #[test]
    fn few_operations_of_few_processes_come_first() {
        let mut efforts = Schedule::new(4);
        let mut order = Vec::new();
        for _ in 0..9 {
            let next = efforts.next().unwrap();
            efforts.note(next, true);
            order.push(next);
        }
        let expected = [
            effort(1, 2),
            effort(2, 2),
            effort(3, 2),
            effort(1, 3),
            // The unbounded effort may cost more or less than one of 4 operations.
            effort(4, 2),
            unbounded(2),
            effort(2, 3),
            effort(1, 4),
            effort(3, 3),
        ];
        assert_eq!(order, expected);
    }

    #[test]
    fn schedule_ends_after_the_unbounded_effort() {
        let mut efforts = Schedule::new(5);
        let mut last = None;
        while let Some(next) = efforts.next() {
            efforts.note(next, true);
            last = Some(next);
        }
        assert_eq!(last, Some(unbounded(5)));
        assert_eq!(efforts.finished().collect::<Vec<_>>(), [unbounded(5)]);
    }

    #[test]
    fn efforts_above_one_that_did_not_fit_are_skipped() {
        let mut efforts = Schedule::new(3);
        let mut tried = Vec::new();
        // Efforts that fit: 2 processes with up to 5 operations, 3 with 1.
        while let Some(next) = efforts.next() {
            let fits = match next.operations {
                Some(bound) => bound <= if next.active == 2 { 5 } else { 1 },
                None => false,
            };
            efforts.note(next, fits);
            tried.push(next);
        }
        let count = |effort| tried.iter().filter(|&&one| one == effort).count();
        assert!(tried.iter().all(|&effort| count(effort) == 1), "{tried:?}");
        assert_eq!(count(effort(5, 2)), 1);
        assert_eq!(count(effort(6, 2)), 1);
        assert_eq!(count(effort(7, 2)), 0);
        assert_eq!(count(effort(3, 3)), 0);
        assert_eq!(count(unbounded(3)), 0, "2 operations did not fit");
        assert_eq!(efforts.finished().collect::<Vec<_>>(), [effort(1, 3), effort(5, 2)]);
    }

    #[test]
    fn barriers_are_ordered_like_operations() {
        let (mut one, mut other) = (Schedule::new(4), Schedule::by_barriers(4));
        for _ in 0..12 {
            let [by_operations, by_barriers] = [one.next().unwrap(), other.next().unwrap()];
            let expected = match by_operations.operations {
                Some(bound) => barriers(bound - 1, by_operations.active),
                None => by_operations,
            };
            assert_eq!(by_barriers, expected);
            one.note(by_operations, true);
            other.note(by_barriers, true);
        }
    }

    #[test]
    fn inclusion_of_efforts() {
        let all = [barriers(0, 2), barriers(1, 2), effort(1, 2), effort(2, 2), unbounded(2)];
        let included = |one: Effort| all.map(|other| one.includes(other));
        assert_eq!(included(barriers(0, 2)), [true, false, false, false, false]);
        assert_eq!(included(barriers(1, 2)), [true, true, false, false, false]);
        assert_eq!(included(effort(1, 2)), [true, false, true, false, false]);
        assert_eq!(included(effort(2, 2)), [true, true, true, true, false]);
        assert_eq!(included(unbounded(2)), [true; 5]);
        assert_eq!(included(barriers(1, 3)), [true, true, false, false, false]);
        assert!(!barriers(3, 2).includes(barriers(1, 3)));
    }

    #[test]
    fn efforts_included_in_a_finished_one_are_skipped() {
        let mut efforts = Schedule::new(3);
        efforts.note(unbounded(2), true);
        assert_eq!(efforts.next(), Some(effort(1, 3)));
        efforts.note(effort(3, 3), true);
        assert_eq!(efforts.next(), Some(effort(4, 3)));
    }
}
