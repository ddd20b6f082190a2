//! Answers, reports, and exit codes.

use serde_json::json;

use super::{answer, json, printed, refused};

/// Removes the parts of a report that differ from run to run.
fn without_numbers(report: &str) -> String {
    let mut text = String::new();
    for line in report.lines() {
        match line.split_once(" (as pair (0,1) with processes renamed, ") {
            Some((answer, _)) => text.push_str(&format!("{answer} (as another)")),
            None if line.contains(" states, ") => {
                text.push_str(&line[..line.rfind(" (").unwrap()]);
            }
            None => text.push_str(line),
        }
        text.push('\n');
    }
    text
}

#[test]
fn answer_lists_every_pair_and_the_conclusion() {
    let out = printed(0, "check bowman");
    assert_eq!(
        without_numbers(&out),
        "bowman, n = 3, pair (0,1): verified\n\
         bowman, n = 3, pair (0,2): verified (as another)\n\
         bowman, n = 3, pair (1,2): verified (as another)\n\
         bowman, n = 3: verified (3 pairs, any number of operations)\n  exercised: all 6 \
         statements; updates and scans of all processes return; no operation can hang; each returns if it runs alone (obstruction-free)\n"
    );
    let out = printed(0, "check bowman naive_collect -n 2 --operations 1");
    assert_eq!(
        without_numbers(&out),
        "bowman, n = 2, pair (0,1): verified with at most 1 operation by each process\n\
         bowman, n = 2: verified (1 pair, at most 1 operation by each process)\n  exercised with at \
         most 1 operation by each process: all 6 statements; updates and scans of all processes \
         return; no operation can hang; each returns if it runs alone (obstruction-free)\n\
         naive_collect, n = 2, pair (0,1): verified with at most 1 operation by each process\n\
         naive_collect, n = 2: verified (1 pair, at most 1 operation by each process)\n  exercised \
         with at most 1 operation by each process: all 3 statements; updates and scans of all processes return; no \
         operation can hang; each returns if it runs alone (obstruction-free)\n"
    );
}

#[test]
fn violation_is_shown_and_explained() {
    let out = printed(1, "check naive_collect");
    let begin = "naive_collect, n = 3, pair (0,1): violation\n\n  step | p0 ";
    let text = without_numbers(&out);
    assert!(text.starts_with(begin), "{text}");
    assert_eq!(text.matches("naive_collect, n = 3, pair (0,1)").count(), 1, "{text}");
    let argument = "S1 returned 1 for segment 1, which U2 wrote: so U2 must come before S1.";
    assert!(text.contains(argument), "{text}");
    let end = "\nnaive_collect, n = 3: the other 2 pairs were not needed\n\
               naive_collect, n = 3: not linearizable\n";
    assert!(text.ends_with(end), "{text}");
}

#[test]
fn marks_in_executions_have_a_legend() {
    let (_, text, _) = answer("check naive_collect --pairs 0,1 --method refinement --points");
    let legend = "\n\n  (*) marked with `linearizes`\n\nThe history:\n";
    assert_eq!((text.matches(legend).count(), text.matches("(*)").count()), (1, 3), "{text}");
}

#[test]
fn inspected_values_forbid_a_proof_by_simple_executions() {
    let places = "  simple executions do not speak for all others, for the program looks at values:\n  \
                  double_collect.snapshot:23:11: values are compared with each other\n";
    for (options, method) in [("", ""), (" --method refinement", ", by refinement")] {
        let out = printed(3, &format!("check double_collect -n 2{options}"));
        assert_eq!(
            without_numbers(&out),
            format!(
                "double_collect, n = 2, pair (0,1): no violation\n\
                 double_collect, n = 2: no violation found, but no proof: the program looks at \
                 values (1 pair, any number of operations{method})\n{places}  tried: all executions \
                 over 2 values: verified\n"
            )
        );
    }
    let lines = json(3, "check double_collect -n 2");
    assert_eq!(lines[0]["verdict"], "refused");
    assert_eq!(lines[0]["looks_at_values"][0]["line"], 23);
    // The trial has a separate line, but does not count.
    assert_eq!((&lines[1]["executions"], &lines[1]["values"]), (&json!("full"), &json!(2)));
    assert_eq!(lines[2]["summary"]["refused"], 1);
    let out = printed(3, "check double_collect -n 4 --operations 2 --pairs 0,1 --memory 3M");
    assert!(
        out.contains("  tried: all executions over 2 values: unknown: out of memory ("),
        "{out}"
    );
    let longer = "\n  help: to look among all of them: --values 2 --operations grow\n";
    assert!(out.ends_with(longer), "{out}");
}

/// All executions over some values give a proof for these values, for any use of values by the
/// program.
#[test]
fn inspected_values_allow_a_proof_by_full_executions() {
    let full = "--method refinement --executions full --values 2";
    let out = printed(0, &format!("check double_collect -n 2 {full} --operations 2"));
    assert_eq!(
        without_numbers(&out),
        "double_collect, n = 2: verified with at most 2 operations by each process\n\
         double_collect, n = 2: verified (values 0..1, at most 2 operations by each process, by \
         refinement)\n  \
         exercised within the bound on operations: all 5 statements; updates and scans of all \
         processes return; no operation can hang; each returns if it runs alone (obstruction-free)\n  \
         proved for this n, these values and these operations; other values may fare otherwise, \
         for the program looks at them:\n  \
         double_collect.snapshot:23:11: values are compared with each other\n"
    );
    let lines = json(0, "check double_collect -n 2 --values 2 --operations 2");
    assert_eq!((&lines[0]["verdict"], &lines[0]["pair"]), (&json!("verified"), &json!(null)));
    assert_eq!((&lines[0]["values"], &lines[0]["reductions"]), (&json!(2), &json!([])));
    // An interrupted search claims no such thing.
    let out = printed(3, &format!("check double_collect -n 3 {full} --memory 1M"));
    assert!(out.ends_with(": unknown (values 0..1, any number of operations, by refinement)\n"));
}

/// A violation needs no data independence: here a value recurs, as in no simple execution.
#[test]
fn inspected_values_do_not_hide_a_violation() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("lossy.snapshot");
    std::fs::write(
        &file,
        "algorithm lossy\nshared whole: view\nupdate(v):\n    if v != initial:\n        atomic: w := \
         whole; w[me] := v; whole := w\nscan:\n    w := whole\n    return w\n",
    )
    .unwrap();
    let check = format!("check {} -n 2", file.display());
    // The trial finds it without further options.
    let trace = folder.path().join("trace");
    let out = printed(1, &format!("{check} --trace {}", trace.display()));
    assert!(out.contains("lossy, n = 2, pair (0,1): no violation ("), "{out}");
    assert!(out.ends_with("\nlossy, n = 2: not linearizable\n"), "{out}");
    printed(1, &format!("replay {}", trace.display()));
    let lines = json(1, &check);
    assert_eq!(
        (&lines[0]["verdict"], &lines[1]["verdict"]),
        (&json!("refused"), &json!("violation"))
    );
    assert_eq!(lines[1]["executions"], "full");
    let out = printed(1, &format!("{check} --method refinement --executions full --values 2"));
    assert!(out.ends_with("\nlossy, n = 2: not linearizable\n"), "{out}");
}

#[test]
fn growing_bounds_find_bugs_and_end_in_proofs() {
    let lines = json(1, "check bowman --all-bugs -n 3 --operations grow");
    assert_eq!(lines[0]["verdict"], "violation");
    assert_eq!(lines[0]["operations"], "grow");
    assert_eq!(lines[0]["scope"], json!([{"operations": 2, "active": 3}]));
    assert_eq!(lines[1]["verdict"], "unknown");
    assert_eq!(lines[1]["cause"], "answered");
    let lines = json(0, "check bowman -n 3 --operations grow");
    assert!(lines[0]["explorations"].as_u64().unwrap() > 1);
    assert_eq!((&lines[0]["like"], &lines[1]["like"]), (&json!(null), &json!([0, 1])));
    for line in &lines[..3] {
        assert_eq!(line["verdict"], "verified");
        assert_eq!(line["scope"], json!([{"operations": null, "active": 3}]));
    }
}

#[test]
fn barriers_of_objects_are_bounded_and_grow() {
    let out = printed(0, "check linked_stack --bug aba -n 2 --barriers 1");
    assert!(out.contains("verified with at most 1 barrier"), "{out}");
    let out = printed(1, "check linked_stack --bug aba -n 2 --barriers grow");
    assert!(out.contains("violation with at most 2 barriers"), "{out}");
    let error = refused("check linked_stack -n 2 --barriers 1 --operations 2");
    assert!(error.contains("--operations cannot be used with --barriers"), "{error}");
}

#[test]
fn json_report_is_as_documented() {
    let lines =
        json(1, "check bowman naive_collect -n 2..3 --threads 1 --reductions dead,constant");
    assert_eq!(lines.len(), 2 * (1 + 3) + 1);
    let fields: Vec<&String> = lines[0].as_object().unwrap().keys().collect();
    let documented = include_str!("../../../../docs/verification.md");
    for field in fields {
        assert!(documented.contains(&format!("`{field}`")), "{field} is not documented");
    }
    let first = &lines[0];
    let expected = json!({
        "schema": 1, "input": "bowman", "algorithm": "bowman", "bug": null, "processes": 2,
        "pair": [0, 1], "operations": null, "values": null, "verdict": "verified",
        "scope": [{"operations": null, "active": 2}], "explorations": 1,
        "reductions": ["constant", "dead"], "threads": 1, "memory": 1u64 << 32,
    });
    for (field, value) in expected.as_object().unwrap() {
        assert_eq!(&first[field], value, "{field}");
    }
    for field in ["states", "transitions", "depth", "peak_bytes"] {
        assert!(first[field].as_u64().unwrap() > 0, "{field}");
    }
    for field in ["seconds", "bytes_per_state"] {
        assert!(first[field].as_f64().unwrap() > 0.0, "{field}");
    }
    let violation = &lines[5]["violation"];
    assert_eq!((&violation["moves"], &violation["operations"]), (&json!(10), &json!(3)));
    assert!(violation["argument"].as_str().unwrap().starts_with("S1 returned"));
    assert_eq!(violation["trace"], json!(null));
    let summary = &lines[8]["summary"];
    for (field, value) in [("verified", 5), ("violation", 1), ("unknown", 2), ("exit_code", 1)] {
        assert_eq!(summary[field], value, "{field}");
    }
}

/// A proof of a program in which scans never return says so.
#[test]
fn vacuous_proof_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("never.snapshot");
    let text = "algorithm never\nshared r[segment]: value\nupdate(v):\n    r[me] := v\nscan:\n    \
                local c[segment]: value\n    repeat\n        for s in segments: c[s] := r[s]\n    \
                until false\n    return c\n";
    std::fs::write(&file, text).unwrap();
    let check = format!("check {} -n 3", file.display());
    let out = printed(0, &check);
    let file = file.display();
    let end = format!(
        "never, n = 3: verified (3 pairs, any number of operations)\n  exercised: 2 of 3 statements; \
         not all operations return; an operation can hang\n  note: never executed: {file}:10:5: \
         `return c`\n  note: no scan by p0, p1, p2 ever returns\n  note: deadlock: after p0 scan, p1 \
         scan, p2 scan, no operation ever ends, whatever is done; the scan by p0 spins, at \
         {file}:8:28\n"
    );
    assert!(out.ends_with(&end), "{out}");
    assert!(printed(3, &format!("{check} --strict")).ends_with(&end));
    let lines = json(3, &format!("{check} --strict"));
    let exercised = &lines[0]["exercised"];
    assert_eq!((&exercised["vacuous"], &exercised["statements"]), (&json!(true), &json!(3)));
    let place = json!([{"line": 10, "column": 5, "message": "return c"}]);
    assert_eq!(exercised["never_executed"], place);
    let scan = json!({"process": 0, "operation": "scan", "returns": "never"});
    assert_eq!(exercised["returns"][1], scan);
    assert_eq!(
        (&exercised["ending"], &exercised["stuck"]["deadlock"]),
        (&json!("impossible"), &json!(true))
    );
    assert_eq!(exercised["stuck"]["moves"], json!(["p0 scan", "p1 scan", "p2 scan"]));
    let summary = &lines[3]["summary"];
    for (field, value) in [("verified", 3), ("vacuous", 3), ("exit_code", 3)] {
        assert_eq!(summary[field], value, "{field}");
    }
    // A proof that is not vacuous remains a proof.
    printed(0, "check bowman -n 2 --strict");
    // A branch that needs two operations, under a bound of one.
    let out = printed(3, "check afek_unbounded -n 2 --operations 1 --strict");
    assert!(
        out.contains("note: never executed: afek_unbounded.snapshot:36:21: `return b"),
        "{out}"
    );
}

#[test]
fn refinement_reports_like_exploration() {
    let documented = include_str!("../../../../docs/verification.md");
    let lines = json(
        1,
        "check bowman naive_collect -n 2..3 --operations 1 --method refinement --threads 2",
    );
    assert_eq!(lines.len(), 2 * (1 + 3) + 1);
    let first = &lines[0];
    for field in first.as_object().unwrap().keys() {
        assert!(documented.contains(&format!("`{field}`")), "{field} is not documented");
    }
    let expected = json!({
        "schema": 1, "method": "refinement", "executions": "simple", "partial_order": true,
        "points": false, "pair": [0, 1], "operations": 1, "values": null, "verdict": "verified",
        "scope": [{"operations": 1, "active": 2}], "explorations": 1, "reductions": [],
        "threads": 2,
    });
    for (field, value) in expected.as_object().unwrap() {
        assert_eq!(&first[field], value, "{field}");
    }
    for field in ["states", "transitions", "depth", "peak_bytes"] {
        assert!(first[field].as_u64().unwrap() > 0, "{field}");
    }
    for (number, line) in lines[..8].iter().enumerate() {
        let verdict = ["verified", "violation", "unknown"][match number {
            0..=4 => 0,
            5 => 1,
            _ => 2,
        }];
        assert_eq!(line["verdict"], verdict, "{number}");
    }
    // Exploration reports its method and executions.
    let line = &json(0, "check bowman -n 2 --operations 1")[0];
    assert_eq!((&line["method"], &line["executions"]), (&json!("exploration"), &json!("simple")));
    assert_eq!((line.get("points"), line.get("partial_order")), (None, None));
}

#[test]
fn full_executions_are_refined() {
    let full = "--method refinement --executions full --values 2";
    let out = printed(0, &format!("check bowman -n 2 {full} --operations grow"));
    assert_eq!(
        without_numbers(&out),
        "bowman, n = 2: verified\n\
         bowman, n = 2: verified (values 0..1, any number of operations, by refinement)\n  \
         exercised: all 6 statements; updates and scans of all processes return; no operation can \
         hang; each returns if it runs alone (obstruction-free)\n"
    );
    let with = |switch: &str| {
        let options = format!("check bowman -n 2 {full} --partial-order {switch}");
        let line = json(0, &options)[0].clone();
        assert_eq!(line["partial_order"], switch == "on");
        line["states"].as_u64().unwrap()
    };
    assert!(with("on") < with("off"));
}

#[test]
fn misplaced_points_are_no_violation() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("late.snapshot");
    std::fs::write(
        &file,
        "algorithm late\nshared r[segment]: value\nupdate(v):\n    r[me] := v\n    x := r[me] \
         linearizes\nscan:\n    local copy[segment]: value\n    for s in segments: copy[s] := \
         r[s]\n    return copy\n",
    )
    .unwrap();
    let trace = folder.path().join("trace");
    let check = format!("check {} -n 2 --method refinement", file.display());
    let out = printed(3, &format!("{check} --points --trace {}", trace.display()));
    for part in [
        "late, n = 2, pair (0,1): unknown: misplaced linearization points (",
        "Yet the history is linearizable: nothing is said against the algorithm.",
        "late, n = 2: unknown, for the statements marked with `linearizes` are no linearization \
         points: check it without --points",
    ] {
        assert!(out.contains(part), "{part} in {out}");
    }
    assert!(!out.contains("not linearizable"), "{out}");
    printed(0, &format!("replay {}", trace.display()));
    let line = &json(3, &format!("{check} --points"))[0];
    assert_eq!(line["verdict"], "misplaced");
    assert!(line["misplaced"]["argument"].as_str().unwrap().contains("never held"), "{line}");
    let out = printed(0, &check);
    assert!(
        out.contains("late, n = 2: verified (1 pair, any number of operations, by refinement)\n")
    );
    let out = printed(0, "check naive_collect -n 2 --method refinement --points");
    let part = "by refinement with operations taking effect at their linearization points)\n";
    assert!(out.contains(part), "{out}");
}

#[test]
fn budgets_end_refinement_in_unknown() {
    for (budget, cause) in
        [("--time 0.3", "time"), ("--memory 3M", "memory"), ("--memory 1K", "memory")]
    {
        let lines = json(3, &format!("check bowman -n 4 --method refinement --pairs 0,1 {budget}"));
        assert_eq!((&lines[0]["verdict"], &lines[0]["cause"]), (&json!("unknown"), &json!(cause)));
        assert_eq!(lines[0]["scope"], json!([]));
        if cause == "memory" {
            assert!(lines[0]["peak_bytes"].as_u64().unwrap() <= 3 << 20, "{}", lines[0]);
        }
    }
    let lines = json(3, "check riany -n 2 --method refinement --operations grow --memory 8M");
    assert_eq!(lines[0]["cause"], "memory");
}

#[test]
fn exhausted_budgets_report_the_covered_scope() {
    let lines = json(3, "check afek_bounded -n 3 --time 0.5 --method exploration");
    for line in &lines[..3] {
        assert_eq!((&line["verdict"], &line["cause"]), (&json!("unknown"), &json!("time")));
        assert_eq!(line["scope"], json!([]));
    }
    let lines = json(
        3,
        "check afek_bounded -n 3 --pairs 0,1 --memory 8M --operations grow --method exploration",
    );
    assert_eq!((&lines[0]["verdict"], &lines[0]["cause"]), (&json!("unknown"), &json!("memory")));
    assert!(!lines[0]["scope"].as_array().unwrap().is_empty());
}

#[cfg(unix)]
#[test]
fn progress_goes_to_stderr_and_interrupts_give_unknown() {
    use std::io::Read;
    use std::process::{Command, Stdio};
    let arguments = "check afek_bounded -n 3 --report json --threads 1 --status";
    let mut child = Command::new(env!("CARGO_BIN_EXE_snapshot-verify"))
        .args(arguments.split(' '))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A reported speed shows that states have been found.
    let mut progress = child.stderr.take().unwrap();
    let (mut seen, mut bytes) = (Vec::new(), [0; 256]);
    while !String::from_utf8_lossy(&seen).contains(" states/s, frontier ") {
        let read = progress.read(&mut bytes).unwrap();
        assert!(read > 0, "it ended by itself: {}", String::from_utf8_lossy(&seen));
        seen.extend_from_slice(&bytes[..read]);
    }
    assert!(seen.starts_with(b"afek_bounded, n = 3, pair (0,1): "));
    let reader = std::thread::spawn(move || progress.read_to_end(&mut Vec::new()).unwrap());
    let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(killed.success());
    let output = child.wait_with_output().unwrap();
    reader.join().unwrap();
    assert_eq!(output.status.code(), Some(3));
    let out = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<serde_json::Value> =
        out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for line in &lines[..3] {
        assert_eq!((&line["verdict"], &line["cause"]), (&json!("unknown"), &json!("interrupted")));
    }
    assert!(lines[0]["states"].as_u64().unwrap() > 0);
    assert_eq!(lines[1]["states"], 0);
}

#[test]
fn stages_are_printed() {
    let stages = [
        ("tree", "until active = me"),
        ("program", "active"),
        ("instance", "a[2]"),
        ("sliced", "a[1]"),
        ("steps", "a[1]"),
        ("layout", "a[1]"),
    ];
    for (stage, part) in stages {
        let out = printed(0, &format!("emit bowman --stage {stage}"));
        assert!(out.contains(part), "{stage}: {out}");
    }
    // Constant and fused parts are gone.
    let lines = |stage: &str| {
        let reductions = "--reductions constant,shrink";
        printed(0, &format!("emit bowman --stage {stage} {reductions}")).lines().count()
    };
    assert!(lines("steps") < lines("sliced"));
    assert!(lines("sliced") < lines("instance"));
    assert!(!printed(0, "emit bowman --stage sliced").contains("a[2]"));
    let bug = printed(0, "emit bowman --bug early_exit --stage tree");
    assert!(bug.contains("until active != none"), "{bug}");
}

#[test]
fn random_walks_find_common_violations() {
    let out = printed(1, "simulate naive_collect --walks 5000 --moves 60");
    assert!(out.starts_with("seed "), "{out}");
    assert!(out.contains("Why it is not linearizable:"), "{out}");
    let out = printed(0, "simulate bowman --walks 50 --moves 100 --values 2");
    assert!(out.starts_with("bowman, n = 3: 50 executions ("), "{out}");
    assert!(out.ends_with(" moves), all linearizable\n"), "{out}");
    assert_eq!(out, printed(0, "simulate bowman --walks 50 --moves 100 --values 2"));
}

/// One document at the end, for continuous integration: every pair, violations and open answers.
#[test]
fn reports_for_continuous_integration() {
    let xml = printed(1, "check bowman naive_collect -n 3 --keep-going --report junit");
    for part in
        ["tests=\"6\"", "failures=\"3\"", "errors=\"0\"", "naive_collect, n = 3, pair (0,1)"]
    {
        assert!(xml.contains(part), "{part}: {xml}");
    }
    assert!(xml.contains("Why it is not linearizable"), "{xml}");
    let xml = printed(0, "check bowman -n every --report junit");
    for part in ["tests=\"1\"", "errors=\"0\"", "bowman, every n"] {
        assert!(xml.contains(part), "{part}: {xml}");
    }
    let xml = printed(3, "check jayanti -n every --time 0 --report junit");
    assert!(xml.contains("errors=\"1\"") && xml.contains("jayanti, every n"), "{xml}");
    let log = printed(3, "check jayanti -n 3 --time 0 --report sarif");
    let log: serde_json::Value = serde_json::from_str(&log).unwrap();
    let results = log["runs"][0]["results"].as_array().unwrap();
    assert!(!results.is_empty());
    assert!(results.iter().all(|one| one["level"] == "warning" && one["ruleId"] == "unknown"));
    let script = printed(0, "completions fish");
    assert!(script.contains("snapshot-verify"), "{script}");
}
