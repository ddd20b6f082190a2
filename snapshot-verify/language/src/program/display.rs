//! Prints a checked program as text, for people.
//!
//! The text is close to the language, but not part of it: every access is a separate statement,
//! hidden locals stand between angle brackets, and conversions are written out.

use std::fmt::{self, Display, Formatter, Write};

use super::{
    Access, Binary, By, CellKind, CellPlace, Expression, ExpressionKind, IndexSet, ListOperation,
    LocalId, Mark, Object, Place, Procedure, Program, Projection, Root, SharedVariable, Statement,
    StatementKind,
};

impl Display for Program {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "algorithm {}", self.name)?;
        if let Some(bug) = &self.bug {
            write!(f, ", bug {bug}")?;
        }
        f.write_str("\n\n")?;
        if let Some(object) = self.object() {
            writeln!(f, "{object}")?;
        }
        let constants = Scope { program: self, procedure: None };
        for one in &self.initial_nodes {
            write!(f, "initially {} {}: ", self.node(one.node).name, one.number)?;
            constants.list(f, &one.fields)?;
            f.write_char('\n')?;
        }
        for variable in &self.shared {
            shared(f, variable, &constants)?;
        }
        for variable in &self.private {
            write!(f, "private {}: {} := ", variable.name, variable.content)?;
            constants.expression(f, &variable.initial)?;
            f.write_char('\n')?;
        }
        for procedure in &self.procedures {
            f.write_char('\n')?;
            Scope { program: self, procedure: Some(procedure) }.procedure(f, procedure)?;
        }
        Ok(())
    }
}

/// Formats as the specification, with its private variables as the state.
impl Display for Object {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        writeln!(f, "object {}", self.name)?;
        let specification = &self.specification;
        let scope = |procedure| Scope { program: specification, procedure };
        for variable in &specification.private {
            write!(f, "state {}: {} := ", variable.name, variable.content)?;
            scope(None).expression(f, &variable.initial)?;
            f.write_char('\n')?;
        }
        for operation in &self.operations {
            match &operation.by {
                By::All => {}
                By::Process(number) => writeln!(f, "by process {number}:")?,
                By::Except(numbers) => writeln!(f, "by all but {numbers:?}:")?,
            }
            for id in operation.when.into_iter().chain(operation.awaits).chain([operation.effect]) {
                let procedure = specification.procedure(id);
                scope(Some(procedure)).procedure(f, procedure)?;
            }
        }
        Ok(())
    }
}

fn shared(f: &mut Formatter<'_>, variable: &SharedVariable, scope: &Scope<'_>) -> fmt::Result {
    write!(f, "shared {}", variable.name)?;
    for index in &variable.dimensions {
        write!(f, "[{index}]")?;
    }
    f.write_str(match variable.cell {
        CellKind::Register => ": ",
        CellKind::Linked => ": llsc ",
        CellKind::Swappable => ": cas ",
    })?;
    write!(f, "{} := ", variable.content)?;
    scope.expression(f, &variable.initial)?;
    f.write_char('\n')
}

/// Declarations that names refer to.
struct Scope<'a> {
    program: &'a Program,
    /// `None` in declarations.
    procedure: Option<&'a Procedure>,
}

impl Scope<'_> {
    fn procedure(&self, f: &mut Formatter<'_>, procedure: &Procedure) -> fmt::Result {
        write!(f, "procedure {}(", procedure.name)?;
        for (id, local) in (0..).zip(&procedure.locals[..procedure.parameters]) {
            let comma = if id == 0 { "" } else { ", " };
            write!(f, "{comma}{}: {}", self.local(LocalId(id)), local.content)?;
        }
        f.write_char(')')?;
        if let Some(returns) = &procedure.returns {
            write!(f, ": {returns}")?;
        }
        f.write_char('\n')?;
        for (id, local) in (0..).zip(&procedure.locals).skip(procedure.parameters) {
            write!(f, "    local {}: {} := ", self.local(LocalId(id)), local.content)?;
            self.expression(f, &local.initial)?;
            f.write_char('\n')?;
        }
        self.block(f, &procedure.body, 1)
    }

    /// Returns the name of a local; with its number if others have the same name.
    fn local(&self, id: LocalId) -> String {
        let Some((procedure, local)) = self
            .procedure
            .and_then(|procedure| Some((procedure, procedure.locals.get(id.0 as usize)?)))
        else {
            return format!("#{}", id.0);
        };
        let same =
            |other: &&super::Local| (&other.name, other.hidden) == (&local.name, local.hidden);
        let number = match procedure.locals.iter().filter(same).count() {
            1 => String::new(),
            _ => format!("#{}", id.0),
        };
        if local.hidden {
            format!("<{}{number}>", local.name)
        } else {
            format!("{}{number}", local.name)
        }
    }

    fn block(&self, f: &mut Formatter<'_>, statements: &[Statement], depth: usize) -> fmt::Result {
        if statements.is_empty() {
            writeln!(f, "{}skip", "    ".repeat(depth))?;
        }
        statements.iter().try_for_each(|statement| self.statement(f, statement, depth))
    }

    fn statement(&self, f: &mut Formatter<'_>, of: &Statement, depth: usize) -> fmt::Result {
        f.write_str(&"    ".repeat(depth))?;
        match &of.kind {
            StatementKind::Assign { place, value } => {
                self.place(f, place)?;
                f.write_str(" := ")?;
                self.expression(f, value)?;
            }
            StatementKind::Access { access, into } => {
                self.target(f, into.as_ref())?;
                self.access(f, access)?;
                f.write_str(match of.mark {
                    None => "",
                    Some(Mark::Always) => " linearizes",
                    Some(Mark::OnCondition) => " linearizes on condition",
                })?;
            }
            StatementKind::Point(condition) => {
                f.write_str("condition: ")?;
                self.expression(f, condition)?;
            }
            StatementKind::Call { procedure, arguments, into } => {
                self.target(f, into.as_ref())?;
                f.write_str(&self.program.procedure(*procedure).name)?;
                self.list(f, arguments)?;
            }
            StatementKind::If { condition, then, otherwise } => {
                f.write_str("if ")?;
                self.expression(f, condition)?;
                f.write_str(":\n")?;
                self.block(f, then, depth + 1)?;
                if otherwise.is_empty() {
                    return Ok(());
                }
                writeln!(f, "{}else:", "    ".repeat(depth))?;
                return self.block(f, otherwise, depth + 1);
            }
            StatementKind::Loop { body } => {
                f.write_str("loop:\n")?;
                return self.block(f, body, depth + 1);
            }
            StatementKind::For { variable, over, except, body } => {
                f.write_str("for ")?;
                self.range(f, *variable, *over, except.as_ref())?;
                f.write_str(":\n")?;
                return self.block(f, body, depth + 1);
            }
            StatementKind::Atomic(body) => {
                f.write_str("atomic:\n")?;
                return self.block(f, body, depth + 1);
            }
            StatementKind::New { node, fields, into } => {
                self.place(f, into)?;
                write!(f, " := new {}", self.program.node(*node).name)?;
                self.list(f, fields)?;
            }
            StatementKind::Free(pointer) => {
                f.write_str("free ")?;
                self.expression(f, pointer)?;
            }
            StatementKind::Break => f.write_str("exit")?,
            StatementKind::Together => f.write_str("together")?,
            StatementKind::Choose { over, into } => {
                self.place(f, into)?;
                write!(f, " := choose {}", over.plural())?;
            }
            StatementKind::Return(None) => f.write_str("return")?,
            StatementKind::Return(Some(value)) => {
                f.write_str("return ")?;
                self.expression(f, value)?;
            }
        }
        f.write_char('\n')
    }

    fn target(&self, f: &mut Formatter<'_>, into: Option<&Place>) -> fmt::Result {
        let Some(place) = into else { return Ok(()) };
        self.place(f, place)?;
        f.write_str(" := ")
    }

    fn place(&self, f: &mut Formatter<'_>, place: &Place) -> fmt::Result {
        let content = match place.root {
            Root::Local(id) => {
                f.write_str(&self.local(id))?;
                self.procedure.map(|procedure| &procedure.local(id).content)
            }
            Root::Private(id) => {
                f.write_str(&self.program.private(id).name)?;
                Some(&self.program.private(id).content)
            }
        };
        let mut content = content.cloned();
        for projection in &place.path {
            content = match projection {
                Projection::Index(index) => {
                    f.write_char('[')?;
                    self.expression(f, index)?;
                    f.write_char(']')?;
                    match content {
                        Some(super::Type::Array { element, .. }) => Some(*element),
                        _ => None,
                    }
                }
                Projection::Field(position) => {
                    let field = content.as_ref().and_then(|content| field(content, *position));
                    match field {
                        Some(field) => write!(f, ".{}", field.name)?,
                        None => write!(f, ".{position}")?,
                    }
                    field.map(|field| field.content.clone())
                }
            };
        }
        Ok(())
    }

    fn cell(&self, f: &mut Formatter<'_>, cell: &CellPlace) -> fmt::Result {
        f.write_str(&self.program.shared(cell.variable).name)?;
        for index in &cell.indices {
            f.write_char('[')?;
            self.expression(f, index)?;
            f.write_char(']')?;
        }
        Ok(())
    }

    fn access(&self, f: &mut Formatter<'_>, access: &Access) -> fmt::Result {
        let (name, cell, operands): (_, _, &[&Expression]) = match access {
            Access::Read(cell) => return self.cell(f, cell),
            Access::Write(cell, value) => {
                self.cell(f, cell)?;
                f.write_str(" := ")?;
                return self.expression(f, value);
            }
            Access::LoadLinked(cell) => ("LL", cell, &[]),
            Access::StoreConditional(cell, value) => ("SC", cell, &[value]),
            Access::Validate(cell) => ("VL", cell, &[]),
            Access::CompareAndSwap(cell, old, new) => ("CAS", cell, &[old, new]),
        };
        write!(f, "{name}(")?;
        self.cell(f, cell)?;
        for operand in operands {
            f.write_str(", ")?;
            self.expression(f, operand)?;
        }
        f.write_char(')')
    }

    fn range(
        &self,
        f: &mut Formatter<'_>,
        variable: LocalId,
        over: IndexSet,
        except: Option<&Expression>,
    ) -> fmt::Result {
        write!(f, "{} in {}", self.local(variable), over.plural())?;
        if let Some(except) = except {
            f.write_str(" except ")?;
            self.expression(f, except)?;
        }
        Ok(())
    }

    fn list(&self, f: &mut Formatter<'_>, list: &[Expression]) -> fmt::Result {
        f.write_char('(')?;
        for (position, each) in list.iter().enumerate() {
            if position > 0 {
                f.write_str(", ")?;
            }
            self.expression(f, each)?;
        }
        f.write_char(')')
    }

    /// Adds parentheses to a compound expression.
    fn operand(&self, f: &mut Formatter<'_>, of: &Expression) -> fmt::Result {
        let several = matches!(
            of.kind,
            ExpressionKind::Binary(..)
                | ExpressionKind::Not(_)
                | ExpressionKind::If(..)
                | ExpressionKind::Quantified { .. }
                | ExpressionKind::With(..)
                | ExpressionKind::Successor(_)
                | ExpressionKind::Remainder(..)
                | ExpressionKind::Quotient(..)
        );
        if several {
            f.write_char('(')?;
        }
        self.expression(f, of)?;
        if several { f.write_char(')') } else { Ok(()) }
    }

    fn expression(&self, f: &mut Formatter<'_>, of: &Expression) -> fmt::Result {
        match &of.kind {
            ExpressionKind::Bool(bool) => write!(f, "{bool}"),
            ExpressionKind::Integer(number) => write!(f, "{number}"),
            ExpressionKind::Process(number) => write!(f, "process({number})"),
            ExpressionKind::Segment(number) => write!(f, "segment({number})"),
            ExpressionKind::None => f.write_str("none"),
            ExpressionKind::InitialValue => f.write_str("initial"),
            ExpressionKind::InitialNode(number) => write!(f, "{} {number}", of.content),
            ExpressionKind::FirstVersion => f.write_str("first"),
            ExpressionKind::Counter(number) => write!(f, "{number}"),
            ExpressionKind::Me => f.write_str("me"),
            ExpressionKind::List(ListOperation::Empty, _) => f.write_str("[]"),
            ExpressionKind::List(operation, operands) => {
                f.write_str(operation.name())?;
                self.list(f, operands)
            }
            ExpressionKind::Fresh => f.write_str("fresh"),
            ExpressionKind::Local(id) => f.write_str(&self.local(*id)),
            ExpressionKind::Private(id) => f.write_str(&self.program.private(*id).name),
            ExpressionKind::Convert(inside) => self.wrapped(f, &of.content.to_string(), inside),
            ExpressionKind::Checked(inside) => {
                self.wrapped(f, &format!("in {}", of.content), inside)
            }
            ExpressionKind::NumberOf(inside) => self.wrapped(f, "number", inside),
            ExpressionKind::ValueOf(inside) => self.wrapped(f, "value", inside),
            ExpressionKind::Some(inside) => self.wrapped(f, "some", inside),
            ExpressionKind::Unwrap(inside) => self.wrapped(f, "unwrap", inside),
            ExpressionKind::Filled(inside) => {
                f.write_char('[')?;
                self.expression(f, inside)?;
                f.write_str(", ...]")
            }
            ExpressionKind::Index(array, index) => {
                self.operand(f, array)?;
                f.write_char('[')?;
                self.expression(f, index)?;
                f.write_char(']')
            }
            ExpressionKind::Field(record, position) => {
                self.operand(f, record)?;
                write!(f, ".{}", field_name(record, *position))
            }
            ExpressionKind::Record(fields) => self.list(f, fields),
            ExpressionKind::With(record, fields) => {
                self.operand(f, record)?;
                f.write_str(" with (")?;
                for (number, (position, value)) in fields.iter().enumerate() {
                    let comma = if number == 0 { "" } else { ", " };
                    write!(f, "{comma}{}: ", field_name(record, *position))?;
                    self.expression(f, value)?;
                }
                f.write_char(')')
            }
            ExpressionKind::Each { variable, over, body } => {
                f.write_char('[')?;
                self.expression(f, body)?;
                f.write_str(" for ")?;
                self.range(f, *variable, *over, None)?;
                f.write_char(']')
            }
            ExpressionKind::Quantified { all, variable, over, except, body } => {
                f.write_str(if *all { "all " } else { "any " })?;
                self.range(f, *variable, *over, except.as_deref())?;
                f.write_str(": ")?;
                self.expression(f, body)
            }
            ExpressionKind::Not(inside) => {
                f.write_str("not ")?;
                self.operand(f, inside)
            }
            ExpressionKind::Binary(operator, left, right) => {
                self.operand(f, left)?;
                write!(f, " {} ", symbol(*operator))?;
                self.operand(f, right)
            }
            ExpressionKind::If(condition, then, otherwise) => {
                f.write_str("if ")?;
                self.expression(f, condition)?;
                f.write_str(" then ")?;
                self.expression(f, then)?;
                f.write_str(" else ")?;
                self.expression(f, otherwise)
            }
            ExpressionKind::Successor(counter) => {
                self.operand(f, counter)?;
                f.write_str(" + 1")
            }
            ExpressionKind::Remainder(number, divisor) => {
                self.operand(f, number)?;
                write!(f, " mod {divisor}")
            }
            ExpressionKind::Quotient(number, divisor) => {
                self.operand(f, number)?;
                write!(f, " / {divisor}")
            }
        }
    }

    fn wrapped(&self, f: &mut Formatter<'_>, with: &str, inside: &Expression) -> fmt::Result {
        write!(f, "{with}(")?;
        self.expression(f, inside)?;
        f.write_char(')')
    }
}

fn field(content: &super::Type, position: usize) -> Option<&super::Field> {
    match content {
        super::Type::Record(fields) => fields.get(position),
        _ => None,
    }
}

fn field_name(record: &Expression, position: usize) -> String {
    field(&record.content, position)
        .map_or_else(|| position.to_string(), |field| field.name.clone())
}

const fn symbol(operator: Binary) -> &'static str {
    match operator {
        Binary::And => "and",
        Binary::Or => "or",
        Binary::Equal => "=",
        Binary::NotEqual => "!=",
        Binary::Less => "<",
        Binary::LessOrEqual => "<=",
        Binary::Add => "+",
        Binary::Subtract => "-",
    }
}
