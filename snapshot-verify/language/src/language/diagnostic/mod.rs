//! What is wrong with a text, where, and what to do about it.
//!
//! What is said is written where the error is found, as a [`Message`] with a code of its own;
//! what several places say is a function of `syntax` or `types`. `render` shows each as its
//! source line with a caret, what was expected and what was found, and, where there is one,
//! the cure.

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
    /// Where.
    pub span: Span,
}

impl Diagnostic {
    pub(crate) const fn new(message: Message, span: Span) -> Self {
        Self { message, span }
    }

    /// What is wrong, as words with hyphens: the same whatever the text contains.
    pub const fn code(&self) -> &'static str {
        self.message.code
    }

    /// Returns true if the text is an algorithm all the same.
    pub const fn is_warning(&self) -> bool {
        self.message.is_warning
    }

    /// What is said at the place itself: shorter than the title, which is a sentence.
    pub fn label(&self) -> &str {
        &self.message.label
    }

    /// Other places that it is about, and what is to be said of them.
    pub fn context(&self) -> &[(Span, &'static str)] {
        &self.message.context
    }

    /// What to do about it, where that is known.
    pub fn help(&self) -> Option<&str> {
        self.message.help.as_deref()
    }
}

/// The title: the first line of what is shown.
impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message.title)
    }
}

/// All that is wrong with a text, at least one thing, in the order of the text.
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

/// Proof that an error was reported: what a function returns that cannot go on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reported(());

/// What a function makes that reports its errors.
pub(crate) type Parsed<T> = Result<T, Reported>;

/// Collects what is wrong.
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

    /// Takes back that shapes are not known, of all that was reported since there were `since`
    /// diagnostics.
    pub fn retract_unknown_shapes(&mut self, since: usize) {
        let mut position = 0;
        self.list.retain(|diagnostic| {
            position += 1;
            position <= since || diagnostic.code() != "unknown-shape"
        });
    }

    /// Whether nothing is wrong so far.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The known name that is most like this one, within the limit of diagnostics.
    pub fn nearest<'a>(&self, name: &str, known: impl Iterator<Item = &'a str>) -> Option<String> {
        if self.list.len() == Self::LIMIT { None } else { nearest(name, known) }
    }

    /// What is wrong, of a text in which something is.
    pub fn into_diagnostics(self, source: &Arc<Source>) -> Diagnostics {
        Diagnostics::new(Arc::clone(source), self.list)
    }

    /// The value, unless something is wrong.
    pub fn finish<T>(self, source: &Arc<Source>, value: T) -> Result<T, Diagnostics> {
        if self.list.is_empty() {
            Ok(value)
        } else {
            Err(Diagnostics::new(Arc::clone(source), self.list))
        }
    }
}
