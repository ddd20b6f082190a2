//! Objects that a text declares: they agree with those that the program knows by name.

use std::path::Path;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use snapshot_test::judge::Options;
use snapshot_test::synchronisation::{Finding, Judgement, Object, judge};

use crate::commands::{answer, run};

fn path(name: &str) -> String {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus/objects");
    corpus.join(format!("{name}.snapshot")).display().to_string()
}

fn judged(object: &str, recording: &str) -> Vec<Judgement> {
    let object: Object = object.parse().unwrap_or_else(|error| panic!("{error}"));
    judge(&object, recording.as_bytes(), None, None, &Options::default())
        .unwrap_or_else(|error| panic!("{}\n{recording}", error.report("recording")))
}

fn is_violation(judged: &[Judgement]) -> bool {
    let finding = &judged[0].finding;
    assert!(matches!(finding, Finding::Violation(_) | Finding::SetLinearizable(_)), "{finding:?}");
    matches!(finding, Finding::Violation(_))
}

fn random_recording(random: &mut ChaCha8Rng, [add, remove]: [&str; 2]) -> String {
    let values = ["1", "2", "-3", "\"a\""];
    let mut open = [None; 3];
    let mut recording = String::new();
    for _ in 0..random.random_range(2..12) {
        let process = random.random_range(0..3);
        let value = values[random.random_range(0..values.len())];
        let line = match open[process].take() {
            None => {
                let is_addition = random.random_bool(0.5);
                open[process] = Some(is_addition);
                if is_addition { format!("{add} {value}") } else { remove.to_owned() }
            }
            Some(is_addition) => match (random.random_range(0..8), is_addition) {
                (0, _) => "fail".to_owned(),
                (1, _) => "unknown".to_owned(),
                (_, true) => "ok".to_owned(),
                (2 | 3, false) => "ok none".to_owned(),
                (_, false) => format!("ok {value}"),
            },
        };
        recording += &format!("p{process} {line}\n");
    }
    recording
}

#[test]
fn declared_stack_and_queue_agree_with_the_named_ones() {
    let mut found = [0; 2];
    for (object, declared, operations) in [
        ("stack", "linked_stack", ["push", "pop"]),
        ("queue", "linked_queue", ["enqueue", "dequeue"]),
    ] {
        let declared = path(declared);
        for seed in 0..150 {
            let recording = random_recording(&mut ChaCha8Rng::seed_from_u64(seed), operations);
            let expected = is_violation(&judged(object, &recording));
            assert_eq!(is_violation(&judged(&declared, &recording)), expected, "{recording}");
            found[usize::from(expected)] += 1;
        }
    }
    assert_eq!(found, [162, 138]);
}

#[test]
fn a_declared_lock_has_one_owner_at_a_time() {
    let lock = path("ticket_lock");
    let right = "object lock\np0 acquire\np0 ok\np1 acquire\np0 release\np1 ok\np0 ok\n";
    assert!(!is_violation(&judged(&lock, right)));
    let wrong = "p0 acquire\np0 ok\np1 acquire\np1 ok\np0 release\np0 ok\n";
    assert!(is_violation(&judged(&lock, wrong)));
    // Logs of other tools, and keys.
    let log = "{:process 5, :type :invoke, :f :acquire, :value nil}\n\
               {:process 5, :type :ok, :f :acquire, :value nil}\n\
               {:process 9, :type :invoke, :f :acquire, :value nil}\n";
    assert!(!is_violation(&judged(&lock, log)));
    assert!(is_violation(&judged(
        &lock,
        &format!("{log}{}", log.lines().nth(1).unwrap().replace('5', "9"))
    )));
    let keyed = "@1 p0 acquire\n@1 p0 ok\n@2 p1 acquire\n@2 p1 ok\n";
    assert_eq!(judged(&lock, keyed).len(), 2);
    assert!(!is_violation(&judged(&lock, keyed)));
}

#[test]
fn a_declared_object_is_judged_certified_and_refused_by_command() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let counter = path("faa_counter");
    let right = file("right.txt", "p0 increment\np1 read\np1 ok 1\np0 ok 1\np1 used\np1 ok true\n");
    let wrong =
        file("wrong.txt", "p0 increment\np1 read\np1 ok 1\np0 ok 1\np1 used\np1 ok false\n");
    let (code, out, error) = answer(run(&format!(
        "check --object {counter} --certificate {} {right} {wrong}",
        folder.path().display()
    )));
    assert_eq!((code, error.as_str()), (1, ""), "{out}");
    assert!(out.contains("right.txt: linearizable (3 operations, 2 processes;"), "{out}");
    assert!(out.contains("used() by process 1, returned false"), "{out}");
    let (code, out, error) = answer(run(&format!("certify {right} {right}.certificate")));
    assert_eq!((code, error.as_str()), (0, ""), "{out}");
    let many = "p0 increment\np0 ok 1\n".to_owned()
        + &(2..11).map(|count| format!("p0 increment\np0 ok {count}\n")).collect::<String>();
    let many = file("many.txt", &many);
    let (code, out, error) = answer(run(&format!("check --object {counter} {many}")));
    assert_eq!(code, 2, "{out}");
    let place =
        "many.txt:1:1: the declared object is faulty at increment() by process 0, or a later";
    assert!(error.contains(place), "{error}");
    let bad = file("bad.snapshot", "algorithm bad\n\nobject counter:\n    state count: 0..\n");
    let (code, _, error) = answer(run(&format!("check --object {bad} {right}")));
    assert_eq!(code, 2);
    assert!(error.contains("bad.snapshot"), "{error}");
    let (code, _, error) = answer(run(&format!("check --object missing.snapshot {right}")));
    assert_eq!(code, 2);
    assert!(error.contains("cannot read the declaration in missing.snapshot"), "{error}");
    let plain =
        file("plain.snapshot", &std::fs::read_to_string(path("../afek")).unwrap_or_default());
    let (code, _, error) = answer(run(&format!("check --object {plain} {right}")));
    assert_eq!(code, 2, "{error}");
    let wanted = file("other.txt", "p0 increase\n");
    let (_, _, error) = answer(run(&format!("check --object {counter} {wanted}")));
    assert!(error.contains("did you mean `increment`?") || error.contains("`increment`, `read`"));
}

const RANGES: &str = "algorithm ranges\n\nobject ranges:\n    state last: 0..n\n\n    \
    fixed(a: 0..3, b: bool):\n        skip\n\n    below(k: 0..n-1):\n        last := k\n\n    \
    between(b: bool, k: n..2*n):\n        skip\n\nprocedure fixed(a, b):\n    skip\n\n\
    procedure below(k):\n    skip\n\nprocedure between(b, k):\n    skip\n";

/// An argument beyond its range is refused at its place: at once if the range is fixed, else for
/// the number of processes at the end.
#[test]
fn arguments_beyond_their_ranges_are_refused_at_their_places() {
    let folder = tempfile::tempdir().unwrap();
    let declaration = folder.path().join("ranges.snapshot");
    std::fs::write(&declaration, RANGES).unwrap();
    let object: Object = declaration.to_str().unwrap().parse().unwrap();
    let refused = |recording: &str| {
        let judged = judge(&object, recording.as_bytes(), None, None, &Options::default());
        judged.map(|_| ()).map_err(|error| error.report("r"))
    };
    for (recording, place, range) in [
        ("p0 fixed 3 true\np0 ok\np0 fixed 4 true\n", "r:3:10", "0 to 3 as argument 1, found 4"),
        ("p0 fixed -1  true\n", "r:1:10", "0 to 3 as argument 1, found -1"),
        (
            "@1 p0 below 0\n@\"a b\" p0 below  9\n",
            "r:2:18",
            "0 to 0 as argument 1, for 1 process, found 9",
        ),
        (
            "p0 below 1\np0 ok\np0 below 2\np1 below 0\n",
            "r:3:10",
            "0 to 1 as argument 1, for 2 pro",
        ),
        // Within the range of two processes, and below that of three.
        (
            "p1 between true 2\np2 below 0\n",
            "r:1:17",
            "3 to 6 as argument 2, for 3 processes, found 2",
        ),
        (
            "p0 between true 7\np2 below 0\n",
            "r:1:17",
            "3 to 6 as argument 2, for 3 processes, found 7",
        ),
        (
            "{\"process\":0,\"event\":\"invoke\",\"operation\":\"below\",\"value\": 4}\n",
            "r:1:60",
            "found 4",
        ),
        ("{:process 0 :type :invoke :f :below :value 4}", "r:1:44", "found 4"),
    ] {
        let error = refused(recording).unwrap_err();
        assert!(error.starts_with(&format!("{place}: expected a number from ")), "{error}");
        assert!(error.contains(range) && error.contains("help: correct the value"), "{error}");
    }
    for recording in [
        "p0 fixed 3 false\np0 ok\n",
        "p0 below 2\np0 ok\np0 between true 4\np0 ok\np2 below 0\n",
        "p1 between false 4\np3 between true 8\n",
    ] {
        assert_eq!(refused(recording), Ok(()), "{recording}");
    }
}

#[test]
fn a_declared_object_is_judged_while_its_recording_grows() {
    let queue = path("array_queue").parse::<Object>().unwrap();
    let options = Options { live: true, ..Options::default() };
    // Each process begins behind others that were judged without it.
    let right: String = (0..40)
        .map(|process| format!("p{process} enqueue {process}\np{process} ok {}\n", process < 2))
        .collect();
    for (recording, expected) in [(right.clone(), false), (right + "p50 dequeue\np50 ok 1\n", true)]
    {
        let judged = judge(&queue, recording.as_bytes(), None, None, &options).unwrap();
        assert_eq!(is_violation(&judged), expected, "{recording}");
    }
}
