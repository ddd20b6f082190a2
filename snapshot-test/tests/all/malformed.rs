//! Defective inputs and their exact reports.
//!
//! Each file of `tests/malformed/` is an input: its extension is the format for reading it (`auto`:
//! detected). The file beside it, with `.err` appended, is the expected report. With
//! `UPDATE_EXPECTED=1` in the environment the reports are rewritten: read the difference before
//! committing it.

use std::fs;
use std::path::{Path, PathBuf};

use snapshot_test::format::Format;
use snapshot_test::input::Input;
use snapshot_test::read_history;

/// The report for an input, named without its folder.
fn report(path: &Path) -> String {
    let name = path.file_name().and_then(|name| name.to_str()).expect("a plain name");
    let format = match path.extension().and_then(|extension| extension.to_str()) {
        Some("text") => Some(Format::Text),
        Some("jsonl") => Some(Format::Jsonl),
        Some("disc22") => Some(Format::Disc22),
        Some("auto") => None,
        other => panic!("{name}: {other:?} is no format"),
    };
    match Input::File(path.to_owned()).open(format) {
        Err(error) => error.report(name).to_string(),
        Ok(reader) => match read_history(reader) {
            Err(error) => error.report(name).to_string(),
            Ok(_) => panic!("{name} is read without an error"),
        },
    }
}

#[test]
fn every_defect_is_reported_as_expected() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/malformed");
    let mut inputs: Vec<PathBuf> = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension != "err"))
        .collect();
    inputs.sort();
    assert!(inputs.len() >= 60, "the folder of malformed inputs is incomplete");
    let mut wrong = Vec::new();
    for input in inputs {
        let mut expected_path = input.clone().into_os_string();
        expected_path.push(".err");
        let found = report(&input) + "\n";
        if std::env::var_os("UPDATE_EXPECTED").is_some() {
            fs::write(&expected_path, &found).unwrap();
        }
        let expected = fs::read_to_string(&expected_path).unwrap_or_default();
        if found != expected {
            wrong.push(format!("--- expected\n{expected}--- found\n{found}"));
        }
    }
    assert!(wrong.is_empty(), "{} reports differ\n{}", wrong.len(), wrong.join("\n"));
}
