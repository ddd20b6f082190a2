//! Compares instances with the interpreter, which shares no code with them: the interpreter replays
//! random executions of an instance. A step with k accesses corresponds to k steps of the text,
//! after an invocation if the process was idle, and before a response if it responds.

use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use snapshot_core::Process;
use snapshot_explorer::instance::Instance;
use snapshot_language::parse;
use snapshot_language::program::Program;
use snapshot_semantics::interpret::{Action, Fault, FaultKind, Machine, State as Written};
use test_support::effort::either;

use crate::instance::programs::cases;
use crate::instance::reference::{Deed, Ending, Move, Returned, State};
use crate::passes::{constant, dead, shrink};

/// Runs the interpreter for one step of an instance.
fn interpret(
    machine: &Machine<'_>,
    state: &mut Written,
    process: usize,
    choice: Move,
    deed: Deed,
) -> Result<Option<Action>, Fault> {
    let process = Process::from_index(process);
    match choice {
        Move::Update(value) => drop(machine.invoke_update(state, process, value as u32)?),
        Move::Scan => drop(machine.invoke_scan(state, process)?),
        Move::Step => {}
    }
    for _ in 0..deed.accesses {
        assert_eq!(machine.advance(state, process)?, None, "an access is no response");
    }
    match deed.returned {
        Some(_) => machine.advance(state, process),
        None => Ok(None),
    }
}

/// Compares one random execution. Returns the violation or fault, the same in both, if it went
/// wrong.
fn walk(
    instance: &Instance,
    machine: &Machine<'_>,
    random: &mut impl Rng,
    length: usize,
) -> Option<Ending> {
    let mut state = State::first(instance, None);
    let mut written = machine.initial().clone();
    for _ in 0..length {
        let process = random.random_range(0..instance.processes);
        let moves = state.moves(instance, process);
        let choice = moves[random.random_range(0..moves.len())];
        let ending = state.make(instance, process, choice);
        match ending {
            Ending::Moved(deed) | Ending::Violation(deed) => {
                let action = interpret(machine, &mut written, process, choice, deed).unwrap();
                compare(instance, deed.returned, action);
            }
            Ending::Fault(what) => {
                let faulty = Deed { accesses: 1_000, returned: None };
                let fault = interpret(machine, &mut written, process, choice, faulty).unwrap_err();
                let none = fault.kind == FaultKind::NoneUnwrapped;
                assert_eq!(none, what == "none is unwrapped", "{fault}");
                return Some(ending);
            }
        }
        if let Ending::Violation(_) = ending {
            return Some(ending);
        }
    }
    None
}

fn compare(instance: &Instance, returned: Option<Returned>, action: Option<Action>) {
    match (returned, action) {
        (None, None) | (Some(Returned::Update), Some(Action::RespondUpdate)) => {}
        (Some(Returned::Scan { at, foreign }), Some(Action::RespondScan(values))) => {
            let pair = instance.pair.map(|process| process.index());
            assert_eq!(at, pair.map(|segment| values[segment] == 1));
            let others = values.iter().enumerate().filter(|(segment, _)| !pair.contains(segment));
            assert_eq!(foreign, others.into_iter().any(|(_, value)| *value != 0));
        }
        (returned, action) => panic!("{returned:?} against {action:?}"),
    }
}

/// Compares random executions of the instance, fresh and reduced.
fn walks(program: &Program, n: usize, pair: (usize, usize), walks: usize, seed: u64) {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let machine = Machine::new(program, n).unwrap();
    let fresh = Instance::new(program, n, pair).unwrap();
    let fewer = constant(&fresh);
    let shrunk = shrink(&fewer);
    let all = dead(&shrunk);
    for instance in [&fresh, &fewer, &shrunk, &shrink(&fresh), &all] {
        for _ in 0..walks {
            walk(instance, &machine, &mut random, 300);
        }
    }
}

#[test]
fn instances_agree_with_the_interpreter() {
    for case in cases() {
        let n = case.processes;
        for pair in [(0, 1), (n - 2, n - 1)] {
            walks(&case.program(), n, pair, either(16, 100), 3);
        }
    }
}

#[test]
fn instances_of_the_corpus_agree_with_the_interpreter() {
    // The register computes with values, which instances do not represent fully.
    for file in corpus::algorithms().iter().filter(|file| file.name != "register") {
        let algorithm = parse(file.name, file.text).unwrap();
        let bugs = algorithm.bugs().iter().map(|bug| Some(bug.name.text.as_str()));
        for bug in [None].into_iter().chain(bugs) {
            let program = algorithm.program(bug).unwrap();
            walks(&program, 2, (0, 1), 20, 4);
            walks(&program, 3, (0, 2), 20, 5);
        }
    }
}
