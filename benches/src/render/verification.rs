//! Tables 1 and 2 of the DISC 2022 paper.

use std::fmt::Write;

use super::page::{Table as Cells, emphasised, memory, time};
use crate::published::{Bound, Cell};
use crate::record::{Outcome, Record};
use crate::tables::verification::{Bounds, METHODS, Method, Table, bug, group};

/// The published methods.
const PUBLISHED: [&str; 3] = ["normal", "simple", "polynomial"];

/// One of the two tables.
pub fn section(table: Table, records: &[Record]) -> String {
    let title = match table {
        Table::Bugs => "Table 1: bug detection",
        Table::Algorithms => "Table 2: verification",
    };
    let mut text = format!(
        "## DISC 2022, {title}\n\n\
         The largest bound on operations per process that was explored for the pair (0,1), \
         and the time and memory for it; ∞: any number. Published: PAT, within {}, on \
         another machine; here, within {}. Bold: ours, where it does not reach a published \
         bound, or takes longer for one at least as large. Where an answer is about any number of \
         operations, there was no need to bound them.\n\n",
        if table == Table::Bugs { "ten minutes" } else { "an hour" },
        limits(records),
    );
    let methods = || METHODS.iter().filter(|method| table == Table::Bugs || !method.is_for_bugs);
    let mut header = vec!["algorithm".to_owned(), "n".to_owned()];
    header.extend(methods().map(|method| method.name.to_owned()));
    header.extend(PUBLISHED.map(|name| format!("published: {name}")));
    let mut cells = Cells::new(header);
    let published = table.published();
    for first in published.iter().filter(|cell| cell.method == PUBLISHED[0]) {
        let (algorithm, processes) = (&first.algorithm, first.processes);
        let own: Vec<&Record> =
            records.iter().filter(|record| record.group == group(algorithm, processes)).collect();
        let figures: Vec<&Cell> =
            published.iter().filter(|cell| cell.is_of(algorithm, processes)).collect();
        let is_short = !own.is_empty() && figures.iter().any(|figure| !is_beaten(figure, &own));
        let name = match bug(algorithm) {
            Some(bug) if table == Table::Bugs => format!("{algorithm}, {bug}"),
            _ => algorithm.clone(),
        };
        let mut row = vec![name, processes.to_string()];
        row.extend(
            methods().map(|method| emphasised(&own_cell(method, &own), is_short && method.is_ours)),
        );
        row.extend(PUBLISHED.map(|name| {
            figures.iter().find(|cell| cell.method == name).map_or("-".to_owned(), |c| figure(c))
        }));
        cells.row(row);
    }
    text.push_str(&cells.markdown());
    text.push('\n');
    if table == Table::Bugs {
        text.push_str(&sums(records, &published));
    }
    for method in methods() {
        let _ = writeln!(text, "* {}: {}.", method.name, method.what);
    }
    text
}

/// The limits of the runs: those of most of them, and the methods that had others.
fn limits(records: &[Record]) -> String {
    let of = |name: &str| {
        let mine = records.iter().rev().find(|record| record.method == name);
        mine.map(|record| (record.time_limit, record.memory_limit as f64))
    };
    let mut told: Vec<((f64, f64), Vec<&str>)> = Vec::new();
    for method in METHODS {
        let Some(limit) = of(method.name) else { continue };
        match told.iter_mut().find(|(other, _)| *other == limit) {
            Some((_, names)) => names.push(method.name),
            None => told.push((limit, vec![method.name])),
        }
    }
    let text = |((seconds, bytes), names): &(_, Vec<&str>)| {
        let limit = format!("{} and {}", time(*seconds), memory(*bytes));
        if told.len() == 1 { limit } else { format!("{limit} ({})", names.join(", ")) }
    };
    told.iter().map(text).collect::<Vec<_>>().join(", ")
}

/// In how many rows each method finds the bug.
fn sums(records: &[Record], published: &[Cell]) -> String {
    let rows: Vec<String> = published
        .iter()
        .filter(|cell| cell.method == PUBLISHED[0])
        .map(|cell| group(&cell.algorithm, cell.processes))
        .collect();
    let found = |method: &str| {
        let finds = |row: &&String| {
            records.iter().any(|record| {
                record.method == method
                    && record.group == **row
                    && record.outcome == Outcome::Violation
            })
        };
        rows.iter().filter(finds).count()
    };
    let ours = METHODS.iter().map(|method| format!("{} {}", method.name, found(method.name)));
    let theirs = PUBLISHED.iter().map(|name| {
        let cells = published.iter().filter(|cell| cell.method == *name && cell.bound.is_some());
        format!("{name} {}", cells.count())
    });
    let measured = rows.iter().filter(|row| records.iter().any(|record| record.group == **row));
    format!(
        "Bugs found, of {}: {}. Published: {}. Rows measured: {}.\n\n",
        rows.len(),
        ours.collect::<Vec<_>>().join(", "),
        theirs.collect::<Vec<_>>().join(", "),
        measured.count(),
    )
}

/// Whether some answer of ours is at least as deep, in less time.
fn is_beaten(figure: &Cell, own: &[&Record]) -> bool {
    let (Some(bound), Some(seconds)) = (figure.bound, figure.seconds) else { return true };
    own.iter().any(|record| {
        let is_ours = METHODS.iter().any(|m| m.is_ours && m.name == record.method);
        let is_as_deep = match (record.x, bound) {
            (None, _) => true,
            (Some(_), Bound::Unbounded) => false,
            (Some(x), Bound::Operations(operations)) => x >= f64::from(operations),
        };
        let is_right = record.outcome.is_answer() && !record.is_wrong();
        is_ours && is_right && is_as_deep && record.work() < seconds
    })
}

fn own_cell(method: &Method, own: &[&Record]) -> String {
    let mine = || own.iter().filter(|record| record.method == method.name);
    let answered = mine().filter(|record| record.outcome.is_answer());
    let deepest = answered.max_by(|a, b| {
        let depth = |record: &Record| record.x.unwrap_or(f64::INFINITY);
        depth(a).total_cmp(&depth(b))
    });
    match (deepest, mine().next_back(), method.bounds) {
        (Some(record), _, _) => {
            let bound = record.x.map_or("∞".to_owned(), |x| x.to_string());
            let (seconds, bytes) = (time(record.work()), memory(record.peak_bytes as f64));
            let answer = match record.outcome {
                Outcome::Violation => ", violation",
                _ => "",
            };
            let by = record.by.as_ref().filter(|_| method.arguments.is_empty());
            let by = by.map_or(String::new(), |by| format!(" ({by})"));
            format!("{bound}, {seconds}, {bytes}{answer}{by}")
        }
        (None, Some(last), _) => match last.outcome {
            Outcome::Memory => format!("more than {}", memory(last.memory_limit as f64)),
            _ => format!("more than {}", time(last.time_limit)),
        },
        (None, None, Bounds::Climbing | Bounds::Unbounded(_)) if own.is_empty() => {
            "not measured".to_owned()
        }
        (None, None, _) => "-".to_owned(),
    }
}

fn figure(cell: &Cell) -> String {
    match (cell.bound, cell.seconds, cell.gigabytes) {
        (Some(bound), Some(seconds), Some(gigabytes)) => {
            let bound = match bound {
                Bound::Unbounded => "∞".to_owned(),
                Bound::Operations(operations) => operations.to_string(),
            };
            format!("{bound}, {seconds} s, {gigabytes} GB")
        }
        _ => "-".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::tests::solved;

    fn own(method: &str, x: Option<f64>, seconds: f64) -> Record {
        Record { x, ..solved("bowman, n = 3", "case", method, seconds) }
    }

    #[test]
    fn ours_is_bold_unless_it_is_deeper_and_faster_than_each() {
        // Published for n = 3: 2 operations in 47 s; any number in 3 s and in 11 s.
        let text = |record: Record| section(Table::Algorithms, &[record]);
        assert!(
            text(own("unbounded", None, 2.0))
                .contains("| bowman | 3 | - | ∞, 2.00 s, 1.00 MiB | - |")
        );
        assert!(text(own("unbounded", None, 4.0)).contains("| **∞, 4.00 s, 1.00 MiB** |"));
        assert!(text(own("bounded", Some(2.0), 1.0)).contains("| **2, 1.00 s, 1.00 MiB** |"));
        let mut late = own("unbounded", None, 60.0);
        late.outcome = Outcome::Time;
        assert!(text(late).contains("| **more than 10.0 s** |"));
    }

    #[test]
    fn no_row_is_left_out_and_the_bugs_are_counted() {
        let found = |group: &str, by: &str| Record {
            by: Some(by.to_owned()),
            outcome: Outcome::Violation,
            expected: Some(Outcome::Violation),
            ..solved(group, group, "check", 1.0)
        };
        let long = Record { time_limit: 600.0, ..solved("bowman, n = 3", "a", "unbounded", 1.0) };
        let records = [found("bowman, n = 3", "search"), found("riany, n = 10", "growing"), long];
        let text = section(Table::Bugs, &records);
        let rows = text.lines().filter(|line| line.contains(" GB") || line.contains("measured |"));
        assert_eq!(rows.count(), 30, "{text}");
        assert!(text.contains("| riany, early_count | 8 | not measured |"), "{text}");
        assert!(
            text.contains("| riany, early_count | 10 | ∞, 1.00 s, 1.00 MiB, violation (growing) |")
        );
        let expected = "Bugs found, of 30: check 2, unbounded 0, growing 0, bounded 0, \
                        refinement-simple 0, refinement-full 0. Published: normal 14, simple 20, \
                        polynomial 26. Rows measured: 2.";
        assert!(text.contains(expected), "{text}");
        let expected = "here, within 10.0 s and 1.00 GiB (check), 600 s and 1.00 GiB (unbounded).";
        assert!(text.contains(expected), "{text}");
    }
}
