//! Accesses to shared memory, also within expressions.
//!
//! An access within an expression becomes a statement before the enclosing one, and its result a
//! hidden local. The right operands of `and` and `or` and the branches of `if` may not be
//! evaluated. If they access, they become an `if` statement, so that the access happens exactly
//! when the text evaluates it.
//!
//! A statement makes at most one access on each path of its evaluation, since a step is one access;
//! in `atomic` it makes any number.

use super::body::{Body, Meaning};
use super::globals::{Global, OWN_PROCEDURES};
use super::result::{assign, deliver, whole};
use super::target::Target;
use crate::language::Span;
use crate::language::diagnostic::types::{call_within, mismatch};
use crate::language::diagnostic::{Message, Parsed, Reported, message};
use crate::language::tree::{self, ExpressionKind as Written, Name};
use crate::program::{
    Access, Binary, CellKind, CellPlace, Expression, ExpressionKind, IndexSet, LocalId, Place,
    Projection, Root, SharedId, Statement, StatementKind, Type,
};

/// Returns the innermost array of `x[a][b]`, and the indices in order.
pub(super) fn unindexed(written: &tree::Expression) -> (&tree::Expression, Vec<&tree::Expression>) {
    let mut root = written;
    let mut indices = Vec::new();
    while let Written::Index(array, index) = &root.kind {
        indices.push(&**index);
        root = array;
    }
    indices.reverse();
    (root, indices)
}

impl Body<'_> {
    pub fn read_cell(
        &mut self,
        variable: SharedId,
        indices: &[&tree::Expression],
        span: Span,
    ) -> Parsed<Expression> {
        self.not_constant(span)?;
        let place = self.cell(variable, indices, span)?;
        let content = self.globals.shared[variable.0 as usize].content.clone();
        self.result_of(Access::Read(place), content, span)
    }

    /// Returns a cell of a family, with all its indices.
    pub fn cell(
        &mut self,
        variable: SharedId,
        indices: &[&tree::Expression],
        span: Span,
    ) -> Parsed<CellPlace> {
        let globals = self.globals;
        let declared = &globals.shared[variable.0 as usize];
        if indices.len() < declared.dimensions.len() {
            let (name, dimensions) = (declared.name.clone(), declared.dimensions.len());
            let message =
                message!("whole-family", "`{name}` is many cells, and a step accesses one")
                    .label(match dimensions {
                        1 => "expected one index".to_owned(),
                        count => format!("expected {count} indices"),
                    })
                    .help(format!("name one cell: `{name}{}`", "[...]".repeat(dimensions)));
            return Err(self.report(message, span));
        }
        let mut made = Vec::new();
        for (index, over) in indices.iter().zip(&declared.dimensions) {
            made.push(self.expect_type(index, &over.index_type())?);
        }
        Ok(CellPlace { variable, indices: made, span })
    }

    /// Counts an access: a statement may make one.
    pub fn spend(&mut self, span: Span) -> Parsed<()> {
        if self.atomic {
            return Ok(());
        }
        if self.repeated {
            let message = message!(
                "repeated-access",
                "an access to shared memory for every index, in one step"
            )
            .help(
                "write a `for` statement, each round a step of its own; or `atomic:` \
                 if the published algorithm has all in one step",
            );
            return Err(self.report(message, span));
        }
        if let Some(first) = self.spent {
            let message = message!("two-accesses", "two accesses to shared memory in one step")
                .label("the second access")
                .context(first, "the first access")
                .help(
                    "make two statements of it: read into a local first; or write \
                     `atomic:` if the published algorithm has both in one step",
                );
            return Err(self.report(message, span));
        }
        self.spent = Some(span);
        Ok(())
    }

    /// Makes an access, and returns its result.
    pub fn result_of(&mut self, access: Access, content: Type, span: Span) -> Parsed<Expression> {
        self.spend(span)?;
        let result = self.hidden(content, span);
        let into = Some(whole(result));
        self.push(StatementKind::Access { access, into }, span);
        Ok(self.read(result, span))
    }

    pub fn push(&mut self, kind: StatementKind, span: Span) {
        self.block.push(Statement { kind, span, mark: None });
    }

    /// Checks `f(...)` within an expression.
    pub fn call_within(
        &mut self,
        name: &Name,
        arguments: &[tree::Expression],
        span: Span,
    ) -> Parsed<Expression> {
        match name.text.as_str() {
            "process" => self.by_number(name, arguments, Type::Process, span),
            "segment" => self.by_number(name, arguments, Type::Segment, span),
            "number" => self.number_of_value(arguments, span),
            "value" => self.value_by_number(arguments, span),
            _ => {
                if let Some(operation) = self.list_operation(name) {
                    return self.list(operation, arguments, span);
                }
                if let Some(held) = self.exchange(name, arguments, span)? {
                    return Ok(self.read(held, span));
                }
                if let Some((access, content)) = self.operation(name, arguments, span)? {
                    return self.result_of(access, content, span);
                }
                if self.globals.operation(&name.text).is_some() {
                    return Err(self.report(call_within(), span));
                }
                Err(self.unknown_procedure(name))
            }
        }
    }

    pub fn unknown_procedure(&mut self, name: &Name) -> Reported {
        let own = OWN_PROCEDURES.into_iter();
        let nearest = self.reporter.nearest(&name.text, own.chain(self.globals.procedure_names()));
        let message =
            message!("unknown-procedure", "unknown procedure `{}`", name.text).nearest(nearest);
        self.report(message, name.span)
    }

    /// Returns LL, SC, VL or CAS, with the type of the result; `None` for other names.
    pub fn operation(
        &mut self,
        name: &Name,
        arguments: &[tree::Expression],
        span: Span,
    ) -> Parsed<Option<(Access, Type)>> {
        let (operation, count, needed) = match name.text.as_str() {
            "LL" => ("LL", 1, CellKind::Linked),
            "VL" => ("VL", 1, CellKind::Linked),
            "SC" => ("SC", 2, CellKind::Linked),
            "CAS" => ("CAS", 3, CellKind::Swappable),
            _ => return Ok(None),
        };
        self.not_constant(span)?;
        if arguments.len() != count {
            return Err(self.argument_count(operation, count, arguments.len(), span));
        }
        let place = self.cell_argument(operation, needed, &arguments[0])?;
        let content = self.globals.shared[place.variable.0 as usize].content.clone();
        Ok(Some(match operation {
            "LL" => (Access::LoadLinked(place), content),
            "VL" => (Access::Validate(place), Type::Bool),
            "SC" => {
                let value = self.expect_type(&arguments[1], &content)?;
                (Access::StoreConditional(place, value), Type::Bool)
            }
            _ => {
                let old = self.expect_type(&arguments[1], &content)?;
                let new = self.expect_type(&arguments[2], &content)?;
                (Access::CompareAndSwap(place, old, new), Type::Bool)
            }
        }))
    }

    /// Returns the cell that an operation accesses.
    pub fn cell_argument(
        &mut self,
        operation: &'static str,
        needed: CellKind,
        written: &tree::Expression,
    ) -> Parsed<CellPlace> {
        let (root, indices) = unindexed(written);
        if let (Written::Field(..), []) = (&written.kind, &indices[..])
            && let Target::Cell(cell, _) = self.target(written)?
        {
            return self.suitable(cell, operation, needed);
        }
        let meaning = match &root.kind {
            Written::Variable(name) => match self.meaning(name) {
                None => return Err(self.unknown(name, root.span)),
                meaning => meaning,
            },
            _ => None,
        };
        match meaning {
            Some(Meaning::Global(Global::Broken)) => Err(self.reporter.already()),
            Some(Meaning::Global(Global::Shared(id))) => {
                if indices.len() > self.globals.shared[id.0 as usize].dimensions.len() {
                    return Err(self.report(not_a_cell(operation), written.span));
                }
                let is_whole = indices.len() == self.globals.shared[id.0 as usize].dimensions.len();
                let cell = match is_whole {
                    true => self.cell(id, &indices, written.span)?,
                    false => CellPlace { variable: id, indices: Vec::new(), span: written.span },
                };
                let cell = self.suitable(cell, operation, needed)?;
                if is_whole { Ok(cell) } else { self.cell(id, &indices, written.span) }
            }
            _ => Err(self.report(not_a_cell(operation), written.span)),
        }
    }

    /// Returns the cell, if the operation applies to it.
    fn suitable(
        &mut self,
        cell: CellPlace,
        operation: &'static str,
        needed: CellKind,
    ) -> Parsed<CellPlace> {
        let declared = &self.globals.shared[cell.variable.0 as usize];
        if declared.cell == needed {
            return Ok(cell);
        }
        let (name, needed) =
            (&declared.name, if needed == CellKind::Linked { "llsc" } else { "cas" });
        let found = match declared.cell {
            CellKind::Register => "a plain register",
            CellKind::Linked => "llsc",
            CellKind::Swappable => "cas",
        };
        let message = message!("wrong-cell", "`{operation}` on a cell that is not `{needed}`")
            .label(format!("`{name}` is declared as {found}"))
            .help(match name.split_once('.') {
                Some((node, field)) => {
                    format!("declare it, in `node {node}`, as `{field}: {needed} ...`")
                }
                None => format!("declare it as `shared {name}: {needed} ...`"),
            });
        Err(self.report(message, cell.span))
    }

    /// Checks `left and right`, `left or right`.
    pub fn short_circuit(
        &mut self,
        operator: Binary,
        left: &tree::Expression,
        right: &tree::Expression,
        span: Span,
    ) -> Parsed<Expression> {
        let left = self.condition(left)?;
        self.short_circuit_after(operator, left, right, span)
    }

    /// Combines the condition of a quantifier with the test that its variable is inside of computed
    /// bounds. For other indices the result is neutral.
    pub fn where_inside(
        &mut self,
        all: bool,
        inside: Expression,
        condition: &tree::Expression,
        span: Span,
    ) -> Parsed<Expression> {
        if !all {
            return self.short_circuit_after(Binary::And, inside, condition, span);
        }
        let place = inside.span;
        let kind = ExpressionKind::Not(Box::new(inside));
        let outside = Expression { kind, content: Type::Bool, span: place };
        self.short_circuit_after(Binary::Or, outside, condition, span)
    }

    fn short_circuit_after(
        &mut self,
        operator: Binary,
        left: Expression,
        right: &tree::Expression,
        span: Span,
    ) -> Parsed<Expression> {
        let (right, mut statements) = self.apart(|body| body.condition(right));
        let right = right?;
        if statements.is_empty() {
            return Ok(super::expression::apply(operator, left, right, Type::Bool, span));
        }
        let made = self.release(&statements, &right);
        let result = self.hidden(Type::Bool, span);
        deliver(&mut statements, made, right, whole(result));
        let decided = assign(
            whole(result),
            Expression {
                kind: ExpressionKind::Bool(operator == Binary::Or),
                content: Type::Bool,
                span,
            },
        );
        let (then, otherwise) = match operator {
            Binary::And => (statements, vec![decided]),
            _ => (vec![decided], statements),
        };
        self.push(StatementKind::If { condition: left, then, otherwise }, span);
        Ok(self.read(result, span))
    }

    /// Checks `if C then A else B`.
    pub fn either(
        &mut self,
        condition: &tree::Expression,
        then: &tree::Expression,
        otherwise: &tree::Expression,
        expected: Option<&Type>,
        span: Span,
    ) -> Parsed<Expression> {
        let condition = self.condition(condition)?;
        let before = self.spent;
        let (then, mut then_statements) = self.branch(then, expected);
        let after = std::mem::replace(&mut self.spent, before);
        let (otherwise, mut otherwise_statements) = self.branch(otherwise, expected);
        self.spent = self.spent.or(after);
        let (mut then, mut otherwise) = (then?, otherwise?);
        let content = match expected {
            Some(content) => content.clone(),
            None => {
                let Some(content) = Self::join(&then, &otherwise) else {
                    let (expected, found) = (then.content, otherwise.content);
                    return Err(self.report(mismatch(&expected, &found), otherwise.span));
                };
                then = self.coerce(then, &content)?;
                otherwise = self.coerce(otherwise, &content)?;
                content
            }
        };
        if then_statements.is_empty() && otherwise_statements.is_empty() {
            let (then, otherwise) = (Box::new(then), Box::new(otherwise));
            let kind = ExpressionKind::If(Box::new(condition), then, otherwise);
            return Ok(Expression { kind, content, span });
        }
        // In reverse order, so that both hidden locals can be taken back.
        let otherwise_made = self.release(&otherwise_statements, &otherwise);
        let then_made = self.release(&then_statements, &then);
        let result = self.hidden(content, span);
        deliver(&mut then_statements, then_made, then, whole(result));
        deliver(&mut otherwise_statements, otherwise_made, otherwise, whole(result));
        let kind =
            StatementKind::If { condition, then: then_statements, otherwise: otherwise_statements };
        self.push(kind, span);
        Ok(self.read(result, span))
    }

    fn branch(
        &mut self,
        written: &tree::Expression,
        expected: Option<&Type>,
    ) -> (Parsed<Expression>, Vec<Statement>) {
        self.apart(|body| match expected {
            Some(content) => body.expect_type(written, content),
            None => body.expression(written, None),
        })
    }

    /// Makes `[E for x in SET]` where E accesses.
    pub fn collected(
        &mut self,
        variable: LocalId,
        over: IndexSet,
        element: Expression,
        mut body: Vec<Statement>,
        content: Type,
        span: Span,
    ) -> Expression {
        let made = self.release(&body, &element);
        let result = self.hidden(content, span);
        let index = self.read(variable, span);
        let place = Place { root: Root::Local(result), path: vec![Projection::Index(index)] };
        deliver(&mut body, made, element, place);
        self.push(StatementKind::For { variable, over, except: None, body }, span);
        self.read(result, span)
    }

    /// Makes `all x in SET: C` or `any x in SET: C` where C accesses. The loop evaluates C while
    /// the result still equals the result for an empty set.
    pub fn decided(
        &mut self,
        all: bool,
        variable: LocalId,
        (over, except): (IndexSet, Option<Expression>),
        condition: Expression,
        mut body: Vec<Statement>,
        span: Span,
    ) -> Expression {
        let made = self.release(&body, &condition);
        let result = self.hidden(Type::Bool, span);
        let without = Expression { kind: ExpressionKind::Bool(all), content: Type::Bool, span };
        self.block.push(assign(whole(result), without));
        deliver(&mut body, made, condition, whole(result));
        let so_far = self.read(result, span);
        let undecided = match all {
            true => so_far,
            false => Expression {
                kind: ExpressionKind::Not(Box::new(so_far)),
                content: Type::Bool,
                span,
            },
        };
        let kind = StatementKind::If { condition: undecided, then: body, otherwise: Vec::new() };
        let body = vec![Statement { kind, span, mark: None }];
        self.push(StatementKind::For { variable, over, except, body }, span);
        self.read(result, span)
    }
}

fn not_a_cell(operation: &str) -> Message {
    message!("not-a-cell", "`{operation}` needs a cell of shared memory")
        .help("name a cell that is declared `shared`, with all its indices")
}
