//! Judgements by groups, by a specification and by the generic checker, against the
//! literal definitions.

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use snapshot_core::generic::{self, History, Outcome};
use snapshot_core::observation::{
    ConcurrentHistory, Event, Judgement, Observations, Thread, against,
};
use snapshot_core::search::Budget;

use crate::observation::automaton::{self, Automaton, Columns};
use crate::observation::literal;

fn observations(automaton: &Automaton, columns: &Columns) -> Observations<u8> {
    let mut observations = Observations::new(automaton::shape(columns));
    for history in automaton.serial(columns) {
        assert!(observations.insert(history).unwrap(), "each serial history comes once");
    }
    observations
}

fn generic(automaton: &Automaton, columns: &Columns, history: &ConcurrentHistory<u8>) -> bool {
    let mut builder = History::builder();
    let mut called = vec![0; columns.len()];
    for event in history.events() {
        let t = event.thread().index();
        match event {
            Event::Call(_) => {
                builder.invoke(t, columns[t][called[t]]).unwrap();
                called[t] += 1;
            }
            Event::Return(_, response) => drop(builder.respond(t, *response).unwrap()),
        }
    }
    let mut budget = Budget { memory: 1 << 24, proceed: &mut || true };
    match generic::check(automaton, &builder.finish(), &mut budget) {
        Outcome::Linearizable { .. } => true,
        Outcome::NotLinearizable { .. } => false,
        Outcome::Exhausted { .. } => panic!("small histories are decided"),
    }
}

/// The numbers of answers of each kind, for full and stuck histories.
#[derive(Debug, Default)]
struct Seen {
    full: [u32; 2],
    stuck: [u32; 2],
}

#[test]
fn groups_and_specifications_agree_with_the_definitions() {
    let mut seen = Seen::default();
    let mut runner = TestRunner::new(Config { cases: 12_000, ..Config::default() });
    let choices = prop::collection::vec(any::<u8>(), 0..24);
    let flaw = prop::option::of((any::<u8>(), any::<u8>()));
    let cases = (automaton::automaton(), automaton::columns(), choices, flaw);
    let seen_ref = std::cell::RefCell::new(&mut seen);
    runner
        .run(&cases, |(automaton, columns, choices, flaw)| {
            let Some(history) = automaton.concurrent(&columns, &choices, flaw) else {
                return Ok(());
            };
            let shape = automaton::shape(&columns);
            let serial = automaton.serial(&columns);
            let expected = literal::judge(&shape, &serial, &history);
            let good = expected == Judgement::Linearizable;
            prop_assert_eq!(observations(&automaton, &columns).judge(&history), expected);
            let inputs: Vec<usize> = columns.iter().flatten().copied().collect();
            prop_assert_eq!(against(&automaton, &shape, &inputs, &history), expected);
            if !history.is_stuck() {
                prop_assert_eq!(generic(&automaton, &columns, &history), good);
            }
            if flaw.is_none() {
                prop_assert!(good, "an execution with one effect per operation");
            }
            let mut seen = seen_ref.borrow_mut();
            let counts = if history.is_stuck() { &mut seen.stuck } else { &mut seen.full };
            counts[usize::from(good)] += 1;
            Ok(())
        })
        .unwrap();
    let counts = [seen.full[0], seen.full[1], seen.stuck[0], seen.stuck[1]];
    assert!(counts.iter().all(|count| *count > 300), "{seen:?}");
}

/// All histories of two threads with up to two operations each, with all responses 0 or 1, full and
/// stuck, against all objects of one operation and two states with such responses.
#[test]
fn all_small_histories_agree_with_the_definitions() {
    let cells: Vec<Option<(u8, usize)>> =
        [None].into_iter().chain([(0, 0), (0, 1), (1, 0), (1, 1)].map(Some)).collect();
    let columns: Columns = vec![vec![0, 0], vec![0, 0]];
    let shape = automaton::shape(&columns);
    let mut histories = Vec::new();
    all(&mut Vec::new(), [0; 2], [false; 2], &mut histories);
    let (mut judged, mut good) = (0, 0);
    for first in &cells {
        for second in &cells {
            let automaton = Automaton { table: vec![vec![*first], vec![*second]] };
            let serial = automaton.serial(&columns);
            let observations = observations(&automaton, &columns);
            for history in &histories {
                let expected = literal::judge(&shape, &serial, history);
                assert_eq!(observations.judge(history), expected, "{automaton:?} {history:?}");
                judged += 1;
                good += u32::from(expected == Judgement::Linearizable);
            }
        }
    }
    // 70 ways to order the events of 2 + 2 operations with 16 answers make 1,120 full histories.
    let full = histories.iter().filter(|history| !history.is_stuck()).count();
    assert_eq!((full, histories.len() * 25, judged > 40_000), (1_120, judged, true));
    assert!(good > 1_000 && good < judged as u32 / 4, "{good} of {judged}");
}

fn all(
    events: &mut Vec<Event<u8>>,
    called: [usize; 2],
    open: [bool; 2],
    found: &mut Vec<ConcurrentHistory<u8>>,
) {
    let shape = snapshot_core::observation::Shape::new(&[2, 2]).unwrap();
    for stuck in [false, true] {
        found.extend(ConcurrentHistory::new(&shape, events.clone(), stuck));
    }
    for t in 0..2 {
        let thread = Thread::from_index(t);
        let mut called = called;
        let mut now = open;
        now[t] = !open[t];
        let next: Vec<Event<u8>> = match open[t] {
            true => vec![Event::Return(thread, 0), Event::Return(thread, 1)],
            false if called[t] < 2 => vec![Event::Call(thread)],
            false => vec![],
        };
        called[t] += usize::from(!open[t]);
        for event in next {
            events.push(event);
            all(events, called, now, found);
            events.pop();
        }
    }
}
