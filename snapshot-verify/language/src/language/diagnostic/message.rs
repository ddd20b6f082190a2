//! The text of a diagnostic.

use std::borrow::Cow;

use crate::language::Span;

/// What is said of something that is wrong, wherever that is.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Message {
    pub(super) code: &'static str,
    pub(super) title: String,
    /// Empty if the title says it all.
    pub(super) label: Cow<'static, str>,
    pub(super) context: Vec<(Span, &'static str)>,
    pub(super) help: Option<Cow<'static, str>>,
    pub(super) is_warning: bool,
}

impl Message {
    /// An error: no algorithm is made of the text.
    pub const fn new(code: &'static str, title: String) -> Self {
        let label = Cow::Borrowed("");
        Self { code, title, label, context: Vec::new(), help: None, is_warning: false }
    }

    /// Makes it a warning: the text is an algorithm all the same.
    pub fn warning(self) -> Self {
        Self { is_warning: true, ..self }
    }

    pub const fn code(&self) -> &'static str {
        self.code
    }

    /// What stands beside the caret.
    pub fn label(mut self, label: impl Into<Cow<'static, str>>) -> Self {
        self.label = label.into();
        self
    }

    /// Another place that matters, and what it is.
    pub fn context(mut self, span: Span, label: &'static str) -> Self {
        self.context.push((span, label));
        self
    }

    /// What to do about it, unless something was said of that before.
    pub fn help(mut self, help: impl Into<Cow<'static, str>>) -> Self {
        self.help.get_or_insert_with(|| help.into());
        self
    }

    /// The known name that is meant, it seems.
    pub fn nearest(self, nearest: Option<String>) -> Self {
        match nearest {
            Some(nearest) => self.help(format!("did you mean `{nearest}`?")),
            None => self,
        }
    }
}

/// An error: its code, and its title as `format!` takes it.
macro_rules! message {
    ($code:literal, $($title:tt)+) => {
        $crate::language::diagnostic::Message::new($code, format!($($title)+))
    };
}
pub(crate) use message;
