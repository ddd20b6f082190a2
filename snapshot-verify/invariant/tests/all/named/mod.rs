//! Names: programs without the form that the rules require, and guesses that must
//! be refused.

mod wrong;

use snapshot_invariant::Budget;
use snapshot_invariant::check::{Answer, Refusal};
use snapshot_invariant::layout::Layout;
use snapshot_invariant::names;
use snapshot_invariant::search::{Obstacle, close};
use snapshot_invariant::step::{Failure, InjectedFault};
use snapshot_invariant::write::{Part, lay_out};
use snapshot_language::program::Program;
use test_support::effort::{either, is_night};

use crate::altered::{self, lines, sealed};
use crate::programs::{by_rounds, certificate, checked, of_corpus, parsed, parts, refused};
use crate::projection::named::{COPIED, REFILLED};

/// Returns true if names have the form that the rules require.
fn is_of_form(text: &str, name: &str) -> bool {
    let program = parsed(text, None);
    let obligation = by_rounds(&parsed(COPIED, None))[0][1].obligation;
    let names = names::of_line(&program, false, name);
    names.is_some_and(|name| Layout::with_names(&program, obligation, vec![name]).is_ok())
}

/// Statements of `refilled`: the help of an update, and the reads of its scans.
const HELPS: &str = "LL(row[y.who][me])\n    if VL(x): SC(row[y.who][me], v)";
const READS: &str = "for s in segments: v[s] := row[y.who][s]";

/// Each text has the form, and loses it with each replacement.
#[test]
fn programs_of_other_forms_have_no_names() {
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
        // A process reads its own row, which may be the named one.
        ("v[s] := row[y.who][s]", "v[s] := row[me][s]"),
        // The named process is an arbitrary one.
        ("SC(x, (true, me))", "SC(x, (true, process(0)))"),
        // A copy that is written back without the link.
        ("SC(x, y with (on: false))", "x := y with (on: false)"),
        // A compare-and-swap of the row is not supported.
        ("if VL(x): SC(row[y.who][me], v)", "if VL(row[y.who][me]): SC(row[y.who][me], v)"),
        // Several accesses in one step.
        ("        row[me][me] := v[me]", "        atomic: row[me][me] := v[me]"),
        // A link to another row than the copy's, and no SC.
        (HELPS, "LL(row[me][me])"),
        // Another column than the LL's.
        ("SC(row[y.who][me], v)", "SC(row[y.who][y.who], v)"),
        // A record that is written back, and has been read, but not by LL.
        ("SC(x, y with (on: false))", "z := x\n        SC(x, z with (on: false))"),
        // A copy on one of two ways.
        ("    LL(row[y.who][me])\n", "    if y.on: y.who := me\n    LL(row[y.who][me])\n"),
        // A former copy that is stored to: by an assignment, by a read, and by a call.
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
    let text =
        corpus::small("helped").replacen("if y.on: help(y.who)", "help(y.who)\n    help(y.who)", 1);
    assert!(is_of_form(&text, "x.who on=1 row"));
    let text =
        corpus::small("helped").replacen("if y.on: help(y.who)", "help(y.who)\n    help(me)", 1);
    assert!(!is_of_form(&text, "x.who on=1 row"));
    // No LL and SC in ghost scans.
    let helping = "LL(out)\n        if VL(x): SC(out, v)\n        SC(x, y";
    let text = REFILLED.replacen(helping, &format!("LL(row[y.who][me])\n        {helping}"), 1);
    assert!(!is_of_form(&text, name) && text != REFILLED);
    // No such field, value, or array.
    for name in ["x.on row", "x.whom row", "x.who on=2 row", "x.who out", "x.who", "y.who row"] {
        assert!(!is_of_form(REFILLED, name), "{name}");
    }
    assert!(
        is_of_form(COPIED, "x.who phase=2 row") && is_of_form(corpus::small("helped"), "x.who row")
    );
}

/// A program that only writes its own rows: any array of rows has the form.
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

/// A name of each array is one field of one LL/SC cell. Each cell of the array has one value, and
/// its indices are a process and at least one more name.
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

/// A right program with a name: a process that has the lock fills its row, makes itself the named
/// process, and continues with the named row. So its certificate is made and checked in seconds.
pub const FILLED: &str = "
algorithm filled
shared owner: llsc process or none := none
shared x: llsc record (on: bool, who: process)
shared a[segment]: value
shared row[process][segment]: value
shared latest: view
update(v):
    acquire()
    a[me] := v
    owner := none
scan:
    local copy: view
    acquire()
    LL(x)
    for s in segments:
        b := a[s]
        row[me][s] := b
    SC(x, (true, me))
    y := LL(x)
    for s in segments: copy[s] := row[y.who][s]
    latest := copy
    SC(x, y with (on: false))
    owner := none
    result := latest
    return result
procedure acquire():
    local got: bool
    repeat
        got := false
        o := LL(owner)
        if o = none: got := SC(owner, me)
    until got
";

/// Returns the program, and its certificate: by the only guess at rounds that leads to one.
fn filled() -> (Program, String) {
    let program = parsed(FILLED, None);
    let mut found = by_rounds(&program).into_iter().filter_map(|mut parts| {
        assert_eq!(parts[1].names, ["x.who row"]);
        parts[1].alike = true;
        certificate(&program, &parts, InjectedFault::default()).ok()
    });
    let (text, summary) = found.next().unwrap();
    assert!(found.next().is_none());
    println!("{summary:?}");
    drop(found);
    (program, text)
}

#[test]
fn a_right_program_with_a_name_is_certified() {
    let (program, text) = filled();
    let answer = checked(&program, text.as_bytes());
    assert!(matches!(answer, Answer::Accepted(_)), "{answer:?}");
}

/// Names, their kept scalars, lost processes and merged calls: a claim that the rules do not
/// support is refused before any view is read.
#[test]
fn unfit_claims_of_names_are_refused() {
    let (program, text) = filled();
    let all = lines(&text);
    let vectors = all.iter().position(|line| line == "obligation rounds.observer").unwrap();
    let tail = format!("\n{}\n", all[vectors..].join("\n"));
    let altered = |edits: &[(&str, &str)]| {
        let changed = edits.iter().fold(tail.clone(), |text, (from, to)| {
            let from = format!("\n{from}\n");
            assert!(text.contains(&from), "{from}");
            text.replacen(&from, &format!("\n{to}\n"), 1)
        });
        let mut lines = all[..vectors].to_vec();
        lines.extend(changed.trim().lines().map(str::to_owned));
        refused(&program, sealed(&lines).as_bytes())
    };
    let twice = ("names 1", "names 2");
    let force = ("x.who row", "x.who on=1 row");
    let class = ("classes 0", "classes 1\nx.on");
    let unread: [&[(&str, &str)]; 13] = [
        // No array of rows, no process, no field; and one line twice.
        &[("x.who row", "x.who latest")],
        &[("x.who row", "x.on row")],
        &[("x.who row", "owner row")],
        &[twice, ("x.who row", "x.who row\nx.who row")],
        // The name, or the byte that decides whether it is in force, is not kept, or is listed only
        // beside other bits.
        &[("x.who", "x.on")],
        &[force],
        &[force, ("kept 35", "kept 36\nx.on"), class],
        // No cell of LL and SC, and one twice.
        &[("lost 2\nowner", "lost 2\nlatest")],
        &[("lost 2\nowner", "lost 3\nowner\nowner")],
        // No calls, calls of no procedure, and an empty group.
        &[("calls 0", "calls 1\n1 1 0")],
        &[("calls 0", "calls 1\n1 0 1")],
        &[("calls 0", "calls 1\n9 0")],
        &[("calls 0", "calls 1\n1")],
    ];
    for edits in unread {
        let refusal = altered(edits);
        assert!(matches!(refusal, Refusal::Line(_)), "{edits:?}: {refusal}");
    }
    // One array twice, and one name twice.
    let unfit: [&[(&str, &str)]; 2] =
        [&[("x.who row", "x.who row row")], &[twice, ("x.who row", "x.who row\nx.who on=1 row")]];
    for edits in unfit {
        let refusal = altered(edits);
        assert!(matches!(refusal, Refusal::Unsupported(_)), "{edits:?}: {refusal}");
    }
}

/// For vectors: a missing view, and views with another name or another named row.
#[test]
fn changed_views_of_names_are_refused() {
    let (program, text) = filled();
    let all = lines(&text);
    let sections = altered::views(&all);
    // The last list has the views of t.
    let (head, count) = *sections.last().unwrap();
    let before: usize = sections[..sections.len() - 1].iter().map(|(_, count)| count).sum();
    for number in (0..4).step_by(either(3, 1)).map(|at| before + at * (count - 1) / 3) {
        let text = altered::without(&text, number).unwrap();
        let refusal = refused(&program, text.as_bytes());
        let is_right = matches!(refusal, Refusal::Escape { .. } | Refusal::Initial(_));
        assert!(is_right, "{number}: {refusal}");
    }
    // The byte of the named row at i, beside the others that are kept.
    let mut part = by_rounds(&program).pop().unwrap().remove(1);
    part.alike = true;
    let layout = lay_out(&program, &part).unwrap();
    let kept = layout.slots.iter().filter(|slot| slot.kept);
    let bytes: Vec<usize> = ["row[x.who][i]", "x.who", "row[t][i]"]
        .map(|name| kept.clone().position(|slot| slot.name == name).unwrap())
        .to_vec();
    let mut row = Vec::new();
    let mut seen = 0;
    for number in 0..count {
        row = altered::row_of(&row, &all[head + 1 + number]);
        let at = bytes[seen % 3];
        // A changed known byte: a value, or whether the name is t.
        let other = match row[at] {
            b'#' => b'$',
            b'$' => b'#',
            b'%' => b'&',
            b'&' => b'%',
            _ => continue,
        };
        if number < (seen + 1) * count / either(4, 12) {
            continue;
        }
        seen += 1;
        let mut lines = all.clone();
        let mut changed = row.clone();
        changed[at] = other;
        lines[head + 1 + number] = altered::line_of(&changed);
        if number + 1 < count {
            let next = altered::row_of(&row, &all[head + 2 + number]);
            lines[head + 2 + number] = altered::line_of(&next);
        }
        let answer = checked(&program, sealed(&lines).as_bytes());
        assert!(matches!(answer, Answer::Refused(_)), "{number}, {at}: {answer:?}");
    }
    assert!(seen > either(2, 6), "{seen}");
}

/// For nesting, where results of operations are judged, no process is lost.
#[test]
fn lost_processes_are_refused_in_nesting() {
    let (program, text) = filled();
    let mut lines = lines(&text);
    let at = lines.iter().position(|line| line == "lost 0").unwrap();
    lines.splice(at..=at, ["lost 1", "x"].map(str::to_owned));
    let refusal = refused(&program, sealed(&lines).as_bytes());
    assert!(matches!(refusal, Refusal::Line(_)), "{refusal}");
}

/// Updates that take their value back, and scans that publish, without the link to `x` that they
/// had: each is wrong for n = 2 and two operations by each (`check FILE -n 2 --operations grow`),
/// and no such process may be lost.
fn late() -> Vec<String> {
    let publishes = FILLED.replacen(
        "    latest := copy\n    SC(x, y with (on: false))\n    owner := none\n",
        "    owner := none\n    latest := copy\n",
        1,
    );
    let update = "    acquire()\n    a[me] := v\n    owner := none\n";
    let takes_back = |links: &str, late: &str| {
        let head = "    acquire()\n    old := a[me]\n    a[me] := v\n";
        let text = FILLED.replacen(update, &format!("{head}{links}    owner := none\n{late}"), 1);
        let text = text.replacen("shared a", "shared z: llsc bool\nshared a", 1);
        text.replacen("    SC(x, (true, me))\n", "    SC(x, (true, me))\n    z := true\n", 1)
    };
    let asked = |condition: &str| {
        let late = "    g := VL(x)\n    f := VL(z)\n    LL(x)\n";
        takes_back("    LL(z)\n    LL(x)\n", &format!("{late}    if {condition}: a[me] := old\n"))
    };
    // It writes its row while that is the named one.
    let named = "    row[me][me] := copy[me]\n    y := LL(x)\n";
    let overwrites = FILLED.replacen("    y := LL(x)\n", named, 1);
    vec![
        overwrites,
        publishes,
        takes_back("    LL(x)\n", "    if not VL(x): a[me] := old\n"),
        asked("not f and not g"),
        asked("f and not g"),
    ]
}

/// By the guess at rounds that proves the right program. Two texts, in the slow suite all.
#[test]
fn processes_that_leave_state_behind_are_not_lost() {
    for (number, text) in late().iter().enumerate().take(either(2, 5)) {
        let program = parsed(text, None);
        let mut part = by_rounds(&program).pop().unwrap().remove(1);
        part.alike = true;
        let layout = lay_out(&program, &part).unwrap();
        assert_eq!((layout.named.len(), layout.lost.is_empty()), (1, false));
        let mut proceed = || true;
        let mut budget = Budget { memory: 1 << 30, proceed: &mut proceed };
        let closed = close(&layout, InjectedFault::default(), &mut budget);
        let is_wrong = matches!(closed, Err(Obstacle::Failure(Failure::Vector(_))));
        assert!(is_wrong, "{number}: {:?}", closed.map(|family| family.len()));
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

/// At night, which takes minutes, with the vectors.
#[test]
fn jayanti_is_certified() {
    let program = of_corpus("jayanti", None);
    let mut parts = jayanti(&program);
    let is_whole = is_night();
    if !is_whole {
        parts.truncate(2);
        let made = certificate(&program, &parts[1..], InjectedFault::default());
        assert!(made.is_ok(), "{made:?}");
        return;
    }
    let (text, summary) = certificate(&program, &parts, InjectedFault::default()).unwrap();
    println!("{summary:?}");
    let answer = checked(&program, text.as_bytes());
    assert!(matches!(answer, Answer::Accepted(_)), "{answer:?}");
    // The condition of a name's force is a guess; that the fields are names is not.
    for (from, to) in [("X.proc_b phase=2,3 B", "X.proc_a phase=2,3 B"), ("lost 2", "lost 1")] {
        let mut lines = lines(&text);
        let at = lines.iter().position(|line| line == from).unwrap();
        lines[at] = to.to_owned();
        let answer = checked(&program, sealed(&lines).as_bytes());
        assert!(matches!(answer, Answer::Refused(_)), "{to}: {answer:?}");
        let is_unfit = matches!(answer, Answer::Refused(Refusal::Unsupported(_)));
        assert_eq!(is_unfit, from.starts_with('X'), "{answer:?}");
    }
}
