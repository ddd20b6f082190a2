//! The published tables with ours beside them, and the peers: measures, records, and makes the
//! page from the records.
#![forbid(unsafe_code)]

use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;

use benches::method::{self, Method};
use benches::model::stateright;
use benches::render;
use benches::tables::published::{self, Half};
use benches::tables::verification::{self, Table};
use benches::tables::{
    Measuring, Options, bowman, every, growth, hard, many_writers, refinement, synchronisation,
};
use clap::{Args, Parser, Subcommand};

/// Measures tables, and renders what was measured.
///
/// Exit code 1 if an answer was wrong.
#[derive(Debug, Parser)]
struct Command {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// DISC 2022, Table 1: bugs, by the largest bound on operations.
    #[command(name = "1")]
    Table1(Options),
    /// DISC 2022, Table 2: algorithms, by the largest bound on operations.
    #[command(name = "2")]
    Table2(Options),
    /// DISC 2022, Table 3: linearizable histories.
    #[command(name = "3")]
    Table3(Histories),
    /// DISC 2022, Table 4: non-linearizable histories.
    #[command(name = "4")]
    Table4(Histories),
    /// The algorithms for every n: proofs, certificates, their checks.
    EveryN(Options),
    /// The hard corpus of histories.
    Hard(Options),
    /// Histories in which any process may update any segment.
    ManyWriters(ManyWriters),
    /// FM 2009, Table 1: a register, a stack, queues and SNZI, by refinement.
    Refinement(Options),
    /// Lawrence and Lowe, Figures 14 to 16: how long mistakes in synchronisation take to find.
    Synchronisation(Options),
    /// Bowman against Spin and stateright, in turns.
    Bowman(Bowman),
    /// All that has peers, one after the other: 3, 4, hard, bowman.
    Peers(Bowman),
    /// Time of checks of histories against their length.
    Growth(Options),
    /// Makes RESULTS.md from the records.
    Render(Render),
    /// Lets a method judge a history: what is measured, in a process of its own.
    #[command(hide = true)]
    Judge(Judge),
    /// Executes an object with a mistake until that shows.
    #[command(hide = true)]
    Meet {
        /// The object.
        object: String,
        /// What is to show, by the name of a method.
        fault: String,
        /// Of the schedules.
        seed: u64,
    },
    /// Lets stateright explore bowman.
    #[command(hide = true)]
    Explore {
        /// n.
        processes: usize,
    },
}

#[derive(Args, Clone, Debug)]
struct Histories {
    #[command(flatten)]
    options: Options,
    /// Instead of generated histories, recordings of the published corpus: files named
    /// `[non_]linearizable-<processes>-<operations>-<index>`.
    #[arg(long, value_name = "DIR", env = "SNAPSHOT_RECORDINGS")]
    recordings: Option<PathBuf>,
}

#[derive(Args, Clone, Debug)]
struct ManyWriters {
    #[command(flatten)]
    options: Options,
    /// Recordings of a server as well, `gets.txt` and `mget.txt` (docs/many-writers.md).
    #[arg(long, value_name = "DIR")]
    server: Option<PathBuf>,
}

#[derive(Args, Clone, Debug)]
struct Bowman {
    #[command(flatten)]
    options: Options,
    /// Numbers of processes, apart by commas [default: 4,5; 3 if --quick].
    #[arg(short = 'n', long, value_delimiter = ',', value_parser = clap::value_parser!(u64).range(3..=6))]
    processes: Vec<u64>,
    /// How often each is measured.
    #[arg(long, default_value_t = 1)]
    rounds: u32,
}

#[derive(Args, Clone, Debug)]
struct Render {
    /// Where records are.
    #[arg(long, value_name = "DIR", default_value = "benches/record")]
    record: PathBuf,
    /// The page.
    #[arg(long, value_name = "FILE", default_value = "benches/RESULTS.md")]
    output: PathBuf,
}

#[derive(Args, Clone, Debug)]
struct Judge {
    /// The method's name.
    method: String,
    /// A recording.
    #[arg(long)]
    recording: PathBuf,
}

fn main() -> ExitCode {
    match work(Command::parse().what) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}

fn work(what: What) -> Result<ExitCode, Box<dyn Error>> {
    match what {
        What::Table1(options) => verify(&options, Table::Bugs),
        What::Table2(options) => verify(&options, Table::Algorithms),
        What::Table3(histories) => check(&histories, Half::Linearizable),
        What::Table4(histories) => check(&histories, Half::NonLinearizable),
        What::EveryN(options) => {
            let mut measuring = Measuring::begin(&options, every::TABLE, every::PATIENCE)?;
            every::measure(&mut measuring, options.quick)?;
            Ok(end(&measuring, &[]))
        }
        What::Hard(options) => check_hard(&options),
        What::ManyWriters(ManyWriters { options, server }) => {
            let mut measuring =
                Measuring::begin(&options, many_writers::TABLE, many_writers::PATIENCE)?;
            if let Some(directory) = server {
                many_writers::measure_server(&mut measuring, &directory)?;
            }
            many_writers::measure(&mut measuring, options.quick)?;
            Ok(end(&measuring, &[]))
        }
        What::Refinement(options) => {
            let mut measuring =
                Measuring::begin(&options, refinement::TABLE, refinement::PATIENCE)?;
            refinement::measure(&mut measuring, options.quick)?;
            Ok(end(&measuring, &[]))
        }
        What::Synchronisation(options) => {
            let mut measuring =
                Measuring::begin(&options, synchronisation::TABLE, synchronisation::PATIENCE)?;
            synchronisation::measure(&mut measuring, options.quick)?;
            Ok(end(&measuring, &[]))
        }
        What::Meet { object, fault, seed } => {
            println!("{}", synchronisation::meet(&object, &fault, seed)?);
            Ok(ExitCode::SUCCESS)
        }
        What::Bowman(arguments) => explore(&arguments),
        What::Peers(arguments) => {
            let options = arguments.options.clone();
            let histories = Histories { options: options.clone(), recordings: None };
            let codes = [
                check(&histories, Half::Linearizable)?,
                check(&histories, Half::NonLinearizable)?,
                check_hard(&options)?,
                explore(&arguments)?,
            ];
            let failed = codes.into_iter().find(|code| *code != ExitCode::SUCCESS);
            Ok(failed.unwrap_or(ExitCode::SUCCESS))
        }
        What::Growth(options) => {
            let mut measuring = Measuring::begin(&options, growth::TABLE, growth::PATIENCE)?;
            growth::measure(&mut measuring, options.quick)?;
            Ok(end(&measuring, &[]))
        }
        What::Render(arguments) => {
            render::render(&arguments.record, &arguments.output)?;
            Ok(ExitCode::SUCCESS)
        }
        What::Judge(judge) => answer(&judge),
        What::Explore { processes } => {
            match stateright::explore(processes)? {
                Some(counts) => println!("{} {}", counts.states, counts.transitions),
                None => println!("violation"),
            }
            Ok(ExitCode::SUCCESS)
        }
    }
}

fn verify(options: &Options, table: Table) -> Result<ExitCode, Box<dyn Error>> {
    let mut measuring = Measuring::begin(options, table.name(), verification::PATIENCE)?;
    verification::measure(&mut measuring, table, options.quick)?;
    Ok(end(&measuring, &[]))
}

fn check(histories: &Histories, half: Half) -> Result<ExitCode, Box<dyn Error>> {
    let Histories { options, recordings } = histories;
    let mut measuring = Measuring::begin(options, half.table(), published::PATIENCE)?;
    match recordings {
        None => published::measure(&mut measuring, half, options.quick)?,
        Some(recordings) => published::measure_recordings(&mut measuring, half, recordings)?,
    }
    Ok(end(&measuring, &[]))
}

fn check_hard(options: &Options) -> Result<ExitCode, Box<dyn Error>> {
    let mut measuring = Measuring::begin(options, hard::TABLE, hard::PATIENCE)?;
    hard::measure(&mut measuring, options.quick)?;
    Ok(end(&measuring, &[]))
}

fn explore(arguments: &Bowman) -> Result<ExitCode, Box<dyn Error>> {
    let Bowman { options, processes, rounds } = arguments;
    let default = if options.quick { vec![3] } else { vec![4, 5] };
    let sizes: Vec<usize> = match processes.is_empty() {
        true => default,
        false => processes.iter().map(|n| *n as usize).collect(),
    };
    let mut measuring = Measuring::begin(options, bowman::TABLE, bowman::PATIENCE)?;
    bowman::measure(&mut measuring, &sizes, *rounds)?;
    Ok(end(&measuring, &bowman::miscounted(&measuring)))
}

/// Says what was wrong.
fn end(measuring: &Measuring, miscounted: &[String]) -> ExitCode {
    for record in measuring.wrong() {
        let (method, case) = (&record.method, &record.case);
        eprintln!("WRONG: {method} on {case} says {:?}", record.outcome);
    }
    for told in miscounted {
        eprintln!("MISCOUNTED: {told}");
    }
    match measuring.wrong().is_empty() && miscounted.is_empty() {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    }
}

fn answer(judge: &Judge) -> Result<ExitCode, Box<dyn Error>> {
    let Some(chosen) = Method::named(&judge.method) else {
        let names: Vec<&str> = method::METHODS.iter().map(|method| method.name).collect();
        return Err(format!("no method `{}`; there are {}", judge.method, names.join(", ")).into());
    };
    let answer = chosen.judge(&method::read(&judge.recording)?);
    println!("{}", serde_json::to_string(&answer)?);
    Ok(ExitCode::SUCCESS)
}
