//! One function per rule.
//!
//! A linearization gives each operation that takes effect an instant between its invocation and its
//! response. The comment of each rule says why there is none.

use std::hash::Hash;

use super::{Fact, Facts, Kind, ProofError};
use crate::OperationId;
use crate::generic::effect::Effect;
use crate::generic::proof::{Debt, Proof, Stay};
use crate::seeded::{SeededMap, SeededSet};

/// All operations with a value, by what they do to it.
#[derive(Default)]
struct OfValue {
    /// Additions to a collection, or writes to a cell.
    put: Vec<OperationId>,
    /// Removals from a collection.
    removed: Vec<OperationId>,
    is_initial: bool,
}

/// A rule that is checked: the facts, with what concerns the values that the proof names.
pub(super) struct Rule<'f, V> {
    facts: &'f Facts<'f, V>,
    name: &'static str,
    named: SeededMap<OperationId, &'f Fact<V>>,
    values: SeededMap<&'f V, OfValue>,
    /// Removals without response, in the order of their invocations.
    unanswered: Vec<OperationId>,
}

type Checked = Result<(), ProofError>;

/// The time in which a value is certainly inside: from the end of its addition to the first
/// time at which it can have been removed.
type Inside = (usize, usize);

impl<'f, V: Eq + Hash> Rule<'f, V> {
    pub fn new(facts: &'f Facts<'f, V>, proof: &Proof) -> Result<Self, ProofError> {
        let mut rule = Self {
            facts,
            name: proof.rule(),
            named: SeededMap::default(),
            values: SeededMap::default(),
            unanswered: Vec::new(),
        };
        for operation in proof.operations() {
            let fact =
                facts.facts.get(&operation).ok_or(ProofError::NoSuchOperation { operation })?;
            rule.named.insert(operation, fact);
            let (found, put) = values(&fact.effect);
            for value in [found, put].into_iter().flatten() {
                rule.values.entry(value).or_default();
            }
        }
        for (&operation, fact) in &facts.facts {
            if matches!(fact.effect, Effect::Remove(None)) {
                rule.unanswered.push(operation);
            }
            let (found, put) = values(&fact.effect);
            if let Some(of_value) = put.and_then(|value| rule.values.get_mut(value)) {
                of_value.put.push(operation);
            }
            if let (Effect::Remove(_), Some(value)) = (&fact.effect, found)
                && let Some(of_value) = rule.values.get_mut(value)
            {
                of_value.removed.push(operation);
            }
        }
        if let Kind::Cell(Some(initial)) = facts.kind
            && let Some(of_value) = rule.values.get_mut(initial)
        {
            of_value.is_initial = true;
        }
        rule.unanswered.sort_unstable_by_key(|one| facts.facts[one].began);
        for of_value in rule.values.values_mut() {
            of_value.put.sort_unstable_by_key(|one| facts.facts[one].began);
            of_value.removed.sort_unstable_by_key(|one| facts.facts[one].ended);
        }
        Ok(rule)
    }

    fn effect(&self, operation: OperationId) -> &'f Effect<V> {
        &self.named[&operation].effect
    }

    fn began(&self, operation: OperationId) -> usize {
        self.facts.facts[&operation].began
    }

    fn ended(&self, operation: OperationId) -> usize {
        self.facts.facts[&operation].ended
    }

    fn is_collection(&self) -> bool {
        !matches!(self.facts.kind, Kind::Cell(_))
    }

    fn object(&self, is_right: bool) -> Checked {
        if is_right { Ok(()) } else { Err(ProofError::Object { rule: self.name }) }
    }

    fn is_effect(&self, operation: OperationId, is_right: bool) -> Checked {
        if is_right { Ok(()) } else { Err(ProofError::Effect { rule: self.name, operation }) }
    }

    /// That one event comes before another.
    fn time(&self, operation: OperationId, is_right: bool) -> Checked {
        if is_right { Ok(()) } else { Err(ProofError::Time { rule: self.name, operation }) }
    }

    fn count(&self, is_right: bool) -> Checked {
        if is_right { Ok(()) } else { Err(ProofError::Count { rule: self.name }) }
    }

    /// When a value is certainly inside; and that its removal, if it names one, removes what its
    /// addition added. For then each earlier copy of the value was removed before the next came.
    fn inside(&self, stay: &Stay) -> Result<Inside, ProofError> {
        let Stay { addition, removal } = *stay;
        let Effect::Add(value) = self.effect(addition) else {
            return Err(ProofError::Effect { rule: self.name, operation: addition });
        };
        let OfValue { put, removed, .. } = &self.values[value];
        let ambiguous = ProofError::Ambiguous { rule: self.name, operation: addition };
        for (copy, next) in put.iter().skip(1).enumerate() {
            let is_over = |one: &OperationId| self.ended(*one) < self.began(*next);
            if !is_over(&put[copy]) || !removed.get(copy).is_some_and(is_over) {
                return Err(ambiguous);
            }
        }
        let copy = put.iter().position(|one| *one == addition);
        if removed.len() > put.len() || copy.and_then(|copy| removed.get(copy)) != removal.as_ref()
        {
            return Err(ambiguous);
        }
        let gone = removal.or(self.unanswered.first().copied());
        Ok((self.ended(addition), gone.map_or(usize::MAX, |gone| self.began(gone))))
    }

    /// What the operation returned belongs to another operation.
    pub fn impossible(&self, operation: OperationId) -> Checked {
        self.is_effect(operation, matches!(self.effect(operation), Effect::Impossible))
    }

    /// Before the last response of the removals these have taken effect, and of the additions of the
    /// value only those that had begun.
    pub fn unfounded(&self, removals: &[OperationId], additions: &[OperationId]) -> Checked {
        self.object(self.is_collection())?;
        let last = removals.iter().copied().max_by_key(|one| self.ended(*one));
        let Some(last) = last else { return self.count(false) };
        let Effect::Remove(Some(value)) = self.effect(last) else {
            return self.is_effect(last, false);
        };
        let distinct: SeededSet<&OperationId> = removals.iter().collect();
        self.count(distinct.len() == removals.len())?;
        for &removal in removals {
            let is_of_value =
                matches!(self.effect(removal), Effect::Remove(Some(one)) if one == value);
            self.is_effect(removal, is_of_value)?;
        }
        let begun = |one: &&OperationId| self.began(**one) < self.ended(last);
        let all: Vec<&OperationId> = self.values[value].put.iter().filter(begun).collect();
        self.count(all.iter().all(|one| additions.contains(one)) && all.len() < removals.len())
    }

    /// The first value is in the queue before the second, and leaves after it.
    pub fn overtaken(&self, first: &Stay, second: &Stay) -> Checked {
        self.object(matches!(self.facts.kind, Kind::Queue))?;
        let (added, leaves) = self.inside(first)?;
        self.inside(second)?;
        let Some(removal) = second.removal else { return self.count(false) };
        self.time(second.addition, added < self.began(second.addition))?;
        self.time(removal, self.ended(removal) < leaves)
    }

    /// Each of the values was in the queue before one that left by the latest of the responses: so it
    /// had left, too, by removals without response that had begun, and each of these takes one.
    pub fn overdue(&self, debts: &[Debt], removals: &[OperationId]) -> Checked {
        self.object(matches!(self.facts.kind, Kind::Queue))?;
        let mut latest = 0;
        let distinct: SeededSet<OperationId> = debts.iter().map(|debt| debt.addition).collect();
        self.count(distinct.len() == debts.len())?;
        for debt in debts {
            let (added, _) = self.inside(&Stay { addition: debt.addition, removal: None })?;
            self.inside(&debt.later)?;
            let Some(removal) = debt.later.removal else { return self.count(false) };
            self.time(debt.later.addition, added < self.began(debt.later.addition))?;
            latest = latest.max(self.ended(removal));
        }
        let begun = self.unanswered.iter().filter(|one| self.began(**one) < latest);
        self.count(begun.clone().all(|one| removals.contains(one)))?;
        self.count(begun.count() < debts.len())
    }

    /// That at all times from `from` to `to` one of these values is certainly inside, in turn.
    fn cover(&self, stays: &[Stay], from: usize, to: usize) -> Checked {
        let mut reached = from;
        for stay in stays {
            let (added, leaves) = self.inside(stay)?;
            self.time(stay.addition, added <= reached)?;
            reached = reached.max(leaves);
        }
        self.count(reached >= to && !stays.is_empty())
    }

    /// There is always a value of the chain on the stack, so that the one pushed first is popped
    /// last: before the end of the first push, and after the last pop began. None is both.
    pub fn crossed(&self, chain: &[Stay]) -> Checked {
        self.object(matches!(self.facts.kind, Kind::Stack))?;
        let (Some(first), Some(last)) = (chain.first(), chain.last()) else {
            return self.count(false);
        };
        let (from, _) = self.inside(first)?;
        let (_, to) = self.inside(last)?;
        self.count(from < to)?;
        self.cover(chain, from, to)?;
        for stay in chain {
            let popped = stay.removal.map_or(usize::MAX, |removal| self.ended(removal));
            let is_later = from < self.began(stay.addition) || popped < to;
            self.time(stay.addition, is_later)?;
        }
        Ok(())
    }

    /// The removal takes effect after the addition of its value and after itself began; at each such
    /// time a smaller value is inside.
    pub fn not_least(&self, removed: &Stay, smaller: &[Stay]) -> Checked {
        let Kind::PriorityQueue(compare) = self.facts.kind else { return self.object(false) };
        self.inside(removed)?;
        let Some(removal) = removed.removal else { return self.count(false) };
        let value = |operation: OperationId| match self.effect(operation) {
            Effect::Add(value) => Some(value),
            _ => None,
        };
        for stay in smaller {
            let pair = value(stay.addition).zip(value(removed.addition));
            let is_smaller = pair.is_some_and(|(one, other)| compare(one, other).is_lt());
            self.is_effect(stay.addition, is_smaller)?;
        }
        let from = self.began(removal).max(self.began(removed.addition));
        self.cover(smaller, from, self.ended(removal))
    }

    /// At each time between invocation and response a value is inside.
    pub fn not_empty(&self, operation: OperationId, inside: &[Stay]) -> Checked {
        self.object(self.is_collection())?;
        self.is_effect(operation, matches!(self.effect(operation), Effect::Empty))?;
        self.cover(inside, self.began(operation), self.ended(operation))
    }

    /// That a value is written by one operation, or there at first and written by none.
    fn is_single(&self, value: &V) -> bool {
        self.values.get(value).is_some_and(|one| one.put.len() + usize::from(one.is_initial) == 1)
    }

    /// Which of the operations take effect: those that responded, and those that wrote a
    /// value, written by none else, that one of these found. A section of a lock ends no earlier than
    /// its release begins, whether that takes effect or not.
    fn effective(&self, operations: &[OperationId]) -> SeededSet<OperationId> {
        let mut effective = SeededSet::default();
        let is_lock = matches!(self.facts.kind, Kind::Cell(None));
        let is_certain = |one: &OperationId| {
            self.ended(*one) != usize::MAX
                || is_lock && matches!(self.effect(*one), Effect::Read(_))
        };
        let mut left: Vec<OperationId> = operations.iter().copied().filter(is_certain).collect();
        while let Some(operation) = left.pop() {
            if !effective.insert(operation) {
                continue;
            }
            if let (Some(value), _) = values(self.effect(operation))
                && self.is_single(value)
            {
                let writers = self.values[value].put.iter();
                left.extend(writers.filter(|one| operations.contains(one)));
            }
        }
        effective
    }

    fn take_effect(&self, operations: &[OperationId], because: &[OperationId]) -> Checked {
        let effective = self.effective(&[operations, because].concat());
        self.count(operations.iter().all(|one| effective.contains(one)))
    }

    /// The value is never in the cell.
    pub fn unwritten(&self, operation: OperationId, because: &[OperationId]) -> Checked {
        self.object(!self.is_collection())?;
        let (Effect::Read(value) | Effect::Swap(value, _)) = self.effect(operation) else {
            return self.is_effect(operation, false);
        };
        let of_value = &self.values[value];
        self.is_effect(operation, of_value.put.is_empty() && !of_value.is_initial)?;
        self.take_effect(&[operation], because)
    }

    /// The value is in the cell once, and the first of the two puts an end to it.
    pub fn replaced_twice(
        &self,
        first: OperationId,
        second: OperationId,
        because: &[OperationId],
    ) -> Checked {
        self.object(!self.is_collection())?;
        self.count(first != second)?;
        match (self.effect(first), self.effect(second)) {
            (Effect::Swap(one, a), Effect::Swap(other, b))
                if one == other && a != one && b != one && self.is_single(one) => {}
            _ => return self.is_effect(second, false),
        }
        self.take_effect(&[first, second], because)
    }

    /// Each takes effect after the one before it.
    pub fn circle(&self, operations: &[OperationId], because: &[OperationId]) -> Checked {
        self.object(!self.is_collection())?;
        for (place, &operation) in operations.iter().enumerate() {
            let next = operations[(place + 1) % operations.len()];
            match (self.effect(operation), self.effect(next)) {
                (Effect::Swap(_, written), Effect::Swap(found, _))
                    if written == found
                        && self.is_single(found)
                        && self.values[found].put == [operation] => {}
                _ => return self.is_effect(next, false),
            }
        }
        self.count(!operations.is_empty())?;
        self.take_effect(operations, because)
    }

    /// Whether the first takes effect before the second: it wrote what the second found, or found
    /// what the second replaced.
    fn is_before(&self, first: OperationId, second: OperationId) -> bool {
        let (found, written) = values(self.effect(first));
        let (wanted, replaced) = values(self.effect(second));
        let Some(wanted) = wanted.filter(|value| self.is_single(value)) else { return false };
        let is_replaced = replaced.is_some_and(|value| value != wanted);
        written == Some(wanted) && self.values[wanted].put == [first]
            || found == Some(wanted) && written.is_none() && is_replaced
    }

    /// The last takes effect after the first, which began when the last had ended.
    pub fn reversed(&self, sequence: &[OperationId]) -> Checked {
        self.object(!self.is_collection())?;
        let (Some(&first), Some(&last)) = (sequence.first(), sequence.last()) else {
            return self.count(false);
        };
        for pair in sequence.windows(2) {
            self.time(pair[1], self.is_before(pair[0], pair[1]))?;
        }
        self.take_effect(sequence, &[])?;
        self.time(first, self.ended(last) < self.began(first))
    }

    /// A value's time in the cell is one interval, and those of values of which one replaces the
    /// other adjoin: so all operations of a group take effect in one interval, in which those of the
    /// other group, with other values, do not.
    pub fn interleaved(&self, first: &[OperationId], second: &[OperationId]) -> Checked {
        self.object(!self.is_collection())?;
        let [one, other] = [self.group(first)?, self.group(second)?];
        self.count(one.0.iter().all(|value| !other.0.contains(value)))?;
        let ((_, ended, begun), (_, other_ended, other_begun)) = (one, other);
        self.count(ended < other_begun && other_ended < begun)
    }

    /// The values of a group; the first response, counted from 1, or 0 if it has the initial value; and
    /// the last invocation, counted from 1, or the greatest number if a value is never replaced.
    fn group(&self, operations: &[OperationId]) -> Result<(Vec<&'f V>, usize, usize), ProofError> {
        self.take_effect(operations, &[])?;
        let mut values_of: Vec<Vec<&'f V>> = Vec::new();
        let (mut ended, mut begun) = (usize::MAX, 0);
        let mut is_initial = false;
        for &operation in operations {
            let (found, written) = values(self.effect(operation));
            let single = |value: &&V| self.is_single(value);
            let all: Vec<&V> = [found, written].into_iter().flatten().filter(single).collect();
            self.is_effect(operation, !all.is_empty())?;
            is_initial |= all.iter().any(|value| self.values[*value].is_initial);
            // Sets of values with one in common are one set.
            let (mut joined, apart): (Vec<_>, Vec<_>) =
                values_of.into_iter().partition(|set| set.iter().any(|value| all.contains(value)));
            joined.push(all);
            values_of = apart;
            values_of.push(joined.concat());
            ended = ended.min(self.ended(operation).saturating_add(1));
            begun = begun.max(match self.effect(operation) {
                Effect::Keep(_) => usize::MAX,
                _ => self.began(operation) + 1,
            });
        }
        if is_initial {
            ended = 0;
        }
        self.count(values_of.len() == 1)?;
        Ok((values_of.concat(), ended, begun))
    }

    /// The value is in the cell at an instant before the operation began and at one after it
    /// ended, and in between.
    pub fn not_missed(
        &self,
        operation: OperationId,
        before: OperationId,
        after: OperationId,
    ) -> Checked {
        self.object(!self.is_collection())?;
        let Effect::Miss(value) = self.effect(operation) else {
            return self.is_effect(operation, false);
        };
        self.is_effect(operation, self.is_single(value))?;
        for one in [before, after] {
            let (found, written) = values(self.effect(one));
            self.is_effect(one, found == Some(value) || written == Some(value))?;
        }
        self.take_effect(&[before, after], &[])?;
        self.time(before, self.ended(before) < self.began(operation))?;
        self.time(after, self.ended(operation) < self.began(after))
    }
}

/// The value that an operation finds, or removes, and that which it writes, or adds.
const fn values<V>(effect: &Effect<V>) -> (Option<&V>, Option<&V>) {
    match effect {
        Effect::Add(value) | Effect::Write(value) | Effect::Keep(value) => (None, Some(value)),
        Effect::Remove(Some(value)) | Effect::Read(value) => (Some(value), None),
        Effect::Swap(found, written) => (Some(found), Some(written)),
        _ => (None, None),
    }
}
