//! Counters of which processes are computed: windows are true of all numbers, right programs need
//! them, and wrong ones are not proved.

use std::collections::HashSet;

use snapshot_core::Process;
use snapshot_invariant::byte::{ANY, BASE, OTHER, T};
use snapshot_invariant::check::{Answer, Refusal};
use snapshot_invariant::cursor::{MOST, differ, is_window, place, seen_by_others, successor};
use snapshot_invariant::layout::Layout;
use snapshot_invariant::step::{Failure, InjectedFault};
use snapshot_invariant::write::{Part, WriteError, lay_out};
use snapshot_language::program::Program;
use snapshot_semantics::interpret::{Call, Machine};
use test_support::effort::either;

use crate::altered::{lines, sealed};
use crate::programs::{certificate, checked, parsed, parts, refused};

/// A lock that goes from process to process.
pub const TURN: &str = include_str!("../../../tests/every-n/turn.snapshot");

/// The same by LL/SC, with the next process.
pub const LINKS: &str = include_str!("../../../tests/every-n/turn_links.snapshot");

/// Returns the parts of a program by scans.
pub fn by_scans(program: &Program) -> Vec<Part> {
    parts(program, &["scans.faults", "scans.observer"])
}

fn made(program: &Program, parts: &[Part]) -> Result<(String, usize), WriteError> {
    let made = certificate(program, parts, InjectedFault::default());
    made.map(|(text, summary)| (text, summary.views()))
}

/// Returns a byte that says the most of a number, in views of these processes: i, j, and possibly t.
fn said(number: usize, n: usize, tuple: &[usize]) -> u8 {
    let is_true = |byte: &u8| (0..MOST).all(|at| place(*byte, at) == placed(number + at, n, tuple));
    (BASE..=u8::MAX).filter(|byte| is_window(*byte)).find(is_true).expect("a window")
}

fn placed(number: usize, n: usize, tuple: &[usize]) -> u8 {
    let member = tuple.iter().position(|process| *process == number % n);
    BASE + member.map_or(OTHER, |member| member as u8)
}

/// Returns true if a byte says nothing wrong of a number.
fn is_true(byte: u8, number: usize, n: usize, tuple: &[usize]) -> bool {
    let is_so = |at: usize| {
        let said = place(byte, at);
        said == ANY || said == placed(number + at, n, tuple)
    };
    (0..MOST).all(is_so)
}

/// For up to five processes, all choices of i, j and t among them, and all numbers up to 3 n.
#[test]
fn windows_are_true_of_all_numbers() {
    let (mut cases, mut different, mut known) = (0, 0, 0);
    for n in 2..=5_usize {
        let others = |tuple: &[usize]| {
            let tuple = tuple.to_vec();
            (0..n).filter(move |one| !tuple.contains(one))
        };
        for pair in (0..n).flat_map(|i| (0..n).map(move |j| [i, j])).filter(|[i, j]| i != j) {
            let tuples: Vec<Vec<usize>> =
                others(&pair).map(|t| [pair[0], pair[1], t].to_vec()).collect();
            let all = [pair.to_vec()].into_iter().chain(tuples.clone());
            for (tuple, number) in all.flat_map(|one| (0..3 * n).map(move |at| (one.clone(), at))) {
                let byte = said(number, n, &tuple);
                assert!(is_true(successor(byte), number + 1, n, &tuple));
                let kept = (0..MOST).filter(|at| place(successor(byte), *at) != ANY).count();
                assert_eq!(kept, MOST - 1);
                for other in 0..3 * n {
                    let said = said(other, n, &tuple);
                    let differs = differ(byte, said);
                    assert!(!differs || number % n != other % n);
                    different += usize::from(differs);
                    let next = successor(byte);
                    let differ = differ(next, said) || differ(said, next);
                    assert!(!differ || (number + 1) % n != other % n);
                }
                // The same number, as other views show it.
                for view in [pair.to_vec()].iter().chain(&tuples) {
                    let is_one = view.len() == 3 && tuple.len() == 3 && view[2] == tuple[2];
                    if !is_one {
                        let seen = seen_by_others(byte, view.len() == 3);
                        known += usize::from(seen.len() == 1);
                        assert!(seen.contains(&said(number, n, view)), "{n} {tuple:?} {view:?}");
                        let is_vague = |one: &u8| (0..MOST).any(|at| place(*one, at) == ANY);
                        assert!(!seen.iter().any(is_vague));
                    }
                }
                cases += 1;
            }
        }
    }
    println!("{cases} cases, {different} different, {known} seen alike");
    assert!(cases > 1_000 && different > 10_000 && known > 500);
    assert!(
        seen_by_others(said(2, 3, &[0, 1, 2]), true).iter().all(|one| place(*one, 0) != BASE + T)
    );
}

/// Without windows, with places that are too few or with those of another variable nothing is shown.
#[test]
fn programs_with_cursors_need_exactly_their_windows() {
    let faults = ["scans.faults whole"].as_slice();
    let all = ["scans.faults", "scans.observer"].as_slice();
    for (text, width, rungs) in
        [(TURN, 1, all), (LINKS, 2, all), (GUARDED, 1, faults), (RELAY, 2, faults)]
    {
        let program = parsed(text, None);
        let right = parts(&program, rungs);
        assert!(right.iter().flat_map(|part| &part.windows).all(|(_, places)| *places == width));
        let (text, views) = made(&program, &right).unwrap();
        println!("{}: {views} views", program.name);
        let answer = checked(&program, text.as_bytes());
        let is_part = matches!(answer, Answer::Refused(Refusal::Missing(_)));
        assert!(matches!(answer, Answer::Accepted(_)) || is_part && rungs == faults, "{answer:?}");
        for most in 0..width {
            let mut less = right.clone();
            for part in &mut less {
                part.windows.iter_mut().for_each(|(_, places)| *places = most);
            }
            let failed = made(&program, &less).expect_err("a proof with fewer places");
            assert!(failed.is_gap(), "{} {most}: {failed}", program.name);
        }
    }
}

/// The same, where two processes between `inside := x + 1` and `inside := 0` are a fault.
const GUARDED: &str = "
algorithm guarded
shared turn: llsc counter
shared inside: 0..1
shared a[segment]: value
private mine: counter
update(v):
    repeat
        t := LL(turn)
    until process(t mod n) = me
    x := inside
    inside := x + 1
    a[me] := v
    inside := 0
    turn := t + 1
scan:
    local copy[segment]: value
    enter()
    for s in segments: copy[s] := a[s]
    leave()
    return copy
procedure enter():
    repeat
        t := turn
    until process(t mod n) = me
    x := inside
    inside := x + 1
procedure leave():
    inside := 0
    t := turn
    turn := t + 1
";

/// The next process takes the turn once it is free. That one process has it follows from its place
/// behind the SC.
const RELAY: &str = "
algorithm relay
type place = record (value: counter, taken: bool)
shared turn: llsc place
shared inside: 0..1
shared a[segment]: value
update(v):
    enter()
    a[me] := v
    leave()
scan:
    local copy[segment]: value
    enter()
    for s in segments: copy[s] := a[s]
    leave()
    return copy
procedure enter():
    repeat
        got := false
        t := LL(turn)
        if not t.taken and process((t.value + 1) mod n) = me:
            got := SC(turn, (t.value + 1, true))
    until got
    x := inside
    inside := x + 1
procedure leave():
    inside := 0
    t := turn
    turn := (t.value, false)
";

/// The wait of an update.
const WAIT: &str = "process(t mod n) = me\n    x := inside\n    inside := x + 1\n    a";

/// Edits of the programs; true: they remain right.
const EDITS: &[(&str, &str, &str, bool)] = &[
    (GUARDED, "turn := t + 1", "turn := t", true),
    (GUARDED, "turn := t + 1", "u := t + 1; turn := u + 1", true),
    (GUARDED, "process(t mod n)", "process((t + 1) mod n)", true),
    (GUARDED, "    turn := t + 1\nscan", "    SC(turn, t + 1)\nscan", true),
    // No process waits, or the turn ends too early, or goes back.
    (GUARDED, "process(t mod n) = me", "true", false),
    (GUARDED, "    inside := 0\n    turn := t + 1", "    turn := t + 1\n    inside := 0", false),
    (GUARDED, "    a[me] := v\n", "    turn := 0\n    a[me] := v\n", false),
    (RELAY, "not t.taken and ", "", false),
    (RELAY, "(t.value + 1, true)", "(t.value + 1, false)", false),
    (
        RELAY,
        "    inside := 0\n    t := turn\n",
        "    t := turn\n    turn := (t.value, false)\n    inside := 0\n",
        false,
    ),
    // Another divisor than n.
    (
        GUARDED,
        WAIT,
        "process(t mod (n - 1)) = me\n    x := inside\n    inside := x + 1\n    a",
        false,
    ),
    (GUARDED, WAIT, "process(t mod 2) = me\n    x := inside\n    inside := x + 1\n    a", false),
    (GUARDED, WAIT, "process(t mod 1) = me\n    x := inside\n    inside := x + 1\n    a", false),
    // Another place, also one behind the window.
    (
        GUARDED,
        WAIT,
        "process((t + 1) mod n) = me\n    x := inside\n    inside := x + 1\n    a",
        false,
    ),
    (
        GUARDED,
        WAIT,
        "process((t + 1 + 1 + 1) mod n) = me\n    x := inside\n    inside := x + 1\n    a",
        false,
    ),
    (GUARDED, WAIT, "process(t mod n) != me\n    x := inside\n    inside := x + 1\n    a", false),
    // Each process counts for itself.
    (GUARDED, "t := LL(turn)\n", "y := turn\n        t := mine\n        mine := mine + 1\n", false),
    // Any process may end a turn.
    (GUARDED, "t := LL(turn)\n", "t := LL(turn)\n        SC(turn, t + 1)\n", false),
    (
        GUARDED,
        "        t := turn\n    until",
        "        t := turn\n        turn := t + 1\n    until",
        false,
    ),
    // A turn is taken back.
    (GUARDED, "    turn := t + 1\nscan", "    turn := t + 1\n    turn := t\nscan", false),
];

fn edited(text: &str, from: &str, to: &str) -> Program {
    assert!(text.contains(from), "{from}");
    let text = text.replace(from, to);
    let text = match text.contains("private mine") {
        true => text,
        false => text.replace("shared turn", "private mine: counter\nshared turn"),
    };
    parsed(&text, None)
}

/// Returns true if an execution of these processes with at most two operations each is a fault.
fn goes_wrong(program: &Program, processes: usize) -> bool {
    let machine = Machine::new(program, processes).unwrap();
    let first = (machine.initial().clone(), vec![2; processes]);
    let (mut known, mut waiting) = (HashSet::from([first.clone()]), vec![first]);
    while let Some((state, left)) = waiting.pop() {
        for process in 0..processes {
            let me = Process::from_index(process);
            let calls = match (state.is_idle(process), left[process]) {
                (true, 0) => vec![],
                (true, _) => vec![Some(Call::Update(0)), Some(Call::Scan)],
                (false, _) => vec![None],
            };
            for call in calls {
                let (mut state, mut left) = (state.clone(), left.clone());
                let is_fault = match call {
                    Some(call) => {
                        left[process] -= 1;
                        machine.begin(&mut state, me, call).is_err()
                    }
                    None => machine.advance(&mut state, me).is_err(),
                };
                if is_fault {
                    return true;
                }
                if known.insert((state.clone(), left.clone())) {
                    waiting.push((state, left));
                }
            }
        }
        assert!(known.len() < 2_000_000, "too many states");
    }
    false
}

/// Each edit is as the interpreter finds it with two or three processes, and no wrong one is proved.
#[test]
fn edits_of_programs_with_cursors_are_as_expected() {
    let (mut proved, mut refusals) = (0, 0);
    for (text, from, to, is_right) in EDITS.iter().step_by(either(2, 1)) {
        let program = edited(text, from, to);
        let is_wrong = (2..=3).any(|processes| goes_wrong(&program, processes));
        assert_eq!(is_wrong, !is_right, "{to}");
        match made(&program, &parts(&program, &["scans.faults whole"])) {
            Ok((_, views)) => {
                assert!(is_right, "{to} is proved");
                println!("{to}: {views} views");
                proved += 1;
            }
            Err(WriteError::Failure { failure: Failure::Fault(_), .. }) => {
                assert!(!is_right, "{to} is not proved");
                refusals += 1;
            }
            Err(other) => panic!("{to}: {other}"),
        }
    }
    assert!(proved >= either(2, 4) && refusals >= either(7, 15), "{proved} {refusals}");
}

/// A certificate with other windows is refused, and so are lines that are none.
#[test]
fn altered_windows_are_refused() {
    let program = parsed(LINKS, None);
    let (text, _) = made(&program, &by_scans(&program)).unwrap();
    let all = lines(&text);
    let at = all.iter().rposition(|line| line == "2 turn").unwrap();
    for line in ["1 turn", "3 turn", "0 turn", "4 turn", "2 a[i]", "2 none", "2", "turn 2"] {
        let mut altered = all.clone();
        altered[at] = line.to_owned();
        println!("{line}: {}", refused(&program, sealed(&altered).as_bytes()));
    }
    let mut altered = all.clone();
    altered[at + 1] = altered[at].clone();
    println!("twice: {}", refused(&program, sealed(&altered).as_bytes()));
    let mut altered = all;
    let windows = altered[..at].iter().rposition(|line| line.starts_with("windows ")).unwrap();
    let count: usize = altered[windows]["windows ".len()..].parse().unwrap();
    altered[windows] = "windows 0".to_owned();
    altered.drain(windows + 1..=windows + count);
    println!("none: {}", refused(&program, sealed(&altered).as_bytes()));
}

/// All cells of a variable hold windows, if one does.
#[test]
fn all_cells_of_a_variable_hold_windows() {
    let text = "
algorithm cells
shared each[process]: counter
shared a[segment]: value
update(v):
    t := each[me]
    each[me] := t + 1
    a[me] := v
scan:
    local copy[segment]: value
    for p in processes:
        t := each[p]
        if process(t mod n) = me: skip
    atomic: for s in segments: copy[s] := a[s]
    return copy
";
    let program = parsed(text, None);
    let part = by_scans(&program).remove(0);
    let layout: Layout<'_> = lay_out(&program, &part).unwrap();
    let of = layout.slots.iter().filter(|slot| slot.name.starts_with("each["));
    let windows: Vec<usize> = of.map(|slot| slot.window).collect();
    assert_eq!(windows, [1, 1, 1]);
    let named: Vec<String> = layout.windows().into_iter().map(|(name, _)| name).collect();
    assert!(named.contains(&"each[i]".to_owned()) && !named.contains(&"each[j]".to_owned()));
}
