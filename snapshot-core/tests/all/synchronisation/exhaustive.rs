//! All small executions of every object, judged in every way, against the definition.
//!
//! `SNAPSHOT_EFFORT=night` judges all executions of one operation more.

use std::fmt::Debug;

use snapshot_core::synchronisation::Synchronisation;

use super::domain::{self, Domain, Recording};
use super::oracle::{Truth, truth};
use super::{Tally, keyed, matched, searched};

type Judge<S> = fn(&S, &Recording<S>, &mut Tally) -> Truth;

/// Judges all executions of this many operations. Returns the counts of histories, of
/// set-linearizable ones and of those with progress.
fn judge<S: Synchronisation>(domain: &Domain<S>, operations: usize, judge: Judge<S>) -> [u64; 3]
where
    S::Input: Clone + Debug,
    S::Output: Clone + Debug,
{
    let mut tally = Tally::default();
    domain.all(operations, &mut |history| {
        let found = judge(&domain.object, history, &mut tally);
        assert_eq!(found, truth(&domain.object, history), "{history:#?}");
    });
    if test_support::effort::is_night() {
        domain.all(operations + 1, &mut |history| {
            let found = judge(&domain.object, history, &mut Tally::default());
            assert_eq!(found, truth(&domain.object, history), "{history:#?}");
        });
    }
    [tally.histories, tally.set_linearizable, tally.progress]
}

#[test]
fn channels() {
    assert_eq!(judge(&domain::channel(), 4, keyed), [54_681, 5_907, 2_497]);
    assert_eq!(judge(&domain::filter_channel(), 3, keyed), [3_919, 472, 262]);
    assert_eq!(judge(&domain::timeout_channel(), 3, keyed), [5_211, 1_039, 360]);
    assert_eq!(judge(&domain::counter_channel(), 3, searched), [4_472, 74, 42]);
    assert_eq!(judge(&domain::closeable_channel(), 4, searched), [116_556, 21_134, 8_409]);
    assert_eq!(judge(&domain::atomic_broadcast(2), 4, searched), [54_681, 1_619, 805]);
}

#[test]
fn exchangers() {
    assert_eq!(judge(&domain::exchanger(), 4, keyed), [43_536, 4_992, 1_928]);
    assert_eq!(judge(&domain::timeout_exchanger(), 3, keyed), [4_472, 828, 360]);
}

#[test]
fn families() {
    assert_eq!(judge(&domain::men_and_women(), 3, keyed), [12_352, 616, 336]);
    assert_eq!(judge(&domain::two_families(), 3, searched), [8_821, 507, 256]);
    assert_eq!(judge(&domain::one_family(), 3, searched), [5_211, 333, 183]);
    assert_eq!(judge(&domain::abc(), 4, searched), [256_816, 4_432, 2_176]);
}

#[test]
fn barriers() {
    assert_eq!(judge(&domain::barrier(2), 4, matched), [266, 195, 74]);
    assert_eq!(judge(&domain::barrier(3), 5, searched), [2_431, 243, 168]);
    assert_eq!(judge(&domain::leader_barrier(2), 4, matched), [2_721, 903, 380]);
    assert_eq!(judge(&domain::leader_barrier(3), 4, searched), [2_721, 213, 126]);
    assert_eq!(judge(&domain::enrollable_barrier(), 3, searched), [4_625, 1_504, 776]);
    assert_eq!(judge(&domain::terminating_queue(2), 4, searched), [116_556, 28_607, 11_678]);
    assert_eq!(judge(&domain::terminating_queue(1), 3, searched), [3_297, 1_537, 697]);
}
