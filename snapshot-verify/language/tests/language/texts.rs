//! Files with texts.

use std::path::{Path, PathBuf};

use snapshot_language::{Algorithm, parse};

/// Returns a directory beside this file.
pub fn directory(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/language").join(name)
}

/// Returns the texts in a directory, by name, in order.
pub fn texts(name: &str) -> Vec<(String, String)> {
    let mut texts: Vec<(String, String)> = std::fs::read_dir(directory(name))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "snapshot"))
        .map(|path| {
            let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
            (name, std::fs::read_to_string(path).unwrap())
        })
        .collect();
    texts.sort();
    assert!(!texts.is_empty(), "no texts in {name}");
    texts
}

/// Parses a valid text.
pub fn read(name: &str, text: &str) -> Algorithm {
    parse(&format!("{name}.snapshot"), text).unwrap_or_else(|error| panic!("{error}"))
}

/// Returns the debug output of a tree, or of a part of one, without its spans.
pub fn shape(tree: &impl std::fmt::Debug) -> String {
    let debug = format!("{tree:?}");
    let mut shape = String::new();
    let mut rest = debug.as_str();
    while let Some(begin) = rest.find("Span {") {
        shape += &rest[..begin];
        rest = &rest[begin..];
        rest = &rest[rest.find('}').unwrap() + 1..];
    }
    shape + rest
}
