//! Accesses of plain memory that no synchronisation orders.
//!
//! A thread is not switched before an access of a cell that all executions so far order with those
//! of other threads: the order of these accesses follows from the steps that are switched at. Two
//! accesses that are not ordered make their lines places of switches, and the search begins again.
//! So a program without data races has no executions more than without cells, and a race that any
//! execution of the search has is found in it, whatever the order of its two accesses there.
//!
//! Order is happens-before, by vector clocks: an atomic's step comes after the changes of that
//! atomic, whatever its `Ordering`, and steps of locks, conditions and tokens are in a total order
//! for each (Lamport, "Time, Clocks, and the Ordering of Events in a Distributed System", CACM
//! 1978). What the stand-in does not see, such as the counts of an `Arc`, orders nothing here.

use std::panic::Location;

use lineup_std::control::{Access, Kind, Object};
use rustc_hash::FxHashMap;
use snapshot_core::observation::Thread;

const THREADS: usize = Thread::LIMIT + 1;

/// The number of steps of each thread that come before.
type Clock = [u32; THREADS];

/// A line of the program.
pub(crate) type Line = &'static Location<'static>;

/// The last access of a thread to a cell.
#[derive(Clone, Copy, Debug)]
struct Touch {
    thread: usize,
    time: u32,
    line: Line,
    changes: bool,
}

/// The accesses of an execution.
#[derive(Debug)]
pub(crate) struct Unordered {
    /// The number of columns: the threads before and after these are ordered with all others.
    columns: usize,
    /// True from the first access of a cell on, also in later executions.
    is_used: bool,
    clocks: [Clock; THREADS],
    orders: FxHashMap<Object, Clock>,
    cells: FxHashMap<Object, Vec<Touch>>,
    /// Pairs that were found and not taken yet.
    found: Vec<(Line, Line)>,
}

fn join(clock: &mut Clock, other: &Clock) {
    clock.iter_mut().zip(other).for_each(|(time, other)| *time = (*time).max(*other));
}

impl Unordered {
    /// Makes a record for a test with this many columns.
    pub(crate) fn new(columns: usize) -> Self {
        Self {
            columns,
            is_used: false,
            clocks: [[0; THREADS]; THREADS],
            orders: FxHashMap::default(),
            cells: FxHashMap::default(),
            found: Vec::new(),
        }
    }

    /// Forgets a finished execution.
    pub(crate) fn clear(&mut self) {
        if self.is_used {
            self.clocks = [[0; THREADS]; THREADS];
            self.orders.clear();
            self.cells.clear();
        }
    }

    /// Records the beginning of a step.
    pub(crate) const fn step(&mut self, thread: Thread) {
        self.clocks[thread.index()][thread.index()] += 1;
    }

    /// Records an access of a thread's running step, at a line.
    pub(crate) fn access(&mut self, thread: Thread, access: Access, line: Option<Line>) {
        self.is_used |= access.kind == Kind::Plain;
        let thread = thread.index();
        if !self.is_used || thread >= self.columns {
            return;
        }
        match (access.kind, line) {
            (Kind::Plain, Some(line)) => self.touch(access, thread, line),
            (Kind::Plain, None) => {}
            (Kind::Atomic | Kind::Lock, _) => {
                let order = self.orders.entry(access.object).or_insert([0; THREADS]);
                join(&mut self.clocks[thread], order);
                if access.changes || access.kind == Kind::Lock {
                    *order = self.clocks[thread];
                }
            }
        }
    }

    fn touch(&mut self, access: Access, thread: usize, line: Line) {
        let clock = self.clocks[thread];
        let touches = self.cells.entry(access.object).or_default();
        for other in touches.iter().filter(|other| other.thread != thread) {
            let is_ordered = other.time <= clock[other.thread];
            if !is_ordered && (access.changes || other.changes) {
                self.found.push((other.line, line));
            }
        }
        let (time, changes) = (clock[thread], access.changes);
        // Of the reads of a thread, and of its writes, the last ones are ordered after the others.
        touches.retain(|other| other.thread != thread || other.changes != changes);
        touches.push(Touch { thread, time, line, changes });
    }

    /// Returns the pairs found since the last call.
    pub(crate) fn take(&mut self) -> Vec<(Line, Line)> {
        std::mem::take(&mut self.found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(object: &u8, kind: Kind, changes: bool) -> Access {
        Access { object: Object::at(object), kind, changes }
    }

    /// Returns the number of unordered pairs among accesses: of a thread (0, 1), to an object (a
    /// cell 0, an atomic 1, a lock 2), as a change or not.
    fn unordered(accesses: &[(usize, usize, bool)]) -> usize {
        let objects = [0_u8; 3];
        let kinds = [Kind::Plain, Kind::Atomic, Kind::Lock];
        let mut record = Unordered::new(2);
        for (thread, object, changes) in accesses {
            let thread = Thread::from_index(*thread);
            record.step(thread);
            let access = at(&objects[*object], kinds[*object], *changes);
            record.access(thread, access, Some(Location::caller()));
        }
        record.take().len()
    }

    #[test]
    fn conflicts_without_order_are_found() {
        let (read, write) = (false, true);
        assert_eq!(unordered(&[(0, 0, write), (1, 0, write)]), 1);
        assert_eq!(unordered(&[(0, 0, write), (1, 0, read)]), 1);
        assert_eq!(unordered(&[(0, 0, read), (1, 0, write)]), 1);
        assert_eq!(unordered(&[(0, 0, read), (1, 0, read)]), 0);
        assert_eq!(unordered(&[(0, 0, write), (0, 0, write)]), 0);
        // Two accesses before, one of them a read.
        assert_eq!(unordered(&[(0, 0, write), (0, 0, read), (1, 0, read)]), 1);
        assert_eq!(unordered(&[(0, 0, write), (0, 0, read), (1, 0, write)]), 2);
    }

    #[test]
    fn atomics_and_locks_order() {
        let (read, write) = (false, true);
        let message = [(0, 0, write), (0, 1, write), (1, 1, read), (1, 0, read)];
        assert_eq!(unordered(&message), 0);
        // Behind the flag, or before it is read.
        assert_eq!(unordered(&[(0, 1, write), (0, 0, write), (1, 1, read), (1, 0, read)]), 1);
        assert_eq!(unordered(&[(0, 0, write), (0, 1, write), (1, 0, read), (1, 1, read)]), 1);
        // A flag that was only read orders nothing, a lock does.
        assert_eq!(unordered(&[(0, 0, write), (0, 1, read), (1, 1, write), (1, 0, read)]), 1);
        assert_eq!(unordered(&[(0, 0, write), (0, 2, read), (1, 2, write), (1, 0, read)]), 0);
    }
}
