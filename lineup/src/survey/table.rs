//! The paper's Table 2, from records of surveys, with the published figures beside it.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::Deserialize;
use thiserror::Error;

use super::Record;

/// The heading of the section.
pub const HEADING: &str = "## PLDI 2010, Table 2: Line-Up";

/// A row of the published table, with the subjects of ours that are like it.
#[derive(Clone, Debug, Deserialize, PartialEq)]
pub struct Published {
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

/// A line that is no record, or no published row.
#[derive(Debug, Error)]
#[error("record {number}: {message}")]
pub struct RecordError {
    /// Its number, from 1, the header left out.
    pub number: usize,
    /// What is wrong with it.
    pub message: String,
}

fn rows<T: for<'a> Deserialize<'a>>(text: &str) -> Result<Vec<T>, RecordError> {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let rows = reader.deserialize().enumerate().map(|(index, row)| {
        row.map_err(|error: csv::Error| RecordError {
            number: index + 1,
            message: error.to_string(),
        })
    });
    rows.collect()
}

/// The records of a CSV file.
///
/// # Errors
/// At the first line that is none.
pub fn records(text: &str) -> Result<Vec<Record>, RecordError> {
    rows(text)
}

/// The published table, of a CSV file.
///
/// # Errors
/// At the first line that is none.
pub fn published(text: &str) -> Result<Vec<Published>, RecordError> {
    rows(text)
}

/// The lines of records, with a header.
pub fn lines(records: &[Record]) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    // Texts and numbers always have a line, and a vector always has room.
    let written = records.iter().all(|record| writer.serialize(record).is_ok());
    debug_assert!(written, "a record that is no line");
    String::from_utf8(writer.into_inner().unwrap_or_default()).unwrap_or_default()
}

/// Records in the order in which their subjects and tests came first; what was measured again
/// takes the place of what was.
pub fn latest(records: Vec<Record>) -> Vec<Record> {
    let mut places: BTreeMap<(String, String), usize> = BTreeMap::new();
    let mut kept: Vec<Record> = Vec::new();
    for record in records {
        let key = (record.subject.clone(), record.tests.clone());
        match places.get(&key) {
            Some(place) => kept[*place] = record,
            None => {
                places.insert(key, kept.len());
                kept.push(record);
            }
        }
    }
    kept
}

/// The page with this section in place of an earlier one, or at its end.
pub fn replaced(page: &str, section: &str) -> String {
    let Some(start) = page.find(&format!("{HEADING}\n")) else {
        return format!("{}\n\n{section}", page.trim_end());
    };
    let rest = &page[start + HEADING.len()..];
    match rest.find("\n## ") {
        Some(end) => format!("{}{section}{}", &page[..start], &rest[end..]),
        None => format!("{}{section}", &page[..start]),
    }
}

/// The section of a page of results: what was tried of each subject, and Table 2.
pub fn section(records: &[Record], published: &[Published]) -> String {
    let mut text = format!(
        "{HEADING}\n\n\
         Line-Up on objects of ours and on published crates (`docs/lineup.md`, \
         `subjects/FINDINGS.md`), from `record/lineup.csv`: executions with up to two preemptions, \
         one core. The crates are compiled unmodified. Times are of the wall clock: what else the \
         machine did counts, too.\n\n\
         Failing tests of those that were run; of how many, where the budget ended before all \
         were; `n?`: without answer. So `0 of 2 (of 100)` is no pass of a hundred tests: two were \
         run and did not fail, and nothing is known of 98.\n\n"
    );
    let mut kinds: Vec<&str> = Vec::new();
    let mut subjects: Vec<&str> = Vec::new();
    for record in records {
        if !kinds.contains(&record.tests.as_str()) {
            kinds.push(&record.tests);
        }
        if !subjects.contains(&record.subject.as_str()) {
            subjects.push(&record.subject);
        }
    }
    let of = |subject: &str| records.iter().filter(|r| r.subject == subject).collect::<Vec<_>>();
    for kind in &kinds {
        text.push_str(&coverage(kind, records));
    }
    text.push('\n');
    head(
        &mut text,
        &[&["subject", "smallest failing test"][..], &kinds, &["executions/s"]].concat(),
    );
    for subject in &subjects {
        let own = of(subject);
        let mut cells = vec![(*subject).to_owned(), smallest(&own)];
        for kind in &kinds {
            let record = own.iter().find(|record| record.tests == *kind);
            cells.push(record.map_or_else(|| "-".to_owned(), |record| tried(record)));
        }
        let (executions, seconds) = own.iter().fold((0, 0.0), |(executions, seconds), record| {
            (executions + record.executions, seconds + record.seconds)
        });
        cells.push(format!("{:.0}", executions as f64 / f64::max(seconds, 1e-9)));
        row(&mut text, &cells);
    }
    text.push_str(
        "\nTable 2, of random tests. Ours: `pass`, `fail` and `unknown` are of the tests that were \
         run, at most those of the table above. Published: .NET classes of the same kind, 100 \
         tests of 3 x 3 each, all of them run, on one core of a 2.33 GHz Xeon; times in minutes. \
         A class is beside each of our subjects of its kind, right and wrong ones.\n\n",
    );
    head(
        &mut text,
        &[
            "subject",
            "dimension",
            "histories",
            "most",
            "phase 1 [ms]",
            "most",
            "pass",
            "fail",
            "unknown",
            "avg pass [s]",
            "avg fail [s]",
            "all up to 2 preemptions",
            "published",
            "dimension",
            "histories",
            "most",
            "pass",
            "fail",
            "avg pass [min]",
            "avg fail [min]",
            "preemptions",
        ],
    );
    for subject in &subjects {
        let own = of(subject);
        let is_random = |r: &&&Record| r.tests.starts_with("random:") && !r.tests.contains("init");
        let three = own.iter().filter(is_random).find(|r| r.tests.starts_with("random:3x3"));
        let Some(record) = three.or_else(|| own.iter().find(is_random)) else { continue };
        let like = published.iter().find(|p| p.is_like(subject));
        row(&mut text, &[ours(record, &own), theirs(like)].concat());
    }
    let classes = published.iter().filter(|p| !subjects.iter().any(|s| p.is_like(s)));
    let left: Vec<&str> = classes.map(|p| p.class.as_str()).collect();
    if !left.is_empty() {
        let _ = writeln!(text, "\nPublished, without a subject like it here: {}.", left.join(", "));
    }
    let reasons: Vec<String> = records
        .iter()
        .filter_map(|r| {
            let reason = r.reason.as_ref()?;
            Some(format!("* {}, {}: {} without answer: {reason}\n", r.subject, r.tests, r.unknown))
        })
        .collect();
    if !reasons.is_empty() {
        let _ = write!(text, "\n{}", reasons.concat());
    }
    text
}

impl Published {
    fn is_like(&self, subject: &str) -> bool {
        self.subjects.split_whitespace().any(|name| name == subject)
    }
}

fn row(text: &mut String, cells: &[String]) {
    let _ = writeln!(text, "| {} |", cells.join(" | "));
}

fn head(text: &mut String, names: &[&str]) {
    let _ = writeln!(text, "| {} |", names.join(" | "));
    let _ = writeln!(text, "| {} |", vec!["---"; names.len()].join(" | "));
}

/// The smallest failing test of all records of a subject.
fn smallest(records: &[&Record]) -> String {
    let length = |test: &&String| test.split([' ', '|']).filter(|word| !word.is_empty()).count();
    let tests = records.iter().filter_map(|record| record.smallest.as_ref());
    // A bar would end the cell.
    let shown = |test: &String| format!("`{}`", test.replace('|', "\\|"));
    tests.min_by_key(length).map_or_else(|| "-".to_owned(), shown)
}

/// How much of one series of tests was run, of all subjects.
fn coverage(kind: &str, records: &[Record]) -> String {
    let of: Vec<&Record> = records.iter().filter(|record| record.tests == kind).collect();
    let whole = of.iter().filter(|record| record.run >= record.number).count();
    let run: u64 = of.iter().map(|record| record.run).sum();
    let number: u64 = of.iter().map(|record| record.number).sum();
    format!(
        "* `{kind}`: all tests of {whole} of {} subjects were run; for the others the budget ended \
         first. In all, {run} of {number} tests were run.\n",
        of.len()
    )
}

fn tried(record: &Record) -> String {
    let mut cell = format!("{} of {}", record.failed, record.run);
    if record.run < record.number {
        let _ = write!(cell, " (of {})", record.number);
    }
    if record.unknown > 0 {
        let _ = write!(cell, ", {}?", record.unknown);
    }
    cell
}

fn ours(record: &Record, all: &[&Record]) -> Vec<String> {
    let seconds = |s: Option<f64>| s.map_or_else(|| "-".to_owned(), |s| format!("{s:.3}"));
    let dimensions = all.iter().filter_map(|r| r.rows.zip(r.columns));
    let dimension = dimensions.min_by_key(|(rows, columns)| (rows * columns, *rows));
    vec![
        record.subject.clone(),
        dimension.map_or_else(|| "-".to_owned(), |(rows, columns)| format!("{rows}x{columns}")),
        format!("{:.0}", record.histories),
        record.histories_most.to_string(),
        format!("{:.1}", record.phase_1 * 1e3),
        format!("{:.1}", record.phase_1_most * 1e3),
        record.passed.to_string(),
        record.failed.to_string(),
        record.unknown.to_string(),
        seconds(record.pass_seconds),
        seconds(record.fail_seconds),
        format!("{} of {}", record.tried_2, record.passed),
    ]
}

fn theirs(published: Option<&Published>) -> Vec<String> {
    let Some(p) = published else { return vec!["-".to_owned(); 9] };
    let minutes = |m: Option<f64>| m.map_or_else(|| "-".to_owned(), |m| format!("{m}"));
    vec![
        p.class.clone(),
        if p.smallest.is_empty() { "-".to_owned() } else { p.smallest.clone() },
        p.histories.to_string(),
        p.histories_most.to_string(),
        p.pass.to_string(),
        p.fail.to_string(),
        minutes(p.pass_minutes),
        minutes(p.fail_minutes),
        p.preemptions.to_string(),
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
    fn records_are_lines_and_back() {
        let records = [
            record("A", "all:2x2", 3),
            record("A", "random:3x3:100", 0),
            record("B", "all:2x2", 0),
        ];
        assert_eq!(super::records(&lines(&records)).unwrap(), records);
        let again = record("A", "all:2x2", 7);
        let kept = latest(records.iter().cloned().chain([again.clone()]).collect());
        assert_eq!(kept, [again, records[1].clone(), records[2].clone()]);
        let wrong = lines(&records).replace("all:2x2", "all:2x2,7");
        let error = super::records(&wrong).unwrap_err().to_string();
        assert!(error.starts_with("record 1: "), "{error}");
    }

    #[test]
    fn the_section_has_our_figures_and_the_published_ones() {
        let records = [record("Seg", "all:2x2", 3), record("Seg", "random:3x3:100", 0)];
        let published = published(
            "class,causes,smallest,histories,histories_most,pass,fail,pass_minutes,fail_minutes,\
             preemptions,subjects\nQueue(Pre),B,B:2x2,1680,1680,43,57,33.8,5.7,2,Seg Other\n\
             Lazy,,,60,68,100,0,9.7,,2,\n",
        );
        let section = section(&records, &published.unwrap());
        let expected =
            "| Seg | `push(1) pop() \\| pop()` | 3 of 40 (of 100) | 0 of 40 (of 100) | 4000 |";
        assert!(section.contains(expected), "{section}");
        let expected = "| Seg | 2x2 | 1234 | 1680 | 12.5 | 500.0 | 40 | 0 | 0 | 0.750 | - | 30 of 40 \
                        | Queue(Pre) | B:2x2 | 1680 | 1680 | 43 | 57 | 33.8 | 5.7 | 2 |";
        assert!(section.contains(expected), "{section}");
        assert!(section.contains("without a subject like it here: Lazy."), "{section}");
        let expected = "* `all:2x2`: all tests of 0 of 1 subjects were run; for the others the budget \
                        ended first. In all, 40 of 100 tests were run.\n";
        assert!(section.contains(expected), "{section}");
        // The section takes the place of an earlier one.
        let page = replaced("# Results\n\n## One\n\nx\n", &section);
        assert!(page.starts_with("# Results\n\n## One\n\nx\n\n## PLDI"), "{page}");
        let more = format!("{page}\n## Two\n\ny\n");
        let other = format!("{HEADING}\n\nnothing\n");
        let expected = "# Results\n\n## One\n\nx\n\n## PLDI 2010, Table 2: Line-Up\n\nnothing\n\n## Two\n\ny\n";
        assert_eq!(replaced(&more, &other), expected);
    }
}
