//! Values chosen to collide in a table with a known hash cost no more than others. The tests count
//! comparisons of values: a degenerate table compares each value with all others in the same place.

use std::cell::Cell;
use std::hash::{Hash, Hasher};

use snapshot_core::History;
use snapshot_core::check::check;
use snapshot_core::generic::{self, objects as generic_objects};
use snapshot_core::history::{Declaration, Writers};
use snapshot_core::immediate;
use snapshot_core::monitor::{Judgement, Monitor};
use snapshot_core::saturation::Saturation;
use snapshot_core::search::Budget;
use snapshot_core::seeded::SeededSet;
use snapshot_core::synchronisation::objects::{Channel, ChannelInput, ChannelOutput};
use snapshot_core::synchronisation::{Single, by_keys};
use snapshot_core::{certificate, linear};

thread_local! {
    static COMPARISONS: Cell<u64> = const { Cell::new(0) };
}

/// A value that counts its comparisons.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialOrd)]
struct Counted(i64);

impl PartialEq for Counted {
    fn eq(&self, other: &Self) -> bool {
        COMPARISONS.set(COMPARISONS.get() + 1);
        self.0 == other.0
    }
}

impl Hash for Counted {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}

/// The multiplier of `rustc-hash`, and its inverse: products of these values with it agree in their
/// upper bits, also behind earlier hashed data.
const MULTIPLIER: u64 = 0xf135_7aea_2e62_a9c5;

fn inverse() -> u64 {
    // Newton's method: each step doubles the number of bits that are right.
    let step = |x: u64, _| x.wrapping_mul(2_u64.wrapping_sub(MULTIPLIER.wrapping_mul(x)));
    let found = (0..6).fold(1, step);
    assert_eq!(MULTIPLIER.wrapping_mul(found), 1);
    found
}

fn plain(count: u64) -> Vec<Counted> {
    (1..=count).map(|index| Counted(index as i64)).collect()
}

fn crafted(count: u64) -> Vec<Counted> {
    let inverse = inverse();
    (1..=count).map(|index| Counted(inverse.wrapping_mul(5 << 31 | index) as i64)).collect()
}

const COUNT: u64 = 2000;

fn comparisons(run: &dyn Fn(&[Counted]), values: &[Counted]) -> u64 {
    COMPARISONS.set(0);
    run(values);
    COMPARISONS.get()
}

fn budgeted<T>(run: impl FnOnce(&mut Budget<'_>) -> T) -> T {
    run(&mut Budget { memory: 1 << 28, proceed: &mut || true })
}

/// One writer; scans that are open for long, so that values are found by table.
fn one_writer(values: &[Counted]) -> History<Counted> {
    let mut history = History::builder(Declaration::new(Counted(0)).with_segments(2)).unwrap();
    history.invoke_scan(5).unwrap();
    history.invoke_scan(6).unwrap();
    for (index, &value) in values.iter().enumerate() {
        history.invoke_update(0, 0, value).unwrap();
        history.respond_update(0).unwrap();
        if index == 100 {
            history.respond_scan(6, &[values[20], Counted(0)]).unwrap();
        }
    }
    history.respond_scan(5, &[values[60], Counted(0)]).unwrap();
    history.finish()
}

/// Overlapping updates of a segment.
fn many_writers(values: &[Counted], is_right: bool) -> History<Counted> {
    let declaration = Declaration::new(Counted(0)).with_segments(2).with_writers(Writers::Many);
    let mut history = History::builder(declaration).unwrap();
    for updates in values.chunks_exact(4) {
        for (process, &value) in updates.iter().enumerate() {
            history.invoke_update(process, 0, value).unwrap();
        }
        for process in 0..4 {
            history.respond_update(process).unwrap();
        }
        history.invoke_scan(5).unwrap();
        history.respond_scan(5, &[updates[1], Counted(0)]).unwrap();
    }
    if !is_right {
        history.invoke_scan(5).unwrap();
        history.respond_scan(5, &[values[1], Counted(0)]).unwrap();
    }
    history.finish()
}

/// Two processes that exchange; one operation stays open during many of the other process.
fn exchanges(values: &[Counted], is_right: bool) -> immediate::History<Counted> {
    let declaration = Declaration::new(Counted(0)).with_segments(2);
    let mut history = immediate::History::builder(declaration).unwrap();
    history.invoke(1, Counted(-1)).unwrap();
    for (index, &value) in values.iter().enumerate() {
        history.invoke(0, value).unwrap();
        let other = if index < 60 { 0 } else { -1 };
        history.respond(0, &[value, Counted(other)]).unwrap();
    }
    let read = if is_right { values[59] } else { values[57] };
    history.respond(1, &[read, Counted(-1)]).unwrap();
    history.finish()
}

/// Judges a history with these values.
type Judge<'a> = &'a dyn Fn(&[Counted]);

#[test]
fn values_colliding_without_a_seed_cost_no_more_comparisons() {
    let judges: [(&str, Judge<'_>); 9] = [
        ("linear", &|values| {
            let found = linear::decide(&one_writer(values));
            assert_eq!(found, Judgement::Linearizable);
        }),
        ("monitor", &|values| {
            let history = one_writer(values);
            let mut monitor = Monitor::linear(history.declaration()).unwrap();
            for event in history.events() {
                monitor.observe(&event).unwrap();
            }
        }),
        ("saturation", &|values| {
            let history = many_writers(values, true);
            let mut saturation = Saturation::new(history.declaration());
            for event in history.events() {
                assert_eq!(saturation.observe(&event), None);
            }
        }),
        ("check", &|values| {
            let report = budgeted(|budget| check(&many_writers(values, true), budget));
            assert_eq!(report.verdict.name(), "linearizable");
        }),
        ("refutation", &|values| {
            let history = many_writers(values, false);
            let report = budgeted(|budget| check(&history, budget));
            let lines = report.explanation.unwrap().refutation.unwrap();
            certificate::refutation::check(&history, &lines).unwrap();
        }),
        ("immediate", &|values| {
            let found = immediate::decide(&exchanges(values, true));
            assert_eq!(found, immediate::Judgement::SetLinearizable);
        }),
        ("immediate, wrong", &|values| {
            let history = exchanges(values, false);
            let immediate::Verdict::Violation(alarm) = immediate::check(&history) else {
                panic!("a vector has the value of a process that had written another");
            };
            certificate::exchanges::check(&history, &alarm.violation).unwrap();
        }),
        ("channel", &|values| {
            let mut history = generic::History::builder();
            for pair in values.chunks_exact(2) {
                for (process, &value) in pair.iter().enumerate() {
                    history.invoke(process, ChannelInput::Send(value)).unwrap();
                    history.invoke(process + 2, ChannelInput::Receive).unwrap();
                }
                for (process, &value) in pair.iter().enumerate() {
                    history.respond(process, ChannelOutput::Sent).unwrap();
                    history.respond(process + 2, ChannelOutput::Received(value)).unwrap();
                }
            }
            let history = history.finish();
            budgeted(|budget| by_keys(&Channel::default(), &history, budget));
        }),
        ("set", &|values| {
            use generic_objects::{Set, SetInput, SetOutput};
            let mut history = generic::History::builder();
            for &value in values {
                history.invoke(0, SetInput::Add(value)).unwrap();
                history.respond(0, SetOutput(true)).unwrap();
            }
            let (set, history) = (Single(Set::default()), history.finish());
            budgeted(|budget| generic::check(&set.0, &history, budget));
        }),
    ];
    for (name, run) in judges {
        let usual = comparisons(run, &plain(COUNT));
        let most = comparisons(run, &crafted(COUNT));
        assert!(most <= 2 * usual + 4 * COUNT, "{name}: {usual} comparisons became {most}");
        let longer = comparisons(run, &crafted(2 * COUNT));
        assert!(longer <= 3 * most + 4 * COUNT, "{name}: {most} comparisons became {longer}");
    }
}

#[test]
fn shifted_and_multiplied_values_do_not_collide() {
    let inverse = inverse();
    for shift in [0, 16, 24, 32, 40, 47] {
        for factor in [1, inverse, MULTIPLIER] {
            let mut values: SeededSet<Counted> = SeededSet::default();
            COMPARISONS.set(0);
            for index in 1..=COUNT {
                values.insert(Counted(factor.wrapping_mul(index << shift) as i64));
            }
            // Without collisions, one in 128 lookups compares.
            assert!(COMPARISONS.get() < COUNT, "{factor:x} << {shift}: {}", COMPARISONS.get());
        }
    }
}
