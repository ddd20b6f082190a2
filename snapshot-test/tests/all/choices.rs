//! Reproducible choices.

/// A generator of reproducible choices (Marsaglia, "Xorshift RNGs", 2003).
pub struct Choices(pub u64);

impl Choices {
    /// Returns a number below a limit, which is not 0.
    pub fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 16) as usize % limit
    }
}
