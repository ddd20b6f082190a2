//! The checks take linear time, measured against a plain pass over the same events: on
//! histories of 2^13 to 2^19 events, the exponent of the ratio is about 0.
//!
//! Where the tests run, others run too, and a busy machine slows a large history more
//! than a small one, for its caches are shared. So time is processor time of the thread, the
//! work and the pass, which reads each event and each value once, are measured in turn, and the
//! ratio of their least times counts: a phase that slows one slows the other. The limit leaves room for caches
//! on a busy machine, and so lets n log n pass; n^1.5 exceeds it, and n^2 by far. A
//! quadratic work is measured, too, and must be found out.

use std::hint::black_box;
use std::time::Duration;

use benches::histories::{execution, half_scans, monitor_execution};
use rustix::time::{ClockId, clock_gettime};
use snapshot_core::History;
use snapshot_core::certificate::groups;
use snapshot_core::generic::objects::{Set, SetInput, SetOutput};
use snapshot_core::history::Action;
use snapshot_core::linear::{self, Outcome};
use snapshot_core::monitor::Monitor;
use snapshot_core::search::Budget;
use snapshot_core::synchronisation::{Single, Verdict, one_by_one};
use snapshot_core::{generic, immediate};

/// The exponent of the ratio: 0 for linear time, 1 for quadratic.
const LIMIT: f64 = 0.35;
const TURNS: usize = 3;
const SIZES: [u64; 3] = [1 << 13, 1 << 16, 1 << 19];

/// A slow phase spoils one attempt, a wrong algorithm all of them.
const ATTEMPTS: usize = 3;

fn check(history: &History<i64>) {
    let outcome = linear::check(black_box(history));
    assert!(matches!(black_box(outcome), Outcome::Linearizable(_)));
}

fn linearize(history: &History<i64>) {
    let Outcome::Linearizable(reading) = linear::check(black_box(history)) else {
        panic!("linearizable by construction")
    };
    black_box(reading.linearization());
}

fn monitor(history: &History<i64>) {
    let mut monitor = Monitor::new(history.declaration()).expect("a history declares its sizes");
    for event in history.events() {
        monitor.observe(&event).expect("a history's events are admissible");
    }
    black_box(monitor.judgement());
}

/// Something that is done with a history.
type Work<H> = fn(&H);

/// A history of any object: its number of events, and the pass that reads each of them.
trait Events {
    fn count(&self) -> usize;
    fn pass(&self);
}

impl Events for History<i64> {
    fn count(&self) -> usize {
        self.len()
    }

    fn pass(&self) {
        pass(self);
    }
}

impl Events for immediate::History<i64> {
    fn count(&self) -> usize {
        self.len()
    }

    fn pass(&self) {
        let mut sum = 0_i64;
        for (_, event) in self.events() {
            sum = sum.wrapping_add(event.process as i64);
            sum = match event.action {
                immediate::Action::Invoke { value } => sum.wrapping_add(*value),
                immediate::Action::Respond { values } => {
                    values.iter().fold(sum, |sum, value| sum.wrapping_add(*value))
                }
                _ => sum,
            };
        }
        black_box(sum);
    }
}

/// An execution of a set.
type OfSet = generic::History<SetInput<i64>, SetOutput>;

impl Events for OfSet {
    fn count(&self) -> usize {
        self.len()
    }

    fn pass(&self) {
        let mut sum = 0_i64;
        for operation in self.operations() {
            sum = sum.wrapping_add(operation.process.index() as i64);
            sum = sum.wrapping_add(*operation.input.element());
        }
        black_box(sum);
    }
}

/// As many elements are added as half the events are, in no order.
fn additions(events: u64) -> OfSet {
    let mut history = generic::History::builder();
    for number in 0..events / 2 {
        let element = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 1;
        history.invoke(0, SetInput::Add(element as i64)).expect("the process is idle");
        history.respond(0, SetOutput(true)).expect("the operation is open");
    }
    history.finish()
}

/// Decides, and checks the order that was found, as the program does.
fn set(history: &OfSet) {
    let set = Single(Set::default());
    let mut budget = Budget { memory: usize::MAX, proceed: &mut || true };
    let Verdict::SetLinearizable(order) = one_by_one(&set, black_box(history), &mut budget) else {
        panic!("linearizable by construction")
    };
    groups::check(&set, history, &order).expect("it is one");
}

/// Reads each event, and each value that it has.
fn pass(history: &History<i64>) {
    let mut sum = 0_i64;
    for event in history.events() {
        sum = sum.wrapping_add(event.process.index() as i64);
        match event.action {
            Action::InvokeUpdate { value, .. } => sum = sum.wrapping_add(*value),
            Action::RespondScan { values } => {
                sum = values.iter().fold(sum, |sum, value| sum.wrapping_add(*value));
            }
            _ => {}
        }
    }
    black_box(sum);
}

/// As many passes as the history has 2^16 events.
fn quadratic(history: &History<i64>) {
    for _ in 0..history.len().div_ceil(1 << 16) {
        pass(black_box(history));
    }
}

/// Processor time of this thread so far.
fn now() -> Duration {
    clock_gettime(ClockId::ThreadCPUTime).try_into().expect("a clock does not run below zero")
}

fn time<H>(work: Work<H>, history: &H) -> Duration {
    let start = now();
    work(history);
    now() - start
}

/// Sizes in events with the ratios of the least times of the work and of the pass.
fn ratios<H: Events>(histories: &[H], work: Work<H>) -> Vec<(f64, f64)> {
    let mut least = vec![[Duration::MAX; 2]; histories.len()];
    for _ in 0..TURNS {
        for (history, least) in histories.iter().zip(&mut least) {
            for (least, work) in least.iter_mut().zip([work, H::pass]) {
                *least = (*least).min(time(work, history));
            }
        }
    }
    let ratio = |[work, pass]: [Duration; 2]| work.as_secs_f64() / pass.as_secs_f64();
    histories
        .iter()
        .zip(least)
        .map(|(history, least)| (history.count() as f64, ratio(least)))
        .collect()
}

/// The slope of the least-squares line through (log size, log cost): k if the cost grows like
/// size^k.
fn exponent(points: &[(f64, f64)]) -> f64 {
    let count = points.len() as f64;
    let logarithms = points.iter().map(|&(x, y)| (x.ln(), y.ln()));
    let (x, y) = logarithms.clone().fold((0.0, 0.0), |(a, b), (x, y)| (a + x, b + y));
    let (x, y) = (x / count, y / count);
    let covariance: f64 = logarithms.clone().map(|(a, b)| (a - x) * (b - y)).sum();
    let variance: f64 = logarithms.map(|(a, _)| (a - x).powi(2)).sum();
    covariance / variance
}

#[test]
fn powers_have_their_exponents() {
    for k in [0.0, 1.0, 1.5, 2.0] {
        let points = [10.0, 20.0, 50.0, 1000.0].map(|x: f64| (x, 7.0 * x.powf(k)));
        assert!((exponent(&points) - k).abs() < 1e-9, "x^{k}");
    }
    let n_log_n = [1e4, 1e5, 1e6].map(|x: f64| (x, x * x.ln()));
    assert!(exponent(&n_log_n) > 1.08);
}

/// The least exponent of the ratio in some attempts, of which the first within the limit is the last.
fn growth<H: Events>(name: &str, histories: &[H], work: Work<H>) -> f64 {
    let mut least = f64::INFINITY;
    for _ in 0..ATTEMPTS {
        let ratios = ratios(histories, work);
        let exponent = exponent(&ratios);
        println!("{name}: exponent {exponent:.3}, {ratios:?}");
        least = least.min(exponent);
        if least <= LIMIT {
            break;
        }
    }
    least
}

/// One test for all, so that they do not disturb each other.
#[test]
fn all_checks_take_linear_time() {
    let histories = SIZES.map(half_scans);
    let works: [(&str, Work<History<i64>>); 3] =
        [("check", check), ("linearization", linearize), ("monitor", monitor)];
    for (name, work) in works {
        assert!(growth(name, &histories, work) <= LIMIT, "{name} is not linear");
    }
    let executions = SIZES.map(execution);
    let works: [(&str, Work<immediate::History<i64>>); 3] = [
        ("immediate", |execution| _ = black_box(immediate::decide(execution))),
        ("immediate, blocks", |execution| drop(black_box(immediate::check(execution)))),
        ("immediate, monitor", |execution| drop(black_box(monitor_execution(execution)))),
    ];
    for (name, work) in works {
        assert!(growth(name, &executions, work) <= LIMIT, "{name} is not linear");
    }
    let executions = [1 << 11, 1 << 14, 1 << 17].map(additions);
    assert!(growth("set", &executions, set) <= LIMIT, "the set is not linear");
    let found_out = growth("quadratic", &histories[1..], quadratic);
    assert!(found_out > 2.0 * LIMIT, "the measurement does not separate n^2 from n: {found_out}");
}
