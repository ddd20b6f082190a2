//! Bowman: ours against other model checkers.

use std::fmt::Write;

use super::page::{Table, count, digits, emphasised, median, memory, time};
use crate::record::{Outcome, Record};
use crate::tables::bowman::{METHODS, SAME_STATES};

/// The most of Spin's time, and of its memory per state, that ours may take.
const HALF: f64 = 0.5;

/// The section.
pub fn section(records: &[Record]) -> String {
    let mut text = String::from(
        "## Bowman, the pair (0,1): against other model checkers\n\n\
         One thread each, in turns; the median of the rounds. The last columns are what ours \
         takes of this row's processor time and of its memory per state (all of the process), \
         pair by pair in each round; bold: more than half of Spin's, in either way.\n\n",
    );
    let mut table = Table::new([
        "n",
        "checker",
        "states",
        "transitions",
        "CPU time",
        "memory",
        "bytes per state",
        "ours / its CPU time",
        "ours / its bytes per state",
    ]);
    let mut groups: Vec<&str> = records.iter().map(|record| record.group.as_str()).collect();
    groups.sort_unstable();
    groups.dedup();
    for group in groups {
        for (method, _) in METHODS {
            let of_group = records.iter().filter(|record| record.group == group);
            let runs: Vec<&Record> = of_group.filter(|record| record.method == method).collect();
            if !runs.is_empty() {
                table.row(row(records, group, method, &runs));
            }
        }
    }
    text.push_str(&table.markdown());
    text.push('\n');
    for (name, what) in METHODS {
        let _ = writeln!(text, "* {name}: {what}.");
    }
    text
}

fn bytes_per_state(record: &Record) -> Option<f64> {
    Some(record.peak_bytes as f64 / record.states? as f64)
}

fn row(records: &[Record], group: &str, method: &str, runs: &[&Record]) -> Vec<String> {
    let n = group.rsplit(' ').next().unwrap_or(group).to_owned();
    let done: Vec<&&Record> = runs.iter().filter(|run| run.outcome.is_answer()).collect();
    let Some(first) = done.first() else {
        let why = match runs.iter().any(|run| run.outcome == Outcome::Memory) {
            true => format!("more than {}", memory(runs[0].memory_limit as f64)),
            false => format!("more than {}", time(runs[0].time_limit)),
        };
        let mut row = vec![n, method.to_owned(), why];
        row.resize(9, "-".to_owned());
        return row;
    };
    let middle = |of: &dyn Fn(&Record) -> f64| median(done.iter().map(|run| of(run)));
    let ratio = |of: &dyn Fn(&Record) -> Option<f64>| -> String {
        if !SAME_STATES.contains(&method) || method == "ours" {
            return "-".to_owned();
        }
        let ratios: Vec<f64> = done
            .iter()
            .filter_map(|run| {
                let is_partner = |r: &&Record| r.method == "ours" && r.case == run.case;
                let ours = records.iter().find(is_partner)?;
                Some(of(ours).filter(|_| ours.outcome.is_answer())? / of(run)?)
            })
            .collect();
        if ratios.is_empty() {
            return "-".to_owned();
        }
        let ratio = median(ratios);
        emphasised(&digits(ratio), ratio > HALF && method.starts_with("spin"))
    };
    vec![
        n,
        method.to_owned(),
        first.states.map_or("-".to_owned(), count),
        first.transitions.map_or("-".to_owned(), count),
        time(middle(&|run| run.cpu_seconds)),
        memory(middle(&|run| run.peak_bytes as f64)),
        bytes_per_state(first).map_or("-".to_owned(), digits),
        ratio(&|run| Some(run.cpu_seconds)),
        ratio(&bytes_per_state),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::tests::solved;

    fn run(method: &str, seconds: f64, bytes: u64) -> Record {
        let record = solved("bowman, n = 4", "bowman, n = 4, round 1", method, seconds);
        Record { states: Some(1 << 20), transitions: Some(1 << 22), peak_bytes: bytes, ..record }
    }

    #[test]
    fn more_than_half_of_spin_is_bold() {
        let text = section(&[run("ours", 1.0, 10 << 20), run("spin", 2.5, 16 << 20)]);
        assert!(text.contains("| 16.0 | 0.40 | **0.62** |"), "{text}");
        let text = section(&[run("ours", 1.0, 8 << 20), run("stateright", 1.5, 16 << 20)]);
        assert!(text.contains("| 16.0 | 0.67 | 0.50 |"), "{text}");
    }

    #[test]
    fn a_search_that_does_not_finish_has_no_ratio() {
        let mut spin = run("spin", 600.0, 1);
        spin.outcome = Outcome::Time;
        let text = section(&[run("ours", 1.0, 8 << 20), spin]);
        assert!(text.contains("| 4 | spin | more than 10.0 s | - |"), "{text}");
    }
}
