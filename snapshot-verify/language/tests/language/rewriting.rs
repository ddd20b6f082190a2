//! Which programs are rewritten, by which forms, and which are not.

use snapshot_language::program::rewrite::rewrite;
use snapshot_language::program::{Program, Type};

fn program(text: &str) -> Program {
    snapshot_language::parse("test", text)
        .unwrap_or_else(|wrong| panic!("{text}\n{wrong}"))
        .program(None)
        .unwrap_or_else(|wrong| panic!("{text}\n{wrong}"))
}

/// What is rewritten in a program.
fn changes(text: &str) -> Vec<String> {
    let program = program(text);
    let rewritten = rewrite(&program);
    rewritten.map_or_else(Vec::new, |rewritten| {
        // There is nothing left to rewrite.
        assert!(rewrite(&rewritten.program).is_none(), "{}", rewritten.program);
        rewritten.changes.iter().map(ToString::to_string).collect()
    })
}

/// A program with a lock, taken and given back by these statements.
fn lock(declared: &str, take: &str, give: &str) -> String {
    format!(
        "algorithm lock
{declared}
shared a[segment]: value
update(v):
    local got: bool
    repeat
        got := false
        {take}
    until got
    a[me] := v
    {give}
scan:
    local w: view
    for s in segments: w[s] := a[s]
    return w
"
    )
}

#[test]
fn locks_name_their_owner() {
    let right = [
        ("shared l: cas bool", "got := CAS(l, false, true)", "l := false"),
        ("shared l: cas bool", "x := TAS(l); got := not x", "l := false"),
        ("shared l: cas bool", "x := SWAP(l, true); got := not x", "l := false"),
        ("shared l: llsc bool", "x := LL(l); if not x: got := SC(l, true)", "l := false"),
        // The map of states does not mind who gives it back, or how often it is written.
        ("shared l: cas bool", "got := CAS(l, false, true)", "l := false; l := false"),
        ("shared l: cas bool", "got := CAS(l, false, true)", "x := l; l := x; l := false"),
        (
            "shared l: cas bool",
            "got := CAS(l, false, true)",
            "got := CAS(l, false, true); l := false",
        ),
        ("shared l[segment]: cas bool", "got := CAS(l[me], false, true)", "l[me] := false"),
    ];
    for (declared, take, give) in right {
        assert_eq!(changes(&lock(declared, take, give)), ["owner l"], "{declared} {take} {give}");
    }
    let wrong = [
        // Not taken, or not given back.
        ("shared l: cas bool", "x := l; l := true; got := not x", "l := false"),
        ("shared l: cas bool", "got := CAS(l, false, true)", "skip"),
        // A CAS that expects another thing than `false` would have to know the name.
        (
            "shared l: cas bool",
            "got := CAS(l, false, true)",
            "got := CAS(l, true, false); l := false",
        ),
        ("shared l: cas bool", "x := l; got := CAS(l, x, true)", "l := false"),
        ("shared l: cas bool := true", "got := CAS(l, false, true)", "l := false"),
        ("shared l: bool", "x := l; if not x: l := true; got := not x", "l := false"),
        ("shared l: cas 0..1", "got := CAS(l, 0, 1)", "l := 0"),
        ("shared l: cas process or none", "got := CAS(l, none, me)", "l := none"),
    ];
    for (declared, take, give) in wrong {
        assert_eq!(changes(&lock(declared, take, give)), [""; 0], "{declared} {take} {give}");
    }
}

/// A program with counters: what is declared, what an update and a scan do.
fn counting(declared: &str, update: &str, scan: &str) -> String {
    format!(
        "algorithm counting
{declared}
shared spare[segment]: value
update(v):
    local x: counter
    local y: counter
    local same: bool
{update}
    spare[me] := v
scan:
    local w: view
    local x: counter
    local y: counter
    local c[process]: counter
    local d[process]: counter
    local same: bool
{scan}
    for s in segments: w[s] := spare[s]
    return w
"
    )
}

const OWN: &str = "shared r[process]: counter\nshared q[process]: counter";
const OWN_UPDATE: &str = "    x := r[me]\n    r[me] := x + 1";
const COLLECTS: &str = "    for k in processes: c[k] := r[k]\n    for k in processes: d[k] := r[k]\n    same := all k in processes: c[k] = d[k]";

#[test]
fn counters_only_compared_for_equality_become_versions() {
    let owned = |update: &str, scan: &str| counting(OWN, update, scan);
    for update in [
        OWN_UPDATE,
        "    x := r[me]\n    y := x + 1\n    r[me] := y",
        "    x := r[me]\n    y := x\n    r[me] := x\n    r[me] := y + 1",
        "    x := r[me]\n    if x = y: r[me] := x + 1\n    else: r[me] := x",
        "    x := r[me]\n    loop:\n        y := x + 1\n        r[me] := y\n        x := r[me]\n        if x = y: exit\n",
        "    atomic:\n        x := r[me]\n        r[me] := x + 1",
        "    x := r[me]\n    r[me] := x + 1\n    q[me] := x",
    ] {
        // In the fifth, what holds a successor is compared.
        let expected: &[&str] = if update.contains("if x = y: exit") { &[] } else { &["stamp r"] };
        assert_eq!(changes(&owned(update, COLLECTS)), expected, "{update}");
    }
    for scan in [
        "    c := d",
        "    for k in processes: c[k] := r[k]\n    for k in processes:\n        x := r[k]\n        if c[k] = x: same := true",
        "    for k in processes: c[k] := r[k]\n    d := c\n    same := c = d",
        "    x := r[me]\n    y := r[me]\n    same := x = y",
        "    d := [c[k] for k in processes]\n    same := c = d",
        "    x := r[me]\n    same := x = 0",
    ] {
        assert_eq!(changes(&owned(OWN_UPDATE, scan)), ["stamp r"], "{scan}");
    }
    let single = |kind: &str, update: &str, scan: &str| {
        changes(&counting(&format!("shared c1: {kind} counter"), update, scan))
    };
    let links = "    repeat\n        x := LL(c1)\n        same := SC(c1, x + 1)\n    until same";
    let swaps = "    repeat\n        x := c1\n        same := CAS(c1, x, x + 1)\n    until same";
    let twice = "    x := c1\n    y := c1\n    same := x = y";
    assert_eq!(single("llsc", links, twice), ["stamp c1"]);
    assert_eq!(single("cas", swaps, twice), ["stamp c1"]);
    assert_eq!(single("cas", "    x := FAA(c1, 1)", twice), ["stamp c1"]);
    let private = "private own: counter\nshared r[process]: counter";
    let update = "    own := own + 1\n    r[me] := own";
    assert_eq!(changes(&counting(private, update, COLLECTS)), ["stamp own"]);
    let records = "shared r[process]: record (data: value, seq: counter)";
    let update = "    old := r[me]\n    r[me] := (v, old.seq + 1)";
    let scan = "    local e[process]: record (data: value, seq: counter)
    local f[process]: record (data: value, seq: counter)
    for k in processes: e[k] := r[k]
    for k in processes: f[k] := r[k]
    same := all k in processes: e[k].seq = f[k].seq
    e := f";
    assert_eq!(changes(&counting(records, update, scan)), ["stamp r.seq"]);
    // What is written in part is read before, into a local that may be anything.
    let update = "    old := r[me]\n    r[me].seq := old.seq + 1\n    r[me].data := v";
    assert_eq!(changes(&counting(records, update, scan)), [""; 0]);
}

/// Each is wrong in one thing; all but the marked ones would be proved by a form that overlooks it.
#[test]
fn counters_used_otherwise_stay_counters() {
    let none: [&str; 0] = [];
    let owned = |update: &str, scan: &str| changes(&counting(OWN, update, scan));
    for update in [
        "    x := r[me]\n    r[me] := x + 1\n    r[me] := x + 1",
        "    x := r[me]\n    y := x + 1\n    r[me] := y + 1",
        "    x := r[me]\n    r[me] := x + 1\n    r[me] := x",
        "    x := r[me]\n    r[me] := x + 1\n    r[me] := 0",
        "    r[me] := 1",
        "    x := r[me]\n    spare[me] := v\n    loop:\n        r[me] := x + 1\n        same := true\n        if same: exit",
        "    x := r[me]\n    for k in processes: r[k] := x + 1",
        "    for k in processes: x := r[k]\n    r[me] := x + 1",
        "    x := r[me]\n    r[me] := x + 1\n    q[me] := x + 1",
        "    x := r[me]\n    r[me] := x + 1\n    y := q[me]\n    q[me] := y + 1\n    same := x = y",
        "    x := r[me]\n    r[me] := x + 1\n    same := x < y",
        "    x := r[me]\n    r[me] := x + 1\n    same := x mod 2 = 0",
        "    x := r[me]\n    r[me] := x + 1\n    same := x = 2",
        "    x := r[me]\n    r[me] := x + 1\n    y := r[me]\n    same := y = x + 1",
        "    x := q[me]\n    r[me] := x + 1",
        "    x := r[me]\n    r[me] := if x = y then x + 1 else y",
    ] {
        // The loop makes its second store of a successor that is not current; with one round it is.
        assert_eq!(owned(update, COLLECTS), none, "{update}");
    }
    for scan in [
        // Copies of two cells.
        "    x := r[me]\n    for k in processes: y := r[k]\n    same := x = y",
        "    for k in processes: c[k] := r[k]\n    same := all k in processes: c[k] = c[me]",
        "    for k in processes: c[me] := r[k]\n    same := c = d",
        "    for k in processes:\n        same := x = y\n        x := r[k]\n    y := x",
        "    for k in processes:\n        x := r[k]\n    for k in processes:\n        y := r[k]\n    same := x = y",
        "    for k in processes:\n        y := r[k]\n        same := y = x\n        x := y",
        "    for k in processes: c[k] := r[k]\n    same := any k in processes: c[k] < 1",
        "    for k in processes:\n        for l in processes: c[k] := r[l]\n    same := c = d",
    ] {
        assert_eq!(owned(OWN_UPDATE, scan), none, "{scan}");
    }
    let single = |kind: &str, update: &str| {
        let twice = "    x := c1\n    y := c1\n    same := x = y";
        changes(&counting(&format!("shared c1: {kind} counter"), update, twice))
    };
    for (kind, update) in [
        ("", "    x := c1\n    c1 := x + 1"),
        ("llsc", "    x := c1\n    same := SC(c1, x + 1)"),
        ("llsc", "    x := LL(c1)\n    y := LL(c1)\n    same := SC(c1, x + 1)"),
        ("llsc", "    x := LL(c1)\n    c1 := x + 1"),
        (
            "llsc",
            "    x := LL(c1)\n    step()\n    same := SC(c1, x + 1)\nprocedure step():\n    z := LL(c1)\nprocedure rest(v: value):\n    local same: bool",
        ),
        ("cas", "    x := c1\n    y := c1\n    same := CAS(c1, y, x + 1)"),
        ("cas", "    x := c1\n    same := CAS(c1, x + 1, x)"),
        ("cas", "    x := c1\n    same := CAS(c1, x, y)"),
        ("cas", "    x := FAA(c1, 1)\n    same := CAS(c1, x, x + 1)\n    c1 := 0"),
        ("cas", "    atomic:\n        x := c1\n    atomic:\n        c1 := x + 1"),
    ] {
        assert_eq!(single(kind, update), none, "{kind} {update}");
    }
    let private = "private own: counter\nshared r[process]: counter";
    for update in [
        "    r[me] := own\n    own := 0",
        "    x := own\n    own := x + 1\n    r[me] := own",
        "    own := own + 1\n    r[me] := own + 1",
        "    own := own + 1\n    for k in processes: r[k] := own",
    ] {
        assert_eq!(changes(&counting(private, update, COLLECTS)), none, "{update}");
    }
    // What goes wrong where the increase is made would be forgotten with it.
    let optional = "shared r[process]: counter or none := 0";
    let update = "    old := r[me]\n    r[me] := old + 1";
    assert_eq!(changes(&counting(optional, update, "    skip")), none);
}

/// Where nothing is rewritten, nothing changes; where something is, only what is said.
#[test]
fn rewriting_changes_nothing_else() {
    let text = counting(OWN, OWN_UPDATE, COLLECTS);
    let before = program(&text);
    let after = rewrite(&before).unwrap().program;
    assert!(before.has_counters() && !after.has_counters());
    assert!(after.types().any(|content| content.any(&|part| *part == Type::Version)));
    let told = |program: &Program| program.to_string();
    let (old, new) = (told(&before), told(&after));
    assert_eq!(old.lines().count(), new.lines().count());
    let changed = old.lines().zip(new.lines()).filter(|(old, new)| old != new);
    for (old, new) in changed {
        let is_of_form =
            old.contains("counter") && new.contains("version") || new.contains("fresh");
        assert!(is_of_form, "{old}\n{new}");
    }
    let locked = lock("shared l: cas bool", "got := CAS(l, false, true)", "l := false");
    let after = rewrite(&program(&locked)).unwrap();
    let cell = &after.program.shared[0];
    assert_eq!(cell.content, Type::Optional(Box::new(Type::Process)));
    assert_eq!(after.changes[0].span, cell.span);
}
