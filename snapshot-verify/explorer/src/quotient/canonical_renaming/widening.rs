//! The states that a normal state represents, as far as a move can distinguish them.
//!
//! A *widening* adds a number of moduli to each capped gap between counters. The number for a gap
//! is at most the number that a move can notice. The sum is at most the number of successors that a
//! move takes in the class, and in all classes. By the lemma in [`super::counter_gaps`] these
//! represent all states. They are numbered like the readings of an odometer with the first gap as
//! the fastest wheel; number 0 widens no gap.

use smallvec::SmallVec;

use super::INLINE_SLOTS;
use super::counter_gaps::CounterClass;
use crate::instance::Scalar;

struct Gap {
    /// The index of the gap's class.
    class: usize,
    /// The counter above the gap.
    above: Scalar,
    /// The greatest number of widenings.
    most: u32,
    /// The current number of widenings.
    times: u32,
}

/// Replaces a normal state by the `number`-th of its widenings, which add at most `most_successors`
/// moduli in all. Returns `false` if there are fewer. O(`number` * gaps).
pub(super) fn widen(
    classes: &[CounterClass],
    most_successors: u32,
    slots: &mut [Scalar],
    number: u32,
) -> bool {
    if number == 0 {
        return true;
    }
    let of_class = |(class, of): (usize, &CounterClass)| {
        let gaps = of.gaps(slots).into_iter();
        gaps.map(move |(above, most)| Gap { class, above, most, times: 0 })
    };
    let mut gaps: SmallVec<[Gap; INLINE_SLOTS]> =
        classes.iter().enumerate().flat_map(of_class).collect();
    for _ in 0..number {
        if !advance(classes, most_successors, &mut gaps) {
            return false;
        }
    }
    for (number, class) in classes.iter().enumerate() {
        let own = gaps.iter().filter(|gap| gap.class == number && gap.times > 0);
        class.widen(slots, own.map(|gap| (gap.above, gap.times)));
    }
    true
}

/// Advances to the next reading; returns `false` after the last.
fn advance(classes: &[CounterClass], most_successors: u32, gaps: &mut [Gap]) -> bool {
    let mut all: u32 = gaps.iter().map(|gap| gap.times).sum();
    for at in 0..gaps.len() {
        let Gap { class, most, times, .. } = gaps[at];
        let of_class: u32 = gaps.iter().filter(|gap| gap.class == class).map(|gap| gap.times).sum();
        if times < most && all < most_successors && of_class < classes[class].most_successors() {
            gaps[at].times += 1;
            return true;
        }
        all -= times;
        gaps[at].times = 0;
    }
    false
}
