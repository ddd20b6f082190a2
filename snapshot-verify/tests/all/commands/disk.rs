//! `check --disk`: states that do not fit into memory.

use std::fs;
use std::path::Path;

use serde_json::Value;
use test_support::effort::either;

use super::{answer, json, refused};

/// Too large for the memory given below, even if states are forgotten.
const CASE: &str = "check bowman -n 4 --pairs 0,1 --reductions dead,constant --threads 2";

fn counts(lines: &[Value]) -> Vec<Value> {
    let keys = ["verdict", "states", "transitions", "depth", "steps", "history"];
    keys.iter().map(|key| lines[0][*key].clone()).collect()
}

fn is_empty(folder: &Path) -> bool {
    fs::read_dir(folder).unwrap().next().is_none()
}

#[test]
fn answer_equals_that_of_a_search_in_memory() {
    let folder = tempfile::tempdir().unwrap();
    let shown = folder.path().display();
    // The right program in the slow suite.
    let cases = [(" --bug early_exit", 1, 16), ("", 0, 24)];
    for (bug, code, megabytes) in cases.into_iter().take(either(1, 2)) {
        let whole = json(code, &format!("{CASE}{bug}"));
        let least = json(3, &format!("{CASE}{bug} --memory {megabytes}M"));
        assert_eq!(least[0]["cause"], "memory");
        let options = format!("--memory {megabytes}M --disk {shown}");
        let spilt = json(code, &format!("{CASE}{bug} {options}"));
        assert_eq!(counts(&spilt), counts(&whole), "{bug}");
        let bytes = |lines: &[Value]| lines[0]["peak_bytes"].as_u64().unwrap();
        let memory = megabytes << 20;
        assert!(bytes(&spilt) <= memory && bytes(&whole) > memory);
        assert!(is_empty(folder.path()), "all files are removed");
    }
}

#[test]
fn a_search_that_ends_early_leaves_no_files() {
    let folder = tempfile::tempdir().unwrap();
    let shown = folder.path().display();
    let (code, out, error) = answer(&format!("{CASE} --memory 16M --disk {shown} --time 1.5"));
    assert_eq!((code, error.as_str()), (3, ""));
    assert!(out.contains("out of time"), "{out}");
    assert!(is_empty(folder.path()), "all files are removed");
}

#[test]
fn invalid_disk_options_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let shown = folder.path().display();
    let error = refused(&format!("{CASE} --disk {shown}/nothing"));
    assert!(error.contains("no folder") && error.contains("nothing"), "{error}");
    let error = refused(&format!("{CASE} --disk {shown} --checkpoint {shown}/kept"));
    assert!(error.contains("--checkpoint") && error.contains("--disk"), "{error}");
    for of_no_search in ["-n every", "--method refinement", "--method proof"] {
        let error = refused(&format!("check bowman {of_no_search} --disk {shown}"));
        assert!(error.contains("--disk works only with the search"), "{error}");
    }
    let error = refused(&format!("{CASE} --memory 1M --disk {shown}"));
    assert!(error.contains("memory"), "{error}");
    assert!(is_empty(folder.path()));
}
