//! Analyses ask for the deadline in their loops, and break off once it has passed.

use std::cell::Cell;

use snapshot_everyn::compile::compile_within;
use snapshot_everyn::model::Obligation;
use snapshot_everyn::rungs;
use snapshot_language::deadline::{Allowance, Deadline};
use snapshot_language::program::Program;

use super::verdicts::corpus;

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

/// Compiles within a deadline that has passed from this question on: whether there is a model, and
/// the number of questions.
fn compiled(program: &Program, rung: Obligation, until: u64) -> (bool, u64) {
    ASKED.set(0);
    UNTIL.set(until);
    let memory = Allowance { limit: 1, allocated };
    let model = compile_within(program, rung, Deadline::NEVER.with_memory(Some(memory)));
    (model.is_ok(), ASKED.get())
}

#[test]
fn loops_end_with_the_deadline() {
    for name in ["afek_bounded", "attiya_welch"] {
        let program = corpus(name, None);
        let is_chosen = |rung: &Obligation| rung.name() == "calls.observer";
        let rung = rungs::all().into_iter().find(is_chosen).expect("a rung of this name");
        let (is_compiled, all) = compiled(&program, rung, u64::MAX);
        assert!(is_compiled && all > 5_000, "{name}: {all}");
        for part in 0..20 {
            let until = all * part / 20;
            let (is_compiled, asked) = compiled(&program, rung, until);
            // Each loop that is left or not entered asks once more.
            assert!(!is_compiled && asked - until < all / 5, "{name}: {asked} of {all}, {until}");
        }
    }
}
