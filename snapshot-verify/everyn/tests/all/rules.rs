//! One wrong program per rule of the prover: without the rule it would be proved.

use snapshot_everyn::ladder::Rung;
use snapshot_everyn::prove::Attempt;

use super::verdicts::{answer, is_proved, parsed};

/// A scan that takes the lock unless a choice sets `lax`.
const CHOOSES: &str = "
algorithm chooses
shared owner: cas process or none := none
shared a[segment]: value
SHARED
update(v):
    repeat
        got := CAS(owner, none, me)
    until got
    a[me] := v
    owner := none
scan:
    local copy[segment]: value
    local lax: bool
    LOCALS
    CHOICE
    if not lax:
        repeat
            got := CAS(owner, none, me)
        until got
    for s in segments:
        copy[s] := a[s]
    if not lax:
        owner := none
    return copy
";

fn chooses(shared: &str, locals: &str, choice: &str) -> String {
    let text = CHOOSES.replace("SHARED\n", &format!("{shared}\n"));
    let lines = |text: &str| text.replace('\n', "\n    ");
    text.replace("LOCALS", &lines(locals)).replace("CHOICE", &lines(choice))
}

/// Asserts that a choice is wrong: a vector cannot be excluded; if `careful`, it could be with the
/// lock always taken, so that the proof is in reach.
fn is_refuted(shared: &str, locals: &str, choice: &str, careful: bool) {
    if careful {
        let choice = format!("{choice}\nlax := false");
        assert!(is_proved(&chooses(shared, locals, &choice)), "{choice}");
    }
    let answer = answer(&parsed(&chooses(shared, locals, choice), None));
    assert!(!answer.proved, "{choice}");
    let mut findings = answer.rungs.iter().filter_map(|rung| rung.finding.as_ref().ok());
    let fails = |attempt: &Attempt| matches!(attempt, Attempt::Fails(..));
    assert!(findings.any(|finding| fails(&finding.attempt)), "{choice}: {:?}", answer.rungs);
}

/// The number of processes between two is unknown: zero, one or more.
#[test]
fn gaps_hold_any_number_of_processes() {
    // An odd, or an even, number of processes.
    for lax in ["odd", "not odd"] {
        let choice = format!("for k in processes: odd := not odd\nlax := {lax}");
        is_refuted("", "local odd: bool", &choice, true);
    }
    // The first of all: no process precedes it.
    let choice = "for k in processes:
    if not passed: lax := k = me
    passed := true";
    is_refuted("", "local passed: bool", choice, true);
    // The seventh, or one behind it: more than one process in some gap.
    let choice = "for k in processes:
    if not passed and count < 7: count := count + 1
    if k = me: passed := true
lax := count = 7";
    is_refuted("", "local passed: bool\nlocal count: 0..7", choice, true);
}

/// An SC to a cell that no view shows may succeed: at most two of the shown cells belong to others.
#[test]
fn sc_on_an_untracked_cell_may_succeed() {
    let choice = "for k in processes except me:
    x := LL(m[k])
    ok := SC(m[k], not x)
    if ok:
        if two: lax := true
        if one: two := true
        one := true";
    let shared = "shared m[process]: llsc bool";
    is_refuted(shared, "local one: bool\nlocal two: bool", choice, false);
}

/// A view that the process has kept since an earlier operation belongs to no ghost scan of the
/// present one.
#[test]
fn views_of_earlier_operations_are_stale() {
    let cached = corpus::small("cached");
    let edits = [
        ("        return cache\n", "        return cache\n", false),
        // By an earlier update.
        ("    a[me] := v\n", "    a[me] := v\n    cache := look()\n    has := true\n", false),
        ("        return cache\n", "        s := cache\n        return s\n", false),
        // By two ghost scans, and by this operation.
        ("    cache := s\n", "    cache := s\n    s := look()\n", false),
        ("        return cache\n", "        cache := look()\n        return cache\n", true),
    ];
    for (from, to, is_right) in edits {
        assert!(cached.contains(from), "{from}");
        let text = cached.replacen(from, to, 1);
        // An update that looks must not hold the lock.
        let text = match to.contains("v\n    cache") {
            true => text.replacen(
                "    cache := look()\n    has := true\n    owner := none\n",
                "    owner := none\n    cache := look()\n    has := true\n",
                1,
            ),
            false => text,
        };
        let answer = answer(&parsed(&text, None));
        assert_eq!(answer.proved, is_right, "{text}");
        let is_nesting = |rung: &&Rung| {
            let name = rung.obligation.name();
            name.starts_with("calls.") && name.ends_with("nesting")
        };
        let nesting = answer.rungs.iter().rfind(is_nesting);
        let attempt = nesting.and_then(|rung| rung.finding.as_ref().ok()).map(|one| &one.attempt);
        // The right one is proved by its scans.
        assert!(is_right || matches!(attempt, Some(Attempt::Fails(..))), "{text}: {attempt:?}");
    }
}
