//! Tables 1 and 2 of the DISC 2022 paper: which bound on operations per process can
//! be explored within the limits, for each algorithm, n and method.
//!
//! As the paper, with the pair (0, 1) only, but for the command as a user gives it, which is
//! about all pairs. A method is asked without a bound first. PAT's, if that exceeds the limits,
//! climbs: 1, 2, 3, ... operations per process, until one exceeds them, nothing new is reached, or
//! a bug is found with the largest bound that the paper reports for any method.

use std::ffi::OsString;

use serde_json::Value;

use super::{Measuring, Question, TableError, Told, program};
use crate::process::Ended;
use crate::published::{Bound, Cell, disc2022_table1, disc2022_table2};
use crate::record::Outcome;

/// Seconds that an exploration may take.
pub const PATIENCE: f64 = 60.0;

/// One of the two tables.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Table {
    /// Table 1: the planted bugs.
    Bugs,
    /// Table 2: the algorithms.
    Algorithms,
}

/// The bug of each algorithm; the paper does not say what its bugs are.
const BUGS: [(&str, &str); 5] = [
    ("bowman", "early_exit"),
    ("jayanti", "plain_ss"),
    ("afek_bounded", "no_negation"),
    ("afek_unbounded", "no_increment"),
    ("riany", "early_count"),
];

/// The bug that stands for an algorithm in Table 1.
pub fn bug(algorithm: &str) -> Option<&'static str> {
    BUGS.iter().find(|(name, _)| *name == algorithm).map(|(_, bug)| *bug)
}

impl Table {
    /// The name of its records.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bugs => "disc2022-table1",
            Self::Algorithms => "disc2022-table2",
        }
    }

    /// What the paper prints.
    pub fn published(self) -> Vec<Cell> {
        match self {
            Self::Bugs => disc2022_table1(),
            Self::Algorithms => disc2022_table2(),
        }
    }

    /// The answer that a complete exploration must give.
    pub const fn expected(self) -> Outcome {
        match self {
            Self::Bugs => Outcome::Violation,
            Self::Algorithms => Outcome::Linearizable,
        }
    }
}

/// How a method is given a bound.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Bounds {
    /// By these arguments, of its own; its answer is about any number of operations.
    Unbounded(&'static [&'static str]),
    /// By `--operations none`, then `--operations B` for B = 1, 2, 3, ...
    Climbing,
}

/// A way to verify: a set of options of `snapshot-verify check`.
#[derive(Clone, Copy, Debug)]
pub struct Method {
    /// Its name in records and tables.
    pub name: &'static str,
    /// What it is, for the legend of a table.
    pub what: &'static str,
    /// Whether it is what the project is for, or a rendering of what others do.
    pub is_ours: bool,
    /// The options of the command besides algorithm, n, bug and bound; the pair is among them.
    pub arguments: &'static [&'static str],
    /// How it is bounded.
    pub bounds: Bounds,
    /// Whether it is for bugs only.
    pub is_for_bugs: bool,
}

/// The only pair that the paper explored, and no proof for every n.
const PAIR: [&str; 4] = ["--pairs", "0,1", "--method", "exploration"];

/// The name of the search alone.
pub const SEARCH: &str = "unbounded";

/// All of them, in the order of the tables.
pub const METHODS: &[Method] = &[
    Method {
        name: "check",
        what: "`check ALGORITHM -n N`, all pairs, with the part of it that answered: a proof for every \
               n, the search, or the search with growing bounds",
        is_ours: true,
        arguments: &[],
        bounds: Bounds::Unbounded(&[]),
        is_for_bugs: false,
    },
    Method {
        name: SEARCH,
        what: "`check --operations none`: breadth-first, no bound, all reductions",
        is_ours: true,
        arguments: &PAIR,
        bounds: Bounds::Unbounded(&["--operations", "none"]),
        is_for_bugs: false,
    },
    Method {
        name: "growing",
        what: "`check --operations grow`: small bounds and few processes first, in the end none",
        is_ours: true,
        arguments: &PAIR,
        bounds: Bounds::Unbounded(&["--operations", "grow"]),
        is_for_bugs: true,
    },
    Method {
        name: "bounded",
        what: "`check --operations B`: the largest B that is explored to the end",
        is_ours: true,
        arguments: &PAIR,
        bounds: Bounds::Climbing,
        is_for_bugs: false,
    },
    Method {
        name: "refinement-simple",
        what: "`check --method refinement --executions simple`: PAT's method, simple executions",
        is_ours: false,
        arguments: &["--method", "refinement", "--executions", "simple", "--pairs", "0,1"],
        bounds: Bounds::Climbing,
        is_for_bugs: false,
    },
    Method {
        name: "refinement-full",
        what: "`check --method refinement --executions full`: PAT's method, all executions over \
               two values",
        is_ours: false,
        arguments: &["--method", "refinement", "--executions", "full", "--values", "2"],
        bounds: Bounds::Climbing,
        is_for_bugs: false,
    },
];

/// Measures all cells; quick: n = 3 and bowman.
///
/// # Errors
/// If something cannot be run or recorded.
pub fn measure(measuring: &mut Measuring, table: Table, quick: bool) -> Result<(), TableError> {
    let verifier = program("snapshot-verify")?;
    let published = table.published();
    let mut cells: Vec<(String, usize)> = Vec::new();
    for cell in &published {
        let cell = (cell.algorithm.clone(), cell.processes);
        let is_wanted = !quick || cell.1 == 3 && cell.0 == "bowman";
        if is_wanted && !cells.contains(&cell) {
            cells.push(cell);
        }
    }
    let rows = cells.len();
    for (algorithm, processes) in cells {
        measuring.next_row(&group(&algorithm, processes), rows);
        let reported = published.iter().filter(|cell| cell.is_of(&algorithm, processes));
        let largest = reported.filter_map(|cell| match cell.bound {
            Some(Bound::Operations(bound)) => Some(bound),
            _ => None,
        });
        let largest = largest.max().unwrap_or(1);
        let row = Row { table, algorithm, processes, largest };
        row.measure(measuring, &verifier)?;
    }
    Ok(())
}

/// An algorithm and n.
struct Row {
    table: Table,
    algorithm: String,
    processes: usize,
    /// The largest bound that the paper reports; further ones tell nothing more of a bug.
    largest: u32,
}

/// The name of a row in records.
pub fn group(algorithm: &str, processes: usize) -> String {
    format!("{algorithm}, n = {processes}")
}

impl Row {
    fn measure(&self, measuring: &mut Measuring, verifier: &OsString) -> Result<(), TableError> {
        let mut is_answered = false;
        for method in METHODS {
            if method.is_for_bugs && self.table != Table::Bugs {
                continue;
            }
            match method.bounds {
                Bounds::Unbounded(arguments) => {
                    let outcome = self.ask(measuring, verifier, method, None, arguments)?;
                    is_answered |= method.is_ours && outcome.is_some_and(Outcome::is_answer);
                }
                // What is known of any number of operations need not be climbed to.
                Bounds::Climbing if method.is_ours && is_answered => {}
                Bounds::Climbing => self.climb(measuring, verifier, method)?,
            }
        }
        Ok(())
    }

    /// PAT's method: without a bound, and if that is too much, with larger and larger ones.
    fn climb(
        &self,
        measuring: &mut Measuring,
        verifier: &OsString,
        method: &Method,
    ) -> Result<(), TableError> {
        // Ours was asked by the search alone.
        if !method.is_ours {
            let none = ["--operations", "none"];
            let outcome = self.ask(measuring, verifier, method, None, &none)?;
            if outcome.is_none_or(Outcome::is_answer) {
                return Ok(());
            }
        }
        let mut reached = None;
        for bound in 1.. {
            let text = bound.to_string();
            let arguments = ["--operations", &text];
            let outcome = self.ask(measuring, verifier, method, Some(bound), &arguments)?;
            let is_found = outcome == Some(Outcome::Violation) && bound >= self.largest;
            let states = measuring
                .recorded(&self.case(Some(bound)), method.name)
                .and_then(|record| record.states);
            if !outcome.is_some_and(Outcome::is_answer) || is_found || states == reached {
                break;
            }
            reached = states;
        }
        Ok(())
    }

    /// The name of a run.
    fn case(&self, bound: Option<u32>) -> String {
        let group = group(&self.algorithm, self.processes);
        match bound {
            Some(bound) => format!("{group}, {bound} operations each"),
            None => group,
        }
    }

    fn ask(
        &self,
        measuring: &mut Measuring,
        verifier: &OsString,
        method: &Method,
        bound: Option<u32>,
        operations: &[&str],
    ) -> Result<Option<Outcome>, TableError> {
        let (group, case) = (group(&self.algorithm, self.processes), self.case(bound));
        // Few operations may be too few for a bug.
        let expected = match (self.table, bound) {
            (Table::Bugs, Some(_)) => None,
            (table, _) => Some(table.expected()),
        };
        let question = Question { case, group, x: bound.map(f64::from), expected };
        let processes = self.processes.to_string();
        let mut arguments = vec!["check", &self.algorithm, "-n", &processes];
        if let (Table::Bugs, Some(bug)) = (self.table, bug(&self.algorithm)) {
            arguments.extend(["--bug", bug]);
        }
        arguments.extend(method.arguments);
        arguments.extend(operations);
        ask(measuring, &question, method.name, verifier, &arguments)
    }
}

/// Asks `snapshot-verify`, with its own budget of memory well within the limit, so
/// that it ends by itself.
pub(super) fn ask(
    measuring: &mut Measuring,
    question: &Question,
    method: &str,
    verifier: &OsString,
    arguments: &[&str],
) -> Result<Option<Outcome>, TableError> {
    let memory = (measuring.limits(method).memory / 4 * 3).to_string();
    let own = ["--memory", &memory, "--report", "json"];
    let arguments: Vec<OsString> = arguments.iter().chain(&own).map(OsString::from).collect();
    measuring.ask(question, method, (verifier, &arguments), read)
}

/// What refinement says of programs that count, if operations have no bound: no answer.
const INFINITE: &str = "infinitely many states";

/// Understands a report: its lines about pairs, together.
pub(super) fn read(ended: &Ended) -> Option<Told> {
    if ended.output.is_empty() && ended.errors.contains(INFINITE) {
        return Some(Told::nothing(Outcome::None));
    }
    let lines = ended.output.lines().map(|line| serde_json::from_str(line).ok());
    let lines: Vec<Value> = lines.collect::<Option<_>>()?;
    let (summary, pairs) = lines.split_last()?;
    let seconds = summary.get("summary")?.get("seconds").and_then(Value::as_f64);
    let outcomes: Vec<Outcome> = pairs.iter().map(outcome_of).collect::<Option<_>>()?;
    let among = |outcome: &&Outcome| outcomes.contains(outcome);
    let worst = [Outcome::Violation, Outcome::Time, Outcome::Memory, Outcome::None];
    let outcome = worst.iter().find(among).copied().unwrap_or(Outcome::Linearizable);
    // What is like another pair was not explored.
    let explored = || pairs.iter().filter(|pair| pair.get("like").is_none());
    let sum = |name: &str| explored().map(|pair| pair.get(name)?.as_u64()).sum::<Option<u64>>();
    let (states, transitions) = (sum("states"), sum("transitions"));
    let told = |pair: &Value| outcome_of(pair).is_some_and(Outcome::is_answer).then(|| by(pair));
    let by = pairs.iter().filter_map(told).next_back();
    Some(Told { outcome, seconds, states, transitions, by })
}

/// The part of a method that answered.
fn by(pair: &Value) -> &'static str {
    let bound = pair.get("scope").and_then(|scope| scope.get(0)?.get("operations"));
    match (pair.get("method").and_then(Value::as_str), bound) {
        (Some("proof"), _) => "proof",
        (_, Some(Value::Number(_))) => "growing",
        _ => "search",
    }
}

fn outcome_of(pair: &Value) -> Option<Outcome> {
    let cause = pair.get("cause").and_then(Value::as_str);
    Some(match (pair.get("verdict")?.as_str()?, cause) {
        ("verified", _) => Outcome::Linearizable,
        ("violation", _) => Outcome::Violation,
        ("unknown", Some("memory")) => Outcome::Memory,
        ("unknown", Some("time")) => Outcome::Time,
        _ => Outcome::None,
    })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::process::{Limits, run_within};

    fn told(lines: &[&str]) -> Option<Told> {
        let limits = Limits { time: Duration::from_secs(60), memory: 1 << 30 };
        let script = lines.iter().map(|line| format!("echo '{line}';")).collect::<String>();
        read(&run_within(&"sh".into(), &["-c".into(), script.into()], limits).unwrap())
    }

    #[test]
    fn pairs_are_told_together() {
        let summary = r#"{"summary": {"seconds": 1.5}}"#;
        let one = r#"{"verdict": "verified", "states": 5, "transitions": 9}"#;
        let like = r#"{"verdict": "verified", "states": 5, "transitions": 9, "like": [0, 1]}"#;
        let found = told(&[one, like, one, summary]).unwrap();
        assert_eq!((found.outcome, found.seconds), (Outcome::Linearizable, Some(1.5)));
        assert_eq!((found.states, found.transitions), (Some(10), Some(18)));
        let bad = r#"{"verdict": "violation", "states": 1, "transitions": 1}"#;
        let answered =
            r#"{"verdict": "unknown", "cause": "answered", "states": 0, "transitions": 0}"#;
        assert_eq!(told(&[one, bad, answered, summary]).unwrap().outcome, Outcome::Violation);
        let late = r#"{"verdict": "unknown", "cause": "time", "states": 3, "transitions": 1}"#;
        assert_eq!(told(&[late, one, summary]).unwrap().outcome, Outcome::Time);
        assert!(told(&["no report"]).is_none() && told(&[]).is_none());
        // The last answer, and by which part of the command it was found.
        let by = |line: &str| told(&[answered, line, summary]).unwrap().by;
        let proved =
            r#"{"verdict": "verified", "method": "proof", "scope": [{"operations": null}]}"#;
        assert_eq!((by(one), by(bad), by(proved)), (Some("search"), Some("search"), Some("proof")));
        let grown =
            r#"{"verdict": "violation", "method": "exploration", "scope": [{"operations": 2}]}"#;
        assert_eq!(by(grown), Some("growing"));
        let refused = "riany: for refinement it has infinitely many states: bound the operations";
        let script = format!("echo '{refused}' >&2; exit 2");
        let limits = Limits { time: Duration::from_secs(60), memory: 1 << 30 };
        let ended = run_within(&"sh".into(), &["-c".into(), script.into()], limits).unwrap();
        assert_eq!(read(&ended).unwrap().outcome, Outcome::None);
    }

    #[test]
    fn every_published_algorithm_has_its_bug() {
        for cell in disc2022_table1() {
            let bug = bug(&cell.algorithm).expect("each has one");
            let text = corpus::algorithm(&cell.algorithm).expect("it is of the corpus").text;
            assert!(text.contains(&format!("\nbug {bug} ")), "{}: {bug}", cell.algorithm);
        }
    }
}
