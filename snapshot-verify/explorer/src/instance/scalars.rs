//! Sets of scalars that terms may evaluate to.
//!
//! [`Scalars`] over-approximates a set: exact while it is small, an interval when it is larger, and
//! all scalars when nothing is known. All functions here are monotone and sound: the result
//! contains every scalar that the operator can return for scalars in the arguments.

use smallvec::{SmallVec, smallvec};

use super::{Domain, NONE, Operator, Scalar};

/// Sets up to this size are exact.
const EXACT: usize = 64;

/// Sets up to this size, which most are, need no allocation.
const INLINE_VALUES: usize = 4;

/// Up to this many combinations of two arguments are tried one by one.
const COMBINATIONS: usize = EXACT * EXACT;

#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Scalars {
    /// At most [`EXACT`] scalars, ascending ([`NONE`] first).
    Exact(SmallVec<[Scalar; INLINE_VALUES]>),
    /// From the first to the second, inclusive, neither of them [`NONE`]; and [`NONE`], if the flag
    /// is set.
    Between(Scalar, Scalar, bool),
    Any,
}

impl Scalars {
    pub(crate) const EMPTY: Self = Self::Exact(SmallVec::new_const());

    pub(crate) fn one(scalar: Scalar) -> Self {
        Self::Exact(smallvec![scalar])
    }

    /// Returns the set of the possible bits.
    fn bits(zero: bool, one: bool) -> Self {
        let bits = [(zero, 0), (one, 1)];
        Self::Exact(bits.iter().filter(|(may_be, _)| *may_be).map(|(_, bit)| *bit).collect())
    }

    /// Returns the scalars from `low` to `high`, with [`NONE`] if `none` is set.
    pub(crate) fn between(low: Scalar, high: Scalar, none: bool) -> Self {
        if i64::from(high) - i64::from(low) < EXACT as i64 - 1 {
            let numbers = none.then_some(NONE).into_iter().chain(low..=high);
            Self::Exact(numbers.collect())
        } else {
            Self::Between(low, high, none)
        }
    }

    /// Returns the scalars of a domain.
    pub(crate) fn of_domain(domain: Domain) -> Self {
        match domain {
            Domain::Range { low, high, optional, .. } => Self::between(low, high, optional),
            Domain::Version { .. } | Domain::Counter { .. } => Self::Any,
        }
    }

    /// Returns the scalar if the set has only one.
    pub(crate) fn single(&self) -> Option<Scalar> {
        match self {
            Self::Exact(scalars) if scalars.len() == 1 => Some(scalars[0]),
            _ => None,
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        matches!(self, Self::Exact(scalars) if scalars.is_empty())
    }

    pub(crate) fn contains(&self, scalar: Scalar) -> bool {
        match self {
            Self::Exact(scalars) => scalars.binary_search(&scalar).is_ok(),
            Self::Between(_, _, none) if scalar == NONE => *none,
            Self::Between(low, high, _) => (*low..=*high).contains(&scalar),
            Self::Any => true,
        }
    }

    /// Returns the least and the greatest scalar other than [`NONE`]. Returns `None` if there are
    /// no such scalars, or nothing is known.
    pub(crate) fn numbers(&self) -> Option<(Scalar, Scalar)> {
        match self {
            Self::Exact(scalars) => {
                let first = scalars.iter().copied().find(|scalar| *scalar != NONE)?;
                Some((first, scalars[scalars.len() - 1]))
            }
            Self::Between(low, high, _) => Some((*low, *high)),
            Self::Any => None,
        }
    }

    /// Returns true if all scalars other than [`NONE`] are from `low` to `high`.
    pub(crate) fn within(&self, low: Scalar, high: Scalar) -> bool {
        match self.numbers() {
            Some((least, greatest)) => low <= least && greatest <= high,
            None => !matches!(self, Self::Any),
        }
    }

    /// Returns the union of the sets.
    #[must_use]
    pub(crate) fn union(&self, that: &Self) -> Self {
        if let (Self::Exact(these), Self::Exact(those)) = (self, that) {
            let mut all = these.clone();
            all.extend_from_slice(those);
            all.sort_unstable();
            all.dedup();
            if all.len() <= EXACT {
                return Self::Exact(all);
            }
        }
        if matches!(self, Self::Any) || matches!(that, Self::Any) {
            return Self::Any;
        }
        let none = self.contains(NONE) || that.contains(NONE);
        match (self.numbers(), that.numbers()) {
            (Some((a, b)), Some((c, d))) => Self::Between(a.min(c), b.max(d), none),
            (Some((a, b)), None) | (None, Some((a, b))) => Self::Between(a, b, none),
            (None, None) => Self::Any,
        }
    }

    /// Adds the scalars of another set. Returns true if this set has grown.
    pub(crate) fn include(&mut self, that: &Self) -> bool {
        if let (Self::Exact(these), Self::Exact(those)) = (&*self, that)
            && those.iter().all(|scalar| these.contains(scalar))
        {
            return false;
        }
        let union = self.union(that);
        let is_new = union != *self;
        *self = union;
        is_new
    }

    /// Returns the scalars that a domain allows.
    #[must_use]
    pub(crate) fn intersection(&self, domain: Domain) -> Self {
        if let (Self::Exact(scalars), Domain::Range { .. }) = (self, domain) {
            let kept = scalars.iter().copied().filter(|scalar| domain.contains(*scalar));
            return Self::Exact(kept.collect());
        }
        let allowed = Self::of_domain(domain);
        match (self, &allowed) {
            (_, Self::Any) => self.clone(),
            (Self::Between(low, high, none), _) => {
                let none = *none && allowed.contains(NONE);
                match allowed.numbers() {
                    Some((least, greatest)) if least.max(*low) <= greatest.min(*high) => {
                        Self::between(least.max(*low), greatest.min(*high), none)
                    }
                    _ => Self::Exact(none.then_some(NONE).into_iter().collect()),
                }
            }
            _ => allowed,
        }
    }

    /// Returns the possible results of the operator for scalars in the arguments.
    pub(crate) fn apply(operator: Operator, arguments: &[Self]) -> Self {
        if arguments.iter().any(Self::is_empty) {
            return Self::EMPTY;
        }
        let some = |bit| arguments.iter().any(|argument| argument.contains(bit));
        let all = |bit| arguments.iter().all(|argument| argument.contains(bit));
        match (operator, arguments) {
            (Operator::NumberOf | Operator::NameOf, [scalars]) => scalars.clone(),
            (Operator::Not, [bit]) => Self::bits(bit.contains(1), bit.contains(0)),
            (Operator::And, _) => Self::bits(some(0), all(1)),
            (Operator::Or, _) => Self::bits(all(0), some(1)),
            (Operator::Equal, [a, b]) => {
                let same = a.single().is_some() && a.single() == b.single();
                Self::bits(!same, a.meets(b))
            }
            (Operator::If, [bit, then, otherwise]) => match (bit.contains(1), bit.contains(0)) {
                (true, true) => then.union(otherwise),
                (true, false) => then.clone(),
                (false, _) => otherwise.clone(),
            },
            (Operator::Less, [a, b]) => a.order(b, |x, y| x < y),
            (Operator::LessOrEqual, [a, b]) => a.order(b, |x, y| x <= y),
            (Operator::Add, [a, b]) => a.arithmetic(b, Scalar::wrapping_add, |[a, b], [c, d]| {
                Some((a.checked_add(c)?, b.checked_add(d)?))
            }),
            (Operator::Subtract, [a, b]) => {
                a.arithmetic(b, Scalar::wrapping_sub, |[a, b], [c, d]| {
                    Some((a.checked_sub(d)?, b.checked_sub(c)?))
                })
            }
            (Operator::Remainder, [a, modulus]) => match modulus.numbers() {
                Some((_, greatest)) => {
                    a.arithmetic(modulus, remainder, |_, _| Some((0, greatest - 1)))
                }
                None => Self::Any,
            },
            (Operator::Quotient, [a, divisor]) => match divisor.single() {
                Some(by) if by > 0 => a.arithmetic(divisor, quotient, |[a, b], [by, _]| {
                    Some((a.div_euclid(by), b.div_euclid(by)))
                }),
                _ => Self::Any,
            },
            _ => Self::Any,
        }
    }

    /// Returns true if some scalar is in both sets.
    fn meets(&self, that: &Self) -> bool {
        match (self, that) {
            (Self::Any, _) | (_, Self::Any) => true,
            (Self::Exact(scalars), other) | (other, Self::Exact(scalars)) => {
                scalars.iter().any(|scalar| other.contains(*scalar))
            }
            (Self::Between(a, b, none), Self::Between(c, d, too)) => {
                (*none && *too) || a.max(c) <= b.min(d)
            }
        }
    }

    /// Returns the possible outcomes of a comparison that the extremes decide.
    fn order(&self, that: &Self, holds: fn(Scalar, Scalar) -> bool) -> Self {
        let none = self.contains(NONE) || that.contains(NONE);
        match (self.numbers(), that.numbers()) {
            (Some((a, b)), Some((c, d))) if !none => Self::bits(!holds(b, c), holds(a, d)),
            _ => Self::bits(true, true),
        }
    }

    /// Applies a function of two scalars, exactly if the sets are small, otherwise by intervals.
    fn arithmetic(
        &self,
        that: &Self,
        exact: fn(Scalar, Scalar) -> Scalar,
        interval: impl Fn([Scalar; 2], [Scalar; 2]) -> Option<(Scalar, Scalar)>,
    ) -> Self {
        if let (Self::Exact(these), Self::Exact(those)) = (self, that) {
            debug_assert!(these.len() * those.len() <= COMBINATIONS);
            let mut results: SmallVec<[Scalar; INLINE_VALUES]> =
                these.iter().flat_map(|a| those.iter().map(|b| exact(*a, *b))).collect();
            results.sort_unstable();
            results.dedup();
            if results.len() <= EXACT {
                return Self::Exact(results);
            }
        }
        if self.contains(NONE) || that.contains(NONE) {
            return Self::Any;
        }
        match (self.numbers(), that.numbers()) {
            (Some((a, b)), Some((c, d))) => interval([a, b], [c, d])
                .map_or(Self::Any, |(low, high)| Self::between(low, high, false)),
            _ => Self::Any,
        }
    }
}

/// Returns the remainder, which is not negative; 0 if the modulus is not positive.
pub(crate) fn remainder(number: Scalar, modulus: Scalar) -> Scalar {
    if modulus > 0 { number.rem_euclid(modulus) } else { 0 }
}

/// Returns the quotient rounded down; 0 if the divisor is not positive.
fn quotient(number: Scalar, divisor: Scalar) -> Scalar {
    if divisor > 0 { number.div_euclid(divisor) } else { 0 }
}

impl Operator {
    /// Applies the operator. Arithmetic wraps, so that it is total: a term may compute with
    /// [`NONE`] if no process reads the result.
    ///
    /// # Panics
    /// If the number of arguments is wrong.
    pub fn apply(self, arguments: &[Scalar]) -> Scalar {
        match (self, arguments) {
            (Self::NumberOf | Self::NameOf, [scalar]) => *scalar,
            (Self::Not, [bit]) => 1 - bit,
            (Self::And, bits) => Scalar::from(bits.iter().all(|bit| *bit == 1)),
            (Self::Or, bits) => Scalar::from(bits.contains(&1)),
            (Self::Equal, [a, b]) => Scalar::from(a == b),
            (Self::Less, [a, b]) => Scalar::from(a < b),
            (Self::LessOrEqual, [a, b]) => Scalar::from(a <= b),
            (Self::Add, [a, b]) => a.wrapping_add(*b),
            (Self::Subtract, [a, b]) => a.wrapping_sub(*b),
            (Self::Remainder, [number, modulus]) => remainder(*number, *modulus),
            (Self::Quotient, [number, divisor]) => quotient(*number, *divisor),
            (Self::If, [bit, then, otherwise]) => {
                if *bit == 1 {
                    *then
                } else {
                    *otherwise
                }
            }
            (operator, arguments) => {
                panic!("{operator:?} is not applied to {} arguments", arguments.len())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns small and large sets, around 0, including sets too large to be exact.
    fn samples() -> Vec<Scalars> {
        let mut samples: Vec<Scalars> = (1..64_u32)
            .map(|bits| {
                let all = [NONE, -1, 0, 1, 2, 5];
                let chosen = (0..6).filter(|bit| bits >> bit & 1 == 1).map(|bit| all[bit]);
                Scalars::Exact(chosen.collect())
            })
            .collect();
        samples.extend([Scalars::between(-3, 90, false), Scalars::between(0, 64, true)]);
        samples.push(Scalars::Any);
        samples
    }

    /// Returns some scalars of a set.
    fn members(set: &Scalars) -> Vec<Scalar> {
        let candidates = [NONE, -3, -1, 0, 1, 2, 5, 63, 64, 90, 1_000];
        candidates.into_iter().filter(|scalar| set.contains(*scalar)).collect()
    }

    fn bits(set: &Scalars) -> bool {
        members(set).iter().all(|scalar| (0..=1).contains(scalar))
    }

    #[test]
    fn apply_overapproximates_every_operator() {
        let of_two = [
            Operator::Equal,
            Operator::Less,
            Operator::LessOrEqual,
            Operator::Add,
            Operator::Subtract,
        ];
        for (a, b) in samples().iter().flat_map(|a| samples().into_iter().map(move |b| (a, b))) {
            for operator in of_two {
                let foreseen = Scalars::apply(operator, &[a.clone(), b.clone()]);
                for (x, y) in
                    members(a).iter().flat_map(|x| members(&b).into_iter().map(move |y| (*x, y)))
                {
                    let made = operator.apply(&[x, y]);
                    assert!(foreseen.contains(made), "{operator:?} {x} {y} in {a:?} {b:?}");
                }
            }
            if bits(a) && bits(&b) {
                for operator in [Operator::And, Operator::Or] {
                    let foreseen = Scalars::apply(operator, &[a.clone(), b.clone()]);
                    for (x, y) in members(a)
                        .iter()
                        .flat_map(|x| members(&b).into_iter().map(move |y| (*x, y)))
                    {
                        assert!(foreseen.contains(operator.apply(&[x, y])), "{operator:?}");
                    }
                }
            }
            for bit in [Scalars::bits(true, true), Scalars::one(0), Scalars::one(1)] {
                let foreseen = Scalars::apply(Operator::If, &[bit.clone(), a.clone(), b.clone()]);
                assert!(!bit.contains(1) || members(a).iter().all(|x| foreseen.contains(*x)));
                assert!(!bit.contains(0) || members(&b).iter().all(|y| foreseen.contains(*y)));
            }
        }
    }

    #[test]
    fn small_results_are_exact() {
        let set = |scalars: &[Scalar]| Scalars::Exact(scalars.into());
        let apply =
            |operator, a: &[Scalar], b: &[Scalar]| Scalars::apply(operator, &[set(a), set(b)]);
        assert_eq!(apply(Operator::Add, &[1, 5], &[0, 2]), set(&[1, 3, 5, 7]));
        assert_eq!(apply(Operator::Remainder, &[3, 4, 6], &[3]), set(&[0, 1]));
        assert_eq!(apply(Operator::Equal, &[1, 2], &[3]), set(&[0]));
        assert_eq!(apply(Operator::Equal, &[3], &[3]), set(&[1]));
        assert_eq!(apply(Operator::Less, &[1, 2], &[3, 4]), set(&[1]));
        assert_eq!(apply(Operator::LessOrEqual, &[4], &[1, 3]), set(&[0]));
        assert_eq!(apply(Operator::Less, &[NONE], &[1]), set(&[0, 1]), "none has no order");
        assert_eq!(Scalars::apply(Operator::Not, &[set(&[1])]), set(&[0]));
        let large = Scalars::between(0, 99, false);
        let sum = Scalars::apply(Operator::Add, &[large, set(&[1])]);
        assert_eq!(sum, Scalars::Between(1, 100, false));
    }

    #[test]
    fn unions_and_intersections_contain_their_members() {
        for (a, b) in samples().iter().flat_map(|a| samples().into_iter().map(move |b| (a, b))) {
            let union = a.union(&b);
            assert!(members(a).iter().chain(&members(&b)).all(|x| union.contains(*x)));
            let mut included = a.clone();
            assert_eq!(included.include(&b), union != *a, "{b:?} in {a:?}");
            assert_eq!(included, union);
        }
        for (low, high, optional) in [(0, 1, false), (-1, 70, true), (2, 64, false)] {
            let domain = Domain::Range { low, high, optional, names_processes: false };
            for a in samples() {
                let kept = a.intersection(domain);
                for x in members(&a) {
                    assert_eq!(kept.contains(x), domain.contains(x), "{x} of {a:?} in {domain:?}");
                }
            }
        }
    }
}
