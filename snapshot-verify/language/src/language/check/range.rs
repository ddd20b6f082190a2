//! Ranges of integers whose bounds depend on n: relations that hold for every n >= 2.

use crate::language::parser::Parser;
use crate::program::{Binary, Bound, ExpressionKind, IndexSet, Type};

/// The range 0 to n - 1.
pub(super) const BELOW_N: (Bound, Bound) = (Bound::constant(0), Bound { times_n: 1, plus: -1 });

/// Range of the numbers of values, as far as the text determines it.
pub(super) const fn any_number() -> Type {
    Type::Integer { low: Bound::constant(0), high: Bound::constant(Parser::NUMBER) }
}

/// Returns true if a <= b for every n >= 2.
pub(super) const fn at_most(a: Bound, b: Bound) -> bool {
    let (times_n, plus) = (b.times_n - a.times_n, b.plus - a.plus);
    times_n >= 0 && 2 * times_n + plus >= 0
}

/// Returns true if a < b for every n >= 2.
pub(super) const fn less(a: Bound, b: Bound) -> bool {
    at_most(Bound { times_n: a.times_n, plus: a.plus + 1 }, b)
}

/// Returns true if a range lies in another for every n >= 2.
pub(super) const fn within(inner: (Bound, Bound), outer: (Bound, Bound)) -> bool {
    at_most(outer.0, inner.0) && at_most(inner.1, outer.1)
}

/// Returns true if two ranges are disjoint for every n >= 2.
pub(super) const fn apart(a: (Bound, Bound), b: (Bound, Bound)) -> bool {
    less(a.1, b.0) || less(b.1, a.0)
}

/// Returns a range that contains both, a smallest one if the bounds are comparable.
pub(super) fn hull(a: (Bound, Bound), b: (Bound, Bound)) -> (Bound, Bound) {
    let low = if at_most(a.0, b.0) {
        a.0
    } else if at_most(b.0, a.0) {
        b.0
    } else {
        Bound { times_n: a.0.times_n.min(b.0.times_n), plus: a.0.plus.min(b.0.plus) }
    };
    let high = if at_most(b.1, a.1) {
        a.1
    } else if at_most(a.1, b.1) {
        b.1
    } else {
        Bound { times_n: a.1.times_n.max(b.1.times_n), plus: a.1.plus.max(b.1.plus) }
    };
    (low, high)
}

/// Returns `a + b` or `a - b`, unless it is too large.
pub(super) fn combine(operator: Binary, a: Bound, b: Bound) -> Option<Bound> {
    let sign = if operator == Binary::Subtract { -1 } else { 1 };
    limited(
        i64::from(a.times_n) + sign * i64::from(b.times_n),
        i64::from(a.plus) + sign * i64::from(b.plus),
    )
}

/// Returns `factor * a`, unless it is too large.
pub(super) fn scale(factor: i32, a: Bound) -> Option<Bound> {
    let factor = i64::from(factor);
    limited(factor * i64::from(a.times_n), factor * i64::from(a.plus))
}

/// Returns a range that contains all quotients of numbers of a range by a divisor of at least 1.
pub(super) fn quotients((low, high): (Bound, Bound), divisor: Bound) -> (Bound, Bound) {
    let zero = Bound::constant(0);
    if divisor.times_n != 0 {
        // No quotient is further from 0 than its dividend.
        let (low, _) = hull((low, low), (zero, zero));
        let (_, high) = hull((high, high), (zero, zero));
        return (low, high);
    }
    let by = divisor.plus;
    let least = Bound { times_n: low.times_n.div_euclid(by), plus: low.plus.div_euclid(by) };
    let most = Bound { times_n: -(-high.times_n).div_euclid(by), plus: high.plus.div_euclid(by) };
    (least, most)
}

fn limited(times_n: i64, plus: i64) -> Option<Bound> {
    let limit = i64::from(Parser::NUMBER);
    let fits = |number: i64| (-limit..=limit).contains(&number).then_some(number as i32);
    Some(Bound { times_n: fits(times_n)?, plus: fits(plus)? })
}

/// Returns the range of an integer type, or of processes and segments.
pub(super) const fn numbers(content: &Type) -> Option<(Bound, Bound)> {
    match content {
        Type::Integer { low, high } => Some((*low, *high)),
        Type::Process | Type::Segment => Some(BELOW_N),
        _ => None,
    }
}

/// Returns the number, if the expression is a literal.
pub(super) const fn constant(kind: &ExpressionKind) -> Option<Bound> {
    match kind {
        ExpressionKind::Integer(bound) => Some(*bound),
        _ => None,
    }
}

/// Returns true if there is at least one index, for every n >= 2.
pub(super) fn never_empty(over: IndexSet, except: bool) -> bool {
    let (low, high) = match over {
        IndexSet::Processes | IndexSet::Segments => BELOW_N,
        IndexSet::Range(low, high) => (low, high),
    };
    if except { less(low, high) } else { at_most(low, high) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bounds whose lines cross within the tested values of n.
    fn bounds() -> impl Iterator<Item = Bound> {
        (-2..=2).flat_map(|times_n| (-7..=7).map(move |plus| Bound { times_n, plus }))
    }

    fn always(holds: impl Fn(usize) -> bool) -> bool {
        (2..40).all(holds)
    }

    #[test]
    fn comparisons_hold_iff_for_every_n() {
        for a in bounds() {
            for b in bounds() {
                assert_eq!(at_most(a, b), always(|n| a.at(n) <= b.at(n)), "{a} <= {b}");
                assert_eq!(less(a, b), always(|n| a.at(n) < b.at(n)), "{a} < {b}");
            }
        }
    }

    #[test]
    fn hull_contains_both_ranges() {
        let ranges = || bounds().step_by(4).zip(bounds().skip(3).step_by(5));
        for a in ranges() {
            for b in ranges() {
                let (low, high) = hull(a, b);
                let inside = |n: usize| {
                    low.at(n) <= a.0.at(n).min(b.0.at(n)) && a.1.at(n).max(b.1.at(n)) <= high.at(n)
                };
                assert!(always(inside), "{a:?} {b:?}");
                let apart_always = always(|n| a.1.at(n) < b.0.at(n) || b.1.at(n) < a.0.at(n));
                assert!(!apart(a, b) || apart_always, "{a:?} {b:?}");
            }
        }
    }

    #[test]
    fn sums_and_products_agree_for_every_n() {
        for a in bounds() {
            for b in bounds() {
                let sum = combine(Binary::Add, a, b).unwrap();
                let difference = combine(Binary::Subtract, a, b).unwrap();
                assert!(always(|n| sum.at(n) == a.at(n) + b.at(n)));
                assert!(always(|n| difference.at(n) == a.at(n) - b.at(n)));
            }
            assert!(always(|n| scale(3, a).unwrap().at(n) == 3 * a.at(n)));
        }
        assert_eq!(scale(3, Bound::constant(Parser::NUMBER)), None);
        assert_eq!(combine(Binary::Add, Bound::constant(1), Bound::constant(Parser::NUMBER)), None);
    }

    #[test]
    fn quotients_lie_in_their_range() {
        let divisors = bounds().filter(|&divisor| at_most(Bound::constant(1), divisor));
        for divisor in divisors {
            for (low, high) in bounds().zip(bounds().skip(1)).filter(|&(a, b)| at_most(a, b)) {
                let (least, most) = quotients((low, high), divisor);
                let inside = |n: usize| {
                    (low.at(n)..=high.at(n)).all(|number| {
                        let quotient = number.div_euclid(divisor.at(n));
                        (least.at(n)..=most.at(n)).contains(&quotient)
                    })
                };
                assert!(always(inside), "{low}..{high} / {divisor}: {least}..{most}");
            }
        }
        let exact = quotients((Bound::constant(3), Bound::constant(7)), Bound::constant(2));
        assert_eq!(exact, (Bound::constant(1), Bound::constant(3)));
    }

    #[test]
    fn set_except_one_needs_two_elements() {
        let range = |low, high| IndexSet::Range(Bound::constant(low), high);
        assert!(never_empty(IndexSet::Processes, true));
        assert!(never_empty(range(1, Bound::constant(1)), false));
        assert!(!never_empty(range(1, Bound::constant(1)), true));
        assert!(!never_empty(range(0, Bound { times_n: 1, plus: -3 }), false));
    }
}
