//! Histories of objects against specifications written in Rust, independent of the declarations in
//! the text.

use snapshot_core::generic::{History, Outcome, Specification, check};
use snapshot_core::search::Budget;
use snapshot_verify::interpret::{Action, Client, Data, Event, Values};
use snapshot_verify::object::{Judge, walk_object};

use super::{Case, algorithm};

/// The object of `cas_counter`.
struct Counter;

impl Specification for Counter {
    type State = i64;
    type Input = String;
    type Output = String;
    type Part = ();

    fn initial(&self) -> i64 {
        0
    }

    fn apply(&self, state: &mut i64, input: &String, output: Option<&String>) -> bool {
        if input == "increment" {
            *state += 1;
        }
        output.is_none_or(|output| *output == state.to_string())
    }

    fn part(&self, _: &String) {}
}

/// The object of `ticket_lock`; inputs are `acquire` and `release` with their process.
struct Lock;

impl Specification for Lock {
    type State = Option<char>;
    type Input = String;
    type Output = String;
    type Part = ();

    fn initial(&self) -> Option<char> {
        None
    }

    fn apply(&self, state: &mut Option<char>, input: &String, _: Option<&String>) -> bool {
        let process = input.chars().next_back();
        if input.starts_with("acquire") {
            let is_free = state.is_none();
            *state = process;
            return is_free;
        }
        *state = None;
        true
    }

    fn part(&self, _: &String) {}
}

/// Returns true if these events are a history of the object.
fn is_right<S>(specification: &S, events: &[&Event], by_process: bool) -> bool
where
    S: Specification<Input = String, Output = String>,
{
    let mut history = History::builder();
    for Event { process, action } in events {
        match action {
            Action::Begin { text, .. } => {
                let process_too = if by_process { process.to_string() } else { String::new() };
                history.invoke(process.index(), format!("{text}{process_too}")).unwrap();
            }
            Action::End { result, text, .. } => {
                assert_eq!(result.as_ref().map_or("", |_| &**text), &**text);
                assert!(matches!(result, None | Some(Data::Number(_))));
                history.respond(process.index(), text.to_string()).unwrap();
            }
            other => panic!("{other:?}"),
        }
    }
    let mut budget = Budget { memory: usize::MAX, proceed: &mut || true };
    matches!(check(specification, &history.finish(), &mut budget), Outcome::Linearizable { .. })
}

fn agrees<S>(name: &str, specification: &S, by_process: bool)
where
    S: Specification<Input = String, Output = String>,
{
    let algorithm = algorithm(corpus::algorithm(name).unwrap().text);
    let bugs = algorithm.bugs().iter().map(|bug| Some(bug.name.text.as_str()));
    let mut counts = [0, 0];
    for bug in std::iter::once(None).chain(bugs) {
        let program = algorithm.program(bug).unwrap();
        let case = Case::new(&program, 3);
        let judge = Judge::new(&case.sequential);
        for seed in 0..150 {
            let client = Client::unbounded(Values::Full(2));
            let walk = walk_object(&case.machine, &case.sequential, &client, seed, 40).unwrap();
            let events: Vec<&Event> = walk.execution.events().collect();
            let judged = judge.judge(&events).unwrap().is_linearizable();
            let expected = is_right(specification, &events, by_process);
            assert_eq!(judged, expected, "{name} {bug:?}, seed {seed}: {events:?}");
            counts[usize::from(judged)] += 1;
        }
    }
    assert!(counts.iter().all(|count| *count > 20), "{counts:?} wrong and right");
}

#[test]
fn histories_of_the_counter_agree_with_its_specification() {
    agrees("cas_counter", &Counter, false);
}

#[test]
fn histories_of_the_lock_agree_with_its_specification() {
    agrees("ticket_lock", &Lock, true);
}
