//! Spans of a source text.

/// Range of bytes of the source text; the begin is included, the end excluded.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Span {
    pub begin: u32,
    pub end: u32,
}

impl Span {
    /// Returns the span from the begin of `self` to the end of `that`.
    #[must_use]
    pub const fn to(self, that: Self) -> Self {
        Self { begin: self.begin, end: that.end }
    }
}
