//! A row: what is measured, on what, and what must come out.

use std::fmt;

use crate::expected::{DigestError, expected};
use crate::{Digest, Size};

/// Work to be measured.
pub trait Row {
    /// What the work is done on. Making it is not measured.
    type Input;

    /// What comes out. Dropping it is measured: that is part of the price.
    type Answer<'i>;

    /// Its name in reports and in `digests.json`.
    fn name(&self) -> String;

    /// What fixes the input, as printed.
    fn seed(&self) -> String;

    /// Makes the input; the same at every call.
    fn input(&self, size: Size) -> Self::Input;

    /// Number of events in the input.
    fn events(&self, input: &Self::Input) -> u64;

    /// Does the work.
    fn run<'i>(&self, input: &'i Self::Input) -> Self::Answer<'i>;

    /// A digest of the input and of the answer.
    ///
    /// # Panics
    /// If the answer is wrong: all inputs have answers that are known by
    /// construction.
    fn digest(&self, input: &Self::Input, answer: &Self::Answer<'_>) -> Digest;

    /// Runs once, and says on what, with what result.
    ///
    /// # Errors
    /// If the size is smoke and the digest is not the expected one.
    fn announce(&self, size: Size, input: &Self::Input) -> Result<Announcement, DigestError> {
        let answer = self.run(input);
        let (name, digest) = (self.name(), self.digest(input, &answer));
        if size == Size::Smoke {
            expected(&name, digest)?;
        }
        Ok(Announcement { name, seed: self.seed(), size, events: self.events(input), digest })
    }
}

/// What is printed before a row is measured.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Announcement {
    /// The row.
    pub name: String,
    /// What fixes its input.
    pub seed: String,
    /// The size of the input.
    pub size: Size,
    /// Number of events in the input.
    pub events: u64,
    /// Of input and answer.
    pub digest: Digest,
}

impl fmt::Display for Announcement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, seed, size, events, digest } = self;
        write!(f, "{name}: size {size}, seed {seed}, {events} events, digest {digest}")
    }
}
