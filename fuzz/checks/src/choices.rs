//! Bytes as choices.

/// A source of choices; each takes one byte, and there are none after the last byte. So a byte
/// changes one choice, and a prefix of the bytes means a prefix of the choices: a fuzzer needs this
/// for small steps and small failures.
#[derive(Clone, Debug)]
pub struct Choices<'a>(&'a [u8]);

impl<'a> Choices<'a> {
    /// Makes a source of these bytes.
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// Returns one of 0, 1, ..., `count - 1`, and the quotient of the byte; `None` at the end.
    ///
    /// # Panics
    /// If `count` is 0.
    pub fn next(&mut self, count: usize) -> Option<(usize, usize)> {
        let (&byte, rest) = self.0.split_first()?;
        self.0 = rest;
        let byte = usize::from(byte);
        Some((byte % count, byte / count))
    }
}
