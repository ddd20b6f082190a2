//! Random executions, larger than can be enumerated.

use proptest::prelude::*;
use snapshot_core::OperationId;
use snapshot_core::certificate::{blocks, exchanges};
use snapshot_core::history::Declaration;
use snapshot_core::immediate::{
    Action, Event, History, Judgement, Monitor, Verdict, check, decide,
};

use crate::immediate::exhaustive::prefix;
use crate::immediate::oracle::is_set_linearizable;

/// An immediate snapshot, driven by a list of choices: blocks take effect among the open
/// operations, which respond later, fail unseen, or stay pending.
pub fn simulate(segments: usize, choices: &[u32]) -> History<u32> {
    #[derive(Clone, Copy, PartialEq)]
    enum State {
        Idle,
        Open,
        Effective,
        Gone,
    }
    let mut builder = History::builder(Declaration::new(0).with_segments(segments)).unwrap();
    let mut contents = vec![0; segments];
    let mut written = contents.clone();
    let mut seen = vec![Vec::new(); segments];
    let mut states = vec![State::Idle; segments];
    for (number, &choice) in choices.iter().enumerate() {
        let process = choice as usize % segments;
        match (states[process], choice >> 8 & 7) {
            (State::Gone, _) => {}
            (State::Idle, _) => {
                written[process] = number as u32 + 1;
                builder.invoke(process, written[process]).unwrap();
                states[process] = State::Open;
            }
            (State::Open, 0) => {
                builder.fail(process).unwrap();
                states[process] = State::Idle;
            }
            (State::Open | State::Effective, 1) if choice >> 11 & 7 == 0 => {
                builder.unknown(process).unwrap();
                states[process] = State::Gone;
            }
            (State::Open, _) => {
                let members: Vec<usize> = (0..segments)
                    .filter(|&k| {
                        states[k] == State::Open
                            && (k == process || choice >> (16 + k % 8) & 1 == 1)
                    })
                    .collect();
                for &k in &members {
                    contents[k] = written[k];
                }
                for &k in &members {
                    seen[k].clone_from(&contents);
                    states[k] = State::Effective;
                }
            }
            (State::Effective, _) => {
                builder.respond(process, &seen[process]).unwrap();
                states[process] = State::Idle;
            }
        }
    }
    builder.finish()
}

/// The execution with one entry of one complete operation replaced by another value of
/// the segment, an earlier or a later one.
fn disturb(history: &History<u32>, choice: usize) -> History<u32> {
    let complete: Vec<_> =
        history.operation_ids().filter(|&id| history.operation(id).is_complete()).collect();
    if complete.is_empty() {
        return history.clone();
    }
    let victim = complete[choice % complete.len()];
    let segment = choice / complete.len() % history.segments();
    let of_segment = |id: &_| history.operation(*id).process.index() == segment;
    let mut values: Vec<u32> =
        history.operation_ids().filter(of_segment).map(|id| *history.written(id)).collect();
    values.push(0);
    let value = values[choice / complete.len() / history.segments() % values.len()];
    changed(history, |id, returned| {
        if id == victim {
            returned[segment] = value;
        }
    })
}

/// The execution with other returned values.
fn changed(
    history: &History<u32>,
    mut change: impl FnMut(OperationId, &mut [u32]),
) -> History<u32> {
    let declaration = history.declaration().clone().with_segments(history.segments());
    let mut builder = History::builder(declaration).unwrap();
    for (id, event) in history.events() {
        if let Action::Respond { values } = event.action {
            let mut values = values.to_vec();
            change(id, &mut values);
            builder.respond(event.process, &values).unwrap();
        } else {
            builder.push(&event).unwrap();
        }
    }
    builder.finish()
}

fn monitor(history: &History<u32>) -> Judgement {
    let mut monitor = Monitor::new(history.declaration().clone()).unwrap();
    for (_, event) in history.events() {
        monitor.observe(&event).unwrap();
    }
    monitor.judgement()
}

/// The execution in which an operation returned for some segment the value before its recorded one.
fn step_back(history: &History<u32>, choice: usize) -> History<u32> {
    let segment = choice % history.segments();
    let of_segment = |id: &_| history.operation(*id).process.index() == segment;
    let values: Vec<u32> = std::iter::once(0)
        .chain(history.operation_ids().filter(of_segment).map(|id| *history.written(id)))
        .collect();
    let mut due = choice / history.segments() % (history.operations().len() + 1);
    changed(history, |_, returned| {
        let at = values.iter().position(|value| *value == returned[segment]);
        if due == 0
            && let Some(before) = at.and_then(|at| at.checked_sub(1))
        {
            returned[segment] = values[before];
            due = usize::MAX;
        }
        due = due.saturating_sub(1);
    })
}

/// The execution with values that recur after a period.
fn recurring(history: &History<u32>, period: u32) -> History<u32> {
    with_values(history, |value| if value == 0 { 0 } else { value % period + 1 })
}

/// The execution with other values in place of these.
pub fn with_values(history: &History<u32>, again: impl Fn(u32) -> u32) -> History<u32> {
    let mut builder =
        History::builder(history.declaration().clone().with_segments(history.segments())).unwrap();
    for (_, event) in history.events() {
        match event.action {
            Action::Invoke { value } => builder.invoke(event.process, again(*value)).unwrap(),
            Action::Respond { values } => {
                let values: Vec<u32> = values.iter().copied().map(&again).collect();
                builder.respond(event.process, &values).unwrap()
            }
            _ => builder.push(&event).unwrap(),
        };
    }
    builder.finish()
}

fn is_violation(history: &History<u32>) -> bool {
    matches!(decide(history), Judgement::Violation(_))
}

/// Returns the verdict; its own judge confirms each answer.
fn confirmed(history: &History<u32>) -> bool {
    match (check(history), monitor(history)) {
        (Verdict::SetLinearizable(order), Judgement::SetLinearizable) => {
            blocks::check(history, &order).unwrap();
            true
        }
        (Verdict::Violation(alarm), Judgement::Violation(live)) => {
            assert_eq!(live.event, alarm.event);
            exchanges::check(history, &alarm.violation).unwrap();
            false
        }
        other => panic!("check and monitor differ: {other:?}"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn small_executions_agree_with_the_definition(
        segments in 2..5_usize,
        choices in prop::collection::vec(any::<u32>(), 0..26),
        disturbance in any::<u32>(),
    ) {
        let history = simulate(segments, &choices);
        prop_assert!(confirmed(&history), "{:?}", history);
        let disturbed = disturb(&history, disturbance as usize);
        let is_linearizable = is_set_linearizable(&disturbed);
        prop_assert_eq!(confirmed(&disturbed), is_linearizable, "{:?}", disturbed);
        let again = recurring(&disturbed, 1 + disturbance % 9);
        match decide(&again) {
            Judgement::Undecided(_) => {}
            judgement => {
                let expected = is_set_linearizable(&again);
                prop_assert_eq!(judgement == Judgement::SetLinearizable, expected, "{:?}", again);
            }
        }
        if let Verdict::Violation(alarm) = check(&disturbed) {
            prop_assert!(is_set_linearizable(&prefix(&disturbed, alarm.event)));
            prop_assert!(!is_set_linearizable(&prefix(&disturbed, alarm.event + 1)));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn answers_on_large_executions_are_proved(
        segments in 1..40_usize,
        choices in prop::collection::vec(any::<u32>(), 0..3_000),
        disturbance in any::<u32>(),
    ) {
        let history = simulate(segments, &choices);
        prop_assert!(confirmed(&history));
        confirmed(&disturb(&history, disturbance as usize));
        confirmed(&step_back(&history, disturbance as usize));
    }

    /// With recurring values, an answer is right, or undecided.
    #[test]
    fn recurring_values_give_no_false_violation(
        segments in 1..5_usize,
        choices in prop::collection::vec(any::<u32>(), 500..3_000),
        period in 100..1_000_u32,
    ) {
        let history = recurring(&simulate(segments, &choices), period);
        prop_assert!(!is_violation(&history), "{:?}", history);
        if let Verdict::SetLinearizable(order) = check(&history) {
            prop_assert_eq!(blocks::check(&history, &order), Ok(()));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// While an operation stays pending, no vector is settled: values are found far back, after
    /// failures, too, and in executions that are not linearizable.
    #[test]
    fn answers_are_right_beside_a_pending_operation(
        segments in 2..5_usize,
        choices in prop::collection::vec(any::<u32>(), 1_000..3_000),
        disturbance in any::<u32>(),
        period in 100..1_000_u32,
    ) {
        let others = choices.iter().map(|&choice| {
            let (process, rest) = (1 + choice % (segments as u32 - 1), choice >> 8 << 8);
            rest - rest % segments as u32 + process
        });
        let choices: Vec<u32> = std::iter::once(0).chain(others).collect();
        let history = simulate(segments, &choices);
        prop_assert!(confirmed(&history));
        confirmed(&disturb(&history, disturbance as usize));
        confirmed(&step_back(&history, disturbance as usize));
        prop_assert!(!is_violation(&recurring(&history, period)));
    }
}

/// Values that recur after their first writes are settled do not matter.
#[test]
fn settled_values_may_recur() {
    let mut builder = History::builder(Declaration::new(0).with_segments(2)).unwrap();
    let mut contents = [0, 0];
    for round in 0..10_000 {
        for process in 0..2 {
            contents[process] = 1 + round % 300;
            builder.invoke(process, contents[process]).unwrap();
            builder.respond(process, &contents).unwrap();
        }
    }
    assert_eq!(decide(&builder.clone().finish()), Judgement::SetLinearizable);
    // The value of two rounds before.
    builder.invoke(0, 500).unwrap();
    builder.respond(0, &[500, contents[1] - 1]).unwrap();
    assert!(is_violation(&builder.finish()));
}

/// The monitor's memory does not grow with the stream, even after an unknown outcome; it grows with
/// the operations concurrent with one that never ends.
#[test]
fn monitor_memory_is_bounded_by_concurrency() {
    let mut most = [0; 3];
    for (case, most) in ["all end", "unknown", "stuck"].into_iter().zip(&mut most) {
        let mut monitor = Monitor::new(Declaration::new(0).with_segments(4)).unwrap();
        let mut contents = vec![0; 4];
        if case != "all end" {
            monitor.observe(&Event { process: 3, action: Action::Invoke { value: &1 } }).unwrap();
        }
        if case == "unknown" {
            monitor.observe(&Event { process: 3, action: Action::Unknown }).unwrap();
        }
        for round in 1..=20_000 {
            for process in 0..3 {
                let action = Action::Invoke { value: &round };
                monitor.observe(&Event { process, action }).unwrap();
            }
            for process in 0..3 {
                contents[process] = round;
                let action = Action::Respond { values: &contents };
                let judgement = monitor.observe(&Event { process, action }).unwrap();
                assert_eq!(judgement, Judgement::SetLinearizable);
            }
            *most = (*most).max(monitor.retained());
        }
    }
    assert!(most[0] < 100, "{most:?}");
    assert!(most[1] < 100, "{most:?}");
    assert!(most[2] > 20_000, "{most:?}");
}
