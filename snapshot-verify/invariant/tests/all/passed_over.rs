//! Ghost scans that are not judged are passed over only if their steps matter to no view.

use snapshot_invariant::claim::Property;
use snapshot_invariant::step::{Failure, InjectedFault};
use snapshot_invariant::write::{Part, WriteError, lay_out};
use snapshot_language::program::Program;

use crate::programs::{certificate, parsed, parts};

/// Collects until no update was made meanwhile; each process has a flag of its own.
const FLAGS: &str = "
algorithm flags
shared a[segment]: value
shared changed[process]: bool
update(v):
    w := look()
    atomic:
        a[me] := v
        for k in processes: changed[k] := true
scan:
    w := look()
    return w
procedure look(): view:
    local w: view
    repeat
        changed[me] := false
        for s in segments: w[s] := a[s]
        again := changed[me]
    until not again
    return w
";

/// The same with one flag: a collect resets it under that of another process.
fn one_flag() -> String {
    FLAGS
        .replace("changed[process]", "changed")
        .replace("for k in processes: changed[k]", "changed")
        .replace("changed[me]", "changed")
}

/// Returns the program, and the hints for the collects of t, with more scalars kept.
fn hinted(text: &str, kept: &[&str]) -> (Program, Part) {
    let program = parsed(text, None);
    let mut part = parts(&program, &["calls.memory-t"]).remove(0);
    part.kept.extend(kept.iter().map(|name| (*name).to_owned()));
    part.kept.sort();
    part.kept.dedup();
    (program, part)
}

/// Returns, per process, true if its collects are passed over.
fn passed(text: &str, kept: &[&str]) -> [bool; 3] {
    let (program, part) = hinted(text, kept);
    lay_out(&program, &part).unwrap().passes
}

#[test]
fn collects_that_matter_to_no_view_are_passed_over() {
    let (program, part) = hinted(FLAGS, &["changed[t]"]);
    assert_eq!(passed(FLAGS, &["changed[t]"]), [true, true, false]);
    assert!(certificate(&program, &[part], InjectedFault::default()).is_ok());
}

#[test]
fn collects_that_reset_a_kept_flag_are_shown() {
    let (program, part) = hinted(&one_flag(), &["changed"]);
    assert_eq!(passed(&one_flag(), &["changed"]), [false; 3]);
    let made = certificate(&program, &[part], InjectedFault::default());
    let is_wrong = |error: &WriteError| {
        matches!(error, WriteError::Failure { failure: Failure::Vector(_), .. })
    };
    assert!(made.as_ref().is_err_and(is_wrong), "{made:?}");
}

/// Each reason for which the collects of a process are shown.
#[test]
fn each_reason_shows_a_collect() {
    let kept = "changed[t]";
    for (name, expected) in [
        ("changed[i]", [false, true, false]),
        ("changed[j]", [true, false, false]),
        ("i:look.again#2", [false, true, false]),
        ("j:look.again#2", [true, false, false]),
        ("i:look.w#0[t]", [false, true, false]),
        ("a[t]", [true, true, false]),
    ] {
        assert_eq!(passed(FLAGS, &[kept, name]), expected, "{name}");
    }
    let write = "changed[me] := false";
    assert!(FLAGS.contains(write));
    for (other, expected) in [
        ("changed[me] := true", [true, true, false]),
        ("changed[process(0)] := false", [false; 3]),
        ("for k in processes: changed[k] := false", [false; 3]),
        ("atomic:\n            changed[me] := false", [false; 3]),
    ] {
        assert_eq!(passed(&FLAGS.replacen(write, other, 1), &[kept]), expected, "{other}");
    }
    // Other obligations judge the operations, or all of a process.
    let (program, mut part) = hinted(FLAGS, &[kept]);
    for (property, expected) in [
        (Property::Memory(0), [false, true, true]),
        (Property::Memory(1), [true, false, true]),
        (Property::Nesting, [false; 3]),
    ] {
        part.obligation.property = property;
        part.kept.retain(|name| !name.starts_with("t:") && name != kept);
        assert_eq!(lay_out(&program, &part).unwrap().passes, expected, "{property:?}");
    }
    part.late = false;
    assert_eq!(lay_out(&program, &part).unwrap().passes, [false; 3]);
}

/// A private variable that a collect stores to may be read before the operation is shown.
#[test]
fn operations_whose_collects_store_privately_are_not_late() {
    let write = "changed[me] := false";
    for (store, is_late) in [("noted := true", false), ("noted := changed[me]", false), ("", true)]
    {
        let text = FLAGS
            .replace("update(v):", "private noted: bool\nupdate(v):\n    noted := false")
            .replacen(write, &format!("{write}\n        {store}"), 1);
        let (program, part) = hinted(&text, &["changed[t]"]);
        let layout = lay_out(&program, &Part { late: true, ..part }).unwrap();
        assert_eq!(layout.late, is_late, "{store}");
    }
}
