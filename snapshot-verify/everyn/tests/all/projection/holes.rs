//! Programs for past errors: views of one state had different centres.

use snapshot_everyn::model::{Obligation, Part};
use snapshot_everyn::shape::T;

use snapshot_language::program::Program;

use super::programs::{LOCAL, NESTED, parsed};
use super::random::{executions, walks};
use trial::effort::{Effort, is_left_out};

/// The index that an update leaves out is read from a cell of another process: only that process's
/// view knows it.
const LEFT: &str = "
algorithm left
shared a[segment]: value
shared who: process
shared r[process][process]: TYPE
shared z[process]: bool
update(v):
    z[me] := false
    p := who
    f := r[p][me]
    for c in SET except f: z[me] := not z0
    x := z[me]
    f := r[p][me]
    for c in SET except f: x := true
    if x: a[me] := v
scan:
    local copy[segment]: value
    for k in processes: r[me][k] := VALUE
    who := me
    for s in segments: copy[s] := a[s]
    return copy
";

fn left(of: &str, set: &str, value: &str) -> Program {
    let text = LEFT.replace("TYPE", of).replace("SET", set);
    parsed(&text.replace("not z0", &format!("c = {value}")).replace("VALUE", value))
}

#[test]
fn indices_omitted_by_loops_are_definite() {
    if is_left_out(Effort::Slow) {
        return;
    }
    // The read cells are never written, so that there are few views.
    let text = LEFT
        .replace("    for k in processes: r[me][k] := VALUE\n", "")
        .replace("TYPE", "0..1")
        .replace("SET", "0..1");
    let fixed = parsed(&text.replace("not z0", "c = 1"));
    let counts = walks(&fixed, Obligation { part: Part::By(T), ..LOCAL }, executions(), 80);
    assert!(counts.total() > 10_000, "{counts:?}");
    for program in [left("0..1", "0..1", "1"), left("segment", "segments", "me")] {
        let counts = walks(&program, NESTED, 2 * executions(), 80);
        assert!(counts.total() > 10_000, "{counts:?}");
    }
}
