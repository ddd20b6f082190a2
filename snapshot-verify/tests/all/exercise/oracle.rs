//! An oracle with the opposite direction: for each state separately, a forward search for a return.

use std::collections::{BTreeMap, BTreeSet};

use snapshot_core::Process;
use snapshot_verify::exercise::{Ending, Occurrence, Operation};
use snapshot_verify::interpret::{Action, Client, Machine, Move, MoveKind, State, Values};
use snapshot_verify::program::Program;

use super::{exercised, program};
use crate::agreement::mutants::mutants;

/// Maximum number of states of a judged mutant.
const STATES: usize = 1_500;

type Successors = Vec<(usize, Option<Action>, Process)>;

/// Returns all states with their successors, with updates that write any of this many values;
/// `None` if they are too many, or a step is a fault.
fn all_states(machine: &Machine<'_>, values: u32) -> Option<(Vec<State>, Vec<Successors>)> {
    let client = Client::unbounded(Values::Full(values));
    let start = client.start(machine.processes());
    let mut numbers = BTreeMap::from([(machine.initial().key(), 0)]);
    let mut states = vec![machine.initial().clone()];
    let mut successors: Vec<Successors> = Vec::new();
    while successors.len() < states.len() {
        let state = states[successors.len()].clone();
        let mut found = Successors::new();
        for process in (0..machine.processes()).map(Process::from_index) {
            let kinds = match state.is_idle(process.index()) {
                true => {
                    let calls = client.calls(&start, process, machine.processes());
                    calls.into_iter().map(MoveKind::Begin).collect()
                }
                false => vec![MoveKind::Step],
            };
            for kind in kinds {
                let mut after = state.clone();
                let report = machine.make(&mut after, Move { process, kind }).ok()?;
                let next = states.len();
                let number = *numbers.entry(after.key()).or_insert(next);
                if number == next {
                    states.push(after);
                }
                found.push((number, report.event.map(|event| event.action), process));
            }
        }
        successors.push(found);
        if states.len() > STATES {
            return None;
        }
    }
    Some((states, successors))
}

fn returns(action: Option<&Action>) -> bool {
    matches!(action, Some(Action::RespondUpdate | Action::RespondScan(_)))
}

/// Returns the processes that return in some continuation of a state.
fn able(successors: &[Successors], from: usize) -> BTreeSet<Process> {
    let (mut known, mut work, mut able) = (BTreeSet::from([from]), vec![from], BTreeSet::new());
    while let Some(state) = work.pop() {
        for (next, action, process) in &successors[state] {
            if returns(action.as_ref()) {
                able.insert(*process);
            }
            if known.insert(*next) {
                work.push(*next);
            }
        }
    }
    able
}

/// Returns true if the operation of a process returns when only this process makes steps, each with
/// one outcome.
fn ends_alone(successors: &[Successors], from: usize, process: Process) -> bool {
    let (mut known, mut at) = (BTreeSet::from([from]), from);
    loop {
        let mut own = successors[at].iter().filter(|(.., mover)| *mover == process);
        let (next, action, _) = own.next().expect("an open operation makes a step");
        if returns(action.as_ref()) {
            return true;
        }
        if !known.insert(*next) {
            return false;
        }
        at = *next;
    }
}

fn judged(program: &Program, name: &str) -> Option<bool> {
    let n = 2;
    let machine = Machine::new(program, n).ok()?;
    let (states, successors) = all_states(&machine, 1)?;
    let found = exercised(program, n, None, 10_000);
    assert_eq!(found.states, states.len(), "{name}");
    let open = |number: usize| {
        let state: &State = &states[number];
        (0..n).map(Process::from_index).filter(|process| !state.is_idle(process.index()))
    };
    let mut waits = (0..states.len())
        .flat_map(|number| open(number).map(move |process| (number, process)))
        .filter(|(number, process)| !ends_alone(&successors, *number, *process));
    match &found.alone {
        Ending::Possible => assert_eq!(waits.next(), None, "{name}"),
        Ending::Open => panic!("{name}"),
        Ending::Impossible(stuck) => {
            let last = machine.run(&stuck.moves).unwrap().last;
            let position = states.iter().position(|state| state.key() == last.key()).unwrap();
            assert!(waits.any(|one| one == (position, stuck.process)), "{name}");
        }
    }
    let mut is_stuck = false;
    let mut is_deadlock = false;
    for number in 0..states.len() {
        let able = able(&successors, number);
        let stuck = open(number).any(|process| !able.contains(&process));
        is_stuck |= stuck;
        is_deadlock |= stuck && able.is_empty();
    }
    match &found.ending {
        Ending::Possible => assert!(!is_stuck, "{name}"),
        Ending::Open => panic!("{name}"),
        Ending::Impossible(stuck) => {
            assert!(is_stuck, "{name}");
            assert_eq!(stuck.is_deadlock, is_deadlock, "{name}");
            // The claim holds in the state that the moves lead to.
            let last = machine.run(&stuck.moves).unwrap().last;
            let position = states.iter().position(|state| state.key() == last.key()).unwrap();
            let able = able(&successors, position);
            assert!(!last.is_idle(stuck.process.index()), "{name}");
            assert!(!able.contains(&stuck.process), "{name}");
            assert_eq!(able.is_empty(), stuck.is_deadlock, "{name}");
        }
    }
    let returned: BTreeSet<Process> = successors
        .iter()
        .flatten()
        .filter(|(_, action, _)| matches!(action, Some(Action::RespondScan(_))))
        .map(|(.., process)| *process)
        .collect();
    for (process, operation, standing) in &found.returns {
        if *operation == Operation::Scan {
            assert_eq!(*standing == Occurrence::Seen, returned.contains(process), "{name}");
        }
    }
    Some(is_stuck)
}

/// Mutants of small programs, among them many that hang.
#[test]
fn a_forward_search_agrees_on_mutants() {
    const LOCK: &str = "algorithm lock
shared lock: cas process or none
shared a[segment]: value
procedure acquire():
    repeat
        ok := CAS(lock, none, me)
    until ok
procedure release():
    lock := none
update(v):
    acquire()
    a[me] := v
    release()
scan:
    local copy[segment]: value
    acquire()
    for s in segments: copy[s] := a[s]
    release()
    return copy
";
    let texts = ["bowman", "afek_unbounded", "naive_collect"]
        .map(|name| (name, corpus::algorithm(name).unwrap().text));
    let (mut judged_ones, mut stuck) = (0, 0);
    for (name, text) in texts.into_iter().chain([("lock", LOCK)]) {
        assert!(program(text).shared.len() < 10);
        for mutant in mutants(name, text) {
            if let Some(is_stuck) = judged(&mutant.program, &mutant.name) {
                judged_ones += 1;
                stuck += usize::from(is_stuck);
            }
        }
    }
    println!("{judged_ones} mutants, {stuck} of them with operations that cannot end");
    assert!(judged_ones > 50 && stuck > 10, "{judged_ones} {stuck}");
}

/// Data independence: programs take the same paths for any written values, so one value suffices.
/// This test compares with two.
#[test]
fn one_value_exercises_as_much_as_two() {
    let mut tried = 0;
    for name in ["bowman", "afek_unbounded"] {
        for mutant in mutants(name, corpus::algorithm(name).unwrap().text) {
            let Ok(machine) = Machine::new(&mutant.program, 2) else { continue };
            let Some(_) = all_states(&machine, 1) else { continue };
            let seen = |values| {
                let client = Client::unbounded(Values::Full(values));
                let proceed = &mut || true;
                let mut budget = snapshot_verify::exercise::Budget {
                    states: 6_000,
                    memory: 64 << 20,
                    moves: 0,
                    proceed,
                };
                snapshot_verify::exercise::exercise(&machine, &client, &mut budget)
            };
            let (one, two) = (seen(1), seen(2));
            if two.states > 6_000 {
                continue;
            }
            tried += 1;
            assert_eq!((one.statements, one.returns), (two.statements, two.returns));
            let kind = |ending: &Ending| match ending {
                Ending::Impossible(stuck) => Some(stuck.is_deadlock),
                _ => None,
            };
            assert_eq!(kind(&one.ending), kind(&two.ending), "{}", mutant.name);
        }
    }
    assert!(tried > 15, "{tried}");
}
