//! FM 2009, Table 1.

use super::page::{Table, count, emphasised, time};
use crate::published::fm2009_table1;
use crate::record::Record;
use crate::tables::registers::METHODS;

const HEAD: &str = "\
## FM 2009, Table 1

Refinement checking of other objects: Liu, Chen, Liu and Sun's figures for PAT, on another machine,
and beside them `snapshot-verify check register --method refinement --executions full --updater 0`
with as many values, with and without partial order reduction (POR), where the object is a snapshot:
a register is one that a single process updates. The others, stacks and queues and more, are none.
Bold: ours takes longer. (Here steps are accesses, and every bit is one that others access, so the
reduction finds no step to put first; PAT's local steps are steps of their own.)

";

/// The figures, as they are published, and ours.
pub fn section(records: &[Record]) -> String {
    let mut table = Table::new([
        "object",
        "processes",
        "linearizable",
        "published",
        "ours",
        "published, with POR",
        "ours, with POR",
    ]);
    for row in fm2009_table1() {
        let [without, with] = METHODS.map(|(method, _)| {
            records.iter().find(|run| run.case == row.algorithm && run.method == method)
        });
        let published_without = row.states_without_por.zip(row.seconds_without_por);
        let published_with = (row.states_with_por, row.seconds_with_por);
        table.row([
            row.algorithm,
            row.processes.to_string(),
            row.linearizable.to_string(),
            published_without.map_or("-".to_owned(), published),
            without.map_or("-".to_owned(), |run| ours(run, row.seconds_without_por)),
            published(published_with),
            with.map_or("-".to_owned(), |run| ours(run, Some(row.seconds_with_por))),
        ]);
    }
    format!("{HEAD}{}", table.markdown())
}

fn published((states, seconds): (u64, f64)) -> String {
    format!("{} states, {seconds} s", count(states))
}

fn ours(run: &Record, published: Option<f64>) -> String {
    match run.states.filter(|_| run.outcome.is_answer()) {
        None => emphasised(&format!("more than {}", time(run.time_limit)), true),
        Some(states) => {
            let told = format!("{} states, {}", count(states), time(run.work()));
            emphasised(&told, published.is_some_and(|seconds| run.work() > seconds))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Outcome;
    use crate::render::tests::solved;

    #[test]
    fn what_takes_longer_is_bold() {
        let run = |method: &str, seconds| {
            let record = solved("4-valued register", "4-valued register", method, seconds);
            Record { states: Some(7446), ..record }
        };
        let text = section(&[run("without-por", 0.5), run("with-por", 7.0)]);
        assert!(text.contains("| 50,893 states, 6.14 s | 7,446 states, 500 ms |"), "{text}");
        assert!(text.contains("| 43,977 states, 5.72 s | **7,446 states, 7.00 s** |"), "{text}");
        let late = Record { outcome: Outcome::Time, states: None, ..run("with-por", 60.0) };
        let text = section(&[late]);
        assert!(text.contains("| 50,893 states, 6.14 s | - |"), "{text}");
        assert!(text.contains("| **more than 10.0 s** |"), "{text}");
    }
}
