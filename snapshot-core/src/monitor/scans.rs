//! The response of a scan, checked by conditions A to E.

use std::hash::Hash;

use super::evidence::{id, overlap};
use super::narrow::{self, Narrowed};
use super::window::{Glance, Instant, NEVER, NONE, Sight, Window};
use super::{MIN_RETAINED, Monitor, Violation};
use crate::Segment;
use crate::verdict::Cause;

impl<V: Clone + Eq + Hash> Monitor<V> {
    #[inline]
    pub(super) fn end_scan(
        &mut self,
        values: &[V],
        scan: u64,
        begun: Instant,
        floor: u64,
        now: Instant,
    ) {
        if self.windows.len() < values.len() {
            self.grow(values.len());
        }
        // All entries are written below, or the vector is replaced.
        self.vector.resize(self.windows.len(), 0);
        let mut glance = Glance::new(scan, begun, now);
        let mut sum = 0u64;
        for ((window, value), entry) in self.windows.iter_mut().zip(values).zip(&mut self.vector) {
            *entry = window.read(value, &mut glance);
            sum = sum.wrapping_add(*entry);
        }
        let Glance { mut latest, mut earliest, .. } = glance;
        if !glance.is_certain() {
            let Some(bounds) = self.read_slowly(values, scan, begun, floor, now) else { return };
            (latest, earliest) = bounds;
            sum = self.vector.iter().sum();
        }
        // B and E: no seen run had ended when another one began.
        if earliest < latest {
            let ((_, late), (_, early)) = self.bounds(begun);
            let seen = (late, self.vector[late]);
            let violation = self.missing(scan, seen, (early, self.vector[early]));
            self.alarm(now, violation);
            return;
        }
        if let Err(conflict) = self.chain.insert_summed(&self.vector, sum, scan, floor) {
            let violation = self.conflict(scan, conflict);
            self.alarm(now, violation);
            return;
        }
        if let Some(sights) = &mut self.sights {
            let seen = self.windows.iter().zip(&self.vector);
            let update = |(window, number): (&Window<V>, &u64)| window.run(*number).update;
            sights.push(id(scan), sum, seen.map(update).map(|one| (one != NONE).then_some(one)));
        }
        if self.chain.len() + self.scanning.len() > MIN_RETAINED {
            self.tidy(now);
        }
    }

    /// Determines the vector of a scan that has rare entries. Returns the latest beginning and the
    /// earliest end; `None`: as `false` of [`Self::narrow`].
    #[inline(never)]
    fn read_slowly(
        &mut self,
        values: &[V],
        scan: u64,
        begun: Instant,
        floor: u64,
        now: Instant,
    ) -> Option<(Instant, Instant)> {
        self.windows.iter_mut().for_each(|window| window.unsee(now));
        let (mut latest, mut earliest) = (begun, NEVER);
        for ((window, value), entry) in self.windows.iter_mut().zip(values).zip(&mut self.vector) {
            let sight = window.read_slowly(value, begun, scan, now);
            if sight.number >= Sight::SEVERAL {
                if !self.narrow(values, scan, begun, floor, now) {
                    return None;
                }
                let bounds = self.bounds(begun);
                return Some((bounds.0.0, bounds.1.0));
            }
            latest = latest.max(sight.invocation);
            earliest = earliest.min(sight.overwritten);
            *entry = sight.number;
        }
        Some((latest, earliest))
    }

    /// Forgets vectors and runs that no open scan can be compared with.
    #[inline(never)]
    fn tidy(&mut self, now: Instant) {
        let oldest = self.oldest_open_scan();
        let (oldest, floor) = oldest.unwrap_or_else(|| (now, self.chain.floor()));
        self.chain.forget_below(floor);
        for window in &mut self.windows {
            if window.is_long() {
                window.forget_before(oldest);
            }
        }
    }

    /// Determines the vector of a scan with repeating values. Returns false if it is not
    /// determined; the judgement then has the reason.
    #[cold]
    fn narrow(
        &mut self,
        values: &[V],
        scan: u64,
        begun: Instant,
        floor: u64,
        now: Instant,
    ) -> bool {
        let above = self.chain.at_floor(floor);
        let vector = above.map(|(_, slot)| self.chain.vector(slot));
        match narrow::narrow(&self.windows, values, begun, now, vector) {
            Narrowed::Vector(vector) => {
                for (window, &number) in self.windows.iter_mut().zip(&vector) {
                    window.saw(number, scan, now);
                }
                self.vector = vector;
                return true;
            }
            Narrowed::Unavailable(segment) => {
                let segment = Segment::from_index(segment);
                self.alarm(now, Violation::Unavailable { scan: id(scan), segment });
            }
            Narrowed::Decrease(segment) => {
                if let Some((earlier, slot)) = above {
                    let violation = self.decrease(earlier, slot, scan, segment);
                    self.alarm(now, violation);
                }
            }
            Narrowed::Missing { seen, passed } => {
                let violation = self.missing(scan, seen, passed);
                self.alarm(now, violation);
            }
            Narrowed::Floating { first, second } => self.undecided(now, overlap(first, second)),
            Narrowed::Ambiguous(segment) => {
                let segment = Segment::from_index(segment);
                self.undecided(now, Cause::AmbiguousValue { scan: id(scan), segment });
            }
        }
        false
    }

    /// Returns the latest invocation among the scan and the updates it saw, and the earliest end of
    /// these updates, with their segments.
    fn bounds(&self, begun: Instant) -> ((Instant, usize), (Instant, usize)) {
        let (mut latest, mut earliest) = ((begun, usize::MAX), (NEVER, usize::MAX));
        for (segment, (window, number)) in self.windows.iter().zip(&self.vector).enumerate() {
            let (begins, ends) = (window.run(*number).invocation, window.overwritten(*number));
            if begins > latest.0 {
                latest = (begins, segment);
            }
            if ends < earliest.0 {
                earliest = (ends, segment);
            }
        }
        (latest, earliest)
    }
}
