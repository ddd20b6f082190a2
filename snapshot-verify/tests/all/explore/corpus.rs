//! The API on random executions of every algorithm of the corpus, and on counterexamples of its
//! bugs: compared with the interpreter, its scenes and its judges.

use std::collections::BTreeMap;
use std::fs;

use serde_json::Value;
use snapshot_verify::interpret::{
    Client, Machine, Move, MoveErrorKind, Owner, Sequential, Trace, Values, judge, walk,
};
use snapshot_verify::object::{Judge, walk_object};
use test_support::effort;

use super::super::commands::answer_in;
use super::{ask, explorer, lines, view};
use snapshot_verify::explore::Explorer;

/// Returns the random moves of an execution, without a faulty one.
fn random(explorer: &Explorer, seed: u64, length: usize) -> Vec<Move> {
    let n = explorer.processes();
    let machine = Machine::new(&explorer.program, n).unwrap();
    match explorer.program.object() {
        None => walk(&machine, &Client::unbounded(Values::Distinct), seed, length).moves,
        Some(object) => {
            let sequential = Sequential::new(object, n).unwrap();
            let client = Client::unbounded(Values::Full(2));
            walk_object(&machine, &sequential, &client, seed, length).unwrap().moves
        }
    }
}

/// Returns the content of a state as `replay --all` prints it, which compares scenes of the
/// interpreter: by the names that pages give.
fn scene(machine: &Machine<'_>, moves: &[Move]) -> BTreeMap<String, String> {
    let holdings = match machine.replay(moves).last() {
        None => machine.holdings(machine.initial()),
        Some(scene) => scene.unwrap().holdings.into_iter().map(|shown| shown.holding).collect(),
    };
    let name = |owner: &Owner, name: &str| match owner {
        Owner::Shared => name.to_owned(),
        owner => format!("{owner}: {name}"),
    };
    holdings.iter().map(|one| (name(&one.owner, &one.name), one.to_string())).collect()
}

/// Returns the verdict on the history of the moves.
fn is_linearizable(explorer: &Explorer, moves: &[Move]) -> bool {
    let n = explorer.processes();
    let machine = Machine::new(&explorer.program, n).unwrap();
    let execution = machine.run(moves).unwrap();
    match explorer.program.object() {
        None => judge(&execution.history(), 1 << 28, &mut || true).unwrap().explanation.is_none(),
        Some(object) => {
            let sequential = Sequential::new(object, n).unwrap();
            let events: Vec<_> = execution.events().collect();
            Judge::new(&sequential).judge(&events).unwrap().is_linearizable()
        }
    }
}

fn text(value: &Value) -> &str {
    value.as_str().expect("a text")
}

/// Compares one view with the interpreter; returns the numbers of places and of choices.
fn compare(explorer: &Explorer, moves: &[Move], at: usize) -> (usize, usize) {
    let machine = Machine::new(&explorer.program, explorer.processes()).unwrap();
    let shown = view(explorer, &lines(explorer, moves), at);
    let title = format!("{}, {at} of {moves:?}", explorer.title);
    let is_position =
        |name: &str| name.starts_with('p') && name[1..].chars().all(|digit| digit.is_ascii_digit());
    let (now, before) = (scene(&machine, &moves[..at]), scene(&machine, &moves[..at.max(1) - 1]));
    let mut state = BTreeMap::new();
    for place in shown["state"].as_array().unwrap() {
        let (name, held) = (text(&place["name"]), text(&place["held"]));
        if is_position(name) {
            continue;
        }
        state.insert(name.to_owned(), held.to_owned());
        let was = match before.get(name) {
            Some(was) => (was != held).then_some(was.as_str()),
            None => Some("-"),
        };
        assert_eq!(place["was"].as_str(), was, "{title}: {name}");
    }
    assert_eq!(state, now, "{title}");
    let is_linearizable = is_linearizable(explorer, &moves[..at]);
    let kind = if is_linearizable { "linearizable" } else { "violation" };
    assert_eq!(shown["standing"]["kind"], kind, "{title}");
    let execution = machine.run(&moves[..at]).unwrap();
    let mut choices = 0;
    for (process, turn) in shown["turns"].as_array().unwrap().iter().enumerate() {
        let given = turn["choices"].as_array().unwrap();
        let is_idle = execution.last.is_idle(process);
        if !is_idle {
            let process = snapshot_core::Process::from_index(process);
            let outcomes = machine.outcomes(&execution.last, process) as usize;
            let others = turn["others"].as_u64().unwrap() as usize;
            assert_eq!(given.len() + others, outcomes, "{title}");
        }
        assert_eq!(turn["operation"].is_null(), is_idle, "{title}");
        for choice in given {
            let operations = &explorer.recorded.operations;
            let made = Move::read(text(&choice["line"]), explorer.processes(), operations).unwrap();
            assert_eq!(made.process.index(), process, "{title}");
            let mut state = execution.last.clone();
            let told = match machine.make(&mut state, made) {
                Ok(report) => report.deeds(),
                Err(MoveErrorKind::Fault(fault)) => format!("goes wrong: {fault}"),
                Err(refused) => panic!("{title}: {refused}"),
            };
            assert_eq!(text(&choice["text"]), told, "{title}");
            choices += 1;
        }
    }
    (state.len(), choices)
}

/// Compares the exported trace with the execution.
fn compare_trace(explorer: &Explorer, moves: &[Move], at: usize) -> String {
    let answer = ask(explorer, "/trace", &lines(explorer, moves), at);
    assert_eq!(answer.status, 200, "{}", answer.body);
    let trace: Trace = answer.body.parse().unwrap();
    assert_eq!(trace.moves, moves[..at], "{}", explorer.title);
    let expected = is_linearizable(explorer, &moves[..at]);
    assert_eq!(trace.linearizable, Some(expected), "{}", explorer.title);
    assert_eq!(trace.deeds.len(), at, "{}", explorer.title);
    answer.body
}

#[test]
fn views_equal_the_interpreter_on_all_of_the_corpus() {
    let (seeds, length) = (effort::seeds(1, 12), effort::either(24, 60));
    let (mut walks, mut places, mut choices, mut violations) = (0, 0, 0, 0);
    let all = ::corpus::algorithms().iter().chain(::corpus::object_algorithms());
    for algorithm in all {
        for seed in seeds.clone() {
            let n = 2 + (seed as usize + walks) % 2;
            let explorer = explorer(algorithm.name, None, n);
            let moves = random(&explorer, seed, length);
            for at in [0, moves.len() / 2, moves.len()] {
                let (p, c) = compare(&explorer, &moves, at);
                places += p;
                choices += c;
            }
            compare_trace(&explorer, &moves, moves.len());
            violations += usize::from(!is_linearizable(&explorer, &moves));
            walks += 1;
        }
    }
    println!("{walks} walks, {places} places, {choices} choices, {violations} violations");
    assert!(walks >= 25 && places > 1000 && choices > 200, "{walks} {places} {choices}");
}

/// Each element of a choice is a next step of its own; those that are not listed are counted.
#[test]
fn every_outcome_of_a_step_can_be_chosen() {
    for (set, expected) in [("2..4", 3), ("processes", 2), ("0..39", 40)] {
        let (kind, declared) = match set {
            "processes" => ("process", "local k: process"),
            _ => ("0..39", "local k: 0..39"),
        };
        let text = format!(
            "algorithm chooser\ntype T = {kind}\nobject one:\n    state held: T\n    \
             draw: T: return held\ndraw:\n    {declared}\n    k := choose {set}\n    return k\n"
        );
        let explorer = explorer(&text, None, 2);
        let operations = &explorer.recorded.operations;
        let begun = Move::read("p1 begin draw", 2, operations).unwrap();
        let (_, choices) = compare(&explorer, &[begun], 1);
        // The other process is idle, and begins the only operation.
        assert_eq!(choices, 1 + expected.min(26), "{set}");
        let last = Move::taking(begun.process, expected as u32 - 1);
        let (_, choices) = compare(&explorer, &[begun, last], 2);
        assert_eq!(choices, 2, "{set}");
    }
}

/// Enters a counterexample at each step, and leaves it there by every other choice.
fn along(explorer: &Explorer, found: &[String]) -> usize {
    let (mut left, mut deeds) = (0, Vec::new());
    for at in 0..=found.len() {
        let shown = view(explorer, found, at);
        let kind = &shown["standing"]["kind"];
        let expected = if at == found.len() { "violation" } else { "linearizable" };
        assert_eq!(kind, expected, "{}: {at} of {found:?}", explorer.title);
        deeds.push(shown["steps"].clone());
        for turn in shown["turns"].as_array().unwrap() {
            for choice in turn["choices"].as_array().unwrap() {
                let line = text(&choice["line"]).to_owned();
                if found.get(at) == Some(&line) {
                    continue;
                }
                let other = [&found[..at], &[line]].concat();
                let shown = view(explorer, &other, at + 1);
                assert_eq!(shown["steps"].as_array().unwrap().len(), at + 1);
                assert_eq!(shown["steps"][at]["process"], turn["process"]);
                left += 1;
            }
        }
    }
    assert!(deeds.iter().all(|steps| *steps == deeds[0]), "all steps are shown at each position");
    left
}

#[test]
fn counterexamples_are_entered_and_left_at_each_step() {
    let quick = [("bowman", Some("early_exit"), 3), ("naive_collect", None, 3)];
    let slow = [("jayanti", Some("plain_ss"), 2), ("treiber_stack", Some("lost_push"), 2)];
    let cases = effort::either(quick.to_vec(), [quick, slow].concat());
    for (name, bug, n) in cases {
        let explorer = explorer(name, bug, n);
        let answer = super::post(&explorer, "/find", "{}");
        let found: Value = serde_json::from_str(&answer.body).unwrap();
        let found = found["moves"].as_array().unwrap_or_else(|| panic!("{name}: {}", answer.body));
        let found: Vec<String> = found.iter().map(|line| text(line).to_owned()).collect();
        let left = along(&explorer, &found);
        println!("{name}: {} steps, left {left} times", found.len());
        assert!(left > found.len(), "{name}");
        let last = view(&explorer, &found, found.len());
        let reason = text(&last["standing"]["reason"]);
        assert!(reason.starts_with(&format!("Step {}, p", found.len())), "{name}: {reason}");
        assert_eq!(last["standing"]["decided"], found.len(), "{name}");
        assert!(!last["standing"]["argument"].as_array().unwrap().is_empty(), "{name}");
    }
}

/// The program itself replays exported traces, with the same verdict.
#[test]
fn replay_accepts_exported_traces() {
    let folder = tempfile::tempdir().unwrap();
    for (name, bug, found) in [
        ("bowman", None, None),
        ("treiber_stack", None, None),
        ("bowman", Some("early_exit"), Some(1)),
    ] {
        let explorer = explorer(name, bug, 3);
        let moves = match found {
            None => random(&explorer, 7, 40),
            Some(_) => {
                let answer = super::post(&explorer, "/find", "{}");
                let found: Value = serde_json::from_str(&answer.body).unwrap();
                let read = |line: &Value| Move::read(text(line), 3, &[]).unwrap();
                found["moves"].as_array().unwrap().iter().map(read).collect()
            }
        };
        let trace = compare_trace(&explorer, &moves, moves.len());
        fs::write(folder.path().join("made.trace"), trace).unwrap();
        let (code, out, error) = answer_in(folder.path(), "replay made.trace");
        assert_eq!((code, error.as_str()), (found.unwrap_or(0), ""), "{name}: {out}");
        let verdict = if code == 0 { "is linearizable" } else { "is not linearizable" };
        assert!(out.ends_with(&format!("The history {verdict}.\n")), "{out}");
    }
}
