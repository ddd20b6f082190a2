//! Tests: a sequence of invocations per thread.

use std::fmt;

use snapshot_core::OperationId;
use snapshot_core::observation::{Shape, ShapeError, Thread};
use thiserror::Error;

use crate::subject::{AnySubject, Invocation, Subject};

/// A finite test: a column of invocations per thread, with sequences that separate threads execute
/// before all columns and after them.
#[derive(Clone)]
pub struct Test {
    subject: AnySubject,
    columns: Vec<Vec<Invocation>>,
    initial: Vec<Invocation>,
    finally: Vec<Invocation>,
    shape: Shape,
}

/// Role of a thread in a test.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Role {
    /// A column.
    Column,
    /// The sequence before all columns.
    Initial,
    /// The sequence after all columns.
    Final,
}

/// Error in a test.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
#[non_exhaustive]
pub enum TestError {
    /// Too many threads or operations.
    #[error(transparent)]
    Shape(#[from] ShapeError),
    /// `drop` elsewhere than at the end.
    #[error("`{given}` takes the object: it can only be the last operation of `final:`")]
    Drop {
        /// Text of the invocation that drops the object.
        given: String,
    },
    /// A word that is not a representative invocation.
    #[error("`{given}` is no operation of {subject}; there are: {known}")]
    NoSuchInvocation {
        /// The text given.
        given: String,
        /// The name of the subject.
        subject: &'static str,
        /// The texts of its representatives.
        known: String,
    },
}

impl fmt::Debug for Test {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.text())
    }
}

impl PartialEq for Test {
    fn eq(&self, other: &Self) -> bool {
        let key = |test: &Self| (test.subject.name(), test.text());
        key(self) == key(other)
    }
}

impl Test {
    /// Makes a test of these columns of a subject's invocations. Columns without operations are left
    /// out.
    ///
    /// # Errors
    /// If there are more than 14 columns or 64 operations.
    pub fn new<S: Subject>(columns: Vec<Vec<S::Invocation>>) -> Result<Self, TestError> {
        Self::with::<S>(columns, Vec::new(), Vec::new())
    }

    /// Makes a test with sequences before (`initial`) and after (`finally`) all columns.
    ///
    /// # Errors
    /// As [`Test::new`], and if the invocation that drops the object is not the last one.
    pub fn with<S: Subject>(
        columns: Vec<Vec<S::Invocation>>,
        initial: Vec<S::Invocation>,
        finally: Vec<S::Invocation>,
    ) -> Result<Self, TestError> {
        let erased = |sequence: Vec<S::Invocation>| -> Vec<Invocation> {
            sequence.into_iter().map(Invocation::new).collect()
        };
        let columns = columns.into_iter().map(erased).collect();
        Self::of(AnySubject::new::<S>(), columns, erased(initial), erased(finally))
    }

    /// Makes a test of invocations of a subject, as [`Test::with`].
    ///
    /// # Errors
    /// As [`Test::with`].
    pub(crate) fn of(
        subject: AnySubject,
        mut columns: Vec<Vec<Invocation>>,
        initial: Vec<Invocation>,
        finally: Vec<Invocation>,
    ) -> Result<Self, TestError> {
        columns.retain(|column| !column.is_empty());
        if let Some(dropping) = subject.dropping() {
            let sequences = columns.iter().chain([&initial]);
            let before = &finally[..finally.len().saturating_sub(1)];
            if sequences.flatten().chain(before).any(|invocation| *invocation == dropping) {
                return Err(TestError::Drop { given: dropping.text().to_owned() });
            }
        }
        let limit = Thread::LIMIT - 1;
        if columns.len() > limit {
            return Err(ShapeError::Threads { given: columns.len(), limit }.into());
        }
        let mut lengths: Vec<usize> = columns.iter().map(Vec::len).collect();
        lengths.extend([initial.len(), finally.len()]);
        let shape = Shape::new(&lengths)?;
        Ok(Self { subject, columns, initial, finally, shape })
    }

    /// Returns the test with these sequences before and after its columns, in place of its own; if
    /// the subject has an invocation that drops the object, the final sequence ends with it.
    ///
    /// # Errors
    /// As [`Test::with`].
    pub(crate) fn between(
        &self,
        initial: Vec<Invocation>,
        mut finally: Vec<Invocation>,
    ) -> Result<Self, TestError> {
        let dropping = self.subject.dropping();
        finally.extend(dropping.filter(|dropping| finally.last() != Some(dropping)));
        Self::of(self.subject, self.columns.clone(), initial, finally)
    }

    /// Returns true if the last operation drops the object.
    pub fn drops(&self) -> bool {
        self.subject.dropping().is_some_and(|dropping| self.finally.last() == Some(&dropping))
    }

    /// Returns the subject.
    pub const fn subject(&self) -> AnySubject {
        self.subject
    }

    /// Returns the columns.
    pub fn columns(&self) -> &[Vec<Invocation>] {
        &self.columns
    }

    /// Returns the sequence before all columns.
    pub fn initial(&self) -> &[Invocation] {
        &self.initial
    }

    /// Returns the sequence after all columns.
    pub fn finally(&self) -> &[Invocation] {
        &self.finally
    }

    /// Returns the shape: the threads of the columns, then the threads of the initial and the final
    /// sequence.
    pub const fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Returns rows and columns, as the paper counts them (operations per thread, threads).
    pub fn dimension(&self) -> (usize, usize) {
        let rows = self.columns.iter().map(Vec::len).max().unwrap_or(0);
        (rows, self.columns.len())
    }

    /// Returns the role of a thread.
    pub fn role(&self, thread: Thread) -> Role {
        match thread.index().checked_sub(self.columns.len()) {
            None => Role::Column,
            Some(0) => Role::Initial,
            Some(_) => Role::Final,
        }
    }

    /// Returns the invocations of a thread.
    pub fn sequence(&self, thread: Thread) -> &[Invocation] {
        match self.role(thread) {
            Role::Column => &self.columns[thread.index()],
            Role::Initial => &self.initial,
            Role::Final => &self.finally,
        }
    }

    /// Returns the invocations of all operations, in the order of their numbers.
    pub fn invocations(&self) -> impl Iterator<Item = &Invocation> {
        self.shape.threads().flat_map(|thread| self.sequence(thread))
    }

    /// Returns the invocation of an operation.
    pub fn invocation(&self, operation: OperationId) -> &Invocation {
        let (thread, index) = self.shape.place(operation);
        &self.sequence(thread)[index]
    }

    /// Returns the name of a thread in reports: a letter, or `init` and `final`.
    pub fn thread_name(&self, thread: Thread) -> String {
        match self.role(thread) {
            Role::Column => thread.to_string(),
            Role::Initial => "init".into(),
            Role::Final => "final".into(),
        }
    }

    /// Returns the test without one operation of a thread.
    #[must_use]
    pub fn without(&self, thread: Thread, index: usize) -> Self {
        let mut test = self.clone();
        let sequence = match self.role(thread) {
            Role::Column => &mut test.columns[thread.index()],
            Role::Initial => &mut test.initial,
            Role::Final => &mut test.finally,
        };
        if index < sequence.len() {
            sequence.remove(index);
        }
        Self::of(test.subject, test.columns, test.initial, test.finally)
            .unwrap_or_else(|_| self.clone())
    }

    /// Returns the test without a set of operations, given as bits; columns keep their positions.
    pub(crate) fn struck(&self, struck: u64) -> Self {
        let kept = |thread: Thread| -> Vec<Invocation> {
            let sequence = self.sequence(thread).iter().enumerate();
            let kept = sequence.filter(|(index, _)| {
                struck >> self.shape.operation(thread, *index).index() & 1 == 0
            });
            kept.map(|(_, invocation)| invocation.clone()).collect()
        };
        let threads: Vec<Vec<Invocation>> = self.shape.threads().map(kept).collect();
        let (columns, rest) = threads.split_at(self.columns.len());
        Self {
            subject: self.subject,
            columns: columns.to_vec(),
            initial: rest[0].clone(),
            finally: rest[1].clone(),
            shape: self.shape.without(struck),
        }
    }

    /// Returns the test as text: columns between bars, `init:` and `final:` if present.
    pub fn text(&self) -> String {
        let words = |sequence: &[Invocation]| {
            sequence.iter().map(Invocation::text).collect::<Vec<_>>().join(" ")
        };
        let columns: Vec<String> = self.columns.iter().map(|column| words(column)).collect();
        let mut text = columns.join(" | ");
        if !self.initial.is_empty() {
            text = format!("init: {} | {text}", words(&self.initial));
        }
        if !self.finally.is_empty() {
            text = format!("{text} | final: {}", words(&self.finally));
        }
        text
    }

    /// Parses a test of a subject in the format of [`Test::text`]. Invocations are named by their
    /// texts, among the representatives of the subject.
    ///
    /// # Errors
    /// If a word is not an invocation, or the test is too large.
    pub fn parse<S: Subject>(text: &str) -> Result<Self, TestError> {
        Self::parse_among(AnySubject::new::<S>(), text, None)
    }

    /// Parses a test whose invocations are representatives, or invocations of another test.
    pub(crate) fn parse_among(
        subject: AnySubject,
        text: &str,
        other: Option<&Self>,
    ) -> Result<Self, TestError> {
        let known = |word: &String| {
            let mut others = other.into_iter().flat_map(Self::invocations);
            match others.find(|invocation| invocation.text() == *word) {
                Some(invocation) => Ok(invocation.clone()),
                None => invocation_of(subject, word),
            }
        };
        let sequence = |text: &str| split(text).iter().map(known).collect::<Result<Vec<_>, _>>();
        let (mut columns, mut initial, mut finally) = (Vec::new(), Vec::new(), Vec::new());
        for part in text.split('|') {
            let part = part.trim();
            if let Some(words) = part.strip_prefix("init:") {
                initial = sequence(words)?;
            } else if let Some(words) = part.strip_prefix("final:") {
                finally = sequence(words)?;
            } else {
                columns.push(sequence(part)?);
            }
        }
        Self::of(subject, columns, initial, finally)
    }
}

/// Parses a sequence of invocations.
///
/// # Errors
/// If a word is not an invocation.
pub(crate) fn sequence_of(subject: AnySubject, text: &str) -> Result<Vec<Invocation>, TestError> {
    split(text).iter().map(|word| invocation_of(subject, word)).collect()
}

/// Returns the representative with this text.
fn invocation_of(subject: AnySubject, word: &str) -> Result<Invocation, TestError> {
    let mut representatives = subject.representatives();
    representatives.extend(subject.dropping());
    let plain = |text: &str| text.replace(' ', "").trim_end_matches("()").to_owned();
    let found = representatives.iter().find(|i| plain(i.text()) == plain(word));
    found.cloned().ok_or_else(|| TestError::NoSuchInvocation {
        given: word.to_owned(),
        subject: subject.name(),
        known: representatives.iter().map(Invocation::text).collect::<Vec<_>>().join(" "),
    })
}

/// Parses operations per thread and threads, written as `3x3`, if a test can be that large.
pub(crate) fn dimension_of(text: &str) -> Option<(usize, usize)> {
    let (rows, columns) = text.split_once('x')?;
    let (rows, columns) = (rows.trim().parse().ok()?, columns.trim().parse().ok()?);
    let fits = (1..=64).contains(&rows) && (1..=14).contains(&columns) && rows * columns <= 64;
    fits.then_some((rows, columns))
}

/// Splits a text into words, at white space or commas outside parentheses.
fn split(text: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut depth = 0_usize;
    for letter in text.chars() {
        match letter {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 && (letter.is_whitespace() || letter == ',') {
            words.push(String::new());
        } else if let Some(word) = words.last_mut() {
            word.push(letter);
        }
    }
    words.retain(|word| !word.is_empty());
    words
}
