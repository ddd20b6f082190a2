//! Proofs for every n, beside the largest n that others reach.

use std::fmt::Write;

use super::page::{Table, count, memory, time};
use crate::published::{Bound, Cell, disc2022_table2};
use crate::record::Record;
use crate::tables::every::{METHODS, algorithms};
use crate::tables::{bowman, verification};

/// The section; `search` and `peers` are the records of Table 2 and of bowman.
pub fn section(records: &[Record], search: &[Record], peers: &[Record]) -> String {
    let mut text = String::from(
        "## Every n\n\n\
         Proofs for every n, all pairs and any number of operations, from the texts of the \
         corpus; their certificates, and the independent check of these. Views are the abstract \
         states of the rungs (docs/every-n.md) that hold, each given by its views and time. On the right \
         the largest n that others reach: the paper with any number of operations and with a bound \
         (PAT, within an hour, on another machine, one pair), Spin and stateright where they were \
         measured (any number of operations, one pair), and the search of this project, likewise. \
         ?: not proved within the limits.\n\n",
    );
    let mut table = Table::new([
        "algorithm",
        "obligations",
        "views",
        "proof",
        "certificate: views",
        "bytes",
        "made",
        "checked",
        "checked / proof",
        "paper, ∞",
        "paper, bounded",
        "Spin",
        "stateright",
        "search, ∞",
    ]);
    for algorithm in algorithms() {
        let of: Vec<&Record> = records.iter().filter(|one| one.group == algorithm).collect();
        if !of.is_empty() {
            table.row(row(&algorithm, &of, search, peers));
        }
    }
    text.push_str(&table.markdown());
    text.push('\n');
    for (name, what) in METHODS {
        let _ = writeln!(text, "* {name}: {what}.");
    }
    text
}

fn row(algorithm: &str, of: &[&Record], search: &[Record], peers: &[Record]) -> Vec<String> {
    let is_solved = |record: &&&Record| record.outcome.is_answer() && !record.is_wrong();
    let find =
        |method: &str| of.iter().filter(is_solved).find(|record| record.method == method).copied();
    let [proof, made, checked] = METHODS.map(|(method, _)| find(method));
    let cell = |record: Option<&Record>, of: &dyn Fn(&Record) -> Option<String>| {
        record.and_then(of).unwrap_or_else(|| "?".to_owned())
    };
    let is_part = |record: &&&Record| METHODS.iter().all(|(method, _)| record.method != *method);
    let parts: Vec<String> = of.iter().filter(is_part).map(|part| described(part)).collect();
    let seconds = |record: &Record| Some(time(record.work()));
    let ratio = proof.zip(checked).map(|(proof, checked)| checked.work() / proof.work());
    let cells: Vec<Cell> = disc2022_table2();
    let published = |is: &dyn Fn(Bound) -> bool| {
        let reached = cells.iter().filter(|cell| cell.algorithm == algorithm);
        let reached = reached.filter(|cell| cell.bound.is_some_and(is));
        largest(reached.map(|cell| cell.processes))
    };
    let explored = |records: &[Record], method: &str| {
        let name = |record: &&Record| record.method == method && record.outcome.is_answer();
        let solved = records.iter().filter(name);
        let sizes = (2..=20).filter(|n| {
            solved.clone().any(|record| record.group == verification::group(algorithm, *n))
        });
        largest(sizes)
    };
    vec![
        algorithm.to_owned(),
        if parts.is_empty() { "?".to_owned() } else { parts.join("; ") },
        cell(proof, &|record| record.states.map(count)),
        cell(proof, &seconds),
        cell(made, &|record| record.states.map(count)),
        cell(made, &|record| record.transitions.map(|bytes| memory(bytes as f64))),
        cell(made, &seconds),
        cell(checked, &seconds),
        ratio.map_or("?".to_owned(), super::page::digits),
        published(&|bound| bound == Bound::Unbounded),
        published(&|_| true),
        explored(peers, bowman::METHODS[1].0),
        explored(peers, bowman::METHODS[3].0),
        explored(search, verification::SEARCH),
    ]
}

fn described(part: &Record) -> String {
    let views = part.states.map_or_else(String::new, |views| format!(", {}", count(views)));
    format!("{}{views}, {}", part.method, time(part.work()))
}

fn largest(sizes: impl Iterator<Item = usize>) -> String {
    sizes.max().map_or("-".to_owned(), |n| n.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Outcome;
    use crate::render::tests::solved;

    #[test]
    fn what_is_not_proved_is_a_question() {
        let with = |method: &str, seconds: f64| Record {
            states: Some(21_835),
            transitions: Some(1 << 20),
            ..solved("bowman", "bowman, every n", method, seconds)
        };
        let mut open = solved("riany", "riany, every n", "proof", 9.0);
        open.outcome = Outcome::None;
        let records =
            [with("proof", 0.5), with("scans.observer", 0.25), with("certificate", 1.0), open];
        let search = [solved("bowman, n = 4", "", "unbounded", 1.0)];
        let peers = [solved("bowman, n = 5", "", "spin", 1.0)];
        let text = section(&records, &search, &peers);
        let bowman = "| bowman | scans.observer, 21,835, 250 ms | 21,835 | 500 ms | 21,835 | 1.00 MiB \
                      | 1.00 s | ? | ? | 4 | 5 | 5 | - | 4 |";
        assert!(text.contains("| riany | ? | ? | ? | ? | ? | ? | ? | ? |"), "{text}");
        assert!(text.contains(bowman), "{text}");
    }
}
