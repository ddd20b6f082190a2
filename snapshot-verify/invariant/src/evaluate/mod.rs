//! Expressions over views, in Kleene's three-valued logic: unknown values stay unknown.

mod operators;

use smallvec::smallvec;
use snapshot_language::Span;
use snapshot_language::program::{Expression, ExpressionKind, IndexSet, LocalId, Type};

use crate::byte::{
    ANY, BASE, EXEMPT, I, J, LOOSE, MIXED, NONE, OLD, OTHER, OWN, PLACES, Row, integer, number,
    truth,
};
use crate::clock;
use crate::flips::{is_symbol, negated};
use crate::layout::{Layout, Leaf, Room, each_leaf, fixed, is_view, may_be_outside, size};

/// Reason why an expression has no value.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Stop {
    /// The program may go wrong there.
    Fault(Span),
    /// The expression takes apart a view that was taken from elsewhere.
    Apart(Span),
}

/// Inputs of an evaluation.
pub struct Scope<'a, 'p> {
    pub layout: &'a Layout<'p>,
    /// Members that are present.
    pub members: &'a [u8],
    pub state: &'a mut [u8],
    /// Process, and the procedure that it runs.
    pub me: u8,
    /// See `me`.
    pub procedure: usize,
    /// Number of the next version that `fresh` makes.
    pub fresh: &'a mut u8,
    /// Last kept scalar that was read and is unknown.
    pub unknown: Option<usize>,
    /// True for first values, when the clock has its first number.
    pub is_first: bool,
    /// Injected fault: see `InjectedFault`.
    pub symbols_differ: bool,
}

/// Location of a part of a variable: bytes of the view, or its known value.
enum Located {
    At(usize),
    Known(Row),
}

impl Scope<'_, '_> {
    fn block(&self) -> usize {
        self.layout.blocks[usize::from(self.me)]
    }

    fn local(&self, id: LocalId) -> Room {
        self.layout.frames[self.procedure].locals[id.0 as usize]
    }

    fn size(&self, content: &Type) -> usize {
        size(content, self.layout.tokens())
    }

    fn is_token(&self, content: &Type) -> bool {
        self.layout.tokens() && is_view(content)
    }

    /// Returns an unknown value of a type; views count as old.
    fn nothing(&self, content: &Type) -> Row {
        self.layout.unknown(content, if self.layout.tokens() { OLD } else { ANY })
    }

    /// Returns the byte of a scalar.
    pub fn scalar(&mut self, expression: &Expression) -> Result<u8, Stop> {
        Ok(self.row(expression)?[0])
    }

    /// Evaluates a condition: `None` if it is unknown.
    pub fn holds(&mut self, condition: &Expression) -> Result<Option<bool>, Stop> {
        let byte = self.scalar(condition)?;
        Ok((byte != ANY && !is_symbol(byte)).then_some(byte == BASE + 1))
    }

    /// Evaluates an expression.
    pub fn row(&mut self, expression: &Expression) -> Result<Row, Stop> {
        self.layout.asks.note(1);
        let span = expression.span;
        if may_be_outside(expression) {
            return Err(Stop::Fault(span));
        }
        Ok(match &expression.kind {
            ExpressionKind::Bool(data) => smallvec![truth(*data)],
            ExpressionKind::Integer(bound) => match fixed(*bound, *bound) {
                Some((number, _)) => smallvec![integer(number)],
                None => smallvec![ANY],
            },
            // It is unknown which member has this number.
            ExpressionKind::Process(_) | ExpressionKind::Segment(_) => smallvec![ANY],
            ExpressionKind::None => smallvec![NONE],
            ExpressionKind::InitialValue | ExpressionKind::FirstVersion => smallvec![BASE],
            ExpressionKind::Counter(number) => {
                smallvec![match (self.layout.clock, self.is_first) {
                    (None, _) => ANY,
                    (_, true) => self.layout.at_first(*number),
                    // No counter is negative.
                    _ if *number == 0 => clock::UNTIL,
                    _ => ANY,
                }]
            }
            ExpressionKind::Successor(inner) => smallvec![clock::successor(self.scalar(inner)?)],
            ExpressionKind::Me => smallvec![BASE + self.me],
            ExpressionKind::Convert(inner) => self.row(inner)?,
            ExpressionKind::Some(inner) => {
                let mut row = self.row(inner)?;
                let is_unbounded = leaf_of(&inner.content).is_some_and(Leaf::is_unbounded);
                if is_unbounded && row[0] == ANY {
                    row[0] = clock::SOME;
                }
                row
            }
            ExpressionKind::Checked(inner) => {
                smallvec![self.checked(inner, &expression.content, span)?]
            }
            ExpressionKind::NumberOf(inner) | ExpressionKind::ValueOf(inner) => {
                self.row(inner)?;
                smallvec![ANY]
            }
            ExpressionKind::Local(_)
            | ExpressionKind::Private(_)
            | ExpressionKind::Index(..)
            | ExpressionKind::Field(..) => match self.locate(expression)? {
                Located::At(at) => self.read(at, &expression.content),
                Located::Known(row) => row,
            },
            ExpressionKind::Record(fields) => {
                let mut row = Row::new();
                for field in fields {
                    row.extend(self.row(field)?);
                }
                row
            }
            ExpressionKind::Filled(element) => {
                let row = self.row(element)?;
                match self.is_token(&expression.content) {
                    true => smallvec![OWN],
                    false => {
                        let size = self.size(&expression.content);
                        row.iter().copied().cycle().take(size).collect()
                    }
                }
            }
            ExpressionKind::With(record, fields) => {
                let mut row = self.row(record)?;
                for (position, field) in fields {
                    let begin = self.field(&record.content, *position);
                    let part = self.row(field)?;
                    row[begin..begin + part.len()].copy_from_slice(&part);
                }
                row
            }
            ExpressionKind::Each { variable, over, body } => {
                self.each(*variable, *over, body, &expression.content)?
            }
            ExpressionKind::Quantified { all, variable, over, except, body } => {
                let holds = self.quantified(*all, *variable, *over, except.as_deref(), body)?;
                smallvec![holds.map_or(ANY, truth)]
            }
            ExpressionKind::Unwrap(inner) => match self.scalar(inner)? {
                ANY | NONE => return Err(Stop::Fault(span)),
                byte => smallvec![byte],
            },
            ExpressionKind::Not(inner) => {
                let byte = self.scalar(inner)?;
                smallvec![if byte == ANY { ANY } else { negated(byte) }]
            }
            ExpressionKind::Binary(operator, left, right) => {
                smallvec![self.binary(*operator, left, right)?]
            }
            ExpressionKind::If(condition, then, otherwise) => match self.holds(condition)? {
                Some(true) => self.row(then)?,
                Some(false) => self.row(otherwise)?,
                None => {
                    let (then, otherwise) = (self.row(then)?, self.row(otherwise)?);
                    match then == otherwise {
                        true => then,
                        false => self.nothing(&expression.content),
                    }
                }
            },
            // Lists and nodes belong to objects other than the snapshot: nothing is known of them.
            ExpressionKind::List(..) | ExpressionKind::InitialNode(_) => {
                return Err(Stop::Fault(span));
            }
            ExpressionKind::Remainder(inner, by) => {
                let byte = self.scalar(inner)?;
                let is_counter = inner.content == Type::Counter && by.times_n == 0;
                smallvec![match is_counter {
                    true => self.layout.remainder(self.state, byte, i64::from(by.plus)),
                    false => ANY,
                }]
            }
            ExpressionKind::Quotient(inner, _) => {
                self.row(inner)?;
                smallvec![ANY]
            }
            ExpressionKind::Fresh => {
                // Numbers beyond the range of a byte stand for some version.
                let byte = BASE + *self.fresh;
                *self.fresh = (*self.fresh + 1).min(u8::MAX - BASE);
                smallvec![if byte == u8::MAX { ANY } else { byte }]
            }
        })
    }

    fn read(&mut self, at: usize, content: &Type) -> Row {
        let size = self.size(content);
        let kept = &self.layout.slots[at..at + size];
        if size == 1 && kept[0].kept && self.state[at] == ANY {
            self.unknown = Some(at);
        }
        if !self.layout.tokens() {
            return Row::from_slice(&self.state[at..at + size]);
        }
        let nothing = self.nothing(content);
        let bytes = self.state[at..at + size].iter().zip(&nothing);
        bytes.map(|(byte, nothing)| if *byte == ANY { *nothing } else { *byte }).collect()
    }

    /// Returns the first scalar of a field of a record.
    fn field(&self, record: &Type, position: usize) -> usize {
        let Type::Record(fields) = record else { return 0 };
        fields[..position].iter().map(|field| self.size(&field.content)).sum()
    }

    fn locate(&mut self, expression: &Expression) -> Result<Located, Stop> {
        Ok(match &expression.kind {
            ExpressionKind::Local(id) => Located::At(self.block() + self.local(*id).base),
            ExpressionKind::Private(id) => {
                Located::At(self.block() + self.layout.private[id.0 as usize].base)
            }
            ExpressionKind::Field(record, position) => {
                let begin = self.field(&record.content, *position);
                let size = self.size(&expression.content);
                match self.locate(record)? {
                    Located::At(at) => Located::At(at + begin),
                    Located::Known(row) => Located::Known(row[begin..begin + size].into()),
                }
            }
            ExpressionKind::Index(array, index) => {
                let inner = self.locate(array)?;
                let byte = self.scalar(index)?;
                if self.is_token(&array.content) {
                    return self.taken(inner, array, expression.span);
                }
                let nested = is_element(array);
                self.element(inner, array, byte, nested, index.span)?
            }
            _ => Located::Known(self.row(expression)?),
        })
    }

    /// Returns an element of a view that is only a token: the view must have been made here.
    fn taken(&mut self, view: Located, array: &Expression, span: Span) -> Result<Located, Stop> {
        let token = match view {
            Located::At(at) => self.read(at, &array.content)[0],
            Located::Known(row) => row[0],
        };
        match token == OWN || !self.layout.obligation.judges(self.me) {
            true => Ok(Located::Known(smallvec![ANY])),
            false => Err(Stop::Apart(span)),
        }
    }

    fn element(
        &mut self,
        inner: Located,
        array: &Expression,
        byte: u8,
        nested: bool,
        span: Span,
    ) -> Result<Located, Stop> {
        let Type::Array { index: over, element } = &array.content else {
            return Ok(Located::Known(Row::new()));
        };
        let size = self.size(element);
        let place = match over {
            IndexSet::Range(low, high) => match fixed(*low, *high) {
                Some((low, high)) if byte != ANY => {
                    if !(low..=high).contains(&number(byte)) {
                        return Err(Stop::Fault(span));
                    }
                    Some((number(byte) - low) as usize)
                }
                _ => None,
            },
            _ => {
                let is_there = |member: &u8| self.members.contains(member);
                byte.checked_sub(BASE).filter(is_there).map(usize::from)
            }
        };
        Ok(match (place, inner) {
            (Some(place), Located::At(at)) => Located::At(at + place * size),
            (Some(place), Located::Known(row)) => {
                let begin = place * size;
                match row.get(begin..begin + size) {
                    Some(part) => Located::Known(part.into()),
                    None => Located::Known(self.nothing(element)),
                }
            }
            (None, Located::At(at)) if over.is_of_names() && byte == BASE + LOOSE => {
                Located::Known(self.one_of(at, element, nested))
            }
            // A place of one other process: shown where that process is i.
            (None, Located::At(_)) if over.is_of_names() && byte == BASE + OTHER && !nested => {
                let view = self.layout.read_view(true);
                Located::Known(self.layout.unknown(element, view))
            }
            (None, _) => Located::Known(self.nothing(element)),
        })
    }

    /// Returns an element at i, at j or at any other index: the value common to all of them.
    fn one_of(&mut self, at: usize, element: &Type, nested: bool) -> Row {
        let size = self.size(element);
        let nothing = self.nothing(element);
        let mut row = match nested {
            true => nothing.clone(),
            false => self.layout.unknown(element, self.layout.read_view(true)),
        };
        for member in [I, J].into_iter().filter(|member| self.members.contains(member)) {
            let own = self.read(at + usize::from(member) * size, element);
            for ((byte, own), nothing) in row.iter_mut().zip(own).zip(&nothing) {
                *byte = if *byte == own { own } else { *nothing };
            }
        }
        self.unknown = None;
        row
    }

    fn each(
        &mut self,
        variable: LocalId,
        over: IndexSet,
        body: &Expression,
        content: &Type,
    ) -> Result<Row, Stop> {
        let token = self.is_token(content);
        let mut row = Row::new();
        let mut made = OWN;
        let indices: Vec<u8> = match over {
            IndexSet::Range(low, high) => match fixed(low, high) {
                Some((low, high)) => (low..=high).map(integer).collect(),
                None => {
                    self.with(variable, ANY, |scope| scope.row(body))?;
                    return Ok(self.nothing(content));
                }
            },
            _ if token => self.members.iter().chain(&[OTHER]).map(|one| BASE + one).collect(),
            _ => (0..PLACES as u8).map(|one| BASE + one).collect(),
        };
        for byte in indices {
            let absent = over.is_of_names() && !self.members.contains(&(byte - BASE));
            let byte = if absent { BASE + OTHER } else { byte };
            let part = self.with(variable, byte, |scope| scope.row(body))?;
            let is_value = body.content == Type::Value;
            made = if is_value { made } else { MIXED };
            row.extend(part);
        }
        Ok(if token { smallvec![made] } else { row })
    }

    /// Runs `act` with the variable of an index set bound.
    fn with<R>(&mut self, id: LocalId, byte: u8, act: impl FnOnce(&mut Self) -> R) -> R {
        let at = self.block() + self.local(id).base;
        let outer = std::mem::replace(&mut self.state[at], byte);
        let result = act(self);
        self.state[at] = outer;
        result
    }
}

/// Returns an expression without its conversions.
pub fn plain(expression: &Expression) -> &ExpressionKind {
    match &expression.kind {
        ExpressionKind::Convert(inner) => plain(inner),
        kind => kind,
    }
}

/// Returns true if an expression selects from an element of an array.
fn is_element(expression: &Expression) -> bool {
    match &expression.kind {
        ExpressionKind::Field(record, _) => is_element(record),
        ExpressionKind::Index(..) => true,
        _ => false,
    }
}

/// Returns the only scalar of a type.
fn leaf_of(content: &Type) -> Option<Leaf> {
    let (mut first, mut count) = (None, 0);
    each_leaf(content, false, 0, &mut |leaf, _| {
        first = first.or(Some(leaf));
        count += 1;
    });
    first.filter(|_| count == 1)
}

/// Returns the token that a view has once it lies in shared memory.
pub fn stored_token(token: u8, is_tracked: bool) -> u8 {
    if token == crate::byte::FRESH && !is_tracked { token } else { OLD }
}

/// Returns the token of a view with one element replaced.
pub const fn patched_token(token: u8) -> u8 {
    if token == OWN { OWN } else { MIXED }
}

/// Returns true if a ghost scan may return a view with this token.
pub const fn is_nested(token: u8) -> bool {
    matches!(token, OWN | crate::byte::FRESH | EXEMPT)
}
