//! Prints the syntax tree as text that parses to the same tree.

use std::fmt::{self, Display, Formatter, Write};

use super::tree::{
    By, Cell, Expression, ExpressionKind, Indices, IndicesKind, Mark, Name, Node, Object,
    Operation, Operator, Procedure, Range, Statement, StatementKind, Tree, TypeExpression,
    TypeKind, Variable,
};

impl Display for Tree {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        writeln!(f, "algorithm {}", self.name.text)?;
        if let Some(citation) = &self.citation {
            writeln!(f, "source \"{citation}\"")?;
        }
        let blank = |f: &mut Formatter<'_>, any: bool| if any { writeln!(f) } else { Ok(()) };
        blank(f, !self.types.is_empty())?;
        for declaration in &self.types {
            writeln!(f, "type {} = {}", declaration.name.text, declaration.content)?;
        }
        if let Some(object) = &self.object {
            write!(f, "\n{object}")?;
        }
        for node in &self.nodes {
            write!(f, "\n{node}")?;
        }
        blank(f, !self.initially.is_empty())?;
        for one in &self.initially {
            write!(f, "initially {} := new {}(", one.name.text, one.node.text)?;
            separated(f, &one.fields, |f, field| write!(f, "{field}"))?;
            writeln!(f, ")")?;
        }
        blank(f, !self.shared.is_empty())?;
        for variable in &self.shared {
            writeln!(f, "shared {variable}")?;
        }
        blank(f, !self.private.is_empty())?;
        for variable in &self.private {
            writeln!(f, "private {variable}")?;
        }
        for procedure in &self.procedures {
            write!(f, "\n{procedure}")?;
        }
        Ok(())
    }
}

impl Node {
    /// Returns the first line, without the colon before the fields.
    pub fn signature(&self) -> String {
        let text = self.to_string();
        let line = text.lines().next().unwrap_or_default();
        line.strip_suffix(':').unwrap_or(line).to_owned()
    }
}

impl Display for Node {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "node {}", self.name.text)?;
        if let Some(bound) = &self.bound {
            f.write_str(" up to ")?;
            operand(f, bound, Operator::Equal.precedence())?;
        }
        if self.stable {
            f.write_str(" type stable")?;
        }
        writeln!(f, ":")?;
        self.fields.iter().try_for_each(|field| writeln!(f, "    {field}"))
    }
}

impl Display for Variable {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name.text)?;
        for index in &self.dimensions {
            write!(f, "[{}]", Singular(index))?;
        }
        f.write_str(match self.cell {
            None => ": ",
            Some(Cell::Linked) => ": llsc ",
            Some(Cell::Swappable) => ": cas ",
        })?;
        write!(f, "{}", self.content)?;
        match &self.initial {
            Some(initial) => write!(f, " := {initial}"),
            None => Ok(()),
        }
    }
}

impl Procedure {
    /// Returns the first line, without the colon before the body.
    pub fn signature(&self) -> String {
        let text = self.to_string();
        let line = text.lines().next().unwrap_or_default();
        line.strip_suffix(':').unwrap_or(line).to_owned()
    }
}

impl Display for Procedure {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let operation = matches!(self.name.text.as_str(), "update" | "scan");
        let word = if operation { "" } else { "procedure " };
        write!(f, "{word}{}", self.name.text)?;
        if !(operation && self.parameters.is_empty()) {
            parameters(f, self)?;
        }
        f.write_char(':')?;
        if let Some(returns) = &self.returns {
            write!(f, " {returns}:")?;
        }
        f.write_char('\n')?;
        for local in &self.locals {
            writeln!(f, "    local {local}")?;
        }
        block(f, &self.body, 1)
    }
}

fn parameters(f: &mut Formatter<'_>, of: &Procedure) -> fmt::Result {
    f.write_char('(')?;
    separated(f, &of.parameters, |f, (name, content)| match content {
        Some(content) => write!(f, "{}: {content}", name.text),
        None => f.write_str(&name.text),
    })?;
    f.write_char(')')
}

impl Display for Object {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        writeln!(f, "object {}:", self.name.text)?;
        for variable in &self.state {
            writeln!(f, "    state {variable}")?;
        }
        for Operation { procedure, by, when, awaits } in &self.operations {
            write!(f, "    {}", procedure.name.text)?;
            if !procedure.parameters.is_empty() {
                parameters(f, procedure)?;
            }
            if let Some(returns) = &procedure.returns {
                write!(f, ": {returns}")?;
            }
            match by {
                By::All => {}
                By::Process(number) => write!(f, " by process {number}")?,
                By::Others => f.write_str(" by others")?,
            }
            if let Some(when) = when {
                write!(f, " when {when}")?;
            }
            if let Some(awaits) = awaits {
                write!(f, " await {awaits}")?;
            }
            writeln!(f, ":")?;
            for local in &procedure.locals {
                writeln!(f, "        local {local}")?;
            }
            block(f, &procedure.body, 2)?;
        }
        Ok(())
    }
}

fn block(f: &mut Formatter<'_>, statements: &[Statement], depth: usize) -> fmt::Result {
    statements.iter().try_for_each(|each| statement(f, each, depth))
}

fn statement(f: &mut Formatter<'_>, of: &Statement, depth: usize) -> fmt::Result {
    let indentation = "    ".repeat(depth);
    let line = |f: &mut Formatter<'_>, text: &dyn Display| {
        write!(f, "{indentation}{text}")?;
        match &of.mark {
            None => writeln!(f),
            Some(mark) => writeln!(f, " {mark}"),
        }
    };
    // A block, with its mark on a separate line.
    let marked = |f: &mut Formatter<'_>, body: &[Statement]| {
        block(f, body, depth + 1)?;
        match &of.mark {
            None => Ok(()),
            Some(mark) => writeln!(f, "{indentation}{mark}"),
        }
    };
    match &of.kind {
        StatementKind::Assign(place, value) => line(f, &format_args!("{place} := {value}")),
        StatementKind::TakeApart(places, value) => {
            let places: Vec<String> = places
                .iter()
                .map(|place| place.as_ref().map_or_else(|| "_".to_owned(), ToString::to_string))
                .collect();
            line(f, &format_args!("({}) := {value}", places.join(", ")))
        }
        StatementKind::Do(expression) => line(f, expression),
        StatementKind::Exit => line(f, &"exit"),
        StatementKind::Free(pointer) => line(f, &format_args!("free {pointer}")),
        StatementKind::Skip => line(f, &"skip"),
        StatementKind::Together => line(f, &"together"),
        StatementKind::Choose(place, over) => {
            line(f, &format_args!("{place} := choose {}", Plural(over)))
        }
        StatementKind::Return(None) => line(f, &"return"),
        StatementKind::Return(Some(value)) => line(f, &format_args!("return {value}")),
        StatementKind::If(arms, otherwise) => {
            let mut word = "if";
            for (condition, then) in arms {
                writeln!(f, "{indentation}{word} {condition}:")?;
                block(f, then, depth + 1)?;
                word = "else if";
            }
            if let Some(otherwise) = otherwise {
                writeln!(f, "{indentation}else:")?;
                block(f, otherwise, depth + 1)?;
            }
            Ok(())
        }
        StatementKind::Repeat(body, condition) => {
            writeln!(f, "{indentation}repeat")?;
            block(f, body, depth + 1)?;
            line(f, &format_args!("until {condition}"))
        }
        StatementKind::While(condition, body) => {
            writeln!(f, "{indentation}while {condition}:")?;
            marked(f, body)
        }
        StatementKind::Loop(body) => {
            writeln!(f, "{indentation}loop")?;
            marked(f, body)
        }
        StatementKind::For(range, body) => {
            writeln!(f, "{indentation}for {range}:")?;
            marked(f, body)
        }
        StatementKind::Atomic(body) => {
            writeln!(f, "{indentation}atomic:")?;
            marked(f, body)
        }
    }
}

impl Display for Mark {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match &self.condition {
            None => f.write_str("linearizes"),
            Some(condition) => write!(f, "linearizes if {condition}"),
        }
    }
}

impl Display for Range {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{} in {}", self.variable.text, Plural(&self.over))?;
        match &self.except {
            Some(except) => write!(f, " except {except}"),
            None => Ok(()),
        }
    }
}

/// Index set in a declaration of a family or an array.
struct Singular<'a>(&'a Indices);

impl Display for Singular<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match &self.0.kind {
            IndicesKind::Processes => f.write_str("process"),
            IndicesKind::Segments => f.write_str("segment"),
            IndicesKind::Range(low, high) => bounds(f, low, high),
        }
    }
}

/// Index set of a variable.
struct Plural<'a>(&'a Indices);

impl Display for Plural<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match &self.0.kind {
            IndicesKind::Processes => f.write_str("processes"),
            IndicesKind::Segments => f.write_str("segments"),
            IndicesKind::Range(low, high) => bounds(f, low, high),
        }
    }
}

fn bounds(f: &mut Formatter<'_>, low: &Expression, high: &Expression) -> fmt::Result {
    let looser = Operator::Equal.precedence();
    operand(f, low, looser)?;
    f.write_str("..")?;
    operand(f, high, looser)
}

impl Display for TypeExpression {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match &self.kind {
            TypeKind::Named(name) => f.write_str(name),
            TypeKind::Range(low, high) => bounds(f, low, high),
            TypeKind::Optional(content) => {
                match content.kind {
                    // Without parentheses, only their last part would be optional.
                    TypeKind::Array(..) | TypeKind::List(_) | TypeKind::Optional(_) => {
                        write!(f, "({content})")?;
                    }
                    _ => write!(f, "{content}")?,
                }
                f.write_str(" or none")
            }
            TypeKind::Record(fields) => {
                f.write_str("record (")?;
                separated(f, fields, |f, (name, content)| write!(f, "{}: {content}", name.text))?;
                f.write_char(')')
            }
            TypeKind::List(element) => write!(f, "list of {element}"),
            TypeKind::Array(index, element) => {
                write!(f, "array [{}] of {element}", Singular(index))
            }
        }
    }
}

impl Display for Expression {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match &self.kind {
            ExpressionKind::Bool(bool) => write!(f, "{bool}"),
            ExpressionKind::Number(number) => write!(f, "{number}"),
            ExpressionKind::None => f.write_str("none"),
            ExpressionKind::Me => f.write_str("me"),
            ExpressionKind::N => f.write_str("n"),
            ExpressionKind::Initial => f.write_str("initial"),
            ExpressionKind::Fresh => f.write_str("fresh"),
            ExpressionKind::Variable(name) => f.write_str(name),
            ExpressionKind::Index(array, index) => {
                operand(f, array, u8::MAX)?;
                write!(f, "[{index}]")
            }
            ExpressionKind::Field(record, name) => {
                operand(f, record, u8::MAX)?;
                write!(f, ".{}", name.text)
            }
            ExpressionKind::Call(name, arguments) => {
                write!(f, "{}(", name.text)?;
                separated(f, arguments, |f, argument| write!(f, "{argument}"))?;
                f.write_char(')')
            }
            ExpressionKind::New(name, fields) => {
                write!(f, "new {}(", name.text)?;
                separated(f, fields, |f, field| write!(f, "{field}"))?;
                f.write_char(')')
            }
            ExpressionKind::EmptyList => f.write_str("[]"),
            ExpressionKind::Tuple(components) => {
                f.write_char('(')?;
                separated(f, components, |f, component| write!(f, "{component}"))?;
                f.write_char(')')
            }
            ExpressionKind::Record(fields) => named(f, fields),
            ExpressionKind::With(record, fields) => {
                operand(f, record, u8::MAX)?;
                f.write_str(" with ")?;
                named(f, fields)
            }
            ExpressionKind::Each(body, range) => write!(f, "[{body} for {range}]"),
            ExpressionKind::Quantified(all, range, body) => {
                let word = if *all { "all" } else { "any" };
                write!(f, "{word} {range}: {body}")
            }
            ExpressionKind::If(condition, then, otherwise) => {
                write!(f, "if {condition} then {then} else {otherwise}")
            }
            ExpressionKind::Not(inside) => {
                f.write_str("not ")?;
                operand(f, inside, Operator::And.precedence())
            }
            ExpressionKind::Binary(operator, left, right) => {
                let precedence = operator.precedence();
                // Comparisons do not chain; other operators associate to the left.
                let looser = if operator.is_comparison() { precedence } else { precedence - 1 };
                operand(f, left, looser)?;
                write!(f, " {} ", operator.symbol())?;
                operand(f, right, precedence)
            }
        }
    }
}

/// Prints an operand of an operator; its own operator must bind tighter than `looser`.
fn operand(f: &mut Formatter<'_>, of: &Expression, looser: u8) -> fmt::Result {
    let binds = match &of.kind {
        ExpressionKind::If(..) | ExpressionKind::Quantified(..) => 0,
        ExpressionKind::Not(_) => Operator::And.precedence() + 1,
        ExpressionKind::Binary(operator, ..) => operator.precedence(),
        _ => return write!(f, "{of}"),
    };
    if binds > looser { write!(f, "{of}") } else { write!(f, "({of})") }
}

fn named(f: &mut Formatter<'_>, fields: &[(Name, Expression)]) -> fmt::Result {
    f.write_char('(')?;
    separated(f, fields, |f, (name, value)| write!(f, "{}: {value}", name.text))?;
    f.write_char(')')
}

fn separated<T>(
    f: &mut Formatter<'_>,
    list: &[T],
    write: impl Fn(&mut Formatter<'_>, &T) -> fmt::Result,
) -> fmt::Result {
    for (position, each) in list.iter().enumerate() {
        if position > 0 {
            f.write_str(", ")?;
        }
        write(f, each)?;
    }
    Ok(())
}
