//! A generic implementation of every object of [`snapshot_core::synchronisation`]: a monitor in
//! which operations wait until they can form a group, with three optional mistakes.

use std::collections::BTreeMap;
use std::fmt::{self, Debug, Formatter};
use std::sync::PoisonError;

use crate::sync::{Condvar, Mutex, MutexGuard};
use crate::thread;
use snapshot_core::synchronisation::{Bond, Member, Synchronisation};

/// A mistake in a monitor.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Mistake {
    /// Nothing.
    None,
    /// There are two places for results, and no operation waits until they are empty again.
    TwoPlaces,
    /// One waiting thread is woken, not all of them.
    WakeOne,
    /// An operation that cannot take effect immediately returns as if it had.
    Impatience,
}

struct Shared<S: Synchronisation> {
    state: S::State,
    next: usize,
    /// Waiting operations, by ticket.
    waiting: BTreeMap<usize, S::Input>,
    /// Results not yet fetched, by ticket or place.
    results: BTreeMap<usize, S::Output>,
}

/// Operations by ticket, each with its result.
type Group<S> = Vec<(usize, <S as Synchronisation>::Output)>;

/// An object as a monitor, by its specification. Each operation that arrives looks for the largest
/// group of waiting ones that can take effect, one member after the other: for few threads.
pub struct Monitor<S: Synchronisation> {
    object: S,
    outputs: fn(&S::Input) -> Vec<S::Output>,
    mistake: Mistake,
    shared: Mutex<Shared<S>>,
    changed: Condvar,
}

impl<S: Synchronisation> Monitor<S>
where
    S::Input: Clone,
    S::Output: Clone,
{
    /// Makes an object; `outputs` returns the possible results of an operation.
    pub fn new(object: S, outputs: fn(&S::Input) -> Vec<S::Output>, mistake: Mistake) -> Self {
        let (waiting, results) = (BTreeMap::new(), BTreeMap::new());
        let shared = Shared { state: object.initial(), next: 0, waiting, results };
        Self { object, outputs, mistake, shared: Mutex::new(shared), changed: Condvar::new() }
    }

    fn place(&self, ticket: usize) -> usize {
        if self.mistake == Mistake::TwoPlaces { ticket % 2 } else { ticket }
    }

    /// Makes an operation: waits until it can take effect.
    pub fn operate(&self, input: S::Input) -> S::Output {
        let mut shared = self.lock();
        let ticket = shared.next;
        shared.next += 1;
        shared.waiting.insert(ticket, input.clone());
        drop(shared);
        // Other operations may arrive meanwhile: so operations with a time limit meet, too.
        thread::yield_now();
        let mut shared = self.lock();
        while self.form(&mut shared) {
            if self.mistake == Mistake::WakeOne {
                self.changed.notify_one();
            } else {
                self.changed.notify_all();
            }
        }
        let place = self.place(ticket);
        loop {
            if !shared.waiting.contains_key(&ticket)
                && let Some(output) = shared.results.remove(&place)
            {
                return output;
            }
            if self.mistake == Mistake::Impatience {
                shared.waiting.remove(&ticket);
                return (self.outputs)(&input).swap_remove(0);
            }
            shared = self.changed.wait(shared).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Shared<S>> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets the largest possible group of waiting operations take effect.
    fn form(&self, shared: &mut Shared<S>) -> bool {
        let mut largest = None;
        self.extend(shared, &mut Vec::new(), &mut largest);
        let Some((state, group)) = largest else { return false };
        shared.state = state;
        for (ticket, output) in group {
            shared.waiting.remove(&ticket);
            shared.results.insert(self.place(ticket), output);
        }
        true
    }

    /// Tries all groups that begin with these operations, and keeps the first of the largest.
    fn extend(
        &self,
        shared: &Shared<S>,
        group: &mut Group<S>,
        largest: &mut Option<(S::State, Group<S>)>,
    ) {
        let first = group.last().map_or(0, |(ticket, _)| ticket + 1);
        for (ticket, input) in shared.waiting.range(first..) {
            for output in (self.outputs)(input) {
                group.push((*ticket, output));
                let members: Vec<Member<'_, S::Input, S::Output>> = group
                    .iter()
                    .map(|(ticket, output)| (&shared.waiting[ticket], Some(output)))
                    .collect();
                let mut state = shared.state.clone();
                let bond = self.object.together(&mut state, &members);
                let is_larger = largest.as_ref().is_none_or(|(_, known)| group.len() > known.len());
                if bond == Bond::Yes && is_larger {
                    *largest = Some((state, group.clone()));
                }
                if bond != Bond::No {
                    self.extend(shared, group, largest);
                }
                group.pop();
            }
        }
    }
}

impl<S: Synchronisation> Debug for Monitor<S> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("Monitor").field("mistake", &self.mistake).finish_non_exhaustive()
    }
}
