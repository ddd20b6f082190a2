//! Scripts: the few operations of a planted violation.
//!
//! # The stage
//!
//! A script's *cast* is idle when it begins and makes no other steps until it is over. It consists
//! of the writers p_i and p_j of the segments concerned, and scanners. Updates of the script write
//! *markers* (see the module `values`). So a scan that returns a marker saw that update, and a scan
//! that returns an older value did not, for any style and however ambiguous the other values are.
//! Other processes act between any two steps, but from `Freeze` to `Thaw` their operations do not
//! take effect (they may begin and respond). X is the content of the object at `Freeze`; the script's
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
//! Between `Freeze` and `Thaw` only script updates take effect. So every ordinary scan acts before
//! `Freeze` and is at most X, or after `Thaw` and is at least X with all script updates.
//!
//! * A, D: it is comparable to X with any subset of them.
//! * C: it is ordered as real time demands. A scan that ends before a script's scan begins acted
//!   before `Freeze`; a scan that begins after it acts after `Thaw`.
//! * B, E: X contains all updates complete at `Freeze`. During the frozen time, in which scripts
//!   invoke their later operations, only script updates become both effective and complete.
//!
//! It remains to compare the script's operations with each other. Each script lets all intervals
//! overlap except those its rule concerns. A decreasing scan must not be stale as well, so u_i
//! stays open. Inverted scans overlap and both updates are open until the scans have begun. The
//! scan that misses u_i begins before u_i responds. *never-written* and *failed-update-seen* break
//! condition A, which leaves the other conditions meaningless for that entry.

use super::scheduler::{Deed, Script, Step};
use super::{Draw, Rule, Violation};

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

/// The cast and the steps of a script.
type Performance = (Vec<usize>, Vec<Step>);

impl Stage {
    /// Creates the script that breaks a rule on this stage.
    pub fn script(&self, violation: Violation, draw: &mut Draw) -> Script {
        let (cast, steps) = match violation.rule {
            Rule::NeverWritten => self.never_written(draw),
            Rule::FailedUpdateSeen => self.failed(draw),
            Rule::Future => self.future(draw),
            Rule::Stale => self.stale(draw),
            Rule::Decrease => self.decrease(draw),
            Rule::Inversion => self.inversion(draw),
            Rule::Missing => self.missing(draw),
        };
        Script { cast, steps, needed: Vec::new(), after: violation.after }
    }

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

    fn never_written(&self, draw: &mut Draw) -> Performance {
        let (i, new) = self.i();
        let a = draw.below(self.processes);
        let lying = respond(a, self.lie(vec![(i, new)], vec![]));
        (vec![i, a], vec![scan(a), Step::Freeze, Step::Thaw, lying])
    }

    fn failed(&self, draw: &mut Draw) -> Performance {
        let (i, new) = self.i();
        let a = draw.below(self.processes);
        let respond = respond(a, self.lie(vec![(i, new)], vec![]));
        let mut steps = vec![invoke(self.i())];
        if a == i || draw.coin() {
            steps.push(Step::Fail(i));
            steps.extend([scan(a), Step::Freeze, Step::Thaw, respond]);
        } else {
            steps.push(scan(a));
            draw.shuffle(&mut steps);
            steps.extend([Step::Freeze, Step::Thaw]);
            append_shuffled(&mut steps, vec![Step::Fail(i), respond], draw);
        }
        (vec![i, a], steps)
    }

    fn future(&self, draw: &mut Draw) -> Performance {
        let (i, new) = self.i();
        let a = draw.below(self.processes);
        let steps = vec![
            scan(a),
            Step::Freeze,
            respond(a, self.lie(vec![(i, new)], vec![])),
            invoke(self.i()),
            Step::Effect(vec![i]),
            Step::Thaw,
            done(i),
        ];
        (vec![i, a], steps)
    }

    fn stale(&self, draw: &mut Draw) -> Performance {
        let (i, new) = self.i();
        let a = draw.below(self.processes);
        let steps = vec![
            invoke(self.i()),
            Step::Freeze,
            Step::Effect(vec![i]),
            done(i),
            scan(a),
            Step::Thaw,
            respond(a, self.lie(vec![], vec![(i, new)])),
        ];
        (vec![i, a], steps)
    }

    fn decrease(&self, draw: &mut Draw) -> Performance {
        let (i, new) = self.i();
        let a = self.other_than(&[i], draw);
        let b = self.other_than(&[i], draw);
        let mut steps = vec![invoke(self.i()), scan(a)];
        draw.shuffle(&mut steps);
        steps.extend([
            Step::Freeze,
            Step::Effect(vec![i]),
            respond(a, vec![(i, new)]),
            scan(b),
            Step::Thaw,
        ]);
        let lying = respond(b, self.lie(vec![], vec![(i, new)]));
        append_shuffled(&mut steps, vec![lying, done(i)], draw);
        (vec![i, a, b], steps)
    }

    /// S1 is a's, S2 is b's. With three processes, a is p_i itself. Then u_i responds before S1
    /// begins, which does not affect the argument.
    fn inversion(&self, draw: &mut Draw) -> Performance {
        let ((i, _), (j, _)) = (self.i(), self.j());
        let b = self.other_than(&[i, j], draw);
        let a =
            if self.processes > 3 && draw.coin() { self.other_than(&[i, j, b], draw) } else { i };
        let first = respond(a, vec![self.i()]);
        let second = respond(b, self.lie(vec![self.j()], vec![self.i(), self.j()]));
        let mut steps = vec![invoke(self.i()), invoke(self.j()), scan(b)];
        let mut ends = vec![first, second, done(j)];
        if a == i {
            draw.shuffle(&mut steps);
            steps.extend([Step::Freeze, Step::Effect(vec![i]), done(i), scan(a)]);
        } else {
            steps.push(scan(a));
            draw.shuffle(&mut steps);
            steps.extend([Step::Freeze, Step::Effect(vec![i])]);
            ends.push(done(i));
        }
        steps.extend([Step::Effect(vec![j]), Step::Thaw]);
        append_shuffled(&mut steps, ends, draw);
        (vec![i, j, a, b], steps)
    }

    fn missing(&self, draw: &mut Draw) -> Performance {
        let ((i, _), (j, _)) = (self.i(), self.j());
        let a = self.other_than(&[i, j], draw);
        let mut steps = vec![invoke(self.i()), scan(a)];
        draw.shuffle(&mut steps);
        steps.extend([
            Step::Freeze,
            Step::Effect(vec![i]),
            done(i),
            invoke(self.j()),
            Step::Effect(vec![j]),
            Step::Thaw,
        ]);
        let lying = respond(a, self.lie(vec![self.j()], vec![self.i(), self.j()]));
        append_shuffled(&mut steps, vec![lying, done(j)], draw);
        (vec![i, j, a], steps)
    }
}

const fn invoke((segment, value): (usize, i64)) -> Step {
    Step::Invoke(segment, Deed::update(segment, value))
}

const fn scan(process: usize) -> Step {
    Step::Invoke(process, Deed::SCAN)
}

/// The response of an update.
const fn done(process: usize) -> Step {
    Step::Respond(process, Vec::new())
}

/// The response of a scan, which returns X with these entries replaced.
fn respond(process: usize, replaced: Vec<(usize, i64)>) -> Step {
    let replaced = replaced.into_iter().map(|(segment, value)| (segment, Some(value)));
    Step::Respond(process, replaced.collect())
}

fn append_shuffled(steps: &mut Vec<Step>, mut more: Vec<Step>, draw: &mut Draw) {
    draw.shuffle(&mut more);
    steps.append(&mut more);
}
