//! Diagnostics of a text: the defect, its place, and the cure.
//!
//! The place that finds an error writes its [`Message`], with a code of its own; messages of
//! several places are functions of `syntax` or `types`. `render` shows each with its source line, a
//! caret, the expected and the found text, and the cure if there is one.

mod message;
mod render;
pub(crate) mod syntax;
pub(crate) mod types;

use std::fmt;
use std::sync::Arc;

pub(crate) use message::{Message, message};

use super::nearest::nearest;
use super::{Source, Span};

/// One thing that is wrong.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Diagnostic {
    message: Message,
    pub span: Span,
}

impl Diagnostic {
    pub(crate) const fn new(message: Message, span: Span) -> Self {
        Self { message, span }
    }

    /// Returns the code: words with hyphens, independent of the text.
    pub const fn code(&self) -> &'static str {
        self.message.code
    }

    /// Returns true if the text still yields an algorithm.
    pub const fn is_warning(&self) -> bool {
        self.message.is_warning
    }

    /// Returns the text at the place itself, shorter than the title.
    pub fn label(&self) -> &str {
        &self.message.label
    }

    /// Returns related places with their labels.
    pub fn context(&self) -> &[(Span, &'static str)] {
        &self.message.context
    }

    /// Returns the cure, if one is known.
    pub fn help(&self) -> Option<&str> {
        self.message.help.as_deref()
    }
}

/// Writes the title, which is the first line of the rendered diagnostic.
impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message.title)
    }
}

/// The diagnostics of a text, at least one, in the order of the text.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Diagnostics {
    source: Arc<Source>,
    list: Vec<Diagnostic>,
}

impl Diagnostics {
    /// # Panics
    ///
    /// If the list is empty: then nothing is wrong.
    pub(crate) fn new(source: Arc<Source>, mut list: Vec<Diagnostic>) -> Self {
        assert!(!list.is_empty(), "diagnostics of a text that has none");
        list.sort_by_key(|diagnostic| diagnostic.span.begin);
        Self { source, list }
    }

    /// Each, in the order of the text.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Diagnostic> {
        self.list.iter()
    }

    /// The text they are about.
    pub fn source(&self) -> &Source {
        &self.source
    }

    /// All of them, for people. With `colour`, with the escape sequences of a
    /// terminal.
    pub fn render(&self, colour: bool) -> String {
        render::render(&self.source, &self.list, colour)
    }
}

/// Without colour.
impl fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render(false))
    }
}

impl std::error::Error for Diagnostics {}

/// Proof that an error was reported, returned by a function that cannot continue.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reported(());

/// Result of a function that reports its errors.
pub(crate) type Parsed<T> = Result<T, Reported>;

/// Collects diagnostics.
#[derive(Debug, Default)]
pub(crate) struct Reporter {
    list: Vec<Diagnostic>,
    /// Keywords that stood where a name must, in the words of the diagnostic: where they are
    /// used as that name, nothing new is wrong.
    misused: Vec<String>,
}

impl Reporter {
    /// No reader wants more than this many.
    const LIMIT: usize = 100;

    /// Notes that something is wrong, once per place and message.
    pub fn report(&mut self, message: Message, span: Span) -> Reported {
        let diagnostic = Diagnostic { message, span };
        if self.list.len() < Self::LIMIT && !self.list.contains(&diagnostic) {
            self.list.push(diagnostic);
        }
        Reported(())
    }

    /// Notes that something else was expected here, once per keyword that was taken for a
    /// name.
    pub fn expected(&mut self, expected: &str, found: &str, span: Span) -> Reported {
        if found.starts_with("the keyword") {
            if self.misused.iter().any(|misused| misused == found) {
                return Reported(());
            }
            if expected.contains("name") {
                self.misused.push(found.to_owned());
            }
        }
        self.report(syntax::expected(expected, found), span)
    }

    /// Of an error that is the consequence of one that was reported.
    pub fn already(&self) -> Reported {
        debug_assert!(!self.list.is_empty(), "something was reported");
        Reported(())
    }

    /// Whether this keyword was taken for a name before.
    pub fn is_misused(&self, keyword: &str) -> bool {
        self.misused.iter().any(|found| found == &format!("the keyword `{keyword}`"))
    }

    /// How many things are wrong so far.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Withdraws the tentative diagnostics behind the first `since`.
    pub fn retract_tentative(&mut self, since: usize) {
        let mut position = 0;
        self.list.retain(|diagnostic| {
            position += 1;
            position <= since || !diagnostic.message.is_tentative
        });
    }

    /// Returns true if nothing was reported.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Returns the known name nearest to this one, within the limit of diagnostics.
    pub fn nearest<'a>(&self, name: &str, known: impl Iterator<Item = &'a str>) -> Option<String> {
        if self.list.len() == Self::LIMIT { None } else { nearest(name, known).map(str::to_owned) }
    }

    /// Returns the diagnostics, of which there is at least one.
    pub fn into_diagnostics(self, source: &Arc<Source>) -> Diagnostics {
        Diagnostics::new(Arc::clone(source), self.list)
    }

    /// Returns the value, unless an error was reported.
    pub fn finish<T>(self, source: &Arc<Source>, value: T) -> Result<T, Diagnostics> {
        if self.list.is_empty() {
            Ok(value)
        } else {
            Err(Diagnostics::new(Arc::clone(source), self.list))
        }
    }
}
