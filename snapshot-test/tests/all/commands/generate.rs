//! `snapshot-test generate`.

use std::fs;
use std::io::Read;
use std::process::{Command, Stdio};

use corpus::generate::Rule;
use corpus::{Case, Expected};
use snapshot_core::History;
use snapshot_core::certificate::{linearization, witness};
use snapshot_core::check::check;
use snapshot_core::history::{Action, Declaration, Operation};
use snapshot_core::search::Budget;
use snapshot_core::verdict::{Method, Verdict};
use snapshot_test::format::{Format, Reader};
use snapshot_test::input::Input;
use snapshot_test::{Value, read_history};

use crate::commands::{answer, printed, refused, run};

fn history(text: &str) -> History<Value> {
    let reader = Reader::text(text.as_bytes()).expect("a generated recording has a header");
    read_history(reader).expect("a generated recording is a history").0
}

fn case(text: String) -> Case {
    Case::parse("generated", text.leak()).expect("a generated recording has an expectation")
}

/// Checks the history, confirms the certificate, and compares with the expectation in the comments.
/// Returns the method.
fn judge(text: String) -> (Expected, Method) {
    let case = case(text);
    let history = history(case.source);
    let mut budget = Budget { memory: 1 << 28, proceed: &mut || true };
    let report = check(&history, &mut budget);
    match (&report.verdict, case.expected) {
        (Verdict::Linearizable(order), Expected::Linearizable) => {
            assert_eq!(linearization::check(&history, order), Ok(()), "{}", case.source);
        }
        (Verdict::Violation(found), Expected::Violation { reason }) => {
            assert_eq!(witness::check(&history, found), Ok(()), "{}", case.source);
            assert_eq!(Some(found.reason.name()), reason, "{}", case.source);
        }
        (found, expected) => panic!("{expected}, found {}: {}", found.name(), case.source),
    }
    (case.expected, report.method)
}

#[test]
fn small_recording_is_pinned() {
    let expected = "\
# expect: violation missing
# about: 6 operations by 3 processes on 3 segments, no value twice; breaks the rule missing.
# recipe: snapshot-test generate --processes 3 --segments 3 --operations 6 \
--style differentiated --scans 0.5 --pending 0 --seed 0 --violation missing
segments 3
processes 3
p0 scan
p2 update 2
p1 update 3
p1 ok
p2 ok
p0 ok 0 0 0
p0 scan
p2 update 7
p2 ok
p1 update 8
p1 ok
p0 ok 0 8 2
";
    let arguments = "generate --processes 3 --operations 6 --violation missing";
    assert_eq!(printed(arguments), expected);
    let twin = printed(&format!("{arguments} --twin"));
    assert!(twin.starts_with("# expect: linearizable\n") && twin.contains(" --twin\n"), "{twin}");
    let events = |text: &str| text.lines().skip(3).map(str::to_owned).collect::<Vec<_>>();
    let (bad, good) = (events(expected), events(&twin));
    assert_eq!((&bad[..13], "p0 ok 0 8 7"), (&good[..13], good[13].as_str()));
}

#[test]
fn the_recipe_in_the_comments_gives_the_same_bytes() {
    for arguments in [
        "",
        "--seed 18446744073709551615",
        "--processes 5 --segments 3 --scans 0.3 --pending 4 --seed 7",
        "--style simple --pair 2,1 --seed 3",
        "--style simple --violation 3d --seed 3",
        "--style small-domain --values 3 --operations 30",
        "--style small-domain --violation stale --twin",
        "--violation failed-update-seen",
        "--writers many --segments 2 --gaps 0.2 --pending 3 --violation crossed --seed 5",
        "--writers many --segments 2 --style small-domain --values 9 --twin --violation block",
    ] {
        let text = printed(&format!("generate {arguments}"));
        let recipe = text.lines().find_map(|line| line.strip_prefix("# recipe: snapshot-test "));
        assert_eq!(printed(recipe.unwrap()), text, "{arguments}");
    }
    assert_ne!(printed("generate --seed 1"), printed("generate --seed 2"));
}

#[test]
fn options_are_followed() {
    let text = printed(
        "generate --processes 6 --segments 4 --operations 500 --scans 0.1 --pending 9 --seed 1",
    );
    let history = history(&text);
    assert_eq!((history.processes(), history.segments()), (6, 4));
    assert_eq!((history.operations().len(), history.pending()), (500, 9));
    let by_writers = history.operations().iter().filter(|o| o.process().index() < 4);
    let (scans, updates): (Vec<&Operation>, Vec<_>) = by_writers.partition(|o| o.is_scan());
    assert!(scans.len() < updates.len() && !scans.is_empty(), "{}", scans.len());
    let few = printed("generate --style small-domain --values 3 --operations 200");
    let few = self::history(&few);
    let written = |o| if few.operation(o).is_scan() { None } else { Some(few.operation(o)) };
    let mut values: Vec<Value> =
        few.operation_ids().filter_map(written).map(|o| few.update_value(o).clone()).collect();
    values.sort();
    values.dedup();
    assert_eq!(values, [0, 1, 2].map(Value::from));
    let simple = self::history(&printed("generate --style simple --pair 3,1 --operations 300"));
    for event in simple.events() {
        if let Action::InvokeUpdate { segment, value } = event.action {
            assert!(*value == Value::from(0) || [1, 3].contains(&segment.index()));
        }
    }
}

#[test]
fn every_rule_and_case_has_its_stated_verdict() {
    let cases = [
        "decrease-i",
        "decrease-j",
        "3a-i",
        "3a-j",
        "3b-never-i",
        "3b-never-j",
        "3b-future-i",
        "3b-future-j",
        "3c",
        "3d",
    ];
    let rules = Rule::ALL.map(Rule::name);
    let mut methods = Vec::new();
    for (style, faults) in [
        ("differentiated --pending 3", rules.to_vec()),
        ("simple", rules.into_iter().chain(cases).collect()),
    ] {
        for fault in faults {
            for twin in ["", "--twin"] {
                let text = printed(&format!("generate --style {style} --violation {fault} {twin}"));
                let (expected, method) = judge(text);
                assert_eq!(expected.is_linearizable(), twin == "--twin");
                methods.push(method);
            }
        }
    }
    assert!(methods.contains(&Method::Simple) && methods.contains(&Method::Linear));
}

#[test]
fn ambiguous_recordings_have_their_stated_verdict() {
    // The rule that a checker names is open: other values may be ambiguous.
    for rule in Rule::ALL {
        for twin in ["", "--twin"] {
            let text = printed(&format!(
                "generate --style small-domain --operations 40 --violation {rule} {twin}"
            ));
            let case = case(text);
            let mut budget = Budget { memory: 1 << 28, proceed: &mut || true };
            let verdict = check(&history(case.source), &mut budget).verdict;
            let is_linearizable = matches!(verdict, Verdict::Linearizable(_));
            assert!(!matches!(verdict, Verdict::Unknown(_)));
            assert_eq!(is_linearizable, case.expected.is_linearizable(), "{}", case.source);
        }
    }
}

#[test]
fn all_formats_have_the_same_events() {
    let folder = tempfile::tempdir().unwrap();
    let options = "generate --processes 3 --violation inversion --seed 5 --to";
    let text = history(&printed(&format!("{options} text")));
    for format in Format::ALL {
        let path = folder.path().join(format.name());
        let name = path.to_str().unwrap();
        assert_eq!(printed(&format!("{options} {} -o {name}", format.name())), "");
        let (history, _) = read_history(Input::File(path).open(None).unwrap()).unwrap();
        assert!(history.events().eq(text.events()), "{format}");
        let declared: Declaration<Value> = history.declaration();
        assert_eq!((declared.segments, declared.processes), (Some(3), Some(3)));
    }
    let jsonl = fs::read_to_string(folder.path().join("jsonl")).unwrap();
    let header: serde_json::Value =
        serde_json::from_str(jsonl.lines().next().unwrap()).expect("the header is JSON");
    let comment = header["comment"].as_str().unwrap();
    assert!(comment.starts_with("expect: violation inversion; about: "), "{comment}");
    assert!(comment.ends_with("--seed 5 --violation inversion"), "{comment}");
}

#[test]
fn recordings_beyond_disc22_leave_no_output() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out");
    fs::write(&path, "precious").unwrap();
    for (options, message) in [
        ("--violation failed-update-seen", "disc22 has no failed operations"),
        ("--processes 3 --segments 2", "disc22 has as many segments as processes"),
        ("--operations 0", "disc22 cannot express an empty history"),
        ("--pending 5 --operations 1000", "disc22 can express an unknown outcome only"),
    ] {
        for place in [String::new(), format!("-o {}", path.display())] {
            let report = refused(&format!("generate --to disc22 {options} {place}"));
            assert!(report.starts_with(message), "{options}: {report}");
        }
    }
    assert_eq!(fs::read_to_string(&path).unwrap(), "precious");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "temporary files are removed");
}

#[test]
fn impossible_recipes_are_refused_with_a_remedy() {
    for (options, message) in [
        ("--processes 0", "expected from 1 to 1048576 processes, found 0\n"),
        ("--segments 70000", "expected from 1 to 65536 segments, found 70000\n"),
        ("--scans -0.5", "expected the fraction of scans to be a share, from 0 to 1, found -0.5\n"),
        ("--scans 1.5", "expected the fraction of scans to be a share, from 0 to 1, found 1.5\n"),
        (
            "--violation inversion --processes 2",
            "breaking the rule `inversion` takes at least 3 processes, found 2; \
             ask for more, or for another rule\n",
        ),
        (
            "--style simple --pair 1,1",
            "expected two different segments for a simple history, found 1 and 1; \
             the segments are 0 to 3\n",
        ),
        (
            "--style simple --segments 6 --pair 0,5 --violation 3c",
            "the rule `missing` cannot be broken at segments 0 and 5: they must differ, be the \
             two that switch, if the history is simple, and have a writer, as segments 0 to 3 do\n",
        ),
        (
            "--violation 3c",
            "3c is a case of simple histories, found --style differentiated\n\
             help: ask for --style simple, or for the rule that it breaks: --violation missing\n",
        ),
        (
            "--values 3",
            "--values works only with --style small-domain, found --style differentiated\n\
             help: leave out --values, or ask for --style small-domain\n",
        ),
        (
            "--style small-domain --pair 0,1",
            "--pair works only with --style simple, found --style small-domain\n\
             help: leave out --pair, or ask for --style simple\n",
        ),
        ("--style small-domain --values 0", "expected from 1 to 4294967295 values, found 0\n"),
        (
            "--writers many --style small-domain --values 0",
            "expected from 1 to 4294967295 values, found 0\n",
        ),
        (
            "--writers many --values 3",
            "--values works only with --style small-domain, found --style differentiated\n\
             help: leave out --values, or ask for --style small-domain\n",
        ),
        (
            "--writers many --style simple",
            "simple histories have one writer per segment, found --writers many\n\
             help: leave out --style, ask for --style small-domain, or for --writers single\n",
        ),
    ] {
        assert_eq!(refused(&format!("generate {options}")), message);
    }
    for (options, part) in [
        ("--twin", "--violation <RULE>"),
        ("--violation 3e", "expected one of never-written, failed-update-seen, future, stale,"),
        ("--style simple --pair 0", "expected two segments such as `0,1`"),
        ("--seed -1", "invalid value '-1' for '--seed <SEED>'"),
        ("-o no/such/folder/out", "cannot write no/such/folder/out: "),
    ] {
        let report = refused(&format!("generate {options}"));
        assert!(report.contains(part), "{report}");
    }
}

#[test]
fn closed_pipe_ends_the_stream() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_snapshot-test"))
        // Far larger than memory, and too long to wait for.
        .args(["generate", "--operations", "1000000000000"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut first = [0; 10_000];
    child.stdout.take().unwrap().read_exact(&mut first).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(answer(output), (0, String::new(), String::new()));
    assert!(first.starts_with(b"# expect: linearizable\n"));
}

#[cfg(unix)]
#[test]
fn devices_are_written_and_not_replaced() {
    assert_eq!(answer(run("generate -o /dev/null")), (0, String::new(), String::new()));
    assert!(!fs::metadata("/dev/null").unwrap().is_file());
    assert_eq!(printed("generate -o -"), printed("generate"));
}
