//! Facts: conditions with a known outcome.
//!
//! An *atom* is a condition without `not`, `and`, `or`: a Boolean slot, the equality of two slots
//! or of a slot and a constant, or any other condition taken as a whole. [`Knowledge`] assigns
//! truth values to some atoms. Conditions are evaluated under it in three values: true, false or
//! unknown.

use std::collections::BTreeMap;

use crate::deadline::Deadline;
use crate::instance::{Assignment, NONE, Operator, Scalar, Slot, SlotId, Target, Term};
use crate::limits::Limit;

/// A placeholder for a condition that is known only later. `Fresh` is not a condition, so the two
/// cannot be confused.
pub const UNKNOWN: Term = Term::Fresh;

/// Conditions with more nodes than this are not tracked.
const LARGEST: usize = 200;

/// Known outcomes of some atoms.
#[derive(Clone, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Knowledge(BTreeMap<Term, bool>);

impl Knowledge {
    /// Returns the facts, by atom.
    pub fn facts(&self) -> impl Iterator<Item = (&Term, bool)> {
        self.0.iter().map(|(atom, &truth)| (atom, truth))
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn learn(&mut self, atom: Term, truth: bool) {
        self.0.insert(atom, truth);
    }

    pub fn retain(&mut self, keep: impl Fn(&Term, bool) -> bool) {
        self.0.retain(|atom, truth| keep(atom, *truth));
    }

    /// Returns the value of a term, if these facts determine it.
    pub fn evaluate(&self, term: &Term) -> Option<Scalar> {
        match term {
            Term::Constant(scalar) | Term::Process(scalar) => Some(*scalar),
            Term::Slot(slot) => self.of_slot(*slot),
            Term::Apply(Operator::Not, of) => self.evaluate(&of[0]).map(|bit| 1 - bit),
            Term::Apply(Operator::And, of) => self.any(of, 0),
            Term::Apply(Operator::Or, of) => self.any(of, 1),
            Term::Apply(Operator::If, of) => {
                self.evaluate(&of[if self.evaluate(&of[0])? == 1 { 1 } else { 2 }])
            }
            Term::Apply(Operator::Equal, of) => self.equal(term, &of[0], &of[1]),
            Term::Apply(operator, of) => match self.0.get(term) {
                Some(&truth) => Some(Scalar::from(truth)),
                None => self.arithmetic(*operator, of),
            },
            Term::Element { .. } | Term::Fresh | Term::Successor(_) => None,
        }
    }

    fn arithmetic(&self, operator: Operator, of: &[Term]) -> Option<Scalar> {
        let constants: Option<Vec<Term>> =
            of.iter().map(|term| self.evaluate(term).map(Term::Constant)).collect();
        Term::apply(operator, constants?).constant()
    }

    fn of_slot(&self, slot: SlotId) -> Option<Scalar> {
        match self.fact_of_slot(slot)? {
            (Term::Apply(_, of), _) => of[1].constant(),
            (_, &truth) => Some(Scalar::from(truth)),
        }
    }

    /// Returns the fact that determines the content of a slot.
    fn fact_of_slot(&self, slot: SlotId) -> Option<(&Term, &bool)> {
        let itself = Term::Slot(slot);
        // Equalities of one slot are adjacent, starting with equalities to constants.
        let least = Term::Apply(Operator::Equal, vec![itself.clone()]);
        self.0.get_key_value(&itself).or_else(|| {
            let of_slot = |(atom, _): &(&Term, &bool)| match atom {
                Term::Apply(Operator::Equal, of) => of[0] == itself && of[1].constant().is_some(),
                _ => false,
            };
            self.0.range(&least..).take_while(of_slot).find(|(_, truth)| **truth)
        })
    }

    /// Returns `winner` if some term has this value, or the other bit if all values are known.
    fn any(&self, of: &[Term], winner: Scalar) -> Option<Scalar> {
        let mut all_known = true;
        for term in of {
            match self.evaluate(term) {
                Some(bit) if bit == winner => return Some(winner),
                Some(_) => {}
                None => all_known = false,
            }
        }
        all_known.then_some(1 - winner)
    }

    fn equal(&self, atom: &Term, left: &Term, right: &Term) -> Option<Scalar> {
        if let Some(&truth) = self.0.get(atom) {
            return Some(Scalar::from(truth));
        }
        if left == right {
            return Some(1);
        }
        Some(Scalar::from(self.evaluate(left)? == self.evaluate(right)?))
    }

    /// Returns the knowledge after an assignment. `slots` are the instance's slots.
    #[must_use]
    pub fn after(&self, assignment: &Assignment, slots: &[Slot]) -> Self {
        let mut after = self.clone();
        let target = match &assignment.target {
            Target::Element { of, .. } => {
                after.0.retain(|atom, _| !of.iter().any(|&slot| mentions(atom, slot)));
                return after;
            }
            Target::Slot(target) => *target,
        };
        after.0.retain(|atom, _| !mentions(atom, target));
        let value = assignment.value.canonical(slots);
        if let Term::Slot(source) = value {
            if source == target {
                return self.clone();
            }
            for (atom, &truth) in &self.0 {
                if mentions(atom, source) && !mentions(atom, target) {
                    let copied = replaced(atom, source, &Term::Slot(target));
                    after.conclude(&copied.canonical(slots), truth);
                }
            }
            after.conclude(&equal(Term::Slot(target), Term::Slot(source)).canonical(slots), true);
        } else if let Some(scalar) = self.evaluate(&value) {
            let constant = Term::scalar(scalar, slots[target.index()].domain);
            after.conclude(&equal(Term::Slot(target), constant).canonical(slots), true);
        }
        after
    }

    /// Adds the facts implied by the outcome of a canonical condition.
    pub fn conclude(&mut self, condition: &Term, truth: bool) {
        match condition {
            Term::Constant(_) | Term::Process(_) => {}
            Term::Apply(Operator::Not, of) => self.conclude(&of[0], !truth),
            Term::Apply(Operator::And, of) if truth => {
                of.iter().for_each(|term| self.conclude(term, true));
            }
            Term::Apply(Operator::Or, of) if !truth => {
                of.iter().for_each(|term| self.conclude(term, false));
            }
            Term::Apply(Operator::And | Operator::Or | Operator::If, _) => {}
            atom => {
                if atom.is_definite() {
                    self.0.insert(atom.clone(), truth);
                }
            }
        }
    }

    /// Adds to `support` enough facts to evaluate the condition to the same value, now and when
    /// more is known.
    pub fn support(&self, condition: &Term, support: &mut Self) {
        match condition {
            Term::Apply(Operator::Not, of) => self.support(&of[0], support),
            Term::Apply(operator @ (Operator::And | Operator::Or), of) => {
                let winner = Scalar::from(*operator == Operator::Or);
                match of.iter().find(|term| self.evaluate(term) == Some(winner)) {
                    Some(decisive) => self.support(decisive, support),
                    None => of.iter().for_each(|term| self.support(term, support)),
                }
            }
            Term::Apply(Operator::If, of) => of.iter().for_each(|term| self.support(term, support)),
            atom => match self.0.get_key_value(atom) {
                Some((atom, &truth)) => _ = support.0.insert(atom.clone(), truth),
                None if self.evaluate(atom).is_some() => self.support_parts(atom, support),
                None => {}
            },
        }
    }

    /// Adds the facts that determine a term's slots. These evaluate an atom that is not itself a
    /// fact, whether it is true or false.
    fn support_parts(&self, term: &Term, support: &mut Self) {
        match term {
            Term::Slot(slot) => {
                if let Some((atom, &truth)) = self.fact_of_slot(*slot) {
                    support.0.insert(atom.clone(), truth);
                }
            }
            Term::Apply(_, of) => of.iter().for_each(|part| match self.0.get_key_value(part) {
                Some((atom, &truth)) => _ = support.0.insert(atom.clone(), truth),
                None => self.support_parts(part, support),
            }),
            Term::Constant(_)
            | Term::Process(_)
            | Term::Element { .. }
            | Term::Fresh
            | Term::Successor(_) => {}
        }
    }

    /// Calls `visit` on every atom that may still decide the outcome of the condition.
    pub fn open_atoms(&self, condition: &Term, visit: &mut impl FnMut(&Term)) {
        if self.evaluate(condition).is_some() {
            return;
        }
        match condition {
            Term::Apply(Operator::Not | Operator::And | Operator::Or | Operator::If, of) => {
                of.iter().for_each(|term| self.open_atoms(term, visit));
            }
            atom => {
                if atom.is_definite() {
                    visit(atom);
                }
            }
        }
    }

    /// Returns the term with known values substituted.
    #[must_use]
    pub fn fold(&self, term: &Term, slots: &[Slot]) -> Term {
        let term = term.canonical(slots);
        match (&term, self.evaluate(&term)) {
            (Term::Constant(_) | Term::Process(_), _) => term,
            (term, Some(scalar)) => {
                let is_name = term.names_processes(&|slot| slots[slot.index()].domain);
                if is_name && scalar != NONE {
                    Term::Process(scalar)
                } else {
                    Term::Constant(scalar)
                }
            }
            (Term::Apply(operator, of), None) => {
                let of = of.iter().map(|term| self.fold(term, slots)).collect();
                Term::Apply(*operator, of).canonical(slots)
            }
            (Term::Element { index, of }, None) => {
                let of: Vec<Term> = of.iter().map(|term| self.fold(term, slots)).collect();
                match self.evaluate(index) {
                    Some(index) => of[index as usize].clone(),
                    None => Term::Element { index: Box::new(self.fold(index, slots)), of },
                }
            }
            (_, None) => term,
        }
    }
}

/// Returns the condition that holds before an assignment iff the given condition holds after it.
/// Returns [`UNKNOWN`] if it cannot be expressed, or is too large to be tracked, which the deadline
/// notes.
#[must_use]
pub fn before(
    condition: &Term,
    assignment: &Assignment,
    slots: &[Slot],
    deadline: Deadline<'_>,
) -> Term {
    let before = match &assignment.target {
        Target::Slot(target) if !mentions(condition, *target) => return condition.clone(),
        Target::Slot(target) => match &assignment.value {
            Term::Fresh | Term::Element { .. } | Term::Successor(_) => {
                replaced(condition, *target, &UNKNOWN)
            }
            value => replaced(condition, *target, value),
        },
        Target::Element { of, .. } => {
            of.iter().fold(condition.clone(), |term, &slot| replaced(&term, slot, &UNKNOWN))
        }
    };
    let before = without_arithmetic(&before.canonical(slots), slots);
    if size(&before) > LARGEST {
        Limit::ConditionSize.reach(deadline);
        return UNKNOWN;
    }
    before
}

/// Returns the condition with arithmetic atoms replaced by [`UNKNOWN`]. Otherwise a counter in a
/// loop would create new conditions without end.
fn without_arithmetic(condition: &Term, slots: &[Slot]) -> Term {
    match condition {
        Term::Apply(
            operator @ (Operator::Not | Operator::And | Operator::Or | Operator::If),
            of,
        ) => {
            let of = of.iter().map(|term| without_arithmetic(term, slots)).collect();
            Term::Apply(*operator, of).canonical(slots)
        }
        Term::Apply(_, of) if !of.iter().all(is_plain) => UNKNOWN,
        atom => atom.clone(),
    }
}

fn is_plain(term: &Term) -> bool {
    matches!(term, Term::Constant(_) | Term::Process(_) | Term::Slot(_))
}

/// Returns true if a term reads the slot.
pub fn mentions(term: &Term, slot: SlotId) -> bool {
    let mut found = false;
    term.slots(&mut |read| found |= read == slot);
    found
}

fn size(term: &Term) -> usize {
    match term {
        Term::Apply(_, of) | Term::Element { of, .. } => 1 + of.iter().map(size).sum::<usize>(),
        _ => 1,
    }
}

fn equal(left: Term, right: Term) -> Term {
    Term::Apply(Operator::Equal, vec![left, right])
}

fn replaced(term: &Term, slot: SlotId, by: &Term) -> Term {
    match term {
        Term::Slot(read) if *read == slot => by.clone(),
        Term::Successor(read) if *read == slot => UNKNOWN,
        _ => term.with_parts(&mut |part| replaced(part, slot, by)),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::instance::{Domain, Owner};

    fn slots() -> Vec<Slot> {
        let slot = |domain| Slot { name: String::new(), owner: Owner::Shared, domain, initial: 0 };
        let number = Domain::Range { low: 0, high: 3, optional: false, names_processes: false };
        [Domain::BIT, Domain::BIT, Domain::BIT, number, number].map(slot).into()
    }

    fn atom() -> impl Strategy<Value = Term> {
        let bit = || (0..3_u32).prop_map(|slot| Term::Slot(SlotId(slot)));
        let number = || (3..5_u32).prop_map(|slot| Term::Slot(SlotId(slot)));
        let numeric = prop_oneof![number(), (0..4).prop_map(Term::Constant)];
        prop_oneof![
            bit(),
            (bit(), bit()).prop_map(|(a, b)| equal(a, b)),
            (number(), numeric.clone()).prop_map(|(a, b)| equal(a, b)),
            (number(), numeric).prop_map(|(a, b)| Term::Apply(Operator::Less, vec![a, b])),
        ]
        .prop_map(|atom| atom.canonical(&slots()))
    }

    fn condition() -> impl Strategy<Value = Term> {
        let junction = prop_oneof![Just(Operator::And), Just(Operator::Or)];
        let deeper = move |inner: BoxedStrategy<Term>| {
            let parts = prop::collection::vec(inner.clone(), 1..4);
            prop_oneof![
                inner.prop_map(|bit| Term::Apply(Operator::Not, vec![bit])),
                (junction.clone(), parts).prop_map(|(junction, of)| Term::Apply(junction, of)),
            ]
        };
        atom().prop_recursive(3, 12, 3, deeper).prop_map(|condition| condition.canonical(&slots()))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(test_support::effort::either(4_000, 40_000)))]

        #[test]
        fn support_decides_a_condition_like_all_facts(
            facts in prop::collection::vec((atom(), any::<bool>()), 0..6),
            condition in condition(),
        ) {
            let mut knowledge = Knowledge::default();
            facts.iter().for_each(|(atom, truth)| knowledge.conclude(atom, *truth));
            let mut support = Knowledge::default();
            knowledge.support(&condition, &mut support);
            prop_assert_eq!(support.evaluate(&condition), knowledge.evaluate(&condition));
            prop_assert!(support.0.iter().all(|fact| knowledge.0.get_key_value(fact.0) == Some(fact)));
            // Open atoms stay open: otherwise settling them would not terminate.
            let open = |knowledge: &Knowledge| {
                let mut open = std::collections::BTreeSet::new();
                knowledge.open_atoms(&condition, &mut |atom| _ = open.insert(atom.clone()));
                open
            };
            prop_assert_eq!(open(&support), open(&knowledge));
        }
    }
}
