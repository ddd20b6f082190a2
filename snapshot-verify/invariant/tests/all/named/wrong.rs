//! Wrong programs with names.

use snapshot_invariant::step::{Failure, InjectedFault};
use snapshot_invariant::write::WriteError;
use test_support::effort::{Effort, is_left_out};

use crate::programs::{by_rounds, certificate, parsed};
use crate::projection::named::{COPIED, OWNED, REFILLED};

/// With any guess at rounds.
#[test]
fn wrong_programs_with_names_are_not_certified() {
    for text in [COPIED, OWNED, REFILLED] {
        let program = parsed(text, None);
        for mut parts in by_rounds(&program) {
            let part = parts.remove(1);
            assert!(!part.names.is_empty(), "{}", program.name);
            let made = certificate(&program, &[part], InjectedFault::default());
            assert!(matches!(made, Err(WriteError::Failure { .. })), "{}: {made:?}", program.name);
        }
    }
}

/// Wrong variants of jayanti: a text and its replacement. The search has found each wrong for given
/// n and numbers of operations (`check FILE -n N --operations grow`); variants marked `n = 3` are
/// right for n = 2. An SC to `B` without the VL is wrong, too, for three processes: but the views
/// outgrow 6 GiB before one is wrong.
const VARIANTS: [(&str, &str); 9] = [
    // A row of a helper is not cleared: n = 2, two operations by each.
    ("for s in segments: B[me][s] := none", "for s in segments: v[s] := v[s]"),
    // The vector of a late process is published: n = 2, two operations by each.
    ("if published != x.toggle and VL(X): SC", "if published != x.toggle: SC"),
    // The same, and the vector published in this round is replaced: n = 2, two operations by each.
    ("if published != x.toggle and VL(X): SC", "SC"),
    // The vector published in this round is replaced: n = 2, two operations by each.
    ("if published != x.toggle and VL(X): SC", "if VL(X): SC"),
    // Transferred values are not merged: n = 3, one operation by each.
    ("if b != none: v[s] := b", "if b = none: v[s] := v[s]"),
    // Copied values are not read: n = 2, one operation by each.
    ("        for s in segments: v[s] := A_copy[x.proc_a][s]\n", ""),
    // A row is not filled before it is named: n = 2, one operation by each.
    ("A_copy[me][s] := t", "v[s] := t"),
    // A row is filled, and then cleared: n = 2, one operation by each.
    ("A_copy[me][s] := t\n", "A_copy[me][s] := t\n            A_copy[me][s] := v[s]\n"),
    // The row of the process that is named for another array: n = 2, two operations by each.
    ("A_copy[x.proc_a][s]", "A_copy[x.proc_b][s]"),
];

/// At night: it takes minutes.
#[test]
fn variants_of_jayanti_have_no_certificate() {
    if is_left_out(Effort::Night) {
        return;
    }
    let text = corpus::algorithm("jayanti").unwrap().text;
    let text = &text[..text.find("\nbug ").unwrap()];
    for (from, to) in VARIANTS {
        let changed = text.replacen(from, to, 1);
        assert_ne!(changed, text);
        let program = parsed(&changed, None);
        let mut part = by_rounds(&program).swap_remove(0).remove(1);
        part.alike = true;
        let made = certificate(&program, &[part], InjectedFault::default());
        let failure = match &made {
            Err(WriteError::Failure { failure, .. }) => Some(failure),
            _ => None,
        };
        // The vector is wrong; no rule is missing.
        assert!(matches!(failure, Some(Failure::Vector(_))), "{to}: {made:?}");
    }
}

/// A scan that pushes once may return the vector of a round that began before it: vectors do not
/// reveal this, nesting does.
#[test]
fn a_scan_that_pushes_once_has_no_certificate() {
    let text = corpus::algorithm("jayanti").unwrap().text;
    let once = text.replacen("    push()\n    push()\n", "    push()\n", 1);
    assert_ne!(once, text);
    let program = parsed(&once[..once.find("\nbug ").unwrap()], None);
    for parts in by_rounds(&program) {
        let made = certificate(&program, &parts[..1], InjectedFault::default());
        assert!(matches!(made, Err(WriteError::Failure { .. })), "{made:?}");
    }
}
