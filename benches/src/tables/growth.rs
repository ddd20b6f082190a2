//! How time and memory grow: along one dimension at a time, for each method until it
//! exceeds its limits.

use std::ffi::OsString;
use std::thread;

use clap::Args;
use corpus::generate::{Recipe, Rule, Style, Violation};

use super::{Measuring, Question, TableError, program, verification};
use crate::method::METHODS;
use crate::record::Outcome;

/// The name of its records.
pub const TABLE: &str = "growth";

/// Seconds that a run may take.
pub const PATIENCE: f64 = 10.0;

/// Fixes the histories.
const SEED: u64 = 1_993;

/// A dimension of histories; all else stays the same along it.
#[derive(Clone, Copy, Debug)]
pub struct Sweep {
    /// In records, and in the titles of plots.
    pub name: &'static str,
    /// What is on its axis.
    pub axis: &'static str,
    /// The points, ascending.
    points: &'static [f64],
    quick: usize,
    recipe: fn(f64) -> Recipe,
    /// Also with a violation near the end: for a search, that is the hard case.
    has_violation: bool,
}

/// Differentiated histories of eight processes, half scans, unless said otherwise.
const PROCESSES: usize = 8;

fn recipe(processes: usize, events: usize) -> Recipe {
    Recipe::new(processes, processes, events / 2, Style::Differentiated, SEED)
}

/// All of them.
pub const SWEEPS: [Sweep; 4] = [
    Sweep {
        name: "length",
        axis: "events (n = 8)",
        points: &[1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8],
        quick: 3,
        recipe: |events| recipe(PROCESSES, events as usize),
        has_violation: true,
    },
    Sweep {
        name: "processes",
        axis: "n (2,000 events)",
        points: &[2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0, 24.0, 32.0, 48.0, 64.0, 96.0, 128.0],
        quick: 2,
        recipe: |processes| recipe(processes as usize, 2_000),
        has_violation: true,
    },
    Sweep {
        name: "pending",
        axis: "pending operations (2,000 events, n = 64)",
        points: &[0.0, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 48.0],
        quick: 2,
        recipe: |pending| recipe(64, 2_000).with_pending(pending as usize),
        has_violation: true,
    },
    Sweep {
        name: "scans",
        axis: "share of scans (20,000 events, n = 8)",
        points: &[0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99],
        quick: 1,
        recipe: |share| recipe(PROCESSES, 20_000).with_scan_fraction(share),
        has_violation: false,
    },
];

/// A history in memory may be so long; longer ones are streamed.
const MEMORY_EVENTS: f64 = 1e7;

/// Measures histories along all sweeps; quick: their first points.
///
/// # Errors
/// If something cannot be run or recorded.
pub fn histories(measuring: &mut Measuring, quick: bool) -> Result<(), TableError> {
    for sweep in SWEEPS {
        let points = if quick { &sweep.points[..sweep.quick] } else { sweep.points };
        for has_violation in [false, true] {
            if !has_violation || sweep.has_violation {
                sweep.measure(measuring, points, has_violation)?;
            }
        }
    }
    Ok(())
}

impl Sweep {
    /// The name of a curve's records.
    pub fn group(&self, has_violation: bool) -> String {
        let kind = if has_violation { "violation" } else { "linearizable" };
        format!("{}, {kind}", self.name)
    }

    fn measure(
        &self,
        measuring: &mut Measuring,
        points: &[f64],
        has_violation: bool,
    ) -> Result<(), TableError> {
        let group = self.group(has_violation);
        for method in METHODS {
            for &x in points {
                let mut recipe = (self.recipe)(x);
                if self.name == "length" && x > MEMORY_EVENTS && !method.is_streaming {
                    break;
                }
                if has_violation {
                    recipe = recipe.with_violation(Violation::new(Rule::Decrease).after(0.9));
                }
                let question = Question {
                    case: format!("{group}, {x}, seed {SEED}"),
                    group: group.clone(),
                    x: Some(x),
                    expected: Some(Outcome::of(recipe.is_linearizable())),
                };
                let subject = RecipeArguments::of(&recipe).to_arguments();
                let outcome = measuring.judge(&question, method, &subject)?;
                if !outcome.is_some_and(Outcome::is_answer) {
                    break;
                }
            }
        }
        Ok(())
    }
}

/// A recipe on a command line: differentiated values, a decrease as its violation.
#[derive(Args, Clone, Debug, PartialEq)]
pub struct RecipeArguments {
    /// Processes, each with a segment.
    #[arg(long, default_value_t = PROCESSES)]
    processes: usize,
    /// Operations.
    #[arg(long, default_value_t = 1_000)]
    operations: usize,
    /// The share of scans.
    #[arg(long, default_value_t = 0.5)]
    scans: f64,
    /// Operations without a response.
    #[arg(long, default_value_t = 0)]
    pending: usize,
    /// Fixes the random choices.
    #[arg(long, default_value_t = SEED)]
    seed: u64,
    /// After which share of the operations a scan decreases.
    #[arg(long)]
    violation: Option<f64>,
}

impl RecipeArguments {
    fn of(recipe: &Recipe) -> Self {
        Self {
            processes: recipe.processes,
            operations: recipe.operations,
            scans: recipe.scan_fraction,
            pending: recipe.pending,
            seed: recipe.seed,
            violation: recipe.violation.map(|violation| violation.after),
        }
    }

    fn to_arguments(&self) -> Vec<OsString> {
        let mut arguments = vec![
            format!("--processes={}", self.processes),
            format!("--operations={}", self.operations),
            format!("--scans={}", self.scans),
            format!("--pending={}", self.pending),
            format!("--seed={}", self.seed),
        ];
        arguments.extend(self.violation.map(|after| format!("--violation={after}")));
        arguments.into_iter().map(OsString::from).collect()
    }

    /// The recipe.
    pub fn recipe(&self) -> Recipe {
        let style = Style::Differentiated;
        let recipe = Recipe::new(self.processes, self.processes, self.operations, style, self.seed)
            .with_scan_fraction(self.scans)
            .with_pending(self.pending);
        match self.violation {
            Some(after) => recipe.with_violation(Violation::new(Rule::Decrease).after(after)),
            None => recipe,
        }
    }
}

/// The name of the records of verifications.
pub const VERIFICATION: &str = "growth-verification";

/// A curve of `snapshot-verify check`: its name, its axis, its arguments but for x, the
/// argument that x is, and the points.
pub struct Curve {
    /// In records, and in the titles of plots.
    pub name: &'static str,
    /// What is on its axis.
    pub axis: &'static str,
    arguments: &'static [&'static str],
    varied: &'static str,
    points: &'static [u32],
    quick: usize,
}

/// All of them; threads as far as there are processors.
pub const CURVES: [Curve; 6] = [
    Curve {
        name: "bowman",
        axis: "n (all reductions, all pairs)",
        arguments: &["bowman"],
        varied: "-n",
        points: &[2, 3, 4, 5, 6, 7, 8, 10, 12],
        quick: 3,
    },
    Curve {
        name: "bowman, same states as peers",
        axis: "n (dead,constant, pair (0,1))",
        arguments: &["bowman", "--pairs", "0,1", "--reductions", "dead,constant"],
        varied: "-n",
        points: &[2, 3, 4, 5],
        quick: 2,
    },
    Curve {
        name: "afek_unbounded, n = 3",
        axis: "operations per process (pair (0,1))",
        arguments: &["afek_unbounded", "-n", "3", "--pairs", "0,1"],
        varied: "--operations",
        points: &[1, 2, 3, 4, 6, 8],
        quick: 1,
    },
    Curve {
        name: "jayanti, n = 3",
        axis: "operations per process (pair (0,1))",
        arguments: &["jayanti", "-n", "3", "--pairs", "0,1"],
        varied: "--operations",
        points: &[1, 2, 3, 4, 6, 8],
        quick: 1,
    },
    Curve {
        name: "riany, n = 2",
        axis: "operations per process",
        arguments: &["riany", "-n", "2"],
        varied: "--operations",
        points: &[1, 2, 3, 4, 6, 8],
        quick: 1,
    },
    Curve {
        name: "bowman n = 4, threads",
        axis: "threads (dead,constant, pair (0,1))",
        arguments: &["bowman", "-n", "4", "--pairs", "0,1", "--reductions", "dead,constant"],
        varied: "--threads",
        points: &[1, 2, 4, 8, 16, 32],
        quick: 0,
    },
];

/// The name of the method of verification curves.
pub const VERIFIER: &str = "snapshot-verify";

/// Measures verification along all curves.
///
/// # Errors
/// If something cannot be run or recorded.
pub fn verifications(measuring: &mut Measuring, quick: bool) -> Result<(), TableError> {
    let verifier = program("snapshot-verify")?;
    let cores = thread::available_parallelism().map_or(1, |cores| cores.get() as u32);
    for curve in &CURVES {
        let points = if quick { &curve.points[..curve.quick] } else { curve.points };
        for &x in points.iter().filter(|x| curve.varied != "--threads" || **x <= cores) {
            let question = Question {
                case: format!("{}, {} {x}", curve.name, curve.varied),
                group: curve.name.to_owned(),
                x: Some(f64::from(x)),
                expected: Some(Outcome::Linearizable),
            };
            let text = x.to_string();
            let mut arguments = vec!["check", "--method", "exploration"];
            arguments.extend(curve.arguments);
            arguments.extend([curve.varied, &text]);
            let outcome = verification::ask(measuring, &question, VERIFIER, &verifier, &arguments)?;
            if !outcome.is_some_and(Outcome::is_answer) {
                break;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Command {
        #[command(flatten)]
        recipe: RecipeArguments,
    }

    #[test]
    fn a_recipe_survives_the_command_line() {
        for sweep in SWEEPS {
            for &x in sweep.points {
                let good = (sweep.recipe)(x);
                let bad = good.clone().with_violation(Violation::new(Rule::Decrease).after(0.9));
                for recipe in [good, bad] {
                    let arguments = RecipeArguments::of(&recipe).to_arguments();
                    let arguments = [OsString::from("judge")].into_iter().chain(arguments);
                    assert_eq!(Command::parse_from(arguments).recipe.recipe(), recipe);
                }
            }
        }
    }
}
