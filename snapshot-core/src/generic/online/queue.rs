//! Queues, event by event.
//!
//! For a value v let \[ia, ra\] be its addition and \[ir, rr\] its removal. By the argument of the
//! monitor of queues, an execution without operations that found the queue empty has an order iff no two values are
//! each before the other, ra(v) < ia(w) and rr(w) < ir(v), and removals that are open can have taken the
//! values that must have left.
//!
//! Let N be the greatest ia of the values that were removed. Each removal remembers N as it is when it begins:
//! if it returns a value with ra < N, that is a violation. A value that stays is *due* once
//! ra < N: it must have left before the removal that raised N responded, its deadline. So it was taken by
//! a removal that is still open and began before the deadline. Deadlines come in the order of time, as removals
//! begin, so these exist iff for each k the k-th open removal began before the k-th deadline (Hall).
//! Both conditions are those of the prefix, so the alarm comes at the first prefix that has no order.
//!
//! *Forgotten* is a value once both its operations have ended and nothing names it: neither N, nor
//! that of an open removal, nor a deadline, nor an open question ([`super::empty`]). It can be in no later
//! violation that does not need what N was then: N alone matters, and grows.

use std::collections::VecDeque;
use std::hash::Hash;

use super::empty::Empty;
use super::{End, Lost, Notes, Steps, Time};
use crate::generic::effect::Effect;
use crate::seeded::SeededMap;

/// A value that was added, by its addition.
#[derive(Debug)]
struct Life {
    /// Event of the response of its addition.
    added: Option<Time>,
    /// True until its addition ends.
    is_open: bool,
    removal: Option<Time>,
    is_due: bool,
    /// Number of reasons to remember it after it was removed.
    named: u32,
}

/// A removal that may yet return a value.
#[derive(Debug)]
struct Taker {
    began: Time,
    /// The addition of N when it began.
    latest: Option<Time>,
}

/// A value that must have left.
#[derive(Debug)]
struct Due {
    deadline: Time,
    addition: Time,
    /// The addition of the value that shows it.
    later: Time,
}

/// The judge of a queue.
#[derive(Debug)]
pub(in crate::generic) struct Queue<V> {
    /// Additions of the values that are there, or whose addition is open.
    inside: SeededMap<V, Time>,
    lives: SeededMap<Time, Life>,
    /// Values that are neither due nor known to be removed, in the order of their responses.
    waiting: VecDeque<(Time, Time)>,
    /// Number of values that are there for certain unless an open removal took them.
    staying: usize,
    takers: Vec<Taker>,
    dues: Vec<Due>,
    /// The addition of N.
    latest: Option<Time>,
    empty: Empty,
}

impl<V> Default for Queue<V> {
    fn default() -> Self {
        Self {
            inside: SeededMap::default(),
            lives: SeededMap::default(),
            waiting: VecDeque::new(),
            staying: 0,
            takers: Vec::new(),
            dues: Vec::new(),
            latest: None,
            empty: Empty::default(),
        }
    }
}

impl<V: Clone + Eq + Hash> Queue<V> {
    fn name(&mut self, addition: Option<Time>) {
        if let Some(life) = addition.and_then(|addition| self.lives.get_mut(&addition)) {
            life.named += 1;
        }
    }

    /// Drops a reason to remember a value.
    fn forget(&mut self, addition: Option<Time>, notes: &mut Notes) {
        let Some(addition) = addition else { return };
        let Some(life) = self.lives.get_mut(&addition) else { return };
        life.named -= 1;
        if life.named == 0 {
            notes.settled.push(addition);
            notes.settled.extend(life.removal);
            self.lives.remove(&addition);
        }
    }

    fn add(&mut self, addition: Time, value: V, notes: &mut Notes) {
        if self.inside.insert(value, addition).is_some() {
            return notes.lose(Lost::Repeated(addition));
        }
        let life = Life { added: None, is_open: true, removal: None, is_due: false, named: 1 };
        self.lives.insert(addition, life);
    }

    fn added(&mut self, addition: Time, value: &V, (now, end): (Time, End), notes: &mut Notes) {
        let Some(life) = self.lives.get_mut(&addition) else { return };
        life.is_open = false;
        if life.removal.is_some() {
            // It was removed by an operation that responded before.
            self.inside.remove(value);
            notes.is_violation |= end == End::Failure;
            return self.forget(Some(addition), notes);
        }
        match end {
            End::Response => {
                life.added = Some(now);
                self.staying += 1;
                self.waiting.push_back((now, addition));
            }
            End::Failure => {
                self.inside.remove(value);
                self.forget(Some(addition), notes);
            }
            End::Unknown => {}
        }
    }

    /// Ends a removal. Returns its place among those that are open, with what it remembers.
    fn close(&mut self, removal: Time) -> Option<(usize, Option<Time>)> {
        let place = self.takers.binary_search_by_key(&removal, |taker| taker.began).ok()?;
        Some((place, self.takers.remove(place).latest))
    }

    /// Tests the deadlines from a place on.
    fn is_overdue(&self, from: usize) -> bool {
        let dues = self.dues.iter().enumerate().skip(from);
        dues.rev().any(|(place, due)| {
            self.takers.get(place).is_none_or(|taker| taker.began > due.deadline)
        })
    }

    fn removed(&mut self, removal: Time, value: &V, now: Time, notes: &mut Notes) {
        let Some((place, remembered)) = self.close(removal) else { return };
        let life = self
            .inside
            .get(value)
            .and_then(|addition| self.lives.get_mut(addition).map(|life| (*addition, life)));
        let Some((addition, life)) = life.filter(|(_, life)| life.removal.is_none()) else {
            notes.is_violation = true;
            return;
        };
        life.removal = Some(removal);
        let (added, is_due, is_open) = (life.added, life.is_due, life.is_open);
        let is_before = |later: Time| added.is_some_and(|added| added < later);
        if remembered.is_some_and(is_before) {
            notes.is_violation = true;
            return;
        }
        if !is_open {
            self.inside.remove(value);
        }
        if let Some(added) = added {
            self.staying -= 1;
            if self.waiting.front().is_some_and(|(_, first)| *first == addition) {
                self.waiting.pop_front();
            }
            if added < removal && self.empty.is_asked_since(removal) {
                self.name(Some(addition));
                self.empty.cover(removal, addition);
            }
            notes.is_violation |= self.empty.removed(removal, Some(added), notes);
        } else {
            notes.is_violation |= self.empty.removed(removal, None, notes);
        }
        self.forget_covers(notes);
        let mut first = place.min(self.dues.len());
        if is_due && let Some(at) = self.dues.iter().position(|due| due.addition == addition) {
            first = first.min(at);
            let due = self.dues.remove(at);
            self.forget(Some(due.later), notes);
        }
        if self.latest.is_none_or(|latest| latest < addition) {
            self.name(Some(addition));
            let before = self.latest.replace(addition);
            self.forget(before, notes);
            self.make_due(now);
        }
        self.forget(remembered, notes);
        if !is_open {
            self.forget(Some(addition), notes);
        }
        notes.is_violation |= self.is_overdue(first);
    }

    /// Makes the values due that were added before N.
    fn make_due(&mut self, now: Time) {
        let Some(later) = self.latest else { return };
        while let Some(&(added, addition)) = self.waiting.front()
            && added < later
        {
            self.waiting.pop_front();
            let Some(life) = self.lives.get_mut(&addition) else { continue };
            if life.removal.is_none() {
                life.is_due = true;
                self.name(Some(later));
                self.dues.push(Due { deadline: now, addition, later });
            }
        }
    }

    /// Ends a removal that took nothing.
    fn gave_up(&mut self, removal: Time, notes: &mut Notes) {
        let Some((place, remembered)) = self.close(removal) else { return };
        self.forget(remembered, notes);
        notes.is_violation |= self.empty.removed(removal, None, notes);
        notes.is_violation |= self.is_overdue(place);
    }

    fn forget_covers(&mut self, notes: &mut Notes) {
        while let Some(addition) = self.empty.uncovered() {
            self.forget(Some(addition), notes);
        }
    }
}

impl<V: Clone + Eq + Hash> Steps<V> for Queue<V> {
    fn invoke(&mut self, operation: Time, effect: Effect<V>, notes: &mut Notes) {
        match effect {
            Effect::Add(value) => self.add(operation, value, notes),
            Effect::Remove(None) => {
                self.name(self.latest);
                self.takers.push(Taker { began: operation, latest: self.latest });
                self.empty.ask(operation, self.staying, self.takers.len());
            }
            _ => notes.lose(Lost::Operation(operation)),
        }
    }

    fn end(&mut self, operation: Time, at: (Time, End), effect: Effect<V>, notes: &mut Notes) {
        match effect {
            Effect::Add(value) => self.added(operation, &value, at, notes),
            Effect::Remove(Some(value)) => self.removed(operation, &value, at.0, notes),
            Effect::Remove(None) if at.1 == End::Unknown => {
                self.empty.give_up(operation);
                self.forget_covers(notes);
            }
            Effect::Remove(None) => {
                self.gave_up(operation, notes);
                self.forget_covers(notes);
                notes.settled.push(operation);
            }
            Effect::Empty => {
                self.gave_up(operation, notes);
                notes.is_violation |= self.empty.answer(operation, notes);
                // The proof of a violation names them.
                if !notes.is_violation {
                    self.forget_covers(notes);
                }
            }
            _ => notes.lose(Lost::Operation(operation)),
        }
    }

    fn is_new(&self) -> bool {
        self.lives.is_empty() && self.takers.is_empty() && self.empty.is_new()
    }
}
