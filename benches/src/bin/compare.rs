//! Two commits, by ratio: builds the programs of both and runs them in turns on the
//! same inputs, so that a slow phase of the machine slows both.
//!
//! What is compared are whole commands: their arguments and exit codes change less
//! from commit to commit than anything inside, and they are what users run.
#![forbid(unsafe_code)]

use std::error::Error;
use std::ffi::OsString;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use benches::process::{Cost, run};
use benches::render::Table;
use benches::{median, text};
use clap::Parser;
use corpus::generate::{Recipe, Rule, Style, Violation};
use thiserror::Error;

/// Compares two commits: processor time and memory of the same commands, in turns.
///
/// Builds each commit in a git worktree under target/compare, which is kept for the
/// next time (`git worktree remove` ends it). Exit code 1 if the commits answer a
/// row differently.
#[derive(Debug, Parser)]
struct Arguments {
    /// The commit to compare with.
    base: String,
    /// The commit to compare.
    #[arg(default_value = "HEAD")]
    other: String,
    /// How often each command is measured, after once to warm up.
    #[arg(long, default_value_t = 7)]
    turns: u32,
    /// Small inputs, to see that all works.
    #[arg(long)]
    quick: bool,
}

/// Why nothing could be compared.
#[derive(Debug, Error)]
enum Failure {
    #[error("`{command}` failed: {said}")]
    Command { command: String, said: String },
}

fn main() -> ExitCode {
    match work(&Arguments::parse()) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}

fn work(arguments: &Arguments) -> Result<ExitCode, Box<dyn Error>> {
    let builds = [build(&arguments.base)?, build(&arguments.other)?];
    let directory = tempfile::tempdir()?;
    let rows = rows(directory.path(), arguments.quick)?;
    let mut table = Table::new([
        "row",
        "base, CPU s",
        "other, CPU s",
        "other / base",
        "least",
        "most",
        "memory",
    ]);
    let mut differ = Vec::new();
    for row in &rows {
        eprintln!("{}", row.name);
        let turn = || -> Result<[Cost; 2], Box<dyn Error>> {
            let run = |build: &Build| run(&build.program(row.program), &row.arguments);
            Ok([run(&builds[0])?, run(&builds[1])?])
        };
        let [base, other] = turn()?;
        if base.status != other.status {
            differ.push(format!("{}: {} and {}", row.name, base.status, other.status));
        }
        let turns = (0..arguments.turns.max(1)).map(|_| turn()).collect::<Result<Vec<_>, _>>()?;
        table.row(cells(row.name, &turns));
    }
    for build in &builds {
        println!("{}", build.commit);
    }
    print!("\n{}", table.markdown());
    for row in &differ {
        println!("\nexit codes differ: {row}");
    }
    Ok(if differ.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn cells(name: &str, turns: &[[Cost; 2]]) -> [String; 7] {
    let seconds = |cost: &Cost| cost.cpu.as_secs_f64();
    let ratios = || turns.iter().map(|[base, other]| seconds(other) / seconds(base).max(1e-9));
    let memory = turns.iter().map(|[a, b]| b.peak_memory as f64 / a.peak_memory.max(1) as f64);
    [
        name.to_owned(),
        format!("{:.3}", median(turns.iter().map(|[base, _]| seconds(base)))),
        format!("{:.3}", median(turns.iter().map(|[_, other]| seconds(other)))),
        format!("{:.3}", median(ratios())),
        format!("{:.3}", ratios().fold(f64::INFINITY, f64::min)),
        format!("{:.3}", ratios().fold(0.0, f64::max)),
        format!("{:.3}", median(memory)),
    ]
}

/// A command that both commits understand.
struct Row {
    name: &'static str,
    program: &'static str,
    arguments: Vec<OsString>,
}

fn rows(directory: &Path, quick: bool) -> Result<Vec<Row>, Box<dyn Error>> {
    let mut rows = Vec::new();
    let operations = if quick { 10_000 } else { 1_000_000 };
    let good = Recipe::new(8, 8, operations, Style::Differentiated, 2_010);
    let late = Violation::new(Rule::Inversion).after(0.97);
    let wide = Recipe::new(64, 64, operations / 8, Style::Differentiated, 2_011).with_pending(8);
    let simple = Recipe::new(20, 20, operations, Style::Simple { i: 7, j: 12 }, 2_022);
    for (name, recipe) in [
        ("check, linearizable", good.clone()),
        ("check, violation", good.with_violation(late)),
        ("check, 64 processes, pending", wide),
        ("check, simple", simple),
    ] {
        let path = directory.join(name);
        text::write(&recipe, File::create(&path)?)?;
        rows.push(Row {
            name,
            program: "snapshot-test",
            arguments: vec!["check".into(), path.into()],
        });
    }
    let larger = if quick { "3" } else { "4" };
    let raw = ["bowman", "-n", larger, "--pairs", "0,1", "--reductions", "dead,constant"];
    let reduced = ["bowman", "-n", if quick { "5" } else { "8" }];
    let versions = ["afek_unbounded", "-n", "2"];
    let toggles: [&str; 3] = ["attiya_welch", "-n", "2"];
    for (name, arguments) in [
        ("verify, bowman, dead and constant", &raw[..]),
        ("verify, bowman, all reductions", &reduced),
        ("verify, afek_unbounded", &versions),
        ("verify, attiya_welch", &toggles),
    ] {
        let arguments = ["check"].iter().chain(arguments).chain(&["--threads", "1"]);
        let arguments = arguments.map(OsString::from).collect();
        rows.push(Row { name, program: "snapshot-verify", arguments });
    }
    Ok(rows)
}

/// The programs of a commit.
struct Build {
    commit: String,
    target: PathBuf,
}

impl Build {
    fn program(&self, name: &str) -> OsString {
        self.target.join("release").join(name).into()
    }
}

fn build(commit: &str) -> Result<Build, Box<dyn Error>> {
    let revision = format!("{commit}^{{commit}}");
    let hash = said(Command::new("git").args(["rev-parse", "--verify", &revision]))?;
    let root = PathBuf::from(said(Command::new("git").args(["rev-parse", "--show-toplevel"]))?);
    let worktree = root.join("target/compare").join(&hash);
    if !worktree.join("Cargo.toml").is_file() {
        let mut add = Command::new("git");
        said(add.args(["worktree", "add", "--detach"]).arg(&worktree).arg(&hash))?;
    }
    let target = worktree.join("target");
    eprintln!("building {commit}, {hash}");
    let mut cargo = Command::new("cargo");
    cargo.args(["build", "--release", "--quiet", "-p", "snapshot-test", "-p", "snapshot-verify"]);
    said(cargo.current_dir(&worktree).env("CARGO_TARGET_DIR", &target))?;
    let subject = said(Command::new("git").args(["log", "-1", "--format=%h %s", &hash]))?;
    Ok(Build { commit: format!("{commit}: {subject}"), target })
}

/// What a command prints.
fn said(command: &mut Command) -> Result<String, Box<dyn Error>> {
    let output = command.output()?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned());
    }
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    Err(Failure::Command { command: format!("{command:?}"), said }.into())
}
