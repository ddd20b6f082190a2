//! The order by which one state allows at least as much as another.

use super::Field;

/// The monotone part of word 0, in which more allows more: bits, compared by inclusion, and
/// numbers, compared by size.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Monotone {
    bits: u64,
    /// By number, the mask of its bits.
    numbers: Vec<u64>,
    /// An injected error: the order is reversed.
    #[cfg(test)]
    reversed: bool,
}

impl Monotone {
    /// Creates the order for these bits and these numbers.
    pub fn new(bits: u64, numbers: impl IntoIterator<Item = Field>) -> Self {
        let masks = numbers.into_iter().map(Field::mask);
        Self {
            bits,
            numbers: masks.filter(|&mask| mask != 0).collect(),
            #[cfg(test)]
            reversed: false,
        }
    }

    /// Returns the reversed order, for tests of the checks that should detect it.
    #[cfg(test)]
    pub fn reversed(&self) -> Self {
        Self { reversed: true, ..self.clone() }
    }

    /// Returns the mask of all compared bits of word 0; 0 without any.
    pub fn mask(&self) -> u64 {
        self.numbers.iter().fold(self.bits, |mask, number| mask | number)
    }

    /// Returns true if word 0 `more` has at least as much as `less` in each bit and number.
    #[inline]
    pub fn is_at_least(&self, more: u64, less: u64) -> bool {
        #[cfg(test)]
        let (more, less) = if self.reversed { (less, more) } else { (more, less) };
        less & !more & self.bits == 0
            && self.numbers.iter().all(|number| more & number >= less & number)
    }
}
