//! Wrong programs that were once proved, each with a right twin that is: steps that the views of
//! others do not show, and faults on which no result depends.

use snapshot_everyn::compile::compile;
use snapshot_everyn::model::{Act, Ghosts, Obligation, Part, Specification, Step};
use snapshot_everyn::prove::{Attempt, Limits, Sabotage, prove};
use snapshot_everyn::shape::{Mode, T};
use snapshot_everyn::term::{Other, Term};
use trial::effort::{Effort, is_left_out};

use super::verdicts::{answer, is_proved, is_refuted, is_unknown, parsed};

/// Vectors of scans of processes other than i and j, judged by memory.
const VECTORS_OF_T: Obligation = Obligation {
    mode: Mode::Direct,
    ghosts: Ghosts::Scans,
    specification: Specification::Local,
    part: Part::By(T),
};

/// Asserts that the obligation is not shown, because a failure cannot be excluded, and is shown
/// with the edit.
fn fails(text: &str, obligation: Obligation, from: &str, to: &str) {
    assert!(text.contains(from), "{from}");
    let attempt = |text: &str| {
        let model = compile(&parsed(text, None), obligation).expect("a supported program");
        let limits = Limits { views: 1 << 20, bytes: 1 << 29, ..Limits::default() };
        prove(&model, limits, Sabotage::default()).finding.attempt
    };
    let (wrong, right) = (attempt(text), attempt(&text.replacen(from, to, 1)));
    assert!(matches!(wrong, Attempt::Fails(..)), "{text}: {wrong:?}");
    assert!(matches!(right, Attempt::Holds), "with {to}: {text}: {right:?}");
}

/// A cell that is an array by process, written by other processes.
#[test]
fn elements_within_cells_are_written_by_others() {
    if is_left_out(Effort::Slow) {
        return;
    }
    let masked = corpus::small("masked");
    is_refuted(masked, "if seen[me]:", "if false:");
    // Computed in one step, part by part.
    let edits = [
        ("flags[k] := true", "flags[k] := k != me"),
        ("    mask := flags", "    mask := [k != me for k in processes]"),
        (
            "    mask := flags",
            "    mask[me] := false\n    for k in processes except me: mask[k] := true",
        ),
        ("        if k != me:\n            flags[k] := true", "        flags[k] := k != me"),
    ];
    for (from, to) in edits {
        assert!(masked.contains(from), "{from}");
        is_refuted(&masked.replacen(from, to, 1), "if seen[me]:", "if false:");
    }
    let of_two = masked
        .replace("shared mask:", "shared mask[0..1]:")
        .replace("mask := flags", "mask[1] := flags")
        .replace("seen := mask", "seen := mask[1]");
    is_refuted(&of_two, "if seen[me]:", "if false:");
    // The process itself does not write it any more.
    let set = masked
        .replace("        if k != me:\n            flags[k] := true", "        flags[k] := k = me");
    is_refuted(&set.replace("if seen[me]", "if not seen[me]"), "if not seen[me]:", "if false:");
}

/// A private array, stored to within a scan: in place, whole, or at an unknown index.
#[test]
fn private_arrays_may_be_stored_within_scans() {
    if is_left_out(Effort::Slow) {
        return;
    }
    let noted = corpus::small("noted");
    let store = "for k in processes: scanned[k] := true";
    for to in [
        store,
        "scanned := [true for k in processes]",
        "for k in processes except me: scanned[k] := true",
    ] {
        let text = noted.replacen(store, to, 1);
        fails(&text, VECTORS_OF_T, to, "skip");
    }
}

/// Private variables that hold views are stored to within ghost scans.
#[test]
fn private_views_may_be_stored_within_ghost_scans() {
    if is_left_out(Effort::Slow) {
        return;
    }
    let afek = corpus::algorithm("afek_unbounded").expect("an algorithm of the corpus").text;
    let text = afek
        .replace("private seq: version", "private seq: version\nprivate cache: view\nprivate kept: view\nprivate swaps: bool")
        .replace(
            "    s := embedded_scan()\n    seq := fresh\n    r[me] := (v, seq, s) linearizes",
            "    s := embedded_scan()\n    cache := s\n    swaps := true\n    h := embedded_scan()\n    \
             swaps := false\n    kept := h\n    seq := fresh\n    r[me] := (v, seq, cache) linearizes",
        )
        .replace("    loop\n        for k in processes: a[k]", "    if swaps: cache := kept\n    loop\n        for k in processes: a[k]");
    assert!(text.contains("if swaps") && text.contains("kept := h"), "{text}");
    let nesting = Obligation {
        mode: Mode::Nested,
        ghosts: Ghosts::Calls,
        part: Part::Tokens,
        ..VECTORS_OF_T
    };
    let specification = Specification::Observer;
    let nesting = Obligation { specification, ..nesting };
    fails(&text, nesting, "if swaps: cache := kept", "if swaps: kept := cache");
}

/// Another process sees an update in a loop, and lets it continue without the lock. Only the view
/// of that process knows the index that the loop leaves out, and no scan meets it. In the slow
/// suite.
#[test]
fn loops_omit_the_same_index_in_all_views() {
    if is_left_out(Effort::Slow) {
        return;
    }
    if is_left_out(Effort::Slow) {
        return;
    }
    let text = corpus::small("boss");
    is_refuted(text, "if b: lax[k] := true", "if b: lax[k] := false");
}

/// A version that is lost within the step that makes a new one may still be held by others: the new
/// one has another number.
#[test]
fn new_version_differs_from_one_lost_in_the_step() {
    if is_left_out(Effort::Slow) {
        return;
    }
    let text = "
algorithm reborn

shared a[segment]: value
shared ver: version
private zero: version

update(v):
    a[me] := v

scan:
    local copy[segment]: value
    local good[segment]: value
    atomic:
        ver := zero
        ver := fresh
    old := ver
    for s in segments: copy[s] := a[s]
    now := ver
    if now != old: return copy
    atomic:
        for s in segments: good[s] := a[s]
    return good
";
    is_refuted(text, "if now != old: return copy", "if now != old: skip");
}

/// A view from the place of any other is right because it is shown with that process as a member:
/// so it is shown with members, even if their views are not kept.
#[test]
fn untracked_views_belong_to_members() {
    if is_left_out(Effort::Slow) {
        return;
    }
    let text = "
algorithm stale4

shared a[segment]: value
shared seen[segment]: view

procedure pick(): view
    local copy[segment]: value
    for k in processes except me:
        x := seen[k]
        return x
    atomic:
        for s in segments: copy[s] := a[s]
    return copy

update(v):
    a[me] := v

scan:
    s := pick()
    return s
";
    let returned = "        x := seen[k]\n        return x\n";
    is_refuted(text, returned, "        skip\n");
    let text = text.replace("shared seen[segment]", "private seen[process]");
    is_refuted(&text, returned, "        skip\n");
}

/// Of nested calls that return views, only the outer one is a ghost scan.
#[test]
fn ghost_scans_are_not_nested() {
    if is_left_out(Effort::Slow) {
        return;
    }
    let text = "
algorithm within

shared a[segment]: value

update(v):
    h := q()
    g := p()
    a[me] := v

scan:
    s := q()
    return s

procedure p(): view
    local copy[segment]: value
    for s in segments: copy[s] := a[s]
    return copy

procedure q(): view
    g := p()
    return g
";
    let collected = "    for s in segments: copy[s] := a[s]\n    return copy";
    let atomic = "    atomic:\n        for s in segments: copy[s] := a[s]\n    return copy";
    is_refuted(text, collected, atomic);
}

/// The variable of a loop is not forgotten before the loop has ended.
#[test]
fn loop_variable_is_kept_until_the_end() {
    if is_left_out(Effort::Slow) {
        return;
    }
    let counted = corpus::small("counted");
    is_refuted(counted, "if rounds = 3", "if rounds = 0");
}

/// Private elements of any other are never the enclosing round's: a procedure that is called in it
/// stores there in its own rounds.
#[test]
fn private_elements_in_a_round_are_unknown() {
    if is_left_out(Effort::Slow) {
        return;
    }
    let text = "
algorithm rounds
shared a[segment]: value
DECLARED
update(v):
    a[me] := v
scan:
    local copy[segment]: value
LOCAL
    for k in processes: marked[k] := true
    for k in processes:
        if marked[k]: copy[k] := a[k]
    return copy
";
    let scratch = |declared: &str, local: &str| {
        let text = text.replace("DECLARED", declared).replace("LOCAL\n", local);
        let model = compile(&parsed(&text, None), VECTORS_OF_T).expect("a supported program");
        let mut found = 0;
        for one in &model.code {
            if let Act::Unless(Term::Index { other: Other::Scratch, .. }, _) = &one.act {
                found += 1;
            }
            if let Act::Assign(target, _) = &one.act {
                let is_scratch = |step: &&Step| matches!(step, Step::Element(.., Other::Scratch));
                found += target.path.iter().filter(is_scratch).count();
            }
        }
        found
    };
    assert_eq!(scratch("", "    local marked[process]: bool\n"), 2);
    assert_eq!(scratch("private marked[process]: bool", ""), 0);
}

/// Faults in expressions on which nothing else depends, or for some n only.
#[test]
fn faults_are_found_in_any_expression() {
    if is_left_out(Effort::Slow) {
        return;
    }
    let locked = corpus::small("locked");
    let with = |declared: &str, statement: &str| {
        let text = locked.replacen("scan:\n", &format!("{declared}\nscan:\n"), 1);
        text.replacen("    return copy", &format!("    {statement}\n    return copy"), 1)
    };
    let wrong = [
        ("private c: counter or none", "if c mod 2 = 1: skip"),
        ("private c: 0..n or none", "if c + 1 < n: skip"),
        ("private c: 0..n or none", "if c / 2 < 3: skip"),
        ("private c: counter or none\nprivate d: counter", "d := c + 1"),
        ("private p: process or none\nprivate q: view", "q[p] := initial"),
        ("private p: process or none\nprivate w: array [0..n] of bool", "if w[p]: skip"),
        ("private p: process", "if p = process(2): skip"),
        ("private p: process", "p := process(n - 3)"),
        ("private k: 0..n", "k := 3"),
    ];
    for (declared, statement) in wrong {
        let text = with(declared, statement);
        let Ok(algorithm) = snapshot_language::parse("test", &text) else {
            panic!("{declared}: {statement}: {:?}", snapshot_language::parse("test", &text).err());
        };
        let program = algorithm.program(None).expect("a program that is right");
        assert!(!answer(&program).proved, "{declared}: {statement}");
    }
    let right = [
        ("private c: counter", "if c mod 2 = 1: skip"),
        ("private c: 0..n", "if c / 2 < 3: skip"),
        ("private p: process", "if p = process(n - 1) or p = process(1): skip"),
        ("private k: 0..n", "k := 2"),
        ("private q: view", "q[me] := initial"),
    ];
    for (declared, statement) in right {
        assert!(is_proved(&with(declared, statement)), "{declared}: {statement}");
    }
}

/// A step with many unknown values, many nested loops, and many scalars are refused soon.
#[test]
fn steps_with_too_many_outcomes_are_refused() {
    if is_left_out(Effort::Slow) {
        return;
    }
    let many = "
algorithm many
shared a[segment]: value
shared f[process]: array [0..29] of bool
shared boss: process
shared owner: cas process or none := none
update(v):
    p := boss
    bits := f[p]
    is_free := all b in 0..29: bits[b]
    boss := me
    f[me] := bits
    if not is_free:
        repeat
            got := CAS(owner, none, me)
        until got
    a[me] := v
    if not is_free: owner := none
scan:
    local copy[segment]: value
    repeat
        got := CAS(owner, none, me)
    until got
    for s in segments: copy[s] := a[s]
    owner := none
    return copy
";
    let mut deep = "
algorithm deep
shared a[segment]: value
shared p: process
update(v):
"
    .to_owned();
    for depth in 0..12 {
        deep += &format!("{}for k{depth} in processes:\n", "    ".repeat(depth + 1));
    }
    deep += &format!("{}p := k11\n    a[me] := v\n", "    ".repeat(13));
    deep += "scan:\n    local copy[segment]: value\n    for s in segments: copy[s] := a[s]\n    return copy\n";
    is_unknown(many, "ways");
    // Names of one process, which may be t of another view, or any other.
    let fields = |each: &dyn Fn(usize) -> String, between: &str| -> String {
        (0..26).map(each).collect::<Vec<_>>().join(between)
    };
    let declared = fields(&|at| format!("p{at}: process or none"), ", ");
    let among = fields(&|at| format!("r.p{at} = me"), " or ");
    let names = many
        .replacen("algorithm many", &format!("algorithm many\ntype wide = record ({declared})"), 1)
        .replacen("f[process]: array [0..29] of bool", "rec: wide", 1)
        .replacen("boss: process", "boss: process or none := none", 1)
        .replacen("    bits := f[p]\n    is_free := all b in 0..29: bits[b]\n", "", 1)
        .replacen("    p := boss\n    boss := me\n    f[me] := bits\n", &format!(
            "    boss := me\n    x := boss\n    rec := ({})\n    r := rec\n    is_free := {among}\n",
            fields(&|_| "x".to_owned(), ", ")
        ), 1);
    is_unknown(&names, "ways");
    is_unknown(&deep, "within each other");
    let (dimensions, arrays) = ("[process]".repeat(8), "array [process] of ".repeat(6));
    let wide = corpus::small("locked").replacen(
        "shared a[segment]: value",
        &format!("shared a[segment]: value\nshared wide{dimensions}: {arrays}bool"),
        1,
    );
    is_unknown(&wide, "scalars");
}

/// A view that is published twice in one step: the second is not a view of the round.
#[test]
fn last_publication_of_a_step_counts() {
    if is_left_out(Effort::Slow) {
        return;
    }
    let text = "
algorithm republished

shared owner: cas process or none := none
shared a[segment]: value
shared req: bool
shared done: bool
shared latest: view
private zero: view

update(v):
    a[me] := v

scan:
    local copy[segment]: value
    loop:
        got := CAS(owner, none, me)
        if got: exit
        atomic:
            q := req
            if q:
                for s in segments: copy[s] := a[s]
                latest := copy
                latest := zero
                req := false
                done := true
    done := false
    req := true
    repeat
        d := done
    until d
    r := latest
    owner := none
    return r
";
    is_refuted(text, "                latest := zero\n", "");
}

/// New versions among the arguments of a call differ.
#[test]
fn new_versions_of_one_call_differ() {
    if is_left_out(Effort::Slow) {
        return;
    }
    let text = "
algorithm twofresh

shared a[segment]: value

procedure alike(x: version, y: version): bool:
    if x = y: return true
    return false

update(v):
    a[me] := v

scan:
    local copy[segment]: value
    local bad[segment]: value
    same := alike(fresh, fresh)
    if same:
        atomic:
            for s in segments: copy[s] := a[s]
        return copy
    for s in segments: bad[s] := a[s]
    return bad
";
    let collect = "    for s in segments: bad[s] := a[s]\n";
    is_refuted(text, collect, "    atomic:\n        for s in segments: bad[s] := a[s]\n");
}

/// More versions than a byte can number.
#[test]
fn more_than_100_versions_are_unknown() {
    if is_left_out(Effort::Slow) {
        return;
    }
    let text = "
algorithm overflowing

shared owner: cas process or none := none
shared a[segment]: value
shared g: version
shared sig: bool
private nought: view
private zero: version

update(v):
    a[me] := v

scan:
    local copy[segment]: value
    local p[0..3][0..62]: version
    got := CAS(owner, none, me)
    if not got:
        atomic:
            g := fresh
            sig := true
            for s in segments: copy[s] := a[s]
        return copy
    last := zero
    for b in 0..3:
        for c in 0..62:
            repeat
                x := g
            until x != last
            last := x
            p[b][c] := x
    sig := false
    repeat
        y := sig
    until y
    owner := none
    if all b in 0..3: all c in 0..62: p[b][c] != zero: return nought
    atomic:
        for s in segments: copy[s] := a[s]
    return copy
";
    is_unknown(text, "more than 100 versions");
}

/// A view from the place of one other process is not exempt in the place of another.
#[test]
fn views_are_exempt_only_in_the_place_of_their_process() {
    if is_left_out(Effort::Slow) {
        return;
    }
    let text = corpus::small("matrix");
    is_refuted(text, "            if k != p: return x[k]\n", "            if k != p: skip\n");
}
