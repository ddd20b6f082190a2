//! Both phases against independent computations of the same result.

use std::collections::{BTreeSet, HashSet, VecDeque};
use std::sync::{Arc, Mutex};

use lineup::subjects::{Counter, Counter1, Queue, QueuePre};
use lineup::{Answer, AnySubject, Check, Invocation, Subject, Tally, Test, batch};
use shuttle::scheduler::DfsScheduler;
use shuttle::{Config, MaxSteps, Runner};
use snapshot_core::observation::{ConcurrentHistory, Event, Thread};

#[test]
fn serial_executions_have_the_multinomial_count() {
    for (rows, columns, expected) in [(2, 2, 6), (3, 2, 20), (2, 3, 90), (3, 3, 1_680)] {
        let column = vec![Counter::inc(); rows];
        let test = Test::new::<Counter>(vec![column; columns]).unwrap();
        let report = Check::new().preemptions(Some(0)).run(&test);
        assert_eq!(report.serial.observations.len(), expected);
        // Each once, and the first one twice.
        assert_eq!(report.serial.executions, expected as u64 + 1);
        assert!(report.serial.complete);
    }
}

/// Enumerates the serial behaviour of a queue: orders with their answers.
fn model(columns: &[Vec<String>]) -> BTreeSet<String> {
    fn extend(
        columns: &[Vec<String>],
        done: &mut Vec<usize>,
        queue: &VecDeque<u32>,
        text: &str,
        found: &mut BTreeSet<String>,
    ) {
        if done.iter().zip(columns).all(|(done, column)| *done == column.len()) {
            found.insert(text.to_owned());
        }
        for t in 0..columns.len() {
            let Some(operation) = columns[t].get(done[t]) else { continue };
            let mut queue = queue.clone();
            let answer = match operation.as_str() {
                "add(200)" => {
                    queue.push_back(200);
                    "()".to_owned()
                }
                "add(400)" => {
                    queue.push_back(400);
                    "()".to_owned()
                }
                "try_take" => format!("{:?}", queue.pop_front()),
                _ => match queue.pop_front() {
                    Some(value) => value.to_string(),
                    None => {
                        found.insert(format!("{text} {t}#"));
                        continue;
                    }
                },
            };
            done[t] += 1;
            extend(columns, done, &queue, &format!("{text} {t}:{answer}"), found);
            done[t] -= 1;
        }
    }
    let mut found = BTreeSet::new();
    extend(columns, &mut vec![0; columns.len()], &VecDeque::new(), "", &mut found);
    found
}

#[test]
fn phase_1_equals_the_plain_enumeration() {
    let tests = batch::all_tests(AnySubject::new::<Queue>(), (2, 2), 4).unwrap();
    let larger = batch::RandomCheck { shape: (2, 3), samples: 60, seed: 3, ..Default::default() };
    let (mut stuck, mut full) = (0, 0);
    for test in tests.into_iter().chain(larger.tests(AnySubject::new::<Queue>()).unwrap()) {
        let words = |column: &Vec<Invocation>| {
            column
                .iter()
                .map(|call| call.text().trim_end_matches("()").to_owned())
                .collect::<Vec<_>>()
        };
        let expected = model(&test.columns().iter().map(words).collect::<Vec<_>>());
        let observations = Check::new().observations(&test).unwrap();
        let text = |history: snapshot_core::observation::SerialHistory<Answer>| {
            let operations = history.operations.iter();
            let mut text: String =
                operations.map(|(t, answer)| format!(" {}:{answer:?}", t.index())).collect();
            if let Some(thread) = history.stuck {
                text.push_str(&format!(" {}#", thread.index()));
            }
            text
        };
        let ours: BTreeSet<String> = observations.histories().map(text).collect();
        assert_eq!(ours, expected, "{test:?}");
        stuck += observations.stuck();
        full += observations.len() - observations.stuck();
    }
    assert!(stuck > 300 && full > 1_000, "{stuck} stuck, {full} full");
}

/// Returns all histories of a test, by shuttle's own search, with plain threads.
fn by_shuttle<S: Subject>(test: &Test) -> HashSet<Vec<Event<Answer>>> {
    let found = Arc::new(Mutex::new(HashSet::new()));
    let notes = Arc::clone(&found);
    let test = test.clone();
    let mut config = Config::new();
    config.max_steps = MaxSteps::None;
    config.silence_warnings = true;
    Runner::new(DfsScheduler::new(None, false), config).run(move || {
        let subject = Arc::new(S::new());
        let events = Arc::new(Mutex::new(Vec::new()));
        let threads: Vec<_> = (0..test.columns().len())
            .map(|t| {
                let (subject, events) = (Arc::clone(&subject), Arc::clone(&events));
                let column = test.columns()[t].clone();
                shuttle::thread::spawn(move || {
                    for (index, invocation) in column.iter().enumerate() {
                        if index > 0 {
                            shuttle::thread::yield_now();
                        }
                        events.lock().unwrap().push(Event::Call(Thread::from_index(t)));
                        let answer = Answer::Returned(subject.call(invocation.typed()));
                        events.lock().unwrap().push(Event::Return(Thread::from_index(t), answer));
                    }
                })
            })
            .collect();
        for thread in threads {
            thread.join().unwrap();
        }
        let events = std::mem::take(&mut *events.lock().unwrap());
        notes.lock().unwrap().insert(events);
    });
    let mut found = found.lock().unwrap();
    std::mem::take(&mut *found)
}

fn agrees_with_shuttle<S: Subject>(test: &str) -> usize {
    let test = Test::parse::<S>(test).unwrap();
    let check = Check::new().preemptions(None).reduction(false);
    let ours: HashSet<Vec<Event<Answer>>> =
        check.histories(&test).unwrap().iter().map(|history| history.events().to_vec()).collect();
    let theirs = by_shuttle::<S>(&test);
    assert_eq!(ours, theirs, "{test:?}");
    ours.len()
}

#[test]
fn unbounded_histories_equal_those_of_shuttle() {
    let sizes = [
        agrees_with_shuttle::<Counter1>("inc | inc"),
        agrees_with_shuttle::<Counter1>("inc get | inc"),
        agrees_with_shuttle::<Counter1>("inc get | inc get"),
        agrees_with_shuttle::<Counter1>("get | inc | get"),
        agrees_with_shuttle::<Counter>("inc | get"),
        agrees_with_shuttle::<QueuePre>("add(200) | try_take"),
        agrees_with_shuttle::<QueuePre>("try_take | try_take"),
    ];
    assert!(sizes.iter().sum::<usize>() > 200, "{sizes:?}");
}

#[test]
fn higher_bounds_find_more_histories() {
    let test = Test::parse::<Counter1>("inc get | inc get").unwrap();
    let count = |bound| Check::new().preemptions(bound).histories(&test).unwrap().len();
    let counts = [count(Some(0)), count(Some(1)), count(Some(2)), count(Some(3)), count(None)];
    assert!(counts.is_sorted() && counts[0] < counts[1] && counts[1] < counts[2], "{counts:?}");
    // The result does not depend on earlier executions.
    let report =
        Check::new().preemptions(None).run(&lineup::test!(Counter, [inc(), get()], [inc()]));
    assert!(report.concurrent.complete);
    let tally = Arc::new(Tally::default());
    let counted = Check::new().preemptions(None).tallied(Some(Arc::clone(&tally)));
    let again = counted.run(&report.test);
    assert_eq!(report.concurrent.executions, again.concurrent.executions);
    // Another thread sees the same numbers.
    assert_eq!(tally.serial(), again.serial.executions);
    assert_eq!(tally.concurrent(), again.concurrent.executions);
    let bound = again.concurrent.bound.unwrap();
    assert!(
        tally.to_string().ends_with(&format!("up to {bound} preemptions at present")),
        "{tally}"
    );
}

#[test]
fn histories_fit_their_test() {
    let test = Test::parse::<Queue>("add(200) try_take | take").unwrap();
    let histories = Check::new().histories(&test).unwrap();
    let stuck = histories.iter().filter(|history| history.is_stuck()).count();
    assert!(stuck > 0 && stuck < histories.len());
    for history in histories {
        let events = history.events().to_vec();
        assert!(ConcurrentHistory::new(test.shape(), events, history.is_stuck()).is_ok());
    }
}
