//! FM 2009, Table 1: refinement checking of a register, a stack, queues and SNZI.

use std::fs;

use super::verification::ask;
use super::{Measuring, Question, TableError, program};
use crate::published::{Refinement, fm2009_table1};
use crate::record::Outcome;

/// The name of its records.
pub const TABLE: &str = "fm2009-table1";

/// Seconds that a search may take.
pub const PATIENCE: f64 = 120.0;

/// With and without partial order reduction, and the value of `--partial-order` for each.
pub const METHODS: [(&str, &str); 2] = [("without-por", "off"), ("with-por", "on")];

/// The rows of the quick size.
const QUICK: [&str; 2] = ["4-valued register", "buggy queue of size 10"];

/// How a row is asked of `snapshot-verify check`.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Asked {
    /// The algorithm of the corpus.
    pub algorithm: &'static str,
    /// Of a register, how many values it has, which its text says.
    pub register: Option<u32>,
    /// The options besides the number of processes and partial order reduction.
    pub options: Vec<String>,
}

impl Asked {
    fn new(algorithm: &'static str, options: &str) -> Self {
        let options = options.split_whitespace().map(str::to_owned).collect();
        Self { algorithm, register: None, options }
    }

    /// The size of a row that may be asked, and the question; `None` of what the corpus lacks:
    /// the mailbox.
    pub fn of(row: &Refinement) -> Option<(f64, Self)> {
        if let Some((values, _)) = row.algorithm.split_once("-valued register") {
            let values = values.parse().ok()?;
            let options = format!("--values {values} --updater 0 --executions full");
            let register = Self { register: Some(values), ..Self::new("register", &options) };
            return Some((f64::from(values), register));
        }
        let (object, size) = row.algorithm.split_once(" of size ")?;
        let (size, points) = match size.strip_suffix(" (points)") {
            Some(size) => (size, " --points"),
            None => (size, ""),
        };
        let size: u32 = size.parse().ok()?;
        let asked = match object {
            "stack" => Self::new("linked_stack", &format!("--size {size} --values 1{points}")),
            // Behind a process that is late, nodes stay for ever: without a bound there are
            // infinitely many states.
            "queue" => {
                Self::new("linked_queue", &format!("--size {size} --values 1 --operations {size}"))
            }
            "buggy queue" => Self::new(
                "array_queue",
                &format!("--size {size} --values 1 --bug stale_front --operations grow"),
            ),
            "SNZI" if row.processes == 2 => Self::new("snzi", ""),
            "SNZI" => Self::new("snzi", "--operations 3"),
            _ => return None,
        };
        Some((f64::from(size), asked))
    }

    /// As it is typed.
    pub fn command(&self) -> String {
        let words = [self.algorithm].into_iter().chain(self.options.iter().map(String::as_str));
        words.collect::<Vec<_>>().join(" ")
    }

    fn text(&self) -> String {
        let text = corpus::algorithm(self.algorithm).expect("it is of the corpus").text;
        match self.register {
            None => text.to_owned(),
            Some(values) => register(text, values),
        }
    }
}

/// The register of the corpus, which has four values, with this many.
fn register(text: &str, values: u32) -> String {
    let algorithm = text.lines().take_while(|line| !line.starts_with("bug "));
    let line = |line: &str| line.replace("..3", &format!("..{}", values - 1)) + "\n";
    algorithm.map(line).collect()
}

/// Measures all rows that can be asked; quick: two of them.
///
/// # Errors
/// If something cannot be run or recorded.
pub fn measure(measuring: &mut Measuring, quick: bool) -> Result<(), TableError> {
    let verifier = program("snapshot-verify")?;
    let directory = tempfile::tempdir()?;
    for row in fm2009_table1() {
        let Some((size, asked)) = Asked::of(&row) else { continue };
        if quick && !QUICK.contains(&&*row.algorithm) {
            continue;
        }
        let path = directory.path().join(format!("{}-{size}.snapshot", asked.algorithm));
        fs::write(&path, asked.text())?;
        let question = Question {
            case: row.case(),
            group: row.case(),
            x: Some(size),
            expected: Some(Outcome::of(row.linearizable)),
        };
        let path = path.to_string_lossy();
        let processes = row.processes.to_string();
        for (method, partial_order) in METHODS {
            let mut arguments = vec!["check", &path, "-n", &processes];
            arguments.extend(["--partial-order", partial_order]);
            arguments.extend(asked.options.iter().map(String::as_str));
            ask(measuring, &question, method, &verifier, &arguments)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_asked_is_the_mailbox() {
        let rows = fm2009_table1();
        let missing: Vec<_> = rows.iter().filter(|row| Asked::of(row).is_none()).collect();
        assert_eq!(missing.len(), 2);
        assert!(missing.iter().all(|row| row.algorithm.contains("mailbox")), "{missing:?}");
        let at_points = |row: &&Refinement| row.algorithm.contains("(points)");
        for row in rows.iter().filter(at_points) {
            assert!(Asked::of(row).unwrap().1.command().ends_with(" --points"), "{row:?}");
        }
    }

    #[test]
    fn rows_are_asked_of_algorithms_of_the_corpus_with_their_sizes() {
        for row in fm2009_table1() {
            let Some((size, asked)) = Asked::of(&row) else { continue };
            assert!(asked.text().starts_with(&format!("algorithm {}", asked.algorithm)));
            assert!(row.algorithm.contains(&size.to_string()), "{row:?}");
        }
    }

    #[test]
    fn no_two_rows_have_one_name() {
        let mut cases: Vec<String> = fm2009_table1().iter().map(Refinement::case).collect();
        cases.sort_unstable();
        assert!(cases.is_sorted_by(|one, next| one < next), "{cases:?}");
    }

    #[test]
    fn a_register_has_as_many_values_as_it_is_to_have() {
        let text = corpus::algorithm("register").unwrap().text;
        assert!(text.starts_with(register(text, 4).trim_end()));
        let six = register(text, 6);
        assert_eq!(six.matches("0..5").count(), 3, "{six}");
        assert!(six.contains("bits[1..5]") && !six.contains("..3"), "{six}");
    }
}
