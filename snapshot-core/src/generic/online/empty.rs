//! Operations that found a queue empty, event by event.
//!
//! Such an operation is right iff at some point of it no value is inside for certain. Value v is inside at the
//! points from ra(v) to ir(v). So it suffices to look at points just behind the invocation of a removal:
//! up to the next one the values inside only become more, and the open removals that may have taken
//! them are the same. At point s let A be the values with ra < s that no response has shown to be
//! removed, and T the open removals that began before s. Then s is
//!
//! * *free* if A is empty, and no value that was removed covers s. It stays so, and answers all
//!   questions that are open there: only the last free point is kept.
//! * *covered* if a value was inside that was removed by an operation that began behind s, or if
//!   A has more values than T operations. It stays so.
//! * *open* otherwise. When all of T have ended it is free or covered.
//!
//! Both A and T grow with s, so points with as many of both have the same, and stay alike: they are
//! one *class*. There are at most as many classes as open removals, twice. An operation that found nothing is a
//! *question* while it has open points and none that is free; these are consecutive classes, and of two
//! questions one of whose classes include those of the other only that other is kept. So memory is
//! bounded by the open removals. The alarm comes when the removals have ended that were open at
//! the response, at the latest; those of unknown outcome never end.
//!
//! *Covers* are the values that were removed by an operation that began behind an open question: they are what the
//! proof of a violation names.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::{Notes, Time};

/// Points that are alike.
#[derive(Debug)]
struct Class {
    number: u64,
    /// The last point: the invocation just before it.
    last: Time,
    /// Number of values inside.
    inside: usize,
    /// Number of open removals that began before it.
    takers: usize,
}

/// An operation that found nothing, with its first and last class.
#[derive(Debug)]
struct Question {
    operation: Time,
    first: u64,
    last: u64,
}

/// The points of a queue at which it may have been empty.
#[derive(Debug, Default)]
pub(super) struct Empty {
    classes: VecDeque<Class>,
    /// The last point that is free.
    free: Option<Time>,
    /// Removals that may find nothing.
    asking: BTreeSet<Time>,
    questions: Vec<Question>,
    /// Values by the invocation of their removal.
    covers: BTreeMap<Time, Time>,
    /// Number of classes so far.
    count: u64,
}

impl Empty {
    /// Begins a removal: `staying` values are inside, and `takers` removals are open, with this one.
    pub fn ask(&mut self, removal: Time, staying: usize, takers: usize) {
        self.asking.insert(removal);
        if staying == 0 {
            self.free = Some(removal);
            self.drop_answered();
        } else if staying <= takers {
            match self.classes.back_mut() {
                Some(class) if (class.inside, class.takers) == (staying, takers) => {
                    class.last = removal;
                }
                _ => {
                    let number = self.count;
                    self.count += 1;
                    self.classes.push_back(Class {
                        number,
                        last: removal,
                        inside: staying,
                        takers,
                    });
                }
            }
        }
    }

    /// Gives a removal up: it may have taken a value, and finds nothing for certain.
    pub fn give_up(&mut self, removal: Time) {
        self.asking.remove(&removal);
    }

    /// Ends a removal, of a value whose addition responded at `added`; of none, or one that was never
    /// inside for certain, without. Returns true if a question has no point left.
    pub fn removed(&mut self, removal: Time, added: Option<Time>, notes: &mut Notes) -> bool {
        self.asking.remove(&removal);
        let mut free = self.free;
        self.classes.retain_mut(|class| {
            let is_behind = class.last >= removal;
            class.takers -= usize::from(is_behind);
            if added.is_some_and(|added| added < class.last) {
                if !is_behind {
                    return false;
                }
                class.inside -= 1;
            }
            if class.inside == 0 {
                free = free.max(Some(class.last));
            }
            class.inside <= class.takers
        });
        self.free = free;
        let is_wrong = self.resolve(notes);
        self.merge();
        self.drop_answered();
        is_wrong
    }

    /// Takes the response of a removal that found nothing. Returns true if it has no point.
    pub fn answer(&mut self, removal: Time, notes: &mut Notes) -> bool {
        if self.free.is_some_and(|free| free >= removal) {
            notes.settled.push(removal);
            return false;
        }
        let mut open = self.classes.iter().filter(|class| class.last >= removal);
        let Some(first) = open.next().map(|class| class.number) else { return true };
        let last = self.classes.back().map_or(first, |class| class.number);
        let within =
            |one: &Question, other: (u64, u64)| other.0 <= one.first && one.last <= other.1;
        if self.questions.iter().any(|one| within(one, (first, last))) {
            notes.settled.push(removal);
            return false;
        }
        self.questions.retain(|one| {
            let is_implied = one.first <= first && last <= one.last;
            if is_implied {
                notes.settled.push(one.operation);
            }
            !is_implied
        });
        self.questions.push(Question { operation: removal, first, last });
        false
    }

    /// Drops the questions that have a free point. Returns true if one has no point left.
    fn resolve(&mut self, notes: &mut Notes) -> bool {
        let classes = &self.classes;
        let mut is_wrong = false;
        self.questions.retain(|question| {
            let of = |class: &&Class| (question.first..=question.last).contains(&class.number);
            let is_answered = classes.iter().filter(of).any(|class| class.inside == 0);
            if is_answered {
                notes.settled.push(question.operation);
            }
            is_wrong |= !classes.iter().any(|class| of(&class));
            !is_answered
        });
        is_wrong
    }

    /// Makes one class of neighbours that have become alike.
    fn merge(&mut self) {
        let mut at = 1;
        while at < self.classes.len() {
            let (one, other) = (&self.classes[at - 1], &self.classes[at]);
            if (one.inside, one.takers) != (other.inside, other.takers) {
                at += 1;
                continue;
            }
            let (before, after) = (one.number, other.number);
            for question in &mut self.questions {
                if (question.first..=question.last).contains(&before) {
                    question.last = question.last.max(after);
                }
            }
            self.classes.remove(at - 1);
        }
    }

    /// Drops the classes that only questions with a free point have.
    fn drop_answered(&mut self) {
        let last = self.questions.iter().map(|question| question.last).max();
        let free = self.free;
        self.classes.retain(|class| {
            class.inside > 0 && (Some(class.last) > free || Some(class.number) <= last)
        });
    }

    /// The beginning of the first question that is open, or may become one.
    fn since(&self) -> Option<Time> {
        let from = self.free.map_or(0, |free| free + 1);
        let asking = self.asking.range(from..).next().copied();
        asking.into_iter().chain(self.questions.iter().map(|question| question.operation)).min()
    }

    /// Returns true if a removal that began then may cover a point of an open question.
    pub fn is_asked_since(&self, removal: Time) -> bool {
        self.since().is_some_and(|since| since < removal)
    }

    /// Keeps a value that was inside up to the beginning of its removal.
    pub fn cover(&mut self, removal: Time, addition: Time) {
        self.covers.insert(removal, addition);
    }

    /// Returns a value that covers no point of an open question any more.
    pub fn uncovered(&mut self) -> Option<Time> {
        let (&removal, _) = self.covers.first_key_value()?;
        if self.is_asked_since(removal) {
            return None;
        }
        self.covers.remove(&removal)
    }

    pub fn is_new(&self) -> bool {
        self.asking.is_empty() && self.questions.is_empty() && self.covers.is_empty()
    }
}
