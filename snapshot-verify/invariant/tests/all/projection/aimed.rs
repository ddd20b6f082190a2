//! Programs that each exercise one rule: with a mistake in the rule, executions have no views, or
//! moves lead to none.

use snapshot_invariant::write::Part;
use snapshot_language::program::Program;

use crate::programs::{parsed, parts};
use crate::relative;

/// An update marks all processes, including the others.
const MARKS: &str = "
algorithm marks
shared a[segment]: value
shared mark[process]: bool
update(v):
    a[me] := v
    for k in processes: mark[k] := true
scan:
    local copy[segment]: value
    mark[me] := false
    for s in segments: copy[s] := a[s]
    return copy
";

/// An update sees that not all processes are itself.
const OTHERS: &str = "
algorithm others
shared a[segment]: value
private mine[process]: bool
private more: bool
update(v):
    mine[me] := true
    for k in processes:
        if not mine[k]: more := true
    a[me] := v
scan:
    local copy[segment]: value
    for s in segments: copy[s] := a[s]
    return copy
";

/// An update compares arrays that are equal if there are two processes.
const EQUAL: &str = "
algorithm equal
shared a[segment]: value
private last: process
private same: bool
update(v):
    for k in processes except me: last := k
    same := [k = me or k = last for k in processes] = [true for k in processes]
    a[me] := v
scan:
    local copy[segment]: value
    for s in segments: copy[s] := a[s]
    return copy
";

/// An update publishes the value that it has collected of its own segment.
const TELLS: &str = "
algorithm tells
shared a[segment]: value
shared last[segment]: value
update(v):
    s := look()
    last[me] := s[me]
    a[me] := v
scan:
    s := look()
    return s
procedure look(): view:
    local copy[segment]: value
    for s in segments: copy[s] := a[s]
    return copy
";

/// An update sets one of two cells, an unknown one; a scan clears both.
const NUMBERED: &str = "
algorithm numbered
shared a[segment]: value
shared slot[0..1]: bool
private which: 0..1
update(v):
    which := (which + 1) mod 2
    slot[which] := true
    a[me] := v
scan:
    local copy[segment]: value
    for c in 0..1: slot[c] := false
    for s in segments: copy[s] := a[s]
    return copy
";

/// An update tests whether its cell was written since the latest operation of the process linked to
/// it; a scan writes the cells of all, and links again.
const LENDS: &str = "
algorithm lends
shared a[segment]: value
shared lent[process]: llsc bool
private won: bool
update(v):
    won := VL(lent[me])
    seen := LL(lent[me])
    a[me] := v
scan:
    local copy[segment]: value
    for k in processes: lent[k] := true
    seen := LL(lent[me])
    for s in segments: copy[s] := a[s]
    return copy
";

/// A ghost scan links to the cells of all; then its update writes one.
const LOOKS: &str = "
algorithm looks
shared a[segment]: value
shared lent[process]: llsc bool
private won: bool
update(v):
    s := look()
    won := SC(lent[me], true)
    a[me] := v
scan:
    s := look()
    return s
procedure look(): view:
    local copy[segment]: value
    for k in processes: seen := LL(lent[k])
    for s in segments: copy[s] := a[s]
    return copy
";

/// As [`LOOKS`], except that the ghost scan links again to the cells that its update has linked to,
/// and scans have written their own.
fn again() -> String {
    let mut text = LOOKS.to_owned();
    for (from, to) in [
        (
            "    s := look()\n    won := SC(lent[me], true)\n",
            "    for k in processes: seen := LL(lent[k])\n    s := look()\n    \
             for k in processes: won := VL(lent[k])\n",
        ),
        ("scan:\n", "scan:\n    lent[me] := true\n"),
    ] {
        assert!(text.contains(from), "{from}");
        text = text.replacen(from, to, 1);
    }
    text
}

/// Returns all programs, each with the scalars that must be kept.
pub fn programs() -> Vec<(Program, Part)> {
    let led = parsed(relative::LED, None);
    let mut all = vec![(led.clone(), relative::led(&led))];
    for text in [MARKS, OTHERS] {
        let program = parsed(text, None);
        for loose in [Vec::new(), relative::loops(&program)] {
            let found = parts(&program, &["scans.memory-i"]).remove(0);
            let kept = [found.kept.clone(), relative::truths(&program, found.obligation)].concat();
            // Where only cells of i and j are kept, a round may be theirs, or not.
            let of_both = kept.iter().filter(|name| !name.contains("[t]")).cloned().collect();
            for kept in [kept, of_both] {
                let (late, loose) = (true, loose.clone());
                all.push((program.clone(), Part { kept, loose, late, ..found.clone() }));
            }
        }
    }
    let equal = parsed(EQUAL, None);
    let found = parts(&equal, &["scans.memory-i"]).remove(0);
    let kept = ["i:last", "j:last", "i:same", "j:same"].map(str::to_owned);
    let kept = [found.kept, kept.to_vec()].concat();
    all.push((equal.clone(), Part { kept, late: true, ..found }));
    let numbered = parsed(NUMBERED, None);
    let found = parts(&numbered, &["scans.memory-i"]).remove(0);
    let kept = [found.kept, vec!["slot[0]".to_owned(), "slot[1]".to_owned()]].concat();
    all.push((numbered, Part { kept, late: true, ..found }));
    let own = ["i:link:lent[i]", "t:link:lent[i]", "t:link:lent[t]", "i:won", "t:won"].as_slice();
    for (text, rung, about) in [
        (LENDS, "scans.memory-i", own),
        (LOOKS, "calls.memory-i", own),
        (&again(), "calls.memory-i", &["i:link:lent[t]", "i:won"]),
    ] {
        let program = parsed(text, None);
        let found = parts(&program, &[rung]).remove(0);
        let about: Vec<String> = about.iter().map(|name| (*name).to_owned()).collect();
        for late in [false, true] {
            let (kept, loose) = ([found.kept.clone(), about.clone()].concat(), Vec::new());
            all.push((program.clone(), Part { kept, late, loose, ..found.clone() }));
        }
    }
    let tells = parsed(TELLS, None);
    for found in parts(&tells, &["calls.memory-t", "calls.memory-i"]) {
        let mut kept = found.kept.clone();
        for at in ["i", "j"] {
            kept.extend([format!("last[{at}]"), format!("{at}:update.s#1[{at}]")]);
        }
        kept.sort();
        kept.dedup();
        all.push((tells.clone(), Part { kept, late: true, ..found }));
    }
    all
}
