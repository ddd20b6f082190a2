//! `snapshot-verify points`: finds linearization points.

use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use snapshot_io::quantity;
use snapshot_verify::language::{Source, Span};
use snapshot_verify::report::count;
use snapshot_verify::verify::points::{PointsAnswer, Trial, Trials, find_points};
use snapshot_verify::verify::{Measures, Operations};

use super::bounds;
use super::input::Input;
use super::progress::{ProgressWatch, Ticker};
use super::{UNKNOWN, WRONG, interrupt, print, refused, trouble};

/// Finds statements at which updates take effect (static linearization points).
///
/// Tries the statements that write, in sets of up to three, by refinement: each update must
/// pass exactly one of a set, and scans may take effect anywhere. Exit code: 0 if some set
/// holds, 1 if the algorithm is wrong, 3 if no set holds, of which nothing follows for the
/// algorithm.
#[derive(Debug, Args)]
pub struct Points {
    /// An algorithm of the corpus, or a file.
    #[arg(value_name = "ALGORITHM|FILE")]
    input: String,
    /// Take this bug variant.
    #[arg(long, value_name = "NAME")]
    bug: Option<String>,
    /// Processes, and segments: 2,3 tries with three what holds for two.
    #[arg(short = 'n', long = "processes", value_name = "N,...", default_value = "2",
          value_parser = bounds::size, value_delimiter = ',')]
    processes: Vec<usize>,
    /// Operations of each process.
    #[arg(long, value_name = "B", default_value = "2",
          value_parser = clap::value_parser!(u32).range(1..))]
    operations: u32,
    /// Also the sets that do not hold, and why.
    #[arg(long)]
    all: bool,
    /// Bytes that a search may take: 500M, 1.5GiB; units go by 1024.
    #[arg(long, value_name = "BYTES", default_value = "4G",
          value_parser = quantity::bytes::<u64>)]
    memory: u64,
    /// Seconds for all sets together (default: no limit).
    #[arg(long, value_name = "SECONDS", value_parser = quantity::seconds)]
    time: Option<Duration>,
}

impl Points {
    pub fn run(self) -> ExitCode {
        match self.points() {
            Ok(code) | Err(code) => code,
        }
    }

    fn points(&self) -> Result<ExitCode, ExitCode> {
        let input = Input::read(&self.input)?;
        let variant = input.variant(self.bug.as_deref())?;
        input.require_snapshot(&variant, "points")?;
        if !variant.dependences.is_empty() {
            return Err(trouble(input.algorithm.refusal(&variant.dependences)));
        }
        let trials = Trials {
            sizes: self.processes.clone(),
            operations: Operations::AtMost(self.operations),
            memory: self.memory,
            time: self.time,
        };
        let title = match &self.bug {
            None => self.input.clone(),
            Some(bug) => format!("{} with {bug}", self.input),
        };
        let source = input.algorithm.source();
        let ticker = Ticker::new(false);
        let stop = interrupt::listen();
        let watch = ProgressWatch {
            title: title.clone(),
            stop,
            ticker: &ticker,
            keeper: None,
            disk: None,
            engine: None,
        };
        let found = find_points(&variant.program, &trials, &watch);
        ticker.clear();
        let found = found.map_err(|error| refused(&title, source, &error))?;
        print(&self.report(&title, source, &found));
        let code = if found.iter().any(Trial::is_wrong) {
            WRONG
        } else if found.iter().any(Trial::holds) {
            0
        } else {
            UNKNOWN
        };
        Ok(ExitCode::from(code))
    }

    /// What was found, for people.
    fn report(&self, title: &str, source: &Source, found: &[Trial]) -> String {
        let sizes: Vec<String> = self.processes.iter().map(usize::to_string).collect();
        let scope = format!(
            "n = {}, at most {} operations by each process",
            sizes.join(", "),
            self.operations
        );
        let mut text = String::new();
        if found.iter().any(Trial::is_wrong) {
            text += &format!("{title}: not linearizable, so it has no linearization points\n");
            return text + &format!("  snapshot-verify check {} shows an execution\n", self.input);
        }
        let holding: Vec<&Trial> = found.iter().filter(|trial| trial.holds()).collect();
        if holding.is_empty() {
            let open = found.iter().filter(|trial| trial.is_open()).count();
            text += &format!("{title}: no static linearization points found ({scope})\n");
            text += &match open {
                0 => format!(
                    "  none of {} sets of statements; that says nothing of the algorithm\n",
                    found.len()
                ),
                open => format!(
                    "  {open} of {} sets were not decided: give it more --time or --memory\n",
                    found.len()
                ),
            };
        } else {
            text += &format!("{title}: updates take effect at one of these ({scope})\n");
        }
        for trial in found.iter().filter(|trial| self.all || trial.holds()) {
            text += &described(source, trial);
        }
        text
    }
}

/// A set, and why it holds or does not.
fn described(source: &Source, trial: &Trial) -> String {
    let place = |span: &Span| {
        let (line, column) = source.position(*span);
        let words: Vec<&str> = source.slice(*span).split_whitespace().collect();
        format!("{line}:{column} `{}`", words.join(" "))
    };
    let places: Vec<String> = trial.statements.iter().map(place).collect();
    let mut text = format!("  {}\n", places.join(" or "));
    for (processes, answer) in &trial.answers {
        text += &format!("    n = {processes}: {}\n", said(answer));
    }
    text
}

fn said(answer: &PointsAnswer) -> String {
    match answer {
        PointsAnswer::Hold(Measures { states, .. }) => format!("holds ({} states)", count(*states)),
        PointsAnswer::Misplaced(why) => format!("does not hold: {why}"),
        PointsAnswer::Open => "not decided".to_owned(),
        PointsAnswer::Wrong => "the algorithm is wrong".to_owned(),
    }
}
