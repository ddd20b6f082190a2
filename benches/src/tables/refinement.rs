//! FM 2009, Table 1: those of its objects that are snapshots with one writer, which are
//! the registers.

use std::fs;

use super::verification::ask;
use super::{Measuring, Question, TableError, program};
use crate::published::{Refinement, fm2009_table1};
use crate::record::Outcome;

/// The name of its records.
pub const TABLE: &str = "fm2009-table1";

/// Seconds that a search may take.
pub const PATIENCE: f64 = 60.0;

/// With and without partial order reduction, and the value of `--partial-order` for each.
pub const METHODS: [(&str, &str); 2] = [("without-por", "off"), ("with-por", "on")];

/// How many values the quick size has.
const QUICK: u32 = 4;

/// How many values the register of a row has, if it is one.
pub fn values(row: &Refinement) -> Option<u32> {
    let (values, _) = row.algorithm.split_once("-valued register")?;
    values.parse().ok()
}

/// The register of the corpus, which has four values, with this many.
fn text(values: u32) -> String {
    let register = corpus::algorithm("register").expect("it is of the corpus").text;
    let algorithm = register.lines().take_while(|line| !line.starts_with("bug "));
    let line = |line: &str| line.replace("..3", &format!("..{}", values - 1)) + "\n";
    algorithm.map(line).collect()
}

/// Measures all registers; quick: the smallest.
///
/// # Errors
/// If something cannot be run or recorded.
pub fn measure(measuring: &mut Measuring, quick: bool) -> Result<(), TableError> {
    let verifier = program("snapshot-verify")?;
    let directory = tempfile::tempdir()?;
    for row in fm2009_table1() {
        let Some(values) = values(&row).filter(|&values| !quick || values == QUICK) else {
            continue;
        };
        let path = directory.path().join(format!("register-{values}.snapshot"));
        fs::write(&path, text(values))?;
        let question = Question {
            case: row.algorithm.clone(),
            group: row.algorithm,
            x: Some(f64::from(values)),
            expected: Some(Outcome::of(row.linearizable)),
        };
        let path = path.to_string_lossy();
        let [processes, values] = [row.processes.to_string(), values.to_string()];
        for (method, partial_order) in METHODS {
            let arguments = [
                ["check", &path, "-n", &processes, "--values", &values],
                ["--updater", "0", "--executions", "full", "--partial-order", partial_order],
            ];
            ask(measuring, &question, method, &verifier, &arguments.concat())?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registers_are_the_first_rows() {
        let registers: Vec<_> = fm2009_table1().iter().map(values).collect();
        assert_eq!(registers[..5], [Some(4), Some(5), Some(6), Some(3), None]);
        assert!(registers[5..].iter().all(Option::is_none));
    }

    #[test]
    fn a_register_has_as_many_values_as_it_is_to_have() {
        let register = corpus::algorithm("register").unwrap().text;
        assert!(register.starts_with(text(4).trim_end()));
        let six = text(6);
        assert_eq!(six.matches("0..5").count(), 3, "{six}");
        assert!(six.contains("bits[1..5]") && !six.contains("..3"), "{six}");
    }
}
