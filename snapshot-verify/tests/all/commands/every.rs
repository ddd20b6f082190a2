//! `check --processes every`.

use serde_json::Value;
use test_support::effort::either;

use super::{answer, answer_in, json, printed, refused};

#[test]
fn a_proof_for_every_n() {
    let out = printed(0, "check bowman -n every");
    let first = "bowman, every n: verified for every n >= 2, all pairs, any number of operations";
    assert!(out.starts_with(first), "{out}");
    let lines = json(0, "check bowman --processes every");
    assert_eq!(lines[0]["processes"], "every");
    assert_eq!(lines[0]["verdict"], "verified");
    let kinds = lines[0]["obligations"][0]["kinds"].as_array().unwrap();
    assert!(kinds.len() == 3 || kinds.len() == 5, "i, j, and t, in one place or three");
    assert!(kinds.iter().all(|kind| kind["views"].as_u64().unwrap() > 0));
}

/// Four lines: the answer, the check, the projection, and the coverage.
#[test]
fn executions_are_projected_into_a_proof() {
    let out = printed(0, "check bowman -n every");
    assert_eq!(out.lines().count(), 4, "{out}");
    let line = out.lines().nth(2).unwrap();
    assert!(line.starts_with("  projected: all ") && line.contains(" % of its views, "), "{out}");
    let lines = json(0, "check bowman -n every");
    let [one] = lines[0]["projection"]["obligations"].as_array().unwrap().as_slice() else {
        panic!("{lines:?}")
    };
    let number = |value: &Value| value.as_u64().unwrap();
    assert_eq!((&one["all_of_two"], &one["unfit"]), (&true.into(), &Value::Null), "{one}");
    assert!(number(&one["states"]["2"]) > 1_000 && number(&one["states"]["3"]) > 1_000, "{one}");
    assert!(number(&one["random_projections"]) > 1_000, "{one}");
    assert!(2 * number(&one["joins"]["covered"]) > number(&one["joins"]["sites"]), "{one}");
    for list in one["lists"].as_array().unwrap() {
        let (views, covered) = (number(&list["views"]), number(&list["covered"]));
        assert!(covered <= views && 10 * covered > views, "{list}");
    }
}

#[test]
fn a_proof_is_checked() {
    let out = printed(0, "check bowman -n every");
    assert!(out.contains("\n  check: accepts the certificate ("), "{out}");
    let lines = json(0, "check afek_unbounded -n every");
    let check = &lines[0]["check"];
    assert_eq!(check["accepted"], true);
    assert!(check["views"].as_u64().unwrap() > 1_000, "{check}");

    let folder = tempfile::tempdir().unwrap();
    // The last two in the slow suite.
    let names = ["locked_by_links", "undisturbed", "turns", "published"];
    let names = names.into_iter().chain(["afek_bounded", "attiya_welch"]);
    for name in names.take(either(4, 6)) {
        let text = corpus::algorithm(name).map_or_else(|| corpus::small(name), |one| one.text);
        let file = format!("{name}.snapshot");
        std::fs::write(folder.path().join(&file), text).unwrap();
        let asked = format!("check {file} -n every --report json");
        let (code, out, _) = answer_in(folder.path(), &asked);
        assert_eq!(code, 0, "{out}");
        let line: Value = serde_json::from_str(out.lines().next().unwrap()).unwrap();
        assert_eq!(line["check"]["accepted"], true, "{out}");
        assert_eq!(line["verdict"], "verified", "{out}");
    }
    // Without a proof, nothing is checked.
    let lines = json(1, "check naive_collect -n every");
    assert_eq!(lines[1]["check"], Value::Null);
}

/// A right program that the engine has no layout for: an update has too many instructions.
#[test]
fn what_has_no_certificate_is_unknown() {
    let pads = "    pad := not pad\n".repeat(260);
    let text = format!(
        "algorithm padded\nshared active: process or none := none\nshared a[segment]: value\n\
         update(v):\n    local pad: bool\n{pads}    active := none\n    a[me] := v\n\
         scan:\n    local copy[segment]: value\n    repeat\n        active := me\n        \
         for s in segments: copy[s] := a[s]\n    until active = me\n    return copy\n\
         expect every n: linearizable\n"
    );
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("padded.snapshot"), text).unwrap();
    let why = "a procedure of more than 250 instructions";
    let (code, out, _) = answer_in(folder.path(), "check padded.snapshot -n every");
    assert!(code == 3 && out.starts_with("padded, every n: unknown"), "{out}");
    assert!(out.contains(why) && !out.contains("verified"), "{out}");
    let (code, out, _) = answer_in(folder.path(), "check padded.snapshot -n 3 --method proof");
    assert!(code == 3 && out.contains("no proof for every n") && out.contains(why), "{out}");
    let (code, out, _) = answer_in(folder.path(), "expect padded.snapshot");
    assert!(code == 3 && out.starts_with("undecided "), "{out}");
}

/// Time that ends the proof is the stated cause.
#[test]
fn short_time_is_unknown_with_its_cause() {
    let out = printed(3, "check jayanti -n every --time 0.5");
    assert!(out.starts_with("jayanti, every n: unknown, time was short ("), "{out}");
    assert!(out.contains("not finished, time ran short"), "{out}");
    assert!(!out.contains("The steps that could not be excluded"), "{out}");
    let lines = json(3, "check jayanti -n every --time 0.5");
    assert_eq!((&lines[0]["verdict"], &lines[0]["cause"]), (&"unknown".into(), &"time".into()));
}

/// A right program that is proved only with all kept: of what the analyses keep, the rules lose something in a loop
/// over a gap that leaves out a process in it.
#[test]
fn where_hints_do_not_suffice_all_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let text = "algorithm noted\nshared a[segment]: value\n\
                shared mask: array [process] of bool\nprivate noted[process]: bool\n\
                update(v):\n    a[me] := v\n    m := mask\n    \
                for k in processes except me:\n        if m[k]: noted[k] := not noted[k]\n\
                scan:\n    local w: view\n    atomic:\n        \
                for s in segments: w[s] := a[s]\n    if noted[me]: w[me] := initial\n    \
                return w\n";
    std::fs::write(folder.path().join("noted.snapshot"), text).unwrap();
    let check =
        |options: &str| answer_in(folder.path(), &format!("check noted.snapshot {options}"));
    let (code, out, _) = check("-n every");
    assert!(code == 0 && out.contains("\n  scans.observer: holds without hints ("), "{out}");
    assert!(out.contains("\n  check: accepts the certificate ("), "{out}");
    let (code, out, _) = check("-n every --report json");
    let line: Value = serde_json::from_str(out.lines().next().unwrap()).unwrap();
    let by = |hints: bool| {
        let all = line["obligations"].as_array().unwrap().iter();
        all.filter(move |one| one["hints"] == hints).map(|one| one["holds"] == true)
    };
    assert!(
        code == 0 && by(true).any(|holds| !holds) && by(false).next_back() == Some(true),
        "{out}"
    );
    let (code, out, err) = check("-n every --rungs no-scans.observer --certificate noted.cert");
    assert!(
        code == 3 && err.contains("no certificate noted.cert: there is no proof"),
        "{out}{err}"
    );
    assert!(out.contains("No violation with n = 2, 3, 4."), "{out}");
}

/// Scans that can never return are linearizable for every n, too.
#[test]
fn vacuous_proof_is_reported() {
    let out = printed(0, "check bowman -n every --strict");
    assert!(out.contains("\n  exercised with n = 3: all "), "{out}");

    let folder = tempfile::tempdir().unwrap();
    let text = "algorithm never\nshared active: process or none\nshared a[segment]: value\n\
                update(v):\n    active := none\n    a[me] := v\nscan:\n    local c: view\n    \
                repeat\n        active := none\n        for s in segments: c[s] := a[s]\n    \
                until active = me\n    return c\n";
    std::fs::write(folder.path().join("never.snapshot"), text).unwrap();
    let check = |options: &str| {
        let asked = format!("check never.snapshot -n every{options}");
        let (code, out, _) = answer_in(folder.path(), &asked);
        (code, out)
    };
    let (code, out) = check("");
    assert!(out.contains("note: no scan by p0, p1, p2 ever returns"), "{out}");
    assert_eq!((code, check(" --strict").0), (0, 3), "{out}");
    let (_, out) = check(" --report json");
    let first = out.lines().next().unwrap();
    let line: Value = serde_json::from_str(first).unwrap();
    let exercised = &line["exercised"];
    assert_eq!(
        (&exercised["processes"], &exercised["vacuous"]),
        (&3.into(), &true.into()),
        "{out}"
    );
}

#[test]
fn a_proof_by_the_calls_that_return_views() {
    let lines = json(0, "check afek_unbounded -n every");
    assert_eq!(lines[0]["verdict"], "verified");
    let obligations = lines[0]["obligations"].as_array().unwrap();
    let held = obligations.iter().filter(|one| one["holds"] == true).count();
    assert!(held >= 4, "nesting, and the vectors of t, i and j: {obligations:?}");
}

#[test]
fn violation_has_a_definite_n() {
    let out = printed(1, "check bowman --bug early_exit -n every");
    assert!(out.contains("Why it is not linearizable"), "{out}");
    assert!(out.contains("every n: violation with n = 3"), "{out}");
    let lines = json(1, "check naive_collect -n every");
    assert_eq!(lines[1]["violated_with"], 3, "it is linearizable with 2");
}

#[test]
fn missing_proof_is_not_verified() {
    let out = printed(3, "check double_collect -n every --time 4");
    assert!(out.contains("no proof: the program looks at values"), "{out}");
    let out = printed(3, "check riany -n every --time 2");
    assert!(out.contains("could not exclude"), "{out}");
}

/// An instance too large to search is unknown.
#[test]
fn instance_too_large_to_search_is_unknown() {
    let folder = tempfile::tempdir().unwrap();
    let text = "algorithm large\nshared a[segment]: value\nshared g: version\n\
                private nought: view\nprivate zero: version\n\
                update(v):\n    g := fresh\n    a[me] := v\nscan:\n    \
                local copy[segment]: value\n    local p[0..3][0..62]: version\n    \
                last := zero\n    for b in 0..3:\n        for c in 0..62:\n            \
                repeat\n                x := g\n            until x != last\n            \
                last := x\n            p[b][c] := x\n    \
                if all b in 0..3: all c in 0..62: p[b][c] != zero: return nought\n    \
                atomic:\n        for s in segments: copy[s] := a[s]\n    return copy\n";
    std::fs::write(folder.path().join("large.snapshot"), text).unwrap();
    let asked = "check large.snapshot -n every --rungs scans.observer";
    let (code, out, err) = answer_in(folder.path(), asked);
    assert_eq!(code, 3, "{out}{err}");
    assert!(out.contains("every n: unknown") && out.contains("more than 100 versions"), "{out}");
    assert!(!out.contains("No violation with"), "{out}");
}

#[test]
fn options_of_one_n_are_refused() {
    for option in ["--pairs 0,1", "--operations 2", "--method refinement", "--values 2"] {
        assert!(refused(&format!("check bowman -n every {option}")).contains("leave it out"));
    }
}

#[test]
fn rungs_can_be_chosen_by_name() {
    let lines = json(3, "check bowman -n every --rungs no-scans.observer --time 2");
    let obligations = lines[0]["obligations"].as_array().unwrap();
    assert!(obligations.iter().all(|one| one["rung"] != "scans.observer"), "{obligations:?}");
    assert!(obligations.iter().any(|one| one["rung"] == "scans.memory-t"), "{obligations:?}");
    let all = "scans.faults,scans.nesting,scans.observer";
    let lines = json(0, &format!("check bowman -n every --rungs {all}"));
    assert_eq!(lines[0]["rung"], "scans.observer");
    assert!(refused("check bowman -n every --rungs scan.observer").contains("calls.memory-t"));
    assert!(refused("check bowman -n 3 --rungs all").contains("--processes every"));
}

#[test]
fn a_proof_for_every_n_can_be_expected() {
    let out = printed(0, "expect bowman");
    let line = out.lines().find(|line| line.contains("expect every n: linearizable"));
    assert!(line.is_some_and(|line| line.starts_with("met ") && line.contains("views")), "{out}");
}

#[test]
fn one_n_is_proved_where_the_search_is_too_large() {
    // The search alone handles at most 29 processes.
    let lines = json(0, "check bowman -n 40 --pairs 0,39");
    assert_eq!(lines[0]["verdict"], "verified");
    assert_eq!(lines[0]["method"], "proof");
    assert_eq!(lines[0]["proof"]["rung"], "scans.observer");
    assert!(lines[0]["proof"]["views"].as_u64().unwrap() > 100);
    assert!(refused("check bowman -n 40 --pairs 0,39 --method exploration").contains("at most 29"));
    // The memory suffices for the proof.
    let afek = "check afek_unbounded -n 3 --pairs 0,1 --memory 12M";
    let out = printed(0, afek);
    assert!(out.contains("verified, by the proof for every n ("), "{out}");
    assert!(out.contains("the search was left at "), "{out}");
    let lines = json(3, &format!("{afek} --method exploration"));
    assert_eq!(lines[0]["cause"], "memory");
    // If the search can answer, it does.
    let lines = json(0, "check bowman -n 3");
    assert!(lines.iter().all(|line| line["method"] != "proof"), "{lines:?}");
}

#[test]
fn method_proof_answers_one_n_without_a_search() {
    let lines = json(0, "check bowman -n 3 --method proof");
    assert_eq!(lines.len(), 4, "three pairs and the summary");
    assert!(lines[..3].iter().all(|line| line["method"] == "proof" && line["states"] == 0));
    assert_eq!(lines[0]["scope"][0]["operations"], Value::Null);
    let out = printed(3, "check bowman --bug early_exit -n 3 --method proof");
    assert!(out.contains("unknown: no proof for every n"), "{out}");
    assert!(out.contains("could not exclude"), "{out}");
    let lines = json(3, "check bowman --bug early_exit -n 3 --method proof");
    assert_eq!(lines[0]["cause"], "unproved");
    let out = printed(3, "check double_collect -n 3 --method proof");
    assert!(out.contains("the program looks at values"), "{out}");
    let lines =
        json(3, "check bowman -n 3 --method proof --rungs no-scans.observer,no-scans.memory-t");
    assert_eq!(lines[0]["verdict"], "unknown");
    // For every n: without a search for a violation.
    let lines = json(3, "check naive_collect -n every --method proof");
    assert_eq!(lines[0]["violated_with"], Value::Null);
    for option in ["--reductions all", "--threads 1", "--values 2", "--certificate a", "--html a"] {
        let error = refused(&format!("check bowman -n 3 --method proof {option}"));
        assert!(error.contains("leave it out"), "{option}: {error}");
    }
}

#[test]
fn proof_is_emitted_as_conditions_for_solvers() {
    let out = printed(0, "emit naive_collect --smt");
    assert!(out.starts_with("; naive_collect: a proof for every n"), "{}", &out[..200]);
    assert_eq!(out.matches("(check-sat)").count(), 22);
    assert!(
        refused("emit afek_unbounded --smt").contains("conditions for solvers do not know calls")
    );
    assert!(refused("emit bowman --smt -n 3").contains("cannot be used with"));
    for (arguments, why) in [
        ("emit bowman --smt --memory 1M", "bowman: no conditions: memory ran out\n"),
        ("emit double_collect --smt", "double_collect: no conditions: "),
    ] {
        let (code, out, error) = answer(arguments);
        assert_eq!((code, out.as_str()), (3, ""), "{arguments}");
        assert!(error.starts_with(why), "{arguments}: {error}");
    }
}

/// Objects: a proof with its certificate, a violation of the smallest n, and refusals.
#[test]
fn objects_for_every_n() {
    let folder = tempfile::tempdir().unwrap();
    let ask = |command: &str| answer_in(folder.path(), command);
    let command = "check packed_stack -n every --certificate stack.cert";
    let (code, out, error) = ask(command);
    assert_eq!((code, error.as_str()), (0, ""), "{out}");
    let first = "packed_stack, every n: verified for every n, any number of operations";
    assert!(out.starts_with(first) && out.contains("minimal states lead to an error"), "{out}");
    assert!(out.contains("  exercised with n = 2: all 8 statements"), "{out}");
    let (code, out, _) = ask("certify packed_stack stack.cert");
    assert_eq!(code, 0, "{out}");
    assert!(out.contains("packed_stack is linearizable for every n (any number"), "{out}");
    let (code, out, _) = ask("certify packed_stack stack.cert --bug lost_push");
    assert!(code == 1 && out.contains("proves nothing"), "{out}");
    let lines = json(0, "check wrapping_counter -n every");
    assert_eq!(
        (&lines[0]["verdict"], &lines[0]["processes"]),
        (&"verified".into(), &"every".into())
    );
    assert!(lines[0]["coverability"]["global_states"].as_u64().unwrap() > 10, "{}", lines[0]);

    let command = "check wrapping_counter --bug lost_update -n every --trace lost.trace";
    let (code, out, _) = ask(command);
    assert!(code == 1 && out.contains("every n: violation with n = 2"), "{out}");
    let (code, out, _) = ask("replay lost.trace");
    assert!(code == 1 && out.contains("not linearizable"), "{out}");
    let marked = corpus::algorithm("wrapping_counter").unwrap().text;
    let mark =
        "done := CAS(cell, old, (old + 1) mod 4) linearizes\n        if done: return old\n\n";
    assert!(marked.contains(mark));
    let late = mark.replace(" linearizes", "").replace(
        "if done: return old",
        "if done:\n            x := cell linearizes\n            return old",
    );
    let (text, _) = marked.split_once("\nbug ").unwrap();
    std::fs::write(folder.path().join("late.snapshot"), text.replace(mark, &late)).unwrap();
    let (code, out, _) = ask("check late.snapshot -n every");
    assert!(code == 3 && out.contains("are no linearization points"), "{out}");
    let (code, out, _) = ask("check linked_stack -n every");
    assert!(code == 3 && out.contains("its states are infinitely many"), "{out}");
    let told = refused("check wrapping_counter -n every --html page.html");
    assert!(told.contains("--html (for every n)"), "{told}");
    let (code, out, _) = ask("expect wrapping_counter packed_stack test_and_set_lock");
    assert!(code == 0 && out.contains("expect every n: linearizable"), "{out}");
}
