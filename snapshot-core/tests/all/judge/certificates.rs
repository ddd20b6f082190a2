//! The certificate checkers accept proofs, and only proofs.

use snapshot_core::certificate::brute_force::BruteForceError;
use snapshot_core::certificate::linearization::{self, LinearizationError};
use snapshot_core::certificate::projection::Projection;
use snapshot_core::certificate::witness::{self, WitnessError};
use snapshot_core::history::Declaration;
use snapshot_core::verdict::{Linearization, Reason, Witness};
use snapshot_core::{History, OperationId, Segment};
use test_support::effort::either;

use crate::judge::checkers::drawing;
use crate::judge::enumeration::Space;
use crate::judge::oracle;
use crate::judge::sketch::{self, history};
use crate::judge::witnesses::{brute_force, minimal_witness, whole_witness};

fn ids(indices: &[usize]) -> Vec<OperationId> {
    indices.iter().map(|&index| OperationId::from_index(index)).collect()
}

fn order(indices: &[usize]) -> Linearization {
    Linearization { order: ids(indices) }
}

fn witness(segments: &[usize], operations: &[usize]) -> Witness {
    Witness {
        reason: Reason::NoOrder,
        segments: segments.iter().map(|&segment| Segment::from_index(segment)).collect(),
        operations: ids(operations),
        renaming: None,
    }
}

/// Visits all sequences of at most `longest` operations, with repetitions; the last operation does
/// not exist.
fn each_sequence(operations: usize, longest: usize, visit: &mut dyn FnMut(&Linearization)) {
    fn go_on(
        operations: usize,
        longest: usize,
        sequence: &mut Linearization,
        visit: &mut dyn FnMut(&Linearization),
    ) {
        visit(sequence);
        if sequence.order.len() < longest {
            for id in 0..=operations {
                sequence.order.push(OperationId::from_index(id));
                go_on(operations, longest, sequence, visit);
                sequence.order.pop();
            }
        }
    }
    go_on(operations, longest, &mut Linearization::default(), visit);
}

/// Visits all witnesses that list operations and segments of the history, in the right order.
fn each_witness(history: &History<i64>, visit: &mut dyn FnMut(&Witness)) {
    let chosen = |set: u32, size: usize| -> Vec<usize> {
        (0..size).filter(|&index| set >> index & 1 == 1).collect()
    };
    let (segments, operations) = (history.segments(), history.operations().len());
    for set in 0..1_u32 << segments {
        for subset in 0..1_u32 << operations {
            visit(&witness(&chosen(set, segments), &chosen(subset, operations)));
        }
    }
}

#[test]
fn exactly_the_linearizations_pass() {
    let mut passed = 0;
    for space in [
        Space::differentiated(2, 2, 3).with_faults(),
        Space::binary(1, 2, 2).with_pure_writers().with_scanners(1),
        Space::many_writers(1, 3, 1, 3),
    ] {
        space.explore(&mut |history| {
            let operations = history.operations().len();
            each_sequence(operations, operations.min(3) + 1, &mut |sequence| {
                let is_proof = linearization::check(history, sequence).is_ok();
                let is_linearization = oracle::is_linearization(history, &sequence.order);
                assert_eq!(is_proof, is_linearization, "{sequence:?} of {}", drawing(history));
                passed += usize::from(is_proof);
            });
        });
    }
    assert_eq!(passed, 14_142);
}

#[test]
fn no_witness_is_accepted_for_a_linearizable_history() {
    let (mut refused, mut accepted) = (0, 0);
    let spaces = [
        Space::differentiated(2, 2, 3).with_faults(),
        Space::differentiated(2, 1, 3).with_pure_writers().with_scanners(2),
        Space::binary(2, 2, 3),
        Space::binary(1, 4, 5).with_pure_writers().with_scanners(1),
        Space::binary(1, 3, 4).with_pure_writers().with_scanners(1).with_faults(),
        Space::binary(1, 2, 4).with_pure_writers().with_scanners(2),
        Space::differentiated(2, 2, 4),
        Space::many_writers(1, 3, 2, 4),
    ];
    // The last two run in the slow suite.
    for space in spaces.into_iter().take(either(6, 8)) {
        space.explore(&mut |history| {
            let is_linearizable =
                oracle::decide(history).unwrap_or_else(|| brute_force(history).is_some());
            each_witness(history, &mut |witness| match witness::check(history, witness) {
                Ok(()) if is_linearizable => panic!("{witness:?} of {}", drawing(history)),
                Ok(()) => accepted += 1,
                Err(_) => refused += 1,
            });
            let whole = witness::check(history, &whole_witness(history));
            assert_eq!(whole.is_err(), is_linearizable, "{}", drawing(history));
        });
    }
    assert_eq!((refused, accepted), either((5_638_956, 299_310), (8_180_025, 617_511)));
}

#[test]
fn minimal_witness_has_at_most_two_segments() {
    let mut sizes = [[0; 5]; 3];
    for space in [
        Space::differentiated(2, 3, 4),
        Space::differentiated(2, 2, 4).with_pure_writers().with_scanners(2),
        Space::binary(1, 3, 4).with_pure_writers().with_scanners(1),
        Space::differentiated(3, 1, 4).with_scanners(1),
        Space::many_writers(1, 3, 2, 4),
    ] {
        space.explore(&mut |history| {
            if let Some(minimal) = minimal_witness(history) {
                sizes[minimal.segments.len()][minimal.operations.len()] += 1;
            }
        });
    }
    // No contradiction needs a third segment, and one of two segments needs at
    // least a scan and two updates.
    assert_eq!(sizes, [[0; 5], [0, 102_641, 69_546, 10_003, 368], [0, 0, 0, 6_202, 4_584]]);
}

#[test]
fn a_corrupted_linearization_is_refused() {
    // #0 and #1 are updates, #2 a scan of them, #3 a pending update, #4 a
    // pending scan, #5 a failed update.
    let history = history(2, "0:u0=1 1:u1=2 0:ok 1:ok 2:s 2:1,2 0:u0=3 1:s 2:u1=9 2:fail");
    let refusal = |indices: &[usize]| linearization::check(&history, &order(indices)).err();
    assert_eq!(refusal(&[0, 1, 2]), None);
    assert_eq!(refusal(&[1, 0, 2]), None);
    assert_eq!(refusal(&[1, 0, 2, 3]), None);

    let id = OperationId::from_index;
    let missing = |operation| Some(LinearizationError::Missing { operation: id(operation) });
    assert_eq!(refusal(&[1, 2]), missing(0));
    assert_eq!(refusal(&[0, 1]), missing(2));
    let precedence = LinearizationError::Precedence { before: id(2), after: id(1) };
    assert_eq!(refusal(&[0, 2, 1]), Some(precedence));
    assert_eq!(refusal(&[0, 1, 2, 1]), Some(LinearizationError::Repeated { operation: id(1) }));
    assert_eq!(refusal(&[0, 1, 2, 3, 4]), Some(LinearizationError::PendingScan { scan: id(4) }));
    assert_eq!(refusal(&[0, 1, 2, 5]), Some(LinearizationError::Failed { operation: id(5) }));
    let absent = LinearizationError::NoSuchOperation { operation: id(6), operations: 6 };
    assert_eq!(refusal(&[0, 1, 2, 6]), Some(absent));
}

#[test]
fn wrong_entry_names_the_update_to_be_read() {
    let history = history(2, "1:s 0:u0=1 0:ok 1:0,5 0:s 0:1,0");
    let refusal = |indices: &[usize]| linearization::check(&history, &order(indices)).err();
    let wrong = |segment, update| {
        let (scan, segment) = (OperationId::from_index(0), Segment::from_index(segment));
        Some(LinearizationError::WrongEntry { scan, segment, update })
    };
    assert_eq!(refusal(&[1, 0, 2]), wrong(0, Some(OperationId::from_index(1))));
    assert_eq!(refusal(&[0, 1, 2]), wrong(1, None));
}

/// A history with a few contradictory operations among others, and a correct sibling that differs
/// in one event or its position.
struct Contradiction {
    name: &'static str,
    bad: &'static str,
    good: &'static str,
    /// The witness against the bad history.
    segments: &'static [usize],
    operations: &'static [usize],
}

/// One for each condition of the linear-time check that a history can break.
const CONTRADICTIONS: &[Contradiction] = &[
    Contradiction {
        name: "never written",
        bad: "0:u0=1 0:ok 0:u0=2 2:s 1:u1=1 1:ok 0:ok 2:7,1",
        good: "0:u0=1 0:ok 0:u0=2 2:s 1:u1=1 1:ok 0:ok 2:2,1",
        segments: &[0],
        operations: &[2],
    },
    Contradiction {
        name: "failed update seen",
        bad: "0:u0=1 0:fail 1:u1=1 1:ok 2:s 2:1,1",
        good: "0:u0=1 0:unknown 1:u1=1 1:ok 2:s 2:1,1",
        segments: &[0],
        operations: &[0, 2],
    },
    Contradiction {
        name: "future",
        bad: "1:u1=1 1:ok 2:s 2:1,1 0:u0=1 0:ok",
        good: "1:u1=1 1:ok 2:s 0:u0=1 2:1,1 0:ok",
        segments: &[0],
        operations: &[1],
    },
    Contradiction {
        name: "stale",
        bad: "0:u0=1 0:ok 0:u0=2 0:ok 2:s 1:u1=1 2:1,0",
        good: "0:u0=1 0:ok 0:u0=2 2:s 0:ok 1:u1=1 2:1,0",
        segments: &[0],
        operations: &[1, 2],
    },
    Contradiction {
        name: "decrease",
        bad: "0:u0=1 2:s 1:u1=1 2:1,0 1:ok 3:s 3:0,1",
        good: "0:u0=1 2:s 1:u1=1 3:s 2:1,1 1:ok 3:0,1",
        segments: &[0],
        operations: &[0, 1, 3],
    },
    Contradiction {
        name: "inversion",
        bad: "0:u0=1 1:u1=1 2:s 3:s 2:1,0 3:0,1 0:ok 0:u0=2 0:ok 1:ok",
        good: "0:u0=1 1:u1=1 2:s 3:s 2:1,0 3:1,1 0:ok 0:u0=2 0:ok 1:ok",
        segments: &[0, 1],
        operations: &[0, 1, 2, 3],
    },
    Contradiction {
        name: "missing",
        bad: "2:s 0:u0=1 0:ok 0:u0=2 1:u1=1 1:ok 2:0,1 0:ok",
        good: "2:s 0:u0=1 1:u1=1 0:ok 0:u0=2 1:ok 2:0,1 0:ok",
        segments: &[0, 1],
        operations: &[0, 1, 3],
    },
];

#[test]
fn each_kind_of_contradiction_has_a_small_witness() {
    for &Contradiction { name, bad, good, segments, operations } in CONTRADICTIONS {
        let (bad, good) = (history(2, bad), history(2, good));
        let proof = witness(segments, operations);
        witness::check(&bad, &proof).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_ne!(oracle::decide(&good), Some(false), "{name}: the sibling");
        assert!(brute_force(&good).is_some(), "{name}: the sibling");
        assert!(witness::check(&good, &proof).is_err(), "{name}: the sibling");

        for &operation in operations {
            let is_failed = bad.operation(OperationId::from_index(operation)).is_failed();
            let mut smaller = proof.clone();
            smaller.operations.retain(|other| other.index() != operation);
            assert_eq!(witness::check(&bad, &smaller).is_ok(), is_failed, "{name}: {operation}");
        }
        for &segment in segments {
            let mut other = proof.clone();
            other.segments.retain(|kept| kept.index() != segment);
            assert!(witness::check(&bad, &other).is_err(), "{name}: without segment {segment}");
        }
    }
}

#[test]
fn a_malformed_witness_is_refused() {
    // #0 a pending scan, #1 and #2 updates, #3 a scan that missed the first.
    let history = history(2, "2:s 0:u0=1 0:ok 1:u1=1 1:ok 3:s 3:0,1");
    let refusal = |segments: &[usize], operations: &[usize]| {
        witness::check(&history, &witness(segments, operations)).err()
    };
    let id = OperationId::from_index;
    let segment = Segment::from_index;
    assert_eq!(refusal(&[0], &[1, 3]), None);
    assert_eq!(refusal(&[0, 1], &[1, 2, 3]), None);

    assert_eq!(refusal(&[1, 0], &[1, 3]), Some(WitnessError::SegmentOrder { segment: segment(0) }));
    assert_eq!(refusal(&[0, 0], &[1, 3]), Some(WitnessError::SegmentOrder { segment: segment(0) }));
    let misplaced = WitnessError::OperationOrder { operation: id(1) };
    assert_eq!(refusal(&[0], &[3, 1]), Some(misplaced.clone()));
    assert_eq!(refusal(&[0], &[1, 1, 3]), Some(misplaced));
    let absent = WitnessError::NoSuchSegment { segment: segment(2), segments: 2 };
    assert_eq!(refusal(&[0, 2], &[1, 3]), Some(absent));
    let absent = WitnessError::NoSuchOperation { operation: id(4), operations: 4 };
    assert_eq!(refusal(&[0], &[1, 3, 4]), Some(absent));
    let incomplete = WitnessError::IncompleteScan { scan: id(0) };
    assert_eq!(refusal(&[0], &[0, 1, 3]), Some(incomplete));
    let other = WitnessError::OtherSegment { update: id(1), segment: segment(0) };
    assert_eq!(refusal(&[1], &[1, 3]), Some(other));

    // An omitted operation may matter, or the listed ones are linearizable.
    let unlisted = WitnessError::NotOmissible { update: id(2), scan: id(3) };
    assert_eq!(refusal(&[1], &[3]), Some(unlisted));
    let linearizable = |indices| WitnessError::Linearizable { linearization: order(indices) };
    assert_eq!(refusal(&[0], &[3]), Some(linearizable(&[3])));
    assert_eq!(refusal(&[0], &[1]), Some(linearizable(&[1])));
    assert_eq!(refusal(&[1], &[2, 3]), Some(linearizable(&[2, 3])));
}

#[test]
fn a_witness_beyond_brute_force_is_undecided() {
    let mut events = "0:u0=1 0:ok ".repeat(128);
    events += "1:s 1:0";
    let history = history(1, &events);
    let too_large = BruteForceError::TooLarge { given: 129, limit: 128 };
    let refusal = witness::check(&history, &whole_witness(&history)).unwrap_err();
    assert_eq!(refusal, WitnessError::Undecided(too_large.clone()));
    let whole = Projection::whole(&history).linearization(usize::MAX);
    assert_eq!(whole, Err(too_large));
    // One less is decided; a failed update does not count.
    let events = "2:u0=0 ".to_owned() + &"0:u0=1 0:ok ".repeat(127) + "2:fail 1:s 1:0";
    let decided = sketch::history(1, &events);
    assert_eq!(witness::check(&decided, &whole_witness(&decided)), Ok(()));

    let out_of_budget = BruteForceError::OutOfBudget { limit: 1 };
    let refusal = witness::check_within(&history, &witness(&[0], &[127, 128]), 1).unwrap_err();
    assert_eq!(refusal, WitnessError::Undecided(out_of_budget));
    assert_eq!(witness::check(&history, &witness(&[0], &[127, 128])), Ok(()));
}

/// Segments without listed updates or differing entries cost nothing; others cost memory in every
/// state, which is limited.
#[test]
fn irrelevant_segments_cost_no_memory() {
    // This many updates that overlap have 2^18 sets: 65,536 segments would take 34 GB.
    let (updates, segments) = (18, Segment::LIMIT + 1);
    let recorded = |last: i64| {
        let declaration = Declaration::new(0).with_segments(segments);
        let mut history = History::builder(declaration).unwrap();
        (0..updates).for_each(|k| history.invoke_update(k, k, 1).unwrap());
        (0..updates).for_each(|k| history.respond_update(k).unwrap());
        history.invoke_scan(updates).unwrap();
        history.respond_scan(updates, &vec![last; segments]).unwrap();
        history.finish()
    };
    let all: Vec<usize> = (0..segments).collect();
    let operations: Vec<usize> = (0..=updates).collect();
    assert_eq!(witness::check(&recorded(0), &witness(&all, &operations)), Ok(()));
    let refusal = witness::check(&recorded(2), &witness(&all, &operations)).unwrap_err();
    let is_out_of_memory = |error: &WitnessError| {
        matches!(error, WitnessError::Undecided(BruteForceError::OutOfMemory { .. }))
    };
    assert!(is_out_of_memory(&refusal) && refusal.is_undecided(), "{refusal}");
    assert_eq!(witness::check(&recorded(2), &witness(&[7], &[7, updates])), Ok(()));
}

#[test]
fn validity_depends_on_the_omitted_updates() {
    let accepts = |events: &str, operations: &[usize]| {
        witness::check(&history(1, events), &witness(&[0], operations)).is_ok()
    };
    // An update that repeats the value before it, and scans of 5 and then 0.
    let repeated = "0:u0=5 0:ok 0:u0=5 0:ok 1:s 1:5 1:s 1:0";
    assert!(accepts(repeated, &[0, 3]));
    assert!(accepts(repeated, &[1, 3]));
    assert!(!accepts(repeated, &[0, 2]), "update(5) twice explains a scan of 5");
    assert!(!accepts(repeated, &[2]), "both updates cannot be left out");
    assert!(!accepts(repeated, &[1, 2]) && !accepts(repeated, &[2, 3]));

    // The value between the two is not read, so the second one is redundant.
    let restored = "0:u0=5 0:ok 0:u0=7 0:ok 0:u0=5 0:ok 1:s 1:5 1:s 1:9";
    assert!(accepts(restored, &[4]));
    // It is redundant even if the one between may take effect at any time.
    let at_any_time = "0:u0=5 0:ok 0:u0=7 0:unknown 0:u0=5 0:ok 1:s 1:5 2:s 1:s 1:0 2:0";
    assert!(accepts(at_any_time, &[0, 4]));
    assert!(accepts(at_any_time, &[0, 3, 4]));
    // Once the value between is read, it is not.
    let between = "1:s 0:u0=5 0:ok 0:u0=7 0:ok 1:7 2:s 0:u0=5 0:ok 2:5";
    assert!(!accepts(between, &[0, 1, 2, 3]));

    // Two updates overlap, so the value before the last update may be of either one. The first scan
    // shows that the last one, though it repeats the one that was invoked just before it, is not
    // redundant.
    let overlapping = "0:u0=7 2:u0=5 2:ok 0:ok 1:s 1:7 2:u0=5 2:ok 1:s 1:5";
    assert!(!accepts(overlapping, &[0, 1, 2, 4]));
    let ordered = "0:u0=7 0:ok 2:u0=5 2:ok 1:s 1:7 2:u0=5 2:ok 1:s 1:5";
    assert!(accepts(ordered, &[0, 1, 2, 4]));

    // A pending update may take effect late; a scan before it cannot see it.
    assert!(!accepts("0:u0=5 1:s 1:0 1:s 1:5", &[1, 2]));
    assert!(accepts("1:s 1:5 0:u0=5", &[0]));
}
