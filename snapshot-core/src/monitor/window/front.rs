//! The last runs of a window, prepared for the comparison with a scan that responds.
//!
//! A scan almost always returns one of the last three runs, at random. So they are compared without
//! branches, and the bounds of each entry are loads at the found index. Whether a scan has
//! certainly read these runs is tested once for all its entries, by the earliest end and the latest
//! doubt among them ([`Glance`]).
//!
//! Invariant ([`Front::validate`]): copies of the last three runs of the window; if an update of
//! the window floats, `doubt` is [`NEVER`].

use super::{Instant, NEVER, NONE, Run};

/// The number of runs in a front; as an index, stands for a value that no run has.
const RUNS: usize = 3;

/// The last three runs, latest first. Missing runs count as ended at instant 0.
#[derive(Clone, Debug)]
pub(super) struct Front<V> {
    /// Number of the last run.
    number: u64,
    values: [V; RUNS],
    invocations: [Instant; RUNS + 1],
    /// The instant at which each run was certainly overwritten: [`NEVER`], and the responses of the
    /// last two runs. 0 at the index of no run.
    ends: [Instant; RUNS + 1],
    /// A scan invoked at this instant or before may have read a run outside the front, or the value
    /// of two runs.
    doubt: Instant,
    /// All bits are set, except at the index of the last run while no scan saw it.
    seen: [u64; RUNS + 1],
    /// The first scan that saw the last run; [`NONE`] if no scan did.
    seen_by: u64,
    /// The response of that scan; [`NEVER`] if no scan saw the last run.
    seen_at: Instant,
}

/// The bounds of a scan's reads, according to the fronts of all windows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Glance {
    /// The scan, its invocation and its response.
    scan: u64,
    since: Instant,
    now: Instant,
    /// The latest invocation among the scan and the runs that it read.
    pub latest: Instant,
    /// The earliest end of these runs.
    pub earliest: Instant,
    doubt: Instant,
}

impl Glance {
    /// Creates a glance before the first window.
    pub const fn new(scan: u64, since: Instant, now: Instant) -> Self {
        Self { scan, since, now, latest: since, earliest: NEVER, doubt: 0 }
    }

    /// Returns true if each entry was certainly read from the run that was found for it. If false,
    /// the found runs are meaningless.
    #[inline]
    pub const fn is_certain(&self) -> bool {
        self.earliest >= self.since && self.doubt < self.since
    }
}

impl<V: Clone + Eq> Front<V> {
    /// Creates the front of a window whose only run is the initial value.
    pub fn new(initial: V) -> Self {
        Self {
            number: 0,
            values: [initial.clone(), initial.clone(), initial],
            invocations: [0; RUNS + 1],
            ends: [NEVER, 0, 0, 0],
            doubt: 0,
            seen: [0, NEVER, NEVER, NEVER],
            seen_by: NONE,
            seen_at: NEVER,
        }
    }

    /// Creates the front of these runs, of which there is at least one; the first has the number
    /// `base`, and earlier runs were overwritten long ago.
    fn of(base: u64, runs: &[Run<V>], floats: bool) -> Self {
        let last = &runs[runs.len() - 1];
        let mut front = Self::new(last.value.clone());
        front.number = base + runs.len() as u64 - 1;
        for (back, run) in runs.iter().rev().take(RUNS).enumerate() {
            front.values[back] = run.value.clone();
            front.invocations[back] = run.invocation;
            match back + 1 {
                RUNS => front.doubt = run.response,
                next => front.ends[next] = run.response,
            }
        }
        front.doubt = front.doubt_with(front.doubt, floats);
        front
    }

    /// Replaces the runs, as if the window had always had them. If the last run keeps its number,
    /// it keeps the scan that saw it.
    pub fn renew(&mut self, base: u64, runs: &[Run<V>], floats: bool) {
        let renewed = Self::of(base, runs, floats);
        let is_other = renewed.number != self.number;
        let Self { seen, seen_by, seen_at, .. } = *self;
        *self = Self { seen, seen_by, seen_at, ..renewed };
        if is_other {
            self.forget_scan();
        }
    }

    /// Checks the invariant, for the arguments of [`Self::of`].
    ///
    /// # Panics
    /// If it is broken.
    pub fn validate(&self, base: u64, runs: &[Run<V>], floats: bool) {
        let other = Self::of(base, runs, floats);
        let kept = runs.len().min(RUNS);
        assert_eq!((self.number, self.doubt), (other.number, other.doubt), "the last run");
        assert!(self.values[..kept] == other.values[..kept], "values");
        assert_eq!(self.invocations[..kept], other.invocations[..kept]);
        assert_eq!(self.ends, other.ends);
        let is_seen = self.seen_at != NEVER;
        let last = if is_seen { NEVER } else { 0 };
        assert_eq!(self.seen, [last, NEVER, NEVER, NEVER], "seen at {}", self.seen_at);
        assert_eq!(is_seen, self.seen_by != NONE);
    }

    /// Returns the same front with `other(value)` for each value; `None` if a value has
    /// no counterpart.
    pub fn translated<W>(&self, other: &impl Fn(&V) -> Option<W>) -> Option<Front<W>> {
        let [last, second, third] = &self.values;
        let Self { number, invocations, ends, doubt, seen, seen_by, seen_at, .. } = *self;
        let values = [other(last)?, other(second)?, other(third)?];
        Some(Front { number, values, invocations, ends, doubt, seen, seen_by, seen_at })
    }

    /// Returns the doubt, if the latest run before these ended at `others`.
    #[inline]
    fn doubt_with(&self, others: Instant, floats: bool) -> Instant {
        let [.., end, _] = self.ends;
        let repeated = if self.values[0] == self.values[2] { end } else { 0 };
        if floats { NEVER } else { others.max(repeated) }
    }

    /// Records the beginning of a run.
    #[inline]
    pub fn push(&mut self, value: V, invocation: Instant, floats: bool) {
        self.number += 1;
        let [_, second, third] = &mut self.values;
        std::mem::swap(second, third);
        let [last, second, _] = &mut self.values;
        *second = std::mem::replace(last, value);
        let [last, second, ..] = self.invocations;
        self.invocations = [invocation, last, second, 0];
        let [_, last, second, _] = self.ends;
        self.ends = [NEVER, NEVER, last, 0];
        self.doubt = self.doubt_with(second, floats);
        self.forget_scan();
    }

    fn forget_scan(&mut self) {
        self.seen[0] = 0;
        (self.seen_by, self.seen_at) = (NONE, NEVER);
    }

    /// Records the response of the first update of the last run.
    #[inline]
    pub fn respond(&mut self, now: Instant) {
        self.ends[1] = now;
    }

    /// Returns the first scan that saw the last run, and its response.
    pub fn first_scan(&self) -> Option<(u64, Instant)> {
        (self.seen_at != NEVER).then_some((self.seen_by, self.seen_at))
    }

    /// Records that a scan that responds at `now` saw the run with this number.
    #[inline]
    pub fn see(&mut self, number: u64, scan: u64, now: Instant) {
        // Only the last run, while its update is open, needs the scan that saw it.
        if number == self.number && self.seen_at == NEVER {
            (self.seen_by, self.seen_at) = (scan, now);
            self.seen[0] = NEVER;
        }
    }

    /// Takes back that the scan that responded at `now` saw the last run.
    #[cold]
    pub fn unsee(&mut self, now: Instant) {
        if self.seen_at == now {
            self.forget_scan();
        }
    }

    /// Returns the number of the run that a scan has read if it returned `value`, provided that
    /// [`Glance::is_certain`] after all entries. Marks the run as seen.
    #[inline(always)]
    pub fn read(&mut self, value: &V, glance: &mut Glance) -> u64 {
        let [last, second, third] = &self.values;
        let back = if *third == *value { 2 } else { RUNS };
        let back = if *second == *value { 1 } else { back };
        let back = if *last == *value { 0 } else { back };
        glance.latest = glance.latest.max(self.invocations[back]);
        glance.earliest = glance.earliest.min(self.ends[back]);
        glance.doubt = glance.doubt.max(self.doubt);
        // Both are all bits until the last run is seen.
        let seen = self.seen[back];
        self.seen[back] = u64::MAX;
        self.seen_by &= glance.scan | seen;
        self.seen_at &= glance.now | seen;
        self.number.wrapping_sub(back as u64)
    }
}
