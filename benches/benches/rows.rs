//! The checks and the verifier under criterion, over recipes of the corpus, by one thread.
//!
//! The answer of each row is known, and asserted before anything is timed. Histories have 10^5
//! events, or 10^7 with `SNAPSHOT_BENCH_SIZE=full`.
#![forbid(unsafe_code)]

use std::hint::black_box;
use std::num::NonZeroUsize;
use std::time::Duration;

use benches::histories::{execution, half_scans};
use corpus::family;
use corpus::generate::{Recipe, Rule, Style};
use criterion::{Criterion, SamplingMode, Throughput, criterion_group, criterion_main};
use snapshot_core::certificate::{blocks, linearization, witness};
use snapshot_core::check::{check, decide};
use snapshot_core::monitor::{Judgement, Monitor};
use snapshot_core::observer::Observer;
use snapshot_core::search::{Budget, Outcome, search_plainly};
use snapshot_core::simple::SimpleHistory;
use snapshot_core::verdict::Verdict;
use snapshot_core::{History, Process, immediate, linear};
use snapshot_verify::language;
use snapshot_verify::program::independence;
use snapshot_verify::verify::{
    self, Barriers, Method, Operations, Pairs, Reduction, Reductions, Request, Unwatched, verify,
};

fn is_full() -> bool {
    std::env::var("SNAPSHOT_BENCH_SIZE").is_ok_and(|size| size == "full")
}

/// Events of a long history.
fn events() -> u64 {
    if is_full() { 10_000_000 } else { 100_000 }
}

/// Asserts that the answer is right, then measures.
fn row<I, A>(
    criterion: &mut Criterion,
    name: &str,
    elements: u64,
    input: &I,
    run: impl Fn(&I) -> A,
    assert: impl Fn(&A),
) {
    assert(&run(input));
    let mut group = criterion.benchmark_group(name);
    group.throughput(Throughput::Elements(elements));
    group.sampling_mode(SamplingMode::Flat).sample_size(10);
    group.warm_up_time(Duration::from_millis(500)).measurement_time(Duration::from_secs(3));
    group.bench_function(elements.to_string(), |bencher| {
        bencher.iter(|| black_box(run(black_box(input))));
    });
    group.finish();
}

/// No row of histories needs a search that does not fit.
fn unlimited(proceed: &mut dyn FnMut() -> bool) -> Budget<'_> {
    Budget { memory: 1 << 26, proceed }
}

/// The verdict with its certificate.
fn verdict(history: &History<i64>) -> Verdict {
    check(history, &mut unlimited(&mut || true)).verdict
}

fn confirm(history: &History<i64>, is_linearizable: bool, verdict: &Verdict) {
    match verdict {
        Verdict::Linearizable(order) if is_linearizable => {
            linearization::check(history, order).expect("the order is a proof");
        }
        Verdict::Violation(found) if !is_linearizable => {
            witness::check(history, found).expect("the witness is a proof");
        }
        other => panic!("linearizable: {is_linearizable}, but: {other:?}"),
    }
}

/// The observer over the letters of a simple history of 20 processes.
fn observer(criterion: &mut Criterion) {
    let style = Style::Simple { i: 7, j: 12 };
    let recipe = Recipe::new(20, 20, (events() / 2) as usize, style, 2_022);
    let history = recipe.history().expect("the recipe can be followed");
    let input = SimpleHistory::recognise(&history).expect("the recipe is simple");
    let run = |input: &SimpleHistory| {
        let mut observer = Observer::new(input.processes());
        for &letter in input.letters() {
            observer.step(letter);
        }
        observer.alarm()
    };
    let elements = input.letters().len() as u64;
    row(criterion, "observer", elements, &input, run, |alarm| assert_eq!(*alarm, None));
}

/// Linear time: the decision, the order, and the monitor event by event.
fn snapshot(criterion: &mut Criterion) {
    let input = half_scans(events());
    let elements = input.len() as u64;
    row(criterion, "check", elements, &input, linear::decide, |judgement| {
        assert_eq!(*judgement, Judgement::Linearizable);
    });
    let linearize = |input: &History<i64>| match linear::check(input) {
        linear::Outcome::Linearizable(reading) => reading.linearization(),
        other => panic!("linearizable by construction, but: {other:?}"),
    };
    row(criterion, "linearization", elements, &input, linearize, |order| {
        linearization::check(&input, order).expect("the order is a proof");
    });
    let monitor = |input: &History<i64>| {
        let mut monitor = Monitor::new(input.declaration()).expect("a history declares its sizes");
        for event in input.events() {
            monitor.observe(&event).expect("a history's events are admissible");
        }
        monitor
    };
    row(criterion, "monitor", elements, &input, monitor, |monitor| {
        assert_eq!(monitor.judgement(), Judgement::Linearizable);
    });
}

fn immediate_snapshot(criterion: &mut Criterion) {
    let input = execution(events());
    let elements = input.len() as u64;
    row(criterion, "immediate", elements, &input, immediate::decide, |decision| {
        assert_eq!(*decision, immediate::Judgement::SetLinearizable);
    });
    row(criterion, "immediate-blocks", elements, &input, immediate::check, |verdict| {
        let immediate::Verdict::SetLinearizable(order) = verdict else {
            panic!("set-linearizable by construction, but: {verdict:?}")
        };
        blocks::check(&input, order).expect("the blocks are a proof");
    });
    let monitor = benches::histories::monitor_execution;
    row(criterion, "immediate-monitor", elements, &input, monitor, |monitor| {
        assert_eq!(monitor.judgement(), immediate::Judgement::SetLinearizable);
    });
}

/// The 900 histories in the shape of the published corpus: with certificates, and by a search that
/// knows only the specification of updates and scans.
fn published(criterion: &mut Criterion) {
    let is_linearizable = |history: &_| decide(history, &mut unlimited(&mut || true)) == Some(true);
    let (histories, known): (Vec<_>, Vec<bool>) = family::published(is_linearizable)
        .map(|member| (member.history, member.expected.is_linearizable()))
        .unzip();
    let elements = histories.iter().map(History::len).sum::<usize>() as u64;
    let check = |input: &Vec<History<i64>>| input.iter().map(verdict).collect::<Vec<_>>();
    row(criterion, "published", elements, &histories, check, |verdicts| {
        for ((history, known), verdict) in histories.iter().zip(&known).zip(verdicts) {
            confirm(history, *known, verdict);
        }
    });
    let search = |input: &Vec<History<i64>>| -> Vec<Outcome> {
        let mut proceed = || true;
        let mut budget = unlimited(&mut proceed);
        input.iter().map(|history| search_plainly(history, &mut budget)).collect()
    };
    row(criterion, "search", elements, &histories, search, |outcomes| {
        for ((history, known), outcome) in histories.iter().zip(&known).zip(outcomes) {
            match outcome {
                Outcome::Linearizable(order) if *known => {
                    linearization::check(history, order).expect("the order is a proof");
                }
                Outcome::NotLinearizable { .. } if !known => {}
                other => panic!("linearizable: {known}, but: {other:?}"),
            }
        }
    });
}

/// The hard corpus decided, at the small size that of 17 segments; and of each rule a violation
/// among 5,000 operations of 64 processes found and proved.
fn hard(criterion: &mut Criterion) {
    let most = if is_full() { usize::MAX } else { 17 };
    let (histories, known): (Vec<_>, Vec<Option<bool>>) = family::hard()
        .filter(|member| member.recipe().segments <= most)
        .map(|member| (member.history(), Some(member.expected().is_linearizable())))
        .unzip();
    let elements = histories.iter().map(History::len).sum::<usize>() as u64;
    let decide = |input: &Vec<History<i64>>| -> Vec<Option<bool>> {
        let mut proceed = || true;
        let mut budget = unlimited(&mut proceed);
        input.iter().map(|history| decide(history, &mut budget)).collect()
    };
    row(criterion, "hard", elements, &histories, decide, |answers| assert_eq!(*answers, known));
    for rule in Rule::ALL {
        let name = format!("{rule}-64-5000-pending-4");
        let member = family::hard().find(|member| member.name == name);
        let input = member.expect("the family has one of every rule").history();
        let elements = input.len() as u64;
        row(criterion, &format!("wrong-{rule}"), elements, &input, verdict, |answer| {
            confirm(&input, false, answer);
            let Verdict::Violation(found) = answer else { unreachable!("it was confirmed") };
            assert_eq!(found.reason.name(), rule.name(), "it breaks no other rule");
        });
    }
}

/// Algorithms from their texts to the answer, without a bound on operations; the elements are
/// states, whose numbers are known.
fn verifier(criterion: &mut Criterion) {
    let full = is_full();
    // The search alone counts what encodings by hand for other model checkers count, too.
    let alone = Some([Reduction::Constant, Reduction::Dead].as_slice());
    let (processes, states) = if full { (4, 2_151_306) } else { (3, 76_075) };
    verification(criterion, "explore-raw", "bowman", alone, processes, states);
    // All reductions and all pairs.
    let (processes, states) = if full { (8, 3_987) } else { (5, 1_350) };
    verification(criterion, "explore-reduced", "bowman", None, processes, states);
    // Versions and embedded scans.
    verification(criterion, "explore-versions", "afek_unbounded", None, 2, 2_972);
}

fn verification(
    criterion: &mut Criterion,
    name: &str,
    algorithm: &str,
    reductions: Option<&[Reduction]>,
    processes: usize,
    states: u64,
) {
    let text = corpus::algorithm(algorithm).expect("the row is of the corpus").text;
    let parsed = language::parse(algorithm, text).expect("the corpus is right");
    let program = parsed.program(None).expect("the corpus is right");
    assert!(independence::check(&program).is_ok(), "a proof is wanted");
    let first = Pairs::One(Process::from_index(0), Process::from_index(1));
    let request = Request {
        states: None,
        processes,
        pairs: reductions.map_or(Pairs::All, |_| first),
        method: Method::Exploration,
        values: None,
        updater: None,
        operations: Operations::Unbounded,
        barriers: Barriers::Unbounded,
        reductions: reductions
            .map_or_else(Reductions::standard, |list| list.iter().copied().collect()),
        threads: NonZeroUsize::MIN,
        memory: 1 << 30,
        time: None,
        keep_going: false,
        self_check: None,
    };
    let run = |program: &_| {
        verify(program, true, &request, &Unwatched::default()).expect("the request can be met")
    };
    row(criterion, name, states, &program, run, |outcomes: &Vec<verify::Outcome>| {
        assert!(
            outcomes.iter().all(|outcome| matches!(outcome.verdict, verify::Verdict::Verified))
        );
        let explored = outcomes.iter().filter(|outcome| outcome.measures.like.is_none());
        assert_eq!(explored.map(|outcome| outcome.measures.states).sum::<u64>(), states);
    });
}

criterion_group!(rows, observer, snapshot, immediate_snapshot, published, hard, verifier);
criterion_main!(rows);
