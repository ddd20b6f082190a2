//! The conditions for solvers, by z3 and cvc5 where they are installed (Debian: `z3`, `cvc5`).

use std::path::PathBuf;
use std::process::{Command, Stdio};

use snapshot_invariant::Budget;
use snapshot_invariant::smt::{Conditions, SmtError, conditions_without};
use snapshot_language::program::Program;

use crate::programs::{of_corpus, parsed, parts, small};

/// Commands of the solvers, and their arguments besides the file.
const SOLVERS: [(&str, &[&str]); 2] = [("z3", &["-T:900"]), ("cvc5", &["--incremental"])];

fn installed() -> Vec<(&'static str, &'static [&'static str])> {
    let is_there = |name: &str| {
        let version = Command::new(name).arg("--version").stdout(Stdio::null()).status();
        version.is_ok_and(|status| status.success())
    };
    let mut all = SOLVERS.to_vec();
    all.retain(|(name, _)| is_there(name));
    if all.is_empty() {
        eprintln!("neither z3 nor cvc5 is installed: their answers are not tested");
    }
    all
}

fn written(program: &Program, left_out: Option<usize>) -> Result<(String, Conditions), SmtError> {
    let kept = parts(program, &["scans.observer"]).remove(0).kept;
    let mut text = Vec::new();
    let mut proceed = || true;
    let mut budget = Budget { memory: 1 << 30, proceed: &mut proceed };
    let conditions = conditions_without(program, &kept, left_out, &mut text, &mut budget)?;
    Ok((String::from_utf8(text).unwrap(), conditions))
}

/// Returns the answers of a solver, each with its question.
fn answers(solver: (&str, &[&str]), name: &str, text: &str) -> Vec<(String, String)> {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}.smt2", solver.0));
    std::fs::write(&path, text).unwrap();
    let output = Command::new(solver.0).args(solver.1).arg(&path).output().unwrap();
    let output = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<&str> = output.lines().collect();
    let pairs = lines.chunks(2).map(|pair| {
        let [title, answer] = pair else { panic!("{name}, {}: {output}", solver.0) };
        (title.trim_matches('"').to_owned(), (*answer).to_owned())
    });
    pairs.collect()
}

/// Returns the questions that are not answered by `unsat`.
fn refuted(solver: (&str, &[&str]), name: &str, text: &str, count: usize) -> Vec<String> {
    let answers = answers(solver, name, text);
    assert_eq!(answers.len(), count, "{name}, {}", solver.0);
    let open = answers.into_iter().filter(|(_, answer)| answer != "unsat");
    open.map(|(title, answer)| {
        assert_eq!(answer, "sat", "{name}, {}: {title}", solver.0);
        title
    })
    .collect()
}

/// At night bowman and collects of versions, by both solvers.
#[test]
fn proofs_are_confirmed() {
    let all = test_support::effort::is_night();
    let mut programs = vec![("locked", small("locked"))];
    if all {
        programs.push(("bowman", of_corpus("bowman", None)));
        programs.push(("versioned", small("versioned")));
    }
    for solver in installed().into_iter().take(if all { 2 } else { 1 }) {
        for (name, program) in &programs {
            let (text, conditions) = written(program, None).unwrap();
            assert!(conditions.count > 20 && conditions.views > 1_000, "{name}: {conditions:?}");
            let refuted = refuted(solver, name, &text, conditions.count);
            assert!(refuted.is_empty(), "{name}, {}: {refuted:?}", solver.0);
        }
    }
}

/// One collect is right if the process of one of the two segments scans: so the refuted condition
/// is the end of any other's scan.
#[test]
fn wrong_programs_are_refuted_at_the_wrong_step() {
    let naive = of_corpus("naive_collect", None);
    for solver in installed() {
        let (text, conditions) = written(&naive, None).unwrap();
        let open = refuted(solver, "naive", &text, conditions.count);
        assert_eq!(open.len(), 1, "{}: {open:?}", solver.0);
        assert!(open[0].starts_with("another process scans") && open[0].ends_with("to the end"));
    }
    if test_support::effort::is_night() {
        let wrong = of_corpus("bowman", Some("early_exit"));
        for solver in installed() {
            let (text, conditions) = written(&wrong, None).unwrap();
            let open = refuted(solver, "early_exit", &text, conditions.count);
            assert!(open.len() == 3 && open.iter().all(|title| title.ends_with("to the end")));
        }
    }
}

/// Without one of its views the invariant is not inductive.
#[test]
fn missing_view_is_refuted() {
    let naive = of_corpus("naive_collect", None);
    for solver in installed().into_iter().take(1) {
        let (_, whole) = written(&naive, None).unwrap();
        let mut noticed = 0;
        for number in (0..4).map(|at| at * (whole.views - 1) / 3) {
            let (text, conditions) = written(&naive, Some(number)).unwrap();
            let open = refuted(solver, "less", &text, conditions.count);
            noticed += usize::from(open.len() > 1);
        }
        // An unreachable view may be missing.
        assert!(noticed >= 3, "{noticed} of 4, {}", solver.0);
    }
}

#[test]
fn unsupported_programs_are_reported() {
    let error = |program: &Program| written(program, None).unwrap_err().to_string();
    assert!(error(&of_corpus("afek_unbounded", None)).contains("calls"));
    let looks = corpus::algorithm("double_collect").unwrap().text;
    assert!(error(&parsed(looks, None)).contains("looks at values"));
}
