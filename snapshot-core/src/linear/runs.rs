//! All updates of one segment, grouped into runs of one value.
//!
//! Invariant: invocations and responses of the runs ascend, and every response
//! but the last one's is known. Run 0 is the initial value, at instant 0.

use std::hash::Hash;

use crate::OperationId;
use crate::seeded::SeededMap;

/// The instant of an event: its number plus 1, so that initial values have instant 0.
pub(super) type Instant = u32;

/// The response of an update that never responds.
pub(super) const NEVER: Instant = u32::MAX;

/// Stands for a missing operation.
const NONE: u32 = u32::MAX;

/// After this many steps back in time, values are found by hashing.
const PATIENCE: usize = 32;

/// Consecutive updates of one value, represented by the first.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run<'h, V> {
    value: &'h V,
    /// The first update; [`NONE`] for the initial value.
    update: u32,
    pub invocation: Instant,
    /// The response of the first update, or of an earlier scan that saw it.
    pub response: Instant,
    /// The response of the first scan that saw it.
    seen: Instant,
}

impl<V> Run<'_, V> {
    /// The first update; `None` for the initial value.
    pub fn update(&self) -> Option<OperationId> {
        (self.update != NONE).then(|| OperationId::from_index(self.update as usize))
    }
}

/// The last update, while it is open.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Tail {
    Settled,
    OpenRun(u32),
    OpenRedundant(u32),
}

/// An update that was open when the next one of its segment began.
#[derive(Clone, Copy, Debug)]
struct Floating {
    update: u32,
    next: u32,
    invocation: Instant,
    /// The kind of the update in its segment before its successor began.
    tail: Tail,
}

/// The run that an entry of a scan was read from.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Sight {
    /// Number of the run, or [`Sight::NOTHING`] or [`Sight::SEVERAL`].
    pub number: u32,
    pub invocation: Instant,
    /// The instant at which the next run was certainly in effect.
    pub overwritten: Instant,
}

impl Sight {
    /// No run that the scan may have read has this value.
    pub const NOTHING: u32 = u32::MAX;
    /// Several such runs have this value, or an update whose place in the order is open.
    pub const SEVERAL: u32 = u32::MAX - 1;
}

/// An index of values: the last run of each, and for each run the previous one of the same value.
type Index<'h, V> = (SeededMap<&'h V, u32>, Vec<u32>);

/// The updates of one segment.
#[derive(Debug)]
pub(super) struct Runs<'h, V> {
    /// Number of the first run kept: 0 unless older runs were forgotten.
    base: u32,
    /// Never empty.
    runs: Vec<Run<'h, V>>,
    tail: Tail,
    /// Floating updates by value, in the order of invocations: an update begins to float when its
    /// successor begins, and floats again only as the last of its segment.
    floating: SeededMap<&'h V, Vec<Floating>>,
    /// Updates still open though seen before their successor began.
    seen_open: Vec<u32>,
    /// Created when first needed. The counter is in a cell, since a lookup is not a change.
    index: Option<Box<Index<'h, V>>>,
    slow_lookups: std::cell::Cell<u32>,
}

impl<'h, V: Eq + Hash> Runs<'h, V> {
    pub fn new(initial: &'h V) -> Self {
        let run = Run { value: initial, update: NONE, invocation: 0, response: 0, seen: NEVER };
        Self {
            base: 0,
            runs: vec![run],
            tail: Tail::Settled,
            floating: SeededMap::default(),
            seen_open: Vec::new(),
            index: None,
            slow_lookups: std::cell::Cell::new(0),
        }
    }

    /// Returns all runs, by number, if none was forgotten.
    pub fn runs(&self) -> &[Run<'h, V>] {
        &self.runs
    }

    #[inline]
    pub fn invocation(&self, number: u32) -> Instant {
        self.runs[(number - self.base) as usize].invocation
    }

    /// Returns the instant at which the run after this one was certainly in effect.
    #[inline]
    pub fn overwritten(&self, number: u32) -> Instant {
        self.runs.get((number - self.base) as usize + 1).map_or(NEVER, |run| run.response)
    }

    /// Records the invocation of an update.
    #[inline]
    pub fn begin(&mut self, update: u32, value: &'h V, now: Instant) {
        if self.tail != Tail::Settled {
            self.settle(update);
        }
        let last = self.runs.len() - 1;
        if self.runs[last].value == value {
            self.tail = Tail::OpenRedundant(update);
            return;
        }
        self.tail = Tail::OpenRun(update);
        let run = Run { value, update, invocation: now, response: NEVER, seen: NEVER };
        self.runs.push(run);
        if self.index.is_some() {
            self.index_last();
        } else if self.slow_lookups.get() > 0 {
            self.build_index();
        }
    }

    #[cold]
    fn settle(&mut self, next: u32) {
        let tail = std::mem::replace(&mut self.tail, Tail::Settled);
        let last = self.runs.len() - 1;
        let value = self.runs[last].value;
        match tail {
            Tail::Settled => {}
            Tail::OpenRun(update) => {
                let run = &mut self.runs[last];
                if run.seen == NEVER {
                    let floating = Floating { update, next, invocation: run.invocation, tail };
                    self.drop_last();
                    self.floating.entry(value).or_default().push(floating);
                } else {
                    run.response = run.seen;
                    self.seen_open.push(update);
                }
            }
            Tail::OpenRedundant(update) => {
                let floating = Floating { update, next, invocation: NEVER, tail };
                self.floating.entry(value).or_default().push(floating);
            }
        }
    }

    /// Records the failure of an update: the floating one that it followed, if any, is followed by
    /// `next` instead, or is the segment's last again.
    #[cold]
    fn successor_failed(&mut self, failed: u32, next: Option<u32>) {
        let mut freed = None;
        for (value, updates) in &mut self.floating {
            if let Some(at) = updates.iter().position(|floating| floating.next == failed) {
                match next {
                    Some(next) => updates[at].next = next,
                    None => freed = Some((*value, updates.remove(at))),
                }
            }
        }
        self.floating.retain(|_, updates| !updates.is_empty());
        if let Some((value, Floating { update, invocation, tail, .. })) = freed {
            self.tail = tail;
            if invocation != NEVER {
                let run = Run { value, update, invocation, response: NEVER, seen: NEVER };
                self.runs.push(run);
                self.index_last();
            }
        }
    }

    /// Records the response of an update; `Err` names its successor if the two overlap.
    #[inline]
    pub fn respond(&mut self, update: u32, now: Instant) -> Result<(), u32> {
        match self.tail {
            Tail::OpenRun(open) if open == update => {
                let last = self.runs.len() - 1;
                self.runs[last].response = now;
                self.tail = Tail::Settled;
            }
            Tail::OpenRedundant(open) if open == update => self.tail = Tail::Settled,
            _ => {
                let mut floating = self.floating.values().flatten();
                if let Some(floating) = floating.find(|floating| floating.update == update) {
                    return Err(floating.next);
                }
            }
        }
        Ok(())
    }

    /// Records the failure of an update, which had no effect. Returns true if a scan saw it
    /// nevertheless.
    pub fn fail(&mut self, update: u32) -> bool {
        match self.tail {
            Tail::OpenRun(open) if open == update => {
                self.tail = Tail::Settled;
                if self.runs[self.runs.len() - 1].seen != NEVER {
                    return true;
                }
                self.drop_last();
                self.successor_failed(update, None);
            }
            Tail::OpenRedundant(open) if open == update => {
                self.tail = Tail::Settled;
                self.successor_failed(update, None);
            }
            _ => {
                if self.seen_open.contains(&update) {
                    return true;
                }
                let mut next = None;
                for updates in self.floating.values_mut() {
                    if let Some(at) = updates.iter().position(|other| other.update == update) {
                        next = Some(updates.remove(at).next);
                    }
                }
                self.floating.retain(|_, updates| !updates.is_empty());
                self.successor_failed(update, next);
            }
        }
        false
    }

    /// Forgets, from time to time, the runs that no scan invoked at `oldest` or later may return.
    /// O(1) amortised, except a binary search.
    pub fn forget_before(&mut self, oldest: Instant) {
        let over = self.runs.partition_point(|run| run.response < oldest);
        let forgotten = over.saturating_sub(1);
        // Three runs stay, as `read` requires.
        if 2 * forgotten >= self.runs.len() && self.runs.len() >= forgotten + 3 {
            self.runs.drain(..forgotten);
            self.base += forgotten as u32;
            // Recreated when needed.
            self.index = None;
        }
    }

    fn drop_last(&mut self) {
        let Some(run) = self.runs.pop() else { return };
        if let Some(index) = &mut self.index {
            let previous = index.1.pop().unwrap_or(NONE);
            if previous == NONE {
                index.0.remove(run.value);
            } else {
                index.0.insert(run.value, previous);
            }
        }
    }

    #[cold]
    fn build_index(&mut self) {
        self.index = Some(Box::default());
        let runs = std::mem::take(&mut self.runs);
        for run in runs {
            self.runs.push(run);
            self.index_last();
        }
    }

    fn index_last(&mut self) {
        let last = self.runs.len() - 1;
        if let Some(index) = &mut self.index {
            let previous = index.0.insert(self.runs[last].value, self.base + last as u32);
            index.1.push(previous.unwrap_or(NONE));
        }
    }

    /// Returns the run that a scan read if it was invoked at `begun`, responds at `now` and
    /// returned `value`. Marks the run as seen.
    ///
    /// Almost always it is one of the last three, at random: they are compared without branches.
    #[inline(always)]
    pub fn read(&mut self, value: &V, begun: Instant, now: Instant) -> Sight {
        let len = self.runs.len();
        let [.., third, second, last] = self.runs.as_mut_slice() else {
            return self.read_slowly(value, begun, now);
        };
        let second_is_open = last.response >= begun;
        let third_is_open = second_is_open & (second.response >= begun);
        let others_are_open = third_is_open & (third.response >= begun);
        let is_last = last.value == value;
        let is_second = second_is_open & (second.value == value);
        let is_third = third_is_open & (third.value == value);
        let found = u8::from(is_last) + u8::from(is_second) + u8::from(is_third);
        if others_are_open | !self.floating.is_empty() | (found != 1) {
            return self.read_slowly(value, begun, now);
        }
        let overwritten = if is_second { last.response } else { second.response };
        let overwritten = if is_last { NEVER } else { overwritten };
        let position = len - 1 - usize::from(is_second) - 2 * usize::from(is_third);
        let run = &mut self.runs[position];
        run.seen = now.min(run.seen);
        Sight { number: self.base + position as u32, invocation: run.invocation, overwritten }
    }

    #[cold]
    #[inline(never)]
    fn read_slowly(&mut self, value: &V, begun: Instant, now: Instant) -> Sight {
        let sight = self.find_slowly(value, begun);
        if sight.number < Sight::SEVERAL {
            self.saw(sight.number, now);
        }
        sight
    }

    fn find_slowly(&self, value: &V, begun: Instant) -> Sight {
        let number = if self.floating.contains_key(value) {
            Sight::SEVERAL
        } else if self.index.is_some() {
            match self.candidates(value, begun).as_slice() {
                [] => Sight::NOTHING,
                [number] => *number,
                _ => Sight::SEVERAL,
            }
        } else {
            self.find_backwards(value, begun)
        };
        if number >= Sight::SEVERAL {
            return Sight { number, invocation: 0, overwritten: NEVER };
        }
        let (invocation, overwritten) = (self.invocation(number), self.overwritten(number));
        Sight { number, invocation, overwritten }
    }

    fn find_backwards(&self, value: &V, begun: Instant) -> u32 {
        let mut found = Sight::NOTHING;
        let last = self.runs.len() - 1;
        for (position, run) in self.runs.iter().enumerate().rev() {
            if last - position > PATIENCE {
                self.slow_lookups.set(1);
            }
            if run.value == value {
                if found != Sight::NOTHING {
                    return Sight::SEVERAL;
                }
                found = self.base + position as u32;
            }
            if run.response < begun {
                break;
            }
        }
        found
    }

    /// Returns all runs that the scan may have read, latest first.
    pub fn candidates(&self, value: &V, begun: Instant) -> Vec<u32> {
        let mut candidates = Vec::new();
        if let Some(index) = &self.index {
            let mut next = index.0.get(value).copied().unwrap_or(NONE);
            while next != NONE && self.overwritten(next) >= begun {
                candidates.push(next);
                next = index.1[(next - self.base) as usize];
            }
            return candidates;
        }
        for (position, run) in self.runs.iter().enumerate().rev() {
            if run.value == value {
                candidates.push(self.base + position as u32);
            }
            if run.response < begun {
                break;
            }
        }
        candidates
    }

    /// Of the floating updates with this value, returns the one invoked first, and the next update
    /// of the segment that has not failed.
    pub fn floating(&self, value: &V) -> Option<(OperationId, OperationId)> {
        let floating = self.floating.get(value)?.first()?;
        let id = |operation: u32| OperationId::from_index(operation as usize);
        Some((id(floating.update), id(floating.next)))
    }

    /// Records that a scan that responds at `now` saw this run.
    #[inline]
    pub fn saw(&mut self, number: u32, now: Instant) {
        let seen = &mut self.runs[(number - self.base) as usize].seen;
        *seen = now.min(*seen);
    }
}
