//! `snapshot-test corpus`: checks the cases with known answers that ship with this program.

use std::fs;
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use serde::Serialize;
use snapshot_io::replacement;
use snapshot_test::conformance::{Family, Tally};
use snapshot_test::format::WriteError;

use super::check::ReportFormat;
use super::{print, print_data, trouble};

/// Exit code for a wrong case.
const WRONG: u8 = 1;

/// Checks the histories with known answers that ship with this program.
///
/// All certificates are confirmed, and exact search is run where it is affordable. Exit code: 0 if
/// every case is right, else 1.
#[derive(Debug, Args)]
pub struct Corpus {
    /// The family to check.
    #[arg(long, value_enum, default_value = "all")]
    family: FamilyName,
    /// List the cases and their answers instead.
    #[arg(long)]
    list: bool,
    /// Write the cases as text recordings into this directory instead, a
    /// directory in it for each family; files that exist are replaced.
    #[arg(long, value_name = "DIR", conflicts_with = "list")]
    write: Option<PathBuf>,
    /// The form of the report.
    #[arg(long, value_enum, default_value = "human", conflicts_with_all = ["list", "write"])]
    report: ReportFormat,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum FamilyName {
    /// Written by hand, in pairs that are one event apart.
    Twins,
    /// 900 simple histories by the recipe of the DISC 2022 paper.
    Published,
    /// 450 simple histories, with every case of a violation in turn.
    Cases,
    /// Long histories of many processes, wrong near their end, and their twins.
    Hard,
    /// Any process updates any segment; each wrong one needs a rule of the saturated
    /// relation, or consecutive ones; and their twins.
    ManyWriters,
    /// Immediate snapshots: by hand, the 19 profiles of three processes, and random ones
    /// with a violation of each condition; and their twins.
    Immediate,
    /// All families.
    All,
}

impl FamilyName {
    const fn families(self) -> &'static [Family] {
        match self {
            Self::Twins => &[Family::Twins],
            Self::Published => &[Family::Published],
            Self::Cases => &[Family::Cases],
            Self::Hard => &[Family::Hard],
            Self::ManyWriters => &[Family::ManyWriters],
            Self::Immediate => &[Family::Immediate],
            Self::All => &Family::ALL,
        }
    }
}

impl Corpus {
    pub fn run(self) -> ExitCode {
        let families = self.family.families();
        if self.list {
            return print(&list(families));
        }
        if let Some(directory) = self.write {
            return match write(families, &directory) {
                Ok(cases) => print(&format!("{cases} cases written to {}\n", directory.display())),
                Err(CannotWrite { path, error }) => {
                    trouble(format_args!("cannot write {}: {error}", path.display()))
                }
            };
        }
        let tallies: Vec<Tally> = families.iter().map(|family| Tally::new(*family)).collect();
        let printed = match self.report {
            ReportFormat::Human => print(&table(&tallies)),
            ReportFormat::Json => print_data(&json(&tallies)),
        };
        if printed == ExitCode::SUCCESS { ExitCode::from(code(&tallies)) } else { printed }
    }
}

/// Returns the exit code for these results.
fn code(tallies: &[Tally]) -> u8 {
    if tallies.iter().all(Tally::is_right) { 0 } else { WRONG }
}

fn list(families: &[Family]) -> String {
    let mut list = String::new();
    for family in families {
        for case in family.cases() {
            list += &format!("{}/{}: {}\n", family.name(), case.name, case.expectation());
        }
    }
    list
}

struct CannotWrite {
    path: PathBuf,
    error: io::Error,
}

/// Writes all cases. Returns their number.
fn write(families: &[Family], directory: &Path) -> Result<usize, CannotWrite> {
    let mut cases = 0;
    for family in families {
        let directory = directory.join(family.name());
        fs::create_dir_all(&directory)
            .map_err(|error| CannotWrite { path: directory.clone(), error })?;
        for case in family.cases() {
            let path = directory.join(format!("{}.txt", case.name));
            let written = replacement::write_with(&path, |file| case.write(BufWriter::new(file)));
            written.map_err(|error| match error {
                WriteError::Io(error) => CannotWrite { path, error },
                other => CannotWrite { path, error: io::Error::other(other) },
            })?;
            cases += 1;
        }
    }
    Ok(cases)
}

fn table(tallies: &[Tally]) -> String {
    let names = tallies.iter().map(|tally| tally.family.name().len());
    let width = names.chain(["family".len()]).max().unwrap_or_default();
    let mut table = format!(
        "{:<width$}  {:>5}  {:>5}  {:>5}  {:>12}  {:>8}  {:>7}  {:>7}\n",
        "family", "cases", "right", "wrong", "certificates", "searched", "events", "seconds"
    );
    let mut row = |name: &str, tallies: &[Tally]| {
        let sum = |count: fn(&Tally) -> usize| tallies.iter().map(count).sum::<usize>();
        let searched = match sum(|tally| tally.searched) {
            0 if tallies.iter().all(|tally| !tally.family.is_searchable()) => "-".to_owned(),
            searched => searched.to_string(),
        };
        table += &format!(
            "{name:<width$}  {:>5}  {:>5}  {:>5}  {:>12}  {searched:>8}  {:>7}  {:>7.3}\n",
            sum(|tally| tally.cases),
            sum(|tally| tally.right),
            sum(|tally| tally.wrong.len()),
            sum(|tally| tally.confirmed),
            sum(|tally| tally.events),
            tallies.iter().map(|tally| tally.elapsed.as_secs_f64()).sum::<f64>(),
        );
    };
    for tally in tallies {
        row(tally.family.name(), std::slice::from_ref(tally));
    }
    if tallies.len() > 1 {
        row("all", tallies);
    }
    for tally in tallies {
        for wrong in &tally.wrong {
            for fault in &wrong.faults {
                table += &format!("wrong: {}/{}: {fault}\n", tally.family.name(), wrong.name);
            }
        }
    }
    table
}

/// The output of `--report json`.
#[derive(Serialize)]
struct JsonReport<'a> {
    right: bool,
    families: Vec<JsonFamily<'a>>,
}

#[derive(Serialize)]
struct JsonFamily<'a> {
    family: &'static str,
    cases: usize,
    right: usize,
    wrong: Vec<JsonWrong<'a>>,
    certificates: usize,
    /// Absent if exact search is not run.
    #[serde(skip_serializing_if = "Option::is_none")]
    searched: Option<usize>,
    events: usize,
    seconds: f64,
}

#[derive(Serialize)]
struct JsonWrong<'a> {
    case: &'a str,
    faults: Vec<String>,
}

fn json(tallies: &[Tally]) -> String {
    let families = tallies.iter().map(|tally| JsonFamily {
        family: tally.family.name(),
        cases: tally.cases,
        right: tally.right,
        wrong: tally
            .wrong
            .iter()
            .map(|wrong| JsonWrong {
                case: &wrong.name,
                faults: wrong.faults.iter().map(ToString::to_string).collect(),
            })
            .collect(),
        certificates: tally.confirmed,
        searched: tally.family.is_searchable().then_some(tally.searched),
        events: tally.events,
        seconds: tally.elapsed.as_secs_f64(),
    });
    let report =
        JsonReport { right: tallies.iter().all(Tally::is_right), families: families.collect() };
    let mut text = serde_json::to_string(&report).expect("the report is made of text and numbers");
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use snapshot_test::conformance::{Fault, Wrong};

    use super::*;

    fn with_a_wrong_case() -> Tally {
        let fault = Fault::SearchExhausted { memory: 7 };
        Tally {
            family: Family::Published,
            cases: 3,
            right: 2,
            wrong: vec![Wrong { name: "a-1".to_owned(), faults: vec![fault] }],
            confirmed: 3,
            searched: 2,
            events: 40,
            elapsed: Duration::from_millis(1500),
        }
    }

    #[test]
    fn wrong_cases_are_listed_below_the_table() {
        let report = table(&[with_a_wrong_case()]);
        let expected = "\
family     cases  right  wrong  certificates  searched   events  seconds
published      3      2      1             3         2       40    1.500
wrong: published/a-1: exact search needs more than 7 bytes
";
        assert_eq!(report, expected);
    }

    #[test]
    fn table_has_a_row_of_sums_and_a_dash_if_not_searched() {
        let hard =
            Tally { family: Family::Hard, searched: 0, wrong: vec![], ..with_a_wrong_case() };
        let report = table(&[with_a_wrong_case(), hard]);
        let row = |name: &str| {
            let line = report.lines().find(|line| line.starts_with(name)).unwrap();
            line.split_whitespace().map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(row("hard"), ["hard", "3", "2", "0", "3", "-", "40", "1.500"]);
        assert_eq!(row("all"), ["all", "6", "4", "1", "6", "2", "80", "3.000"]);
        // The longest name gives the width of its column.
        let many = Tally { family: Family::ManyWriters, wrong: vec![], ..with_a_wrong_case() };
        let report = table(&[with_a_wrong_case(), many]);
        let lengths: Vec<usize> = report.lines().take(4).map(str::len).collect();
        assert!(lengths.windows(2).all(|pair| pair[0] == pair[1]), "{report}");
    }

    #[test]
    fn exit_code_is_1_for_a_wrong_or_unproved_case() {
        let right = Tally { wrong: vec![], ..with_a_wrong_case() };
        let unproved = Tally { confirmed: 2, ..right.clone() };
        assert_eq!(code(std::slice::from_ref(&right)), 0);
        assert_eq!(code(&[right.clone(), with_a_wrong_case()]), 1);
        assert_eq!(code(&[unproved, right]), 1);
    }

    #[test]
    fn json_report_lists_wrong_cases() {
        let report: serde_json::Value =
            serde_json::from_str(&json(&[with_a_wrong_case()])).unwrap();
        assert_eq!(report["right"], false);
        let wrong = &report["families"][0]["wrong"][0];
        assert_eq!(wrong["case"], "a-1");
        assert_eq!(wrong["faults"][0], "exact search needs more than 7 bytes");
    }
}
