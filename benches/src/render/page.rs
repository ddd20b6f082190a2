//! Pieces of the page: tables, numbers, and where they come from.

use std::fmt::Write;

use crate::record::{Outcome, Record, Session};

/// A table of texts.
#[derive(Clone, Debug)]
pub struct Table {
    header: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table with these columns.
    pub fn new<S: Into<String>>(header: impl IntoIterator<Item = S>) -> Self {
        Self { header: header.into_iter().map(Into::into).collect(), rows: Vec::new() }
    }

    /// Adds a row.
    ///
    /// # Panics
    /// If it has not as many cells as there are columns.
    pub fn row<S: Into<String>>(&mut self, row: impl IntoIterator<Item = S>) {
        let row: Vec<String> = row.into_iter().map(Into::into).collect();
        assert_eq!(row.len(), self.header.len(), "a cell per column");
        self.rows.push(row);
    }

    /// As Markdown.
    pub fn markdown(&self) -> String {
        let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
        let rule = vec!["---".to_owned(); self.header.len()];
        let rows = self.rows.iter().map(|row| line(row));
        [line(&self.header), line(&rule)].into_iter().chain(rows).collect()
    }
}

/// Bold if it is to be.
pub fn emphasised(text: &str, is_bold: bool) -> String {
    if is_bold { format!("**{text}**") } else { text.to_owned() }
}

/// Seconds, as people read them: three digits and a unit.
pub fn time(seconds: f64) -> String {
    let (value, unit) = match seconds {
        s if s < 1e-3 => (s * 1e6, "µs"),
        s if s < 1.0 => (s * 1e3, "ms"),
        s => (s, "s"),
    };
    format!("{} {unit}", digits(value))
}

/// Bytes, as people read them.
pub fn memory(bytes: f64) -> String {
    let mebi = bytes / f64::from(1 << 20);
    if mebi < 1024.0 {
        format!("{} MiB", digits(mebi))
    } else {
        format!("{} GiB", digits(mebi / 1024.0))
    }
}

/// The middle one; of an even number, the larger of both.
///
/// # Panics
/// If there are none.
pub fn median(samples: impl IntoIterator<Item = f64>) -> f64 {
    let mut samples: Vec<f64> = samples.into_iter().collect();
    samples.sort_unstable_by(f64::total_cmp);
    samples[samples.len() / 2]
}

/// About three digits.
pub fn digits(value: f64) -> String {
    match value {
        v if v >= 100.0 => format!("{v:.0}"),
        v if v >= 10.0 => format!("{v:.1}"),
        v => format!("{v:.2}"),
    }
}

/// Thousands apart.
pub fn count(number: u64) -> String {
    let text = number.to_string();
    let mut grouped = String::new();
    for (index, digit) in text.chars().enumerate() {
        if index > 0 && (text.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// What some runs of one method came to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Share {
    /// Number of runs that answered, and rightly.
    pub solved: usize,
    /// Number of runs.
    pub asked: usize,
    /// Of the work of those that answered.
    pub seconds: Option<f64>,
    /// Of those that answered.
    pub bytes: Option<f64>,
}

impl Share {
    /// Of these records.
    pub fn of<'r>(records: impl IntoIterator<Item = &'r Record>) -> Self {
        let records: Vec<&Record> = records.into_iter().collect();
        let is_solved = |record: &&&Record| record.outcome.is_answer() && !record.is_wrong();
        let solved: Vec<&&Record> = records.iter().filter(is_solved).collect();
        let middle = |of: &dyn Fn(&Record) -> f64| {
            (!solved.is_empty()).then(|| median(solved.iter().map(|record| of(record))))
        };
        Self {
            solved: solved.len(),
            asked: records.len(),
            seconds: middle(&Record::work),
            bytes: middle(&|record| record.peak_bytes as f64),
        }
    }

    /// What [`Self::cell`] shows.
    pub const LEGEND: &str = "The median time of those solved, with the memory if that is more \
                              than 64 MiB; `7/10`: 7 of 10 asked are solved, where not all are.";

    /// As a cell.
    pub fn cell(&self) -> String {
        let Self { solved, asked, seconds, bytes } = *self;
        let mut parts = Vec::new();
        if solved < asked {
            parts.push(format!("{solved}/{asked}"));
        }
        parts.extend(seconds.map(time));
        parts.extend(bytes.filter(|bytes| *bytes > f64::from(64 << 20)).map(memory));
        if parts.is_empty() { "-".to_owned() } else { parts.join(", ") }
    }
}

/// When, where and how records were measured, and which answers were wrong.
pub fn provenance(records: &[Record], sessions: &[Session]) -> String {
    let mut text = String::new();
    for record in records.iter().filter(|record| record.is_wrong()) {
        let (method, case) = (&record.method, &record.case);
        let _ = writeln!(text, "\n**Wrong: {method} on {case} says {:?}.**", record.outcome);
    }
    let refused = records.iter().filter(|record| record.outcome == Outcome::None).count();
    if refused > 0 {
        let _ = writeln!(text, "\n{refused} runs ended without an answer: not supported.");
    }
    let is_used =
        |session: &&Session| records.iter().any(|record| record.session == session.session);
    for session in sessions.iter().filter(is_used) {
        let Session { date, commit, machine, command, .. } = session;
        let _ = writeln!(text, "\nMeasured {date} at {commit} on {machine}: `{command}`");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::tests::solved;

    #[test]
    fn numbers_are_readable() {
        assert_eq!(
            [1.5e-6, 0.0123, 1.0, 123.4].map(time),
            ["1.50 µs", "12.3 ms", "1.00 s", "123 s"]
        );
        assert_eq!([1048576.0, 3.0e9].map(memory), ["1.00 MiB", "2.79 GiB"]);
        assert_eq!([7, 1_000, 62_055_312].map(count), ["7", "1,000", "62,055,312"]);
    }

    #[test]
    fn a_share_counts_right_answers_and_takes_their_median() {
        let mut records: Vec<Record> =
            [0.1, 0.2, 0.3].map(|seconds| solved("g", "c", "m", seconds)).to_vec();
        records[2].outcome = Outcome::Violation;
        let share = Share::of(&records);
        assert_eq!((share.solved, share.asked, share.seconds), (2, 3, Some(0.2)));
        assert_eq!(share.cell(), "2/3, 200 ms");
        assert_eq!(Share::of(&records[..1]).cell(), "100 ms");
        let large = Record { peak_bytes: 65 << 20, ..records[0].clone() };
        assert_eq!(Share::of([&large]).cell(), "100 ms, 65.0 MiB");
        records.iter_mut().for_each(|record| record.outcome = Outcome::Time);
        assert_eq!(Share::of(&records).cell(), "0/3");
        assert_eq!(Share::of([]).cell(), "-");
    }

    #[test]
    fn wrong_answers_are_told() {
        let mut record = solved("g", "case", "method", 1.0);
        assert_eq!(provenance(&[record.clone()], &[]), "");
        record.outcome = Outcome::Violation;
        assert!(provenance(&[record], &[]).contains("**Wrong: method on case"));
    }
}
