//! Locks with owners, event by event.
//!
//! A section is an acquisition with its release. It is *held* from the response of the one to the
//! invocation of the other. By the argument of the monitor of cells, two sections are a violation iff each has an
//! operation that ended before one of the other began. So they are iff the second of them was
//! acquired while the first was held: an execution has an order iff no section is held
//! when the acquisition of another responds.
//!
//! An acquisition of unknown outcome took effect iff its release responds. What fails had no
//! effect: the section of a release that fails was held all the time. Owners whose operations
//! overlap, or do not alternate, are left to others.

use std::hash::Hash;

use super::{End, Lost, Notes, Steps, Time};
use crate::generic::effect::Effect;
use crate::seeded::SeededMap;

/// The section of an owner.
#[derive(Clone, Copy, Debug)]
enum Section {
    /// The acquisition is open.
    Asking,
    /// The outcome of the acquisition is unknown.
    Perhaps(Time),
    Held(Time),
    Leaving(Leaving),
}

/// A section whose release is open.
#[derive(Clone, Copy, Debug)]
struct Leaving {
    acquisition: Time,
    /// Time from which it was held, unless the outcome of the acquisition is unknown.
    since: Option<Time>,
    release: Time,
    /// Number of sections that were taken when the release began.
    taken: u64,
}

/// The section that is held.
#[derive(Clone, Copy, Debug)]
struct Holder {
    acquisition: Time,
    since: Time,
}

/// The judge of a lock: acquisitions write their owner, and releases read it.
#[derive(Debug)]
pub(in crate::generic) struct Lock<V> {
    sections: SeededMap<V, Section>,
    holder: Option<Holder>,
    /// Number of sections that were taken.
    taken: u64,
}

impl<V> Default for Lock<V> {
    fn default() -> Self {
        Self { sections: SeededMap::default(), holder: None, taken: 0 }
    }
}

impl<V> Lock<V> {
    fn acquired(&mut self, acquisition: Time, since: Time, notes: &mut Notes) -> Section {
        self.taken += 1;
        notes.is_violation |= self.holder.is_some();
        self.holder = Some(Holder { acquisition, since });
        Section::Held(acquisition)
    }

    /// Ends the release of a section. Returns the section, unless it is over.
    fn left(&mut self, leaving: Leaving, end: End, notes: &mut Notes) -> Option<Section> {
        let Leaving { acquisition, since, release, taken } = leaving;
        match (end, since) {
            (End::Failure, Some(since)) => {
                if self.taken != taken {
                    notes.lose(Lost::Operation(release));
                    return None;
                }
                notes.settled.push(release);
                self.holder = Some(Holder { acquisition, since });
                Some(Section::Held(acquisition))
            }
            (End::Failure, None) => {
                notes.settled.push(release);
                Some(Section::Perhaps(acquisition))
            }
            (End::Unknown, None) => {
                notes.lose(Lost::Operation(release));
                None
            }
            (End::Response, None) => {
                self.taken += 1;
                notes.is_violation |= self.holder.is_some_and(|holder| holder.since < release);
                if !notes.is_violation {
                    notes.settled.extend([acquisition, release]);
                }
                None
            }
            (End::Response | End::Unknown, Some(_)) => {
                notes.settled.extend([acquisition, release]);
                None
            }
        }
    }
}

impl<V: Clone + Eq + Hash> Steps<V> for Lock<V> {
    fn invoke(&mut self, operation: Time, effect: Effect<V>, notes: &mut Notes) {
        let (owner, is_acquisition) = match effect {
            Effect::Write(owner) => (owner, true),
            Effect::Read(owner) => (owner, false),
            _ => return notes.lose(Lost::Operation(operation)),
        };
        let leaving = |acquisition, since| {
            Section::Leaving(Leaving { acquisition, since, release: operation, taken: self.taken })
        };
        let next = match (self.sections.get(&owner).copied(), is_acquisition) {
            (None, true) => Section::Asking,
            (Some(Section::Perhaps(before)), true) => {
                notes.settled.push(before);
                Section::Asking
            }
            (Some(Section::Perhaps(acquisition)), false) => leaving(acquisition, None),
            (Some(Section::Held(acquisition)), false) => {
                let since = self.holder.filter(|holder| holder.acquisition == acquisition);
                self.holder = self.holder.filter(|holder| holder.acquisition != acquisition);
                leaving(acquisition, since.map(|holder| holder.since))
            }
            _ => return notes.lose(Lost::Operation(operation)),
        };
        self.sections.insert(owner, next);
    }

    fn end(
        &mut self,
        operation: Time,
        (now, end): (Time, End),
        effect: Effect<V>,
        notes: &mut Notes,
    ) {
        let (Effect::Write(owner) | Effect::Read(owner)) = effect else { return };
        let next = match (self.sections.get(&owner).copied(), end) {
            (Some(Section::Asking), End::Response) => Some(self.acquired(operation, now, notes)),
            (Some(Section::Asking), End::Unknown) => Some(Section::Perhaps(operation)),
            (Some(Section::Asking), End::Failure) => {
                notes.settled.push(operation);
                None
            }
            (Some(Section::Leaving(leaving)), end) => self.left(leaving, end, notes),
            _ => return,
        };
        match next {
            Some(next) => self.sections.insert(owner, next),
            None => self.sections.remove(&owner),
        };
    }

    fn is_new(&self) -> bool {
        self.sections.is_empty()
    }
}
