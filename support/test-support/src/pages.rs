//! The pages for users and the command lines in them, to check that these exist.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use super::Program;

/// A piece of code on a page: a line of a block, or text between backticks.
#[derive(Clone, Debug)]
pub struct Code {
    /// `docs/kit.md:12`
    pub place: String,
    /// Text, on one line.
    pub text: String,
}

impl Code {
    /// Returns the commands in it: the words of each command that a shell would start, without the
    /// prompt.
    fn commands(&self) -> Vec<Vec<&str>> {
        let words = self.text.split_whitespace().skip_while(|word| *word == "$");
        let words = words.take_while(|word| *word != "#").collect::<Vec<_>>();
        let parts = words.split(|word| matches!(*word, "|" | "||" | "&&" | ";" | ">" | "\\"));
        parts.filter(|part| !part.is_empty()).map(<[&str]>::to_vec).collect()
    }

    /// Returns the long options in it, of any command: `--html` of `check --html=FILE`.
    pub fn options(&self) -> Vec<&str> {
        self.text.split_whitespace().filter_map(option).collect()
    }
}

/// Returns `--html` of `[--html=FILE]`: a long option has two hyphens and a letter.
fn option(word: &str) -> Option<&str> {
    let word = word.trim_start_matches(['[', '(']);
    let name = word.strip_prefix("--")?;
    if !name.starts_with(|first: char| first.is_ascii_lowercase()) {
        return None;
    }
    let is_part = |part: char| part.is_ascii_alphanumeric() || part == '-';
    let end = name.find(|part| !is_part(part)).unwrap_or(name.len());
    Some(&word[..2 + end])
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn markdown(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder of pages") {
        let path = entry.expect("a folder can be listed").path();
        if path.is_dir() {
            markdown(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "md") {
            found.push(path);
        }
    }
}

/// Returns all code in the README, in `docs` and on the pages of other crates.
///
/// # Panics
/// If a page cannot be read.
pub fn code() -> Vec<Code> {
    let root = root();
    let mut pages = [
        "README.md",
        "benches/README.md",
        "clients/python/README.md",
        "fuzz/README.md",
        "lineup/subjects/README.md",
    ]
    .map(|page| root.join(page))
    .to_vec();
    markdown(&root.join("docs"), &mut pages);
    let mut found = Vec::new();
    for page in pages {
        let text = fs::read_to_string(&page).expect("a page can be read");
        let name = page.strip_prefix(&root).expect("it lies below").display().to_string();
        found.extend(code_of(&name, &text));
    }
    found
}

/// Returns the code of one page.
fn code_of(page: &str, text: &str) -> Vec<Code> {
    let mut found = Vec::new();
    // Text between blocks, with its lines kept apart; the end of a paragraph ends a span.
    let mut open: Option<Code> = None;
    let mut is_block = false;
    for (number, line) in text.lines().enumerate() {
        let place = format!("{page}:{}", number + 1);
        if line.trim_start().starts_with("```") {
            is_block = !is_block;
            open = None;
        } else if is_block {
            match found.last_mut() {
                Some(Code { text, .. }) if text.ends_with('\\') => {
                    text.pop();
                    text.push_str(line.trim());
                }
                _ => found.push(Code { place, text: line.trim().to_owned() }),
            }
        } else if line.trim().is_empty() {
            open = None;
        } else {
            for (index, part) in line.split('`').enumerate() {
                if index > 0 {
                    match open.take() {
                        Some(code) => found.push(code),
                        None => open = Some(Code { place: place.clone(), text: String::new() }),
                    }
                }
                if let Some(code) = &mut open {
                    code.text.push_str(part);
                }
            }
            if let Some(code) = &mut open {
                code.text.push(' ');
            }
        }
    }
    found
}

/// Returns the long options in a `--help`, aliases included.
fn offered(program: Program, subcommand: Option<&str>) -> BTreeSet<String> {
    let arguments: Vec<&str> = subcommand.into_iter().chain(["--help"]).collect();
    let (code, help) = program.run(&arguments, "");
    assert_eq!(code, 0, "{help}");
    let words = help.split([' ', '\n', ',', ']', '[', '=']);
    words.filter(|word| word.starts_with("--")).map(str::to_owned).collect()
}

/// Returns the number of command lines of this program on the pages, and the subcommands and
/// options in them that do not exist, by place.
///
/// # Panics
/// If a page cannot be read, or the program has no `--help`.
pub fn unknown(program: Program, name: &str) -> (usize, Vec<String>) {
    let (_, help) = program.run(&["--help"], "");
    let (_, listed) = help.split_once("Commands:\n").expect("it has subcommands");
    let listed = listed.split("\n\n").next().unwrap_or_default();
    let listed = listed.lines().filter_map(|line| line.strip_prefix("  "));
    let subcommands: BTreeSet<&str> = listed
        .filter(|line| !line.starts_with(' '))
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    assert!(subcommands.len() > 2, "{help}");
    let mut options: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    let (mut count, mut wrong) = (0, Vec::new());
    for code in code() {
        for command in code.commands() {
            let Some(arguments) = arguments(&command, name) else { continue };
            let Some(first) = arguments.first().filter(|first| !first.starts_with('-')) else {
                continue;
            };
            count += 1;
            for subcommand in first.split('|') {
                let Some(known) = subcommands.get(subcommand) else {
                    wrong.push(format!("{}: {name} has no `{subcommand}`", code.place));
                    continue;
                };
                let offered = options.entry(known).or_insert_with(|| offered(program, Some(known)));
                for option in arguments.iter().filter_map(|word| option(word)) {
                    if !offered.contains(option) {
                        wrong.push(format!("{}: {name} {known} has no {option}", code.place));
                    }
                }
            }
        }
    }
    (count, wrong)
}

/// Returns the arguments of a command that starts this program, by its name or by `cargo run -p
/// NAME --`.
fn arguments<'a>(command: &[&'a str], name: &str) -> Option<Vec<&'a str>> {
    if command.first() == Some(&name) {
        return Some(command[1..].to_vec());
    }
    let is_run = command.starts_with(&["cargo", "run"])
        && command.windows(2).any(|pair| pair == ["-p", name])
        && !command.contains(&"--example");
    let begin = command.iter().position(|word| *word == "--")?;
    is_run.then(|| command[begin + 1..].to_vec())
}

/// Returns true if one of these sources declares a long option: as a field of arguments, as a name
/// in a string, or for `argparse`.
pub fn declares(option: &str, sources: &[String]) -> bool {
    let name = option.trim_start_matches('-');
    let field = format!(" {}: ", name.replace('-', "_"));
    let (text, argparse) = (format!("\"{name}\""), format!("(\"{option}\""));
    let forms = [&field, &text, &argparse];
    sources.iter().any(|source| forms.iter().any(|form| source.contains(*form)))
}

/// Returns the sources of all command lines in the workspace.
///
/// # Panics
/// If a source cannot be read.
pub fn command_line_sources() -> Vec<String> {
    let mut files = Vec::new();
    for folder in ["snapshot-test", "snapshot-verify", "support/io", "lineup", "benches"] {
        rust(&root().join(folder).join("src"), &mut files);
    }
    rust(&root().join("lineup/cargo/src"), &mut files);
    rust(&root().join("snapshot-kit/examples"), &mut files);
    files.push(root().join("benches/tables/__main__.py"));
    let is_command_line =
        |source: &String| ["#[arg(", "argparse"].iter().any(|s| source.contains(s));
    let read = |file: PathBuf| fs::read_to_string(file).expect("a source can be read");
    files.into_iter().map(read).filter(is_command_line).collect()
}

fn rust(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder of sources") {
        let path = entry.expect("a folder can be listed").path();
        if path.is_dir() {
            rust(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}
