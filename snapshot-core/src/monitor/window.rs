//! The updates of one segment that an open scan may still return.
//!
//! Consecutive updates with the same value form one *run*: all but the first
//! are redundant, for at whatever instant of its interval such an update takes
//! effect, it changes nothing. (Between the end of its predecessor, which
//! wrote the same value, and the beginning of its successor, nobody else
//! writes the segment.) So a run stands for its first update, and runs are
//! numbered 1, 2, ...; run 0 is the initial value. In this numbering a simple
//! history is differentiated: its segments have two runs at most.
//!
//! Invariant: invocations and responses of the runs ascend, and every response
//! but the last one's is known.

use std::collections::VecDeque;
use std::hash::Hash;

use rustc_hash::FxHashMap;

/// The instant of an event: its number plus 1, so that initial values have instant 0.
pub(crate) type Instant = u64;

/// The response of an update that has not responded.
pub(crate) const NEVER: Instant = u64::MAX;

/// An operation number that names no operation.
pub(crate) const NOBODY: u64 = u64::MAX;

/// From this many runs on, a window finds values by hashing.
const INDEX_FROM: usize = 48;

/// Below this many runs it forgets the index again.
const INDEX_UNTIL: usize = 16;

/// Consecutive updates of a segment with one value.
#[derive(Clone, Debug)]
pub(crate) struct Run<V> {
    pub value: V,
    /// Its first update; [`NOBODY`] for the initial value.
    pub update: u64,
    pub invocation: Instant,
    /// Response of the first update, or the instant by which a scan proved
    /// that it had taken effect; [`NEVER`] while neither is known.
    pub response: Instant,
    /// The first scan that saw it while it was open, and when that responded.
    pub seen: Option<(u64, Instant)>,
}

/// An update that was not over when the next update of its segment began.
#[derive(Clone, Debug)]
pub(crate) struct Floating<V> {
    pub value: V,
    pub update: u64,
    /// The next update of the segment.
    pub next: u64,
}

/// What became of the last update of a segment.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Tail {
    /// It is over (or there is none).
    Settled,
    /// It is the first of the last run, and open.
    OpenRun(u64),
    /// It repeats the value of the last run, and is open.
    OpenRedundant(u64),
}

/// Which run a value belongs to.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Lookup {
    /// The only run it can belong to.
    One(u64),
    /// No run that a scan may return has this value.
    Nothing,
    /// More than one.
    Several,
}

/// The window of one segment.
#[derive(Clone, Debug)]
pub(crate) struct Window<V> {
    /// Number of the first run kept.
    base: u64,
    runs: VecDeque<Run<V>>,
    tail: Tail,
    /// Never larger than the number of updates without outcome.
    floating: Vec<Floating<V>>,
    /// Updates still open though a scan that saw them ended before their
    /// successor began, with that scan. At most one per process.
    seen_open: Vec<(u64, u64)>,
    /// Numbers of the runs of each value, ascending.
    index: Option<Box<FxHashMap<V, VecDeque<u64>>>>,
}

impl<V: Clone + Eq + Hash> Window<V> {
    /// The window of a segment that holds its initial value.
    pub fn new(initial: V) -> Self {
        let run = Run { value: initial, update: NOBODY, invocation: 0, response: 0, seen: None };
        Self {
            base: 0,
            runs: VecDeque::from([run]),
            tail: Tail::Settled,
            floating: Vec::new(),
            seen_open: Vec::new(),
            index: None,
        }
    }

    /// Number of runs kept, at least 1.
    pub fn len(&self) -> usize {
        self.runs.len() + self.floating.len()
    }

    /// Number of the last run.
    pub fn last(&self) -> u64 {
        self.base + self.runs.len() as u64 - 1
    }

    /// The run with this number, which must be in the window.
    #[inline]
    pub fn run(&self, number: u64) -> &Run<V> {
        &self.runs[(number - self.base) as usize]
    }

    /// The run after the one with this number, if it has begun.
    #[inline]
    pub fn next(&self, number: u64) -> Option<&Run<V>> {
        self.runs.get((number + 1 - self.base) as usize)
    }

    /// When the run after the one with this number was certainly in effect.
    #[inline]
    pub fn overwritten(&self, number: u64) -> Instant {
        self.next(number).map_or(NEVER, |run| run.response)
    }

    /// An update of the segment begins.
    pub fn begin(&mut self, update: u64, value: &V, now: Instant) {
        self.settle_tail(update);
        if self.runs.back().is_some_and(|run| run.value == *value) {
            self.tail = Tail::OpenRedundant(update);
            return;
        }
        self.tail = Tail::OpenRun(update);
        let number = self.last() + 1;
        let value = value.clone();
        if let Some(index) = &mut self.index {
            index.entry(value.clone()).or_default().push_back(number);
        }
        self.runs.push_back(Run { value, update, invocation: now, response: NEVER, seen: None });
        if self.index.is_none() && self.runs.len() >= INDEX_FROM {
            self.build_index();
        }
    }

    /// The last update, if still open, is about to have a successor. If a
    /// scan saw it, it had taken effect when that scan responded; else its
    /// place in the order is open: it floats.
    fn settle_tail(&mut self, next: u64) {
        match self.tail {
            Tail::Settled => return,
            Tail::OpenRun(update) => {
                let run = self.runs.back_mut().expect("a window is never empty");
                debug_assert_eq!(run.update, update);
                if let Some((scan, responded)) = run.seen {
                    run.response = responded;
                    self.seen_open.push((update, scan));
                } else {
                    let run = self.pop_last();
                    self.floating.push(Floating { value: run.value, update, next });
                }
            }
            Tail::OpenRedundant(update) => {
                let value = self.runs.back().expect("a window is never empty").value.clone();
                self.floating.push(Floating { value, update, next });
            }
        }
        self.tail = Tail::Settled;
    }

    /// The update responds. `Err` names its successor if the two overlap.
    pub fn respond(&mut self, update: u64, now: Instant) -> Result<(), u64> {
        match self.tail {
            Tail::OpenRun(open) if open == update => {
                self.runs.back_mut().expect("a window is never empty").response = now;
                self.tail = Tail::Settled;
            }
            Tail::OpenRedundant(open) if open == update => self.tail = Tail::Settled,
            _ => {
                if let Some(floating) = self.floating.iter().find(|f| f.update == update) {
                    return Err(floating.next);
                }
                self.seen_open.retain(|&(open, _)| open != update);
            }
        }
        Ok(())
    }

    /// The update failed: it never took effect. Returns the scan that saw it
    /// all the same, if any.
    pub fn fail(&mut self, update: u64) -> Option<u64> {
        match self.tail {
            Tail::OpenRun(open) if open == update => {
                self.tail = Tail::Settled;
                if let Some((scan, _)) = self.runs.back().and_then(|run| run.seen) {
                    return Some(scan);
                }
                self.pop_last();
            }
            Tail::OpenRedundant(open) if open == update => self.tail = Tail::Settled,
            _ => {
                if let Some(at) = self.floating.iter().position(|f| f.update == update) {
                    self.floating.swap_remove(at);
                } else {
                    let seen = self.seen_open.iter().find(|&&(open, _)| open == update);
                    return seen.map(|&(_, scan)| scan);
                }
            }
        }
        None
    }

    /// The outcome of the update will never be known: it can no longer fail.
    pub fn give_up(&mut self, update: u64) {
        self.seen_open.retain(|&(open, _)| open != update);
    }

    fn pop_last(&mut self) -> Run<V> {
        let number = self.last();
        let run = self.runs.pop_back().expect("a window is never empty");
        if let Some(index) = &mut self.index
            && let Some(numbers) = index.get_mut(&run.value)
        {
            debug_assert_eq!(numbers.back(), Some(&number));
            numbers.pop_back();
            if numbers.is_empty() {
                index.remove(&run.value);
            }
        }
        run
    }

    /// Forgets the runs that no scan invoked at `oldest` or later may return.
    #[inline]
    pub fn forget_before(&mut self, oldest: Instant) {
        while self.runs.len() >= 2 && self.runs[1].response < oldest {
            let run = self.runs.pop_front().expect("a window is never empty");
            self.base += 1;
            if let Some(index) = &mut self.index {
                Self::forget_indexed(index, &run.value);
            }
        }
        if self.index.is_some() && self.runs.len() < INDEX_UNTIL {
            self.index = None;
            self.runs.shrink_to(2 * INDEX_FROM);
        }
    }

    fn forget_indexed(index: &mut FxHashMap<V, VecDeque<u64>>, value: &V) {
        if let Some(numbers) = index.get_mut(value) {
            numbers.pop_front();
            if numbers.is_empty() {
                index.remove(value);
            }
        }
    }

    fn build_index(&mut self) {
        let mut index: FxHashMap<V, VecDeque<u64>> = FxHashMap::default();
        for (number, run) in (self.base..).zip(&self.runs) {
            index.entry(run.value.clone()).or_default().push_back(number);
        }
        self.index = Some(Box::new(index));
    }

    /// The run that a scan invoked at `since` read, if it returned `value`:
    /// not overwritten before `since`, and begun before now. O(1) on average.
    #[inline]
    pub fn lookup(&self, value: &V, since: Instant) -> Lookup {
        if self.index.is_some() {
            return self.lookup_indexed(value, since);
        }
        let mut found = Lookup::Nothing;
        for (position, run) in self.runs.iter().enumerate().rev() {
            if run.value == *value {
                if found != Lookup::Nothing {
                    return Lookup::Several;
                }
                found = Lookup::One(self.base + position as u64);
            }
            if run.response < since {
                break;
            }
        }
        found
    }

    #[cold]
    fn lookup_indexed(&self, value: &V, since: Instant) -> Lookup {
        let mut candidates = self.candidates(value, since);
        match (candidates.next(), candidates.next()) {
            (None, _) => Lookup::Nothing,
            (Some(number), None) => Lookup::One(number),
            _ => Lookup::Several,
        }
    }

    /// All runs that a scan invoked at `since` may have read, if it returned
    /// `value`, latest first.
    pub fn candidates(&self, value: &V, since: Instant) -> impl Iterator<Item = u64> + '_ {
        let numbers: Vec<u64> = match &self.index {
            Some(index) => index.get(value).map_or_else(Vec::new, |n| n.iter().copied().collect()),
            None => (self.base..)
                .zip(&self.runs)
                .filter(|(_, run)| run.value == *value)
                .map(|(number, _)| number)
                .collect(),
        };
        numbers.into_iter().rev().take_while(move |number| self.overwritten(*number) >= since)
    }

    /// An update with this value whose place in the order is open, if any.
    #[inline]
    pub fn floating(&self, value: &V) -> Option<&Floating<V>> {
        if self.floating.is_empty() {
            return None;
        }
        self.floating.iter().find(|floating| floating.value == *value)
    }

    /// A scan that responds at `now` saw this run.
    #[inline]
    pub fn saw(&mut self, number: u64, scan: u64, now: Instant) {
        let run = &mut self.runs[(number - self.base) as usize];
        if run.response == NEVER && run.seen.is_none() {
            run.seen = Some((scan, now));
        }
    }
}
