//! `snapshot-verify points`: finds linearization points.

use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use snapshot_io::quantity;
use snapshot_verify::language::{Source, Span};
use snapshot_verify::program::Object;
use snapshot_verify::report::count;
use snapshot_verify::verify::points::{
    ObjectPoints, PointsAnswer, Trial, Trials, find_object_points, find_points,
};
use snapshot_verify::verify::{Measures, Operations, Request};

use super::bounds;
use super::input::Input;
use super::progress::{ProgressWatch, Ticker};
use super::{UNKNOWN, WRONG, print, refused, trouble};

/// Finds statements at which operations take effect (static linearization points).
///
/// For a snapshot, updates have such points: tries the statements that write, in sets of up to
/// three, by refinement. Each update must pass exactly one statement of a set, and scans may take
/// effect anywhere. For an object, tries each operation separately, which takes effect at one of
/// the statements that it passes, and then all operations together. Exit code: 0 if some set holds
/// (for an object: of every operation, and together), 1 if the algorithm is wrong, 3 if no set
/// holds, which says nothing about the algorithm.
#[derive(Debug, Args)]
pub struct Points {
    /// An algorithm of the corpus, or a file.
    #[arg(value_name = "ALGORITHM|FILE")]
    input: String,
    /// Take this bug variant.
    #[arg(long, value_name = "NAME")]
    bug: Option<String>,
    /// Processes, and segments: 2,3 tries the sets that hold for two with three.
    #[arg(short = 'n', long = "processes", value_name = "N,...", default_value = "2",
          value_parser = bounds::size, value_delimiter = ',')]
    processes: Vec<usize>,
    /// Operations of each process.
    #[arg(long, value_name = "B", default_value = "2",
          value_parser = clap::value_parser!(u32).range(1..))]
    operations: u32,
    /// Number of values passed to the operations of an object (default: 2).
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u32).range(1..))]
    values: Option<u32>,
    /// Also show the sets that do not hold, with reasons.
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
        let is_object = variant.object().is_some();
        if self.values.is_some() && !is_object {
            return Err(trouble("--values is of objects: snapshots do not look at values"));
        }
        if !is_object && !variant.dependences.is_empty() {
            return Err(trouble(input.algorithm.refusal(&variant.dependences)));
        }
        let trials = Trials {
            sizes: self.processes.clone(),
            operations: Operations::AtMost(self.operations),
            values: is_object.then(|| self.values.unwrap_or(Request::VALUES)),
            memory: self.memory,
            time: self.time,
        };
        let title = match &self.bug {
            None => self.input.clone(),
            Some(bug) => format!("{} with {bug}", self.input),
        };
        let source = input.algorithm.source();
        let ticker = Ticker::new(false);
        let watch = ProgressWatch::new(title.clone(), &ticker);
        let refused = |error| refused(&title, source, &error);
        let (report, code) = if is_object {
            let found = find_object_points(&variant.program, &trials, &watch);
            ticker.clear();
            let found = found.map_err(refused)?;
            let code = exit_code(found.trials(), found.is_complete());
            let takes_values = variant.program.object().is_some_and(Object::takes_values);
            (self.object_report(&title, source, takes_values, &found), code)
        } else {
            let found = find_points(&variant.program, &trials, &watch);
            ticker.clear();
            let found = found.map_err(refused)?;
            let code = exit_code(found.iter(), found.iter().any(Trial::holds));
            (self.report(&title, source, &found), code)
        };
        print(&report);
        Ok(ExitCode::from(code))
    }

    /// Describes the explored executions.
    fn scope(&self) -> String {
        let sizes: Vec<String> = self.processes.iter().map(usize::to_string).collect();
        let (sizes, operations) = (sizes.join(", "), self.operations);
        format!("n = {sizes}, at most {operations} operations by each process")
    }

    fn wrong(&self, title: &str) -> String {
        let bug = self.bug.as_ref().map_or(String::new(), |bug| format!(" --bug {bug}"));
        format!(
            "{title}: not linearizable, so it has no linearization points\n  \
             snapshot-verify check {}{bug} shows an execution\n",
            self.input
        )
    }

    /// Reports on an object, as text.
    fn object_report(
        &self,
        title: &str,
        source: &Source,
        takes_values: bool,
        found: &ObjectPoints,
    ) -> String {
        if found.trials().any(Trial::is_wrong) {
            return self.wrong(title);
        }
        let mut scope = self.scope();
        if takes_values {
            let values = self.values.unwrap_or(Request::VALUES);
            scope += &format!(", {values} value{}", if values == 1 { "" } else { "s" });
        }
        let mut text = match (found.is_complete(), found.found().is_some()) {
            (true, _) => {
                format!(
                    "{title}: each operation takes effect at one of these that it passes ({scope})\n"
                )
            }
            (false, true) => format!(
                "{title}: some operations take effect at one of these that they pass, others anywhere \
                 ({scope})\n"
            ),
            (false, false) => {
                format!(
                    "{title}: no static linearization points found ({scope}); that says nothing of \
                     the algorithm\n"
                )
            }
        };
        for operation in &found.operations {
            text += &format!("  {}\n", operation.operation);
            let (trials, smallest) = (&operation.trials, operation.smallest());
            if smallest.is_empty() {
                text += if operation.is_together {
                    "    none of its own: others take effect together with it\n"
                } else if trials.is_empty() {
                    "    none: it shares all its accesses with other operations, or has none\n"
                } else if trials.iter().any(Trial::is_open) {
                    "    not decided: give it more --time or --memory\n"
                } else {
                    "    none, not even all its accesses\n"
                };
            }
            let shown: Vec<&Trial> = if self.all { trials.iter().collect() } else { smallest };
            for trial in shown {
                text += &described(source, trial, " or ", "    ");
            }
        }
        match found.together.last() {
            // Only one operation has points, and its sets were already listed.
            _ if found.operations.iter().filter(|one| !one.smallest().is_empty()).count() < 2 => {}
            Some(trial) if trial.holds() => {
                text += &format!("  together\n{}", described(source, trial, ", ", "    "));
            }
            _ => {
                text += &format!(
                    "  together: none of {} ways to take one set of each\n",
                    found.together.len()
                );
            }
        }
        text
    }

    /// Reports on a snapshot, as text.
    fn report(&self, title: &str, source: &Source, found: &[Trial]) -> String {
        let scope = self.scope();
        let mut text = String::new();
        if found.iter().any(Trial::is_wrong) {
            return self.wrong(title);
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
            text += &described(source, trial, " or ", "  ");
        }
        text
    }
}

/// Returns the exit code of the program.
fn exit_code<'a>(mut trials: impl Iterator<Item = &'a Trial>, is_found: bool) -> u8 {
    match (trials.any(Trial::is_wrong), is_found) {
        (true, _) => WRONG,
        (false, true) => 0,
        (false, false) => UNKNOWN,
    }
}

/// Describes a set, and why it holds or does not, with an indentation.
fn described(source: &Source, trial: &Trial, between: &str, margin: &str) -> String {
    let place = |span: &Span| {
        let (line, column) = source.position(*span);
        let words: Vec<&str> = source.slice(*span).split_whitespace().collect();
        format!("{line}:{column} `{}`", words.join(" "))
    };
    let places: Vec<String> = trial.statements.iter().map(place).collect();
    let mut text = format!("{margin}{}\n", places.join(between));
    for (processes, answer) in &trial.answers {
        text += &format!("{margin}  n = {processes}: {}\n", said(answer));
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
