//! Programs for past errors: views of one state had different centres, or stated something false.

use snapshot_invariant::write::{Part, lay_out};

use super::{SILENT, among_laid_out, executions};
use crate::programs::{parsed, parts};

/// A loop over numbers leaves out an unknown index: a number, not a process.
const SKIPS: &str = "
algorithm skips
shared a[segment]: value
shared w: 0..1
shared m[process]: bool
update(v):
    f := w
    for c in 0..1 except f: m[me] := c = 0
    a[me] := v
scan:
    local copy[segment]: value
    w := 1
    for s in segments: copy[s] := a[s]
    return copy
";

/// A ghost scan forgets a link before it ends, which views that do not follow it do not see.
const PEEKS: &str = "
algorithm peeks
shared a[segment]: value
shared lent: llsc bool
shared mark[process]: bool
shared saw[process]: bool
update(v):
    saw[me] := false
    s := look()
    a[me] := v
scan:
    s := look()
    return s
procedure look(): view:
    local copy[segment]: value
    seen := LL(lent)
    mark[me] := true
    won := VL(lent)
    mark[me] := false
    saw[me] := won
    for s in segments: copy[s] := a[s]
    return copy
";

#[test]
fn states_of_programs_with_holes_have_views() {
    let of = [
        (SKIPS, "scans.memory-i", ["m[i]"].as_slice()),
        (PEEKS, "calls.memory-i", &["i:link:lent", "i:look.won#2", "mark[i]", "saw[i]"]),
    ];
    for (text, rung, about) in of {
        let program = parsed(text, None);
        let found = parts(&program, &[rung]).remove(0);
        let about = about.iter().map(|name| (*name).to_owned());
        let kept = found.kept.iter().filter(|name| *name != "w").cloned().chain(about);
        let found = Part { kept: kept.collect(), ..found.clone() };
        for late in [false, true] {
            let layout = lay_out(&program, &Part { late, ..found.clone() }).unwrap();
            let counts = among_laid_out(&layout, SILENT, executions(), 60);
            assert!(counts.unwrap_or_else(|missing| panic!("{missing}")).changes > 100);
        }
    }
}
