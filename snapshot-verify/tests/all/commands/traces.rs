//! Counterexamples travel as traces, and bad traces are refused.

use std::fs;
use std::io::Write;
use std::process::{Command, Stdio};

use super::{answer, printed, refused};

#[test]
fn a_counterexample_is_written_and_replayed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("trace").display().to_string();
    let out = printed(1, &format!("check naive_collect --trace {path}"));
    assert!(out.contains(&format!("  trace: {path}\n")), "{out}");
    let trace = fs::read_to_string(&path).unwrap();
    assert!(
        trace.starts_with("snapshot-trace 2\nalgorithm naive_collect\nprocesses 3\npair 0 1\n")
    );
    assert_eq!(
        trace
            .lines()
            .filter(|line| ["p0 ", "p1 ", "p2 "].iter().any(|p| line.starts_with(p)))
            .count(),
        11
    );

    let out = printed(1, &format!("replay {path}"));
    assert!(out.contains("  p2  r[0] is 0\n"), "{out}");
    assert!(out.contains("shared     r[1] = 1  (was 0)"), "{out}");
    assert!(out.ends_with("\nThe history is not linearizable.\n"), "{out}");
    let all = printed(1, &format!("replay --all {path}"));
    assert!(all.len() > out.len() && all.contains("* "), "{all}");

    // Without its last response it is linearizable.
    let trace = trace.replace("history violation\n", "");
    let trace: String = trace
        .lines()
        .filter(|line| !line.starts_with('='))
        .map(|line| format!("{line}\n"))
        .collect();
    let cut = trace.trim_end().trim_end_matches("\nend").rsplit_once('\n').unwrap().0;
    fs::write(&path, format!("{cut}\nend\n")).unwrap();
    let out = printed(0, &format!("replay {path}"));
    assert!(out.ends_with("\nThe history is linearizable.\n"), "{out}");

    // A trace that is cut off is refused, not judged.
    fs::write(&path, cut).unwrap();
    assert!(refused(&format!("replay {path}")).contains("the trace is cut off"));
}

/// A counterexample of an algorithm that was changed later.
#[test]
fn a_trace_of_a_changed_algorithm_is_not_judged() {
    let folder = tempfile::tempdir().unwrap();
    let named = |name: &str| folder.path().join(name).display().to_string();
    let (algorithm, path) = (named("mine.snapshot"), named("trace"));
    let text = "algorithm mine\nshared a[segment]: value\nshared b[segment]: value\nupdate(v):\n    \
                a[me] := v\n    b[me] := v\nscan:\n    local c[segment]: value\n    for s in \
                segments: c[s] := a[s]\n    for s in segments: c[s] := b[s]\n    return c\n";
    fs::write(&algorithm, text).unwrap();
    printed(1, &format!("check {algorithm} -n 3 --trace {path}"));
    let unchanged = printed(1, &format!("replay {path}"));
    assert!(unchanged.ends_with("\nThe history is not linearizable.\n"), "{unchanged}");

    // Comments and layout do not matter.
    fs::write(&algorithm, text.replace("b[me] := v", "b[me]  :=  v  # twice")).unwrap();
    assert_eq!(printed(1, &format!("replay {path}")), unchanged);

    // A change that these moves do not reach is noted.
    let spare = format!("{text}procedure spare():\n    a[me] := initial\n");
    fs::write(&algorithm, spare).unwrap();
    let out = printed(1, &format!("replay {path}"));
    let note = "has changed since this trace was written; what these moves do has not.)\n";
    assert!(out.starts_with(&unchanged) && out.ends_with(note), "{out}");

    // A change that they reach is reported, with the move.
    let (both, other) = ("    a[me] := v\n    b[me] := v\n", "    b[me] := v\n    a[me] := v\n");
    fs::write(&algorithm, text.replace(both, other)).unwrap();
    let (code, out, error) = answer(&format!("replay {path}"));
    assert_eq!(code, 2, "{out}");
    let begin = format!("{path}: {algorithm} has changed since this trace was written: move ");
    assert!(error.starts_with(&begin), "{error}");
    assert!(error.contains(" step`, was `a[") && error.contains("`, and is now `b["), "{error}");
    assert!(!out.contains("linearizable"), "{out}");

    // So is an operation that ends earlier.
    fs::write(&algorithm, text.replace("    for s in segments: c[s] := b[s]\n", "")).unwrap();
    let (code, _, error) = answer(&format!("replay {path}"));
    assert_eq!(code, 2);
    assert!(error.starts_with(&begin), "{error}");

    // And a trace that was changed itself.
    fs::write(&algorithm, text).unwrap();
    let trace = fs::read_to_string(&path).unwrap().replacen("= a[", "= b[", 1);
    fs::write(&path, trace).unwrap();
    let (code, _, error) = answer(&format!("replay {path}"));
    assert!(code == 2 && error.contains("this is not what the trace says: move "), "{error}");
}

#[test]
fn only_the_first_counterexample_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("trace").display().to_string();
    let out = printed(1, &format!("check naive_collect --keep-going --trace {path}"));
    assert_eq!(out.matches("  trace: ").count(), 1, "{out}");
    assert_eq!(out.matches(": violation (").count(), 3, "{out}");
    assert!(fs::read_to_string(&path).unwrap().contains("\npair 0 1\n"));
}

#[test]
fn fault_is_replayed_to_its_position() {
    let folder = tempfile::tempdir().unwrap();
    let text = "algorithm faulty\nshared r[segment]: value or none\n\nupdate(v):\n    r[me] := v\n\n\
                scan:\n    local copy[segment]: value\n    for s in segments: copy[s] := r[s]\n    \
                return copy\n";
    let algorithm = folder.path().join("faulty.snapshot").display().to_string();
    let path = folder.path().join("trace").display().to_string();
    fs::write(&algorithm, text).unwrap();
    let out = printed(1, &format!("check {algorithm} -n 2"));
    assert!(out.contains("the program goes wrong"), "{out}");
    assert!(out.contains(&format!("{algorithm}:9:35: this is none")), "{out}");
    fs::write(
        &path,
        format!("snapshot-trace 1\nalgorithm {algorithm}\nprocesses 2\np0 scan\np0 step\n"),
    )
    .unwrap();
    let out = printed(1, &format!("replay {path}"));
    assert!(out.contains(&format!("goes wrong at {algorithm}:9:35: this is none")), "{out}");
}

#[test]
fn malformed_traces_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("trace").display().to_string();
    let cases = [
        ("hello\n", "line 1: a trace begins with the line `snapshot-trace 2`"),
        (
            "snapshot-trace 3\n",
            "line 1: this is version 3 of the trace format; this program reads versions 1 and 2",
        ),
        (
            "snapshot-trace 1\nalgorithm bowman\nprocesses 3\n\np0 step\n",
            "line 5: move 1, `p0 step`: the process is idle; it can only begin an update or a scan",
        ),
        (
            "snapshot-trace 1\nalgorithm bowman\nprocesses 2\np2 scan\n",
            "line 4: `2` is no process from 0 to 1",
        ),
    ];
    for (text, report) in cases {
        fs::write(&path, text).unwrap();
        assert_eq!(refused(&format!("replay {path}")), format!("{path}: {report}\n"));
    }
    fs::write(&path, "snapshot-trace 1\nalgorithm bowman\nbug early\nprocesses 2\n").unwrap();
    assert_eq!(
        refused(&format!("replay {path}")),
        "bowman has no bug `early`; did you mean `early_exit`?\n"
    );
    let (code, _, error) = answer(&format!("replay {path}.missing"));
    assert_eq!(
        (code, error),
        (2, format!("cannot read {path}.missing: No such file or directory (os error 2)\n"))
    );
}

/// Typed commands move through the steps: forwards, backwards, to a number, to the end.
#[test]
fn terminal_steps_through_an_execution() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("trace").display().to_string();
    printed(1, &format!("check naive_collect --trace {path}"));
    let steps = printed(1, &format!("replay {path}"));
    let step = |number: usize| {
        let begin = format!("{number:>4}  p");
        steps.lines().find(|line| line.starts_with(&begin)).unwrap().to_owned()
    };
    for (typed, expected) in [
        ("\n\nb\n\n", vec![1, 2, 1, 2]),
        ("7\nb\nb\n9\n99\n", vec![7, 6, 5, 9, 11]),
        ("e\n\n", vec![11]),
        ("2\nwhat?\n0\nq\nthis is not read\n", vec![2]),
        ("", vec![]),
    ] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_snapshot-verify"))
            .args(["replay", "--step", &path])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(typed.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(1), "the verdict: {typed:?}");
        let out = String::from_utf8(output.stdout).unwrap();
        assert!(out.starts_with("11 steps. Enter: on"), "{out}");
        assert!(out.ends_with("\nThe history is not linearizable.\n"), "{out}");
        let shown = out.lines().filter_map(|line| line.split_once("> ").map(|(_, step)| step));
        let shown: Vec<&str> = shown.filter(|step| step.starts_with("  ")).collect();
        let expected: Vec<String> = expected.into_iter().map(step).collect();
        let shown: Vec<&str> = shown.into_iter().filter(|step| !step.contains("nothing")).collect();
        assert_eq!(shown, expected, "{typed:?}: {out}");
    }
}
