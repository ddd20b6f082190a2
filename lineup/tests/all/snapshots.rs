//! Snapshots with real atomics, judged three ways: by their serial executions, by the
//! snapshot's specification, and by the linear-time check of histories. Same answers.

use lineup::subjects::snapshots::{
    Afek, Algorithm, Bowman, DoubleCollect, Locked, N, NaiveCollect, Operation, SeqLock, Snapshot,
    View, test,
};
use lineup::{Answer, Check, Test, Text, Verdict};
use snapshot_core::Segment;
use snapshot_core::check::check;
use snapshot_core::generic::objects::{self, SnapshotInput, SnapshotOutput};
use snapshot_core::history::Declaration;
use snapshot_core::observation::{ConcurrentHistory, Event, Judgement};
use snapshot_core::search::Budget;
use snapshot_core::{History, verdict};
use test_support::effort::either;

/// Returns the view of a scan's response; `None` for that of an update.
fn view(response: &Text) -> Option<View> {
    let values = response.0.strip_prefix('[')?.strip_suffix(']')?.split(", ");
    let values: Vec<u8> = values.map(|value| value.parse().unwrap()).collect();
    Some(values.try_into().unwrap())
}

/// The linear-time check: true if the history is linearizable, and the words of its argument.
fn linear(test: &Test, history: &ConcurrentHistory<Answer>) -> bool {
    let mut recorded = History::builder(Declaration::new(0).with_segments(N)).unwrap();
    let mut called = [0; N];
    for event in history.events() {
        let thread = event.thread();
        let p = thread.index();
        match event {
            Event::Call(_) => {
                match test.sequence(thread)[called[p]].typed() {
                    Operation::Update { value, .. } => {
                        recorded.invoke_update(p, p, *value).unwrap()
                    }
                    Operation::Scan { .. } => recorded.invoke_scan(p).unwrap(),
                }
                called[p] += 1;
            }
            Event::Return(_, Answer::Returned(response)) => match view(response) {
                Some(view) => recorded.respond_scan(p, &view).unwrap(),
                None => recorded.respond_update(p).unwrap(),
            },
            Event::Return(_, Answer::Panicked(message)) => panic!("{message}"),
        }
    }
    let mut budget = Budget { memory: 1 << 24, proceed: &mut || true };
    match check(&recorded.finish(), &mut budget).verdict {
        verdict::Verdict::Linearizable(_) => true,
        verdict::Verdict::Violation(_) => false,
        other => panic!("small histories are decided, but: {other:?}"),
    }
}

#[derive(Debug, Default)]
struct Counts {
    tests: usize,
    failing: usize,
    histories: usize,
    wrong: usize,
}

/// Judges all histories of each test in three ways, and runs the checks themselves.
fn judged<A: Algorithm>(tests: &[&str], executions: u64) -> Counts {
    let mut counts = Counts::default();
    for columns in tests {
        let columns: Vec<Vec<bool>> = columns
            .split('|')
            .map(|column| column.trim().chars().map(|letter| letter == 'u').collect())
            .collect();
        let test = test::<A>(&columns).unwrap();
        let serial = Check::new().executions(Some(executions));
        let specified = serial.clone().against::<Snapshot<A>, _>(
            objects::Snapshot { initial: vec![0_u8; N].into() },
            |operation| match *operation {
                Operation::Update { process, value } => {
                    SnapshotInput::Update { segment: Segment::from_index(process), value }
                }
                Operation::Scan { .. } => SnapshotInput::Scan,
            },
            |_, response| {
                Some(match view(response) {
                    None => SnapshotOutput::Updated,
                    Some(view) => SnapshotOutput::Scanned(view.to_vec().into()),
                })
            },
        );
        let (one, two) = (serial.run(&test), specified.run(&test));
        assert_eq!(one.verdict.fails(), two.verdict.fails(), "{} {test:?}", A::NAME);
        assert!(!matches!(one.verdict, Verdict::Unknown(_)), "{} {:?}", A::NAME, one.verdict);
        if let (Verdict::Violation(one), Verdict::Violation(two)) = (&one.verdict, &two.verdict) {
            assert_eq!(one.history, two.history, "the first that fails is the same");
            assert!(!linear(&test, &one.history));
        }
        let observations = serial.observations(&test).unwrap();
        let mut fails = false;
        for history in serial.histories(&test).unwrap() {
            let good = observations.judge(&history) == Judgement::Linearizable;
            assert_eq!(linear(&test, &history), good, "{} {test:?} {history:?}", A::NAME);
            counts.histories += 1;
            counts.wrong += usize::from(!good);
            fails |= !good;
        }
        assert_eq!(fails, one.verdict.fails());
        counts.tests += 1;
        counts.failing += usize::from(fails);
    }
    counts
}

/// `u` is an update, `s` a scan.
const TESTS: [&str; 7] = ["us|us", "uu|s", "uu|ss", "u|u|s", "su|us", "u|s|s", "uu|u|s"];

#[test]
fn right_snapshots_pass_all_three_judges() {
    let tests = &TESTS[..either(4, TESTS.len())];
    for counts in [
        judged::<Locked>(tests, 500),
        judged::<DoubleCollect<false>>(tests, 500),
        judged::<SeqLock<false>>(tests, 500),
        judged::<Bowman<false>>(tests, 500),
        judged::<Afek<false>>(tests, 500),
    ] {
        assert_eq!((counts.tests, counts.wrong), (tests.len(), 0), "{counts:?}");
        assert!(counts.histories > either(50, 150), "{counts:?}");
    }
}

#[test]
fn wrong_snapshots_fail_all_three_judges() {
    let tests = &TESTS[..either(4, TESTS.len())];
    let all = [
        ("naive", judged::<NaiveCollect>(tests, 4_000)),
        ("lax double collect", judged::<DoubleCollect<true>>(tests, 4_000)),
        ("lax seqlock", judged::<SeqLock<true>>(tests, 4_000)),
        ("afek without numbers", judged::<Afek<true>>(&["u|u|s"], 40_000)),
        ("bowman, early", judged::<Bowman<true>>(&["us|us|s", "us|u|ss"][..either(1, 2)], 60_000)),
    ];
    for (name, counts) in all {
        assert!(counts.failing > 0 && counts.wrong > 0, "{name}: {counts:?}");
        assert!(counts.wrong < counts.histories, "{name}: {counts:?}");
    }
}
