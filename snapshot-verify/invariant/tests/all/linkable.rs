//! Where no path leads from an LL, no process is linked: programs whose scans wait for a link that
//! they cannot have, each with a twin that may have it, and returns the initial values.

use snapshot_invariant::check::Answer;
use snapshot_invariant::step::{Failure, InjectedFault};
use snapshot_invariant::write::WriteError;

use crate::programs::{certificate, checked, parsed, parts};

/// Scans that wait for a link; `UPDATE` and `SCAN` stand for earlier actions.
const WAITING: &str = "
algorithm waiting
shared X: llsc bool
shared Y[process]: llsc bool
shared a[segment]: value
shared flag: bool
update(v):
    UPDATE
    a[me] := v
scan:
    local c[segment]: value
    SCAN
procedure look():
    y := LL(X)
procedure touch():
    X := true
";

/// Returns true if the vectors of scans have a certificate that is accepted.
fn is_accepted(text: &str) -> bool {
    let program = parsed(text, None);
    let parts = parts(&program, &["scans.observer"]);
    match certificate(&program, &parts, InjectedFault::default()) {
        Ok((text, _)) => {
            let answer = checked(&program, text.as_bytes());
            assert!(matches!(answer, Answer::Accepted(_)), "{answer:?}\n{text}");
            true
        }
        Err(WriteError::Failure { failure: Failure::Vector(_), .. }) => false,
        Err(error) => panic!("{error}\n{text}"),
    }
}

#[test]
fn only_lls_make_links_and_writes_end_them() {
    let once = "loop:\n        skip\n        if VL(X): return c";
    let one_of = "loop:\n        skip\n        if VL(Y[process(0)]): return c";
    // The actions of the update and of the scan; true if the scan may then be linked.
    let cases = [
        // Never.
        ("X := true", once.to_owned(), false),
        // Within the scan, before an access that ends the link, and behind it.
        ("skip", format!("y := LL(X)\n    {once}"), true),
        ("skip", format!("y := LL(X)\n    y := SC(X, true)\n    {once}"), false),
        ("skip", format!("y := LL(X)\n    X := true\n    {once}"), false),
        ("skip", format!("y := LL(X)\n    y := X\n    {once}"), true),
        ("skip", format!("y := LL(X)\n    if flag: X := true\n    {once}"), true),
        ("flag := true", format!("y := LL(X)\n    flag := false\n    {once}"), true),
        // In an earlier operation.
        ("y := LL(X)", once.to_owned(), true),
        ("y := LL(X); X := true", once.to_owned(), false),
        ("X := true; y := LL(X)", once.to_owned(), true),
        // In a call.
        ("skip", format!("look()\n    {once}"), true),
        ("skip", format!("look()\n    touch()\n    {once}"), false),
        ("skip", format!("touch()\n    look()\n    {once}"), true),
        ("look()", once.to_owned(), true),
        // In an earlier round.
        (
            "skip",
            "loop:\n        skip\n        if VL(X): return c\n        y := LL(X)".to_owned(),
            true,
        ),
        // With several cells, the links to the others stay.
        ("skip", format!("y := LL(Y[process(0)])\n    y := SC(Y[me], true)\n    {one_of}"), true),
        ("skip", format!("y := LL(Y[process(0)])\n    Y[me] := true\n    {one_of}"), true),
        ("Y[me] := true", one_of.to_owned(), false),
    ];
    for (update, scan, may_be_linked) in cases {
        let text = WAITING.replace("UPDATE", update).replace("SCAN", &scan);
        assert_eq!(is_accepted(&text), !may_be_linked, "{text}");
    }
}

/// An SC without a link fails: so its value is never written.
#[test]
fn sc_without_a_link_writes_nothing() {
    for (link, may_be_linked) in [("skip", false), ("y := LL(X)", true)] {
        let scan = format!("{link}\n    if SC(X, true): return c\n    loop: flag := true");
        let text = WAITING.replace("UPDATE", "skip").replace("SCAN", &scan);
        assert_eq!(is_accepted(&text), !may_be_linked, "{text}");
    }
}
