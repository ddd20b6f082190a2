//! What of a program no proof for every n follows: where an answer is *unknown*, this is mostly why.
//!
//! A proof forgets what it cannot say of a view: numbers without bound or with a bound that depends on n, and
//! which process or segment a computed number is. Each of these is found in the text, at its place,
//! with what helps, if there is something.

use std::collections::BTreeSet;

use crate::language::Span;
use crate::program::{
    Access, Binary, Bound, CellKind, Expression, ExpressionKind, IndexSet, Program, Statement,
    StatementKind, Type,
};

/// A construct that is not modelled.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Unmodelled {
    pub span: Span,
    /// Name of the construct, in the plural.
    pub construct: &'static str,
    /// What helps, if something does.
    pub cure: Option<&'static str>,
}

const ORDER: (&str, Option<&str>) = ("counters that are compared by `<` or `<=`", None);
const REMAINDER: (&str, Option<&str>) =
    ("remainders of counters", Some("a `bool` beside a counter says whether it is odd"));
const COUNTER: (&str, Option<&str>) = (
    "counters that are more than versions",
    Some("increase them in place, and compare copies of one cell by `=` only"),
);
const NAMES: (&str, Option<&str>) = (
    "numbers that become a process or a segment",
    Some("a variable of type `process` or `segment`"),
);
const RANGE: (&str, Option<&str>) = (
    "numbers in a range that depends on n",
    Some("`bool` or a range such as `0..1`, if that does"),
);
const CELLS: (&str, Option<&str>) = (
    "arrays with a range of indices that depends on n",
    Some("an index that is a `process` or `segment`"),
);
const LOCK: (&str, Option<&str>) = (
    "locks that are numbers",
    Some("`bool` in place of `0..1`, or `process or none`, which names the owner"),
);
const ROUNDS: (&str, Option<&str>) =
    ("loops over numbers that depend on n", Some("`for k in processes` or `for s in segments`"));

/// What is not modelled of a program, in the order of the text; each construct once.
pub fn unmodelled(program: &Program) -> Vec<Unmodelled> {
    let mut found = Found::default();
    for variable in &program.shared {
        if variable.dimensions.iter().any(|over| !is_modelled(*over)) {
            found.add(variable.span, CELLS);
        }
        found.variable(variable.span, &variable.content);
        let is_bit =
            variable.content == Type::Integer { low: Bound::constant(0), high: Bound::constant(1) };
        if variable.cell != CellKind::Register && is_bit {
            found.add(variable.span, LOCK);
        }
    }
    program.private.iter().for_each(|one| found.variable(one.span, &one.content));
    for procedure in &program.procedures {
        Statement::each(&procedure.body, &mut |statement| {
            if let StatementKind::For { over, .. } = &statement.kind
                && !is_modelled(*over)
            {
                found.add(statement.span, ROUNDS);
            }
            statement.operands().into_iter().for_each(|one| found.expression(one));
            if let StatementKind::Access { access: Access::Write(place, _), .. } = &statement.kind {
                place.indices.iter().for_each(|one| found.expression(one));
            }
        });
    }
    // Either says why it is no version.
    if [ORDER, REMAINDER].iter().any(|(construct, _)| found.known.contains(construct)) {
        found.all.retain(|one| one.construct != COUNTER.0);
    }
    found.all.sort_by_key(|one| (one.span.begin, one.span.end));
    found.all
}

/// Whether the indices are those of a view: names, or as many for each n.
const fn is_modelled(over: IndexSet) -> bool {
    match over {
        IndexSet::Processes | IndexSet::Segments => true,
        IndexSet::Range(low, high) => low.times_n == 0 && high.times_n == 0,
    }
}

#[derive(Default)]
struct Found {
    all: Vec<Unmodelled>,
    known: BTreeSet<&'static str>,
    /// Remainders of counters that name a process.
    named: Vec<Span>,
}

/// Whether a number is that of a process in the order of a counter.
fn is_cursor(number: &Expression) -> bool {
    const N: Bound = Bound { times_n: 1, plus: 0 };
    let is_of_counter = |of: &Expression| of.content == Type::Counter;
    matches!(&number.kind, ExpressionKind::Remainder(of, by) if is_of_counter(of) && *by == N)
}

impl Found {
    fn add(&mut self, span: Span, (construct, cure): (&'static str, Option<&'static str>)) {
        if self.known.insert(construct) {
            self.all.push(Unmodelled { span, construct, cure });
        }
    }

    fn variable(&mut self, span: Span, content: &Type) {
        let depends = |part: &Type| match part {
            Type::Integer { low, high } => !is_modelled(IndexSet::Range(*low, *high)),
            Type::Array { index, .. } => !is_modelled(*index),
            _ => false,
        };
        if content.any(&depends) {
            self.add(span, RANGE);
        }
        // All that are versions have been rewritten.
        if content.has_counters() {
            self.add(span, COUNTER);
        }
    }

    fn expression(&mut self, value: &Expression) {
        value.each(&mut |part| match &part.kind {
            ExpressionKind::Binary(Binary::Less | Binary::LessOrEqual, left, _)
                if left.content == Type::Counter =>
            {
                self.add(part.span, ORDER);
            }
            ExpressionKind::Checked(of)
                if matches!(part.content, Type::Process | Type::Segment) =>
            {
                match is_cursor(of) {
                    true => self.named.push(of.span),
                    false => self.add(part.span, NAMES),
                }
            }
            ExpressionKind::Remainder(of, _)
                if of.content == Type::Counter && !self.named.contains(&part.span) =>
            {
                self.add(part.span, REMAINDER);
            }
            _ => {}
        });
    }
}
