//! LL, SC, VL, CAS and plain writes: when links break.

use snapshot_semantics::interpret::{Machine, Trace};

use crate::interpret::texts::{program, step_text};

const LINKS: &str = "algorithm links
shared X[0..1]: llsc 0..9
update(v):
    X[1] := 5
    X[0] := 5
scan:
    x := LL(X[0])
    linked := VL(X[0])
    done := SC(X[0], 7)
    linked := VL(X[0])
    return [initial for s in segments]
";

const SWAPS: &str = "algorithm swaps
shared C: cas 0..9
update(v):
    C := 0
scan:
    done := CAS(C, 0, 3)
    done := CAS(C, 0, 4)
    return [initial for s in segments]
";

/// Runs moves, and compares the reports of the steps.
fn check(text: &str, moves: &str, expected: &[&str]) {
    let program = program(text);
    let machine = Machine::new(&program, 3).unwrap();
    let lines = moves.replace(", ", "\n");
    let trace = format!("{}\nalgorithm a\nprocesses 3\n{lines}\nend\n", Trace::HEADER);
    let execution = machine.run(&trace.parse::<Trace>().unwrap().moves).unwrap();
    let accesses = execution.reports.iter().filter(|report| report.event.is_none());
    let accesses: Vec<String> =
        accesses.map(|report| format!("p{} {}", report.process, step_text(report))).collect();
    assert_eq!(accesses, expected, "{moves}");
}

#[test]
fn link_is_broken_by_its_own_successful_sc() {
    check(
        LINKS,
        "p0 scan, p0 step 4",
        &[
            "p0 LL(X[0]) is 0",
            "p0 VL(X[0]) is true",
            "p0 SC(X[0], 7) succeeds",
            "p0 VL(X[0]) is false",
        ],
    );
}

#[test]
fn link_is_broken_by_the_successful_sc_of_another() {
    check(
        LINKS,
        "p0 scan, p1 scan, p0 step, p1 step 3, p0 step 3",
        &[
            "p0 LL(X[0]) is 0",
            "p1 LL(X[0]) is 0",
            "p1 VL(X[0]) is true",
            "p1 SC(X[0], 7) succeeds",
            "p0 VL(X[0]) is false",
            "p0 SC(X[0]) fails",
            "p0 VL(X[0]) is false",
        ],
    );
}

#[test]
fn failed_sc_breaks_no_link_and_writes_nothing() {
    check(
        LINKS,
        "p0 scan, p1 scan, p2 scan, p0 step, p1 step 3, p2 step, p0 step 2, p2 step 2",
        &[
            "p0 LL(X[0]) is 0",
            "p1 LL(X[0]) is 0",
            "p1 VL(X[0]) is true",
            "p1 SC(X[0], 7) succeeds",
            "p2 LL(X[0]) is 7",
            "p0 VL(X[0]) is false",
            "p0 SC(X[0]) fails",
            "p2 VL(X[0]) is true",
            "p2 SC(X[0], 7) succeeds",
        ],
    );
}

#[test]
fn a_plain_write_breaks_the_links_to_its_cell_only() {
    check(
        LINKS,
        "p0 scan, p0 step, p1 update 1, p1 step, p0 step, p1 step, p0 step",
        &[
            "p0 LL(X[0]) is 0",
            "p1 X[1] := 5",
            "p0 VL(X[0]) is true",
            "p1 X[0] := 5",
            "p0 SC(X[0]) fails",
        ],
    );
}

#[test]
fn write_of_an_equal_value_breaks_links() {
    check(
        LINKS,
        "p1 update 1, p1 step 3, p0 scan, p0 step, p1 update 1, p1 step 2, p0 step",
        &[
            "p1 X[1] := 5",
            "p1 X[0] := 5",
            "p0 LL(X[0]) is 5",
            "p1 X[1] := 5",
            "p1 X[0] := 5",
            "p0 VL(X[0]) is false",
        ],
    );
}

#[test]
fn links_of_several_processes_hold_at_once() {
    check(
        LINKS,
        "p0 scan, p1 scan, p0 step, p1 step, p0 step, p1 step",
        &["p0 LL(X[0]) is 0", "p1 LL(X[0]) is 0", "p0 VL(X[0]) is true", "p1 VL(X[0]) is true"],
    );
}

#[test]
fn link_outlives_its_operation_and_is_displayed() {
    let text = LINKS.replace("    done := SC(X[0], 7)\n    linked := VL(X[0])\n", "");
    let program = program(&text);
    let machine = Machine::new(&program, 2).unwrap();
    let moves = "snapshot-trace 1\nalgorithm a\nprocesses 2\np1 scan\np1 step 3";
    let state = machine.run(&moves.parse::<Trace>().unwrap().moves).unwrap().last;
    let cells = machine.shared_cells(&state);
    assert_eq!(cells[0].to_string(), "0; linked: p1");
    assert_eq!(cells[1].to_string(), "0");
    assert_ne!(state.key(), machine.initial().key(), "links are part of a state");
}

#[test]
fn compare_and_swap_compares() {
    check(SWAPS, "p0 scan, p0 step 2", &["p0 CAS(C, 0, 3) succeeds", "p0 CAS(C, 0) fails: 3"]);
    check(
        SWAPS,
        "p0 scan, p0 step, p1 update 1, p1 step, p0 step",
        &["p0 CAS(C, 0, 3) succeeds", "p1 C := 0", "p0 CAS(C, 0, 4) succeeds"],
    );
}
