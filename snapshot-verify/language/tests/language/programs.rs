//! Correct texts, and their programs.
//!
//! `right/NAME.snapshot` is the text, `right/NAME.txt` the programs of the text and its bugs, with
//! the text of each access. Run with `UPDATE_EXPECT=1` to rewrite the latter, and read the
//! difference.

use std::fmt::Write;

use snapshot_language::program::{Program, Statement, StatementKind, independence};
use snapshot_language::{Algorithm, Source};

use crate::texts::{directory, read, texts};

/// Lists the accesses, in order, each with its place and text.
fn accesses(source: &Source, statements: &[Statement], found: &mut String) {
    for statement in statements {
        match &statement.kind {
            StatementKind::Access { .. } => {
                let (line, column) = source.position(statement.span);
                let text = source.slice(statement.span);
                writeln!(found, "  {line}:{column} {text}").unwrap();
            }
            StatementKind::If { then, otherwise, .. } => {
                accesses(source, then, found);
                accesses(source, otherwise, found);
            }
            StatementKind::Loop { body }
            | StatementKind::For { body, .. }
            | StatementKind::Atomic(body) => accesses(source, body, found),
            _ => {}
        }
    }
}

fn described(algorithm: &Algorithm, program: &Program) -> String {
    let mut told = format!("{program}\naccesses:\n");
    for procedure in &program.procedures {
        accesses(algorithm.source(), &procedure.body, &mut told);
    }
    if let Err(dependences) = independence::check(program) {
        writeln!(told, "{}", algorithm.refusal(&dependences)).unwrap();
    }
    told
}

fn variants(algorithm: &Algorithm) -> Vec<Option<&str>> {
    let bugs = algorithm.bugs().iter().map(|bug| Some(bug.name.text.as_str()));
    std::iter::once(None).chain(bugs).collect()
}

#[test]
fn right_texts_give_the_expected_programs() {
    let update = std::env::var_os("UPDATE_EXPECT").is_some();
    let mut different = Vec::new();
    for (name, text) in texts("right") {
        let algorithm = read(&name, &text);
        let mut found = String::new();
        for variant in variants(&algorithm) {
            let program = algorithm.program_with_points(variant);
            let program = program.unwrap_or_else(|error| panic!("{error}"));
            found += &described(&algorithm, &program);
            found.push('\n');
        }
        for expectation in algorithm.expectations() {
            writeln!(found, "{expectation}").unwrap();
        }
        let path = directory("right").join(format!("{name}.txt"));
        if update {
            std::fs::write(&path, &found).unwrap();
        }
        if found != std::fs::read_to_string(&path).unwrap_or_default() {
            different.push(format!("--- {name}: found\n{found}"));
        }
    }
    assert!(different.is_empty(), "{}", different.join("\n"));
}

/// By default, a program is made without linearization points: it then equals the program of the
/// text without marks.
#[test]
fn marks_are_in_programs_with_points_only() {
    let mut marked = 0;
    for (name, text) in texts("right") {
        let unmarked: Vec<&str> = text
            .lines()
            .map(|line| line.split_once("linearizes").map_or(line, |(before, _)| before.trim_end()))
            .collect();
        let (algorithm, unmarked) = (read(&name, &text), read(&name, &unmarked.join("\n")));
        let [with, without, expected] =
            [algorithm.program_with_points(None), algorithm.program(None), unmarked.program(None)]
                .map(|program| program.unwrap_or_else(|error| panic!("{error}")).to_string());
        assert_eq!(without, expected, "{name}");
        marked += usize::from(with != without);
    }
    assert!(marked >= 3, "{marked}");
}

#[test]
fn corpus_compiles_with_all_its_bugs() {
    let mut bugs = 0;
    let folders =
        ["algorithms", "objects", "strong"].map(|folder| format!("../../../../corpus/{folder}"));
    for (name, text) in folders.iter().flat_map(|folder| texts(folder)) {
        let algorithm = read(&name, &text);
        assert!(!algorithm.expectations().is_empty(), "{name} expects nothing");
        for variant in variants(&algorithm) {
            algorithm.program(variant).unwrap_or_else(|error| panic!("{error}"));
            bugs += usize::from(variant.is_some());
        }
    }
    assert!(bugs > 0);
}

#[test]
fn unknown_bug_is_reported_with_the_known_ones() {
    let text = texts("right").into_iter().find(|(name, _)| name == "edits").unwrap().1;
    let algorithm = read("edits", &text);
    let error = algorithm.program(Some("delete")).unwrap_err().to_string();
    assert!(error.contains("the algorithm has no bug `delete`"), "{error}");
    assert!(error.contains("did you mean `deleted`?"), "{error}");
    let error = algorithm.tree(Some("something_else")).unwrap_err().to_string();
    assert!(error.contains("its bugs are replaced, deleted, before_a_statement"), "{error}");
}
