//! Names: programs that are not of the form that the rules are made for, wrong programs, and guesses
//! that must not be taken.

use snapshot_invariant::check::{Answer, Refusal};
use snapshot_invariant::layout::Layout;
use snapshot_invariant::names;
use snapshot_invariant::step::Planted;
use snapshot_invariant::write::{Part, WriteError};
use snapshot_language::program::Program;

use crate::altered::{lines, sealed};
use crate::programs::{by_rounds, certificate, checked, of_corpus, parsed, parts};
use crate::projection::named::{COPIED, HELPED, OWNED, REFILLED};

/// Whether names are of the form that the rules are made for.
fn is_of_form(text: &str, name: &str) -> bool {
    let program = parsed(text, None);
    let obligation = by_rounds(&parsed(COPIED, None))[0][1].obligation;
    let names = names::of_line(&program, false, name);
    names.is_some_and(|name| Layout::with_names(&program, obligation, vec![name]).is_ok())
}

/// Where an update of `refilled` helps, and where its scans read.
const HELPS: &str = "LL(row[y.who][me])\n    if VL(x): SC(row[y.who][me], v)";
const READS: &str = "for s in segments: v[s] := row[y.who][s]";

/// Each text is of the form, and with each replacement it is not.
#[test]
fn only_one_form_is_taken() {
    let name = "x.who on=1 row";
    let changes = [
        // Not the copy of the latest LL.
        ("if VL(x): SC(row[y.who][me], v)", "LL(x)\n    if VL(x): SC(row[y.who][me], v)"),
        // Not the row of the latest LL.
        ("    LL(row[y.who][me])\n", ""),
        // Another process's column.
        ("LL(row[y.who][me])", "LL(row[y.who][y.who])"),
        // The row of another process, which is written by the process.
        ("row[me][me] := v[me]", "row[y.who][me] := v[me]"),
        // Its own row is read, which may be the one that is named.
        ("v[s] := row[y.who][s]", "v[s] := row[me][s]"),
        // Whichever process it is that is named.
        ("SC(x, (true, me))", "SC(x, (true, process(0)))"),
        // A copy that is written back without the link.
        ("SC(x, y with (on: false))", "x := y with (on: false)"),
        // A compare-and-swap of the row cannot be said.
        ("if VL(x): SC(row[y.who][me], v)", "if VL(row[y.who][me]): SC(row[y.who][me], v)"),
        // Several accesses in one step.
        ("        row[me][me] := v[me]", "        atomic: row[me][me] := v[me]"),
        // A link to another row than that of a copy, and no SC.
        (HELPS, "LL(row[me][me])"),
        // Another column than that of the LL.
        ("SC(row[y.who][me], v)", "SC(row[y.who][y.who], v)"),
        // A record that is written back, and has been read, but not by LL.
        ("SC(x, y with (on: false))", "z := x\n        SC(x, z with (on: false))"),
        // A copy on one of two ways.
        ("    LL(row[y.who][me])\n", "    if y.on: y.who := me\n    LL(row[y.who][me])\n"),
        // What was a copy, and is stored to: by an assignment, by a read, and by a call.
        (READS, "z := y.who\n        z := me\n        for s in segments: v[s] := row[z][s]"),
        ("    LL(row[y.who][me])\n", "    y := x\n    LL(row[y.who][me])\n"),
        (READS, "z := y.who\n        z := own()\n        for s in segments: v[s] := row[z][s]"),
    ];
    let text = format!("{REFILLED}procedure own(): process:\n    return me\n");
    assert!(is_of_form(&text, name));
    for (from, to) in changes {
        let changed = text.replacen(from, to, 1);
        assert_ne!(changed, text, "{from}");
        assert!(!is_of_form(&changed, name), "{to}");
    }
    // An argument that is a copy in one call of two.
    let text = HELPED.replacen("if y.on: help(y.who)", "help(y.who)\n    help(y.who)", 1);
    assert!(is_of_form(&text, "x.who on=1 row"));
    let text = HELPED.replacen("if y.on: help(y.who)", "help(y.who)\n    help(me)", 1);
    assert!(!is_of_form(&text, "x.who on=1 row"));
    // No LL and SC in ghost scans.
    let helping = "LL(out)\n        if VL(x): SC(out, v)\n        SC(x, y";
    let text = REFILLED.replacen(helping, &format!("LL(row[y.who][me])\n        {helping}"), 1);
    assert!(!is_of_form(&text, name) && text != REFILLED);
    // No such field, value, or array.
    for name in ["x.on row", "x.whom row", "x.who on=2 row", "x.who out", "x.who", "y.who row"] {
        assert!(!is_of_form(REFILLED, name), "{name}");
    }
    assert!(is_of_form(COPIED, "x.who phase=2 row") && is_of_form(HELPED, "x.who row"));
}

/// A program that writes its own rows alone: what is of the form for any array of rows.
const WRITTEN: &str = "
algorithm written
shared x: llsc record (on: bool, who: process, too: process)
shared row[process][segment]: value
shared other[process][segment]: value
shared out: llsc view
update(v): row[me][me] := v
scan:
    local v[segment]: value
    y := LL(x)
    other[me][me] := v[me]
    SC(x, (true, me, me))
    LL(out)
    if VL(x): SC(out, v)
    result := LL(out)
    return result
";

/// A name of each array is one field of one LL/SC cell, and each cell of the array has one value, and
/// is found by a process and at least one more name.
#[test]
fn only_arrays_of_values_by_processes_are_named() {
    let of_form = |text: &str, names: &[&str]| {
        let program = parsed(text, None);
        let obligation = by_rounds(&parsed(COPIED, None))[0][1].obligation;
        let names = names.iter().map(|name| names::of_line(&program, false, name));
        let names: Option<Vec<_>> = names.collect();
        names.is_some_and(|names| Layout::with_names(&program, obligation, names).is_ok())
    };
    for names in [&["x.who row"][..], &["x.who row other"], &["x.who row", "x.too other"]] {
        assert!(of_form(WRITTEN, names), "{names:?}");
    }
    // One array by two names, and one name twice.
    for names in [["x.who row", "x.too row"], ["x.who row", "x.who on=1 other"]] {
        assert!(!of_form(WRITTEN, &names), "{names:?}");
    }
    assert!(!of_form(WRITTEN, &["x.who row row"]));
    let changes: [(&[(&str, &str)], &str); 7] = [
        // Rows of one cell.
        (&[("row[process][segment]", "row[process]"), ("row[me][me]", "row[me]")], "x.who row"),
        // By segment, or with a number for the second index.
        (&[("row[process][segment]", "row[segment][segment]")], "x.who row"),
        (
            &[("row[process][segment]", "row[process][0..1]"), ("row[me][me]", "row[me][0]")],
            "x.who row",
        ),
        // Truth values, and versions beside values.
        (
            &[
                ("row[process][segment]: value", "row[process][segment]: bool"),
                ("row[me][me] := v", "row[me][me] := true"),
            ],
            "x.who row",
        ),
        // A register, and an array.
        (
            &[
                ("x: llsc record", "x: record"),
                ("y := LL(x)", "y := x"),
                ("SC(x, (true, me, me))", "x := (true, me, me)"),
                ("if VL(x): ", ""),
            ],
            "x.who row",
        ),
        (
            &[
                ("x: llsc", "x[segment]: llsc"),
                ("LL(x)", "LL(x[me])"),
                ("SC(x,", "SC(x[me],"),
                ("VL(x)", "VL(x[me])"),
            ],
            "x.who row",
        ),
        // A segment.
        (&[("who: process", "who: segment")], "x.who row"),
    ];
    for (edits, name) in changes {
        let text = edits.iter().fold(WRITTEN.to_owned(), |text, (from, to)| {
            assert!(text.contains(from), "{from}");
            text.replacen(from, to, 1)
        });
        assert!(!of_form(&text, &[name]), "{edits:?}");
    }
}

/// Whichever rounds are guessed.
#[test]
fn wrong_programs_with_names_are_not_certified() {
    for text in [COPIED, OWNED, REFILLED] {
        let program = parsed(text, None);
        for mut parts in by_rounds(&program) {
            let part = parts.remove(1);
            assert!(!part.names.is_empty(), "{}", program.name);
            let made = certificate(&program, &[part], Planted::default());
            assert!(matches!(made, Err(WriteError::Failure { .. })), "{}: {made:?}", program.name);
        }
    }
}

/// Wrong variants of jayanti: what is replaced by what.
const VARIANTS: [(&str, &str); 4] = [
    // A row of a helper is not cleared.
    ("for s in segments: B[me][s] := none", "for s in segments: v[s] := v[s]"),
    // An update transfers whether the phase is over or not.
    ("if VL(X): SC(B[q][me], w)", "SC(B[q][me], w)"),
    // What a late process has put together is published.
    ("if published != x.toggle and VL(X): SC", "if published != x.toggle: SC"),
    // What was transferred is not merged.
    ("if b != none: v[s] := b", "if b = none: v[s] := v[s]"),
];

/// With `SNAPSHOT_CERTIFICATES=1`, which takes minutes.
#[test]
fn no_certificate_is_made_of_variants_of_jayanti() {
    if std::env::var_os("SNAPSHOT_CERTIFICATES").is_none() {
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
        let made = certificate(&program, &[part], Planted::default());
        assert!(matches!(made, Err(WriteError::Failure { .. })), "{to}: {made:?}");
    }
}

/// The obligations of jayanti: faults, nesting, and vectors.
fn jayanti(program: &Program) -> Vec<Part> {
    let mut parts = parts(program, &["scans.faults"]);
    let found = by_rounds(program).swap_remove(0);
    parts[0].obligation.ghosts = found[0].obligation.ghosts;
    parts[0].round = found[0].round;
    parts.extend(found);
    parts.iter_mut().for_each(|part| part.alike = true);
    parts
}

/// With `SNAPSHOT_CERTIFICATES=1`, which takes minutes; without, that all but vectors are shown.
#[test]
fn jayanti_is_certified() {
    let program = of_corpus("jayanti", None);
    let mut parts = jayanti(&program);
    let is_whole = std::env::var_os("SNAPSHOT_CERTIFICATES").is_some();
    if !is_whole {
        parts.truncate(2);
        let made = certificate(&program, &parts[1..], Planted::default());
        assert!(made.is_ok(), "{made:?}");
        return;
    }
    let (text, summary) = certificate(&program, &parts, Planted::default()).unwrap();
    println!("{summary:?}");
    let answer = checked(&program, text.as_bytes());
    assert!(matches!(answer, Answer::Accepted(_)), "{answer:?}");
    // What names are in force for is a guess; that they are names is not.
    for (from, to) in [("X.proc_b phase=2,3 B", "X.proc_a phase=2,3 B"), ("lost 2", "lost 1")] {
        let mut lines = lines(&text);
        let at = lines.iter().position(|line| line == from).unwrap();
        lines[at] = to.to_owned();
        let answer = checked(&program, sealed(&lines).as_bytes());
        assert!(matches!(answer, Answer::Refused(_)), "{to}: {answer:?}");
        let is_unfit = matches!(answer, Answer::Refused(Refusal::Unfit(_)));
        assert_eq!(is_unfit, from.starts_with('X'), "{answer:?}");
    }
}
