//! One register's bits in a packed state.

use crate::instance::{NONE, Scalar};

/// The position and encoding of one register in a packed state. A scalar is encoded as its distance
/// from the least scalar of the domain; `none` has the next code.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Field {
    /// The number of codes, at least 1; codes count from 0.
    codes: u32,
    /// The code of `none`, or a value that is not a code if the domain lacks `none`.
    none: u32,
    /// The scalar with code 0.
    low: Scalar,
    /// A mask with as many ones as the field has bits.
    ones: u32,
    word: u8,
    /// Shift plus the number of bits is at most 64.
    shift: u8,
}

impl Field {
    /// The greatest size of a domain, not counting `none`.
    pub const MOST_SCALARS: u64 = 1 << 31;

    /// Creates a field, not placed yet, for `scalars` scalars from `low`, and `none` if `optional`.
    ///
    /// # Panics
    /// If `scalars` is 0, or more than [`Self::MOST_SCALARS`].
    pub fn range(low: Scalar, scalars: u64, optional: bool) -> Self {
        assert!((1..=Self::MOST_SCALARS).contains(&scalars), "a domain has 1 to 2^31 scalars");
        let codes = scalars as u32 + u32::from(optional);
        let bits = u32::BITS - (codes - 1).leading_zeros();
        Self {
            codes,
            none: if optional { codes - 1 } else { u32::MAX },
            low,
            ones: if bits == 0 { 0 } else { u32::MAX >> (u32::BITS - bits) },
            word: 0,
            shift: 0,
        }
    }

    /// Creates a field, not placed yet, that always holds the same scalar. It has no bits.
    pub fn always(scalar: Scalar) -> Self {
        if scalar == NONE {
            // No other scalar has code 0.
            Self { none: 0, ..Self::range(Scalar::MAX, 1, false) }
        } else {
            Self::range(scalar, 1, false)
        }
    }

    /// Places the field at this word and shift.
    ///
    /// # Panics
    /// If it does not fit there.
    #[inline]
    #[must_use]
    pub fn at(self, word: usize, shift: u32) -> Self {
        // A field without bits may end up at the very end of a word.
        let shift = if self.bits() == 0 { 0 } else { shift };
        assert!(shift + self.bits() <= 64, "a field lies in one word");
        Self { word: word as u8, shift: shift as u8, ..self }
    }

    /// Returns the number of bits; a domain of one scalar needs none.
    #[inline]
    pub const fn bits(self) -> u32 {
        self.ones.count_ones()
    }

    /// Returns the index of the word.
    #[inline]
    pub const fn word(self) -> usize {
        self.word as usize
    }

    /// Returns the index of the field's lowest bit in the word.
    #[inline]
    pub const fn shift(self) -> u32 {
        self.shift as u32
    }

    /// Returns the mask of the field's bits in the word.
    #[inline]
    pub const fn mask(self) -> u64 {
        (self.ones as u64) << self.shift
    }

    /// Returns the scalar in a packed state.
    #[inline]
    pub const fn get<const W: usize>(self, state: &[u64; W]) -> Scalar {
        let code = (state[self.word()] >> self.shift) as u32 & self.ones;
        if code == self.none { NONE } else { self.low.wrapping_add(code as Scalar) }
    }

    /// Replaces the scalar in a packed state.
    ///
    /// # Panics
    /// If the scalar is outside the domain: the instance breaks its contract.
    #[inline]
    pub fn put<const W: usize>(self, state: &mut [u64; W], scalar: Scalar) {
        let is_put = self.try_put(state, scalar);
        assert!(is_put, "a slot is assigned scalars of its domain only: {scalar}");
    }

    /// Replaces the scalar in a packed state; returns `false` if the scalar is outside the domain.
    #[inline]
    #[must_use]
    pub fn try_put<const W: usize>(self, state: &mut [u64; W], scalar: Scalar) -> bool {
        let code = if scalar == NONE { self.none } else { scalar.wrapping_sub(self.low) as u32 };
        let fits = code < self.codes;
        if fits {
            let word = &mut state[self.word()];
            *word = *word & !self.mask() | u64::from(code) << self.shift;
        }
        fits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scalars_round_trip_without_changing_neighbours() {
        for (low, scalars, optional) in [(0, 1, false), (-3, 7, true), (5, 8, false), (0, 2, true)]
        {
            let field = Field::range(low, scalars, optional).at(1, 17);
            let mut all: Vec<Scalar> = (low..low + scalars as Scalar).collect();
            all.extend(optional.then_some(NONE));
            for noise in [[0, 0], [u64::MAX, u64::MAX], [1 << 20, 0x1234_5678_9abc_def0]] {
                for &scalar in &all {
                    let mut state: [u64; 2] = noise;
                    field.put(&mut state, scalar);
                    assert_eq!(field.get(&state), scalar);
                    assert_eq!(state[0], noise[0]);
                    assert_eq!(state[1] & !field.mask(), noise[1] & !field.mask());
                }
            }
        }
    }

    #[test]
    fn fields_have_the_fewest_bits() {
        let bits = |scalars, optional| Field::range(0, scalars, optional).bits();
        assert_eq!([bits(1, false), bits(1, true), bits(2, false), bits(2, true)], [0, 1, 1, 2]);
        assert_eq!([bits(4, false), bits(4, true), bits(1 << 31, false)], [2, 3, 31]);
    }

    #[test]
    #[should_panic(expected = "scalars of its domain")]
    fn scalar_outside_the_domain_panics() {
        Field::range(0, 3, false).put(&mut [0], 3);
    }

    #[test]
    #[should_panic(expected = "scalars of its domain")]
    fn none_outside_the_domain_panics() {
        Field::range(0, 4, false).put(&mut [0], NONE);
    }
}
