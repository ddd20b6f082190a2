//! Queues, stacks, registers, sets and counters: against all orders of all small histories.

use std::fmt::Write;

use snapshot_core::synchronisation::Violation as Found;
use snapshot_test::judge::Options;
use snapshot_test::synchronisation::{Certificate, Finding, Violation, certify, verdict};

use super::{judged, judged_with};

/// Each right recording with a wrong one, one result apart.
const TWINS: [(&str, &str, &str, &str); 16] = [
    ("queue", "p0 enqueue 1|p0 ok|p0 enqueue 2|p0 ok|p1 dequeue|p1 ok 1", "p1 ok 1", "p1 ok 2"),
    ("queue", "p0 enqueue 1|p1 dequeue|p1 ok none|p0 ok", "p1 ok none", "p1 ok 2"),
    ("queue", "p0 enqueue 1|p0 ok|p1 dequeue|p1 ok 1", "p1 ok 1", "p1 ok none"),
    ("stack", "p0 push 1|p0 ok|p0 push 2|p0 ok|p1 pop|p1 ok 2", "p1 ok 2", "p1 ok 1"),
    (
        "stack",
        "p0 push \"x\"|p1 pop|p1 ok \"x\"|p0 ok|p1 pop|p1 ok none",
        "p1 ok none",
        "p1 ok \"x\"",
    ),
    (
        "bounded-queue:1",
        "p0 enqueue 1|p0 ok|p1 enqueue 2|p1 ok false|p1 dequeue|p1 ok 1|p0 enqueue 3|p0 ok true",
        "p1 ok false",
        "p1 ok true",
    ),
    (
        "semaphore:1",
        "p0 acquire|p0 ok|p1 try-acquire|p1 ok false|p0 release|p0 ok|p1 acquire|p1 ok",
        "p1 ok false",
        "p1 ok true",
    ),
    ("register", "p0 write 5|p0 ok|p1 read|p1 ok 5", "p1 ok 5", "p1 ok 0"),
    ("register", "p0 write 5|p0 unknown|p1 read|p1 ok 0|p1 read|p1 ok 5", "p1 ok 0", "p1 ok 6"),
    (
        "priority-queue",
        "p0 add 9|p0 ok|p0 add 3|p0 ok|p1 remove|p1 ok 3|p1 remove|p1 ok 9|p1 remove|p1 ok none",
        "p1 ok 3|p1 remove|p1 ok 9",
        "p1 ok 9|p1 remove|p1 ok 3",
    ),
    (
        "cas-register",
        "p0 cas 0 1|p1 read|p0 ok true|p1 ok 0|p0 cas 0 2|p0 ok false|p1 read|p1 ok 1",
        "p0 ok true|p1 ok 0|",
        "p0 ok true|p1 ok 0|p1 cas 1 3|p1 ok true|",
    ),
    (
        "map",
        "p0 put \"x\" 1|p0 ok|p1 put 7 2|p1 ok|p1 get \"x\"|p1 ok 1|p1 cas 7 2 3|p1 ok true",
        "p1 ok 1",
        "p1 ok none",
    ),
    (
        "lock",
        "p0 acquire 0|p1 acquire 1|p0 ok|p0 release 0|p0 ok|p1 ok|p1 release 1|p1 ok",
        "p0 ok|p0 release 0|p0 ok|p1 ok",
        "p0 ok|p1 ok|p0 release 0|p0 ok",
    ),
    (
        "set",
        "p0 add 1|p1 add 1|p0 ok true|p1 ok false|p0 contains 1|p0 ok true",
        "p1 ok false",
        "p1 ok true",
    ),
    ("counter", "p0 increment|p1 increment|p0 ok 0|p1 ok 1|p1 read|p1 ok 2", "p0 ok 0", "p0 ok 1"),
    ("counter", "p0 increment|p0 ok|p0 decrement|p0 ok|p1 read|p1 ok 0", "p1 ok 0", "p1 ok 1"),
];

fn text(events: &str) -> String {
    events.split('|').fold(String::new(), |mut text, event| {
        writeln!(text, "{event}").unwrap();
        text
    })
}

#[test]
fn twins_have_their_verdicts_and_certificates() {
    let mut rules = Vec::new();
    for (object, good, result, wrong) in TWINS {
        let good = text(good);
        let judgement = judged(object, &good);
        assert!(matches!(judgement.finding, Finding::SetLinearizable(_)), "{object}: {good}");
        assert_eq!(verdict(&judgement), "linearizable");
        let certificate = Certificate::new(&judgement).unwrap();
        let written = certificate.to_text(&judgement.object, None);
        assert!(written.contains("\"verdict\":\"linearizable\""), "{written}");
        let (of, _, read) = Certificate::from_text(&written).unwrap();
        assert_eq!((&of, &read), (&judgement.object, &certificate));
        certify(&of, &read, good.as_bytes(), None, None).unwrap().unwrap();
        let bad = good.replacen(&result.replace('|', "\n"), &wrong.replace('|', "\n"), 1);
        assert_ne!(bad, good);
        let judgement = judged(object, &bad);
        match &judgement.finding {
            Finding::Violation(Violation::Found(Found::Rule(proof))) => {
                rules.push(proof.rule());
                let proof = Certificate::new(&judgement).unwrap();
                let (of, _, read) = Certificate::from_text(&proof.to_text(&of, None)).unwrap();
                assert_eq!(read, proof);
                certify(&of, &read, bad.as_bytes(), None, None).unwrap().unwrap();
                assert!(
                    certify(&of, &read, good.as_bytes(), None, None).unwrap().is_err(),
                    "{good}"
                );
            }
            Finding::Violation(Violation::Found(Found::Few(_))) => {
                let by_search = ["set", "counter", "bounded-queue:1", "semaphore:1"];
                assert!(by_search.contains(&object), "{object}: {bad}");
            }
            _ => panic!("{object}: {bad}: {judgement:?}"),
        }
        assert!(
            certify(&of, &read, bad.as_bytes(), None, None).unwrap().is_err(),
            "{object}: {bad}"
        );
    }
    let expected = [
        "overtaken",
        "unfounded",
        "not-empty",
        "crossed",
        "unfounded",
        "interleaved",
        "unwritten",
        "not-least",
        "reversed",
        "interleaved",
        "interleaved",
    ];
    assert_eq!(rules, expected);
}

/// Executes each object independently of its specification: true if operations in this order have
/// these results.
fn executes(object: &str, order: &[(&str, i64, Option<i64>)]) -> bool {
    let mut values: Vec<i64> = Vec::new();
    let mut number = 0;
    order.iter().all(|&(operation, value, result)| {
        let found = match (object, operation) {
            ("queue", "enqueue") | ("stack", "push") => {
                values.push(value);
                None
            }
            ("queue", _) => (!values.is_empty()).then(|| values.remove(0)).or(Some(-1)),
            ("stack", _) => values.pop().or(Some(-1)),
            ("register", "write") => {
                number = value;
                None
            }
            ("counter", "increment") => {
                number += 1;
                None
            }
            _ => Some(number),
        };
        found == result
    })
}

/// An operation with its interval and its result: `None` for nothing, -1 for `none`.
type Timed<'a> = (&'a str, i64, Option<i64>, usize, usize);

/// Returns true if some order that extends precedence explains the results.
fn has_order(
    object: &str,
    left: &mut Vec<Timed<'_>>,
    done: &mut Vec<(String, i64, Option<i64>)>,
) -> bool {
    if left.is_empty() {
        let order: Vec<_> = done.iter().map(|(o, v, r)| (o.as_str(), *v, *r)).collect();
        return executes(object, &order);
    }
    for at in 0..left.len() {
        let first = left[at];
        if left.iter().any(|other| other.4 < first.3) {
            continue;
        }
        left.remove(at);
        done.push((first.0.to_owned(), first.1, first.2));
        let found = has_order(object, left, done);
        done.pop();
        left.insert(at, first);
        if found {
            return true;
        }
    }
    false
}

/// Random histories of three processes with random results, against all orders.
#[test]
fn verdicts_agree_with_all_orders() {
    let mut seed = 1_u64;
    let mut draw = |bound: usize| {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((seed >> 33) as usize) % bound
    };
    for object in ["queue", "stack", "register", "counter"] {
        let (mut right, mut wrong) = (0, 0);
        for _ in 0..400 {
            let mut open: [Option<usize>; 3] = [None; 3];
            let mut operations: Vec<Timed<'_>> = Vec::new();
            let mut recording = String::new();
            let mut time = 0;
            while operations.len() < 5 || open.iter().any(Option::is_some) {
                let process = draw(3);
                match open[process].take() {
                    Some(at) => {
                        operations[at].4 = time;
                        match operations[at].2 {
                            None => writeln!(recording, "p{process} ok").unwrap(),
                            Some(-1) => writeln!(recording, "p{process} ok none").unwrap(),
                            Some(value) => writeln!(recording, "p{process} ok {value}").unwrap(),
                        }
                    }
                    None if operations.len() < 5 => {
                        let value = operations.len() as i64 + 1;
                        let (writes, reads) = match object {
                            "queue" => ("enqueue", "dequeue"),
                            "stack" => ("push", "pop"),
                            "register" => ("write", "read"),
                            _ => ("increment", "read"),
                        };
                        open[process] = Some(operations.len());
                        if draw(2) == 0 {
                            let argument = match object {
                                "counter" => String::new(),
                                _ => format!(" {value}"),
                            };
                            writeln!(recording, "p{process} {writes}{argument}").unwrap();
                            operations.push((writes, value, None, time, usize::MAX));
                        } else {
                            let lowest = if matches!(object, "queue" | "stack") { -1 } else { 0 };
                            let mut result = draw(4) as i64;
                            if result == 0 {
                                result = lowest;
                            }
                            writeln!(recording, "p{process} {reads}").unwrap();
                            operations.push((reads, 0, Some(result), time, usize::MAX));
                        }
                    }
                    None => continue,
                }
                time += 1;
            }
            let expected = has_order(object, &mut operations, &mut Vec::new());
            let found = judged(object, &recording);
            let is_right = matches!(found.finding, Finding::SetLinearizable(_));
            assert_eq!(is_right, expected, "{object}:\n{recording}");
            *(if expected { &mut right } else { &mut wrong }) += 1;
        }
        assert!(right > 30 && wrong > 100, "{object}: {right} right, {wrong} wrong");
    }
}

/// Returns a queue in which 2 overtakes 1, among many unordered operations.
fn overtaken(noise: usize) -> String {
    let mut recording = text("p0 enqueue -1|p0 ok|p0 enqueue -2|p0 ok");
    // So that rules do not tell the values apart.
    recording += &text("p1 enqueue -1|p1 unknown|p1 enqueue -2|p1 unknown");
    for process in 0..noise {
        writeln!(recording, "p{} enqueue {process}", process + 2).unwrap();
    }
    recording += &text("p0 dequeue|p0 ok -2|p0 dequeue|p0 ok -1");
    for process in 0..noise {
        writeln!(recording, "p{} ok", process + 2).unwrap();
    }
    recording
}

#[test]
fn refuted_part_decides_beyond_the_search_budget() {
    let recording = overtaken(10);
    let starved = Options { memory: 1 << 16, ..Options::default() };
    let judgement = judged_with("queue", &recording, &starved);
    assert!(matches!(judgement.finding, Finding::Unknown { .. }), "{judgement:?}");
    let options = Options { barriers: Some(2), ..starved };
    let judgement = judged_with("queue", &recording, &options);
    let Finding::Violation(Violation::Part(part)) = &judgement.finding else {
        panic!("{judgement:?}")
    };
    // Operations 0 and 1 enqueue -1 and -2, and the last two dequeue them.
    for wanted in [0, 1, 14] {
        assert!(part.operations.iter().any(|id| id.index() == wanted), "{part:?}");
    }
    assert!(part.cuts.is_some(), "{part:?}");
    let text = snapshot_test::synchronisation::human("r", &judgement);
    assert!(text.contains("ran out of its budget"), "{text}");
    // In a correct recording no violation is found.
    let right = recording.replacen("p0 ok -2", "p0 ok -9", 1).replacen("p0 ok -1", "p0 ok -2", 1);
    let right = right.replacen("p0 ok -9", "p0 ok -1", 1);
    for barriers in [Some(0), Some(1), Some(2), Some(9)] {
        let options = Options { barriers, ..starved };
        let finding = judged_with("queue", &right, &options).finding;
        assert!(!matches!(finding, Finding::Violation(_)), "{barriers:?}: {finding:?}");
    }
}

/// Random histories: a refuted part has no linearization, by a search of the whole; and the
/// operations of the part have none by themselves.
#[test]
fn parts_refute_no_linearizable_history() {
    use snapshot_core::generic::objects::{
        Queue, QueueInput, QueueOutput, Stack, StackInput, StackOutput,
    };
    use snapshot_core::generic::{History, Outcome, PartsOutcome, check_whole, refute_parts};
    use snapshot_core::search::Budget;

    let mut seed = 7_u64;
    let mut draw = |bound: usize| {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((seed >> 33) as usize) % bound
    };
    let mut tally = [[0; 2]; 3];
    for round in 0..3000 {
        let is_queue = round % 2 == 0;
        let mut queue = History::builder();
        let mut stack = History::builder();
        // The expected output of a process: `None` if it adds.
        let mut open: [Option<Option<i64>>; 3] = [None; 3];
        let (mut invoked, mut added) = (0, 0);
        while invoked < 8 || open.iter().any(Option::is_some) {
            let process = draw(3);
            match open[process].take() {
                Some(None) => {
                    queue.respond(process, QueueOutput::Enqueued).unwrap();
                    stack.respond(process, StackOutput::Pushed).unwrap();
                }
                Some(Some(0)) => {
                    queue.respond(process, QueueOutput::Empty).unwrap();
                    stack.respond(process, StackOutput::Empty).unwrap();
                }
                Some(Some(value)) => {
                    queue.respond(process, QueueOutput::Dequeued(value)).unwrap();
                    stack.respond(process, StackOutput::Popped(value)).unwrap();
                }
                None if invoked < 8 => {
                    invoked += 1;
                    if draw(2) == 0 {
                        added += 1;
                        queue.invoke(process, QueueInput::Enqueue(added)).unwrap();
                        stack.invoke(process, StackInput::Push(added)).unwrap();
                        open[process] = Some(None);
                    } else {
                        queue.invoke(process, QueueInput::Dequeue).unwrap();
                        stack.invoke(process, StackInput::Pop).unwrap();
                        open[process] = Some(Some(draw(added as usize + 2) as i64));
                    }
                }
                None if draw(6) == 0 => break,
                None => {}
            }
        }
        let mut budget = Budget { memory: 1 << 24, proceed: &mut || true };
        let (is_right, found) = if is_queue {
            let history = queue.finish();
            let whole = check_whole(&Queue::default(), &history, &mut budget);
            (
                matches!(whole, Outcome::Linearizable { .. }),
                refute_parts(&Queue::default(), &history, round % 4, &mut budget),
            )
        } else {
            let history = stack.finish();
            let whole = check_whole(&Stack::default(), &history, &mut budget);
            (
                matches!(whole, Outcome::Linearizable { .. }),
                refute_parts(&Stack::default(), &history, round % 4, &mut budget),
            )
        };
        let is_refuted = matches!(found, PartsOutcome::Refuted(_));
        assert!(!(is_right && is_refuted), "{round}: {found:?}");
        tally[usize::from(is_queue)][usize::from(is_refuted)] += 1;
        tally[2][usize::from(is_right)] += 1;
    }
    let [stacks, queues, [wrong, right]] = tally;
    assert!(stacks[1] > 300 && queues[1] > 300 && wrong > 600 && right > 300, "{tally:?}");
}

/// What the report for people says of the violation of a recording.
fn explanation(object: &str, events: &str) -> String {
    let judgement = judged(object, &text(events));
    let report = snapshot_test::synchronisation::human("r", &judgement);
    let sentence = report.split("\n\n").nth(1).unwrap_or_else(|| panic!("{report}"));
    sentence.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn proofs_are_explained_in_a_sentence() {
    let sequence = |operations: &[&str]| {
        let ended = |one: &&str| {
            let (call, result) = one.split_once("->").unwrap_or((one, ""));
            format!("p0 {}|p0 ok {}", call.trim(), result.trim())
        };
        operations.iter().map(ended).collect::<Vec<_>>().join("|")
    };
    let overtaken = ["enqueue 1", "enqueue 2", "dequeue -> 2", "dequeue -> 1"];
    let expected = "1 was enqueued before 2, yet 2 was dequeued before the dequeue of 1 began.";
    assert_eq!(explanation("queue", &sequence(&overtaken)), expected);
    let expected = "1 was enqueued before 2, yet 2 was dequeued and 1 never was.";
    assert_eq!(explanation("queue", &sequence(&overtaken[..3])), expected);
    let crossed = ["push 1", "push 2", "pop -> 1", "pop -> 2"];
    let expected = "2 was pushed after 1 and before the pop of 1 began, yet 1 was popped before the \
                    pop of 2 began.";
    assert_eq!(explanation("stack", &sequence(&crossed)), expected);
    let expected = "7 was popped, but no push of 7 had begun.";
    assert_eq!(explanation("stack", &sequence(&["pop -> 7"])), expected);
    let failed = "p0 push 7|p1 pop|p1 ok 7|p0 fail";
    let expected = "7 was popped, but no push of 7 had begun that did not fail.";
    assert_eq!(explanation("stack", failed), expected);
    let judgement = judged("stack", &text(failed));
    assert_eq!(judgement.completion.map(|at| at.event), Some(3), "that it failed is known then");
    let expected = "7 was dequeued twice, but only 1 enqueue of 7 had begun.";
    assert_eq!(
        explanation("queue", &sequence(&["enqueue 7", "dequeue -> 7", "dequeue -> 7"])),
        expected
    );
    let least = ["add 9", "add 3", "remove -> 9"];
    let expected = "9 was removed though a smaller value was inside all the time: 3.";
    assert_eq!(explanation("priority-queue", &sequence(&least)), expected);
    let empty = ["add 9", "remove -> none"];
    let expected = "X1 found nothing, though from its beginning to its end there was always a value \
                    inside: 9.";
    assert_eq!(explanation("priority-queue", &sequence(&empty)), expected);
    let expected = "X1 and X2 replaced the same value, which was there only once.";
    let twice = "p0 cas 0 1|p1 cas 0 2|p0 ok true|p1 ok true";
    assert_eq!(explanation("cas-register", twice), expected);
    let stale = ["write 1", "write 2", "read -> 1"];
    let expected = "Operations on one value take effect before or after all those on another: X1 \
                    and X2, and X3. But one of each ended before one of the others began.";
    assert_eq!(explanation("register", &sequence(&stale)), expected);
}

/// A recording that no search decides in the time takes none; and what makes another hard is said.
#[test]
fn rules_need_no_budget() {
    let mut recording = String::new();
    for process in 0..64 {
        writeln!(recording, "p{process} write {process}").unwrap();
    }
    for process in 0..64 {
        writeln!(recording, "p{process} ok").unwrap();
    }
    for value in (0..64).rev() {
        writeln!(recording, "p0 read\np0 ok {value}\np0 write {}\np0 ok", value + 100).unwrap();
    }
    let starved = Options { memory: 0, ..Options::default() };
    let judgement = judged_with("register", &recording, &starved);
    assert_eq!((verdict(&judgement), judgement.method), ("violation", "rules"), "{judgement:?}");
    let right = recording.lines().take(130).fold(String::new(), |text, line| text + line + "\n");
    let judgement = judged_with("register", &right.replace("write 0\n", "write 77\n"), &starved);
    assert_eq!((verdict(&judgement), judgement.method), ("linearizable", "rules"));
    let starved = Options { memory: 1 << 12, ..Options::default() };
    let judgement = judged_with("queue", &overtaken(10), &starved);
    let report = snapshot_test::synchronisation::human("r", &judgement);
    assert!(report.contains("what makes it hard: values that come again"), "{report}");
    assert!(report.contains("enqueue(-1) by process 0"), "{report}");
    let record = snapshot_test::synchronisation::json("r", &judgement, None);
    assert!(record.contains("\"hard\":[{"), "{record}");
}
