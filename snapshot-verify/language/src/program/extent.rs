//! Size of a program for n processes, determined before data of that size is allocated.
//!
//! Arrays and quantifiers are short to write: `array [0..999999] of array [0..999999] of bool` has
//! 10^12 scalars. So code that runs or compiles a program checks its extent first.
//!
//! The extent consists of two numbers; both saturate.
//!
//! * **Scalars**: the scalars of all shared variables, of the private variables of all processes,
//!   and of the locals of one process; links count, too.
//! * **Work**: the evaluations of one procedure and its callees. A quantifier counts once
//!   per index. A `for` counts once per iteration if it lies within one step: it makes no access,
//!   or stands in an `atomic` block. Any other `for` is many steps, not a long one. So a step of a
//!   process evaluates at most twice as much: the end of one iteration of a loop, and the beginning
//!   of the next.

use std::cell::RefCell;

use thiserror::Error;

use super::{
    CellKind, Expression, ExpressionKind, IndexSet, Procedure, Program, Statement, StatementKind,
    Type,
};
use crate::language::Span;

/// Most scalars of a program that is run or compiled.
pub const MOST_SCALARS: u64 = 1 << 20;

/// Number of links of processes to a cell that count as one scalar.
const LINKS: u64 = 16;

/// Number of copied scalars that count as one evaluation.
const COPIES: u64 = 8;

/// Most evaluations of one procedure: about a tenth of a second of interpretation.
pub const MOST_WORK: u64 = 1 << 21;

/// Size of a program for n processes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Extent {
    /// Number of scalars of all variables; at most [`MOST_SCALARS`].
    pub scalars: u64,
    /// Largest number of evaluations of a procedure; at most [`MOST_WORK`].
    pub work: u64,
}

/// Reason why a program is too large for n processes.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
#[non_exhaustive]
pub enum ExtentError {
    /// The variables have too many scalars.
    #[error(
        "the state is too large: with `{name}` the variables have {given} scalars, and at most \
         {limit} are possible: use fewer processes or smaller arrays"
    )]
    Scalars {
        /// First variable with which the scalars exceed the limit.
        name: String,
        /// Declaration of the variable.
        span: Span,
        /// Number of scalars up to and including the variable.
        given: u64,
        limit: u64,
    },
    /// A procedure needs too many evaluations.
    #[error(
        "the computation is too long: it has up to {given} evaluations, and at most {limit} are \
         possible: use fewer processes or smaller ranges"
    )]
    Work {
        /// Statement that exceeds the limit.
        span: Span,
        /// Number of evaluations up to and including the statement.
        given: u64,
        limit: u64,
    },
}

impl ExtentError {
    /// Returns the variable or statement that exceeds the limit.
    pub const fn span(&self) -> Span {
        match self {
            Self::Scalars { span, .. } | Self::Work { span, .. } => *span,
        }
    }
}

impl Program {
    /// Checks that the program is small enough to be run or compiled for n processes, and returns
    /// its size. O(size of the program).
    ///
    /// # Errors
    /// The first variable or statement that exceeds a limit.
    pub fn check_extent(&self, n: usize) -> Result<Extent, ExtentError> {
        let shared = self.shared.iter().map(|variable| {
            let cells = variable.dimensions.iter().map(|over| indices(*over, n));
            let cells = cells.fold(1, u64::saturating_mul);
            let links = match variable.cell {
                CellKind::Linked => n as u64 / LINKS,
                CellKind::Register | CellKind::Swappable => 0,
            };
            let size = cells.saturating_mul(scalars(&variable.content, n).saturating_add(links));
            (&variable.name, variable.span, size)
        });
        let private = self.private.iter().map(|variable| {
            let size = scalars(&variable.content, n).saturating_mul(n as u64);
            (&variable.name, variable.span, size)
        });
        let locals = self.procedures.iter().flat_map(|procedure| &procedure.locals);
        let locals = locals.map(|local| (&local.name, local.span, scalars(&local.content, n)));
        let mut given = 0_u64;
        for (name, span, size) in shared.chain(private).chain(locals) {
            given = given.saturating_add(size);
            if given > MOST_SCALARS {
                let (name, limit) = (name.clone(), MOST_SCALARS);
                return Err(ExtentError::Scalars { name, span, given, limit });
            }
        }
        let accessing: Vec<bool> = self.procedures.iter().map(|of| self.accesses(of)).collect();
        let known = RefCell::new(vec![None; self.procedures.len()]);
        let work = Work { n, program: self, accessing: &accessing, known };
        let mut of_all = (0..self.procedures.len()).map(|procedure| work.procedure(procedure));
        let work = of_all.try_fold(0, |most: u64, of| of.map(|of| most.max(of)))?;
        Ok(Extent { scalars: given, work })
    }

    /// Returns true if a procedure or one that it calls makes an access.
    fn accesses(&self, procedure: &Procedure) -> bool {
        let mut seen = vec![false; self.procedures.len()];
        let mut open = vec![procedure];
        let mut found = false;
        while let Some(procedure) = open.pop() {
            Statement::each(&procedure.body, &mut |statement| match &statement.kind {
                StatementKind::Access { .. } | StatementKind::Choose { .. } => found = true,
                StatementKind::Call { procedure, .. } => {
                    let called = procedure.0 as usize;
                    if !std::mem::replace(&mut seen[called], true) {
                        open.push(&self.procedures[called]);
                    }
                }
                _ => {}
            });
        }
        found
    }
}

fn indices(over: IndexSet, n: usize) -> u64 {
    let bound = |bound: super::Bound| i64::from(bound.times_n) * n as i64 + i64::from(bound.plus);
    match over {
        IndexSet::Processes | IndexSet::Segments => n as u64,
        IndexSet::Range(low, high) => (bound(high) - bound(low) + 1).max(0).unsigned_abs(),
    }
}

/// Returns the number of scalars of a type.
fn scalars(content: &Type, n: usize) -> u64 {
    match content {
        Type::Array { index, element } => indices(*index, n).saturating_mul(scalars(element, n)),
        Type::Record(fields) => {
            fields.iter().fold(0, |sum: u64, field| sum.saturating_add(scalars(&field.content, n)))
        }
        _ => 1,
    }
}

/// Counter of evaluations.
struct Work<'a> {
    n: usize,
    /// True if the procedure makes accesses, by procedure.
    accessing: &'a [bool],
    program: &'a Program,
    /// Cached evaluations of one call, by procedure.
    known: RefCell<Vec<Option<u64>>>,
}

impl Work<'_> {
    /// Calls are not circular, and their depth is bounded.
    fn procedure(&self, procedure: usize) -> Result<u64, ExtentError> {
        if let Some(known) = self.known.borrow()[procedure] {
            return Ok(known);
        }
        let work = self.block(&self.program.procedures[procedure].body, false)?;
        self.known.borrow_mut()[procedure] = Some(work);
        Ok(work)
    }

    /// Counts consecutive statements; `atomic` if they belong to one step.
    fn block(&self, statements: &[Statement], atomic: bool) -> Result<u64, ExtentError> {
        statements.iter().try_fold(0, |sum: u64, statement| {
            let given = sum.saturating_add(self.statement(statement, atomic)?);
            if given > MOST_WORK {
                return Err(ExtentError::Work { span: statement.span, given, limit: MOST_WORK });
            }
            Ok(given)
        })
    }

    fn statement(&self, statement: &Statement, atomic: bool) -> Result<u64, ExtentError> {
        let own = match &statement.kind {
            StatementKind::Assign { value, .. } => self.expression(value),
            StatementKind::Access { access, .. } => self.all(&access.operands()),
            StatementKind::Call { procedure, arguments, .. } => {
                let called = self.procedure(procedure.0 as usize)?;
                self.all(&arguments.iter().collect::<Vec<_>>()).saturating_add(called)
            }
            StatementKind::If { condition, .. } => self.expression(condition),
            StatementKind::For { except, .. } => {
                except.as_ref().map_or(1, |except| self.expression(except))
            }
            StatementKind::Return(value) => {
                value.as_ref().map_or(1, |value| self.expression(value))
            }
            StatementKind::New { fields, .. } => self.all(&fields.iter().collect::<Vec<_>>()),
            StatementKind::Free(value) | StatementKind::Point(value) => self.expression(value),
            StatementKind::Loop { .. }
            | StatementKind::Break
            | StatementKind::Atomic(_)
            | StatementKind::Choose { .. }
            | StatementKind::Together => 1,
        };
        let atomic = atomic || matches!(statement.kind, StatementKind::Atomic(_));
        let parts = statement
            .parts()
            .try_fold(0, |sum: u64, part| Ok(sum.saturating_add(self.statement(part, atomic)?)))?;
        let rounds = match &statement.kind {
            StatementKind::For { over, body, .. } if atomic || !self.is_accessing(body) => {
                indices(*over, self.n)
            }
            _ => 1,
        };
        Ok(own.saturating_add(parts.saturating_mul(rounds)))
    }

    fn is_accessing(&self, body: &[Statement]) -> bool {
        let mut found = false;
        Statement::each(body, &mut |statement| match &statement.kind {
            StatementKind::Access { .. } | StatementKind::Choose { .. } => found = true,
            StatementKind::Call { procedure, .. } => {
                found |= self.accessing[procedure.0 as usize];
            }
            _ => {}
        });
        found
    }

    fn all(&self, expressions: &[&Expression]) -> u64 {
        let each = expressions.iter().map(|expression| self.expression(expression));
        each.fold(1, u64::saturating_add)
    }

    /// Counts the evaluations of an expression; copied data counts by its size.
    fn expression(&self, expression: &Expression) -> u64 {
        // Selecting an element or a field does not copy the whole.
        if let ExpressionKind::Index(whole, _) | ExpressionKind::Field(whole, _) = &expression.kind
            && let ExpressionKind::Local(_) | ExpressionKind::Private(_) = whole.kind
        {
            let others = expression.operands().into_iter().skip(1).collect::<Vec<_>>();
            return self.all(&others).saturating_add(scalars(&expression.content, self.n) / COPIES);
        }
        let rounds = match &expression.kind {
            ExpressionKind::Each { over, .. } | ExpressionKind::Quantified { over, .. } => {
                indices(*over, self.n)
            }
            _ => 1,
        };
        let copies = scalars(&expression.content, self.n) / COPIES;
        self.all(&expression.operands()).saturating_mul(rounds).saturating_add(copies)
    }
}
