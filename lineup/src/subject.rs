//! Objects under test.

use std::fmt::{self, Debug};
use std::hash::Hash;

/// An object whose operations are tested. [`subject!`](crate::subject) writes an
/// implementation from the calls.
///
/// Whatever the threads of a test share must be made by [`Subject::new`], of
/// [`shuttle`]'s types where threads synchronise: an execution cannot be switched
/// elsewhere. State that outlives an execution (statics), time and random numbers make the
/// answer *unknown*.
pub trait Subject: Send + Sync + 'static {
    /// An operation with its arguments. Its `Debug` text is how it is shown and named.
    type Invocation: Clone + Debug + Eq + Hash + Ord + Send + Sync + 'static;
    /// What an operation returns.
    type Response: Clone + Debug + Eq + Hash + Ord + Send + Sync + 'static;

    /// The name in reports and files.
    const NAME: &'static str;

    /// A fresh object, made inside a controlled execution.
    fn new() -> Self;

    /// Executes an operation.
    fn call(&self, invocation: &Self::Invocation) -> Self::Response;

    /// The invocations that tests are made of, the most telling ones first.
    fn representatives() -> Vec<Self::Invocation>;

    /// The invocation that takes the object and drops it, if the subject has one: the last of
    /// a final sequence, and of all random tests.
    fn dropping() -> Option<Self::Invocation> {
        None
    }

    /// Executes it, when no other thread has the object any more.
    fn dropped(self) -> Self::Response
    where
        Self: Sized,
    {
        unreachable!("a subject that has the invocation executes it")
    }

    /// Whether the operation may always answer so, without effect: a lock that is refused,
    /// a steal that must be tried again. The specification then is "deterministic, but it
    /// may refuse".
    fn is_spurious(invocation: &Self::Invocation, response: &Self::Response) -> bool {
        let _ = (invocation, response);
        false
    }
}

/// How an operation ended.
#[derive(Clone, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Answer<R> {
    /// It returned.
    Returned(R),
    /// It panicked with this message: an answer like any other.
    Panicked(String),
}

impl<R: Debug> Debug for Answer<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Returned(response) => write!(f, "{response:?}"),
            Self::Panicked(message) => write!(f, "panic: {message}"),
        }
    }
}

/// A response as text, which is shown without quotes: what [`subject!`](crate::subject)
/// makes of responses, by their `Debug`.
#[derive(Clone, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Text(pub String);

impl Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The text of an invocation, always with parentheses.
pub(crate) fn name<I: Debug>(invocation: &I) -> String {
    let mut text = format!("{invocation:?}");
    if !text.ends_with(')') {
        text.push_str("()");
    }
    text
}
