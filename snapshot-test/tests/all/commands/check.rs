//! `snapshot-test check --method`: every method, on the hand-written cases.

use std::fs;
use std::io::Write;
use std::process::{Command, Stdio};

use super::{answer, refused, run};

const TWINS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../corpus/histories/twins");

/// Returns the exit code and the line on standard output.
fn checked(options: &str, twin: &str) -> (i32, String) {
    let (code, out, error) = answer(run(&format!("check {options} {TWINS}/{twin}.txt")));
    assert_eq!(error, "", "{options} {twin}");
    (code, out)
}

#[test]
fn all_methods_agree_and_report_their_name() {
    for (method, twin, by) in [
        ("auto", "condition-d-inversion", "by the linear-time conditions"),
        ("linear", "condition-d-inversion", "by the linear-time conditions"),
        ("search", "condition-d-inversion", "by exact search"),
        ("generic", "condition-d-inversion", "by generic search"),
        ("automata", "condition-d-inversion", "by the automata, on all renamings"),
        ("auto", "ambiguous-search", "by the saturated relation"),
        ("search", "ambiguous-search", "by exact search"),
        ("generic", "ambiguous-search", "by generic search"),
    ] {
        for (kind, expected) in [("good", 0), ("bad", 1)] {
            let options = format!("--method {method}");
            let (code, out) = checked(&options, &format!("{twin}-{kind}"));
            assert_eq!(code, expected, "{method}: {out}");
            assert!(out.contains(by), "{method}: {out}");
            let (_, json) = checked(&format!("{options} --report json"), &format!("{twin}-{kind}"));
            let method = match by {
                "by the linear-time conditions" => "linear",
                "by the saturated relation" => "saturation",
                "by generic search" => "generic",
                "by the automata, on all renamings" => "automata",
                _ => "search",
            };
            assert!(json.contains(&format!("\"method\":\"{method}\"")), "{json}");
        }
    }
}

#[test]
fn the_linear_method_does_not_search() {
    let (code, out) = checked("--method linear", "ambiguous-search-bad");
    assert_eq!(code, 3, "{out}");
    assert!(out.contains("help: let it be searched (no --method linear)"), "{out}");
    let (code, out) = checked("--method linear --report json", "ambiguous-search-good");
    assert_eq!(code, 3, "{out}");
    assert!(out.contains("\"exhausted\":\"method\""), "{out}");
}

#[test]
fn automata_report_why_they_do_not_judge() {
    let (code, out) = checked("--method automata", "ambiguous-search-bad");
    assert_eq!(code, 3, "{out}");
    assert!(out.contains("a value that it had before"), "{out}");
    assert!(out.contains("help: leave out --method"), "{out}");
    let (code, out) = checked("--method automata --report json", "ambiguous-search-good");
    assert_eq!(code, 3, "{out}");
    assert!(out.contains("\"cause\":\"not-differentiated\""), "{out}");
    let (code, out) = checked("--method automata --budget-seconds 0", "condition-d-inversion-bad");
    assert_eq!(code, 3, "{out}");
    assert!(out.contains("budget ran out before all renamings were judged"), "{out}");
}

#[test]
fn a_chosen_search_may_run_out_of_its_budget() {
    let (code, out) = checked("--method generic --budget-memory 0", "ambiguous-search-bad");
    assert_eq!(code, 3, "{out}");
    assert!(out.contains("generic search") && out.contains("leave out --method"), "{out}");
}

#[test]
fn budgets_are_parsed_with_units_or_refused() {
    for memory in ["500000000", "500M", "1.5GiB"] {
        let (code, out) = checked(&format!("--budget-memory {memory}"), "ambiguous-search-bad");
        assert_eq!(code, 1, "{memory}: {out}");
    }
    for (option, value, expected) in [
        ("--budget-memory", "lots", "a number of bytes such as 500000000, 500M or 2G"),
        ("--budget-memory", "99999999T", "a number of bytes such as 500000000, 500M or 2G"),
        ("--budget-seconds", "-1", "a number of seconds that is not negative"),
        ("--budget-seconds", "soon", "a number of seconds that is not negative"),
    ] {
        let error = refused(&format!("check {option}={value} {TWINS}/ambiguous-search-bad.txt"));
        assert!(error.contains(value) && error.contains(expected), "{error}");
    }
}

#[test]
fn methods_are_refused_with_streams() {
    for option in ["--live", "--forget"] {
        let error = refused(&format!(
            "check --method generic {option} {TWINS}/condition-d-inversion-bad.txt"
        ));
        assert!(error.contains(option) && error.contains("--method"), "{error}");
    }
}

/// Returns the exit code and output of `check`, fed from a pipe that cannot be read again.
fn checked_stream(options: &[&str], input: &str) -> (i32, String) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_snapshot-test"))
        .arg("check")
        .args(options)
        .arg("-")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program starts");
    // It may have found its answer before the end.
    let _ = child.stdin.take().expect("standard input is piped").write_all(input.as_bytes());
    let output = child.wait_with_output().expect("the program ends");
    (output.status.code().unwrap_or(-1), String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Updates of one segment overlap throughout; a value is never written again after a scan returned
/// it. `judge::stream` counts what is kept. Only a copy of the input has a proof.
#[test]
fn streams_of_many_writers_are_decided() {
    let mut good =
        String::from("{\"snapshot-history\": 1, \"segments\": 1, \"writers\": \"many\"}\n");
    let mut event = |line: String| good.push_str(&format!("{{\"process\": {line}}}\n"));
    let update = |process: u32, value: u32| {
        format!(
            "{process}, \"event\": \"invoke\", \"operation\": \"update\", \"segment\": 0, \"value\": {value}"
        )
    };
    event(update(0, 1));
    for value in 2..9_000 {
        event(update(value % 2 + 1, value));
        event(format!("{}, \"event\": \"ok\"", if value == 2 { 0 } else { (value - 1) % 2 + 1 }));
        if value % 7 == 0 {
            event("3, \"event\": \"invoke\", \"operation\": \"scan\"".into());
            event(format!("3, \"event\": \"ok\", \"values\": [{value}]"));
        }
    }
    for options in [&["--forget"][..], &["--forget", "--live"]] {
        let (code, out) = checked_stream(options, &good);
        assert_eq!(code, 0, "{out}");
        assert!(out.contains("by the saturated relation"), "{out}");
        // Twins: the last scan returned a value that had been overwritten, a little or long before.
        for old in ["8987", "70"] {
            let bad = good.replace("\"values\": [8995]", &format!("\"values\": [{old}]"));
            assert_ne!(bad, good);
            let (code, out) = checked_stream(options, &bad);
            assert_eq!(code, 1, "{out}");
            assert!(out.contains("the input was not kept"), "{out}");
        }
    }
    let bad = good.replace("\"values\": [8995]", "\"values\": [70]");
    let (code, out) = checked_stream(&[], &bad);
    assert_eq!(code, 1, "{out}");
    assert!(out.contains("a contradiction") && !out.contains("was not kept"), "{out}");
}

#[test]
fn colours_of_verdicts_follow_the_environment() {
    let input = format!("{TWINS}/condition-d-inversion-bad.txt");
    let printed = |variables: &[(&str, &str)]| {
        let output = Command::new(env!("CARGO_BIN_EXE_snapshot-test"))
            .args(["check", &input])
            .env_remove("NO_COLOR")
            .envs(variables.iter().copied())
            .output()
            .unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let plain = printed(&[]);
    assert!(plain.contains(": violation (") && !plain.contains('\u{1b}'), "{plain}");
    let forced = printed(&[("CLICOLOR_FORCE", "1")]);
    assert!(forced.contains(": \u{1b}[1m\u{1b}[31mviolation\u{1b}[0m ("), "{forced:?}");
    assert_eq!(printed(&[("NO_COLOR", "1"), ("CLICOLOR_FORCE", "1")]), plain);
}

/// Each file below a folder is a separate input, in the order of the paths.
#[test]
fn folder_is_read_as_its_files() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().display();
    let error = refused(&format!("check {path}"));
    assert!(error.contains("has no file"), "{error}");
    fs::create_dir(folder.path().join("b")).unwrap();
    let right = "p0 update 5\np0 ok\n";
    let wrong = "p0 scan\np0 ok 5\n";
    for (name, text) in [("c.txt", right), ("b/2.txt", wrong), ("b/1.txt", right), ("a.txt", right)]
    {
        fs::write(folder.path().join(name), text).unwrap();
    }
    // A hidden file, and an unfinished one.
    fs::write(folder.path().join(".hidden"), "no recording").unwrap();
    fs::write(folder.path().join("b/x.new"), "no recording").unwrap();
    let (code, out, error) = answer(run(&format!("check {path} {path}/c.txt")));
    assert_eq!((code, error.as_str()), (1, ""), "{out}");
    let heads = out.lines().filter(|line| line.starts_with(&path.to_string()));
    let names: Vec<&str> = heads.map(|line| line.split(": ").next().unwrap()).collect();
    let expected = ["a.txt", "b/1.txt", "b/2.txt", "c.txt", "c.txt"];
    assert_eq!(names, expected.map(|name| format!("{path}/{name}")), "{out}");
    assert!(
        out.ends_with("5 inputs: 4 linearizable, 1 violation, 0 unknown, 0 malformed\n"),
        "{out}"
    );
    // The monitor takes the same files.
    let (code, out, error) = answer(run(&format!("monitor --all {path}")));
    assert_eq!((code, error.as_str()), (1, ""), "{out}");
    assert!(out.contains("4 inputs: violation (1 of 4 objects wrong; "), "{out}");
}

/// A missing input is not reported as malformed.
#[test]
fn missing_file_is_reported_as_unreadable() {
    for (options, twin) in [("", "condition-d-inversion-good"), ("--object queue", "")] {
        let input = if twin.is_empty() { String::new() } else { format!("{TWINS}/{twin}.txt") };
        let (code, out, error) = answer(run(&format!("check {options} /nonexist {input}")));
        assert_eq!(code, 2, "{out}");
        assert!(out.starts_with("/nonexist: unreadable (no such file)\n"), "{out}");
        assert!(error.to_lowercase().contains("no such file"), "{error}");
        if !twin.is_empty() {
            let sum =
                "2 inputs: 1 linearizable, 0 violations, 0 unknown, 0 malformed, 1 unreadable\n";
            assert!(out.ends_with(sum), "{out}");
        }
        let (_, out, _) = answer(run(&format!("check {options} --report json /nonexist")));
        assert!(out.contains("\"verdict\":\"unreadable\""), "{out}");
    }
}

/// `--method linear` insists on its conditions even where the observer could answer; and names the
/// first event of a violation, though the conditions do not decide another component of segments.
#[test]
fn linear_method_judges_by_its_conditions_alone() {
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str, text: &str| {
        let place = folder.path().join(name);
        fs::write(&place, text).unwrap();
        place.display().to_string()
    };
    let simple =
        place("simple.txt", "segments 2\np0 update 1\np0 ok\np2 scan\np2 ok 0 0\np1 update 1\n");
    let (code, out, _) = answer(run(&format!("check --method linear {simple}")));
    assert!(code == 1 && out.contains("; by the linear-time conditions)"), "{out}");
    let (_, out, _) = answer(run(&format!("check {simple}")));
    assert!(out.contains("; simple history, by the observer)"), "{out}");
    let late = place(
        "late.txt",
        "writers many\np2 update s0 11\np3 update s0 12\np0 update s0 13\np4 scan\n\
         p1 update s2 13\np5 update s1 14\np2 ok\np2 scan\np3 ok\np1 fail\np5 fail\np0 fail\n\
         p2 ok 13 _ _\np4 ok _ 14 _\n",
    );
    for method in ["auto", "linear", "saturation", "search", "generic"] {
        let (code, out, _) = answer(run(&format!("check --method {method} {late}")));
        assert!(code == 1 && out.contains("not linearizable from 14:1 (event 12) on"), "{out}");
    }
    // Without time for the other component, the event is only known as an upper bound.
    let hurried = format!("check --method linear --budget-seconds 0 {late}");
    let (code, out, _) = answer(run(&hurried));
    assert!(code == 1 && out.contains("is complete not after 15:1 (event 13)"), "{out}");
    let (_, out, _) = answer(run(&format!("{hurried} --report json")));
    assert!(out.contains("\"column\":1},\"not_after\":true,"), "{out}");
}

/// A lifted derivation names the segments of the whole recording, and its certificate is accepted.
#[test]
fn certificate_of_a_component_proves_the_whole() {
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("in.txt");
    let text = "writers many\np1 update s1 0\np0 update s1 0\np1 ok\np0 ok\np1 update s1 1\n\
                p1 ok\np0 scan\np0 ok _ 0 _ _\n";
    fs::write(&input, text).unwrap();
    let (input, folder) = (input.display(), folder.path().display());
    let (code, out, _) = answer(run(&format!("check --certificate {folder}/c {input}")));
    assert!(code == 1 && out.contains("(1) S1 returned 0 for segment 1."), "{out}");
    let (code, out, _) = answer(run(&format!("certify {input} {folder}/c/in.txt.certificate")));
    assert_eq!(code, 0, "{out}");
}
