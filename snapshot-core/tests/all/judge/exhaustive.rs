//! All checkers agree on all small histories.
//!
//! The expected counts keep the enumeration honest: a space that silently loses histories fails. In
//! spaces of more than [`many`] histories, brute force and the linear-time conditions judge all,
//! and the other checkers one in [`SPARSE`] or [`DENSE`]; with `SNAPSHOT_EFFORT=night` they judge
//! all, too.

use test_support::effort::{either, is_night, is_slow};

use crate::judge::checkers::{agreed_verdict, quick_verdict};
use crate::judge::enumeration::Space;

/// Every checker judges all histories of spaces up to this size.
fn many() -> usize {
    either(5_000, 20_000)
}

/// Larger spaces are for the slow suite.
const LARGE: usize = 100_000;

/// Primes, to avoid periods in common with the enumeration.
const SPARSE: usize = 31;
const DENSE: usize = 7;

/// All checkers must judge at least this many of each kind.
const ENOUGH: usize = 400;

/// A space, with its numbers of histories and of linearizable ones.
type Case = (Space, (usize, usize));

fn exhaust(cases: &[Case]) {
    for case in cases {
        let (histories, linearizable) = case.1;
        if histories > LARGE && !is_slow() {
            continue;
        }
        let rarer = linearizable.min(histories - linearizable);
        let stride = match histories {
            _ if is_night() || histories <= many() => 1,
            _ if rarer / SPARSE > ENOUGH + 50 => SPARSE,
            _ if rarer / DENSE > ENOUGH + 50 => DENSE,
            _ => 1,
        };
        exhaust_by(case, stride);
    }
}

/// All checkers judge one history of every `stride`, the quick ones all.
pub fn exhaust_by((space, expected): &Case, stride: usize) {
    let (mut histories, mut linearizable) = (0, 0);
    let mut agreed = [0; 2];
    space.explore(&mut |history| {
        let is_linearizable = if histories % stride == 0 {
            let verdict = agreed_verdict(history);
            agreed[usize::from(verdict)] += 1;
            verdict
        } else {
            quick_verdict(history)
        };
        histories += 1;
        linearizable += usize::from(is_linearizable);
    });
    // Neither answer alone would show that the checkers distinguish them.
    assert!(agreed.into_iter().min() > Some(ENOUGH), "{agreed:?} of {space:?}");
    assert_eq!((histories, linearizable), *expected, "{space:?}");
}

#[test]
fn differentiated() {
    exhaust(&[
        (Space::differentiated(1, 3, 4).with_scanners(1), (6_944, 2_435)),
        (Space::differentiated(2, 3, 5), (362_408, 35_733)),
        (Space::differentiated(2, 2, 4).with_never_written(), (108_570, 3_045)),
        (Space::differentiated(3, 2, 4), (94_347, 33_697)),
    ]);
}

#[test]
fn differentiated_with_separate_scanners() {
    exhaust(&[
        (Space::differentiated(1, 2, 4).with_pure_writers().with_scanners(2), (22_241, 10_907)),
        (Space::differentiated(2, 3, 4).with_pure_writers().with_scanners(1), (19_858, 8_181)),
        (Space::differentiated(2, 1, 4).with_pure_writers().with_scanners(2), (74_247, 34_793)),
    ]);
}

#[test]
fn simple() {
    exhaust(&[
        (Space::binary(2, 3, 4).with_switch_once(), (29_426, 12_899)),
        (
            Space::binary(2, 2, 4).with_switch_once().with_pure_writers().with_scanners(2),
            (187_417, 106_133),
        ),
        (Space::binary(3, 1, 4).with_switch_once().with_scanners(1), (234_579, 148_771)),
    ]);
}

#[test]
fn ambiguous() {
    exhaust(&[
        (Space::binary(1, 5, 6).with_pure_writers().with_scanners(1), (243_620, 109_759)),
        (Space::binary(1, 2, 4).with_pure_writers().with_scanners(2), (30_111, 19_203)),
        (Space::binary(2, 2, 4), (21_877, 10_385)),
        (Space::binary(2, 3, 4).with_pure_writers().with_scanners(1), (42_409, 26_969)),
    ]);
}

#[test]
fn many_writers() {
    exhaust(&[
        (Space::many_writers(1, 3, 2, 4), (68_031, 32_693)),
        (Space::many_writers(2, 2, 2, 4), (40_637, 13_311)),
        (Space::many_writers(2, 3, 2, 4), (323_109, 138_005)),
    ]);
}

#[test]
fn faults() {
    exhaust(&[
        (Space::differentiated(2, 2, 4).with_faults(), (203_368, 104_658)),
        (
            Space::differentiated(2, 2, 3).with_pure_writers().with_scanners(1).with_faults(),
            (8_932, 6_796),
        ),
        (
            Space::binary(1, 3, 4).with_pure_writers().with_scanners(1).with_faults(),
            (93_522, 77_547),
        ),
        (Space::many_writers(1, 2, 2, 4).with_faults(), (167_984, 103_285)),
    ]);
}

/// The same for larger spaces; minutes instead of seconds.
#[test]
fn larger() {
    if !is_night() {
        return;
    }
    exhaust(&[
        (
            Space::differentiated(2, 1, 4).with_pure_writers().with_scanners(2).with_faults(),
            (1_061_493, 562_797),
        ),
        (Space::binary(1, 3, 5).with_pure_writers().with_scanners(2), (617_277, 303_067)),
        (Space::differentiated(2, 3, 5).with_pure_writers().with_scanners(1), (452_836, 101_253)),
        (Space::differentiated(2, 3, 6), (7_441_550, 215_221)),
        (
            Space::differentiated(2, 2, 5).with_pure_writers().with_scanners(2),
            (6_323_469, 1_405_561),
        ),
        (Space::differentiated(3, 2, 5), (4_127_747, 532_793)),
        (
            Space::binary(2, 2, 5).with_switch_once().with_pure_writers().with_scanners(2),
            (7_644_677, 2_489_881),
        ),
        (Space::binary(2, 3, 5), (635_876, 179_027)),
        (Space::many_writers(2, 3, 2, 5), (16_038_249, 3_331_317)),
        (Space::differentiated(2, 3, 5).with_faults(), (11_334_310, 3_520_950)),
    ]);
}
