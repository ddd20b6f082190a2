//! Processes that run for ever without another access to a kept variable. Wrong programs that were
//! once proved, because the last write of such a process was in no view.

use super::verdicts::is_refuted;

/// The last write of a process before it halts is visible.
#[test]
fn last_write_before_halting_is_visible() {
    let reads_it = "            if b: copy[s] := initial\n";
    is_refuted(corpus::small("halts"), reads_it, "");
}

/// A fault counts in a scan that reads the last write.
#[test]
fn faults_after_the_last_write_are_visible() {
    is_refuted(corpus::small("halts_by_fault"), "    p := none\n", "    p := false\n");
}

/// Only the views of t know whether i halts: all views have i where it halts, because t continues.
#[test]
fn all_views_agree_on_where_a_process_halts() {
    let text = "
algorithm halts_behind_others

shared a[segment]: value
shared flag[process][process]: bool
shared done[process]: bool
shared lock: cas process or none := none
shared junk: bool

update(v):
    local e[process]: bool
    repeat
        got := CAS(lock, none, me)
    until got
    atomic:
        for p in processes: e[p] := flag[p][me]
    a[me] := v
    atomic:
        for p in processes: flag[me][p] := true
    for p in processes:
        if e[p]:
            z := false
            loop:
                w := junk
        z := true
    done[me] := z
    lock := none

scan:
    local copy[segment]: value
    local f[process]: bool
    local d[process]: bool
    atomic:
        for p in processes:
            f[p] := flag[p][me]
            d[p] := done[p]
        for s in segments: copy[s] := a[s]
        for p in processes:
            if f[p] and not d[p]:
                for s in segments: copy[s] := initial
    return copy
";
    is_refuted(text, "copy[s] := initial", "copy[s] := a[s]");
}
