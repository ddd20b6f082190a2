//! What only a whole process shows: the checker as a command against `wc -l`
//! on the same file, and the memory of the monitor on ever longer streams.
//!
//! Both commands run in turn, after one run each that warms the page cache; a
//! ratio is that of one turn, so a slow phase of the machine slows both. That
//! the command does check is tested before: it must refuse a recording with a
//! violation.
//!
//! This process generates its inputs as streams and stays small, since a child
//! cannot be measured smaller than its parent: see [`benches::process`].
#![forbid(unsafe_code)]

use std::error::Error;
use std::ffi::OsString;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use benches::process::{Cost, run};
use benches::{Digest, Outcome, Size, Stream, Target, conclude, median, text};
use clap::{Parser, Subcommand};
use corpus::generate::{Recipe, Rule, Violation};
use snapshot_core::monitor::{Judgement, Monitor};
use thiserror::Error;

/// Measures whole processes; `SNAPSHOT_BENCH_SIZE=full` for the full size.
#[derive(Debug, Parser)]
struct Arguments {
    /// The checker; by default the one built beside this program.
    #[arg(long)]
    snapshot_test: Option<PathBuf>,
    /// How often each command is measured.
    #[arg(long, default_value_t = 7)]
    turns: u32,
    #[command(subcommand)]
    only: Option<Only>,
}

/// One part alone; both if none is given.
#[derive(Clone, Copy, Debug, Subcommand)]
enum Only {
    /// The checker against `wc -l`.
    Command,
    /// The monitor's memory.
    Memory,
    /// A monitor over this many events: the child whose memory is measured.
    Monitor {
        /// Length of the stream.
        events: u64,
    },
}

/// Why nothing could be measured.
#[derive(Debug, Error)]
enum Failure {
    #[error(
        "there is no checker at {path}; build it with `cargo build --release -p snapshot-test`, \
         or name it with --snapshot-test"
    )]
    NoChecker { path: String },
    #[error("{command} ended with {status} on {what}, where its exit code must be {code}")]
    Answer { command: String, status: String, what: &'static str, code: i32 },
    #[error("the monitor judged a linearizable stream: {judgement:?}")]
    Judgement { judgement: Judgement },
}

fn main() -> ExitCode {
    conclude(work(&Arguments::parse()))
}

fn work(arguments: &Arguments) -> Result<Vec<Outcome>, Box<dyn Error>> {
    let size = Size::from_environment()?;
    let mut outcomes = Vec::new();
    if let Some(Only::Monitor { events }) = arguments.only {
        println!("monitor: {events} events, digest {}", monitor(events)?);
        return Ok(outcomes);
    }
    if !matches!(arguments.only, Some(Only::Memory)) {
        outcomes.extend(command(size, arguments)?);
    }
    if !matches!(arguments.only, Some(Only::Command)) {
        outcomes.extend(memory(size)?);
    }
    Ok(outcomes)
}

/// Exit code of a checker that found nothing wrong.
const LINEARIZABLE: i32 = 0;

/// Exit code of a checker that found a violation.
const VIOLATION: i32 = 1;

/// The most by which `snapshot-test check` may be slower than `wc -l`.
const SLOWER: f64 = 10.0;

/// The most memory that it may take, in MiB.
const MEMORY: f64 = 64.0;

fn command(size: Size, arguments: &Arguments) -> Result<Vec<Outcome>, Box<dyn Error>> {
    let checker = checker(arguments)?;
    let directory = tempfile::tempdir()?;
    let check = |file: &Path| run(&checker, &["check".into(), file.into()]);

    let bad = Stream::Differentiated.recipe(Size::Smoke.events());
    let bad = bad.with_violation(Violation::new(Rule::Inversion));
    let bad = recording(directory.path(), "bad", &bad)?;
    expect(VIOLATION, check(&bad)?, &checker, "a recording with a violation")?;

    let recipe = Stream::Differentiated.recipe(size.events());
    let file = recording(directory.path(), "good", &recipe)?;
    let bytes = file.metadata()?.len();
    let (seed, events) = (recipe.seed, size.events());
    println!("command: size {size}, seed {seed}, {events} events, {bytes} bytes of text");
    let turn = || -> Result<(Cost, Cost), Box<dyn Error>> {
        let count = run(&"wc".into(), &["-l".into(), (&file).into()])?;
        let check = expect(LINEARIZABLE, check(&file)?, &checker, "a linearizable recording")?;
        Ok((count, check))
    };
    turn()?;
    let turns = (0..arguments.turns.max(1)).map(|_| turn()).collect::<Result<Vec<_>, _>>()?;

    let seconds = |cost: &Cost| cost.time.as_secs_f64();
    let counted = median(turns.iter().map(|(count, _)| seconds(count)));
    let checked = median(turns.iter().map(|(_, check)| seconds(check)));
    let ratio = median(turns.iter().map(|(count, check)| seconds(check) / seconds(count)));
    let peak = turns.iter().map(|(_, check)| check.peak_memory).max().unwrap_or(0);
    let rate = events as f64 / checked / 1e6;
    let full = size == Size::Full;
    Ok(vec![
        outcome("wc -l", counted * 1e3, "ms", Target::Shown, false),
        outcome("snapshot-test check", checked * 1e3, "ms", Target::Shown, false),
        outcome("snapshot-test check", rate, "M events/s", Target::Shown, false),
        outcome("check / wc -l", ratio, "times", Target::AtMost(SLOWER), full),
        outcome("check, peak memory", mebibytes(peak), "MiB", Target::AtMost(MEMORY), true),
    ])
}

fn checker(arguments: &Arguments) -> Result<OsString, Box<dyn Error>> {
    let beside = || -> Result<PathBuf, std::io::Error> {
        let name = format!("snapshot-test{}", std::env::consts::EXE_SUFFIX);
        Ok(std::env::current_exe()?.with_file_name(name))
    };
    let path = arguments.snapshot_test.clone().map_or_else(beside, Ok)?;
    if !path.is_file() {
        return Err(Failure::NoChecker { path: path.display().to_string() }.into());
    }
    Ok(path.into())
}

fn recording(directory: &Path, name: &str, recipe: &Recipe) -> Result<PathBuf, Box<dyn Error>> {
    let path = directory.join(name);
    text::write(recipe, File::create(&path)?)?;
    Ok(path)
}

/// The cost of a command, if it ended as it must.
fn expect(code: i32, cost: Cost, command: &OsString, what: &'static str) -> Result<Cost, Failure> {
    if cost.status.code() == Some(code) {
        return Ok(cost);
    }
    let command = command.to_string_lossy().into_owned();
    Err(Failure::Answer { command, status: cost.status.to_string(), what, code })
}

/// How much more memory a stream of 100 times the length may take: nothing but
/// what the allocator and the machine vary by.
const FLAT: f64 = 1.25;

fn memory(size: Size) -> Result<Vec<Outcome>, Box<dyn Error>> {
    let lengths = match size {
        Size::Smoke => [10_000, 100_000, 1_000_000],
        Size::Full => [1_000_000, 10_000_000, 100_000_000],
    };
    let own = std::env::current_exe()?.into_os_string();
    let seed = Stream::Differentiated.seed();
    let mut outcomes = Vec::new();
    let mut peaks = Vec::new();
    for events in lengths {
        println!("monitor: seed {seed}, {events} events");
        let cost = run(&own, &["monitor".into(), events.to_string().into()])?;
        let cost = expect(LINEARIZABLE, cost, &own, "a linearizable stream")?;
        let name = format!("monitor of {events} events, peak memory");
        outcomes.push(outcome(&name, mebibytes(cost.peak_memory), "MiB", Target::Shown, false));
        peaks.push(cost.peak_memory as f64);
    }
    let growth = peaks[2] / peaks[0];
    outcomes.push(outcome("monitor, memory", growth, "times", Target::AtMost(FLAT), true));
    Ok(outcomes)
}

/// Monitors a stream as it is generated; a digest of what came out.
fn monitor(events: u64) -> Result<Digest, Box<dyn Error>> {
    let recipe = Stream::Differentiated.recipe(events);
    let mut monitor = Monitor::new(recipe.declaration())?;
    for event in recipe.events()? {
        monitor.observe(&event.as_event())?;
    }
    match monitor.judgement() {
        Judgement::Linearizable => {
            Ok(Digest::EMPTY.number(monitor.events() as u64).number(monitor.operations()))
        }
        judgement => Err(Failure::Judgement { judgement }.into()),
    }
}

fn mebibytes(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 20)
}

fn outcome(
    what: &str,
    measured: f64,
    unit: &'static str,
    target: Target,
    is_judged: bool,
) -> Outcome {
    Outcome { what: what.to_owned(), measured, unit, target, is_judged }
}
