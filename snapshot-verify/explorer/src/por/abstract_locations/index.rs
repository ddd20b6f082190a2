//! Numbers for the abstract locations of a process, for fast lookup by state.

use std::cmp::Ordering;

use snapshot_core::Process;

use super::{AbstractGraph, AbstractLocation, Selector};
use crate::instance::{Instance, Scalar};
use crate::search::layout::{Register, Registers};

/// With more numbers than this, tables by number would be too large.
const MOST_NUMBERS: usize = 1 << 20;

/// The numbering of one process's abstract locations, with selectors as digits.
#[derive(Clone, Debug)]
pub(crate) struct Index {
    location: Register,
    selectors: Vec<Selector>,
    /// By location.
    at: Vec<At>,
    count: usize,
}

/// The abstract locations at one location.
#[derive(Clone, Debug, Default)]
struct At {
    /// The number of the first.
    begin: usize,
    /// The selectors with several codes here: index, least code, number of codes.
    digits: Vec<(usize, usize, usize)>,
    /// All other selectors, with their only code here.
    fixed: Vec<(usize, usize)>,
}

impl Index {
    /// Numbers the abstract locations of a process with these selectors. Returns `None` if there
    /// would be too many numbers.
    pub(crate) fn new(
        instance: &Instance,
        process: Process,
        selectors: Vec<Selector>,
        graph: &AbstractGraph,
    ) -> Option<Self> {
        let mut at = vec![At::default(); instance.graphs[process.index()].locations.len()];
        let mut by_location: Vec<Vec<&AbstractLocation>> = vec![Vec::new(); at.len()];
        graph.places.iter().for_each(|place| by_location[place.location.index()].push(place));
        let mut count = 0_usize;
        for (at, here) in at.iter_mut().zip(by_location) {
            at.begin = count;
            for selector in 0..selectors.len() {
                let codes = here.iter().map(|place| place.codes[selector]);
                let (low, high) = codes
                    .fold((usize::MAX, 0), |(low, high), code| (low.min(code), high.max(code)));
                match low.cmp(&high) {
                    Ordering::Less => at.digits.push((selector, low, high - low + 1)),
                    Ordering::Equal => at.fixed.push((selector, low)),
                    // This location is unreachable.
                    Ordering::Greater => {}
                }
            }
            let mut radices = at.digits.iter().map(|(_, _, radix)| *radix);
            count = count.checked_add(radices.try_fold(1, usize::checked_mul)?)?;
            if count > MOST_NUMBERS {
                return None;
            }
        }
        Some(Self { location: Registers::new(instance).location(process), selectors, at, count })
    }

    /// Returns one more than the largest number.
    pub(crate) const fn count(&self) -> usize {
        self.count
    }

    /// Returns the number of an abstract location; `None` if it is unreachable.
    pub(crate) fn at(&self, place: &AbstractLocation) -> Option<usize> {
        self.at[place.location.index()].number(|selector| Some(place.codes[selector]))
    }

    /// Returns the number of the process's abstract location in a state; `None` if its selectors
    /// never have these scalars.
    #[inline]
    pub(crate) fn of_state(&self, state: &[Scalar]) -> Option<usize> {
        self.at[state[self.location] as usize].number(|selector| {
            let selector = &self.selectors[selector];
            selector.code(state[selector.slot.index()])
        })
    }
}

impl At {
    #[inline]
    fn number(&self, code: impl Fn(usize) -> Option<usize>) -> Option<usize> {
        if self.fixed.iter().any(|&(selector, only)| code(selector) != Some(only)) {
            return None;
        }
        let offset = self.digits.iter().try_fold(0, |offset, &(selector, low, radix)| {
            let digit = code(selector)?.checked_sub(low)?;
            (digit < radix).then_some(offset * radix + digit)
        });
        Some(self.begin + offset?)
    }
}
