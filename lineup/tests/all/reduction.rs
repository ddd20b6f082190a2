//! One execution per trace against every order of steps: the same orders of returns before calls,
//! with the same answers, at every bound.

use std::collections::BTreeSet;
use std::sync::Arc;

use lineup::subjects::{
    BlockingCollection, BlockingCollectionD, Counter, Counter1, ManualResetEvent,
    ManualResetEventPre, Queue, QueuePre, TaskSourceG,
};
use lineup::sync::atomic::{AtomicU32, Ordering::SeqCst};
use lineup::sync::{Condvar, Mutex, RwLock};
use lineup::{Answer, Check, Subject, Tally, Test, Text, Unknown, Verdict, hint, thread};
use rand::{RngExt, SeedableRng, seq::IndexedRandom};
use rand_chacha::ChaCha8Rng;
use snapshot_core::observation::{ConcurrentHistory, Event};
use test_support::effort::either;

/// An operation: its thread, its answer if it returned, and the number of operations of each thread
/// that returned before it was called.
pub(crate) type Order = BTreeSet<(usize, usize, Option<Answer>, Vec<usize>)>;

pub(crate) fn order(history: &ConcurrentHistory<Answer>) -> Order {
    let mut returned = vec![0; 16];
    let mut open = vec![None; 16];
    let mut order = Order::new();
    for event in history.events() {
        let thread = event.thread().index();
        match event {
            Event::Call(_) => open[thread] = Some(returned.clone()),
            Event::Return(_, answer) => {
                let before = open[thread].take().unwrap();
                order.insert((thread, returned[thread], Some(answer.clone()), before));
                returned[thread] += 1;
            }
        }
    }
    for (thread, before) in open.into_iter().enumerate() {
        order.extend(before.map(|before| (thread, returned[thread], None, before)));
    }
    order
}

/// The bounds at which both enumerations are compared.
const BOUNDS: [Option<u32>; 4] = [Some(0), Some(1), Some(2), None];

/// Results of a comparison.
#[derive(Clone, Copy, Debug, Default)]
struct Numbers {
    /// Comparisons; none if there are too many executions.
    compared: usize,
    /// Executions with all orders of steps.
    plain: u64,
    /// Executions with the reduction.
    reduced: u64,
    orders: usize,
    stuck: usize,
}

impl std::ops::AddAssign for Numbers {
    fn add_assign(&mut self, other: Self) {
        self.compared += other.compared;
        self.plain += other.plain;
        self.reduced += other.reduced;
        self.orders += other.orders;
        self.stuck += other.stuck;
    }
}

/// Compares both enumerations of a test, unless one has too many executions, or the reason why
/// there is no answer is returned.
fn compared(test: &Test, bound: Option<u32>, most: u64) -> Result<Numbers, Unknown> {
    let run = |reduces: bool| {
        let tally = Arc::new(Tally::default());
        let check = Check::new().preemptions(bound).reduction(reduces);
        let check = check.patience(300).executions(Some(most)).tallied(Some(Arc::clone(&tally)));
        let histories = check.histories(test)?;
        let orders: BTreeSet<_> = histories.iter().map(|h| (order(h), h.is_stuck())).collect();
        Ok::<_, Unknown>((tally.concurrent(), orders))
    };
    let (plain, expected) = run(false)?;
    if plain >= most {
        return Ok(Numbers::default());
    }
    let (reduced, found) = run(true)?;
    assert!(reduced <= plain, "{test:?} at {bound:?}");
    if expected != found {
        let missed: Vec<_> = expected.difference(&found).take(2).collect();
        let added: Vec<_> = found.difference(&expected).take(2).collect();
        panic!("{test:?} at {bound:?}: missed {missed:?}, added {added:?}");
    }
    let stuck = found.iter().filter(|(_, is_stuck)| *is_stuck).count();
    Ok(Numbers { compared: 1, plain, reduced, orders: found.len(), stuck })
}

/// Three increments on each of two threads have 141 orders, in 328 traces, and 3,116 orders of steps.
#[test]
fn a_counter_behind_a_lock_needs_two_executions_per_trace() {
    let test = Test::parse::<Counter>("inc inc inc | inc inc inc").unwrap();
    let check = Check::new().preemptions(None);
    let report = check.run(&test);
    assert!(matches!(report.verdict, Verdict::Pass { complete: true }), "{report:?}");
    assert!(report.concurrent.executions <= 1_200, "{report:?}");
    let orders: BTreeSet<_> = check.histories(&test).unwrap().iter().map(order).collect();
    assert_eq!(orders.len(), 141);
}

fn agrees<S: Subject>(test: &str, sum: &mut Numbers) {
    let test = Test::parse::<S>(test).unwrap();
    BOUNDS.into_iter().for_each(|bound| *sum += compared(&test, bound, 40_000).unwrap());
}

#[test]
fn the_objects_of_the_paper_have_the_same_orders() {
    let mut sum = Numbers::default();
    agrees::<Counter>("inc get | inc", &mut sum);
    agrees::<Counter1>("inc get | inc", &mut sum);
    agrees::<Queue>("add(200) try_take | take", &mut sum);
    agrees::<QueuePre>("add(200) try_take | add(400)", &mut sum);
    agrees::<BlockingCollection>("take | complete_adding", &mut sum);
    agrees::<BlockingCollectionD>("take | complete_adding", &mut sum);
    agrees::<TaskSourceG>("try_set(1) | try_set(2) result", &mut sum);
    agrees::<ManualResetEvent>("wait | set", &mut sum);
    agrees::<ManualResetEventPre>("wait | set reset", &mut sum);
    assert_eq!(sum.compared, 36);
    assert!(sum.orders > 150 && sum.stuck > 10 && sum.reduced * 2 < sum.plain, "{sum:?}");
}

/// A statement of a random operation.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
enum Statement {
    Load(usize),
    Store(usize, u32),
    Add(usize),
    Exchange(usize, u32),
    /// Reads and writes the value behind a lock.
    Locked(usize),
    /// As `Locked`, with an atomic step inside.
    LockedAround(usize, usize),
    TryLock(usize),
    Read,
    Write,
    /// Waits at the condition variable until the value behind lock 0 is positive.
    Wait,
    /// Adds to the value, and notifies one or all.
    Notify(bool),
    /// Spins until an atomic is positive, at most this often.
    Spin(usize, u32),
    /// Parks until an atomic is positive.
    Park,
    /// Makes it positive, and unparks the thread that parks.
    Unpark,
    /// A step of an object whose accesses are not announced.
    ForeignLoad,
    ForeignStore(u32),
}

/// State for random operations.
#[derive(Default)]
struct Machine {
    atomics: [AtomicU32; 3],
    locks: [Mutex<u32>; 2],
    changed: Condvar,
    shared: RwLock<u32>,
    parking: Mutex<Option<thread::Thread>>,
    foreign: shuttle::sync::atomic::AtomicU32,
}

impl Machine {
    fn execute(&self, statement: Statement) -> u32 {
        let locked = |index: usize| self.locks[index].lock().unwrap();
        match statement {
            Statement::Load(atomic) => self.atomics[atomic].load(SeqCst),
            Statement::ForeignLoad => self.foreign.load(SeqCst),
            Statement::ForeignStore(value) => {
                self.foreign.store(value, SeqCst);
                0
            }
            Statement::Store(atomic, value) => {
                self.atomics[atomic].store(value, SeqCst);
                0
            }
            Statement::Add(atomic) => self.atomics[atomic].fetch_add(1, SeqCst),
            Statement::Exchange(atomic, value) => {
                let found = self.atomics[atomic].compare_exchange(0, value, SeqCst, SeqCst);
                u32::from(found.is_ok())
            }
            Statement::Locked(lock) => {
                let mut value = locked(lock);
                *value += 1;
                *value
            }
            Statement::LockedAround(lock, atomic) => {
                let mut value = locked(lock);
                *value = self.atomics[atomic].fetch_add(1, SeqCst);
                *value
            }
            Statement::TryLock(lock) => match self.locks[lock].try_lock() {
                Ok(value) => *value,
                Err(_) => 99,
            },
            Statement::Read => *self.shared.read().unwrap(),
            Statement::Write => {
                *self.shared.write().unwrap() += 1;
                0
            }
            Statement::Wait => {
                let mut value = locked(0);
                while *value == 0 {
                    value = self.changed.wait(value).unwrap();
                }
                *value -= 1;
                *value
            }
            Statement::Notify(all) => {
                *locked(0) += 1;
                if all {
                    self.changed.notify_all()
                } else {
                    self.changed.notify_one()
                }
                0
            }
            Statement::Spin(atomic, times) => {
                let mut rounds = 0;
                while self.atomics[atomic].load(SeqCst) == 0 && rounds < times {
                    hint::spin_loop();
                    rounds += 1;
                }
                rounds
            }
            Statement::Park => {
                *self.parking.lock().unwrap() = Some(thread::current());
                while self.atomics[0].load(SeqCst) == 0 {
                    thread::park();
                }
                0
            }
            Statement::Unpark => {
                self.atomics[0].store(1, SeqCst);
                let parked = self.parking.lock().unwrap().take();
                parked.map_or(0, |parked| {
                    parked.unpark();
                    1
                })
            }
        }
    }
}

impl Subject for Machine {
    type Invocation = Vec<Statement>;

    const NAME: &'static str = "Machine";

    fn new() -> Self {
        Self::default()
    }

    fn call(&self, statements: &Vec<Statement>) -> Text {
        Text::new(&statements.iter().map(|statement| self.execute(*statement)).collect::<Vec<_>>())
    }

    fn representatives() -> Vec<Vec<Statement>> {
        Vec::new()
    }
}

/// Makes a random test of few steps; `family` chooses the statements.
fn random_test(random: &mut ChaCha8Rng, family: usize) -> Test {
    use Statement::*;
    let any: &[Statement] = match family {
        0 => &[Load(0), Load(1), Store(0, 1), Store(0, 2), Add(0), Add(2), Exchange(1, 2)],
        1 => &[Locked(0), Locked(1), TryLock(0), LockedAround(1, 0), Load(0), Read, Write],
        2 => &[Wait, Wait, Notify(false), Notify(true), Locked(0), Load(1)],
        3 => &[Spin(0, 2), Spin(1, 3), Store(0, 1), Store(1, 1), Add(1), Locked(1)],
        _ => &[Park, Park, Unpark, Unpark, Load(1), Add(1)],
    };
    let threads = random.random_range(2..=3);
    let columns = (0..threads)
        .map(|_| {
            let operations = random.random_range(1..=4 - threads);
            (0..operations)
                .map(|_| {
                    let statements = random.random_range(1..=2);
                    (0..statements).map(|_| *any.choose(random).unwrap()).collect()
                })
                .collect()
        })
        .collect();
    Test::new::<Machine>(columns).unwrap()
}

/// Each program shows one kind of dependence: without it, orders are missed.
#[test]
fn the_order_of_dependent_steps_matters() {
    use Statement::*;
    let programs = [
        vec![vec![vec![Store(0, 1)], vec![Load(0)]], vec![vec![Store(0, 2)], vec![Load(0)]]],
        vec![vec![vec![Add(0), Load(1), Load(1)]], vec![vec![Add(0), Load(1), Load(1)]]],
        vec![
            vec![vec![ForeignStore(1)], vec![ForeignLoad]],
            vec![vec![ForeignStore(2)], vec![ForeignLoad]],
        ],
        vec![vec![vec![ForeignStore(1), Load(0), Load(0)]], vec![vec![ForeignLoad, Load(1)]]],
        vec![vec![vec![Locked(0)], vec![Locked(1)]], vec![vec![Locked(1)], vec![Locked(0)]]],
        vec![vec![vec![Write], vec![Read]], vec![vec![Read, Read]]],
        vec![vec![vec![Wait, Add(0)]], vec![vec![Notify(false)], vec![Add(0)]]],
    ];
    for columns in programs {
        let test = Test::new::<Machine>(columns).unwrap();
        let mut sum = Numbers::default();
        BOUNDS.into_iter().for_each(|bound| sum += compared(&test, bound, 20_000).unwrap());
        assert!(sum.compared >= 3 && sum.orders > 8, "{test:?}: {sum:?}");
    }
}

#[test]
fn random_programs_have_the_same_orders() {
    let alone = Test::new::<Machine>(vec![vec![vec![Statement::Park]]]).unwrap();
    assert!(Check::new().histories(&alone).unwrap()[0].is_stuck());
    let (programs, most) = either((20, 100), (1_000, 5_000));
    let mut random = ChaCha8Rng::seed_from_u64(11);
    let mut done = [Numbers::default(); 5];
    for number in 0..programs {
        let family = number % 5;
        let test = random_test(&mut random, family);
        for bound in BOUNDS {
            match compared(&test, bound, most) {
                Ok(numbers) => done[family] += numbers,
                Err(unknown) => panic!("{test:?} at {bound:?}: {unknown}"),
            }
        }
    }
    eprintln!("{done:?}");
    for sum in done {
        assert!(sum.compared * 3 > programs / 5 * BOUNDS.len(), "{done:?}");
        assert!(sum.orders > 20 && sum.reduced < sum.plain, "{done:?}");
    }
    // Waiting at the condition variable, and parking.
    assert!(done[2].stuck > programs / 5 && done[4].stuck > 0, "{done:?}");
}
