//! Marks of linearization points, and permitted calls of objects in traces, from outside.

use std::fs;

use super::{answer_in, printed_in};

/// Makes a file of each text, in the folder to run commands in.
fn files(texts: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in texts {
        fs::write(folder.path().join(name), text).unwrap();
    }
    folder
}

/// A counter that is decremented by CAS and incremented by FAA, which is marked.
fn counter(mark: &str) -> String {
    format!(
        "algorithm counter
object counter:
    state count: 0..20 := 10
    increment: 0..20:
        count := count + 1
        return count - 1
    decrement: 0..20:
        count := count - 1
        return count + 1
    read: 0..20: return count
shared cell: cas 0..20 := 10
increment:
    x := FAA(cell, 1) {mark}
    return x
decrement:
    loop:
        x := cell
        done := CAS(cell, x, x - 1) linearizes
        if done: return x
read:
    y := cell linearizes
    return y
"
    )
}

/// The lock is free where TAS yields false.
const LOCKED: &str = "algorithm locked
shared busy: cas bool
shared r: view
update(v):
    repeat skip until not TAS(busy)
    r[me] := v linearizes
    busy := false
scan:
    local x: view
    loop:
        got := TAS(busy) linearizes if not got
        if not got: exit
    x := r
    busy := false
    return x
";

/// The condition is defined once the field is stored.
const FIELD: &str = "algorithm field
object register:
    state c: 0..3
    write(x: 0..3): c := x
    read: 0..3: return c
type Cell = record (val: 0..3 or none, b: bool)
shared w: Cell := (0, false)
write(x):
    w := (x, true) linearizes
read:
    (a, _) := w linearizes if a <= 3
    return a
";

/// There is no process 3, but no CAS either: `z` is 0.
const LAZY: &str = "algorithm lazy
object flag:
    state held: 0..1
    put(x: 0..1): held := x
    get: 0..1: return held
shared w: cas 0..1
shared t: cas 0..3 := 1
put(x):
    w := x linearizes
get:
    local seen[process]: bool
    local k: 0..3
    local z: 0..1
    k := 3
    b := z = 1 and CAS(t, 1, 0) linearizes if seen[process(k)]
    z := w linearizes
    return z
";

/// `k` is none, always, so the condition has no meaning.
fn without_meaning(scan: &str) -> String {
    format!(
        "algorithm none_there
shared w[segment]: value
shared k: 0..3 or none := none
update(v):
    w[me] := v
scan:
    local q: 0..3 or none
    local c[segment]: value
    q := k linearizes if q < 4
    {scan}
    return c
"
    )
}

#[test]
fn condition_applies_to_the_stored_result() {
    let never = counter("linearizes if x = 0");
    let right = counter("linearizes if x = 10 or x != 10");
    let folder =
        files(&[("never", &never), ("right", &right), ("locked", LOCKED), ("field", FIELD)]);
    let at = |code, command: &str| printed_in(folder.path(), code, command);
    let points = "-n 2 --operations 2 --points";
    assert!(at(3, &format!("check ./never {points}")).contains("are no linearization points"));
    at(0, &format!("check ./right {points}"));
    at(0, "check ./locked -n 2 --method refinement --points");
    at(0, "check ./field -n 2 --operations 1");
    at(0, "check ./field -n 2 --operations 1 --points");
}

#[test]
fn condition_applies_only_to_executed_accesses() {
    let made = LAZY.replace("local z: 0..1\n", "local z: 0..1 := 1\n");
    let folder = files(&[("lazy", LAZY), ("made", &made)]);
    let at = |code, command: &str| printed_in(folder.path(), code, command);
    at(0, "check ./lazy -n 2 --points");
    assert!(at(1, "check ./made -n 2 --points").contains("3 is out of range"));
    at(0, "check ./made -n 2");
}

/// A condition that goes wrong is one of `--points` only; there it is told with its place, and the
/// trace of what went on until then says that points were in use.
#[test]
fn no_condition_is_evaluated_without_points() {
    let collect = without_meaning("for s in segments: c[s] := w[s]");
    let step = without_meaning("atomic: for s in segments: c[s] := w[s]");
    let folder = files(&[("collect", &collect), ("step", &step)]);
    let at = |code, command: &str| printed_in(folder.path(), code, command);
    for ways in ["-n 3", "-n every", "-n 3 --method refinement --operations 2"] {
        let out = at(1, &format!("check ./collect {ways}"));
        assert!(!out.contains("goes wrong"), "{ways}: {out}");
    }
    at(1, "simulate ./collect -n 3 --walks 400");
    for ways in ["", " --self-check", " --method refinement", " --certificate c"] {
        let out = at(0, &format!("check ./step -n 2{ways}"));
        assert!(out.contains("no operation can hang"), "{ways}: {out}");
    }
    at(0, "certify ./step c");
    at(0, "check ./step -n every");
    at(0, "simulate ./step --walks 50");
    let wrong = at(1, "check ./step -n 2 --method refinement --points");
    assert!(wrong.contains("./step:9:26: this is none"), "{wrong}");
    let moves = "\np0 scan\np0 step\nend\n";
    let head = "snapshot-trace 2\nalgorithm ./step\nprocesses 2\n";
    fs::write(folder.path().join("plain"), format!("{head}{moves}")).unwrap();
    fs::write(folder.path().join("points"), format!("{head}points\n{moves}")).unwrap();
    at(0, "replay plain");
    assert!(at(1, "replay points").contains("goes wrong at ./step:9:26"));
}

/// A move that the object forbids is neither a fault of the algorithm nor a counterexample.
#[test]
fn moves_forbidden_by_the_object_are_bad_input() {
    let object = |algorithm: &str, names: &str, moves: &str| {
        format!(
            "snapshot-trace 2\nalgorithm {algorithm}\nprocesses 2\noperations {names}\n\n{moves}end\n"
        )
    };
    let third = "p0 begin push 0\np0 step 5\np0 begin push 0\np0 step 5\np0 begin push 0\n";
    let stack = object("treiber_stack", "push pop", third);
    let by = object("atomic_register", "write read", "# not its own\np1 begin write 2\n");
    let lock = object("tas_lock", "acquire release", "p0 begin release\n");
    let open =
        object("tas_lock", "acquire release", "p0 begin acquire\np0 step 3\np0 begin acquire\n");
    let right = object("treiber_stack", "push pop", "p0 begin push 0\np1 begin push 1\n");
    let folder = files(&[
        ("stack", &stack),
        ("by", &by),
        ("lock", &lock),
        ("open", &open),
        ("right", &right),
    ]);
    for (name, ways, says) in [
        ("stack", "", "line 10: move 13: process 0 may not begin push(0)"),
        ("by", "", "line 7: move 1: process 1 may not begin write(2)"),
        ("by", " --step", "only process 0 begins it"),
        ("lock", "", "line 6: move 1: process 0 may not begin release"),
        ("open", "", "line 8: move 5: process 0 may not begin acquire"),
    ] {
        let (code, out, error) = answer_in(folder.path(), &format!("replay {name}{ways}"));
        assert_eq!((code, out.as_str()), (2, ""), "{name}: {error}");
        assert!(error.contains(says), "{name}: {error}");
    }
    printed_in(folder.path(), 0, "replay right");
}

/// For any moves after a violation, the history is not linearizable.
#[test]
fn forbidden_moves_after_a_violation_are_accepted() {
    let both = "p0 begin acquire\np1 begin acquire\np0 step\np1 step\np0 step 2\np1 step 2\n";
    let head = "snapshot-trace 2\nalgorithm tas_lock\nbug no_test\nprocesses 2\n\
                operations acquire release\n\n";
    let folder = files(&[("trace", &format!("{head}{both}p1 begin release\nend\n"))]);
    let out = printed_in(folder.path(), 1, "replay trace");
    assert!(out.ends_with("The history is not linearizable.\n"), "{out}");
}
