//! Fates of generated operations.

/// The end of an operation that a scheduler runs.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Fate {
    /// It takes effect, and responds.
    Responds,
    /// It has no effect.
    Fails,
    /// Its outcome gets lost; its process continues.
    Unknown,
    /// It stays open, and its process makes no further step.
    StaysOpen,
}
