//! Objects whose operations take effect together: their histories against the four conditions of
//! immediate snapshots and against a plain search, both independent of declared objects.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use snapshot_core::history::Declaration;
use snapshot_core::{Process, immediate};
use snapshot_verify::interpret::{Action, Argument, Data, Event, OperationCall};
use snapshot_verify::object::{Judge, walk_object};
use snapshot_verify::program::OperationId;
use snapshot_verify::refine::RefinementVerdict;
use test_support::effort::either;

use super::{Case, algorithm, bounded, program};

fn below(random: &mut ChaCha8Rng, limit: usize) -> usize {
    random.next_u32() as usize % limit
}

/// Invocation of the first operation of an object, or of a later one.
fn begin(process: usize, operation: u16, argument: Option<i32>) -> Event {
    let mut call = OperationCall::new(OperationId(operation));
    if let Some(argument) = argument {
        call.arguments[0] = Argument(argument);
    }
    let process = Process::from_index(process);
    Event { process, action: Action::Begin { call, text: "".into() } }
}

fn end(process: usize, result: Data) -> Event {
    let process = Process::from_index(process);
    let action = Action::End { result: Some(result), operation: "".into(), text: "".into() };
    Event { process, action }
}

/// Checks the four conditions, for a history in which process p writes v as 10 p + v + 1.
fn is_immediate(n: usize, events: &[&Event]) -> bool {
    let declaration = Declaration::new(0).with_segments(n).with_processes(n);
    let mut history = immediate::History::builder(declaration).unwrap();
    let mut written = vec![0; n];
    for Event { process, action } in events {
        let process = process.index();
        match action {
            Action::Begin { call, .. } => {
                written[process] = 10 * process as u32 + call.arguments[0].0 as u32 + 1;
                history.invoke(process, written[process]).unwrap();
            }
            Action::End { result: Some(Data::Parts(parts)), .. } => {
                let of = |(p, part): (usize, &Data)| match part {
                    Data::None => 0,
                    Data::Value(value) => 10 * p as u32 + value + 1,
                    other => panic!("{other:?}"),
                };
                let view: Vec<u32> = parts.iter().enumerate().map(of).collect();
                history.respond(process, &view).unwrap();
            }
            other => panic!("{other:?}"),
        }
    }
    matches!(immediate::check(&history.finish()), immediate::Verdict::SetLinearizable(_))
}

#[test]
fn executions_agree_with_immediate_snapshots() {
    let algorithm = algorithm(corpus::algorithm("immediate_snapshot").unwrap().text);
    let bugs = algorithm.bugs().iter().map(|bug| Some(bug.name.text.as_str()));
    let mut counts = [0, 0];
    for bug in std::iter::once(None).chain(bugs) {
        let program = algorithm.program(bug).unwrap();
        for n in [3, 4] {
            let case = Case::new(&program, n);
            let judge = Judge::new(&case.sequential);
            let mut wrong = 0;
            let walks = if bug.is_some() { either(300, 1_500) } else { 150 };
            for seed in 0..walks {
                let walk = walk_object(&case.machine, &case.sequential, &bounded(1), seed, 200);
                let walk = walk.unwrap();
                let events: Vec<&Event> = walk.execution.events().collect();
                let judged = judge.judge(&events).unwrap().is_linearizable();
                assert_eq!(judged, is_immediate(n, &events), "{bug:?}, seed {seed}: {events:?}");
                counts[usize::from(judged)] += 1;
                wrong += usize::from(!judged);
            }
            assert_eq!(wrong > 0, bug.is_some(), "{bug:?}, n = {n}: {wrong} wrong ones");
        }
    }
    assert!(counts.iter().all(|count| *count > 50), "{counts:?} wrong and right");
}

/// Enumerates calls and responses of one operation per process, in each order, without pending ones
/// at the end; with all views that show a part of the written values.
fn histories(n: usize, events: &mut Vec<Event>, act: &mut dyn FnMut(&[Event])) {
    act(events);
    for process in 0..n {
        let mine = events.iter().filter(|event| event.process.index() == process).count();
        if mine == 0 {
            events.push(begin(process, 0, Some(0)));
            histories(n, events, act);
            events.pop();
        } else if mine == 1 {
            for shown in 0..1_u32 << n {
                let part = |p: usize| match shown >> p & 1 {
                    0 => Data::None,
                    _ => Data::Value(0),
                };
                events.push(end(process, Data::Parts((0..n).map(part).collect())));
                histories(n, events, act);
                events.pop();
            }
        }
    }
}

/// All histories of two processes, and every 50th of three.
#[test]
fn small_histories_agree_with_immediate_snapshots() {
    let text = corpus::algorithm("immediate_snapshot").unwrap().text;
    let program = program(text);
    for (n, every) in [(2, 1), (3, 50)] {
        let case = Case::new(&program, n);
        let judge = Judge::new(&case.sequential);
        let (mut number, mut counts) = (0, [0, 0]);
        histories(n, &mut Vec::new(), &mut |events| {
            number += 1;
            if number % every != 0 {
                return;
            }
            let events: Vec<&Event> = events.iter().collect();
            let judged = judge.judge(&events).unwrap().is_linearizable();
            assert_eq!(judged, is_immediate(n, &events), "{events:?}");
            counts[usize::from(judged)] += 1;
        });
        assert!(counts.iter().all(|count| *count > 20), "n = {n}: {counts:?} wrong and right");
    }
}

/// With more open operations than permitted there is an error, and not an endless search.
#[test]
fn too_many_open_operations_are_refused() {
    let program = program(corpus::algorithm("immediate_snapshot").unwrap().text);
    let case = Case::new(&program, 9);
    let call = case.sequential.calls(0, 1)[0];
    let members: Vec<_> = (0..9).map(|process| (process, call)).collect();
    let initial = case.sequential.initial();
    let blocks = case.sequential.blocks(&initial, &members[..8]).unwrap();
    assert_eq!(blocks.len(), 255, "all but the empty set");
    assert_eq!(blocks[254].members.len(), 8);
    let fault = case.sequential.blocks(&initial, &members).unwrap_err();
    assert!(fault.to_string().contains("more than 8 operations"), "{fault}");
}

/// Operations that take effect together, one that does not, and one that waits.
const GATE: &str = "algorithm gate
object gate:
    state count: 0..9
    meet: 0..9:
        count := count + 1
        together
        return count
    reset: 0..9:
        local before: 0..9
        before := count
        count := 0
        return before
    leave: 0..9 await count >= 2:
        together
        return count
shared count: 0..9
meet: return 0
reset: return 0
leave: return 0
";

/// An operation of a history of the gate: its kind, its begin, and its end with the result.
struct Visit {
    kind: u16,
    begin: usize,
    end: Option<(usize, i64)>,
}

/// Returns true if blocks explain the remaining operations: tries one block after the other, by the
/// meaning of the gate's text.
fn is_explained(visits: &[Visit], left: &[usize], count: i64) -> bool {
    if left.iter().all(|one| visits[*one].end.is_none()) {
        return true;
    }
    // An operation cannot precede another that ends before it begins.
    let first_end = left.iter().filter_map(|one| visits[*one].end).map(|(at, _)| at).min();
    let may_be_next: Vec<usize> = left
        .iter()
        .copied()
        .filter(|one| first_end.is_none_or(|end| visits[*one].begin < end))
        .collect();
    (1..1_u32 << may_be_next.len()).any(|chosen| {
        let block: Vec<usize> = (0..may_be_next.len())
            .filter(|one| chosen >> one & 1 == 1)
            .map(|one| may_be_next[one])
            .collect();
        let kinds: Vec<u16> = block.iter().map(|one| visits[*one].kind).collect();
        if kinds.len() > 1 && kinds.contains(&1) || kinds.contains(&2) && count < 2 {
            return false;
        }
        let met = kinds.iter().filter(|kind| **kind == 0).count() as i64;
        let (after, answer) = if kinds == [1] { (0, count) } else { (count + met, count + met) };
        let agree = block.iter().all(|one| visits[*one].end.is_none_or(|(_, said)| said == answer));
        let rest: Vec<usize> = left.iter().copied().filter(|one| !block.contains(one)).collect();
        agree && is_explained(visits, &rest, after)
    })
}

#[test]
fn judge_agrees_with_trying_all_blocks() {
    let text = GATE.replace("await count >= 2", "await count > 7");
    assert!(Case::new(&program(&text), 3).refine(&bounded(1), true, true).states > 0);
    let program = program(GATE);
    let case = Case::new(&program, 4);
    let judge = Judge::new(&case.sequential);
    let (mut counts, mut faults) = ([0, 0], 0);
    for seed in 0..4_000 {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let (mut events, mut visits, mut open) = (Vec::new(), Vec::<Visit>::new(), [None; 4]);
        for at in 0..4 + below(&mut random, 6) {
            let process = below(&mut random, 4);
            match open[process].take() {
                None => {
                    let kind = [0, 0, 0, 1, 2][below(&mut random, 5)];
                    events.push(begin(process, kind, None));
                    open[process] = Some(visits.len());
                    visits.push(Visit { kind, begin: at, end: None });
                }
                Some(visit) => {
                    let said = below(&mut random, 4) as i64;
                    events.push(end(process, Data::Number(said)));
                    visits[visit].end = Some((at, said));
                }
            }
        }
        let events: Vec<&Event> = events.iter().collect();
        // If a `meet` is first, a `leave` no longer waits: their order matters.
        let Ok(judged) = judge.judge(&events) else {
            faults += 1;
            continue;
        };
        let all: Vec<usize> = (0..visits.len()).collect();
        let expected = is_explained(&visits, &all, 0);
        assert_eq!(judged.is_linearizable(), expected, "seed {seed}: {events:?}");
        counts[usize::from(expected)] += 1;
    }
    assert!(counts.iter().all(|count| *count > 200), "{counts:?} wrong and right");
    assert!(faults > 50, "{faults} where the order matters");
}

/// If the order of operations that take effect together matters, the object is refused: by the
/// search, and by the judges of a history.
#[test]
fn order_dependent_first_parts_are_faults_of_the_object() {
    let text = "algorithm ticket
object ticket:
    state next: 0..9
    take: 0..9:
        local mine: 0..9
        mine := next
        next := next + 1
        together
        return mine
shared next: cas 0..9
take:
    loop:
        x := next
        if CAS(next, x, x + 1): return x
";
    let program = program(text);
    let case = Case::new(&program, 2);
    let found = case.refine(&bounded(1), true, true);
    let RefinementVerdict::InObject { moves, fault } = found.verdict else {
        panic!("{:?}", found.verdict)
    };
    assert_eq!(moves.len(), 2, "both have begun");
    assert!(fault.to_string().contains("depends on their order"), "{fault}");
    let judge = Judge::new(&case.sequential);
    let both = [begin(0, 0, None), begin(1, 0, None)];
    let judged = judge.judge(&both.iter().collect::<Vec<_>>());
    assert!(judged.unwrap_err().to_string().contains("depends on their order"));
    // Alone, the operations are valid.
    let alone = [begin(0, 0, None), end(0, Data::Number(0)), begin(1, 0, None)];
    assert!(judge.judge(&alone.iter().collect::<Vec<_>>()).unwrap().is_linearizable());
}
