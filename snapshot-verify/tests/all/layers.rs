//! Forbidden dependencies between parts of the verifier, as far as the manifests of its crates do
//! not already exclude them: `snapshot-explorer` depends on nothing that judges its findings,
//! `snapshot-semantics` on nothing that it judges, and `snapshot-language` on neither.

use std::fs;
use std::path::Path;

/// The parts of the libraries; the rest is the program.
const LIBRARIES: [&str; 7] = [
    "language/src",
    "interpreter/src",
    "semantics/src",
    "explorer/src",
    "src/explore",
    "src/report",
    "src/verify",
];

/// The sources of all crates of the verifier.
const CRATES: [&str; 5] =
    ["language/src", "interpreter/src", "semantics/src", "explorer/src", "src"];

/// Returns the code of all Rust files of a part, by path: without comments, the tests at the end of
/// a file, and files of tests (`#![cfg(test)]`).
fn sources(part: &Path) -> Vec<(String, String)> {
    let mut folders = vec![part.to_owned()];
    let mut sources = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let source = fs::read_to_string(&path).unwrap();
            let source = source.split("cfg(test)]").next().unwrap_or_default();
            let is_code = |line: &&str| !line.trim_start().starts_with("//");
            let code: Vec<&str> = source.lines().filter(is_code).collect();
            sources.push((path.display().to_string(), code.join("\n")));
        }
    }
    assert!(!sources.is_empty(), "{}", part.display());
    sources
}

/// Checks that none of the words occurs in the code of the parts. A named module must exist:
/// another name would forbid nothing.
fn absent(parts: &[&str], words: &[&str]) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let roots = CRATES.map(|of| fs::read_to_string(root.join(of).join("lib.rs")).unwrap());
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    for module in words.iter().filter_map(|word| word.strip_prefix("crate::")) {
        let exists = |text: &String| text.split(|c| !is_name(c)).any(|name| name == module);
        assert!(roots.iter().any(exists), "there is no module {module}");
    }
    for (path, code) in parts.iter().flat_map(|part| sources(&root.join(part))) {
        // `use crate::{` could hide any of them.
        let found: Vec<_> =
            words.iter().chain(&["use crate::{"]).filter(|word| code.contains(**word)).collect();
        assert!(found.is_empty(), "{path} uses {found:?}");
    }
}

#[test]
fn refinement_and_enumeration_do_not_use_the_observer() {
    absent(&["semantics/src/refine", "semantics/src/enumerate"], &["observer::"]);
}

/// A proof is checked by running the program as written, and by the automata. The crates of the
/// explorer are out of reach, because the certificate crate does not depend on them.
#[test]
fn certificate_check_shares_nothing_with_the_search() {
    absent(&["semantics/src/certificate"], &["observer", "crate::refine", "crate::exercise"]);
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("semantics/Cargo.toml");
    let manifest = fs::read_to_string(manifest).unwrap();
    let needed = manifest.split("[dev-dependencies]").next().unwrap_or_default();
    assert!(!needed.contains("snapshot-explorer"), "{needed}");
}

/// Except for the places in a text, which faults have.
#[test]
fn the_search_knows_neither_language_nor_reductions() {
    let words = [
        "language::parse",
        "language::Algorithm",
        "language::tree",
        "crate::program",
        "crate::passes",
        "crate::quotient",
        "crate::por",
        "crate::pipeline",
    ];
    absent(&["explorer/src/search"], &words);
}

#[test]
fn stages_do_not_know_their_order() {
    let stages = ["instance", "dataflow", "passes", "quotient", "por", "search"];
    let stages = stages.map(|stage| format!("explorer/src/{stage}"));
    absent(&stages.each_ref().map(String::as_str), &["crate::pipeline"]);
}

/// Command line, signals, files and terminals belong to the program, and so does the corpus: no
/// stage can be specialised for an algorithm.
#[test]
fn libraries_do_no_io_and_know_no_corpus() {
    let words = ["clap", "ctrlc", "std::fs", "std::env", "println!(", "eprintln!(", "corpus::"];
    absent(&LIBRARIES, &words);
}

/// The caller chooses the time limit of an answer: a library's own time limit would make answers
/// depend on the speed of the machine.
#[test]
fn libraries_have_no_time_limit_of_their_own() {
    let words = ["Duration::from_secs", "Duration::from_millis"];
    let crates = ["language", "interpreter", "semantics", "explorer", "hints", "invariant"];
    let parts = crates.map(|name| format!("{name}/src")).into_iter().chain(["src/verify".into()]);
    // Interval of progress reports; processor time of steps.
    let others = ["refinement.rs", "exercised.rs"];
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for (path, code) in parts.flat_map(|part: String| sources(&root.join(part))) {
        let is_other = others.iter().any(|other| path.ends_with(other));
        assert!(is_other || words.iter().all(|word| !code.contains(word)), "{path}");
    }
}
