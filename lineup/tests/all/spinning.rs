//! Threads that spin for ever as *stuck* (`Check::diverging`), against a model in which they wait:
//! all orders of the steps of small random programs, enumerated.

use std::collections::{BTreeSet, HashSet};

use lineup::{Answer, Check, Diverging, Invocation, Subject, Test, Text, Unknown, Verdict};
use lineup_std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use snapshot_core::observation::{ConcurrentHistory, Event, Judgement, Observations};
use snapshot_core::observation::{SerialHistory, Thread};
use test_support::effort::either;

use crate::reduction::order;

/// A step of an operation, on one of two cells.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
enum Step {
    Set(usize, u32),
    Read(usize),
    /// Waits until the cell has this value.
    Await(usize, u32),
    /// As `Await`, but gives up after this many reads.
    Try(usize, u32, u32),
    /// Waits until the cell is 0, and sets it.
    Lock(usize),
}

#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
enum Style {
    Yields,
    Silent,
    /// Writes the present value.
    Swaps,
}

type Operation = (Vec<Step>, Style);

/// Answer of an operation that gave up.
const GAVE_UP: u32 = 1_000;

/// The programs, with two cells of the stand-in.
struct Machine([AtomicU32; 2]);

impl Machine {
    fn rest(style: Style) {
        if style != Style::Silent {
            lineup_std::hint::spin_loop();
        }
    }

    fn lock(&self, cell: usize, style: Style) -> bool {
        match style {
            Style::Swaps => self.0[cell].swap(1, SeqCst) == 0,
            _ => self.0[cell].compare_exchange(0, 1, SeqCst, SeqCst).is_ok(),
        }
    }
}

impl Subject for Machine {
    type Invocation = Operation;

    const NAME: &'static str = "machine";

    fn new() -> Self {
        Self(Default::default())
    }

    fn call(&self, (steps, style): &Operation) -> Text {
        let mut answer = 0;
        for step in steps {
            match *step {
                Step::Set(cell, value) => self.0[cell].store(value, SeqCst),
                Step::Read(cell) => answer = answer * 4 + 1 + self.0[cell].load(SeqCst),
                Step::Await(cell, value) => {
                    while self.0[cell].load(SeqCst) != value {
                        Self::rest(*style);
                    }
                }
                Step::Try(cell, value, looks) => {
                    let mut left = looks;
                    while self.0[cell].load(SeqCst) != value {
                        left -= 1;
                        if left == 0 {
                            return Text::new(&GAVE_UP);
                        }
                        Self::rest(*style);
                    }
                }
                Step::Lock(cell) => {
                    while !self.lock(cell, *style) {
                        Self::rest(*style);
                    }
                }
            }
        }
        Text::new(&answer)
    }

    fn representatives() -> Vec<Operation> {
        Vec::new()
    }
}

/// State of a thread of the model: its operation, whether it was called, the step, the answer so
/// far, and the number of reads of a `Try`.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
struct Place {
    operation: usize,
    called: bool,
    step: usize,
    answer: u32,
    looks: u32,
}

/// A state of the model. A thread that waits does nothing.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
struct Model {
    cells: [u32; 2],
    places: Vec<Place>,
    events: Vec<Event<Answer>>,
}

impl Model {
    fn new(threads: usize) -> Self {
        Self { cells: [0; 2], places: vec![Place::default(); threads], events: Vec::new() }
    }

    /// After a step of a thread; `None` if it waits or is done.
    fn after(&self, columns: &[Vec<Operation>], t: usize) -> Option<Self> {
        let (steps, _) = columns[t].get(self.places[t].operation)?;
        let mut next = self.clone();
        let thread = Thread::from_index(t);
        let place = &mut next.places[t];
        if !place.called {
            place.called = true;
            next.events.push(Event::Call(thread));
            return Some(next);
        }
        let mut gave_up = false;
        match steps[place.step] {
            Step::Set(cell, value) => next.cells[cell] = value,
            Step::Read(cell) => place.answer = place.answer * 4 + 1 + self.cells[cell],
            Step::Await(cell, value) => (self.cells[cell] == value).then_some(())?,
            Step::Lock(cell) => {
                (self.cells[cell] == 0).then_some(())?;
                next.cells[cell] = 1;
            }
            Step::Try(cell, value, looks) if self.cells[cell] != value => {
                place.looks += 1;
                gave_up = place.looks == looks;
                if !gave_up {
                    return Some(next);
                }
            }
            Step::Try(..) => {}
        }
        place.step += 1;
        place.looks = 0;
        if gave_up || place.step == steps.len() {
            let answer = if gave_up { GAVE_UP } else { place.answer };
            next.events.push(Event::Return(thread, Answer::Returned(Text::new(&answer))));
            *place = Place { operation: place.operation + 1, ..Place::default() };
        }
        Some(next)
    }

    fn is_done(&self, columns: &[Vec<Operation>]) -> bool {
        self.places.iter().zip(columns).all(|(place, column)| place.operation == column.len())
    }
}

type Histories = HashSet<(Vec<Event<Answer>>, bool)>;

/// Returns all histories of all orders of steps, or of the serial orders.
fn enumerated(columns: &[Vec<Operation>], serial: bool) -> Histories {
    let (mut seen, mut found) = (HashSet::new(), HashSet::new());
    let mut open = vec![Model::new(columns.len())];
    while let Some(model) = open.pop() {
        let inside = model.places.iter().position(|place| place.called);
        let threads = match inside.filter(|_| serial) {
            Some(thread) => thread..thread + 1,
            None => 0..columns.len(),
        };
        let next: Vec<Model> = threads.filter_map(|t| model.after(columns, t)).collect();
        if next.is_empty() {
            let stuck = !model.is_done(columns);
            found.insert((model.events.clone(), stuck));
        }
        open.extend(next.into_iter().filter(|next| seen.insert(next.clone())));
    }
    found
}

/// Operations per thread.
const TWO: [&[usize]; 3] = [&[1, 1], &[2, 1], &[2, 2]];
const MORE: [&[usize]; 3] = [&[1, 1], &[2, 1], &[1, 1, 1]];

/// A random test, and the number of its steps and calls.
fn drawn(
    random: &mut ChaCha8Rng,
    shapes: &[&[usize]],
    styles: &[Style],
    looks: Option<u32>,
) -> (Test, usize) {
    let shape = shapes[random.random_range(0..shapes.len())];
    let most = if shape.iter().sum::<usize>() > 3 { 2 } else { 3 };
    let mut size = 0;
    let mut operation = |random: &mut ChaCha8Rng| {
        let style = styles[random.random_range(0..styles.len())];
        let length = random.random_range(1..=most);
        size += length + 1;
        let steps = (0..length).map(|_| {
            let (cell, value) = (random.random_range(0..2), random.random_range(0..2));
            match random.random_range(0..6) {
                0 | 1 => Step::Set(cell, value),
                2 => Step::Read(cell),
                3 => Step::Lock(cell),
                _ => match looks {
                    Some(looks) if random.random_range(0..2) == 0 => Step::Try(cell, value, looks),
                    _ => Step::Await(cell, value),
                },
            }
        });
        (steps.collect(), style)
    };
    let columns =
        shape.iter().map(|rows| (0..*rows).map(|_| operation(random)).collect()).collect();
    (Test::new::<Machine>(columns).unwrap(), size)
}

fn history(test: &Test, events: &[Event<Answer>], stuck: bool) -> Concurrent {
    ConcurrentHistory::new(test.shape(), events.to_vec(), stuck).unwrap()
}

type Concurrent = ConcurrentHistory<Answer>;

/// Returns the operations of each column.
fn columns(test: &Test) -> Vec<Vec<Operation>> {
    let typed =
        |column: &Vec<Invocation>| column.iter().map(|i| i.typed::<Operation>().clone()).collect();
    test.columns().iter().map(typed).collect()
}

/// Returns the observations of serial executions of the model.
fn observed(test: &Test) -> Observations<Answer> {
    let mut observations = Observations::new(*test.shape());
    for (events, stuck) in enumerated(&columns(test), true) {
        let operations = events.iter().filter_map(|event| match event {
            Event::Call(_) => None,
            Event::Return(thread, answer) => Some((*thread, answer.clone())),
        });
        let open = events.last().filter(|_| stuck).map(Event::thread);
        observations
            .insert(SerialHistory { operations: operations.collect(), stuck: open })
            .unwrap();
    }
    observations
}

fn check() -> Check {
    Check::new().preemptions(None).patience(100).diverging(Diverging::Stuck)
}

#[test]
fn endless_spinning_agrees_with_waiting() {
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let (mut tests, mut spinning, mut failures, mut serially) = (0, 0, 0, 0);
    while tests < either(15, 25) {
        let (test, size) = drawn(&mut random, &TWO, &[Style::Yields, Style::Swaps], None);
        if size > 7 {
            continue;
        }
        tests += 1;
        let expected: HashSet<Concurrent> = enumerated(&columns(&test), false)
            .iter()
            .map(|(events, stuck)| history(&test, events, *stuck))
            .collect();
        let histories = |reduces: bool| {
            let found = check().reduction(reduces).histories(&test);
            found.unwrap_or_else(|unknown| panic!("{test:?}: {unknown}"))
        };
        let found: HashSet<Concurrent> = histories(false).into_iter().collect();
        assert_eq!(found, expected, "{test:?}");
        let orders = |histories: &mut dyn Iterator<Item = &Concurrent>| {
            histories.map(|h| (order(h), h.is_stuck())).collect::<BTreeSet<_>>()
        };
        let reduced = orders(&mut histories(true).iter());
        assert_eq!(reduced, orders(&mut expected.iter()), "{test:?}");
        let serial = observed(&test);
        let observations = check().observations(&test).unwrap();
        let set = |of: &Observations<_>| of.histories().map(|h| format!("{h:?}")).collect();
        let (one, other): (BTreeSet<String>, BTreeSet<String>) = (set(&observations), set(&serial));
        assert_eq!(one, other, "{test:?}");
        let report = check().run(&test);
        let fails = expected.iter().any(|h| serial.judge(h) != Judgement::Linearizable);
        assert_eq!(report.verdict.fails(), fails, "{test:?}");
        assert!(!matches!(report.verdict, Verdict::Unknown(_)), "{test:?}: {:?}", report.verdict);
        serially += u64::from(report.serial.spinning > 0);
        spinning += report.concurrent.spinning;
        let Verdict::Violation(violation) = &report.verdict else { continue };
        failures += u32::from(violation.spins);
        // Its schedule ends where threads begin to spin, and leads there again.
        let replayed = check().replay(&test, &violation.schedule).unwrap();
        assert_eq!(replayed.diverged, None, "{test:?}");
        assert_eq!(replayed.history.as_ref(), Some(&violation.history));
        assert!(violation.schedule.0.iter().all(|segment| segment.steps < 300), "{violation:?}");
    }
    assert!(spinning > 25 && failures > 1 && serially > 8, "{spinning} {failures} {serially}");
}

/// With little patience, operations that give up after more reads seem to spin for ever.
#[test]
fn operations_that_give_up_cause_no_false_failure() {
    let mut random = ChaCha8Rng::seed_from_u64(2);
    let (mut tests, mut gave_up, mut failures) = (0, 0, 0);
    while tests < 60 && (tests < 25 || failures == 0) {
        let (test, size) = drawn(&mut random, &TWO, &[Style::Yields], Some(40));
        let gives_up = |(steps, _): &Operation| steps.iter().any(|s| matches!(s, Step::Try(..)));
        if size > 7 || !columns(&test).iter().flatten().any(gives_up) {
            continue;
        }
        tests += 1;
        let verdict = check().patience(60).run(&test).verdict;
        gave_up += u32::from(matches!(verdict, Verdict::Unknown(Unknown::Spinning { .. })));
        if !verdict.fails() {
            continue;
        }
        failures += 1;
        let serial = observed(&test);
        let fails = enumerated(&columns(&test), false).iter().any(|(events, stuck)| {
            serial.judge(&history(&test, events, *stuck)) != Judgement::Linearizable
        });
        assert!(fails, "{test:?}: {verdict:?}");
    }
    assert!(gave_up > 0 && failures > 0, "{gave_up} {failures}");
}

/// Threads that spin without a hint, without preemptions: the model has each history found.
#[test]
fn silent_spinning_finds_only_histories_of_the_model() {
    let mut random = ChaCha8Rng::seed_from_u64(3);
    let (mut tests, mut spinning, mut failures) = (0, 0, 0);
    while tests < 40 {
        let (test, size) = drawn(&mut random, &MORE, &[Style::Silent, Style::Yields], None);
        if size > 7 || columns(&test).iter().flatten().all(|(_, style)| *style == Style::Yields) {
            continue;
        }
        tests += 1;
        let model = enumerated(&columns(&test), false);
        let expected: HashSet<Concurrent> =
            model.iter().map(|(events, stuck)| history(&test, events, *stuck)).collect();
        let check = check().preemptions(Some(0)).patience(1_000);
        for found in check.histories(&test).unwrap() {
            assert!(expected.contains(&found), "{test:?}: {found:?}");
        }
        let serial = observed(&test);
        let report = check.run(&test);
        assert!(!matches!(report.verdict, Verdict::Unknown(_)), "{test:?}: {:?}", report.verdict);
        spinning += report.concurrent.spinning;
        failures += u32::from(report.verdict.fails());
        let fails = expected.iter().any(|h| serial.judge(h) != Judgement::Linearizable);
        assert!(fails || !report.verdict.fails(), "{test:?}");
    }
    assert!(spinning > 10 && failures > 1, "{spinning} {failures}");
}

lineup::subject! {
    /// A gate that is opened only if no thread waits.
    pub(crate) Gate(gate: (AtomicU32, AtomicU32)) = Default::default();
    pass() => {
        gate.1.fetch_add(1, SeqCst);
        while gate.0.load(SeqCst) == 0 { lineup_std::hint::spin_loop(); }
    };
    open() => if gate.1.load(SeqCst) == 0 { gate.0.store(1, SeqCst) };
}

lineup::subject! {
    /// As `Gate`, with atomics whose changes the scheduler does not see.
    Unseen(gate: shuttle::sync::atomic::AtomicU32) = Default::default();
    pass() => while gate.load(SeqCst) == 0 { shuttle::hint::spin_loop(); };
    open() => {};
}

lineup::subject! {
    /// Spins, and changes the cell each time, in various ways.
    Busy(cell: AtomicU32) = AtomicU32::new(0);
    add() => turns(|_| cell.fetch_add(1, SeqCst));
    store() => turns(|turn| cell.store(turn, SeqCst));
    swap() => turns(|turn| cell.swap(turn, SeqCst));
    exchange() => turns(|turn| cell.compare_exchange(turn - 1, turn, SeqCst, SeqCst));
    locks() => turns(|_| drop(lineup_std::controlled::Mutex::new(()).lock()));
    same() => turns(|_| cell.swap(0, SeqCst));
}

fn turns<T>(step: impl Fn(u32) -> T) {
    for turn in 1..1_000_000 {
        step(turn);
        lineup_std::hint::spin_loop();
    }
}

#[test]
fn closed_gate_is_stuck_under_diverging_stuck() {
    let test = Test::parse::<Gate>("pass | open").unwrap();
    let unknown = |verdict: Verdict| matches!(verdict, Verdict::Unknown(Unknown::Diverging { .. }));
    assert!(unknown(Check::new().run(&test).verdict), "only if it is requested");
    let check = Check::new().diverging(Diverging::Stuck);
    for check in [check.clone(), check.clone().unwinding(true)] {
        let report = check.minimise(check.run(&test));
        assert!(report.verdict.fails(), "{report:?}");
        let text = lineup::report::report(&check, &report);
        for part in [
            "FAIL: an execution gets stuck where no serial one does",
            "~ A spins at ",
            ", and nothing changes\n",
            "This presumes that an operation which spins while nothing changes never gives up by",
            "1 of 2 serial executions get stuck (1 of them spin)",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
        let Verdict::Violation(violation) = &report.verdict else { unreachable!() };
        assert!(violation.spins);
        let file = lineup::Failure::new(&report.test, violation).text();
        assert!(lineup::Failure::parse(&file).unwrap().spins);
    }
    // Alone it is stuck serially, too; this is a failure only if the check counts it as one.
    let alone = Test::parse::<Gate>("pass").unwrap();
    assert!(matches!(check.run(&alone).verdict, Verdict::Pass { .. }));
    assert!(matches!(check.clone().total(true).run(&alone).verdict, Verdict::NotTotal(_)));
}

#[test]
fn spins_that_may_see_a_change_are_unknown() {
    let check = Check::new().diverging(Diverging::Stuck);
    assert_eq!(check.run(&Test::parse::<Unseen>("pass | open").unwrap()).verdict.word(), "unknown");
    let check = Check::new().diverging(Diverging::Stuck);
    for test in ["add", "store", "swap", "exchange", "locks", "add | same"] {
        let verdict = check.run(&Test::parse::<Busy>(test).unwrap()).verdict;
        assert_eq!(verdict.word(), "unknown", "{test}: {verdict:?}");
    }
    // It gives up in the end, which is not seen, but nothing changes meanwhile.
    let verdict = check.run(&Test::parse::<Busy>("same").unwrap()).verdict;
    assert!(matches!(verdict, Verdict::Pass { .. }), "{verdict:?}");
}
