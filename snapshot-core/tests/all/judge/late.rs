//! Alarms of the monitor where updates overlap and values repeat: it may find a violation late, and
//! then says so.

use snapshot_core::history::Writers;
use snapshot_core::monitor::{Judgement, Monitor};

use crate::judge::checkers::drawing;
use crate::judge::forgetting::{Draw, Shape, history};
use crate::judge::witnesses::brute_force;

/// An alarm that claims to be the first one is: every shorter prefix is linearizable. The monitor
/// is undecided, not wrong, between the first violation and a late alarm.
#[test]
fn alarms_claim_to_be_first_only_if_they_are() {
    let shape = Shape {
        segments: 2,
        processes: 4,
        events: 26,
        unknown: 0,
        failed: 0,
        repeated: 2,
        wrong: 4,
    };
    let (mut first, mut unsure, mut late) = (0, 0, 0);
    for seed in 0..20_000 {
        let history = history(shape, &mut Draw(seed));
        if history.writers() != Writers::Many {
            continue;
        }
        let is_good = |events: usize| brute_force(&history.prefix(events)).is_some();
        let mut monitor = Monitor::new(history.declaration()).unwrap();
        for (position, event) in history.events().enumerate() {
            let Judgement::Violation(alarm) = monitor.observe(&event).unwrap() else { continue };
            assert_eq!(alarm.event, position);
            assert!(!is_good(position + 1), "false alarm on {}", drawing(&history));
            let is_late = !is_good(position);
            assert!(!is_late || !monitor.is_first(), "late on {}", drawing(&history));
            match (monitor.is_first(), is_late) {
                (true, _) => first += 1,
                (false, false) => unsure += 1,
                (false, true) => late += 1,
            }
            break;
        }
    }
    println!("{first} first, {unsure} unsure, {late} late");
    assert!(first > 1000 && unsure > 300 && late > 3, "{first} {unsure} {late}");
}
