//! The program from outside.

use std::fs;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

fn lineup(arguments: &[&str]) -> (i32, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_lineup")).args(arguments).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

#[test]
fn answers_have_their_exit_codes() {
    let (code, text, _) = lineup(&["run", "Counter", "--test", "inc get | inc"]);
    assert_eq!(code, 0, "{text}");
    assert!(text.starts_with("Counter: PASS (all executions)"), "{text}");
    let larger = ["run", "Counter", "--test", "inc get inc | inc inc get"];
    let (code, text, _) = lineup(&larger);
    assert_eq!(code, 0, "{text}");
    assert!(text.starts_with("Counter: PASS (all executions with up to 2 preemptions)"), "{text}");
    let (code, text, errors) = lineup(&["run", "Counter1", "--test", "get inc get | get inc inc"]);
    assert_eq!((code, errors.as_str()), (1, ""), "{text}");
    assert!(text.contains("test (2 x 2):"), "minimised: {text}");
    assert!(text.contains("nearest serial execution:"), "{text}");
    let source = include_str!("../../src/subjects/counters.rs");
    let store = source.lines().position(|line| line.contains("count.store(")).unwrap() + 1;
    assert!(
        // With debugging information, the line; without, the function.
        text.contains(&format!("src/subjects/counters.rs:{store}"))
            || text.contains("stops before a step of Counter1::call"),
        "{text}"
    );
    let (code, text, _) = lineup(&["run", "Counter2", "--test", "inc get | inc", "--total"]);
    assert_eq!(code, 1, "{text}");
    let time = [
        "run",
        "Queue",
        "--test",
        "add(200) take add(400) | take take | try_take",
        "--preemptions",
        "all",
        "--time",
        "0.05",
    ];
    let (code, text, _) = lineup(&time);
    assert_eq!(code, 3, "{text}");
    assert!(text.contains("unknown: the time was up"), "{text}");
}

#[test]
fn bad_input_is_reported_with_the_alternatives() {
    for (arguments, expected) in [
        (
            &["run", "Nobody", "--test", "inc"][..],
            "there is no subject `Nobody`; the subjects are: Counter,",
        ),
        (
            &["run", "Counter", "--test", "inc | dec"],
            "`dec` is no operation of Counter; there are: inc() get()",
        ),
        (&["random", "--shape", "3"], "expected operations per thread and threads"),
        (&["replay", "/nowhere/at/all"], "/nowhere/at/all: "),
        (&["frobnicate"], "unrecognized subcommand"),
    ] {
        let (code, text, errors) = lineup(arguments);
        assert_eq!((code, text.as_str()), (2, ""), "{errors}");
        assert!(errors.contains(expected), "{errors}");
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    let path = file.to_str().unwrap();
    for (contents, expected) in [
        ("nonsense", "line 1: expected"),
        (
            "{\"format\":\"x\",\"version\":1,\"subject\":\"\",\"test\":[],\"complete\":true}",
            "expected `lineup-observations`",
        ),
        (
            "{\"format\":\"lineup-observations\",\"version\":1,\"subject\":\"Q\",\"test\":[[\"a\"],[\"b\"]],\"complete\":true}\n{\"threads\":[[\"1\"],[\"2\"]],\"orders\":[\"AC\"]}",
            "line 2: `AC` is no order of the test",
        ),
    ] {
        fs::write(&file, contents).unwrap();
        let (code, _, errors) = lineup(&["show", path]);
        assert_eq!(code, 2, "{errors}");
        assert!(errors.contains(expected), "{errors}");
    }
}

#[test]
fn failures_are_saved_and_replayed() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("failure.json");
    let path = file.to_str().unwrap();
    let run =
        ["run", "QueuePre", "--test", "add(200) try_take | add(400) try_take", "--save", path];
    let (code, found, _) = lineup(&run);
    assert_eq!(code, 1, "{found}");
    let (code, text, _) = lineup(&["replay", path]);
    assert_eq!(code, 1, "{text}");
    assert!(text.contains("\nthe execution that was recorded\n"), "{text}");
    let sentence = found.split("\n\n").find(|part| part.contains("In no serial")).unwrap();
    assert!(text.contains(sentence), "{text}\n{found}");
    // The right queue does not follow the schedule, and passes.
    let other = fs::read_to_string(&file).unwrap().replace("QueuePre", "Queue");
    fs::write(&file, other).unwrap();
    let (code, text, _) = lineup(&["replay", path]);
    assert_eq!(code, 0, "{text}");
    assert!(text.contains("not the execution that was recorded"), "{text}");
    assert!(text.contains("the schedule could not be followed"), "{text}");
}

#[test]
fn observations_are_written_shown_and_compared() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("queue.observations");
    let path = file.to_str().unwrap();
    let test = "add(200) add(400) | take try_take";
    let (code, ..) = lineup(&["run", "Queue", "--test", test, "--observations", path]);
    assert_eq!(code, 0);
    let written = fs::read_to_string(&file).unwrap();
    // Figure 7 of the paper.
    assert_eq!(
        written,
        "{\"format\":\"lineup-observations\",\"version\":1,\"subject\":\"Queue\",\"test\":\
         [[\"add(200)\",\"add(400)\"],[\"take()\",\"try_take()\"]],\"complete\":true}\n\
         {\"threads\":[[\"()\",\"()\"],[\"200\",\"Some(400)\"]],\"orders\":[\"AABB\",\"ABAB\"]}\n\
         {\"threads\":[[\"()\",\"()\"],[\"200\",\"None\"]],\"orders\":[\"ABBA\"]}\n\
         {\"threads\":[[],[\"#\"]],\"orders\":[\"B#\"]}\n"
    );
    let (code, text, _) = lineup(&["show", path]);
    assert_eq!(code, 0);
    assert!(text.contains("4 serial executions (all), 1 of them stuck"), "{text}");
    assert!(text.contains("B: take() -> 200; try_take() -> None\n  orders: ABBA\n"), "{text}");
    let again = ["run", "Queue", "--test", test, "--baseline", path];
    assert_eq!(lineup(&again).0, 0);
    fs::write(&file, written.replace("Some(400)", "Some(401)")).unwrap();
    let (code, text, _) = lineup(&again);
    assert_eq!(code, 1);
    assert!(text.contains("differ from the baseline, in A"), "{text}");
    let (code, _, errors) = lineup(&["run", "Queue", "--test", "take", "--baseline", path]);
    assert_eq!(code, 2);
    assert!(errors.contains("of another test"), "{errors}");
}

#[test]
fn random_and_automatic_series_report_their_tests() {
    let (code, text, _) = lineup(&["random", "Counter", "--shape", "2x2", "--samples", "10"]);
    assert_eq!(code, 0, "{text}");
    let begin = "Counter: PASS: 10 of 10 tests, each with up to 2 preemptions (";
    assert!(text.contains(begin) && text.ends_with(" exhaustive)\n"), "{text}");
    let (code, text, _) = lineup(&["auto", "Counter1", "--up-to", "2"]);
    assert_eq!(code, 1, "{text}");
    assert!(text.contains("Counter1: FAIL"), "{text}");
    let (code, text, _) = lineup(&["list"]);
    assert_eq!(code, 0);
    assert!(text.contains("Queue: add(200) add(400) try_take() take()\n"), "{text}");
}

#[test]
fn initial_and_final_sequences_are_executed() {
    let random = ["random", "QueuePre", "--shape", "1x2", "--samples", "12"];
    let with = |more: &[&str]| lineup(&[&random[..], more].concat());
    // One operation per thread: `try_take` is refused wrongly only if there is a value.
    assert_eq!(with(&[]).0, 0);
    let (code, text, _) = with(&["--init", "add(200)"]);
    assert_eq!(code, 1, "{text}");
    assert!(text.contains("    add(200)\n"), "{text}");
    let (code, text, _) = with(&["--random-init", "2", "--random-final", "1"]);
    assert_eq!(code, 1, "{text}");
    let (code, _, errors) = with(&["--init", "add(201)"]);
    assert_eq!(code, 2);
    assert!(errors.contains("`add(201)` is no operation of QueuePre"), "{errors}");
    let all = ["all", "QueuePre", "--shape", "1x2"];
    let (code, text, _) = lineup(&all);
    assert_eq!(code, 0, "{text}");
    assert!(text.contains("10 of 10 tests ("), "{text}");
    assert_eq!(lineup(&[&all[..], &["--init", "add(400)"]].concat()).0, 1);
    let (code, _, errors) = lineup(&["all", "BlockingCollection", "--shape", "3x3"]);
    assert_eq!(code, 2);
    assert!(errors.contains("BlockingCollection has 1703016 such tests"), "{errors}");
}

#[test]
fn surveys_are_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let records = path("records.csv");
    let survey = |subject: &str, tests: &str| {
        lineup(&["survey", subject, "--tests", tests, "--record", &records])
    };
    let (code, text, errors) = survey("Counter1", "all:2x2");
    assert_eq!(code, 1, "{text}{errors}");
    assert_eq!(text, "Counter1, all:2x2: 10 of 10 tests run: 7 passed, 3 failed, 0 unknown\n");
    assert_eq!(survey("Counter", "random:2x2:7:init1").0, 0);
    assert_eq!(survey("Counter", "random:2x2:6").0, 0);
    assert_eq!(survey("Counter1", "all:2x2").0, 1);
    let recorded = fs::read_to_string(&records).unwrap();
    assert_eq!(recorded.lines().count(), 4, "measured again, in place of it: {recorded}");
    let smallest = recorded.lines().find(|line| line.starts_with("Counter1,")).unwrap();
    assert!(smallest.contains("inc() | inc() get()"), "{smallest}");
    // Nothing begins after the budget.
    let late = ["survey", "Counter", "--tests", "all:2x2", "--budget", "0", "--record", &records];
    let (code, text, _) = lineup(&late);
    assert_eq!((code, text.contains("0 of 10 tests run")), (0, true), "{text}");
    // A budget for all series of a subject; a test that it ends is not counted.
    let budgets = |subject: &str, tests: &str, more: &[&str]| {
        lineup(&[&["survey", subject, "--tests", tests, "--record", &records], more].concat())
    };
    let (code, text, _) = budgets("Counter", "all:2x2", &["--subject-budget", "0"]);
    assert_eq!((code, text.contains("0 of 10 tests run")), (0, true), "{text}");
    let (code, text, _) = budgets("Counter", "all:2x2", &["--subject-budget", "60"]);
    assert_eq!((code, text.contains("10 of 10 tests run")), (0, true), "{text}");
    let all = ["--preemptions", "all", "--executions", "1000000000", "--subject-budget", "0.2"];
    let (code, text, _) = budgets("Queue", "random:3x3:3", &all);
    assert_eq!((code, text.contains("0 of 3 tests run: 0 passed")), (0, true), "{text}");
    let (code, _, errors) =
        budgets("Counter", "all:2x2", &["--budget", "1", "--subject-budget", "1"]);
    assert_eq!((code, errors.contains("cannot be used with")), (2, true), "{errors}");
    assert_eq!(survey("Counter", "random:2x2:6").0, 0);
    fs::write(path("page"), "# Results\n\n## Other\n").unwrap();
    for (arguments, expected) in [
        (&["survey", "Counter", "--tests", "some:2x2", "--record", "x"][..], "expected `all:2x2`"),
        (
            &["survey", "Counter", "--tests", "all:1x1", "--record", &path("page")],
            "page: record 1: ",
        ),
    ] {
        let (code, _, errors) = lineup(arguments);
        assert_eq!(code, 2, "{errors}");
        assert!(errors.contains(expected), "{errors}");
    }
}

#[cfg(unix)]
#[test]
fn an_interrupted_check_ends_with_an_answer() {
    let child = Command::new(env!("CARGO_BIN_EXE_lineup"))
        .args(["run", "Queue", "--preemptions", "all", "--test"])
        .arg("add(200) add(400) add(200) | try_take add(200) try_take | take add(400) take")
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    std::thread::sleep(Duration::from_millis(700));
    let start = Instant::now();
    let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(killed.success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(3));
    assert!(String::from_utf8(output.stdout).unwrap().contains("unknown: interrupted"));
    assert!(start.elapsed() < Duration::from_secs(20));
}
