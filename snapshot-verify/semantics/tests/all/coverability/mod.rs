//! Linearizability of objects for every n: the backward search against forward searches with one to
//! three processes, against refinement, and against planted bugs; certificates.

mod certificates;
mod forward;

use snapshot_language::parse;
use snapshot_language::program::Program;
use snapshot_semantics::certificate::Budget;
use snapshot_semantics::coverability::{Found, Unsuitable, coverability};

/// Number of values.
const VALUES: u32 = 2;

/// Algorithms of the corpus that suit the method, each with its bugs.
const SUITABLE: [&str; 3] = ["packed_stack", "test_and_set_lock", "wrapping_counter"];

/// A counter whose operations read, and write in another step; `reads` has no point.
const COUNTER: &str = "algorithm a
object counter:
    state count: 0..2
    increase: count := (count + 1) mod 3
    read: 0..2: return count
shared cell: 0..2
";

fn program_of(text: &str, bug: Option<&str>) -> Program {
    parse("test", text).and_then(|parsed| parsed.program_with_points(bug)).unwrap()
}

/// Returns all suitable programs with their names, right and wrong ones.
fn programs() -> Vec<(String, Program)> {
    let mut all = Vec::new();
    for name in SUITABLE {
        let text = corpus::algorithm(name).unwrap().text;
        let algorithm = parse(name, text).unwrap();
        let bugs = algorithm.bugs().iter().map(|bug| Some(bug.name.text.as_str()));
        for bug in std::iter::once(None).chain(bugs) {
            all.push((format!("{name} {bug:?}"), algorithm.program_with_points(bug).unwrap()));
        }
    }
    for (name, procedures) in [
        ("a lost update", "increase:\n    x := cell\n    cell := (x + 1) mod 3 linearizes\n"),
        (
            "a late point",
            "increase:\n    atomic:\n        x := cell\n        cell := (x + 1) mod 3\n    y := cell linearizes\n",
        ),
        (
            "an atomic step",
            "increase:\n    atomic:\n        x := cell\n        cell := (x + 1) mod 3 linearizes\n",
        ),
        (
            "two points",
            "increase:\n    x := cell linearizes\n    atomic:\n        x := cell\n        cell := (x + 1) mod 3 linearizes\n",
        ),
        (
            "a point on one path",
            "increase:\n    atomic:\n        x := cell\n        cell := (x + 1) mod 3 linearizes if x = 0\n",
        ),
        // Exclusion is a matter of numbers of processes.
        (
            "a lock",
            "increase:\n    local was: bool\n    loop:\n        was := TAS(flag)\n        if not was: exit\n    x := cell\n    cell := (x + 1) mod 3 linearizes\n    flag := false\nshared flag: cas bool\n",
        ),
        (
            "a fault",
            "increase:\n    atomic:\n        x := cell\n        cell := (x + 1) mod 3 linearizes\n    y := cell\n    z := cell\n    local_ok(y, z)\nprocedure local_ok(y: 0..2, z: 0..2):\n    local w: 0..1\n    if y != z: w := z\n",
        ),
    ] {
        let text = format!("{COUNTER}{procedures}read:\n    x := cell\n    return x\n");
        all.push((name.to_owned(), program_of(&text, None)));
    }
    all
}

fn found(program: &Program) -> Result<Found, Unsuitable> {
    coverability(program, VALUES, &mut Budget { memory: 1 << 30, proceed: &mut || true })
}

#[test]
fn unsuitable_programs_are_refused_with_the_reason() {
    let refused = |name: &str| {
        let text = corpus::algorithm(name).unwrap().text;
        found(&program_of(text, None)).unwrap_err().to_string()
    };
    assert!(refused("bowman").contains("no object"));
    assert!(refused("tas_lock").contains("not anonymous"));
    assert!(refused("linked_stack").contains("infinitely many"));
    assert!(refused("immediate_snapshot").contains("not anonymous"));
    let text = format!("{COUNTER}increase:\n    cell := 0\nread:\n    x := cell\n    return x\n");
    let reason = found(&program_of(&text, None)).unwrap_err().to_string();
    assert!(reason.contains("`increase` may change the object"), "{reason}");
    let text = text.replace("0..2", "0..n").replace("cell := 0", "cell := 0 linearizes");
    let reason = found(&program_of(&text, None)).unwrap_err().to_string();
    assert!(reason.contains("depends on n"), "{reason}");
    let text = format!("{COUNTER}increase:\n    cell := 0 linearizes\nread:\n    return cell\n");
    let text = text.replace("count := (count + 1) mod 3", "count := count + 1");
    let reason = found(&program_of(&text, None)).unwrap_err().to_string();
    assert!(reason.contains("the object is faulty"), "{reason}");
    let mut calls = 0;
    let mut proceed = || {
        calls += 1;
        calls < 3
    };
    let text = corpus::algorithm("packed_stack").unwrap().text;
    let mut budget = Budget { memory: 1 << 30, proceed: &mut proceed };
    let stopped = coverability(&program_of(text, None), VALUES, &mut budget);
    assert!(matches!(stopped, Err(Unsuitable::Unfinished(_))), "{stopped:?}");
}
