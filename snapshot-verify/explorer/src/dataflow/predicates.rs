//! Facts: conditions of which the outcome is known in advance.
//!
//! An *atom* is a condition without `not`, `and`, `or`: a Boolean slot, the
//! equality of two slots, or of a slot and a constant, or any other condition,
//! taken as it is. [`Knowledge`] says of some atoms whether they hold. Conditions
//! are evaluated under it in three values; what it does not decide is unknown.

use std::collections::BTreeMap;

use crate::instance::fold::Distinct;
use crate::instance::{Assignment, Domain, NONE, Operator, Scalar, Slot, SlotId, Target, Term};

/// A condition that stands for something that will be known only later.
/// `Fresh` is no condition, so it can play this part.
pub const UNKNOWN: Term = Term::Fresh;

/// Conditions larger than this, in nodes, are not tracked.
const LARGEST: usize = 200;

/// The outcome of some atoms.
#[derive(Clone, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Knowledge(BTreeMap<Term, bool>);

impl Knowledge {
    /// The facts, by atom.
    pub fn facts(&self) -> impl Iterator<Item = (&Term, bool)> {
        self.0.iter().map(|(atom, &truth)| (atom, truth))
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds a fact.
    pub fn learn(&mut self, atom: Term, truth: bool) {
        self.0.insert(atom, truth);
    }

    /// Keeps these facts only.
    pub fn retain(&mut self, keep: impl Fn(&Term, bool) -> bool) {
        self.0.retain(|atom, truth| keep(atom, *truth));
    }

    /// What a term is under this knowledge, if that is known.
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
        fold_arithmetic(operator, constants?).constant()
    }

    fn of_slot(&self, slot: SlotId) -> Option<Scalar> {
        match self.fact_of_slot(slot)? {
            (Term::Apply(_, of), _) => of[1].constant(),
            (_, &truth) => Some(Scalar::from(truth)),
        }
    }

    /// The fact that tells what a slot holds.
    fn fact_of_slot(&self, slot: SlotId) -> Option<(&Term, &bool)> {
        let itself = Term::Slot(slot);
        // Equalities of one slot stand together, those with constants first.
        let least = Term::Apply(Operator::Equal, vec![itself.clone()]);
        self.0.get_key_value(&itself).or_else(|| {
            let of_slot = |(atom, _): &(&Term, &bool)| match atom {
                Term::Apply(Operator::Equal, of) => of[0] == itself && of[1].constant().is_some(),
                _ => false,
            };
            self.0.range(&least..).take_while(of_slot).find(|(_, truth)| **truth)
        })
    }

    /// `winner` if some term is the winner, else the other bit if all are known.
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

    /// What is known after an assignment. `slots` are those of the instance.
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
        let value = canonical(&assignment.value, slots);
        if let Term::Slot(source) = value {
            if source == target {
                return self.clone();
            }
            for (atom, &truth) in &self.0 {
                if mentions(atom, source) && !mentions(atom, target) {
                    let copied = replaced(atom, source, &Term::Slot(target));
                    after.conclude(&canonical(&copied, slots), truth);
                }
            }
            after.conclude(&canonical(&equal(Term::Slot(target), Term::Slot(source)), slots), true);
        } else if let Some(scalar) = self.evaluate(&value) {
            let constant = Term::scalar(scalar, slots[target.index()].domain);
            after.conclude(&canonical(&equal(Term::Slot(target), constant), slots), true);
        }
        after
    }

    /// Adds what follows from a canonical condition being true, or false.
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
                if is_definite(atom) {
                    self.0.insert(atom.clone(), truth);
                }
            }
        }
    }

    /// Adds to `support` enough of this knowledge to evaluate the condition in
    /// the same way, now and when more will be known.
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

    /// Adds the facts by which an atom that is none of them is evaluated: those that tell
    /// its slots, whether they are true or false.
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

    /// Calls `visit` for every atom on which the outcome of the condition may
    /// still depend.
    pub fn open_atoms(&self, condition: &Term, visit: &mut impl FnMut(&Term)) {
        if self.evaluate(condition).is_some() {
            return;
        }
        match condition {
            Term::Apply(Operator::Not | Operator::And | Operator::Or | Operator::If, of) => {
                of.iter().for_each(|term| self.open_atoms(term, visit));
            }
            atom => {
                if is_definite(atom) {
                    visit(atom);
                }
            }
        }
    }

    /// The term with everything known put in.
    #[must_use]
    pub fn fold(&self, term: &Term, slots: &[Slot]) -> Term {
        let term = canonical(term, slots);
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
                canonical(&Term::Apply(*operator, of), slots)
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

/// The condition before an assignment that holds iff the given one holds after
/// it; [`UNKNOWN`] where it cannot be said.
#[must_use]
pub fn before(condition: &Term, assignment: &Assignment, slots: &[Slot]) -> Term {
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
    let before = without_arithmetic(&canonical(&before, slots), slots);
    if size(&before) > LARGEST { UNKNOWN } else { before }
}

/// The condition with atoms that compute numbers made unknown. Else a counter in
/// a loop would give rise to ever new conditions.
fn without_arithmetic(condition: &Term, slots: &[Slot]) -> Term {
    match condition {
        Term::Apply(
            operator @ (Operator::Not | Operator::And | Operator::Or | Operator::If),
            of,
        ) => {
            let of = of.iter().map(|term| without_arithmetic(term, slots)).collect();
            canonical(&Term::Apply(*operator, of), slots)
        }
        Term::Apply(_, of) if !of.iter().all(is_plain) => UNKNOWN,
        atom => atom.clone(),
    }
}

fn is_plain(term: &Term) -> bool {
    matches!(term, Term::Constant(_) | Term::Process(_) | Term::Slot(_))
}

/// Whether a term reads the slot.
pub fn mentions(term: &Term, slot: SlotId) -> bool {
    let mut found = false;
    term.slots(&mut |read| found |= read == slot);
    found
}

fn is_definite(term: &Term) -> bool {
    match term {
        Term::Fresh | Term::Successor(_) | Term::Element { .. } => false,
        Term::Constant(_) | Term::Process(_) | Term::Slot(_) => true,
        Term::Apply(_, of) => of.iter().all(is_definite),
    }
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

/// The same term in a normal form: constants folded, operands of equalities in
/// order, a bit compared with a constant written as the bit.
#[must_use]
pub fn canonical(term: &Term, slots: &[Slot]) -> Term {
    let Term::Apply(operator, of) = term else { return term.clone() };
    let mut of: Vec<Term> = of.iter().map(|term| canonical(term, slots)).collect();
    match operator {
        Operator::Not => match of.remove(0) {
            Term::Constant(bit) => Term::Constant(1 - bit),
            Term::Apply(Operator::Not, mut inner) => inner.remove(0),
            other => Term::Apply(Operator::Not, vec![other]),
        },
        Operator::And | Operator::Or => junction(*operator, of),
        Operator::Equal => canonical_equal(of, slots),
        Operator::If => match of[0].constant() {
            Some(bit) => of.swap_remove(if bit == 1 { 1 } else { 2 }),
            None if of[1] == of[2] => of.swap_remove(1),
            None => Term::Apply(Operator::If, of),
        },
        other => fold_arithmetic(*other, of),
    }
}

fn junction(operator: Operator, of: Vec<Term>) -> Term {
    let winner = Scalar::from(operator == Operator::Or);
    let mut kept = Distinct::default();
    for term in of {
        match term {
            Term::Constant(bit) if bit == winner => return Term::Constant(winner),
            Term::Constant(_) => {}
            Term::Apply(inner, of) if inner == operator => {
                of.into_iter().for_each(|term| kept.insert(term));
            }
            term => kept.insert(term),
        }
    }
    let mut kept = kept.terms;
    match kept.len() {
        0 => Term::Constant(1 - winner),
        1 => kept.swap_remove(0),
        _ => Term::Apply(operator, kept),
    }
}

fn canonical_equal(of: Vec<Term>, slots: &[Slot]) -> Term {
    let Ok([left, right]) = <[Term; 2]>::try_from(of) else { return UNKNOWN };
    if let (Some(left), Some(right)) = (left.constant(), right.constant()) {
        return Term::Constant(Scalar::from(left == right));
    }
    let (left, right) = match (&left, &right) {
        (Term::Constant(_) | Term::Process(_), _) => (right, left),
        (Term::Slot(first), Term::Slot(second)) if first > second => (right, left),
        _ => (left, right),
    };
    if left == right && is_definite(&left) {
        return Term::TRUE;
    }
    // x + c = d
    if let (Term::Apply(Operator::Add, of), Term::Constant(sum)) = (&left, &right)
        && let (term, Some(added)) = (&of[0], of[1].constant())
    {
        return canonical_equal(vec![term.clone(), Term::Constant(sum - added)], slots);
    }
    if let (Term::Slot(slot), Term::Constant(scalar)) = (&left, &right) {
        match (slots[slot.index()].domain, scalar) {
            (Domain::BIT, 1) => return left,
            (Domain::BIT, 0) => return Term::Apply(Operator::Not, vec![left]),
            (domain, &scalar) if !domain.contains(scalar) => return Term::FALSE,
            _ => {}
        }
    }
    equal(left, right)
}

fn fold_arithmetic(operator: Operator, of: Vec<Term>) -> Term {
    if matches!(operator, Operator::NumberOf | Operator::NameOf) {
        return Term::apply(operator, of);
    }
    let constants: Option<Vec<Scalar>> = of.iter().map(Term::constant).collect();
    let Some(&[left, right]) = constants.as_deref() else { return Term::Apply(operator, of) };
    Term::Constant(match operator {
        Operator::Less => Scalar::from(left < right),
        Operator::LessOrEqual => Scalar::from(left <= right),
        Operator::Add => left + right,
        Operator::Subtract => left - right,
        Operator::Remainder => left.rem_euclid(right),
        Operator::Not
        | Operator::And
        | Operator::Or
        | Operator::Equal
        | Operator::If
        | Operator::NumberOf
        | Operator::NameOf => {
            return Term::Apply(operator, of);
        }
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::instance::Owner;

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
        .prop_map(|atom| canonical(&atom, &slots()))
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
        atom()
            .prop_recursive(3, 12, 3, deeper)
            .prop_map(|condition| canonical(&condition, &slots()))
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 20_000, ..ProptestConfig::default() })]

        #[test]
        fn what_supports_a_condition_decides_it_in_the_same_way(
            facts in prop::collection::vec((atom(), any::<bool>()), 0..6),
            condition in condition(),
        ) {
            let mut knowledge = Knowledge::default();
            facts.iter().for_each(|(atom, truth)| knowledge.conclude(atom, *truth));
            let mut support = Knowledge::default();
            knowledge.support(&condition, &mut support);
            prop_assert_eq!(support.evaluate(&condition), knowledge.evaluate(&condition));
            prop_assert!(support.0.iter().all(|fact| knowledge.0.get_key_value(fact.0) == Some(fact)));
            // What is open stays so: else to settle it would have no end.
            let open = |knowledge: &Knowledge| {
                let mut open = std::collections::BTreeSet::new();
                knowledge.open_atoms(&condition, &mut |atom| _ = open.insert(atom.clone()));
                open
            };
            prop_assert_eq!(open(&support), open(&knowledge));
        }
    }
}
