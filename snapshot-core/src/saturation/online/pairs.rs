//! Pairs of scans that are not ordered: each order is tried.

use std::hash::Hash;

use super::{Conflict, Saturation};

impl<V: Clone + Eq + Hash> Saturation<V> {
    /// Tries a new scan before and after each other one that it is not ordered with. If it cannot
    /// come before one, it comes after it.
    ///
    /// A scan that the new one can come neither before nor after is a contradiction. If the new one
    /// has a position among all of them, no such scan exists: in a crowd the position is searched
    /// for first, since it takes one trial instead of two for each of them. Then no order is
    /// learned: where scans are full and values unique, the saturated relation alone decides each
    /// pair (the theorem of docs/many-writers.md), and orders learned from other pairs matter only
    /// for partial scans and repeated values.
    pub(super) fn try_pairs(&mut self, scan: u32) -> Result<(), Conflict> {
        let others = self.unordered(scan);
        let is_exact = self.partial.is_none() && self.ambiguous.is_none();
        if is_exact && others.len() > self.crowd && self.has_place(scan, &others) {
            return Ok(());
        }
        for other in others {
            if self.is_ordered(scan, other) {
                continue;
            }
            let can_follow = self.relation.can_order(other, scan);
            let can_precede = self.relation.can_order(scan, other);
            match (can_precede, can_follow) {
                (true, true) => {}
                (true, false) | (false, true) if !self.learns_pairs => {}
                (true, false) => self.order(scan, other)?,
                (false, true) => self.order(other, scan)?,
                (false, false) => {
                    let (first, second) = (self.id(other), self.id(scan));
                    return Err(Conflict::Pair { first, second });
                }
            }
        }
        Ok(())
    }

    fn is_ordered(&self, one: u32, other: u32) -> bool {
        self.relation.is_before(one, other) || self.relation.is_before(other, one)
    }

    /// Returns the scans of other values that a scan is not ordered with, latest ones of a chain
    /// first.
    fn unordered(&self, scan: u32) -> Vec<u32> {
        let mut found = Vec::new();
        let entries = |scan| self.relation.entries(self.relation.operation(scan));
        for chain in 0..self.relation.chains().len() as u32 {
            let scans = self.relation.chains().scans(chain).iter().rev().map(|scan| scan.1);
            let later = scans.take_while(|other| !self.relation.is_before(*other, scan));
            let of_chain = later.filter(|other| {
                *other != scan
                    && !self.relation.is_before(scan, *other)
                    && entries(scan) != entries(*other)
            });
            found.extend(of_chain);
        }
        found
    }

    /// Returns true if a scan can be put before or after each of these, all together; changes
    /// nothing.
    fn has_place(&mut self, scan: u32, others: &[u32]) -> bool {
        self.relation.begin_trial();
        let is_placed = others.iter().all(|&other| {
            self.is_ordered(scan, other)
                || self.relation.try_order(other, scan)
                || self.relation.try_order(scan, other)
        });
        self.relation.undo_trial();
        is_placed
    }
}
