//! Copies of cells that were read under a link.

use snapshot_explorer::deadline::Deadline;
use snapshot_explorer::instance::{Assignment, Instance, SlotId, Target, Term};
use snapshot_explorer::passes::link_copy_propagation::propagate_link_copies;
use snapshot_language::parse;

/// Returns the values that process 0 assigns to the counter of the cell, in the order of the text,
/// if updates have these statements.
fn stored(statements: &[&str], change: impl Fn(&mut Instance)) -> Vec<String> {
    let lines = statements.iter().map(|line| format!("    {line}\n")).collect::<String>();
    let text = format!(
        "algorithm linking\nshared c: llsc counter\nshared whole: view\nupdate(v):\n{lines}    \
         atomic: w := whole; w[me] := v; whole := w\nscan:\n    w := whole\n    return w\n"
    );
    let program = parse("linking", &text).unwrap().program(None).unwrap();
    let mut instance = Instance::new(&program, 2, (0, 1)).unwrap();
    change(&mut instance);
    let linked = propagate_link_copies(&instance, Deadline::NEVER).unwrap();
    let name = |slot: SlotId| linked.slot(slot).name.as_str();
    let assignments = linked.graphs[0].blocks.iter().flat_map(|block| &block.assignments);
    let stored = assignments.filter_map(|Assignment { target, value }| match (target, value) {
        (Target::Slot(cell), Term::Slot(of)) if name(*cell) == "c" => Some(name(*of).to_owned()),
        (Target::Slot(cell), Term::Successor(of)) if name(*cell) == "c" => {
            Some(format!("{} + 1", name(*of)))
        }
        _ => None,
    });
    stored.collect()
}

fn nothing(_: &mut Instance) {}

#[test]
fn reads_under_the_link_equal_the_cell() {
    let read = ["x := LL(c)", "SC(c, x + 1)"];
    assert_eq!(stored(&read, nothing), ["c + 1"]);
    let read_later = ["x := LL(c)", "y := c", "z := y", "SC(c, z + 1)"];
    assert_eq!(stored(&read_later, nothing), ["c + 1"]);
    let found_equal = ["s := c", "if LL(c) + 1 = s: SC(c, s)"];
    assert_eq!(stored(&found_equal, nothing), ["c + 1"]);
    let on_both_ways = ["x := LL(c)", "y := c", "if y = x: x := y", "SC(c, x + 1)"];
    assert_eq!(stored(&on_both_ways, nothing), ["c + 1"]);
}

#[test]
fn reads_before_the_link_or_on_some_paths_may_differ() {
    let read_before = ["x := c", "y := LL(c)", "SC(c, x + 1)"];
    assert_eq!(stored(&read_before, nothing), ["p0.update.x + 1"]);
    let linked_again = ["x := LL(c)", "y := LL(c)", "SC(c, x + 1)"];
    assert_eq!(stored(&linked_again, nothing), ["p0.update.x + 1"]);
    let on_one_way = ["z := c", "x := LL(c)", "if z != x: x := z", "SC(c, x + 1)"];
    assert_eq!(stored(&on_one_way, nothing), ["p0.update.x + 1"]);
    let found_unequal = ["s := c", "if LL(c) + 1 != s: SC(c, s)"];
    assert_eq!(stored(&found_unequal, nothing), ["p0.update.s"]);
}

#[test]
fn link_that_a_writer_leaves_unbroken_proves_nothing() {
    let read = ["x := LL(c)", "SC(c, x + 1)"];
    let unbroken = |instance: &mut Instance| {
        let slots = instance.slots.clone();
        for block in &mut instance.graphs[1].blocks {
            block.assignments.retain(|Assignment { target, value }| {
                let of_p0 =
                    target.choices().iter().any(|slot| slots[slot.index()].name == "link c of p0");
                !(of_p0 && value.constant() == Some(0))
            });
        }
    };
    assert_eq!(stored(&read, unbroken), ["p0.update.x + 1"]);
}
