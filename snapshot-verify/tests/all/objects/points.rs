//! Linearization points of objects, against a search that tries each operation at each of the
//! points that it passes.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use snapshot_core::Process;
use snapshot_verify::interpret::{
    Action, Call, Client, Data, Deed, Machine, Move, MoveKind, Next, ObjectState, OperationCall,
    Sequential, State, Values,
};
use snapshot_verify::language::Span;
use snapshot_verify::program::linearization::at_points;
use snapshot_verify::program::{
    Binary, Expression, ExpressionKind, Local, LocalId, Mark, Program, Statement, StatementKind,
    Type,
};
use snapshot_verify::refine::{
    Budget, Letter, Misplacement, ObjectSpecification, Refinement, RefinementVerdict, Techniques,
    refine_object,
};

use super::{Case, algorithm, program};

/// The open operation of a process.
#[derive(Clone)]
enum Open {
    Nothing,
    Begun(OperationCall),
    Done(Option<Data>),
}

/// Returns true if each operation of these letters can take effect at one of the points that it
/// passes (anywhere, if the operation has no points), with the recorded result.
fn is_explained(
    sequential: &Sequential<'_>,
    at_points: &[bool],
    letters: &[Letter],
    (state, open): (&ObjectState, &[Open]),
) -> bool {
    let with = |process: usize, state: &ObjectState, now: Open, letters: &[Letter]| {
        let mut open = open.to_vec();
        open[process] = now;
        is_explained(sequential, at_points, letters, (state, &open))
    };
    let effect = |process: usize, letters: &[Letter]| {
        let Open::Begun(call) = open[process] else { return false };
        let effect = sequential.apply(state, process, call).unwrap();
        effect.is_some_and(|(state, result)| with(process, &state, Open::Done(result), letters))
    };
    let has_points = |call: OperationCall| at_points[call.operation.0 as usize];
    let is_free = |process: &usize| match open[*process] {
        Open::Begun(call) => !has_points(call),
        _ => false,
    };
    let Some((letter, rest)) = letters.split_first() else { return true };
    if (0..open.len()).filter(is_free).any(|process| effect(process, letters)) {
        return true;
    }
    match letter {
        Letter::Point(process) => {
            let process = process.index();
            effect(process, rest) || with(process, state, open[process].clone(), rest)
        }
        Letter::Past(process) => {
            let is_past = !matches!(&open[process.index()], Open::Begun(call) if has_points(*call));
            is_past && is_explained(sequential, at_points, rest, (state, open))
        }
        Letter::Event(event) => match (&event.action, &open[event.process.index()]) {
            (Action::Begin { call, .. }, Open::Nothing) => {
                with(event.process.index(), state, Open::Begun(*call), rest)
            }
            (Action::End { result, .. }, Open::Done(returns)) => {
                returns == result && with(event.process.index(), state, Open::Nothing, rest)
            }
            (Action::End { .. }, Open::Begun(_)) => false,
            (action, _) => panic!("{action}"),
        },
    }
}

/// Returns the letters of a move; `None` if the move is impossible.
fn make(machine: &Machine<'_>, state: &mut State, made: Move) -> Option<Vec<Letter>> {
    let process = made.process;
    let report = machine.make(state, made).ok()?;
    let points = report.accesses.iter().filter(|access| access.linearizes);
    let points = points.map(|_| Letter::Point(process));
    let past = machine.next(state, process) == Next::Respond;
    let past = past.then_some(Letter::Past(process));
    Some(points.chain(report.event.map(Letter::Event)).chain(past).collect())
}

/// Marks on average one access in `one_in`; some only if a local is none, or true, or if it is not.
fn marked(program: &Program, random: &mut ChaCha8Rng, one_in: u32) -> Program {
    let mut marked = program.clone();
    for procedure in &mut marked.procedures {
        let conditions: Vec<Expression> =
            (0..).zip(&procedure.locals).filter_map(|(id, local)| condition(id, local)).collect();
        let mut draw = || {
            let is_point = random.next_u32().is_multiple_of(one_in);
            let drawn = random.next_u32() as usize;
            let condition = conditions.get(drawn % (2 * conditions.len().max(1))).cloned();
            let condition = condition.map(|condition| match random.next_u32().is_multiple_of(2) {
                true => condition,
                false => Expression {
                    content: Type::Bool,
                    span: Span::default(),
                    kind: ExpressionKind::Not(Box::new(condition)),
                },
            });
            is_point.then_some(condition)
        };
        mark(&mut procedure.body, &mut draw);
    }
    marked
}

/// Marks each access of a block never, always, or on a condition, as drawn.
fn mark(block: &mut Vec<Statement>, draw: &mut dyn FnMut() -> Option<Option<Expression>>) {
    for mut statement in std::mem::take(block) {
        match &mut statement.kind {
            StatementKind::Access { .. } => {}
            StatementKind::If { then, otherwise, .. } => {
                mark(then, draw);
                mark(otherwise, draw);
            }
            StatementKind::Loop { body }
            | StatementKind::For { body, .. }
            | StatementKind::Atomic(body) => mark(body, draw),
            _ => {}
        }
        let drawn = matches!(statement.kind, StatementKind::Access { .. }).then(&mut *draw);
        let condition = match drawn.flatten() {
            None => None,
            Some(condition) => {
                let conditional = condition.is_some();
                statement.mark = Some(if conditional { Mark::OnCondition } else { Mark::Always });
                condition
            }
        };
        block.push(statement);
        block.extend(condition.map(|condition| Statement {
            span: Span::default(),
            kind: StatementKind::Point(condition),
            mark: None,
        }));
    }
}

/// Returns the condition that a local is none, or true, if it is defined.
fn condition(id: u32, local: &Local) -> Option<Expression> {
    let of = |kind, content| Expression { kind, content, span: Span::default() };
    let content = local.content.clone();
    let held = of(ExpressionKind::Local(LocalId(id)), content.clone());
    match content {
        Type::Bool => Some(held),
        Type::Optional(_) => {
            let none = Box::new(of(ExpressionKind::None, content));
            Some(of(ExpressionKind::Binary(Binary::Equal, Box::new(held), none), Type::Bool))
        }
        _ => None,
    }
}

/// Programs whose operations have points: the programs of the corpus in which operations take
/// effect one at a time, right and wrong, with random marks.
fn programs(seeds: u64) -> Vec<(String, Program)> {
    let mut programs = Vec::new();
    for name in [
        "atomic_register",
        "cas_counter",
        "faa_counter",
        "tas_lock",
        "ticket_lock",
        "treiber_stack",
        "ms_queue",
        "two_lock_queue",
        "linked_stack",
    ] {
        let algorithm = algorithm(corpus::algorithm(name).unwrap().text);
        let bugs = algorithm.bugs().iter().map(|bug| Some(bug.name.text.as_str()));
        for bug in std::iter::once(None).chain(bugs) {
            let program = algorithm.program(bug).unwrap();
            for seed in 0..seeds {
                let mut random = ChaCha8Rng::seed_from_u64(seed);
                let marked = marked(&program, &mut random, 2 + seed as u32 % 3);
                if at_points(&marked).contains(&true) {
                    programs.push((format!("{name} {bug:?} {seed}"), marked));
                }
            }
        }
    }
    programs
}

/// Makes some moves, of operations that may begin where others take effect at their points. Returns
/// whether these effects explain the results. Ends with the first unexplained move, or before a
/// fault.
pub fn walk(
    case: &Case<'_>,
    points: &[bool],
    client: &Client,
    seed: u64,
    length: usize,
) -> (Vec<Move>, bool) {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let machine = &case.at_points;
    let n = machine.processes();
    let mut specification =
        ObjectSpecification::with_points(case.sequential.clone(), points.into());
    let mut set = specification.initial();
    let mut state = machine.initial().clone();
    let mut progress = client.start(n);
    let mut moves: Vec<Move> = Vec::new();
    while moves.len() < length {
        let mut choices = Vec::new();
        for process in (0..n).map(Process::from_index) {
            if machine.next(&state, process) != Next::Begin {
                let outcome = random.next_u32() % machine.outcomes(&state, process).max(1);
                choices.push(Move::taking(process, outcome));
                continue;
            }
            for call in client.calls_of_object(&case.sequential, &progress, process) {
                let Call::Operation(operation) = call else { continue };
                if specification.may_begin(set, process, operation).unwrap() {
                    choices.push(Move { process, kind: MoveKind::Begin(call) });
                }
            }
        }
        if choices.is_empty() {
            break;
        }
        let made = choices[random.next_u32() as usize % choices.len()];
        let Some(letters) = make(machine, &mut state, made) else { break };
        if let MoveKind::Begin(call) = made.kind {
            client.begin(&mut progress, made.process, call);
        }
        moves.push(made);
        for letter in letters {
            let letter = specification.letter(letter);
            match specification.successor(set, letter).after {
                Some(next) => set = next,
                None => return (moves, false),
            }
        }
    }
    (moves, true)
}

fn explains(case: &Case<'_>, points: &[bool], moves: &[Move]) -> bool {
    let mut state = case.at_points.initial().clone();
    let letters = moves.iter().flat_map(|made| make(&case.at_points, &mut state, *made).unwrap());
    explained(case, points, letters)
}

/// Returns true if some assignment of operations to points, where they have points, explains these
/// letters.
pub fn explained(case: &Case<'_>, points: &[bool], letters: impl Iterator<Item = Letter>) -> bool {
    let nothing = vec![Open::Nothing; case.machine.processes()];
    let first = (&case.sequential.initial(), &nothing[..]);
    let letters: Vec<Letter> = match points.contains(&true) {
        true => letters.collect(),
        false => letters.filter(|one| matches!(one, Letter::Event(_))).collect(),
    };
    is_explained(&case.sequential, points, &letters, first)
}

#[test]
fn sets_are_empty_if_no_assignment_to_points_explains_results() {
    let mut counts = [0, 0];
    let client = Client::bounded(Values::Full(2), 2);
    for (name, program) in programs(4) {
        let points = at_points(&program);
        let case = Case::new(&program, 2 + usize::from(name.contains("counter")));
        for seed in 0..12 {
            let (moves, explained) = walk(&case, &points, &client, seed, 40);
            assert_eq!(explains(&case, &points, &moves), explained, "{name}, seed {seed}");
            let before = &moves[..moves.len().saturating_sub(1)];
            assert!(explains(&case, &points, before), "{name}, seed {seed}: no earlier");
            counts[usize::from(explained)] += 1;
        }
    }
    assert!(counts.iter().all(|count| *count > 200), "{counts:?} not explained and explained");
}

pub fn refine(case: &Case<'_>, client: &Client, means: Techniques) -> Refinement {
    let (states, memory, threads) = (100_000, usize::MAX, NonZeroUsize::MIN);
    let mut budget = Budget { states, memory, threads, proceed: &mut |_| true };
    refine_object(case.machine(means), &case.sequential, client, means, &mut budget).unwrap()
}

/// With and without partial order reduction and dead locals, against walks and the search above.
#[test]
fn refinement_at_points_agrees_with_executions() {
    let mut counts: BTreeMap<&str, u32> = BTreeMap::new();
    let client = Client::bounded(Values::Full(2), 2);
    for (name, program) in programs(6) {
        let points = at_points(&program);
        let case = Case::new(&program, 2);
        let mut words = Vec::new();
        for (partial_order, forgetting) in [(true, true), (false, true), (false, false)] {
            let means = Techniques { partial_order, points: true, forgetting, ..Techniques::NONE };
            let found = refine(&case, &client, means);
            words.push(match found.verdict {
                RefinementVerdict::Verified => "verified",
                RefinementVerdict::Faulty { .. } => "faulty",
                RefinementVerdict::Unknown(_) => "unknown",
                RefinementVerdict::InObject { fault, .. } => panic!("{fault:?}"),
                RefinementVerdict::Violation(moves) => {
                    assert!(!explains(&case, &points, &moves), "{name}");
                    assert!(!explains(&case, &vec![false; points.len()], &moves), "{name}");
                    "violation"
                }
                RefinementVerdict::Misplaced { moves, misplacement } => {
                    assert!(!explains(&case, &points, &moves), "{name}");
                    assert!(explains(&case, &vec![false; points.len()], &moves), "{name}");
                    let last = moves.last().unwrap().process;
                    assert_eq!(misplacement, Misplacement::Elsewhere(last));
                    "misplaced"
                }
            });
        }
        // Which of several wrong executions is the shortest depends on the reduction.
        let is_wrong =
            words.iter().map(|word| matches!(*word, "violation" | "misplaced" | "faulty"));
        let is_wrong: Vec<bool> = is_wrong.collect();
        let is_decided = !words.contains(&"unknown");
        assert!(!is_decided || is_wrong.iter().all(|one| *one == is_wrong[0]), "{name}: {words:?}");
        if words[0] == "verified" {
            for seed in 0..60 {
                let (moves, explained) = walk(&case, &points, &client, seed, 60);
                assert!(explained, "{name}: {moves:?}");
            }
        }
        *counts.entry(words[0]).or_default() += 1;
    }
    println!("{counts:?}");
    for word in ["verified", "violation", "misplaced"] {
        assert!(counts.get(word).is_some_and(|count| *count > 5), "{counts:?}");
    }
}

/// A read is a point iff it finds nothing, and the test of its result is part of the same step.
#[test]
fn an_access_is_a_point_only_where_its_condition_holds() {
    let text = corpus::algorithm("linked_stack").unwrap().text;
    let pop = text.find("\npop:\n").unwrap() as u32;
    let program = program(text);
    let case = Case::new(&program, 3);
    let client = Client::bounded(Values::Full(2), 2);
    let mut counts: BTreeMap<(&str, bool), u32> = BTreeMap::new();
    for seed in 0..60 {
        let (moves, explained) = walk(&case, &at_points(&program), &client, seed, 80);
        assert!(explained, "{moves:?}");
        let mut state = case.at_points.initial().clone();
        for made in moves {
            let report = case.at_points.make(&mut state, made).unwrap();
            for access in report.accesses {
                let (what, expected) = match &access.deed {
                    Deed::Read { seen } if access.cell == "top" && access.span.begin > pop => {
                        ("read", seen == "none")
                    }
                    Deed::CompareAndSwap { written, .. } => ("swap", written.is_some()),
                    _ => ("other", false),
                };
                assert_eq!(access.linearizes, expected, "{access:?}");
                *counts.entry((what, expected)).or_default() += 1;
            }
        }
    }
    println!("{counts:?}");
    assert!(counts.len() == 5 && counts.values().all(|count| *count > 20), "{counts:?}");
}

/// In the corpus, an operation takes effect at one of its points, and at no other step.
#[test]
fn points_of_the_corpus_are_linearization_points() {
    let mut tried = 0;
    for file in corpus::object_algorithms() {
        let algorithm = algorithm(file.text);
        let program = algorithm.program_with_points(None).unwrap();
        let points = at_points(&program);
        if !points.contains(&true) {
            continue;
        }
        let case = Case::new(&program, 2);
        let client = Client::bounded(Values::Full(2), 2);
        for partial_order in [true, false] {
            let means =
                Techniques { partial_order, points: true, forgetting: true, ..Techniques::NONE };
            let found = refine(&case, &client, means).verdict;
            assert_eq!(found, RefinementVerdict::Verified, "{}", file.name);
        }
        tried += 1;
    }
    assert!(tried >= 3, "{tried}");
}

#[test]
fn marks_of_points_are_checked() {
    let text = |push: &str, extra: &str| {
        format!(
            "algorithm cell\nobject cell:\n    state held: 0..2\n    put(x: 0..2): held := x\n    \
             get: 0..2: return held\nshared c: 0..2\nput(x):\n    {push}\nget:\n    return c\n{extra}"
        )
    };
    let program = program(&text("c := x linearizes", ""));
    assert_eq!(*at_points(&program), [true, false]);
    let refused = |text: &str| match snapshot_verify::language::parse("test", text) {
        Ok(algorithm) => algorithm.program(None).unwrap_err().to_string(),
        Err(wrong) => wrong.to_string(),
    };
    let unused = refused(&text("c := x", "procedure other():\n    c := 1 linearizes\n"));
    assert!(unused.contains("in `other`, which no operation calls"), "{unused}");
    let blocks = corpus::algorithm("immediate_snapshot").unwrap().text;
    let line = "    held[me] := v";
    assert!(blocks.contains(line));
    let together = refused(&blocks.replacen(line, &format!("{line} linearizes"), 1));
    assert!(together.contains("takes effect together with others"), "{together}");
}
