//! The linear-time check of a history in memory (DESIGN 2.2).
//!
//! Number the updates of each segment 1, 2, ... in their order; number 0 is the
//! initial value, and consecutive updates with the same value share a number
//! (all but the first are redundant). A scan S is then a vector phi(S), and the
//! history is linearizable iff for all complete scans S, S1, S2:
//!
//! * A. every value read was written by an update invoked before S responded;
//! * B. phi(S) >= C(inv S), where C(t) numbers the updates over before t;
//! * C. S1 < S2 implies phi(S1) <= phi(S2);
//! * D. phi(S1) <= phi(S2) or phi(S2) <= phi(S1);
//! * E. phi(S) >= C(inv of update b of j), for every j and b = phi_j(S) > 0.
//!
//! (Anderson's shrinking lemma, with the real-time condition C that Lemma 30 of
//! the DISC 2022 paper's full version leaves out.)
//!
//! Each is made one comparison per entry. B and E: with t* the latest among
//! inv S and the invocations of the updates that S saw, no update that comes
//! right after one that S saw may have responded before t*. D: order the scans
//! by the sums of their vectors, by counting, and compare neighbours. C: given
//! D, it is enough that the sum of S2 is not below the largest sum of a scan
//! that was over when S2 began.
//!
//! This module and [`crate::monitor`] implement the same conditions by
//! different means; that they agree on every prefix is a test.

mod linearize;
mod runs;

use std::hash::Hash;

use self::runs::{Instant, NEVER, Runs, Sight};
use crate::history::{Action, History};
use crate::monitor::Undecided;
use crate::verdict::Cause;
use crate::{OperationId, Segment};

/// What the conditions say.
#[derive(Debug)]
pub enum Outcome<'h, V> {
    /// The history is linearizable; the reading tells how.
    Linearizable(Reading<'h, V>),
    /// It is not.
    Violation,
    /// The conditions do not decide.
    Undecided(Undecided),
}

/// What every scan of a linearizable history read.
#[derive(Debug)]
pub struct Reading<'h, V> {
    history: &'h History<V>,
    runs: Vec<Runs<'h, V>>,
    scans: Scans,
    /// Indices into `scans`, in the order in which the scans take effect.
    chain: Vec<u32>,
}

/// Complete scans, in the order of their responses.
#[derive(Debug, Default)]
struct Scans {
    width: usize,
    operations: Vec<u32>,
    /// Numbers of the runs read, `width` per scan.
    numbers: Vec<u32>,
    sums: Vec<u64>,
    /// t*: the earliest instant at which the scan can take effect by itself.
    since: Vec<Instant>,
}

impl Scans {
    fn with_capacity<V>(history: &History<V>) -> Self {
        let scans = history.scans();
        Self {
            width: history.segments(),
            operations: Vec::with_capacity(scans),
            numbers: Vec::with_capacity(scans * history.segments()),
            sums: Vec::with_capacity(scans),
            since: Vec::with_capacity(scans),
        }
    }

    fn vector(&self, scan: usize) -> &[u32] {
        &self.numbers[scan * self.width..][..self.width]
    }
}

/// Checks the conditions. O(length of the history), `segments` per scan.
///
/// ```
/// use snapshot_core::history::{Declaration, History};
/// use snapshot_core::linear::{Outcome, check};
///
/// let mut history = History::builder(Declaration::new(0).with_segments(2)).unwrap();
/// history.invoke_scan(1).unwrap();
/// history.invoke_update(0, 0, 5).unwrap();
/// history.respond_scan(1, &[5, 0]).unwrap();
/// let history = history.finish();
/// let Outcome::Linearizable(reading) = check(&history) else { panic!() };
/// assert_eq!(reading.linearization().order.len(), 2); // the pending update took effect
/// ```
pub fn check<V: Clone + Eq + Hash>(history: &History<V>) -> Outcome<'_, V> {
    let mut pass = Pass::new(history);
    let undecided = match pass.run() {
        Ok(()) => None,
        Err(Stop::Violation) => return Outcome::Violation,
        Err(Stop::Undecided(undecided)) => Some(undecided),
    };
    let Pass { runs, scans, .. } = pass;
    let Some(chain) = chain(&scans) else { return Outcome::Violation };
    match undecided {
        Some(undecided) => Outcome::Undecided(undecided),
        None => Outcome::Linearizable(Reading { history, runs, scans, chain }),
    }
}

/// Condition D: the scans in ascending order of their vectors, if there is
/// one; equal vectors in the order of responses. O(entries of all scans).
fn chain(scans: &Scans) -> Option<Vec<u32>> {
    let len = scans.operations.len();
    let largest = scans.sums.iter().copied().max().unwrap_or(0) as usize;
    let mut ends = vec![0u32; largest + 2];
    for &sum in &scans.sums {
        ends[sum as usize + 1] += 1;
    }
    for sum in 0..=largest {
        ends[sum + 1] += ends[sum];
    }
    let mut chain = vec![0u32; len];
    for (scan, &sum) in scans.sums.iter().enumerate() {
        let place = &mut ends[sum as usize];
        chain[*place as usize] = scan as u32;
        *place += 1;
    }
    let ordered = chain.windows(2).all(|pair| {
        let (smaller, larger) = (scans.vector(pair[0] as usize), scans.vector(pair[1] as usize));
        smaller.iter().zip(larger).fold(true, |so_far, (a, b)| so_far & (a <= b))
    });
    ordered.then_some(chain)
}

/// Why the pass over the events ends early.
enum Stop {
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
    /// With the largest sum, and its scan, when the open scan began.
    Scan {
        floor: u64,
        above: u32,
    },
}

/// No scan: an index into [`Scans`].
const NO_SCAN: u32 = u32::MAX;

/// The pass over the events that reads the scans, and checks A, B, C, E.
struct Pass<'h, V> {
    history: &'h History<V>,
    runs: Vec<Runs<'h, V>>,
    scans: Scans,
    open: Vec<Open>,
    floor: u64,
    above: u32,
}

impl<'h, V: Clone + Eq + Hash> Pass<'h, V> {
    fn new(history: &'h History<V>) -> Self {
        let initial = |segment| history.initial_value(Segment::must(segment));
        Self {
            history,
            runs: (0..history.segments()).map(|segment| Runs::new(initial(segment))).collect(),
            scans: Scans::with_capacity(history),
            open: vec![Open::Nothing; history.processes()],
            floor: 0,
            above: NO_SCAN,
        }
    }

    fn run(&mut self) -> Result<(), Stop> {
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
                    self.open[process] = Open::Scan { floor: self.floor, above: self.above };
                }
                Action::RespondUpdate => {
                    if let Open::Update { segment } = self.open[process] {
                        let runs = &mut self.runs[segment as usize];
                        runs.respond(operation, now).map_err(overlap)?;
                    }
                }
                Action::RespondScan { values } => {
                    if let Open::Scan { floor, above } = self.open[process] {
                        self.end_scan(operation, values, floor, above, now)?;
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
        above: u32,
        now: Instant,
    ) -> Result<(), Stop> {
        let scan = self.scans.operations.len();
        let begun = self.history.operation(OperationId::must(operation as usize)).invocation();
        let begun = begun as Instant + 1;
        let (mut since, mut until, mut sum) = (begun, NEVER, 0);
        let start = scan * self.scans.width;
        self.scans.numbers.resize(start + self.scans.width, 0);
        let vector = &mut self.scans.numbers[start..];
        for ((runs, value), entry) in self.runs.iter_mut().zip(values).zip(vector) {
            let sight = runs.read(value, begun, now);
            if sight.number >= Sight::SEVERAL {
                self.narrow(operation, start, begun, above, now)?;
                (since, until, sum) = self.bounds(start, begun);
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
        if sum > self.floor || self.above == NO_SCAN {
            (self.floor, self.above) = (sum, scan as u32);
        }
        self.scans.operations.push(operation);
        self.scans.sums.push(sum);
        self.scans.since.push(since);
        Ok(())
    }

    /// Latest invocation, earliest end and sum of the runs that a scan saw.
    fn bounds(&mut self, start: usize, begun: Instant) -> (Instant, Instant, u64) {
        let (mut since, mut until, mut sum) = (begun, NEVER, 0);
        for (runs, &number) in self.runs.iter().zip(&self.scans.numbers[start..]) {
            since = since.max(runs.invocation(number));
            until = until.min(runs.overwritten(number));
            sum += u64::from(number);
        }
        (since, until, sum)
    }

    /// The vector, from `start` on, of a scan some of whose values repeat, if
    /// it is determined: the scan read all entries at one instant, at which the
    /// runs that it saw were all in effect, and not less than `above` did.
    #[cold]
    #[inline(never)]
    fn narrow(
        &mut self,
        operation: u32,
        start: usize,
        begun: Instant,
        above: u32,
        now: Instant,
    ) -> Result<(), Stop> {
        let scan = OperationId::must(operation as usize);
        let position = now as usize - 1;
        let values = self.history.scan_values(self.history.operation(scan));
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
            if above != NO_SCAN {
                let floor = self.scans.vector(above as usize)[segment];
                entry.retain(|&number| number >= floor);
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
            self.runs.iter_mut().zip(&mut self.scans.numbers[start..]).zip(&candidates)
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
