//! Scripts: the few operations of a planted violation.
//!
//! # The stage
//!
//! A script's *cast* is idle when it begins and makes no other steps until it is over. It consists
//! of the writers p_i and p_j of the segments concerned, and scanners. Updates of the script write
//! *markers* (see the module `values`). So a scan that returns a marker saw that update, and a scan
//! that returns an older value did not, for any style and however ambiguous the other values are.
//! Other processes act between any two steps, but from `Mark` to `Thaw` their operations do not
//! take effect (they may begin and respond). X is the content of the object at `Mark`; the script's
//! scans return X with a few entries replaced.
//!
//! # Why the result is non-linearizable
//!
//! Let u_i and u_j be the script's updates, S (or S1, S2) its scans. "New" is a marker and "old"
//! any other value of the segment, written by an update before the script, since p_i and p_j write
//! nothing else during it.
//!
//! * *never-written*: S returns at i a value that no update writes.
//! * *failed-update-seen*: S returns at i the marker of u_i, which had no effect.
//! * *future*: S returns new at i, but responds before u_i is invoked.
//! * *stale*: u_i < S, yet S returns old at i; everything old precedes u_i.
//! * *decrease*: S1 < S2; S1 returns new at i, so u_i is before S1 and thus before S2, yet S2
//!   returns old.
//! * *inversion*: S1 returns (new, old) at (i, j), hence u_i, S1, u_j in this order; S2 returns
//!   (old, new), hence u_j, S2, u_i: a cycle.
//! * *missing*: u_i < u_j and S returns (old, new): u_i, u_j, S in this order, and yet S returns
//!   old at i.
//!
//! # Why no other rule is broken
//!
//! Apply conditions A to E of the linear-time check to the lying scan.
//!
//! Between `Mark` and `Thaw` only script updates take effect. So every ordinary scan acts before
//! `Mark` and is at most X, or after `Thaw` and is at least X with all script updates.
//!
//! * A, D: it is comparable to X with any subset of them.
//! * C: it is ordered as real time demands. A scan that ends before a script's scan begins acted
//!   before `Mark`; a scan that begins after it acts after `Thaw`.
//! * B, E: X contains all updates complete at `Mark`. During the frozen time, in which scripts
//!   invoke their later operations, only script updates become both effective and complete.
//!
//! It remains to compare the script's operations with each other. Each script lets all intervals
//! overlap except those its rule concerns. A decreasing scan must not be stale as well, so u_i
//! stays open. Inverted scans overlap and both updates are open until the scans have begun. The
//! scan that misses u_i begins before u_i responds. *never-written* and *failed-update-seen* break
//! condition A, which leaves the other conditions meaningless for that entry.

use super::{Draw, Rule, Violation};

/// A step of a script.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Step {
    /// The writer of a segment invokes an update.
    InvokeUpdate { segment: usize, value: i64 },
    /// A process invokes a scan.
    InvokeScan { process: usize },
    /// The content of the object becomes X, and other operations stop taking effect.
    Mark,
    /// An update takes effect.
    Apply { segment: usize, value: i64 },
    /// Other operations may take effect again.
    Thaw,
    /// The writer of a segment gets its response.
    RespondUpdate { segment: usize },
    /// A scan returns X with these entries replaced.
    RespondScan { process: usize, replaced: Vec<(usize, i64)> },
    /// The update of a segment's writer fails.
    Fail { segment: usize },
}

/// A script, ready to be performed.
#[derive(Clone, Debug)]
pub(super) struct Script {
    /// Processes that perform it.
    pub cast: Vec<usize>,
    /// Steps, in order.
    pub steps: Vec<Step>,
}

/// Position and parameters of a script's performance.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stage {
    pub processes: usize,
    /// Segments i and j; equal for a rule of one segment.
    pub targets: (usize, usize),
    /// Markers for i and j.
    pub markers: (i64, i64),
    /// True if the scan that would lie is honest.
    pub honest: bool,
}

impl Script {
    /// Creates the script that breaks a rule on this stage.
    pub fn new(violation: Violation, stage: Stage, draw: &mut Draw) -> Self {
        let (i, _) = stage.targets;
        match violation.rule {
            Rule::NeverWritten => {
                let a = draw.below(stage.processes);
                let lie = stage.lie(vec![(i, stage.markers.0)], vec![]);
                let steps = vec![
                    Step::InvokeScan { process: a },
                    Step::Mark,
                    Step::Thaw,
                    Step::RespondScan { process: a, replaced: lie },
                ];
                Self { cast: vec![i, a], steps }
            }
            Rule::FailedUpdateSeen => stage.failed(draw),
            Rule::Future => stage.future(draw),
            Rule::Stale => stage.stale(draw),
            Rule::Decrease => stage.decrease(draw),
            Rule::Inversion => stage.inversion(draw),
            Rule::Missing => stage.missing(draw),
        }
    }
}

impl Stage {
    /// Returns the replaced entries of the lying scan, or the honest ones.
    fn lie(&self, lie: Vec<(usize, i64)>, truth: Vec<(usize, i64)>) -> Vec<(usize, i64)> {
        if self.honest { truth } else { lie }
    }

    const fn i(&self) -> (usize, i64) {
        (self.targets.0, self.markers.0)
    }

    const fn j(&self) -> (usize, i64) {
        (self.targets.1, self.markers.1)
    }

    /// Draws a process other than these; one must exist.
    fn other_than(&self, excluded: &[usize], draw: &mut Draw) -> usize {
        loop {
            let process = draw.below(self.processes);
            if !excluded.contains(&process) {
                return process;
            }
        }
    }

    fn failed(&self, draw: &mut Draw) -> Script {
        let (i, new) = self.i();
        let a = draw.below(self.processes);
        let respond = Step::RespondScan { process: a, replaced: self.lie(vec![(i, new)], vec![]) };
        let mut steps = vec![invoke(self.i())];
        if a == i || draw.coin() {
            steps.push(Step::Fail { segment: i });
            steps.extend([Step::InvokeScan { process: a }, Step::Mark, Step::Thaw, respond]);
        } else {
            steps.push(Step::InvokeScan { process: a });
            draw.shuffle(&mut steps);
            steps.extend([Step::Mark, Step::Thaw]);
            append_shuffled(&mut steps, vec![Step::Fail { segment: i }, respond], draw);
        }
        Script { cast: vec![i, a], steps }
    }

    fn future(&self, draw: &mut Draw) -> Script {
        let (i, new) = self.i();
        let a = draw.below(self.processes);
        let steps = vec![
            Step::InvokeScan { process: a },
            Step::Mark,
            Step::RespondScan { process: a, replaced: self.lie(vec![(i, new)], vec![]) },
            invoke(self.i()),
            apply(self.i()),
            Step::Thaw,
            Step::RespondUpdate { segment: i },
        ];
        Script { cast: vec![i, a], steps }
    }

    fn stale(&self, draw: &mut Draw) -> Script {
        let (i, new) = self.i();
        let a = draw.below(self.processes);
        let steps = vec![
            invoke(self.i()),
            Step::Mark,
            apply(self.i()),
            Step::RespondUpdate { segment: i },
            Step::InvokeScan { process: a },
            Step::Thaw,
            Step::RespondScan { process: a, replaced: self.lie(vec![], vec![(i, new)]) },
        ];
        Script { cast: vec![i, a], steps }
    }

    fn decrease(&self, draw: &mut Draw) -> Script {
        let (i, new) = self.i();
        let a = self.other_than(&[i], draw);
        let b = self.other_than(&[i], draw);
        let mut steps = vec![invoke(self.i()), Step::InvokeScan { process: a }];
        draw.shuffle(&mut steps);
        steps.extend([
            Step::Mark,
            apply(self.i()),
            Step::RespondScan { process: a, replaced: vec![(i, new)] },
            Step::InvokeScan { process: b },
            Step::Thaw,
        ]);
        let lying = Step::RespondScan { process: b, replaced: self.lie(vec![], vec![(i, new)]) };
        append_shuffled(&mut steps, vec![lying, Step::RespondUpdate { segment: i }], draw);
        Script { cast: vec![i, a, b], steps }
    }

    /// S1 is a's, S2 is b's. With three processes, a is p_i itself. Then u_i responds before S1
    /// begins, which does not affect the argument.
    fn inversion(&self, draw: &mut Draw) -> Script {
        let (i, j) = (self.targets.0, self.targets.1);
        let b = self.other_than(&[i, j], draw);
        let a =
            if self.processes > 3 && draw.coin() { self.other_than(&[i, j, b], draw) } else { i };
        let first = Step::RespondScan { process: a, replaced: vec![self.i()] };
        let second = Step::RespondScan {
            process: b,
            replaced: self.lie(vec![self.j()], vec![self.i(), self.j()]),
        };
        let mut steps = vec![invoke(self.i()), invoke(self.j()), Step::InvokeScan { process: b }];
        let mut ends = vec![first, second, Step::RespondUpdate { segment: j }];
        if a == i {
            draw.shuffle(&mut steps);
            steps.extend([
                Step::Mark,
                apply(self.i()),
                Step::RespondUpdate { segment: i },
                Step::InvokeScan { process: a },
            ]);
        } else {
            steps.push(Step::InvokeScan { process: a });
            draw.shuffle(&mut steps);
            steps.extend([Step::Mark, apply(self.i())]);
            ends.push(Step::RespondUpdate { segment: i });
        }
        steps.extend([apply(self.j()), Step::Thaw]);
        append_shuffled(&mut steps, ends, draw);
        Script { cast: vec![i, j, a, b], steps }
    }

    fn missing(&self, draw: &mut Draw) -> Script {
        let (i, j) = (self.targets.0, self.targets.1);
        let a = self.other_than(&[i, j], draw);
        let mut steps = vec![invoke(self.i()), Step::InvokeScan { process: a }];
        draw.shuffle(&mut steps);
        steps.extend([
            Step::Mark,
            apply(self.i()),
            Step::RespondUpdate { segment: i },
            invoke(self.j()),
            apply(self.j()),
            Step::Thaw,
        ]);
        let lying = Step::RespondScan {
            process: a,
            replaced: self.lie(vec![self.j()], vec![self.i(), self.j()]),
        };
        append_shuffled(&mut steps, vec![lying, Step::RespondUpdate { segment: j }], draw);
        Script { cast: vec![i, j, a], steps }
    }
}

const fn invoke((segment, value): (usize, i64)) -> Step {
    Step::InvokeUpdate { segment, value }
}

const fn apply((segment, value): (usize, i64)) -> Step {
    Step::Apply { segment, value }
}

fn append_shuffled(steps: &mut Vec<Step>, mut more: Vec<Step>, draw: &mut Draw) {
    draw.shuffle(&mut more);
    steps.append(&mut more);
}
