//! `--reductions none` is the oracle of the reductions: it must be the plain product, for all
//! programs, including those with versions and counters.

use std::collections::HashSet;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use snapshot_core::Process;
use snapshot_core::observer::Observer;
use snapshot_core::simple::{Letter, Switching, Symbol};
use snapshot_verify::interpret::{Action, Call, Client, Machine, MoveKind, State, Values};
use snapshot_verify::language::parse;
use snapshot_verify::program::Program;
use snapshot_verify::verify::{Pairs, Reductions, Request};

use super::{answers, request, words};

/// Explores the interpreter with the observer, for the pair (0, 1). Returns whether the observer
/// accepts, and the number of states.
fn interpreted(program: &Program, n: usize, operations: u32) -> (bool, u64) {
    let machine = Machine::new(program, n).unwrap();
    let pair = [0, 1].map(Process::from_index);
    let client = Client::bounded(Values::Simple(pair[0], pair[1]), operations);
    let mut known = HashSet::new();
    // Includes the value that each process is writing.
    let first = (machine.initial().clone(), client.start(n), Observer::new(n), vec![0; n]);
    let mut work = vec![first];
    let key =
        |state: &State, progress: &snapshot_verify::interpret::Progress, observer: &Observer| {
            let must: Vec<u8> = observer.must().iter().map(|must| must.bits()).collect();
            (state.key(), progress.key().collect::<Vec<u8>>(), observer.state().bits(), must)
        };
    known.insert(key(&work[0].0, &work[0].1, &work[0].2));
    while let Some((state, progress, observer, writing)) = work.pop() {
        for process in (0..n).map(Process::from_index) {
            let kinds: Vec<MoveKind> = match state.is_idle(process.index()) {
                true => {
                    let calls = client.calls(&progress, process, n);
                    calls.into_iter().map(MoveKind::Begin).collect()
                }
                false => vec![MoveKind::Step],
            };
            for kind in kinds {
                let (mut state, mut progress) = (state.clone(), progress.clone());
                let (mut observer, mut writing) = (observer.clone(), writing.clone());
                if let MoveKind::Begin(Call::Update(value)) = kind {
                    writing[process.index()] = value;
                }
                let action = match kind {
                    MoveKind::Begin(call) => {
                        client.begin(&mut progress, process, call);
                        Some(machine.begin(&mut state, process, call).unwrap())
                    }
                    MoveKind::Step | MoveKind::Take(_) => {
                        machine.advance(&mut state, process).unwrap()
                    }
                };
                let letter =
                    action.map(|action| letter(process, &action, || writing[process.index()]));
                if letter.is_some_and(|letter| observer.step(letter)) {
                    return (false, known.len() as u64);
                }
                if known.insert(key(&state, &progress, &observer)) {
                    work.push((state, progress, observer, writing));
                }
            }
        }
    }
    (true, known.len() as u64)
}

/// Returns the observer's letter for an event in a simple execution of the pair (0, 1).
fn letter(process: Process, action: &Action, value: impl Fn() -> u32) -> Letter {
    let segment = [Switching::I, Switching::J].get(process.index()).copied();
    let is_one = |values: &[u32], at: usize| values[at] == 1;
    Letter::new(
        process,
        match (action, segment) {
            (Action::InvokeScan, _) => Symbol::InvokeScan,
            (Action::RespondScan(values), _) => match values[2..].iter().all(|value| *value == 0) {
                true => Symbol::RespondScan { at_i: is_one(values, 0), at_j: is_one(values, 1) },
                false => Symbol::RespondForeign,
            },
            (Action::InvokeUpdate(value), Some(segment)) => {
                Symbol::InvokeUpdate { segment, value: *value == 1 }
            }
            (Action::RespondUpdate, Some(segment)) => {
                Symbol::RespondUpdate { segment, value: value() == 1 }
            }
            (Action::InvokeUpdate(_), None) => Symbol::InvokeOther,
            (Action::RespondUpdate, None) => Symbol::RespondOther,
            (Action::Begin { .. } | Action::End { .. }, _) => {
                panic!("not an operation of a snapshot")
            }
        },
    )
}

/// Returns the answer and the states of the search without reductions.
fn unreduced(program: &Program, n: usize, operations: u32) -> (bool, u64) {
    let request = Request {
        pairs: Pairs::One(Process::from_index(0), Process::from_index(1)),
        ..request(n, operations, Reductions::NONE)
    };
    let [(answer, states)] = answers(program, &request)[..] else {
        panic!("one pair is requested")
    };
    (answer == "right", states)
}

/// The search has all states of the interpreter: none is dropped, merged or fused. It has more: the
/// interpreter drops the variables of a call that has returned, the search keeps them until the
/// operation ends.
#[test]
fn unreduced_search_has_at_least_the_interpreted_states() {
    for (name, n, operations) in [
        ("naive_collect", 2, 2),
        ("bowman", 2, 2),
        ("bowman", 3, 1),
        ("double_collect", 2, 2),
        ("afek_unbounded", 2, 1),
        ("afek_unbounded", 2, 2),
        ("afek_bounded", 2, 1),
        ("attiya_welch", 2, 1),
        ("jayanti", 2, 1),
    ] {
        let text = corpus::algorithm(name).unwrap().text;
        let program = parse(name, text).unwrap().program(None).unwrap();
        let interpreted = interpreted(&program, n, operations);
        let unreduced = unreduced(&program, n, operations);
        println!("{name} n={n} {operations}: {interpreted:?} {unreduced:?}");
        assert!(interpreted.0 && unreduced.0, "{name}");
        assert!(unreduced.1 >= interpreted.1, "{name}: {unreduced:?}, not {interpreted:?}");
    }
}

/// Versions and counters without canonical form, in more slots than fit unless their numbers are
/// small.
#[test]
fn riany_is_explored_without_reductions() {
    let text = corpus::algorithm("riany").unwrap().text;
    let program = parse("riany", text).unwrap().program(None).unwrap();
    assert_eq!(unreduced(&program, 2, 1), (true, 523_100));
}

/// Returns a random program that counts and names versions, and returns nonsense in some of their
/// states.
fn random_program(random: &mut ChaCha8Rng) -> Program {
    const STEPS: [&str; 10] = [
        "c := p",
        "p := c",
        "p := p + 1",
        "d := p + 1",
        "atomic: x := c; c := x + 1",
        "atomic: x := c; d := x + 1",
        "k := fresh",
        "q := k",
        "q := fresh",
        "k := q",
    ];
    const TESTS: [&str; 6] =
        ["y > p", "y = p", "y < p", "y mod 2 = 1", "r != q", "r = q and y != p"];
    let mut pick = |from: &[&'static str]| from[(random.next_u32() as usize) % from.len()];
    let mut steps =
        |count: usize| (0..count).map(|_| format!("    {}\n", pick(&STEPS))).collect::<String>();
    let (before, after, scanning) = (steps(2), steps(1), steps(2));
    let test = pick(&TESTS);
    let text = format!(
        "algorithm random\nshared a[segment]: value\nshared c: counter\nshared d: counter\nshared k: \
         version\nprivate p: counter\nprivate q: version\nupdate(v):\n{before}    a[me] := v\n{after}\
         scan:\n    local w[segment]: value\n    local zero: view\n{scanning}    y := d\n    r := k\n    \
         for s in segments: w[s] := a[s]\n    if {test}: return zero\n    return w\n"
    );
    parse("random", &text)
        .and_then(|parsed| parsed.program(None))
        .unwrap_or_else(|wrong| panic!("{wrong}"))
}

#[test]
fn counting_programs_agree_with_the_interpreter() {
    let mut random = ChaCha8Rng::seed_from_u64(7);
    let mut wrong = 0;
    for number in 0..60 {
        let program = random_program(&mut random);
        let interpreted = interpreted(&program, 2, 2);
        let unreduced = unreduced(&program, 2, 2);
        assert_eq!(interpreted.0, unreduced.0, "{number}: {program}");
        if interpreted.0 {
            assert!(unreduced.1 >= interpreted.1, "{number}: {program}");
        }
        wrong += usize::from(!interpreted.0);
        let reduced = words(&program, &request(2, 2, Reductions::standard()));
        assert_eq!(reduced == ["right"], interpreted.0, "{number}: {program}");
    }
    assert!((12..48).contains(&wrong), "{wrong}");
}
