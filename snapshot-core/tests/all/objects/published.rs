//! Histories as papers and books judge them: their examples, in this notation.

use snapshot_core::generic::objects::{
    Queue, QueueInput, QueueOutput, Register, RegisterInput, RegisterOutput,
};
use snapshot_core::generic::{HistoryBuilder, Specification};

use crate::objects::judged::agreed_verdict;
use crate::objects::oracle::{Machine, QueueMachine, RegisterMachine};

/// Judges a history, an event per word: a process (a letter), then the event. Queues: `E1` enqueues
/// 1, `D` dequeues; `ok` and `ok1` respond. Registers: `W1` writes 1, `R` reads.
fn judge<S, M>(
    specification: &S,
    text: &str,
    input: impl Fn(&str) -> Option<S::Input>,
    output: impl Fn(&str) -> S::Output,
) -> bool
where
    S: Specification<Input = M::Input, Output = M::Output>,
    M: Machine<Input: Clone + std::fmt::Debug, Output: Clone + std::fmt::Debug>,
{
    let mut builder = HistoryBuilder::default();
    for word in text.split_whitespace() {
        let (process, event) = word.split_at(1);
        let process = usize::from(process.as_bytes()[0] - b'A');
        let admitted = match input(event) {
            Some(input) => builder.invoke(process, input),
            None => builder.respond(process, output(event)),
        };
        admitted.unwrap_or_else(|error| panic!("{text}: {error}"));
    }
    agreed_verdict::<S, M>(specification, &builder.finish())
}

fn number(text: &str) -> u8 {
    text.parse().unwrap_or_else(|_| panic!("{text} is no number"))
}

fn queue(text: &str) -> bool {
    let input = |word: &str| match word.split_at(1) {
        ("E", value) => Some(QueueInput::Enqueue(number(value))),
        ("D", "") => Some(QueueInput::Dequeue),
        _ => None,
    };
    let output = |word: &str| match word {
        "ok" => QueueOutput::Enqueued,
        value => QueueOutput::Dequeued(number(&value[2..])),
    };
    judge::<_, QueueMachine>(&Queue::default(), text, input, output)
}

fn register(text: &str) -> bool {
    let input = |word: &str| match word.split_at(1) {
        ("W", value) => Some(RegisterInput::Write(number(value))),
        ("R", "") => Some(RegisterInput::Read),
        _ => None,
    };
    let output = |word: &str| match word {
        "ok" => RegisterOutput::Written,
        value => RegisterOutput::Read(number(&value[2..])),
    };
    judge::<_, RegisterMachine>(&Register::default(), text, input, output)
}

/// After the histories of FIFO queues with which Herlihy and Wing introduce
/// "Linearizability: A Correctness Condition for Concurrent Objects" (1990); x, y, z
/// are 1, 2, 3.
#[test]
fn herlihy_and_wing_queues() {
    // E(x) and E(y) overlap; B dequeues x, A dequeues y, then E(z).
    assert!(queue("AE1 BE2 Bok Aok BD Bok1 AD Aok2 AE3"));
    // x was enqueued before y was, but y is dequeued first.
    assert!(!queue("AE1 Aok BE2 AD Bok Aok2"));
    // The enqueue of x is pending, but took effect.
    assert!(queue("AE1 BD Bok1"));
    // y was enqueued once, and dequeued twice.
    assert!(!queue("AE1 BE2 Aok Bok AD CD Aok2 Cok2"));
}

/// After Herlihy and Shavit, "The Art of Multiprocessor Programming" (2008): a
/// register that others read while it is written.
#[test]
fn herlihy_and_shavit_registers() {
    // A read that overlaps a write may return its value, and another read, later
    // and overlapping too, then must not go back.
    assert!(register("AW1 BR Bok1 CR Cok1 Aok"));
    assert!(!register("AW1 BR Bok1 CR Cok0 Aok"));
    // Two writes in a row, and a read that began between them.
    assert!(register("AW1 Aok BR AW2 Aok Bok1"));
    assert!(!register("AW1 Aok AW2 Aok BR Bok1"));
}

/// Sequentially consistent, but not linearizable: the difference between the two (Herlihy and Wing,
/// 1990; Attiya and Welch, "Sequential Consistency versus Linearizability", 1994).
#[test]
fn sequential_consistency_does_not_suffice() {
    assert!(!queue("AE1 Aok BE2 Bok BD Bok2 AD Aok1"));
    assert!(!register("AW1 Aok BR Bok0"));
}

/// Two queues p and q, after Herlihy and Shavit: the history of each is sequentially consistent,
/// but not their combination. Linearizability is local (Herlihy and Wing), so the history of one of
/// them is not linearizable; here of both.
#[test]
fn composition() {
    let p = "AE1 Aok BE2 Bok AD Aok2";
    let q = "BE2 Bok AE1 Aok BD Bok1";
    assert!(!queue(p) && !queue(q));
}

/// Two readers of one register may not disagree on the order of two writes.
#[test]
fn readers_agree_on_the_order_of_writes() {
    let shared_read = "AW1 BW2 CR Cok2 CR Cok1 DR Dok1 Aok Bok";
    assert!(register(shared_read));
    assert!(!register("AW1 BW2 CR DR Cok2 Dok1 CR DR Cok1 Dok2 Aok Bok"));
}
