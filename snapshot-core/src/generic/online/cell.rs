//! Registers, event by event.
//!
//! As for the monitor of cells, let the block of a value have its write and its reads, R its first response and I its
//! last invocation; the initial value has R before all. An execution has an order iff no read found a value
//! that no operation had begun to write, and no two blocks v and w have R(v) < I(w) and R(w) < I(v). R
//! is fixed by the first response, so blocks come in the order of R; I grows by responses of reads only.
//! At each such response the greatest I of the other blocks with R before that of the read is
//! compared with the block's own R. The alarm comes at the first prefix that has no order.
//!
//! *Forgotten* is a block w once there is a block v with R(w) < I(v), and R(v) before the invocation of each
//! read that is open. Each later response of a read of w would be a violation with v, so a read of a value
//! that is not known is one. Nor does w take part in any other: a block with R before I(w) has R before
//! I(v), and is forgotten, too. Of those with R before the first open read, there remain the one with
//! the greatest I, and others that were all open at that instant. A value that is written again after its
//! block was forgotten begins a new block.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::Hash;

use super::{End, Lost, Notes, Steps, Time};
use crate::generic::effect::Effect;
use crate::generic::monitors::tree::Peaks;
use crate::seeded::SeededMap;

/// The operations on a value. Times are one greater than those of the events, so that 0 is before all.
#[derive(Debug)]
struct Block<V> {
    value: V,
    writer: Option<Time>,
    /// The operation that responded first, and the read that began last.
    first: Option<Time>,
    last: Option<Time>,
    /// R.
    response: u32,
    /// I.
    invocation: u32,
}

/// The judge of a register.
#[derive(Debug)]
pub(in crate::generic) struct Cell<V> {
    /// Writes without any response on their value.
    begun: SeededMap<V, Time>,
    /// Places of the values with responses.
    places: SeededMap<V, usize>,
    /// Blocks in the order of R; `None` if they are forgotten.
    blocks: Vec<Option<Block<V>>>,
    /// I of each block.
    peaks: Peaks,
    /// Room of the peaks.
    room: usize,
    /// Before this place one block is left at most: that with the greatest I.
    passed: usize,
    survivor: Option<usize>,
    /// Operations that may find a value.
    asking: BTreeSet<Time>,
    writing: BTreeSet<Time>,
    /// Writes that are open though a read has found their value, with that read.
    found: BTreeMap<Time, Time>,
    /// True if nothing happened since it was made.
    is_new: bool,
}

const ROOM: usize = 2;

const fn after(event: Time) -> u32 {
    event as u32 + 1
}

impl<V: Clone + Eq + Hash> Cell<V> {
    pub fn new(initial: V) -> Self {
        let mut cell = Self {
            begun: SeededMap::default(),
            places: SeededMap::default(),
            blocks: Vec::new(),
            peaks: Peaks::new(std::iter::repeat_n(0, ROOM)),
            room: ROOM,
            passed: 0,
            survivor: None,
            asking: BTreeSet::new(),
            writing: BTreeSet::new(),
            found: BTreeMap::new(),
            is_new: true,
        };
        cell.push(Block {
            value: initial,
            writer: None,
            first: None,
            last: None,
            response: 0,
            invocation: 0,
        });
        cell
    }

    fn push(&mut self, block: Block<V>) -> usize {
        if self.blocks.len() == self.room {
            self.compact();
        }
        let place = self.blocks.len();
        self.places.insert(block.value.clone(), place);
        self.peaks.set(place, block.invocation);
        self.blocks.push(Some(block));
        place
    }

    /// Drops the places of forgotten blocks; leaves room for as many blocks as there are, and more.
    fn compact(&mut self) {
        let survivor = self.survivor.take().and_then(|place| self.blocks[place].take());
        let rest = std::mem::take(&mut self.blocks).into_iter().skip(self.passed);
        self.survivor = survivor.is_some().then_some(0);
        self.passed = usize::from(survivor.is_some());
        self.blocks = survivor.into_iter().map(Some).chain(rest).collect();
        self.room = (2 * self.blocks.len()).max(ROOM);
        let number = |place: usize| {
            self.blocks.get(place).and_then(Option::as_ref).map_or(0, |block| block.invocation)
        };
        self.peaks = Peaks::new((0..self.room).map(number));
        for (place, block) in self.blocks.iter().enumerate() {
            if let Some(block) = block {
                self.places.insert(block.value.clone(), place);
            }
        }
    }

    /// Returns the number of blocks with R before a time.
    fn before(&self, time: u32) -> usize {
        // Blocks that are forgotten lie before the others, or beside the one that is left.
        let from = self.passed;
        from + self.blocks[from..]
            .partition_point(|block| block.as_ref().is_some_and(|block| block.response < time))
    }

    fn forget(&mut self, place: usize, notes: &mut Notes) {
        self.peaks.set(place, 0);
        if let Some(block) = self.blocks[place].take() {
            self.places.remove(&block.value);
            let is_named =
                |one: &Time| block.writer.and_then(|writer| self.found.get(&writer)) == Some(one);
            let operations = [block.writer, block.first, block.last].into_iter().flatten();
            notes.settled.extend(operations.filter(|one| !is_named(one)));
        }
    }

    /// Forgets blocks that no read can find any more.
    fn forget_passed(&mut self, now: Time, notes: &mut Notes) {
        let earliest = after(self.asking.first().copied().unwrap_or(now + 1));
        let (greatest, place) = self.peaks.greatest(0, self.before(earliest));
        if let Some(survivor) = self.survivor.filter(|survivor| *survivor != place)
            && self.blocks[survivor].as_ref().is_some_and(|block| block.response < greatest)
        {
            self.forget(survivor, notes);
            self.survivor = None;
        }
        while let Some(Some(block)) = self.blocks.get(self.passed)
            && block.response < greatest
        {
            if self.passed == place {
                self.survivor = Some(place);
            } else {
                self.forget(self.passed, notes);
            }
            self.passed += 1;
        }
    }

    fn write(&mut self, operation: Time, value: V, notes: &mut Notes) {
        self.writing.insert(operation);
        if self.places.contains_key(&value) || self.begun.insert(value, operation).is_some() {
            notes.lose(Lost::Repeated(operation));
        }
    }

    fn written(&mut self, operation: Time, value: &V, (now, end): (Time, End), notes: &mut Notes) {
        self.writing.remove(&operation);
        if let Some(read) = self.found.remove(&operation) {
            notes.is_violation |= end == End::Failure;
            let is_left = self.places.get(value).and_then(|place| self.blocks[*place].as_ref());
            let is_forgotten = is_left.is_none_or(|block| block.writer != Some(operation));
            if end != End::Failure && is_forgotten {
                notes.settled.push(read);
            }
        } else if end == End::Failure {
            self.begun.remove(value);
            notes.settled.push(operation);
        } else if end == End::Response {
            self.begun.remove(value);
            self.push(Block {
                value: value.clone(),
                writer: Some(operation),
                first: None,
                last: None,
                response: after(now),
                invocation: after(operation),
            });
        }
        self.forget_passed(now, notes);
    }

    fn read(&mut self, operation: Time, value: &V, now: Time, notes: &mut Notes) {
        let place = match (self.places.get(value), self.begun.remove(value)) {
            (Some(place), _) => *place,
            (None, None) => {
                notes.is_violation = true;
                return;
            }
            (None, Some(writer)) => {
                if self.writing.contains(&writer) {
                    self.found.insert(writer, operation);
                }
                self.push(Block {
                    value: value.clone(),
                    writer: Some(writer),
                    first: Some(operation),
                    last: None,
                    response: after(now),
                    invocation: after(writer),
                })
            }
        };
        let Some(block) = &mut self.blocks[place] else { return };
        if block.invocation < after(operation) {
            block.invocation = after(operation);
            let before = block.last.replace(operation);
            notes.settled.extend(before.filter(|before| block.first != Some(*before)));
            self.peaks.set(place, after(operation));
        } else if block.first != Some(operation) {
            notes.settled.push(operation);
        }
        let (response, end) = (block.response, self.before(after(operation)));
        let others = [(0, place.min(end)), ((place + 1).min(end), end)];
        notes.is_violation |=
            others.into_iter().any(|(from, to)| self.peaks.greatest(from, to).0 > response);
        if !notes.is_violation {
            self.forget_passed(now, notes);
        }
    }
}

impl<V: Clone + Eq + Hash> Steps<V> for Cell<V> {
    fn invoke(&mut self, operation: Time, effect: Effect<V>, notes: &mut Notes) {
        self.is_new = false;
        match effect {
            Effect::Write(value) => self.write(operation, value, notes),
            Effect::Nothing => {
                self.asking.insert(operation);
            }
            _ => notes.lose(Lost::Operation(operation)),
        }
    }

    fn end(&mut self, operation: Time, at: (Time, End), effect: Effect<V>, notes: &mut Notes) {
        self.asking.remove(&operation);
        match effect {
            Effect::Write(value) => self.written(operation, &value, at, notes),
            Effect::Read(value) => self.read(operation, &value, at.0, notes),
            Effect::Nothing => {
                notes.settled.push(operation);
                self.forget_passed(at.0, notes);
            }
            _ => notes.lose(Lost::Operation(operation)),
        }
    }

    fn is_new(&self) -> bool {
        self.is_new
    }
}
