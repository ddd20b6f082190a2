//! Diagnostics, symbols, lenses and formatting of a text.

use lsp_types::{
    CodeLens, Command, Diagnostic, DiagnosticRelatedInformation, DiagnosticSeverity,
    DocumentSymbol, Hover, HoverContents, Location, MarkupContent, MarkupKind, Position, Range,
    SymbolKind, TextDocumentContentChangeEvent, TextEdit, Uri,
};
use serde_json::json;
use snapshot_verify::language::{
    self, Algorithm, Diagnostics, ItemKind, MeaningText, Source, Span, outline, parse,
};
use snapshot_verify::program::independence;

use super::position::Lines;
use super::verification::COMMAND;

/// Name of the source of diagnostics.
pub const SOURCE: &str = "snapshot-verify";

/// A text that is open in an editor.
#[derive(Debug)]
pub struct Document {
    /// Location according to the editor.
    pub uri: Uri,
    /// Version according to the editor.
    pub version: i32,
    /// The whole text; empty if it is longer than [`Source::LIMIT`].
    pub text: String,
    pub is_too_long: bool,
    /// True if the text is to be checked.
    pub is_changed: bool,
    /// Answers of verifications of this text.
    pub answers: Vec<Diagnostic>,
}

impl Document {
    /// Opens a text.
    pub fn new(uri: Uri, version: i32, text: String) -> Self {
        let mut document = Self {
            uri,
            version,
            text: String::new(),
            is_too_long: false,
            is_changed: true,
            answers: Vec::new(),
        };
        document.set(text);
        document
    }

    /// Changes the whole text, as the server requests, or a part.
    pub fn change(&mut self, version: i32, change: TextDocumentContentChangeEvent) {
        self.version = version;
        self.set(match change.range {
            None => change.text,
            Some(range) => {
                let lines = Lines::new(&self.text);
                let [begin, end] = [range.start, range.end].map(|place| lines.byte(place) as usize);
                let mut text = self.text.clone();
                text.replace_range(begin..end.max(begin), &change.text);
                text
            }
        });
    }

    fn set(&mut self, text: String) {
        self.is_too_long = text.len() > Source::LIMIT;
        self.text = if self.is_too_long { String::new() } else { text };
        self.is_changed = true;
        self.answers.clear();
    }

    /// Returns the name of the file.
    pub fn name(&self) -> &str {
        let uri = self.uri.as_str();
        uri.rsplit('/').find(|part| !part.is_empty()).unwrap_or(uri)
    }

    /// Returns the algorithm, if the text is valid.
    pub fn algorithm(&self) -> Option<Algorithm> {
        parse(self.name(), &self.text).ok().filter(|_| !self.is_too_long)
    }

    /// Returns all errors of the text, and the answers of verifications.
    pub fn diagnostics(&self) -> Vec<Diagnostic> {
        if self.is_too_long {
            let limit = Source::LIMIT >> 10;
            let message = format!("the text is longer than {limit} KiB, the most that is read");
            return vec![diagnostic(Range::default(), DiagnosticSeverity::ERROR, message)];
        }
        let mut found = Vec::new();
        match parse(self.name(), &self.text) {
            Err(wrong) => self.add(&wrong, None, &mut found),
            Ok(algorithm) => self.check(&algorithm, &mut found),
        }
        found.extend(self.answers.iter().cloned());
        found
    }

    /// Checks names and types, also of the bugs.
    fn check(&self, algorithm: &Algorithm, found: &mut Vec<Diagnostic>) {
        match algorithm.program(None) {
            Err(wrong) => return self.add(&wrong, None, found),
            Ok(program) => {
                if let Some(warnings) = algorithm.warnings(&program) {
                    self.add(&warnings, None, found);
                }
                if program.object().is_none()
                    && let Err(dependences) = independence::check(&program)
                {
                    let refusal = algorithm.refusal(&dependences);
                    self.add(&refusal, Some(DiagnosticSeverity::INFORMATION), found);
                }
            }
        }
        for bug in algorithm.bugs() {
            if let Err(wrong) = algorithm.program(Some(&bug.name.text)) {
                self.add(&wrong, None, found);
            }
        }
    }

    fn add(
        &self,
        wrong: &Diagnostics,
        severity: Option<DiagnosticSeverity>,
        found: &mut Vec<Diagnostic>,
    ) {
        let lines = Lines::new(&self.text);
        for one in wrong.iter() {
            let mut message = one.to_string();
            let label = one.label();
            if !label.is_empty() {
                message.push_str(&format!("\n{label}"));
            }
            if let Some(help) = one.help() {
                message.push_str(&format!("\nhelp: {help}"));
            }
            let usual = match one.is_warning() {
                true => DiagnosticSeverity::WARNING,
                false => DiagnosticSeverity::ERROR,
            };
            let range = lines.range(visible(&self.text, one.span));
            let mut diagnostic = diagnostic(range, severity.unwrap_or(usual), message);
            let related = one.context().iter().map(|&(span, message)| {
                let range = lines.range(visible(&self.text, span));
                let location = Location { uri: self.uri.clone(), range };
                DiagnosticRelatedInformation { location, message: message.to_owned() }
            });
            let related: Vec<_> = related.collect();
            diagnostic.related_information = (!related.is_empty()).then_some(related);
            if !found.contains(&diagnostic) {
                found.push(diagnostic);
            }
        }
    }

    /// Returns the declarations.
    pub fn symbols(&self) -> Vec<DocumentSymbol> {
        let lines = Lines::new(&self.text);
        let items = outline(&self.text).into_iter();
        items
            .map(|item| {
                let (kind, detail) = match item.kind {
                    ItemKind::Algorithm => (SymbolKind::MODULE, "algorithm"),
                    ItemKind::Type => (SymbolKind::STRUCT, "type"),
                    ItemKind::Object => (SymbolKind::INTERFACE, "object"),
                    ItemKind::Node => (SymbolKind::STRUCT, "node"),
                    ItemKind::InitialNode => (SymbolKind::CONSTANT, "initially"),
                    ItemKind::Shared => (SymbolKind::VARIABLE, "shared"),
                    ItemKind::Private => (SymbolKind::VARIABLE, "private"),
                    ItemKind::Procedure => (SymbolKind::FUNCTION, "procedure"),
                    ItemKind::Bug => (SymbolKind::EVENT, "bug"),
                };
                #[expect(deprecated, reason = "the field is there, and stays empty")]
                DocumentSymbol {
                    name: item.name.text,
                    detail: Some(detail.to_owned()),
                    kind,
                    tags: None,
                    deprecated: None,
                    range: lines.range(item.span),
                    selection_range: lines.range(item.name.span),
                    children: None,
                }
            })
            .collect()
    }

    /// Describes the name at a position.
    pub fn hover(&self, position: Position) -> Option<Hover> {
        let lines = Lines::new(&self.text);
        let meaning = self.algorithm()?.meaning(lines.byte(position))?;
        let value = match meaning.text {
            MeaningText::Declaration(text) => format!("```snapshot\n{text}\n```"),
            MeaningText::Word(text) => text.to_owned(),
        };
        let contents = HoverContents::Markup(MarkupContent { kind: MarkupKind::Markdown, value });
        Some(Hover { contents, range: Some(lines.range(meaning.span)) })
    }

    /// Returns the declaration of the name at a position.
    pub fn definition(&self, position: Position) -> Option<Location> {
        let lines = Lines::new(&self.text);
        let declared = self.algorithm()?.meaning(lines.byte(position))?.declared?;
        Some(Location { uri: self.uri.clone(), range: lines.range(declared) })
    }

    /// Returns the edits that format the text: one, of the lines that change. `None` if the text is
    /// too long or has syntax errors.
    pub fn formatting(&self) -> Option<Vec<TextEdit>> {
        if self.is_too_long {
            return None;
        }
        let formatted = language::format(self.name(), &self.text).ok()?;
        if formatted == self.text {
            return Some(Vec::new());
        }
        let (old, new) = (self.text.as_str(), formatted.as_str());
        let same = old.split_inclusive('\n').zip(new.split_inclusive('\n'));
        let before: usize = same.take_while(|(a, b)| a == b).map(|(line, _)| line.len()).sum();
        let lines_from = |text: &'_ str| -> Vec<usize> {
            text[before..].split_inclusive('\n').map(str::len).collect()
        };
        let (olds, news) = (lines_from(old), lines_from(new));
        let (mut old_end, mut new_end) = (old.len(), new.len());
        for (a, b) in olds.iter().rev().zip(news.iter().rev()) {
            if old[old_end - a..old_end] != new[new_end - b..new_end] {
                break;
            }
            (old_end, new_end) = (old_end - a, new_end - b);
        }
        let lines = Lines::new(old);
        let range = lines.range(Span { begin: before as u32, end: old_end as u32 });
        Some(vec![TextEdit { range, new_text: new[before..new_end].to_owned() }])
    }

    /// Returns lenses that verify the algorithm, and each of its bugs.
    pub fn lenses(&self, title: &str) -> Vec<CodeLens> {
        let lines = Lines::new(&self.text);
        let items = outline(&self.text).into_iter();
        items
            .filter_map(|item| {
                let bug = match item.kind {
                    ItemKind::Algorithm => None,
                    ItemKind::Bug => Some(item.name.text),
                    _ => return None,
                };
                let what = if bug.is_some() { "check this bug" } else { "verify" };
                let argument = json!({ "uri": self.uri.as_str(), "bug": bug });
                let command = Command::new(
                    format!("{what} {title}"),
                    COMMAND.to_owned(),
                    Some(vec![argument]),
                );
                let range = lines.range(item.name.span);
                Some(CodeLens { range, command: Some(command), data: None })
            })
            .collect()
    }

    /// Returns the range of the name of the algorithm or of a bug.
    pub fn place(&self, bug: Option<&str>) -> Range {
        let item = outline(&self.text).into_iter().find(|item| match bug {
            None => item.kind == ItemKind::Algorithm,
            Some(bug) => item.kind == ItemKind::Bug && item.name.text == bug,
        });
        item.map_or_else(Range::default, |item| Lines::new(&self.text).range(item.name.span))
    }
}

/// Returns a diagnostic from this program.
pub fn diagnostic(range: Range, severity: DiagnosticSeverity, message: String) -> Diagnostic {
    let source = Some(SOURCE.to_owned());
    Diagnostic { range, severity: Some(severity), source, message, ..Diagnostic::default() }
}

/// Returns the part of a span on its first line.
fn visible(text: &str, span: Span) -> Span {
    let whole = text.get(span.begin as usize..span.end as usize).unwrap_or_default();
    let line = whole.find('\n').unwrap_or(whole.len());
    Span { begin: span.begin, end: span.begin + line as u32 }
}
