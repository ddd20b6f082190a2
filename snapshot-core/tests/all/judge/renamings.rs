//! A differentiated history is linearizable iff no renaming of it is accepted
//! by an automaton (Theorem 5 of the DISC 2022 paper, read the other way).

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};

use snapshot_core::automata::{self, Alphabet, Nfa, accepting_run};
use snapshot_core::certificate::projection::Projection;
use snapshot_core::check::{Checker, check_by};
use snapshot_core::explanation::Explanation;
use snapshot_core::history::{Action, Declaration, Event, Writers};
use snapshot_core::linear;
use snapshot_core::monitor::Judgement;
use snapshot_core::renaming::{Decision, Judge, Numbering, Renaming};
use snapshot_core::search::Budget;
use snapshot_core::simple::SimpleHistory;
use snapshot_core::verdict::{Exhausted, Verdict, Witness};
use snapshot_core::{History, Segment};

use crate::judge::checkers::drawing;
use crate::judge::sketch;

thread_local! {
    static UNIONS: RefCell<HashMap<usize, std::rc::Rc<Nfa>>> = RefCell::default();
    static JUDGES: RefCell<HashMap<usize, Judge>> = RefCell::default();
    static DECIDED: Cell<usize> = const { Cell::new(0) };
}

/// The union of the automata, built once for each number of processes.
pub fn union_of(alphabet: Alphabet) -> std::rc::Rc<Nfa> {
    UNIONS.with_borrow_mut(|unions| {
        let union = unions.entry(alphabet.processes());
        union.or_insert_with(|| std::rc::Rc::new(automata::violation(alphabet))).clone()
    })
}

/// Returns the numbers of the updates of a segment by value: `None` if a value repeats, or updates
/// of the segment overlap.
fn numbers(history: &History<i64>, segment: Segment) -> Option<HashMap<i64, usize>> {
    let mut numbers = HashMap::from([(*history.initial_value(segment), 0)]);
    let mut last: Option<usize> = Some(0);
    for operation in history.operations() {
        if operation.segment() != Some(segment) || operation.is_failed() {
            continue;
        }
        last.filter(|last| *last <= operation.invocation())?;
        last = operation.response();
        let number = numbers.len();
        if numbers.insert(*history.update_value(operation), number).is_some() {
            return None;
        }
    }
    Some(numbers)
}

/// Returns true if every update of the history has a number, and all values differ, including
/// values of failed updates: then a renaming can show a violation.
pub fn are_possible(history: &History<i64>) -> bool {
    let is_new = |segment: Segment| {
        let mut values = HashSet::from([*history.initial_value(segment)]);
        let mut updates = history.operations().iter().filter(|o| o.segment() == Some(segment));
        updates.all(|update| values.insert(*history.update_value(update)))
    };
    // While an update is open after a lost one, their order is undetermined. Its later failure
    // decides the history, but is not part of the proof.
    let is_settled = |segment: Segment| {
        let updates = history.operations().iter().filter(|o| o.segment() == Some(segment));
        updates.rev().skip(1).all(|update| !update.is_pending())
    };
    let mut segments = (0..history.segments()).map(Segment::from_index);
    history.writers() == Writers::Single
        && !history.has_partial_scans()
        && segments.all(|segment| {
            numbers(history, segment).is_some() && is_new(segment) && is_settled(segment)
        })
}

/// Judges a history by all of its renamings; `None` if it cannot be renamed, or is large.
///
/// The violation must be complete at the named event. For one history in eight, each renaming must
/// equal the result of [`rename`], event by event.
pub fn decide(history: &History<i64>) -> Option<bool> {
    if history.len() > 24 {
        return None;
    }
    let numbering = Numbering::new(history).ok()?;
    let count = DECIDED.with(|decided| decided.replace(decided.get() + 1));
    if count.is_multiple_of(8) {
        compare(history, &numbering);
    }
    let mut budget = Budget { memory: 0, proceed: &mut || true };
    let decision = JUDGES.with_borrow_mut(|judges| {
        let new = || Judge::new(history.processes()).expect("few processes");
        judges.entry(history.processes()).or_insert_with(new).decide(&numbering, &mut budget)
    });
    match decision {
        Decision::Linearizable => Some(true),
        Decision::Violation { renaming, event } => {
            let at = |events: usize| linear::decide(&history.prefix(events));
            let is_late = matches!(at(event), Judgement::Violation(_));
            assert!(!is_late, "late on {}", drawing(history));
            // An update that fails later may be read until then.
            let has_failed = history.operations().iter().any(|operation| operation.is_failed());
            let after = at(if has_failed { history.len() } else { event + 1 });
            let is_early = after == Judgement::Linearizable;
            assert!(!is_early, "{renaming}: early on {}", drawing(history));
            Some(false)
        }
        Decision::Exhausted => panic!("the budget has no limit"),
    }
}

/// Compares each renaming of a history with the history that has the values 0 and 1: the automata
/// must agree on both.
fn compare(history: &History<i64>, numbering: &Numbering) {
    let segments: Vec<Segment> = (0..history.segments()).map(Segment::from_index).collect();
    let numbers: Option<Vec<_>> = segments.iter().map(|&k| numbers(history, k)).collect();
    let Some(numbers) = numbers else { return };
    let union = union_of(Alphabet::new(history.processes().max(1)).expect("few processes"));
    for i in 0..segments.len() {
        for j in i + 1..segments.len().max(i + 2) {
            for from_i in 1..=numbers[i].len() {
                for from_j in 1..=numbers.get(j).map_or(1, HashMap::len) {
                    let renamed = rename(history, &numbers, (i, from_i), (j, from_j));
                    let there = SimpleHistory::recognise(&renamed).expect("a renaming is simple");
                    let renaming = Renaming {
                        i: segments[i],
                        j: segments.get(j).copied(),
                        from_i: from_i as u64,
                        from_j: from_j as u64,
                    };
                    let here = numbering.rename(renaming);
                    let event = |simple: &SimpleHistory| {
                        let letter = automata::first_accepting_prefix(&union, simple.letters())?;
                        Some(simple.event(letter))
                    };
                    assert_eq!(event(&here), event(&there), "{renaming} of {}", drawing(history));
                }
            }
        }
    }
}

/// Returns the history after a renaming; a value never written counts as the last of all.
fn rename(
    history: &History<i64>,
    numbers: &[HashMap<i64, usize>],
    i: (usize, usize),
    j: (usize, usize),
) -> History<u8> {
    let rename = |segment: usize, value: &i64| {
        let number = numbers[segment].get(value).copied().unwrap_or(usize::MAX);
        u8::from((segment == i.0 && number >= i.1) || (segment == j.0 && number >= j.1))
    };
    let declaration = Declaration::new(0)
        .with_segments(history.segments())
        .with_processes(history.processes().max(1))
        .with_writers(history.writers());
    let mut builder = History::builder(declaration).expect("valid");
    for event in history.events() {
        let process = event.process;
        let pushed = match event.action {
            Action::InvokeUpdate { segment, value } => {
                let value = rename(segment.index(), value);
                builder.push(&Event::invoke_update(process, segment, &value))
            }
            Action::RespondScan { values } => {
                let values: Vec<u8> =
                    values.iter().enumerate().map(|(k, value)| rename(k, value)).collect();
                builder.push(&Event::respond_scan(process, &values))
            }
            Action::RespondPartialScan { .. } => panic!("scans that are renamed are full"),
            Action::InvokeScan => builder.push(&Event::invoke_scan(process)),
            Action::RespondUpdate => builder.push(&Event::respond_update(process)),
            Action::Fail => builder.push(&Event::fail(process)),
            Action::Unknown => builder.push(&Event::unknown(process)),
        };
        pushed.expect("a renaming keeps the events");
    }
    builder.finish()
}

/// An explanation must be self-contained: its operations have no order, and under its renaming an
/// automaton accepts them. It must not add precedence or values to the recorded ones.
pub fn confirm(explanation: &Explanation<i64>, history: &History<i64>) {
    let alone = explanation.history();
    let order = Projection::whole(&alone).linearization(1_000_000);
    assert_eq!(order, Ok(None), "no proof by itself: {explanation:?} of {}", drawing(history));
    assert!(!explanation.argument(|shown| format!("O{}", shown.id)).is_empty());
    let both = explanation.operations.iter().map(|shown| history.operation(shown.id));
    let both: Vec<_> = alone.operations().iter().zip(both).collect();
    for (here, there) in &both {
        for (later, later_there) in &both {
            let is_kept = !here.precedes(later) || there.precedes(later_there);
            assert!(is_kept, "new precedence: {explanation:?} of {}", drawing(history));
        }
    }
    if let Some(renamed) = explanation.renamed() {
        let simple = SimpleHistory::recognise(&renamed).expect("a renaming is simple");
        let union = union_of(Alphabet::new(renamed.processes().max(1)).expect("valid"));
        let run = accepting_run(&union, simple.letters());
        assert!(run.is_some(), "not accepted: {explanation:?} of {}", drawing(history));
        if are_possible(history) {
            confirm_values(explanation, &renamed, history);
        }
    }
}

/// The renaming of an explanation gives 1 to the right values. In a segment that
/// does not matter, every scan of it returns 0.
fn confirm_values(explanation: &Explanation<i64>, renamed: &History<u8>, history: &History<i64>) {
    let Witness { renaming, segments, .. } = &explanation.witness;
    let Renaming { i, j, from_i, from_j } = renaming.expect("there is a renaming");
    let expected = |segment: Segment, value: &i64| {
        let numbers = numbers(history, segment).expect("renamings are possible");
        let from = if segment == i { from_i } else { from_j };
        let number = numbers.get(value).map_or(u64::MAX, |number| *number as u64);
        u8::from(segments.contains(&segment) && number >= from)
    };
    for (shown, operation) in explanation.operations.iter().zip(renamed.operations()) {
        let original = history.operation(shown.id);
        if let Some(segment) = original.segment() {
            // A failed update has no number.
            let expected = expected(segment, history.update_value(original));
            let is_right = original.is_failed() || *renamed.update_value(operation) == expected;
            assert!(is_right, "{explanation:?} of {}", drawing(history));
        } else {
            let values = history.scan_values(original);
            let entries = [Some(i), j].into_iter().flatten();
            let expected: Vec<u8> = entries.map(|k| expected(k, &values[k.index()])).collect();
            let found = renamed.scan_values(operation);
            assert_eq!(found, expected, "{explanation:?} of {}", drawing(history));
        }
    }
}

/// The judge by automata decides with a budget, and without one is not believed.
#[test]
fn an_exhausted_budget_of_the_automata_is_unknown() {
    let events = "0:u0=5 0:ok 1:u1=7 1:ok 2:s";
    for (entries, is_linearizable) in [("5,7", true), ("5,0", false)] {
        let history = sketch::single_writers(2, &format!("{events} 2:{entries}"));
        for has_time in [true, false] {
            let mut budget = Budget { memory: usize::MAX, proceed: &mut || has_time };
            let report = check_by(Checker::Automata, &history, &mut budget).unwrap();
            match report.verdict {
                Verdict::Linearizable(_) => assert!(has_time && is_linearizable),
                Verdict::Violation(_) => assert!(has_time && !is_linearizable),
                Verdict::Unknown(unknown) => {
                    assert!(!has_time && unknown.exhausted == Exhausted::Time);
                }
                Verdict::Disputed(dispute) => panic!("{dispute:?}"),
            }
        }
    }
}
