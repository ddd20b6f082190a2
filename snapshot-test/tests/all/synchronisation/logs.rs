//! Logs of Jepsen, Knossos and Porcupine: each workload right and violated, refusals with their
//! places, and recordings of this program written as such logs.

use std::fs;
use std::io::Read;
use std::path::Path;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use snapshot_test::Value;
use snapshot_test::format::Format;
use snapshot_test::judge::Options;
use snapshot_test::synchronisation::{Finding, Judgement, Object, ReadError, judge};

fn judged(object: &str, log: impl Read) -> Result<Vec<Judgement>, ReadError> {
    let object: Object = object.parse().unwrap();
    judge(&object, log, None, None, &Options::default())
}

/// Returns 0 for a linearizable log, 1 for a violation, as the exit code.
fn verdict(judged: &[Judgement]) -> u8 {
    let is_wrong = |one: &Judgement| matches!(one.finding, Finding::Violation(_));
    assert!(judged.iter().all(|one| !matches!(one.finding, Finding::Unknown { .. })));
    u8::from(judged.iter().any(is_wrong))
}

/// Returns the events of one process after the other: each is `f`, the value of the invocation, the
/// kind of the end, and its value.
fn serial(operations: &[[&str; 4]]) -> String {
    let event = |process: usize, kind: &str, function: &str, value: &str| {
        format!("{{:process {process}, :type :{kind}, :f :{function}, :value {value}}}\n")
    };
    let mut log = String::new();
    for (process, [function, given, end, returned]) in operations.iter().enumerate() {
        log += &event(process, "invoke", function, given);
        log += &event(process, end, function, returned);
    }
    log
}

type Workload<'a> = (&'a str, &'a [[&'a str; 4]], (&'a str, &'a str));

const WORKLOADS: [Workload<'_>; 13] = [
    // Texts that grow, as Porcupine has them.
    (
        "map",
        &[
            ["get", "[0 nil]", "ok", "[0 \"\"]"],
            ["append", "[0 \"x 0 y\"]", "ok", "[0 \"x 0 y\"]"],
            ["append", "[0 \"x 1 y\"]", "info", "[0 \"x 1 y\"]"],
            ["get", "[0 nil]", "ok", "[0 \"x 0 yx 1 y\"]"],
            ["put", "[0 \"z\"]", "ok", "[0 \"z\"]"],
            ["append", "[0 \"a\"]", "ok", "[0 \"a\"]"],
            ["get", "[0 nil]", "ok", "[0 \"za\"]"],
        ],
        ("x 0 yx 1 y", "x 1 yx 0 y"),
    ),
    (
        "register",
        &[["read", "nil", "ok", "nil"], ["write", "3", "ok", "3"], ["read", "nil", "ok", "3"]],
        ("read, :value 3", "read, :value 4"),
    ),
    (
        "cas-register",
        &[["w", "1", "ok", "1"], ["cas", "[1 2]", "ok", "[1 2]"], ["r", "nil", "ok", "2"]],
        ("r, :value 2", "r, :value 1"),
    ),
    // A failed compare-and-set shows nothing; one of unknown outcome may take effect.
    (
        "cas-register",
        &[
            ["write", "1", "ok", "1"],
            ["cas", "[1 2]", "fail", "[1 2]"],
            ["cas", "[1 3]", "info", "[1 3]"],
            ["read", "nil", "ok", "3"],
        ],
        ("info", "fail"),
    ),
    // Keys of jepsen.independent, of which each has a register.
    (
        "cas-register",
        &[
            ["write", "[7 1]", "ok", "[7 1]"],
            ["write", "[8 5]", "ok", "[8 5]"],
            ["cas", "[7 [1 2]]", "ok", "[7 [1 2]]"],
            ["read", "[8 nil]", "ok", "[8 5]"],
            ["read", "[7 nil]", "ok", "[7 2]"],
        ],
        ("[7 2]}", "[7 1]}"),
    ),
    (
        "map",
        &[
            ["read", "[0 nil]", "ok", "[0 nil]"],
            ["write", "[0 1]", "ok", "[0 1]"],
            ["cas", "[0 [1 2]]", "ok", "[0 [1 2]]"],
            ["read", "[0 nil]", "ok", "[0 2]"],
        ],
        ("[0 2]}", "[0 1]}"),
    ),
    (
        "queue",
        &[
            ["dequeue", "nil", "ok", "nil"],
            ["enqueue", "1", "ok", "1"],
            ["enqueue", "2", "info", "2"],
            ["dequeue", "nil", "fail", "nil"],
            ["dequeue", "nil", "ok", "1"],
            ["dequeue", "nil", "ok", "2"],
        ],
        ("ok, :f :dequeue, :value 1", "ok, :f :dequeue, :value 3"),
    ),
    (
        "stack",
        &[
            ["push", "1", "ok", "1"],
            ["push", "2", "ok", "2"],
            ["pop", "nil", "ok", "2"],
            ["pop", "nil", "ok", "1"],
        ],
        ("ok, :f :push, :value 2", "fail, :f :push, :value 2"),
    ),
    (
        "priority-queue",
        &[["add", "2", "ok", "2"], ["add", "1", "ok", "nil"], ["remove", "nil", "ok", "1"]],
        ("remove, :value 1", "remove, :value 2"),
    ),
    (
        "lock",
        &[
            ["acquire", "nil", "ok", "nil"],
            ["acquire", "nil", "fail", "nil"],
            ["release", "nil", "ok", "nil"],
            ["acquire", "nil", "ok", "nil"],
        ],
        ("fail", "ok"),
    ),
    (
        "counter",
        &[
            ["add", "1", "ok", "1"],
            ["inc", "nil", "ok", "nil"],
            ["add", "-1", "ok", "-1"],
            ["read", "nil", "ok", "1"],
        ],
        ("read, :value 1", "read, :value 2"),
    ),
    (
        "set",
        &[
            ["add", "5", "ok", "true"],
            ["contains", "5", "ok", "true"],
            ["remove", "5", "ok", "true"],
        ],
        ("contains, :value true", "contains, :value false"),
    ),
    // Any other object, by the names of its own operations.
    (
        "timeout-channel",
        &[["send", "5", "ok", "false"], ["receive", "nil", "ok", "nil"]],
        ("send, :value false", "send, :value true"),
    ),
];

#[test]
fn each_workload_passes_and_its_twin_fails() {
    for (object, operations, (from, to)) in WORKLOADS {
        let log = serial(operations);
        assert_eq!(log.matches(from).count(), 1, "{log}");
        let twin = log.replacen(from, to, 1);
        // In a vector, in a list, as records, behind a comment.
        let forms = |log: &str| {
            let records: String =
                log.lines().map(|line| format!("#jepsen.history.Op{line}\n")).collect();
            [log.to_owned(), format!("[{log}]"), format!("; by hand\n(\n{log})\n"), records]
        };
        for (right, wrong) in forms(&log).into_iter().zip(forms(&twin)) {
            let found = judged(object, right.as_bytes()).unwrap();
            assert_eq!(found[0].format, Some(Format::Edn));
            assert_eq!(verdict(&found), 0, "{object}\n{right}");
            let found = judged(object, wrong.as_bytes()).unwrap();
            assert_eq!(verdict(&found), 1, "{object}\n{wrong}");
        }
    }
}

/// The lines of jepsen.util, and of `history.txt`: a compare-and-set that failed saw another value.
#[test]
fn console_logs_are_read() {
    const LINES: [&str; 11] = [
        "0\t:invoke\t:read\tnil",
        "0\t:ok\t:read\tnil",
        "1\t:invoke\t:write\t3",
        "1\t:info\t:write\t:timed-out",
        ":nemesis\t:info\t:start\tnil",
        "2\t:invoke\t:cas\t[3 4]",
        "2\t:fail\t:cas\t[3 4]",
        "3\t:invoke\t:read\tnil",
        "3\t:fail\t:read\t:timed-out",
        "4\t:invoke\t:read\tnil",
        "4\t:ok\t:read\t3",
    ];
    for logger in ["INFO  jepsen.util - ", ""] {
        let log = |lines: &[&str]| -> String {
            lines.iter().map(|line| format!("{logger}{line}\n")).collect()
        };
        let right = log(&LINES);
        assert_eq!(verdict(&judged("cas-register", right.as_bytes()).unwrap()), 0, "{right}");
        // The read comes before the compare-and-set, which then would not have failed.
        let wrong = [&LINES[..5], &LINES[9..], &LINES[5..9]].concat();
        let wrong = log(&wrong);
        assert_eq!(verdict(&judged("cas-register", wrong.as_bytes()).unwrap()), 1, "{wrong}");
    }
    let other = "INFO  jepsen.util - 0\t:invoke\t:read\tnil\nINFO  jepsen.core - ready\n";
    let error = judged("register", other.as_bytes()).unwrap_err().report("LOG");
    assert!(error.starts_with("LOG:2:1: expected a line such as `INFO jepsen.util"), "{error}");
}

#[test]
fn foreign_operations_are_refused_at_their_position() {
    let first = "{:process 0, :type :invoke, :f :read, :value nil}\n";
    for (object, event, told) in [
        (
            "register",
            ":f :cas, :value [1 2]",
            "2:32: :cas is not an operation of a register without",
        ),
        ("queue", ":f :drain, :value nil", "2:32: :drain returns several elements at once"),
        ("set", ":f :read, :value nil", "leave out --object"),
        ("counter", ":f :add, :value 3", "2:32: :add adds another number than 1 or -1"),
        ("register", ":f :append, :value 3", "judged by Elle"),
        ("register", ":f :txn, :value [[:r 1 nil]]", "2:32: :txn reads or writes several"),
        ("register", ":f :enqueue, :value 3", "use --object queue"),
        ("map", ":f :write, :value 3", "2:47: expected a tuple [key value]"),
        ("map", ":f :cas, :value [1 [nil 2]]", "2:45: a compare-and-set from or to nil"),
        ("cas-register", ":f :cas, :value 3", "2:45: expected [old new]"),
        ("register", ":f :write, :value {:x 1}", "2:47: expected one value"),
        ("register", ":f :frobnicate, :value 3", "2:32: :frobnicate is not an operation"),
    ] {
        let head = match object {
            "register" | "cas-register" => first.to_owned(),
            _ => "; a comment\n".to_owned(),
        };
        let log = format!("{head}{{:process 1, :type :invoke, {event}}}\n");
        let error = judged(object, log.as_bytes()).unwrap_err().report("LOG");
        assert!(error.contains(told) && error.starts_with("LOG:2:"), "{event}: {error}");
        assert!(
            error.contains("\nhelp: ") || event.ends_with("1}") || event.contains("cas, :value 3")
        );
        assert!(error.contains("\n  {:process 1"), "{error}");
    }
}

#[test]
fn malformed_logs_are_refused_at_their_position() {
    let fine = serial(&[["write", "3", "ok", "3"]]);
    for (log, told) in [
        (format!("{fine}{{:type :ok"), "LOG:3:1: `{` is never closed"),
        (format!("[{fine}"), "LOG:1:1: `[` is never closed"),
        (format!("{fine}]"), "LOG:3:1: expected EDN: expected an event, found a bracket that"),
        (fine.replace(":ok", ":okay"), "LOG:2:20: expected :invoke, :ok, :fail or :info"),
        (fine.replace("ok, :f :write, :value 3", "ok, :f :write, :value 4"), "returned `4`"),
        (format!("{fine}{fine}").replacen(":ok", ":invoke", 1), "LOG:2:1: process 0 begins"),
        (fine.replacen(":invoke", ":ok", 1), "LOG:1:1: process 0 ends an operation that has not"),
        (format!("{fine}{}", "[".repeat(200_000)), "LOG:3:"),
        (format!("{{:process 0, :type :invoke, :value {}", "[".repeat(200_000)), "64 deep"),
        (fine.replace('\n', "\r").replace("3}", "3} ; x"), "LOG:1:"),
    ] {
        match judged("register", log.as_bytes()) {
            Ok(found) => assert!(told == "LOG:1:", "{told}: {found:?}"),
            Err(error) => {
                let error = error.report("LOG");
                assert!(error.contains(told), "{told}: {error}");
            }
        }
    }
    let mut log = fine.into_bytes();
    log.extend_from_slice(b"\xff");
    let error = judged("register", log.as_slice()).unwrap_err().report("LOG");
    assert!(error.starts_with("LOG:3:1: not UTF-8"), "{error}");
}

/// A reader of at most some bytes at a time.
struct Slow<'a>(&'a [u8], usize);

impl Read for Slow<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let count = self.1.min(self.0.len()).min(buffer.len());
        buffer[..count].copy_from_slice(&self.0[..count]);
        self.0 = &self.0[count..];
        Ok(count)
    }
}

/// A long event and a cut character at each place.
#[test]
fn chunks_of_a_log_do_not_matter() {
    let operations = [
        ["write", "\"gr\u{fc}\u{df}e \u{1f600}\"", "ok", "\"gr\u{fc}\u{df}e \u{1f600}\""],
        ["read", "nil", "ok", "\"gr\u{fc}\u{df}e \u{1f600}\""],
    ];
    let log = format!("\u{feff}[\n{}]", serial(&operations));
    let wrong = log.replacen("ok, :f :read", "ok, :f :reed", 1);
    let place = judged("register", wrong.as_bytes()).unwrap_err().report("LOG");
    assert!(place.starts_with("LOG:5:1: process 1 ends another operation"), "{place}");
    for size in 1..=9 {
        assert_eq!(verdict(&judged("register", Slow(log.as_bytes(), size)).unwrap()), 0);
        let error = judged("register", Slow(wrong.as_bytes(), size)).unwrap_err();
        assert_eq!(error.report("LOG"), place, "{size}");
    }
}

/// An operation as both formats have it: the text of its invocation and of its response, `f`, the
/// values of its invocation and of its response.
type Twice = [String; 5];

fn random_operation(object: &str, random: &mut ChaCha8Rng) -> Twice {
    let mut number = |below: i64| random.random_range(0..below).to_string();
    let (one, two, coin) = (number(3), number(3), number(4));
    let none = |value: &str| if coin == "0" { "none".into() } else { value.to_owned() };
    let nil = |value: &str| if coin == "0" { "nil".into() } else { value.to_owned() };
    let all = |parts: [&str; 5]| parts.map(str::to_owned);
    let truth = if coin.as_str() < "2" { "true" } else { "false" };
    let kind = number(3);
    match (object, kind.as_str()) {
        ("register" | "cas-register", "0") => {
            let text = if coin == "0" { "\"nil\"".to_owned() } else { one.clone() };
            ["read".into(), text, "read".into(), "nil".into(), nil(&one)]
        }
        ("cas-register", "1") => {
            let (text, pair) = (format!("cas {one} {two}"), format!("[{one} {two}]"));
            all([&text, "true", "cas", &pair, &pair])
        }
        ("register" | "cas-register", _) => all([&format!("write {one}"), "", "write", &one, &one]),
        ("map", "0") => {
            let result = format!("[{two} {}]", nil(&one));
            [format!("get {two}"), none(&one), "read".into(), format!("[{two} nil]"), result]
        }
        ("map", "1") => {
            let pair = format!("[{two} {one}]");
            all([&format!("put {two} {one}"), "", "write", &pair, &pair])
        }
        ("map", _) => {
            let (text, pair) = (format!("cas {two} 1 {one}"), format!("[{two} [1 {one}]]"));
            all([&text, "true", "cas", &pair, &pair])
        }
        ("queue", "0") => ["dequeue".into(), none(&one), "dequeue".into(), "nil".into(), nil(&one)],
        ("queue", _) => all([&format!("enqueue {one}"), "", "enqueue", &one, &one]),
        ("stack", "0") => ["pop".into(), none(&one), "pop".into(), "nil".into(), nil(&one)],
        ("stack", _) => all([&format!("push {one}"), "", "push", &one, "nil"]),
        ("lock", "0") => all(["acquire \"nil\"", "", "acquire", "nil", "nil"]),
        ("lock", _) => all(["release \"nil\"", "", "release", "nil", "nil"]),
        ("counter", "0") => all(["increment", "", "inc", "nil", "nil"]),
        ("counter", "1") => all(["decrement", "", "add", "-1", "-1"]),
        ("counter", _) => all(["read", &one, "read", "nil", &one]),
        (_, "0") => all([&format!("add {one}"), truth, "add", &one, truth]),
        (_, "1") => all([&format!("remove {one}"), truth, "remove", &one, truth]),
        _ => all([&format!("contains {one}"), truth, "contains", &one, truth]),
    }
}

/// Random recordings as text and as a log have the same verdict, and the same places of proofs.
#[test]
fn a_recording_and_its_log_have_the_same_verdict() {
    let objects = ["register", "cas-register", "map", "queue", "stack", "lock", "counter", "set"];
    let mut found = [0; 2];
    for seed in 0..600 {
        let random = &mut ChaCha8Rng::seed_from_u64(seed);
        let object = objects[seed as usize % objects.len()];
        let (mut text, mut log) = (String::new(), String::new());
        let mut open: [Option<Twice>; 3] = [const { None }; 3];
        for _ in 0..random.random_range(2..12) {
            let process = random.random_range(0..3);
            let name = 7 * process + 3;
            let mut event = |kind: &str, function: &str, value: &str, words: &str| {
                text += &format!("p{process} {words}\n");
                log += &format!(
                    "{{:f :{function}, :process {name}, :type :{kind}, :value {value}}}\n"
                );
            };
            match open[process].take() {
                None => {
                    let operation = random_operation(object, random);
                    event("invoke", &operation[2], &operation[3], &operation[0]);
                    open[process] = Some(operation);
                }
                Some([_, result, function, given, returned]) => match random.random_range(0..8) {
                    0 => event("fail", &function, &given, "fail"),
                    1 => event("info", &function, &given, "unknown"),
                    _ => event("ok", &function, &returned, &format!("ok {result}")),
                },
            }
        }
        let mut kind: Object = object.parse().unwrap();
        if object.ends_with("register") {
            kind = kind.with_initial(Value::from("nil")).unwrap();
        }
        let one = judge(&kind, text.as_bytes(), None, None, &Options::default()).unwrap();
        let other = judged(object, log.as_bytes()).unwrap_or_else(|error| {
            panic!("{object}\n{text}\n{}", error.report("LOG"));
        });
        assert_eq!(verdict(&one), verdict(&other), "{object}\n{text}\n{log}");
        let lines = |judged: &[Judgement]| -> Vec<u64> {
            judged[0].texts.iter().map(|text| text.invoked).collect()
        };
        assert_eq!(lines(&one), lines(&other), "{text}");
        found[usize::from(verdict(&one))] += 1;
    }
    assert_eq!(found, [334, 266]);
}

/// Returns the files below a folder that an environment variable names.
fn files(variable: &str, below: &str) -> Vec<std::path::PathBuf> {
    let Ok(folder) = std::env::var(variable) else {
        println!("{variable} names no folder with these files: nothing was judged");
        return Vec::new();
    };
    let mut files: Vec<_> = fs::read_dir(Path::new(&folder).join(below))
        .unwrap_or_else(|error| panic!("{folder}/{below}: {error}"))
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    files
}

/// `KNOSSOS` names a clone of github.com/jepsen-io/knossos.
#[test]
fn the_files_of_knossos_have_their_verdicts() {
    for (object, initial, below, expected) in [
        ("cas-register", Some(0), "data/cas-register/good", 0),
        ("cas-register", Some(0), "data/cas-register/bad", 1),
        ("lock", None, "data/mutex/bad", 1),
    ] {
        for path in files("KNOSSOS", below) {
            let log = fs::read(&path).unwrap();
            // One of the files is empty.
            if log.is_empty() || path.extension().is_none_or(|extension| extension != "edn") {
                println!("not judged: {}", path.display());
                continue;
            }
            let mut object: Object = object.parse().unwrap();
            if let Some(initial) = initial {
                object = object.with_initial(Value::from(initial)).unwrap();
            }
            let found = judge(&object, log.as_slice(), None, None, &Options::default());
            let found = found
                .unwrap_or_else(|error| panic!("{}", error.report(&path.display().to_string())));
            assert_eq!(verdict(&found), expected, "{}", path.display());
        }
    }
}

/// `PORCUPINE` names a clone of github.com/anishathalye/porcupine, whose tests name the verdicts.
#[test]
fn the_etcd_logs_of_porcupine_have_their_verdicts() {
    for path in files("PORCUPINE", "test_data/jepsen") {
        let tests = Path::new(&std::env::var("PORCUPINE").unwrap()).join("porcupine_test.go");
        let tests = fs::read_to_string(tests).unwrap();
        let stem = path.file_stem().unwrap().to_string_lossy().into_owned();
        let number: usize = stem.trim_start_matches("etcd_").parse().unwrap();
        let expected =
            |is_right: bool| tests.contains(&format!("checkJepsen(t, {number}, {is_right})"));
        if !expected(true) && !expected(false) {
            println!("no verdict: {}", path.display());
            continue;
        }
        let log = fs::read(&path).unwrap();
        let found = judged("cas-register", log.as_slice())
            .unwrap_or_else(|error| panic!("{}", error.report(&path.display().to_string())));
        assert_eq!(verdict(&found) == 0, expected(true), "{}", path.display());
    }
}

/// `PORCUPINE` names a clone of github.com/anishathalye/porcupine; names of files have the verdicts.
#[test]
fn the_key_value_logs_of_porcupine_have_their_verdicts() {
    for path in files("PORCUPINE", "test_data/kv") {
        let log = fs::read(&path).unwrap();
        let found = judged("map", log.as_slice())
            .unwrap_or_else(|error| panic!("{}", error.report(&path.display().to_string())));
        let stem = path.file_stem().unwrap().to_string_lossy().into_owned();
        assert_eq!(verdict(&found), u8::from(stem.ends_with("-bad")), "{stem}");
    }
}
