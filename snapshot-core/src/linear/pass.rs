//! The pass over the events that reads the scans, and checks A, B, C and E.

use std::hash::Hash;

use super::runs::{Instant, NEVER, Runs, Sight};
use super::scans::Scans;
use crate::history::{Action, History};
use crate::monitor::Undecided;
use crate::verdict::Cause;
use crate::{OperationId, Segment};

/// Why the pass over the events ends early.
pub(super) enum Stop {
    Violation,
    Undecided(Undecided),
}

/// The open operation of a process.
#[derive(Clone, Copy)]
enum Open {
    Nothing,
    Update {
        segment: u32,
    },
    /// With the largest sum of a complete scan when the open scan began.
    Scan {
        floor: u64,
    },
}

/// The state of the pass.
pub(super) struct Pass<'h, V> {
    history: &'h History<V>,
    runs: Vec<Runs<'h, V>>,
    scans: Scans,
    open: Vec<Open>,
    /// The largest sum of a complete scan.
    floor: u64,
}

impl<'h, V: Clone + Eq + Hash> Pass<'h, V> {
    pub fn new(history: &'h History<V>, scans: Scans) -> Self {
        let initial = |segment| history.initial_value(Segment::must(segment));
        Self {
            history,
            runs: (0..history.segments()).map(|segment| Runs::new(initial(segment))).collect(),
            scans,
            open: vec![Open::Nothing; history.processes()],
            floor: 0,
        }
    }

    /// The segments' updates, and what the scans read.
    pub fn into_parts(self) -> (Vec<Runs<'h, V>>, Scans) {
        (self.runs, self.scans)
    }

    pub fn run(&mut self) -> Result<(), Stop> {
        let history = self.history;
        for (position, step) in history.steps().enumerate() {
            let now = position as Instant + 1;
            let operation = step.operation.index() as u32;
            let event = history.event(position);
            let process = event.process.index();
            let overlap = |next: u32| {
                let (first, second) =
                    (OperationId::must(operation as usize), OperationId::must(next as usize));
                undecided(position, Cause::OverlappingUpdates { first, second })
            };
            match event.action {
                Action::InvokeUpdate { segment, value } => {
                    self.runs[segment.index()].begin(operation, value, now);
                    self.open[process] = Open::Update { segment: segment.index() as u32 };
                }
                Action::InvokeScan => {
                    self.open[process] = Open::Scan { floor: self.floor };
                }
                Action::RespondUpdate => {
                    if let Open::Update { segment } = self.open[process] {
                        let runs = &mut self.runs[segment as usize];
                        runs.respond(operation, now).map_err(overlap)?;
                    }
                }
                Action::RespondScan { values } => {
                    if let Open::Scan { floor } = self.open[process] {
                        self.open[process] = Open::Nothing;
                        self.end_scan(operation, values, floor, now)?;
                    }
                }
                Action::Fail => {
                    if let Open::Update { segment } = self.open[process]
                        && self.runs[segment as usize].fail(operation)
                    {
                        return Err(Stop::Violation);
                    }
                }
                Action::Unknown => {}
            }
        }
        Ok(())
    }

    #[inline]
    fn end_scan(
        &mut self,
        operation: u32,
        values: &'h [V],
        floor: u64,
        now: Instant,
    ) -> Result<(), Stop> {
        let begun = self.history.operation(OperationId::must(operation as usize)).invocation();
        let begun = begun as Instant + 1;
        let (mut since, mut until, mut sum) = (begun, NEVER, 0);
        let vector = self.scans.begin();
        for ((runs, value), entry) in self.runs.iter_mut().zip(values).zip(vector) {
            let sight = runs.read(value, begun, now);
            if sight.number >= Sight::SEVERAL {
                self.narrow(operation, begun, floor, now)?;
                (since, until, sum) = self.bounds(begun);
                break;
            }
            *entry = sight.number;
            since = since.max(sight.invocation);
            until = until.min(sight.overwritten);
            sum += u64::from(sight.number);
        }
        // B and E: no run that the scan saw was over at `since`.
        if until < since {
            return Err(Stop::Violation);
        }
        if sum < floor {
            return Err(Stop::Violation);
        }
        self.floor = self.floor.max(sum);
        self.scans.finish(operation, sum, since);
        if self.scans.is_full() {
            let open = self.open.iter().filter_map(|open| match open {
                Open::Scan { floor } => Some(*floor),
                _ => None,
            });
            // Later scans are not below the floors of those that are open.
            let settled = open.min().unwrap_or(self.floor);
            if !self.scans.settle(settled) {
                return Err(Stop::Violation);
            }
        }
        Ok(())
    }

    /// Latest invocation, earliest end and sum of the runs that a scan saw.
    fn bounds(&self, begun: Instant) -> (Instant, Instant, u64) {
        let (mut since, mut until, mut sum) = (begun, NEVER, 0);
        for (runs, &number) in self.runs.iter().zip(self.scans.last()) {
            since = since.max(runs.invocation(number));
            until = until.min(runs.overwritten(number));
            sum += u64::from(number);
        }
        (since, until, sum)
    }

    /// The vector of a scan some of whose values repeat, if it is determined:
    /// the scan read all entries at one instant, at which the runs that it saw
    /// were all in effect, and not less than the scan whose sum is `floor` did.
    #[cold]
    #[inline(never)]
    fn narrow(
        &mut self,
        operation: u32,
        begun: Instant,
        floor: u64,
        now: Instant,
    ) -> Result<(), Stop> {
        let scan = OperationId::must(operation as usize);
        let position = now as usize - 1;
        let values = self.history.scan_values(self.history.operation(scan));
        let above = self.scans.find(floor);
        let mut floating = None;
        // An entry that may come from a floating update stays empty.
        let mut candidates: Vec<Vec<u32>> = Vec::with_capacity(values.len());
        for (segment, (runs, value)) in self.runs.iter().zip(values).enumerate() {
            let found = runs.floating(value);
            if found.is_some() {
                floating = floating.or(found);
                candidates.push(Vec::new());
                continue;
            }
            let mut entry = runs.candidates(value, begun);
            if let Some(above) = above {
                entry.retain(|&number| number >= self.scans.vector(above)[segment]);
            }
            if entry.is_empty() {
                return Err(Stop::Violation);
            }
            candidates.push(entry);
        }
        loop {
            let (mut from, mut until) = (begun, now);
            for (runs, entry) in self.runs.iter().zip(&candidates) {
                from = from.max(entry.iter().map(|&n| runs.invocation(n)).min().unwrap_or(0));
                until =
                    until.min(entry.iter().map(|&n| runs.overwritten(n)).max().unwrap_or(NEVER));
            }
            let mut changed = false;
            for (runs, entry) in self.runs.iter().zip(&mut candidates) {
                let before = entry.len();
                entry.retain(|&n| runs.invocation(n) <= until && runs.overwritten(n) >= from);
                if entry.is_empty() && before > 0 {
                    return Err(Stop::Violation);
                }
                changed |= entry.len() < before;
            }
            if !changed {
                break;
            }
        }
        if let Some((first, second)) = floating {
            return Err(undecided(position, Cause::OverlappingUpdates { first, second }));
        }
        if let Some(segment) = candidates.iter().position(|entry| entry.len() > 1) {
            let segment = Segment::must(segment);
            return Err(undecided(position, Cause::AmbiguousValue { scan, segment }));
        }
        for ((runs, number), entry) in
            self.runs.iter_mut().zip(self.scans.last_mut()).zip(&candidates)
        {
            *number = entry[0];
            runs.saw(entry[0], now);
        }
        Ok(())
    }
}

#[cold]
fn undecided(event: usize, cause: Cause) -> Stop {
    Stop::Undecided(Undecided { event, cause })
}
