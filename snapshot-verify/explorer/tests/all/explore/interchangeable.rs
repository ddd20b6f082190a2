//! Symmetry: processes that the program distinguishes by name are not interchangeable.

use snapshot_core::Process;
use snapshot_explorer::deadline::Deadline;
use snapshot_explorer::pipeline::{self, Prepared};
use snapshot_explorer::reduction::{Reduction, Reductions};
use snapshot_language::parse;

/// Updates write a name and count to three; scans test for a NAME and a MARK.
const TEXT: &str = "algorithm named
shared whole: view
shared last: process
shared mark: 0..2
update(v):
    atomic:
        w := whole
        w[me] := v
        whole := w
        last := me
        mark := (mark + 1) mod 3
scan:
    atomic:
        w := whole
        k := last
        m := mark
    if k = NAME and m = MARK: return w
    w := whole
    return w
";

/// Returns true if processes 2 and 3 of four, the ones other than i and j, count as
/// interchangeable.
fn are_interchangeable(name: &str, mark: &str) -> bool {
    let text = TEXT.replace("NAME", name).replace("MARK", mark);
    let program = parse("named", &text).unwrap().program(None).unwrap();
    let instance =
        pipeline::instance(&program, 4, [0, 1].map(Process::from_index), Deadline::NEVER).unwrap();
    let reductions = Reductions::NONE.with(Reduction::Constant).with(Reduction::Symmetry);
    let prepared = Prepared::from_instance(instance, reductions, Deadline::NEVER).unwrap();
    let symmetry = prepared.symmetry(|_| true, Deadline::NEVER).unwrap();
    let others = [2, 3].map(Process::from_index);
    symmetry.is_some_and(|symmetry| symmetry.classes().any(|class| class == others))
}

#[test]
fn processes_naming_only_themselves_are_interchangeable() {
    assert!(are_interchangeable("me", "1"));
    assert!(are_interchangeable("process(0)", "2"));
}

#[test]
fn processes_distinguished_by_name_are_not_interchangeable() {
    assert!(!are_interchangeable("process(2)", "1"));
    assert!(!are_interchangeable("me", "(if me = process(3) then 1 else 2)"));
}
