//! `snapshot-verify list`: the known algorithms and reductions.

use std::process::ExitCode;

use clap::Args;
use serde::Serialize;
use snapshot_verify::language::{Bug, Expectation};
use snapshot_verify::verify::TABLE;

use super::input::Input;
use super::{ReportFormat, print_in};

/// Lists the algorithms of the corpus, or of files: their bugs and expected verdicts.
#[derive(Debug, Args)]
pub struct List {
    /// Algorithms: names of the corpus, or files (default: all of the corpus).
    #[arg(value_name = "ALGORITHM|FILE")]
    inputs: Vec<String>,
    /// List the reductions instead.
    #[arg(long, conflicts_with = "inputs")]
    reductions: bool,
    /// Report as text, or as one JSON object per line.
    #[arg(long, value_enum, default_value = "human")]
    report: ReportFormat,
}

/// Output of `--report json` for an algorithm.
#[derive(Serialize)]
struct JsonAlgorithm<'a> {
    input: &'a str,
    algorithm: &'a str,
    source: Option<&'a str>,
    bugs: Vec<JsonBug<'a>>,
    expectations: Vec<String>,
}

#[derive(Serialize)]
struct JsonBug<'a> {
    bug: &'a str,
    description: &'a str,
}

#[derive(Serialize)]
struct JsonReduction {
    reduction: &'static str,
    standard: &'static str,
    default: bool,
    help: &'static str,
}

impl List {
    pub fn run(self) -> ExitCode {
        if self.reductions {
            return print_in(self.report, &reductions(self.report));
        }
        let mut text = String::new();
        for name in super::input::names(&self.inputs) {
            match Input::read(&name).and_then(|input| list(&input, self.report)) {
                Ok(entry) => text.push_str(&entry),
                Err(code) => return code,
            }
        }
        print_in(self.report, &text)
    }
}

fn list<'a>(input: &'a Input, report: ReportFormat) -> Result<String, ExitCode> {
    let correct = input.variant(None)?.program;
    let bugs = input.algorithm.bugs();
    let expectations = input.algorithm.expectations();
    if report == ReportFormat::Json {
        let bug = |bug: &'a Bug| JsonBug { bug: &bug.name.text, description: &bug.description };
        return Ok(super::json(&JsonAlgorithm {
            input: &input.name,
            algorithm: &correct.name,
            source: correct.citation.as_deref(),
            bugs: bugs.iter().map(bug).collect(),
            expectations: expectations.iter().map(ToString::to_string).collect(),
        }));
    }
    let expected = |bug: Option<&str>| {
        let of = |one: &&Expectation| one.bug.as_ref().map(|name| name.text.as_str()) == bug;
        let lines = expectations.iter().filter(of).map(|one| format!("    {one}\n"));
        lines.collect::<String>()
    };
    let mut text = format!("{}\n", input.name);
    if let Some(citation) = &correct.citation {
        text.push_str(&format!("  {citation}\n"));
    }
    text.push_str(&expected(None));
    for bug in bugs {
        text.push_str(&format!("  bug {}: {}\n", bug.name.text, bug.description));
        text.push_str(&expected(Some(&bug.name.text)));
    }
    Ok(text)
}

fn reductions(report: ReportFormat) -> String {
    let line = |entry: &snapshot_verify::verify::Entry| match report {
        ReportFormat::Human => {
            let default = if entry.default { "" } else { " (off unless named)" };
            format!("{:<10} {} ({}){default}\n", entry.name, entry.help, entry.standard)
        }
        ReportFormat::Json => super::json(&JsonReduction {
            reduction: entry.name,
            standard: entry.standard,
            default: entry.default,
            help: entry.help,
        }),
    };
    TABLE.iter().map(line).collect()
}
