//! Processes that go on for ever without another access to anything that is kept. Wrong programs that were
//! proved once, as what such a process had written last was in no view.

use super::verdicts::is_refuted;

/// What has been written before a process halts is there.
#[test]
fn the_last_write_is_seen() {
    let reads_it = "            if b: copy[s] := initial\n";
    is_refuted(corpus::small("halts"), reads_it, "");
}

/// A fault in a scan that reads what it has written is one.
#[test]
fn faults_behind_the_last_write_are_seen() {
    is_refuted(corpus::small("halts_by_fault"), "    p := none\n", "    p := false\n");
}

/// Whether i halts is known in the views of t only: all have it where it halts, for t goes on.
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
