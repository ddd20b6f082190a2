//! `check --strong` and `check --progress`: answers, exit codes, certificates, infinite executions.

use std::fs;

use serde_json::Value;

use super::{answer, answer_in, printed, printed_in, refused};

#[test]
fn refutation_shows_a_tree_and_proof_has_a_certificate() {
    let no = printed(1, "check bowman --strong -n 2 --operations 2");
    for part in
        ["not strongly linearizable", "2 refuted", "if ordered scan by p1, then update(1) by p0:"]
    {
        assert!(no.contains(part), "{part}: {no}");
    }
    assert_eq!(no.matches("no order is left").count(), 2, "{no}");
    let json = printed(1, "check bowman --strong -n 2 --operations 2 --report json");
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["tree"]["branches"].as_array().unwrap().len(), 2);
    assert_eq!(json["orders_refuted"], 2);
    assert_eq!(json["histories_searched"], 2);

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let yes = "check bowman --strong -n 2 --operations 1 --certificate yes";
    assert!(
        printed_in(path, 0, yes)
            .contains("bowman, n = 2, at most 1 operation by each process: strongly")
    );
    let certified = printed_in(path, 0, "certify bowman yes");
    assert!(certified.contains("strongly linearizable for n = 2"), "{certified}");
    let text = fs::read_to_string(path.join("yes")).unwrap();
    for (altered, reason) in [
        (text.replace("operations 1", "operations 2"), "an answer"),
        (text.replace("processes 2", "processes 3"), "an answer"),
        (text.replacen("text ", "text 0", 1), "another text"),
        (text.replace("end\n", ""), "no certificate"),
    ] {
        fs::write(path.join("no"), altered).unwrap();
        let refused = printed_in(path, 1, "certify bowman no");
        assert!(refused.contains("proves nothing"), "{reason}: {refused}");
    }
}

/// A write whose CAS fails takes effect right before the one that made it fail.
const RW_CAS: &str = "algorithm rw_cas
object register:
    state held: value
    write(v: value): held := v
    read: value: return held
shared X: cas value
write(v):
    x := X
    CAS(X, x, v)
read:
    x := X
    return x
";

#[test]
fn proof_for_two_values_says_so_and_three_refute_it() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("rw_cas"), RW_CAS).unwrap();
    let two = printed_in(folder.path(), 0, "check rw_cas --strong -n 2");
    assert!(two.contains("strongly linearizable") && two.contains("--values 3"), "{two}");
    let three =
        printed_in(folder.path(), 1, "check rw_cas --strong -n 2 --operations 2 --values 3");
    assert!(three.contains("not strongly linearizable"), "{three}");
}

#[test]
fn orders_of_writes_alone_are_asked_for() {
    let yes = printed(0, "check bowman --strong=write -n 2 --operations 2");
    assert!(yes.contains(": write strongly linearizable ("), "{yes}");
    let json = printed(0, "check bowman --strong=write -n 2 --operations 2 --report json");
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["question"], "write strong linearizability");
    assert_eq!(json["verdict"], "write strongly linearizable");
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("rw_cas"), RW_CAS).unwrap();
    let no =
        printed_in(folder.path(), 1, "check rw_cas --strong=write -n 2 --operations 2 --values 3");
    for part in ["not write strongly linearizable", "no order of the updates survives"] {
        assert!(no.contains(part), "{part}: {no}");
    }
    let lines = "expect n = 2, operations 2: write strongly linearizable
expect n = 2, operations 2, full, values 3: not write strongly linearizable
expect n = 2, operations 2, full, values 3: write strongly linearizable
expect n = 2, operations 2: not write strongly linearizable
expect n = 2: write wait-free
";
    fs::write(folder.path().join("expecting"), format!("{RW_CAS}{lines}")).unwrap();
    let (code, out, _) = answer_in(folder.path(), "expect expecting");
    assert!(code == 1 && out.contains("5 expectations: 3 met, 2 contradicted"), "{out}");
}

#[test]
fn progress_has_levels_bounds_and_infinite_executions() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let text = printed_in(path, 0, "check bowman --progress -n 2 --trace loop");
    for part in ["update: wait-free, at most 2 accesses", "scan: obstruction-free", "lock-free: no"]
    {
        assert!(text.contains(part), "{part}: {text}");
    }
    let replayed = printed_in(path, 0, "replay loop");
    assert!(replayed.contains("from here, the moves repeat for ever"), "{replayed}");
    // Without its last move, the loop does not lead back.
    let trace = fs::read_to_string(path.join("loop")).unwrap();
    let mut lines: Vec<&str> = trace.lines().collect();
    let last = lines.iter().rposition(|line| line.starts_with('p')).unwrap();
    lines.truncate(last);
    lines.push("end");
    fs::write(path.join("cut"), lines.join("\n")).unwrap();
    let (code, _, error) = answer_in(path, "replay cut");
    assert!(code == 2 && error.contains("do not lead back"), "{code} {error}");

    for (level, expected) in [
        ("obstruction-free", 0),
        ("wait-free", 1),
        ("lock-free", 1),
        ("starvation-free", 1),
        ("deadlock-free", 1),
    ] {
        let (code, ..) = answer(&format!("check bowman --progress -n 2 --require {level}"));
        assert_eq!(code, expected, "{level}");
    }
    let bounded = printed(0, "check afek_unbounded --progress -n 2 --operations 1");
    assert!(bounded.contains("9 accesses or more"), "{bounded}");
    let lock = printed(0, "check tas_lock --progress -n 2");
    assert!(lock.contains("keeps letting it wait") && !lock.contains("blocking"), "{lock}");
}

#[test]
fn expectations_on_properties_are_checked() {
    let folder = tempfile::tempdir().unwrap();
    let text = "algorithm mine
shared r[segment]: value
update(v):
    r[me] := v
scan:
    local copy[segment]: value
    for s in segments: copy[s] := r[s]
    return copy
expect n = 2: strongly linearizable
expect n = 2: not strongly linearizable
expect n = 2: scan wait-free
expect n = 2: scan not wait-free
expect n = 2: lock-free
expect n = 2: not lock-free
";
    fs::write(folder.path().join("mine"), text).unwrap();
    let (code, out, _) = answer_in(folder.path(), "expect mine");
    assert_eq!(code, 1, "{out}");
    assert!(out.contains("6 expectations: 3 met, 3 contradicted"), "{out}");
    fs::write(folder.path().join("other"), format!("{text}expect n = 2: pop wait-free\n")).unwrap();
    let (code, _, error) = answer_in(folder.path(), "expect other");
    assert!(code == 2 && error.contains("no such operation"), "{code} {error}");
}

#[test]
fn options_of_other_methods_are_refused() {
    for (options, part) in [
        ("--strong --pairs 0,1", "cannot be used with"),
        ("--strong -n every", "one number of processes"),
        ("--progress --operations grow", "one bound"),
        ("--strong --operations 1,2,3 -n 2", "one for each"),
        ("--require wait-free", "--progress"),
        ("--operations 1,2 -n 2", "--strong"),
        ("--progress --certificate x -n 2", "--strong"),
        ("--strong --report junit -n 2", "--report json"),
        ("--strong=write --certificate x -n 2", "has no certificate"),
        ("--strong=read -n 2", "all, write"),
    ] {
        let error = refused(&format!("check bowman {options}"));
        assert!(error.contains(part), "{options}: {error}");
    }
    let error = refused("check immediate_snapshot --strong=write -n 2");
    assert!(error.contains("take effect together"), "{error}");
}
