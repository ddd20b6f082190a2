//! Which run of a window a scan has read.

use std::hash::Hash;

use super::{Instant, NEVER, Run, Window};

/// The run that an entry of a scan was read from.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Sight {
    /// Its number, or [`Sight::NOTHING`] or [`Sight::SEVERAL`].
    pub number: u64,
    pub invocation: Instant,
    /// When the next run was certainly in effect.
    pub overwritten: Instant,
}

impl Sight {
    /// No run that the scan may have read has this value.
    pub const NOTHING: u64 = u64::MAX;
    /// More than one has, or an update whose place in the order is open.
    pub const SEVERAL: u64 = u64::MAX - 1;
}

impl<V: Clone + Eq + Hash> Window<V> {
    /// The run that a scan invoked at `since`, and responding now, read if it
    /// returned `value`: not overwritten before `since`. Marks it as seen.
    /// O(1) on average.
    ///
    /// Almost always it is one of the last three, and which one is a matter of
    /// chance: they are compared without branches.
    #[inline(always)]
    pub fn read(&mut self, value: &V, since: Instant, scan: u64, now: Instant) -> Sight {
        let len = self.runs.len();
        let [.., third, second, last] = self.runs.as_mut_slice() else {
            return self.read_slowly(value, since, scan, now);
        };
        // What is forgotten was overwritten before `since`.
        let second_is_open = last.response >= since;
        let third_is_open = second_is_open & (second.response >= since);
        let others_are_open = third_is_open & (third.response >= since);
        let is_last = last.value == *value;
        let is_second = second_is_open & (second.value == *value);
        let is_third = third_is_open & (third.value == *value);
        let found = u8::from(is_last) + u8::from(is_second) + u8::from(is_third);
        if others_are_open | !self.floating.is_empty() | (found != 1) {
            return self.read_slowly(value, since, scan, now);
        }
        let overwritten = if is_second { last.response } else { second.response };
        let overwritten = if is_last { NEVER } else { overwritten };
        let invocation = if is_second { second.invocation } else { third.invocation };
        let invocation = if is_last { last.invocation } else { invocation };
        // Whether a run was seen is asked only while its update is the last one, and open.
        let is_first = is_last & (last.seen_at == NEVER);
        last.seen_by = if is_first { scan } else { last.seen_by };
        last.seen_at = if is_first { now } else { last.seen_at };
        let back = usize::from(is_second) + 2 * usize::from(is_third);
        let number = self.base + (len - 1 - back) as u64;
        Sight { number, invocation, overwritten }
    }

    #[cold]
    #[inline(never)]
    fn read_slowly(&mut self, value: &V, since: Instant, scan: u64, now: Instant) -> Sight {
        let sight = self.find_slowly(value, since);
        if sight.number < Sight::SEVERAL {
            self.saw(sight.number, scan, now);
        }
        sight
    }

    fn find_slowly(&self, value: &V, since: Instant) -> Sight {
        let number = if self.floating.contains_key(value) {
            Sight::SEVERAL
        } else if self.index.is_some() {
            let mut candidates = self.candidates(value, since);
            match (candidates.next(), candidates.next()) {
                (None, _) => Sight::NOTHING,
                (Some(number), None) => number,
                _ => Sight::SEVERAL,
            }
        } else {
            self.find_backwards(value, since)
        };
        if number >= Sight::SEVERAL {
            return Sight { number, invocation: 0, overwritten: NEVER };
        }
        let (invocation, overwritten) = (self.run(number).invocation, self.overwritten(number));
        Sight { number, invocation, overwritten }
    }

    fn find_backwards(&self, value: &V, since: Instant) -> u64 {
        let mut found = Sight::NOTHING;
        for (position, run) in self.runs.iter().enumerate().skip(self.head).rev() {
            if run.value == *value {
                if found != Sight::NOTHING {
                    return Sight::SEVERAL;
                }
                found = self.base + position as u64;
            }
            if run.response < since {
                break;
            }
        }
        found
    }

    /// All runs that a scan invoked at `since` may have read, if it returned
    /// `value`, latest first. O(candidates), at least while there are many runs.
    pub fn candidates(&self, value: &V, since: Instant) -> impl Iterator<Item = u64> + '_ {
        let numbers: Box<dyn Iterator<Item = u64> + '_> = match &self.index {
            Some(index) => Box::new(index.get(value).into_iter().flatten().rev().copied()),
            None => {
                let of_value = |(_, run): &(u64, &Run<V>)| run.value == *value;
                let runs = (self.first_number()..).zip(self.kept());
                let numbers: Vec<u64> = runs.filter(of_value).map(|(number, _)| number).collect();
                Box::new(numbers.into_iter().rev())
            }
        };
        numbers.take_while(move |number| self.overwritten(*number) >= since)
    }
}
