//! FM 2009, Table 1.

use super::page::{Table, count, emphasised, time};
use crate::published::fm2009_table1;
use crate::record::Record;
use crate::tables::refinement::{Asked, METHODS};

const HEAD: &str = "\
## FM 2009, Table 1

Refinement checking of other objects: Liu, Chen, Liu and Sun's figures for PAT, on another machine,
and beside them those of `snapshot-verify check ALGORITHM`, all executions, with and without partial
order reduction (`--partial-order`, POR). Where no bound on operations stands there is none. The
models are not the same, so neither are the numbers of states: PAT's texts are not in the paper. Here
steps are accesses and nodes are collected; `--values 1`, since stacks and queues move values and
do not look at them; the queue is bounded to as many operations of each process as its size, as without
a bound a late process keeps nodes for ever; the buggy queue is bounded by 1, 2, ...; SNZI has two leaves,
and three operations of each of three processes; rows with points ask for `--points`. The mailbox is
not in the corpus. Bold: ours takes longer.

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
        "asked",
    ]);
    for row in fm2009_table1() {
        let [without, with] = METHODS.map(|(method, _)| {
            records.iter().find(|run| run.case == row.case() && run.method == method)
        });
        let published_without = row.states_without_por.zip(row.seconds_without_por);
        let published_with = (row.states_with_por, row.seconds_with_por);
        let asked =
            Asked::of(&row).map_or("-".to_owned(), |(_, asked)| format!("`{}`", asked.command()));
        table.row([
            row.algorithm,
            row.processes.to_string(),
            row.linearizable.to_string(),
            published_without.map_or("-".to_owned(), published),
            without.map_or("-".to_owned(), |run| ours(run, row.seconds_without_por)),
            published(published_with),
            with.map_or("-".to_owned(), |run| ours(run, Some(row.seconds_with_por))),
            asked,
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
            let name = "4-valued register, n = 2";
            let record = solved(name, name, method, seconds);
            Record { states: Some(7446), ..record }
        };
        let text = section(&[run("without-por", 0.5), run("with-por", 7.0)]);
        assert!(text.contains("| 50,893 states, 6.14 s | 7,446 states, 500 ms |"), "{text}");
        assert!(text.contains("| 43,977 states, 5.72 s | **7,446 states, 7.00 s** |"), "{text}");
        // Of two rows of one algorithm each has its own.
        let name = "stack of size 2 (points), n = 4";
        let four = Record { states: Some(7), ..solved(name, name, "with-por", 1.0) };
        let text = section(&[four]);
        assert!(text.contains("| 219,471 states, 49.4 s | 7 states, 1.00 s |"), "{text}");
        assert!(text.contains("| 10,385 states, 1.56 s | - |"), "{text}");
        let late = Record { outcome: Outcome::Time, states: None, ..run("with-por", 60.0) };
        let text = section(&[late]);
        assert!(text.contains("| 50,893 states, 6.14 s | - |"), "{text}");
        assert!(text.contains("| **more than 10.0 s** |"), "{text}");
    }
}
