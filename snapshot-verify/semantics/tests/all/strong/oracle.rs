//! An oracle that tries all functions from executions to orders: after **each** move, any open
//! operations may be appended, in any order. It shares only the interpreter with the game.

use std::collections::HashMap;

use snapshot_core::Process;
use snapshot_semantics::interpret::{Call, Move, MoveKind, State};

use super::contents::{Answer, Contents};
use super::*;

/// Open operation of a process, after some operations have been put in order.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
enum Open {
    Nothing,
    Begun(Call),
    Done(Answer),
}

type Position = (Contents, Vec<Open>);

struct Oracle<'a> {
    machine: &'a Machine<'a>,
    object: Option<&'a Sequential<'a>>,
    client: Client,
    /// Answers by moves left, state, operations begun, and position.
    known: HashMap<(usize, Vec<u8>, Vec<u32>, Position), bool>,
    /// True if some execution was cut off.
    is_cut: bool,
}

impl Oracle<'_> {
    /// Returns all positions after appending any open operations.
    fn appended(&self, from: &Position) -> Vec<Position> {
        let mut all = vec![from.clone()];
        let mut next = 0;
        while next < all.len() {
            let (contents, open) = all[next].clone();
            for (process, one) in open.iter().enumerate() {
                let Open::Begun(call) = one else { continue };
                if let Some((after, answer)) = contents.apply(self.object, process, *call) {
                    let mut open = open.clone();
                    open[process] = Open::Done(answer);
                    if !all.contains(&(after.clone(), open.clone())) {
                        all.push((after, open));
                    }
                }
            }
            next += 1;
        }
        all
    }

    /// Returns true if some function orders all continuations of an execution, of this many moves.
    fn exists(&mut self, left: usize, state: &State, begun: &[u32], position: &Position) -> bool {
        let key = (left, self.machine.key(state), begun.to_vec(), position.clone());
        if let Some(known) = self.known.get(&key) {
            return *known;
        }
        let moves = moves(self.machine, self.object, &self.client, state, begun);
        if left == 0 && !moves.is_empty() {
            self.is_cut = true;
            return true;
        }
        let mut exists = true;
        for made in moves {
            let mut after = state.clone();
            let report = self.machine.make(&mut after, made).unwrap();
            let mut begun = begun.to_vec();
            let process = made.process.index();
            let (contents, mut open) = position.clone();
            if let MoveKind::Begin(call) = made.kind {
                begun[process] += 1;
                open[process] = Open::Begun(call);
            }
            let answer = report.event.and_then(|event| Answer::new(event.action));
            let mut choices = self.appended(&(contents, open));
            if let Some(answer) = answer {
                choices.retain(|(_, open)| open[process] == Open::Done(answer.clone()));
                choices.iter_mut().for_each(|(_, open)| open[process] = Open::Nothing);
            }
            if !choices.iter().any(|next| self.exists(left - 1, &after, &begun, next)) {
                exists = false;
                break;
            }
        }
        self.known.insert(key, exists);
        exists
    }
}

/// Returns all moves from a state; `begun`: number of operations that each process has begun. Values
/// of updates are all different.
pub(super) fn moves(
    machine: &Machine<'_>,
    object: Option<&Sequential<'_>>,
    client: &Client,
    state: &State,
    begun: &[u32],
) -> Vec<Move> {
    let n = machine.processes();
    let mut moves = Vec::new();
    for process in (0..n).map(Process::from_index) {
        if state.is_idle(process.index()) {
            let own = client.each.map(|each| u32::from(each[process.index()]));
            if begun[process.index()] >= own.or(client.operations).unwrap() {
                continue;
            }
            let start = client.start(n);
            let calls = match object {
                None => client.calls(&start, process, n),
                Some(object) => client.calls_of_object(object, &start, process),
            };
            for call in calls {
                let call = match call {
                    Call::Update(_) => Call::Update(
                        1 + (process.index() + n * begun[process.index()] as usize) as u32,
                    ),
                    call => call,
                };
                moves.push(Move { process, kind: MoveKind::Begin(call) });
            }
        } else {
            let outcomes = machine.outcomes(state, process);
            moves.extend((0..outcomes).map(|outcome| Move::taking(process, outcome)));
        }
    }
    moves
}

/// Answers by trying all functions on executions of at most this many moves; `None`: a function
/// exists for these, but there are longer executions.
fn tried(program: &Program, n: usize, client: &Client, moves: usize) -> Option<bool> {
    let machine = Machine::new(program, n).unwrap();
    let object = program.object().map(|object| Sequential::new(object, n).unwrap());
    let contents = Contents::first(&machine, object.as_ref());
    let mut oracle = Oracle {
        machine: &machine,
        object: object.as_ref(),
        client: *client,
        known: HashMap::new(),
        is_cut: false,
    };
    let first = (contents, vec![Open::Nothing; n]);
    let exists = oracle.exists(moves, machine.initial(), &vec![0; n], &first);
    (!exists || !oracle.is_cut).then_some(exists)
}

/// Compares the game with the oracle; returns the answer.
fn compared(
    program: &Program,
    name: &str,
    n: usize,
    operations: u32,
    moves: usize,
) -> Option<bool> {
    let client = bounded(Some(operations));
    let tried = tried(program, n, &client, moves);
    let (found, _) = answered(program, n, &client, Strength::All);
    match (&found.verdict, tried) {
        (StrongVerdict::Strong, Some(false)) => panic!("{name}: no function exists"),
        (StrongVerdict::NotStrong(_), Some(true)) => panic!("{name}: a function exists"),
        (StrongVerdict::Faulty { .. } | StrongVerdict::Unknown, _) => return None,
        _ => {}
    }
    tried
}

#[test]
fn exhaustive_oracle_agrees_on_small_trees() {
    let mut counts = [0, 0, 0];
    for seed in 0..80 {
        let text = corpus::program::text(seed);
        let program = program(&text);
        let machine = Machine::new(&program, 2).unwrap();
        // The oracle cannot pass faults.
        let mut proceed = || true;
        let mut limits = snapshot_semantics::progress::Limits {
            states: 20_000,
            memory: 1 << 30,
            proceed: &mut proceed,
        };
        let client = bounded(Some(1));
        let found = strong(&machine, None, Strength::All, &client, &mut limits);
        if matches!(found.unwrap().verdict, StrongVerdict::Faulty { .. } | StrongVerdict::Unknown) {
            continue;
        }
        match compared(&program, &text, 2, 1, 12) {
            Some(true) => counts[0] += 1,
            Some(false) => counts[1] += 1,
            None => counts[2] += 1,
        }
    }
    println!("{counts:?}: a function, none, open");
    assert!(counts[0] >= 5 && counts[1] >= 5, "{counts:?}");
}

#[test]
fn the_oracle_agrees_on_known_programs() {
    let mut answers = Vec::new();
    for (name, n, operations, moves) in [
        ("bowman", 2, 1, 40),
        ("cas_counter", 2, 1, 40),
        ("faa_counter", 2, 2, 30),
        ("treiber_stack", 2, 1, 40),
        ("bowman", 2, 2, 26),
    ] {
        let program = program(text(name));
        answers.push((name, operations, compared(&program, name, n, operations, moves)));
    }
    let expected = [None, Some(true), Some(true), Some(true), Some(false)];
    assert_eq!(answers.iter().map(|(.., answer)| *answer).collect::<Vec<_>>(), expected);
}
