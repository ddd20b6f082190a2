//! Simplification of terms.
//!
//! The functions here build a simplified term, equal to the one they are named after. They use
//! constants, equal parts, and, for [`folded`], the scalars that slots may hold. The scalar of
//! every folded constant keeps its kind: the constant of a process is a [`Term::Process`].

use rustc_hash::FxHashSet;

use super::scalars::Scalars;
use super::{Domain, NONE, Operator, Scalar, Slot, SlotId, Term};

impl Term {
    /// Returns a bit as a term.
    pub(crate) const fn bit(holds: bool) -> Self {
        if holds { Self::TRUE } else { Self::FALSE }
    }

    /// Returns a scalar of a slot with this domain as a term.
    pub(crate) fn scalar(scalar: Scalar, domain: Domain) -> Self {
        match domain {
            Domain::Range { names_processes: true, .. } if scalar != NONE => Self::Process(scalar),
            _ => Self::Constant(scalar),
        }
    }

    pub(crate) fn not(self) -> Self {
        match self {
            Self::Apply(Operator::Not, mut arguments) if arguments.len() == 1 => {
                arguments.swap_remove(0)
            }
            term => match term.constant() {
                Some(bit) => Self::bit(bit == 0),
                None => Self::Apply(Operator::Not, vec![term]),
            },
        }
    }

    /// Returns the conjunction of bits.
    pub(crate) fn and(bits: impl IntoIterator<Item = Self>) -> Self {
        Self::junction(Operator::And, bits)
    }

    /// Returns the disjunction of bits.
    pub(crate) fn or(bits: impl IntoIterator<Item = Self>) -> Self {
        Self::junction(Operator::Or, bits)
    }

    fn junction(operator: Operator, bits: impl IntoIterator<Item = Self>) -> Self {
        let (neutral, absorbing) = if operator == Operator::And { (1, 0) } else { (0, 1) };
        let mut kept = Distinct::default();
        for bit in bits {
            let parts = match bit {
                Self::Apply(inner, parts) if inner == operator => parts,
                bit => vec![bit],
            };
            for part in parts {
                if part.constant() == Some(absorbing) {
                    return Self::Constant(absorbing);
                }
                if part.constant() != Some(neutral) {
                    kept.insert(part);
                }
            }
        }
        let mut kept = kept.terms;
        match kept.len() {
            0 => Self::Constant(neutral),
            1 => kept.swap_remove(0),
            _ => Self::Apply(operator, kept),
        }
    }

    /// Returns the equality of two scalars.
    pub(crate) fn equal(self, that: Self) -> Self {
        if self == that {
            return Self::TRUE;
        }
        Self::apply(Operator::Equal, vec![self, that])
    }

    /// Returns the choice by a bit among two terms.
    pub(crate) fn choose(bit: Self, then: Self, otherwise: Self) -> Self {
        match bit.constant() {
            Some(0) => otherwise,
            Some(_) => then,
            None if then == otherwise => then,
            None if (&then, &otherwise) == (&Self::TRUE, &Self::FALSE) => bit,
            None if (&then, &otherwise) == (&Self::FALSE, &Self::TRUE) => bit.not(),
            None => Self::Apply(Operator::If, vec![bit, then, otherwise]),
        }
    }

    /// Returns the term at an index, which counts from 0.
    pub(crate) fn element(index: Self, of: Vec<Self>) -> Self {
        match index.constant().and_then(|index| of.get(usize::try_from(index).ok()?)) {
            Some(term) => term.clone(),
            None => match of.first() {
                Some(first) if of.iter().all(|term| term == first) => first.clone(),
                _ => Self::Element { index: Box::new(index), of },
            },
        }
    }

    /// Returns the application of an operator.
    pub(crate) fn apply(operator: Operator, mut arguments: Vec<Self>) -> Self {
        match operator {
            Operator::And | Operator::Or => return Self::junction(operator, arguments),
            Operator::Not if arguments.len() == 1 => return arguments.swap_remove(0).not(),
            Operator::If if arguments.len() == 3 => {
                let mut arguments = arguments.into_iter();
                if let (Some(bit), Some(then), Some(otherwise)) =
                    (arguments.next(), arguments.next(), arguments.next())
                {
                    return Self::choose(bit, then, otherwise);
                }
                unreachable!("there are three");
            }
            Operator::NumberOf | Operator::NameOf if arguments.len() == 1 => {
                return Self::converted(operator, arguments.swap_remove(0));
            }
            Operator::Equal if arguments.len() == 2 && arguments[0] == arguments[1] => {
                return Self::TRUE;
            }
            Operator::Add | Operator::Subtract
                if arguments.len() == 2 && arguments[1] == Self::Constant(0) =>
            {
                return arguments.swap_remove(0);
            }
            _ => {}
        }
        let constants: Option<Vec<Scalar>> = arguments.iter().map(Self::constant).collect();
        match constants {
            Some(scalars) => Self::Constant(operator.apply(&scalars)),
            None => Self::Apply(operator, arguments),
        }
    }

    /// Returns true if the term's scalars name processes rather than being numbers.
    pub(crate) fn names_processes(&self, domain: &impl Fn(SlotId) -> Domain) -> bool {
        match self {
            Self::Process(_) => true,
            Self::Slot(slot) => {
                matches!(domain(*slot), Domain::Range { names_processes: true, .. })
            }
            Self::Element { of, .. } => of.iter().any(|term| term.names_processes(domain)),
            Self::Apply(Operator::NameOf, _) => true,
            Self::Apply(Operator::If, arguments) => {
                arguments[1..].iter().any(|term| term.names_processes(domain))
            }
            Self::Apply(..) | Self::Constant(_) | Self::Fresh | Self::Successor(_) => false,
        }
    }
}

impl Term {
    /// Returns the normal form: simplified, with operands of equalities in order, and a bit
    /// compared with a constant written as the bit. `slots` are the instance's slots.
    #[must_use]
    pub fn canonical(&self, slots: &[Slot]) -> Self {
        let Self::Apply(operator, of) = self else { return self.clone() };
        let of: Vec<Self> = of.iter().map(|term| term.canonical(slots)).collect();
        match (operator, <[Self; 2]>::try_from(of)) {
            (Operator::Equal, Ok([left, right])) => canonical_equal(left, right, slots),
            (operator, Ok(of)) => Self::apply(*operator, of.into()),
            (operator, Err(of)) => Self::apply(*operator, of),
        }
    }

    /// Returns true if the contents of slots determine the term's value.
    pub(crate) fn is_definite(&self) -> bool {
        match self {
            Self::Fresh | Self::Successor(_) | Self::Element { .. } => false,
            Self::Constant(_) | Self::Process(_) | Self::Slot(_) => true,
            Self::Apply(_, of) => of.iter().all(Self::is_definite),
        }
    }
}

fn canonical_equal(left: Term, right: Term, slots: &[Slot]) -> Term {
    if let (Some(left), Some(right)) = (left.constant(), right.constant()) {
        return Term::Constant(Scalar::from(left == right));
    }
    let (left, right) = match (&left, &right) {
        (Term::Constant(_) | Term::Process(_), _) => (right, left),
        (Term::Slot(first), Term::Slot(second)) if first > second => (right, left),
        _ => (left, right),
    };
    if left == right && left.is_definite() {
        return Term::TRUE;
    }
    // x + c = d
    if let (Term::Apply(Operator::Add, of), Term::Constant(sum)) = (&left, &right)
        && let (term, Some(added)) = (&of[0], of[1].constant())
    {
        return canonical_equal(term.clone(), Term::Constant(sum - added), slots);
    }
    if let (Term::Slot(slot), Term::Constant(scalar)) = (&left, &right) {
        match (slots[slot.index()].domain, scalar) {
            (Domain::BIT, 1) => return left,
            (Domain::BIT, 0) => return Term::Apply(Operator::Not, vec![left]),
            (domain, &scalar) if !domain.contains(scalar) => return Term::FALSE,
            _ => {}
        }
    }
    Term::Apply(Operator::Equal, vec![left, right])
}

/// Distinct terms in order of insertion. Insertion is linear in their number: a junction over an
/// array has thousands.
#[derive(Default)]
pub(crate) struct Distinct {
    pub(crate) terms: Vec<Term>,
    /// The same terms, once there are many.
    hashed: FxHashSet<Term>,
}

impl Distinct {
    /// Sets of at least this size are hashed.
    const MANY: usize = 16;

    pub(crate) fn insert(&mut self, term: Term) {
        if self.terms.len() < Self::MANY {
            if !self.terms.contains(&term) {
                self.terms.push(term);
            }
            return;
        }
        if self.hashed.is_empty() {
            self.hashed.extend(self.terms.iter().cloned());
        }
        if self.hashed.insert(term.clone()) {
            self.terms.push(term);
        }
    }
}

/// The knowledge about slots while terms are folded.
pub(crate) trait SlotValues {
    /// Returns the scalars that a slot may hold.
    fn scalars(&self, slot: SlotId) -> Scalars;
    fn domain(&self, slot: SlotId) -> Domain;
}

/// Folds the term by the knowledge about slots. Returns it with the scalars that it may have.
pub(crate) fn folded(term: &Term, known: &impl SlotValues) -> (Term, Scalars) {
    let (term, scalars) = match term {
        Term::Constant(scalar) | Term::Process(scalar) => {
            return (term.clone(), Scalars::one(*scalar));
        }
        Term::Slot(slot) => (term.clone(), known.scalars(*slot)),
        Term::Fresh => return (Term::Fresh, Scalars::Any),
        Term::Successor(slot) => {
            return match known.scalars(*slot).single().and_then(|number| number.checked_add(1)) {
                Some(next) => (Term::Constant(next), Scalars::one(next)),
                None => (term.clone(), Scalars::Any),
            };
        }
        Term::Element { index, of } => element(index, of, known),
        Term::Apply(operator, arguments) => {
            let folded: Vec<(Term, Scalars)> =
                arguments.iter().map(|argument| folded(argument, known)).collect();
            let (terms, sets): (Vec<Term>, Vec<Scalars>) = folded.into_iter().unzip();
            (Term::apply(*operator, terms), Scalars::apply(*operator, &sets))
        }
    };
    match scalars.single() {
        Some(scalar) if scalar != NONE && term.names_processes(&|slot| known.domain(slot)) => {
            (Term::Process(scalar), scalars)
        }
        Some(scalar) => (Term::Constant(scalar), scalars),
        None => (term, scalars),
    }
}

/// Folds an element. Keeps only the terms that the index can select; others are cut off or replaced
/// by one that is kept.
fn element(index: &Term, of: &[Term], known: &impl SlotValues) -> (Term, Scalars) {
    let (index, indices) = folded(index, known);
    let mut union = Scalars::EMPTY;
    let mut terms: Vec<Option<Term>> = Vec::with_capacity(of.len());
    for (position, term) in of.iter().enumerate() {
        if indices.contains(position as Scalar) {
            let (term, scalars) = folded(term, known);
            union = union.union(&scalars);
            terms.push(Some(term));
        } else {
            terms.push(None);
        }
    }
    let Some(filler) = terms.iter().flatten().next().cloned() else {
        return (Term::Element { index: Box::new(index), of: of.to_vec() }, Scalars::EMPTY);
    };
    while matches!(terms.last(), Some(None)) {
        terms.pop();
    }
    let terms = terms.into_iter().map(|term| term.unwrap_or_else(|| filler.clone())).collect();
    (Term::element(index, terms), union)
}
