//! Commands and their options.

use std::num::NonZero;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use clap::{Args, Parser, Subcommand};
use snapshot_io::quantity;

use crate::check::Check;
use crate::matrix::{Test, TestError, dimension_of, sequence_of};
use crate::spin::Diverging;
use crate::subject::Invocation;
use crate::survey::Tests;

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
        /// before the operations before and after these.
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
        around: Around,
        #[command(flatten)]
        failing: Failing,
        #[command(flatten)]
        bounds: Bounds,
    },
    /// Checks all tests of a shape, up to the order of their threads.
    All {
        /// The subjects; all, if none is named.
        subjects: Vec<String>,
        /// Operations per thread x threads.
        #[arg(long, default_value = "2x2")]
        shape: ShapeArgument,
        #[command(flatten)]
        around: Given,
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
        around: Given,
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
    /// Runs series of tests of subjects, each as long as its budget of wall time lasts, and records
    /// the results.
    Survey {
        /// The subjects; all, if none is named.
        subjects: Vec<String>,
        #[command(flatten)]
        survey: SurveyArguments,
        #[command(flatten)]
        bounds: Bounds,
    },
}

/// Series of tests of a subject, and their record.
#[derive(Args, Clone, Debug)]
pub(super) struct SurveyArguments {
    /// A series of tests: `all:2x2`, `random:3x3:100`, `random:2x2:100:init2`; several are run one
    /// after the other.
    #[arg(long, required = true, value_name = "SERIES")]
    pub(super) tests: Vec<Tests>,
    /// Seconds per subject and series; a test that is not finished by then is not counted.
    #[arg(long, default_value = "60", value_name = "SECONDS", value_parser = quantity::seconds)]
    pub(super) budget: Duration,
    /// Seconds per subject, for all of its series: each has an equal part of the rest.
    #[arg(long, conflicts_with = "budget", value_name = "SECONDS",
        value_parser = quantity::seconds)]
    pub(super) subject_budget: Option<Duration>,
    /// The seed of random tests and of the order of others.
    #[arg(long, default_value_t = 0)]
    pub(super) seed: u64,
    /// File to which the records are added (CSV).
    #[arg(long, value_name = "FILE")]
    pub(super) record: PathBuf,
}

/// Operations before and after the threads of each test.
#[derive(Args, Clone, Debug, Default)]
pub(super) struct Given {
    /// Operations before each test: `push(10) push(20)`.
    #[arg(long, default_value = "", value_name = "OPERATIONS")]
    pub(super) init: String,
    /// Operations after each test.
    #[arg(long = "final", default_value = "", value_name = "OPERATIONS")]
    pub(super) finally: String,
}

/// Operations before and after each test, given or random.
#[derive(Args, Clone, Debug, Default)]
pub(super) struct Around {
    #[command(flatten)]
    pub(super) given: Given,
    /// Random operations before each test, after those of `--init`; less where they would get
    /// stuck.
    #[arg(long, default_value_t = 0, value_parser = clap::value_parser!(u8).range(..=32))]
    pub(super) random_init: u8,
    /// Random operations after each test, before those of `--final`.
    #[arg(long, default_value_t = 0, value_parser = clap::value_parser!(u8).range(..=32))]
    pub(super) random_final: u8,
}

impl Given {
    /// The test with these sequences around those it has.
    pub(super) fn around(&self, test: &Test) -> Result<Test, TestError> {
        let subject = test.subject();
        let mut initial = sequence_of(subject, &self.init)?;
        initial.extend_from_slice(test.initial());
        let dropping = subject.dropping();
        let mut finally: Vec<Invocation> =
            test.finally().iter().filter(|i| Some(*i) != dropping.as_ref()).cloned().collect();
        finally.extend(sequence_of(subject, &self.finally)?);
        test.between(initial, finally)
    }
}

/// Options for failures.
#[derive(Args, Clone, Debug)]
pub(super) struct Failing {
    /// Reports failing tests as they are.
    #[arg(long)]
    pub(super) no_minimise: bool,
    /// Writes the failure to a file, for `replay`.
    #[arg(long, value_name = "FILE")]
    pub(super) save: Option<PathBuf>,
}

/// Bounds of a check.
#[derive(Args, Clone, Debug)]
pub(super) struct Bounds {
    /// The largest number of preemptions (switches away from an operation that could continue), or
    /// `all`.
    #[arg(long, default_value = "2")]
    preemptions: Most,
    /// The largest number of concurrent executions per test.
    #[arg(long)]
    executions: Option<u64>,
    /// Tries all orders of steps, also of steps that do not depend on each other.
    #[arg(long)]
    no_reduction: bool,
    /// A serial execution that gets stuck is a failure.
    #[arg(long)]
    total: bool,
    /// Seconds per test.
    #[arg(long, value_name = "SECONDS", value_parser = quantity::seconds)]
    time: Option<Duration>,
    /// Number of tests that run at once [default: the number of processors].
    #[arg(long)]
    threads: Option<NonZero<usize>>,
    /// Steps without call or return after which an execution is given up.
    #[arg(long, default_value_t = 2_000)]
    patience: u32,
    /// Meaning of an execution in which threads only spin, and nothing changes: `stuck`, if
    /// operations of the object that spin are known never to give up by themselves.
    #[arg(long, value_enum, default_value_t)]
    diverging: Diverging,
    /// Frees the memory of executions that get stuck, by unwinding their threads: this
    /// executes destructors of the object, and if one panics or waits, the program is aborted.
    #[arg(long)]
    unwind: bool,
    /// The first wait at a condition variable of each operation wakes up spuriously, in concurrent
    /// executions.
    #[arg(long)]
    spurious_wakeups: bool,
    /// Seconds without a step after which a call counts as blocked.
    #[arg(long, default_value = "5", value_name = "SECONDS", value_parser = quantity::seconds)]
    silence: Duration,
}

impl Bounds {
    pub(super) fn check(&self, several: bool) -> Check {
        let executions = self.executions.or(several.then_some(20_000));
        Check::new()
            .preemptions(self.preemptions.0)
            .executions(executions)
            .threads(self.threads)
            .reduction(!self.no_reduction)
            .total(self.total)
            .time(self.time)
            .patience(self.patience)
            .diverging(self.diverging)
            .unwinding(self.unwind)
            .spurious_wakeups(self.spurious_wakeups)
            .silence(self.silence)
            .cancelled_by(super::commands::interrupted())
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

/// A text that is not a shape.
#[derive(Debug, thiserror::Error)]
#[error("expected operations per thread and threads, as in `3x3`, at most 64 operations in all")]
pub(super) struct NoShape;

impl FromStr for ShapeArgument {
    type Err = NoShape;

    fn from_str(text: &str) -> Result<Self, NoShape> {
        let (rows, columns) = dimension_of(text).ok_or(NoShape)?;
        Ok(Self(rows, columns))
    }
}
