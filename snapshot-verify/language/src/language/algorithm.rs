//! A text as a whole: the correct algorithm, its bugs, and the expected verdicts.

use crate::language::diagnostic::syntax::{duplicate, number_too_large, too_many};
use std::sync::Arc;

use super::bug::{Bug, Scope};
use super::check;
use super::declaration::{Declaration, DeclarationKind, declarations};
use super::diagnostic::{Diagnostic, Diagnostics, Message, Reporter, message};
use super::expectation::Expectation;
use super::indentation;
use super::many_writers;
use super::parser::Parser;
use super::token::Token;
use super::tree::{Name, Object, Tree};
use super::written::written;
use super::{Source, Span};
use crate::program::Program;
use crate::program::independence::Dependence;
use crate::program::links;

/// A syntactically correct text, bug variants included.
#[derive(Clone, Debug)]
pub struct Algorithm {
    source: Arc<Source>,
    declarations: Vec<Declaration>,
    bugs: Vec<Bug>,
    expectations: Vec<Expectation>,
    /// Value of `size`, if declared.
    size: Option<i32>,
}

/// Parses a text. The name is for diagnostics: usually the path of the file.
///
/// Takes time and memory linear in the text, valid or not.
///
/// # Errors
///
/// All syntax errors of the text and its bugs. Names and types are checked by
/// [`Algorithm::program`].
pub fn parse(name: &str, text: &str) -> Result<Algorithm, Diagnostics> {
    if text.len() > Source::LIMIT {
        let message = message!("text-too-long", "the text is longer than {} bytes", Source::LIMIT)
            .help("an algorithm fits on a few pages");
        let source = Arc::new(Source::new(name, ""));
        return Err(Diagnostics::new(source, vec![Diagnostic::new(message, Span::default())]));
    }
    let source = Arc::new(Source::new(name, text));
    let mut reporter = Reporter::default();
    let tokens = indentation::tokens(&source, &mut reporter);
    let declarations = declarations(&source, &tokens, &mut reporter);
    let (bugs, expectations) = (Vec::new(), Vec::new());
    let mut algorithm = Algorithm { source, declarations, bugs, expectations, size: None };
    algorithm.read_size(&mut reporter);
    algorithm.read_bugs(&mut reporter);
    algorithm.read_expectations(&mut reporter);
    algorithm.build(&algorithm.declarations, &mut reporter);
    if reporter.is_empty() {
        for bug in &algorithm.bugs {
            let edited = algorithm.edited(bug, &mut reporter);
            algorithm.build(&edited, &mut reporter);
        }
    }
    let source = Arc::clone(&algorithm.source);
    reporter.finish(&source, algorithm)
}

impl Algorithm {
    /// Returns the text it was parsed from.
    pub fn source(&self) -> &Source {
        &self.source
    }

    pub(super) fn declarations(&self) -> &[Declaration] {
        &self.declarations
    }

    /// Returns its bugs, in the order of the text.
    pub fn bugs(&self) -> &[Bug] {
        &self.bugs
    }

    /// Returns its `expect` lines, in the order of the text.
    pub fn expectations(&self) -> &[Expectation] {
        &self.expectations
    }

    /// Returns the value of `size`, if declared.
    pub fn size(&self) -> Option<u32> {
        self.size.map(i32::unsigned_abs)
    }

    /// Replaces the value of `size`.
    ///
    /// # Errors
    ///
    /// If no `size` is declared, or the value is too large.
    pub fn with_size(&self, size: u32) -> Result<Self, Diagnostics> {
        let limit = Parser::NUMBER;
        let wrong = match (self.size, i32::try_from(size)) {
            (None, _) => no_size(self.has_object()),
            (Some(_), Ok(size)) if size <= limit => {
                return Ok(Self { size: Some(size), ..self.clone() });
            }
            (Some(_), _) => number_too_large(),
        };
        let diagnostic = Diagnostic::new(wrong, self.header());
        Err(Diagnostics::new(Arc::clone(&self.source), vec![diagnostic]))
    }

    /// Returns the syntax tree of the correct text, or of a bug variant.
    ///
    /// # Errors
    ///
    /// If the bug does not exist or does not fit.
    pub fn tree(&self, bug: Option<&str>) -> Result<Tree, Diagnostics> {
        let mut reporter = Reporter::default();
        let variant = self.variant_of(bug, &mut reporter);
        match variant.and_then(|declarations| self.build(&declarations, &mut reporter)) {
            Some(tree) => reporter.finish(&self.source, tree),
            None => Err(reporter.into_diagnostics(&self.source)),
        }
    }

    /// Returns the text of the correct algorithm, or of a bug variant, without comments, bugs and
    /// expectations, in a uniform layout.
    ///
    /// # Errors
    ///
    /// If the bug does not exist or does not fit.
    pub fn text(&self, bug: Option<&str>) -> Result<String, Diagnostics> {
        let mut reporter = Reporter::default();
        let Some(declarations) = self.variant_of(bug, &mut reporter) else {
            return Err(reporter.into_diagnostics(&self.source));
        };
        let mut text = String::new();
        for declaration in &declarations {
            match (&declaration.kind, self.size) {
                (DeclarationKind::Bug | DeclarationKind::Expectation, _) => {}
                (DeclarationKind::Size, Some(size)) => text += &format!("size {size}\n"),
                _ => text += &written(&self.source, &declaration.tokens),
            }
        }
        let text = reporter.finish(&self.source, text)?;
        super::format(self.source.name(), &text)
    }

    /// Returns the declarations of the correct text, or of a bug variant; reports errors.
    fn variant_of(&self, bug: Option<&str>, reporter: &mut Reporter) -> Option<Vec<Declaration>> {
        let Some(name) = bug else { return Some(self.declarations.clone()) };
        let bug = self.bugs.iter().find(|bug| bug.name.text == name);
        if bug.is_none() {
            self.report_unknown_bug(name, self.header(), reporter);
        }
        bug.map(|bug| self.edited(bug, reporter))
    }

    /// Returns the checked program of the correct text, or of a bug variant, without its
    /// linearization points (`linearizes`). These are checked, too.
    ///
    /// # Errors
    ///
    /// If the bug does not exist, or names, types or the use of shared memory are wrong.
    pub fn program(&self, bug: Option<&str>) -> Result<Program, Diagnostics> {
        self.checked(bug, false)
    }

    /// Returns the checked program with its linearization points, to verify that operations take
    /// effect there.
    ///
    /// # Errors
    ///
    /// As [`Self::program`].
    pub fn program_with_points(&self, bug: Option<&str>) -> Result<Program, Diagnostics> {
        self.checked(bug, true)
    }

    fn checked(&self, bug: Option<&str>, with_points: bool) -> Result<Program, Diagnostics> {
        let tree = self.tree(bug)?;
        let mut reporter = Reporter::default();
        match check::program(&self.source, &tree, bug, with_points, &mut reporter) {
            Some(program) => reporter.finish(&self.source, program),
            None => Err(reporter.into_diagnostics(&self.source)),
        }
    }

    /// Returns diagnostics that explain why simple executions are not representative.
    ///
    /// # Panics
    ///
    /// If `dependences` is empty.
    pub fn refusal(&self, dependences: &[Dependence]) -> Diagnostics {
        let list = dependences.iter().map(Dependence::diagnostic).collect();
        Diagnostics::new(Arc::clone(&self.source), list)
    }

    /// Returns warnings about a program of this algorithm: valid constructs with a hardly intended
    /// meaning.
    pub fn warnings(&self, program: &Program) -> Option<Diagnostics> {
        let list = links::suspicions(program);
        (!list.is_empty()).then(|| Diagnostics::new(Arc::clone(&self.source), list))
    }

    fn read_size(&mut self, reporter: &mut Reporter) {
        let mut first = None;
        for declaration in &self.declarations {
            if declaration.kind != DeclarationKind::Size {
                continue;
            }
            let place = declaration.span().unwrap_or_default();
            let parsed = Parser::new(&self.source, &declaration.tokens, reporter).size();
            if let Some(first) = first {
                reporter.report(second_header("size", first), place);
            }
            first.get_or_insert(place);
            self.size = self.size.or(parsed.ok());
            if !self.has_object() {
                let message =
                    message!("size-without-object", "a `size`, and no object that has one")
                        .help("write the number where it is needed");
                reporter.report(message, place);
            }
        }
    }

    fn read_bugs(&mut self, reporter: &mut Reporter) {
        for declaration in &self.declarations {
            if declaration.kind != DeclarationKind::Bug {
                continue;
            }
            let parsed = Parser::new(&self.source, &declaration.tokens, reporter).bug();
            let Ok(bug) = parsed else { continue };
            let (limit, edits) = (Bug::EDITS, bug.edits.len());
            if self.bugs.len() == Bug::MOST {
                reporter.report(too_many("bugs", Bug::MOST), bug.name.span);
                return;
            }
            if edits > limit {
                reporter.report(too_many("edits of a bug", limit), bug.name.span);
                continue;
            }
            if bug.edits.is_empty() {
                let message = message!("bug-without-edits", "the bug changes nothing")
                    .help("say what it changes: ``in scan, replace `...` by `...` ``");
                reporter.report(message, bug.name.span);
            }
            let first = self.bugs.iter().find(|other| other.name.text == bug.name.text);
            if let Some(first) = first {
                let name = bug.name.text.clone();
                reporter.report(duplicate(&name, first.name.span), bug.name.span);
                continue;
            }
            self.bugs.push(bug);
        }
    }

    /// Returns true if the text implements an object other than the snapshot with one writer per
    /// segment.
    pub fn has_object(&self) -> bool {
        let mut declarations = self.declarations.iter();
        declarations.any(|declaration| declaration.kind == DeclarationKind::Object)
            || many_writers::object(&self.source, &self.declarations).is_some()
    }

    fn read_expectations(&mut self, reporter: &mut Reporter) {
        let has_object = self.has_object();
        for declaration in &self.declarations {
            if declaration.kind != DeclarationKind::Expectation {
                continue;
            }
            let parsed = Parser::new(&self.source, &declaration.tokens, reporter).expectation();
            let Ok(expectation) = parsed else { continue };
            if let Some(bug) = &expectation.bug
                && !self.bugs.iter().any(|other| other.name.text == bug.text)
            {
                self.report_unknown_bug(&bug.text, bug.span, reporter);
            }
            if expectation.size.is_some() && self.size.is_none() {
                reporter.report(no_size(has_object), expectation.span);
            }
            if has_object && let Some(clause) = expectation.of_snapshot() {
                let what = format!("`{clause}`");
                let message = message!(
                    "of-snapshot",
                    "{what} is of snapshots, and this algorithm declares an object"
                )
                .help("leave it out");
                reporter.report(message, expectation.span);
            }
            self.expectations.push(expectation);
        }
    }

    /// Returns the name of the algorithm.
    fn header(&self) -> Span {
        self.declarations
            .iter()
            .find(|declaration| declaration.kind == DeclarationKind::Header)
            .and_then(|declaration| declaration.tokens.get(1))
            .map_or(Span::default(), |token| token.span)
    }

    fn report_unknown_bug(&self, name: &str, span: Span, reporter: &mut Reporter) {
        let known: Vec<String> = self.bugs.iter().map(|bug| bug.name.text.clone()).collect();
        let nearest = reporter.nearest(name, known.iter().map(String::as_str));
        let message = message!("unknown-bug", "the algorithm has no bug `{name}`")
            .nearest(nearest)
            .help(match &known[..] {
                [] => "it has no bugs at all".to_owned(),
                known => format!("its bugs are {}", known.join(", ")),
            });
        reporter.report(message, span);
    }

    /// Returns the declarations with the edits of a bug.
    fn edited(&self, bug: &Bug, reporter: &mut Reporter) -> Vec<Declaration> {
        let mut declarations = self.declarations.clone();
        for (edit, origin) in bug.edits.iter().zip(1..) {
            let mut scope: Vec<&mut Vec<Token>> = declarations
                .iter_mut()
                .filter(|declaration| match &edit.scope {
                    Scope::Shared => {
                        matches!(declaration.kind, DeclarationKind::Shared | DeclarationKind::Node)
                    }
                    Scope::Private => declaration.kind == DeclarationKind::Private,
                    Scope::Procedure(name) => {
                        matches!(&declaration.kind, DeclarationKind::Procedure(of) if *of == name.text)
                    }
                })
                .map(|declaration| &mut declaration.tokens)
                .collect();
            if let Scope::Procedure(name) = &edit.scope
                && scope.is_empty()
            {
                let nearest = reporter.nearest(&name.text, self.procedure_names());
                let message =
                    message!("edit-nowhere", "there is no procedure `{}` to edit", name.text)
                        .nearest(nearest);
                reporter.report(message, name.span);
                continue;
            }
            // An edit that does not fit is reported; the others are still tried.
            let _ = edit.apply(&self.source, origin, &mut scope, reporter);
        }
        declarations
    }

    fn procedure_names(&self) -> impl Iterator<Item = &str> {
        self.declarations.iter().filter_map(|declaration| match &declaration.kind {
            DeclarationKind::Procedure(name) => Some(name.as_str()),
            _ => None,
        })
    }

    /// Builds the tree of these declarations, and reports errors. The tree is built despite errors
    /// if the algorithm has a name.
    fn build(&self, declarations: &[Declaration], reporter: &mut Reporter) -> Option<Tree> {
        let mut name: Option<Name> = None;
        let mut citation: Option<(String, Span)> = None;
        let mut object: Option<Object> = None;
        let (mut types, mut nodes, mut initially) = <_>::default();
        let (mut shared, mut private, mut procedures) = <_>::default();
        for declaration in declarations {
            let place = declaration.tokens.first().map_or(Span::default(), |token| token.span);
            let parser = Parser::new(&self.source, &declaration.tokens, reporter);
            let mut parser = parser.with_size(self.size);
            match &declaration.kind {
                DeclarationKind::Header => {
                    let Ok(parsed) = parser.header() else {
                        name.get_or_insert(Name { text: String::new(), span: place });
                        continue;
                    };
                    match &name {
                        Some(first) => {
                            let first = first.span;
                            let header = "algorithm";
                            reporter.report(second_header(header, first), place);
                        }
                        None => name = Some(parsed),
                    }
                }
                DeclarationKind::Citation => {
                    let Ok(parsed) = parser.citation() else { continue };
                    match citation {
                        Some((_, first)) => {
                            let header = "source";
                            reporter.report(second_header(header, first), place);
                        }
                        None => citation = Some((parsed, place)),
                    }
                }
                DeclarationKind::Type => push(&mut types, parser.type_declaration()),
                DeclarationKind::Object => {
                    let Ok(parsed) = parser.object() else { continue };
                    match &object {
                        Some(first) => {
                            let first = first.name.span;
                            let header = "object";
                            reporter.report(second_header(header, first), place);
                        }
                        None => object = Some(parsed),
                    }
                }
                DeclarationKind::Node => push(&mut nodes, parser.node()),
                DeclarationKind::Initially => push(&mut initially, parser.initial_node()),
                DeclarationKind::Shared => push(&mut shared, parser.shared()),
                DeclarationKind::Private => push(&mut private, parser.private()),
                DeclarationKind::Procedure(_) => push(&mut procedures, parser.procedure()),
                DeclarationKind::Size | DeclarationKind::Bug | DeclarationKind::Expectation => {}
            }
        }
        let Some(name) = name else {
            let place = declarations.first().and_then(|declaration| declaration.tokens.first());
            let span = place.map_or(Span::default(), |token| token.span);
            let message = message!("missing-header", "the algorithm has no name")
                .help("begin the text with `algorithm NAME`");
            reporter.report(message, span);
            return None;
        };
        let citation = citation.map(|(text, _)| text);
        let object = object.or_else(|| many_writers::object(&self.source, declarations));
        Some(Tree { name, citation, types, object, nodes, initially, shared, private, procedures })
    }
}

fn push<T, E>(list: &mut Vec<T>, parsed: Result<T, E>) {
    list.extend(parsed);
}

fn second_header(header: &str, first: Span) -> Message {
    message!("second-header", "a second `{header}`")
        .context(first, "first declared here")
        .help("remove one of the two")
}

fn no_size(has_object: bool) -> Message {
    message!("no-size", "the algorithm declares no `size`").help(if has_object {
        "declare it: `size 2`, on a line of its own; then `size` may stand for a number, in \
         `when len(items) < size`, say"
    } else {
        "leave it out: only algorithms of an `object` have a size"
    })
}
