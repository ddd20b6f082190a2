//! Analyses of programs: they end with the deadline, and propose classes of bits of which only the
//! relation matters.

use std::cell::Cell;

use snapshot_hints::ways::Step;
use snapshot_invariant::claim::{Ghosts, Obligation, Property};
use snapshot_language::deadline::{Allowance, Deadline};
use snapshot_language::program::Program;

use crate::{of_corpus, parsed};

thread_local! {
    static ASKED: Cell<u64> = const { Cell::new(0) };
    static UNTIL: Cell<u64> = const { Cell::new(0) };
}

/// Counts the questions; all memory is used from a certain question on.
fn allocated() -> u64 {
    let asked = ASKED.get() + 1;
    ASKED.set(asked);
    if asked > UNTIL.get() { u64::MAX } else { 0 }
}

/// Prepares a part within a deadline that has passed from this question on: whether there is one, and
/// the number of questions.
fn prepared(program: &Program, step: &Step, until: u64) -> (bool, u64) {
    ASKED.set(0);
    UNTIL.set(until);
    let memory = Allowance { limit: 1, allocated };
    let part = step.part(program, Deadline::NEVER.with_memory(Some(memory)));
    (part.is_ok(), ASKED.get())
}

/// Returns the step of an obligation.
fn step(ghosts: Ghosts, property: Property) -> Step {
    Step::new(Obligation { ghosts, property }, None, false)
}

#[test]
fn loops_end_with_the_deadline() {
    for name in ["afek_bounded", "attiya_welch"] {
        let program = of_corpus(name, None);
        let step = step(Ghosts::Calls, Property::Observer);
        let (is_prepared, all) = prepared(&program, &step, u64::MAX);
        assert!(is_prepared && all > 2_000, "{name}: {all}");
        for part in 0..20 {
            let until = all * part / 20;
            let (is_prepared, asked) = prepared(&program, &step, until);
            // Each loop that is left or not entered asks once more.
            assert!(!is_prepared && asked - until < all / 3, "{name}: {asked} of {all}, {until}");
        }
    }
}

/// Bits that are copied, negated and compared form a class, except those that decide themselves or are
/// set to a constant.
#[test]
fn deciding_bits_are_in_no_class() {
    let text = "
algorithm flips
shared a[segment]: value
shared q[process]: bool
private mine: bool
update(v):
    t := q[me]
    MOVE
    if t != mine:
        a[me] := v
    q[me] := not mine
scan:
    local copy[segment]: value
    for s in segments: copy[s] := a[s]
    return copy
";
    let classes = |move_: &str| {
        let program = parsed(&text.replace("MOVE", move_), None);
        let part = step(Ghosts::Scans, Property::Observer).part(&program, Deadline::NEVER);
        let part = part.expect("a supported program");
        assert!(part.kept.iter().any(|name| name == "q[i]"), "the handshake is kept: {move_}");
        part.classes.len()
    };
    // One class of i, one of j; t writes no kept byte.
    assert_eq!([classes("skip"), classes("mine := not t"), classes("mine := t")], [2, 2, 2]);
    for deciding in ["mine := true", "mine := t = mine", "mine := t or mine", "if mine: mine := t"]
    {
        assert_eq!(classes(deciding), 0, "{deciding}");
    }
}
