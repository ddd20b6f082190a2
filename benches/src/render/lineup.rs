//! The paper's Table 2 of Line-Up, from records of surveys, with the published figures beside it.

use std::fmt::Write;

use ::lineup::survey::Record;

use super::page::Table;
use crate::published::LineUp;

/// A row per subject: its random tests of 3 x 3 if it has them, else others.
pub fn section(records: &[Record], published: &[LineUp]) -> String {
    let mut text = String::from(
        "## PLDI 2010, Table 2: Line-Up\n\n\
         Line-Up on objects of ours and on published crates, compiled unmodified \
         (`docs/lineup.md`, `subjects/FINDINGS.md`): random tests, executions with up to two \
         preemptions, one core. `pass` and `fail` are of the tests that were run within the \
         budget: nothing is known of the others. Smallest: the smallest failing test of all \
         series. Published: .NET classes of the same kind, 100 tests of 3 x 3 each, on one core \
         of a 2.33 GHz Xeon; beside each of our subjects of its kind, right and wrong ones.\n\n",
    );
    let mut table = Table::new([
        "subject",
        "smallest",
        "histories",
        "run of",
        "pass",
        "fail",
        "unknown",
        "avg pass [s]",
        "avg fail [s]",
        "published",
        "smallest",
        "histories",
        "pass",
        "fail",
        "avg pass [min]",
        "avg fail [min]",
    ]);
    let mut subjects: Vec<&str> = records.iter().map(|record| record.subject.as_str()).collect();
    subjects.dedup();
    for subject in &subjects {
        let own: Vec<&Record> = records.iter().filter(|r| r.subject == *subject).collect();
        let is_random = |r: &&&Record| r.tests.starts_with("random:") && !r.tests.contains("init");
        let three = own.iter().filter(is_random).find(|r| r.tests.starts_with("random:3x3"));
        let Some(record) = three.or_else(|| own.iter().find(is_random)) else { continue };
        let like = published.iter().find(|p| p.is_like(subject));
        table.row([ours(record, &own), theirs(like)].concat());
    }
    text.push_str(&table.markdown());
    let classes = published.iter().filter(|p| !subjects.iter().any(|s| p.is_like(s)));
    let left: Vec<&str> = classes.map(|p| p.class.as_str()).collect();
    if !left.is_empty() {
        let _ = writeln!(text, "\nPublished, without a subject like it here: {}.", left.join(", "));
    }
    text
}

fn ours(record: &Record, all: &[&Record]) -> Vec<String> {
    let seconds = |s: Option<f64>| s.map_or_else(|| "-".to_owned(), |s| format!("{s:.3}"));
    let dimensions = all.iter().filter_map(|r| r.rows.zip(r.columns));
    let dimension = dimensions.min_by_key(|(rows, columns)| (rows * columns, *rows));
    vec![
        record.subject.clone(),
        dimension.map_or_else(|| "-".to_owned(), |(rows, columns)| format!("{rows}x{columns}")),
        format!("{:.0}", record.histories),
        format!("{} of {}", record.run, record.number),
        record.passed.to_string(),
        record.failed.to_string(),
        record.unknown.to_string(),
        seconds(record.pass_seconds),
        seconds(record.fail_seconds),
    ]
}

fn theirs(published: Option<&LineUp>) -> Vec<String> {
    let Some(p) = published else { return vec!["-".to_owned(); 7] };
    let minutes = |m: Option<f64>| m.map_or_else(|| "-".to_owned(), |m| m.to_string());
    vec![
        p.class.clone(),
        if p.smallest.is_empty() { "-".to_owned() } else { p.smallest.clone() },
        p.histories.to_string(),
        p.pass.to_string(),
        p.fail.to_string(),
        minutes(p.pass_minutes),
        minutes(p.fail_minutes),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(subject: &str, tests: &str, failed: u64) -> Record {
        Record {
            subject: subject.to_owned(),
            tests: tests.to_owned(),
            seed: 0,
            preemptions: Some(2),
            limit: None,
            number: 100,
            run: 40,
            passed: 40 - failed,
            complete: 3,
            failed,
            unknown: 0,
            failed_serially: 0,
            failed_0: 0,
            failed_1: failed,
            failed_2: 0,
            tried_0: 40 - failed,
            tried_1: 40 - failed,
            tried_2: 30,
            histories: 1_234.5,
            histories_most: 1_680,
            phase_1: 0.0125,
            phase_1_most: 0.5,
            pass_seconds: Some(0.75),
            fail_seconds: None,
            executions: 1_000,
            seconds: 0.25,
            smallest: (failed > 0).then(|| "push(1) pop() | pop()".to_owned()),
            rows: (failed > 0).then_some(2),
            columns: (failed > 0).then_some(2),
            reason: None,
        }
    }

    #[test]
    fn the_section_has_our_figures_and_the_published_ones() {
        let records = [record("Seg", "all:2x2", 3), record("Seg", "random:3x3:100", 0)];
        let text = section(&records, &crate::published::pldi2010_table2());
        assert!(
            text.contains("| Seg | 2x2 | 1234 | 40 of 100 | 40 | 0 | 0 | 0.750 | - |"),
            "{text}"
        );
        assert!(text.contains("without a subject like it here: "), "{text}");
        let queue = section(
            &[record("QueuePre", "random:3x3:100", 3)],
            &crate::published::pldi2010_table2(),
        );
        assert!(queue.contains("| ConcurrentQueue(Pre) |"), "{queue}");
    }
}
