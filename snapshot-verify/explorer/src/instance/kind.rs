//! Kinds: the meaning of the scalars of slots and terms.
//!
//! A **name** stands for a process or for the segment of a process. Names are a scalarset (Ip and
//! Dill 1993, *Better verification through symmetry*): they are only moved, tested for equality and
//! used as indices, so that any permutation of the processes renames them consistently. All other
//! scalars stay the same when processes are renamed. **Numbers** are integers, Booleans and values;
//! **versions** and **counters** have their own canonical forms
//! ([`crate::quotient::canonical_renaming`]).
//!
//! A scalarset has neither an order, nor arithmetic, nor tests of a name against a number. Where
//! the language has them, the compiler makes the conversion a term: [`Operator::NumberOf`] is the
//! number of a name, [`Operator::NameOf`] the name with a number. No other term converts between
//! kinds ([`Instance::kinds`]), so symmetry need only check for these two.
//!
//! Literals ([`Term::Constant`]) are numbers, versions or counters, depending on the context; a
//! name is always [`Term::Process`]. The scalar `none` has every kind.

use super::validate::{Broken, ensure};
use super::{Assignment, Domain, Instance, NONE, Operator, SlotId, Target, Term};

#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Kind {
    /// A process or its segment.
    Name,
    /// An integer, a Boolean or a value.
    Number,
    Version,
    Counter,
}

/// The possible kinds of a term.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Sort {
    /// All kinds: the term is `none`.
    Any,
    /// All kinds except names.
    Literal,
    Of(Kind),
}

impl Sort {
    /// Returns the intersection, if it is nonempty.
    fn meet(self, that: Self) -> Option<Self> {
        match (self, that) {
            (Self::Any, other) | (other, Self::Any) => Some(other),
            (Self::Literal, Self::Of(Kind::Name)) | (Self::Of(Kind::Name), Self::Literal) => None,
            (Self::Literal, other) | (other, Self::Literal) => Some(other),
            (Self::Of(this), Self::Of(that)) => (this == that).then_some(self),
        }
    }

    fn is(self, kind: Kind) -> bool {
        self.meet(Self::Of(kind)).is_some()
    }
}

impl Domain {
    /// Returns the kind of the domain's scalars.
    pub const fn kind(self) -> Kind {
        match self {
            Self::Range { names_processes: true, .. } => Kind::Name,
            Self::Range { .. } => Kind::Number,
            Self::Version { .. } => Kind::Version,
            Self::Counter { .. } => Kind::Counter,
        }
    }
}

impl Term {
    /// Converts a name to a number; returns any other term unchanged.
    pub(crate) fn into_number(self, domain: &impl Fn(SlotId) -> Domain) -> Self {
        if self.names_processes(domain) {
            Self::apply(Operator::NumberOf, vec![self])
        } else {
            self
        }
    }

    /// Converts a number to a name; returns a name or `none` unchanged.
    pub(crate) fn into_name(self, domain: &impl Fn(SlotId) -> Domain) -> Self {
        if self == Self::NONE || self.names_processes(domain) {
            self
        } else {
            Self::apply(Operator::NameOf, vec![self])
        }
    }

    /// Converts the term to the kind of a domain.
    pub(crate) fn into_kind(self, of: Domain, domain: &impl Fn(SlotId) -> Domain) -> Self {
        match of.kind() {
            Kind::Name => self.into_name(domain),
            Kind::Number | Kind::Version | Kind::Counter => self.into_number(domain),
        }
    }

    /// Converts a constant, or cancels the opposite conversion.
    pub(super) fn converted(operator: Operator, of: Self) -> Self {
        match (operator, of) {
            (_, Self::Constant(NONE)) => Self::NONE,
            (Operator::NumberOf, Self::Process(name)) => Self::Constant(name),
            (Operator::NameOf, Self::Constant(number)) => Self::Process(number),
            (Operator::NumberOf, Self::Apply(Operator::NameOf, mut of))
            | (Operator::NameOf, Self::Apply(Operator::NumberOf, mut of))
                if of.len() == 1 =>
            {
                of.swap_remove(0)
            }
            (operator, of) => Self::Apply(operator, vec![of]),
        }
    }
}

impl Instance {
    /// Checks the kinds of all terms and assignments. O(size of the instance).
    ///
    /// # Errors
    /// The first term with a wrong kind.
    pub fn kinds(&self) -> Result<(), Broken> {
        for (process, graph) in self.graphs.iter().enumerate() {
            let view = Kinds { instance: self, process };
            for block in &graph.blocks {
                block.assignments.iter().try_for_each(|assignment| view.assignment(assignment))?;
                block.end.terms().into_iter().try_for_each(|term| view.number(term))?;
            }
            let mut reactions = graph.locations.iter().flat_map(|standing| &standing.reactions);
            reactions.try_for_each(|reaction| view.number(&reaction.when))?;
        }
        Ok(())
    }
}

/// One process of an instance.
struct Kinds<'a> {
    instance: &'a Instance,
    process: usize,
}

impl Kinds<'_> {
    fn ensure(&self, holds: bool, rule: &'static str, term: &Term) -> Result<(), Broken> {
        ensure(holds, rule, || format!("process {}, {term:?}", self.process))
    }

    fn assignment(&self, assignment: &Assignment) -> Result<(), Broken> {
        let Assignment { target, value } = assignment;
        if let Target::Element { index, .. } = target {
            self.index(index)?;
        }
        let sort = self.sort(value)?;
        let fits = target.choices().iter().all(|slot| sort.is(self.of_slot(*slot)));
        self.ensure(fits, "a slot is assigned scalars of its kind", value)
    }

    fn of_slot(&self, slot: SlotId) -> Kind {
        self.instance.slot(slot).domain.kind()
    }

    fn number(&self, term: &Term) -> Result<(), Broken> {
        let sort = self.sort(term)?;
        self.ensure(sort.is(Kind::Number), "conditions and responses are bits", term)
    }

    fn index(&self, term: &Term) -> Result<(), Broken> {
        let sort = self.sort(term)?;
        let holds = sort.is(Kind::Name) || sort.is(Kind::Number);
        self.ensure(holds, "an index is a name or a number", term)
    }

    fn sort(&self, term: &Term) -> Result<Sort, Broken> {
        Ok(match term {
            Term::Constant(NONE) => Sort::Any,
            Term::Constant(_) => Sort::Literal,
            Term::Process(_) => Sort::Of(Kind::Name),
            Term::Slot(slot) => Sort::Of(self.of_slot(*slot)),
            Term::Fresh => Sort::Of(Kind::Version),
            Term::Successor(_) => Sort::Of(Kind::Counter),
            Term::Element { index, of } => {
                self.index(index)?;
                self.alike(of, term)?
            }
            Term::Apply(operator, arguments) => self.apply(*operator, arguments, term)?,
        })
    }

    /// Returns the common sort of several terms.
    fn alike(&self, terms: &[Term], whole: &Term) -> Result<Sort, Broken> {
        let mut met = Sort::Any;
        for term in terms {
            let both = met.meet(self.sort(term)?);
            self.ensure(both.is_some(), "alternatives are of one kind", whole)?;
            met = both.unwrap_or(met);
        }
        Ok(met)
    }

    fn apply(&self, operator: Operator, of: &[Term], whole: &Term) -> Result<Sort, Broken> {
        let number = Sort::Of(Kind::Number);
        match operator {
            Operator::Not
            | Operator::And
            | Operator::Or
            | Operator::Add
            | Operator::Subtract
            | Operator::Quotient => {
                let sort = self.alike(of, whole)?;
                let rule = "connectives and arithmetic take numbers";
                self.ensure(sort.is(Kind::Number), rule, whole)?;
                Ok(number)
            }
            Operator::Equal => self.alike(of, whole).map(|_| number),
            Operator::Less | Operator::LessOrEqual | Operator::Remainder => {
                let sort = self.alike(of, whole)?;
                let holds = sort.is(Kind::Number) || sort.is(Kind::Counter);
                self.ensure(holds, "order and remainders are of numbers or counters", whole)?;
                Ok(number)
            }
            Operator::If => {
                let (bit, rest) = of.split_at(of.len().min(1));
                bit.iter().try_for_each(|bit| self.number(bit))?;
                self.alike(rest, whole)
            }
            Operator::NumberOf => {
                let sort = self.alike(of, whole)?;
                self.ensure(sort.is(Kind::Name), "names have numbers", whole)?;
                Ok(number)
            }
            Operator::NameOf => {
                let sort = self.alike(of, whole)?;
                self.ensure(sort.is(Kind::Number), "numbers name processes", whole)?;
                Ok(Sort::Of(Kind::Name))
            }
        }
    }
}
