//! The example for loom finds what weak memory allows, and what reads nothing.

#[allow(dead_code, reason = "its `main`")]
#[path = "../../examples/loom.rs"]
mod example;

use std::sync::atomic::Ordering::SeqCst;

#[test]
fn a_violation_is_found_where_there_is_one() {
    let found = example::explore_all().map(|(name, is_found, counts)| {
        if !is_found {
            // Scans met updates in many executions.
            assert!(counts.scans.load(SeqCst) > 100, "{name}: {counts:?}");
        }
        (name, is_found)
    });
    assert_eq!(
        found,
        [
            ("a collect", true),
            ("behind a lock", false),
            ("a scan that reads nothing", true),
            ("a relaxed load", true),
        ]
    );
}
