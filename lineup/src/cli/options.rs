//! Commands and their options.

use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use clap::{Args, Parser, Subcommand};
use snapshot_io::quantity;

use crate::check::Check;
use crate::subject::Subject;

/// Checks concurrent objects under every schedule, without a specification (Line-Up).
///
/// Exit codes: 0 passed, 1 failed, 2 bad arguments or files, 3 unknown.
#[derive(Debug, Parser)]
#[command(version)]
pub(super) struct Arguments {
    #[command(subcommand)]
    pub(super) command: Command,
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Lists the subjects and their operations.
    List,
    /// Checks one test.
    Run {
        /// The subject.
        subject: String,
        /// The test: columns between bars, as in `push(1) pop | pop`; `init:` and `final:`
        /// before what is executed before and after.
        #[arg(long, short)]
        test: String,
        /// Writes the serial histories to a file.
        #[arg(long, value_name = "FILE")]
        observations: Option<PathBuf>,
        /// Fails if the serial histories are not those of an earlier file.
        #[arg(long, value_name = "FILE")]
        baseline: Option<PathBuf>,
        #[command(flatten)]
        failing: Failing,
        #[command(flatten)]
        bounds: Bounds,
    },
    /// Checks random tests.
    Random {
        /// The subjects; all, if none is named.
        subjects: Vec<String>,
        /// Operations per thread x threads.
        #[arg(long, default_value = "3x3")]
        shape: ShapeArgument,
        /// Number of tests.
        #[arg(long, default_value_t = 100)]
        samples: usize,
        /// The seed they are drawn with.
        #[arg(long, default_value_t = 0)]
        seed: u64,
        #[command(flatten)]
        failing: Failing,
        #[command(flatten)]
        bounds: Bounds,
    },
    /// Checks all n x n tests over the first n invocations, for n = 1, 2, ...
    Auto {
        /// The subjects; all, if none is named.
        subjects: Vec<String>,
        /// The largest n.
        #[arg(long, default_value_t = 2)]
        up_to: usize,
        #[command(flatten)]
        failing: Failing,
        #[command(flatten)]
        bounds: Bounds,
    },
    /// Executes the schedule of a failure again.
    Replay {
        /// The file that `--save` wrote.
        file: PathBuf,
        #[command(flatten)]
        bounds: Bounds,
    },
    /// Prints the serial histories of a file.
    Show {
        /// The file that `--observations` wrote.
        file: PathBuf,
    },
    /// Prints the paper's Table 2 for subjects: random tests, all of them run.
    Table {
        /// The subjects; all, if none is named.
        subjects: Vec<String>,
        /// Operations per thread x threads.
        #[arg(long, default_value = "3x3")]
        shape: ShapeArgument,
        /// Number of tests.
        #[arg(long, default_value_t = 100)]
        samples: usize,
        /// The seed they are drawn with.
        #[arg(long, default_value_t = 0)]
        seed: u64,
        #[command(flatten)]
        bounds: Bounds,
    },
}

/// What to do with failures.
#[derive(Args, Clone, Debug)]
pub(super) struct Failing {
    /// Reports failing tests as they are.
    #[arg(long)]
    pub(super) no_minimise: bool,
    /// Writes the failure to a file, for `replay`.
    #[arg(long, value_name = "FILE")]
    pub(super) save: Option<PathBuf>,
}

/// How far a check goes.
#[derive(Args, Clone, Debug)]
pub(super) struct Bounds {
    /// The largest number of preemptions, or `all`.
    #[arg(long, default_value = "2")]
    preemptions: Most,
    /// The largest number of concurrent executions per test.
    #[arg(long)]
    executions: Option<u64>,
    /// A switch between two operations of a thread is no preemption.
    #[arg(long)]
    free_boundaries: bool,
    /// A serial execution that gets stuck is a failure.
    #[arg(long)]
    total: bool,
    /// Seconds per test.
    #[arg(long, value_name = "SECONDS", value_parser = quantity::seconds)]
    time: Option<Duration>,
    /// Steps without call or return after which an execution is given up.
    #[arg(long, default_value_t = 2_000)]
    patience: u32,
    /// Seconds without a step after which a call counts as blocked.
    #[arg(long, default_value = "5", value_name = "SECONDS", value_parser = quantity::seconds)]
    silence: Duration,
}

impl Bounds {
    pub(super) fn check<S: Subject>(&self, several: bool) -> Check<S> {
        let executions = self.executions.or(several.then_some(20_000));
        Check::new()
            .preemptions(self.preemptions.0)
            .executions(executions)
            .free_boundaries(self.free_boundaries)
            .total(self.total)
            .time(self.time)
            .patience(self.patience)
            .silence(self.silence)
            .cancelled_by(super::commands::interrupted())
    }

    /// The bound, as the table shows it.
    pub(super) fn preemptions(&self) -> String {
        self.preemptions.0.map_or_else(|| "all".to_owned(), |most| most.to_string())
    }
}

/// A number, or `all`.
#[derive(Clone, Copy, Debug)]
struct Most(Option<u32>);

impl FromStr for Most {
    type Err = std::num::ParseIntError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text == "all" { Ok(Self(None)) } else { Ok(Self(Some(text.parse()?))) }
    }
}

/// Operations per thread and threads.
#[derive(Clone, Copy, Debug)]
pub(super) struct ShapeArgument(pub(super) usize, pub(super) usize);

/// A text that is no shape.
#[derive(Debug, thiserror::Error)]
#[error("expected operations per thread and threads, as in `3x3`, at most 64 operations in all")]
pub(super) struct NoShape;

impl FromStr for ShapeArgument {
    type Err = NoShape;

    fn from_str(text: &str) -> Result<Self, NoShape> {
        let (rows, columns) = text.split_once('x').ok_or(NoShape)?;
        let number = |text: &str| text.trim().parse::<usize>().map_err(|_| NoShape);
        let (rows, columns) = (number(rows)?, number(columns)?);
        let fits = (1..=64).contains(&rows) && (1..=14).contains(&columns) && rows * columns <= 64;
        if fits { Ok(Self(rows, columns)) } else { Err(NoShape) }
    }
}
