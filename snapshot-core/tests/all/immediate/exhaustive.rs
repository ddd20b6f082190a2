//! The theorem on all small executions.

use snapshot_core::certificate::{blocks, exchanges};
use snapshot_core::immediate::{Condition, History, Judgement, Monitor, Verdict, check};

use crate::immediate::enumeration::executions;
use crate::immediate::oracle::is_set_linearizable;

/// Counts of the executions of a shape.
#[derive(Debug, Default)]
struct Tally {
    executions: usize,
    linearizable: usize,
    /// Violations by condition: I1 to I4.
    violations: [usize; 4],
}

/// Judges an execution in all ways, each answer confirmed by its own judge.
fn judge(history: &History<u32>, tally: &mut Tally) {
    tally.executions += 1;
    let expected = is_set_linearizable(history);
    let mut monitor = Monitor::new(history.declaration().clone()).unwrap();
    for (_, event) in history.events() {
        monitor.observe(&event).unwrap();
    }
    match check(history) {
        Verdict::SetLinearizable(order) => {
            assert!(expected, "accepted wrongly: {history:?}");
            assert_eq!(blocks::check(history, &order), Ok(()), "{history:?}");
            assert_eq!(monitor.judgement(), Judgement::SetLinearizable);
            tally.linearizable += 1;
        }
        Verdict::Violation(alarm) => {
            assert!(!expected, "accused wrongly: {alarm:?} of {history:?}");
            assert_eq!(exchanges::check(history, &alarm.violation), Ok(()), "{history:?}");
            let Judgement::Violation(live) = monitor.judgement() else { panic!("{history:?}") };
            assert_eq!(live.event, alarm.event);
            // The alarm comes with the first event that no continuation repairs.
            assert!(is_set_linearizable(&prefix(history, alarm.event)), "{history:?}");
            assert!(!is_set_linearizable(&prefix(history, alarm.event + 1)), "{history:?}");
            let condition = alarm.violation.condition();
            let all = [
                Condition::OwnValue,
                Condition::Containment,
                Condition::Immediacy,
                Condition::Validity,
            ];
            tally.violations[all.iter().position(|&one| one == condition).unwrap()] += 1;
        }
        other => panic!("values do not repeat: {other:?}"),
    }
}

/// Returns the first events of an execution.
pub fn prefix(history: &History<u32>, events: usize) -> History<u32> {
    let declaration = history.declaration().clone().with_segments(history.segments());
    let mut builder = History::builder(declaration).unwrap();
    for (_, event) in history.events().take(events) {
        builder.push(&event).unwrap();
    }
    builder.finish()
}

fn tally(counts: &[usize]) -> Tally {
    let mut tally = Tally::default();
    executions(counts, &mut |history| judge(history, &mut tally));
    tally
}

/// The expected numbers of set-linearizable executions come from an independent program.
#[test]
fn the_four_conditions_are_exact() {
    let mut shapes: Vec<(&[usize], usize)> =
        vec![(&[1, 1], 12), (&[2, 1], 34), (&[2, 2], 184), (&[1, 1, 1], 188)];
    if test_support::effort::is_night() {
        shapes.extend([(&[3, 2][..], 638), (&[2, 1, 1][..], 1_120)]);
    }
    let mut violations = [0; 4];
    for (counts, linearizable) in shapes {
        let tally = tally(counts);
        println!("{counts:?}: {tally:?}");
        assert_eq!(tally.linearizable, linearizable, "{counts:?}");
        for (all, these) in violations.iter_mut().zip(tally.violations) {
            *all += these;
        }
    }
    assert!(violations.iter().all(|&count| count > 100), "{violations:?}");
}
