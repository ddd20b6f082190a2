//! Wrong programs that the explorer once verified: by invalid exchanges of processes, and by
//! counters incremented more than once in a step. They have no certificates.

use snapshot_semantics::certificate::{Coverage, Failure};

use crate::certificate::programs::Subject;

#[test]
fn programs_with_invalid_exchanges_have_no_certificate() {
    for (name, n) in [("name_equal_number", 4), ("name_above_number", 3)] {
        let subject = Subject::new(corpus::small(name), None);
        for coverage in Coverage::ALL {
            let failure = subject.prove(&subject.claim(n, None, coverage)).unwrap_err();
            assert!(matches!(failure, Failure::Violation { .. }), "{failure}");
            assert_eq!(failure.contradicts(), !coverage.symmetry);
        }
    }
}

#[test]
fn programs_with_several_increments_have_no_certificate() {
    for (name, operations) in [
        ("three_increments", 4),
        ("two_increments", 4),
        ("two_counters", 4),
        ("two_increments_private", 4),
        ("catch_up", 3),
    ] {
        let subject = Subject::new(corpus::small(name), None);
        let antichain = Coverage { antichain: true, symmetry: false };
        let failure = subject.prove(&subject.claim(2, None, antichain)).unwrap_err();
        assert!(matches!(failure, Failure::Counters), "{failure}");
        let failure = subject.prove(&subject.claim(2, Some(operations), antichain)).unwrap_err();
        assert!(matches!(failure, Failure::Violation { .. }), "{name}: {failure}");
    }
}
