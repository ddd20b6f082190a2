//! Effects of single steps.

use snapshot_core::Process;
use snapshot_semantics::interpret::{Action, Machine, Move, MoveErrorKind};

use crate::interpret::bowman::bowman;

fn step_texts(machine: &Machine<'_>, moves: &[Move]) -> Vec<String> {
    let execution = machine.run(moves).unwrap();
    let report = |report: &snapshot_semantics::interpret::StepReport| {
        let event = report.event.iter().map(|event| event.action.to_string());
        let accesses = report.accesses.iter().map(ToString::to_string);
        accesses.chain(event).collect::<Vec<_>>().join("; ")
    };
    execution.reports.iter().map(report).collect()
}

fn parsed(text: &str) -> Vec<Move> {
    let one = |text: &str| {
        let words: Vec<&str> = text.split_whitespace().collect();
        let process = Process::from_index(words[0].strip_prefix('p').unwrap().parse().unwrap());
        match words[1] {
            "update" => Move::update(process, words[2].parse().unwrap()),
            "scan" => Move::scan(process),
            _ => Move::step(process),
        }
    };
    text.split(',').map(one).collect()
}

#[test]
fn each_event_is_a_separate_step() {
    let program = bowman(false);
    let machine = Machine::new(&program, 2).unwrap();
    let moves = "p0 update 7, p1 scan, p0 step, p1 step, p1 step, p0 step, p1 step, p1 step, \
                 p0 step, p1 step";
    assert_eq!(
        step_texts(&machine, &parsed(moves)),
        [
            "update(7) begins",
            "scan begins",
            "active := none",
            "active := p1",
            "a[0] is 0",
            "a[0] := 7",
            "a[1] is 0",
            "active is p1",
            "update ends",
            "scan returns [0, 0]",
        ]
    );
}

#[test]
fn disturbed_scan_collects_again() {
    let program = bowman(false);
    let machine = Machine::new(&program, 2).unwrap();
    let disturbed = "p1 scan, p1 step, p1 step, p1 step, p0 update 7, p0 step, p1 step, p0 step, \
                     p1 step, p1 step, p1 step, p1 step, p1 step";
    let told = step_texts(&machine, &parsed(disturbed));
    assert_eq!(told[6..9], ["active is none", "a[0] := 7", "active := p1"]);
    assert_eq!(told.last().unwrap(), "scan returns [7, 0]");
}

#[test]
fn impossible_moves_are_refused() {
    let program = bowman(false);
    let machine = Machine::new(&program, 2).unwrap();
    let kind = |moves: &str| machine.run(&parsed(moves)).unwrap_err().kind;
    assert_eq!(kind("p2 scan"), MoveErrorKind::NoSuchProcess { processes: 2 });
    assert_eq!(kind("p0 step"), MoveErrorKind::Idle);
    assert_eq!(kind("p0 scan, p0 scan"), MoveErrorKind::Busy);
    let error = machine.run(&parsed("p0 scan, p1 update 3, p1 update 4")).unwrap_err();
    assert!(error.to_string().starts_with("move 3, `p1 update 4`: "), "{error}");
}

#[test]
fn holdings_list_the_contents_of_a_state() {
    let program = bowman(false);
    let machine = Machine::new(&program, 2).unwrap();
    let last =
        machine.run(&parsed("p0 update 7, p1 scan, p0 step, p0 step, p1 step")).unwrap().last;
    let told = |holding: snapshot_semantics::interpret::Holding| {
        format!("{}: {} = {holding}", holding.owner, holding.name)
    };
    let told: Vec<String> = machine.holdings(&last).into_iter().map(told).collect();
    assert_eq!(
        told,
        [
            "shared: active = p1",
            "shared: a[0] = 7",
            "shared: a[1] = 0",
            "p1 in scan: copy = [0, 0]",
            "p1 in scan: s = 0",
        ]
    );
}

#[test]
fn keys_distinguish_states_with_different_futures() {
    let program = bowman(false);
    let machine = Machine::new(&program, 2).unwrap();
    let after = |moves: &str| machine.run(&parsed(moves)).unwrap().last;
    let one = after("p0 update 0, p0 step, p0 step, p0 step");
    assert_eq!((&one, one.key()), (machine.initial(), machine.initial().key()));
    let other = after("p0 update 1, p0 step, p0 step, p0 step");
    assert_ne!(one.key(), other.key());
    let standing = after("p0 update 0, p0 step");
    assert_ne!(standing.key(), machine.initial().key());
    assert!(
        machine
            .run(&parsed("p1 scan"))
            .unwrap()
            .events()
            .all(|event| { event.process.index() == 1 && event.action == Action::InvokeScan })
    );
}
