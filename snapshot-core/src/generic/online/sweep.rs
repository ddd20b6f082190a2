//! Stacks and priority queues, event by event.
//!
//! For a value v let \[ia, ra\] be its addition and \[ir, rr\] its removal, cut as in the monitors
//! of stacks and priority queues. It is inside for certain at the points behind ra up to ir.
//!
//! 1. Events are *swept* in their order, up to the invocation of the first removal that is open.
//!    All removals that began before have ended, so the values inside at a swept point are known,
//!    whatever follows.
//! 2. In a priority queue the removal of x is right iff at one of its points, from max(ia, ir) + 1
//!    to rr, no smaller value is inside; an operation that found nothing iff at one of its points
//!    none is. Between two invocations of removals the values inside only become more, so it
//!    suffices to look behind these, and at the first point. A removal is a *question* from its
//!    first point until it has a right one. If its response is swept before, that is a violation:
//!    so the alarm comes when the removals have ended that were open at the response, at the latest.
//! 3. A *gap* is a point at which no value is inside. An execution of a stack has an order iff the
//!    parts on both sides of the gap have one, by the monitor's argument. So operations on values
//!    that were removed before are settled once they were found to have an order: they are judged
//!    with all others as the execution grows.
//!
//! A value of a priority queue is settled once its removal is no question, and none began before it
//! was removed: it covers no point of an open or later question. So kept are the values inside, the
//! operations that are open, and those since the oldest question or open removal began; of a
//! stack, those since the last gap. A removal of unknown outcome would end the sweep: its execution
//! is left to others.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::Hash;

use super::{End, Lost, Notes, Steps, Time};
use crate::generic::effect::Effect;
use crate::seeded::SeededMap;

/// A value that was added, by its addition.
#[derive(Debug)]
struct Life<R> {
    rank: R,
    is_open: bool,
    /// Event of the response of its addition.
    added: Option<Time>,
    removal: Option<Time>,
    /// True if it is settled when its addition ends.
    has_left: bool,
}

/// The state of a removal.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Removal {
    Open,
    /// It removed the value of this addition.
    Took(Time),
    FoundNothing,
    Failed,
}

/// An event that was not swept yet.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// The value of this addition is inside from here on.
    Added(Time),
    Begun(Time),
    /// The addition begins whose value this removal, which began before, returned.
    Asked(Time),
    Ended(Time),
}

/// The judge of a collection, of which a removal returns a value of the least rank; `BY_GAPS`: any
/// value, as far as it judges, and values settle at gaps.
#[derive(Debug)]
pub(in crate::generic) struct Sweep<V, R, const BY_GAPS: bool> {
    rank: fn(&V) -> R,
    /// Additions of the values that are there, or whose addition is open.
    known: SeededMap<V, Time>,
    lives: SeededMap<Time, Life<R>>,
    removals: SeededMap<Time, Removal>,
    steps: BTreeMap<Time, Step>,
    /// The values inside at the point behind the last swept event.
    inside: BTreeSet<(R, Time)>,
    /// Questions by the ranks of what they returned, and those that found nothing.
    questions: BTreeSet<(R, Time)>,
    empties: Vec<Time>,
    /// The beginnings of questions, each with its removal.
    since: BTreeSet<(Time, Time)>,
    /// Removals that were questions, with the additions of their values, by their beginnings.
    leaving: BTreeMap<Time, (Time, Option<Time>)>,
}

impl<V: Eq + Hash, R: Clone + Ord, const BY_GAPS: bool> Sweep<V, R, BY_GAPS> {
    pub fn new(rank: fn(&V) -> R) -> Self {
        Self {
            rank,
            known: SeededMap::default(),
            lives: SeededMap::default(),
            removals: SeededMap::default(),
            steps: BTreeMap::new(),
            inside: BTreeSet::new(),
            questions: BTreeSet::new(),
            empties: Vec::new(),
            since: BTreeSet::new(),
            leaving: BTreeMap::new(),
        }
    }

    fn add(&mut self, addition: Time, value: V, notes: &mut Notes) {
        let rank = (self.rank)(&value);
        if self.known.insert(value, addition).is_some() {
            return notes.lose(Lost::Repeated(addition));
        }
        let life = Life { rank, is_open: true, added: None, removal: None, has_left: false };
        self.lives.insert(addition, life);
    }

    fn added(&mut self, addition: Time, value: &V, (now, end): (Time, End), notes: &mut Notes) {
        let Some(life) = self.lives.get_mut(&addition) else { return };
        life.is_open = false;
        if let Some(removal) = life.removal {
            // It was removed by an operation that responded before.
            notes.is_violation |= end == End::Failure;
            self.known.remove(value);
            if life.has_left {
                self.forget_value(removal, Some(addition), notes);
            }
            return;
        }
        match end {
            End::Response => {
                life.added = Some(now);
                self.steps.insert(now, Step::Added(addition));
                self.sweep(notes);
            }
            End::Failure => {
                self.known.remove(value);
                self.lives.remove(&addition);
                notes.settled.push(addition);
            }
            End::Unknown => {}
        }
    }

    fn removed(&mut self, removal: Time, value: &V, now: Time, notes: &mut Notes) {
        let addition = self.known.get(value).copied();
        let life = addition.and_then(|addition| Some((addition, self.lives.get_mut(&addition)?)));
        let Some((addition, life)) = life.filter(|(_, life)| life.removal.is_none()) else {
            notes.is_violation = true;
            return;
        };
        life.removal = Some(removal);
        // It is inside for certain at no point if it was removed from before its response on.
        if let Some(added) = life.added.filter(|added| *added > removal) {
            self.steps.remove(&added);
        }
        if !life.is_open {
            self.known.remove(value);
        }
        if addition > removal {
            self.steps.insert(addition, Step::Asked(removal));
        }
        self.end_removal(removal, now, Removal::Took(addition), notes);
    }

    fn end_removal(&mut self, removal: Time, now: Time, state: Removal, notes: &mut Notes) {
        self.removals.insert(removal, state);
        self.steps.insert(now, Step::Ended(removal));
        self.sweep(notes);
    }

    fn sweep(&mut self, notes: &mut Notes) {
        while let Some((&time, &step)) = self.steps.first_key_value() {
            match step {
                Step::Added(addition) => {
                    if let Some(life) = self.lives.get(&addition) {
                        self.inside.insert((life.rank.clone(), addition));
                    }
                }
                Step::Begun(removal) => match self.removals.get(&removal) {
                    Some(Removal::Open) => break,
                    Some(&Removal::Took(addition)) => {
                        if let Some(life) = self.lives.get(&addition) {
                            self.inside.remove(&(life.rank.clone(), addition));
                        }
                        if addition < removal {
                            self.ask(removal, addition, time);
                        }
                        self.answer(notes);
                    }
                    Some(Removal::FoundNothing) => {
                        self.empties.push(removal);
                        self.since.insert((removal, removal));
                        self.answer(notes);
                    }
                    Some(Removal::Failed) | None => {}
                },
                Step::Asked(removal) => {
                    if let Some(&Removal::Took(addition)) = self.removals.get(&removal) {
                        self.ask(removal, addition, time);
                        self.answer(notes);
                    }
                }
                Step::Ended(removal) => {
                    if self.since.contains(&(self.asked(removal).0, removal)) {
                        notes.is_violation = true;
                        return;
                    }
                    if self.removals.remove(&removal) == Some(Removal::Failed) {
                        notes.settled.push(removal);
                    }
                }
            }
            self.steps.remove(&time);
        }
        self.leave(notes);
    }

    /// Returns the event behind which a removal is a question, and the addition of its value.
    fn asked(&self, removal: Time) -> (Time, Option<Time>) {
        match self.removals.get(&removal) {
            Some(&Removal::Took(addition)) => (addition.max(removal), Some(addition)),
            _ => (removal, None),
        }
    }

    /// Begins a question behind an event.
    fn ask(&mut self, removal: Time, addition: Time, begin: Time) {
        let Some(life) = self.lives.get(&addition) else { return };
        self.questions.insert((life.rank.clone(), removal));
        self.since.insert((begin, removal));
    }

    /// Ends the questions for which the point behind the last swept event is right.
    fn answer(&mut self, notes: &mut Notes) {
        while let Some((rank, _)) = self.questions.first()
            && self.inside.first().is_none_or(|(least, _)| rank <= least)
            && let Some((_, removal)) = self.questions.pop_first()
        {
            let (begin, addition) = self.asked(removal);
            self.since.remove(&(begin, removal));
            self.leaving.insert(begin, (removal, addition));
        }
        if !self.inside.is_empty() {
            return;
        }
        for removal in std::mem::take(&mut self.empties) {
            self.since.remove(&(removal, removal));
            self.leaving.insert(removal, (removal, None));
        }
        if BY_GAPS {
            for (removal, addition) in std::mem::take(&mut self.leaving).into_values() {
                self.forget_value(removal, addition, notes);
            }
        }
    }

    /// Settles values that cover no point of a question.
    fn leave(&mut self, notes: &mut Notes) {
        let since = self.since.first().map(|(begin, _)| *begin);
        while let Some(entry) = self.leaving.first_entry()
            && !BY_GAPS
            && since.is_none_or(|since| *entry.key() < since)
        {
            let (removal, addition) = entry.remove();
            self.forget_value(removal, addition, notes);
        }
    }

    fn forget_value(&mut self, removal: Time, addition: Option<Time>, notes: &mut Notes) {
        if let Some(addition) = addition {
            match self.lives.get_mut(&addition) {
                Some(life) if life.is_open => {
                    life.has_left = true;
                    return;
                }
                _ => self.lives.remove(&addition),
            };
            notes.settled.push(addition);
        }
        notes.settled.push(removal);
    }
}

impl<V: Eq + Hash, R: Clone + Ord, const BY_GAPS: bool> Steps<V> for Sweep<V, R, BY_GAPS> {
    const IS_PARTIAL: bool = BY_GAPS;

    fn invoke(&mut self, operation: Time, effect: Effect<V>, notes: &mut Notes) {
        match effect {
            Effect::Add(value) => self.add(operation, value, notes),
            Effect::Remove(None) => {
                self.removals.insert(operation, Removal::Open);
                self.steps.insert(operation, Step::Begun(operation));
            }
            _ => notes.lose(Lost::Operation(operation)),
        }
    }

    fn end(
        &mut self,
        operation: Time,
        (now, end): (Time, End),
        effect: Effect<V>,
        notes: &mut Notes,
    ) {
        match effect {
            Effect::Add(value) => self.added(operation, &value, (now, end), notes),
            Effect::Remove(Some(value)) => self.removed(operation, &value, now, notes),
            Effect::Empty => self.end_removal(operation, now, Removal::FoundNothing, notes),
            Effect::Remove(None) if end == End::Failure => {
                self.end_removal(operation, now, Removal::Failed, notes);
            }
            _ => notes.lose(Lost::Operation(operation)),
        }
    }

    fn is_new(&self) -> bool {
        self.lives.is_empty()
            && self.removals.is_empty()
            && self.steps.is_empty()
            && self.leaving.is_empty()
    }
}
