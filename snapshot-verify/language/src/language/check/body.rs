//! A procedure being checked: its names, and the statements made so far.

use crate::language::diagnostic::syntax::duplicate;
use std::collections::{HashMap, HashSet};

use super::globals::{self, Expected, Global, Globals, Signature};
use super::mark::BlockMark;
use crate::language::diagnostic::{Message, Parsed, Reported, Reporter, message};
use crate::language::tree::{Name, Procedure, Variable};
use crate::language::{Source, Span};
use crate::program::{Expression, ExpressionKind, Local, LocalId, Statement, Type};

/// A procedure, or a constant expression, being checked.
pub(super) struct Body<'a> {
    pub source: &'a Source,
    pub globals: &'a Globals,
    pub reporter: &'a mut Reporter,
    /// `None` for a constant expression.
    pub signature: Option<&'a Signature>,
    /// Restriction of a constant expression.
    pub constant: Option<Constant>,
    /// Statements of the current block. Accesses within an expression are added here, before the
    /// statement that contains the expression.
    pub block: Vec<Statement>,
    /// First access on the current path through the statement.
    pub spent: Option<Span>,
    /// True if all accesses belong to one step.
    pub atomic: bool,
    /// True if the current expression is evaluated once per index.
    pub repeated: bool,
    /// Number of open loops.
    pub loops: usize,
    /// True if linearization points are kept.
    pub with_points: bool,
    /// First access that the text marks as a linearization point.
    pub marked: Option<Span>,
    /// Mark of the innermost enclosing block with a mark.
    pub block_mark: Option<BlockMark>,
    locals: Vec<Local>,
    names: HashMap<String, Visible>,
    /// Names with invalid declarations: these are reported only once.
    broken: HashSet<String>,
}

/// Restriction of a constant expression.
#[derive(Clone, Copy, Debug)]
pub(super) struct Constant {
    /// Whether it may mention `me`.
    pub of_process: bool,
    /// True if the expression may name the initial nodes.
    pub names_nodes: bool,
}

/// A local with a visible name.
#[derive(Clone, Copy, Debug)]
pub(super) struct Visible {
    pub id: LocalId,
    /// True if it is the variable of an index set.
    pub index: bool,
}

/// Variable that a name denotes.
#[derive(Clone, Copy, Debug)]
pub(super) enum Meaning {
    Local(Visible),
    Global(Global),
}

impl<'a> Body<'a> {
    /// Creates the body of a procedure.
    pub fn new(
        source: &'a Source,
        globals: &'a Globals,
        signature: &'a Signature,
        reporter: &'a mut Reporter,
    ) -> Self {
        Self { signature: Some(signature), ..Self::empty(source, globals, reporter) }
    }

    /// Creates the body of a constant expression.
    pub fn constant(
        source: &'a Source,
        globals: &'a Globals,
        constant: Constant,
        reporter: &'a mut Reporter,
    ) -> Self {
        Self { constant: Some(constant), ..Self::empty(source, globals, reporter) }
    }

    fn empty(source: &'a Source, globals: &'a Globals, reporter: &'a mut Reporter) -> Self {
        Self {
            source,
            globals,
            reporter,
            signature: None,
            constant: None,
            block: Vec::new(),
            spent: None,
            atomic: false,
            repeated: false,
            loops: 0,
            with_points: false,
            marked: None,
            block_mark: None,
            locals: Vec::new(),
            names: HashMap::new(),
            broken: HashSet::new(),
        }
    }

    pub fn report(&mut self, message: Message, span: Span) -> Reported {
        self.reporter.report(message, span)
    }

    pub fn declare_parameters(&mut self, procedure: &Procedure) {
        let contents = self.signature.map_or(&[][..], |signature| &signature.parameters);
        for ((name, _), content) in procedure.parameters.iter().zip(contents) {
            match content {
                Some(content) => {
                    let initial = globals::default(content, name.span);
                    if self.declare(name, content.clone(), initial, false).is_err() {
                        // Parameters stay the first locals even if declarations are invalid.
                        self.hidden(content.clone(), name.span);
                    }
                }
                None => {
                    self.broken.insert(name.text.clone());
                }
            }
        }
    }

    pub fn declare_local(&mut self, variable: &Variable) {
        let declared = self
            .globals
            .own_variable(self.source, variable, false, self.reporter)
            .and_then(|(content, initial)| self.declare(&variable.name, content, initial, false));
        if declared.is_err() {
            self.broken.insert(variable.name.text.clone());
        }
    }

    /// Makes a local under a name, which must be new.
    pub fn declare(
        &mut self,
        name: &Name,
        content: Type,
        initial: Expression,
        index: bool,
    ) -> Parsed<LocalId> {
        let first = match self.names.get(&name.text) {
            Some(visible) => Some(self.local(visible.id).span),
            None => self.globals.variable(&name.text).and_then(|global| self.globals.place(global)),
        };
        if let Some(first) = first {
            return Err(self.report(duplicate(&name.text, first), name.span));
        }
        let id = self.push_local(Local {
            name: name.text.clone(),
            span: name.span,
            content,
            initial,
            hidden: false,
        });
        self.names.insert(name.text.clone(), Visible { id, index });
        Ok(id)
    }

    /// Declares the variable of a `for`, `all`, `any`, or array. It must be
    /// [forgotten](Self::forget) at the end of its scope.
    pub fn declare_index(&mut self, name: &Name, content: Type) -> Parsed<LocalId> {
        let initial = globals::default(&content, name.span);
        self.declare(name, content, initial, true)
    }

    /// Ends the scope of a name.
    pub fn forget(&mut self, name: &Name) {
        self.names.remove(&name.text);
    }

    /// Records that the declaration of a name is invalid.
    pub fn declare_broken(&mut self, name: &str) {
        self.broken.insert(name.to_owned());
    }

    /// Makes a hidden local, for the result of the text at this span.
    pub fn hidden(&mut self, content: Type, span: Span) -> LocalId {
        let words: Vec<&str> = self.source.slice(span).split_whitespace().collect();
        self.push_local(Local {
            name: words.join(" "),
            span,
            initial: globals::default(&content, span),
            content,
            hidden: true,
        })
    }

    fn push_local(&mut self, local: Local) -> LocalId {
        self.locals.push(local);
        LocalId(self.locals.len() as u32 - 1)
    }

    /// Returns true if the declaration of this name is invalid.
    pub fn is_broken(&self, name: &str) -> bool {
        self.broken.contains(name)
    }

    /// Removes this local, if it is the last one made and hidden.
    pub fn take_back(&mut self, id: LocalId) {
        if id.0 as usize + 1 == self.locals.len() && self.local(id).hidden {
            self.locals.pop();
        }
    }

    pub fn local(&self, id: LocalId) -> &Local {
        &self.locals[id.0 as usize]
    }

    pub const fn count_locals(&self) -> usize {
        self.locals.len()
    }

    /// Removes all locals after the first `count`, which must be invisible and unused.
    pub fn keep_locals(&mut self, count: usize) {
        self.locals.truncate(count);
    }

    pub fn into_locals(self) -> Vec<Local> {
        self.locals
    }

    /// Returns the local as an expression.
    pub fn read(&self, id: LocalId, span: Span) -> Expression {
        let content = self.local(id).content.clone();
        Expression { kind: ExpressionKind::Local(id), content, span }
    }

    /// Returns the variable that a name denotes; reports no error.
    pub fn meaning(&self, name: &str) -> Option<Meaning> {
        match self.names.get(name) {
            Some(&visible) => Some(Meaning::Local(visible)),
            None => self.globals.variable(name).map(Meaning::Global),
        }
    }

    /// Reports an unknown name.
    pub fn unknown(&mut self, name: &str, span: Span) -> Reported {
        if self.broken.contains(name) {
            return self.reporter.already();
        }
        if self.globals.operation(name).is_some() {
            let message =
                message!("procedure-as-variable", "a procedure `{name}` is not a variable")
                    .help("to call it, write `x := ...()` with parentheses");
            return self.report(message, span);
        }
        if let Expected::Specification(outside) = &self.globals.interface
            && outside.contains(name)
        {
            let message = message!(
                "outside-object",
                "the object does not see `{name}`, a variable of the algorithm"
            )
            .help("what an object does depends on its `state`, its parameters, `me` and `n` only");
            return self.report(message, span);
        }
        let known = self.names.keys().map(String::as_str).chain(self.globals.variable_names());
        let nearest = self.reporter.nearest(name, known);
        let message = message!("unknown-variable", "unknown variable `{name}`")
            .nearest(nearest)
            .help("declare it, or assign to it first: that declares a local");
        self.report(message, span)
    }

    /// Reports an assignment to an element of an undeclared array, once.
    pub fn unknown_array(&mut self, name: &str, span: Span) -> Reported {
        let Some(signature) = self.signature else { return self.unknown(name, span) };
        if self.broken.contains(name) || self.globals.operation(name).is_some() {
            return self.unknown(name, span);
        }
        let known = self.names.keys().map(String::as_str).chain(self.globals.variable_names());
        let nearest = self.reporter.nearest(name, known);
        let (name, procedure) = (name.to_owned(), signature.name.text.clone());
        self.declare_broken(&name);
        let message =
            message!("unknown-array", "unknown array `{name}`").nearest(nearest).help(format!(
                "an array is declared: `local {name}[segment]: value`, say, at the top \
                 of `{procedure}`, or outside of procedures with `shared`"
            ));
        self.report(message, span)
    }

    /// Collects the statements that `make` adds, instead of adding them to the block.
    pub fn apart<T>(
        &mut self,
        make: impl FnOnce(&mut Self) -> Parsed<T>,
    ) -> (Parsed<T>, Vec<Statement>) {
        let outer = std::mem::take(&mut self.block);
        let made = make(self);
        (made, std::mem::replace(&mut self.block, outer))
    }
}
