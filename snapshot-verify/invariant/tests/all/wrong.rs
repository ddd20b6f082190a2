//! Wrong programs have no certificates, and lists that leave out what is wrong are refused.

use snapshot_invariant::check::Refusal;
use snapshot_invariant::step::Planted;
use snapshot_invariant::write::WriteError;
use snapshot_language::program::Program;

use crate::programs::{certificate, of_corpus, parsed, parts, refused};

/// Each wrong program, and an obligation of it that does not hold.
pub fn programs() -> Vec<(Program, &'static str)> {
    let mut programs = vec![
        (of_corpus("bowman", Some("early_exit")), "scans.observer"),
        (of_corpus("naive_collect", None), "scans.observer"),
        (of_corpus("afek_unbounded", Some("no_increment")), "calls.memory-t"),
    ];
    // Right programs, and what makes each wrong.
    let edits = [
        ("versioned", "r[me] := (v, fresh)", "old := r[me]; r[me] := old with (val: v)"),
        ("versioned", "if all s in segments", "if any s in segments"),
        ("versioned", "a[s].seq = b[s].seq", "a[s].seq = a[s].seq"),
        (
            "versioned",
            "for s in segments:\n            b[s]",
            "for s in segments except me:\n            b[s]",
        ),
        (
            "locked",
            "    for s in segments:\n        copy[s] := a[s]\n    owner := none",
            "    owner := none\n    for s in segments:\n        copy[s] := a[s]",
        ),
        ("locked", "until got\n    a[me]", "until true\n    a[me]"),
        ("locked", "until got\n    for", "until not got\n    for"),
        (
            "locked",
            "for s in segments:\n        copy",
            "for s in segments except me:\n        copy",
        ),
    ];
    for (name, from, to) in edits {
        let text = corpus::small(name);
        assert!(text.contains(from), "{from}");
        programs.push((parsed(&text.replacen(from, to, 1), None), "scans.observer"));
    }
    programs
}

#[test]
fn no_certificate_is_made_of_them() {
    for (program, rung) in programs() {
        let made = certificate(&program, &parts(&program, &[rung]), Planted::default());
        assert!(matches!(made, Err(WriteError::Failure { .. })), "{}: {made:?}", program.name);
    }
}

/// All other views are listed, so that the failure is what is found.
#[test]
fn what_goes_wrong_is_found_in_the_list() {
    let planted = Planted { no_failures: true, ..Planted::default() };
    let mut found = 0;
    for (program, rung) in programs() {
        let Ok((text, _)) = certificate(&program, &parts(&program, &[rung]), planted) else {
            // A construct that is not modelled stops the search, too.
            continue;
        };
        let refusal = refused(&program, text.as_bytes());
        assert!(matches!(refusal, Refusal::Failure { .. }), "{refusal}");
        found += 1;
    }
    assert!(found >= 10, "{found}");
}
