//! How a register says how many operations a process may still begin.

use super::MONOTONE_BITS;
use crate::instance::Scalar;

/// The most marks of one process: a scalar has no room for more.
const MOST_MARKS: u32 = Scalar::BITS - 2;

/// The ways to keep the number of operations that are left. None left is 0 in either.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Tally {
    /// As so many ones: of two, the larger includes the smaller, as the antichain
    /// compares.
    Marks,
    /// As the number: fewer bits, if there are many.
    Number,
}

impl Tally {
    /// What says that so many operations are left.
    ///
    /// # Panics
    /// If they are too many: more than a scalar can hold.
    pub fn of(self, operations: u32) -> Scalar {
        let scalar = match self {
            Self::Marks => (1_u32 << operations) - 1,
            Self::Number => operations,
        };
        Scalar::try_from(scalar).expect("a register holds how many operations are left")
    }

    /// How many operations are left, as this says.
    #[inline]
    pub const fn count(self, left: Scalar) -> u32 {
        match self {
            Self::Marks => left.count_ones(),
            Self::Number => left.unsigned_abs(),
        }
    }

    /// What says that one operation fewer is left than this says, which is not 0.
    #[inline]
    #[must_use]
    pub const fn spent(self, left: Scalar) -> Scalar {
        match self {
            Self::Marks => left >> 1,
            Self::Number => left - 1,
        }
    }

    /// Whether marks for so many operations, by process, find room in one word beside
    /// what else is monotone, and the bit that is always set.
    pub fn marks_fit(operations: &[u32]) -> bool {
        let others = 2 * operations.len() as u64 + u64::from(MONOTONE_BITS) + 1;
        let marks: u64 = operations.iter().map(|&operations| u64::from(operations)).sum();
        others + marks <= u64::from(u64::BITS) && operations.iter().all(|&of| of <= MOST_MARKS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_and_numbers_count_down_to_0() {
        for tally in [Tally::Marks, Tally::Number] {
            let mut left = tally.of(5);
            for fewer in (0..5).rev() {
                assert_eq!(tally.count(left), fewer + 1);
                left = tally.spent(left);
                assert_eq!(left, tally.of(fewer));
            }
            assert_eq!(left, 0);
        }
        assert_eq!(Tally::Marks.of(MOST_MARKS), (1 << MOST_MARKS) - 1);
    }

    #[test]
    fn marks_fit_while_there_is_room_for_all_of_them() {
        assert!(Tally::marks_fit(&[17, 18, 18]));
        assert!(!Tally::marks_fit(&[18, 18, 18]));
        assert!(Tally::marks_fit(&[30, 0]));
        assert!(!Tally::marks_fit(&[31, 0]));
        assert!(!Tally::marks_fit(&[u32::MAX; 29]));
    }
}
