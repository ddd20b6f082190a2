//! The program accepts the examples on the pages for users.
use std::fs;
use std::process::Command;

use snapshot_test::conformance::Family;

/// Returns the first block of code below a heading.
fn sample<'a>(page: &'a str, heading: &str) -> &'a str {
    let (_, below) = page.split_once(heading).expect("the page has the heading");
    let (_, block) = below.split_once("```\n").expect("a block begins");
    block.split_once("```").expect("it ends").0
}

/// Returns the answer of `snapshot-test check` to a recording, with its exit code.
fn check(recording: &str) -> (Option<i32>, String) {
    answer(recording, &["check", "recording.txt"])
}

/// Returns the answer of a command to a recording in `recording.txt`, with its exit code.
fn answer(recording: &str, arguments: &[&str]) -> (Option<i32>, String) {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("recording.txt"), recording).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_snapshot-test"))
        .args(arguments)
        .current_dir(folder.path())
        .output()
        .expect("the program starts");
    let text = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8(text).expect("the output is text"))
}

#[test]
fn samples_on_the_formats_page_are_accepted() {
    let page = include_str!("../../../docs/formats.md");
    for format in ["text", "jsonl", "disc22"] {
        let (code, told) = check(sample(page, &format!("\n## {format}\n")));
        assert_eq!(code, Some(0), "{format}: {told}");
    }
}

/// The README leaves out the end of a report by `...`.
#[test]
fn recording_of_the_readme_has_the_shown_report() {
    let page = include_str!("../../../README.md");
    let heading = "\n## A recording, in ten lines\n";
    let recording = sample(page, heading);
    let (_, below) = page.split_once(recording).expect("the sample is on the page");
    let shown = sample(below, "and ask:");
    let report = shown.strip_prefix("$ snapshot-test check recording.txt\n").expect("the command");
    let report = report.strip_suffix("...\n").expect("the end is left out");
    let (code, told) = check(recording);
    assert_eq!(code, Some(1));
    assert!(told.starts_with(report), "{told}");
}

/// `snapshot-test explain recording.txt --to svg` on the README's recording remakes the picture.
#[test]
fn the_picture_of_the_readme_is_drawn_by_explain() {
    let page = include_str!("../../../README.md");
    let recording = sample(page, "\n## A recording, in ten lines\n");
    let (code, drawn) = answer(recording, &["explain", "recording.txt", "--to", "svg"]);
    assert_eq!(code, Some(1));
    assert_eq!(drawn, include_str!("../../../docs/pictures/violation.svg"));
}

#[test]
fn the_readme_counts_the_histories_that_ship() {
    let count: usize = Family::ALL.iter().map(|family| family.cases().count()).sum();
    let shown = format!("checks the {},{:03} histories that ship", count / 1000, count % 1000);
    assert!(include_str!("../../../README.md").contains(&shown), "{shown}");
}
