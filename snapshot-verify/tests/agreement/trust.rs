//! Small programs that exploration once answered wrongly, or not at all: names of
//! processes that are used as numbers, moves that take several successors of counters,
//! and processes that are exchanged where versions have canonical numbers. Both methods
//! must find the violation, and each text has a twin that is one edit away from it.

use std::num::NonZeroUsize;

use snapshot_verify::language::parse;
use snapshot_verify::program::Program;
use snapshot_verify::verify::{
    Method, Operations, Pairs, Reductions, Request, Unwatched, Verdict, verify,
};

fn program(text: &str) -> Program {
    parse("trust", text).unwrap().program(None).unwrap()
}

fn request(processes: usize, operations: Operations) -> Request {
    Request {
        processes,
        pairs: Pairs::All,
        method: Method::Exploration,
        values: None,
        updater: None,
        operations,
        reductions: Reductions::standard(),
        threads: NonZeroUsize::MIN,
        memory: 64 << 20,
        time: None,
        keep_going: true,
        self_check: Some(snapshot_verify::search::SelfCheck::DEFAULT),
    }
}

/// Per pair, whether it is wrong.
fn wrong(text: &str, request: &Request) -> Vec<bool> {
    let outcomes = verify(&program(text), true, request, &Unwatched::default()).unwrap();
    let is_wrong = |verdict: &Verdict| match verdict {
        Verdict::Verified => false,
        Verdict::Violation(_) => true,
        other => panic!("{other:?} of {text}"),
    };
    outcomes.iter().map(|outcome| is_wrong(&outcome.verdict)).collect()
}

/// An update and a scan in one step each; the scan sees the last updater.
fn last_updater(declarations: &str, statements: &str) -> String {
    format!(
        "algorithm last_updater
shared last: process
shared whole: view
update(v):
    local w: view
    atomic:
        last := me
        w := whole
        w[me] := v
        whole := w
scan:
    local w: view
    local zero: view
    local p: process
{declarations}    atomic:
        p := last
        w := whole
{statements}    return w
"
    )
}

#[test]
fn names_of_processes_that_are_numbers_are_not_renamed() {
    // What tells processes 1, 2 and 3 apart by number, and a twin that does not.
    let cases = [
        ("    local k: 0..n-1\n", "    k := p\n    if k = 3: return zero\n"),
        ("", "    if p > 2: return zero\n"),
        ("", "    if p >= 3: return zero\n"),
        ("", "    if (p + 1) mod 4 = 0: return zero\n"),
        ("", "    if p - 3 = 0: return zero\n"),
        ("    local k: 0..n-1\n", "    k := p\n    if k + k = 6: return zero\n"),
        ("    local b[0..n-1]: bool\n", "    b[3] := true\n    if b[p]: return zero\n"),
        ("", "    if p = process(3): return zero\n"),
    ];
    for (declarations, statements) in cases {
        let text = last_updater(declarations, statements);
        let found = wrong(&text, &request(4, Operations::Unbounded));
        // An update by process 3 is not seen, if it writes 1: pairs with process 3. Of
        // other pairs an update by it hides the others'.
        assert_eq!(found, [true; 6], "{text}");
        let mut unreduced = request(4, Operations::AtMost(1));
        unreduced.reductions = Reductions::NONE;
        assert_eq!(wrong(&text, &unreduced), found, "{text}");
        let twin = text.replace("return zero\n", "skip\n");
        assert_eq!(wrong(&twin, &request(4, Operations::Unbounded)), [false; 6], "{twin}");
    }
}

/// Pair (0, 2) is not pair (0, 1) with processes renamed.
#[test]
fn a_pair_stands_for_no_pair_that_has_other_numbers() {
    let text = last_updater("", "    if p > 1: w[p] := initial\n");
    assert_eq!(wrong(&text, &request(3, Operations::Unbounded)), [false, true, true]);
    let twin = last_updater("", "    if p > 3: w[p] := initial\n");
    assert_eq!(wrong(&twin, &request(3, Operations::Unbounded)), [false; 3]);
}

const COUNTERS: [(&str, &str); 5] = [
    (
        "a scan takes three successors after it read",
        "algorithm counting
shared c: counter
shared whole: view
update(v):
    local w: view
    local s: counter
    atomic:
        s := c
        c := s + 1
        w := whole
        w[me] := v
        whole := w
scan:
    local w: view
    local zero: view
    local x: counter
    local y: counter
    local d: counter
    x := c
    atomic:
        d := c
        w := whole
    y := x + 1
    y := y + 1
    y := y + 1
    if y < d: return zero
    return w
",
    ),
    (
        "a scanner catches up by at most three",
        "algorithm catch_up
shared seq: counter
shared a[segment]: value
private own: counter
private seen: counter
update(v):
    a[me] := v
    if me = process(0):
        own := own + 1
        own := own + 1
        seq := own
scan:
    local w[segment]: value
    if me = process(0): loop: t := seq
    for s in segments: w[s] := a[s]
    t := seq
    if seen < t: seen := seen + 1
    if seen < t: seen := seen + 1
    if seen < t: seen := seen + 1
    if seen + 1 < t: w[process(0)] := initial
    return w
",
    ),
    (
        "two counters rise in one step",
        "algorithm two_counters
shared h: counter
shared g: counter
shared l: counter
shared k: counter
shared a[segment]: value
update(v):
    atomic:
        a[me] := v
        if me = process(0):
            t := h
            h := t + 1
        if me = process(1):
            t := g
            g := t + 1
scan:
    local c[segment]: value
    atomic:
        t := l
        x := h
        t1 := t + 1
        l := t1
        u := k
        y := g
        u1 := u + 1
        k := u1
        for s in segments: c[s] := a[s]
    if t1 + 1 < x and u1 + 1 < y: c[process(1)] := initial
    return c
",
    ),
    (
        "one step counts up by two",
        "algorithm two_increments
shared a[segment]: value
shared hi: counter
shared lo: counter
update(v):
    atomic:
        a[me] := v
        h := hi
        hi := h + 1
scan:
    local c[segment]: value
    local t: counter
    atomic:
        t := lo
        h := hi
        t := t + 1
        t := t + 1
        lo := t
        for s in segments: c[s] := a[s]
    if t + 1 < h: c[me] := initial
    if t + 1 < h: c[process(1)] := initial
    return c
",
    ),
    (
        "two increments are fused with the read before",
        "algorithm two_private_increments
shared hi: counter
shared a[segment]: value
private mine: counter
private own: counter
update(v):
    a[me] := v
    if me = process(0):
        mine := mine + 1
        hi := mine
scan:
    local c[segment]: value
    if me = process(0): loop: h := hi
    for s in segments: c[s] := a[s]
    h := hi
    own := own + 1
    own := own + 1
    if own + 1 < h: c[process(0)] := initial
    return c
",
    ),
];

#[test]
fn several_successors_in_one_move_are_followed() {
    for (what, text) in COUNTERS {
        assert_eq!(wrong(text, &request(2, Operations::Unbounded)), [true], "{what}");
        // The twin only compares.
        let twin: Vec<&str> = text
            .lines()
            .filter(|line| !line.contains(":= initial") && !line.contains("return zero"))
            .collect();
        assert_eq!(wrong(&(twin.join("\n") + "\n"), &request(2, Operations::Unbounded)), [false]);
    }
}

/// Versions have canonical numbers by the order of slots; processes that are exchanged
/// change that order.
#[test]
fn versions_of_exchanged_processes_are_numbered_again() {
    let text = "algorithm versions
shared active: version
shared a[segment]: value
update(v):
    active := fresh
    a[me] := v
scan:
    local copy[segment]: value
    repeat
        mine := fresh
        active := mine
        for s in segments: copy[s] := a[s]
        t := active
    until t = mine
    return copy
";
    let mut base = request(4, Operations::AtMost(1));
    base.pairs =
        Pairs::One(snapshot_core::Process::from_index(1), snapshot_core::Process::from_index(2));
    assert_eq!(wrong(text, &base), [false]);
    let silent = text.replace("    active := fresh\n    a[me] := v\n", "    a[me] := v\n");
    assert_eq!(wrong(&silent, &base), [true]);
    let text = "algorithm generated
shared a[segment]: value
shared d[process]: version
private pd: version
update(v):
    a[me] := v
    pd := fresh
    pd := fresh
    d[me] := pd
scan:
    local r[segment]: value
    loop
        for s in segments: r[s] := a[s]
        t1 := d[process(1)]
        if t1 != pd: return r
";
    base.operations = Operations::AtMost(2);
    base.keep_going = false;
    base.pairs =
        Pairs::One(snapshot_core::Process::from_index(1), snapshot_core::Process::from_index(2));
    assert_eq!(wrong(text, &base), [true]);
}
