//! The published figures: data, in `benches/published`, with their source.

use serde::Deserialize;
use serde::de::{self, DeserializeOwned, Deserializer};

/// The largest bound on operations per process that a method managed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Bound {
    /// This many per process.
    Operations(u32),
    /// Any number.
    Unbounded,
}

impl<'de> Deserialize<'de> for Bound {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        match text.as_str() {
            "unbounded" => Ok(Self::Unbounded),
            number => number.parse().map(Self::Operations).map_err(de::Error::custom),
        }
    }
}

/// A cell of Table 1 or 2 of the DISC 2022 paper; nothing in it: not within limits.
#[derive(Clone, Debug, Deserialize, PartialEq)]
pub struct Cell {
    /// As the corpus calls it.
    pub algorithm: String,
    /// n.
    pub processes: usize,
    /// `normal`, `simple` or `polynomial`.
    pub method: String,
    /// The largest bound.
    pub bound: Option<Bound>,
    /// With that bound.
    pub seconds: Option<f64>,
    /// With that bound.
    pub gigabytes: Option<f64>,
}

impl Cell {
    /// Whether it is about this algorithm and n.
    pub fn is_of(&self, algorithm: &str, processes: usize) -> bool {
        self.algorithm == algorithm && self.processes == processes
    }
}

/// A configuration of histories in Table 3 or 4 of the DISC 2022 paper.
#[derive(Clone, Debug, Deserialize, PartialEq)]
pub struct Configuration {
    /// n.
    pub processes: usize,
    /// The paper's length: two per operation.
    pub events: usize,
    /// `this-paper` or `lowe`.
    pub method: String,
    /// Share of 25 that ended within ten minutes.
    pub terminated_percent: f64,
    /// Of those.
    pub median_seconds: Option<f64>,
    /// Of those.
    pub median_megabytes: Option<f64>,
}

/// A row of Table 1 of the FM 2009 paper.
#[derive(Clone, Debug, Deserialize, PartialEq)]
pub struct Refinement {
    /// As printed.
    pub algorithm: String,
    /// n.
    pub processes: usize,
    /// The answer.
    pub linearizable: bool,
    /// Without partial-order reduction.
    pub seconds_without_por: Option<f64>,
    /// Without partial-order reduction.
    pub states_without_por: Option<u64>,
    /// With partial-order reduction.
    pub seconds_with_por: f64,
    /// With partial-order reduction.
    pub states_with_por: u64,
}

impl Refinement {
    /// The name of the row: two rows may be of one algorithm, for different n.
    pub fn case(&self) -> String {
        format!("{}, n = {}", self.algorithm, self.processes)
    }
}

fn rows<R: DeserializeOwned>(text: &str) -> Vec<R> {
    let rows = csv::Reader::from_reader(text.as_bytes()).into_deserialize();
    rows.collect::<Result<_, _>>().expect("the published figures are part of the program")
}

/// DISC 2022, Table 1: bugs.
pub fn disc2022_table1() -> Vec<Cell> {
    rows(include_str!("../published/disc2022-table1.csv"))
}

/// DISC 2022, Table 2: correct algorithms.
pub fn disc2022_table2() -> Vec<Cell> {
    rows(include_str!("../published/disc2022-table2.csv"))
}

/// DISC 2022, Table 3: linearizable histories.
pub fn disc2022_table3() -> Vec<Configuration> {
    rows(include_str!("../published/disc2022-table3.csv"))
}

/// DISC 2022, Table 4: non-linearizable histories.
pub fn disc2022_table4() -> Vec<Configuration> {
    rows(include_str!("../published/disc2022-table4.csv"))
}

/// FM 2009, Table 1.
pub fn fm2009_table1() -> Vec<Refinement> {
    rows(include_str!("../published/fm2009-table1.csv"))
}

/// A row of Figure 15 of Lawrence and Lowe, "Synchronisation: Specification and Testing":
/// milliseconds to find a mistake, with 95 % confidence intervals.
#[derive(Clone, Debug, Deserialize, PartialEq)]
pub struct Found {
    /// As printed.
    pub object: String,
    /// By the direct tester.
    pub direct: f64,
    /// Half of the interval.
    pub direct_error: f64,
    /// By two-step linearization, in Figure 15 only.
    pub two_step: Option<f64>,
    /// Half of the interval.
    pub two_step_error: Option<f64>,
}

/// Figure 15 of the same: mistakes that break synchronisation linearisation.
pub fn lawrence_figure15() -> Vec<Found> {
    rows(include_str!("../published/lawrence-figure15.csv"))
}

/// Figure 16 of the same: mistakes that break progressibility.
pub fn lawrence_figure16() -> Vec<Found> {
    rows(include_str!("../published/lawrence-figure16.csv"))
}

/// A row of Table 2 of the PLDI 2010 paper, with the subjects of ours that are like it.
#[derive(Clone, Debug, Deserialize, PartialEq)]
pub struct LineUp {
    /// The class of .NET.
    pub class: String,
    /// The causes of its failures, as the paper names them.
    pub causes: String,
    /// The smallest failing tests.
    pub smallest: String,
    /// Serial histories per test of 3 x 3: the mean.
    pub histories: u64,
    /// The largest number of these.
    pub histories_most: u64,
    /// Of 100 random tests of 3 x 3, those that passed.
    pub pass: u64,
    /// Those that failed.
    pub fail: u64,
    /// Minutes of a test that passed: the mean.
    pub pass_minutes: Option<f64>,
    /// Minutes of a test that failed: the mean.
    pub fail_minutes: Option<f64>,
    /// The largest number of preemptions.
    pub preemptions: u32,
    /// Names of subjects of ours, between spaces.
    pub subjects: String,
}

impl LineUp {
    /// Whether a subject is like the class.
    pub fn is_like(&self, subject: &str) -> bool {
        self.subjects.split_whitespace().any(|name| name == subject)
    }
}

/// PLDI 2010, Table 2.
pub fn pldi2010_table2() -> Vec<LineUp> {
    rows(include_str!("../published/pldi2010-table2.csv"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_ups_table_is_whole() {
        let rows = pldi2010_table2();
        assert_eq!(rows.len(), 18);
        assert!(rows.iter().all(|row| row.pass + row.fail == 100));
        assert!(rows.iter().all(|row| (row.fail > 0) != row.smallest.is_empty()));
        assert!(rows.iter().all(|row| row.histories <= row.histories_most));
    }

    /// What the paper says in words about its tables (section 7.6).
    #[test]
    fn the_figures_add_up_to_what_the_paper_says() {
        let bugs = disc2022_table1();
        let solved = |method: &str| {
            bugs.iter().filter(|cell| cell.method == method && cell.bound.is_some()).count()
        };
        let counts = ["normal", "simple", "polynomial"].map(solved);
        assert_eq!(counts, [14, 20, 26]);
        let peak = |method: &str| {
            let cells = bugs.iter().filter(|cell| cell.method == method);
            cells.filter_map(|cell| cell.gigabytes).fold(0.0, f64::max)
        };
        assert_eq!((peak("polynomial"), peak("normal")), (4.4, 22.8));

        let histories = [disc2022_table3(), disc2022_table4()].concat();
        assert_eq!(histories.len(), 72);
        let terminated = |method: &str| -> f64 {
            let rows = histories.iter().filter(|row| row.method == method);
            rows.map(|row| row.terminated_percent / 4.0).sum()
        };
        assert_eq!(terminated("this-paper"), 900.0);
        // The paper's text says 554; its tables say this many.
        assert_eq!(terminated("lowe"), 590.0);
    }

    #[test]
    fn all_tables_are_whole() {
        assert_eq!((disc2022_table1().len(), disc2022_table2().len()), (90, 60));
        assert_eq!(fm2009_table1().len(), 19);
        let algorithms = disc2022_table2();
        assert!(algorithms.iter().all(|cell| corpus::algorithm(&cell.algorithm).is_some()));
        assert!(algorithms.iter().all(|cell| cell.bound.is_some() == cell.seconds.is_some()));
    }
}
