//! What a step is to the views of others leaves them with the centre that the actor has. (That it does is
//! asserted in all tests.) Wrong programs that were proved once, as it did not.

use super::verdicts::{is_refuted, is_unknown};

/// What is not read behind a ghost scan is forgotten there in all views: the first result here, which
/// the second call stores again.
#[test]
fn what_is_dead_behind_a_ghost_scan_is_so_for_all() {
    let text = "
algorithm stuck

shared a[segment]: value
private noted: bool
private never: bool

update(v):
    local x: view
    local y: view
    x := q(y)
    x := q(y)
    y := q(x)
    a[me] := v

scan:
    local y: view
    s := q(y)
    return s

procedure q(p: view): view
    local copy[segment]: value
    noted := true
    for s in segments: copy[s] := a[s]
    if never: return p
    return copy
";
    let atomic = "    atomic:\n        for s in segments: copy[s] := a[s]\n";
    is_refuted(text, "    for s in segments: copy[s] := a[s]\n", atomic);
}

/// A step that breaks a link of its process and links it again: the link is unbroken behind it.
#[test]
fn links_are_what_they_are_behind_a_step() {
    let text = "
algorithm relinked

shared c: llsc bool
shared owner: cas process or none := none
shared a[segment]: value
private noted: bool

update(v):
    got := SC(c, true)
    if got:
        a[me] := v
    else:
        repeat
            won := CAS(owner, none, me)
        until won
        a[me] := v
        owner := none

scan:
    s := q()
    return s

procedure q(): view
    local copy[segment]: value
    noted := true
    repeat
        won := CAS(owner, none, me)
    until won
    for s in segments: copy[s] := a[s]
    atomic:
        owner := none
        c := true
        x := LL(c)
    return copy
";
    is_refuted(text, "        x := LL(c)\n", "        x := c\n");
}

/// The same, where only the vectors that a ghost scan put together are told by it.
#[test]
fn results_that_are_not_read_are_forgotten_by_all() {
    let text = "
algorithm unforgotten

shared a[segment]: value
shared last: process or none := none
private cache: view
private never: bool
private met: bool

update(v):
    a[me] := v
    s := collect()
    l := last
    if l != me: met := true
    s := collect()
    cache := s

scan:
    c := collect()
    return c

procedure collect(): view
    local copy[segment]: value
    if never: return cache
    atomic:
        for s in segments: copy[s] := a[s]
        last := me
    if met: copy[me] := initial
    return copy
";
    is_refuted(text, "    if met: copy[me] := initial\n", "");
}

/// A process that is late, and is put behind its ghost scan where it looks again: that is an end of the
/// ghost scan.
#[test]
fn ghost_scans_end_for_all() {
    let text = "
algorithm late

shared owner: process or none := none
shared x: llsc bool
shared a[segment]: value
shared flag: bool
shared latest: view
private marked: bool
private waited: bool

update(v):
    a[me] := v
    if marked:
        flag := false
        repeat
            f := flag
        until f
        ok := VL(x)
        waited := true

scan:
    local copy[segment]: value
    marked := true
    repeat
        atomic:
            o := owner
            if o = none: owner := me
    until o = none
    atomic:
        for s in segments: copy[s] := a[s]
        if waited: copy[me] := initial
        latest := copy
        r := latest
        flag := true
        x := true
        LL(x)
        owner := none
    repeat
        ok := VL(x)
    until not ok
    return r
";
    is_unknown(text, "a process that is late");
    let waits = "    repeat\n        ok := VL(x)\n    until not ok\n    return r";
    let text = text.replace(waits, "    return r");
    is_refuted(&text, "        if waited: copy[me] := initial\n", "");
}
