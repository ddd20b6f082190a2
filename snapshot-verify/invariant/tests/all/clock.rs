//! Counters relative to a clock: right programs that need it, and wrong ones that it does not prove.

use snapshot_hints::guess::guesses;
use snapshot_invariant::check::Answer;
use snapshot_invariant::claim::Property;
use snapshot_invariant::clock::Clock;
use snapshot_invariant::step::{Failure, InjectedFault};
use snapshot_invariant::write::{Part, WriteError};
use snapshot_language::program::{Program, SharedId};
use test_support::effort::either;

use crate::altered::{lines, sealed};
use crate::programs::{certificate, checked, parsed, refused};

/// A lock by one number, odd while a process has it.
pub const ODD: &str = "
algorithm odd
shared seq: cas counter
shared a[segment]: value
update(v):
    acquire()
    a[me] := v
    s := FAA(seq, 1)
scan:
    local copy[segment]: value
    acquire()
    for s in segments: copy[s] := a[s]
    t := FAA(seq, 1)
    return copy
procedure acquire():
    local got: bool
    repeat
        got := false
        s := seq
        if s mod 2 = 0: got := CAS(seq, s, s + 1)
    until got
";

/// A collect that no update has disturbed, by the order of two numbers.
pub const LATE: &str = "
algorithm late
shared seq: cas counter
shared a[segment]: value
update(v):
    atomic:
        a[me] := v
        s := seq
        seq := s + 1
scan:
    local copy[segment]: value
    repeat
        before := seq
        for s in segments: copy[s] := a[s]
        after := seq
    until not before < after
    return copy
";

/// Returns the counter of a program.
pub fn variable(program: &Program) -> SharedId {
    let number = program.shared.iter().position(|one| one.name == "seq").unwrap();
    SharedId(number as u32)
}

/// Returns a part by the scans, with all scalars but those of elements of t.
pub fn part(program: &Program, clock: Option<Clock>) -> Part {
    let parts = guesses(program).into_iter().rev().flatten();
    let is_it =
        |part: &Part| part.clock.is_some() && part.obligation.property == Property::Observer;
    Part { clock, ..parts.into_iter().find(is_it).unwrap() }
}

fn made(program: &Program, clock: Option<Clock>) -> Result<(String, usize), WriteError> {
    let made = certificate(program, &[part(program, clock)], InjectedFault::default());
    made.map(|(text, summary)| (text, summary.views()))
}

/// The clock with this divisor.
fn by(program: &Program, divisor: i64, is_signed: bool) -> Option<Clock> {
    Some(Clock { variable: variable(program), divisor, is_signed })
}

#[test]
fn programs_with_a_clock_need_exactly_their_clock() {
    for (text, divisor, signed) in [(ODD, 2, true), (LATE, 1, false)] {
        let program = parsed(text, None);
        let (text, views) = made(&program, by(&program, divisor, signed)).unwrap();
        println!("{}: {views} views", program.name);
        let answer = checked(&program, text.as_bytes());
        assert!(matches!(answer, Answer::Accepted(_)), "{answer:?}");
        let less = [None, by(&program, divisor, !signed), by(&program, 3, signed)];
        for (number, clock) in less.into_iter().enumerate() {
            // A signer, and a remainder that is not taken, are only more.
            let is_more = program.name == "late" && number > 0;
            let is_made = match made(&program, clock) {
                Ok(_) => true,
                Err(WriteError::Failure { .. }) => false,
                Err(other) => panic!("{other}"),
            };
            assert_eq!(is_made, is_more, "{} {clock:?}", program.name);
        }
    }
}

/// Edits that make the programs wrong: each shows that a rule has all of its side conditions.
const WRONG: &[(&str, &str, &str)] = &[
    // It is taken though another has it.
    (ODD, "if s mod 2 = 0: ", ""),
    (ODD, "s mod 2 = 0", "s mod 2 = 0 or s mod 2 = 1"),
    // The number does not change.
    (ODD, "CAS(seq, s, s + 1)", "CAS(seq, s, s)"),
    // The number that was looked at is another one.
    (ODD, "if s mod 2 = 0: got", "t := seq; if s mod 2 = 0: got"),
    // Every third number only is free, but one of the others is taken for free, too.
    (ODD, "s mod 2 = 0", "s mod 3 != 1"),
    // It is given back by all, or too early.
    (ODD, "until got", "until true"),
    (
        ODD,
        "    acquire()\n    a[me] := v\n",
        "    s := FAA(seq, 1)\n    acquire()\n    a[me] := v\n",
    ),
    // The number goes back.
    (LATE, "seq := s + 1", "seq := 0"),
    (LATE, "seq := s + 1", "seq := s"),
    (LATE, "not before < after", "before <= after"),
    (LATE, "not before < after", "not after < before"),
    // Two steps, and the number in between.
    (
        LATE,
        "    atomic:\n        a[me] := v\n        s := seq\n        seq := s + 1",
        "    s := seq\n    seq := s + 1\n    a[me] := v",
    ),
    (LATE, "after := seq", "after := before"),
];

#[test]
fn wrong_programs_with_a_clock_are_not_proved() {
    let mut refusals = 0;
    for (text, from, to) in WRONG.iter().step_by(either(4, 1)) {
        assert!(text.contains(from), "{from}");
        let edited = text.replace(from, to);
        let edited = match to.starts_with("t := seq") {
            true => edited.replace("CAS(seq, s, s + 1)", "CAS(seq, t, t + 1)"),
            false => edited,
        };
        let program = parsed(&edited, None);
        for (divisor, is_signed) in either(vec![(2, true)], vec![(1, false), (2, true), (3, true)])
        {
            match made(&program, by(&program, divisor, is_signed)) {
                Err(WriteError::Failure { .. }) => refusals += 1,
                other => panic!("{to} {divisor}: {:?}", other.map(|(_, views)| views)),
            }
        }
    }
    assert!(refusals >= WRONG.len() / either(4, 1), "{refusals}");
}

/// A scan that adds 1 to a number that may be none goes wrong; one that asks first does not.
#[test]
fn incrementing_none_is_a_fault() {
    let text = "
algorithm adds
shared spare: counter or none
shared a[segment]: value
update(v):
    spare := 1
    a[me] := v
    spare := none
scan:
    local copy[segment]: value
    x := spare
    if x != none: y := x + 1
    for s in segments: copy[s] := a[s]
    if x != none: x := none
    return copy
";
    for (text, is_right) in [(text.to_owned(), true), (text.replace("if x != none: y", "y"), false)]
    {
        let program = parsed(&text, None);
        let way = guesses(&program).remove(0);
        let faults: Vec<Part> =
            way.into_iter().filter(|part| part.obligation.property == Property::Faults).collect();
        assert_eq!(faults.len(), 1);
        match certificate(&program, &faults, InjectedFault::default()) {
            Ok(_) => assert!(is_right),
            Err(WriteError::Failure { failure, .. }) => {
                assert!(!is_right && matches!(failure, Failure::Fault(_)), "{failure}");
            }
            Err(other) => panic!("{other}"),
        }
    }
}

/// A certificate with another clock, or without one, is refused.
#[test]
fn altered_clocks_are_refused() {
    let program = parsed(ODD, None);
    let (text, _) = made(&program, by(&program, 2, true)).unwrap();
    let all = lines(&text);
    let at = all.iter().position(|line| line == "seq 2 1").unwrap();
    for line in ["seq 2 0", "seq 3 1", "seq 1 1", "seq 99 1", "a 2 1", "seq 2", "seq 2 2"] {
        let mut altered = all.clone();
        altered[at] = line.to_owned();
        println!("{line}: {}", refused(&program, sealed(&altered).as_bytes()));
    }
    let mut altered = all;
    altered[at - 1] = "clocks 0".to_owned();
    altered.remove(at);
    println!("{}", refused(&program, sealed(&altered).as_bytes()));
}
