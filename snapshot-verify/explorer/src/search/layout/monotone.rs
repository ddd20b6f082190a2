//! Which of two states allows more, as far as that can be seen.

use super::Field;

/// What allows more the more of it there is: bits of word 0, of which a state may have
/// a superset of another's, and numbers there, which may be larger.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Monotone {
    bits: u64,
    /// By number, its bits.
    numbers: Vec<u64>,
    /// A planted error: less is taken for more.
    #[cfg(test)]
    reversed: bool,
}

impl Monotone {
    /// These bits, and these numbers.
    pub fn new(bits: u64, numbers: impl IntoIterator<Item = Field>) -> Self {
        let masks = numbers.into_iter().map(Field::mask);
        Self {
            bits,
            numbers: masks.filter(|&mask| mask != 0).collect(),
            #[cfg(test)]
            reversed: false,
        }
    }

    /// With the order reversed, for tests of what should find that.
    #[cfg(test)]
    pub fn reversed(&self) -> Self {
        Self { reversed: true, ..self.clone() }
    }

    /// All bits of word 0 that are compared so; 0 if none are.
    pub fn mask(&self) -> u64 {
        self.numbers.iter().fold(self.bits, |mask, number| mask | number)
    }

    /// Whether the first of two words 0 has at least as much of everything.
    #[inline]
    pub fn is_at_least(&self, more: u64, less: u64) -> bool {
        #[cfg(test)]
        let (more, less) = if self.reversed { (less, more) } else { (more, less) };
        less & !more & self.bits == 0
            && self.numbers.iter().all(|number| more & number >= less & number)
    }
}
