//! Which parts of this crate must never know of which: what judges a search
//! shares no code with it, or both could be wrong alike.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The search, and what it rests on.
const JUDGED: [&str; 4] = ["instance", "reduce", "layout", "explore"];

/// What confirms or denies its findings, from the program alone.
const JUDGES: [&str; 4] = ["interpret", "refine", "enumerate", "counterexample"];

/// The parts of the library but for `lib.rs`, which names them all; what is left
/// is the program.
const LIBRARY: [&str; 12] = [
    "counterexample",
    "enumerate",
    "explore",
    "instance",
    "interpret",
    "language",
    "layout",
    "program",
    "reduce",
    "refine",
    "report",
    "verify",
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

/// All Rust files of a part, and at least one.
fn sources(part: &str) -> Vec<PathBuf> {
    let mut folders = vec![root().join(part)];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { folders.push(path) } else { files.push(path) }
        }
    }
    assert!(!files.is_empty(), "{part}");
    files
}

/// The code of a source: neither comments nor the tests at its end.
fn code(source: &str) -> String {
    let source = source.split("#[cfg(test)]").next().unwrap_or_default();
    let is_code = |line: &&str| !line.trim_start().starts_with("//");
    source.lines().filter(is_code).collect::<Vec<_>>().join("\n")
}

/// That none of the words occurs in the code of the parts.
fn absent(parts: &[&str], words: &[&str]) {
    for file in parts.iter().flat_map(|part| sources(part)) {
        let source = code(&fs::read_to_string(&file).unwrap());
        // `use crate::{` could hide any of them.
        let found: Vec<_> =
            words.iter().chain(&["use crate::{"]).filter(|word| source.contains(**word)).collect();
        assert!(found.is_empty(), "{} uses {found:?}", file.display());
    }
}

#[test]
fn judges_and_judged_share_nothing() {
    let words = |parts: [&str; 4]| parts.map(|part| format!("crate::{part}"));
    for (these, those) in [(JUDGED, JUDGES), (JUDGES, JUDGED)] {
        absent(&these, &words(those).each_ref().map(String::as_str));
    }
    absent(&JUDGED, &["crate::verify"]);
    absent(&JUDGES, &["crate::verify"]);
}

#[test]
fn the_second_and_the_third_method_do_without_the_observer() {
    absent(&["refine", "enumerate"], &["observer::"]);
}

/// But for the places in a text, which faults have.
#[test]
fn the_search_knows_neither_language_nor_reductions() {
    let language = ["language::parse", "language::Algorithm", "language::tree"];
    let others = ["crate::program", "crate::reduce"];
    absent(&["explore", "layout"], &[language.as_slice(), &others].concat());
}

#[test]
fn the_front_end_knows_nothing_of_what_becomes_of_a_program() {
    let later = JUDGED.iter().chain(&JUDGES).chain(&["verify", "report"]);
    let words: Vec<String> = later.map(|part| format!("crate::{part}")).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    absent(&["language", "program"], &words);
}

/// Command line, signals, files and terminals are the program's, and so is the
/// corpus: no stage can be made for an algorithm.
#[test]
fn the_library_does_without_what_only_the_program_needs() {
    let words = ["clap", "ctrlc", "std::fs", "std::env", "println!(", "eprintln!(", "corpus::"];
    absent(&LIBRARY, &words);
}

#[test]
fn all_parts_of_the_library_are_listed() {
    let entries = fs::read_dir(root()).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let program_and_root = ["cli", "main.rs", "lib.rs"];
    let found: BTreeSet<String> =
        names.filter(|name| !program_and_root.contains(&name.as_str())).collect();
    assert_eq!(found, LIBRARY.map(str::to_owned).into());
}
