//! Counterexamples: validation and rendering.

use snapshot_core::Process;
use snapshot_semantics::counterexample::{Counterexample, CounterexampleErrorKind};
use snapshot_semantics::interpret::{Client, Machine, Move, Trace, Values};
use snapshot_semantics::refine::{RefinementVerdict, Techniques};

use crate::interpret::bowman::bowman;
use crate::interpret::texts::refined_with;

/// A shortest violation of `early_exit` with three processes; p0's second operation stays open.
const VIOLATION: &str = "snapshot-trace 1\nalgorithm bowman\nprocesses 3\n\
    p0 update 1\np0 step\np2 scan\np2 step 2\np0 step 2\np0 scan\np1 update 1\np1 step\np0 step\n\
    p1 step\np2 step 4";

fn moves() -> Vec<Move> {
    VIOLATION.parse::<Trace>().unwrap().moves
}

fn pair() -> [Process; 2] {
    [Process::from_index(0), Process::from_index(1)]
}

fn error(machine: &Machine<'_>, moves: &[Move]) -> CounterexampleErrorKind {
    let error = Counterexample::validated(machine, Some(pair()), moves).unwrap_err();
    assert!(error.to_string().starts_with("BUG in this program"), "{error}");
    error.kind
}

#[test]
fn counterexample_is_rendered_in_columns() {
    let program = bowman(true);
    let machine = Machine::new(&program, 3).unwrap();
    let told = Counterexample::validated(&machine, Some(pair()), &moves()).unwrap().text(100);
    let expected = "bowman, bug early_exit, n = 3, pair (0,1): a violation in 16 steps

  step | p0                    | p1                    | p2
       | --------------------- | --------------------- | --------------------
     1 | U1 = update(1) begins |                       |
     2 | active := none        |                       |
     3 |                       |                       | S1 = scan begins
     4 |                       |                       | active := p2
     5 |                       |                       | a[0] is 0
     6 | a[0] := 1             |                       |
     7 | U1 ends               |                       |
     8 | S2 = scan begins      |                       |
     9 |                       | U2 = update(1) begins |
    10 |                       | active := none        |
    11 | active := p0          |                       |
    12 |                       | a[1] := 1             |
    13 |                       |                       | a[1] is 1
    14 |                       |                       | a[2] is 0
    15 |                       |                       | active is p0
    16 |                       |                       | S1 returns [0, 1, 0]

The history:

  p0    |- U1: update(1) -| |---- S2: scan ......
  p1                          |- U2: update(1) ..
  p2      |- S1: scan [0, 1, 0] -|

Why it is not linearizable:

  S1 returned 1 for segment 1, which U2 wrote: so U2 must come before S1. For segment 0 it returned
  0, which is older than what U1 wrote: so S1 must come before U1, and U2 before U1. But U1 had
  responded before U2 was invoked: a contradiction.
";
    assert_eq!(told, expected);
}

#[test]
fn counterexample_fits_the_width() {
    let program = bowman(true);
    for n in [3, 10] {
        let machine = Machine::new(&program, n).unwrap();
        // With more processes, p2 has more cells to collect.
        let mut moves = moves();
        moves.extend(vec![Move::step(Process::from_index(2)); n - 3]);
        let counterexample = Counterexample::validated(&machine, Some(pair()), &moves).unwrap();
        for width in [40, 60, 80, 100, 120] {
            let told = counterexample.text(width);
            let longest = told.lines().skip(1).map(|line| line.chars().count()).max().unwrap();
            assert!(longest <= width, "{longest} > {width}:\n{told}");
            let columns = told.lines().nth(2).unwrap().matches('|').count();
            assert_eq!(columns, if width < 66 { 0 } else { 3 }, "{told}");
        }
    }
}

#[test]
fn moves_after_the_violation_are_left_out() {
    let program = bowman(true);
    let machine = Machine::new(&program, 3).unwrap();
    let shortest = moves();
    let mut longer = shortest.clone();
    longer.extend([Move::scan(Process::from_index(2)), Move::step(Process::from_index(0))]);
    let counterexample = Counterexample::validated(&machine, Some(pair()), &longer).unwrap();
    assert_eq!(counterexample.moves(), shortest);
    assert_eq!(counterexample.history().len(), 6);
}

#[test]
fn invalid_counterexample_is_reported_as_our_bug() {
    let (correct, bug) = (bowman(false), bowman(true));
    let machine = Machine::new(&bug, 3).unwrap();
    // The correct scan has not returned after this many steps.
    let other = Machine::new(&correct, 3).unwrap();
    let kind = error(&other, &moves());
    let CounterexampleErrorKind::Linearizable { moves: 16, operations: 4 } = kind else {
        panic!("{kind}")
    };
    let kind = error(&machine, &moves()[..15]);
    assert!(matches!(kind, CounterexampleErrorKind::Linearizable { .. }), "{kind}");
    let kind = error(&machine, &moves()[1..]);
    assert!(matches!(kind, CounterexampleErrorKind::NoExecution(_)), "{kind}");
    let mut full = moves();
    full[0] = Move::update(Process::from_index(0), 2);
    let kind = error(&machine, &full);
    assert!(matches!(kind, CounterexampleErrorKind::NotSimple { value: 2, .. }), "{kind}");
    assert!(Counterexample::validated(&machine, None, &full).is_ok());
    let back = [Move::update(Process::from_index(1), 1), Move::step(Process::from_index(1))];
    let mut back = [back, [Move::step(Process::from_index(1)); 2]].concat();
    back.push(Move::update(Process::from_index(1), 0));
    let kind = error(&machine, &back);
    assert!(matches!(kind, CounterexampleErrorKind::NotSimple { value: 0, .. }), "{kind}");
    let third = error(&machine, &[Move::update(Process::from_index(2), 1)]);
    assert!(matches!(third, CounterexampleErrorKind::NotSimple { value: 1, .. }), "{third}");
}

#[test]
fn violations_of_refinement_are_counterexamples() {
    let program = bowman(true);
    let machine = Machine::new(&program, 3).unwrap();
    for values in [Values::Simple(pair()[0], pair()[1]), Values::Full(2), Values::Full(3)] {
        let means = Techniques::default();
        let found = refined_with(&machine, &Client::unbounded(values), means, 3_000_000);
        let RefinementVerdict::Violation(moves) = found.verdict else {
            panic!("{:?}", found.verdict)
        };
        let counterexample = Counterexample::validated(&machine, None, &moves).unwrap();
        assert_eq!(counterexample.moves(), moves, "the last move completes the violation");
    }
}
