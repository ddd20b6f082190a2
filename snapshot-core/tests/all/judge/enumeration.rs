//! All small histories.
//!
//! A [`Space`] lists the possible operations of each process. Its histories are all interleavings
//! of all choices: every operation may overlap with every other of another process, the last
//! operation of a process may stay pending, and every scan returns every combination of values that
//! could be meant (initial, written by an update of the run, before or after), plausible or not.
//! Each history is built once; of plans that differ only in the names of processes and segments,
//! one is taken.

use snapshot_core::History;
use snapshot_core::history::{Declaration, Event, HistoryBuilder, Writers};
use snapshot_core::{Process, Segment};

/// A value that no update writes.
const NEVER_WRITTEN: i64 = -7;

/// A possible next operation of a process.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Kind {
    /// A scan.
    Scan,
    /// An update that writes its own number among the updates of its segment.
    Number { segment: usize },
    /// An update that writes this value.
    Write { segment: usize, value: i64 },
}

/// A set of small histories.
#[derive(Clone, Debug)]
pub struct Space {
    pub segments: usize,
    /// For each process, its possible operations. The first [`Self::interchangeable`] processes are
    /// symmetric: the list of each is the list of any other with their segments exchanged, at the
    /// same positions.
    pub processes: Vec<Vec<Kind>>,
    pub interchangeable: usize,
    /// The largest number of operations of one process.
    pub per_process: usize,
    /// The largest number of operations of all.
    pub total: usize,
    pub writers: Writers,
    /// True if scans may also return a value that no update writes.
    pub never_written: bool,
    /// True if operations may also fail, or have an unknown outcome.
    pub faults: bool,
    /// True if a segment once 1 must stay 1.
    pub switch_once: bool,
    /// True if scans may also return only some segments.
    pub gaps: bool,
}

impl Space {
    /// `n` segments, each updated by the process of the same number with
    /// differentiated values; all processes scan.
    pub fn differentiated(n: usize, per_process: usize, total: usize) -> Self {
        let kinds = |process| vec![Kind::Scan, Kind::Number { segment: process }];
        Self::new(n, (0..n).map(kinds).collect(), per_process, total)
    }

    /// As [`Self::differentiated`], with the values 0 and 1 in any order.
    pub fn binary(n: usize, per_process: usize, total: usize) -> Self {
        let write = |segment| (0..2).map(move |value| Kind::Write { segment, value });
        let kinds = |process| [Kind::Scan].into_iter().chain(write(process)).collect();
        Self::new(n, (0..n).map(kinds).collect(), per_process, total)
    }

    /// Any process may update any segment, with values that are all different.
    pub fn many_writers(n: usize, processes: usize, per_process: usize, total: usize) -> Self {
        let kinds = |_| {
            let numbers = (0..n).map(|segment| Kind::Number { segment });
            [Kind::Scan].into_iter().chain(numbers).collect()
        };
        let mut space = Self::new(n, (0..processes).map(kinds).collect(), per_process, total);
        space.writers = Writers::Many;
        space
    }

    fn new(segments: usize, processes: Vec<Vec<Kind>>, per_process: usize, total: usize) -> Self {
        Self {
            segments,
            interchangeable: processes.len(),
            processes,
            per_process,
            total,
            writers: Writers::Single,
            never_written: false,
            faults: false,
            switch_once: false,
            gaps: false,
        }
    }

    /// Adds processes that only scan.
    pub fn with_scanners(mut self, scanners: usize) -> Self {
        self.processes.extend(std::iter::repeat_n(vec![Kind::Scan], scanners));
        self
    }

    /// The updating processes do not scan.
    pub fn with_pure_writers(mut self) -> Self {
        for kinds in &mut self.processes[..self.interchangeable] {
            kinds.retain(|kind| *kind != Kind::Scan);
        }
        self
    }

    /// Updates write 0 or 1, in any order, instead of their numbers.
    pub fn with_repetitions(mut self) -> Self {
        for kinds in &mut self.processes {
            *kinds = kinds
                .iter()
                .flat_map(|kind| match *kind {
                    Kind::Number { segment } => {
                        vec![Kind::Write { segment, value: 0 }, Kind::Write { segment, value: 1 }]
                    }
                    other => vec![other],
                })
                .collect();
        }
        self
    }

    /// Scans may also return a value that no update writes.
    pub fn with_never_written(mut self) -> Self {
        self.never_written = true;
        self
    }

    /// Operations may also fail or have an unknown outcome.
    pub fn with_faults(mut self) -> Self {
        self.faults = true;
        self
    }

    /// Scans may also return only some segments (at least one).
    pub fn with_gaps(mut self) -> Self {
        self.gaps = true;
        self
    }

    /// A segment once 1 stays 1.
    pub fn with_switch_once(mut self) -> Self {
        self.switch_once = true;
        self
    }

    /// Calls `visit` with every history of this space.
    pub fn explore(&self, visit: &mut dyn FnMut(&History<i64>)) {
        let mut sequences = Vec::new();
        self.each_plan(&mut sequences, &mut |plan| {
            Walk::new(self, plan, visit).go_on();
        });
    }

    /// Extends the plan of the first processes by all plans of the others.
    fn each_plan(&self, plan: &mut Vec<Vec<usize>>, use_plan: &mut dyn FnMut(&[Vec<usize>])) {
        let process = plan.len();
        if process == self.processes.len() {
            return use_plan(plan);
        }
        let used: usize = plan.iter().map(Vec::len).sum();
        let longest = self.per_process.min(self.total - used);
        for sequence in sequences(self.processes[process].len(), longest) {
            let is_ordered =
                process == 0 || process >= self.interchangeable || plan[process - 1] >= sequence;
            if is_ordered && self.admits(process, &sequence) {
                plan.push(sequence);
                self.each_plan(plan, use_plan);
                plan.pop();
            }
        }
    }

    fn admits(&self, process: usize, sequence: &[usize]) -> bool {
        let values = sequence.iter().filter_map(|&kind| match self.processes[process][kind] {
            Kind::Write { value, .. } => Some(value),
            _ => None,
        });
        !self.switch_once || values.is_sorted()
    }
}

/// All sequences of at most `longest` numbers below `kinds`.
fn sequences(kinds: usize, longest: usize) -> Vec<Vec<usize>> {
    let mut all: Vec<Vec<usize>> = vec![Vec::new()];
    let mut first = 0;
    for _ in 0..longest {
        let last = all.len();
        for index in first..last {
            for kind in 0..kinds {
                let mut longer = all[index].clone();
                longer.push(kind);
                all.push(longer);
            }
        }
        first = last;
    }
    all
}

/// A scan, or an update of a segment with a value.
#[derive(Clone, Copy)]
enum Planned {
    Scan,
    Update { segment: usize, value: i64 },
}

/// A depth-first walk through the interleavings of a plan.
struct Walk<'a> {
    space: &'a Space,
    /// The operations of each process.
    plan: Vec<Vec<Planned>>,
    /// The possible returned values of a scan, by segment.
    returns: Vec<Vec<Option<i64>>>,
    /// For each process, the number of operations it has ended, and whether the next one is open.
    progress: Vec<(usize, bool)>,
    history: HistoryBuilder<i64>,
    visit: &'a mut dyn FnMut(&History<i64>),
}

impl<'a> Walk<'a> {
    fn new(space: &'a Space, plan: &[Vec<usize>], visit: &'a mut dyn FnMut(&History<i64>)) -> Self {
        let mut values: Vec<Vec<i64>> = vec![vec![0]; space.segments];
        let mut numbers = vec![0; space.segments];
        let mut planned = |kind| {
            let (segment, value) = match kind {
                Kind::Scan => return Planned::Scan,
                Kind::Write { segment, value } => (segment, value),
                Kind::Number { segment } => {
                    numbers[segment] += 1;
                    (segment, numbers[segment])
                }
            };
            if !values[segment].contains(&value) {
                values[segment].push(value);
            }
            Planned::Update { segment, value }
        };
        let plan: Vec<Vec<Planned>> = (plan.iter().zip(&space.processes))
            .map(|(sequence, kinds)| sequence.iter().map(|&kind| planned(kinds[kind])).collect())
            .collect();
        let declaration = Declaration::new(0)
            .with_segments(space.segments)
            .with_processes(space.processes.len())
            .with_writers(space.writers);
        let mut returns: Vec<Vec<Option<i64>>> = vec![Vec::new()];
        for entry in &mut values {
            entry.extend(space.never_written.then_some(NEVER_WRITTEN));
            returns = (returns.iter())
                .flat_map(|prefix| {
                    let values = entry.iter().map(|value| Some(*value));
                    let values = values.chain(space.gaps.then_some(None));
                    values.map(|value| [&prefix[..], &[value]].concat())
                })
                .collect();
        }
        returns.retain(|values| values.iter().any(Option::is_some));
        Self {
            space,
            progress: vec![(0, false); plan.len()],
            plan,
            returns,
            history: History::builder(declaration).expect("the space is well-formed"),
            visit,
        }
    }

    /// Visits all histories that begin with the present one.
    fn go_on(&mut self) {
        let is_invoked = |(plan, progress): (&Vec<Planned>, &(usize, bool))| {
            progress.0 + usize::from(progress.1) == plan.len()
        };
        if self.plan.iter().zip(&self.progress).all(is_invoked) {
            (self.visit)(&self.history.clone().finish());
        }
        for process in 0..self.plan.len() {
            let (ended, is_open) = self.progress[process];
            let Some(&operation) = self.plan[process].get(ended) else { continue };
            if is_open {
                self.end(Process::from_index(process), operation);
            } else {
                let event = match &operation {
                    Planned::Scan => Event::invoke_scan(Process::from_index(process)),
                    Planned::Update { segment, value } => Event::invoke_update(
                        Process::from_index(process),
                        Segment::from_index(*segment),
                        value,
                    ),
                };
                self.step(process, &event, (ended, true));
            }
        }
    }

    /// Ends an open operation in all possible ways.
    fn end(&mut self, process: Process, operation: Planned) {
        let next = (self.progress[process.index()].0 + 1, false);
        match operation {
            Planned::Update { .. } => {
                self.step(process.index(), &Event::respond_update(process), next)
            }
            Planned::Scan => {
                for index in 0..self.returns.len() {
                    let entries: Vec<(Segment, i64)> = (0..)
                        .zip(&self.returns[index])
                        .filter_map(|(k, value)| Some((Segment::from_index(k), (*value)?)))
                        .collect();
                    let event = Event::respond_partial_scan(process, &entries);
                    self.step(process.index(), &event, next);
                }
            }
        }
        if self.space.faults {
            self.step(process.index(), &Event::fail(process), next);
            self.step(process.index(), &Event::unknown(process), next);
        }
    }

    fn step(&mut self, process: usize, event: &Event<'_, i64>, progress: (usize, bool)) {
        let before = (self.history.clone(), self.progress[process]);
        self.history.push(event).expect("the walk makes histories only");
        self.progress[process] = progress;
        self.go_on();
        (self.history, self.progress[process]) = before;
    }
}
