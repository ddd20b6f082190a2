//! Objects under test.

use std::fmt::{self, Debug};
use std::hash::Hash;

/// An object whose operations are tested. [`subject!`](crate::subject) writes an
/// implementation from the calls.
///
/// [`Subject::new`] must make all state that the threads of a test share, of [`shuttle`]'s types
/// where threads synchronise: an execution can only be switched at these. State that outlives an
/// execution (statics), time and random numbers make the answer *unknown*.
pub trait Subject: Send + Sync + 'static {
    /// An operation with its arguments. Its `Debug` text is its name.
    type Invocation: Clone + Debug + Eq + Hash + Ord + Send + Sync + 'static;
    /// Result of an operation.
    type Response: Clone + Debug + Eq + Hash + Ord + Send + Sync + 'static;

    /// Name in reports and files.
    const NAME: &'static str;

    /// Makes a fresh object, inside a controlled execution.
    fn new() -> Self;

    /// Executes an operation.
    fn call(&self, invocation: &Self::Invocation) -> Self::Response;

    /// Returns the invocations that tests are made of, the most significant ones first.
    fn representatives() -> Vec<Self::Invocation>;

    /// Returns the invocation that takes the object and drops it, if the subject has one: the last
    /// of a final sequence, and of all random tests.
    fn dropping() -> Option<Self::Invocation> {
        None
    }

    /// Executes the dropping invocation, when no other thread has the object any more.
    fn dropped(self) -> Self::Response
    where
        Self: Sized,
    {
        unreachable!("a subject that has the invocation executes it")
    }

    /// Returns true if the operation may always give this answer, without effect: a refused lock, a
    /// steal to be retried. The specification then is "deterministic, but it may refuse".
    fn is_spurious(invocation: &Self::Invocation, response: &Self::Response) -> bool {
        let _ = (invocation, response);
        false
    }
}

/// Result of an operation, or its panic.
#[derive(Clone, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Answer<R> {
    /// The operation returned.
    Returned(R),
    /// The operation panicked with this message: an answer like any other.
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

/// A response as text, shown without quotes: [`subject!`](crate::subject) converts responses to it,
/// by their `Debug`.
#[derive(Clone, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Text(pub String);

impl Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Returns the text of an invocation, always with parentheses.
pub(crate) fn name<I: Debug>(invocation: &I) -> String {
    let mut text = format!("{invocation:?}");
    if !text.ends_with(')') {
        text.push_str("()");
    }
    text
}
