//! Errors in a command give a precise message, and exit code 2.

use std::fs;

use super::{answer_in, refused};

/// Returns clap's message for an invalid value.
fn bad_value(option: &str, value: &str, why: &str) -> String {
    format!(
        "error: invalid value '{value}' for '{option}': {why}\n\nFor more information, try '--help'.\n"
    )
}

#[test]
fn numbers_of_processes() {
    let cases = [
        ("1", "at least 2 processes are needed, for a pair of segments"),
        ("3,0", "at least 2 processes are needed, for a pair of segments"),
        ("5..3", "the range 5..3 is empty"),
        ("65", "more than 64 processes are not supported"),
        (
            "three",
            "expected a number of processes, a list such as 3,5, a range such as 3..6, or `every`",
        ),
    ];
    for (value, why) in cases {
        let report = refused(&format!("check bowman -n {value}"));
        assert_eq!(report, bad_value("--processes <N>", value, why));
    }
    let report = refused("emit bowman --stage instance -n 2,3");
    assert_eq!(report, bad_value("--processes <N>", "2,3", "expected one number of processes"));
}

#[test]
fn pairs() {
    let cases = [
        ("1,1", "a pair is of two different segments"),
        ("2,1", "the smaller segment comes first: 1,2"),
        ("1", "expected `all`, or two segments such as 0,1"),
        ("0,x", "expected `all`, or two segments such as 0,1"),
    ];
    for (value, why) in cases {
        let report = refused(&format!("check bowman --pairs {value}"));
        assert_eq!(report, bad_value("--pairs <all|I,J>", value, why));
    }
    assert_eq!(
        refused("check bowman -n 3,5 --pairs 1,3"),
        "the pair 1,3 is out of range: with n = 3, segments are 0 to 2\n"
    );
    assert_eq!(
        refused("emit bowman --stage instance -n 2 --pair 0,2"),
        "bowman, n = 2: the pair (0, 2) is out of range: it must be i < j < 2\n"
    );
}

#[test]
fn missing_extension_gets_a_suggestion() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("mine.snapshot"), "algorithm mine").unwrap();
    let program = env!("CARGO_BIN_EXE_snapshot-verify");
    let output = std::process::Command::new(program)
        .args(["check", "mine"])
        .current_dir(folder.path())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(error.contains("did you mean `mine.snapshot`?"), "{error}");
}

#[test]
fn links_that_are_never_made_give_warnings() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("linking.snapshot");
    let text = "algorithm linking\nshared r[segment]: llsc value\nshared s: llsc bit\n\
                update(v):\n    SC(r[me], v)\n    x := LL(s)\n    VL(s)\n    SC(s, x)\n    r[me] := v\n\
                scan:\n    local c[segment]: value\n    for k in segments: c[k] := r[k]\n    return c\n";
    fs::write(&path, text).unwrap();
    let program = env!("CARGO_BIN_EXE_snapshot-verify");
    let output =
        std::process::Command::new(program).args(["check", "-n", "2"]).arg(&path).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "a warning refuses nothing");
    let said = String::from_utf8(output.stderr).unwrap();
    let never = "warning: `SC` on `r`, to which no `LL` links: it always fails";
    let unused = "warning: the result of `VL` is not used";
    assert!(said.contains(never) && said.contains(unused), "{said}");
    assert_eq!(said.matches("warning").count(), 2, "{said}");
}

#[test]
fn misspelt_names_get_suggestions() {
    let all = "afek_bounded, afek_unbounded, attiya_welch, bowman, double_collect, jayanti, \
               naive_collect, register, riany, array_queue, atomic_register, cas_counter, \
               collected_queue, collected_stack, faa_counter, immediate_snapshot, linked_queue, \
               linked_stack, linked_two_lock_queue, lock_coupling_set, ms_queue, \
               multi_writer_double_collect, owner_mutex, packed_stack, snzi, tagged_queue, \
               tagged_stack, tas_lock, test_and_set_lock, ticket_lock, treiber_stack, \
               two_lock_queue, wrapping_counter, herlihy_wing, locked_snapshot, memsnap, \
               one_cell_snapshot, parlay_hash, rw_cas, single_scanner, union_find, \
               union_find_same_first, union_find_same_lower, versioned_snapshot";
    let cases = [
        (
            "check bowmann",
            "there is no algorithm `bowmann`, nor a file of this name; did you mean `bowman`?"
                .to_owned(),
        ),
        (
            "check treiber",
            format!("there is no algorithm `treiber`, nor a file of this name; there are: {all}"),
        ),
        (
            "check bowman --bug early_exti",
            "bowman has no bug `early_exti`; did you mean `early_exit`?".to_owned(),
        ),
        ("check naive_collect --bug late", "naive_collect has no bug `late`".to_owned()),
        (
            "check attiya_welch --bug nothing_like_it",
            "attiya_welch has no bug `nothing_like_it`; there are: no_negation, lost_flag, \
             stale_view"
                .to_owned(),
        ),
    ];
    for (arguments, report) in cases {
        assert_eq!(refused(arguments), report + "\n");
    }
    let unknown = "there is no reduction `constants`; did you mean `constant`?";
    assert_eq!(
        refused("check bowman --reductions dead,constants"),
        bad_value("--reductions <all|none|LIST>", "dead,constants", unknown)
    );
    let mixed = "name the reductions to use, or those to leave out (`no-NAME`), but not both";
    assert_eq!(
        refused("check bowman --reductions dead,no-shrink"),
        bad_value("--reductions <all|none|LIST>", "dead,no-shrink", mixed)
    );
}

#[test]
fn bounds_and_budgets() {
    let operations = "expected a number of operations per process from 1 to 2147483647, \
                      `none` (no bound), or `grow` (1, 2, 3, ...)";
    for value in ["0", "many", "2147483648"] {
        let report = refused(&format!("check bowman --operations {value}"));
        assert_eq!(report, bad_value("--operations <B|none|grow>", value, operations));
    }
    let bytes = "expected a number of bytes such as 500000000, 500M or 2G";
    for value in ["lots", "G", "2GiBi", "0x10", "99999999T"] {
        let report = refused(&format!("check bowman --memory {value}"));
        assert_eq!(report, bad_value("--memory <BYTES>", value, bytes));
    }
    let time = "expected a number of seconds that is not negative";
    assert_eq!(refused("check bowman --time=-1"), bad_value("--time <SECONDS>", "-1", time));
    let report = refused("check bowman --memory 1KiB --threads 1");
    for memory in ["1024", "1K", "1kib"] {
        assert_eq!(refused(&format!("check bowman --memory {memory} --threads 1")), report);
    }
    let (before, after) =
        report.split_once(": a memory budget of 1024 bytes is too small: ").unwrap();
    assert_eq!(before, "bowman, n = 3");
    let least = after.strip_prefix("at least ").and_then(|rest| rest.strip_suffix(" are needed\n"));
    let least: u64 = least.unwrap().parse().unwrap();
    // The memory suffices to begin a search, not to end it.
    let enough = format!("check bowman --memory {least} --threads 1");
    let out = super::printed(3, &format!("{enough} --method exploration"));
    assert!(out.contains("out of memory"), "{out}");
}

#[test]
fn options_unsupported_by_the_method_are_refused() {
    for (options, report) in [
        (
            "--method refinement --reductions dead",
            "--reductions works only with exploration, and full executions and refinement are \
             searched without: leave it out\n",
        ),
        (
            "--executions full",
            "full executions need to know how many values are written: add --values 2, say\n",
        ),
        (
            "--method refinement --executions simple --values 2",
            "simple executions write 0 and 1: leave out --values, or use --executions full\n",
        ),
        (
            "--method exploration --values 2",
            "exploration supports only simple executions: for full ones, use --method refinement\n",
        ),
        (
            "--partial-order off",
            "--partial-order needs refinement: add --method refinement, or leave it out\n",
        ),
        ("--points", "--points needs refinement: add --method refinement, or leave it out\n"),
        (
            "--method refinement --points",
            "bowman, n = 3: no statement is marked as a linearization point: write `linearizes` \
             behind those at which operations take effect, or leave out --points\n",
        ),
    ] {
        assert_eq!(refused(&format!("check bowman {options}")), report);
    }
    assert_eq!(
        refused("check riany -n 2 --method refinement"),
        "riany, n = 2: the program counts without bound, so for refinement it has infinitely many \
         states: bound the operations (--operations 1, say, or grow), or use --method exploration\n"
    );
}

#[test]
fn files() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let missing = path("missing.snapshot");
    assert_eq!(
        refused(&format!("check {missing}")),
        format!("cannot read {missing}: No such file or directory (os error 2)\n")
    );
    let binary = path("binary.snapshot");
    fs::write(&binary, b"algorithm \xff").unwrap();
    assert_eq!(
        refused(&format!("check {binary}")),
        format!("cannot read {binary}: it is no UTF-8 text from byte 10 on\n")
    );
    let wrong = path("wrong.snapshot");
    fs::write(
        &wrong,
        "algorithm wrong\nshared r[segment]: value\n\nupdate(v):\n    r[me] := w\n\nscan:\n    \
         local copy[segment]: value\n    for s in segments: copy[s] := r[s]\n    return copy\n",
    )
    .unwrap();
    let report = refused(&format!("check {wrong}"));
    // The line with a caret below it, the place, and a correction.
    for part in [&*format!("--> {wrong}:5:14"), "5 |     r[me] := w", "|              ^", "`w`"] {
        assert!(report.contains(part), "{part} in {report}");
    }
    let nowhere = path("no-folder/trace");
    assert_eq!(
        refused(&format!("check bowman --trace {nowhere}")),
        format!("cannot write {nowhere}: it must be a file in a folder that exists\n")
    );
}

/// Errors in a text are printed to standard output in JSON, and to standard error as always.
#[test]
fn diagnostics_are_reported_in_json() {
    let folder = tempfile::tempdir().unwrap();
    let text = "algorithm bad\nshared r[segment]: value\n\nupdate(v):\n    r[me] <- v\n\nscan:\n    \
                local r: bool\n    return 1 +\n";
    fs::write(folder.path().join("bad.snapshot"), text).unwrap();
    let (code, out, error) = answer_in(folder.path(), "check bad.snapshot --report json");
    assert_eq!(code, 2, "{error}");
    assert!(error.contains("help: assign with `:=`"), "{error}");
    let lines: Vec<serde_json::Value> =
        out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let [line] = &lines[..] else { panic!("{out}") };
    assert_eq!((&line["schema"], &line["verdict"]), (&1.into(), &"malformed".into()));
    assert_eq!(line["input"], "bad.snapshot");
    let first = &line["diagnostics"][0];
    assert_eq!((&first["line"], &first["column"]), (&5.into(), &11.into()), "{first}");
    assert_eq!(first["end"], serde_json::json!([5, 13]));
    assert_eq!(first["severity"], "error");
    assert_eq!(first["message"], "expected `:=`, found `<-`");
    assert_eq!(first["help"], "assign with `:=`");
    assert_eq!(line["diagnostics"].as_array().unwrap().len(), error.matches("error: ").count());
    // The text format still prints nothing to standard output.
    let (code, out, _) = answer_in(folder.path(), "check bad.snapshot");
    assert_eq!((code, out.as_str()), (2, ""));
}
