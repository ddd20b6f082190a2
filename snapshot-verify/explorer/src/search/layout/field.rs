//! One register's bits in a packed state.

use crate::instance::{NONE, Scalar};

/// Where the scalar of one register lies, and how it is encoded: as its distance
/// from the least scalar of the domain, and none as the first number after those.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Field {
    /// How many codes there are, at least 1; codes count from 0.
    codes: u32,
    /// The code of none; no code at all if none is not in the domain.
    none: u32,
    /// What code 0 means.
    low: Scalar,
    /// As many ones as the field has bits.
    ones: u32,
    word: u8,
    /// Shift plus the field's bits is at most 64.
    shift: u8,
}

impl Field {
    /// The most scalars that a domain may have, none aside.
    pub const MOST_SCALARS: u64 = 1 << 31;

    /// A field, not placed yet, for this many scalars from `low`, and perhaps none.
    ///
    /// # Panics
    /// If there are no scalars, or more than [`Self::MOST_SCALARS`].
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

    /// A field, not placed yet, that always holds the same: it has no bits.
    pub fn always(scalar: Scalar) -> Self {
        if scalar == NONE {
            // No other scalar has code 0.
            Self { none: 0, ..Self::range(Scalar::MAX, 1, false) }
        } else {
            Self::range(scalar, 1, false)
        }
    }

    /// The same field in this place.
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

    /// How many bits it has; a domain of one scalar needs none.
    #[inline]
    pub const fn bits(self) -> u32 {
        self.ones.count_ones()
    }

    /// The word.
    #[inline]
    pub const fn word(self) -> usize {
        self.word as usize
    }

    /// Its lowest bit in the word.
    #[inline]
    pub const fn shift(self) -> u32 {
        self.shift as u32
    }

    /// Its bits in the word.
    #[inline]
    pub const fn mask(self) -> u64 {
        (self.ones as u64) << self.shift
    }

    /// The scalar in a packed state.
    #[inline]
    pub const fn get<const W: usize>(self, state: &[u64; W]) -> Scalar {
        let code = (state[self.word()] >> self.shift) as u32 & self.ones;
        if code == self.none { NONE } else { self.low.wrapping_add(code as Scalar) }
    }

    /// Replaces the scalar in a packed state.
    ///
    /// # Panics
    /// If the scalar is not of the domain: the instance breaks its contract.
    #[inline]
    pub fn put<const W: usize>(self, state: &mut [u64; W], scalar: Scalar) {
        let is_put = self.try_put(state, scalar);
        assert!(is_put, "a slot is assigned scalars of its domain only: {scalar}");
    }

    /// The same; `false` if the scalar is not of the domain.
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
    fn every_scalar_of_a_domain_comes_back_and_neighbours_stay() {
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
    fn bits_are_as_few_as_can_be() {
        let bits = |scalars, optional| Field::range(0, scalars, optional).bits();
        assert_eq!([bits(1, false), bits(1, true), bits(2, false), bits(2, true)], [0, 1, 1, 2]);
        assert_eq!([bits(4, false), bits(4, true), bits(1 << 31, false)], [2, 3, 31]);
    }

    #[test]
    #[should_panic(expected = "scalars of its domain")]
    fn what_is_out_of_the_domain_is_refused() {
        Field::range(0, 3, false).put(&mut [0], 3);
    }

    #[test]
    #[should_panic(expected = "scalars of its domain")]
    fn none_is_refused_where_there_is_none() {
        Field::range(0, 4, false).put(&mut [0], NONE);
    }
}
