//! Finding the run of a window that a scan has read.

use std::hash::Hash;

use super::{Glance, Instant, NEVER, Run, Window};

/// The run that an entry of a scan was read from.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Sight {
    /// Number of the run, or [`Sight::NOTHING`] or [`Sight::SEVERAL`].
    pub number: u64,
    pub invocation: Instant,
    /// The instant at which the next run was certainly in effect.
    pub overwritten: Instant,
}

impl Sight {
    /// No run that the scan may have read has this value.
    pub const NOTHING: u64 = u64::MAX;
    /// Several such runs have this value, or a floating update.
    pub const SEVERAL: u64 = u64::MAX - 1;
}

impl<V: Clone + Eq + Hash> Window<V> {
    /// Returns the number of the run that a scan has read if it returned `value`, provided that the
    /// [`Glance`] is certain after all its entries. Marks the run as seen. O(1).
    #[inline(always)]
    pub fn read(&mut self, value: &V, glance: &mut Glance) -> u64 {
        self.front.read(value, glance)
    }

    /// Takes back the marks of [`Self::read`] for the scan that responds at `now`.
    pub fn unsee(&mut self, now: Instant) {
        self.front.unsee(now);
    }

    /// Returns the run that a scan invoked at `since`, and responding at `now`, read if it returned
    /// `value`: not overwritten before `since`. Marks the run as seen. O(1) on average.
    #[inline(never)]
    pub fn read_slowly(&mut self, value: &V, since: Instant, scan: u64, now: Instant) -> Sight {
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

    /// Returns all runs that a scan invoked at `since` may have read, if it returned `value`,
    /// latest first. O(candidates), at least while there are many runs.
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

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use proptest::collection::vec;
    use proptest::prelude::*;
    use proptest::test_runner::{Config, TestRunner};

    use super::*;

    /// An event of a window; updates are given by their positions among the open ones.
    #[derive(Clone, Copy, Debug)]
    enum Act {
        /// Writes this value; all other updates respond first, unless it overlaps with them.
        Begin(u8, bool),
        Respond(usize),
        Fail(usize),
        GiveUp(usize),
        /// Every open scan was invoked at most this number of events ago.
        Forget(Instant),
        /// A scan that was invoked the second number of events ago returns the value of a run,
        /// counted back from the last by the first number.
        Scan(usize, Instant),
    }

    fn acts() -> impl Strategy<Value = Act> {
        let value = prop_oneof![1 => 0..3_u8, 3 => any::<u8>()];
        prop_oneof![
            6 => (value, prop::bool::weighted(0.1)).prop_map(|(value, over)| Act::Begin(value, over)),
            6 => any::<usize>().prop_map(Act::Respond),
            1 => any::<usize>().prop_map(Act::Fail),
            1 => any::<usize>().prop_map(Act::GiveUp),
            1 => (0..30_u64).prop_map(Act::Forget),
            9 => (0..5_usize, 0..20_u64).prop_map(|(back, ago)| Act::Scan(back, ago)),
        ]
    }

    /// Takes the acts up to the first at which a monitor would stop. Counts the scans that read the
    /// last run, the runs before it, and the scans with an uncertain glance.
    fn compare(acts: &[Act], counts: &mut [usize; 4]) {
        let mut window = Window::new(0_u8);
        let (mut open, mut oldest) = (Vec::new(), 1);
        let take = |open: &mut Vec<u64>, place: usize| {
            (!open.is_empty()).then(|| open.remove(place % open.len()))
        };
        for (number, act) in (0..).zip(acts) {
            let now = number + 1;
            let goes_on = match *act {
                Act::Begin(value, overlaps) => {
                    let mut ended = if overlaps { 0..0 } else { 0..open.len() };
                    let goes_on = ended.all(|at| window.respond(open[at], now).is_ok());
                    open.drain(..if overlaps { 0 } else { open.len() });
                    window.begin(number, &value, now);
                    open.push(number);
                    goes_on
                }
                Act::Respond(place) => {
                    take(&mut open, place).is_none_or(|update| window.respond(update, now).is_ok())
                }
                Act::Fail(place) => {
                    take(&mut open, place).is_none_or(|update| window.fail(update).is_none())
                }
                Act::GiveUp(place) => {
                    take(&mut open, place).into_iter().for_each(|update| window.give_up(update));
                    true
                }
                Act::Forget(ago) => {
                    oldest = oldest.max(now.saturating_sub(ago));
                    window.forget_before(oldest);
                    true
                }
                Act::Scan(back, ago) => {
                    let run = window.runs.iter().rev().nth(back);
                    let value = run.map_or(u8::MAX, |run| run.value);
                    let since = now.saturating_sub(ago).max(oldest);
                    let mut slowly = window.clone();
                    let sight = slowly.read_slowly(&value, since, number, now);
                    let before = format!("{window:?}");
                    let mut glance = Glance::new(number, since, now);
                    let read = window.read(&value, &mut glance);
                    if glance.is_certain() {
                        assert_eq!(read, sight.number, "{acts:?}");
                        assert_eq!(glance.latest, sight.invocation.max(since), "{acts:?}");
                        assert_eq!(glance.earliest, sight.overwritten, "{acts:?}");
                        assert_eq!(format!("{window:?}"), format!("{slowly:?}"), "{acts:?}");
                        let last = window.base + window.runs.len() as u64 - 1;
                        counts[(last - read) as usize] += 1;
                    } else {
                        window.unsee(now);
                        assert_eq!(format!("{window:?}"), before, "{acts:?}");
                        counts[3] += 1;
                    }
                    window = slowly;
                    true
                }
            };
            if !goes_on {
                return;
            }
            window.validate();
        }
    }

    #[test]
    fn certain_glance_agrees_with_the_full_read() {
        let counts = RefCell::new([0; 4]);
        let config = Config { cases: 500, failure_persistence: None, ..Config::default() };
        let mut runner = TestRunner::new(config);
        let compared = runner.run(&vec(acts(), 1..120), |acts| {
            compare(&acts, &mut counts.borrow_mut());
            Ok(())
        });
        compared.unwrap();
        let counts = counts.into_inner();
        assert!(counts.iter().all(|count| *count > 50), "{counts:?}");
    }
}
