//! Violations that a reduction would hide if it considered one step too many harmless.

use snapshot_core::Process;
use snapshot_explorer::deadline::Deadline;
use snapshot_explorer::pipeline::{self, Prepared};
use snapshot_explorer::reduction::Reductions;
use snapshot_explorer::search::{Exploration, SearchVerdict};
use snapshot_language::parse;

/// Scans alternate between two copies. If both writes were one step, this would be linearizable.
const TWO_COPIES: &str = "algorithm two_copies
shared r[segment]: value
shared s[segment]: value
private second: bool
update(v):
    r[me] := v
    s[me] := v
scan:
    local a[segment]: value
    second := not second
    if second:
        atomic: for k in segments: a[k] := r[k]
    else:
        atomic: for k in segments: a[k] := s[k]
    return a
";

/// A write between collecting and clearing is lost. If these were one step, a scan would return the
/// current values when it reads its mail. Only the process itself reads its mail, but others write
/// it.
const MAILBOX: &str = "algorithm mailbox
shared r[segment]: value
shared mail[process][segment]: value or none
update(v):
    atomic:
        r[me] := v
        for k in processes: mail[k][me] := v
scan:
    local a[segment]: value
    local m[segment]: value or none
    atomic: for s in segments: a[s] := r[s]
    atomic: for s in segments: mail[me][s] := none
    atomic: for s in segments: m[s] := mail[me][s]
    for s in segments:
        if m[s] != none: a[s] := m[s]
    return a
";

/// The index of the assigned element is known only at run time; the other element is unchanged.
const POINTER: &str = "algorithm pointer
shared whole: view
shared which: 0..1
update(v):
    atomic:
        w := whole
        w[me] := v
        whole := w
        which := 1
scan:
    local seen[0..1]: bit
    k := which
    seen[k] := 1
    w := whole
    if seen[0] = 1: return w
    return [initial for s in segments]
";

/// All elements of `seen` equal `x`, although an element is assigned again at an index known only
/// at run time, and although the index changes: so this is linearizable.
const MARKED: &str = "algorithm marked
shared whole: view
shared which: 0..1
shared bit_of_all: bit
update(v):
    atomic:
        w := whole
        w[me] := v
        whole := w
        which := 1 - which
        bit_of_all := 1 - bit_of_all
scan:
    local seen[0..1]: bit
    x := bit_of_all
    for t in 0..1: seen[t] := x
    k := which
    seen[k] := x
    w := whole
    if TEST: return w
    return [initial for s in segments]
";

/// Returns true if the reduced instance for the pair (0, 1) has a violation.
fn violates(text: &str, processes: usize) -> bool {
    let program = parse("hidden", text).unwrap().program(None).unwrap();
    let instance =
        pipeline::instance(&program, processes, [0, 1].map(Process::from_index), Deadline::NEVER)
            .unwrap();
    let prepared =
        Prepared::from_instance(instance, Reductions::standard(), Deadline::NEVER).unwrap();
    let symmetry = prepared.symmetry(|_| true, Deadline::NEVER).unwrap();
    let exploration = Exploration {
        operations: Some(2),
        antichain: true,
        numbering: prepared.numbering.as_ref().map(|numbering| numbering as _),
        symmetry: symmetry.as_ref().map(|symmetry| symmetry as _),
        ..Exploration::default()
    };
    let outcome = exploration.run(&prepared.instance, &mut |_| {}).unwrap();
    match outcome.verdict {
        SearchVerdict::Verified => false,
        SearchVerdict::Violation { .. } => true,
        other => panic!("{other:?}"),
    }
}

#[test]
fn observable_steps_stay_separate() {
    let naive = corpus::algorithm("naive_collect").unwrap().text;
    for (text, processes) in [(naive, 3), (TWO_COPIES, 2), (MAILBOX, 3)] {
        assert!(violates(text, processes), "{text}");
    }
}

/// As a single step the accesses are linearizable: so the violation is due to their separation.
#[test]
fn fused_observable_steps_are_no_violation() {
    let copies = TWO_COPIES.replace(
        "    r[me] := v\n    s[me] := v\n",
        "    atomic:\n        r[me] := v\n        s[me] := v\n",
    );
    let mailbox = MAILBOX.replace(
        "a[s] := r[s]\n    atomic: for s",
        "a[s] := r[s]; mail[me][s] := none\n    atomic: for s",
    );
    let mailbox = mailbox.replace("    atomic: for s in segments: mail[me][s] := none\n", "");
    for (text, changed) in [(TWO_COPIES, copies), (MAILBOX, mailbox)] {
        assert_ne!(text, changed);
        assert!(!violates(&changed, 3), "{changed}");
    }
}

#[test]
fn unchosen_elements_keep_their_values() {
    assert!(violates(POINTER, 2));
}

#[test]
fn elements_not_assigned_again_stay_live() {
    for test in ["seen[0] = x and seen[1] = x", "seen[1 - k] = x"] {
        assert!(!violates(&MARKED.replace("TEST", test), 2), "{test}");
    }
    let changing =
        MARKED.replace("    w := whole\n    if", "    k := 1 - k\n    w := whole\n    if");
    assert!(!violates(&changing.replace("TEST", "seen[k] = x"), 2));
    assert!(violates(&MARKED.replace("TEST", "seen[0] = 0"), 2));
}
