//! A plain stress test on the planted bugs: real threads, and a clock that decides which operations
//! ended before others began. `cargo run --release --bin stress [BUG]..`
//!
//! An execution is right if it equals a serial one, executed beforehand, in an order that respects
//! time. A test in which a thread may wait is right if it ends.
#![forbid(unsafe_code)]

use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use beside::{
    Bug, Object, Said, Test, bags, collections, counters, each_bug, events, line, lists, queues,
    tasks,
};

/// Time for each bug.
const TIME: Duration = Duration::from_secs(10);
/// Time after which unfinished threads count as waiting for ever.
const HANG: Duration = Duration::from_secs(1);

/// An operation: its call and return times, and its answer.
type Operation = (usize, usize, String);

/// Returns orders of threads, with the answers of each thread.
fn serial<O: Object>(test: &Test) -> Vec<(Vec<usize>, Vec<Vec<String>>)> {
    let mut orders = vec![Vec::new()];
    for _ in 0..test.columns.iter().map(Vec::len).sum() {
        let longer = |order: &Vec<usize>| {
            let used = |t: usize| order.iter().filter(|u| **u == t).count();
            let next = (0..test.columns.len()).filter(|t| used(*t) < test.columns[*t].len());
            next.map(|t| [&order[..], &[t]].concat()).collect::<Vec<_>>()
        };
        orders = orders.iter().flat_map(longer).collect();
    }
    let execute = |order: Vec<usize>| {
        let object = O::new();
        test.initial.iter().for_each(|operation| drop(object.call(operation)));
        let mut answers = vec![Vec::new(); test.columns.len()];
        for t in &order {
            let next = answers[*t].len();
            answers[*t].push(object.call(&test.columns[*t][next]));
        }
        (order, answers)
    };
    orders.into_iter().map(execute).collect()
}

fn is_witness(order: &[usize], answers: &[Vec<String>], columns: &[Vec<Operation>]) -> bool {
    let same = columns
        .iter()
        .zip(answers)
        .all(|(operations, answers)| operations.iter().map(|(_, _, answer)| answer).eq(answers));
    let mut next = vec![0; columns.len()];
    let mut latest = 0;
    same && order.iter().all(|t| {
        let (called, returned, _) = &columns[*t][next[*t]];
        next[*t] += 1;
        // No earlier operation in the order was called after this one returned.
        let fits = latest <= *returned;
        latest = latest.max(*called);
        fits
    })
}

struct Round<O> {
    number: AtomicUsize,
    done: AtomicUsize,
    clock: AtomicUsize,
    object: Mutex<Arc<O>>,
    columns: Vec<Mutex<Vec<Operation>>>,
}

fn said<O: Object>(bug: Bug) -> Said {
    let test = Test::parse(bug.test);
    let serial = if bug.waits { Vec::new() } else { serial::<O>(&test) };
    let threads = test.columns.len();
    let round = Arc::new(Round {
        number: AtomicUsize::new(0),
        done: AtomicUsize::new(0),
        clock: AtomicUsize::new(0),
        object: Mutex::new(Arc::new(O::new())),
        columns: (0..threads).map(|_| Mutex::new(Vec::new())).collect(),
    });
    for (t, column) in test.columns.iter().enumerate() {
        let (round, column) = (Arc::clone(&round), column.clone());
        std::thread::spawn(move || {
            for number in 1.. {
                while round.number.load(SeqCst) < number {
                    std::hint::spin_loop();
                }
                if round.number.load(SeqCst) == usize::MAX {
                    return;
                }
                let object = Arc::clone(&round.object.lock().expect("no thread panics"));
                let operation = |operation: &String| {
                    let called = round.clock.fetch_add(1, SeqCst);
                    let answer = object.call(operation);
                    (called, round.clock.fetch_add(1, SeqCst), answer)
                };
                let operations = column.iter().map(operation).collect();
                *round.columns[t].lock().expect("no thread panics") = operations;
                round.done.fetch_add(1, SeqCst);
            }
        });
    }
    let start = Instant::now();
    let mut number = 0;
    let word = loop {
        if start.elapsed() > TIME {
            break "nothing";
        }
        let object = O::new();
        test.initial.iter().for_each(|operation| drop(object.call(operation)));
        *round.object.lock().expect("no thread panics") = Arc::new(object);
        round.done.store(0, SeqCst);
        number += 1;
        round.number.store(number, SeqCst);
        let began = Instant::now();
        while round.done.load(SeqCst) < threads && began.elapsed() < HANG {
            std::thread::yield_now();
        }
        if round.done.load(SeqCst) < threads {
            break "hangs";
        }
        let columns: Vec<Vec<Operation>> = round
            .columns
            .iter()
            .map(|column| column.lock().expect("no thread panics").clone())
            .collect();
        let right = |(order, answers): &(Vec<usize>, Vec<Vec<String>>)| {
            is_witness(order, answers, &columns)
        };
        if !bug.waits && !serial.iter().any(right) {
            break "not linearizable";
        }
    };
    round.number.store(usize::MAX, SeqCst);
    Said { word, executions: number as u64 }
}

macro_rules! ask {
    ($name:literal, $wrong:ty, $right:ty, $test:literal, $waits:literal) => {
        line("stress", Bug { name: $name, test: $test, waits: $waits }, |bug, right| {
            if right { said::<$right>(bug) } else { said::<$wrong>(bug) }
        })
    };
}

fn main() {
    each_bug!(ask);
}
