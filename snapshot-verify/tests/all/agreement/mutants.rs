//! Mutants of algorithms: texts with one change, most of them wrong.

use std::collections::BTreeSet;

use snapshot_verify::language::parse;
use snapshot_verify::program::Program;

pub struct Mutant {
    /// Origin and change.
    pub name: String,
    pub program: Program,
    /// The parsed text, for mutants of mutants and for reports.
    #[allow(dead_code, reason = "not all tests that share this file tell texts")]
    pub text: String,
}

/// Returns all mutants of a text that are valid programs, each different from the others.
pub fn mutants(name: &str, text: &str) -> Vec<Mutant> {
    // Bugs and expectations stand at the end, and would no longer fit.
    let lines: Vec<&str> = text
        .lines()
        .take_while(|line| !line.starts_with("bug ") && !line.starts_with("expect "))
        .collect();
    let mut seen = BTreeSet::from([lines.join("\n")]);
    let mut found = Vec::new();
    for (what, changed) in changes(&lines) {
        let text = changed.join("\n");
        if !seen.insert(text.clone()) {
            continue;
        }
        if let Ok(program) = parse(name, &text).and_then(|algorithm| algorithm.program(None)) {
            found.push(Mutant { name: format!("{name}: {what}"), program, text });
        }
    }
    found
}

fn changes(lines: &[&str]) -> Vec<(String, Vec<String>)> {
    let mut all = Vec::new();
    let mut change = |at: usize, what: &str, with: Vec<String>, taken: usize| {
        let mut changed: Vec<String> = lines.iter().map(|&line| line.to_owned()).collect();
        changed.splice(at..at + taken, with);
        all.push((format!("line {}: {what}", at + 1), changed));
    };
    for (at, &line) in lines.iter().enumerate() {
        let indent = &line[..line.len() - line.trim_start().len()];
        if indent.is_empty() || line.trim_start().starts_with('#') {
            continue;
        }
        change(at, "dropped", Vec::new(), 1);
        change(at, "skipped", vec![format!("{indent}skip")], 1);
        if let Some(next) = lines.get(at + 1) {
            change(at, "swapped with the next", vec![(*next).to_owned(), line.to_owned()], 2);
        }
        for (keyword, end) in [("if ", ":"), ("until ", ""), ("while ", ":")] {
            if let Some(rest) = line.trim_start().strip_prefix(keyword)
                && let Some((condition, tail)) =
                    if end.is_empty() { Some((rest, "")) } else { rest.split_once(':') }
            {
                let negated = format!("{indent}{keyword}not ({condition}){end}{tail}");
                change(at, "negated", vec![negated], 1);
            }
        }
        for (from, to) in [
            ("[me]", "[0]"),
            ("[me]", "[1]"),
            ("[k]", "[me]"),
            ("[s]", "[me]"),
            ("b[", "a["),
            ("a[", "b["),
            (" != ", " = "),
            (" = ", " != "),
            (" and ", " or "),
            (" or ", " and "),
            ("not ", ""),
            ("true", "false"),
            ("none", "me"),
            (":= me", ":= none"),
            ("fresh", "seq"),
            ("phase: 2", "phase: 3"),
            ("phase: 3", "phase: 1"),
            ("= 1", "= 2"),
            ("= 2", "= 1"),
            ("= 3", "= 2"),
            (" + 1", ""),
            ("proc_a", "proc_b"),
            ("high", "low"),
            ("processes:", "processes except me:"),
        ] {
            if let Some(position) = line.find(from) {
                let changed =
                    format!("{}{to}{}", &line[..position], &line[position + from.len()..]);
                change(at, &format!("`{from}` became `{to}`"), vec![changed], 1);
            }
        }
        if let Some(position) = line.find("LL(") {
            let changed =
                format!("{}{}", &line[..position], line[position + 3..].replacen(')', "", 1));
            change(at, "plain read", vec![changed], 1);
        }
        if let Some(inner) =
            line.trim_start().strip_prefix("SC(").and_then(|rest| rest.strip_suffix(')'))
            && let Some((cell, value)) = inner.split_once(", ")
        {
            change(at, "plain write", vec![format!("{indent}{cell} := {value}")], 1);
        }
    }
    all
}
