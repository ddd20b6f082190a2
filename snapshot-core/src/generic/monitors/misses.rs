//! Operations that found another value in a cell than they expected, and changed nothing.
//!
//! If the value expected is certainly there from before such an operation began until after it
//! ended, there is no linearization: two operations show it, one that ended before and
//! one that began after. Else it is put into the order of the others, at the first place that real
//! time allows and where another value is there. That may fail where the order of the others could
//! be another; then the search decides.

use std::hash::Hash;

use super::blocks::Cell;
use super::part::NEVER;
use crate::generic::proof::Proof;
use crate::seeded::SeededMap;

impl<V: Eq + Hash> Cell<'_, V> {
    /// A violation by an operation that found another value than the one that was there.
    pub fn missed(&self) -> Option<Proof> {
        let part = self.part;
        let mut shown: Vec<Option<(u32, u32)>> = vec![None; self.blocks.len()];
        self.misses.iter().find_map(|&(operation, value)| {
            if self.is_ambiguous(value) {
                return None;
            }
            let block = &self.blocks[value as usize];
            let all = block
                .readers
                .iter()
                .chain(&block.writer)
                .chain(block.replacers.iter().map(|(operation, _)| operation))
                .filter(|operation| part.responded[**operation as usize] != NEVER);
            let (before, after) = match shown[value as usize] {
                Some(known) => known,
                None => {
                    let before = all.clone().min_by_key(|one| part.responded[**one as usize])?;
                    let after = all.max_by_key(|one| part.invoked[**one as usize])?;
                    *shown[value as usize].insert((*before, *after))
                }
            };
            let is_inside = part.responded[before as usize] < part.invoked[operation as usize]
                && part.responded[operation as usize] < part.invoked[after as usize];
            let [operation, before, after] =
                [operation, before, after].map(|one| part.ids[one as usize]);
            is_inside.then_some(Proof::NotMissed { operation, before, after })
        })
    }

    /// Puts operations that found another value at places where there is one.
    ///
    /// # Errors
    /// The first that does not fit.
    pub fn put_in_misses(&self, order: Vec<u32>) -> Result<Vec<u32>, u32> {
        if self.misses.is_empty() {
            return Ok(order);
        }
        let part = self.part;
        let events = part.events as usize;
        // By events: the first place behind all that has ended, and the last before all that will begin.
        let (mut ended, mut will_begin) = (vec![0; events + 1], vec![order.len(); events + 1]);
        let mut places = vec![(0, order.len()); self.blocks.len()];
        let mut writes: Vec<(usize, u32)> =
            self.initial.map(|value| (0, value)).into_iter().collect();
        let mut of_writer: SeededMap<u32, u32> = SeededMap::default();
        for (value, block) in self.blocks.iter().enumerate() {
            of_writer.extend(block.writer.map(|writer| (writer, value as u32)));
        }
        for (place, &operation) in order.iter().enumerate() {
            if let Some(ended) = ended.get_mut(part.responded[operation as usize] as usize) {
                *ended = place + 1;
            }
            will_begin[part.invoked[operation as usize] as usize] = place;
            writes.extend(of_writer.get(&operation).map(|value| (place + 1, *value)));
        }
        for event in 0..events {
            ended[event + 1] = ended[event + 1].max(ended[event]);
            let event = events - 1 - event;
            will_begin[event] = will_begin[event].min(will_begin[event + 1]);
        }
        for (index, &(place, value)) in writes.iter().enumerate() {
            let end = writes.get(index + 1).map_or(order.len() + 1, |(next, _)| *next);
            places[value as usize] = (place, end);
        }
        let is_there = |value: u32| {
            self.initial == Some(value) || self.blocks[value as usize].writer.is_some()
        };
        let mut put: Vec<(usize, u32)> = Vec::with_capacity(self.misses.len());
        for &(operation, value) in &self.misses {
            let mut place = ended[part.invoked[operation as usize] as usize];
            let last = will_begin[part.responded[operation as usize] as usize];
            let (start, end) = places[value as usize];
            if is_there(value) && (start..end).contains(&place) {
                place = end;
            }
            if place > last {
                return Err(operation);
            }
            put.push((place, operation));
        }
        put.sort_unstable();
        let mut put = put.into_iter().peekable();
        let mut whole = Vec::with_capacity(order.len() + self.misses.len());
        for (place, operation) in order.into_iter().enumerate() {
            while let Some((_, miss)) = put.next_if(|(at, _)| *at <= place) {
                whole.push(miss);
            }
            whole.push(operation);
        }
        whole.extend(put.map(|(_, miss)| miss));
        Ok(whole)
    }
}
