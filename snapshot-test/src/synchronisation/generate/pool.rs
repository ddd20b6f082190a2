//! Arguments of operations, and values that results may have.

use std::collections::VecDeque;

use corpus::generate::Draw;

use crate::Value;
use crate::synchronisation::token::Token;

/// The way in which an argument is chosen.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(in crate::synchronisation) enum Role {
    /// A value that no operation had.
    Fresh,
    /// A value that an operation had lately.
    Known,
    /// One of a few values.
    Element,
    /// The key of a part.
    Key,
    /// The number of the process.
    Process,
    /// A text that no operation had.
    Text,
    Truth,
    /// An integer within bounds, both included.
    Within(i64, i64),
}

/// Most values that are remembered.
const MOST: usize = 1 << 10;

/// Values from which a recent one is chosen.
const RECENT: usize = 8;

/// Values that follow each other in random order; the number of elements.
const BLOCK: i64 = 16;

/// Values and keys.
#[derive(Clone, Debug)]
pub(super) struct Pool {
    /// The least value that was not given yet.
    pub next: i64,
    /// Values that are given next, from the back.
    block: Vec<i64>,
    /// Values are below this number.
    domain: Option<u32>,
    keys: &'static [&'static str],
    /// The least of the elements, once there are some.
    elements: Option<i64>,
    /// Values that operations had, the oldest first.
    pub values: VecDeque<Value>,
    /// True if results are looked for from the newest value on.
    from_newest: bool,
    /// The number that was returned last.
    number: i64,
}

impl Pool {
    pub fn new(next: i64, domain: Option<u32>, keys: &'static [&'static str]) -> Self {
        let (block, values) = (Vec::new(), VecDeque::new());
        let elements = None;
        Self { next, block, domain, keys, elements, values, from_newest: true, number: 0 }
    }

    fn fresh(&mut self, draw: &mut Draw) -> i64 {
        if let Some(domain) = self.domain {
            return draw.below(domain as usize) as i64;
        }
        if self.block.is_empty() {
            self.block = (self.next..self.next + BLOCK).collect();
            self.next += BLOCK;
            draw.shuffle(&mut self.block);
        }
        self.block.pop().unwrap_or(self.next)
    }

    fn known(&mut self, draw: &mut Draw) -> Value {
        match self.values.len() {
            0 => Value::from(self.fresh(draw)),
            count => {
                let back = draw.below(count.min(RECENT)).min(draw.below(RECENT));
                self.values[count - 1 - back].clone()
            }
        }
    }

    /// Chooses an argument of an operation by a process.
    pub fn argument(&mut self, role: Role, process: usize, draw: &mut Draw) -> Token {
        Token::Value(match role {
            Role::Fresh => Value::from(self.fresh(draw)),
            Role::Known => self.known(draw),
            Role::Element if self.domain.is_some() => Value::from(self.fresh(draw)),
            Role::Element => {
                let first = *self.elements.get_or_insert(self.next);
                self.next = self.next.max(first + BLOCK);
                Value::from(first + draw.below(BLOCK as usize) as i64)
            }
            Role::Key => Value::from(self.keys[draw.below(self.keys.len())]),
            Role::Process => Value::from(process as i64),
            Role::Text => Value::from(format!("{},", self.fresh(draw)).as_str()),
            Role::Truth => return Token::Truth(draw.coin()),
            Role::Within(low, high) => {
                Value::from(low + draw.below((high - low).max(0) as usize + 1) as i64)
            }
        })
    }

    /// Remembers the arguments of an operation.
    pub fn remember(&mut self, arguments: &[Token], roles: &[Role]) {
        for (token, role) in arguments.iter().zip(roles) {
            let Token::Value(value) = token else { continue };
            let is_old = self.domain.is_some() && self.values.contains(value);
            if *role != Role::Fresh || is_old {
                continue;
            }
            if self.values.len() == MOST {
                self.values.pop_front();
            }
            self.values.push_back(value.clone());
        }
    }

    /// Looks for a result among the values and small differences of numbers.
    pub fn find<T>(
        &mut self,
        initial: &Value,
        mut allows: impl FnMut(&Value) -> Option<T>,
    ) -> Option<(usize, T)> {
        const FARTHEST: i64 = 1 << 8;
        let count = self.values.len();
        for step in 0..count {
            let at = if self.from_newest { count - 1 - step } else { step };
            if let Some(found) = allows(&self.values[at]) {
                self.from_newest = 2 * at >= count;
                return Some((at, found));
            }
        }
        if let Some(found) = allows(initial) {
            return Some((usize::MAX, found));
        }
        for distance in 0..FARTHEST {
            for number in [self.number + distance, self.number - distance] {
                if let Some(found) = allows(&Value::from(number)) {
                    self.number = number;
                    return Some((usize::MAX, found));
                }
            }
        }
        None
    }

    /// Forgets a value that cannot be returned again.
    pub fn forget(&mut self, at: usize) {
        if self.domain.is_none() && at < self.values.len() {
            self.values.remove(at);
        }
    }
}
