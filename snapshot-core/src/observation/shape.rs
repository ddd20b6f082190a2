//! Threads of a test and the numbers of their operations.

use std::fmt;

use thiserror::Error;

use crate::OperationId;

/// A thread of a test.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Thread(u8);

impl Thread {
    /// The largest index allowed.
    pub const LIMIT: usize = 15;

    /// Creates the thread with this index, for indices known to be in range.
    ///
    /// # Panics
    /// If `index` exceeds [`Self::LIMIT`].
    pub const fn from_index(index: usize) -> Self {
        assert!(index <= Self::LIMIT, "thread index out of range");
        Self(index as u8)
    }

    /// The index, from 0 to [`Self::LIMIT`].
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// Returns the name of the thread in orders: a capital letter, `A` to `P`.
    pub const fn letter(self) -> char {
        (b'A' + self.0) as char
    }

    /// Returns the thread of this name, if the name is valid.
    pub const fn from_letter(letter: char) -> Option<Self> {
        match letter {
            'A'..='P' => Some(Self(letter as u8 - b'A')),
            _ => None,
        }
    }
}

impl fmt::Display for Thread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.letter())
    }
}

/// A test that is too large.
#[derive(Clone, Copy, Debug, Eq, Error, PartialEq)]
#[non_exhaustive]
pub enum ShapeError {
    /// There are more threads than names.
    #[error("the test has {given} threads: at most {limit} are possible")]
    Threads {
        /// The number of threads.
        given: usize,
        /// The largest possible number.
        limit: usize,
    },
    /// There are more operations than bits in a set of operations.
    #[error("the test has {given} operations: at most {limit} are possible")]
    Operations {
        /// The number of operations of all threads.
        given: usize,
        /// The largest possible number.
        limit: usize,
    },
}

/// The number of operations of each thread of a test.
///
/// Operations are numbered thread by thread: first the operations of the first thread in their
/// order, then those of the second thread, and so on.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Shape {
    /// `first[t]..first[t + 1]` are the operations of thread t.
    first: [u8; Thread::LIMIT + 2],
    threads: u8,
}

impl Shape {
    /// The largest number of operations of a test: a set of them is a word of 64 bits.
    pub const OPERATIONS: usize = 64;

    /// Creates the shape of a test whose t-th thread has `lengths[t]` operations.
    ///
    /// # Errors
    /// If there are more than [`Thread::LIMIT`] + 1 threads, or more than
    /// [`Self::OPERATIONS`] operations.
    pub fn new(lengths: &[usize]) -> Result<Self, ShapeError> {
        let limit = Thread::LIMIT + 1;
        if lengths.len() > limit {
            return Err(ShapeError::Threads { given: lengths.len(), limit });
        }
        let given = lengths.iter().fold(0_usize, |sum, length| sum.saturating_add(*length));
        if given > Self::OPERATIONS {
            return Err(ShapeError::Operations { given, limit: Self::OPERATIONS });
        }
        let mut first = [given as u8; Thread::LIMIT + 2];
        let mut sum = 0;
        for (first, length) in first.iter_mut().zip(lengths) {
            *first = sum;
            sum += *length as u8;
        }
        Ok(Self { first, threads: lengths.len() as u8 })
    }

    /// The threads of the test.
    pub fn threads(&self) -> impl ExactSizeIterator<Item = Thread> + use<> {
        (0..usize::from(self.threads)).map(Thread::from_index)
    }

    /// Number of operations of all threads.
    pub const fn operations(&self) -> usize {
        self.first[self.threads as usize] as usize
    }

    /// Number of operations of a thread; 0 if the test has no such thread.
    pub const fn length(&self, thread: Thread) -> usize {
        let t = thread.index();
        (self.first[t + 1] - self.first[t]) as usize
    }

    /// The number of a thread's `index`-th operation.
    ///
    /// # Panics
    /// If the thread has no such operation.
    pub fn operation(&self, thread: Thread, index: usize) -> OperationId {
        assert!(index < self.length(thread), "thread {thread} has no operation {index}");
        OperationId::from_index(usize::from(self.first[thread.index()]) + index)
    }

    /// Returns the thread of an operation, and the index of the operation in that thread, from 0.
    ///
    /// # Panics
    /// If the test has no such operation.
    pub fn place(&self, operation: OperationId) -> (Thread, usize) {
        let number = operation.index();
        assert!(number < self.operations(), "the test has no operation {number}");
        let thread = (1..).take_while(|t| usize::from(self.first[*t]) <= number).count();
        (Thread::from_index(thread), number - usize::from(self.first[thread]))
    }

    /// Returns the shape without some operations, given as a set of bits.
    #[must_use]
    pub fn without(&self, struck: u64) -> Self {
        let kept = |thread: Thread| {
            let numbers = self.first[thread.index()]..self.first[thread.index() + 1];
            numbers.filter(|number| struck >> number & 1 == 0).count()
        };
        let lengths: Vec<usize> = self.threads().map(kept).collect();
        Self::new(&lengths).unwrap_or(*self)
    }
}
