//! Programs at each of which views of one state once had different centres, or said what is not so.

use snapshot_invariant::layout::Layout;
use snapshot_invariant::write::{Part, lay_out};
use snapshot_language::program::SharedId;

use super::{SILENT, among_laid_out, executions};
use crate::programs::{by_rounds, parsed, parts};

/// A loop over numbers leaves out one that is not known: those are numbers, and no processes.
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

/// In a ghost scan a link is forgotten before it ends, which views that do not follow it do not see.
const PEEKS: &str = "
algorithm peeks
shared a[segment]: value
shared lent: llsc bool
shared mark[process]: bool
shared told[process]: bool
update(v):
    told[me] := false
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
    told[me] := won
    for s in segments: copy[s] := a[s]
    return copy
";

#[test]
fn states_of_programs_with_holes_have_views() {
    let of = [
        (SKIPS, "scans.memory-i", ["m[i]"].as_slice()),
        (PEEKS, "calls.memory-i", &["i:link:lent", "i:look.won#2", "mark[i]", "told[i]"]),
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

/// Processes without a link to `x`: what is shared but that, updates, and how scans begin; and what is kept.
const LOST: [(&str, &str); 2] = [
    // What a way leaves says of which process it was: to the view of that one it is t.
    (
        "
shared z: bool
shared r[segment]: bool
update(v):
    LL(x)
    h := c
    for s in segments:
        b := z
        if b: q := s
    if VL(x): h := c
    LL(x)
    h := c
    r[q] := true
scan:
    local v[segment]: value
    r[me] := false
    z := true
    c := true
    x := true
",
        "i:link:x i:update.h i:update.q c r",
    ),
    // Ways make versions.
    (
        "
update(v):
    LL(x)
    h := c
    u := fresh
    w := fresh
    if u = w: c := true
    if VL(x): h := c
    LL(x)
    h := c
scan:
    local v[segment]: value
    c := false
    x := true
",
        "i:link:x i:update.h i:update.u i:update.w c",
    ),
];

#[test]
fn states_of_programs_with_lost_processes_have_views() {
    for (text, kept) in LOST {
        let text = format!(
            "algorithm lost
shared x: llsc bool
shared c: bool
shared never: bool
shared out: llsc view{text}    b := never
    if b:
        out := v
        out := v
    result := out
    return result
"
        );
        let program = parsed(&text, None);
        let chosen: Vec<&str> = kept.split(' ').chain(["never", "scan.b"]).collect();
        let found = by_rounds(&program).into_iter().map(|mut of| of.remove(1)).next().unwrap();
        let layout = Layout::new(&program, found.obligation).unwrap();
        let is_kept = |name: &&str| {
            let short = name.split(['#', '[']).next().unwrap_or_default();
            let of_all = short.split_once(':').map_or(short, |(_, short)| short);
            [short, of_all].iter().any(|name| chosen.contains(name))
        };
        let kept = layout.names().filter(is_kept).map(str::to_owned).collect();
        let part = Part { kept, late: false, alike: true, classes: Vec::new(), ..found };
        let mut layout = lay_out(&program, &part).unwrap();
        layout.lost = vec![SharedId(0)];
        let counts = among_laid_out(&layout, SILENT, 4 * executions(), 60);
        assert!(counts.unwrap_or_else(|missing| panic!("{missing}")).links > 100);
    }
}
