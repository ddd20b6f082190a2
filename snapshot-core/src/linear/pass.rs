//! The pass over the events that reads the scans, and checks A, B, C and E.

use std::hash::Hash;

use super::runs::{Instant, NEVER, Runs, Sight};
use super::scans::Scans;
use crate::history::{History, OperationKind, Outcome};
use crate::monitor::Undecided;
use crate::verdict::Cause;
use crate::{OperationId, Segment};

/// The reason why the pass over the events ends early.
pub(super) enum Stop {
    Violation,
    Undecided(Undecided),
}

/// An open scan, with the largest sum of a scan completed before its invocation.
#[derive(Clone, Copy)]
struct OpenScan {
    begun: Instant,
    floor: u64,
}

/// The state of the pass.
pub(super) struct Pass<'h, V> {
    history: &'h History<V>,
    runs: Vec<Runs<'h, V>>,
    scans: Scans,
    /// The open scan of each process.
    open: Vec<Option<OpenScan>>,
    /// The largest sum of a complete scan.
    floor: u64,
}

impl<'h, V: Clone + Eq + Hash> Pass<'h, V> {
    pub fn new(history: &'h History<V>, scans: Scans) -> Self {
        let initial = |segment| history.initial_value(Segment::from_index(segment));
        Self {
            history,
            runs: (0..history.segments()).map(|segment| Runs::new(initial(segment))).collect(),
            scans,
            open: vec![None; history.processes()],
            floor: 0,
        }
    }

    /// Returns the updates of the segments, and the vectors of the scans.
    pub fn into_parts(self) -> (Vec<Runs<'h, V>>, Scans) {
        (self.runs, self.scans)
    }

    pub fn run(&mut self) -> Result<(), Stop> {
        let history = self.history;
        for (position, step) in history.steps().enumerate() {
            let now = position as Instant + 1;
            let id = step.operation.index() as u32;
            let operation = history.operation(step.operation);
            let process = operation.process().index();
            match (step.is_end, operation.kind()) {
                (false, OperationKind::Update { segment }) => {
                    let value = history.update_value(operation);
                    self.runs[segment.index()].begin(id, value, now);
                }
                (false, OperationKind::Scan) => {
                    self.open[process] = Some(OpenScan { begun: now, floor: self.floor });
                }
                (true, OperationKind::Update { segment }) => {
                    let runs = &mut self.runs[segment.index()];
                    match operation.outcome() {
                        Outcome::Complete { .. } => runs.respond(id, now).map_err(|next| {
                            let (first, second) =
                                (step.operation, OperationId::from_index(next as usize));
                            undecided(position, Cause::OverlappingUpdates { first, second })
                        })?,
                        Outcome::Failed { .. } if runs.fail(id) => return Err(Stop::Violation),
                        Outcome::Failed { .. } | Outcome::Unknown { .. } | Outcome::Pending => {}
                    }
                }
                (true, OperationKind::Scan) => {
                    let open = self.open[process].take();
                    if operation.is_partial() {
                        let cause = Cause::PartialScan { scan: step.operation };
                        return Err(undecided(position, cause));
                    }
                    if let (true, Some(open)) = (operation.is_complete(), open) {
                        self.end_scan(id, history.scan_values(operation), open, now)?;
                    }
                }
            }
        }
        Ok(())
    }

    #[inline]
    fn end_scan(
        &mut self,
        operation: u32,
        values: &'h [V],
        OpenScan { begun, floor }: OpenScan,
        now: Instant,
    ) -> Result<(), Stop> {
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
        // B and E: no seen run had ended at `since`.
        if until < since {
            return Err(Stop::Violation);
        }
        if sum < floor {
            return Err(Stop::Violation);
        }
        self.floor = self.floor.max(sum);
        self.scans.finish(operation, sum, since);
        if self.scans.is_full() {
            self.settle(now)?;
        }
        Ok(())
    }

    /// Forgets runs and vectors that no open or future scan can be compared with.
    #[inline(never)]
    fn settle(&mut self, now: Instant) -> Result<(), Stop> {
        let (mut oldest, mut settled) = (now, self.floor);
        for open in self.open.iter().flatten() {
            oldest = oldest.min(open.begun);
            settled = settled.min(open.floor);
        }
        for runs in &mut self.runs {
            runs.forget_before(oldest);
        }
        // By C, later scans are not below the floors of the open ones.
        if self.scans.settle(settled) { Ok(()) } else { Err(Stop::Violation) }
    }

    /// Returns latest invocation, earliest end and sum of the runs that a scan saw.
    fn bounds(&self, begun: Instant) -> (Instant, Instant, u64) {
        let (mut since, mut until, mut sum) = (begun, NEVER, 0);
        for (runs, &number) in self.runs.iter().zip(self.scans.last()) {
            since = since.max(runs.invocation(number));
            until = until.min(runs.overwritten(number));
            sum += u64::from(number);
        }
        (since, until, sum)
    }

    /// Determines the vector of a scan some of whose values repeat, if it is unique: the scan read
    /// all entries at one instant, at which all seen runs were in effect, and its sum is not below
    /// `floor`, the sum of an earlier scan.
    #[cold]
    #[inline(never)]
    fn narrow(
        &mut self,
        operation: u32,
        begun: Instant,
        floor: u64,
        now: Instant,
    ) -> Result<(), Stop> {
        let scan = OperationId::from_index(operation as usize);
        let position = now as usize - 1;
        let values = self.history.scan_values(self.history.operation(scan));
        let above = self.scans.find(floor);
        let mut floating = None;
        // An entry that may come from a floating update has no candidates.
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
            let segment = Segment::from_index(segment);
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
