//! The text of a diagnostic.

use std::borrow::Cow;

use crate::language::Span;

/// The text of a diagnostic, without its place.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Message {
    pub(super) code: &'static str,
    pub(super) title: String,
    /// Empty if the title suffices.
    pub(super) label: Cow<'static, str>,
    pub(super) context: Vec<(Span, &'static str)>,
    pub(super) help: Option<Cow<'static, str>>,
    pub(super) is_warning: bool,
    /// True if the diagnostic is withdrawn where another reading of the text succeeds.
    pub(super) is_tentative: bool,
}

impl Message {
    /// Makes an error: the text yields no algorithm.
    pub const fn new(code: &'static str, title: String) -> Self {
        Self {
            code,
            title,
            label: Cow::Borrowed(""),
            context: Vec::new(),
            help: None,
            is_warning: false,
            is_tentative: false,
        }
    }

    /// Makes it a warning: the text still yields an algorithm.
    pub fn warning(self) -> Self {
        Self { is_warning: true, ..self }
    }

    /// Makes it tentative: see [`super::Reporter::retract_tentative`].
    pub fn tentative(self) -> Self {
        Self { is_tentative: true, ..self }
    }

    pub const fn code(&self) -> &'static str {
        self.code
    }

    /// Sets the text beside the caret.
    pub fn label(mut self, label: impl Into<Cow<'static, str>>) -> Self {
        self.label = label.into();
        self
    }

    /// Adds a related place with its label.
    pub fn context(mut self, span: Span, label: &'static str) -> Self {
        self.context.push((span, label));
        self
    }

    /// Sets the cure, unless there is one.
    pub fn help(mut self, help: impl Into<Cow<'static, str>>) -> Self {
        self.help.get_or_insert_with(|| help.into());
        self
    }

    /// Suggests the known name nearest to an unknown one.
    pub fn nearest(self, nearest: Option<String>) -> Self {
        match nearest {
            Some(nearest) => self.help(format!("did you mean `{nearest}`?")),
            None => self,
        }
    }
}

/// Makes an error of a code and the arguments of `format!` for its title.
macro_rules! message {
    ($code:literal, $($title:tt)+) => {
        $crate::language::diagnostic::Message::new($code, format!($($title)+))
    };
}
pub(crate) use message;
