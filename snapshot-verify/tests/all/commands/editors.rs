//! Highlighting for editors knows the words of the language.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

const LANGUAGE: &str = include_str!("../../../../docs/language.md");

fn file(path: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path)).unwrap()
}

/// The words in a text.
fn words(text: &str) -> BTreeSet<&str> {
    text.split(|character: char| !character.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .collect()
}

#[test]
fn every_keyword_is_highlighted() {
    let (_, rest) = LANGUAGE
        .split_once("These are keywords, not\n  names (but a field may be called so): ")
        .unwrap();
    let keywords = rest.split_once(" with `_`").unwrap().0;
    let keywords: Vec<&str> = keywords.split_whitespace().collect();
    assert!(keywords.len() > 25, "{keywords:?}");
    let grammar = file("editors/textmate/snapshot.tmLanguage.json");
    let grammar: serde_json::Value = serde_json::from_str(&grammar).unwrap();
    assert_eq!(grammar["scopeName"], "source.snapshot");
    let grammar = grammar["patterns"].to_string().replace("\\b", " ");
    let vim = file("editors/vim/syntax/snapshot.vim");
    for (editor, text) in [("TextMate", grammar.as_str()), ("vim", vim.as_str())] {
        let known = words(text);
        let missing: Vec<&&str> = keywords.iter().filter(|word| !known.contains(**word)).collect();
        assert!(missing.is_empty(), "{editor}: {missing:?}");
    }
}
