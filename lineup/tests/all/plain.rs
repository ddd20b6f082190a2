//! Accesses of plain memory: a switch between an atomic operation and the access behind it, only
//! where two accesses are not ordered.

use std::collections::BTreeSet;
use std::sync::atomic::AtomicU32 as Word;
use std::sync::{Arc, Mutex as Memory};

use lineup::cell::{Cell, UnsafeCell};
use lineup::sync::atomic::{AtomicU32, AtomicUsize, Ordering::SeqCst};
use lineup::{Check, ConcurrentPhase, Subject, Tally, Test, Text, Verdict, plain_access, report};
use rand::{RngExt, SeedableRng, seq::IndexedRandom};
use rand_chacha::ChaCha8Rng;
use test_support::effort::either;

use crate::reduction::order;

/// A hand-over by a flag and the cell behind it.
#[derive(Default)]
struct Hand<const SEEN: bool> {
    state: AtomicUsize,
    /// Plain memory: the lock is one of `std`, and its steps are not seen.
    value: Memory<Option<u32>>,
}

impl<const SEEN: bool> Hand<SEEN> {
    fn access(&self) {
        if SEEN {
            plain_access(&self.value, true);
        }
    }

    fn take(&self) -> Option<u32> {
        self.access();
        self.value.lock().unwrap().take()
    }

    fn send(&self, value: u32) -> Result<(), u32> {
        self.access();
        *self.value.lock().unwrap() = Some(value);
        if self.state.fetch_or(2, SeqCst) & 1 != 0 {
            return Err(self.take().unwrap());
        }
        Ok(())
    }

    fn try_recv(&self) -> Option<u32> {
        if self.state.load(SeqCst) & 2 != 0 { self.take() } else { None }
    }
}

lineup::subject! {
    /// The receiver may take the value that the sender takes back, since it is closed.
    Handshake(hand: Hand<true>) = Hand::default();
    send(value: u32) in [1] => hand.send(value);
    close() => { hand.state.fetch_or(1, SeqCst); };
    try_recv() => hand.try_recv();
}

lineup::subject! {
    /// The receiver never closes.
    HandOver(hand: Hand<true>) = Hand::default();
    send(value: u32) in [1] => hand.send(value);
    try_recv() => hand.try_recv();
}

lineup::subject! {
    /// As `HandOver`, with accesses that are not seen.
    HandOverUnseen(hand: Hand<false>) = Hand::default();
    send(value: u32) in [1] => hand.send(value);
    try_recv() => hand.try_recv();
}

fn all_executions<S: Subject>(test: &str) -> ConcurrentPhase {
    Check::new().preemptions(None).run(&Test::parse::<S>(test).unwrap()).concurrent
}

#[test]
fn a_switch_behind_an_atomic_operation_is_tried() {
    let test = Test::parse::<Handshake>("send(1) | close try_recv").unwrap();
    let check = Check::new();
    let failed = check.run(&test);
    assert!(failed.verdict.fails(), "{failed:?}");
    let text = report::report(&check, &failed);
    assert!(text.contains("-> panic: called `Option::unwrap()` on a `None` value"), "{text}");
    assert!(text.contains("plain memory: threads are switched before"), "{text}");
    assert!(!failed.concurrent.unordered.is_empty());
    let Verdict::Violation(violation) = &failed.verdict else { panic!("{text}") };
    let again = check.replay(&test, &violation.schedule).unwrap();
    assert_eq!(again.history.as_ref(), Some(&violation.history));
}

#[test]
fn ordered_accesses_need_no_executions_more() {
    let passed = all_executions::<HandOver>("send(1) | try_recv try_recv");
    let unseen = all_executions::<HandOverUnseen>("send(1) | try_recv try_recv");
    assert!(passed.steps > unseen.steps && passed.unordered.is_empty(), "{passed:?}");
    assert_eq!(passed.executions, unseen.executions);
    // Two receivers race.
    let racing = all_executions::<HandOver>("send(1) | try_recv | try_recv");
    assert!(!racing.unordered.is_empty(), "{racing:?}");
}

/// Cells behind a lock whose steps are not seen: nothing orders their accesses. An operation that
/// finds the lock taken does nothing.
#[derive(Default)]
struct Shelf(Memory<(UnsafeCell<u32>, Cell<u32>, Cell<u32>)>);

impl Shelf {
    fn with<T>(
        &self,
        access: impl FnOnce(&(UnsafeCell<u32>, Cell<u32>, Cell<u32>)) -> T,
    ) -> Option<T> {
        self.0.try_lock().ok().map(|cells| access(&cells))
    }
}

lineup::subject! {
    /// One operation for each function of the cells.
    Shelved(shelf: Shelf) = Shelf::default();
    nothing() => shelf.with(|_| ()).is_some();
    pointer() => shelf.with(|cells| cells.0.get()).is_some();
    get() => shelf.with(|cells| cells.1.get()).is_some();
    set() => shelf.with(|cells| cells.1.set(1)).is_some();
    replace() => shelf.with(|cells| cells.1.replace(1)).is_some();
    take() => shelf.with(|cells| cells.1.take()).is_some();
    swap() => shelf.with(|cells| cells.1.swap(&cells.2)).is_some();
    update() => shelf.with(|cells| cells.1.update(|value| value + 1)).is_some();
}

/// Each access is a step, and two of one cell conflict unless both read.
#[test]
fn accesses_of_cells_are_steps() {
    let steps = |operation: &str| {
        let alone = all_executions::<Shelved>(operation);
        alone.steps / alone.executions
    };
    let alone = steps("nothing");
    let operations = [
        ("pointer", 1),
        ("get", 1),
        ("set", 1),
        ("replace", 1),
        ("take", 1),
        ("swap", 2),
        ("update", 2),
    ];
    for (operation, accesses) in operations {
        assert_eq!(steps(operation) - alone, accesses, "{operation}");
        let reads = operation == "get";
        for other in ["get", "set"] {
            let phase = all_executions::<Shelved>(&format!("{operation} | {other}"));
            let conflict = operation != "pointer" && !(reads && other == "get");
            assert_eq!(!phase.unordered.is_empty(), conflict, "{operation} | {other}");
        }
    }
    assert!(!all_executions::<Shelved>("pointer | pointer").unordered.is_empty());
}

/// A statement of a random operation.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
enum Statement {
    Load(usize),
    Store(usize),
    Add(usize),
    Read(usize),
    Write(usize),
    /// Reads, or writes, a cell if an atomic is positive.
    ReadIf(usize, usize),
    WriteIf(usize, usize),
    /// Takes a lock, and reads and writes a cell.
    Locked(usize),
}

/// State for random operations. Cells are plain memory, or (`ATOMIC`) atomics.
#[derive(Default)]
struct Cells<const ATOMIC: bool> {
    atomics: [AtomicU32; 2],
    lock: lineup::sync::Mutex<()>,
    plain: [Word; 2],
    seen: [AtomicU32; 2],
    /// Read first and last in each operation.
    frame: AtomicU32,
}

impl<const ATOMIC: bool> Cells<ATOMIC> {
    fn read(&self, cell: usize) -> u32 {
        if ATOMIC {
            return self.seen[cell].load(SeqCst);
        }
        plain_access(&self.plain[cell], false);
        self.plain[cell].load(SeqCst)
    }

    fn write(&self, cell: usize, value: u32) -> u32 {
        if ATOMIC {
            self.seen[cell].store(value, SeqCst);
        } else {
            plain_access(&self.plain[cell], true);
            self.plain[cell].store(value, SeqCst);
        }
        0
    }

    fn execute(&self, statement: Statement, value: u32) -> u32 {
        let is_set = |atomic: usize| self.atomics[atomic].load(SeqCst) > 0;
        match statement {
            Statement::Load(atomic) => self.atomics[atomic].load(SeqCst),
            Statement::Store(atomic) => {
                self.atomics[atomic].store(value, SeqCst);
                0
            }
            Statement::Add(atomic) => self.atomics[atomic].fetch_add(1, SeqCst),
            Statement::Read(cell) => self.read(cell),
            Statement::Write(cell) => self.write(cell, value),
            Statement::ReadIf(atomic, cell) if is_set(atomic) => self.read(cell),
            Statement::WriteIf(atomic, cell) if is_set(atomic) => self.write(cell, value),
            Statement::ReadIf(..) | Statement::WriteIf(..) => 99,
            Statement::Locked(cell) => {
                let _guard = self.lock.lock().unwrap();
                let found = self.read(cell);
                self.write(cell, found + value);
                found
            }
        }
    }
}

impl<const ATOMIC: bool> Subject for Cells<ATOMIC> {
    /// A value to write, and statements.
    type Invocation = (u32, Vec<Statement>);

    const NAME: &'static str = "Cells";

    fn new() -> Self {
        Self::default()
    }

    fn call(&self, (value, statements): &(u32, Vec<Statement>)) -> Text {
        // Otherwise a return takes place in the step of the last atomic, or after it.
        self.frame.load(SeqCst);
        let answers = statements.iter().map(|statement| self.execute(*statement, *value));
        let answers = Text::new(&answers.collect::<Vec<_>>());
        self.frame.load(SeqCst);
        answers
    }

    fn representatives() -> Vec<(u32, Vec<Statement>)> {
        Vec::new()
    }
}

type Columns = Vec<Vec<(u32, Vec<Statement>)>>;

fn random_columns(random: &mut ChaCha8Rng, family: usize) -> Columns {
    use Statement::*;
    let any: &[Statement] = match family {
        0 => &[Load(0), Store(0), Add(1), Read(0), Write(0), Write(1)],
        1 => &[Store(0), Add(1), ReadIf(0, 0), WriteIf(0, 0), WriteIf(1, 0), Write(0)],
        _ => &[Locked(0), Locked(0), Locked(1), Add(0), ReadIf(0, 1)],
    };
    let mut value = 0;
    let threads = random.random_range(2..=either(2, 3));
    let mut operation = |random: &mut ChaCha8Rng| {
        value += 1;
        let statements = random.random_range(1..=4 - threads);
        (value, (0..statements).map(|_| *any.choose(random).unwrap()).collect())
    };
    let mut column = |random: &mut ChaCha8Rng| {
        let operations = random.random_range(1..=4 - threads);
        (0..operations).map(|_| operation(random)).collect()
    };
    (0..threads).map(|_| column(random)).collect()
}

/// The orders of returns before calls in all executions, and their number; `None` if there are too
/// many.
fn orders<const ATOMIC: bool>(
    columns: &Columns,
) -> Option<(BTreeSet<crate::reduction::Order>, u64)> {
    let test = Test::new::<Cells<ATOMIC>>(columns.clone()).unwrap();
    let (most, tally) = (either(600, 6_000), Arc::new(Tally::default()));
    let check = Check::new().preemptions(None).executions(Some(most));
    let found = check.tallied(Some(Arc::clone(&tally))).histories(&test).unwrap();
    (tally.concurrent() < most).then(|| (found.iter().map(order).collect(), tally.concurrent()))
}

fn is_racing(columns: &Columns) -> bool {
    let test = Test::new::<Cells<false>>(columns.clone()).unwrap();
    !Check::new().executions(Some(300)).run(&test).concurrent.unordered.is_empty()
}

#[test]
fn cells_have_the_orders_of_atomics() {
    let mut random = ChaCha8Rng::seed_from_u64(5);
    let (mut compared, mut racing, mut fewer) = (0, [0; 3], 0);
    for number in 0..either(24, 1_500) {
        let columns = random_columns(&mut random, number % 3);
        let (Some(plain), Some(atomic)) = (orders::<false>(&columns), orders::<true>(&columns))
        else {
            continue;
        };
        assert_eq!(plain.0, atomic.0, "{columns:?}");
        compared += 1;
        racing[number % 3] += usize::from(is_racing(&columns));
        fewer += usize::from(plain.1 < atomic.1);
    }
    eprintln!("{compared} compared, {racing:?} with unordered accesses, {fewer} fewer executions");
    assert!(compared > 12 && racing[0] > 0 && racing[1] > 0 && fewer > 3, "{racing:?}");
}
