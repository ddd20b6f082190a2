//! The states that a normal one stands for, as far as a move can tell them apart.
//!
//! A *widening* adds to each capped gap between counters a number of moduli: at most as
//! often as moves can make a difference to that gap, and in sum at most as often as a move
//! takes successors of that class, and of all classes. The lemma in [`super::counter_gaps`]
//! says why these stand for all states. They are numbered like the readings of an
//! odometer of which the first gap is the fastest wheel; number 0 widens nothing.

use smallvec::SmallVec;

use super::FEW;
use super::counter_gaps::CounterClass;
use crate::instance::Scalar;

/// A capped gap.
struct Gap {
    /// The number of its class.
    class: usize,
    /// The counter above it.
    above: Scalar,
    /// How often it is widened at most.
    most: u32,
    /// How often it is widened.
    times: u32,
}

/// Makes a normal state the `number`-th of its widenings, of which at most
/// `most_successors` moduli are added in all; `false` if there are not as many.
/// O(`number` * gaps).
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
    let mut gaps: SmallVec<[Gap; FEW]> = classes.iter().enumerate().flat_map(of_class).collect();
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

/// The next reading; `false` if there is none.
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
