//! Objects under test.

use std::any::Any;
use std::fmt::{self, Debug};
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;
use std::sync::Arc;

/// An object whose operations are tested. [`subject!`](crate::subject) writes an
/// implementation from the calls.
///
/// [`Subject::new`] must make all state that the threads of a test share, of [`shuttle`]'s types
/// where threads synchronise: an execution can only be switched at these. State that outlives an
/// execution (statics), time and random numbers make the answer *unknown*.
pub trait Subject: Send + Sync + 'static {
    /// An operation with its arguments. Its `Debug` text is its name: invocations with one text are
    /// the same.
    type Invocation: Debug + Send + Sync + 'static;

    /// Name in reports and files.
    const NAME: &'static str;

    /// Makes a fresh object, inside a controlled execution.
    fn new() -> Self;

    /// Executes an operation.
    fn call(&self, invocation: &Self::Invocation) -> Text;

    /// Returns the invocations that tests are made of, the most significant ones first.
    fn representatives() -> Vec<Self::Invocation>;

    /// Returns the invocation that takes the object and drops it, if the subject has one: the last
    /// of a final sequence, and of all random tests.
    fn dropping() -> Option<Self::Invocation> {
        None
    }

    /// Executes the dropping invocation, when no other thread has the object any more.
    fn dropped(self) -> Text
    where
        Self: Sized,
    {
        unreachable!("a subject that has the invocation executes it")
    }

    /// Returns true if the operation may always give this answer, without effect: a refused lock, a
    /// steal to be retried. The specification then is "deterministic, but it may refuse".
    fn is_spurious(invocation: &Self::Invocation, response: &Text) -> bool {
        let _ = (invocation, response);
        false
    }
}

/// Response of an operation, as text. Responses with one text are the same.
#[derive(Clone, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Text(pub String);

impl Text {
    /// Returns the `Debug` text of a response.
    pub fn new(response: &impl Debug) -> Self {
        Self(format!("{response:?}"))
    }
}

impl Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Result of an operation, or its panic.
#[derive(Clone, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Answer {
    /// The operation returned.
    Returned(Text),
    /// The operation panicked with this message: an answer like any other.
    Panicked(String),
}

impl Debug for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Returned(response) => write!(f, "{response:?}"),
            Self::Panicked(message) => write!(f, "panic: {message}"),
        }
    }
}

/// An invocation of any subject.
#[derive(Clone)]
pub struct Invocation {
    text: Arc<str>,
    value: Arc<dyn Any + Send + Sync>,
}

impl Invocation {
    pub(crate) fn new<I: Debug + Send + Sync + 'static>(invocation: I) -> Self {
        let mut text = format!("{invocation:?}");
        if !text.ends_with(')') {
            text.push_str("()");
        }
        Self { text: text.into(), value: Arc::new(invocation) }
    }

    /// Returns the text: always with parentheses.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the invocation with its type.
    ///
    /// # Panics
    /// If it is of another type.
    pub fn typed<I: 'static>(&self) -> &I {
        self.value.downcast_ref().expect("the invocation is one of the subject")
    }
}

impl Debug for Invocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl PartialEq for Invocation {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for Invocation {}

impl Hash for Invocation {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.text.hash(state);
    }
}

/// A subject without its types. All that is done with a subject is compiled once, and not for each
/// subject again.
#[derive(Clone, Copy)]
pub struct AnySubject(&'static dyn Erased);

impl AnySubject {
    /// Returns a subject.
    pub fn new<S: Subject>() -> Self {
        Self(&Typed::<S>(PhantomData))
    }

    /// Returns the name.
    pub fn name(self) -> &'static str {
        self.0.name()
    }

    /// Returns the invocations that tests are made of.
    pub fn representatives(self) -> Vec<Invocation> {
        self.0.representatives()
    }

    /// Returns the invocation that drops the object.
    pub fn dropping(self) -> Option<Invocation> {
        self.0.dropping()
    }

    /// Makes a fresh object, inside a controlled execution.
    pub(crate) fn object(self) -> Arc<dyn Object> {
        self.0.object()
    }

    /// Returns true if the operation may always give this answer, without effect.
    pub(crate) fn is_spurious(self, invocation: &Invocation, response: &Text) -> bool {
        self.0.is_spurious(invocation, response)
    }
}

impl Debug for AnySubject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// [`Subject`] without its types.
trait Erased: Send + Sync {
    fn name(&self) -> &'static str;
    fn representatives(&self) -> Vec<Invocation>;
    fn dropping(&self) -> Option<Invocation>;
    fn object(&self) -> Arc<dyn Object>;
    fn is_spurious(&self, invocation: &Invocation, response: &Text) -> bool;
}

struct Typed<S>(PhantomData<fn() -> S>);

impl<S: Subject> Erased for Typed<S> {
    fn name(&self) -> &'static str {
        S::NAME
    }

    fn representatives(&self) -> Vec<Invocation> {
        S::representatives().into_iter().map(Invocation::new).collect()
    }

    fn dropping(&self) -> Option<Invocation> {
        S::dropping().map(Invocation::new)
    }

    fn object(&self) -> Arc<dyn Object> {
        Arc::new(S::new())
    }

    fn is_spurious(&self, invocation: &Invocation, response: &Text) -> bool {
        S::is_spurious(invocation.typed(), response)
    }
}

/// An object of a subject.
pub(crate) trait Object: Send + Sync {
    /// Executes an operation.
    fn call(&self, invocation: &Invocation) -> Text;

    /// Executes the dropping invocation.
    ///
    /// # Panics
    /// If another thread has the object.
    fn dropped(self: Arc<Self>) -> Text;
}

impl<S: Subject> Object for S {
    fn call(&self, invocation: &Invocation) -> Text {
        Subject::call(self, invocation.typed())
    }

    fn dropped(self: Arc<Self>) -> Text {
        let last = Arc::into_inner(self);
        Subject::dropped(last.expect("the thread of the final sequence has the object alone"))
    }
}
