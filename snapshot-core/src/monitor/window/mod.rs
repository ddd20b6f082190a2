//! The updates of one segment that an open scan may still return.
//!
//! Consecutive updates with the same value form one *run*: all but the first are redundant, since
//! such an update changes nothing, at any instant of its interval. (Between the end of its
//! predecessor, which wrote the same value, and the beginning of its successor, no other update
//! writes the segment.) So the first update represents its run, and runs are numbered 1, 2, ...;
//! run 0 is the initial value. In this numbering a simple history is differentiated: its segments
//! have two runs at most.
//!
//! Invariant: invocations and responses of the runs ascend, and every response
//! but the last one's is known.

mod front;
mod read;
mod translation;

use std::collections::VecDeque;
use std::hash::Hash;

use front::Front;

use crate::seeded::SeededMap;
pub(crate) use front::Glance;
pub(crate) use read::Sight;

/// The instant of an event: its number plus 1, so that initial values have instant 0.
pub(crate) type Instant = u64;

/// The response of an update that never responds.
pub(crate) const NEVER: Instant = u64::MAX;

/// An operation number that names no operation.
pub(crate) const NONE: u64 = u64::MAX;

/// A window with at least this many runs finds values by hashing.
const INDEX_FROM: usize = 48;

/// A window with fewer runs drops the index again.
const INDEX_UNTIL: usize = 16;

/// Up to this many runs are never forgotten.
const SHORT: usize = 8;

/// Forgotten runs are removed in groups of at least this size.
const COMPACT_FROM: usize = 32;

/// Consecutive updates of a segment with one value.
#[derive(Clone, Debug)]
pub(crate) struct Run<V> {
    pub value: V,
    /// The first update; [`NONE`] for the initial value.
    pub update: u64,
    pub invocation: Instant,
    /// Response of the first update, or the instant by which a scan proved
    /// that it had taken effect; [`NEVER`] while neither is known.
    pub response: Instant,
}

/// An update that was open when the next update of its segment began.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Floating {
    pub update: u64,
    /// The next update of the segment that has not failed.
    pub next: u64,
    invocation: Instant,
    /// The kind of the update in its segment before its successor began.
    tail: Tail,
}

/// The state of the last update of a segment.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Tail {
    /// It has ended (or the segment has no update).
    Settled,
    /// It is the first of the last run, and open.
    OpenRun(u64),
    /// As [`Self::OpenRun`], but its outcome will never be known.
    LostRun(u64),
    /// It repeats the value of the last run, and is open.
    OpenRedundant(u64),
}

/// The window of one segment.
#[derive(Clone, Debug)]
pub(crate) struct Window<V> {
    /// The last runs, for the comparison with scans.
    front: Front<V>,
    /// Number of the first run in `runs`.
    base: u64,
    /// Runs, of which the first `head` are forgotten; at least one is not.
    runs: Vec<Run<V>>,
    head: usize,
    tail: Tail,
    /// Floating updates by value, in the order of invocations: an update begins to float when its successor begins,
    /// and floats again only as the last of its segment. No longer than the number of updates
    /// without outcome.
    floating: SeededMap<V, Vec<Floating>>,
    /// Updates still open though a scan that saw them ended before their
    /// successor began, with that scan. At most one per process.
    seen_open: Vec<(u64, u64)>,
    /// Numbers of the runs of each value, ascending.
    index: Option<Box<SeededMap<V, VecDeque<u64>>>>,
}

impl<V: Clone + Eq + Hash> Window<V> {
    /// Creates the window of a segment that has its initial value.
    pub fn new(initial: V) -> Self {
        Self {
            front: Front::new(initial.clone()),
            base: 0,
            runs: vec![Run { value: initial, update: NONE, invocation: 0, response: 0 }],
            head: 0,
            tail: Tail::Settled,
            floating: SeededMap::default(),
            seen_open: Vec::new(),
            index: None,
        }
    }

    /// Checks the invariants.
    ///
    /// # Panics
    /// In debug builds, if one is broken.
    pub fn validate(&self) {
        if cfg!(debug_assertions) {
            let ascend = |one: &Run<V>, next: &Run<V>| {
                one.invocation <= next.invocation && one.response <= next.response
            };
            assert!(self.kept().is_sorted_by(ascend), "runs ascend");
            self.front.validate(self.base, &self.runs, !self.floating.is_empty());
        }
    }

    /// Returns the value of the last update.
    pub fn last_value(&self) -> &V {
        &self.runs[self.runs.len() - 1].value
    }

    /// Number of runs and floating updates kept, at least 1.
    pub fn len(&self) -> usize {
        self.kept().len() + self.floating.values().map(Vec::len).sum::<usize>()
    }

    /// Returns true if the window is worth shortening.
    #[inline]
    pub fn is_long(&self) -> bool {
        self.runs.len() - self.head > SHORT
    }

    fn kept(&self) -> &[Run<V>] {
        &self.runs[self.head..]
    }

    fn first_number(&self) -> u64 {
        self.base + self.head as u64
    }

    #[inline]
    fn last_run(&mut self) -> &mut Run<V> {
        let last = self.runs.len() - 1;
        &mut self.runs[last]
    }

    /// The run with this number, which must be in the window.
    #[inline]
    pub fn run(&self, number: u64) -> &Run<V> {
        &self.runs[(number - self.base) as usize]
    }

    /// Returns the run after the one with this number, if it has begun.
    #[inline]
    pub fn next(&self, number: u64) -> Option<&Run<V>> {
        self.runs.get((number + 1 - self.base) as usize)
    }

    /// Returns the instant at which the run after the one with this number was certainly in effect.
    #[inline]
    pub fn overwritten(&self, number: u64) -> Instant {
        self.next(number).map_or(NEVER, |run| run.response)
    }

    /// Records the invocation of an update of the segment.
    #[inline]
    pub fn begin(&mut self, update: u64, value: &V, now: Instant) {
        if self.tail != Tail::Settled {
            self.settle_tail(update);
        }
        if self.last_run().value == *value {
            self.tail = Tail::OpenRedundant(update);
            return;
        }
        self.tail = Tail::OpenRun(update);
        self.push(Run { value: value.clone(), update, invocation: now, response: NEVER });
    }

    #[inline]
    fn push(&mut self, run: Run<V>) {
        self.front.push(run.value.clone(), run.invocation, !self.floating.is_empty());
        if let Some(index) = &mut self.index {
            let number = self.base + self.runs.len() as u64;
            index.entry(run.value.clone()).or_default().push_back(number);
        }
        self.runs.push(run);
        if self.index.is_none() && self.kept().len() >= INDEX_FROM {
            self.build_index();
        }
    }

    /// Settles the last update, still open, before its successor begins. If a scan saw it, it had
    /// taken effect when that scan responded; else its position in the order is undetermined: it
    /// floats.
    #[cold]
    fn settle_tail(&mut self, next: u64) {
        let tail = std::mem::replace(&mut self.tail, Tail::Settled);
        match tail {
            Tail::Settled => {}
            Tail::OpenRun(update) | Tail::LostRun(update) => {
                debug_assert_eq!(self.last_run().update, update);
                if let Some((scan, seen_at)) = self.front.first_scan() {
                    self.last_run().response = seen_at;
                    if tail == Tail::OpenRun(update) {
                        self.seen_open.push((update, scan));
                    }
                } else {
                    let Run { value, invocation, .. } = self.pop_last();
                    let floating = Floating { update, next, invocation, tail };
                    self.floating.entry(value).or_default().push(floating);
                }
            }
            Tail::OpenRedundant(update) => {
                let value = self.last_run().value.clone();
                let floating = Floating { update, next, invocation: NEVER, tail };
                self.floating.entry(value).or_default().push(floating);
            }
        }
        self.renew_front();
    }

    /// Records the failure of an update that may have been a successor of floating ones.
    #[cold]
    fn successor_failed(&mut self, failed: u64, next: Option<u64>) {
        let mut last = None;
        self.floating.retain(|value, updates| {
            updates.retain_mut(|floating| match next {
                Some(next) if floating.next == failed => {
                    floating.next = next;
                    true
                }
                None if floating.next == failed => {
                    last = Some((value.clone(), *floating));
                    false
                }
                _ => true,
            });
            !updates.is_empty()
        });
        // It is the segment's last update again, as if it had no successor.
        if let Some((value, floating)) = last {
            self.tail = floating.tail;
            if floating.invocation != NEVER {
                let Floating { update, invocation, .. } = floating;
                self.push(Run { value, update, invocation, response: NEVER });
            }
        }
        self.renew_front();
    }

    /// Records the response of the update. `Err` names its successor if the two overlap.
    #[inline]
    pub fn respond(&mut self, update: u64, now: Instant) -> Result<(), u64> {
        match self.tail {
            Tail::OpenRun(open) if open == update => {
                self.last_run().response = now;
                self.front.respond(now);
                self.tail = Tail::Settled;
            }
            Tail::OpenRedundant(open) if open == update => self.tail = Tail::Settled,
            _ => {
                let mut floating = self.floating.values().flatten();
                if let Some(floating) = floating.find(|floating| floating.update == update) {
                    return Err(floating.next);
                }
                self.give_up(update);
            }
        }
        Ok(())
    }

    /// Records the failure of the update, which never took effect. Returns a scan that saw it
    /// nevertheless, if any.
    pub fn fail(&mut self, update: u64) -> Option<u64> {
        match self.tail {
            Tail::OpenRun(open) if open == update => {
                self.tail = Tail::Settled;
                if let Some((scan, _)) = self.front.first_scan() {
                    return Some(scan);
                }
                self.pop_last();
                self.successor_failed(update, None);
            }
            Tail::OpenRedundant(open) if open == update => {
                self.tail = Tail::Settled;
                self.successor_failed(update, None);
            }
            _ => {
                let seen = self.seen_open.iter().find(|&&(open, _)| open == update);
                if let Some(&(_, scan)) = seen {
                    return Some(scan);
                }
                let mut next = None;
                self.floating.retain(|_, updates| {
                    updates.retain(|floating| {
                        let fails = floating.update == update;
                        next = if fails { Some(floating.next) } else { next };
                        !fails
                    });
                    !updates.is_empty()
                });
                self.successor_failed(update, next);
            }
        }
        None
    }

    /// Records that the outcome of the update will never be known: it can no longer fail.
    pub fn give_up(&mut self, update: u64) {
        if self.tail == Tail::OpenRun(update) {
            self.tail = Tail::LostRun(update);
            return;
        }
        self.seen_open.retain(|&(open, _)| open != update);
        for floating in self.floating.values_mut().flatten() {
            if floating.tail == Tail::OpenRun(update) {
                floating.tail = Tail::LostRun(update);
            }
        }
    }

    /// Removes the last run; leaves the front unchanged.
    fn pop_last(&mut self) -> Run<V> {
        let run = self.runs.pop().expect("a window is never empty");
        if let Some(index) = &mut self.index
            && let Some(numbers) = index.get_mut(&run.value)
        {
            numbers.pop_back();
            if numbers.is_empty() {
                index.remove(&run.value);
            }
        }
        run
    }

    /// Forgets the runs that no scan invoked at `oldest` or later may return.
    /// O(1) amortised.
    #[inline]
    pub fn forget_before(&mut self, oldest: Instant) {
        while self.runs.len() - self.head >= 2 && self.runs[self.head + 1].response < oldest {
            if self.index.is_some() {
                self.forget_indexed();
            }
            self.head += 1;
        }
        if self.head >= COMPACT_FROM && 2 * self.head >= self.runs.len() {
            self.compact();
        }
    }

    /// Removes the first run kept from the index.
    fn forget_indexed(&mut self) {
        let value = &self.runs[self.head].value;
        if let Some(index) = &mut self.index
            && let Some(numbers) = index.get_mut(value)
        {
            numbers.pop_front();
            if numbers.is_empty() {
                index.remove(value);
            }
        }
    }

    #[inline(never)]
    fn compact(&mut self) {
        // Three runs stay, as the front requires.
        let forgotten = self.head.min(self.runs.len().saturating_sub(3));
        self.base += forgotten as u64;
        self.runs.drain(..forgotten);
        self.head -= forgotten;
        if self.runs.len() < INDEX_UNTIL {
            self.index = None;
            self.runs.shrink_to(4 * COMPACT_FROM);
        }
    }

    #[cold]
    fn build_index(&mut self) {
        let mut index: SeededMap<V, VecDeque<u64>> = SeededMap::default();
        for (number, run) in (self.first_number()..).zip(self.kept()) {
            index.entry(run.value.clone()).or_default().push_back(number);
        }
        self.index = Some(Box::new(index));
    }

    /// Returns the floating update with this value that was invoked first, if any.
    #[inline]
    pub fn floating(&self, value: &V) -> Option<Floating> {
        self.floating.get(value)?.first().copied()
    }

    /// Records that a scan that responds at `now` saw this run.
    #[inline]
    pub fn saw(&mut self, number: u64, scan: u64, now: Instant) {
        self.front.see(number, scan, now);
    }

    /// Rebuilds the front from the current runs.
    #[cold]
    fn renew_front(&mut self) {
        self.front.renew(self.base, &self.runs, !self.floating.is_empty());
        self.validate();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An update that a scan saw can be given up before its successor begins, or after (by another
    /// process); until then it can fail.
    #[test]
    fn seen_updates_are_remembered_until_given_up() {
        let mut window = Window::new(0);
        let mut now = 0;
        for update in 1..100 {
            now += 10;
            window.begin(update, &update, now);
            assert_eq!(window.read_slowly(&update, now, 7, now + 1).number, 2 * update - 1);
            if update % 2 == 0 {
                window.give_up(update);
            }
            window.begin(1000 + update, &0, now + 2);
            let remembered = usize::from(update % 2 == 1);
            assert_eq!(window.seen_open.len(), remembered);
            assert_eq!(window.respond(1000 + update, now + 3), Ok(()));
            if update % 4 == 1 {
                assert_eq!(window.fail(update), Some(7));
                window.give_up(update);
            }
            assert_eq!(window.respond(update, now + 4), Ok(()));
            assert_eq!(window.seen_open.len(), 0);
        }
    }
    /// An update given up while it floats cannot fail when it becomes the last again.
    #[test]
    fn floating_updates_may_be_given_up() {
        for is_lost in [false, true] {
            let mut window = Window::new(0);
            window.begin(1, &1, 10);
            window.begin(2, &2, 20);
            if is_lost {
                window.give_up(1);
            }
            assert_eq!(window.fail(2), None);
            assert_eq!(window.read_slowly(&1, 15, 7, 30).number, 1);
            window.begin(3, &3, 40);
            assert_eq!(window.seen_open.len(), usize::from(!is_lost));
        }
    }

    /// A failed update does not change the scan that saw the last one.
    #[test]
    fn failure_of_one_update_keeps_another_seen() {
        let mut window = Window::new(0);
        window.begin(1, &1, 10);
        window.begin(2, &2, 20);
        assert_eq!(window.read_slowly(&2, 15, 7, 30).number, 1);
        assert_eq!(window.fail(1), None);
        window.begin(3, &3, 40);
        assert_eq!((window.seen_open.len(), window.run(1).response), (1, 30));
    }
}
