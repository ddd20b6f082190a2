//! The possible outputs of one operation per process, all concurrent.
//!
//! The outputs of an immediate snapshot are the ordered set partitions of the processes: the
//! simplices of the chromatic subdivision (Borowsky and Gafni, PODC 1993). I1 and I2 alone allow
//! the outputs of an atomic snapshot after a write.

use snapshot_core::history::Declaration;
use snapshot_core::immediate::{Condition, History, Verdict, check};

/// Counts all profiles for n processes: the accepted ones, and the ones that violate only
/// immediacy.
fn profiles(n: usize) -> (usize, usize) {
    let (mut accepted, mut contained) = (0, 0);
    let subsets = 1_usize << n;
    for profile in 0..subsets.pow(n as u32) {
        let views: Vec<usize> =
            (0..n).map(|process| profile / subsets.pow(process as u32) % subsets).collect();
        let mut builder = History::builder(Declaration::new(0).with_segments(n)).unwrap();
        for process in 0..n {
            builder.invoke(process, process + 1).unwrap();
        }
        for (process, view) in views.iter().enumerate() {
            let values: Vec<usize> =
                (0..n).map(|k| if view >> k & 1 == 1 { k + 1 } else { 0 }).collect();
            builder.respond(process, &values).unwrap();
        }
        let own = views.iter().enumerate().all(|(process, view)| view >> process & 1 == 1);
        let chain = views.iter().all(|a| views.iter().all(|b| a & b == *a || a & b == *b));
        match check(&builder.finish()) {
            Verdict::SetLinearizable(_) => accepted += 1,
            Verdict::Violation(alarm) => {
                contained += usize::from(own && chain);
                let condition = alarm.violation.condition();
                assert!(!(own && chain) || condition == Condition::Immediacy, "{views:?}");
            }
            other => unreachable!("values do not repeat: {other:?}"),
        }
    }
    (accepted, contained)
}

#[test]
fn one_shot_outputs_are_the_ordered_set_partitions() {
    assert_eq!(profiles(2), (3, 0));
    assert_eq!(profiles(3), (13, 6));
    assert_eq!(profiles(4), (75, 207 - 75));
}
