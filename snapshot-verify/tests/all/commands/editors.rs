//! Highlighting for editors covers the words of the language, and the grammar for tree-sitter
//! parses every text.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const LANGUAGE: &str = include_str!("../../../../docs/language.md");

fn file(path: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path)).unwrap()
}

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
    let tree = file("editors/tree-sitter/grammar.js");
    for (editor, text) in [("TextMate", grammar.as_str()), ("vim", &vim), ("tree-sitter", &tree)] {
        let known = words(text);
        let missing: Vec<&&str> = keywords.iter().filter(|word| !known.contains(**word)).collect();
        assert!(missing.is_empty(), "{editor}: {missing:?}");
    }
}

/// The grammar for tree-sitter, and the parser made of it, have the words of all `expect` lines.
#[test]
fn the_tree_sitter_grammar_knows_every_verdict() {
    let mut all = BTreeSet::new();
    for text in corpus::all_algorithms() {
        let parsed = snapshot_language::parse(text.name, text.text).unwrap();
        for one in parsed.expectations() {
            let names =
                [&one.bug, &one.operation].map(|name| name.as_ref().map(|name| &*name.text));
            let line = one.to_string();
            let (clauses, verdict) = line.split_once(": ").unwrap();
            let [bug, operation] = names.map(Option::unwrap_or_default);
            let clauses = clauses.replacen(&format!(" {bug},"), "", 1);
            let verdict = verdict.strip_prefix(operation).unwrap();
            let words = words(&clauses).into_iter().chain(words(verdict));
            all.extend(words.filter(|word| word.parse::<u32>().is_err()).map(str::to_owned));
        }
    }
    assert!(all.len() > 20 && all.contains("strongly") && all.contains("access"), "{all:?}");
    for path in ["grammar.js", "src/grammar.json", "src/parser.c"] {
        let text = file(&format!("editors/tree-sitter/{path}"));
        let missing: Vec<_> =
            all.iter().filter(|word| !text.contains(&format!("\"{word}\""))).collect();
        assert!(missing.is_empty(), "{path}: {missing:?}");
    }
}

/// Collects all texts below a folder.
fn texts(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            texts(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "snapshot") {
            found.push(path);
        }
    }
}

/// Runs a program; reports if it is not installed.
fn run(program: &str, arguments: &[&str]) -> Option<Output> {
    match Command::new(program).args(arguments).output() {
        Ok(output) => Some(output),
        Err(_) => {
            eprintln!("SKIPPED: there is no `{program}` on this machine");
            None
        }
    }
}

/// Script for Neovim: reads texts with the parser, and prints for each whether it parses, and the
/// tree of the first.
const SCRIPT: &str = r#"
local folder, grammar = ...
local parser = folder .. "/snapshot.so"
if vim.treesitter.language and vim.treesitter.language.add then
  vim.treesitter.language.add("snapshot", { path = parser })
else
  vim.treesitter.require_language("snapshot", parser)
end
local function read(path)
  local file = assert(io.open(path, "rb"))
  local text = file:read("*a")
  file:close()
  return text
end
local parse_query = vim.treesitter.query.parse or vim.treesitter.query.parse_query
local query = parse_query("snapshot", read(grammar .. "/queries/highlights.scm"))
local out = assert(io.open(folder .. "/out", "w"))
for path in io.lines(folder .. "/texts") do
  local text = read(path)
  local root = vim.treesitter.get_string_parser(text, "snapshot"):parse()[1]:root()
  local captures = 0
  for _ in query:iter_captures(root, text, 0, -1) do captures = captures + 1 end
  out:write(root:has_error() and "wrong" or "right", " ", captures, " ", root:sexpr(), "\n")
end
out:close()
"#;

/// Returns, for each text, whether it parses, the number of highlighted parts, and its tree. `None`
/// if no compiler or no Neovim is installed.
fn parsed(paths: &[PathBuf]) -> Option<Vec<(bool, usize, String)>> {
    let folder = tempfile::tempdir().unwrap();
    let within = |name: &str| folder.path().join(name).display().to_string();
    let grammar = Path::new(env!("CARGO_MANIFEST_DIR")).join("../editors/tree-sitter");
    let source = |name: &str| grammar.join("src").join(name).display().to_string();
    let (include, library) = (source(""), within("snapshot.so"));
    let files = [source("parser.c"), source("scanner.c")];
    let compiled =
        run("cc", &["-shared", "-fPIC", "-I", &include, "-o", &library, &files[0], &files[1]])?;
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    let list: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
    fs::write(within("texts"), list.join("\n")).unwrap();
    fs::write(within("script.lua"), SCRIPT).unwrap();
    let arguments = format!("{:?}, {:?}", within(""), grammar.display().to_string());
    let script = format!("lua assert(loadfile({:?}))({arguments})", within("script.lua"));
    let output =
        run("nvim", &["--headless", "-u", "NONE", "-i", "NONE", "-c", &script, "-c", "qa!"])?;
    let said = String::from_utf8_lossy(&output.stderr);
    let trees = fs::read_to_string(within("out")).unwrap_or_else(|_| panic!("{said}"));
    let parsed = trees.lines().map(|line| {
        let mut parts = line.splitn(3, ' ');
        let is_right = parts.next() == Some("right");
        let captures = parts.next().unwrap().parse().unwrap();
        (is_right, captures, parts.next().unwrap().to_owned())
    });
    Some(parsed.collect())
}

#[test]
fn the_tree_sitter_grammar_understands_every_text() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut paths = Vec::new();
    texts(&root.join("corpus"), &mut paths);
    texts(&root.join("snapshot-verify/language/tests/language/right"), &mut paths);
    assert!(paths.len() > 40, "{}", paths.len());
    let Some(parsed) = parsed(&paths) else { return };
    assert_eq!(parsed.len(), paths.len());
    let wrong: Vec<_> = paths.iter().zip(&parsed).filter(|(_, (is_right, ..))| !is_right).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(parsed.iter().all(|(_, captures, _)| *captures > 10));
}

/// Blocks follow the indentation, and an `else` belongs to the `if` above it.
#[test]
fn the_tree_sitter_grammar_follows_the_indentation() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        path
    };
    let paths = [
        write(
            "blocks",
            "scan:\n    if a:\n        if b: skip\n        # within\n    else:\n        exit\n\n    return\n",
        ),
        write(
            "one_line",
            "scan:\n    if a: skip; if b: exit else: skip\n    repeat skip until c\n",
        ),
        write("unclosed", "scan:\n    if a\n        skip\n"),
    ];
    let Some(parsed) = parsed(&paths) else { return };
    let trees: Vec<(bool, &str)> =
        parsed.iter().map(|(is_right, _, tree)| (*is_right, tree.as_str())).collect();
    let [blocks, one_line, unclosed] = trees[..] else { panic!("{trees:?}") };
    assert_eq!(
        blocks,
        (
            true,
            "(source_file (procedure name: (identifier) (block (if (identifier) (block (if \
             (identifier) (skip))) (comment) (block (exit))) (return))))"
        )
    );
    assert_eq!(
        one_line,
        (
            true,
            "(source_file (procedure name: (identifier) (block (if (identifier) (skip) (if \
             (identifier) (exit) (skip))) (repeat (skip) (identifier)))))"
        )
    );
    assert!(!unclosed.0, "{}", unclosed.1);
}
