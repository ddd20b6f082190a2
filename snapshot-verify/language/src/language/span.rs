//! Places in a source text.

/// A range of bytes of the source text; the begin is included, the end is not.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Span {
    /// The first byte.
    pub begin: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// From the begin of this to the end of that.
    #[must_use]
    pub const fn to(self, that: Self) -> Self {
        Self { begin: self.begin, end: that.end }
    }
}
