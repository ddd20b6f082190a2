//! The scripts of planted violations with many writers.
//!
//! Each script is a violation for the following reason, with `<` as in docs/many-writers.md. The
//! reason is independent of other operations, since no other update writes these values. S and T
//! are the script's scans; the last one lies.
//!
//! * *time*: S returns the value of u, so u < S, but responds before u begins.
//! * *first*: u ends before S begins, and S returns the initial value, so S < u; no other operation
//!   updates the segment.
//! * *block*: u ends before v of the same segment begins, v before S begins, and S returns u's
//!   value: u < v gives S < v.
//! * *return*: u and v overlap. S returns u's value; T, after S, returns v's value; so u's block is
//!   before v's. A third scan, after T, returns u's value.
//! * *chain*: u ends before v of the same segment begins, v before w of another segment begins. S
//!   returns u and w: v < w < S, so v < u.
//! * *crossed*: u and v of two segments end before u' and v', which replace them, begin. S returns
//!   u' and v, so S < v'; T returns u and v', so T < u' < S < v' < T.
//! * *ring*: two segments with k values each, all concurrent. 2k scans return the pairs (0, 0), (0,
//!   1), (1, 1), ..., (k-1, k-1), (k-1, 0). Pairs that share a value are neighbours in a ring.
//!   Since a ring is not a line, no order of all scans makes each such pair consecutive. There is
//!   no cycle, since these operations are unordered in real time.

use super::Contradiction;
use crate::generate::scheduler::{Deed, Script, Step};

/// A script whose actors are numbered, and whose values are numbered from 1.
#[derive(Clone, Debug, Default)]
pub(super) struct Play {
    steps: Vec<Step>,
    reserved: Option<usize>,
    /// Largest value that others write.
    base: i64,
}

/// Most values per segment of a ring.
const MOST_IN_RING: usize = 6;

impl Play {
    /// Creates the script about segments (i, j), for at most `most` operations at a time, with
    /// values beyond `base`.
    pub fn new(
        contradiction: Contradiction,
        (i, j): (usize, usize),
        most: usize,
        base: i64,
        honest: bool,
    ) -> Self {
        let mut play = Self { base, steps: vec![Step::Freeze], ..Self::default() };
        // Entries of the lying scan; empty if honest.
        let lie = |entries: &[(usize, i64)]| if honest { Vec::new() } else { entries.to_vec() };
        match contradiction {
            Contradiction::Time => {
                play.begin_scan(0);
                play.end(0, lie(&[(i, 1)]));
                play.whole_update(0, (i, 1));
            }
            Contradiction::First => {
                play.reserved = Some(i);
                play.whole_update(0, (i, 1));
                play.begin_scan(0);
                play.end(0, lie(&[(i, 0)]));
            }
            Contradiction::Block => {
                play.whole_update(0, (i, 1));
                play.whole_update(0, (i, 2));
                play.begin_scan(0);
                play.end(0, lie(&[(i, 1)]));
            }
            Contradiction::Return => {
                play.begin_update(0, (i, 1));
                play.begin_update(1, (i, 2));
                for (updater, entries) in [(Some(0), &[][..]), (Some(1), &[]), (None, &[(i, 1)])] {
                    play.steps.extend(updater.map(|updater| Step::Effect(vec![updater])));
                    play.begin_scan(2);
                    play.end(2, lie(entries));
                }
                play.respond(0);
                play.respond(1);
            }
            Contradiction::Chain => {
                play.whole_update(0, (i, 1));
                play.begin_scan(1);
                play.whole_update(0, (i, 2));
                play.whole_update(0, (j, 3));
                play.end(1, lie(&[(i, 1)]));
            }
            Contradiction::Inversion => {
                play.whole_update(0, (i, 1));
                play.whole_update(0, (j, 2));
                play.begin_update(0, (i, 3));
                play.begin_update(1, (j, 4));
                play.begin_scan(2);
                play.begin_scan(3);
                play.effect(0);
                play.end(2, Vec::new());
                play.effect(1);
                play.end(3, lie(&[(i, 1)]));
                play.respond(0);
                play.respond(1);
            }
            Contradiction::Ring => play.ring((i, j), (most / 4).min(MOST_IN_RING), lie),
        }
        play.steps.push(Step::Thaw);
        play
    }

    /// Lets all operations begin, then changes values one by one, with a scan at each change.
    fn ring(
        &mut self,
        (i, j): (usize, usize),
        values: usize,
        lie: impl Fn(&[(usize, i64)]) -> Vec<(usize, i64)>,
    ) {
        let value = |segment: usize, number: usize| (2 * number + 1 + segment) as i64;
        for k in 0..values {
            self.begin_update(2 * k, (i, value(0, k)));
            self.begin_update(2 * k + 1, (j, value(1, k)));
        }
        let scans = 2 * values;
        (scans..2 * scans).for_each(|actor| self.begin_scan(actor));
        // Updates in the order i, j, j, i, j, i, ..., with a scan after each but the first: value 1
        // of j comes before value 1 of i.
        let mut order: Vec<usize> = vec![0, 1];
        (1..values).for_each(|k| order.extend([2 * k + 1, 2 * k]));
        self.effect(order[0]);
        for (scan, update) in (scans..).zip(&order[1..]) {
            self.end_after(*update, scan, Vec::new());
        }
        // The last scan closes the ring: the last value of i, the first of j.
        let entries = [(j, value(1, 0))];
        self.end(2 * scans - 1, lie(&entries));
        (0..scans).for_each(|actor| self.respond(actor));
    }

    fn end_after(&mut self, update: usize, scan: usize, lie: Vec<(usize, i64)>) {
        self.effect(update);
        self.end(scan, lie);
    }

    /// Returns the number of actors.
    pub fn actors(&self) -> usize {
        let actor = |step: &Step| match step {
            Step::Invoke(actor, _) | Step::Respond(actor, _) => actor + 1,
            _ => 0,
        };
        self.steps.iter().map(actor).max().unwrap_or(0)
    }

    /// Returns the segment that no other operation may update.
    pub const fn reserved(&self) -> Option<usize> {
        self.reserved
    }

    /// Returns the script about segments (i, j) for these processes.
    pub fn cast(mut self, cast: Vec<usize>, (i, j): (usize, usize)) -> Script {
        for step in &mut self.steps {
            match step {
                Step::Invoke(actor, _) | Step::Respond(actor, _) => *actor = cast[*actor],
                Step::Effect(actors) => actors.iter_mut().for_each(|actor| *actor = cast[*actor]),
                _ => {}
            }
        }
        Script { cast, steps: self.steps, needed: vec![i, j], after: 0.75 }
    }

    fn begin_update(&mut self, actor: usize, (segment, value): (usize, i64)) {
        self.steps.push(Step::Invoke(actor, Deed::update(segment, self.base + value)));
    }

    fn begin_scan(&mut self, actor: usize) {
        self.steps.push(Step::Invoke(actor, Deed::SCAN));
    }

    fn effect(&mut self, actor: usize) {
        self.steps.push(Step::Effect(vec![actor]));
    }

    fn respond(&mut self, actor: usize) {
        self.steps.push(Step::Respond(actor, Vec::new()));
    }

    /// Lets a scan take effect and respond; 0 is the initial value.
    fn end(&mut self, actor: usize, lie: Vec<(usize, i64)>) {
        self.effect(actor);
        let value = |value| if value == 0 { 0 } else { self.base + value };
        let lie = lie.into_iter().map(|(segment, one)| (segment, Some(value(one)))).collect();
        self.steps.push(Step::Respond(actor, lie));
    }

    fn whole_update(&mut self, actor: usize, update: (usize, i64)) {
        self.begin_update(actor, update);
        self.effect(actor);
        self.respond(actor);
    }
}
