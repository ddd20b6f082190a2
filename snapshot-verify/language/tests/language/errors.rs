//! Texts with errors or warnings, each with its diagnostics.
//!
//! `errors/NAME.snapshot` is the text, `errors/NAME.txt` its diagnostics. Run with
//! `UPDATE_EXPECT=1` to rewrite the latter, and read the difference.

use std::collections::BTreeSet;
use std::path::Path;

use snapshot_language::program::independence;
use snapshot_language::{Diagnostics, parse};

use crate::texts::{directory, texts};

/// Returns the errors of a text and its bugs, from the first stage that finds any.
fn wrong(name: &str, text: &str) -> Option<Diagnostics> {
    let algorithm = match parse(&format!("{name}.snapshot"), text) {
        Ok(algorithm) => algorithm,
        Err(diagnostics) => return Some(diagnostics),
    };
    let bugs = algorithm.bugs().iter().map(|bug| Some(bug.name.text.as_str()));
    for variant in std::iter::once(None).chain(bugs) {
        match algorithm.program(variant) {
            Err(diagnostics) => return Some(diagnostics),
            Ok(program) => {
                if let Err(dependences) = independence::check(&program) {
                    return Some(algorithm.refusal(&dependences));
                }
                if let Some(warnings) = algorithm.warnings(&program) {
                    return Some(warnings);
                }
            }
        }
    }
    None
}

#[test]
fn every_wrong_text_has_its_diagnostics() {
    let update = std::env::var_os("UPDATE_EXPECT").is_some();
    let mut different = Vec::new();
    for (name, text) in texts("errors") {
        let found = wrong(&name, &text).map_or_else(|| "nothing".to_owned(), |d| d.to_string());
        let found = format!("{found}\n");
        let path = directory("errors").join(format!("{name}.txt"));
        if update {
            std::fs::write(&path, &found).unwrap();
        }
        let expected = std::fs::read_to_string(&path).unwrap_or_default();
        if found != expected {
            different.push(format!("--- {name}: expected\n{expected}\n--- found\n{found}"));
        }
    }
    assert!(different.is_empty(), "{}", different.join("\n"));
}

/// The codes in the source text, one for each place where a message is made.
fn codes(folder: &Path, found: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            codes(&path, found);
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let made = text.split("message!(").skip(1).map(str::trim_start);
        let quoted = made.map(|rest| rest.strip_prefix('"').expect("a code is a literal"));
        found.extend(quoted.map(|rest| rest.split('"').next().unwrap().to_owned()));
    }
}

#[test]
fn every_diagnostic_has_a_unique_code_and_a_wrong_text() {
    let mut made = Vec::new();
    codes(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut made);
    let distinct: BTreeSet<String> = made.iter().cloned().collect();
    assert_eq!(made.len(), distinct.len(), "a code is given by two places: {made:?}");
    assert!(distinct.len() > 120, "only {} codes were found", distinct.len());

    let mut seen = BTreeSet::new();
    for (name, text) in texts("errors") {
        let diagnostics = wrong(&name, &text).unwrap_or_else(|| panic!("{name} is right"));
        seen.extend(diagnostics.iter().map(|diagnostic| diagnostic.code().to_owned()));
    }
    // This needs a text that is no use to have in a file.
    seen.insert("text-too-long".to_owned());
    let missing: Vec<&String> = distinct.difference(&seen).collect();
    assert!(missing.is_empty(), "no text for {missing:?}");
}

#[test]
fn too_long_a_text_is_refused() {
    let text = "#".repeat((1 << 18) + 1);
    let diagnostics = parse("long.snapshot", &text).unwrap_err();
    assert_eq!(
        diagnostics.to_string().lines().next(),
        Some("error: the text is longer than 262144 bytes")
    );
}

#[test]
fn colour_is_rendered_on_request_only() {
    let (name, text) = texts("errors").into_iter().next().unwrap();
    let diagnostics = wrong(&name, &text).unwrap();
    assert!(!diagnostics.render(false).contains('\x1b'));
    assert!(diagnostics.render(true).contains('\x1b'));
}
