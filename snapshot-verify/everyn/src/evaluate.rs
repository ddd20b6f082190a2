//! Value of a term in a state of the crowd: definite, or unknown (Kleene).
//!
//! "Any other" process is some untracked process: it differs from each tracked one, while two
//! others may be equal or different.

use smallvec::smallvec;
use snapshot_language::Span;
use snapshot_language::program::Binary;

use super::model::Model;
use super::shape::{
    BASE, Bytes, DEAD, Leaf, MIXED, Mode, NONE, OTHER, OWN, SOME, Scalar, UNKNOWN, integer, number,
};
use super::term::{Operand, Other, Over, Term, Wide};

/// Reason why a term has no value.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Stop {
    /// The program goes wrong there, or might.
    Fault(Span),
    /// The term takes apart a view that was not made here.
    Taken(Span),
}

pub struct Scope<'a> {
    pub model: &'a Model,
    /// Members of the crowd that are present.
    pub members: &'a [u8],
    /// State; it also holds the variables of quantifiers.
    pub state: &'a mut [u8],
    pub me: u8,
    /// A scalar variable of the process that was read and is unknown: a case distinction over its
    /// values makes it definite.
    pub unknown: Option<usize>,
    /// Number of the next new version.
    pub fresh: u8,
    /// True if possible faults are ignored, because another obligation excludes them.
    pub lenient: bool,
    /// True if views that were not made here may be taken apart, because another obligation
    /// excludes it.
    pub trusting: bool,
}

/// Exclusive upper bound of version numbers in a state.
const MOST_VERSIONS: u8 = 120;

pub type Truth = Option<bool>;

/// Returns a truth value as a byte.
pub fn byte(truth: Truth) -> u8 {
    truth.map_or(UNKNOWN, |truth| BASE + u8::from(truth))
}

/// Returns true if two bytes have the same meaning.
pub fn same(leaf: Leaf, one: u8, two: u8) -> Truth {
    let is_definite = |byte: u8| byte >= BASE;
    match (one, two) {
        (DEAD | UNKNOWN, _) | (_, DEAD | UNKNOWN) => None,
        (NONE, NONE) => Some(true),
        (NONE, _) | (_, NONE) => Some(false),
        (SOME, _) | (_, SOME) => None,
        _ if leaf.scalar == Scalar::Lost => None,
        _ if leaf.scalar == Scalar::Member && one == two && one == BASE + OTHER => None,
        // Programs that look at values are refused before.
        _ if matches!(leaf.scalar, Scalar::Value | Scalar::View) => None,
        _ => {
            debug_assert!(is_definite(one) && is_definite(two));
            Some(one == two)
        }
    }
}

impl Scope<'_> {
    fn base(&self) -> usize {
        self.model.blocks[usize::from(self.me)]
    }

    fn mode(&self) -> Mode {
        self.model.obligation.mode
    }

    /// Returns the truth of a condition.
    pub fn truth(&mut self, term: &Term) -> Result<Truth, Stop> {
        Ok(match self.scalar(term)? {
            DEAD..BASE => None,
            byte => Some(byte != BASE),
        })
    }

    /// Returns the byte of a scalar.
    pub fn scalar(&mut self, term: &Term) -> Result<u8, Stop> {
        let bytes = self.bytes(term)?;
        debug_assert_eq!(bytes.len(), 1, "{term:?}");
        Ok(bytes[0])
    }

    /// Returns the location of a part of a variable: `Err` if the term is not one, `None` if it is
    /// not kept, with its known bytes.
    fn place(&mut self, term: &Term) -> Result<Result<Result<usize, Bytes>, ()>, Stop> {
        Ok(match term {
            Term::Variable(base, _) => Ok(Ok(self.base() + base)),
            Term::Part(whole, offset, size) => match self.place(whole)? {
                Ok(Ok(at)) => Ok(Ok(at + offset)),
                Ok(Err(bytes)) => Ok(Err(Bytes::from_slice(&bytes[*offset..offset + size]))),
                Err(()) => Err(()),
            },
            Term::Index { array, element, index, over, other, .. } => {
                let at = match self.place(array)? {
                    Ok(Ok(at)) => at,
                    Ok(Err(_)) => {
                        return Ok(Ok(Err(element.unknown(self.mode(), false, false))));
                    }
                    Err(()) => return Ok(Err(())),
                };
                let nested = matches!(strip(array), Term::Index { over: Over::Members, .. });
                let index = self.scalar(index)?;
                let is_other = *over == Over::Members && index == BASE + OTHER;
                match index {
                    DEAD..BASE => Ok(Err(element.unknown(self.mode(), false, false))),
                    _ if is_other && *other == Other::Unknown => {
                        Ok(Err(element.unknown(self.mode(), true, !nested)))
                    }
                    // Views have no place of their own there.
                    _ if is_other && self.has_view(element) => {
                        Ok(Err(self.elsewhere_kept(at, element, !nested)))
                    }
                    index => Ok(Ok(at + over.place(index) * element.size())),
                }
            }
            _ => Err(()),
        })
    }

    fn has_view(&self, shape: &super::shape::Shape) -> bool {
        let mut has = false;
        shape.each(&mut Vec::new(), &mut |leaf, _| has |= leaf.scalar == Scalar::View);
        has
    }

    /// Returns an element of any other process as this round has left it, except views.
    fn elsewhere_kept(&self, at: usize, element: &super::shape::Shape, exempt: bool) -> Bytes {
        let begin = at + usize::from(OTHER) * element.size();
        let mut bytes = element.unknown(self.mode(), true, exempt);
        let mut position = 0;
        element.each(&mut Vec::new(), &mut |leaf, _| {
            let kept = self.state[begin + position];
            if leaf.scalar != Scalar::View && kept != DEAD {
                bytes[position] = kept;
            }
            position += 1;
        });
        bytes
    }

    /// Returns the value of a term.
    pub fn bytes(&mut self, term: &Term) -> Result<Bytes, Stop> {
        Ok(match term {
            Term::Constant(bytes) => bytes.clone(),
            Term::Unknown(shape) => shape.unknown(self.mode(), false, false),
            Term::Me => smallvec![BASE + self.me],
            Term::Variable(_, size) => {
                let at = self.base() + self.variable(term);
                self.read(at, *size)
            }
            Term::Index { element, .. } => match self.place(term)? {
                Ok(Ok(at)) => self.read(at, element.size()),
                Ok(Err(bytes)) => bytes,
                Err(()) => self.element(term)?,
            },
            Term::Part(whole, offset, size) => match self.place(term)? {
                Ok(Ok(at)) => self.read(at, *size),
                Ok(Err(bytes)) => bytes,
                Err(()) => Bytes::from_slice(&self.bytes(whole)?[*offset..offset + size]),
            },
            Term::Row(fields) => {
                let mut row = Bytes::new();
                for field in fields {
                    row.extend(self.bytes(field)?);
                }
                row
            }
            Term::With(whole, parts) => {
                let mut row = self.bytes(whole)?;
                for (offset, part) in parts {
                    let part = self.bytes(part)?;
                    row[*offset..offset + part.len()].copy_from_slice(&part);
                }
                row
            }
            Term::Filled(element, count) => {
                let element = self.bytes(element)?;
                element.iter().copied().cycle().take(count * element.len()).collect()
            }
            Term::Each { variable, over, body } => {
                let there = |place: u8| match self.members.contains(&place) {
                    true => place,
                    false => OTHER,
                };
                let indices: Vec<u8> = match over {
                    Over::Members => {
                        (0..super::shape::PLACES as u8).map(|place| BASE + there(place)).collect()
                    }
                    Over::Range(..) => over.integers().collect(),
                    Over::Many => vec![UNKNOWN],
                };
                let mut row = Bytes::new();
                for index in indices {
                    row.extend(self.with(*variable, index, |scope| scope.bytes(body))?);
                }
                row
            }
            Term::Made { variable, body } => {
                let mut token = OWN;
                for index in self.members.iter().copied().chain([OTHER]) {
                    let element = self.with(*variable, BASE + index, |scope| scope.bytes(body))?;
                    if element.iter().any(|byte| *byte != OWN) {
                        token = MIXED;
                    }
                }
                smallvec![token]
            }
            Term::Quantified { all, variable, over, except, body } => {
                smallvec![byte(self.quantified(*all, *variable, *over, except.as_deref(), body)?)]
            }
            Term::Unwrap(inner, span) => match self.scalar(inner)? {
                SOME => smallvec![UNKNOWN],
                DEAD | UNKNOWN | NONE if self.lenient => smallvec![UNKNOWN],
                DEAD | UNKNOWN | NONE => return Err(Stop::Fault(*span)),
                byte => smallvec![byte],
            },
            Term::Taken(view, span) => match self.scalar(view)? {
                OWN => smallvec![OWN],
                _ if self.trusting => smallvec![OWN],
                _ => return Err(Stop::Taken(*span)),
            },
            Term::Not(inner) => smallvec![byte(self.truth(inner)?.map(|truth| !truth))],
            Term::Connected(and, left, right) => {
                // The value that decides.
                let decides = Some(!*and);
                let left = self.truth(left)?;
                if left == decides {
                    return Ok(smallvec![byte(left)]);
                }
                let right = self.truth(right)?;
                smallvec![byte(match (left, right) {
                    (_, right) if right == decides => decides,
                    (Some(_), right) => right,
                    (None, _) => None,
                })]
            }
            Term::Equal { negated, left, right, leaves } => {
                let (left, right) = (self.bytes(left)?, self.bytes(right)?);
                let mut equal = Some(true);
                for ((leaf, path), (one, two)) in leaves.iter().zip(left.iter().zip(&right)) {
                    if path.contains(&OTHER) {
                        equal = equal.filter(|equal| !equal);
                        continue;
                    }
                    if path.iter().any(|place| !self.members.contains(place)) {
                        continue;
                    }
                    equal = match (equal, same(*leaf, *one, *two)) {
                        (Some(false), _) | (_, Some(false)) => Some(false),
                        (Some(true), Some(true)) => Some(true),
                        _ => None,
                    };
                }
                smallvec![byte(equal.map(|equal| equal != *negated))]
            }
            Term::Arithmetic(operator, left, right, wide) => {
                smallvec![self.arithmetic(*operator, left, right, *wide)?]
            }
            Term::If(condition, then, otherwise, shape) => match self.truth(condition)? {
                Some(true) => self.bytes(then)?,
                Some(false) => self.bytes(otherwise)?,
                None => {
                    let (one, two) = (self.bytes(then)?, self.bytes(otherwise)?);
                    if one == two { one } else { shape.unknown(self.mode(), false, false) }
                }
            },
            Term::Also(before, value) => {
                for term in before {
                    self.bytes(term)?;
                }
                self.bytes(value)?
            }
            Term::Fresh => {
                // In a loop that makes versions without a pause, the later ones are unknown: no two
                // versions ever get one number.
                match self.fresh {
                    fresh if fresh >= MOST_VERSIONS => smallvec![UNKNOWN],
                    fresh => {
                        self.fresh += 1;
                        smallvec![BASE + fresh]
                    }
                }
            }
        })
    }

    fn variable(&self, term: &Term) -> usize {
        match term {
            Term::Variable(base, _) => *base,
            _ => unreachable!("only variables have a place of their own"),
        }
    }

    fn read(&mut self, at: usize, size: usize) -> Bytes {
        let mut bytes = Bytes::from_slice(&self.state[at..at + size]);
        let is_nested = self.mode() == Mode::Nested;
        for (byte, slot) in bytes.iter_mut().zip(&self.model.slots[at..at + size]) {
            if *byte == DEAD {
                let is_own = is_nested && slot.leaf.is_some_and(Leaf::is_plain_value);
                *byte = if is_own { OWN } else { UNKNOWN };
            }
        }
        if size == 1 && matches!(bytes[0], UNKNOWN | SOME) && self.model.slots[at].kept {
            self.unknown = Some(at);
        }
        bytes
    }

    /// Returns an element of an array that is not a variable.
    fn element(&mut self, term: &Term) -> Result<Bytes, Stop> {
        let Term::Index { array, element, index, over, .. } = term else {
            unreachable!("only arrays have elements")
        };
        let whole = self.bytes(array)?;
        let index = self.scalar(index)?;
        let is_other = *over == Over::Members && index == BASE + OTHER;
        if index < BASE || is_other {
            return Ok(element.unknown(self.mode(), false, false));
        }
        let begin = over.place(index) * element.size();
        Ok(Bytes::from_slice(&whole[begin..begin + element.size()]))
    }

    fn with<R>(&mut self, variable: usize, index: u8, act: impl FnOnce(&mut Self) -> R) -> R {
        let at = self.base() + variable;
        let outer = std::mem::replace(&mut self.state[at], index);
        let result = act(self);
        self.state[at] = outer;
        result
    }

    fn quantified(
        &mut self,
        all: bool,
        variable: usize,
        over: Over,
        except: Option<&Term>,
        body: &Term,
    ) -> Result<Truth, Stop> {
        let except = except.map(|except| self.scalar(except)).transpose()?;
        let mut outcome = Some(all);
        let mut add = |truth: Truth, surely: bool| {
            outcome = match (outcome, truth) {
                (Some(decided), _) if decided != all => Some(decided),
                (_, Some(truth)) if truth == all => outcome,
                (_, Some(_)) if surely => Some(!all),
                _ => None,
            };
        };
        match over {
            Over::Members => {
                for &member in self.members {
                    if except == Some(BASE + member) {
                        continue;
                    }
                    let surely = !matches!(except, Some(DEAD..BASE));
                    let truth = self.with(variable, BASE + member, |scope| scope.truth(body))?;
                    add(truth, surely);
                }
                let truth = self.with(variable, BASE + OTHER, |scope| scope.truth(body))?;
                add(truth, false);
            }
            Over::Range(..) => {
                for index in over.integers() {
                    if except == Some(index) {
                        continue;
                    }
                    let surely = !matches!(except, Some(DEAD..BASE));
                    let truth = self.with(variable, index, |scope| scope.truth(body))?;
                    add(truth, surely);
                }
            }
            Over::Many => {
                let truth = self.with(variable, UNKNOWN, |scope| scope.truth(body))?;
                add(truth, false);
            }
        }
        Ok(outcome)
    }

    fn arithmetic(
        &mut self,
        operator: Binary,
        left: &Operand,
        right: &Operand,
        wide: Wide,
    ) -> Result<u8, Stop> {
        let one = self.interval(left)?;
        let two = self.interval(right)?;
        let definite = one.0 == one.1 && two.0 == two.1;
        Ok(match operator {
            Binary::Less => byte(decided(one.1 < two.0, one.0 >= two.1)),
            Binary::LessOrEqual => byte(decided(one.1 <= two.0, one.0 > two.1)),
            _ => {
                let (low, high) = match operator {
                    Binary::Subtract => (one.0 - two.1, one.1 - two.0),
                    _ => (one.0 + two.0, one.1 + two.1),
                };
                let outside = |number: i32| number < wide.low || number >= wide.low + wide.count;
                if wide.count == 0 {
                    return Ok(UNKNOWN);
                }
                if (outside(low) || outside(high)) && !self.lenient {
                    return Err(Stop::Fault(wide.span));
                }
                if definite && !outside(low) { integer(low) } else { UNKNOWN }
            }
        })
    }

    fn interval(&mut self, operand: &Operand) -> Result<(i32, i32), Stop> {
        Ok(match self.scalar(&operand.term)? {
            DEAD..BASE => (operand.low, operand.low + operand.count - 1),
            byte => {
                let number = number(byte);
                (number, number)
            }
        })
    }
}

fn decided(yes: bool, no: bool) -> Truth {
    match (yes, no) {
        (true, _) => Some(true),
        (_, true) => Some(false),
        _ => None,
    }
}

fn strip(term: &Term) -> &Term {
    match term {
        Term::Part(whole, ..) => strip(whole),
        term => term,
    }
}
