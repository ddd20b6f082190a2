//! A step leaves the views of others with the actor's centre. (All tests assert this.) Wrong
//! programs that were once proved because it did not.

use snapshot_everyn::compile::compile;
use snapshot_everyn::export;
use snapshot_everyn::rungs;
use snapshot_everyn::shape::T;

use super::verdicts::{is_refuted, is_unknown, parsed};
use trial::effort::{Effort, is_left_out};

/// A byte that is not read behind a ghost scan is forgotten there in all views: here the first
/// result, which the second call stores again.
#[test]
fn bytes_dead_after_a_ghost_scan_are_dropped_in_all_views() {
    if is_left_out(Effort::Slow) {
        return;
    }
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

/// A step that breaks a link of its process and links it again leaves the link unbroken.
#[test]
fn relinked_cells_stay_linked_after_a_step() {
    if is_left_out(Effort::Slow) {
        return;
    }
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

/// The same, where only the vectors that a ghost scan assembled depend on it.
#[test]
fn unread_results_are_dropped_in_all_views() {
    if is_left_out(Effort::Slow) {
        return;
    }
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

/// A late process that moves behind its ghost scan, where it tests its link again, ends the ghost
/// scan.
#[test]
fn ghost_scans_end_in_all_views() {
    if is_left_out(Effort::Slow) {
        return;
    }
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

/// The stores of an operation show that it has begun: a name may be t before and after, or another
/// process, which views that do not follow t do not distinguish.
#[test]
fn operations_storing_names_begin_in_all_views() {
    if is_left_out(Effort::Slow) {
        return;
    }
    let text = "
algorithm owner
shared active: process or none := none
shared a[segment]: value
shared flag[process]: bool
shared taken: bool
private p: process := me
private c: counter

update(v):
    local seen: bool
    local ok: bool
    local old: process
    local w: view
    old := p
    if p != me:
        c := c + 1
        p := process(c mod n)
    w := scan()
    atomic:
        flag[me] := true
        active := none
        a[me] := v
        ok := p != me and old != me and p != old
        seen := false
        if flag[old]: ok := false
        for s in processes except me:
            if flag[s]:
                if seen: ok := false
                seen := true
        if ok: active := p
        if not taken:
            taken := true
            c := c + 1
            p := process(c mod n)

scan:
    local copy[segment]: value
    repeat
        active := me
        for s in segments: copy[s] := a[s]
    until active = me
    return copy
";
    is_refuted(text, "        if ok: active := p\n", "");
}

/// A bit that lives within a round is flipped in the round of t and of any other process, or in
/// none.
#[test]
fn bits_of_a_round_are_flipped_in_all_rounds() {
    if is_left_out(Effort::Slow) {
        return;
    }
    let text = "
algorithm rounds_flip
shared active: process or none := none
shared a[segment]: value
shared q[process][process]: bool := true
shared flag[process]: bool
shared mask: process or none := none
shared taken: bool
private boss: bool

update(v):
    local x: bool
    local seen: bool
    local ok: bool
    if boss:
        active := none
        for s in processes except me:
            atomic:
                x := q[s][me]
                mask := none
            atomic:
                m := mask
                ok := m != none and m != s
                seen := false
                for k in processes except me:
                    if flag[k]:
                        if seen: ok := false
                        seen := true
                if ok: active := s
                y := q[s][me]
                if x = y: mask := none
                else: mask := none
        a[me] := v
    else:
        atomic:
            active := none
            flag[me] := true
            a[me] := v
            if not taken:
                taken := true
                boss := true

scan:
    local copy[segment]: value
    atomic:
        for k in processes: q[me][k] := true
        mask := me
    repeat
        active := me
        for s in segments: copy[s] := a[s]
    until active = me
    return copy
";
    let by_rounds = |text: &str, name: &str, local: &str| {
        let rung = rungs::all().into_iter().find(|rung| rung.name() == name);
        let program = parsed(text, None);
        let model = compile(&program, rung.unwrap()).expect("a supported program");
        let bits = export::classes(&program, &model).into_iter().flatten();
        bits.filter(|(name, round)| round.is_some_and(|(_, of)| of >= T) && name.contains(local))
            .count()
    };
    assert_eq!(by_rounds(text, "scans.observer", "i:update.x"), 0);
    let bounded = corpus::algorithm("afek_bounded").expect("an algorithm of the corpus").text;
    assert!(by_rounds(bounded, "calls.memory-i", "") > 0);
}
