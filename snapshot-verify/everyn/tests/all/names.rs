//! Names: programs of the form that the rule requires, and proofs by the rule.

use snapshot_everyn::compile::compile;
use snapshot_everyn::model::{Model, Obligation, Part, Specification};
use snapshot_everyn::names::{Force, Use};
use snapshot_everyn::prove::{Attempt, Limits, Sabotage, prove};
use snapshot_everyn::rounds::candidates;
use snapshot_everyn::shape::{Mode, integer};

use trial::effort::{Effort, is_left_out};

use super::verdicts::{is_proved, is_refuted, parsed};

/// Returns the model of vectors, for the first guess at rounds.
fn model(text: &str) -> Model {
    let program = parsed(text, None);
    let ghosts = candidates(&program).expect("a supported program")[0];
    let specification = Specification::Observer;
    let part = Part::Whole;
    let obligation = Obligation { mode: Mode::Direct, ghosts, specification, part };
    compile(&program, obligation).expect("a supported program")
}

fn attempt(text: &str, views: usize) -> Attempt {
    let limits = Limits { views, bytes: 1 << 30, ..Limits::default() };
    prove(&model(text), limits, Sabotage::default()).finding.attempt
}

fn jayanti() -> &'static str {
    corpus::algorithm("jayanti").expect("an algorithm of the corpus").text
}

#[test]
fn names_of_jayanti_are_in_force_while_readable() {
    if is_left_out(Effort::Slow) {
        return;
    }
    let model = model(jayanti());
    let force = |phases: &[i32]| {
        let bytes = phases.iter().map(|phase| integer(*phase)).collect();
        Some(Force { offset: 0, bytes })
    };
    let [copied, transferred] = model.named.as_slice() else { panic!("{:?}", model.named) };
    assert_eq!((copied.rows.len(), &copied.force), (1, &force(&[3])));
    assert_eq!((transferred.rows.len(), &transferred.force), (1, &force(&[2, 3])));
    let used = |is: &dyn Fn(&Use) -> bool| model.code.iter().flat_map(|one| &one.used).any(is);
    assert!(used(&|used| matches!(used, Use::Through(..))));
    assert!(used(&|used| matches!(used, Use::Own(..))));
    assert!(used(&|used| matches!(used, Use::Names(_))));
}

/// A program with a name, and edits that break the form.
#[test]
fn programs_of_other_forms_have_no_names() {
    if is_left_out(Effort::Slow) {
        return;
    }
    let text = "
algorithm named
shared x: llsc record (on: bool, who: process)
shared a[segment]: value
shared row[process][segment]: llsc value or none
shared out: llsc view
update(v):
    a[me] := v
    y := LL(x)
    z := y
    if y.on: help(y.who)
procedure help(q: process):
    LL(row[q][me])
    w := a[me]
    if VL(x): SC(row[q][me], w)
scan:
    local v[segment]: value
    y := LL(x)
    for s in segments: row[me][s] := none
    SC(x, (true, me))
    y := LL(x)
    for s in segments:
        c := row[y.who][s]
        if c != none: v[s] := c
    LL(out)
    if VL(x): SC(out, v)
    SC(x, y with (on: false))
    result := LL(out)
    return result
";
    assert_eq!(model(text).named.len(), 1);
    let other = [
        // A copy that is absent, or old, or present only on some paths.
        ("if y.on: help(y.who)", "if y.on: help(me)"),
        ("    z := y\n", "    z := LL(x)\n"),
        ("    z := y\n", "    y.who := me\n"),
        ("    z := y\n", "    if y.on: y := x\n"),
        ("    w := a[me]\n", "    w := a[me]\n    q2 := LL(x)\n"),
        // An SC that may be to another cell than the latest LL, or in another column.
        ("    LL(row[q][me])\n", "    LL(row[q][me])\n    LL(row[q][q])\n"),
        ("    LL(row[q][me])\n", ""),
        ("SC(row[q][me], w)", "SC(row[q][q], w)"),
        // A row of another process.
        ("row[me][s] := none", "row[s][s] := none"),
        ("    LL(out)\n", "    LL(out)\n    row[y.who][me] := none\n"),
        // A name that is neither the process itself nor its old value.
        ("SC(x, (true, me))", "SC(x, (true, process(0)))"),
        ("SC(x, y with (on: false))", "x := y with (on: false)"),
        ("    a[me] := v\n", "    a[me] := v\n    x.who := process(0)\n"),
        // Within scans.
        ("    LL(out)\n", "    LL(out)\n    help(y.who)\n"),
    ];
    for (from, to) in other {
        assert!(text.contains(from), "{from}");
        let named = model(&text.replacen(from, to, 1)).named.clone();
        assert!(named.is_empty(), "{to}: {named:?}");
    }
    // Rows of one cell, to which all processes link.
    let columns = ["[segment]: llsc value or none", "row[q][me]", "row[me][s]", "row[y.who][s]"];
    let cells = [": llsc value or none", "row[q]", "row[me]", "row[y.who]"];
    let single = columns.iter().zip(cells).fold(text.to_owned(), |text, (from, to)| {
        assert!(text.contains(from), "{from}");
        text.replace(from, to)
    });
    assert!(model(&single).named.is_empty(), "{single}");
}

/// Jayanti's algorithm, in the slow suite: there are half a million views.
#[test]
fn helpers_that_name_their_rows_are_proved() {
    if is_left_out(Effort::Slow) {
        return;
    }
    if is_left_out(Effort::Slow) {
        return;
    }
    let found = attempt(jayanti(), 1 << 20);
    assert!(matches!(found, Attempt::Holds), "{found:?}");
}

/// In the slow suite: it takes a minute and a half.
#[test]
fn wrong_helpers_are_not_proved() {
    if is_left_out(Effort::Slow) {
        return;
    }
    if is_left_out(Effort::Slow) {
        return;
    }
    // The transferred values are merged before the copied ones; nothing is transferred; copies, or
    // the destinations of transfers, belong to an earlier round.
    let merged = "        for s in segments: v[s] := A_copy[x.proc_a][s]\n";
    let wrong = [
        jayanti().replacen(merged, "", 1).replacen(
            "        (published, _) := LL(SS)\n",
            &format!("{merged}        (published, _) := LL(SS)\n"),
            1,
        ),
        jayanti().replacen("if x.phase = 2: transfer", "if x.phase = 1: transfer", 1),
        jayanti().replacen("x with (phase: 3, proc_a: me)", "x with (phase: 3)", 1),
        jayanti().replacen("        for s in segments: B[me][s] := none\n", "", 1),
    ];
    for text in &wrong {
        assert_ne!(text, jayanti());
        let found = attempt(text, 1 << 20);
        assert!(!matches!(found, Attempt::Holds), "{text}");
    }
}

/// A scan that pushes once may return the vector of a round that began before it: vectors do not
/// reveal this, nesting does.
#[test]
fn a_scan_that_pushes_once_is_not_proved() {
    if is_left_out(Effort::Slow) {
        return;
    }
    let text = jayanti().replacen("    push()\n    push()\n", "    push()\n", 1);
    assert_ne!(text, jayanti());
    let nested = |text: &str| {
        let program = parsed(text, None);
        let guesses = candidates(&program).expect("a supported program").into_iter();
        let holds = guesses.map(|ghosts| {
            let (specification, part) = (Specification::Observer, Part::Tokens);
            let obligation = Obligation { mode: Mode::Nested, ghosts, specification, part };
            let model = compile(&program, obligation).expect("a supported program");
            prove(&model, Limits::default(), Sabotage::default()).finding.holds()
        });
        holds.collect::<Vec<bool>>()
    };
    assert!(nested(&text).iter().all(|holds| !holds), "one push");
    assert!(nested(jayanti()).contains(&true), "two pushes");
}

/// A process that retries an SC for ever, without an LL, never tests its link elsewhere: it keeps
/// its location in views, too.
#[test]
fn spinning_process_is_not_lost() {
    if is_left_out(Effort::Slow) {
        return;
    }
    let text = "
algorithm spins
shared x: llsc bool
shared a[segment]: value
shared out: llsc view
update(v):
    a[me] := v
scan:
    local v[segment]: value
    BEFORE
    repeat
        WITHIN
        ok := SC(x, true)
    until ok
    for s in segments:
        b := a[s]
        v[s] := b
    LL(out)
    SC(out, v)
    result := LL(out)
    return result
";
    let ends = |before: &str, within: &str| {
        let model = model(&text.replace("BEFORE", before).replace("WITHIN", within));
        // For x, the first variable.
        let ways = model.lost.into_iter().take(1).flat_map(|lost| lost.ways).flatten();
        ways.map(|ways| ways.ends.len()).collect::<Vec<usize>>()
    };
    assert_eq!(ends("y := LL(x)", "skip"), [0; 0]);
    assert_eq!(ends("skip", "y := LL(x)"), [1]);
}

/// A condition with an empty body implies nothing on when a name is in force.
#[test]
fn conditions_with_empty_bodies_imply_nothing() {
    if is_left_out(Effort::Slow) {
        return;
    }
    let text = "
algorithm unforced

shared owner: process or none := none
shared x: llsc record (phase: 0..5, who: process)
shared row[process][segment]: llsc value or none
shared a[segment]: value
shared latest: view

update(v):
    atomic:
        a[me] := v
        y := LL(x)
        if y.phase != 5: skip
        LL(row[y.who][me])
        SC(row[y.who][me], initial)

scan:
    local copy[segment]: value
    repeat
        atomic:
            o := owner
            if o = none: owner := me
    until o = none
    x := (0, me)
    atomic:
        for s in segments: row[me][s] := none
    atomic:
        for s in segments: copy[s] := a[s]
        x := (0, me)
        y := LL(x)
        if y.phase != 5: skip
        for s in segments:
            c := row[y.who][s]
            if y.phase = 4: copy[s] := initial
            if c != none: copy[s] := initial
        latest := copy
        r := latest
        owner := none
    return r
";
    for text in [text, &text.replace("y.phase != 5", "y.phase = 5")] {
        is_refuted(text, "            if c != none: copy[s] := initial\n", "");
    }
}

/// A private variable that a helper sets to a copy of the name, and that receives its result: it is
/// not a copy any more.
#[test]
fn results_overwrite_copies() {
    if is_left_out(Effort::Slow) {
        return;
    }
    let text = "
algorithm privcopy

shared owner: process or none := none
shared x: llsc record (phase: 0..5, who: process)
shared row[process][segment]: value or none
shared a[segment]: value
shared latest: view
private q: process := me

procedure get(): process:
    z := LL(x)
    q := z.who
    return process(0)

update(v):
    a[me] := v
    row[me][me] := v

scan:
    local copy[segment]: value
    repeat
        atomic:
            o := owner
            if o = none: owner := me
    until o = none
    x := (0, me)
    atomic:
        for s in segments: row[me][s] := none
    q := get()
    atomic:
        for s in segments: copy[s] := a[s]
        for s in segments:
            c := row[q][s]
            if c != none: copy[s] := initial
        latest := copy
        r := latest
        owner := none
    return r
";
    is_refuted(text, "    return process(0)\n", "    return z.who\n");
}

/// No process names itself: the row named at first belongs to one of the processes, which writes
/// it.
#[test]
fn initially_named_rows_are_written() {
    if is_left_out(Effort::Slow) {
        return;
    }
    let text = "
algorithm nevernamed

shared x: llsc process
shared row[process][segment]: value or none
shared busy: process or none := none
shared scanning: process or none := none
shared bad: process or none := none
shared a[segment]: value
shared begun: bool
shared latest: view

update(v):
    repeat
        atomic:
            got := false
            o := busy
            c := scanning
            if o = none and c = none:
                busy := me
                got := true
    until got
    row[me][me] := v
    atomic:
        a[me] := v
        busy := none

scan:
    local copy[segment]: value
    y := LL(x)
    repeat
        atomic:
            c := scanning
            if c = none: scanning := me
    until c = none
    atomic:
        one := busy
        if one != none: e := row[y][one]
    atomic:
        two := busy
        if one != none and two = one:
            f := row[y][one]
            if e = none and f != none: bad := one
    atomic:
        begun := true
        for s in segments: copy[s] := a[s]
        z := bad
        if z != none: copy[z] := initial
        latest := copy
        r := latest
        scanning := none
    return r
";
    is_refuted(text, "            if e = none and f != none: bad := one\n", "            skip\n");
    let text = "
algorithm nevernamed2

shared x: llsc process
shared row[process][segment]: value or none
shared busy: process or none := none
shared a[segment]: value
shared begun: bool
shared latest: view

update(v):
    a[me] := v
    for s in segments: row[me][s] := v

scan:
    local copy[segment]: value
    y := LL(x)
    repeat
        atomic:
            c := busy
            if c = none: busy := me
    until c = none
    begun := true
    atomic:
        for s in segments: copy[s] := a[s]
        for s in segments:
            e := row[y][s]
            if e != none: copy[s] := initial
        latest := copy
        r := latest
        busy := none
    return r
";
    is_refuted(text, "            if e != none: copy[s] := initial\n", "            skip\n");
}

/// The path of a lost process ends at its own location, a call: this is a view.
#[test]
fn processes_that_retest_at_their_location_are_lost() {
    if is_left_out(Effort::Slow) {
        return;
    }
    let text = "
algorithm spinning

shared x: llsc bool
shared busy: process or none := none
shared a[segment]: value
shared begun: bool
shared latest: view

update(v):
    a[me] := v
    y := LL(x)
    s := scan()
    SC(x, true)

scan:
    local copy[segment]: value
    repeat
        atomic:
            c := busy
            if c = none: busy := me
    until c = none
    begun := true
    z := x
    atomic:
        for s in segments: 
            if z: copy[s] := a[s]
            else: copy[s] := a[s]
        latest := copy
        r := latest
        busy := none
    return r
";
    assert!(is_proved(text));
    let wrong = "        for s in segments: \n            if z: copy[s] := a[s]\n            else: copy[s] := a[s]\n";
    assert!(text.contains(wrong));
    is_refuted(
        &text.replacen(
            wrong,
            "        for s in segments:\n            if not z: copy[s] := a[s]\n",
            1,
        ),
        "if not z: ",
        "",
    );
}
