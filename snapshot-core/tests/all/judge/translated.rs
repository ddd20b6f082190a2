//! A stream's verdict does not change if its values are replaced by others from any event on.

use std::hash::Hash;

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use snapshot_core::History;
use snapshot_core::history::{Action, Event};
use snapshot_core::monitor::{Judgement, Monitor};

use crate::judge::checkers::drawing;
use crate::judge::random::{Values, crowded_runs, nudged, perturbed, shapes};

/// Returns the observable state of a monitor.
fn shown<V: Clone + Eq + Hash>(monitor: &Monitor<V>) -> (Judgement, [u64; 7]) {
    let sizes = [monitor.events(), monitor.segments(), monitor.processes(), monitor.retained()];
    let [events, segments, processes, retained] = sizes.map(|size| size as u64);
    let (operations, pending, failed) = (monitor.operations(), monitor.pending(), monitor.failed());
    let sizes = [events, segments, processes, retained, operations, pending, failed];
    (monitor.judgement(), sizes)
}

fn text(value: &i64) -> String {
    format!("value {value}")
}

/// Has a monitor take an event with texts instead of the integers.
fn observe_text(monitor: &mut Monitor<String>, event: &Event<'_, i64>) {
    let process = event.process;
    let texts = |values: &[i64]| values.iter().map(text).collect::<Vec<_>>();
    let observed = match event.action {
        Action::InvokeUpdate { segment, value } => {
            monitor.observe(&Event::invoke_update(process, segment, &text(value)))
        }
        Action::InvokeScan => monitor.observe(&Event::invoke_scan(process)),
        Action::RespondUpdate => monitor.observe(&Event::respond_update(process)),
        Action::RespondScan { values } => {
            monitor.observe(&Event::respond_scan(process, &texts(values)))
        }
        Action::RespondPartialScan { segments, entries } => {
            let entries: Vec<_> = entries.iter().map(|(at, value)| (*at, text(value))).collect();
            let action = Action::RespondPartialScan { segments, entries: &entries };
            monitor.observe(&Event { process, action })
        }
        Action::Fail => monitor.observe(&Event { process, action: Action::Fail }),
        Action::Unknown => monitor.observe(&Event { process, action: Action::Unknown }),
    };
    observed.expect("the event is admissible");
}

/// Compares the whole stream with one whose values are replaced after each `every` events. Returns
/// the final judgement.
fn compare(history: &History<i64>, every: usize) -> Judgement {
    let mut monitor = Monitor::linear(history.declaration()).expect("a valid declaration");
    let mut others: Vec<Monitor<String>> = Vec::new();
    for (position, event) in history.events().enumerate() {
        if position.is_multiple_of(every) {
            let other = monitor.translated(|value| Some(text(value)));
            others.push(other.expect("every value has a text"));
        }
        monitor.observe(&event).expect("the event is admissible");
        for other in &mut others {
            observe_text(other, &event);
            assert_eq!(shown(other), shown(&monitor), "on {}", drawing(history));
        }
    }
    monitor.judgement()
}

#[test]
fn translated_values_keep_the_verdict() {
    let mut runner = TestRunner::deterministic();
    let small = prop_oneof![perturbed(shapes(), 30), nudged(runs_of_all_shapes())];
    let crowds = nudged(crowded_runs(Just(Values::Recurring), 600));
    let (mut good, mut bad, mut open) = (0, 0, 0);
    for case in 0..2_000 {
        let (history, every) = match case % 100 {
            0 => (crowds.new_tree(&mut runner).expect("no rejection").current(), 97),
            _ => (small.new_tree(&mut runner).expect("no rejection").current(), 3),
        };
        match compare(&history, every) {
            Judgement::Linearizable => good += 1,
            Judgement::Violation(_) => bad += 1,
            Judgement::Undecided(_) => open += 1,
        }
    }
    assert!(good > 200 && bad > 200 && open > 200, "{good}, {bad}, {open}");
}

fn runs_of_all_shapes() -> impl Strategy<Value = crate::judge::random::Run> {
    crate::judge::random::runs(shapes(), 40)
}

/// A monitor is not translated if only some of its values have counterparts, or without its
/// relation.
#[test]
fn translation_needs_a_counterpart_of_every_value() {
    use snapshot_core::history::{Declaration, Writers};
    use snapshot_core::{Process, Segment};

    let mut monitor = Monitor::linear(Declaration::new(0)).expect("a valid declaration");
    let (process, segment) = (Process::from_index(0), Segment::from_index(0));
    let smaller = |than: i64| move |value: &i64| (*value < than).then_some(*value);
    assert!(monitor.translated(smaller(0)).is_none(), "the initial value");
    assert!(monitor.translated(smaller(1)).is_some());
    monitor.observe(&Event::invoke_update(process, segment, &7)).expect("it is admissible");
    assert!(monitor.translated(smaller(1)).is_none(), "the value of an update");
    assert!(monitor.translated(smaller(8)).is_some());
    let many = Declaration::new(0).with_writers(Writers::Many);
    let monitor = Monitor::new(many).expect("a valid declaration");
    assert!(monitor.translated(smaller(8)).is_none(), "the relation is kept");
}
