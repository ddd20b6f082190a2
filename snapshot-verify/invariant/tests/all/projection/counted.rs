//! States of programs with a clock, and with cursors, have views.

use snapshot_hints::guess::guesses;
use snapshot_invariant::claim::Property;
use snapshot_invariant::clock::Clock;
use snapshot_invariant::layout::Layout;
use snapshot_invariant::write::{Part, lay_out};
use snapshot_language::program::Program;
use test_support::effort::either;

use super::walk::Counts;
use super::{SILENT, among_laid_out, executions};
use crate::clock::{LATE, ODD, part};
use crate::programs::parsed;

/// Counters that come from the clock and elsewhere, are none at times, and grow by two; the clock
/// is also set back, and moves twice within one step.
const MOVES: &str = "
algorithm moves
shared seq: cas counter
shared spare: counter or none
shared a[segment]: value
private mine: counter
update(v):
    s := seq
    mine := s
    a[me] := v
    atomic:
        x := seq
        seq := x + 1
        y := seq
        seq := y + 1
    spare := mine + 1
scan:
    local copy[segment]: value
    s := seq
    z := spare
    if z != none and s < z: spare := none
    for l in segments: copy[l] := a[l]
    got := CAS(seq, s, mine)
    return copy
";

/// The clock moves once in an execution, twice within one step: two equal writes that are two
/// effects. The number after the one read is in the past then, and never the present one.
const TWICE: &str = "
algorithm twice
shared seq: cas counter
shared moved: bool
shared a[segment]: value
update(v):
    atomic:
        a[me] := v
        if not moved:
            moved := true
            x := FAA(seq, 1)
            y := FAA(seq, 1)
scan:
    local copy[segment]: value
    s := seq
    z := s + 1
    for l in segments: copy[l] := a[l]
    t := seq
    if z < t: skip
    return copy
";

/// Returns a part that judges no vectors, with some scalars only.
fn some(program: &Program, clock: Clock, kept: &[&str]) -> Part {
    let parts = guesses(program).into_iter().rev().flatten();
    let is_it = |part: &Part| part.clock.is_some() && part.obligation.property == Property::Faults;
    let mut part = Part { clock: Some(clock), ..parts.into_iter().find(is_it).unwrap() };
    part.kept.retain(|name| kept.iter().any(|one| name.contains(one)));
    part
}

fn walked(layout: &Layout<'_>) -> Counts {
    among_laid_out(layout, SILENT, executions() / 2, 60)
        .unwrap_or_else(|missing| panic!("{missing}"))
}

#[test]
fn states_of_programs_with_a_clock_have_views() {
    let mut total = Counts::default();
    for (text, divisor, is_signed) in [(ODD, 2, true), (LATE, 1, false)] {
        let program = parsed(text, None);
        let variable = crate::clock::variable(&program);
        let part = part(&program, Some(Clock { variable, divisor, is_signed }));
        total.add(walked(&lay_out(&program, &part).unwrap()));
    }
    let program = parsed(MOVES, None);
    let variable = crate::clock::variable(&program);
    let few = ["seq", "spare", "mine", "scan.s#", "scan.z#"].as_slice();
    let more = ["seq", "spare", "mine", "scan.", "update."].as_slice();
    for (divisor, kept) in either(vec![(3, few)], vec![(1, more), (2, few), (3, few), (5, few)]) {
        let clock = Clock { variable, divisor, is_signed: false };
        total.add(walked(&lay_out(&program, &some(&program, clock, kept)).unwrap()));
    }
    let program = parsed(TWICE, None);
    let clock = Clock { variable: crate::clock::variable(&program), divisor: 3, is_signed: false };
    total.add(walked(&lay_out(&program, &part(&program, Some(clock))).unwrap()));
    let of = [total.counted, total.changes, total.joins];
    assert!(of.iter().all(|count| *count > 300), "{total:?}");
}

/// Cursors in a record that may be none, in an array, and private ones; a scan looks two places ahead,
/// and compares cursors. Updates go one on, two on, and back.
const ROUND: &str = "
algorithm round
type place = record (at: counter, full: bool)
shared turn: llsc place
shared spare: counter or none
shared each[process]: counter
shared a[segment]: value
private mine: counter
update(v):
    t := LL(turn)
    each[me] := t.at
    a[me] := v
    k := process((t.at + 1) mod n)
    x := each[k]
    if k = me: x := mine
    u := x + 1
    if t.full: SC(turn, (t.at + 1, k = me))
    else: SC(turn, (u + 1, true))
    mine := u
    spare := mine
scan:
    local copy[segment]: value
    t := turn
    for l in segments: copy[l] := a[l]
    z := spare
    if z != none:
        if process(z mod n) = me and process((t.at + 1 + 1) mod n) != me: spare := none
    y := each[process(t.at mod n)]
    if y = mine: skip
    mine := t.at
    return copy
";

#[test]
fn states_of_programs_with_cursors_have_views() {
    let mut total = Counts::default();
    for text in [crate::cursor::TURN, crate::cursor::LINKS] {
        let program = parsed(text, None);
        for part in crate::cursor::by_scans(&program) {
            total.add(walked(&lay_out(&program, &part).unwrap()));
        }
    }
    let program = parsed(ROUND, None);
    let faults = crate::cursor::by_scans(&program).remove(0);
    assert!(faults.windows.iter().any(|(name, places)| name == "turn.at" && *places == 3));
    // The same counters, by names: with a few places, and others with none.
    let names = |part: &Part, one: &str| part.windows.iter().any(|(name, _)| name.contains(one));
    assert!(["spare", "each[j]", "i:mine", "t:scan.t"].iter().all(|one| names(&faults, one)));
    for most in either(vec![1], vec![1, 2, 3]) {
        let mut part = faults.clone();
        part.windows.iter_mut().for_each(|(_, places)| *places = most.min(*places));
        let few = ["turn", "spare", "mine", "scan.z#", "update.t#"];
        part.kept.extend(part.windows.iter().map(|(name, _)| name.clone()));
        part.kept
            .extend(Layout::new(&program, part.obligation).unwrap().names().map(str::to_owned));
        part.kept.retain(|name| few.iter().any(|one| name.contains(one)));
        total.add(walked(&lay_out(&program, &part).unwrap()));
    }
    let of = [total.counted, total.changes, total.joins];
    assert!(of.iter().all(|count| *count > 300), "{total:?}");
}
