//! Trace files, and replays.

use snapshot_core::Process;
use snapshot_semantics::interpret::{Machine, Move, MoveErrorKind, Trace};

use crate::interpret::bowman::bowman;

const TEXT: &str = "snapshot-trace 2\nalgorithm bowman\nbug early_exit\nprocesses 3\npair 0 1\n\n\
                    p0 update 1\np0 step\np2 scan\np2 step\np2 step\nend\n";

#[test]
fn traces_round_trip() {
    let trace: Trace = TEXT.parse().unwrap();
    assert_eq!(trace.to_string(), TEXT);
    let [p0, p1, p2] = [0, 1, 2].map(Process::from_index);
    assert_eq!(
        trace,
        Trace {
            operations: Vec::new(),
            points: false,
            algorithm: "bowman".to_owned(),
            bug: Some("early_exit".to_owned()),
            size: None,
            processes: 3,
            pair: Some([p0, p1]),
            program: None,
            linearizable: None,
            repeats: None,
            deeds: Default::default(),
            moves: vec![
                Move::update(p0, 1),
                Move::step(p0),
                Move::scan(p2),
                Move::step(p2),
                Move::step(p2),
            ],
        }
    );
    let without = Trace { bug: None, pair: None, size: Some(7), points: true, ..trace };
    assert_eq!(without.to_string().parse::<Trace>().unwrap(), without);
}

#[test]
fn truncated_trace_is_refused() {
    let mut cut_off = 0;
    for length in 0..TEXT.len() - 1 {
        let error = TEXT[..length].parse::<Trace>().expect_err("it is not whole");
        cut_off += usize::from(error.to_string().contains("the trace is cut off"));
    }
    assert!(cut_off > 30, "{cut_off}");
    let more = format!("{TEXT}p2 step\n").parse::<Trace>().unwrap_err();
    assert_eq!(more.to_string(), "line 13: `p2 step` stands after the last line, `end`");
    // Version 1 had no end mark.
    assert!("snapshot-trace 1\nalgorithm a\nprocesses 2\np0 scan\n".parse::<Trace>().is_ok());
}

#[test]
fn steps_in_a_row_comments_and_white_space_may_be_used() {
    let text = "\n# found by hand\nsnapshot-trace  1\nprocesses 2\nalgorithm  a b \n\n  p1   scan\n\
                p1 step 3\n# the end\n";
    let trace: Trace = text.parse().unwrap();
    assert_eq!((trace.algorithm.as_str(), trace.processes), ("a b", 2));
    let lines = (1..=5).map(|number| Trace::line_of(text, number));
    assert!(lines.eq([Some(7), Some(8), Some(8), Some(8), None]));
    let p1 = Process::from_index(1);
    let steps = [Move::scan(p1), Move::step(p1), Move::step(p1), Move::step(p1)];
    assert_eq!(trace.moves, steps);
}

#[test]
fn malformed_traces_are_refused_with_their_line() {
    let head = "snapshot-trace 1\nalgorithm a\nprocesses 2\n";
    let cases = [
        (String::new(), "line 1: a trace begins with the line `snapshot-trace 2`"),
        ("algorithm a\n".to_owned(), "line 1: a trace begins with"),
        ("snapshot-trace 3\n".to_owned(), "line 1: this is version 3"),
        (
            "snapshot-trace 1\nprocesses 2\n".to_owned(),
            "line 2: the line `algorithm ...` is missing",
        ),
        (
            "snapshot-trace 1\nalgorithm a\n".to_owned(),
            "line 2: the line `processes ...` is missing",
        ),
        ("snapshot-trace 1\npair 0 1\n".to_owned(), "line 2: the line `processes ...` is missing"),
        (
            "snapshot-trace 1\nprocesses 0\n".to_owned(),
            "line 2: `0` is no number of processes from 1",
        ),
        (format!("{head}processes 2\n"), "line 4: `processes` has been given before"),
        (format!("{head}pair 1 0\n"), "line 4: a pair is two different processes"),
        (format!("{head}pair 1 1\n"), "line 4: a pair is two different processes"),
        (format!("{head}pair 0 2\n"), "line 4: `2` is no process from 0 to 1"),
        (format!("{head}p2 scan\n"), "line 4: `2` is no process from 0 to 1"),
        (format!("{head}\np0 update x\n"), "line 5: `x` is no value from 0 to 4294967295"),
        (format!("{head}p0 step 0\n"), "line 4: `0` is no number of steps from 1"),
        (format!("{head}p0 jump\n"), "line 4: `p0 jump` is neither a move"),
        (format!("{head}jump\n"), "line 4: `jump` is neither a move"),
        (format!("{head}p0 scan\nbug b\n"), "line 5: `bug` belongs before the first move"),
        (format!("{head}p0 step 16777216\np0 step\n"), "line 5: a trace has at most"),
    ];
    for (text, expected) in cases {
        let error = text.parse::<Trace>().unwrap_err().to_string();
        assert!(error.starts_with(expected), "{text:?}: {error}");
    }
}

#[test]
fn replay_lists_the_changes_of_each_step() {
    let program = bowman(false);
    let machine = Machine::new(&program, 2).unwrap();
    let (p0, p1) = (Process::from_index(0), Process::from_index(1));
    let moves = [
        Move::update(p0, 7),
        Move::step(p0),
        Move::step(p0),
        Move::scan(p1),
        Move::step(p1),
        Move::step(p1),
    ];
    let scenes: Vec<_> = machine.replay(&moves).map(Result::unwrap).collect();
    let changes: String = scenes.iter().map(|scene| scene.text(false)).collect();
    let expected = "   1  p0  update(7) begins
   2  p0  active := none
   3  p0  a[0] := 7
        shared     a[0] = 7  (was 0)
   4  p1  scan begins
   5  p1  active := p1
        shared     active = p1  (was none)
   6  p1  a[0] is 7
        p1 in scan copy = [7, 0]  (was [0, 0])
        p1 in scan s = 1  (was 0)
";
    assert_eq!(changes, expected);
    let all = scenes[4].text(true);
    assert!(all.contains("\n      * shared     active = p1  (was none)\n"), "{all}");
    assert!(all.contains("\n        shared     a[0] = 7\n"), "{all}");
}

#[test]
fn a_replay_ends_at_the_first_impossible_move() {
    let program = bowman(false);
    let machine = Machine::new(&program, 2).unwrap();
    let p0 = Process::from_index(0);
    let moves = [Move::scan(p0), Move::scan(p0), Move::step(p0)];
    let scenes: Vec<_> = machine.replay(&moves).collect();
    assert_eq!(scenes.len(), 2);
    let error = scenes[1].as_ref().unwrap_err();
    assert_eq!((error.number, &error.kind), (2, &MoveErrorKind::Busy));
}
