//! A cache of moves, keyed by the part of the state that a move may access.
//!
//! A process accesses few variables in a step: its own, and some cells. The footprint of a move
//! follows from its code ([`Code::footprint`]). Two states that agree in the footprint's bits are
//! changed in the same bits, so the change of one is cached for all. Few distinct changes occur:
//! bowman with 4 processes has 2,151,306 states with 9,276,497 moves (`--reductions
//! dead,constant`), and only two in a thousand moves miss the cache.
//!
//! Canonical forms, ample steps and barriers depend on the whole state, and reactions belong to
//! other processes: with any of these the cache is off.
//!
//! [`Code::footprint`]: crate::search::code::Code::footprint

use snapshot_core::Process;

use super::{Choice, Product};
use crate::instance::Location;
use crate::search::code::Entry;
use crate::search::layout::Register;
use crate::search::store::hash;

/// The size of the cache in bytes, chosen to stay in a core's cache.
const BYTES: usize = 1 << 18;

/// The number of a move within all processes: first invocations, then steps by location.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Site(u32);

/// A cache of transitions; one per thread.
#[derive(Clone, Debug)]
pub struct TransitionCache<const W: usize> {
    /// By process, the number of its first site.
    first: Vec<u32>,
    /// By site, a mask of the bits that the move may read or write.
    footprints: Vec<[u64; W]>,
    /// Pairs of changes, indexed by hash; within a pair the later change is replaced.
    changes: Vec<[Change<W>; 2]>,
}

/// The change of a state by a move.
#[derive(Clone, Copy, Debug)]
struct Change<const W: usize> {
    /// The bits of the state in the move's footprint.
    seen: [u64; W],
    /// The bits that the move flipped.
    turned: [u64; W],
    site: Site,
}

impl Site {
    /// The site of no move.
    const NONE: Self = Self(u32::MAX);

    /// The invocations of one process; their sites precede the sites of its steps.
    const INVOCATIONS: [Choice; 3] = [Choice::Update(0), Choice::Update(1), Choice::Scan];
}

impl<const W: usize> TransitionCache<W> {
    /// The size of a cache in bytes.
    pub const BYTES: usize = BYTES;

    const PLACES: usize = 1 << (BYTES / size_of::<[Change<W>; 2]>()).ilog2();

    /// Creates an empty cache. Returns `None` if moves depend on more than their footprint.
    pub fn new(product: &Product<'_>) -> Option<Self> {
        if !product.is_plain() || product.reacting != 0 || product.counts_barriers {
            return None;
        }
        let mut first = Vec::new();
        let mut footprints = Vec::new();
        for process in (0..product.processes.len()).map(Process::from_index) {
            first.push(footprints.len() as u32);
            let steps = (0..product.code.locations(process)).map(|_| Choice::Step);
            for (number, choice) in Site::INVOCATIONS.into_iter().chain(steps).enumerate() {
                let location = number.saturating_sub(Site::INVOCATIONS.len());
                footprints.push(product.footprint(process, choice, Location(location as u32)));
            }
        }
        let nothing = Change { seen: [0; W], turned: [0; W], site: Site::NONE };
        Some(Self { first, footprints, changes: vec![[nothing; 2]; Self::PLACES] })
    }

    /// Returns the site of a process's choice at a location.
    #[inline]
    pub(super) fn site(&self, process: Process, choice: Choice, location: Location) -> Site {
        let number = match choice {
            Choice::Update(value) => u32::from(value == 1),
            Choice::Scan => 2,
            Choice::UpdateBehindBarrier(_) | Choice::ScanBehindBarrier => {
                unreachable!("with barriers nothing is remembered")
            }
            Choice::Step => Site::INVOCATIONS.len() as u32 + location.0,
        };
        Site(self.first[process.index()] + number)
    }

    /// Returns the state after the move if it is cached; otherwise the place for [`Self::insert`].
    #[inline]
    pub(super) fn get(&self, site: Site, state: &[u64; W]) -> Result<[u64; W], usize> {
        let footprint = &self.footprints[site.0 as usize];
        let mut seen = *state;
        seen.iter_mut().zip(footprint).for_each(|(seen, mask)| *seen &= mask);
        let place = hash(&seen, 0).wrapping_add(u64::from(site.0)) as usize % Self::PLACES;
        let changes = &self.changes[place];
        let Some(change) = changes.iter().find(|change| change.site == site && change.seen == seen)
        else {
            return Err(place);
        };
        let mut next = *state;
        next.iter_mut().zip(&change.turned).for_each(|(next, turned)| *next ^= turned);
        Ok(next)
    }

    /// Stores the result of a move in the place that [`Self::get`] returned.
    pub(super) fn insert(&mut self, site: Site, place: usize, state: &[u64; W], next: &[u64; W]) {
        let footprint = &self.footprints[site.0 as usize];
        let mut change = Change { seen: *state, turned: *state, site };
        for word in 0..W {
            change.seen[word] &= footprint[word];
            change.turned[word] ^= next[word];
            debug_assert_eq!(change.turned[word] & !footprint[word], 0, "what a move may touch");
        }
        let [later, earlier] = &mut self.changes[place];
        *earlier = std::mem::replace(later, change);
    }
}

impl Product<'_> {
    /// Returns a mask of the bits that a move may read or write; `None` if the process has no such
    /// move.
    fn footprint<const W: usize>(
        &self,
        process: Process,
        choice: Choice,
        location: Location,
    ) -> [u64; W] {
        let entry = match choice {
            Choice::Update(_) => Entry::Update,
            Choice::Scan => Entry::Scan,
            Choice::UpdateBehindBarrier(_) | Choice::ScanBehindBarrier => return [0; W],
            Choice::Step if self.code.has_step(process, location) => Entry::Step(location),
            Choice::Step => return [0; W],
        };
        let of_code = self.code.footprint(process, entry);
        let client = &self.processes[process.index()];
        let mut registers: Vec<Register> = of_code.registers.into_iter().collect();
        registers.push(self.registers.location(process));
        if choice != Choice::Step {
            registers.push(self.registers.left(process));
            registers.extend(client.argument);
        }
        if of_code.may_respond_to_update || of_code.may_respond_to_scan {
            registers.extend(client.locals.iter().map(|&(register, _)| register));
        }
        let of_scan = choice == Choice::Scan || of_code.may_respond_to_scan;
        if of_scan {
            registers.push(self.registers.must_bits(process));
        }
        // The observer reads updates of 1, which only i and j make.
        let of_update = choice == Choice::Update(1) || of_code.may_respond_to_update;
        if of_scan || of_update && self.switching(process).is_some() {
            registers.extend([self.registers.invoked(), self.registers.needed_and_bad()]);
        }
        let mut bits = [0; W];
        for field in registers.iter().map(|&register| self.layout.fields()[register]) {
            bits[field.word()] |= field.mask();
        }
        bits
    }
}
