//! Narrowing over a whole history: the updates that each entry of each scan
//! can have read.
//!
//! Applies to segments whose updates do not overlap. Their updates are numbered, runs of one value
//! as one (see [`crate::linear`]). A candidate of an entry is a run with the value returned. It
//! drops out
//! * by A and B, if it began after the scan ended or was overwritten before the scan began;
//! * by E, if the scan has no instant at which this run and at least one candidate of each other
//!   entry are in effect;
//! * by C, if it is smaller than all candidates of a preceding scan, or larger than all candidates
//!   of a succeeding one.
//!
//! Rounds are repeated until nothing changes, or a limit is reached: the remaining candidates are
//! always a superset of the possible ones.

use super::problem::{MISSING, NEVER, Operation, Problem};

/// The largest number of rounds; more are not worth their time.
const ROUNDS: usize = 64;

/// The result of narrowing.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Narrowing {
    /// Every entry has a candidate.
    Open,
    /// Some entry has no candidate: the history is not linearizable.
    Contradiction,
}

/// Consecutive updates of one value, represented by the first.
#[derive(Clone, Copy, Debug)]
struct Run {
    value: u32,
    /// Instants are event numbers plus 1; initial values begin and end at 0.
    invocation: u32,
    response: u32,
}

/// Candidates of the entries of all scans.
#[derive(Clone, Debug)]
pub(super) struct Candidates<'p> {
    problem: &'p Problem,
    /// The runs of each segment; `None` if its updates overlap.
    runs: Vec<Option<Vec<Run>>>,
    /// For each update, by operation number, the number of its run.
    numbers: Vec<u32>,
    /// Scans in the order of their invocations.
    scans: Vec<&'p Operation>,
    /// For each scan and segment, the candidates, ascending; empty for segments with overlapping
    /// updates.
    entries: Vec<Vec<u32>>,
}

const fn end(operation: &Operation) -> u32 {
    if operation.response == NEVER { NEVER } else { operation.response + 1 }
}

impl<'p> Candidates<'p> {
    pub fn new(problem: &'p Problem) -> Self {
        let mut numbers = vec![0; problem.operations.len()];
        let updates = problem.updates();
        let runs = updates.iter().zip(&problem.initial).map(|(updates, &initial)| {
            let mut runs = vec![Run { value: initial, invocation: 0, response: 0 }];
            let mut busy_until = 0;
            for &update in updates {
                let operation = &problem.operations[update as usize];
                if operation.invocation + 1 < busy_until {
                    return None;
                }
                busy_until = end(operation);
                if runs[runs.len() - 1].value != operation.value {
                    runs.push(Run {
                        value: operation.value,
                        invocation: operation.invocation + 1,
                        response: end(operation),
                    });
                }
                numbers[update as usize] = runs.len() as u32 - 1;
            }
            Some(runs)
        });
        let runs: Vec<Option<Vec<Run>>> = runs.collect();
        let scans: Vec<&Operation> =
            problem.operations.iter().filter(|operation| operation.segment.is_none()).collect();
        let mut candidates = Self { problem, runs, numbers, scans, entries: Vec::new() };
        candidates.entries = candidates.initial_entries();
        candidates
    }

    /// Returns the candidates by A and B.
    fn initial_entries(&self) -> Vec<Vec<u32>> {
        let mut entries = Vec::with_capacity(self.scans.len() * self.problem.segments);
        for scan in &self.scans {
            for (runs, &value) in self.runs.iter().zip(self.problem.returned(scan)) {
                let Some(runs) = runs else {
                    entries.push(Vec::new());
                    continue;
                };
                let first = runs.partition_point(|run| run.response <= scan.invocation);
                let past = runs.partition_point(|run| run.invocation <= scan.response);
                let range = first.saturating_sub(1)..past;
                entries.push(
                    range
                        .filter(|&k| value == MISSING || runs[k].value == value)
                        .map(|k| k as u32)
                        .collect(),
                );
            }
        }
        entries
    }

    /// Removes impossible candidates.
    pub fn narrow(&mut self) -> Narrowing {
        for _ in 0..ROUNDS {
            let mut changed = false;
            for scan in 0..self.scans.len() {
                match self.narrow_by_time(scan) {
                    Some(narrowed) => changed |= narrowed,
                    None => return Narrowing::Contradiction,
                }
            }
            match self.narrow_by_precedence() {
                Some(narrowed) => changed |= narrowed,
                None => return Narrowing::Contradiction,
            }
            if !changed {
                break;
            }
        }
        Narrowing::Open
    }

    /// Narrows by E: all entries were read at one instant. `None`: a contradiction.
    fn narrow_by_time(&mut self, scan: usize) -> Option<bool> {
        let width = self.problem.segments;
        let (mut from, mut until) =
            (self.scans[scan].invocation + 1, self.scans[scan].response + 1);
        let entries = &mut self.entries[scan * width..][..width];
        let over =
            |runs: &[Run], k: u32| runs.get(k as usize + 1).map_or(NEVER, |run| run.response);
        for (runs, entry) in self.runs.iter().zip(entries.iter()) {
            let Some(runs) = runs else { continue };
            let (Some(&first), Some(&last)) = (entry.first(), entry.last()) else { return None };
            from = from.max(runs[first as usize].invocation);
            until = until.min(over(runs, last));
        }
        if from > until {
            return None;
        }
        let mut changed = false;
        for (runs, entry) in self.runs.iter().zip(entries) {
            let Some(runs) = runs else { continue };
            let before = entry.len();
            entry.retain(|&k| runs[k as usize].invocation <= until && over(runs, k) >= from);
            if entry.is_empty() {
                return None;
            }
            changed |= entry.len() < before;
        }
        Some(changed)
    }

    /// Narrows by C, along real time. `None`: a contradiction.
    fn narrow_by_precedence(&mut self) -> Option<bool> {
        let width = self.problem.segments;
        let mut changed = false;
        // Forwards: the largest of the smallest candidates of completed scans.
        let mut by_response: Vec<usize> = (0..self.scans.len()).collect();
        by_response.sort_by_key(|&scan| self.scans[scan].response);
        let mut least = vec![0u32; width];
        let mut over = by_response.iter().peekable();
        for scan in 0..self.scans.len() {
            while let Some(&&done) = over.peek()
                && self.scans[done].response < self.scans[scan].invocation
            {
                for (least, entry) in least.iter_mut().zip(&self.entries[done * width..]) {
                    *least = (*least).max(entry.first().copied().unwrap_or(0));
                }
                over.next();
            }
            for (k, least) in least.iter().enumerate() {
                changed |= self.keep(scan * width + k, |candidate| candidate >= *least)?;
            }
        }
        // Backwards: the smallest of the largest candidates of scans yet to begin.
        let mut most = vec![NEVER; width];
        let mut begun = (0..self.scans.len()).rev().peekable();
        for &scan in by_response.iter().rev() {
            while let Some(&later) = begun.peek()
                && self.scans[later].invocation > self.scans[scan].response
            {
                for (most, entry) in most.iter_mut().zip(&self.entries[later * width..]) {
                    *most = (*most).min(entry.last().copied().unwrap_or(NEVER));
                }
                begun.next();
            }
            for (k, most) in most.iter().enumerate() {
                changed |= self.keep(scan * width + k, |candidate| candidate <= *most)?;
            }
        }
        Some(changed)
    }

    fn keep(&mut self, entry: usize, allowed: impl Fn(u32) -> bool) -> Option<bool> {
        let entry = &mut self.entries[entry];
        let before = entry.len();
        entry.retain(|&candidate| allowed(candidate));
        if entry.is_empty() && before > 0 { None } else { Some(entry.len() < before) }
    }

    /// Returns for each scan, by operation number, the largest run of each segment that it can have
    /// read; [`NEVER`] where updates overlap.
    pub fn latest(&self) -> Vec<Vec<u32>> {
        let width = self.problem.segments;
        let mut latest = vec![Vec::new(); self.problem.operations.len()];
        let mut scan = 0;
        for (index, operation) in self.problem.operations.iter().enumerate() {
            if operation.segment.is_none() {
                let entries = &self.entries[scan * width..][..width];
                latest[index] =
                    entries.iter().map(|entry| entry.last().copied().unwrap_or(NEVER)).collect();
                scan += 1;
            }
        }
        latest
    }

    /// Returns the run of an update, by operation number; `None` where updates of its segment
    /// overlap.
    pub fn number(&self, update: usize) -> Option<u32> {
        let segment = self.problem.operations[update].segment?;
        self.runs[usize::from(segment)].as_ref().map(|_| self.numbers[update])
    }
}
