//! The example for loom finds violations under weak memory, and a scan that reads nothing.

#[allow(dead_code, reason = "its `main`")]
#[path = "../../examples/loom.rs"]
mod example;

#[test]
fn loom_example_has_the_expected_outcomes() {
    for (name, outcome) in example::explore_all() {
        match name {
            "behind a lock" => assert!(outcome.is_ok_and(|executions| executions > 100)),
            "the same, not marked" => {
                let failure = outcome.unwrap_err();
                assert!(failure.starts_with("no evidence: no scan overlapped"), "{failure}");
            }
            _ => {
                let failure = outcome.unwrap_err();
                assert!(failure.contains(": violation ("), "{name}: {failure}");
            }
        }
    }
}
