//! The judges of certificates refuse invalid proofs.

use proptest::prelude::*;
use snapshot_core::OperationId;
use snapshot_core::certificate::{blocks, exchanges};
use snapshot_core::history::Declaration;
use snapshot_core::immediate::{History, SetLinearization, Verdict, Violation, check};

use crate::immediate::random::{simulate, with_values};

fn ids(blocks: &[&[usize]]) -> SetLinearization {
    SetLinearization::new(
        blocks.iter().map(|block| block.iter().map(|&id| OperationId::from_index(id))),
    )
}

/// Process 0 returns a value that is written only later: values alone do not show it.
#[test]
fn a_block_needs_an_instant() {
    let case = |is_late: bool| {
        let mut builder = History::builder(Declaration::new(0)).unwrap();
        builder.invoke(0, 5).unwrap();
        if is_late {
            builder.respond(0, &[5, 6]).unwrap();
            builder.invoke(1, 6).unwrap();
        } else {
            builder.invoke(1, 6).unwrap();
            builder.respond(0, &[5, 6]).unwrap();
        }
        builder.respond(1, &[5, 6]).unwrap();
        blocks::check(&builder.finish(), &ids(&[&[0, 1]]))
    };
    assert_eq!(case(false), Ok(()));
    assert!(matches!(case(true), Err(blocks::BlocksError::Precedence { block: 0, .. })));
}

#[test]
fn invalid_blocks_are_refused_with_each_reason() {
    use blocks::BlocksError as E;
    let mut builder = History::builder(Declaration::new(0)).unwrap();
    builder.invoke(0, 5).unwrap();
    builder.respond(0, &[5, 0]).unwrap();
    builder.invoke(1, 6).unwrap();
    builder.fail(1).unwrap();
    builder.invoke(1, 7).unwrap();
    builder.invoke(0, 8).unwrap();
    builder.respond(0, &[8, 7]).unwrap();
    let history = builder.finish();
    let check = |sequence: &[&[usize]]| blocks::check(&history, &ids(sequence));
    assert_eq!(check(&[&[0], &[2, 3]]), Ok(()));
    assert_eq!(check(&[&[0], &[2], &[3]]), Ok(()));
    assert!(matches!(check(&[&[0], &[2, 4]]), Err(E::NoSuchOperation { .. })));
    assert!(matches!(check(&[&[0], &[1], &[3]]), Err(E::Failed { .. })));
    assert!(matches!(check(&[&[0], &[2, 3], &[2]]), Err(E::Repeated { .. })));
    assert!(matches!(check(&[&[0], &[2]]), Err(E::Missing { .. })));
    assert!(matches!(check(&[&[0, 3], &[2]]), Err(E::SameProcess { .. })));
    assert!(matches!(check(&[&[0], &[3], &[2]]), Err(E::WrongEntry { segment: 1, .. })));
}

#[test]
fn unfounded_violations_are_refused() {
    use exchanges::ExchangesError as E;
    let mut builder = History::builder(Declaration::new(0)).unwrap();
    let first = builder.invoke(0, 5).unwrap();
    let second = builder.invoke(1, 6).unwrap();
    builder.respond(0, &[5, 6]).unwrap();
    builder.respond(1, &[5, 6]).unwrap();
    let unwritten = builder.invoke(1, 7).unwrap();
    builder.respond(1, &[9, 7]).unwrap();
    let pending = builder.invoke(0, 8).unwrap();
    let history = builder.finish();
    let missing = OperationId::from_index(4);
    let no_operation = |operation| E::NotComplete { operation };
    for (violation, error) in [
        (Violation::OwnValue { operation: first }, E::NotShown),
        (Violation::OwnValue { operation: pending }, no_operation(pending)),
        (Violation::OwnValue { operation: missing }, no_operation(missing)),
        (Violation::Containment { first, second, i: 0, j: 1 }, E::NotShown),
        (Violation::Containment { first, second, i: 7, j: 1 }, E::NoSuchSegment { segment: 7 }),
        (Violation::Containment { first, second: pending, i: 0, j: 1 }, no_operation(pending)),
        // Of values that nobody wrote, none is the older one.
        (Violation::Containment { first, second: unwritten, i: 0, j: 1 }, E::NotShown),
        (Violation::Immediacy { viewer: first, seen: second, newer: 0 }, E::NotShown),
        (Violation::Validity { operation: first, segment: 1, writer: Some(second) }, E::NotShown),
        (Violation::Validity { operation: first, segment: 1, writer: None }, E::NotShown),
    ] {
        assert_eq!(exchanges::check(&history, &violation), Err(error), "{violation:?}");
    }
}

proptest! {
    /// For a set-linearizable execution, no violation of any form is confirmed, even if processes
    /// write a value again, or the initial one.
    #[test]
    fn no_violation_of_a_correct_history_is_confirmed(
        choices in prop::collection::vec(any::<u32>(), 0..40),
        segment in 0..3_usize,
        other in 0..3_usize,
        period in prop::option::of(2..9_u32),
    ) {
        let mut history = simulate(3, &choices);
        prop_assert!(matches!(check(&history), Verdict::SetLinearizable(_)));
        if let Some(period) = period {
            history = with_values(&history, |value| value % period);
        }
        let ids: Vec<OperationId> = history.operation_ids().collect();
        for &first in &ids {
            for violation in [
                Violation::OwnValue { operation: first },
                Violation::Validity { operation: first, segment, writer: None },
            ] {
                prop_assert!(exchanges::check(&history, &violation).is_err());
            }
            for &second in &ids {
                for violation in [
                    Violation::Containment { first, second, i: segment, j: other },
                    Violation::Immediacy { viewer: first, seen: second, newer: other },
                    Violation::Validity { operation: first, segment, writer: Some(second) },
                ] {
                    prop_assert!(exchanges::check(&history, &violation).is_err());
                }
            }
        }
    }
}
